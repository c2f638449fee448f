# SPDX-License-Identifier: Apache-2.0
"""Tokenizers of Hugging Face's families on lines of ten scripts, which are words of iso-codes' translations (PyPI's
pycountry brings them).

Makes the tokenizer.json of five SentencePiece models as transformers 5.23 does (convert_slow_tokenizer.py), converts
folders that have only this file, and compares the ids of --lines lines each with those of the `tokenizers` package.
Then converts a folder of each family that shifts SentencePiece's ids, and compares five times as many lines with
SentencePiece. Shows the two intended differences from transformers too: special texts inside a text, and spaces at
NLLB's ends of texts.

    python tests/peers/tokenizer_json.py --build build/host --work FOLDER [--lines 2000]

Exit status 1 where one line's ids differ."""

import gettext
import pathlib
import random
import sys

import pycountry
import sentencepiece
import tokenizers
import transformers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors
from transformers.convert_slow_tokenizer import generate_merges

import families
import t5
from family_searches import converted, translate
from product import emptied

PIECES = 2000
SCRIPTS = ["ar", "el", "he", "hi", "ja", "ka", "ko", "ru", "ta", "th"]  # Han is in ja
SPECIAL = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
SPACE = "\u2581"
# Name, and the settings of sentencepiece's trainer. All are T5's in their special tokens.
MODELS = {
    "unigram": {},
    "unigram_bytes": {"byte_fallback": True, "vocab_size": PIECES + 256},
    "bpe": {"model_type": "bpe"},
    "bpe_bytes": {"model_type": "bpe", "byte_fallback": True, "vocab_size": PIECES + 256,
                  "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "symbols": {"user_defined_symbols": ["<keep>", "<name>"]}}


def words_of_scripts() -> list[list[str]]:
    """Returns the words of each script: names of languages and of countries."""
    folder, scripts = pathlib.Path(pycountry.__file__).parent / "locales", []
    for language in SCRIPTS:
        names = []
        for table in ("iso639-3", "iso3166-1"):
            with open(folder / language / "LC_MESSAGES" / f"{table}.mo", "rb") as file:
                catalog = gettext.GNUTranslations(file)
            for country in pycountry.countries if table == "iso3166-1" else pycountry.languages:
                name = catalog.gettext(country.name)
                names += [name] if name != country.name else []
        scripts.append(" ".join(names).split())
    return scripts


def train(work: pathlib.Path, name: str, scripts: list[list[str]], **settings) -> sentencepiece_model_pb2.ModelProto:
    draw = random.Random(1)
    lines = "".join(" ".join(draw.choice(words) for _ in range(5)) + "\n" for words in scripts for _ in range(2000))
    (work / "scripts.txt").write_text(lines, encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(work / "scripts.txt"), model_prefix=str(work / name), character_coverage=0.99, minloglevel=2,
        **{"vocab_size": PIECES, **settings})
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


def lines_of_scripts(name: str, scripts: list[list[str]], n: int) -> list[str]:
    draw = random.Random(name)
    return [random_line(draw, scripts[i % len(scripts)]) for i in range(n)]


def n_different(options, name: str, file: pathlib.Path, lines: list[str], expected: list[list[int]]) -> int:
    """Returns in how many lines the file's ids are others."""
    shown = translate(options, file, "".join(line + "\n" for line in lines), "--encode")
    different = 0
    for line, ids, wanted in zip(lines, shown, expected, strict=True):
        if ids.split() != [str(token) for token in wanted]:
            different += 1
            print(f"{name}: {line!r}: goldcrest departs: {ids}, expected {wanted}")
    print(f"{name}: {len(lines) - different} of {len(lines)} lines are equal", flush=True)
    return different


def compare_json(options, name: str, scripts: list[list[str]]) -> int:
    model, folder = train(options.work, name, scripts, **SPECIAL, **MODELS[name]), options.work / name
    folder.mkdir(exist_ok=True)
    t5.random_model(t5.FAMILIES[0], 0, len(model.pieces) + 7).save_pretrained(folder)
    fast = fast_tokenizer(model)
    fast.save(str(folder / "tokenizer.json"))
    lines = lines_of_scripts(name, scripts, options.lines)
    return n_different(options, name, converted(options, folder), lines, [fast.encode(line).ids for line in lines])


def compare_family(options, family: tuple, scripts: list[list[str]]) -> int:
    """Compares with SentencePiece's ids, shifted, and the ids around them."""
    name, shift = family[0], family[4]
    settings = SPECIAL if name == "pegasus" else {"model_type": "unigram" if name.startswith("mbart") else "bpe"}
    kind, folder = "pegasus" if name == "pegasus" else "fairseq", emptied(options.work / f"shifted-{name}")
    train(options.work, folder.name, scripts, **settings)
    tokenizer = options.work / f"{folder.name}.model"
    model = families.random_model(family, 0, max_position_embeddings=400)
    families.write_checkpoint(family, model, folder, {kind: tokenizer})
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    language = PIECES + 1
    before, behind = ([], [1]) if name == "pegasus" else ([], [2, language]) if name == "mbart" else ([language], [2])
    lines = lines_of_scripts(name, scripts, 5 * options.lines)
    expected = [[*before, *(3 if i == 0 and shift == 1 else i + shift for i in pieces.encode(line)), *behind]
                for line in lines]
    return n_different(options, name, converted(options, folder, *families.language_options(family)), lines, expected)


def encoded(options, name: str, text: str, *given: str) -> list[int]:
    file = converted(options, options.work / name, *given)
    return [int(token) for token in translate(options, file, text + "\n", "--encode")[0].split()]


def show_differences(options, scripts: list[list[str]]) -> None:
    """Exits with a message unless transformers differs from SentencePiece, and goldcrest does not."""
    first, second = scripts[7][:2]
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(options.work / "unigram.model"))
    fast = tokenizers.Tokenizer.from_file(str(options.work / "unigram/tokenizer.json"))
    text = f"{first} </s> {second}"
    theirs, ours, expected = fast.encode(text).ids, encoded(options, "unigram", text), [*pieces.encode(text), 1]
    if 1 not in theirs[:-1] or ours != expected:
        sys.exit(f"{text!r}: goldcrest departs: {ours}, expected {expected}; transformers {theirs}")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(options.work / "shifted-nllb.model"))
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString((options.work / "shifted-nllb.model").read_bytes())
    scores = [(piece.piece, piece.score) for piece in model.pieces]
    ids = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3} | {piece: i + 1 for i, (piece, _) in enumerate(scores) if i > 2}
    special = {piece.piece for piece in model.pieces if piece.type != 1}
    slow = transformers.NllbTokenizer(ids, generate_merges(dict(scores), scores, special),
                                      _spm_precompiled_charsmap=model.normalizer_spec.precompiled_charsmap)
    text, nllb = f"{first} {second} ", families.FAMILIES[5]
    theirs = slow.encode(text, add_special_tokens=False)
    ours = encoded(options, "shifted-nllb", text, *families.language_options(nllb))[1:-1]
    expected = [3 if i == 0 else i + 1 for i in pieces.encode(text)]
    if theirs != [*expected, ids[SPACE]] or ours != expected:
        sys.exit(f"{text!r}: goldcrest departs: {ours}, expected {expected}; transformers {theirs}")


def main() -> None:
    options = families.options_of(__doc__)
    families.PIECES = PIECES
    scripts, different = words_of_scripts(), 0
    for name in MODELS:
        different += compare_json(options, name, scripts)
    for family in families.FAMILIES:
        different += compare_family(options, family, scripts) if family[4] > 0 else 0
    show_differences(options, scripts)
    if different:
        sys.exit(f"goldcrest departs in {different} lines")


if __name__ == "__main__":
    main()
