# SPDX-License-Identifier: Apache-2.0
"""Packages of Argos Translate against CTranslate2 with Argos' own call, in which source tokens replace unknown ones.

    python tests/peers/argos.py --build build/host --work FOLDER [--lines 160]

The shipped model becomes packages that prefer the unknown token by a random bias, for alignments of one, some and all
heads of any layer. Lines get characters that the vocabulary lacks. goldcrest-translate must print the texts of
translate_batch(beam_size=4, length_penalty=0.2, replace_unknowns=True), whose tokens Argos joins. Each line is a batch
of its own: CTranslate2 4.8.5 gives the first token of a line in a larger batch another attention. Exits with 1 for any
difference."""

import json
import pathlib
import random
import shutil
import sys

import ctranslate2
import sentencepiece
import transformers

import product
from product import ROOT as SOURCE

ALIGNMENTS = ((-1, 1), (-1, 0), (-2, 0), (0, 1), (1, 2), (0, 3))  # layer, heads; 0: all
MOST = 100
STRANGE = ("豆腐", "☃", "Ωmega", "ж", "🙂🙂", "x☂y", "Ելք")


def make_package(options, model, layer: int, heads: int) -> pathlib.Path:
    folder = options.work / f"package{layer}_{heads}" / "en_fr"
    (folder / "model").mkdir(parents=True)
    checkpoint = options.work / "checkpoint"
    model.save_pretrained(checkpoint)
    converter = ctranslate2.converters.TransformersConverter(str(checkpoint))
    spec = converter._load()
    spec.decoder.alignment_layer, spec.decoder.alignment_heads = (
        value.dtype.type(new)
        for value, new in ((spec.decoder.alignment_layer, layer), (spec.decoder.alignment_heads, heads)))
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=None)
    spec.save(str(folder / "model"))
    shutil.copy(SOURCE / "examples/models/enfr/source.spm", folder / "sentencepiece.model")
    (folder / "metadata.json").write_text(json.dumps({"from_code": "en", "to_code": "fr", "target_prefix": ""}))
    return folder


def strange_lines(draw: random.Random, lines: list[str]) -> list[str]:
    result = []
    for line in lines:
        words = line.split()
        for _ in range(draw.randint(0, 3)):
            words.insert(draw.randint(0, len(words)), draw.choice(STRANGE))
        result.append(" ".join(words))
    return result


def expected_texts(folder: pathlib.Path, lines: list[str]) -> list[str]:
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
    translator = ctranslate2.Translator(str(folder / "model"), compute_type="float32", intra_threads=1)
    tokens = [pieces.encode(line, out_type=str) for line in lines]
    results = [translator.translate_batch([line], beam_size=4, length_penalty=0.2, replace_unknowns=True,
                                          max_decoding_length=MOST)[0] for line in tokens]
    return ["".join(result.hypotheses[0]).replace("▁", " ").lstrip(" ") for result in results]


def translate(options, file: pathlib.Path, lines: list[str], *more: str) -> list[str]:
    made = product.attempt(options.build / "examples/goldcrest-translate", file, "--no-split", "--max-target", MOST,
                           *more, text="\n".join(lines) + "\n")
    if ("--stream prints unknown tokens" in made.stderr) != ("--stream" in more):
        sys.exit(f"goldcrest-translate departs: {more} says {made.stderr!r}")
    return made.stdout.splitlines()


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, lines=160))
    product.emptied(options.work)
    draw, failed = random.Random(62), 0
    shipped = SOURCE / "examples/models/enfr"
    shutil.copytree(shipped, options.work / "checkpoint")
    texts = [line.split("\t")[0] for line in (SOURCE / "tests/data/enfr/valid.tsv").read_text().splitlines()]
    for layer, heads in ALIGNMENTS:
        model = transformers.MarianMTModel.from_pretrained(shipped)
        unknown = json.loads((shipped / "vocab.json").read_text())["<unk>"]
        model.final_logits_bias[0, unknown] += draw.uniform(7, 11)
        folder = make_package(options, model, layer, heads)
        lines = strange_lines(draw, draw.sample(texts, options.lines))
        file = folder / "model.gcst"
        product.convert(options, folder, file)
        found = translate(options, file, lines)
        plain = translate(options, file, lines, "--no-replace-unknowns")
        if translate(options, file, lines[:9], "--stream") != plain[:9]:
            sys.exit("goldcrest-translate departs: --stream replaces unknown tokens, or prints other texts")
        expected = expected_texts(folder, lines)
        equal, replaced = sum(map(str.__eq__, found, expected)), sum(map(str.__ne__, found, plain))
        print(f"layer {layer}, heads {heads}: {equal} of {len(lines)} equal; {replaced} have a replaced token")
        for line, text, right in zip(lines, found, expected):
            if text != right:
                failed += 1
                print(f"  departs: {line!r}\n    {text!r}\n    {right!r}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
