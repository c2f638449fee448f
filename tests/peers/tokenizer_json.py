# SPDX-License-Identifier: Apache-2.0
"""Makes the tokenizer.json of SentencePiece models as transformers 5.23 does (convert_slow_tokenizer.py), converts folders
that have only this file, and compares the ids of random lines with those of the `tokenizers` package.

    python tests/peers/tokenizer_json.py --build build/host --work FOLDER [--lines 10000]

Exit status 1 where one line's ids differ."""

import json
import pathlib
import random
import subprocess
import sys

import families
import sentencepiece
import t5
import tokenizers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors
from transformers.convert_slow_tokenizer import generate_merges

SPECIAL = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
SPACE = "\u2581"
# Name, and the settings of sentencepiece's trainer. All are T5's in their special tokens.
MODELS = {
    "unigram": {},
    "unigram_bytes": {"byte_fallback": True, "vocab_size": 500},
    "bpe": {"model_type": "bpe"},
    "bpe_bytes": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 500,
                  "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "symbols": {"user_defined_symbols": ["<2fr>", "<2de>"]}}


def train(work: pathlib.Path, name: str) -> sentencepiece_model_pb2.ModelProto:
    source = pathlib.Path(__file__).parent.parent / "data/enfr/valid.tsv"
    (work / "lines.txt").write_text(source.read_text(encoding="utf-8").replace("\t", "\n"), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(work / "lines.txt"), model_prefix=str(work / name), character_coverage=0.99, minloglevel=2,
        **{"vocab_size": 300, **SPECIAL, **MODELS[name]})
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString((work / f"{name}.model").read_bytes())
    return model


def fast_tokenizer(model: sentencepiece_model_pb2.ModelProto) -> tokenizers.Tokenizer:
    scores = [(piece.piece, piece.score) for piece in model.pieces]
    trainer, keeps_spaces = model.trainer_spec, not model.normalizer_spec.remove_extra_whitespaces
    if trainer.model_type == 1:
        made = tokenizers.Tokenizer(models.Unigram(scores, unk_id=trainer.unk_id, byte_fallback=trainer.byte_fallback))
    else:
        ids = {piece: i for i, (piece, _) in enumerate(scores)}
        ordinary = {piece.piece for piece in model.pieces if piece.type != 1}
        made = tokenizers.Tokenizer(models.BPE(
            ids, generate_merges(ids, scores, ordinary), unk_token=trainer.unk_piece, fuse_unk=True,
            byte_fallback=trainer.byte_fallback))
    made.add_tokens([tokenizers.AddedToken(piece.piece, normalized=False, special=piece.type == 3)
                     for piece in model.pieces if piece.type in (3, 4)])
    if keeps_spaces:
        made.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
        made.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(),
                                          decoders.Strip(" ", 1, 0)])
    else:
        made.normalizer = normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(SPACE, "always")])
        made.decoder = decoders.Metaspace(SPACE, "always")
    made.post_processor = processors.TemplateProcessing(single=["$A", "</s>"], special_tokens=[("</s>", 1)])
    return made


def random_line(draw: random.Random, words: list[str]) -> str:
    """Returns words of the training text, joined by one or more spaces, some cut or with characters that are rare."""
    line = ""
    for _ in range(draw.randint(1, 9)):
        word = draw.choice(words)
        kind = draw.random()
        if kind < 0.2:
            word = word[:draw.randint(1, len(word))] + draw.choice(words)
        elif kind < 0.3:
            word += chr(draw.choice([0x416, 0x5d0, 0x3042, 0x4e2d, 0xac00, 0x915, 0xe01, 0x1f600, 0xff21, 0xfb01]))
        line += word + " " * draw.choice([1, 1, 1, 2])
    return line.strip()


def main() -> None:
    parser = families.argument_parser(__doc__)
    options = parser.parse_args()
    families.prepare(options)
    t5_family = t5.FAMILIES[0]
    words = (pathlib.Path(__file__).parent.parent / "data/enfr/valid.tsv").read_text(encoding="utf-8").split()
    different = n = 0
    for name in MODELS:
        model, folder = train(options.work, name), options.work / name
        folder.mkdir(exist_ok=True)
        checkpoint = t5.random_model(t5_family, 0, len(model.pieces) + 7)
        checkpoint.save_pretrained(folder)
        fast = fast_tokenizer(model)
        fast.save(str(folder / "tokenizer.json"))
        draw = random.Random(name)
        lines = [random_line(draw, words) for _ in range(options.lines)]
        file = folder / "model.gcst"
        subprocess.run([options.build / "converter/goldcrest-convert", folder, "-o", file, "-q"], check=True)
        shown = subprocess.run([options.build / "examples/goldcrest-translate", file, "--encode"], check=True,
                               input="".join(line + "\n" for line in lines), capture_output=True, text=True).stdout
        found = [[int(token) for token in line.split()] for line in shown.splitlines()]
        for line, ids in zip(lines, found, strict=True):
            n += 1
            expected = fast.encode(line).ids
            if ids != expected:
                different += 1
                print(f"{name}: {line!r}: {ids}, tokenizers {expected}")
        print(f"{name}: {n - different} of {n} lines so far are equal")
    if n == 0 or different:
        sys.exit(f"goldcrest departs from tokenizers in {different} of {n} lines")


if __name__ == "__main__":
    main()
