# SPDX-License-Identifier: Apache-2.0
"""A Marian checkpoint as two ONNX graphs with int8 weights: the encoder, and one step of greedy decoding.

  encoder.onnx   source [batch, source]  ->  memory_keys_i, memory_values_i [batch, heads, source, d_head]
  decoder.onnx   token [batch, 1], past_keys_i, past_values_i [batch, heads, past, d_head], memory_*
                 ->  next_token [batch, 1], present_keys_i, present_values_i

Existing exporters keep cross-attention's keys and values apart from the encoder, or return all logits. These graphs
compute only what greedy decoding needs. There is no padding: all sources of a batch have the same length.
"""

import pathlib
import tempfile

import torch
from torch import Tensor, nn
from transformers import MarianMTModel


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """[batch, length, d_model] -> [batch, heads, length, d_head]"""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def attend(block: nn.Module, x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Scaled dot-product attention of every row of x over all keys, and its output projection."""
    queries = split_heads(block.q_proj(x), block.num_heads) * block.head_dim**-0.5
    mixed = torch.softmax(queries @ keys.transpose(-1, -2), dim=-1) @ values
    return block.out_proj(mixed.transpose(1, 2).flatten(2))


def project_memory(block: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    return split_heads(block.k_proj(x), block.num_heads), split_heads(block.v_proj(x), block.num_heads)


def feed_forward(layer: nn.Module, x: Tensor) -> Tensor:
    return layer.final_layer_norm(x + layer.fc2(layer.activation_fn(layer.fc1(x))))


class Encoder(nn.Module):
    """Source ids to the keys and values that every decoder layer attends to."""

    def __init__(self, model: MarianMTModel):
        super().__init__()
        self.encoder = model.model.encoder
        self.decoder_layers = model.model.decoder.layers

    def forward(self, source: Tensor) -> tuple[Tensor, ...]:
        encoder = self.encoder
        x = encoder.embed_tokens(source) * encoder.embed_scale + encoder.embed_positions.weight[: source.shape[1]]
        for layer in encoder.layers:
            keys, values = project_memory(layer.self_attn, x)
            x = layer.self_attn_layer_norm(x + attend(layer.self_attn, x, keys, values))
            x = feed_forward(layer, x)
        return tuple(part for layer in self.decoder_layers for part in project_memory(layer.encoder_attn, x))


class Decoder(nn.Module):
    """One target position: logits [batch, 1, vocab_size] and the longer past."""

    def __init__(self, model: MarianMTModel):
        super().__init__()
        self.decoder, self.lm_head, self.bias = model.model.decoder, model.lm_head, model.final_logits_bias

    def forward(self, token: Tensor, *caches: Tensor) -> tuple[Tensor, ...]:
        decoder = self.decoder
        n_caches = 2 * len(decoder.layers)
        past, memory = caches[:n_caches], caches[n_caches:]
        position = past[0].shape[2]
        x = decoder.embed_tokens(token) * decoder.embed_scale
        x = x + decoder.embed_positions.weight[position : position + 1]
        present = []
        for i, layer in enumerate(decoder.layers):
            new_keys, new_values = project_memory(layer.self_attn, x)
            keys, values = torch.cat((past[2 * i], new_keys), 2), torch.cat((past[2 * i + 1], new_values), 2)
            present += [keys, values]
            x = layer.self_attn_layer_norm(x + attend(layer.self_attn, x, keys, values))
            attended = attend(layer.encoder_attn, x, memory[2 * i], memory[2 * i + 1])
            x = layer.encoder_attn_layer_norm(x + attended)
            x = feed_forward(layer, x)
        return self.lm_head(x) + self.bias, *present


class GreedyDecoder(Decoder):
    """The same with the choice in the graph, so that no logits leave it."""

    def forward(self, token: Tensor, *caches: Tensor) -> tuple[Tensor, ...]:
        logits, *present = super().forward(token, *caches)
        return logits.argmax(-1), *present


def empty_past(model: MarianMTModel, batch: int) -> list[Tensor]:
    config = model.config
    d_head = config.d_model // config.decoder_attention_heads
    return [torch.zeros(batch, config.decoder_attention_heads, 0, d_head) for _ in range(2 * config.decoder_layers)]


@torch.no_grad()
def check_graphs(model: MarianMTModel, source: Tensor, n_steps: int = 5) -> None:
    """The modules above compute the framework's logits, or an error."""
    memory, past = Encoder(model)(source), empty_past(model, len(source))
    target, steps = [torch.full((len(source), 1), model.config.decoder_start_token_id)], []
    decoder = Decoder(model)
    for _ in range(n_steps):
        logits, *past = decoder(target[-1], *past, *memory)
        steps.append(logits)
        target.append(logits.argmax(-1))
    expected = model(input_ids=source, decoder_input_ids=torch.cat(target[:-1], 1)).logits
    torch.testing.assert_close(torch.cat(steps, 1), expected, rtol=1e-4, atol=1e-4)


def cache_names(kind: str, n_layers: int) -> list[str]:
    return [f"{kind}_{part}_{i}" for i in range(n_layers) for part in ("keys", "values")]


def write_graph(module: nn.Module, inputs: tuple[Tensor, ...], input_names: list[str], output_names: list[str],
                length_names: dict[str, str], path: pathlib.Path) -> None:
    """Exports, then quantizes the weights of matrix products to int8, a scale for each output.

    length_names: the name of a tensor's variable length, by the beginning of the tensor's name.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    def axes(name: str) -> dict[int, str]:
        length = next((length for begin, length in length_names.items() if name.startswith(begin)), None)
        return {0: "batch"} | ({1 if name == "source" else 2: length} if length else {})

    with tempfile.TemporaryDirectory() as folder:
        float_path = pathlib.Path(folder) / "float.onnx"
        torch.onnx.export(module, inputs, str(float_path), input_names=input_names, output_names=output_names,
                          dynamic_axes={name: axes(name) for name in input_names + output_names}, opset_version=17,
                          dynamo=False)
        quantize_dynamic(float_path, path, op_types_to_quantize=["MatMul"], per_channel=True,
                         weight_type=QuantType.QInt8)


@torch.no_grad()
def export(checkpoint: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes encoder.onnx, decoder.onnx, and ids.txt: the vocabulary's size and the start token."""
    model = MarianMTModel.from_pretrained(checkpoint, dtype=torch.float32).eval()
    source = torch.randint(1, model.config.vocab_size - 1, (2, 7), generator=torch.Generator().manual_seed(1))
    check_graphs(model, source)
    n_layers = model.config.decoder_layers
    memory_names, past_names = cache_names("memory", n_layers), cache_names("past", n_layers)
    present_names = cache_names("present", n_layers)
    folder.mkdir(parents=True, exist_ok=True)
    write_graph(Encoder(model), (source,), ["source"], memory_names, {"source": "source", "memory": "source"},
                folder / "encoder.onnx")
    memory = Encoder(model)(source)
    start = torch.full((len(source), 1), model.config.decoder_start_token_id)
    _, *past = Decoder(model)(start, *empty_past(model, len(source)), *memory)
    write_graph(GreedyDecoder(model), (start, *past, *memory), ["token", *past_names, *memory_names],
                ["next_token", *present_names], {"past": "past", "present": "present", "memory": "source"},
                folder / "decoder.onnx")
    (folder / "ids.txt").write_text(f"{model.config.vocab_size} {model.config.decoder_start_token_id}\n")
