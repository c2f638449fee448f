# SPDX-License-Identifier: Apache-2.0
"""CTranslate2's own search against the engine's: the shipped model and random ones, which CTranslate2's converters make
directories of.

    python tests/peers/ctranslate2_search.py --build build/host --work FOLDER [--models 40]

The converter is given no option of the search, so the file's defaults are compared. Greedy, and with 2, 4 and 8 beams
and all their results, with CTranslate2's minimum of 1 token and with longer ones, float32 files give CTranslate2's ids
in its order, and scores within 1e-4. Where they do not, the difference must be a tie: both results come out of a Python
search by the same rules over CTranslate2's logits when those are off by roundings. A file that was converted with the
options of a plain search has no rules. Exit status 1 with any difference."""

import json
import pathlib
import random
import sys
from collections import Counter

from ctranslate2 import converters

import ctranslate2_models
import product
from ctranslate2_live import Live, Search, compare
from product import ROOT, Failure

BEAMS = (1, 2, 4, 8)


def check_directory(options, live: Live, folder: pathlib.Path, sources, searches: list, counts: Counter) -> None:
    file, plain = folder / "model.gcst", folder / "plain.gcst"
    product.convert(options, folder, file)
    for search in searches:
        compare(options, live, file, sources, search, counts)
    report = product.convert(options, folder, plain, "--json", "--early-stopping", "false", "--no-renormalize",
                             "--force-end")
    if "rules" in json.loads(report):
        raise Failure("a file of a plain search has rules")


def check_shipped(options, counts: Counter) -> None:
    """The example of English and French with the lines of its golden results."""
    folder = options.work / "enfr"
    converters.TransformersConverter(str(ROOT / "examples/models/enfr")).convert(str(folder), force=True)
    ids = json.loads((folder / "shared_vocabulary.json").read_text())
    live = Live(folder, ctranslate2_models.Model(None, ids, "</s>", True, False, "the shipped model"))
    with open(ROOT / "tests/golden/enfr/results.jsonl") as lines:
        sources = [json.loads(line)["source_ids"] for line in lines][:options.lines]
    searches = [Search(beams, least, 60) for beams in BEAMS for least in (1, 12)]
    check_directory(options, live, folder, sources, searches, counts)


def check_random(options, seed: int, counts: Counter) -> None:
    folder, draw = options.work / f"random{seed}", random.Random(seed)
    model = ctranslate2_models.make(seed, folder / "checkpoint")
    model.write(folder / "ct2")
    plain, ends = model.plain(), model.ends()
    sources = [[draw.choice(plain) for _ in range(draw.randint(2, 20))] + ends for _ in range(10)]
    searches = [Search(beams, least, most) for beams in BEAMS for least, most in ((1, 24), (5, 16), (0, 8))]
    check_directory(options, Live(folder / "ct2", model), folder / "ct2", sources, searches, counts)


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=40, lines=408))  # lines of the shipped model
    product.emptied(options.work)
    for what, check in (("the shipped model", lambda counts: check_shipped(options, counts)),
                        ("random models", lambda c: [check_random(options, i, c) for i in range(options.models)])):
        counts = Counter()
        try:
            check(counts)
        except Failure as failure:
            print(failure)
            sys.exit("goldcrest departs from CTranslate2")
        for (kind, beams, least), n in counts.items():
            if kind == "lines":
                equal = counts["equal", beams, least]
                print(f"{what}, {beams} beams, at least {least} tokens: {equal} of {n} lines equal, {n - equal} ties")


if __name__ == "__main__":
    main()
