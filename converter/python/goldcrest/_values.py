# SPDX-License-Identifier: Apache-2.0
"""What users give, as the library takes it: ids and samples of buffers, rules of a search, sampling, sequences."""

import ctypes
import math
import os
from array import array
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._native import Error, Path, Session, count, lib

Ids = Sequence[int]
Target = Union[str, Ids]  # a text of the target, or its ids
Prefix = Union[Target, Sequence[Target], None]
Keep = Union[bool, Sequence[str], None]
Terms = Optional[Mapping[str, Union[str, Sequence[str]]]]

_MOST_CHANNELS = 32


class _Buffer(ctypes.Structure):
    """Py_buffer, of which only the address is read."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("rest", ctypes.c_void_p * 16)]


def _address(view: memoryview) -> int:
    """Returns where the values of a contiguous view are; ctypes says it only of buffers that may be written."""
    if hasattr(view, "_pypy_raw_address"):
        return int(view._pypy_raw_address())
    buffer = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(buffer), 0)
    address = int(buffer.buf)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
    return address


def array_of(values: Any, kind: Any, code: str) -> Any:
    """Returns the values of a buffer without a copy; with a copy if it has gaps or is not aligned. None: no buffer."""
    try:
        view = memoryview(values)
    except TypeError:
        return None
    if view.format not in (code, "<" + code):
        return None
    n = view.nbytes // view.itemsize
    address = _address(view) if n and view.c_contiguous else 0
    if address == 0 or address % view.itemsize != 0:
        return (kind * n).from_buffer_copy(view.tobytes())
    array = (kind * n).from_address(address)
    array.view = view  # keeps the values
    return array


def _list_of(values: Any, problem: str) -> List[Any]:
    """Returns the values of a list, a generator or the like, which is no text; `problem` says {} for another type."""
    if isinstance(values, (str, bytes)) or not (hasattr(values, "__iter__") or hasattr(values, "__getitem__")):
        raise TypeError(problem.format(type(values).__name__))
    return list(values)


def id_array(values: Any, problem: str = "ids are {}; expected whole numbers") -> Any:
    """Returns token ids as the library takes them."""
    if isinstance(values, (str, bytes)):
        raise TypeError(problem.format(type(values).__name__))
    array = None if isinstance(values, (list, tuple)) else array_of(values, ctypes.c_int32, "i")
    if array is not None and memoryview(values).ndim == 1:
        return array
    values = _list_of(values.tolist() if hasattr(values, "tolist") else values, problem)
    for value in values:
        if not hasattr(value, "__index__"):
            hint = "; model.encode gives the ids of a text" if isinstance(value, str) else ""
            raise TypeError(f"an id is {value!r:.60}; expected a whole number{hint}")
        if not -(2**31) <= value < 2**31:
            raise Error(f"{value} is no token id; expected 32 bits")
    return (ctypes.c_int32 * len(values))(*values)


def read_wav(session: Session, path: Path) -> Any:
    """Returns the samples of a file at the model's rate, as goldcrest-transcribe reads them."""
    name, found = os.fsencode(path), ctypes.POINTER(ctypes.c_int16)()
    if b"\0" in name:
        raise Error("a path has no NUL byte")
    n = session.done(lib.goldcrest_python_read_wav(session.handle, name, ctypes.byref(found)))
    return array("h", ctypes.string_at(found, 2 * n)) if n else array("h")


def _mixed(samples: Any, channels: int) -> Any:
    """Returns the mean of the channels of [frames, channels] samples, rounded towards zero."""
    if channels == 1:
        return samples
    frames = zip(*(samples[channel::channels] for channel in range(channels)))
    return array("h", (int(sum(frame) / channels) for frame in frames))


def samples_of(values: Any) -> Any:
    """Returns the 16-bit samples of a buffer [samples] or [samples, channels], mixed; None: it has none."""
    array = array_of(values, ctypes.c_int16, "h")
    shape = () if array is None else tuple(memoryview(values).shape or ())
    if array is None or len(shape) == 1:
        return array
    if len(shape) != 2 or not 1 <= shape[1] <= _MOST_CHANNELS:
        hint = "; transpose it" if len(shape) == 2 and 1 <= shape[0] <= _MOST_CHANNELS < shape[1] else ""
        raise Error(f"samples has the shape {list(shape)}; expected [samples] or [samples, channels]{hint}")
    return array_of(_mixed(array, shape[1]), ctypes.c_int16, "h")


def pixels_of(image: Any) -> Tuple[int, int, int, bytes]:
    """Returns height, width, values of a pixel and the pixels of a Pillow image or of a buffer of 8-bit numbers."""
    mode = getattr(image, "mode", "")
    if mode and hasattr(image, "convert"):
        if mode[0] in "IF":
            raise Error(f"an image has the mode {mode}; expected 8 bits a value")
        has_alpha = mode[-1] in "Aa" or "transparency" in image.info
        target = "RGBA" if has_alpha else "L" if mode in ("1", "L") else "RGB"
        return image.height, image.width, len(target), image.convert(target).tobytes()
    try:
        view = memoryview(image)
    except TypeError:
        raise TypeError(f"an image is {type(image).__name__}; expected a Pillow image or a buffer") from None
    shape = tuple(view.shape or ())
    if view.format != "B" or len(shape) not in (2, 3) or (*shape, 1)[2] not in (1, 3, 4):
        wanted = "8-bit numbers [rows, columns], or with 1, 3 or 4 values a pixel"
        raise TypeError(f"an image has the shape {list(shape)} and the format {view.format!r}; expected {wanted}")
    return shape[0], shape[1], (*shape, 1)[2], view.tobytes()


def code_of(language: Optional[str]) -> Optional[bytes]:
    """Returns the code of a language, or None."""
    if not isinstance(language, (str, type(None))):
        raise TypeError(f"a language is {language!r}; expected str")
    if language and "\0" in language:
        raise Error("a language has no NUL byte")
    return None if language is None else language.encode()


def lines_of(lines: Any) -> List[Any]:
    """Returns a list of lines, which are no single text."""
    return _list_of(lines, "lines is {}; expected a list")


def choice(name: str, value: Any, choices: Dict[Any, int]) -> int:
    """Returns what the library calls a value; None is the file's own."""
    if value is not None and value not in choices:
        raise Error(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")
    return 0 if value is None else choices[value]


def _rule(name: str, kind: Any, value: Any) -> Any:
    """Returns a rule as goldcrest_search has it; None is the file's own."""
    if isinstance(kind, dict) or value is None:
        return choice(name, value, kind)
    if kind is int:
        return count(name, value) or 2**32 - 1
    if not (0 if kind == "0" else 1 / 1024) <= value <= 1024:
        raise Error(f"{name} is {value}; expected {kind} to 1024")
    return value or math.inf


def search_rules(given: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the fields of goldcrest_search that the options of goldcrest-translate set."""
    rules = {field: _rule(name, kind, given[name]) for name, (field, kind) in _native.RULES.items()}
    if given["min_target"] is not None:
        rules["min_target_tokens"] = count("min_target", given["min_target"])
    numbers = {name: given[name] for name in ("length_penalty", "word_penalty")}
    return {**rules, **{name: value for name, value in numbers.items() if value is not None}}


def sampling_of(temperature: float, top_k: int, top_p: float, min_p: float, seed: int) -> Any:
    """Returns how tokens are drawn; the library checks the other values."""
    if not 1 <= count("top_k", top_k) <= 256:
        raise Error(f"top_k is {top_k}; expected 1 to 256")
    if not isinstance(seed, int):
        raise TypeError(f"seed is {seed!r}; expected a whole number")
    if not 0 <= seed < 2**64:
        raise Error(f"seed is {seed}; expected 0 to {2**64 - 1}")
    return _native.Sampling(seed, temperature, top_k, top_p, min_p, 0, 0)


def target_ids(session: Session, target: Target, language: bool = False) -> Any:
    """Returns the ids of a target: of a text the fewest pieces of the vocabulary; of a language those of its prompt."""
    if not isinstance(target, str):
        return id_array(target)
    if not session.info.has_detokenizer:
        raise Error("the model has no texts of its target; give ids")
    text, found = target.encode(), ctypes.POINTER(ctypes.c_int32)()
    n = session.done(lib.goldcrest_python_cut(session.handle, text, len(text), language, ctypes.byref(found)))
    return id_array(found[:n] if n and target else [])


def prefixes_of(session: Session, prefix: Any, n: int) -> List[Any]:
    """Returns the ids of a prefix for each of n lines, or nothing."""
    if prefix is not None and not hasattr(prefix, "__len__"):
        prefix = _list_of(prefix, "prefix is {}; expected a text, ids, or a list of them")
    if prefix is None or len(prefix) == 0:
        return []
    if isinstance(prefix, str) or not hasattr(prefix[0], "__len__"):
        return [target_ids(session, prefix)] * n
    if len(prefix) != n:
        raise Error(f"{n} lines and {len(prefix)} prefixes; expected as many")
    return [target_ids(session, each) for each in prefix]


def keep(session: Session, patterns: Keep, terms: Terms) -> bool:
    """Sets what the texts that follow keep. Returns whether there are terms."""

    def add(what: int, text: str = "") -> None:
        session.done(lib.goldcrest_python_keep(session.handle, what, code_of(text)))

    add(0)
    if patterns:
        add(1)
    if not isinstance(patterns, (bool, type(None))):
        for pattern in _list_of(patterns, "keep is {}; expected True or a list of patterns"):
            add(2, pattern)
    for phrase, forms in (terms or {}).items():
        add(3, phrase + "\t" + (forms if isinstance(forms, str) else "|".join(forms)))
    return bool(terms)


def sequences_of(
    session: Session,
    suppress: Sequence[Target],
    bias: Sequence[Tuple[float, Target]],
    no_repeat_source_ngram: Optional[int],
) -> Any:
    """Returns the sequences of ids that are suppressed or biased; None: the file's own."""
    given = [(-math.inf, target) for target in lines_of(suppress)]
    for number, target in bias:
        if not math.isfinite(number):
            raise Error(f"a bias is {number}; expected -65536 to 65536")
        given.append((number, target))
    if not given and no_repeat_source_ngram is None:
        return None
    ids: List[int] = []
    for _, target in given:
        sequence = list(target_ids(session, target))
        if not sequence:
            raise Error("a sequence has no ids")
        ids += [len(sequence), *sequence]
    biases = (ctypes.c_float * len(given))(*(number for number, _ in given))
    # The structure keeps both arrays.
    ngram = count("no_repeat_source_ngram", no_repeat_source_ngram or 0)
    return _native.Sequences((ctypes.c_int32 * len(ids))(*ids), biases, len(ids), len(given), ngram)


def make_lexicon(session: Session, entries: Sequence[Target], words: bool) -> None:
    """Makes the session's lexicon: texts, of which blank ones are left out, or lists of ids."""
    for index, entry in enumerate(lines_of(entries)):
        is_text = isinstance(entry, str)
        values = entry.encode() if isinstance(entry, str) else id_array(entry)
        if lib.goldcrest_python_entry(session.handle, values, len(values), is_text) < 0:
            raise Error(f"lexicon: entry {index + 1}: {session.message()}")
    if lib.goldcrest_python_lexicon(session.handle, words) < 0:
        raise Error(f"lexicon: {session.message()}")
