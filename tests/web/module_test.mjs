// SPDX-License-Identifier: Apache-2.0
// Tests of examples/web in node, and its speed. FOLDER has goldcrest.mjs and goldcrest.wasm.
// Usage: node module_test.mjs COMMAND ...
//   contract PROGRAM                     runs a program of tests/kernels that is compiled for WASI: contract_runs 1 0
//   module FOLDER                        the module imports nothing and is small
//   golden FOLDER MODEL TSV HASH_FILE    the golden hash of tests/kernels/golden_hash.cc
//   texts FOLDER MODEL TSV TRANSLATE [SOURCE TARGET]   the texts that the program TRANSLATE of this machine writes,
//                                        between these languages; 77 if it is missing
//   readme FOLDER MODEL README           the example of the page's README runs
//   refusals FOLDER MODEL                damaged files are refused by the engine's own messages
//   memory FOLDER MODEL TSV              memory grows to what the model needs, and no further in 1,000 translations
//   speed FOLDER MODEL TSV TRANSLATE     greedy search compared with x86_avx2; no test
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const MOST_MODULE_BYTES = 220000;
const [command, target, modelPath, tsv, last, sourceLanguage, targetLanguage] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'goldcrest_web'));
process.on('exit', () => rmSync(work, { recursive: true }));

function read(path) {
  if (!existsSync(path)) throw new Error(`${path}: missing; ctest --preset host -R golden_ makes models and hashes`);
  return readFileSync(path);
}
const moduleUrl = () => pathToFileURL(resolve(target, 'goldcrest.mjs')).href;
const goldcrest = () => import(moduleUrl());

// The first column of the first n different lines.
function sources(n) {
  const found = [];
  for (const line of read(tsv).toString().split('\n')) {
    const source = line.split('\t')[0];
    if (found.at(-1) !== source && source && found.push(source) === n) break;
  }
  assert.equal(found.length, n, `${tsv}: too few sources`);
  return found;
}

// Runs the host's goldcrest-translate; returns its output.
const translateOnHost = (program, lines, ...args) =>
  execFileSync(program, args, { input: lines.join('\n') + '\n', maxBuffer: 1 << 26, stdio: 'pipe' }).toString();

const tests = {
  async contract() {
    const { WASI } = await import('node:wasi');
    const wasi = new WASI({ version: 'preview1', args: ['contract_runs', ...process.argv.slice(4)] });
    const { instance } = await WebAssembly.instantiate(read(target), wasi.getImportObject());
    return wasi.start(instance) ?? 0;
  },

  async module() {
    const bytes = read(join(target, 'goldcrest.wasm'));
    assert.deepEqual(WebAssembly.Module.imports(await WebAssembly.compile(bytes)), [], 'the module imports something');
    console.log(`goldcrest.wasm: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} by gzip, ` +
      `${brotliCompressSync(bytes).length} by brotli; at most ${MOST_MODULE_BYTES}`);
    assert(bytes.length <= MOST_MODULE_BYTES, 'the module is too large');
    const { compile, load, Model, GoldcrestError } = await goldcrest();
    const declared = readFileSync(join(target, 'goldcrest.d.mts')).toString();
    const names = [compile, load, Model, GoldcrestError].map(({ name }) => ` ${name}`);
    names.push(...Object.getOwnPropertyNames(Model.prototype));
    assert.deepEqual(names.filter(name => !declared.includes(name)), [], 'names without a type');
  },

  async golden() {
    const { load } = await goldcrest();
    const model = await load(read(modelPath));
    assert.equal(model.info.kernels, 'wasm_simd128');
    model.selfTest();
    let hash = 0xcbf29ce484222325n;  // FNV-1a over the halves of each hash: base/hash.h
    const word = value => { hash = BigInt.asUintN(64, (hash ^ value) * 0x100000001b3n); };
    for (const source of sources(50)) {
      const ofSource = model.logitsHash(source);
      word(ofSource & 0xffffffffn);
      word(ofSource >> 32n);
    }
    const expected = read(last).toString().trim();
    console.log(`${hash.toString(16).padStart(16, '0')}, expected ${expected}`);
    assert.equal(hash.toString(16).padStart(16, '0'), expected);
  },

  async texts() {
    if (!existsSync(last)) { console.log(`texts: skipped: ${last} is not built`); return 77; }
    const { load } = await goldcrest();
    const lines = sources(100), abbreviations = 'Mr Dr no#', words = join(work, 'words');
    writeFileSync(words, abbreviations);
    if (tsv.includes('enfr')) {  // paragraphs of several sentences, with white space of every kind between them
      for (let i = 0; i < 40;) lines.push(`  ${lines[i++]} \t${lines[i++]}  ${lines[i++]} Mr. ${lines[i++]} `);
      lines.push('', '   ', lines.slice(0, 60).join(' '));
    }
    for (const beamSize of [0, 1, 3]) {
      const beams = beamSize ? ['--beam-size', String(beamSize)] : [];
      if (targetLanguage) beams.push('--source-lang', sourceLanguage, '--target-lang', targetLanguage);
      const expected = translateOnHost(last, lines, modelPath, '--abbreviations', words, ...beams).split('\n');
      const model = await load(read(modelPath), { beamSize, abbreviations, sourceLanguage, targetLanguage });
      lines.forEach((line, i) => {
        let before = '';
        for (const text of model.steps(line)) {
          assert(text.startsWith(before), `line ${i}: a step changed the text "${before}" to "${text}"`);
          before = text;
        }
        assert.equal(before.trim(), expected[i].trim(), `beam ${beamSize}, line ${i}: ${line.slice(0, 80)}`);
      });
      if (beamSize === 0) assert.equal(model.translate(lines.slice(0, 5).join('\n')), expected.slice(0, 5).join('\n'));
    }
    console.log(`${3 * lines.length} texts are those of ${last}`);
  },

  async readme() {
    const [, example] = /```js\n([^]*?)```/.exec(read(tsv));
    const program = join(work, 'example.mjs'), fetched = JSON.stringify(resolve(modelPath));
    writeFileSync(program, "import { readFileSync } from 'node:fs';\n" +
      `globalThis.fetch = async () => new Response(readFileSync(${fetched}));\n` +
      example.replace('./goldcrest.mjs', moduleUrl()));
    const lines = execFileSync(process.execPath, [program]).toString().trim().split('\n');
    assert.equal(lines[0], /\/\/ (Où .*)/.exec(example)[1]);
    assert.equal(lines.at(-1), "J'ai faim.");
  },

  async refusals() {
    const { load, compile, GoldcrestError } = await goldcrest();
    const module = await compile(), good = read(modelPath), damaged = /corrupt|damaged|not a \.gcst/;
    let n = 0;
    const refuses = async (bytes, message) => {
      ++n;
      await assert.rejects(load(bytes, { module }), error => {
        assert(error instanceof GoldcrestError, `${error.stack}`);
        assert.match(error.message, message);
        return true;
      });
    };
    await refuses(new Uint8Array(0), /^it is not a \.gcst file/);
    await refuses(new TextEncoder().encode('<!doctype html><p>404'.repeat(9)), /^it is not/);
    for (const size of [1, 64, 4096, good.length / 2, good.length - 1]) await refuses(good.subarray(0, size), damaged);
    let state = 1;
    for (let i = 0; i < 300; ++i) {  // a bit of a byte anywhere
      state = Math.imul(state, 1664525) + 1013904223 >>> 0;
      const bad = Uint8Array.from(good);
      bad[Math.floor(state / 2 ** 32 * bad.length)] ^= 1 << (i & 7);
      await refuses(bad, /./);
    }
    await assert.rejects(load(good, { module, beamSize: 99 }), /argument/);
    await assert.rejects(load(good, { module, targetLanguage: 'tlh' }), /argument/);
    const model = await load(good.buffer.slice(good.byteOffset, good.byteOffset + good.length), { module });
    model.selfTest();
    assert.equal(model.translate(''), '');
    console.log(`${n} damaged files are refused`);
  },

  async memory() {
    const { load, compile } = await goldcrest();
    const module = await compile(), bytes = read(modelPath), lines = sources(50);
    const fresh = (await WebAssembly.instantiate(module)).exports.memory.buffer.byteLength;
    const model = await load(bytes, { module }), { arenaBytes, memoryBytes } = model.info;
    const needed = bytes.length + arenaBytes;
    assert(fresh < 1 << 20 && memoryBytes >= needed && memoryBytes < fresh + needed + (1 << 17));
    const first = lines.map(line => model.translate(line));
    const grown = model.info.memoryBytes;
    for (let i = 0; i < 1000; ++i) assert.equal(model.translate(lines[i % 50]), first[i % 50]);
    for (const _ of model.steps(lines[0])) break;  // a search that nobody ends
    assert.equal(model.translate(lines[1]), first[1]);
    assert.equal(model.info.memoryBytes, grown, 'memory grew in 1,000 translations');
    const long = `${lines.join('\n')}\n`.repeat(400);
    for (const _ of model.steps(long)) break;
    const most = model.info.memoryBytes;
    assert(most > grown && most < grown + 4 * long.length + (1 << 17), `${most} bytes for ${long.length} characters`);
    for (let i = 0; i < 100; ++i) for (const _ of model.steps(long)) break;
    assert.equal(model.info.memoryBytes, most, 'memory grew with texts of the same length');
    model.close();
    const megabytes = () => { globalThis.gc(); globalThis.gc(); return process.memoryUsage().rss / 2 ** 20; };
    const turn = async () => { const one = await load(bytes, { module }); one.translate(lines[0]); one.close(); };
    for (let i = 0; i < 20; ++i) await turn();
    const before = megabytes();
    for (let i = 0; i < 200; ++i) { await turn(); if (i % 10 === 0) globalThis.gc(); }
    const after = megabytes();
    console.log(`module ${fresh} bytes, with the model ${memoryBytes}, after texts ${grown}; ` +
      `${before.toFixed(0)} MB, after 200 more models ${after.toFixed(0)} MB`);
    assert(after - before < 40 * memoryBytes / 2 ** 20, 'closed models stay in memory');
  },

  // The host's program and this module in turns, over the same lines; the median leaves out what else the machine did.
  async speed() {
    const { load } = await goldcrest();
    const lines = sources(200), model = await load(read(modelPath), { beamSize: 1 }), ratios = [];
    for (let turn = 0; turn < 21; ++turn) {
      const begin = performance.now();
      for (const line of lines) model.translate(line);
      const here = (performance.now() - begin) / 1000;
      const stats = translateOnHost('bash', lines, '-c', '"$@" --stats 2>&1 > /dev/null', 'bash', last, modelPath,
        '--beam-size', '1', '--batch', '1', '--threads', '1', '--kernels', 'x86_avx2');
      const host = Number(/, ([0-9.]+) s, [^]*kernels x86_avx2,/.exec(stats)[1]);
      if (turn > 0) ratios.push({ ratio: host / here, here, host });
    }
    ratios.sort((a, b) => a.ratio - b.ratio);
    const [least, median, most] = [0, 10, 19].map(i => ratios[i].ratio.toFixed(3)), { here, host } = ratios[10];
    console.log(`${model.info.kernels} in node ${process.version}: ${median} of x86_avx2's speed ` +
      `(${here.toFixed(3)} s, ${host.toFixed(3)} s), the median of 20 pairs from ${least} to ${most}`);
  },
};

if (!Object.hasOwn(tests, command ?? '')) { console.error('usage: node module_test.mjs COMMAND ...'); process.exit(2); }
process.exitCode = await tests[command]() ?? 0;
