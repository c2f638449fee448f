# SPDX-License-Identifier: Apache-2.0
"""The speed of drafts, as a model that corrects text would have it: a random model of the base shape, whose greedy
results with 5 % of their ids changed are the drafts of the same lines.

    python tests/peers/drafts.py --build build/host --work FOLDER [--pairs 5] [--changed 0.05]

Prints the CPU time of greedy search over that with drafts, in interleaved pairs. Exit status 1 if a result differs."""

import os
import random
import statistics
import sys

import checkpoints
import product

LINES, SOURCE, TARGET = 24, 40, 300


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, pairs=5, changed=0.05))
    model, _ = checkpoints.prepare("base", options.work, product.ROOT / "tests/data/opus-mt-en-mg",
                                   options.build / "converter/goldcrest-convert", 1, [])
    draw = random.Random(1)
    sources = "".join(" ".join(str(draw.randrange(10, 31000)) for _ in range(SOURCE)) + " 0\n" for _ in range(LINES))

    def run(*more: str) -> tuple[str, float]:
        before = os.times()
        made = product.translate(options, model, "--ids", "--scores", "--threads", 1, "--max-target", TARGET, *more,
                                 text=sources)
        after = os.times()
        return made, sum(after[2:4]) - sum(before[2:4])

    greedy = ("--beam-size", "1", "--batch", "1")
    expected, ratios = run(*greedy)[0], []
    drafts = options.work / "drafts.txt"
    drafts.write_text("".join(" ".join(str(draw.randrange(10, 31000)) if draw.random() < options.changed else token
                                       for token in line.split("\t")[1].split()) + "\n"
                              for line in expected.splitlines()))
    for _ in range(options.pairs):
        plain, checked = run(*greedy), run("--draft", str(drafts))
        if plain[0] != expected or checked[0] != expected:
            sys.exit("a result with a draft departs from greedy search's")
        ratios.append(plain[1] / checked[1])
    print(f"{100 * options.changed:.0f} % of the ids changed: greedy search takes {statistics.median(ratios):.2f} "
          f"times the CPU time ({min(ratios):.2f} to {max(ratios):.2f}, {options.pairs} pairs)")


if __name__ == "__main__":
    main()
