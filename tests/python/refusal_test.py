# SPDX-License-Identifier: Apache-2.0
"""Tests that a Model goes on after calls that were refused: no crash, no state that is half set, the same results.

Runs after wheel_test.py, in its folder.
"""

import copy
import gc
import pickle
import random
import resource
import time
from pathlib import Path

import goldcrest

ENFR = "enfr.gcst"
LINES = ["Let's go home.", "Where is the station?", "I'm hungry."]


def refuses(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (goldcrest.Error, TypeError) as error:
        return str(error)
    raise AssertionError(f"no exception: {call} {arguments} {options}")


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
        "translate_batch": lambda model: model.translate_batch(LINES, num_hypotheses=2, return_scores=True),
    }
    fresh = goldcrest.Model(ENFR)
    for name, call in calls.items():
        model = goldcrest.Model(ENFR, batch=256)
        arena = model.arena_bytes
        with LittleMemory():
            said = refuses(model.translate_batch, LINES, num_hypotheses=16, return_attention=True)
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
    bad = ["x " * 40, "a\0b", "\ud800", None, 5, b"a", ["▁The", "▁license"], [1.5], [[5]], [10**6, 0], [2**40], [-1, 0], [*[5] * 40, 0]]
    reasons = {
        "x " * 40: "limits.max_source_tokens (16)",
        "a\0b": "a NUL byte at byte 2",
        None: "a line is NoneType; expected a text or a list of ids",
    }
    dice = random.Random(62)
    for round_ in range(12):
        model = goldcrest.Model(ENFR, batch=dice.choice([1, 3, 8]), max_source=16, beam_size=dice.choice([1, 4]))
        options = {"num_hypotheses": dice.randint(1, 2), "return_scores": True, "prefix": dice.choice([None, [5, 6]])}
        good = [dice.choice([*LINES, "", [5, 6, 0]]) for _ in range(dice.randint(1, 30))]
        expected = model.translate_batch(good, **options)
        at = sorted(dice.sample(range(len(good) + len(bad)), len(bad)))
        lines, results = list(good), list(expected)
        for index, line in zip(at, dice.sample(bad, len(bad))):
            lines.insert(index, line)
            results.insert(index, None)
        found = model.translate_batch((line for line in lines), on_error="skip", **options)
        for index, (line, result, each) in enumerate(zip(lines, results, found)):
            assert each == result if index not in at else each == goldcrest.Result([], [], [], [], [], each.error), (line, each)
            assert (index in at) == bool(each.error), (line, each)
            assert not isinstance(line, (str, type(None))) or reasons.get(line, "") in each.error, (line, each)
        try:
            model.translate_batch(lines, **options)
            raise AssertionError("no line was refused")
        except goldcrest.Error as error:
            assert error.index == at[0] and error.results == found
            assert str(error) == f"text {at[0] + 1}: {found[at[0]].error}"
            assert pickle.loads(pickle.dumps(error)).results == found
        assert model.translate_batch(good, **options) == expected
    assert "expected one of 'raise', 'skip'" in refuses(model.translate_batch, LINES, on_error="ignore")


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


for name, test in list(globals().items()):
    if name.startswith("test_"):
        start = time.perf_counter()
        test()
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
