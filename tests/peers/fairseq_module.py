# SPDX-License-Identifier: Apache-2.0
"""fairseq's Transformer, written from its formulas with its parameters' names, and checkpoints of the shapes that its
versions save. `stack` and `project` are tutorial_modules.forward's."""

import argparse
import math
import random

import torch
from torch import nn

from tutorial_modules import Named, Pair, attend

POSITIONS = 64  # max_source_positions and max_target_positions
PADDING = 1


class Attention(nn.Module):
    def __init__(self, d_model: int, d_memory: int, heads: int):
        super().__init__()
        self.heads, self.q_proj, self.out_proj = heads, nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.k_proj, self.v_proj = nn.Linear(d_memory, d_model), nn.Linear(d_memory, d_model)

    def forward(self, x: torch.Tensor, memory: torch.Tensor, causal: bool) -> torch.Tensor:
        return self.out_proj(attend(self.q_proj(x), self.k_proj(memory), self.v_proj(memory), self.heads, causal))


class Layer(nn.Module):
    def __init__(self, stack: str, settings: dict, d_memory: int):
        super().__init__()
        d_model, heads = settings[f"{stack}_embed_dim"], settings[f"{stack}_attention_heads"]
        self.is_pre, self.activation_fn = settings[f"{stack}_normalize_before"], settings["activation_fn"]
        self.self_attn, self.self_attn_layer_norm = Attention(d_model, d_model, heads), nn.LayerNorm(d_model)
        if stack == "decoder":
            self.encoder_attn, self.encoder_attn_layer_norm = Attention(d_model, d_memory, heads), nn.LayerNorm(d_model)
        self.fc1 = nn.Linear(d_model, settings[f"{stack}_ffn_embed_dim"])
        self.fc2, self.final_layer_norm = nn.Linear(settings[f"{stack}_ffn_embed_dim"], d_model), nn.LayerNorm(d_model)

    def activation(self, x: torch.Tensor) -> torch.Tensor:
        if self.activation_fn == "relu":
            return x.relu()
        return nn.functional.gelu(x, approximate="none" if self.activation_fn == "gelu" else "tanh")

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None) -> torch.Tensor:
        blocks = [(self.self_attn_layer_norm, lambda h: self.self_attn(h, h, memory is not None)),
                  (self.final_layer_norm, lambda h: self.fc2(self.activation(self.fc1(h))))]
        if memory is not None:
            blocks.insert(1, (self.encoder_attn_layer_norm, lambda h: self.encoder_attn(h, memory, False)))
        for norm, block in blocks:
            x = x + block(norm(x)) if self.is_pre else norm(x + block(x))
        return x


def sinusoids(rows: int, d_model: int) -> torch.Tensor:
    half = d_model // 2
    angles = torch.arange(rows)[:, None] * torch.exp(torch.arange(half) * (-math.log(10000.0) / (half - 1)))
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Fairseq(nn.Module):
    model_type, start, end = "fairseq", 2, 2

    def __init__(self, layers: Pair, words: Pair, settings: dict):
        super().__init__()
        self.words, self.settings = words, {**settings, "encoder_layers": layers[0], "decoder_layers": layers[1]}
        for name, n, size in zip(("encoder", "decoder"), layers, words):
            d_model = settings[f"{name}_embed_dim"]
            stack = Named(embed_tokens=nn.Embedding(size, d_model), embed_positions=nn.Module(), layers=nn.ModuleList(
                Layer(name, settings, settings["encoder_embed_dim"]) for _ in range(n)))
            stack.register_buffer("version", torch.tensor([3.0]))
            if settings[f"{name}_learned_pos"]:
                stack.embed_positions = nn.Embedding(POSITIONS + PADDING + 1, d_model)
            else:
                stack.embed_positions.register_buffer("_float_tensor", torch.tensor([math.nan]))
            if settings["layernorm_embedding"]:
                stack.layernorm_embedding = nn.LayerNorm(d_model)
            if settings[f"{name}_normalize_before"] and not (name == "decoder" and settings["no_decoder_final_norm"]):
                stack.layer_norm = nn.LayerNorm(d_model)
            self.add_module(name, stack)
        self.decoder.output_projection = nn.Linear(settings["decoder_embed_dim"], words[1], bias=False)

    def tie(self) -> None:
        """Shares tables by the options."""
        if self.settings["share_all_embeddings"]:
            self.decoder.embed_tokens.weight = self.encoder.embed_tokens.weight
        if self.settings["share_decoder_input_output_embed"]:
            self.decoder.output_projection.weight = self.decoder.embed_tokens.weight

    def stack(self, name: str, ids: torch.Tensor, memory: torch.Tensor | None, trace: dict) -> torch.Tensor:
        stack = getattr(self, name)
        x = stack.embed_tokens.weight[ids]
        table = getattr(stack.embed_positions, "weight", None)
        if table is None:
            table = sinusoids(POSITIONS + PADDING + 1, x.shape[1]).to(x.dtype)
        scale = 1.0 if self.settings["no_scale_embedding"] else math.sqrt(x.shape[1])
        x = x * scale + table[PADDING + 1:PADDING + 1 + len(ids)]
        if hasattr(stack, "layernorm_embedding"):
            x = stack.layernorm_embedding(x)
        trace[f"{name}.embed"] = x
        for i, layer in enumerate(stack.layers):
            x = trace[f"{name}.layers.{i}"] = layer(x, memory)
        if hasattr(stack, "layer_norm"):
            x = trace[f"{name}.norm"] = stack.layer_norm(x)
        return x

    def project(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder.output_projection(x)

    def mask(self, logits: torch.Tensor, n: int) -> torch.Tensor:
        """Masks as SequenceGenerator does for the token after n others: no padding, and no end of an empty text."""
        logits = logits.clone()
        logits[[PADDING, self.end] if n == 0 else [PADDING]] = -math.inf
        return logits


def draw_settings(draw: random.Random, d_model: Pair, heads: Pair, d_ff: int, is_old: bool) -> dict:
    is_pre, all_tied = draw.random() < 0.5 and not is_old, d_model[0] == d_model[1] and draw.random() < 0.4
    settings = {"activation_fn": draw.choice(["relu", "relu", "gelu", "gelu_accurate", "gelu_fast"]),
                "layernorm_embedding": draw.random() < 0.3, "no_scale_embedding": draw.random() < 0.2,
                "no_decoder_final_norm": draw.random() < 0.2, "share_all_embeddings": all_tied,
                "share_decoder_input_output_embed": all_tied or draw.random() < 0.5}
    for i, stack in enumerate(("encoder", "decoder")):
        settings.update({f"{stack}_embed_dim": d_model[i], f"{stack}_attention_heads": heads[i],
                         f"{stack}_ffn_embed_dim": d_ff, f"{stack}_normalize_before": is_pre,
                         f"{stack}_learned_pos": draw.random() < 0.3})
    return settings


def new_checkpoint(model: Fairseq, is_namespace: bool) -> dict:
    """A checkpoint as trainer.py of 0.12 saves it: cfg.model is a Namespace, or a dictionary."""
    state = model.state_dict()
    for i in range(model.settings["encoder_layers"]):
        for copy in ("in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias", "fc1_weight", "fc1_bias",
                     "fc2_weight", "fc2_bias"):
            state[f"encoder.layers.{i}.{copy}"] = torch.zeros(3)
    options = {"arch": "transformer_iwslt_de_en", "max_source_positions": POSITIONS, "max_target_positions": POSITIONS,
               "adaptive_softmax_cutoff": None, "adaptive_input": False, "quant_noise_pq": 0, "dropout": 0.3,
               "no_cross_attention": False, "cross_self_attention": False, "encoder_layers_to_keep": None,
               "encoder_layerdrop": 0, "lr": [0.0005], "seed": 1, **model.settings}
    if not is_namespace:
        options["_name"] = options.pop("arch")
    task = {"_name": "translation", "data": "bin", "source_lang": "de", "target_lang": "en", "left_pad_source": True}
    return {"args": None, "model": state, "criterion": {}, "optimizer_history": [{"num_updates": 5}],
            "cfg": {"_name": None, "common": {"seed": 1}, "task": task,
                    "model": argparse.Namespace(**options) if is_namespace else options},
            "task_state": {}, "extra_state": {"epoch": 3, "val_loss": 4.5}, "last_optimizer_state": None}


def old_checkpoint(model: Fairseq) -> dict:
    """A checkpoint with args, and with the fused projections, numbered norms and tables of versions before 0.9."""
    new = new_checkpoint(model, True)
    state, args = {}, new["cfg"]["model"]
    numbers = {"encoder": {"self_attn_layer_norm": 0, "final_layer_norm": 1},
               "decoder": {"self_attn_layer_norm": 0, "encoder_attn_layer_norm": 1, "final_layer_norm": 2}}
    for name, value in model.state_dict().items():
        if name.endswith((".version", "_float_tensor", "k_proj.weight", "v_proj.weight", "k_proj.bias", "v_proj.bias")):
            continue
        for norm, number in numbers[name.split(".")[0]].items():
            name = name.replace(f".{norm}.", f".layer_norms.{number}.")
        if ".q_proj." in name:
            rest = [name.replace(".q_proj.", f".{part}_proj.") for part in "kv"]
            value = torch.cat([value, *(model.state_dict()[part] for part in rest)])
            name = name.replace(".q_proj.", ".in_proj_")
        if name == "decoder.output_projection.weight":
            if args.share_decoder_input_output_embed:
                continue
            name = "decoder.embed_out"
        state[name] = value
    for stack in ("encoder", "decoder"):
        if not model.settings[f"{stack}_learned_pos"]:
            state[f"{stack}.embed_positions.weights"] = sinusoids(40, model.settings[f"{stack}_embed_dim"])
    args.task, args.source_lang, args.target_lang = "translation", "de", "en"
    return {"args": args, "model": state, "optimizer_history": [], "extra_state": {"epoch": 1},
            "last_optimizer_state": None}


def dictionary(n: int) -> str:
    """A dictionary of n entries, including the four that every dictionary has."""
    return "".join(f"word{i} {n - i}\n" if i % 9 else f"madeupword{i:04} 0\n" for i in range(1, n - 3))
