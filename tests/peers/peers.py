# SPDX-License-Identifier: Apache-2.0
"""Goldcrest and CTranslate2 int8 on the same weights, with equal forced work, in interleaved pairs on one pinned core.

  python peers.py --build BUILD_FOLDER --work FOLDER [--quick] [--models base,small] [--json FILE]

Needs torch, transformers, sentencepiece and ctranslate2. Prints a Markdown table with its conditions.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import time

import checkpoints
from engines import BACKENDS, SOURCE_TOKENS, Cell, CTranslate2, Goldcrest, Patience, ct2_opening

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def bootstrap_interval(ratios: list[float], resamples: int = 10000) -> tuple[float, float]:
    """The 95 % interval of the median, by resampling the pairs."""
    chooser = random.Random(1)
    medians = sorted(statistics.median(chooser.choices(ratios, k=len(ratios))) for _ in range(resamples))
    return medians[int(0.025 * resamples)], medians[int(0.975 * resamples) - 1]


def compare(ours: Goldcrest, theirs: CTranslate2, cell: Cell, n_pairs: int) -> dict:
    """Pairs in the order AB BA AB ..., so that a drift of the machine falls on both sides."""
    our_rates, their_rates = [], []
    for pair in range(n_pairs):
        sides = [(ours, our_rates), (theirs, their_rates)]
        for engine, rates in sides if pair % 2 == 0 else reversed(sides):
            rates.append(engine.tokens_per_s(cell))
    ratios = [our / their for our, their in zip(our_rates, their_rates)]
    low, high = bootstrap_interval(ratios)
    return {"ours": statistics.median(our_rates), "theirs": statistics.median(their_rates), "ratios": ratios,
            "ratio": statistics.median(ratios), "low": low, "high": high}


def compare_cell(name: str, ours: Goldcrest, backends: dict[str, CTranslate2], cell: Cell, n_pairs: int) -> dict:
    """One probe of each backend, then the pairs against the faster."""
    probes = {backend: engine.tokens_per_s(cell) for backend, engine in backends.items()}
    fastest = max(probes, key=probes.get)
    row = {"model": name, "beam_size": cell.beam_size, "batch": cell.batch, "target_tokens": cell.target_tokens,
           "backend": fastest, "probes": probes} | compare(ours, backends[fastest], cell, n_pairs)
    print(f"{name} beam {cell.beam_size} batch {cell.batch}: {row['ratio']:.2f}x", file=sys.stderr, flush=True)
    return row


def speed_table(rows: list[dict]) -> str:
    lines = ["| model | beam | batch | target | Goldcrest tok/s | CTranslate2 tok/s | backend | other backend "
             "| ratio | 95 % interval | least and most |",
             "|---|--:|--:|--:|--:|--:|---|--:|--:|---|---|"]
    for row in rows:
        other = min(row["probes"].values())
        lines.append(f"| {row['model']} | {row['beam_size']} | {row['batch']} | {row['target_tokens']} "
                     f"| {row['ours']:.0f} | {row['theirs']:.0f} | {row['backend']} | {other:.0f} "
                     f"| {row['ratio']:.2f} | {row['low']:.2f} to {row['high']:.2f} "
                     f"| {min(row['ratios']):.2f} to {max(row['ratios']):.2f} |")
    return "\n".join(lines)


def opening_table(rows: list[dict]) -> str:
    lines = ["| model | Goldcrest open, to first token | CTranslate2 open, to first token | ratio to first token "
             "| Goldcrest peak MB | CTranslate2 peak MB (of it imports) |", "|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        ours, theirs = row["ours"], row["theirs"]
        lines.append(f"| {row['model']} | {ours['load_s'] * 1e3:.1f} ms, {ours['first_token_s'] * 1e3:.1f} ms "
                     f"| {theirs['load_s'] * 1e3:.1f} ms, {theirs['first_token_s'] * 1e3:.1f} ms "
                     f"| {theirs['first_token_s'] / ours['first_token_s']:.2f} "
                     f"| {ours['peak_resident_bytes'] / 1e6:.0f} | {theirs['peak_resident_bytes'] / 1e6:.0f} "
                     f"({theirs['imported_bytes'] / 1e6:.0f}) |")
    return "\n".join(lines)


def cpu_model() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith(("model name", "hardware")):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def conditions(arguments, n_pairs: int, patience: Patience, first_load, kernels: set[str]) -> str:
    commit = subprocess.run(["git", "-C", REPOSITORY, "describe", "--always", "--dirty"], capture_output=True,
                            text=True).stdout.strip() or "unknown"
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("ctranslate2", "transformers"))
    loads = " and ".join(" ".join(f"{value:.2f}" for value in load) for load in (first_load, os.getloadavg()))
    return "\n".join([
        f"- {time.strftime('%Y-%m-%d')}, {cpu_model()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.release()}, core {arguments.core} pinned, 1 thread; load averages before and after {loads}",
        f"- Goldcrest {commit} with {', '.join(sorted(kernels))}; {versions}, compute type int8",
        f"- {SOURCE_TOKENS} source tokens, forced target lengths, encoding included; {n_pairs} interleaved pairs, each "
        f"side the median of at least {patience.repetitions} runs and {patience.seconds} s after "
        f"{patience.warm_ups} warm-up runs",
        "- CTranslate2's backends get one probe a cell; the pairs are against the faster. Ratios above 1: Goldcrest "
        "is faster. An interval that crosses 1 shows nothing."])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a Release build of this repository")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where checkpoints and models are kept")
    parser.add_argument("--models", default=",".join(checkpoints.SHAPES), help="of " + ", ".join(checkpoints.SHAPES))
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--batches", default="1,32")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core that both sides run on")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=2, help="least time of one measurement")
    parser.add_argument("--kernels", help="force one of Goldcrest's kernel tables")
    parser.add_argument("--seed", type=int, default=1, help="of the weights")
    parser.add_argument("--quick", action="store_true", help="3 short pairs a cell: a look, not a result")
    parser.add_argument("--json", type=pathlib.Path, help="also write all figures there")
    arguments = parser.parse_args()
    unknown = set(arguments.models.split(",")) - set(checkpoints.SHAPES)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(checkpoints.SHAPES)}")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    n_pairs = 3 if arguments.quick else arguments.pairs
    patience = Patience(0.2, 1, 1) if arguments.quick else Patience(arguments.seconds, 3, 3)
    os.sched_setaffinity(0, {arguments.core})  # and every process started from here
    first_load = os.getloadavg()
    cells = [Cell(int(beam), int(batch)) for beam in arguments.beams.split(",")
             for batch in arguments.batches.split(",")]
    speeds, openings, kernels = [], [], set()
    for name in arguments.models.split(","):
        ours_path, theirs_path = checkpoints.prepare(
            name, arguments.work, REPOSITORY / "tests/data/opus-mt-en-mg",
            arguments.build / "converter/goldcrest-convert", arguments.seed)
        ours = Goldcrest(arguments.build / "examples/goldcrest-bench", ours_path, arguments.kernels, patience)
        with CTranslate2(theirs_path, "oneDNN", patience) as onednn, CTranslate2(theirs_path, "MKL", patience) as mkl:
            backends = dict(zip(BACKENDS, (onednn, mkl)))
            speeds += [compare_cell(name, ours, backends, cell, n_pairs) for cell in cells]
        opening = ours.opening()
        kernels.add(opening["kernels"])
        openings.append({"model": name, "ours": opening, "theirs": ct2_opening(theirs_path, "oneDNN", patience)})
    print(speed_table(speeds), opening_table(openings),
          conditions(arguments, n_pairs, patience, first_load, kernels), sep="\n\n")
    if arguments.json:
        arguments.json.write_text(json.dumps({"speed": speeds, "opening": openings}, indent=2) + "\n")


if __name__ == "__main__":
    main()
