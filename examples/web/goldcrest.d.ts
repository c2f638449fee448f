// SPDX-License-Identifier: Apache-2.0
// The types of goldcrest.mjs, which has the comments.
export interface Options {
  beamSize?: number;
  module?: WebAssembly.Module;
  sourceLanguage?: string;
  targetLanguage?: string;
  abbreviations?: string;
}

export interface Info {
  name: string;
  sourceLanguage: string;
  targetLanguage: string;
  license: string;
  attribution: string;
  kernels: string;
  beamSize: number;
  arenaBytes: number;
  memoryBytes: number;
}

export class GoldcrestError extends Error {
  readonly status: number;
}

export class Model {
  private constructor();
  readonly info: Info;
  selfTest(): void;
  translate(text: string): string;
  steps(text: string): Generator<string, void, void>;
  logitsHash(sentence: string): bigint;
  close(): void;
}

export function compile(bytes?: BufferSource): Promise<WebAssembly.Module>;
export function load(model: ArrayBuffer | Uint8Array, options?: Options): Promise<Model>;
