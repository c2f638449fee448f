# SPDX-License-Identifier: Apache-2.0
"""The Transformers of three tutorials, written from their formulas. Parameters have the tutorials' names, `forward`
returns logits, and `trace` gets the rows of every layer."""

import copy
import math

import torch
from torch import nn

POSITIONS = 40
Pair = tuple[int, int]  # of the encoder and the decoder


def sinusoids(d_model: int) -> torch.Tensor:
    angles = torch.arange(POSITIONS)[:, None] * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(POSITIONS, d_model)


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, heads: int, causal: bool) -> torch.Tensor:
    """Attention within one text: [positions, d_model] each."""
    query, key, value = (x.unflatten(-1, (heads, -1)).transpose(0, 1) for x in (query, key, value))
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[1:], dtype=torch.bool).triu(1), -math.inf)
    return (scores.softmax(-1) @ value).transpose(0, 1).flatten(1)


class Named(nn.Module):
    """Submodules by name."""

    def __init__(self, **modules: nn.Module):
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)


# The Annotated Transformer

class DeviationNorm(nn.Module):
    def __init__(self, d_model: int):
        super().__init__()
        self.a_2, self.b_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.a_2 * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + self.b_2


class FourLinears(nn.Module):
    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.heads, self.linears = heads, nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x: torch.Tensor, memory: torch.Tensor, causal: bool) -> torch.Tensor:
        query, key, value, out = self.linears
        return out(attend(query(x), key(memory), value(memory), self.heads, causal))


class AnnotatedLayer(nn.Module):
    def __init__(self, d_model: int, heads: int, d_ff: int, is_decoder: bool):
        super().__init__()
        self.self_attn = FourLinears(d_model, heads)
        if is_decoder:
            self.src_attn = FourLinears(d_model, heads)
        self.feed_forward = Named(w_1=nn.Linear(d_model, d_ff), w_2=nn.Linear(d_ff, d_model))
        self.sublayer = nn.ModuleList(Named(norm=DeviationNorm(d_model)) for _ in range(3 if is_decoder else 2))

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None) -> torch.Tensor:
        blocks = [lambda h: self.self_attn(h, h, memory is not None),
                  lambda h: self.feed_forward.w_2(torch.relu(self.feed_forward.w_1(h)))]
        if memory is not None:
            blocks.insert(1, lambda h: self.src_attn(h, memory, False))
        for block, sublayer in zip(blocks, self.sublayer, strict=True):
            x = x + block(sublayer.norm(x))
        return x


class PositionBuffer(nn.Module):
    def __init__(self, d_model: int):
        super().__init__()
        self.register_buffer("pe", sinusoids(d_model)[None])


class Annotated(nn.Module):
    model_type, start, end = "annotated_transformer", 0, 1

    def __init__(self, d_model: int, heads: int, d_ff: int, layers: tuple[int, int], words: tuple[int, int]):
        super().__init__()
        for name, n, is_decoder in (("encoder", layers[0], False), ("decoder", layers[1], True)):
            self.add_module(name, Named(
                layers=nn.ModuleList(AnnotatedLayer(d_model, heads, d_ff, is_decoder) for _ in range(n)),
                norm=DeviationNorm(d_model)))
        for name, n in (("src_embed", words[0]), ("tgt_embed", words[1])):
            self.add_module(name, nn.Sequential(Named(lut=nn.Embedding(n, d_model)), PositionBuffer(d_model)))
        self.generator = Named(proj=nn.Linear(d_model, words[1]))

    def stack(self, name: str, ids: torch.Tensor, memory: torch.Tensor | None, trace: dict) -> torch.Tensor:
        table = self.src_embed if memory is None else self.tgt_embed
        weight = table[0].lut.weight
        x = trace[f"{name}.embed"] = weight[ids] * math.sqrt(weight.shape[1]) + table[1].pe[0, :len(ids)]
        stack = getattr(self, name)
        for i, layer in enumerate(stack.layers):
            x = trace[f"{name}.layers.{i}"] = layer(x, memory)
        x = trace[f"{name}.norm"] = stack.norm(x)
        return x

    def project(self, x: torch.Tensor) -> torch.Tensor:
        return self.generator.proj(x)


# PyTorch's tutorial

class Seq2Seq(nn.Module):
    model_type, start, end = "seq2seq_transformer", 2, 3

    def __init__(self, d_model: int, heads: int, d_ff: int, layers: tuple[int, int], words: tuple[int, int]):
        super().__init__()
        self.transformer = nn.Transformer(d_model, heads, *layers, d_ff, 0.0, batch_first=True)
        self.generator = nn.Linear(d_model, words[1])
        self.src_tok_emb = Named(embedding=nn.Embedding(words[0], d_model))
        self.tgt_tok_emb = Named(embedding=nn.Embedding(words[1], d_model))
        self.positional_encoding = nn.Module()
        self.positional_encoding.register_buffer("pos_embedding", sinusoids(d_model)[:, None])

    def stack(self, name: str, ids: torch.Tensor, memory: torch.Tensor | None, trace: dict) -> torch.Tensor:
        weight = (self.src_tok_emb if memory is None else self.tgt_tok_emb).embedding.weight
        positions = self.positional_encoding.pos_embedding[:len(ids), 0]
        x = trace[f"{name}.embed"] = weight[ids] * math.sqrt(weight.shape[1]) + positions
        stack = getattr(self.transformer, name)
        mask = torch.full((len(ids), len(ids)), -math.inf, dtype=x.dtype).triu(1)
        for i, layer in enumerate(stack.layers):
            x = layer(x[None])[0] if memory is None else layer(x[None], memory[None], tgt_mask=mask)[0]
            trace[f"{name}.layers.{i}"] = x
        x = trace[f"{name}.norm"] = stack.norm(x)
        return x

    def project(self, x: torch.Tensor) -> torch.Tensor:
        return self.generator(x)


# Ben Trevett's tutorial 6

class FourNamed(nn.Module):
    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.heads = heads
        for name in "qkvo":
            self.add_module(f"fc_{name}", nn.Linear(d_model, d_model))

    def forward(self, x: torch.Tensor, memory: torch.Tensor, causal: bool) -> torch.Tensor:
        return self.fc_o(attend(self.fc_q(x), self.fc_k(memory), self.fc_v(memory), self.heads, causal))


class TrevettLayer(nn.Module):
    def __init__(self, d_model: int, heads: int, d_ff: int, is_decoder: bool):
        super().__init__()
        self.self_attn_layer_norm, self.ff_layer_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.self_attention = FourNamed(d_model, heads)
        if is_decoder:
            self.enc_attn_layer_norm, self.encoder_attention = nn.LayerNorm(d_model), FourNamed(d_model, heads)
        self.positionwise_feedforward = Named(fc_1=nn.Linear(d_model, d_ff), fc_2=nn.Linear(d_ff, d_model))

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None) -> torch.Tensor:
        x = self.self_attn_layer_norm(x + self.self_attention(x, x, memory is not None))
        if memory is not None:
            x = self.enc_attn_layer_norm(x + self.encoder_attention(x, memory, False))
        inner = torch.relu(self.positionwise_feedforward.fc_1(x))
        return self.ff_layer_norm(x + self.positionwise_feedforward.fc_2(inner))


class Trevett(nn.Module):
    model_type, start, end = "trevett_transformer", 2, 3

    def __init__(self, d_model: int, heads: int, d_ff: int, layers: Pair, words: Pair, positions: int = POSITIONS):
        super().__init__()
        for name, n, size in zip(("encoder", "decoder"), layers, words):
            self.add_module(name, Named(
                tok_embedding=nn.Embedding(size, d_model), pos_embedding=nn.Embedding(positions, d_model),
                layers=nn.ModuleList(TrevettLayer(d_model, heads, d_ff, name == "decoder") for _ in range(n))))
        self.decoder.fc_out = nn.Linear(d_model, words[1])

    def stack(self, name: str, ids: torch.Tensor, memory: torch.Tensor | None, trace: dict) -> torch.Tensor:
        stack = getattr(self, name)
        weight = stack.tok_embedding.weight
        x = trace[f"{name}.embed"] = weight[ids] * math.sqrt(weight.shape[1]) + stack.pos_embedding.weight[:len(ids)]
        for i, layer in enumerate(stack.layers):
            x = trace[f"{name}.layers.{i}"] = layer(x, memory)
        return x

    def project(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder.fc_out(x)


KINDS = (Annotated, Seq2Seq, Trevett)


@torch.no_grad()
def forward(model: nn.Module, source: list[int], inputs: list[int], trace: dict | None = None) -> torch.Tensor:
    """Returns the logits of every position of the target, whose inputs begin with the start."""
    trace = {} if trace is None else trace
    memory = model.stack("encoder", torch.tensor(source), None, trace)
    logits = trace["logits"] = model.project(model.stack("decoder", torch.tensor(inputs), memory, trace))
    return logits


def greedy(model: nn.Module, source: list[int], most: int) -> list[int]:
    """Returns greedy ids with the end, which is forced as the last of `most`. A model's `mask` excludes ids."""
    ids = []
    while not ids or ids[-1] != model.end:
        logits = forward(model, source, [model.start, *ids])[-1]
        masked = model.mask(logits, len(ids)) if hasattr(model, "mask") else logits
        ids.append(model.end if len(ids) + 1 == most else masked.argmax().item())
    return ids


def exact(model: nn.Module) -> nn.Module:
    return copy.deepcopy(model).double()
