# SPDX-License-Identifier: Apache-2.0
"""Seeded random checkpoints of three families, from which CTranslate2's own converters make directories."""

import argparse
import json
import pathlib
import random
from dataclasses import dataclass

import numpy as np
import torch
from ctranslate2 import converters
from ctranslate2.specs import model_spec

import random_checkpoints

POSITIONS = 64


@dataclass
class Model:
    converter: converters.converter.Converter
    vocabulary: list[str]  # the target's; the source has the same tokens
    end: str
    end_by_hand: bool  # the caller appends the end to a source
    end_by_ctranslate2: bool
    description: str

    def ends(self) -> list[int]:
        """Returns the ids after each source."""
        return [self.vocabulary.index(self.end)] if self.end_by_hand or self.end_by_ctranslate2 else []

    def plain(self) -> list[int]:
        return [i for i, token in enumerate(self.vocabulary) if token.startswith("t")]

    def write(self, folder: pathlib.Path, quantization: str | None = None) -> None:
        with torch.serialization.safe_globals([argparse.Namespace]):
            self.converter.convert(str(folder), quantization=quantization, force=True)


def width(draw: random.Random) -> tuple[int, int]:
    heads = draw.choice([1, 2, 4])
    return heads * 2 * draw.randint(3, 10), heads


def tokens(n: int) -> list[str]:
    return [f"t{i}" for i in range(n)]


def transformers_marian(draw: random.Random, folder: pathlib.Path) -> Model:
    d_model, heads = width(draw)
    size, layers = draw.randint(30, 90), [draw.randint(1, 3), draw.randint(1, 3)]
    model = random_checkpoints.marian(
        size, d_model, heads, layers, [draw.randint(8, 70), draw.randint(8, 70)],
        activation_function=draw.choice(["relu", "gelu", "gelu_new", "swish"]), scale_embedding=draw.random() < 0.5,
        max_position_embeddings=POSITIONS)
    generator = torch.Generator().manual_seed(draw.randrange(1 << 30))
    random_checkpoints.randomize(model, generator)
    random_checkpoints.end_sometimes(model.final_logits_bias, [0], draw, generator)
    model.save_pretrained(folder)
    random_checkpoints.write_tokenizers(folder, size, size, {"</s>": 0, "<unk>": 1, "<pad>": size - 1}, False)
    vocabulary = ["</s>", "<unk>", *tokens(size)[2:-1]]
    return Model(converters.TransformersConverter(str(folder)), vocabulary, "</s>", True, False,
                 f"transformers' Marian, {model.config.activation_function}")


class Arrays:
    """Random arrays by name, of gain about 1."""

    def __init__(self, draw: random.Random):
        self.random = np.random.default_rng(draw.randrange(1 << 30))
        self.of = {}

    def add(self, name: str, *shape: int, mean: float = 0.0, spread: float | None = None) -> None:
        spread = 1.5 * shape[-1] ** -0.5 if spread is None else spread
        self.of[name] = (mean + spread * self.random.standard_normal(shape)).astype(np.float32)


def marian_npz(draw: random.Random, folder: pathlib.Path) -> Model:
    d_model, heads = width(draw)
    size, d_ff, depth = draw.randint(30, 90), draw.randint(8, 70), (draw.randint(1, 3), draw.randint(1, 3))
    pre_norm, of_embeddings = draw.random() < 0.5, draw.random() < 0.5
    activation = draw.choice(["relu", "swish", "gelu"])
    arrays = Arrays(draw)
    arrays.add("Wemb", size, d_model)
    arrays.add("decoder_ff_logit_out_b", 1, size, spread=0.5)
    end = "_pre" if pre_norm else ""

    def norm(name: str, end: str) -> None:
        arrays.add(f"{name}_ln_scale{end}", 1, d_model, mean=1.0, spread=0.2)
        arrays.add(f"{name}_ln_bias{end}", 1, d_model, spread=0.2)

    for stack, layers in zip(("encoder", "decoder"), depth):
        if of_embeddings:
            norm(f"{stack}_emb", "_pre")
        if pre_norm:
            norm(f"{stack}_top", "")
        for i in range(1, layers + 1):
            for block in ("self", "context")[:1 if stack == "encoder" else 2]:
                for part in "qkvo":
                    arrays.add(f"{stack}_l{i}_{block}_W{part}", d_model, d_model)
                    arrays.add(f"{stack}_l{i}_{block}_b{part}", 1, d_model, spread=0.2)
                norm(f"{stack}_l{i}_{block}_Wo", end)
            for part, inputs, outputs in (("1", d_model, d_ff), ("2", d_ff, d_model)):
                arrays.add(f"{stack}_l{i}_ffn_W{part}", inputs, outputs)
                arrays.add(f"{stack}_l{i}_ffn_b{part}", 1, outputs, spread=0.2)
            norm(f"{stack}_l{i}_ffn_ffn", end)
    settings = {
        "type": "transformer", "transformer-decoder-autoreg": "self-attention", "transformer-no-projection": False,
        "transformer-ffn-activation": activation, "transformer-preprocess": "n" if pre_norm else "",
        "transformer-postprocess": "da" if pre_norm else "dan", "transformer-postprocess-top": "n" if pre_norm else "",
        "transformer-postprocess-emb": "nd" if of_embeddings else "d", "transformer-guided-alignment-layer": "last",
        "enc-depth": depth[0], "dec-depth": depth[1], "transformer-heads": heads}
    text = json.dumps(settings).encode() + b"\0"  # JSON is YAML
    np.savez(folder / "model.npz", **arrays.of, **{"special:model.yml": np.frombuffer(text, dtype=np.int8)})
    vocabulary = ["</s>", "<unk>", *tokens(size)[2:]]
    (folder / "vocab.yml").write_text("".join(f'"{token}": {i}\n' for i, token in enumerate(vocabulary)))
    paths = [str(folder / "vocab.yml")] * 2
    return Model(converters.MarianConverter(str(folder / "model.npz"), paths), vocabulary, "</s>", False, True,
                 f"Marian's npz, {activation}, pre-norm {pre_norm}, norm of embeddings {of_embeddings}")


class WithoutPositions(converters.OpenNMTPyConverter):
    """A model like OpenNMT-tf's: CTranslate2 computes the positions."""

    def _load(self):
        spec = super()._load()
        for stack in (spec.encoder, spec.decoder):
            stack.position_encodings.encodings = model_spec.OPTIONAL
        return spec


def sinusoids(rows: int, d_model: int) -> torch.Tensor:
    """OpenNMT-py's: sines and cosines in turn."""
    angle = torch.arange(rows)[:, None] * 10000.0 ** -(torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(rows, 1, d_model)


def opennmt_py(draw: random.Random, folder: pathlib.Path) -> Model:
    d_model, heads = width(draw)
    size, d_ff = draw.randint(30, 90), draw.randint(8, 70)
    depth = (draw.randint(1, 3), draw.randint(1, 3))
    activation, computed = draw.choice(["relu", "gelu", "silu"]), draw.random() < 0.5
    arrays = Arrays(draw)

    def linear(name: str, outputs: int, inputs: int) -> None:
        arrays.add(f"{name}.weight", outputs, inputs)
        arrays.add(f"{name}.bias", outputs, spread=0.2)

    def norm(name: str) -> None:
        arrays.add(f"{name}.weight", d_model, mean=1.0, spread=0.2)
        arrays.add(f"{name}.bias", d_model, spread=0.2)

    for stack, layers, name in (("encoder", depth[0], "transformer"), ("decoder", depth[1], "transformer_layers")):
        arrays.add(f"{stack}.embeddings.make_embedding.emb_luts.0.weight", size, d_model)
        norm(f"{stack}.layer_norm")
        for i in range(layers):
            layer = f"{stack}.{name}.{i}"
            for block in ("self_attn", "context_attn")[:1 if stack == "encoder" else 2]:
                for part in ("linear_query", "linear_keys", "linear_values", "final_linear"):
                    linear(f"{layer}.{block}.{part}", d_model, d_model)
            linear(f"{layer}.feed_forward.w_1", d_ff, d_model)
            linear(f"{layer}.feed_forward.w_2", d_model, d_ff)
            norm(f"{layer}.feed_forward.layer_norm")
            for number in ("",) if stack == "encoder" else ("_1", "_2"):
                norm(f"{layer}.layer_norm{number}")
    linear("generator", size, d_model)
    state = {key: torch.from_numpy(value) for key, value in arrays.of.items()}
    for stack in ("encoder", "decoder"):
        state[f"{stack}.embeddings.make_embedding.pe.pe"] = sinusoids(POSITIONS, d_model)
    vocabulary = ["<unk>", "<blank>", "<s>", "</s>", *tokens(size)[4:]]
    options = argparse.Namespace(
        encoder_type="transformer", decoder_type="transformer", self_attn_type="scaled-dot", position_encoding=True,
        max_relative_positions=0, pos_ffn_activation_fn=activation, heads=heads, enc_layers=depth[0],
        dec_layers=depth[1], lambda_align=0)
    generator = {key.removeprefix("generator."): state.pop(key) for key in list(state) if key.startswith("generator.")}
    torch.save({"vocab": {"src": vocabulary, "tgt": vocabulary}, "opt": options, "model": state,
                "generator": generator}, folder / "model.pt")
    kind = WithoutPositions if computed else converters.OpenNMTPyConverter
    with torch.serialization.safe_globals([argparse.Namespace]):
        converter = kind(str(folder / "model.pt"))
    return Model(converter, vocabulary, "</s>", False, False,
                 f"OpenNMT-py's, {activation}, positions {'computed' if computed else 'stored'}")


FAMILIES = (transformers_marian, marian_npz, opennmt_py)


def make(seed: int, folder: pathlib.Path) -> Model:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    return FAMILIES[seed % len(FAMILIES)](draw, folder)
