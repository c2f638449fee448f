# SPDX-License-Identifier: Apache-2.0
"""The shared object: the structs of goldcrest/goldcrest.h again, the calls of the package, an open model file."""

import _thread
import ctypes
import os
import threading
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_bool,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int16,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Union

FOLDER = os.path.dirname(os.path.abspath(__file__))
WORKING, TOKEN, DONE = 1, 2, 3
INSPECT_TOKEN_SCORES, INSPECT_TARGETS, ALL_LAYERS, NO_SHORTLIST = 1, 2, 0xFFFFFFFF, 0xFFFFFFFF
SEARCH_SCORES, SEARCH_COARSE = 1, 8
PREFIX_IN_LENGTHS, PREFIX_BEHIND_PROMPT = 1, 2
PIECE_BYTES = 4096
LIMIT_NAMES = (
    "max_source_tokens",
    "max_source_bytes",
    "max_target_tokens",
    "beam_size",
    "batch",
    "n_best",
    "encoder_rows",
    "threads",
    "inspection",
    "alignment_layers",
    "max_candidates",
    "max_prefix_tokens",
    "max_sampled",
    "lexicon",
)
SHORT_NAMES = {"max_source": "max_source_tokens", "max_target": "max_target_tokens"}
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Error(RuntimeError):
    """An error of the converter or the engine, in its own words.

    If translate_batch or score_results raises it for a line: `index` is the line's place, from 0. `results` has a
    Result for each line: of a refused line only its error, of the others what the call would have returned.
    """

    index: Optional[int] = None
    results: Sequence[Any] = ()


class Limits(ctypes.Structure):
    """goldcrest_limits"""

    _fields_ = [(name, c_uint32) for name in LIMIT_NAMES]


class Search(ctypes.Structure):
    """goldcrest_search"""

    _fields_ = [
        ("beam_size", c_uint32),
        ("min_target_tokens", c_uint32),
        ("max_target_tokens", c_uint32),
        ("length_penalty", c_float),
        ("word_penalty", c_float),
        ("flags", c_uint32),
        ("renormalize", c_uint8),
        ("force_end", c_uint8),
        ("early_stopping", c_uint8),
        ("length_penalty_kind", c_uint8),
        ("no_repeat_ngram", c_uint32),
        ("max_extra_tokens", c_uint32),
        ("repetition_penalty", c_float),
        ("max_length_factor", c_float),
    ]


class Info(ctypes.Structure):
    """goldcrest_info"""

    _fields_ = [
        ("format_version", c_uint32),
        ("file_bytes", c_uint64),
        ("weights_hash", c_uint64),
        ("source_vocab_size", c_uint32),
        ("target_vocab_size", c_uint32),
        ("encoder_layers", c_uint32),
        ("decoder_layers", c_uint32),
        *[(f"count_{i}", c_uint32) for i in range(5)],
        ("decoder_heads", c_uint32),
        ("max_source_positions", c_uint32),
        ("max_target_positions", c_uint32),
        ("weight_bits", c_uint32),
        ("has_tokenizer", c_int32),
        ("has_detokenizer", c_int32),
        ("sample_rate", c_uint32),
        ("feature_channels", c_uint32),
        *[(f"speech_{i}", c_uint32) for i in range(3)],
        ("decoder_start_id", c_int32),
        *[(f"id_{i}", c_int32) for i in range(3)],
        ("prompt_tokens", c_uint32),
        ("limits", Limits),
        ("search", Search),
        ("name", c_char_p),
        ("source_language", c_char_p),
        ("target_language", c_char_p),
        ("license", c_char_p),
        *[(f"text_{i}", c_char_p) for i in range(4)],
    ]


class Memory(ctypes.Structure):
    """goldcrest_memory"""

    _fields_ = [
        ("arena_bytes", c_uint64),
        *[(f"bytes_{i}", c_uint64) for i in range(9)],
        ("limits", Limits),
    ]


class PlannedBuffer(ctypes.Structure):
    """goldcrest_buffer"""

    _fields_ = [
        ("name", c_char_p),
        ("phase", c_uint32),
        ("scratch", c_int32),
        ("constant", c_uint64),
        ("coefficient", c_uint64),
        ("factors", c_uint8 * 4),
        ("bytes", c_uint64),
        ("offset_bytes", c_uint64),
    ]


class Part(ctypes.Structure):
    """goldcrest_python_part"""

    _fields_ = [
        ("space", c_void_p),
        ("text", c_void_p),
        ("space_bytes", c_size_t),
        ("text_bytes", c_size_t),
        ("source", POINTER(c_int32)),
        ("ids", POINTER(c_int32)),
        ("n_source", c_size_t),
        ("n_ids", c_size_t),
        ("attention", POINTER(c_float)),
        ("token_log_probs", POINTER(c_float)),
        ("problem", c_char_p),
        ("score", c_float),
        ("was_cut", c_uint32),
    ]


class Job(ctypes.Structure):
    """goldcrest_python_job"""

    _fields_ = [
        ("n_best", c_uint32),
        ("attention", c_uint32),
        ("attention_layer", c_int32),
        ("attention_head", c_int32),
        ("token_scores", c_uint32),
        ("scores_targets", c_uint32),
        ("prefix_flags", c_uint32),
        ("streams", c_uint32),
        ("keeps_going", c_uint32),
        ("deadline", c_double),
    ]


class Sampling(ctypes.Structure):
    """goldcrest_sampling"""

    _fields_ = [
        ("seed", c_uint64),
        ("temperature", c_float),
        ("top_k", c_uint32),
        ("top_p", c_float),
        ("min_p", c_float),
        ("n_samples", c_uint32),
        ("first_sample", c_uint32),
    ]


class Sequences(ctypes.Structure):
    """goldcrest_sequences"""

    _fields_ = [
        ("ids", POINTER(c_int32)),
        ("biases", POINTER(c_float)),
        ("n_ids", c_uint32),
        ("n", c_uint32),
        ("no_repeat_source_ngram", c_uint32),
    ]


class Detail(ctypes.Structure):
    """goldcrest_detail"""

    _fields_ = [("message", c_char_p), ("index", c_int32)]


class TextState(ctypes.Structure):
    """goldcrest_text_state"""

    _fields_ = [("started", c_uint8), ("n_pending", c_uint8), ("pending", c_uint8 * 4)]


VISIT = CFUNCTYPE(None, c_void_p, POINTER(PlannedBuffer))

LANGUAGE = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t, c_int32)

_text = [c_char_p, c_size_t]
_calls: List[Any] = [
    ("goldcrest_python_version", c_char_p, []),
    ("goldcrest_python_size", c_size_t, [c_int]),
    ("goldcrest_python_was_cut", c_int, [c_void_p]),
    ("goldcrest_python_part_size", c_size_t, []),
    ("goldcrest_python_configure", c_int, [c_void_p, c_char_p, c_char_p, c_int]),
    ("goldcrest_python_warning", c_int, [c_void_p]),
    ("goldcrest_python_cut", c_int64, [c_void_p, *_text, c_int, POINTER(POINTER(c_int32))]),
    ("goldcrest_python_read_wav", c_int64, [c_void_p, c_char_p, POINTER(POINTER(c_int16))]),
    ("goldcrest_python_has_speech", c_bool, [c_void_p, POINTER(c_int16), c_size_t]),
    ("goldcrest_python_entry", c_int, [c_void_p, c_void_p, c_size_t, c_int]),
    ("goldcrest_python_lexicon", c_int, [c_void_p, c_int]),
    ("goldcrest_python_candidates", c_uint32, [c_void_p, c_uint32]),
    ("goldcrest_python_restrict", c_int, [c_void_p]),
    ("goldcrest_python_open", c_void_p, [c_char_p, c_uint32]),
    ("goldcrest_python_close", None, [c_void_p]),
    ("goldcrest_python_start", c_int, [c_void_p, POINTER(Limits)]),
    ("goldcrest_python_message", c_char_p, [c_void_p]),
    ("goldcrest_python_engine", c_void_p, [c_void_p]),
    ("goldcrest_python_info", POINTER(Info), [c_void_p]),
    ("goldcrest_python_memory", POINTER(Memory), [c_void_p]),
    ("goldcrest_python_model", c_void_p, [c_void_p]),
    ("goldcrest_python_takes_sentences", c_bool, [c_void_p]),
    ("goldcrest_python_languages", c_int, [c_void_p, c_char_p, c_char_p]),
    ("goldcrest_python_begin", None, [c_void_p, POINTER(Job)]),
    ("goldcrest_python_add", c_int, [c_void_p, c_void_p, c_size_t, c_int]),
    ("goldcrest_python_refuse", c_int, [c_void_p, c_size_t, c_char_p]),
    ("goldcrest_python_work", c_int, [c_void_p, c_double, c_int]),
    ("goldcrest_python_sentence", c_int, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(Part)]),
    ("goldcrest_python_explain", None, [c_void_p, c_int64]),
    ("goldcrest_plan_memory", c_int, [c_void_p, c_size_t, POINTER(Limits), POINTER(Memory), VISIT, c_void_p, c_void_p]),
    ("goldcrest_step", c_int, [c_void_p, POINTER(c_int32)]),
    ("goldcrest_set_search", c_int, [c_void_p, POINTER(Search)]),
    ("goldcrest_source_languages", c_int, [c_void_p, c_size_t, LANGUAGE, c_void_p, c_void_p]),
    ("goldcrest_target_languages", c_int, [c_void_p, c_size_t, LANGUAGE, c_void_p, c_void_p]),
    ("goldcrest_set_sampling", c_int, [c_void_p, POINTER(Sampling)]),
    ("goldcrest_set_alternatives", c_int, [c_void_p, c_uint32, c_float]),
    ("goldcrest_set_sequences", c_int, [c_void_p, POINTER(Sequences)]),
    ("goldcrest_set_prefix", c_int, [c_void_p, c_uint32, POINTER(c_int32), c_size_t, c_uint32]),
    ("goldcrest_set_stream", c_int, [c_void_p, c_uint32, c_uint32]),
    ("goldcrest_begin_audio", c_int, [c_void_p, POINTER(c_int16), c_size_t]),
    ("goldcrest_begin_features", c_int, [c_void_p, POINTER(c_float), c_size_t]),
    ("goldcrest_begin", c_int, [c_void_p, POINTER(c_int32), c_size_t]),
    ("goldcrest_reset", None, [c_void_p]),
    ("goldcrest_get_agreed", c_int, [c_void_p, c_uint32, POINTER(c_int32), c_size_t]),
    ("goldcrest_detokenize", c_int64, [c_void_p, POINTER(TextState), POINTER(c_int32), c_size_t, *_text]),
    ("goldcrest_self_test", c_int, [c_void_p, POINTER(Detail)]),
]


def _load() -> Any:
    # Calls of a CDLL free the interpreter's lock.
    library = ctypes.CDLL(os.path.join(FOLDER, "libgoldcrest.so"))
    for name, result, arguments in _calls:
        call = getattr(library, name)
        call.restype, call.argtypes = result, arguments
    structs = (Limits, Search, Info, Memory, PlannedBuffer, Job, Sampling, Sequences)
    sizes = [library.goldcrest_python_size(index) for index in range(len(structs))]
    for struct, size in zip((*structs, Part), (*sizes, library.goldcrest_python_part_size())):
        if size != ctypes.sizeof(struct):
            raise ImportError(f"libgoldcrest.so has another {struct.__doc__}: install the package again")
    return library


lib = _load()


def version() -> str:
    """Returns the version of the engine, which is the package's."""
    return bytes(lib.goldcrest_python_version()).decode()


def count(name: str, value: int) -> int:
    """Returns a whole number of 32 bits, or raises an error."""
    if not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; expected a whole number")
    if not 0 <= value < 2**32:
        raise Error(f"{name} is {value}; expected 0 to {2**32 - 1}")
    return value


def run_aside(call: Callable[[], None]) -> None:
    """Runs one long call of the library on a thread of its own, so that the main thread sees Ctrl-C.

    After Ctrl-C the call still goes on to its end and keeps what it uses.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    errors: List[BaseException] = []
    ended = _thread.allocate_lock()

    def run() -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)
        finally:
            ended.release()

    ended.acquire()
    try:
        _thread.start_new_thread(run, ())
    except RuntimeError:  # There is no memory for a thread: Ctrl-C is seen after the call.
        return call()
    ended.acquire()
    if errors:
        raise errors[0]


def refuse_copy(_self: object, _protocol: Any) -> NoReturn:
    """Stands for __reduce_ex__ where an object owns memory of the library, which two objects would free."""
    raise TypeError("a Model cannot be copied or pickled; open its file again: Models of one file share its bytes")


class Session:
    """A mapped file and its threads; they go when this object goes."""

    __reduce_ex__ = refuse_copy

    def __init__(self, path: Path, threads: int) -> None:
        self.handle = None
        name = os.fsencode(path)
        if b"\0" in name:
            raise Error("a path has no NUL byte")
        if count("threads", threads) > 64:
            raise Error(f"threads is {threads}; expected 0 to 64")
        self.handle = lib.goldcrest_python_open(name, threads)
        if not self.handle:
            raise MemoryError
        if self.message():
            raise Error(self.message())
        self.info = lib.goldcrest_python_info(self.handle).contents

    def __del__(self) -> None:
        if self.handle:
            lib.goldcrest_python_close(self.handle)
            self.handle = None

    def message(self) -> str:
        """Returns the message that the last call of the seam left, or nothing."""
        return bytes(lib.goldcrest_python_message(self.handle)).decode("utf-8", "replace")

    def check(self, status: int) -> int:
        """Returns a status of the engine, or raises the error that it is."""
        if status < 0:
            lib.goldcrest_python_explain(self.handle, status)
            raise Error(self.message())
        return status

    def done(self, status: int) -> int:
        """Returns what a call of the seam returned, or raises the message that it left."""
        if status < 0:
            raise Error(self.message())
        return status

    def limits(self, given: Dict[str, int]) -> Any:
        """Returns the limits for names such as max_source; texts have the file's most bytes unless they are given."""
        limits = Limits()
        names = set(LIMIT_NAMES)
        for name, value in given.items():
            if SHORT_NAMES.get(name, name) not in names:
                raise TypeError(
                    f"{name} is no limit; expected one of max_source, max_target, {', '.join(sorted(names))}"
                )
            setattr(limits, SHORT_NAMES.get(name, name), count(name, value))
        if limits.max_source_bytes == 0 and self.info.has_tokenizer:
            limits.max_source_bytes = self.info.limits.max_source_bytes
        return limits
