# SPDX-License-Identifier: Apache-2.0
"""CTranslate2 int8 as a peer; worker.py has the protocol. CT2_USE_MKL=0 or 1 in the environment chooses the backend."""

import json
import pathlib
import random

import ctranslate2
import worker


class CTranslate2:
    def __init__(self, folder: pathlib.Path, threads: int):
        self.folder = folder
        self.translator = ctranslate2.Translator(str(folder), compute_type="int8", intra_threads=threads)

    def make_sources(self, n_tokens: int, batch: int) -> list[list[str]]:
        """Random sources, with the end token if the model wants it."""
        chooser = random.Random(1)
        vocabulary = json.loads((self.folder / "shared_vocabulary.json").read_text(encoding="utf-8"))
        ordinary = [text for text in vocabulary if text not in ("</s>", "<unk>", "<pad>")]
        return [chooser.choices(ordinary, k=n_tokens - 1) + ["</s>"] for _ in range(batch)]

    def translate(self, sources: list[list[str]], n_tokens: int, beam_size: int) -> None:
        results = self.translator.translate_batch(
            sources, beam_size=beam_size, min_decoding_length=n_tokens, max_decoding_length=n_tokens,
            return_scores=False, max_batch_size=0)
        for result in results:
            if len(result.hypotheses[0]) != n_tokens:
                raise RuntimeError(f"{len(result.hypotheses[0])} tokens, although {n_tokens} were forced")


if __name__ == "__main__":
    worker.serve(CTranslate2)
