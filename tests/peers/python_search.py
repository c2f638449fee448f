# SPDX-License-Identifier: Apache-2.0
"""Greedy and beam search over a live module in plain Python, with transformers' rules (generation/utils.py at v5.23).
Also tells whether a search whose scores are off by roundings can give a result."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch

OUT = -1.0e9  # transformers' score for an empty place in the list
ROUNDING = 64 * 2.0**-24  # a score may differ from the exact one by this much of the largest logit
Scored = tuple[float, tuple[int, ...]]  # a text that begins with the start token, and its score


@dataclass
class Rules:
    start: int
    ends: list[int]
    most: int  # generated tokens, without the start token
    beams: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | str = False
    # logits (greedy) or log-probabilities (beams) [rows, vocabulary] after the prefixes [rows, length], start included
    processors: list[Callable] = field(default_factory=list)


class Memory:
    """The last position's logits after a prefix, computed once a source."""

    def __init__(self, live, source: list[int]):
        self.live, self.encoded, self.known = live, live.encode(source), {}

    def __call__(self, prefixes: list[tuple[int, ...]]) -> torch.Tensor:
        new = [p for p in dict.fromkeys(prefixes) if p not in self.known]
        if new:
            self.known.update(zip(new, self.live.logits(self.encoded, new)))
        return torch.stack([self.known[p] for p in prefixes])

    def unit(self) -> float:
        """Returns how far a float32 score may be from the exact one, by the logits so far."""
        return ROUNDING * max(1.0, *(float(row.abs().max()) for row in self.known.values()))


def process(rules: Rules, prefixes: list[tuple[int, ...]], scores: torch.Tensor) -> torch.Tensor:
    rows = torch.tensor(prefixes)
    for processor in rules.processors:
        scores = processor(rows, scores)
    return scores


def greedy(memory: Memory, rules: Rules) -> list[int]:
    prefix = (rules.start,)
    while len(prefix) <= rules.most:
        scores = process(rules, [prefix], memory([prefix]))[0].tolist()
        prefix += (scores.index(max(scores)),)
        if prefix[-1] in rules.ends:
            break
    return list(prefix[1:])


def best(values: list[float], k: int) -> list[int]:
    """Indices of the k largest values, largest first; of equal ones the first."""
    return sorted(range(len(values)), key=lambda i: -values[i])[:k]


def continuations(running: list[Scored], scores: torch.Tensor, k: int) -> list[Scored]:
    """Returns the best k texts of one token more, from the scores of the next tokens [rows, vocabulary]."""
    total = scores + torch.tensor([score for score, _ in running], dtype=scores.dtype)[:, None]
    vocabulary, values = total.shape[1], total.flatten().tolist()
    return [(values[i], running[i // vocabulary][1] + (i % vocabulary,)) for i in best(values, k)]


def beam(memory: Memory, rules: Rules) -> list[int]:
    k, keep = rules.beams, max(2, 1 + len(rules.ends)) * rules.beams
    running = [(0.0 if i == 0 else OUT, (rules.start,)) for i in range(k)]
    finished = [(OUT, (), False)] * k  # score, ids, whether it is a result
    for n in range(1, rules.most + 1):
        prefixes = [prefix for _, prefix in running]
        scores = process(rules, prefixes, torch.log_softmax(memory(prefixes), dim=-1))
        found = continuations(running, scores, keep)
        ended = [prefix[-1] in rules.ends or n == rules.most for _, prefix in found]
        left = [(score + OUT * end, prefix) for (score, prefix), end in zip(found, ended)]
        running = [left[i] for i in best([score for score, _ in left], k)]
        full = all(done for _, _, done in finished) and rules.early_stopping is True
        merged = finished + [
            (score / n**rules.length_penalty + OUT * full + OUT * (not (end and i < k)), prefix, end and i < k)
            for i, ((score, prefix), end) in enumerate(zip(found, ended))]
        finished = [merged[i] for i in best([score for score, _, _ in merged], k)]
        length = rules.most if rules.early_stopping == "never" and rules.length_penalty > 0 else n
        possible, worst = running[0][0] / length**rules.length_penalty, min(score for score, _, _ in finished)
        done = [done for _, _, done in finished]
        hopeless = not any(possible > (worst if d else OUT) for d in done)
        if hopeless or (all(done) and rules.early_stopping is True) or all(ended):
            break
    return list(finished[0][1][1:])


def search(memory: Memory, rules: Rules) -> list[int]:
    with torch.no_grad():
        return (greedy if rules.beams == 1 else beam)(memory, rules)


def off_by_roundings(unit: float, text: list[int], seed: int) -> Callable:
    """Returns a processor that comes first: every score is off by at most `unit`. Scores of one text are larger by all
    of it. The others are off at random, or with seed 0 smaller by all of it."""
    dice = torch.Generator().manual_seed(seed)

    def move(prefixes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        off = 2 * torch.rand(scores.shape, generator=dice, dtype=scores.dtype) - 1 if seed else -torch.ones_like(scores)
        for row, prefix in enumerate(prefixes.tolist()):
            n = len(prefix) - 1
            if n < len(text) and prefix[1:] == text[:n]:
                off[row, text[n]] = 1
        return scores + unit * off

    return move


def comes_out(search_with: Callable[[Callable], list], unit: float, wanted: list[int], most: int = 1000) -> bool:
    """Returns whether search_with(processor) finds `wanted` for some of `most` roundings (Monte Carlo arithmetic,
    Parker 1997). Greedy ties and most others need no random rounding. If beams are full of texts with equal scores,
    such as orders of the same tokens, the result depends on all of them."""
    return any(wanted in search_with(off_by_roundings(unit, wanted, seed)) for seed in range(most))


def are_ties(memory: Memory, rules: Rules, results: list[list[int]]) -> bool:
    """Returns whether the search can give all results if its scores are off by roundings."""
    search(memory, rules)
    unit = memory.unit()

    def search_with(processor: Callable) -> list[list[int]]:
        return [search(memory, replace(rules, processors=[processor, *rules.processors]))]

    return all(comes_out(search_with, unit, result, 1 if rules.beams == 1 else 1000) for result in results)
