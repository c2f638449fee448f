# SPDX-License-Identifier: Apache-2.0
"""Prefixes: random checkpoints through the converter and the engine, next to transformers' decoder_input_ids and
CTranslate2's target_prefix.

    python tests/peers/prefixes.py --build build/host --work FOLDER [--models 24]

Prefixes of 0, 1, 5 and all but one of the positions, mixed in batches of 8, greedy and with 4 beams. Float32 files give
the ids of transformers with scores within 1e-3, and with --prefix-in-lengths those of CTranslate2. Exit status 1 with any
difference that is no tie: the scores of both results are then within 1e-4."""

import argparse
import pathlib
import random
import shutil
import subprocess
import sys
from collections import Counter

import ctranslate2
import torch
import transformers

import ctranslate2_models

MOST = 24  # generated tokens
Result = tuple[float, list[int]]


def run(*command: object, text: str = "") -> str:
    made = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True, timeout=300)
    if made.returncode != 0:
        sys.exit(f"{command[0]}: {made.stdout}{made.stderr}")
    return made.stdout


def as_lines(rows: list[list[int]]) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def of_goldcrest(options, checkpoint: pathlib.Path, sources, prefixes, beams: int, in_lengths: bool) -> list[Result]:
    file, given = options.work / "model.gcst", options.work / "prefixes.txt"
    run(options.build / "converter/goldcrest-convert", checkpoint, "-o", file, "--weights", "float32", "-q")
    given.write_text(as_lines(prefixes))
    out = run(options.build / "examples/goldcrest-translate", file, "--ids", "--scores", "--beam", beams, "--batch", 8,
              "--max-target", MOST, "--min-target", 0, "--prefix-file", given,
              *(["--prefix-in-lengths"] if in_lengths else []), text=as_lines(sources))
    fields = [line.split("\t") for line in out.splitlines()]
    return [(float(score), [int(token) for token in ids.split()]) for score, ids in fields]


def of_transformers(model, sources, prefixes, beams: int) -> list[Result]:
    start, pad = model.config.decoder_start_token_id, model.config.pad_token_id
    found = []
    for source, prefix in zip(sources, prefixes):
        with torch.no_grad():
            made = model.generate(
                torch.tensor([source]), decoder_input_ids=torch.tensor([[start, *prefix]]), num_beams=beams,
                do_sample=False, max_length=MOST + 1, suppress_tokens=[pad], output_scores=True, output_logits=True,
                return_dict_in_generate=True)
        ids = made.sequences[0].tolist()[1:]
        ids = ids[:ids.index(0) + 1] if 0 in ids else ids
        if beams > 1:
            score = made.sequences_scores[0].item()
        else:  # the sum of log-probabilities; the forced end adds 0
            free = ids[len(prefix):]
            rows = [torch.log_softmax(row[0].double(), -1) for row in made.logits]
            log_probs = [row[token].item() for row, token in zip(rows, free)]
            if len(ids) == MOST:
                log_probs[-1] = 0.0
            score = sum(log_probs) / len(free)
        found.append((score, ids))
    return found


def of_ctranslate2(folder: pathlib.Path, vocabulary: list[str], sources, prefixes, beams: int) -> list[Result]:
    translator = ctranslate2.Translator(str(folder), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1)
    ids = {token: i for i, token in reversed(list(enumerate(vocabulary)))}
    text = [[[vocabulary[i] for i in row] for row in rows] for rows in (sources, prefixes)]
    # With max_batch_size=1 no prefix is padded.
    made = translator.translate_batch(text[0], target_prefix=text[1], max_batch_size=1, beam_size=beams,
                                      min_decoding_length=0, max_decoding_length=MOST, return_scores=True,
                                      return_end_token=True)
    return [(result.scores[0], [ids[token] for token in result.hypotheses[0]]) for result in made]


def compare(kind: str, beams: int, prefixes, ours: list[Result], theirs: list[Result], counts: Counter) -> None:
    for prefix, (score, ids), (their_score, their_ids) in zip(prefixes, ours, theirs, strict=True):
        counts[kind, beams, "lines"] += 1
        if ids == their_ids and abs(score - their_score) <= 1e-3:
            counts[kind, beams, "equal"] += 1
        elif ids[:len(prefix)] == prefix == their_ids[:len(prefix)] and abs(score - their_score) <= 1e-4:
            counts[kind, beams, "ties"] += 1
        else:
            counts["different"] += 1
            print(f"{kind}, {beams} beams, prefix {prefix}: {score:.6f} {ids}, there {their_score:.6f} {their_ids}")


def check(options, seed: int, counts: Counter) -> None:
    folder, draw = options.work / "model", random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "checkpoint").mkdir(parents=True)
    made = ctranslate2_models.transformers_marian(draw, folder / "checkpoint")
    made.converter.convert(str(folder / "ct2"), force=True)
    model = transformers.MarianMTModel.from_pretrained(folder / "checkpoint").eval()
    plain = range(2, model.config.vocab_size - 1)
    sources = [[draw.choice(plain) for _ in range(draw.randint(2, 20))] + [0] for _ in range(16)]
    prefixes = [[draw.choice(plain) for _ in range((0, 1, 5, MOST - 1)[i % 4])] for i in range(16)]
    for beams in (1, 4):
        ours = of_goldcrest(options, folder / "checkpoint", sources, prefixes, beams, False)
        compare("transformers", beams, prefixes, ours, of_transformers(model, sources, prefixes, beams), counts)
        ours = of_goldcrest(options, folder / "ct2", sources, prefixes, beams, True)
        compare("CTranslate2", beams, prefixes, ours,
                of_ctranslate2(folder / "ct2", made.vocabulary, sources, prefixes, beams), counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=int, default=24)
    options = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options.work.mkdir(parents=True, exist_ok=True)
    counts = Counter()
    for seed in range(options.models):
        check(options, seed, counts)
    for kind in ("transformers", "CTranslate2"):
        for beams in (1, 4):
            print(f"{kind}, {beams} beams: {counts[kind, beams, 'equal']} of {counts[kind, beams, 'lines']} lines equal, "
                  f"{counts[kind, beams, 'ties']} ties")
    if counts["different"] or not counts["CTranslate2", 4, "lines"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
