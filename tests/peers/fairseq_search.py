# SPDX-License-Identifier: Apache-2.0
"""fairseq's beam search (fairseq/sequence_generator.py and search.py at 0.12.2) in plain Python, and a comparison of
goldcrest-translate's results with it."""

import argparse
import math
import pathlib
from collections import Counter
from dataclasses import dataclass
from typing import Callable

import torch

import equality
import product
import tutorial_modules
from python_search import Memory, comes_out, continuations

BEAMS = (2, 5, 8)


class Live:
    """A module of its own type of numbers, for Memory."""

    def __init__(self, model: torch.nn.Module):
        self.model = model

    def encode(self, source: list[int]) -> list[int]:
        return source

    def logits(self, source: list[int], prefixes: list[tuple[int, ...]]) -> torch.Tensor:
        return torch.stack([tutorial_modules.forward(self.model, source, list(prefix))[-1] for prefix in prefixes])


@dataclass
class Results:
    texts: list[list[int]]  # ids, best first
    is_forced: bool         # whether one has an end only because it is as long as may be
    has_surplus: bool       # whether more ended at once than there was room for


def search(model: torch.nn.Module, memory: Memory, beams: int, most: int, move: Callable | None = None) -> Results:
    """`most` counts the end token, which is the last of it. `move` changes log-probabilities."""
    running, finished, is_forced, has_surplus = [(0.0, (model.start,))], [], False, False
    for n in range(1, most + 1):
        prefixes = [prefix for _, prefix in running]
        scores = torch.log_softmax(memory(prefixes).double(), dim=-1)
        scores = scores if move is None else move(torch.tensor(prefixes), scores)
        scores = torch.stack([model.mask(row, n - 1) for row in scores])
        if n == most:
            scores[:, [i for i in range(scores.shape[1]) if i != model.end]] = -math.inf
        found = [text for text in continuations(running, scores, 2 * beams) if text[0] != -math.inf]
        ended = [(score / n, prefix) for score, prefix in found[:beams] if prefix[-1] == model.end]
        has_surplus |= len(ended) > beams - len(finished)
        finished += ended[:beams - len(finished)]
        if len(finished) == beams or n == most:
            is_forced = n == most
            break
        running = [(score, prefix) for score, prefix in found if prefix[-1] != model.end][:beams]
    return Results([list(prefix[1:]) for _, prefix in sorted(finished, key=lambda f: -f[0])], is_forced, has_surplus)


def score(model: torch.nn.Module, memory: Memory, text: list[int]) -> float:
    prefix = (model.start, *text)
    rows = [torch.log_softmax(memory([prefix[:n]]).double(), dim=-1)[0] for n in range(1, len(prefix))]
    return sum(row[token].item() for row, token in zip(rows, text, strict=True)) / len(text)


def is_tie(model: torch.nn.Module, source: list[int], beams: int, most: int, pairs: list[tuple]) -> bool:
    """Whether the two texts of each pair have scores within rounding, and come out when scores are off by roundings."""
    model = tutorial_modules.exact(model)
    memory = Memory(Live(model), source)
    search(model, memory, beams, most)
    unit = memory.unit()

    def texts_with(move: Callable) -> list[list[int]]:
        return search(model, memory, beams, most, move).texts

    return all(abs(score(model, memory, a) - score(model, memory, b)) <= 2 * unit and
               all(comes_out(texts_with, unit, text) for text in (a, b)) for a, b in pairs)


def of_goldcrest(options: argparse.Namespace, file: pathlib.Path, sources: list[list[int]], beams: int,
                 most: int) -> list[list[list[int]]]:
    found = product.search(options, file, sources, "--beam-size", beams, "--n-best", beams, "--max-target", most)
    return [[ids for _, ids in results] for results in found]


def check(options: argparse.Namespace, file: pathlib.Path, model: torch.nn.Module, sources: list[list[int]], most: int,
          counts: Counter) -> None:
    """All results of the file's own search are fairseq's, or ties, but where FAIRSEQ.md says that they differ: after a
    forced end, and after the first where more ended at once than there was room for. Raises equality.Failure."""
    for beams in (n for n in BEAMS if n < model.words[1] - 1):  # as fairseq bounds it
        for source, ours in zip(sources, of_goldcrest(options, file, sources, beams, most), strict=True):
            theirs = search(model, Memory(Live(model), source), beams, most)
            counts[f"searches with {beams} beams"] += 1
            if ours == theirs.texts:
                counts[f"equal with {beams} beams"] += 1
            elif theirs.is_forced:
                counts["searches with a forced end"] += 1
            elif theirs.has_surplus and ours[0] == theirs.texts[0]:
                counts["only the first equal, as more ended than there was room for"] += 1
            else:
                compared = 1 if theirs.has_surplus else beams
                pairs = [pair for pair in list(zip(ours, theirs.texts, strict=True))[:compared] if pair[0] != pair[1]]
                if not is_tie(model, source, beams, most, pairs):
                    raise equality.Failure(f"goldcrest departs from fairseq with {beams} beams, source {source}:\n"
                                           f"  goldcrest {ours}\n  fairseq   {theirs.texts}")
                counts["ties of beams"] += 1
