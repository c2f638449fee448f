# SPDX-License-Identifier: Apache-2.0
"""Runs a model file: the search of goldcrest-translate, step by step, so that Ctrl-C is seen between two steps."""

import ctypes
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

from . import _native
from ._native import Error, lib

SLICE_MILLISECONDS = 5.0
LINE, SENTENCES, TOKENS = 0, 1, 2
_LIMITS = {"max_source": "max_source_tokens", "max_target": "max_target_tokens"}
Path = Union[str, "os.PathLike[str]"]
Ids = Sequence[int]


@dataclass
class Result:
    """The hypotheses of a source, best first. Scores and attention are empty unless they are asked for."""

    hypotheses: List[str] = field(default_factory=list)
    ids: List[List[int]] = field(default_factory=list)
    scores: List[float] = field(default_factory=list)
    attention: List[List[List[float]]] = field(default_factory=list)


def _ids(values: Ids) -> Any:
    for value in values:
        if not -(2**31) <= value < 2**31:
            raise Error(f"{value} is no token id; expected 32 bits")
    return (ctypes.c_int32 * len(values))(*values)


def _count(name: str, value: int) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; expected a whole number")
    if not 0 <= value < 2**32:
        raise Error(f"{name} is {value}; expected 0 to {2**32 - 1}")
    return value


class Session:
    """A mapped file and its threads; they go when this object goes."""

    def __init__(self, path: Path, threads: int) -> None:
        self.handle = None
        self.error = ctypes.create_string_buffer(_native.ERROR_BYTES)
        name = os.fsencode(path)
        if b"\0" in name:
            raise Error("a path has no NUL byte")
        if _count("threads", threads) > 64:
            raise Error(f"threads is {threads}; expected 0 to 64")
        self.handle = lib.goldcrest_python_open(name, threads, self.error, len(self.error))
        if not self.handle:
            raise Error(_native.message(self.error))
        self.info = lib.goldcrest_python_info(self.handle).contents

    def __del__(self) -> None:
        if self.handle:
            lib.goldcrest_python_close(self.handle)
            self.handle = None

    def check(self, status: int) -> int:
        """Returns a status of the engine, or raises the error that it is."""
        if status < 0:
            lib.goldcrest_python_explain(self.handle, status, self.error, len(self.error))
            raise Error(_native.message(self.error))
        return status

    def done(self, status: int) -> None:
        """Raises the message that a call of the seam left."""
        if status < 0:
            raise Error(_native.message(self.error))

    def limits(self, given: Dict[str, int]) -> Any:
        """Returns the limits for names such as max_source; texts have the file's most bytes unless they are given."""
        limits = _native.Limits()
        names = set(_native.LIMIT_NAMES)
        for name, value in given.items():
            if _LIMITS.get(name, name) not in names:
                raise TypeError(
                    f"{name} is no limit; expected one of max_source, max_target, {', '.join(sorted(names))}"
                )
            setattr(limits, _LIMITS.get(name, name), _count(name, value))
        if limits.max_source_bytes == 0 and self.info.has_tokenizer:
            limits.max_source_bytes = self.info.limits.max_source_bytes
        return limits


class Model:
    """A model file with its engine. Use it in one thread at a time; Models of one file share its mapped bytes.

    `path` is a file that convert wrote. 0 is the file's own value for beam_size, max_source, max_target and
    max_source_bytes, and one thread for each CPU for threads. `split=False` takes a text as one sentence. The other
    options are those of goldcrest-translate; None is the file's own value.
    """

    def __init__(
        self,
        path: Path,
        beam_size: int = 0,
        threads: int = 1,
        batch: int = 1,
        max_source: int = 0,
        max_target: int = 0,
        *,
        max_source_bytes: int = 0,
        source_lang: Optional[str] = None,
        target_lang: Optional[str] = None,
        split: bool = True,
        min_target: Optional[int] = None,
        length_penalty: Optional[float] = None,
        word_penalty: Optional[float] = None,
        no_repeat_ngram: Optional[int] = None,
        repetition_penalty: Optional[float] = None,
    ) -> None:
        self._lock = threading.Lock()
        self._session = Session(path, threads)
        self._given = {
            "beam_size": beam_size,
            "batch": batch,
            "max_source": max_source,
            "max_target": max_target,
            "max_source_bytes": max_source_bytes,
        }
        self._languages = [None if code is None else code.encode() for code in (source_lang, target_lang)]
        self._rules: Dict[str, Any] = {
            "min_target_tokens": min_target,
            "length_penalty": length_penalty,
            "word_penalty": word_penalty,
            "no_repeat_ngram": 2**32 - 1 if no_repeat_ngram == 0 else no_repeat_ngram,
            "repetition_penalty": repetition_penalty,
        }
        self._key: Tuple[int, ...] = ()
        self._scores = False
        self._split = bool(split) and lib.goldcrest_python_takes_sentences(self._session.handle) != 0
        with self._use():
            self._plan()

    @property
    def arena_bytes(self) -> int:
        """The bytes of memory that the engine has, besides the mapped file."""
        return int(lib.goldcrest_python_memory(self._session.handle).contents.arena_bytes)

    @overload
    def translate(self, text: str) -> str: ...
    @overload
    def translate(self, text: List[str]) -> List[str]: ...
    def translate(self, text: Union[str, List[str]]) -> Union[str, List[str]]:
        """Translates a text, or each text of a list, as goldcrest-translate does with a line."""
        texts = [text] if isinstance(text, str) else list(text)
        with self._use():
            self._plan()
            mode = SENTENCES if self._split else LINE
            read = [self._read(line, mode) for line in texts]
            sources = [ids for parts, _ in read for _, ids in parts if ids]
            found = iter(self._search(sources, 1, False, False))
            results = []
            for parts, end in read:
                pieces = [space + (next(found).hypotheses[0].encode() if ids else b"") for space, ids in parts]
                results.append((b"".join(pieces) + end).decode("utf-8", "replace"))
        return results[0] if isinstance(text, str) else results

    def translate_batch(
        self,
        lines: Sequence[Union[str, Ids]],
        beam_size: int = 0,
        num_hypotheses: int = 1,
        return_scores: bool = False,
        return_attention: bool = False,
    ) -> List[Result]:
        """Translates texts or lists of source ids, each as one sentence. Plans the memory again where it must grow."""
        beam = _count("beam_size", beam_size) or self._given["beam_size"] or int(self._session.info.limits.beam_size)
        if num_hypotheses > beam:
            beam = num_hypotheses
        with self._use():
            layers = _native.ALL_LAYERS if return_attention else 0
            self._plan(beam_size=beam, n_best=num_hypotheses, alignment_layers=layers, scores=return_scores)
            sources = [self._source(line) for line in lines]
            found = iter(self._search([s for s in sources if s], num_hypotheses, return_scores, return_attention))
            return [next(found) if source else Result([""], [[]]) for source in sources]

    def score_batch(self, sources: Sequence[Union[str, Ids]], targets: Sequence[Ids]) -> List[float]:
        """Returns the log-probability of each target: its ids with the end id, as translate_batch returns them."""
        if len(sources) != len(targets):
            raise Error(f"{len(sources)} sources and {len(targets)} targets; expected as many")
        with self._use():
            self._plan(beam_size=1, inspection=_native.INSPECT_TARGETS)
            scores = []
            for line, target in zip(sources, targets):
                self._store([self._source(line)])
                array = _ids(target)
                self._check(lib.goldcrest_score(self._engine, 0, array, len(array)))
                self._run()
                scores.append(float(self._result(0, 0).log_prob))
            return scores

    def encode(self, text: str) -> List[int]:
        """Returns the source ids of a text with their end id."""
        with self._use():
            parts, _ = self._read(text, TOKENS)
            return parts[0][1]

    def decode(self, ids: Ids) -> str:
        """Returns the text of target ids."""
        with self._use():
            return self._text(_ids(ids)).decode("utf-8", "replace")

    def stream(self, text: str) -> Iterator[str]:
        """Yields the translation piece by piece: each piece as soon as no further step can change it."""
        with self._use():
            self._plan()
            parts, end = self._read(text, SENTENCES if self._split else LINE)
            for space, ids in parts:
                if space:
                    yield space.decode("utf-8", "replace")
                if ids:
                    yield from self._stream(ids)
            if end:
                yield end.decode("utf-8", "replace")

    def self_test(self) -> None:
        """Runs the file's self-test; raises Error if this machine computes other results."""
        with self._use():
            self._check(lib.goldcrest_self_test(self._engine, None))

    def _use(self) -> "_Use":
        return _Use(self._lock)

    def _check(self, status: int) -> int:
        return self._session.check(status)

    def _plan(self, scores: bool = False, **needs: int) -> None:
        session = self._session
        limits = session.limits({**self._given, **needs})
        key = tuple(getattr(limits, name) for name in _native.LIMIT_NAMES)
        if key != self._key:
            self._key = ()
            session.done(lib.goldcrest_python_start(session.handle, limits, session.error, len(session.error)))
            self._engine = lib.goldcrest_python_engine(session.handle)
            languages = lib.goldcrest_python_languages
            session.done(languages(session.handle, *self._languages, session.error, len(session.error)))
        if key != self._key or scores != self._scores:
            self._set_search(scores)
            self._key, self._scores = key, scores

    def _set_search(self, scores: bool) -> None:
        search = _native.Search.from_buffer_copy(self._session.info.search)
        most = lib.goldcrest_python_memory(self._session.handle).contents.limits.max_target_tokens
        if search.max_target_tokens > most or self._given["max_target"] != 0:
            search.max_target_tokens = 0
        search.beam_size = 0
        for name in ("renormalize", "force_end", "early_stopping", "length_penalty_kind", "no_repeat_ngram"):
            setattr(search, name, 0)
        search.max_extra_tokens, search.repetition_penalty, search.max_length_factor = 0, 0.0, 0.0
        for name, value in self._rules.items():
            if value is not None:
                setattr(search, name, value)
        if scores:
            search.flags |= _native.SEARCH_SCORES
        self._check(lib.goldcrest_set_search(self._engine, search))

    def _read(self, text: str, mode: int) -> Tuple[List[Tuple[bytes, List[int]]], bytes]:
        if not isinstance(text, str):
            raise TypeError(f"a text is {type(text).__name__}; expected str")
        if not self._session.info.has_tokenizer:
            raise Error("the model has no tokenizer; translate_batch takes lists of source ids")
        handle, error = self._session.handle, self._session.error
        line = text.encode()
        n = lib.goldcrest_python_read(handle, line, len(line), mode, error)
        self._session.done(n)
        ids, space, size = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_void_p(), ctypes.c_size_t()
        parts: List[Tuple[bytes, List[int]]] = []
        for index in range(n + 1):
            count = lib.goldcrest_python_source(handle, index, ids, space, ctypes.byref(size))
            before = ctypes.string_at(space.value, size.value) if space.value and size.value else b""
            parts.append((before, ids[:count] if count else []))
        return parts[:-1], parts[-1][0]

    def _source(self, line: Union[str, Ids]) -> List[int]:
        if not isinstance(line, str):
            return list(line)
        parts, _ = self._read(line, LINE)
        return parts[0][1] if parts else []

    def _store(self, sources: Sequence[Ids]) -> None:
        for index, source in enumerate(sources):
            store = lib.goldcrest_begin if index == 0 else lib.goldcrest_add
            array = _ids(source)
            self._check(store(self._engine, array, len(array)))

    def _run(self) -> None:
        status = _native.WORKING
        try:
            while status != _native.DONE:
                status = self._check(lib.goldcrest_python_run(self._engine, SLICE_MILLISECONDS, None))
        except BaseException:
            lib.goldcrest_reset(self._engine)
            raise

    def _search(self, sources: Sequence[Ids], n_best: int, scores: bool, attention: bool) -> List[Result]:
        batch = max(1, int(lib.goldcrest_python_memory(self._session.handle).contents.limits.batch))
        order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
        results = [Result() for _ in sources]
        for first in range(0, len(order), batch):
            chosen = order[first : first + batch]
            self._store([sources[index] for index in chosen])
            self._run()
            for place, index in enumerate(chosen):
                self._collect(results[index], place, n_best, len(sources[index]) if attention else 0)
                if not scores:
                    results[index].scores.clear()
        return results

    def _result(self, sentence: int, rank: int) -> Any:
        result = _native.SearchResult()
        self._check(lib.goldcrest_get_result(self._engine, sentence, rank, result))
        return result

    def _collect(self, into: Result, sentence: int, n_best: int, n_source: int) -> None:
        for rank in range(n_best):
            found = _native.SearchResult()
            status = lib.goldcrest_get_result(self._engine, sentence, rank, found)
            if status < 0 and rank > 0:
                return  # there may be fewer than n_best
            self._check(status)
            tokens = found.tokens[: found.n_tokens]
            into.ids.append(tokens)
            into.scores.append(float(found.score))
            if self._session.info.has_detokenizer:
                into.hypotheses.append(self._text(_ids(tokens)).decode("utf-8", "replace"))
            if n_source:
                into.attention.append([self._attention(sentence, rank, i, n_source) for i in range(len(tokens))])

    def _attention(self, sentence: int, rank: int, token: int, n_source: int) -> List[float]:
        weights = (ctypes.c_float * n_source)()
        wanted = _native.Alignment(sentence, rank, token, -1, -1)
        self._check(lib.goldcrest_get_alignment(self._engine, wanted, weights, n_source))
        return list(weights)

    def _text(self, ids: Any) -> bytes:
        state = _native.TextState()
        return b"".join(self._piece(state, ids[i : i + 1]) for i in range(len(ids))) + self._piece(state, [])

    def _piece(self, state: Any, ids: Ids) -> bytes:
        out = ctypes.create_string_buffer(_native.ERROR_BYTES)
        n = lib.goldcrest_detokenize(self._engine, state, _ids(ids) if ids else None, len(ids), out, len(out))
        return out.raw[: self._check(n)]

    def _stream(self, source: Ids) -> Iterator[str]:
        self._store([source])
        state, status, printed = _native.TextState(), _native.WORKING, 0
        most = int(lib.goldcrest_python_memory(self._session.handle).contents.limits.max_target_tokens)
        agreed = (ctypes.c_int32 * most)()
        try:
            while status != _native.DONE:
                status = self._check(lib.goldcrest_python_run(self._engine, 0.0, None))
                n = self._check(lib.goldcrest_get_agreed(self._engine, 0, agreed, most))
                text = b"".join(self._piece(state, agreed[i : i + 1]) for i in range(printed, n))
                printed = n
                if status == _native.DONE:
                    text += self._piece(state, [])
                if text:
                    yield text.decode("utf-8", "replace")
        finally:
            if status != _native.DONE:
                lib.goldcrest_reset(self._engine)


class _Use:
    """Refuses a second user of a Model, because its engine holds one search."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise Error("this Model is in use; give each thread a Model of its own: they share the file's bytes")

    def __exit__(self, *_: object) -> None:
        self._lock.release()
