# SPDX-License-Identifier: Apache-2.0
"""Each command of each page is run by a test, or the page says what it needs that a test has not.

Commands are the lines of ```sh blocks, indented lines that begin with a program, and scripts between backticks. A
comment "# needs ..." marks a command that no test runs. pages.txt names the test that reads a page and runs its
commands.
Usage: pages.py SOURCE BUILD        checks this, and that the suites run the commands of RELIABILITY.md's ten claims
       pages.py PAGE                prints the commands of the page's blocks that are not marked, one on each line
"""
import fnmatch
import json
import pathlib
import re
import shlex
import subprocess
import sys

PROGRAMS = re.compile(r"(\$ )?(arecord|bash|cd|cmake|cp|echo|for|idf\.py|npm|openocd|picotool|pio|printf|python3|"
                      r"scp|sed|ssh|west|qemu-\S+|arm-none-eabi-\S+|goldcrest-\S+|(build|bin)/\S+) ?")
LABELS = {"host": "^fast$", "full": "^(fast|full)$"}


def commands_of(page):
    """Returns the commands of a page's blocks, with their comments."""
    fence, commands = None, []
    for line in re.sub(r"\\\n *", "", page.read_text()).split("\n"):
        if line.startswith("```"):
            fence = None if fence else line[3:] or "text"
        elif line and (fence == "sh" or not fence and line.startswith("    ") and PROGRAMS.match(line[4:])):
            commands.append(line.strip().removeprefix("$ "))
    return commands


def is_marked(command):
    return " # needs " in command


def check(source, build):
    def files(*which):
        return subprocess.run(["git", "ls-files", *which], capture_output=True, text=True, cwd=source).stdout.split()

    def tests_of(folder, label, *options):
        listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", "-L", label, *options],
                                capture_output=True).stdout
        return {test["name"]: test.get("command", []) for test in json.loads(listed or '{"tests": []}')["tests"]}

    def is_in_suite(command):
        """As it is, but for the seconds that it takes."""
        program, *words = shlex.split(command, comments=True)
        if program == "ctest":
            folder = build if words[1] in [*LABELS, "build/host"] else build / "tests/boards" / words[1]
            return tests_of(folder, LABELS.get(words[1], LABELS["full"]), *words[2:])
        if words[0] == "tests/run.sh":
            return f"  {words[1]}) workflow=" in (source / "tests/run.sh").read_text()
        wanted = " ".join(words).replace("build/host", str(build)).rsplit(" ", words[-1].isdigit())[0]
        return f"/{wanted} " in lines

    def is_named(command):
        """By its script, preset, target or tests."""
        part = re.search(r"[a-z_/]+\.(?:sh|py)(?:(?<=sdk\.sh) \w+)?|--(?:preset|target|install)(?: [a-z_-]+)?|"
                         r"(?<=-R )\w+", command)
        return any(command in block for block in blocks) or part and part[0] in scripts

    def is_claimed(command, page, glob, test, _, *named):
        """The test is there, and its sources name the page, a pattern of its path, or the command."""
        words = tests.get(test, [test])
        sources = (word for word in [*named, *words] if re.search(r"\.(sh|py|mjs|cc|cmake|txt)$|/run$", word))
        text = " ".join(words) + "".join((source / name).read_text() for name in sources)
        names = pathlib.Path(page).name.replace("README.md", page), glob, command.split(" #")[0].strip()
        return (test in tests or (source / test).is_file()) and any(name in text for name in names)

    tests = tests_of(build, LABELS["full"])
    lines = " \n".join(" ".join(words) for words in tests.values()) + " "
    named = (name for name in files("tests", ".ci") if re.search(r"(\.sh|/run|/CMakeLists\.txt)$", name))
    scripts = lines + " ".join(tests) + "".join((source / name).read_text() for name in named)
    table = (source / "tests/pages.txt").read_text().strip()
    claims, pages, wrong, used = [line.split() for line in table.split("\n") if line[0] != "#"], files("*.md"), [], []
    blocks = [command for page in pages for command in commands_of(source / page)]
    for page in pages:
        for command in commands_of(source / page):
            row = next((row for row in claims if fnmatch.fnmatch(page, row[0]) and re.match(row[2], command)), None)
            used.append(row)
            if not (is_marked(command) or (is_claimed(command, page, *row) if row else is_in_suite(command))):
                wrong.append(f"{page}: no test runs: {command}")
        for command in re.findall(r"`((?:bash|cmake|ctest|python3) [^`]*)`", (source / page).read_text()):
            if not (is_named(command) or is_in_suite(command)):
                wrong.append(f"{page}: no suite runs: {command}")
    wrong += [f"pages.txt: no command has {row}" for row in claims if row not in used]
    promises = (source / "tests/RELIABILITY.md").read_text().split("\n## ")[0].split("\n- **")[1:]
    last = [re.findall(r"`([^`]* [^`]*)`", promise)[-1] for promise in promises]
    wrong += [f"RELIABILITY.md: no suite runs: {command}" for command in last if not is_in_suite(command)]
    if wrong:
        wrong.append("Let a test run it and name that in tests/pages.txt, or end it with: # needs WHAT_A_TEST_HAS_NOT")
    sys.exit("\n".join(wrong) or len(last) != 10)


if __name__ == "__main__":
    paths = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    if len(paths) == 2:
        check(*paths)
    print("\n".join(command for command in commands_of(paths[0]) if not is_marked(command)))
