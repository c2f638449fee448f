# SPDX-License-Identifier: Apache-2.0
"""Ids of texts with tokens that users added to the tokenizers of T5, NLLB, M2M-100, mBART, Pegasus, Marian and ByT5.

Trains SentencePiece models on lines of tests/data, gives each tokenizer of transformers random tokens with random flags
by add_tokens, saves it as users do, converts the folder, and compares the ids of --lines random texts in which these
tokens stand. Some folders have tokenizer.json only, some a SentencePiece model too.

    python tests/peers/added_tokens.py --build build/host --work FOLDER [--lines 2000] [--seed 1]
    python tests/peers/added_tokens.py --work FOLDER --record tests/data/added_tokens.json

Exit status 1 where one text's ids differ."""

import json
import pathlib
import random
import shutil
import sys

import sentencepiece
import torch
import transformers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

import families
from family_searches import converted, translate
from product import emptied
from tokenizer_json import SPACE, fast_tokenizer

DATA = pathlib.Path(__file__).parent.parent / "data/enfr/valid.tsv"
PIECES = 400
T5 = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
# Texts of tokens: parts of one another, letters of several scripts, spaces inside, full width forms, which a map
# rewrites.
TOKENS = ["{", "}", "<sep>", "<sep>x", "<cmd>", "GoldCrest", "Gold", "foo bar", "foo  bar", "zürich",
          "日本", "ＡＢＣ", "ﬁn", "@@", "[1]", "%s", "x_1", "<ent:0>", "...", "e\u0301t"]
SPACES = ["", "", " ", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\u200b", "-", "_", "é", "7", "न"]
SMALL = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 256}
SMALL_T5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 0}


def train(work: pathlib.Path, name: str, **settings) -> pathlib.Path:
    lines = [text for line in DATA.read_text(encoding="utf-8").splitlines() for text in line.split("\t")]
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_prefix=str(work / name),
                                             vocab_size=PIECES, minloglevel=2, **settings)
    return work / f"{name}.model"


def random_tokens(draw: random.Random) -> list[AddedToken]:
    def flag(share: float) -> bool:
        return draw.random() < share

    # If two tokens are normalized to the same text, transformers finds one or the other from run to run.
    return [AddedToken(text, lstrip=flag(0.3), rstrip=flag(0.3), single_word=flag(0.25),
                       normalized=flag(0.5) and text != "foo  bar", special=flag(0.1))
            for text in draw.sample(TOKENS, draw.randint(6, 12))]


def random_text(draw: random.Random, lines: list[str], tokens: list[str]) -> str:
    words = draw.choice(lines).split()
    for _ in range(draw.randint(1, 4)):
        words.insert(draw.randint(0, len(words)), draw.choice(tokens))
    return "".join(word + draw.choice(SPACES) for word in words)


def pieces_folder(work: pathlib.Path, name: str, files: dict, settings: dict) -> pathlib.Path:
    folder = emptied(work / f"{name}-base")
    for file, content in files.items():
        if isinstance(content, pathlib.Path):
            shutil.copy(content, folder / file)
        else:
            (folder / file).write_text(json.dumps(content), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def small(name: str, tokenizer, **settings):
    """Returns what makes a model of a family with all of the tokenizer's entries."""
    kind = getattr(transformers, name + ("MTModel" if name == "Marian" else "ForConditionalGeneration"))
    settings |= SMALL_T5 if name == "T5" else SMALL
    return lambda: kind(getattr(transformers, name + "Config")(vocab_size=len(tokenizer), **settings))


def make_t5(work: pathlib.Path) -> tuple:
    files = {"spiece.model": train(work, "t5", **T5), "config.json": {"model_type": "t5"}}
    folder = pieces_folder(work, "t5", files, {"tokenizer_class": "T5Tokenizer", "extra_ids": 10})
    tokenizer = transformers.T5Tokenizer.from_pretrained(folder, extra_ids=10)
    return tokenizer, small("T5", tokenizer), files, ["<extra_id_0>", "<extra_id_7>"], []


def make_byt5(work: pathlib.Path) -> tuple:
    tokenizer = transformers.ByT5Tokenizer()
    model = small("T5", tokenizer, tokenizer_class="ByT5Tokenizer")
    return tokenizer, model, {}, ["<extra_id_0>", "<extra_id_12>"], []


def make_mbart(work: pathlib.Path) -> tuple:
    # transformers drops the map of mBART's SentencePiece models, so there is nothing to compare with for these.
    files = {"sentencepiece.bpe.model": train(work, "mbart"), "config.json": {"model_type": "mbart"}}
    folder = pieces_folder(work, "mbart", files, {"tokenizer_class": "MBartTokenizer"})
    tokenizer = transformers.MBartTokenizer.from_pretrained(folder, src_lang="en_XX", tgt_lang="fr_XX")
    return tokenizer, small("MBart", tokenizer), {}, [], ["--source-lang", "en_XX", "--target-lang", "fr_XX"]


def make_nllb(work: pathlib.Path) -> tuple:
    pieces = train(work, "nllb", model_type="bpe")
    files = {"sentencepiece.bpe.model": pieces, "config.json": {"model_type": "m2m_100"}}
    folder = pieces_folder(work, "nllb", files, {"tokenizer_class": "NllbTokenizer"})
    tokenizer = transformers.NllbTokenizer.from_pretrained(
        folder, src_lang="eng_Latn", tgt_lang="fra_Latn", extra_special_tokens=["eng_Latn", "fra_Latn"])
    given = ["--source-lang", "eng_Latn", "--target-lang", "fra_Latn"]
    return tokenizer, small("M2M100", tokenizer), files, [], given


def make_m2m(work: pathlib.Path) -> tuple:
    model = train(work, "m2m")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model))
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    vocabulary |= {pieces.id_to_piece(i): i + 1 for i in range(3, pieces.get_piece_size())}
    files = {"sentencepiece.bpe.model": model, "vocab.json": vocabulary, "config.json": {"model_type": "m2m_100"}}
    folder = pieces_folder(work, "m2m", files, {"tokenizer_class": "M2M100Tokenizer"})
    languages = [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(
        folder, src_lang="en", tgt_lang="fr", extra_special_tokens=languages)
    return tokenizer, small("M2M100", tokenizer), {}, [], ["--source-lang", "en", "--target-lang", "fr"]


def make_pegasus(work: pathlib.Path) -> tuple:
    files = {"spiece.model": train(work, "pegasus", **T5), "config.json": {"model_type": "pegasus"}}
    folder = pieces_folder(work, "pegasus", files, {"tokenizer_class": "PegasusTokenizer"})
    tokenizer = transformers.PegasusTokenizer.from_pretrained(folder)
    return tokenizer, small("Pegasus", tokenizer), {}, [], []


def make_marian(work: pathlib.Path) -> tuple:
    model = train(work, "marian")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model))
    vocabulary = {"</s>": 0, "<unk>": 1, ">>fr<<": 2}
    vocabulary |= {pieces.id_to_piece(i): i for i in range(3, pieces.get_piece_size())}
    vocabulary["<pad>"] = len(vocabulary)
    files = {"source.spm": model, "target.spm": model, "vocab.json": vocabulary}
    settings = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "fr"}
    folder = pieces_folder(work, "marian", {**files, "config.json": {"model_type": "marian"}}, settings)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    pad = vocabulary["<pad>"]
    settings = {"pad_token_id": pad, "eos_token_id": 0, "decoder_start_token_id": pad, "forced_eos_token_id": 0}
    return tokenizer, small("Marian", tokenizer, **settings), {}, [">>fr<<"], []


MAKERS = {"t5": make_t5, "byt5": make_byt5, "mbart": make_mbart, "nllb": make_nllb, "m2m": make_m2m,
          "pegasus": make_pegasus, "marian": make_marian}


def compare(options, name: str, draw: random.Random) -> int:
    tokenizer, model, files, more, given = MAKERS[name](options.work)
    tokens = random_tokens(draw)
    tokenizer.add_tokens(tokens)
    folder = options.work / name
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(0)
    model().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    lines = [line.split("\t")[0] for line in DATA.read_text(encoding="utf-8").splitlines()]
    texts = [random_text(draw, lines, [token.content for token in tokens] + more) for _ in range(options.lines)]
    texts += [token.content for token in tokens] + [" " + token.content + " " for token in tokens]
    expected = [tokenizer(text).input_ids for text in texts]
    different = 0
    for with_pieces in [False, True] if files else [False]:
        for file, content in files.items() if with_pieces else ():
            if isinstance(content, pathlib.Path):
                shutil.copy(content, folder / file)
        file = converted(options, folder, *given)
        shown = translate(options, file, "".join(text + "\n" for text in texts), "--encode", "--no-split")
        for text, ids, wanted in zip(texts, shown, expected, strict=True):
            if ids.split() != [str(token) for token in wanted]:
                different += 1
                if different < 20:
                    print(f"{name}: {text!r}: goldcrest departs: {ids}, expected {wanted}")
        shown_name = f"{name} with pieces" if with_pieces else name
        print(f"{shown_name}: {len(tokens)} tokens, {len(texts)} texts, {different} differ", flush=True)
    if different:
        print([token for token in tokens])
    return different


def recorded_cases(options) -> list[dict]:
    """Returns tokens, texts and their ids for the small SentencePiece models of tests/data."""
    cases = []
    for name, kind in (("opus-mt-en-mg/source.spm", "words"), ("bpe_rules.model", "spaces"),
                       ("opus-mt-en-mg/source.spm", "items"), ("unigram_bytes.model", "items")):
        draw, file = random.Random(f"{name} {kind}"), DATA.parent.parent / name
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString(file.read_bytes())
        if kind == "items":
            pieces = {piece.piece: i for i, piece in enumerate(model.pieces)}
            settings = {"tokenizer_class": "M2M100Tokenizer"}
            files = {"sentencepiece.bpe.model": file, "vocab.json": pieces | {"<pad>": len(pieces)}}
            folder = pieces_folder(options.work, "items", files, settings)
            tokenizer = transformers.M2M100Tokenizer.from_pretrained(folder)
        else:
            made = fast_tokenizer(model)
            if kind == "spaces":
                made.normalizer = normalizers.Sequence([made.normalizer, normalizers.Replace(Regex(" {2,}"), " ")])
                made.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, "always")
            tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made)
        tokens = random_tokens(draw)
        tokenizer.add_tokens(tokens)
        lines, words = ["A bad cab  came", "Where is the station?", "x"], [token.content for token in tokens]
        texts = [random_text(draw, lines, words) for _ in range(60)]
        cases.append({"model": name, "kind": kind, "tokens": [
            {"text": token.content, "id": tokenizer.convert_tokens_to_ids(token.content), "lstrip": token.lstrip,
             "rstrip": token.rstrip, "single_word": token.single_word, "normalized": token.normalized}
            for token in tokens],
            "texts": {text: tokenizer(text, add_special_tokens=False).input_ids for text in texts}})
    return cases


def main() -> None:
    options = families.options_of(__doc__, seed=1, only=str)
    if options.record:
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in recorded_cases(options))
        options.record.write_text(f"[{lines}]\n", encoding="utf-8")
        return
    names = [options.only] if options.only else MAKERS
    different = sum(compare(options, name, random.Random(f"{options.seed} {name}")) for name in names)
    if different:
        sys.exit(f"goldcrest departs in {different} texts")


if __name__ == "__main__":
    main()
