// SPDX-License-Identifier: Apache-2.0
// Opens the page of examples/web in headless Chromium, 1280 and 400 pixels wide, light and dark. The self-test passes,
// a sentence that is typed is translated, a damaged file is refused; nothing sticks out, each text has a contrast of at
// least 4.5, each control has a name, the console has no error. Ends with 77 (skipped) without Chromium.
// Usage: node page_test.mjs FOLDER MODEL ANOTHER_MODEL
import assert from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, modelPath, otherPath] = process.argv.slice(2);
const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(b => spawnSync(b, ['--version']).status === 0);
if (!browser) { console.log('page_test: skipped: no Chromium'); process.exit(77); }
const work = mkdtempSync(join(tmpdir(), 'goldcrest_page'));

// The web server of examples/web/README.md, on a port of its own.
const served = join(folder, 'model.gcst');
copyFileSync(modelPath, served);
const server = spawn('python3', ['-u', '-m', 'http.server', '0', '-b', '127.0.0.1', '-d', folder],
  { stdio: ['ignore', 'pipe', 'ignore'] });
const port = await new Promise((done, fail) => {
  let said = '';
  server.stdout.on('data', text => {
    const found = /port ([0-9]+) /.exec(said += text);
    if (found) done(found[1]);
  });
  server.on('exit', () => fail(new Error('python3 -m http.server stopped')));
});
const home = `http://127.0.0.1:${port}/`;

// The browser, by its debugging protocol over pipes: a JSON object and a zero for each message.
const chromium = spawn(browser, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
  `--user-data-dir=${work}/profile`, '--remote-debugging-pipe', 'about:blank'],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const waiting = new Map(), problems = [];
let sent = 0, received = '', session;
chromium.stdio[4].on('data', bytes => {
  received += bytes;
  const messages = received.split('\0');
  received = messages.pop();
  for (const { id, result, error, method, params } of messages.map(text => JSON.parse(text))) {
    if (id) error ? waiting.get(id)[1](new Error(error.message)) : waiting.get(id)[0](result);
    const { exceptionDetails, type, args, entry } = params ?? {};
    if (exceptionDetails) problems.push(exceptionDetails.exception?.description ?? exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled') problems.push(`console.${type}: ${args.map(a => a.value).join(' ')}`);
    if (method === 'Log.entryAdded') problems.push(`${entry.level}: ${entry.text} ${entry.url ?? ''}`);
  }
});
const call = (method, params = {}) => new Promise((...ways) => {
  waiting.set(++sent, ways);
  chromium.stdio[3].write(`${JSON.stringify({ id: sent, method, params, sessionId: session })}\0`);
});
const evaluate = async expression =>
  (await call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })).result.value;
async function until(expression, wanted) {
  let value;
  for (let i = 0; i < 2400; ++i) {
    value = await evaluate(expression);
    if (wanted(value)) return value;
    await new Promise(done => setTimeout(done, 50));
  }
  throw new Error(`${expression} stays ${JSON.stringify(value)}`);
}

const [statusText, output] = ['status', 'translation'].map(id => `document.getElementById("${id}").textContent`);
const look = `(() => {
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const numbers = (e, name) => getComputedStyle(e)[name].match(/[\\d.]+/g).map(Number);
  const background = (e, c = numbers(e, 'backgroundColor')) => c[3] === 0 ? background(e.parentElement) : c;
  let contrast = 99, texts = 0, beyond = '';
  for (const e of document.querySelectorAll('body, body *:not(script)')) {
    const scrolls = e.tagName !== 'TEXTAREA' && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0;
    if (scrolls || e.getBoundingClientRect().right > innerWidth + 0.5) beyond += e.tagName + e.id + ' ';
    if (!e.value && ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const [more, less] = [luminance(numbers(e, 'color')), luminance(background(e))].sort((a, b) => b - a);
    contrast = Math.min(contrast, (more + 0.05) / (less + 0.05));
    ++texts;
  }
  return { wide: document.documentElement.scrollWidth, inner: innerWidth, contrast, texts, beyond };
})()`;

async function visit(width, scheme, expected) {
  await call('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
  await call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  await call('Page.navigate', { url: `${home}?model=model.gcst&beam=1` });
  const ready = await until(statusText, text => /ready|Refused|stopped|answers/.test(text));
  assert.match(ready, /Self-test passed/);
  // The page has put the cursor into the text.
  for (const text of expected.source.split(/(?<= )/)) await call('Input.insertText', { text });
  await until(output, text => text === expected.translation);
  const { wide, inner, contrast, texts, beyond } = await evaluate(look);
  console.log(`${width}, ${scheme}: ${wide} of ${inner}, contrast ${contrast.toFixed(2)}, ${texts} texts; ${ready}`);
  assert(inner === width && wide <= inner && beyond === '', `the page is wider than the window: ${beyond}`);
  assert(contrast >= 4.5 && texts >= 8, `a text has a contrast of ${contrast}`);
  const { nodes } = await call('Accessibility.getFullAXTree');
  const controls = nodes.filter(n => !n.ignored && ['textbox', 'button', 'status'].includes(n.role?.value));
  assert(controls.filter(n => n.name?.value).length >= 2, 'the text or the file has no name for a screen reader');
  const shot = (await call('Page.captureScreenshot', { format: 'png' })).data;
  writeFileSync(join(process.cwd(), `page_${width}_${scheme}.png`), Buffer.from(shot, 'base64'));
}

async function choose(path, wanted) {
  const { root } = await call('DOM.getDocument');
  const { nodeId } = await call('DOM.querySelector', { nodeId: root.nodeId, selector: '#file' });
  await call('DOM.setFileInputFiles', { nodeId, files: [path] });
  return until(statusText, text => wanted.test(text));
}

let failure = null;
try {
  const { load } = await import(pathToFileURL(resolve(folder, 'goldcrest.mjs')));
  const source = 'Where is the station? I am hungry.';
  const expected = { source, translation: (await load(readFileSync(modelPath), { beamSize: 1 })).translate(source) };
  const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
  session = (await call('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  for (const domain of ['Page', 'Runtime', 'Log', 'DOM', 'Accessibility']) await call(`${domain}.enable`);
  for (const width of [1280, 400]) for (const scheme of ['light', 'dark']) await visit(width, scheme, expected);
  const bad = Buffer.from(readFileSync(modelPath));
  bad[bad.length >> 1] ^= 4;
  writeFileSync(join(work, 'bad.gcst'), bad);
  const refusal = await choose(join(work, 'bad.gcst'), /Refused/);
  console.log(refusal);
  assert.match(refusal, /corrupt/);
  await choose(resolve(otherPath), /ready/);
  await evaluate('document.getElementById("source").value = ""');
  await call('Input.insertText', { text: 'goldcrest' });
  await until(output, text => text === 'G OW1 L D K R EH2 S T');
  assert.deepEqual(problems, [], 'the console has messages');
  await call('Page.navigate', { url: `${home}?model=missing.gcst` });
  await until(statusText, text => text === 'missing.gcst: the server answers 404');
} catch (error) { failure = error; } finally {
  if (problems.length) console.log(problems);
  session = undefined;
  const gone = new Promise(done => chromium.on('exit', done));
  call('Browser.close').catch(() => 0);
  await Promise.race([gone, new Promise(done => setTimeout(done, 5000))]);
  chromium.kill('SIGKILL');
  await gone;
  server.kill();
  rmSync(served, { force: true });
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}
if (failure) throw failure;
