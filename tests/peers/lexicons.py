# SPDX-License-Identifier: Apache-2.0
"""Lexicons: random checkpoints through the converter and the engine, next to transformers' prefix_allowed_tokens_fn
with renormalize_logits.

    python tests/peers/lexicons.py --build build/host --work FOLDER [--models 10]

Lexicons of 1, 10, 1,000 and 50,000 entries, which share prefixes and begin others, and one of 10 words again and again;
greedy and with 4 beams. Float32 files give the ids of transformers with scores within 1e-3: with the file's own
lexicon, and with the caller's on all outputs (--no-shortlist), whose output has the same bytes. Exit status 1 with any
difference."""

import pathlib
import random
import sys
from collections import Counter

import torch
import transformers

import product
import random_checkpoints
from product import as_lines

MOST = 24  # generated tokens
LINES = 30  # of each model and lexicon
Entry = tuple[int, ...]


def make_model(draw: random.Random, folder: pathlib.Path):
    size = draw.choice((300, 700))
    model = random_checkpoints.marian(size, 32, 2, [1, 2], [48, 48], pad=1, max_position_embeddings=32)
    generator = torch.Generator().manual_seed(draw.randrange(1 << 30))
    random_checkpoints.randomize(model, generator)
    random_checkpoints.end_sometimes(model.final_logits_bias, [0], draw, generator)
    model.save_pretrained(folder)
    random_checkpoints.write_tokenizers(folder, size, size, {"</s>": 0, "<pad>": 1, "<unk>": 2}, False)
    return transformers.MarianMTModel.from_pretrained(folder).eval()  # loading makes the positions again


def make_entries(draw: random.Random, n: int, plain: range) -> list[Entry]:
    entries: list[Entry] = []
    while len(entries) < n:
        begun = draw.choice(entries) if entries and draw.random() < 0.6 else ()
        begun = begun[:draw.randint(0, len(begun))]
        entry = begun + tuple(draw.choice(plain) for _ in range(draw.randint(1, 4)))
        if len(entry) <= 10:
            entries.append(entry)
    return entries


class Tree:
    def __init__(self, entries: list[Entry], words: bool) -> None:
        self.words, self.root = words, {}
        for entry in entries:
            node = self.root
            for token in entry:
                node = node.setdefault(token, {})
            node[0] = None  # the end

    def allowed(self, text: list[int]) -> list[int]:
        node = self.root
        for token in text:
            if token in node and token != 0:
                node = node[token]
            elif self.words and 0 in node and token in self.root:
                node = self.root[token]
            else:
                return [0]  # a filler among transformers' beams
        again = self.root if self.words and 0 in node else {}
        return sorted({*node, *again})


def of_transformers(model, tree: Tree, sources, beams: int) -> list[tuple[float, list[int]]]:
    found = []
    for source in sources:
        with torch.no_grad():
            made = model.generate(
                torch.tensor([source]), num_beams=beams, do_sample=False, max_length=MOST + 1, suppress_tokens=[1],
                prefix_allowed_tokens_fn=lambda _, ids: tree.allowed(ids.tolist()[1:]), renormalize_logits=True,
                output_scores=True, return_dict_in_generate=True)
        ids = made.sequences[0].tolist()[1:]
        ids = ids[:ids.index(0) + 1] if 0 in ids else ids
        if beams > 1:
            score = made.sequences_scores[0].item()
        else:
            log_probs = [row[0, token].item() for row, token in zip(made.scores, ids)]
            score = sum(log_probs) / len(ids)
        found.append((score, ids))
    return found


def check(options, seed: int, counts: Counter) -> None:
    folder, draw = product.emptied(options.work / "model"), random.Random(seed)
    model = make_model(draw, folder)
    plain = range(3, model.config.vocab_size)
    sources = [[draw.choice(plain) for _ in range(draw.randint(2, 20))] + [0] for _ in range(LINES)]
    lines = options.work / "lexicon.txt"
    file, free = options.work / "lexicon.gcst", options.work / "free.gcst"
    product.convert(options, folder, free)
    for n, words in ((1, False), (10, False), (1000, False), (50000, False), (10, True)):
        entries = make_entries(draw, n, plain)
        lines.write_text(as_lines(entries))
        asked = ["--lexicon", lines, *(["--lexicon-words"] if words else [])]
        product.convert(options, folder, file, "--ids", *asked)
        tree = Tree(entries, words)
        for beams in (1, 4):
            search = ["--ids", "--scores", "--beam-size", beams, "--max-target", MOST, "--min-target", 0, "--batch", 8]
            of_file = product.translate(options, file, *search, text=as_lines(sources))
            if product.translate(options, free, *search, *asked, "--no-shortlist", text=as_lines(sources)) != of_file:
                counts["different"] += 1
                print(f"{n} entries, {beams} beams: gathered and masked outputs give different results")
            theirs = of_transformers(model, tree, sources, beams)
            for (score, ids), (their_score, their_ids) in zip(
                    (best for [best] in product.results_of(of_file, LINES)), theirs, strict=True):
                kind = (f"{n} {'words' if words else 'entries'}", beams)
                counts[kind, "lines"] += 1
                if ids == their_ids and abs(score - their_score) <= 1e-3:
                    counts[kind, "equal"] += 1
                else:
                    counts["different"] += 1
                    print(f"{kind}: {score:.6f} {ids}, there {their_score:.6f} {their_ids}")


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=10))
    counts: Counter = Counter()
    for seed in range(options.models):
        check(options, seed, counts)
    for key in [key for key in counts if key != "different" and key[1] == "lines"]:
        print(f"{key[0][0]}, {key[0][1]} beams: {counts[key[0], 'equal']} of {counts[key]} lines equal")
    if counts["different"]:
        sys.exit("goldcrest departs from transformers")


if __name__ == "__main__":
    main()
