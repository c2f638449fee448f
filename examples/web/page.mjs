// SPDX-License-Identifier: Apache-2.0
// The page: a model from a file or from ?model=ADDRESS on the same server (&beam=N: hypotheses), the result of its
// self-test, and a translation that follows the text as you type.
const element = id => document.getElementById(id);
const [file, status, source, translation, facts] = ['file', 'status', 'source', 'translation', 'facts'].map(element);
const parameters = new URLSearchParams(location.search);
const worker = new Worker(new URL('worker.mjs', import.meta.url), { type: 'module' });
const megabytes = bytes => `${(bytes / 1e6).toFixed(1)} MB`;
let id = 0;

function tell(text, kind = '') {
  status.textContent = text;
  status.className = kind;
}

function translate() {
  translation.setAttribute('aria-busy', 'true');
  worker.postMessage({ id: ++id, text: source.value });
}

function load(name, bytes) {
  tell(`${name}: checking ${megabytes(bytes.byteLength)}`);
  source.disabled = true;
  translation.textContent = facts.textContent = '';
  worker.postMessage({ id: ++id, bytes, options: { beamSize: Number(parameters.get('beam') ?? 0) } }, [bytes]);
}

async function loadFrom(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
  load(address, await answer.arrayBuffer());
}

function showModel({ info, selfTestMs }) {
  const passed = `Self-test passed in ${selfTestMs.toFixed(0)} ms: the same bits as on every machine.`;
  tell(`${info.name || 'The model'} is ready. ${passed}`, 'good');
  const engine = `${megabytes(info.memoryBytes)} of memory, beam size ${info.beamSize}, kernels ${info.kernels}`;
  facts.textContent = [engine, info.license, info.attribution].filter(Boolean).join('. ');
  source.lang = info.sourceLanguage;
  translation.lang = info.targetLanguage;
  source.disabled = false;
  source.focus();
  if (source.value) translate();
}

worker.onmessage = ({ data }) => {
  if (data.info) return showModel(data);
  if (data.id !== id) return;
  translation.setAttribute('aria-busy', String(!data.error && !data.done));
  if (data.error) return tell(`Refused: ${data.error}`, 'bad');
  translation.textContent = data.translation;
};
worker.onerror = event => tell(`The worker stopped: ${event.message}`, 'bad');

file.onchange = async () => file.files[0] && load(file.files[0].name, await file.files[0].arrayBuffer());
source.oninput = translate;
document.ondragover = event => event.preventDefault();
document.ondrop = async event => {
  event.preventDefault();
  const [dropped] = event.dataTransfer.files;
  if (dropped) load(dropped.name, await dropped.arrayBuffer());
};

const address = parameters.get('model');
if (address) loadFrom(address).catch(error => tell(`${address}: ${error.message}`, 'bad'));
