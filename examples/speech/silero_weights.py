#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The weights of Silero's voice detector 6 as safetensors, for goldcrest-convert --voice.

Usage: silero_weights.py WHEEL OUT      WHEEL: silero_vad-6.2.3-*.whl, of PyPI silero-vad; needs nothing else
Reads the initializers of silero_vad_16k_op15.onnx. The package's own silero_vad_16k.safetensors has other weights.
"""
import json
import math
import struct
import sys
import zipfile

ONNX = "silero_vad/data/silero_vad_16k_op15.onnx"


def fields(data):
    """Yields (number, value) of a protocol buffer's message: an int, or bytes."""

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value

    at = 0
    while at < len(data):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            yield number, varint()
        else:
            n = {1: 8, 5: 4}.get(kind) or varint()
            yield number, data[at:at + n]
            at += n


def tensors(model):
    """Yields (name, shape, bytes of float32) of the graph's initializers."""
    graph = next(value for number, value in fields(model) if number == 7)
    for tensor in (list(fields(value)) for number, value in fields(graph) if number == 5):
        one = dict(tensor)
        if one[2] == 1:  # float
            yield one[8].decode(), [value for number, value in tensor if number == 1], one[9]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        found = list(tensors(wheel.read(ONNX)))
    header, data = {"__metadata__": {"license": "MIT", "copyright": "2020-present Silero Team"}}, b""
    for name, shape, values in found:
        if len(values) != 4 * math.prod(shape):
            sys.exit(f"silero_weights.py: {sys.argv[1]}: {name} has {len(values)} bytes for the shape {shape}")
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(sys.argv[2], "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    main()
