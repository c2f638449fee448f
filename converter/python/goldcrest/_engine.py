# SPDX-License-Identifier: Apache-2.0
"""The engine of a Model: its plan for what a call needs, jobs of texts, steps so that Ctrl-C is seen between two.

And the memory of an engine, planned without one.
"""

import ctypes
import importlib
import os
import threading
import time
import warnings
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _native, _values
from ._native import Error, Path, Session, lib
from ._values import Ids, Prefix, id_array

SLICE_MILLISECONDS = 5.0
LINE, SENTENCES, TOKENS, IDS, TARGET, MARKS, HTML = 0, 1, 2, 3, 4, 8, 16
_PHASES = ("always", "text", "encode", "decode")


class Result(NamedTuple):
    """The hypotheses of a source, best first. Scores and attention are empty unless they are asked for.

    `cut` says of each hypothesis whether a limit of tokens such as max_target ended it, and not the model. `error` says
    why a source was refused, which then has no hypotheses.
    """

    hypotheses: List[str]
    ids: List[List[int]]
    scores: List[float]
    attention: List[List[List[float]]]
    token_scores: List[List[float]]
    error: str = ""
    cut: Sequence[bool] = ()


def _bar() -> Any:
    """Returns a bar for work that takes long: tqdm's, which shows only at a terminal. Returns False without tqdm."""
    try:
        form = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
        return importlib.import_module("tqdm").tqdm(total=1, bar_format=form, leave=False, disable=None)
    except ImportError:
        return False


class Engine:
    """A session with its engine, which one thread uses at a time."""

    __reduce_ex__ = _native.refuse_copy

    def __repr__(self) -> str:
        return f"<goldcrest.{type(self).__name__} {self._session.path}>"

    def __init__(self, path: Path, threads: int) -> None:
        self._lock = threading.Lock()
        self._session = Session(path, threads)
        self._given: Dict[str, int] = {}
        self._rules: Dict[str, Any] = {}
        self._languages: List[Optional[bytes]] = [None, None]
        self._sampling: Any = None
        self._sequences: Any = None
        self._has_lexicon = False
        self._prefix_tokens = 0
        self._deadline = 0.0
        self._coarse = False
        self._search_rules: Any = None
        self._prefix_flags = _native.PREFIX_BEHIND_PROMPT
        self._wanted: Optional[Tuple[Any, ...]] = None
        self._key: Tuple[int, ...] = ()
        self._search: Tuple[Any, ...] = ()
        self._part = _native.Part()

    def _use(self) -> "_Use":
        return _Use(self._lock, self._session)

    @property
    def _engine(self) -> Any:
        """The engine that runs, which ends when the session starts another; None if it could not start that."""
        return lib.goldcrest_python_engine(self._session.handle)

    def _ready(self) -> None:
        """Starts an engine for the Model's own limits, unless one runs: an earlier call may have found no memory."""
        if not self._key:
            self._plan()

    def _check(self, status: int) -> int:
        return self._session.check(status)

    def _plan(
        self,
        needs: Optional[Dict[str, int]] = None,
        scores: bool = False,
        alternatives: Optional[float] = None,
        scores_targets: bool = False,
    ) -> None:
        """Starts an engine with the memory that a call needs, unless the one that runs has it, and sets its search."""
        wanted = (scores, alternatives, scores_targets, needs)
        if wanted == self._wanted:
            return
        session, self._wanted = self._session, None
        sampling = None if scores_targets else self._sampling
        limits = session.limits({**self._given, **(needs or {})})
        limits.beam_size = limits.beam_size or session.info.limits.beam_size
        limits.n_best = max(1, limits.n_best)
        # Room for prefixes only grows: calls with and without them can take turns.
        limits.max_prefix_tokens = max(limits.max_prefix_tokens, self._prefix_tokens)
        if alternatives is not None or sampling is not None:
            limits.beam_size = limits.n_best
            limits.max_sampled = sampling.top_k if sampling is not None else limits.beam_size
        if self._has_lexicon:
            limits.lexicon = 1
            most = lib.goldcrest_python_candidates(session.handle, limits.beam_size)
            limits.max_candidates = limits.max_candidates or most
        key = tuple(getattr(limits, name) for name in _native.LIMIT_NAMES)
        search = (scores, alternatives, scores_targets)
        if key != self._key:
            self._key = ()
            session.done(lib.goldcrest_python_start(session.handle, limits))
            session.done(lib.goldcrest_python_languages(session.handle, *self._languages))
            if self._has_lexicon:
                self._check(lib.goldcrest_python_restrict(session.handle))
            if self._sequences is not None:
                self._check(lib.goldcrest_set_sequences(self._engine, self._sequences))
        if (key, search) != (self._key, self._search):
            self._search = ()
            self._set_search(scores, sampling is not None or alternatives is not None)
            if sampling is not None:
                sampling.n_samples = limits.beam_size
                self._check(lib.goldcrest_set_sampling(self._engine, sampling))
            if alternatives is not None:
                self._check(lib.goldcrest_set_alternatives(self._engine, limits.beam_size, alternatives))
        self._key, self._search, self._wanted = key, search, wanted
        self._prefix_tokens = limits.max_prefix_tokens

    def _set_search(self, scores: bool, one_beam: bool) -> None:
        search = _native.Search.from_buffer_copy(self._session.info.search)
        most = lib.goldcrest_python_memory(self._session.handle).contents.limits.max_target_tokens
        if search.max_target_tokens > most or self._given["max_target"] != 0:
            search.max_target_tokens = 0
        search.beam_size = 1 if one_beam else 0
        for name, value in self._rules.items():
            setattr(search, name, value)
        if scores:
            search.flags |= _native.SEARCH_SCORES
        if self._coarse:
            search.flags |= _native.SEARCH_COARSE
        self._check(lib.goldcrest_set_search(self._engine, search))
        self._search_rules = ctypes.pointer(search)

    def _plan_prefixes(
        self, prefix: Prefix, n: int, needs: Dict[str, int], scores: bool = False, alternatives: Optional[float] = None
    ) -> List[Any]:
        """Plans for a call and returns a prefix for each of its n lines, or nothing."""
        prefixes = _values.prefixes_of(self._session, prefix, n)
        if prefixes:
            needs["max_prefix_tokens"] = max(map(len, prefixes))
        self._plan(needs, scores, alternatives)
        return prefixes

    def _attention_layers(self, layer: int, head: int) -> int:
        """Returns the limit alignment_layers for a layer, or for all."""
        info = self._session.info
        for name, value, n in (("layer", layer, info.decoder_layers), ("head", head, info.decoder_heads)):
            if not isinstance(value, int):
                raise TypeError(f"attention_{name} is {value!r}; expected a whole number")
            if not -1 <= value < n:
                raise Error(f"attention_{name} is {value}; the decoder's are 0 to {n - 1}, -1 is the mean")
        return _native.ALL_LAYERS if layer < 0 else 1 << layer

    def _begin(self, job: Any) -> None:
        job.prefix_flags, job.streams, job.deadline = self._prefix_flags, self._sampling is not None, self._deadline
        job.search = self._search_rules
        if self._sequences is not None:
            job.sequences = ctypes.pointer(self._sequences)
        self._keeps_going = job.keeps_going
        lib.goldcrest_python_begin(self._session.handle, job)

    def _add_all(self, lines: Any, targets: Any, mode: int) -> None:
        for index, line in enumerate(lines):
            try:
                self._add(line, mode)
                if targets:
                    self._add(targets[index], TARGET)
            except (Error, TypeError, ValueError) as error:
                if not self._keeps_going:
                    raise
                said = str(error).encode("utf-8", "backslashreplace")
                self._session.done(lib.goldcrest_python_refuse(self._session.handle, index, said))

    def _add(self, line: Any, mode: int) -> int:
        if mode == TARGET or (mode == LINE and not isinstance(line, str)):
            source: Any = id_array(line, "a line is {}; expected a text or a list of ids")
            mode = max(mode, IDS)
        elif not isinstance(line, str):
            raise TypeError(f"a text is {type(line).__name__}; expected str")
        elif not self._session.info.has_tokenizer:
            raise Error("the model has no tokenizer; translate_batch takes lists of source ids")
        else:
            source = line.encode()
        return self._session.done(lib.goldcrest_python_add(self._session.handle, source, len(source), mode))

    def _work(self, search: bool) -> None:
        session, begin, bar = self._session, time.monotonic(), None
        while session.done(lib.goldcrest_python_work(session.handle, SLICE_MILLISECONDS, search)) != _native.DONE:
            bar = _bar() if bar is None and search and time.monotonic() - begin > 1 else bar
            if bar:
                bar.update(lib.goldcrest_python_share(session.handle) - bar.n)
        if bar:
            bar.close()
        self._warn()

    def _warn(self) -> None:
        while lib.goldcrest_python_warning(self._session.handle):
            warnings.warn(self._session.message(), stacklevel=4)

    def _next(self, index: int, sentence: int, rank: int = 0) -> Any:
        """Returns a sentence of the job's input `index`, or None behind the last; then the part has the last space."""
        found = lib.goldcrest_python_sentence(self._session.handle, index, sentence, rank, self._part)
        return self._part if found else None

    def _space(self) -> bytes:
        return ctypes.string_at(self._part.space, self._part.space_bytes) if self._part.space_bytes else b""

    def _read(self, text: str, mode: int) -> Tuple[List[Tuple[bytes, List[int]]], bytes]:
        self._begin(_native.Job(n_best=1))
        self._add(text, mode)
        self._work(False)
        parts: List[Tuple[bytes, List[int]]] = []
        while self._next(0, len(parts)):
            n = self._part.n_source
            parts.append((self._space(), self._part.source[:n] if n else []))
        return parts, self._space()

    def _joined(self, index: int) -> str:
        pieces: List[bytes] = []
        sentence = 0
        while self._next(index, sentence):
            pieces += (self._space(), ctypes.string_at(self._part.text, self._part.text_bytes))
            sentence += 1
        return (b"".join(pieces) + self._space()).decode("utf-8", "replace")

    def _result(self, index: int, n_best: int, scores: bool) -> Result:
        result, cut = Result([], [], [], [], []), []
        for rank in range(n_best):
            part = self._next(index, 0, rank)
            if self._part.problem:
                return Result([], [], [], [], [], self._part.problem.decode("utf-8", "replace"))
            if not part or not part.n_ids:
                break  # there may be fewer than n_best
            n, n_source = part.n_ids, part.n_source
            result.ids.append(part.ids[:n])
            cut.append(bool(part.was_cut))
            if self._session.info.has_detokenizer:
                result.hypotheses.append(ctypes.string_at(part.text, part.text_bytes).decode("utf-8", "replace"))
            if scores:
                result.scores.append(float(part.score))
            if part.attention:
                weights = part.attention[: n * n_source]
                result.attention.append([weights[i : i + n_source] for i in range(0, n * n_source, n_source)])
            if part.token_log_probs:
                result.token_scores.append(part.token_log_probs[:n])
        return result._replace(cut=cut) if result.ids else Result([""], [[]], [], [], [], cut=[False])

    def _results(self, n: int, n_best: int, scores: bool, skips: bool = False) -> List[Result]:
        """Returns the results of a job's inputs. Raises the first error of an input, unless it skips them."""
        results = [self._result(index, n_best, scores) for index in range(n)]
        first = next((index for index, result in enumerate(results) if result.error), None)
        if skips or first is None:
            return results
        error = Error((f"text {first + 1}: " if n > 1 else "") + results[first].error)
        error.index, error.results = first, results
        raise error

    def _steps(self) -> Iterator[None]:
        """Yields after each step, until the search is done or the deadline stops it."""
        begin = time.monotonic()
        while self._check(lib.goldcrest_step(self._engine, None)) != _native.DONE:
            yield
            if self._deadline and time.monotonic() - begin >= self._deadline:
                warnings.warn(f"stopped after {self._deadline:g} s (deadline); its end is missing", stacklevel=3)
                return
        if lib.goldcrest_python_was_cut(self._session.handle):
            warnings.warn("a text is " + self._session.message(), stacklevel=3)

    def _agreed(self) -> Any:
        """Returns the tokens that no further step changes."""
        most = int(lib.goldcrest_python_memory(self._session.handle).contents.limits.max_target_tokens)
        agreed = (ctypes.c_int32 * most)()
        return agreed[: self._check(lib.goldcrest_get_agreed(self._engine, 0, agreed, most))]

    def _set_prefix(self, ids: Any, flags: int) -> None:
        if len(ids):
            self._check(lib.goldcrest_set_prefix(self._engine, 0, id_array(ids), len(ids), flags))

    def _text(self, ids: Any) -> bytes:
        state = _native.TextState()
        return b"".join(self._piece(state, ids[i : i + 1]) for i in range(len(ids))) + self._piece(state, [])

    def _piece(self, state: Any, ids: Ids) -> bytes:
        out = ctypes.create_string_buffer(_native.PIECE_BYTES)
        n = lib.goldcrest_detokenize(self._engine, state, id_array(ids) if ids else None, len(ids), out, len(out))
        return out.raw[: self._check(n)]

    def _stream(self, number: int) -> Iterator[str]:
        """Yields the text of the stored source, which is this one of the streams of random numbers."""
        if self._sampling is not None:
            self._check(lib.goldcrest_set_stream(self._engine, 0, number))
        state, printed = _native.TextState(), 0

        def certain() -> bytes:
            nonlocal printed
            agreed = self._agreed()
            first, printed = printed, len(agreed)
            return b"".join(self._piece(state, agreed[i : i + 1]) for i in range(first, len(agreed)))

        for _ in self._steps():
            text = certain()
            if text:
                yield text.decode("utf-8", "replace")
        text = certain() + self._piece(state, [])
        if text:
            yield text.decode("utf-8", "replace")


class _Use:
    """Refuses a second user of a Model, because its engine holds one search. Forgets the search at the end."""

    def __init__(self, lock: threading.Lock, session: Session) -> None:
        self._lock, self._session = lock, session

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise Error("this Model is in use; give each thread a Model of its own: they share the file's bytes")

    def __exit__(self, *_: object) -> None:
        try:
            if self._session.handle:  # the garbage collector may close the session of a stream before the stream
                lib.goldcrest_python_begin(self._session.handle, _native.Job(n_best=1))
        finally:
            self._lock.release()


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
        raise Error(f"{os.fsdecode(path)}: {(detail.message or b'limits out of range').decode()}")
    return int(memory.arena_bytes)
