# SPDX-License-Identifier: Apache-2.0
"""Runs a model file: the search of goldcrest-translate, step by step, so that Ctrl-C is seen between two steps."""

import ctypes
import os
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union, overload

from . import _native
from ._native import Error, Path, Session, array_of, count, id_array, lib, read_wav

SLICE_MILLISECONDS = 5.0
LINE, SENTENCES, TOKENS, IDS, PREFIX = 0, 1, 2, 3, 4
Ids = Sequence[int]


class Result(NamedTuple):
    """The hypotheses of a source, best first. Scores and attention are empty unless they are asked for."""

    hypotheses: List[str]
    ids: List[List[int]]
    scores: List[float]
    attention: List[List[List[float]]]


def _code(language: Optional[str]) -> Optional[bytes]:
    if not isinstance(language, (str, type(None))):
        raise TypeError(f"a language is {language!r}; expected str")
    if language and "\0" in language:
        raise Error("a language has no NUL byte")
    return None if language is None else language.encode()


def _lines(lines: Any) -> Any:
    if isinstance(lines, (str, bytes)):
        raise TypeError(f"lines is {type(lines).__name__}; expected a list")
    return lines


def _prefixes(prefix: Any, n: int) -> List[Any]:
    """Returns a prefix for each line, or nothing."""
    if prefix is None or len(_lines(prefix)) == 0:
        return []
    if not hasattr(prefix[0], "__len__"):
        return [prefix] * n
    if len(prefix) != n:
        raise Error(f"{n} lines and {len(prefix)} prefixes; expected as many")
    return list(prefix)


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
        self._languages = [_code(code) for code in (source_lang, target_lang)]
        if no_repeat_ngram is not None:
            no_repeat_ngram = count("no_repeat_ngram", no_repeat_ngram) or 2**32 - 1  # 0: any may repeat
        self._rules: Dict[str, Any] = {
            "min_target_tokens": None if min_target is None else count("min_target", min_target),
            "length_penalty": length_penalty,
            "word_penalty": word_penalty,
            "no_repeat_ngram": no_repeat_ngram,
            "repetition_penalty": repetition_penalty,
        }
        self._wanted: Optional[Dict[str, int]] = None
        self._key: Tuple[int, ...] = ()
        self._scores = False
        self._part = _native.Part()
        self._split = bool(split) and lib.goldcrest_python_takes_sentences(self._session.handle)
        with self._use():
            self._plan()

    @property
    def arena_bytes(self) -> int:
        """The bytes of memory that the engine has, besides the mapped file."""
        return int(lib.goldcrest_python_memory(self._session.handle).contents.arena_bytes)

    @property
    def languages(self) -> List[str]:
        """The codes of the target languages for target_lang=; the only one of a model that has no others."""
        return self._listed(lib.goldcrest_target_languages, self._session.info.target_language)

    @property
    def source_languages(self) -> List[str]:
        """The same of source languages, for source_lang=."""
        return self._listed(lib.goldcrest_source_languages, self._session.info.source_language)

    def _listed(self, function: Any, only: bytes) -> List[str]:
        codes: List[str] = []

        def visit(_: object, code: int, n: int, _id: int) -> None:
            codes.append(ctypes.string_at(code, n).decode("utf-8", "replace"))

        model = lib.goldcrest_python_model(self._session.handle)
        call = _native.LANGUAGE(visit)
        self._check(function(model, self._session.info.file_bytes, call, None, None))
        return codes or [code for code in [only.decode("utf-8", "replace")] if code]

    @overload
    def translate(self, text: str) -> str: ...
    @overload
    def translate(self, text: List[str]) -> List[str]: ...
    def translate(self, text: Union[str, List[str]]) -> Union[str, List[str]]:
        """Translates a text, or each text of a list, as goldcrest-translate does with a line."""
        texts = [text] if isinstance(text, str) else list(text)
        with self._use():
            self._plan()
            self._begin()
            for line in texts:
                self._add(line, SENTENCES if self._split else LINE)
            self._work(True)
            results = [self._joined(index) for index in range(len(texts))]
        return results[0] if isinstance(text, str) else results

    def translate_batch(
        self,
        lines: Sequence[Union[str, Ids]],
        beam_size: int = 0,
        num_hypotheses: int = 1,
        return_scores: bool = False,
        return_attention: bool = False,
        prefix: Union[Ids, Sequence[Ids], None] = None,
    ) -> List[Result]:
        """Translates texts or lists of source ids, each as one sentence. Plans the memory again where it must grow.

        `prefix` is the ids with which every result begins, or a list of such ids for each line.
        """
        beam = count("beam_size", beam_size) or self._given["beam_size"] or int(self._session.info.limits.beam_size)
        if count("num_hypotheses", num_hypotheses) == 0:
            raise Error("num_hypotheses is 0; expected 1 or more")
        beam = max(beam, num_hypotheses)
        with self._use():
            layers = _native.ALL_LAYERS if return_attention else 0
            needs = {"beam_size": beam, "n_best": num_hypotheses, "alignment_layers": layers}
            prefixes = _prefixes(prefix, len(_lines(lines)))
            if prefixes:
                needs["max_prefix_tokens"] = max(map(len, prefixes))
            self._plan(scores=return_scores, **needs)
            self._begin(num_hypotheses, return_attention)
            for index, line in enumerate(lines):
                self._add(line, LINE if isinstance(line, str) else IDS)
                if prefixes:
                    self._add(prefixes[index], PREFIX)
            self._work(True)
            return [self._result(index, num_hypotheses, return_scores) for index in range(len(lines))]

    def score_batch(self, sources: Sequence[Union[str, Ids]], targets: Sequence[Ids]) -> List[float]:
        """Returns the log-probability of each target: its ids with the end id, as translate_batch returns them."""
        if len(_lines(sources)) != len(targets):
            raise Error(f"{len(sources)} sources and {len(targets)} targets; expected as many")
        with self._use():
            self._plan(beam_size=1, inspection=_native.INSPECT_TARGETS)
            scores = []
            for line, target in zip(sources, targets):
                self._store(self._source(line))
                array = id_array(target)
                self._check(lib.goldcrest_score(self._engine, 0, array, len(array)))
                scores.append(float(self._steps().log_prob))
            return scores

    def encode(self, text: str) -> List[int]:
        """Returns the source ids of a text with their end id."""
        with self._use():
            parts, _ = self._read(text, TOKENS)
            return parts[0][1]

    def decode(self, ids: Ids) -> str:
        """Returns the text of target ids."""
        with self._use():
            return self._text(id_array(ids)).decode("utf-8", "replace")

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

    def transcribe(self, samples: Any) -> str:
        """Returns what a clip says: a WAV file of 16-bit PCM, or a buffer of 16-bit samples at the model's rate."""
        rate = int(self._session.info.sample_rate)
        if rate == 0:
            raise Error("the model takes no samples; translate runs models of text")
        if isinstance(samples, (str, os.PathLike)):
            samples = read_wav(samples, rate)
        array = array_of(samples, ctypes.c_int16, "h")
        if array is None:
            raise TypeError(f"samples is {type(samples).__name__}; expected a path or a buffer of 16-bit integers")
        with self._use():
            self._plan()
            self._check(lib.goldcrest_begin_audio(self._engine, array, len(array)))
            found = self._steps()
            return self._text(found.tokens[: found.n_tokens]).decode("utf-8", "replace").lstrip(" ")

    def self_test(self) -> None:
        """Runs the file's self-test; raises Error if this machine computes other results."""
        with self._use():
            self._check(lib.goldcrest_self_test(self._engine, None))

    def _use(self) -> "_Use":
        return _Use(self._lock, self._session)

    def _check(self, status: int) -> int:
        return self._session.check(status)

    def _plan(self, scores: bool = False, **needs: int) -> None:
        wanted = {"scores": scores, **needs}
        if wanted == self._wanted:
            return
        session, self._wanted = self._session, None
        limits = session.limits({**self._given, **needs})
        key = tuple(getattr(limits, name) for name in _native.LIMIT_NAMES)
        if key != self._key:
            self._key = ()
            session.done(lib.goldcrest_python_start(session.handle, limits))
            self._engine = lib.goldcrest_python_engine(session.handle)
            session.done(lib.goldcrest_python_languages(session.handle, *self._languages))
        if key != self._key or scores != self._scores:
            self._set_search(scores)
            self._key, self._scores = key, scores
        self._wanted = wanted

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

    def _begin(self, n_best: int = 1, attention: bool = False) -> None:
        lib.goldcrest_python_begin(self._session.handle, n_best, attention)

    def _add(self, line: Union[str, Ids], mode: int) -> None:
        if mode in (IDS, PREFIX):
            source: Any = id_array(line)
        elif not isinstance(line, str):
            raise TypeError(f"a text is {type(line).__name__}; expected str")
        elif not self._session.info.has_tokenizer:
            raise Error("the model has no tokenizer; translate_batch takes lists of source ids")
        else:
            source = line.encode()
        self._session.done(lib.goldcrest_python_add(self._session.handle, source, len(source), mode))

    def _work(self, search: bool) -> None:
        handle = self._session.handle
        while self._session.done(lib.goldcrest_python_work(handle, SLICE_MILLISECONDS, search)) != _native.DONE:
            pass

    def _next(self, index: int, sentence: int, rank: int = 0) -> Any:
        """Returns a sentence of the job's input `index`, or None behind the last; then the part has the last space."""
        found = lib.goldcrest_python_sentence(self._session.handle, index, sentence, rank, self._part)
        return self._part if found else None

    def _space(self) -> bytes:
        return ctypes.string_at(self._part.space, self._part.space_bytes) if self._part.space_bytes else b""

    def _read(self, text: str, mode: int) -> Tuple[List[Tuple[bytes, List[int]]], bytes]:
        self._begin()
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
        result = Result([], [], [], [])
        for rank in range(n_best):
            part = self._next(index, 0, rank)
            if not part or not part.n_ids:
                break  # there may be fewer than n_best
            n, n_source = part.n_ids, part.n_source
            result.ids.append(part.ids[:n])
            if self._session.info.has_detokenizer:
                result.hypotheses.append(ctypes.string_at(part.text, part.text_bytes).decode("utf-8", "replace"))
            if scores:
                result.scores.append(float(part.score))
            if part.attention:
                weights = part.attention[: n * n_source]
                result.attention.append([weights[i : i + n_source] for i in range(0, n * n_source, n_source)])
        return result if result.ids else Result([""], [[]], [], [])

    def _steps(self) -> Any:
        while self._check(lib.goldcrest_step(self._engine, None)) != _native.DONE:
            pass
        found = _native.SearchResult()
        self._check(lib.goldcrest_get_result(self._engine, 0, 0, found))
        return found

    def _store(self, source: Ids) -> None:
        array = id_array(source)
        self._check(lib.goldcrest_begin(self._engine, array, len(array)))

    def _source(self, line: Union[str, Ids]) -> Ids:
        if not isinstance(line, str):
            return line
        parts, _ = self._read(line, LINE)
        return parts[0][1] if parts else []

    def _text(self, ids: Any) -> bytes:
        state = _native.TextState()
        return b"".join(self._piece(state, ids[i : i + 1]) for i in range(len(ids))) + self._piece(state, [])

    def _piece(self, state: Any, ids: Ids) -> bytes:
        out = ctypes.create_string_buffer(_native.PIECE_BYTES)
        n = lib.goldcrest_detokenize(self._engine, state, id_array(ids) if ids else None, len(ids), out, len(out))
        return out.raw[: self._check(n)]

    def _stream(self, source: Ids) -> Iterator[str]:
        self._store(source)
        state, status, printed = _native.TextState(), _native.WORKING, 0
        most = int(lib.goldcrest_python_memory(self._session.handle).contents.limits.max_target_tokens)
        agreed = (ctypes.c_int32 * most)()
        while status != _native.DONE:
            status = self._check(lib.goldcrest_step(self._engine, None))
            n = self._check(lib.goldcrest_get_agreed(self._engine, 0, agreed, most))
            text = b"".join(self._piece(state, agreed[i : i + 1]) for i in range(printed, n))
            printed = n
            if status == _native.DONE:
                text += self._piece(state, [])
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
            lib.goldcrest_python_begin(self._session.handle, 1, False)
        finally:
            self._lock.release()
