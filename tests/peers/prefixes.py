# SPDX-License-Identifier: Apache-2.0
"""Prefixes and alternatives: random checkpoints through the converter and the engine, next to transformers'
decoder_input_ids and CTranslate2's target_prefix and return_alternatives.

    python tests/peers/prefixes.py --build build/host --work FOLDER [--models 24]

Prefixes of 0, 1, 5 and all but one of the positions, mixed in batches of 8, greedy and with 4 beams. Float32 files give
the ids of transformers with scores within 1e-3, and with --prefix-in-lengths those of CTranslate2. So do four
alternatives behind prefixes of 0 and 1, in the same order, and those of them that are likely enough. (Behind longer
prefixes the alternatives of CTranslate2 4.8.5 have other scores than its own search.) Exit status 1 with any
difference. With beams CTranslate2 4.8.5 gives a text that ends right behind a prefix a score of -10^10, so such texts
are left out of both lists before their best results are compared."""

import pathlib
import random
import sys
from collections import Counter

import ctranslate2
import torch
import transformers

import ctranslate2_models
import product
from product import Result

MOST = 24  # generated tokens
Results = list[list[Result]]  # of each line, best first


ALTERNATIVES = 4
LEAST = 0.05  # of likely alternatives


def of_goldcrest(options, checkpoint: pathlib.Path, sources, prefixes, beams: int, in_lengths: bool,
                 least: float | None = None) -> Results:
    """The n-best results, or with `least` the alternatives."""
    file, given = options.work / "model.gcst", options.work / "prefixes.txt"
    product.convert(options, checkpoint, file)
    given.write_text(product.as_lines(prefixes))
    search = ["--beam-size", beams, "--n-best", beams]
    if least is not None:
        search = ["--alternatives", ALTERNATIVES, "--min-alternative-prob", least]
    return product.search(options, file, sources, *search, "--batch", 8, "--max-target", MOST, "--min-target", 0,
                          "--prefix-file", given, *(["--prefix-in-lengths"] if in_lengths else []))


def of_transformers(model, sources, prefixes, beams: int) -> Results:
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
        found.append([(score, ids)])
    return found


def of_ctranslate2(folder: pathlib.Path, vocabulary: list[str], sources, prefixes, beams: int,
                   least: float | None = None) -> Results:
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    ids = {token: i for i, token in reversed(list(enumerate(vocabulary)))}
    text = [[[vocabulary[i] for i in row] for row in rows] for rows in (sources, prefixes)]
    # With max_batch_size=1 no prefix is padded.
    made = translator.translate_batch(text[0], target_prefix=text[1], max_batch_size=1, beam_size=beams,
                                      num_hypotheses=beams if least is None else ALTERNATIVES,
                                      return_alternatives=least is not None, min_alternative_expansion_prob=least or 0,
                                      min_decoding_length=0, max_decoding_length=MOST, return_scores=True,
                                      return_end_token=True)
    return [list(zip(result.scores, [[ids[token] for token in text] for text in result.hypotheses])) for result in made]


def best(results: list[Result], prefix: list[int], leaves_out_ended: bool) -> Result:
    return next((result for result in results if not leaves_out_ended or result[1] != [*prefix, 0]), (0.0, []))


def compare(kind: str, beams: int, prefixes, ours: Results, theirs: Results, counts: Counter) -> None:
    leaves_out_ended = kind == "CTranslate2" and beams > 1
    for prefix, our_results, their_results in zip(prefixes, ours, theirs, strict=True):
        score, ids = best(our_results, prefix, leaves_out_ended and len(prefix) > 0)
        their_score, their_ids = best(their_results, prefix, leaves_out_ended and len(prefix) > 0)
        counts[kind, beams, "lines"] += 1
        if ids == their_ids and abs(score - their_score) <= 1e-3:
            counts[kind, beams, "equal"] += 1
        else:
            counts["different"] += 1
            print(f"{kind}, {beams} beams, prefix {prefix}: {score:.6f} {ids}, there {their_score:.6f} {their_ids}")


def compare_alternatives(least: float, prefixes, ours: Results, theirs: Results, counts: Counter) -> None:
    for prefix, our_results, their_results in zip(prefixes, ours, theirs, strict=True):
        counts["alternatives", least, "lines"] += 1
        counts["alternatives", least, "results"] += len(our_results)
        if [ids for _, ids in our_results] == [ids for _, ids in their_results] and all(
                abs(score - other) <= 1e-3 for (score, _), (other, _) in zip(our_results, their_results)):
            counts["alternatives", least, "equal"] += 1
        else:
            counts["different"] += 1
            print(f"alternatives, prefix {prefix}: {our_results}, there {their_results}")


def check(options, seed: int, counts: Counter) -> None:
    folder, draw = product.emptied(options.work / "model"), random.Random(seed)
    (folder / "checkpoint").mkdir()
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
    short = [i for i, prefix in enumerate(prefixes) if len(prefix) < 2]
    sources, prefixes = [sources[i] for i in short], [prefixes[i] for i in short]
    for least in (0.0, LEAST):
        compare_alternatives(least, prefixes, of_goldcrest(options, folder / "ct2", sources, prefixes, 1, False, least),
                             of_ctranslate2(folder / "ct2", made.vocabulary, sources, prefixes, 1, least), counts)


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=24))
    counts = Counter()
    for seed in range(options.models):
        check(options, seed, counts)
    for kind in ("transformers", "CTranslate2"):
        for beams in (1, 4):
            print(f"{kind}, beam {beams}: {counts[kind, beams, 'equal']} of {counts[kind, beams, 'lines']} lines equal")
    for least in (0.0, LEAST):
        equal, lines, results = (counts["alternatives", least, name] for name in ("equal", "lines", "results"))
        print(f"CTranslate2, alternatives of at least {least}: {equal} of {lines} lines equal, {results} results")
    if counts["different"] or not counts["CTranslate2", 4, "lines"]:
        sys.exit("goldcrest departs from CTranslate2" if counts["different"] else "nothing was compared")


if __name__ == "__main__":
    main()
