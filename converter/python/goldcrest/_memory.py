# SPDX-License-Identifier: Apache-2.0
"""The memory that an engine needs, before there is an engine."""

import ctypes
import os
from dataclasses import dataclass
from typing import Any, Dict, List

from . import _native
from ._model import Path, Session
from ._native import Error, lib

_PHASES = ("always", "text", "encode", "decode")


@dataclass(frozen=True)
class Buffer:
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
