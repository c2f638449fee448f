// SPDX-License-Identifier: Apache-2.0
// Goldcrest in a web page, a worker or node: loads a .gcst file, tests it, translates with it. goldcrest.d.mts has the
// types, and says what each function and option does.

const WORKING = 1, DONE = 3, MODEL_CORRUPT = -2, HASH_LOGITS = 2;
const encoder = new TextEncoder(), decoder = new TextDecoder();

export class GoldcrestError extends Error {
  constructor(status, message) {
    super(message);
    this.name = 'GoldcrestError';
    this.status = status;
  }
}

export async function compile(bytes) {
  const url = new URL('./goldcrest.wasm', import.meta.url);
  // The name is no literal of import(), because bundlers for pages refuse node's modules.
  const files = 'node:fs/promises';
  if (!bytes && url.protocol === 'file:') bytes = await (await import(/* webpackIgnore: true */ files)).readFile(url);
  return WebAssembly.compile(bytes ?? await (await fetch(url)).arrayBuffer());
}

export async function load(model, options = {}) {
  const { exports } = await WebAssembly.instantiate(options.module ?? await compile());
  return new Model(exports, new Uint8Array(model.buffer ?? model, model.byteOffset ?? 0, model.byteLength), options);
}

export class Model {
  #engine;
  #abbreviations;

  constructor(engine, bytes, { beamSize = 0, sourceLanguage = '', targetLanguage = '', abbreviations = '' }) {
    this.#engine = engine;
    this.#abbreviations = encoder.encode(abbreviations);
    const place = engine.place_model(bytes.length) >>> 0;  // above 2 GB, addresses come as negative numbers
    if (!place) throw new GoldcrestError(0, `no memory for a model of ${bytes.length} bytes`);
    new Uint8Array(engine.memory.buffer, place, bytes.length).set(bytes);
    const status = engine.start(bytes.length, beamSize);
    const isOther = status === MODEL_CORRUPT && decoder.decode(bytes.subarray(4, 8)) !== 'GCST';
    this.#check(status, isOther ? 'it is not a .gcst file (goldcrest-convert makes them): ' : '');
    if (sourceLanguage || targetLanguage) {
      this.#write(encoder.encode(`${sourceLanguage}\0${targetLanguage}\0`));
      this.#check(engine.set_languages());
    }
  }

  get info() {
    const text = name => this.#string(this.#engine[name]());
    return {
      name: text('name'), sourceLanguage: text('source_language'), targetLanguage: text('target_language'),
      license: text('license'), attribution: text('attribution'), kernels: text('kernels'),
      beamSize: this.#engine.beam_size(), arenaBytes: this.#engine.arena_bytes(),
      memoryBytes: this.#engine.memory.buffer.byteLength,
    };
  }

  selfTest() { this.#check(this.#engine.self_test()); }

  translate(text) {
    let translation = '';
    for (translation of this.steps(text));
    return translation;
  }

  *steps(text) {
    this.#engine.set_search(0, 0);
    yield* this.#search(text);
  }

  logitsHash(sentence) {
    this.#check(this.#engine.set_search(1, HASH_LOGITS));
    for (const _ of this.#search(sentence));
    return BigInt.asUintN(64, this.#engine.logits_hash());
  }

  // The memory goes when nothing else refers to it.
  close() { this.#engine = null; }

  *#search(text) {
    const engine = this.#engine, words = this.#abbreviations, bytes = encoder.encode(text);
    this.#write(words, bytes);
    engine.begin(words.length, bytes.length);
    for (let translation = '', read = 0, status = WORKING; status !== DONE;) {
      status = engine.step();
      this.#check(status);
      const begin = engine.translation() >>> 0, end = engine.translation_bytes() >>> 0;
      if (end > read) translation += decoder.decode(new Uint8Array(engine.memory.buffer, begin + read, end - read));
      read = end;
      yield translation;
    }
  }

  #write(...parts) {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    let place = this.#engine.place_text(bytes) >>> 0;
    if (!place) throw new GoldcrestError(0, `no memory for a text of ${bytes} bytes`);
    for (const part of parts) {
      new Uint8Array(this.#engine.memory.buffer, place, part.length).set(part);
      place += part.length;
    }
  }

  #check(status, prefix = '') {
    if (status >= 0) return;
    const engine = this.#engine, message = this.#string(engine.message()), index = engine.message_index();
    throw new GoldcrestError(status, prefix + this.#string(engine.status_name(status)) + (message && `: ${message}`) +
      (index >= 0 ? ` (${index})` : ''));
  }

  #string(place) {
    const bytes = new Uint8Array(this.#engine.memory.buffer, place >>> 0);
    return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  }
}
