# SPDX-License-Identifier: Apache-2.0
"""CTranslate2's own search against the engine's: the shipped model and random ones, which CTranslate2's converters make
directories of.

    python tests/peers/ctranslate2_search.py --build build/host --work FOLDER [--models 40]

The converter is given no option of the search, so the file's defaults are compared. Greedy, and with 2, 4 and 8 beams and
all their results, with CTranslate2's minimum of 1 token and with longer ones, float32 files give CTranslate2's ids in its
order, and scores within 1e-4. Where they do not, the difference must be a tie: both results come out of a Python search by
the same rules over CTranslate2's logits when those are off by roundings. A file that was converted with the options of a
plain search has no rules. Exit status 1 with any difference."""

import argparse
import json
import pathlib
import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass

import ctranslate2
import torch
from ctranslate2 import converters

import ctranslate2_models
from ctranslate2_directories import ROUNDING, Failure, Live, run
from python_search import Memory, best, off_by_roundings

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BEAMS = (1, 2, 4, 8)
TOLERANCE = 1e-4  # of a score
TRIES = 1000      # of roundings, to show a tie


@dataclass
class Search:
    """As translate_batch has it: `least` counts no end token, `most` does."""

    beams: int
    least: int
    most: int


def results(memory: Memory, search: Search, end: int, move) -> list[list[int]]:
    """The ids of all results, best first, by CTranslate2's rules (src/decoding.cc at 0d8bcd36), with `move` on the logits."""
    running, finished = [(0.0, (0,))], []
    for n in range(1, search.most + 1):
        prefixes = [prefix for _, prefix in running]
        logits = move(torch.tensor(prefixes), memory(prefixes).double())
        if n <= search.least:
            logits[:, end] = -torch.inf
        total = torch.log_softmax(logits, dim=-1) + torch.tensor([[score] for score, _ in running])
        width, values = total.shape[1], total.flatten().tolist()
        found = [(values[i], prefixes[i // width] + (i % width,)) for i in best(values, 2 * search.beams)]
        finished += [(score / n, prefix) for score, prefix in found[:search.beams] if prefix[-1] == end or n == search.most]
        running = [(score, prefix) for score, prefix in found if prefix[-1] != end][:search.beams]
        if len(finished) >= search.beams:
            break
    return [list(prefix[1:]) for _, prefix in sorted(finished, key=lambda text: -text[0])][:search.beams]


def is_tie(live: Live, source: list[int], search: Search, ours: list[list[int]], theirs: list[list[int]]) -> bool:
    memory, end = Memory(live, source), live.vocabulary.index(live.model.end)
    results(memory, search, end, lambda _, logits: logits)
    unit = ROUNDING * max(1.0, memory.largest())

    def comes_out(rank: int, wanted: list[int]) -> bool:
        for seed in range(TRIES):
            found = results(memory, search, end, off_by_roundings(unit, wanted, seed))
            if rank < len(found) and found[rank] == wanted:
                return True
        return False

    return len(ours) == len(theirs) and all(
        a == b or (comes_out(rank, a) and comes_out(rank, b)) for rank, (a, b) in enumerate(zip(ours, theirs)))


def of_goldcrest(options, file: pathlib.Path, sources: list[list[int]], search: Search) -> list[list[tuple[float, list[int]]]]:
    lines = "".join(" ".join(map(str, source)) + "\n" for source in sources)
    out = run(options.build / "examples/goldcrest-translate", file, "--ids", "--beam", search.beams, "--nbest", search.beams,
              "--scores", "--min-target", search.least + 1, "--max-target", search.most, text=lines)
    found = [[] for _ in sources]
    for line in out.splitlines():
        fields = line.split("\t")
        number, score, ids = (int(fields[0]), *fields[-2:]) if search.beams > 1 else (0, *fields)
        if search.beams == 1:
            number = next(i for i, each in enumerate(found, 1) if not each)
        found[number - 1].append((float(score), [int(token) for token in ids.split()]))
    return found


def of_ctranslate2(live: Live, sources: list[list[int]], search: Search) -> list[list[tuple[float, list[int]]]]:
    ids = {token: i for i, token in reversed(list(enumerate(live.vocabulary)))}
    made = live.translator.translate_batch(
        [live.encode(source) for source in sources], max_batch_size=1, beam_size=search.beams, num_hypotheses=search.beams,
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


def check_directory(options, live: Live, folder: pathlib.Path, sources, searches: list[Search], counts: Counter) -> None:
    file, plain = folder / "model.gcst", folder / "plain.gcst"
    convert = (options.build / "converter/goldcrest-convert", folder, "-q", "--weights", "float32")
    run(*convert, "-o", file)
    for search in searches:
        compare(options, live, file, sources, search, counts)
    report = run(*convert, "-o", plain, "--json", "--early-stopping", "false", "--no-renormalize", "--force-end")
    if "rules" in json.loads(report):
        raise Failure("a file of a plain search has rules")


def check_shipped(options, counts: Counter) -> None:
    """The example of English and French with the lines of its golden results."""
    folder = options.work / "enfr"
    converters.TransformersConverter(str(SOURCE / "examples/models/enfr")).convert(str(folder), force=True)
    ids = json.loads((folder / "shared_vocabulary.json").read_text())
    live = Live(folder, ctranslate2_models.Model(None, ids, "</s>", True, False, "the shipped model"))
    with open(SOURCE / "tests/golden/enfr/results.jsonl") as lines:
        sources = [json.loads(line)["source_ids"] for line in lines][:options.lines]
    searches = [Search(beams, least, 60) for beams in BEAMS for least in (1, 12)]
    check_directory(options, live, folder, sources, searches, counts)


def check_random(options, seed: int, counts: Counter) -> None:
    folder, draw = options.work / f"random{seed}", random.Random(seed)
    model = ctranslate2_models.make(seed, folder / "checkpoint")
    with torch.serialization.safe_globals([argparse.Namespace]):
        model.converter.convert(str(folder / "ct2"), force=True)
    plain = [i for i in range(len(model.vocabulary)) if model.vocabulary[i].startswith("t")]
    ends = [model.vocabulary.index(model.end)] if model.end_by_hand or model.end_by_ctranslate2 else []
    sources = [[draw.choice(plain) for _ in range(draw.randint(2, 20))] + ends for _ in range(10)]
    searches = [Search(beams, least, most) for beams in BEAMS for least, most in ((1, 24), (5, 16), (0, 8))]
    check_directory(options, Live(folder / "ct2", model), folder / "ct2", sources, searches, counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--lines", type=int, default=960, help="of the shipped model")
    options = parser.parse_args()
    torch.set_num_threads(1)
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    for what, check in (("the shipped model", lambda counts: check_shipped(options, counts)),
                        ("random models", lambda counts: [check_random(options, i, counts) for i in range(options.models)])):
        counts = Counter()
        try:
            check(counts)
        except Failure as failure:
            print(failure)
            sys.exit("goldcrest departs from CTranslate2's search")
        for (kind, beams, least), n in counts.items():
            if kind == "lines":
                equal = counts["equal", beams, least]
                print(f"{what}, {beams} beams, at least {least} tokens: {equal} of {n} lines equal, {n - equal} ties")


if __name__ == "__main__":
    main()
