# SPDX-License-Identifier: Apache-2.0
"""Tests that a Model goes on after calls that were refused: no crash, no state that is half set, the same results.

Runs after wheel_test.py, in its folder. GOLDCREST_SEQUENCES is the number of random sequences [40].
"""

import copy
import gc
import os
import pickle
import random
import resource
import warnings
from array import array
from pathlib import Path

import goldcrest
from support import refuses, run_tests

ENFR = "enfr.gcst"
LINES = ["Let's go home.", "Where is the station?", "I'm hungry."]
refuses.kinds = (goldcrest.Error, TypeError)


class LittleMemory:
    """Leaves this process 4 MiB of further memory within a with statement."""

    def __enter__(self):
        self.limits = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**22, self.limits[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_AS, self.limits)


def test_no_memory():
    """After "no memory for an arena" each call says so again, or works as before if there is memory."""
    calls = {
        "decode": lambda model: model.decode([5, 6, 7]),
        "encode": lambda model: model.encode(LINES[0]),
        "self_test": lambda model: model.self_test(),
        "set_languages": lambda model: model.set_languages("en", "fr"),
        "stream": lambda model: list(model.stream(LINES[1])),
        "translate": lambda model: model.translate(LINES),
        "translate_batch": lambda model: model.translate_batch(LINES, n_best=2, return_scores=True),
    }
    fresh = goldcrest.Model(ENFR)
    for name, call in calls.items():
        model = goldcrest.Model(ENFR, batch=256)
        arena = model.arena_bytes
        with LittleMemory():
            said = refuses(model.translate_batch, LINES, n_best=16, return_attention=True)
            assert "no memory for an arena" in said and model.arena_bytes == 0, said
        with LittleMemory():  # its arena is free now
            said = refuses(call, model)
        assert "no memory for an arena" in said, (name, said)
        assert call(model) == call(fresh), name
        assert model.translate(LINES) == fresh.translate(LINES) and model.arena_bytes == arena, name


def test_refused_limits():
    """A call whose limits are refused leaves the arena as it was."""
    model = goldcrest.Model(ENFR, beam_size=2)
    arena, expected = model.arena_bytes, model.translate(LINES)
    refuses(model.translate_batch, LINES, beam_size=17)
    assert model.arena_bytes == arena and model.encode("a") and model.translate(LINES) == expected


def test_refused_lines():
    """A line that is refused, for whatever reason, is named, and costs no other line its result."""
    bad = ["x " * 40, "a\0b", "\ud800", None, 5, b"a", ["▁The", "▁license"], [1.5], [[5]]]
    bad += [[10**6, 0], [2**40], [-1, 0], [*[5] * 40, 0]]
    reasons = {
        "x " * 40: "limits.max_source_tokens (16)",
        "a\0b": "a NUL byte at byte 2",
        None: "a line is NoneType; expected a text or a list of ids",
    }
    dice = random.Random(62)
    for round_ in range(12):
        model = goldcrest.Model(ENFR, batch=dice.choice([1, 3, 8]), max_source=16, beam_size=dice.choice([1, 4]))
        options = {"n_best": dice.randint(1, 2), "return_scores": True, "prefix": dice.choice([None, [5, 6]])}
        good = [dice.choice([*LINES, "", [5, 6, 0]]) for _ in range(dice.randint(1, 30))]
        expected = model.translate_batch(good, **options)
        at = sorted(dice.sample(range(len(good) + len(bad)), len(bad)))
        lines, results = list(good), list(expected)
        for index, line in zip(at, dice.sample(bad, len(bad))):
            lines.insert(index, line)
            results.insert(index, None)
        found = model.translate_batch((line for line in lines), on_error="skip", **options)
        for index, (line, result, each) in enumerate(zip(lines, results, found)):
            expected_result = goldcrest.Result([], [], [], [], [], each.error) if index in at else result
            assert each == expected_result and (index in at) == bool(each.error), (line, each)
            assert not isinstance(line, (str, type(None))) or reasons.get(line, "") in each.error, (line, each)
        try:
            model.translate_batch(lines, **options)
            raise AssertionError("no line was refused")
        except goldcrest.Error as error:
            assert error.index == at[0] and error.results == found
            assert str(error) == f"text {at[0] + 1}: {found[at[0]].error}"
            assert pickle.loads(pickle.dumps(error)).results == found
        assert model.translate_batch(good, **options) == expected
    model = goldcrest.Model(ENFR, sample=True, max_source=16, batch=2)
    expected = model.translate_batch(LINES)
    for line in bad:
        assert model.translate_batch([LINES[0], line, LINES[2]], on_error="skip")[::2] == expected[::2], line
    assert "expected one of 'raise', 'skip'" in refuses(model.translate_batch, LINES, on_error="ignore")
    said = refuses(model.translate_batch, [["▁The", "▁license"]])
    assert "an id is '▁The'; expected a whole number; model.encode gives the ids of a text" in said, said


def test_refused_targets():
    """A target that cannot be scored is named, and costs no other target its score."""
    model = goldcrest.Model(ENFR, batch=2, max_target=16)
    targets = [[5, 6, 0], [10**7], ["▁a"], [5] * 40, None, [7, 8, 0]]
    expected = [model.score_results(LINES[:1], [target])[0] for target in (targets[0], targets[-1])]
    try:
        model.score_results(LINES[:1] * len(targets), iter(targets))
        raise AssertionError("no target was refused")
    except goldcrest.Error as error:
        assert error.index == 1 and [error.results[0], error.results[-1]] == expected
        assert all(result.error and not result.scores for result in error.results[1:-1])


def test_generators_and_paths():
    """Generators of lines and ids work, and paths as bytes; other lists are refused in words."""
    model = goldcrest.Model(b"enfr.gcst", beam_size=2)
    expected = model.translate(LINES)
    ids = [model.encode(line) for line in LINES]
    assert model.translate(iter(LINES)) == expected
    assert [each.hypotheses[0] for each in model.translate_batch(iter(each) for each in ids)] == expected
    assert model.translate_batch(LINES, prefix=iter([5, 6])) == model.translate_batch(LINES, prefix=[5, 6])
    assert "'▁Nous'; expected a whole number" in refuses(model.translate_batch, LINES[:1], prefix=[["▁Nous"]])
    assert refuses(model.translate_batch, 5) == "lines is int; expected a list"
    assert refuses(model.translate, b"a") == "lines is bytes; expected a list"
    checkpoint = b"examples/models/g2p"
    goldcrest.convert(checkpoint, b"of_bytes.gcst", config=checkpoint + b"/config.json")
    goldcrest.convert(checkpoint.decode(), "of_text.gcst")
    assert Path("of_bytes.gcst").read_bytes() == Path("of_text.gcst").read_bytes()
    goldcrest.emit_c(b"of_bytes.gcst", b"of_bytes")
    assert goldcrest.arena_bytes(b"of_bytes.gcst") and list(Path("of_bytes").iterdir())
    assert "b'" not in refuses(goldcrest.arena_bytes, b"of_bytes.gcst", batch=1000)


def test_copies():
    """A Model cannot be copied or pickled; the garbage collector may free it before its stream."""
    model = goldcrest.Model(ENFR)
    for each in (model, model._session):
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            assert "open its file again" in refuses(call, each)
    assert pickle.loads(pickle.dumps(model.translate_batch(LINES))) == model.translate_batch(LINES)
    expected = model.translate(LINES)
    model.stream_of_mine = model.stream(LINES[1])
    next(model.stream_of_mine)
    del model
    gc.collect()
    assert goldcrest.Model(ENFR).translate(LINES) == expected


TEXTS = [*LINES, "", " ", "Let's go home. I'm hungry.", "x " * 40, "é 你好", "a\0b", "\ud800"]
TEXTS += [None, [5, 6, 0], [-1], [5] * 40, ["▁a"]]
PREFIXES = [None, None, "Nous", [5, 6], [], [-1], [1] * 1000, "\0", 5, [["▁a"]], [None]]
CLIPS = [array("h", [dice * (-1) ** i for i in range(9000)]) for dice in (1, 300)]
TEXT_MODELS = [
    {"batch": 64},
    {"batch": 64, "beam_size": 4, "threads": 2},
    {"max_source": 16, "max_target": 16, "batch": 3},
    {"sample": True, "batch": 64, "seed": 7, "top_k": 8},
    {"lexicon": ["Nous", "La gare", "Où est"], "beam_size": 2},
    {"suppress": ["la gare", [5, 6]], "bias": [(2.5, [9])], "no_repeat_source_ngram": 2, "repetition_penalty": 1.25},
    {"low_memory": True, "split": False, "prefix_in_lengths": True, "batch": 64},
]
LARGE = ("translate_batch", (LINES,), {"n_best": 16, "return_attention": True, "return_token_scores": True})


SPEECH_MODELS = [("whisper.gcst", {}), ("moonshine.gcst", {})]


def read(stream, most):
    """Returns at most this many pieces of a stream, which is then left to the garbage collector."""
    return [piece for piece, _ in zip(stream, range(most))]


def while_streaming(model, text, other):
    """Returns a stream's first pieces and what a second user of the Model hears."""
    stream = model.stream(text)
    return next(stream, ""), refuses(model.encode, other)


def draw(dice, is_text):
    """Returns the name of a call and its arguments: most are good, many are refused, some for a reason of many."""
    lines = [dice.choice(TEXTS[: dice.choice([3, 8, len(TEXTS)])]) for _ in range(dice.randint(1, 5))]
    text, prefix = dice.choice(TEXTS[:10]), dice.choice(PREFIXES[: dice.choice([1, 5, len(PREFIXES)])])
    batch = {"beam_size": dice.choice([0, 0, 1, 4, 17, -1]), "n_best": dice.choice([1, 1, 2, 3, 0, 99])}
    batch.update(return_scores=dice.random() < 0.3, return_token_scores=dice.random() < 0.3, prefix=prefix)
    batch.update(return_attention=dice.random() < 0.3, attention_layer=dice.choice([-1, -1, 0, 9]))
    batch.update(return_alternatives=dice.random() < 0.2)
    batch.update(min_alternative_prob=dice.choice([0, 0.25, 2.0, float("nan")]))
    targets = [dice.choice([[5, 6, 0], [7, 0], [10**7], None, [5] * 1000]) for _ in lines]
    language = dice.choice([None, "fr", "en", "xx", 5])
    channels = memoryview(CLIPS[1]).cast("B").cast("h", [3000, 3])
    clip = dice.choice([*CLIPS, channels, array("h", [1]), array("f", [1.0]), "missing", None])
    calls = [
        ("translate", (lines, prefix), {}),
        ("translate", (text,), {}),
        ("translate_batch", (lines,), {**batch, "on_error": dice.choice(["skip", "raise"])}),
        ("translate_batch", (lines[:1],), {"n_best": dice.randint(1, 4), "return_scores": True}),
        ("score_results", (lines, targets), {"return_attention": dice.random() < 0.5}),
        ("encode", (text,), {}),
        ("decode", (dice.choice([[5, 6, 7], [], [10**7], [-1], None]),), {}),
        ("stream", (text, prefix), {"most": dice.choice([0, 1, 1000])}),
        ("while_streaming", (dice.choice(LINES), "a"), {}),
        ("set_languages", (None, language), {}),
        ("self_test", (), {}),
        ("transcribe", (clip, language, prefix), {}),
        ("copy", (), {}),
    ]
    if not is_text:
        calls += 8 * [call for call in calls if call[0] == "transcribe"]
    return dice.choice([call for call in calls if is_text or call[0] not in ("translate", "stream", "score_results")])


def outcome(model, name, arguments, options):
    """Returns the result of a call, or the words of its refusal."""
    try:
        if name == "stream":
            return read(model.stream(*arguments), options["most"])
        call = {"copy": copy.copy, "while_streaming": while_streaming}.get(name)
        return call(model, *arguments) if call else getattr(model, name)(*arguments, **options)
    except (goldcrest.Error, TypeError, ValueError, OSError) as error:
        assert str(error), (name, arguments, options)
        return type(error), str(error), getattr(error, "index", None), getattr(error, "results", None)


def test_random_sequences():
    """In random sequences of good and refused calls on one Model, each gives what it gives on a new Model."""
    known, n_calls, n_refused, n_without_memory = {}, 0, 0, 0
    for seed in range(int(os.environ.get("GOLDCREST_SEQUENCES", "40"))):
        dice = random.Random(seed)
        file, given = dice.choice([*((ENFR, options) for options in TEXT_MODELS), *SPEECH_MODELS])
        model = goldcrest.Model(file, **given)
        for _ in range(20):
            name, arguments, options = call = draw(dice, file == ENFR)
            key = repr((file, given, call))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # A Model warns once of ids without their end.
                if key not in known:
                    known[key] = outcome(goldcrest.Model(file, **given), *call)
                if dice.random() < 0.2:
                    with LittleMemory():
                        n_without_memory += "no memory for an arena" in str(outcome(model, *LARGE))
                        found = outcome(model, *call)
                    assert found == known[key] or "no memory for an arena" in found[1], (seed, call, found, known[key])
                found = outcome(model, *call)
            assert found == known[key], (seed, given, call, found, known[key])
            n_calls += 1
            n_refused += isinstance(found, tuple) and isinstance(found[0], type)
    print(f"{n_calls} calls, {n_refused} refused, {n_without_memory} without memory")
    assert n_refused > n_calls / 5 and n_without_memory > n_calls / 100


run_tests(globals())
