# SPDX-License-Identifier: Apache-2.0
"""Greedy and beam search over a live module in plain Python, with transformers' rules (generation/utils.py at v5.23), and
with decisions that may be turned round: what a search gives when values that rounding can exchange are exchanged."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

OUT = -1.0e9  # transformers' score of a hypothesis that is not one


@dataclass
class Rules:
    start: int
    ends: list[int]
    most: int  # generated tokens, the start token not among them
    beams: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | str = False
    # logits (greedy) or log-probabilities (beams) [rows, vocabulary] after the prefixes [rows, length], the start included
    processors: list[Callable] = field(default_factory=list)


class Decisions:
    """Comparisons in a search. Those of values closer than the bound are counted, and turned round where asked."""

    def __init__(self, bound: Callable[[int], float], turned: tuple[int, ...] = ()):
        self.bound, self.turned = bound, turned
        self.n_close, self.n_tokens = 0, 0

    def _turn(self, a: float, b: float, scale: float) -> bool:
        if not (math.isfinite(a) and math.isfinite(b)) or abs(a - b) > self.bound(self.n_tokens) * scale:
            return False
        self.n_close += 1
        return self.n_close - 1 in self.turned

    def best(self, values: list[float], k: int, scale: float = 1.0) -> list[int]:
        """Indices of the k largest values, largest first; of equal ones the first."""
        order = sorted(range(len(values)), key=lambda i: -values[i])
        for i in range(min(k, len(order) - 1)):
            a, b = values[order[i]], values[order[i + 1]]
            if self._turn(a, b, scale):
                order[i], order[i + 1] = order[i + 1], order[i]
        return order[:k]

    def larger(self, a: float, b: float, scale: float) -> bool:
        return (a > b) != self._turn(a, b, scale)


class Memory:
    """The last position's logits after a prefix, computed once a source."""

    def __init__(self, live, source: list[int]):
        self.live, self.encoded, self.known = live, live.encode(source), {}

    def __call__(self, prefixes: list[tuple[int, ...]]) -> torch.Tensor:
        new = [p for p in dict.fromkeys(prefixes) if p not in self.known]
        if new:
            self.known.update(zip(new, self.live.logits(self.encoded, new)))
        return torch.stack([self.known[p] for p in prefixes])

    def largest(self) -> float:
        return max(float(row.abs().max()) for row in self.known.values())


def process(rules: Rules, prefixes: list[tuple[int, ...]], scores: torch.Tensor) -> torch.Tensor:
    rows = torch.tensor(prefixes)
    for processor in rules.processors:
        scores = processor(rows, scores)
    return scores


def greedy(memory: Memory, rules: Rules, decisions: Decisions) -> list[int]:
    prefix = (rules.start,)
    while len(prefix) <= rules.most:
        decisions.n_tokens = 1
        scores = process(rules, [prefix], memory([prefix]))[0]
        prefix += (decisions.best(scores.tolist(), 1)[0],)
        if prefix[-1] in rules.ends:
            break
    return list(prefix[1:])


def beam(memory: Memory, rules: Rules, decisions: Decisions) -> list[int]:
    k, keep = rules.beams, max(2, 1 + len(rules.ends)) * rules.beams
    running = [(0.0 if i == 0 else OUT, (rules.start,)) for i in range(k)]
    finished = [(OUT, (), False)] * k  # score, ids, whether it is a result
    for n in range(1, rules.most + 1):
        decisions.n_tokens = n
        prefixes = [prefix for _, prefix in running]
        scores = process(rules, prefixes, torch.log_softmax(memory(prefixes), dim=-1))
        total = scores + torch.tensor([score for score, _ in running], dtype=scores.dtype)[:, None]
        vocabulary = total.shape[1]
        top = torch.topk(total.flatten(), min(keep + 8, total.numel()))  # all that is close to the first `keep`, too
        values, places = top.values.tolist(), top.indices.tolist()
        in_order = sorted(range(len(values)), key=lambda i: (-values[i], places[i]))
        values, places = [values[i] for i in in_order], [places[i] for i in in_order]
        chosen = decisions.best(values, keep)
        found = [(values[i], prefixes[places[i] // vocabulary] + (places[i] % vocabulary,)) for i in chosen]
        ended = [prefix[-1] in rules.ends or n == rules.most for _, prefix in found]
        left = [(score + OUT * end, prefix) for (score, prefix), end in zip(found, ended)]
        running = [left[i] for i in sorted(range(len(left)), key=lambda i: -left[i][0])[:k]]
        scale = 1.0 / n**rules.length_penalty
        full = all(done for _, _, done in finished) and rules.early_stopping is True
        merged = finished + [
            (score * scale + OUT * full + OUT * (not (end and i < k)), prefix, end and i < k)
            for i, ((score, prefix), end) in enumerate(zip(found, ended))]
        finished = [merged[i] for i in decisions.best([score for score, _, _ in merged], k, scale)]
        length = rules.most if rules.early_stopping == "never" and rules.length_penalty > 0 else n
        possible, worst = running[0][0] / length**rules.length_penalty, min(score for score, _, _ in finished)
        scale = 1.0 / length**rules.length_penalty
        done = [done for _, _, done in finished]
        hopeless = not any(decisions.larger(possible, worst if d else OUT, scale) for d in dict.fromkeys(done))
        if hopeless or (all(done) and rules.early_stopping is True) or all(ended):
            break
    return list(finished[0][1][1:])


def search(memory: Memory, rules: Rules, decisions: Decisions) -> list[int]:
    with torch.no_grad():
        return (greedy if rules.beams == 1 else beam)(memory, rules, decisions)


def results_by_rounding(memory: Memory, rules: Rules, bound: Callable[[int], float], wanted: list[list[int]],
                        most_searches: int = 200) -> bool:
    """Whether every one of the wanted results comes out of a search in which decisions within the bound go either way."""
    missing, pending = [list(w) for w in wanted], [()]
    for _ in range(most_searches):
        if not pending:
            return not missing
        turned = pending.pop(0)
        decisions = Decisions(bound, turned)
        result = search(memory, rules, decisions)
        missing = [w for w in missing if w != result]
        if not missing:
            return True
        first = turned[-1] + 1 if turned else 0
        pending += [turned + (i,) for i in range(first, decisions.n_close)]
    return False
