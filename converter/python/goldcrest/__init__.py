# SPDX-License-Identifier: Apache-2.0
"""Goldcrest: converts encoder-decoder Transformers to int8 and runs them in memory that is known before the run."""

from ._convert import compare, convert, emit_c, evaluate
from ._engine import Buffer, Result, arena_bytes, memory_map
from ._model import Model
from ._native import Error, version
from ._segments import Segment, Word

__version__ = version()
__all__ = [
    "Buffer",
    "Error",
    "Model",
    "Result",
    "Segment",
    "Word",
    "arena_bytes",
    "compare",
    "convert",
    "emit_c",
    "evaluate",
    "memory_map",
]
