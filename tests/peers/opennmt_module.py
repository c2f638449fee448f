# SPDX-License-Identifier: Apache-2.0
"""OpenNMT-py's Transformer, written from its formulas with its parameters' names, and checkpoints of the shapes that
its versions 1 to 3 save. `stack` and `project` are tutorial_modules.forward's."""

import argparse
import collections
import functools
import math
import random
import sys
import types

import torch
from torch import nn

from tutorial_modules import Named, Pair, attend

POSITIONS = 5000  # rows of the saved table


class Attention(nn.Module):
    def __init__(self, d_model: int, heads: int, bias: bool):
        super().__init__()
        self.heads = heads
        for name in ("linear_keys", "linear_values", "linear_query", "final_linear"):
            self.add_module(name, nn.Linear(d_model, d_model, bias))

    def forward(self, x: torch.Tensor, memory: torch.Tensor, causal: bool) -> torch.Tensor:
        query, key, value = self.linear_query(x), self.linear_keys(memory), self.linear_values(memory)
        return self.final_linear(attend(query, key, value, self.heads, causal))


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int, activation: str, bias: bool):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff, bias), nn.Linear(d_ff, d_model, bias)
        self.layer_norm, self.activation = nn.LayerNorm(d_model, eps=1e-6), getattr(nn.functional, activation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.w_2(self.activation(self.w_1(self.layer_norm(x))))


class Layer(nn.Module):
    def __init__(self, is_decoder: bool, d_model: int, heads: int, d_ff: int, settings: dict):
        super().__init__()
        self.self_attn = Attention(d_model, heads, settings["add_qkvbias"])
        self.feed_forward = FeedForward(d_model, d_ff, settings["pos_ffn_activation_fn"], settings["add_ffnbias"])
        if is_decoder:
            self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(d_model, eps=1e-6), nn.LayerNorm(d_model, eps=1e-6)
            self.context_attn = Attention(d_model, heads, settings["add_qkvbias"])
        else:
            self.layer_norm = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None) -> torch.Tensor:
        h = (self.layer_norm if memory is None else self.layer_norm_1)(x)
        x = x + self.self_attn(h, h, memory is not None)
        if memory is not None:
            x = x + self.context_attn(self.layer_norm_2(x), memory, False)
        return self.feed_forward(x)


class PositionTable(nn.Module):
    def __init__(self, d_model: int, kind: str):
        super().__init__()
        half = d_model // 2
        steps = half if kind == "SinusoidalInterleaved" else half - 1
        angles = torch.arange(POSITIONS)[:, None] * torch.exp(torch.arange(half) * (-math.log(10000.0) / steps))
        if kind == "SinusoidalInterleaved":
            table = torch.stack([angles.sin(), angles.cos()], dim=2).reshape(POSITIONS, d_model)
        else:
            table = torch.cat([angles.sin(), angles.cos()], dim=1)
        self.register_buffer("pe", table[:, None])


class OpenNmtPy(nn.Module):
    model_type, start, end = "opennmt_py", 2, 3

    def __init__(self, d_model: int, heads: int, d_ff: int, layers: Pair, words: Pair, settings: dict):
        super().__init__()
        self.heads, self.d_ff, self.layers, self.words, self.settings = heads, d_ff, layers, words, settings
        for name, stack, n, size in (("encoder", "transformer", layers[0], words[0]),
                                     ("decoder", "transformer_layers", layers[1], words[1])):
            table = Named(emb_luts=nn.Sequential(nn.Embedding(size, d_model)),
                          pe=PositionTable(d_model, settings["position_encoding_type"]))
            self.add_module(name, Named(**{
                "embeddings": Named(make_embedding=table),
                stack: nn.ModuleList(Layer(name == "decoder", d_model, heads, d_ff, settings) for _ in range(n)),
                "layer_norm": nn.LayerNorm(d_model, eps=1e-6)}))
        self.generator = nn.Linear(d_model, words[1])

    def tie(self) -> None:
        """Shares tables by the options."""
        if self.settings["share_embeddings"]:
            self.table("decoder").weight = self.table("encoder").weight
        if self.settings["share_decoder_embeddings"]:
            self.generator.weight = self.table("decoder").weight

    def table(self, name: str) -> nn.Embedding:
        return getattr(self, name).embeddings.make_embedding.emb_luts[0]

    def stack(self, name: str, ids: torch.Tensor, memory: torch.Tensor | None, trace: dict) -> torch.Tensor:
        stack = getattr(self, name)
        x = self.table(name).weight[ids]
        positions = stack.embeddings.make_embedding.pe.pe[:len(ids), 0]
        x = trace[f"{name}.embed"] = x * math.sqrt(x.shape[1]) + positions
        for i, layer in enumerate(stack.transformer if memory is None else stack.transformer_layers):
            x = trace[f"{name}.layers.{i}"] = layer(x, memory)
        x = trace[f"{name}.norm"] = stack.layer_norm(x)
        return x

    def project(self, x: torch.Tensor) -> torch.Tensor:
        return self.generator(x)


def draw_settings(draw: random.Random) -> dict:
    return {"pos_ffn_activation_fn": draw.choice(["relu", "gelu"]), "add_qkvbias": draw.random() < 0.7,
            "add_ffnbias": draw.random() < 0.8, "share_embeddings": draw.random() < 0.4,
            "share_decoder_embeddings": draw.random() < 0.6,
            "position_encoding_type": draw.choice(["SinusoidalInterleaved"] * 3 + ["SinusoidalConcat"])}


def tokens(n: int) -> list[str]:
    return ["<unk>", "<blank>", "<s>", "</s>", *(f"word{i}" for i in range(n - 4))]


def version_3(model: OpenNmtPy) -> dict:
    """A checkpoint as models/model_saver.py of 3.5.1 saves it."""
    settings, d_model = model.settings, model.table("encoder").embedding_dim
    opt = argparse.Namespace(
        model_type="text", model_task="seq2seq", encoder_type="transformer", decoder_type="transformer", layers=-1,
        enc_layers=model.layers[0], dec_layers=model.layers[1], hidden_size=-1, enc_hid_size=d_model,
        dec_hid_size=d_model, word_vec_size=-1, src_word_vec_size=d_model, tgt_word_vec_size=d_model, heads=model.heads,
        transformer_ff=model.d_ff, position_encoding=True, max_relative_positions=0, relative_positions_buckets=0,
        self_attn_type="scaled-dot", layer_norm="standard", norm_eps=1e-6, num_kv=0, multiquery=False,
        parallel_residual=False, shared_layer_norm=False, sliding_window=0, num_experts=0, n_src_feats=0,
        copy_attn=False, lora_layers=[], lora_embedding=False, quant_layers=[], quant_type="", dropout=[0.1],
        learning_rate=2.0, alignment_layer=-3, seed=1234, tgt_prefix=None, **settings)
    state = {name: value for name, value in model.state_dict().items() if "generator" not in name}
    vocab = {"src": tokens(model.words[0]), "tgt": tokens(model.words[1]), "data_task": "seq2seq",
             "decoder_start_token": "<s>"}
    momenta = {0: {"step": 3, "exp_avg": torch.ones(2), "exp_avg_sq": torch.ones(2)}}
    optim = {"training_step": 3, "decay_step": 3, "optimizer": {"state": momenta, "param_groups": [{"lr": 1e-3}]}}
    return {"model": state, "generator": model.generator.state_dict(), "vocab": vocab, "opt": opt, "optim": optim}


def torchtext() -> tuple[type, ...]:
    """Classes that are saved under torchtext's and OpenNMT-py 2's names."""
    def module(name: str, **contents) -> None:
        sys.modules[name] = types.ModuleType(name)
        for key, value in contents.items():
            value.__module__, value.__qualname__ = name, key
            setattr(sys.modules[name], key, value)

    made = [type(name, (), {}) for name in ("Field", "Vocab", "TextMultiField", "AlignField")]

    def _feature_tokenize(text, layer=0):
        return text.split()

    module("torchtext")
    module("torchtext.data")
    module("torchtext.data.field", Field=made[0])
    module("torchtext.vocab", Vocab=made[1])
    module("onmt")
    module("onmt.inputters")
    module("onmt.inputters.inputter", AlignField=made[3])
    module("onmt.inputters.text_dataset", TextMultiField=made[2], _feature_tokenize=_feature_tokenize)
    return tuple(made)


def version_2(model: OpenNmtPy) -> dict:
    """A checkpoint as version 2.3.0 saves it, with version 0.1's names of norms."""
    Field, Vocab, TextMultiField, AlignField = torchtext()
    checkpoint = version_3(model)

    def with_state(kind: type, **state):
        made = kind()
        made.__dict__.update(state)
        return made

    def field(name: str) -> object:
        texts = checkpoint["vocab"]["src" if name == "src" else "tgt"]
        vocab = with_state(Vocab, freqs=collections.Counter(texts[4:]), itos=texts, unk_index=0, vectors=None,
                           stoi={text: i for i, text in enumerate(texts)})
        tokenize = functools.partial(sys.modules["onmt.inputters.text_dataset"]._feature_tokenize, layer=0)
        inner = with_state(Field, sequential=True, use_vocab=True, dtype=torch.int64, tokenize=tokenize,
                           stop_words=set(), vocab=vocab, pad_token="<blank>")
        fields = [(name, inner)]
        return with_state(TextMultiField, preprocessing=None, postprocessing=None, is_target=False, fields=fields)

    checkpoint["vocab"] = {"src": field("src"), "tgt": field("tgt"), "indices": with_state(Field, vocab=None),
                           "align": with_state(AlignField, use_vocab=False)}
    norms = {".weight": ".a_2", ".bias": ".b_2"}
    checkpoint["model"] = {
        name.replace(end, norms[end]) if "layer_norm" in name else name: value
        for name, value in checkpoint["model"].items() for end in norms if name.endswith(end) or (
            end == ".bias" and not name.endswith(tuple(norms)))}
    checkpoint["generator"] = {f"0.{name}": value for name, value in checkpoint["generator"].items()}
    for late in ("norm_eps", "num_kv", "layer_norm", "add_qkvbias", "add_ffnbias", "sliding_window", "model_task"):
        delattr(checkpoint["opt"], late)
    return checkpoint
