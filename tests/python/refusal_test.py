# SPDX-License-Identifier: Apache-2.0
"""Tests that a Model goes on after calls that were refused: no crash, no state that is half set, the same results.

Runs after wheel_test.py, in its folder.
"""

import copy
import gc
import pickle
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
