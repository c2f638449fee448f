# SPDX-License-Identifier: Apache-2.0
"""python -m goldcrest convert|translate|inspect: becomes the program, with its options, streams and exit status."""

import os
import sys

from ._native import FOLDER

if __name__ == "__main__":
    os.execv(os.path.join(FOLDER, "goldcrest_programs"), ["goldcrest", *sys.argv[1:]])
