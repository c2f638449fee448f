# SPDX-License-Identifier: Apache-2.0
"""Seeded checkpoints of the compared models' shapes, written once and converted for all engines."""

import json
import pathlib
import shutil
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    d_model: int
    d_ff: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    vocab_size: int | None  # None: all of the OPUS-MT vocabulary


SHAPES = {
    "big": Shape(1024, 4096, 16, 6, 6, 32000),
    "base": Shape(512, 2048, 8, 6, 6, 32000),
    "opus": Shape(512, 2048, 8, 6, 6, None),
    "small": Shape(256, 1024, 4, 4, 2, 8000),
    "tiny": Shape(128, 512, 2, 3, 2, 4000),
}


# Families of Hugging Face with random weights, and the model of ours that each is compared with, if any. Only --models
# chooses them.
FAMILIES = {
    "t5-small": "marian-small",  # a Marian model of the same shape
    "marian-small": None,
    "nllb-600m": None,
    "nllb-32000": "nllb-600m",  # cut to 32,000 rows
}
MARIAN_SMALL = Shape(512, 2048, 8, 6, 6, 32128)


def cut_vocabulary(vocabulary: dict[str, int], size: int) -> dict[str, int]:
    """Keeps the first size - 1 entries by id, then <pad>, which is last in Marian. The .spm files stay whole: both
    engines treat pieces that are not in the vocabulary as unknown."""
    kept = {text: token for text, token in vocabulary.items() if token < size - 1 and text != "<pad>"}
    kept["<pad>"] = size - 1
    return kept


def write_checkpoint(folder: pathlib.Path, shape: Shape, opus: pathlib.Path, seed: int) -> None:
    """A MarianMTModel of random weights with a vocabulary and SentencePiece models that fit it."""
    import random_checkpoints
    import torch

    vocabulary = json.loads((opus / "vocab.json").read_text(encoding="utf-8"))
    size = shape.vocab_size or len(vocabulary)
    if size != len(vocabulary):
        vocabulary = cut_vocabulary(vocabulary, size)
    torch.manual_seed(seed)
    model = random_checkpoints.marian(
        size, shape.d_model, shape.heads, [shape.encoder_layers, shape.decoder_layers], [shape.d_ff] * 2,
        activation_function="swish", scale_embedding=True, max_position_embeddings=512, num_beams=4, max_length=512,
        bad_words_ids=[[size - 1]])
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    for name in ("source.spm", "target.spm", "tokenizer_config.json"):
        shutil.copy(opus / name, folder / name)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")


def write_family(name: str, folder: pathlib.Path, seed: int) -> None:
    """A T5 over bytes, whose tokenizer needs no file, or an NLLB with made-up pieces and two languages."""
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration, T5Config, T5ForConditionalGeneration
    import random_checkpoints

    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    if name == "t5-small":
        model = T5ForConditionalGeneration(T5Config(tokenizer_class="ByT5Tokenizer", decoder_start_token_id=0))
        settings = {"tokenizer_class": "ByT5Tokenizer"}
    else:
        rows = 256206 if name == "nllb-600m" else 32000
        model = M2M100ForConditionalGeneration(M2M100Config(
            vocab_size=rows, d_model=1024, encoder_layers=12, decoder_layers=12, encoder_attention_heads=16,
            decoder_attention_heads=16, encoder_ffn_dim=4096, decoder_ffn_dim=4096, scale_embedding=True))
        settings = {"tokenizer_class": "NllbTokenizer", "additional_special_tokens": ["eng_Latn", "fra_Latn"]}
        random_checkpoints.write_sentencepiece(folder / "sentencepiece.bpe.model",
                                               ["<unk>", "<s>", "</s>"] + [f"t{i}" for i in range(3, rows - 100)], 3)
    model.eval().save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


class PlainTokenizer:
    """What CTranslate2's converter asks a tokenizer for: texts of ids, and the names of the special ones."""

    def __init__(self, checkpoint: pathlib.Path):
        config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
        special = ["<pad>", "</s>", "<unk>"] if config["model_type"] == "t5" else ["<s>", "<pad>", "</s>", "<unk>"]
        self.texts = special + [f"t{i}" for i in range(len(special), config["vocab_size"])]
        self.pad_token, self.eos_token, self.unk_token, self.bos_token = "<pad>", "</s>", "<unk>", "<s>"
        self.special_tokens_map, self.num_madeup_words = {}, 0

    def get_vocab(self) -> dict[str, int]:
        return {text: i for i, text in enumerate(self.texts)}

    def convert_ids_to_tokens(self, i: int) -> str:
        return self.texts[i]


def convert_to_ctranslate2(checkpoint: pathlib.Path, folder: pathlib.Path) -> None:
    from ctranslate2.converters import TransformersConverter

    class Converter(TransformersConverter):
        def load_tokenizer(self, tokenizer_class, name, **options):
            if checkpoint.name in FAMILIES and checkpoint.name != "marian-small":
                return PlainTokenizer(checkpoint)
            return super().load_tokenizer(tokenizer_class, name, **options)

    Converter(str(checkpoint)).convert(str(folder), quantization="int8", force=True)


def convert_to_onnx(checkpoint: pathlib.Path, folder: pathlib.Path) -> None:
    import onnx_export

    onnx_export.export(checkpoint, folder)


OTHER_MODEL = "other model"  # the one that FAMILIES names, by the same engine


# By peer: the end of its folder's name, the file that is written last, the conversion.
CONVERSIONS = {
    "CTranslate2": ("-ct2-int8", "model.bin", convert_to_ctranslate2),
    "ONNX Runtime": ("-onnx-int8", "ids.txt", convert_to_onnx),
}


def prepare(name: str, folder: pathlib.Path, opus: pathlib.Path, converter: pathlib.Path, seed: int,
            peers: list[str]) -> tuple[pathlib.Path, dict[str, pathlib.Path]]:
    """Returns model.gcst and the folder of each peer's model for a shape; makes those that are missing."""
    checkpoint, ours = folder / name, folder / f"{name}.gcst"
    if not (checkpoint / "tokenizer_config.json").exists():
        if name in FAMILIES and name != "marian-small":
            write_family(name, checkpoint, seed)
        else:
            write_checkpoint(checkpoint, SHAPES.get(name, MARIAN_SMALL), opus, seed)
    # An older file may have another format or come from another converter; conversion takes seconds.
    subprocess.run([converter, checkpoint, "-o", ours], check=True, stdout=subprocess.DEVNULL)
    theirs = {}
    for peer in peers:
        if peer == OTHER_MODEL:
            if FAMILIES.get(name):
                theirs[peer] = prepare(FAMILIES[name], folder, opus, converter, seed, [])[0]
            continue
        if name in FAMILIES and peer == "ONNX Runtime":
            continue
        if peer not in CONVERSIONS:  # XNNPACK's kernels compute our file
            theirs[peer] = ours
            continue
        ending, last_file, convert = CONVERSIONS[peer]
        theirs[peer] = folder / f"{name}{ending}"
        if not (theirs[peer] / last_file).exists():
            convert(checkpoint, theirs[peer])
    return ours, theirs
