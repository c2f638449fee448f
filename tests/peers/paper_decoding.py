# SPDX-License-Identifier: Apache-2.0
"""The decoding of the paper (Vaswani et al. 2017, section 6.1) as a plain loop over live modules. goldcrest-translate
must give the same ids for their float32 files, by the file's settings and by the program's options.

    python tests/peers/paper_decoding.py --build build/host --work FOLDER [--seed 1] [--models 24] [--base]

Uses random models of the paper's kind; with --base also one of its base shape. A difference passes only if the loop in
float64 can give both results with scores that are off by roundings. Exits with 1 for any other difference, or if no
text or every text has the greatest length."""

import argparse
import shutil
import warnings
from collections import Counter
from collections.abc import Callable

import torch

import equality
import product
import random_checkpoints
from python_search import Memory, comes_out, continuations
from random_nn import NnTransformer

BEAM, ALPHA, EXTRA = 4, 0.6, 50
OPTIONS = ["--beam-size", 4, "--length-penalty", 0.6, "--length-penalty-kind", "wu", "--max-extra", 50]


class PaperModel(NnTransformer):
    """Post-norm, ReLU, sinusoids, one table for all three; attention with or without biases, heads of any width."""

    most_end_bias = 8

    def _draw_shape(self, flip) -> dict:
        self.container = "safetensors"
        return super()._draw_shape(flip) | {
            "activation": "relu", "norm_first": False, "bias": True, "scale_embedding": True, "shared": True,
            "tied": True, "learned": False, "interleaved": True, "stored": False, "head_bias": True,
            "max_positions": 80, **self._sizes()}

    def _sizes(self) -> dict:
        size = self.draw.randint(20, 150)
        return {"source_vocab_size": size, "target_vocab_size": size}

    def _search(self, flip) -> dict:
        self.file_has_it = flip(0.5)
        return {"beam_size": BEAM, "length_penalty": ALPHA, "length_penalty_kind": "wu",
                "max_extra_tokens": EXTRA} if self.file_has_it else {}

    def make_sources(self, n: int) -> list[list[int]]:
        """Short sources, whose texts end at EXTRA more tokens, and long ones, for which the positions end first."""
        return [source for most in (12, 60) for source in
                random_checkpoints.random_sources(self.draw, self.vocab_size, self.end, most, n)]


class BaseModel(PaperModel):
    def _sizes(self) -> dict:
        return {"own": None, "d_model": 512, "nhead": 8, "num_encoder_layers": 6, "num_decoder_layers": 6,
                "dim_feedforward": 2048, "source_vocab_size": 4000, "target_vocab_size": 4000}


def decode_as_in_the_paper(model: PaperModel, memory: Memory, n_source: int,
                           rounding: Callable = lambda prefixes, scores: scores) -> list[int]:
    """Beam search: scores are divided by ((5 + n) / 6)^0.6 (Wu et al. 2016, equation 14), and a text has at most 50
    tokens more than its source, the last one the end. It stops when no living text can enter the list at its length."""
    def normalized(score: float, n: int) -> float:
        return score / ((5 + n) / 6) ** ALPHA

    living, finished = [(0.0, (model.start,))], []
    most = min(n_source + EXTRA, model.shape["max_positions"])
    for n in range(1, most + 1):
        prefixes = [text for _, text in living]
        if n == most:  # the end is forced, without cost
            found = [(score, text + (model.end,)) for score, text in living]
        else:
            log_probs = rounding(torch.tensor(prefixes), torch.log_softmax(memory(prefixes), dim=-1)).double()
            found = continuations(living, log_probs, 2 * BEAM)
        finished += [(normalized(score, n), text) for score, text in found[:BEAM] if text[-1] == model.end]
        finished = sorted(finished, key=lambda f: -f[0])[:BEAM]
        living = [(score, text) for score, text in found if text[-1] != model.end][:BEAM]
        if not living or (len(finished) == BEAM and normalized(living[0][0], n) <= finished[-1][0]):
            break
    return list(finished[0][1][1:])


def is_tie(model: PaperModel, source: list[int], results: list[list[int]]) -> bool:
    memory = Memory(model.exact(), source)
    decode_as_in_the_paper(model, memory, len(source))
    unit = memory.unit()

    def decode_with(rounding: Callable) -> list[list[int]]:
        return [decode_as_in_the_paper(model, memory, len(source), rounding)]

    return all(comes_out(decode_with, unit, result, 100) for result in results)


def check_model(options: argparse.Namespace, model: PaperModel, n_sources: int, counts: Counter) -> None:
    """Raises equality.Failure."""
    file, sources = model.folder / "model.gcst", model.make_sources(n_sources)
    if warned := equality.convert(options, model, file):
        raise equality.Failure(f"warnings: {warned}")
    given = [] if model.file_has_it else OPTIONS
    for source, ours in zip(sources, equality.translate(options, file, sources, given), strict=True):
        theirs = decode_as_in_the_paper(model, Memory(model.live(), source), len(source))
        counts["lines"] += 1
        counts["as long as may be"] += len(theirs) == len(source) + EXTRA
        if ours != theirs:
            if not is_tie(model, source, [ours, theirs]):
                raise equality.Failure(f"goldcrest departs, source {source}:\n  goldcrest {ours}\n  the loop  {theirs}"
                                       f"\n  {model.describe()}\n  kept in {model.folder}")
            counts["ties"] += 1
    counts["models"] += 1
    shutil.rmtree(model.folder)


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, seed=1, models=24, base=False))
    warnings.simplefilter("ignore")
    counts = Counter()
    kinds = [PaperModel] * options.models + [BaseModel] * options.base
    for i, kind in enumerate(kinds):
        folder = product.emptied(options.work / str(i))
        check_model(options, kind(options.seed * 1_000_000 + i, folder, set()), 1 if kind is BaseModel else 2, counts)
    if options.models > 1 and not 0 < counts["as long as may be"] < counts["lines"]:
        raise equality.Failure(f"{counts['as long as may be']} of {counts['lines']} texts are as long as may be")
    print(", ".join(f"{n} {what}" for what, n in counts.items()))


if __name__ == "__main__":
    main()
