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
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Tuple, Union

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


def _struct(name: str, *fields: Tuple[Any, str]) -> Any:
    """Returns a struct of C: types, each with the names of the fields that have it, in order."""
    members = [(field, kind) for kind, names in fields for field in names.split()]
    return type(name, (ctypes.Structure,), {"__doc__": name, "_fields_": members})


_YES_NO = {False: 1, True: 2}
# The rules of goldcrest/search_rules.h in the struct's order: options with the struct's field if its name is another.
# Words have numbers. A count or number of 0 may mean none; others have bounds.
RULES: Dict[str, Tuple[str, Any]] = {
    "renormalize": ("renormalize", _YES_NO),
    "force_end": ("force_end", _YES_NO),
    "early_stopping": ("early_stopping", {False: 1, True: 2, "never": 3}),
    "length_penalty_kind": ("length_penalty_kind", {"power": 1, "wu": 2}),
    "no_repeat_ngram": ("no_repeat_ngram", int),
    "max_extra": ("max_extra_tokens", int),
    "repetition_penalty": ("repetition_penalty", "1/1024"),
    "max_length_factor": ("max_length_factor", "0"),
}
Limits = _struct("goldcrest_limits", (c_uint32, " ".join(LIMIT_NAMES)))
Search = _struct(
    "goldcrest_search",
    (c_uint32, "beam_size min_target_tokens max_target_tokens"),
    (c_float, "length_penalty word_penalty"),
    (c_uint32, "flags"),
    *[(c_uint32 if kind is int else c_float if type(kind) is str else c_uint8, name) for name, kind in RULES.values()],
)
# Fields that the package does not read have a number for a name.
Info = _struct(
    "goldcrest_info",
    (c_uint32, "format_version"),
    (c_uint64, "file_bytes weights_hash"),
    (c_uint32, "source_vocab_size target_vocab_size encoder_layers decoder_layers count_0 count_1 count_2 count_3"),
    (c_uint32, "count_4 decoder_heads max_source_positions max_target_positions weight_bits"),
    (c_int32, "has_tokenizer has_detokenizer"),
    (c_uint32, "sample_rate feature_channels speech_0 speech_1 speech_2"),
    (c_int32, "decoder_start_id id_0 id_1 id_2"),
    (c_uint32, "prompt_tokens"),
    (Limits, "limits"),
    (Search, "search"),
    (c_char_p, "name source_language target_language license text_0 text_1 text_2 text_3"),
)
Memory = _struct(
    "goldcrest_memory", (c_uint64, "arena_bytes " + " ".join(f"bytes_{i}" for i in range(9))), (Limits, "limits")
)
PlannedBuffer = _struct(
    "goldcrest_buffer",
    (c_char_p, "name"),
    (c_uint32, "phase"),
    (c_int32, "scratch"),
    (c_uint64, "constant coefficient"),
    (c_uint8 * 4, "factors"),
    (c_uint64, "bytes offset_bytes"),
)
Part = _struct(
    "goldcrest_python_part",
    (c_void_p, "space text"),
    (c_size_t, "space_bytes text_bytes"),
    (POINTER(c_int32), "source ids"),
    (c_size_t, "n_source n_ids"),
    (POINTER(c_float), "attention token_log_probs"),
    (c_char_p, "problem"),
    (c_float, "score"),
    (c_uint32, "was_cut"),
)
Sampling = _struct(
    "goldcrest_sampling",
    (c_uint64, "seed"),
    (c_float, "temperature"),
    (c_uint32, "top_k"),
    (c_float, "top_p min_p"),
    (c_uint32, "n_samples first_sample"),
)
Sequences = _struct(
    "goldcrest_sequences",
    (POINTER(c_int32), "ids"),
    (POINTER(c_float), "biases"),
    (c_uint32, "n_ids n no_repeat_source_ngram"),
)
Job = _struct(
    "goldcrest_python_job",
    (c_uint32, "n_best attention"),
    (c_int32, "attention_layer attention_head"),
    (c_uint32, "token_scores scores_targets prefix_flags streams keeps_going"),
    (POINTER(Search), "search"),
    (POINTER(Sequences), "sequences"),
    (c_double, "deadline"),
)
Image = _struct(
    "goldcrest_image",
    (c_uint32, "width height format"),
    (POINTER(c_float), "features"),
    (c_size_t, "n"),
    (c_void_p, "settings"),
    (c_uint32, "channels colours next_in next_out"),
)
Detail = _struct("goldcrest_detail", (c_char_p, "message"), (c_int32, "index"))
TextState = _struct("goldcrest_text_state", (c_uint8, "started n_pending"), (c_uint8 * 4, "pending"))

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
    ("goldcrest_python_keep", c_int, [c_void_p, c_int, c_char_p]),
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
    ("goldcrest_python_share", c_double, [c_void_p]),
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
    ("goldcrest_image_bytes", c_uint64, [POINTER(Image), c_void_p]),
    ("goldcrest_image_begin", c_int, [POINTER(Image), c_void_p, c_void_p, c_size_t]),
    ("goldcrest_image_row", c_int, [POINTER(Image), c_void_p]),
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
    structs = (Limits, Search, Info, Memory, PlannedBuffer, Job, Sampling, Sequences, Image)
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
        self.path, self.threads = os.path.abspath(os.fsdecode(name)), threads
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
        names = sorted(LIMIT_NAMES)
        for name, value in given.items():
            if SHORT_NAMES.get(name, name) not in names:
                raise TypeError(f"{name} is no limit; expected one of max_source, max_target, {', '.join(names)}")
            setattr(limits, SHORT_NAMES.get(name, name), count(name, value))
        if limits.max_source_bytes == 0 and self.info.has_tokenizer:
            limits.max_source_bytes = self.info.limits.max_source_bytes
        return limits
