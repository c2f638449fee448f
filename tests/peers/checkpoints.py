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


def cut_vocabulary(vocabulary: dict[str, int], size: int) -> dict[str, int]:
    """Keeps the first size - 1 entries by id, then <pad>, which is last in Marian. The .spm files stay whole: both
    engines treat pieces that are not in the vocabulary as unknown."""
    kept = {text: token for text, token in vocabulary.items() if token < size - 1 and text != "<pad>"}
    kept["<pad>"] = size - 1
    return kept


def write_checkpoint(folder: pathlib.Path, shape: Shape, opus: pathlib.Path, seed: int) -> None:
    """A MarianMTModel of random weights with a vocabulary and SentencePiece models that fit it."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    vocabulary = json.loads((opus / "vocab.json").read_text(encoding="utf-8"))
    size = shape.vocab_size or len(vocabulary)
    if size != len(vocabulary):
        vocabulary = cut_vocabulary(vocabulary, size)
    config = MarianConfig(
        vocab_size=size, d_model=shape.d_model,
        encoder_layers=shape.encoder_layers, decoder_layers=shape.decoder_layers,
        encoder_attention_heads=shape.heads, decoder_attention_heads=shape.heads,
        encoder_ffn_dim=shape.d_ff, decoder_ffn_dim=shape.d_ff,
        activation_function="swish", scale_embedding=True, max_position_embeddings=512,
        pad_token_id=size - 1, decoder_start_token_id=size - 1, eos_token_id=0, bos_token_id=0,
        forced_eos_token_id=0, num_beams=4, max_length=512, bad_words_ids=[[size - 1]])
    torch.manual_seed(seed)
    model = MarianMTModel(config).eval()
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    for name in ("source.spm", "target.spm", "tokenizer_config.json"):
        shutil.copy(opus / name, folder / name)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")


def convert_to_ctranslate2(checkpoint: pathlib.Path, folder: pathlib.Path) -> None:
    from ctranslate2.converters import TransformersConverter

    TransformersConverter(str(checkpoint)).convert(str(folder), quantization="int8", force=True)


def convert_to_onnx(checkpoint: pathlib.Path, folder: pathlib.Path) -> None:
    import onnx_export

    onnx_export.export(checkpoint, folder)


# By peer: the end of its folder's name, the file that is written last, the conversion.
CONVERSIONS = {
    "CTranslate2": ("-ct2-int8", "model.bin", convert_to_ctranslate2),
    "ONNX Runtime": ("-onnx-int8", "ids.txt", convert_to_onnx),
}


def prepare(name: str, folder: pathlib.Path, opus: pathlib.Path, converter: pathlib.Path, seed: int,
            peers: list[str]) -> tuple[pathlib.Path, dict[str, pathlib.Path]]:
    """Returns model.gcst and the folder of each peer's model for a shape; makes those that are missing."""
    checkpoint, ours = folder / name, folder / f"{name}.gcst"
    if not (checkpoint / "vocab.json").exists():
        write_checkpoint(checkpoint, SHAPES[name], opus, seed)
    # An older file may have another format or come from another converter; conversion takes seconds.
    subprocess.run([converter, checkpoint, "-o", ours], check=True, stdout=subprocess.DEVNULL)
    theirs = {}
    for peer in peers:
        if peer not in CONVERSIONS:  # XNNPACK's kernels compute our file
            theirs[peer] = ours
            continue
        ending, last_file, convert = CONVERSIONS[peer]
        theirs[peer] = folder / f"{name}{ending}"
        if not (theirs[peer] / last_file).exists():
            convert(checkpoint, theirs[peer])
    return ours, theirs
