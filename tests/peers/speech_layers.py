# SPDX-License-Identifier: Apache-2.0
"""Compares Moonshine tiny and Whisper tiny.en with transformers: every layer, ids of greedy search and of 4 beams.

  python tests/peers/speech_layers.py --build build/host --work FOLDER [--clips FOLDER]

Uses float32 files. Packages, clips and options are those of speech_clips.py. Whisper is a CTranslate2 directory, of
which this script makes a model of transformers."""

import json
import pathlib
import re
import struct
import sys

import numpy
import torch
from transformers import MoonshineForConditionalGeneration, WhisperConfig, WhisperForConditionalGeneration

import product
import speech
import speech_clips

ELEMENTS = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}
# CTranslate2's names and transformers', where they differ. A merged layer stands for all of its parts.
PARTS = {"self_attention/linear_0": "self_attn.q_proj self_attn.k_proj self_attn.v_proj",
         "self_attention/linear_1": "self_attn.out_proj", "self_attention/layer_norm": "self_attn_layer_norm",
         "attention/linear_0": "encoder_attn.q_proj", "attention/linear_1": "encoder_attn.k_proj encoder_attn.v_proj",
         "attention/linear_2": "encoder_attn.out_proj", "attention/layer_norm": "encoder_attn_layer_norm",
         "ffn/linear_0": "fc1", "ffn/linear_1": "fc2", "ffn/layer_norm": "final_layer_norm"}
TABLES = {"embeddings/weight": "embed_tokens.weight", "position_encodings/encodings": "embed_positions.weight"}
ENDINGS = {"gamma": "weight", "beta": "bias"}


def read_tensors(path: pathlib.Path) -> dict[str, torch.Tensor]:
    """Reads model.bin, version 6: names that end in a 0 byte, shapes, kinds of elements, bytes."""
    data, at = path.read_bytes(), 0

    def take(form: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return value

    def take_bytes(n: int) -> bytes:
        nonlocal at
        at += n
        return data[at - n:at]

    if take("I") != 6 or take_bytes(take("H")) != b"WhisperSpec\0":
        sys.exit(f"{path}: not a Whisper of version 6")
    take("I")
    tensors = {}
    for _ in range(take("I")):
        name = take_bytes(take("H"))[:-1].decode()
        shape = [take("I") for _ in range(take("B"))]
        kind = ELEMENTS[take("B")]
        values = numpy.frombuffer(take_bytes(take("I")), kind).astype(numpy.float32)
        tensors[name] = torch.from_numpy(values.reshape(shape))
    return tensors


def state_of(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    state = {}
    for name, tensor in tensors.items():
        if not tensor.dim():
            continue
        stack, rest = name.split("/", 1)
        if rest in TABLES:
            state[f"model.{stack}.{TABLES[rest]}"] = tensor
            continue
        place, ending = rest.rsplit("/", 1)
        layer = re.match(r"layer_(\d+)/(.*)", place)
        parts = PARTS[layer[2]].split() if layer else [place]
        for part, values in zip(parts, tensor.chunk(len(parts))):
            key = f"layers.{layer[1]}.{part}" if layer else part
            state[f"model.{stack}.{key}.{ENDINGS.get(ending, ending)}"] = values
    return state


def whisper(folder: pathlib.Path):
    tensors, settings = read_tensors(folder / "model.bin"), json.loads((folder / "config.json").read_text())
    entries = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    ids = {entry: i for i, entry in enumerate(entries)}
    stacks = {}
    for stack in ("encoder", "decoder"):
        n_layers = sum(f"{stack}/layer_{i}/ffn/linear_0/bias" in tensors for i in range(len(tensors)))
        stacks |= {f"{stack}_layers": n_layers, f"{stack}_attention_heads": 6,
                   f"{stack}_ffn_dim": len(tensors[f"{stack}/layer_0/ffn/linear_0/bias"])}
    end, start = ids["<|endoftext|>"], ids["<|startoftranscript|>"]
    special = dict(pad_token_id=end, bos_token_id=end, eos_token_id=end, decoder_start_token_id=start)
    vocab_size, d_model = tensors["decoder/embeddings/weight"].shape
    model = WhisperForConditionalGeneration(WhisperConfig(
        **stacks, **special, d_model=d_model, vocab_size=vocab_size, begin_suppress_tokens=None)).eval()
    missing, unknown = model.load_state_dict(state_of(tensors), strict=False)
    # Keys have no bias; CTranslate2 stores zeros. The output layer is the decoder's table.
    if missing != ["proj_out.weight"] or any(not key.endswith("k_proj.bias") for key in unknown):
        sys.exit(f"{folder}: transformers' model lacks {unknown}, the file {missing}")
    model.tie_weights()
    speech.set_all(model.generation_config, _from_model_config=False, is_multilingual=False, return_timestamps=False,
                   no_timestamps_token_id=ids["<|notimestamps|>"], max_length=448,
                   suppress_tokens=settings["suppress_ids"], begin_suppress_tokens=settings["suppress_ids_begin"])
    speech.leave_out_timestamps(model)
    return model


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, clips=pathlib.Path))
    folders = speech_clips.fetch(options.work)
    clips = list(speech_clips.read_clips(options.work, folders["assets"], options.clips).values())
    moonshine = MoonshineForConditionalGeneration.from_pretrained(folders["moonshine"], dtype=torch.float32).eval()
    departures = []
    for name, model in (("moonshine", moonshine), ("whisper", whisper(folders["whisper"]))):
        results = options.work / f"{name}_results"
        results.mkdir(exist_ok=True)
        speech.record(name, model, results, clips, 80)
        checked = product.check(options, folders[name], results, "--quiet", "-o", options.work / "model.gcst")
        print(f"{name}, {len(clips)} clips\n{checked.stdout}")
        if checked.returncode:
            departures.append(f"{name}: {checked.stderr[-800:]}")
    product.end_with(departures)


if __name__ == "__main__":
    main()
