# SPDX-License-Identifier: Apache-2.0
"""CTranslate2 and goldcrest-translate on the same sources: what both search, and whether a difference is a tie."""

import pathlib
from collections import Counter
from dataclasses import dataclass

import ctranslate2
import numpy as np
import torch

import ctranslate2_models
import product
from product import Failure, Result
from python_search import Memory, comes_out, continuations

TOLERANCE = 1e-4  # of a result's score


class Live:
    """CTranslate2, for the Python search. Ids; the first of a prefix is the start, which it does not get."""

    def __init__(self, folder: pathlib.Path, model: ctranslate2_models.Model):
        self.model, self.vocabulary = model, model.vocabulary
        self.translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)

    def encode(self, source: list[int]) -> list[str]:
        cut = source[:-1] if self.model.end_by_ctranslate2 else source
        return [self.vocabulary[i] for i in cut]

    def logits(self, source: list[str], prefixes: list[tuple[int, ...]]) -> torch.Tensor:
        return torch.stack([rows[-1] for rows in self.all_logits(source, prefixes)])

    def all_logits(self, source: list[str], prefixes: list[tuple[int, ...]]) -> list[torch.Tensor]:
        """After every token of each prefix; the prefixes are equally long."""
        given = [[self.vocabulary[i] for i in prefix[1:]] for prefix in prefixes]
        results = self.translator.translate_batch(
            [source] * len(prefixes), target_prefix=given, beam_size=1, min_decoding_length=0,
            max_decoding_length=len(prefixes[0]), return_logits_vocab=True)
        rows = [torch.stack([torch.from_numpy(np.array(row)) for row in result.logits[0]]) for result in results]
        if any(len(each) != len(prefixes[0]) for each in rows):
            raise Failure("CTranslate2 gave other numbers of logits than were asked for")
        return rows


@dataclass
class Search:
    """As translate_batch has it: `least` counts no end token, `most` does."""

    beams: int
    least: int
    most: int


@dataclass
class Source:
    """A source's search in Python, by CTranslate2's rules (src/decoding.cc at 0d8bcd36) over its logits."""

    memory: Memory
    search: Search
    end: int

    def log_probs(self, prefixes: list[tuple[int, ...]], move=None) -> torch.Tensor:
        """Of the next token; `move` changes the logits."""
        logits = self.memory(prefixes).double()
        logits = logits if move is None else move(torch.tensor(prefixes), logits)
        if len(prefixes[0]) <= self.search.least:
            logits[:, self.end] = -torch.inf
        return torch.log_softmax(logits, dim=-1)

    def score(self, text: list[int]) -> float:
        prefix = (0, *text)
        return sum(self.log_probs([prefix[:n]])[0, prefix[n]].item() for n in range(1, len(prefix))) / len(text)

    def results(self, move=None) -> list[list[int]]:
        """The ids of all results, best first."""
        beams, most = self.search.beams, self.search.most
        running, finished = [(0.0, (0,))], []
        for n in range(1, most + 1):
            prefixes = [prefix for _, prefix in running]
            found = continuations(running, self.log_probs(prefixes, move), 2 * beams)
            finished += [(score / n, prefix) for score, prefix in found[:beams] if prefix[-1] == self.end or n == most]
            running = [(score, prefix) for score, prefix in found if prefix[-1] != self.end][:beams]
            if len(finished) >= beams:
                break
        return [list(prefix[1:]) for _, prefix in sorted(finished, key=lambda text: -text[0])][:beams]


def is_tie(live: Live, source: list[int], search: Search, ours: list[list[int]], theirs: list[list[int]]) -> bool:
    """Whether the two texts of each rank have scores within rounding, and come out when logits are off by roundings."""
    searched = Source(Memory(live, source), search, live.vocabulary.index(live.model.end))
    searched.results()
    unit, tries = searched.memory.unit(), 1 if search.beams == 1 else 1000  # greedy ties need no chance
    return len(ours) == len(theirs) and all(
        a == b or (abs(searched.score(a) - searched.score(b)) <= 2 * unit and
                   all(comes_out(searched.results, unit, text, tries) for text in (a, b)))
        for a, b in zip(ours, theirs))


def of_goldcrest(options, file: pathlib.Path, sources: list[list[int]], search: Search) -> list[list[Result]]:
    return product.search(options, file, sources, "--beam-size", search.beams, "--n-best", search.beams, "--min-target",
                          search.least + 1, "--max-target", search.most)


def of_ctranslate2(live: Live, sources: list[list[int]], search: Search) -> list[list[Result]]:
    ids = {token: i for i, token in reversed(list(enumerate(live.vocabulary)))}
    made = live.translator.translate_batch(
        list(map(live.encode, sources)), max_batch_size=1, beam_size=search.beams, num_hypotheses=search.beams,
        min_decoding_length=search.least, max_decoding_length=search.most, return_scores=True, return_end_token=True)
    return [list(zip(result.scores, [[ids[token] for token in text] for text in result.hypotheses])) for result in made]


def compare(options, live: Live, file: pathlib.Path, sources: list[list[int]], search: Search, counts: Counter) -> None:
    ours, theirs = of_goldcrest(options, file, sources, search), of_ctranslate2(live, sources, search)
    for source, our, their in zip(sources, ours, theirs, strict=True):
        texts, expected = [ids for _, ids in our], [ids for _, ids in their]
        counts["lines", search.beams, search.least] += 1
        if texts == expected:
            counts["equal", search.beams, search.least] += 1
            # CTranslate2 divides a greedy score by the length, as those of beams.
            worst = max(abs(a - b) for (a, _), (b, _) in zip(our, their))
            if not worst <= TOLERANCE:
                raise Failure(f"scores are {worst:.1e} away: {search}, source {source}: {our} {their}")
        elif not is_tie(live, source, search, texts, expected):
            raise Failure(f"{search}, source {source}:\n  goldcrest   {texts}\n  CTranslate2 {expected}")
