# SPDX-License-Identifier: Apache-2.0
"""python -m goldcrest convert|translate|inspect: becomes the program, with its options, streams and exit status."""

import os
import sys

from ._native import FOLDER

PROGRAMS = ("convert", "translate", "inspect")


def main() -> int:
    """Replaces this process with the program that the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
        print("usage: python -m goldcrest " + "|".join(PROGRAMS) + " ...", file=sys.stderr)
        return 2
    name = "goldcrest-" + sys.argv[1]
    os.execv(os.path.join(FOLDER, name), [name, *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
