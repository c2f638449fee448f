# SPDX-License-Identifier: Apache-2.0
"""What there is before an engine: conversion, evaluation, C source, and the memory that an engine needs.

goldcrest-convert runs in a process of its own: a hostile checkpoint cannot harm this one, Ctrl-C ends it at once.
"""

import ctypes
import os
import struct
import warnings
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _native
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


def emit_c(path: Path, folder: Path, **limits: Any) -> None:
    """Writes a model file as C source for firmware into a folder."""
    _run(path, ["--emit-c", os.fspath(folder)], limits)


def _run(source: Path, arguments: List[str], options: Mapping[str, Any]) -> Dict[str, Any]:
    import json
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
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )
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
    import json

    checkpoint = os.path.join(work, "checkpoint")
    os.mkdir(checkpoint)
    if folder is not None:
        for name in os.listdir(folder):
            if not name.endswith((".safetensors", ".bin", ".pt", ".pth", ".index.json")):
                os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(checkpoint, name))
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
    with open(os.path.join(checkpoint, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for view in views.values():
            file.write(view.tobytes())
    return checkpoint


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
