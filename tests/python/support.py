# SPDX-License-Identifier: Apache-2.0
"""What the tests of the installed package share."""

import subprocess
import sys
import time
from pathlib import Path

import goldcrest

WORDS = "Where is the station? I'm hungry. Let's go home. Dr. Smith said: \"no\", é 你好 x1 ... ! ;".split()


def words(dice, least, most):
    return " ".join(dice.choice(WORDS) for _ in range(dice.randint(least, most)))


def as_lines(texts):
    return "".join(text + "\n" for text in texts).encode()


def program(*arguments, lines=()):
    command = [sys.executable, "-m", "goldcrest", *map(str, arguments)]
    return subprocess.run(command, input=as_lines(lines), capture_output=True, check=False)


def refuses(call, *arguments, **options):
    """Returns the message of the exception, which is one of `refuses.kinds`."""
    refuses.n += 1
    try:
        call(*arguments, **options)
    except refuses.kinds as error:
        assert str(error), call
        return str(error)
    raise AssertionError(f"no exception: {call} {arguments} {options}")


refuses.n, refuses.kinds = 0, (goldcrest.Error, TypeError, ValueError, OSError)


def refuses_each(bad, call, *arguments, **options):
    """Tries each value of each bad option."""
    for name, values in bad.items():
        for value in values:
            refuses(call, *arguments, **options, **{name: value})


def unpack(folder, files, without=()):
    """Writes recorded files, without those of some names. Returns the bytes of all."""
    data = {file: bytes.fromhex(text) for file, text in files.items()}
    Path(folder).mkdir(exist_ok=True)
    for file in data.keys() - set(without):
        Path(folder, file).write_bytes(data[file])
    return data


def run_tests(names):
    """Runs each function of a module whose name begins with test_."""
    for name, test in list(names.items()):
        if name.startswith("test_"):
            start = time.perf_counter()
            test()
            print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
