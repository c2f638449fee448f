# SPDX-License-Identifier: Apache-2.0
"""Runs a model file: the search of goldcrest-translate, step by step, so that Ctrl-C is seen between two steps."""

import ctypes
import os
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple, Union, overload

from . import _native, _values
from ._engine import HTML, LINE, MARKS, SENTENCES, TOKENS, Engine, Result
from ._native import Error, Path, count, lib, run_aside
from ._segments import Segment, segments
from ._values import Ids, Keep, Prefix, Target, Terms, array_of, id_array, lines_of


class Model(Engine):
    """A model file with its engine. Use it in one thread at a time; Models of one file share its mapped bytes.

    `path` is a file that convert wrote. 0 is the file's own value for beam_size, max_source, max_target,
    max_source_bytes and max_candidates, and one thread for each CPU for threads. The other options are those of
    goldcrest-translate; None is the file's own value. `split=False` takes a text as one sentence. `suppress` and
    `lexicon` are lists of texts or of lists of ids, `bias` is a list of pairs of a number and such a sequence,
    `abbreviations` is a list of words. `sample=True` draws tokens at random by the options behind it. After `deadline`
    seconds a search stops with a warning and gives what is certain. `coarse=True` computes fine inputs as others.
    `replace_unknowns=True` puts the source's token with the largest attention in place of an unknown one, but not in
    `stream` and not in texts that the deadline cuts.
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
        max_candidates: int = 0,
        shortlist: bool = True,
        source_lang: Optional[str] = None,
        target_lang: Optional[str] = None,
        split: bool = True,
        abbreviations: Optional[Sequence[str]] = None,
        min_target: Optional[int] = None,
        length_penalty: Optional[float] = None,
        word_penalty: Optional[float] = None,
        length_penalty_kind: Optional[str] = None,
        early_stopping: Union[bool, str, None] = None,
        renormalize: Optional[bool] = None,
        force_end: Optional[bool] = None,
        no_repeat_ngram: Optional[int] = None,
        max_extra: Optional[int] = None,
        max_length_factor: Optional[float] = None,
        repetition_penalty: Optional[float] = None,
        suppress: Sequence[Target] = (),
        bias: Sequence[Tuple[float, Target]] = (),
        no_repeat_source_ngram: Optional[int] = None,
        lexicon: Optional[Sequence[Target]] = None,
        lexicon_words: bool = False,
        prefix_in_lengths: bool = False,
        sample: bool = False,
        temperature: float = 1.0,
        top_k: int = 50,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        deadline: float = 0.0,
        coarse: bool = False,
        replace_unknowns: Optional[bool] = None,
        kernels: Optional[str] = None,
        low_memory: bool = False,
        structure_only: bool = False,
    ) -> None:
        given = dict(locals())
        super().__init__(path, threads)
        session = self._session
        words = None if abbreviations is None else " ".join(lines_of(abbreviations))
        flags = (1 if low_memory else 0) | (2 if structure_only else 0)
        flags |= 0 if replace_unknowns is None else 4 if replace_unknowns else 8
        start = (_values.code_of(kernels), _values.code_of(words), flags)
        session.done(lib.goldcrest_python_configure(session.handle, *start))
        self._given = {
            "beam_size": beam_size,
            "batch": batch,
            "max_source": max_source,
            "max_target": max_target,
            "max_source_bytes": max_source_bytes,
            "max_candidates": max_candidates if shortlist else _native.NO_SHORTLIST,
        }
        self._rules = _values.search_rules(given)
        self._sampling = _values.sampling_of(temperature, top_k, top_p, min_p, seed) if sample else None
        if sample and count("beam_size", beam_size) > 1:
            raise Error(f"sample=True and beam_size={beam_size}: sampling has no beams")
        self._sequences = _values.sequences_of(session, suppress, bias, no_repeat_source_ngram)
        self._coarse = bool(coarse)
        self._has_lexicon = lexicon is not None
        if lexicon is not None:
            _values.make_lexicon(session, lexicon, lexicon_words)
        self._languages = [_values.code_of(code) for code in (source_lang, target_lang)]
        self._deadline = float(deadline)
        if not 0 <= self._deadline < 1e9:
            raise Error(f"deadline is {deadline}; expected seconds from 0, which is none")
        self._prefix_flags |= _native.PREFIX_IN_LENGTHS if prefix_in_lengths else 0
        self._split = bool(split) and lib.goldcrest_python_takes_sentences(session.handle)

        def plan() -> None:
            with self._use():
                self._plan()

        run_aside(plan)

    @property
    def arena_bytes(self) -> int:
        """The bytes of memory that the engine has, next to the mapped file; 0 after a call that found none."""
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

    def set_languages(self, source_lang: Optional[str] = None, target_lang: Optional[str] = None) -> None:
        """Chooses the languages of the texts that follow; None is the model's own."""
        codes = [_values.code_of(code) for code in (source_lang, target_lang)]
        with self._use():
            self._ready()
            self._session.done(lib.goldcrest_python_languages(self._session.handle, *codes))
            self._languages = codes

    @overload
    def translate(
        self, text: str, prefix: Prefix = None, *, html: bool = False, keep: Keep = None, glossary: Terms = None
    ) -> str: ...
    @overload
    def translate(
        self,
        text: Union[List[str], Iterator[str]],
        prefix: Prefix = None,
        *,
        html: bool = False,
        keep: Keep = None,
        glossary: Terms = None,
    ) -> List[str]: ...
    def translate(
        self,
        text: Union[str, List[str], Iterator[str]],
        prefix: Prefix = None,
        *,
        html: bool = False,
        keep: Keep = None,
        glossary: Terms = None,
    ) -> Union[str, List[str]]:
        """Translates a text, or each text of a list, as goldcrest-translate does with a line.

        `prefix` is the text or the ids with which every result begins, or a list of such prefixes for each text. With a
        prefix a text is one sentence. `html=True` takes each text as an HTML document. `keep` is True for placeholders
        and addresses, or a list of patterns that are kept, too. `glossary` maps phrases to a translation or to a list
        of forms that it may have.
        """
        texts = [text] if isinstance(text, str) else lines_of(text)
        if html or keep or glossary:
            results = self._translate_marked(texts, prefix, html, keep, glossary)
            return results[0] if isinstance(text, str) else results
        with self._use():
            prefixes = self._plan_prefixes(prefix, len(texts), {})
            self._begin(_native.Job(n_best=1))
            self._add_all(texts, prefixes, SENTENCES if self._split and not prefixes else LINE)
            self._work(True)
            results = [self._joined(index) for index in range(len(texts))]
        return results[0] if isinstance(text, str) else results

    def _translate_marked(self, texts: List[str], prefix: Prefix, html: bool, keep: Keep, glossary: Terms) -> List[str]:
        if prefix is not None or self._sampling is not None:
            raise Error("html, keep and glossary have no prefix and no samples")
        needs = {"alignment_layers": _native.ALL_LAYERS}
        with self._use():
            if _values.keep(self._session, keep, glossary):
                most = self._given["max_target"] or int(self._session.info.limits.max_target_tokens)
                needs["max_prefix_tokens"] = most - 1
            self._plan(needs)
            self._begin(_native.Job(n_best=1))
            mode = (SENTENCES if self._split else LINE) | MARKS | (HTML if html else 0)
            counts = [self._add(text, mode) for text in texts]
            self._work(True)
            parts = iter(range(sum(counts)))
            results = ["".join(self._joined(next(parts)) for _ in range(n)) for n in counts]
            self._warn()
        return results

    def translate_batch(
        self,
        lines: Iterable[Union[str, Ids]],
        beam_size: int = 0,
        n_best: int = 1,
        return_scores: bool = False,
        return_attention: bool = False,
        prefix: Prefix = None,
        *,
        return_token_scores: bool = False,
        return_alternatives: bool = False,
        min_alternative_prob: float = 0.0,
        attention_layer: int = -1,
        attention_head: int = -1,
        on_error: str = "raise",
        num_hypotheses: Optional[int] = None,
    ) -> List[Result]:
        """Translates texts or lists of source ids, each as one sentence. Plans the memory again where it must grow.

        `prefix` is the text or the ids with which every result begins, or a list of such prefixes for each line.
        Attention is that of a decoder layer and head, from 0; -1 is the mean of all. With return_alternatives the
        hypotheses begin with the best first tokens that are as likely as min_alternative_prob. If the Model samples,
        the hypotheses are samples.

        A line that is refused, because it is too long for example, costs no other line its result. With
        on_error="raise" the first such line's Error has its `index` and all `results`; with "skip" the results are
        returned. The Result of a refused line has only its `error`.
        """
        if num_hypotheses is not None:
            raise Error("num_hypotheses is not an option here; give n_best")
        skips = _values.choice("on_error", on_error, {"raise": 1, "skip": 2}) == 2
        lines = lines_of(lines)
        if count("n_best", n_best) == 0:
            raise Error("n_best is 0; expected 1 or more")
        asks = n_best > 1 or return_scores or return_token_scores or return_attention or return_alternatives
        if self._deadline and asks:
            raise Error("a Model with a deadline gives one hypothesis, without scores and attention")
        if return_alternatives and (self._sampling or count("beam_size", beam_size) > 1):
            raise Error("alternatives have no beams and no samples")
        own = self._given["beam_size"] or int(self._session.info.limits.beam_size)
        one = return_alternatives or self._sampling  # hypothesis for each beam
        needs = {"beam_size": n_best if one else max(count("beam_size", beam_size) or own, n_best)}
        needs["n_best"] = n_best
        job = _native.Job(n_best, return_attention, attention_layer, attention_head, return_token_scores)
        job.keeps_going = True
        if return_attention:
            needs["alignment_layers"] = self._attention_layers(attention_layer, attention_head)
        if return_token_scores:
            needs["inspection"] = _native.INSPECT_TOKEN_SCORES
        with self._use():
            alternatives = float(min_alternative_prob) if return_alternatives else None
            prefixes = self._plan_prefixes(prefix, len(lines), needs, return_scores, alternatives)
            self._begin(job)
            self._add_all(lines, prefixes, LINE)
            self._work(True)
            return self._results(len(lines), n_best, return_scores, skips)

    def score_batch(self, sources: Iterable[Union[str, Ids]], targets: Iterable[Ids]) -> List[float]:
        """Returns the log-probability of each target: its ids with the end id, as translate_batch returns them."""
        return [result.scores[0] for result in self.score_results(sources, targets)]

    def score_results(
        self,
        sources: Iterable[Union[str, Ids]],
        targets: Iterable[Ids],
        return_attention: bool = False,
        attention_layer: int = -1,
        attention_head: int = -1,
    ) -> List[Result]:
        """Returns each target as a Result: its log-probability as score, its token scores, attention if asked for."""
        sources, targets = lines_of(sources), lines_of(targets)
        if len(sources) != len(targets):
            raise Error(f"{len(sources)} sources and {len(targets)} targets; expected as many")
        needs = {"beam_size": 1, "inspection": _native.INSPECT_TARGETS | _native.INSPECT_TOKEN_SCORES}
        if return_attention:
            needs["alignment_layers"] = self._attention_layers(attention_layer, attention_head)
        with self._use():
            self._plan(needs, scores_targets=True)
            job = _native.Job(1, return_attention, attention_layer, attention_head, True, scores_targets=True)
            job.keeps_going = True
            self._begin(job)
            self._add_all(sources, targets, LINE)
            self._work(True)
            return self._results(len(sources), 1, True)

    def encode(self, text: str) -> List[int]:
        """Returns the source ids of a text with their end id."""
        with self._use():
            self._ready()
            parts, _ = self._read(text, TOKENS)
            return parts[0][1]

    def decode(self, ids: Ids) -> str:
        """Returns the text of target ids."""
        with self._use():
            self._ready()
            return self._text(id_array(ids)).decode("utf-8", "replace")

    def stream(self, text: str, prefix: Optional[Target] = None) -> Iterator[str]:
        """Yields the translation piece by piece: each piece as soon as no further step can change it."""
        with self._use():
            prefixes = self._plan_prefixes(prefix, 1, {})
            parts, end = self._read(text, SENTENCES if self._split and not prefixes else LINE)
            for index, (space, ids) in enumerate(parts):
                if space:
                    yield space.decode("utf-8", "replace")
                if ids:
                    self._check(lib.goldcrest_begin(self._engine, id_array(ids), len(ids)))
                    self._set_prefix(prefixes[0] if prefixes else [], self._prefix_flags)
                    yield from self._stream(index)
            if end:
                yield end.decode("utf-8", "replace")

    def transcribe(
        self, samples: Any, language: Optional[str] = None, prefix: Optional[Target] = None, *, gate: bool = True
    ) -> str:
        """Returns what a clip says.

        `samples` is a WAV file, a buffer of 16-bit samples at the model's rate, of which several channels [n, channels]
        become their mean, or a buffer [rows, channels] of float32 features. Where the voice gate of
        goldcrest-transcribe hears no speech in samples, the text is empty; `gate=False` transcribes them. `language` is
        a code of a model that writes several. `prefix` is the text or the ids with which the text begins, after the
        prompt.
        """
        session = self._session
        rate, channels = int(session.info.sample_rate), int(session.info.feature_channels)
        if rate == 0 and channels == 0:
            raise Error("the model takes no samples; translate runs models of text")
        if isinstance(samples, (str, os.PathLike)):
            samples = _values.read_wav(session, samples)
        array = _values.samples_of(samples)
        begin, n = lib.goldcrest_begin_audio, 0 if array is None else len(array)
        if array is None:
            array = array_of(samples, ctypes.c_float, "f")
            if array is None or tuple(memoryview(samples).shape or ())[1:] != (channels,):
                features = f", or float32 features [rows, {channels}]" if channels else ""
                dtype = str(getattr(samples, "dtype", ""))
                is_float = array is not None or dtype.startswith("float")
                hint = "; multiply samples from -1 to 1 by 32767" if is_float else ""
                kind = f"{type(samples).__name__} {dtype}".rstrip()
                kind = kind if array is None else f"a buffer of {len(array)} float32"
                raise TypeError(f"samples is {kind}; expected a path, or a buffer of 16-bit integers{features}{hint}")
            begin, n = lib.goldcrest_begin_features, len(array) // channels
        with self._use():
            begins = list(_values.prefixes_of(session, prefix, 1) or [[]])[0]
            prompt = [] if language is None else list(_values.target_ids(session, language, True))
            ids = [*prompt, *begins]
            self._plan({"max_prefix_tokens": len(ids)} if ids else {})
            self._check(begin(self._engine, array, n))
            is_sound = begin is lib.goldcrest_begin_audio
            if gate and is_sound and not lib.goldcrest_python_has_speech(session.handle, array, n):
                return ""
            flags = self._prefix_flags & ~(_native.PREFIX_BEHIND_PROMPT if prompt else 0)
            self._set_prefix(ids, flags)
            for _ in self._steps():
                pass
            agreed = self._agreed()
            return self._text(agreed).decode("utf-8", "replace").lstrip(" ")

    def read(self, image: Any) -> Any:
        """Returns the text of an image, or a list of those of a list of images.

        An image is a Pillow image, or a buffer of 8-bit numbers [rows, columns], or [rows, columns, 3] of red, green
        and blue, or [rows, columns, 4] with opacity, which is shown on white.
        """
        if isinstance(image, (list, tuple)):
            return [self.read(each) for each in image]
        height, width, values, pixels = _values.pixels_of(image)
        shown = _native.Image(width, height, {1: 0, 3: 1, 4: 3}[values])
        with self._use():
            self._ready()
            size = lib.goldcrest_image_bytes(shown, self._engine)
            memory = (ctypes.c_float * (size // 4 + 1))()
            self._check(lib.goldcrest_image_begin(shown, self._engine, memory, ctypes.sizeof(memory)))
            first = ctypes.cast(ctypes.c_char_p(pixels), ctypes.c_void_p).value or 0
            for row in range(height):
                self._check(lib.goldcrest_image_row(shown, first + row * width * values))
            self._check(lib.goldcrest_begin_features(self._engine, shown.features, shown.n))
            for _ in self._steps():
                pass
            return self._text(self._agreed()).decode("utf-8", "replace").lstrip(" ")

    def transcribe_segments(
        self,
        samples: Any,
        *,
        words: bool = False,
        language: Union[str, Sequence[str], None] = None,
        translate: bool = False,
        prompt: str = "",
        key_terms: Sequence[str] = (),
        voice: bool = True,
        gate: bool = True,
        guards: bool = True,
        best_of: int = 1,
    ) -> Iterator[Segment]:
        """Yields what a clip of any length says, part by part, as soon as it is known: goldcrest-transcribe's Segments.

        `samples` is a path or a buffer of samples, as in transcribe. `words=True` gives each Segment its words with
        their times. `language` is a code, or a list of codes among which the model chooses. `translate=True` writes
        English. A Whisper reads `prompt` before each of its texts; `key_terms` are names and terms that a greedy search
        spells as they are here. `voice=False` does not ask the file's voice detector, `gate=False` transcribes silence
        too, and `guards=False` takes each text as the search found it. Where a text is doubtful, `best_of` are drawn at
        each temperature and the likeliest counts. The program is a process of its own, with the Model's threads and
        beams.
        """
        rate = int(self._session.info.sample_rate)
        if rate == 0:
            raise Error("the model takes no samples; translate runs models of text")
        if isinstance(samples, (str, bytes, os.PathLike)):
            clip: Any = os.fsdecode(samples)
        else:
            array = _values.samples_of(samples)
            if array is None:
                raise TypeError(f"samples is {type(samples).__name__}; expected a path, or a buffer of 16-bit integers")
            clip = bytes(memoryview(array).cast("B"))
        switches = {"--words": words, "--translate": translate, "--no-voice": not voice, "--no-gate": not gate}
        arguments = [name for name, is_on in {**switches, "--no-guards": not guards}.items() if is_on]
        if language is not None:
            arguments.append("--language=" + (language if isinstance(language, str) else ",".join(language)))
        beam_size = f"--beam-size={self._given['beam_size']}"
        arguments += [f"--threads={self._session.threads}", beam_size, f"--best-of={best_of}"]
        if prompt:
            arguments.append("--prompt=" + prompt)
        if isinstance(key_terms, str):
            raise TypeError("key_terms is a string; expected a list of names and terms")
        return segments(self._session.path, clip, arguments, "\n".join(key_terms))

    def self_test(self) -> None:
        """Runs the file's self-test; raises Error if this machine computes other results."""

        def test() -> None:
            with self._use():
                self._ready()
                self._check(lib.goldcrest_self_test(self._engine, None))

        run_aside(test)
