// SPDX-License-Identifier: Apache-2.0
// The types of goldcrest.mjs.

export interface Options {
  /** Hypotheses of each search; 1: greedy; left out: the file's. */
  beamSize?: number;
  /** The module that `compile` returned, so that several models share it. */
  module?: WebAssembly.Module;
  /** For models of several languages; left out: the file's. */
  sourceLanguage?: string;
  targetLanguage?: string;
  /** Words after which a full stop does not end a sentence, as 'Mr Dr no#' (goldcrest/sentences.h). */
  abbreviations?: string;
}

export interface Info {
  name: string;
  sourceLanguage: string;
  targetLanguage: string;
  license: string;
  attribution: string;
  /** The kernel table, 'wasm_simd128'. */
  kernels: string;
  beamSize: number;
  /** Bytes of the engine's working memory. */
  arenaBytes: number;
  /** Bytes of the module's whole memory: model, arena, texts, stack. */
  memoryBytes: number;
}

/** An error of the engine: its own message, and its status (goldcrest.h, goldcrest_status). */
export class GoldcrestError extends Error {
  constructor(status: number, message: string);
  readonly status: number;
}

/** A loaded model; `load` makes it. */
export class Model {
  private constructor();
  /** The facts of the file, and the bytes of memory that it takes. */
  readonly info: Info;
  /** Runs the file's own self-test. Throws if this machine computes other bits than every other. */
  selfTest(): void;
  translate(text: string): string;
  /** The same, a bounded amount of work at a time. Each step gives the text that no further step changes. Stop where
   *  you like; the next call starts over. */
  steps(text: string): Generator<string, void, void>;
  /** The hash of the logits of a sentence with greedy search: the same on every machine (FORMAT.md, "Self-test"). */
  logitsHash(sentence: string): bigint;
  /** Gives up the memory. The model cannot be used any more. */
  close(): void;
}

/** Compiles the module: from bytes, or from goldcrest.wasm next to goldcrest.mjs. */
export function compile(bytes?: BufferSource): Promise<WebAssembly.Module>;

/** Loads a model from the bytes of a .gcst file. Throws a GoldcrestError for a file that the engine refuses. */
export function load(model: ArrayBuffer | Uint8Array, options?: Options): Promise<Model>;
