# SPDX-License-Identifier: Apache-2.0
"""Each of the ten claims of RELIABILITY.md has a command that the suites run too.

ctest's commands name tests of a suite. fuzz.sh and mutants.py are in a test that runs them for a shorter time.
Usage: reliability_page.py SOURCE BUILD
"""
import pathlib
import re
import shlex
import subprocess
import sys

source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
LABELS = {"host": "^fast$", "full": "^(fast|full)$"}


def ctest(folder, *options):
    return subprocess.run(["ctest", "--test-dir", folder, "-N", *options], capture_output=True, text=True).stdout


def is_run(program, *words):
    if program == "ctest":
        folder = build if words[1] in LABELS else build / "tests/boards" / words[1]
        return re.search(r"^ *Test *#", ctest(folder, "-L", LABELS.get(words[1], "^fast$"), *words[2:]), re.M)
    if words[0] == "tests/run.sh":
        return f"  {words[1]}) workflow=" in (source / "tests/run.sh").read_text()
    wanted = " ".join(words).replace("build/host", str(build)).rsplit(" ", words[-1].isdigit())[0]
    return f"/{wanted} " in ctest(build, "-V").replace('"', "")


claims = (source / "tests/RELIABILITY.md").read_text().split("\n## ")[0].split("\n- **")[1:]
commands = [re.findall(r"`([^`]* [^`]*)`", claim)[-1] for claim in claims]
assert len(commands) == 10, commands
for command in commands:
    assert is_run(*shlex.split(command)), f"no suite runs: {command}"
