# SPDX-License-Identifier: Apache-2.0
"""Tests what the installed package leaves to others while it works: Ctrl-C, other threads, the file's bytes.

Runs behind wheel_test.py, in its folder.
"""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import goldcrest
from goldcrest._native import lib
from support import run_tests


def test_threads():
    """A second user of a Model is refused; a stream that is not read to its end frees the Model."""
    model = goldcrest.Model("enfr.gcst")
    stream = model.stream("Where is the station?")
    next(stream)
    refusals = []

    def second():
        try:
            model.translate("a")
        except goldcrest.Error as error:
            refusals.append(str(error))

    thread = threading.Thread(target=second)
    thread.start()
    thread.join()
    reason = "this Model is in use; give each thread a Model of its own: they share the file's bytes"
    assert refusals == [reason], refusals
    stream.close()
    assert model.translate("Let's go home.") == "Allons à la maison."


def test_lock():
    """Other threads run while the library works: a call of 0.4 s never holds the interpreter's lock."""
    model = goldcrest.Model("enfr.gcst", batch=8)
    longest = []
    for _ in range(5):
        with model._use():
            model._begin(goldcrest._native.Job(n_best=1))
            model._add_all(["Let us go home."] * 3000, [], 0)
            call = threading.Thread(target=lib.goldcrest_python_work, args=(model._session.handle, 400.0, True))
            call.start()
            begin = last = time.monotonic()
            pause = 0.0
            while call.is_alive():
                now = time.monotonic()
                pause, last = max(pause, now - last), now
            longest.append(pause)
            assert last - begin >= 0.3, "the call was too short"
    print(f"beside a call of 400 ms: the longest pause of another thread was {min(longest) * 1000:.1f} ms")
    assert min(longest) <= 0.2, longest


def test_shared_file():
    """Two Models of a file map it, and have no copies of its pages."""
    models = [goldcrest.Model("enfr.gcst") for _ in range(2)]
    assert len({model.translate("Let's go home.") for model in models}) == 1
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith("/enfr.gcst")]
    assert len(maps) >= 2 and {line[1] for line in maps} == {"r--s"}, maps


def test_interrupt():
    """Ctrl-C ends each kind of work within 50 ms. Conversions leave no part of a file."""
    program = """
import signal, sys, time, warnings, goldcrest
from array import array
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
warnings.simplefilter("ignore")
kind = sys.argv[1]
model = goldcrest.Model("whisper.gcst" if kind == "clip" else "enfr.gcst", batch=8)
enfr, pairs = "examples/models/enfr", ["Let us go home. " * 4] * 400
work = {
    "sentence": lambda: model.translate("let us go home " * 12),
    "list": lambda: model.translate(["Let us go home."] * 2000),
    "reading": lambda: model.translate("Let us go home. " * 60000),
    "clip": lambda: model.transcribe(array("h", bytes(320000)), gate=False),
    "stream": lambda: list(model.stream("Let us go home. " * 2000)),
    "scores": lambda: model.score_batch(["Let us go home."] * 500, [[5, 6, 0]] * 500),
    "self-test": model.self_test,
    "new model": lambda: goldcrest.Model("enfr.gcst"),
    "convert": lambda: goldcrest.convert(enfr, "interrupted/out.gcst"),
    "emit_c": lambda: goldcrest.emit_c("enfr.gcst", "interrupted"),
    "evaluate": lambda: goldcrest.evaluate(enfr, pairs, pairs),
}[kind]
print(1, flush=True)
try:
    while True: work()
except KeyboardInterrupt:
    seen = time.monotonic()
    while kind == "self-test":
        try: model.encode("a"); break
        except goldcrest.Error as error: assert "in use" in str(error)
    print(seen, "" if kind == "clip" else model.translate("Let's go home."))
"""
    kinds = "sentence,list,reading,clip,stream,scores,self-test,new model,convert,emit_c,evaluate".split(",")
    for kind in kinds:
        late = []
        Path("interrupted").mkdir(exist_ok=True)
        for index in range(5):
            child = subprocess.Popen([sys.executable, "-c", program, kind], stdout=subprocess.PIPE)
            child.stdout.readline()
            time.sleep(0.02 + 0.07 * index)
            begin = time.monotonic()
            child.send_signal(signal.SIGINT)
            seen, translation = child.communicate(timeout=60)[0].decode().split(" ", 1)
            assert translation == ("\n" if kind == "clip" else "Allons à la maison.\n"), translation
            late.append(float(seen) - begin)
            assert not list(Path("interrupted").glob(".*")), list(Path("interrupted").glob(".*"))
        print(f"Ctrl-C in {kind}: seen after {sorted(late)[2] * 1000:.1f} ms")
        assert sorted(late)[2] <= 0.05, late


run_tests(globals())
