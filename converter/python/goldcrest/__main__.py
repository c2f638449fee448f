# SPDX-License-Identifier: Apache-2.0
"""python -m goldcrest convert|translate|transcribe|inspect, and the commands goldcrest-convert and so on of pip.

Each becomes the program, with its options, streams and exit status.
"""

import os
import sys

from ._native import FOLDER


def _become(*arguments: str) -> None:
    os.execv(os.path.join(FOLDER, "goldcrest_programs"), ["goldcrest", *arguments, *sys.argv[1:]])


def convert() -> None:
    _become("convert")


def translate() -> None:
    _become("translate")


def transcribe() -> None:
    _become("transcribe")


def inspect() -> None:
    _become("inspect")


if __name__ == "__main__":
    _become()
