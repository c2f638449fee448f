# SPDX-License-Identifier: Apache-2.0
"""A random nn.Transformer, or one closer to the paper, with embeddings, positions and a projection; its folder, and the
Python search over it."""

import copy
import json
import math
import pathlib
import random

import torch
from torch import nn
from transformers import generation

import containers
import python_search
import random_checkpoints
from own_transformer import OwnTransformer, StackShape
from python_search import Memory, Rules

ACTIVATIONS = {"relu": torch.relu, "gelu": nn.functional.gelu, "silu": nn.functional.silu,
               "gelu_tanh": lambda x: nn.functional.gelu(x, approximate="tanh")}


def sinusoids(rows: int, d_model: int, interleaved: bool) -> torch.Tensor:
    position = torch.arange(rows, dtype=torch.float64)[:, None]
    angles = position * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    if not interleaved:
        return torch.cat([angles.sin(), angles.cos()], dim=1).float()
    return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(rows, d_model).float()


def make_body(s: dict) -> nn.Module:
    activation = ACTIVATIONS[s["activation"]]
    if not s["own"]:
        return nn.Transformer(s["d_model"], s["nhead"], s["num_encoder_layers"], s["num_decoder_layers"],
                              s["dim_feedforward"], 0.0, activation, batch_first=True, norm_first=s["norm_first"],
                              layer_norm_eps=s["layer_norm_eps"], bias=s["bias"])
    stacks = [StackShape(s["d_model"], s["dim_feedforward"], s[f"num_{name}_layers"], s["nhead"],
                         activation=activation, norm_first=s["norm_first"], layer_norm_eps=s["layer_norm_eps"],
                         bias=s["bias"], **s["own"][name]) for name in ("encoder", "decoder")]
    return OwnTransformer(*stacks)


def draw_own(draw: random.Random) -> dict:
    """Draws the properties of each stack that only a user's own module has."""
    return {name: {"d_k": draw.randint(1, 20), "d_v": draw.randint(1, 20), "attention_bias": draw.random() < 0.5,
            "convolutions": draw.random() < 0.5, "fused": draw.random() < 0.5} for name in ("encoder", "decoder")}


class Seq2Seq(nn.Module):
    def __init__(self, s: dict):
        super().__init__()
        d = s["d_model"]
        self.source = nn.Embedding(s["source_vocab_size"], d)
        self.target = self.source if s["shared"] else nn.Embedding(s["target_vocab_size"], d)
        self.body = make_body(s)
        if not s["final_norm"]:
            self.body.encoder.norm = self.body.decoder.norm = None
        self.head = nn.Linear(d, s["target_vocab_size"], bias=s["head_bias"])
        if s["tied"]:
            self.head.weight = self.target.weight
        if s["learned"]:
            self.position = nn.Embedding(s["max_positions"], d)
        else:
            self.register_buffer("table", sinusoids(s["max_positions"], d, s["interleaved"]), persistent=s["stored"])
        self.scale = math.sqrt(d) if s["scale_embedding"] else 1.0

    def embed(self, table: nn.Embedding, ids: torch.Tensor) -> torch.Tensor:
        rows = self.position.weight if hasattr(self, "position") else self.table
        return table(ids) * self.scale + rows[:ids.shape[1]]

    def encode(self, source: list[int]) -> torch.Tensor:
        with torch.no_grad():
            return self.body.encoder(self.embed(self.source, torch.tensor([source])))

    def logits(self, encoded: torch.Tensor, prefixes: list[tuple[int, ...]]) -> torch.Tensor:
        ids = torch.tensor(prefixes)
        mask = torch.triu(torch.full((ids.shape[1],) * 2, float("-inf"), dtype=encoded.dtype), diagonal=1)
        with torch.no_grad():
            out = self.body.decoder(self.embed(self.target, ids), encoded.expand(len(ids), -1, -1), tgt_mask=mask)
            return self.head(out[:, -1])


class NnTransformer:
    family = "nn.Transformer"
    expected, warned = (), ""  # words of warnings
    most_end_bias = 2.5

    def __init__(self, seed: int, folder: pathlib.Path, skipped: set[str]):
        del skipped
        self.draw, self.folder = random.Random(seed), folder
        draw, flip = self.draw, lambda p: self.draw.random() < p
        self.container, self.stored = draw.choice(list(containers.CONTAINERS)), draw.choice(list(containers.TYPES))
        s = self.shape = self._draw_shape(flip)
        d_model, source_size = s["d_model"], s["source_vocab_size"]
        self.vocab_size = s["target_vocab_size"]
        self.pad, self.start, self.end = draw.sample(range(min(source_size, self.vocab_size)), 3)
        generator = torch.Generator().manual_seed(seed)
        model = Seq2Seq(s).eval()
        random_checkpoints.randomize(model, generator)
        if s["head_bias"]:
            random_checkpoints.end_sometimes(model.head.bias, [self.end], draw, generator, self.most_end_bias)
        self.model = model.to(containers.TYPES[self.stored]).float()
        if not s["learned"] and not s["stored"]:
            self.model.table = sinusoids(s["max_positions"], d_model, s["interleaved"])
        self.search = self._search(flip)
        self._write()
        self.sources = random_checkpoints.random_sources(draw, source_size, self.end, s["max_positions"], 4)

    def _draw_shape(self, flip) -> dict:
        d_model, heads = random_checkpoints.width(self.draw, even=True)
        own = draw_own(self.draw) if flip(0.4) else None
        if own:  # its heads need not divide it
            d_model = 2 * self.draw.randint(2, 30)
        shared, source_size = flip(0.3), self.draw.randint(6, 150)
        return {
            "own": own, "d_model": d_model, "nhead": heads, "num_encoder_layers": self.draw.randint(1, 3),
            "num_decoder_layers": self.draw.randint(1, 3), "dim_feedforward": self.draw.randint(1, 70),
            "activation": self.draw.choice(list(ACTIVATIONS)), "norm_first": flip(0.5), "bias": flip(0.7),
            "layer_norm_eps": self.draw.choice([1e-5, 1e-6, 1e-3]), "final_norm": flip(0.7),
            "scale_embedding": flip(0.5), "shared": shared, "source_vocab_size": source_size,
            "target_vocab_size": source_size if shared else self.draw.randint(6, 150), "tied": flip(0.4),
            "head_bias": flip(0.7), "learned": flip(0.4), "interleaved": flip(0.5),
            "stored": flip(0.5) or d_model == 2,  # of which the converter makes no sinusoids, and says so
            "max_positions": self.draw.randint(8, 50)}

    def _search(self, flip) -> dict:
        draw, most = self.draw, self.shape["max_positions"]
        search = {"beam_size": draw.choice([1, 2, 3, 5])} if flip(0.5) else {}
        if flip(0.4):
            search["max_length"] = most = draw.randint(1, most)
        if flip(0.3):
            search["min_length"] = draw.randint(0, most)
        if flip(0.5):
            search["length_penalty"] = draw.choice([0.0, 0.6, 1.3, 2.0, -0.5])
        others = [i for i in range(self.vocab_size) if i not in (self.pad, self.end)]
        if flip(0.3):
            search["suppressed_tokens"] = draw.sample(others, min(2, len(others) - 1))
        if flip(0.2):
            search["forced_first_token"] = draw.choice(others)
        return search

    def describe(self) -> str:
        return f"{json.dumps(self.shape)}, {self.container} {self.stored}, {json.dumps(self.search)}"

    def _write(self) -> None:
        s, names = self.shape, {"source_embedding": "source.weight", "output_projection": "head"}
        keys = "d_model nhead activation norm_first scale_embedding layer_norm_eps num_encoder_layers".split()
        config = {"model_type": "nn_transformer", **{key: s[key] for key in keys}, **self.search,
                  "bos_token": self.start, "eos_token": self.end, "pad_token": self.pad, "add_source_eos": True,
                  "tensors": names}
        if s["own"] and self.draw.random() < 0.5:  # else the tensors tell
            config |= {f"{name}_{width}": s["own"][name][width] for name in s["own"] for width in ("d_k", "d_v")}
        state = self.model.state_dict()
        if s["shared"] and self.draw.random() < 0.5:
            del state["target.weight"]
            config["shared_embeddings"] = True
        else:
            names["target_embedding"] = "target.weight"
        if s["tied"] and self.draw.random() < 0.5:  # else the converter finds that the tables are equal
            del state["head.weight"]
            config["tied_output_projection"] = True
            del names["output_projection"]
            if s["head_bias"]:
                names["output_bias"] = "head.bias"
        if s["learned"] or s["stored"]:
            config["position_encoding"] = "learned" if s["learned"] else "stored"
            names["positions"] = "position.weight" if s["learned"] else "table"
        else:
            config["position_encoding"] = "sinusoidal_" + ("interleaved" if s["interleaved"] else "concatenated")
            config["max_positions"] = s["max_positions"]
        (self.folder / "config.json").write_text(json.dumps(config))
        wrapper = self.draw.choice(containers.WRAPPERS)
        self.state = {wrapper + name: value.to(containers.TYPES[self.stored]) for name, value in state.items()}
        self.write_weights()

    def write_weights(self) -> None:
        containers.save(self.state, self.folder, self.container, ("model.safetensors", "model.pt"), self.draw)

    def default_beams(self) -> int:
        return self.search.get("beam_size", 1)

    def rules(self, beams: int) -> Rules:
        most = self.search.get("max_length", self.shape["max_positions"])
        processors = []
        if "suppressed_tokens" in self.search:
            processors.append(generation.SuppressTokensLogitsProcessor(self.search["suppressed_tokens"], device="cpu"))
        if self.search.get("min_length", 0) > 1:
            processors.append(generation.MinLengthLogitsProcessor(self.search["min_length"], self.end, device="cpu"))
        if "forced_first_token" in self.search:
            processors.append(generation.ForcedBOSTokenLogitsProcessor(self.search["forced_first_token"]))
        processors.append(generation.ForcedEOSTokenLogitsProcessor(most + 1, self.end, device="cpu"))
        return Rules(start=self.start, ends=[self.end], most=most, beams=beams,
                     length_penalty=self.search.get("length_penalty", 1.0), processors=processors)

    def generate(self, source: list[int], beams: int) -> list[int]:
        return python_search.search(Memory(self.model, source), self.rules(beams))

    def live(self) -> Seq2Seq:
        return self.model

    def exact(self) -> Seq2Seq:
        return copy.deepcopy(self.model).double()
