# SPDX-License-Identifier: Apache-2.0
"""Writes or checks tests/data/sampling_rows.tsv: what transformers' logits processors keep of seeded rows of logits.

A line has the row's seed and number of logits, temperature, top_k, top_p, min_p, the number of kept tokens, and the
probabilities of the first, the middle and the last of them. The logits are 6 * uniform() of tests/support/rng.h. Rows
with equal logits among the best ones, or within 1e-5 of a cut, are left out.

  sampling_rows.py FILE          writes the file
  sampling_rows.py FILE --check  fails if transformers gives other lines
"""

import pathlib
import random
import sys

import torch
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

ROWS = 1000
MASK = (1 << 64) - 1


def uniform_values(seed: int, n: int) -> list[float]:
    """splitmix64 (Steele, Lea and Flood 2014), as tests/support/rng.h."""
    values, state = [], seed
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        values.append(((z >> 40) - (1 << 23)) / (1 << 23))
    return values


def kept(logits: torch.Tensor, temperature: float, top_k: int, top_p: float, min_p: float) -> list[float]:
    scores = logits.unsqueeze(0)
    for warper in (TemperatureLogitsWarper(temperature), TopKLogitsWarper(top_k)):
        scores = warper(None, scores)
    if top_p < 1:
        scores = TopPLogitsWarper(top_p)(None, scores)
    if min_p > 0:
        scores = MinPLogitsWarper(min_p)(None, scores)
    probabilities = torch.softmax(scores.double(), -1)[0]
    return sorted((p for p, score in zip(probabilities.tolist(), scores[0].tolist(), strict=True)
                   if score != float("-inf")), reverse=True)


def is_close_call(logits: torch.Tensor, temperature: float, top_k: int, top_p: float, min_p: float) -> bool:
    best = torch.sort(logits.double(), descending=True).values[:top_k + 1]
    if torch.any(best[:-1] == best[1:]):
        return True
    p = torch.softmax(best[:top_k] / temperature, -1)
    before = torch.cumsum(p, -1) - p
    return bool(torch.any((before - top_p).abs() < 1e-5) or torch.any((p / p[0] - min_p).abs() < 1e-5))


def lines() -> list[str]:
    draw, made, seed = random.Random(1), [], 0
    while len(made) < ROWS:
        seed += 1
        n = draw.choice((40, 300, 1000))
        settings = (draw.choice((0.25, 0.5, 1.0, 1.5, 4.0)), draw.choice((2, 10, 50, 200)),
                    draw.choice((1.0, 1.0, 0.25, 0.5, 0.75, 0.875)), draw.choice((0.0, 0.0, 0.125, 0.5)))
        logits = torch.tensor(uniform_values(seed, n), dtype=torch.float32) * 6
        if is_close_call(logits, *settings):
            continue
        p = kept(logits, *settings)
        numbers = "\t".join(f"{p[i]:.8f}" for i in (0, len(p) // 2, len(p) - 1))
        made.append("\t".join(map(str, (seed, n, *settings, len(p)))) + "\t" + numbers)
    return made


def main() -> None:
    path, text = pathlib.Path(sys.argv[1]), "\n".join(lines()) + "\n"
    if "--check" not in sys.argv:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path}: transformers gives other lines")
    print(f"{ROWS} rows")


if __name__ == "__main__":
    main()
