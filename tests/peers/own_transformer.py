# SPDX-License-Identifier: Apache-2.0
"""A Transformer closer to the paper than torch's: heads of any width, attention without biases, convolutions of width 1
instead of the feed-forward's matrices. It is called like nn.Transformer, and its parameters have the same names."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class StackShape:
    d_model: int
    d_ff: int
    n_layers: int
    n_heads: int
    d_k: int  # rows of a head's queries and keys
    d_v: int  # rows of a head's values
    activation: Callable
    norm_first: bool
    layer_norm_eps: float
    bias: bool            # biases of norms and feed-forward
    attention_bias: bool
    convolutions: bool
    fused: bool           # one matrix for queries, keys and values


class Attention(nn.Module):
    def __init__(self, s: StackShape):
        super().__init__()
        self.shape, self.rows = s, (s.n_heads * s.d_k, s.n_heads * s.d_k, s.n_heads * s.d_v)
        if s.fused:
            self.in_proj_weight = nn.Parameter(torch.empty(sum(self.rows), s.d_model))
        else:
            for name, rows in zip("qkv", self.rows):
                self.register_parameter(f"{name}_proj_weight", nn.Parameter(torch.empty(rows, s.d_model)))
        if s.attention_bias:
            self.in_proj_bias = nn.Parameter(torch.empty(sum(self.rows)))
        self.out_proj = nn.Linear(s.n_heads * s.d_v, s.d_model, bias=s.attention_bias)

    def forward(self, x: torch.Tensor, memory: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        weights = (self.in_proj_weight.split(self.rows) if self.shape.fused else
                   (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight))
        biases = self.in_proj_bias.split(self.rows) if self.shape.attention_bias else (None, None, None)
        # [batch, heads, positions, d_k or d_v]
        query, key, value = (nn.functional.linear(rows, w, bias).unflatten(-1, (self.shape.n_heads, -1)).transpose(1, 2)
                             for rows, w, bias in zip((x, memory, memory), weights, biases))
        scores = query @ key.transpose(2, 3) / math.sqrt(self.shape.d_k)
        if mask is not None:
            scores = scores + mask
        return self.out_proj((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, s: StackShape, is_decoder: bool):
        super().__init__()
        self.shape = s
        self.self_attn = Attention(s)
        if is_decoder:
            self.multihead_attn = Attention(s)
        for name, inputs, outputs in (("linear1", s.d_model, s.d_ff), ("linear2", s.d_ff, s.d_model)):
            self.add_module(name, nn.Conv1d(inputs, outputs, 1, bias=s.bias) if s.convolutions else
                            nn.Linear(inputs, outputs, bias=s.bias))
        for i in range(3 if is_decoder else 2):
            self.add_module(f"norm{i + 1}", nn.LayerNorm(s.d_model, s.layer_norm_eps, bias=s.bias))

    def feed_forward(self, x: torch.Tensor) -> torch.Tensor:
        turned = (lambda rows: rows.transpose(1, 2)) if self.shape.convolutions else (lambda rows: rows)
        return turned(self.linear2(self.shape.activation(self.linear1(turned(x)))))

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None, mask: torch.Tensor | None) -> torch.Tensor:
        blocks = [lambda h: self.self_attn(h, h, mask), self.feed_forward]
        if memory is not None:
            blocks.insert(1, lambda h: self.multihead_attn(h, memory, None))
        for i, block in enumerate(blocks):
            norm = self.get_submodule(f"norm{i + 1}")
            x = x + block(norm(x)) if self.shape.norm_first else norm(x + block(x))
        return x


class Stack(nn.Module):
    def __init__(self, s: StackShape, is_decoder: bool):
        super().__init__()
        self.layers = nn.ModuleList(Layer(s, is_decoder) for _ in range(s.n_layers))
        self.norm = nn.LayerNorm(s.d_model, s.layer_norm_eps, bias=s.bias)

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None = None,
                tgt_mask: torch.Tensor | None = None) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, memory, tgt_mask)
        return x if self.norm is None else self.norm(x)


class OwnTransformer(nn.Module):
    def __init__(self, encoder: StackShape, decoder: StackShape):
        super().__init__()
        self.encoder, self.decoder = Stack(encoder, False), Stack(decoder, True)
