# SPDX-License-Identifier: Apache-2.0
"""What there is before an engine: conversion, evaluation, C source, and the memory that an engine needs.

goldcrest-convert runs in a process of its own: a hostile checkpoint cannot harm this one, Ctrl-C ends it at once.
"""

import ctypes
import os
import struct
import warnings
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _native
from ._model import Model
from ._native import FOLDER, Error, Path, Session, lib

_NAMES = {"beam_size": "beam"}
_TYPES = {
    "f": "F32",
    "d": "F64",
    "e": "F16",
    "b": "I8",
    "B": "U8",
    "h": "I16",
    "i": "I32",
    "l": "I64",
    "q": "I64",
    "?": "BOOL",
}
_PREFIX = "goldcrest-convert: "
_PHASES = ("always", "text", "encode", "decode")


def convert(
    checkpoint: Union[Path, Mapping[str, Any]],
    out: Path,
    *,
    config: Union[Path, Mapping[str, Any], None] = None,
    folder: Optional[Path] = None,
    **options: Any,
) -> Dict[str, Any]:
    """Converts a checkpoint to the file `out` and returns the report.

    A state dict (name to tensor) needs `config`, a mapping or a file; `folder` has the files of its tokenizers. Options
    are those of goldcrest-convert: max_source=25 is --max-source 25, ids=True is --ids.
    """
    import json  # this and what else is imported late takes longer than the rest of the package
    import tempfile

    with tempfile.TemporaryDirectory(prefix="goldcrest-") as work:
        if isinstance(checkpoint, Mapping):
            source: Path = _write_checkpoint(work, checkpoint, folder)
        else:
            source = checkpoint
        if isinstance(config, Mapping):
            path = os.path.join(work, "config.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(dict(config), file)
            config = path
        if config is not None:
            options["config"] = config
        return _run(source, ["--json", "-o", os.fspath(out)], options)


def evaluate(checkpoint: Path, sources: Sequence[str], references: Sequence[str], **options: Any) -> Dict[str, Any]:
    """Translates sources with the float32 reference and with int8, and returns the quality of both."""
    if len(sources) != len(references):
        raise Error(f"{len(sources)} sources and {len(references)} references; expected as many")
    for line in (*sources, *references):
        if any(c in line for c in "\t\n\r"):
            raise Error(f"{line!r} has a tab or a line end")
    import tempfile

    with tempfile.TemporaryDirectory(prefix="goldcrest-") as work:
        path = os.path.join(work, "lines.tsv")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{source}\t{reference}\n" for source, reference in zip(sources, references))
        report = _run(checkpoint, ["--json", "--evaluate", path], options)
    evaluation: Dict[str, Any] = report["evaluation"]
    return evaluation


def compare(
    module: Any, checkpoint: Path, lines: Sequence[Union[str, Sequence[int]]], **options: Any
) -> Dict[str, Any]:
    """Compares the float32 reference, layer by layer, with a live encoder-decoder model of transformers.

    `module` has the weights of `checkpoint`; `lines` are texts or source ids. The result has "equal"; "departs", the
    name of the first layer that departs or None; "report", the text of goldcrest-convert --check; and "decibels", the
    signal-to-noise ratio of each int8 matrix. Options are those of convert. A module of another type than float32 is
    copied to float32.
    """
    import copy
    import json
    import tempfile

    if not hasattr(module, "get_encoder"):
        raise TypeError(f"module is {type(module).__name__}; expected an encoder-decoder model of transformers")
    if not str(module.dtype).endswith("float32"):
        module = copy.deepcopy(module).float()

    with tempfile.TemporaryDirectory(prefix="goldcrest-") as work:
        path = os.path.join(work, "model.gcst")
        report = convert(checkpoint, path, **options)
        model = Model(path)
        results, logits = [], {}
        for index, line in enumerate(lines):
            source = model.encode(line) if isinstance(line, str) else list(line)
            greedy, trace = _trace(module, source)
            logits[f"logits.{index}"] = trace["logits"]
            if index == 0:
                _write_safetensors(os.path.join(work, "trace.safetensors"), trace)
            results.append(json.dumps({"source_ids": source, "greedy": greedy}) + "\n")
        _write_safetensors(os.path.join(work, "logits.safetensors"), logits)
        with open(os.path.join(work, "results.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(results)
        done = _start(checkpoint, ["--json", "-o", path, "--check", work], options)
        said = done.stderr.decode("utf-8", "replace").replace(_PREFIX, "").strip()
        if done.returncode not in (0, 3):
            raise Error(said)
        first = [row for row in said.splitlines() if row.startswith("first departure: ")]
        departs = first[0].split(": ", 1)[1].split(",", 1)[0] if first else None
        decibels = {tensor["name"]: tensor["sqnr_db"] for tensor in report["tensors"] if tensor.get("sqnr_db")}
        return {"equal": done.returncode == 0, "departs": departs, "report": said, "decibels": decibels}


def _trace(module: Any, source: List[int]) -> Tuple[List[int], Dict[str, Any]]:
    """Returns the ids of greedy search, and what each layer gives for them."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    rows: Dict[str, Any] = {}
    hooks: List[Any] = []

    def keep(name: str) -> Any:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            rows[name] = (output[0] if isinstance(output, tuple) else output).detach()[0].float().contiguous()

        return hook

    trained, end = module.training, module.config.eos_token_id
    module.eval()
    try:
        with torch.no_grad():
            ids = torch.tensor([source], device=module.device)
            found = module.generate(ids, num_beams=1, do_sample=False)[0].tolist()
            greedy = found[1 : found.index(end, 1) + 1] if end in found[1:] else found[1:]
            for name, stack in (("encoder", module.get_encoder()), ("decoder", module.get_decoder())):
                for index, layer in enumerate(stack.layers if hasattr(stack, "layers") else stack.block):
                    hooks.append(layer.register_forward_hook(keep(f"{name}.layers.{index}")))
            before = torch.tensor([found[:1] + greedy[:-1]], device=module.device)
            rows["logits"] = module(ids, decoder_input_ids=before, use_cache=False).logits[0].float().contiguous()
    finally:
        for hook in hooks:
            hook.remove()
        module.train(trained)
    return greedy, rows


def emit_c(path: Path, folder: Path, **limits: Any) -> None:
    """Writes a model file as C source for firmware into a folder."""
    _run(path, ["--emit-c", os.fspath(folder)], limits)


def _start(source: Path, arguments: List[str], options: Mapping[str, Any]) -> Any:
    import subprocess

    path = os.fspath(source)
    command = [os.path.join(FOLDER, "goldcrest_programs"), "convert", "--quiet", *arguments]
    for name, value in options.items():
        option = "--" + _NAMES.get(name, name).replace("_", "-")
        if value is True:
            command.append(option)
        elif value is not None and value is not False:
            command.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    command += ["--", path]
    if any("\0" in part for part in command):
        raise Error("an argument of goldcrest-convert has no NUL byte")
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )


def _run(source: Path, arguments: List[str], options: Mapping[str, Any]) -> Dict[str, Any]:
    import json

    done = _start(source, arguments, options)
    said = done.stderr.decode("utf-8", "replace").replace(_PREFIX, "").strip()
    if done.returncode != 0:
        raise Error(said or f"goldcrest-convert ended with status {done.returncode}")
    for line in said.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line[len("warning: ") :], stacklevel=3)
    report: Dict[str, Any] = json.loads(done.stdout) if "--json" in arguments else {}
    return report


def _write_checkpoint(work: str, tensors: Mapping[str, Any], folder: Optional[Path]) -> str:
    """Writes safetensors next to links to the files of `folder`; nothing is pickled."""
    checkpoint = os.path.join(work, "checkpoint")
    os.mkdir(checkpoint)
    if folder is not None:
        for name in os.listdir(folder):
            if not name.endswith((".safetensors", ".bin", ".pt", ".pth", ".index.json")):
                os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(checkpoint, name))
    _write_safetensors(os.path.join(checkpoint, "model.safetensors"), tensors)
    return checkpoint


def _write_safetensors(path: str, tensors: Mapping[str, Any]) -> None:
    import json

    views = {name: _view(name, tensor) for name, tensor in tensors.items()}
    header: Dict[str, Any] = {}
    offset = 0
    for name, view in views.items():
        header[name] = {
            "dtype": _TYPES[view.format],
            "shape": view.shape,
            "data_offsets": [offset, offset + view.nbytes],
        }
        offset += view.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for view in views.values():
            file.write(view.tobytes())


def _view(name: str, tensor: Any) -> memoryview:
    """Returns the values of a PyTorch tensor, a numpy array or another buffer."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            tensor = tensor.float()
        tensor = tensor.numpy()
    try:
        view = memoryview(tensor)
    except TypeError:
        raise Error(f"{name} is {type(tensor).__name__}; expected a tensor, an array or a buffer") from None
    if view.format not in _TYPES:
        raise Error(f"{name} has values of type {view.format!r}; expected one of {', '.join(_TYPES)}")
    return view


class Buffer(NamedTuple):
    """A buffer of the arena. Buffers of the phases text, encode and decode share the same bytes."""

    name: str
    phase: str
    bytes: int
    offset: int


def arena_bytes(path: Path, **limits: int) -> int:
    """Returns the bytes that an engine for these limits needs, such as max_source=, max_target=, beam_size=, batch=."""
    return _plan(path, limits, None)


def memory_map(path: Path, **limits: int) -> List[Buffer]:
    """Returns the buffers of that memory."""
    buffers: List[Buffer] = []

    def visit(_: object, planned: Any) -> None:
        b = planned.contents
        buffers.append(Buffer(b.name.decode(), _PHASES[b.phase], int(b.bytes), int(b.offset_bytes)))

    _plan(path, limits, visit)
    return buffers


def _plan(path: Path, limits: Dict[str, int], visit: Any) -> int:
    session = Session(path, 1)
    memory, detail = _native.Memory(), _native.Detail()
    call = _native.VISIT(visit) if visit else _native.VISIT(0)
    model = lib.goldcrest_python_model(session.handle)
    planned = session.limits(limits)
    size = session.info.file_bytes
    status = lib.goldcrest_plan_memory(model, size, planned, memory, call, None, ctypes.byref(detail))
    if status < 0:
        raise Error(f"{os.fspath(path)}: {(detail.message or b'limits out of range').decode()}")
    return int(memory.arena_bytes)
