// SPDX-License-Identifier: Apache-2.0
// Runs the engine in a thread of its own, so that typing never waits. Messages to it: {bytes, options} loads a model,
// {id, text} translates; a newer text ends the search of an older one. Its answers: {info, selfTestMs},
// {id, translation, done, ms}, {id, error}.
import { compile, load } from './goldcrest.mjs';

const TURN_MS = 16;
const module = compile();
let model = null, latest = 0;

// Lets the messages in that have come meanwhile.
const channel = new MessageChannel();
const pause = () => new Promise(resolve => {
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(null);
});

async function start(bytes, options) {
  model?.close();
  model = null;
  const loaded = await load(bytes, { ...options, module: await module });
  const begin = performance.now();
  loaded.selfTest();
  model = loaded;
  postMessage({ info: model.info, selfTestMs: performance.now() - begin });
}

async function translate(id, text) {
  const begin = performance.now();
  let turn = begin, translation = '';
  for (translation of model.steps(text)) {
    if (performance.now() - turn < TURN_MS) continue;
    postMessage({ id, translation, done: false });
    await pause();
    if (id !== latest) return;
    turn = performance.now();
  }
  postMessage({ id, translation, done: true, ms: performance.now() - begin });
}

onmessage = async ({ data: { id, text, bytes, options } }) => {
  latest = id;
  try {
    if (bytes) await start(bytes, options);
    else if (model) await translate(id, text);
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
