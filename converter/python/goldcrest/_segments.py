# SPDX-License-Identifier: Apache-2.0
"""Segments of speech: goldcrest-transcribe's, one after another, in a process of its own."""

import json
import os
import subprocess
import tempfile
import threading
from typing import Any, Iterator, List, NamedTuple, Optional

from ._native import FOLDER, Error


class Word(NamedTuple):
    """A word with the space before it. Times are seconds of the clip."""

    start: float
    end: float
    word: str
    probability: float


class Segment(NamedTuple):
    """A part of what a clip says. Times are seconds of the clip; the fields are faster-whisper's where it has them.

    `no_speech_prob`, `language` and `language_probability` are None where the model does not tell them. `cut`: a limit
    of tokens ended the text. `uncertain`: the text is unlikely or repeats itself.
    """

    id: int
    start: float
    end: float
    text: str
    tokens: List[int]
    avg_logprob: float
    temperature: float
    no_speech_prob: Optional[float]
    words: Optional[List[Word]]
    language: Optional[str]
    language_probability: Optional[float]
    cut: bool
    uncertain: bool


def _segment(index: int, fields: Any) -> Segment:
    words = fields.get("words")
    if words is not None:
        words = [Word(word["start"], word["end"], word["word"], word["probability"]) for word in words]
    known = {name: fields.get(name) for name in Segment._fields}
    return Segment(**{**known, "id": index, "words": words})


def _feed(stream: Any, samples: bytes) -> None:
    try:
        with stream:
            stream.write(samples)
    except BrokenPipeError:
        pass  # the program has said why it ended


def segments(model: str, clip: Any, arguments: List[str], key_terms: str) -> Iterator[Segment]:
    """Yields the segments of a clip: a path, or bytes of samples at the model's rate. `key_terms` has one a line."""
    is_path = isinstance(clip, str)
    path = [os.path.join(".", clip) if clip.startswith("-") else clip] if is_path else []
    command = [os.path.join(FOLDER, "goldcrest_programs"), "transcribe", model, *path, "--json", *arguments]
    if any("\0" in part for part in command):
        raise Error("an argument of goldcrest-transcribe has no NUL byte")
    source = subprocess.DEVNULL if is_path else subprocess.PIPE
    with tempfile.TemporaryFile() as errors, tempfile.NamedTemporaryFile() as terms:
        if key_terms:
            terms.write(key_terms.encode())
            terms.flush()
            command.append("--key-terms=" + terms.name)
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE, stderr=errors)
        if not is_path:
            threading.Thread(target=_feed, args=(process.stdin, clip), daemon=True).start()
        try:
            assert process.stdout is not None
            for index, line in enumerate(process.stdout):
                yield _segment(index, json.loads(line))
            status = process.wait()
        finally:  # also if the caller stops early
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").replace("goldcrest-transcribe: ", "").strip()
        if status != 0:
            raise Error(said or f"goldcrest-transcribe ended with status {status}")
