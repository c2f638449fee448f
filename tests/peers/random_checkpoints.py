# SPDX-License-Identifier: Apache-2.0
"""Random weights with which a model of random shape gives different texts for different sources, and sometimes ends."""

import json
import pathlib
import random
from collections.abc import Sequence

import torch

IDS_OF_MARIAN = ("</s>", "<pad>", "<unk>")


def randomize(module: torch.nn.Module, generator: torch.Generator) -> None:
    """Matrices of gain about 1, norms away from the identity, biases that are not zero."""
    with torch.no_grad():
        for name, value in module.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if "norm" in name and name.endswith("weight"):
                value.copy_(1 + 0.2 * noise)
            elif value.dim() < 2:
                value.copy_(0.2 * noise)
            else:
                value.copy_(noise * value[0].numel() ** -0.5 * 1.5)


def end_sometimes(bias: torch.Tensor, ends: list[int], draw: random.Random, generator: torch.Generator,
                  most: float = 2.5) -> None:
    with torch.no_grad():
        bias += 0.5 * torch.randn(bias.shape, generator=generator)
        for end in ends:
            bias.view(-1)[end] += draw.uniform(0, most)


def marian(size: int, d_model: int, heads: int, layers: Sequence[int], d_ff: Sequence[int], pad: int | None = None,
           **more: object):
    """A MarianMTModel with these layers and inner widths of its two stacks. Id 0 ends a text, the last id pads."""
    from transformers import MarianConfig, MarianMTModel

    pad = size - 1 if pad is None else pad
    return MarianMTModel(MarianConfig(
        vocab_size=size, d_model=d_model, encoder_layers=layers[0], decoder_layers=layers[1],
        encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=d_ff[0], decoder_ffn_dim=d_ff[1],
        pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, bos_token_id=0, forced_eos_token_id=0,
        **more)).eval()


def width(draw: random.Random, even: bool) -> tuple[int, int]:
    """Returns d_model and a number of heads that divides it; many are not multiples of 16."""
    heads = draw.choice([1, 1, 2, 3, 4, 5, 8])
    head = draw.choice([2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 24])
    d_model = heads * head
    if even and d_model % 2 != 0:
        d_model *= 2
    return max(d_model, 2), heads


def protobuf_field(number: int, payload: bytes) -> bytes:
    size, n = b"", len(payload)
    while True:
        size += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if n == 0:
            return bytes([number << 3 | 2]) + size + payload


def write_sentencepiece(path: pathlib.Path, pieces: list[str], n_special: int = 1) -> None:
    """A unigram model of these pieces without rules. The first is unknown, other special ones are control pieces."""
    import struct
    out = bytearray()
    for i, text in enumerate(pieces):
        kind = b"\x18\x02" if i == 0 else b"\x18\x03" if i < n_special else b""
        out += protobuf_field(1, protobuf_field(1, text.encode()) + b"\x15" + struct.pack("<f", -float(i)) + kind)
    path.write_bytes(out + protobuf_field(2, b"\x18\x01") + protobuf_field(3, b""))


def write_tokenizers(folder: pathlib.Path, source_size: int, target_size: int, special: dict[str, int],
                     separate: bool) -> None:
    """Writes vocabularies of "t0", "t1" ... and special entries, and SentencePiece models of the same entries."""
    for name, size, spm in (("vocab.json", source_size, "source.spm"),
                            ("target_vocab.json" if separate else None, target_size, "target.spm")):
        texts = [f"t{i}" for i in range(size)]
        for text, i in special.items():
            texts[i] = text
        if name:
            (folder / name).write_text(json.dumps({text: i for i, text in enumerate(texts)}))
        write_sentencepiece(folder / spm, ["<unk>"] + [t for t in texts if t not in IDS_OF_MARIAN])
    (folder / "tokenizer_config.json").write_text(json.dumps({"separate_vocabs": separate}))


class Trace:
    """The rows of a model's layers in one call, by the names that --check reads."""

    def __init__(self) -> None:
        self.rows: dict[str, torch.Tensor] = {}
        self.hooks = []

    def keep(self, name: str, module: torch.nn.Module, turned: bool = False) -> None:
        def hook(_module, _inputs, output):
            value = (output[0] if isinstance(output, tuple) else output).detach()[0]
            self.rows[name] = (value.T if turned else value).clone()

        self.hooks.append(module.register_forward_hook(hook))

    def keep_stack(self, name: str, layers: torch.nn.ModuleList, norm: torch.nn.Module | None) -> None:
        def before(_module, inputs, keywords):
            hidden = inputs[0] if inputs else keywords["hidden_states"]
            hidden = hidden if hidden.shape[0] == 1 else hidden.transpose(0, 1)  # FSMT's
            self.rows[f"{name}.embed"] = hidden.detach()[0].clone()

        self.hooks.append(layers[0].register_forward_pre_hook(before, with_kwargs=True))
        for i, layer in enumerate(layers):
            self.keep(f"{name}.layers.{i}", layer)
        if norm is not None:
            self.keep(f"{name}.norm", norm)

    def rows_along(self, model: torch.nn.Module, inputs: torch.Tensor, prefix: list[int]) -> dict[str, torch.Tensor]:
        with torch.no_grad():
            self.rows["logits"] = model(inputs, decoder_input_ids=torch.tensor([prefix]), use_cache=False).logits[0]
        for hook in self.hooks:
            hook.remove()
        return self.rows


def random_sources(draw: random.Random, vocabulary: int, end: int, most: int, n: int) -> list[list[int]]:
    return [[draw.randrange(vocabulary) for _ in range(draw.randint(1, most - 1))] + [end] for _ in range(n)]
