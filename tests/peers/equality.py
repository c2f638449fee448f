# SPDX-License-Identifier: Apache-2.0
"""Converts random MarianMTModel and nn.Transformer checkpoints to float32 files and compares the engine's ids with the
live module's: greedy, at beam 4 and at the file's own beam size. Differences must be ties, shown in float64.

    python tests/peers/equality.py --build build/host --work FOLDER [--seed 1] [--models 500] [--jobs 2]

For Marian the reference is transformers' generate, and the Python search over the live module must give the same ids.
For nn.Transformer the reference is that search. If the two sides differ, the search runs in float64 with scores that
are off by roundings, and must be able to give both results (`comes_out`). Exits with 1 for any difference that is not
such a tie, any setting that is neither applied nor named in a warning, and any refusal without a reason."""

import argparse
import json
import multiprocessing
import pathlib
import shutil
import sys
import time
from collections import Counter

import product
from product import Failure


def convert(options: argparse.Namespace, model, output: pathlib.Path) -> list[str] | None:
    """Returns the converter's warnings, or None if the container is refused as it should be."""
    import containers

    made = product.attempt(options.build / "converter/goldcrest-convert", model.folder, "-o", output, "--weights",
                           "float32", "-q", "--json")
    if not containers.CONTAINERS[model.container]:
        if made.returncode != 1 or "torch.save" not in made.stderr:
            raise Failure(f"refused in another way than expected: {made.returncode} {made.stderr}")
        return None
    if made.returncode != 0:
        raise Failure(f"goldcrest-convert: {made.stderr}")
    return json.loads(made.stdout)["warnings"]


def translate(options, file: pathlib.Path, sources: list[list[int]], given: list) -> list[list[int]]:
    made = product.translate(options, file, "--ids", "--threads", 1, *given, text=product.as_lines(sources))
    return [product.ids_of(line) for line in made.splitlines()]


def check_warnings(model, warnings: list[str]) -> bool:
    """Returns whether to compare ids: not if the model asks for something that the search lacks."""
    others = [w for w in warnings if not any(words in w for words in (*model.expected, model.warned or "\0"))]
    if others:
        raise Failure(f"warnings: {others}")
    if model.warned and not any(model.warned in w for w in warnings):
        raise Failure(f"{model.warned} is ignored without a warning")
    return not model.warned


def check_source(model, source: list[int], beams: int, ours: list[int], counts: Counter) -> None:
    from python_search import Memory, are_ties, search

    counts["lines"] += 1
    theirs = model.generate(source, beams)
    results = [ours, theirs]
    if model.family == "Marian":
        results.append(search(Memory(model.live(), source), model.rules(beams)))
    if ours == theirs and results[-1] == theirs:
        return
    if not are_ties(Memory(model.exact(), source), model.rules(beams), results):
        who = "goldcrest" if ours != theirs else "the Python search"
        raise Failure(f"{who} departs at beam {beams}, source {source}:\n  goldcrest {ours}\n  reference {theirs}\n"
                      f"  search    {results[-1]}")
    counts["ties" if ours != theirs else "ties of the Python search"] += 1


def check_model(options: argparse.Namespace, index: int, counts: Counter) -> None:
    """Raises Failure."""
    from random_marian import Marian
    from random_nn import NnTransformer

    seed = options.seed * 1_000_000 + index
    folder = product.emptied(options.work / f"{seed}")
    model = (Marian, NnTransformer)[index % 2](seed, folder, options.skip)
    file = folder / "model.gcst"
    try:
        warnings = convert(options, model, file)
        if warnings is None:
            counts["refused containers"] += 1
            model.container = "zip"
            model.write_weights()
            warnings = convert(options, model, file)
        if not check_warnings(model, warnings):
            counts["warned of"] += 1
            return
        for beams in dict.fromkeys([1, 4, model.default_beams()]):
            given = [] if beams == model.default_beams() else ["--beam-size", beams]
            lines = translate(options, file, model.sources, given)
            if len(lines) != len(model.sources):
                raise Failure(f"{len(lines)} lines of {len(model.sources)}")
            for source, ours in zip(model.sources, lines):
                check_source(model, source, beams, ours, counts)
        counts[f"{model.family} models"] += 1
    except Failure as failure:
        raise Failure(f"model {seed} ({model.family}): {failure}\n  {model.describe()}\n  kept in {folder}") from None
    shutil.rmtree(folder)


def check(job: tuple[argparse.Namespace, int]) -> tuple[Counter, str]:
    import warnings

    warnings.simplefilter("ignore")
    counts = Counter()
    try:
        check_model(*job, counts)
    except Failure as failure:
        return counts, str(failure)
    return counts, ""


def main() -> int:
    # only: the number of one model; skip: generation settings that are not drawn, with commas between them
    import torch
    import transformers

    import random_marian  # noqa: F401  once for all, before the fork
    import random_nn  # noqa: F401

    options = product.parsed(product.parser_of(__doc__, seed=1, models=500, jobs=2, only=int, skip=""))
    options.skip = set(options.skip.split(","))
    start, counts, failures = time.time(), Counter(), 0
    numbers = [options.only] if options.only is not None else range(options.models)
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for made, failure in pool.imap_unordered(check, [(options, i) for i in numbers]):
            counts += made
            if failure:
                failures += 1
                print(failure, flush=True)
    print(f"seed {options.seed}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())) +
          f"; {failures} failures; {time.time() - start:.0f} s; torch {torch.__version__}, "
          f"transformers {transformers.__version__}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
