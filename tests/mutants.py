#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Mutation testing: each comparison, bound, condition and check of a module is changed, one at a time, and the module's fast
# tests must fail. Prints the mutants that they let live, and the score; status 1 below 85 %.
# Usage: python3 tests/mutants.py BUILD_DIR MODULE [EVERY [FIRST]]
# EVERY 5 takes each fifth mutant, from number FIRST on. tests/mutants.txt names those that change nothing, with the reason.
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

# The sources, and the programs that must notice.
MODULES = {
    "validate": (["engine/model/validate", "engine/model/validate.cc", "engine/model/float_bounds.cc"], ["model_test", "api_test"]),
    "structure": (["engine/model/structure.cc"], ["model_test"]),
    "plan": (["engine/memory/plan.cc"], ["memory_test"]),
    "limits": (["engine/api/limits.cc"], ["api_test"]),
    "containers": (["converter/sources/" + name + ".cc" for name in (
        "ctranslate2_binary", "marian_binary", "marian_npz", "numpy_array", "pickle", "safetensors", "state_dict",
        "torch_zip", "zip_directory")], ["load_sources_test"]),
}
SWAPS = [("==", "!="), ("!=", "=="), ("<=", "<"), (">=", ">"), (" < ", " <= "), (" > ", " >= "), ("&&", "||"), ("||", "&&"),
         (" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" % ", " / "), ("return false", "return true"),
         ("return true", "return false"), ("(!", "("), (" & ", " | "), ("continue;", ";")]
CHECK = re.compile(r"^\s*(GOLDCREST_TRY|GOLDCREST_REQUIRE\w*|if \(.*\) throw)\b.*;$")
NUMBER = re.compile(r"(?<![\w.\"])(\d+)(?![\w.\"])")


def mutants_of(path):
    """(line number, the line changed) of every mutant."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for i, line in enumerate(lines):
        code = line.split("//")[0].rstrip()
        if not code.strip() or code.lstrip().startswith(("#", "static_assert", "template", "using", "namespace")):
            continue
        # What is in quotes stays.
        quoted = [range(*match.span()) for match in re.finditer(r'"(\\.|[^"\\])*"', code)]
        is_code = lambda at: not any(at in span for span in quoted)
        for old, new in SWAPS:
            for match in re.finditer(re.escape(old), code):
                if is_code(match.start()):
                    yield i, code[:match.start()] + new + code[match.end():]
        for match in NUMBER.finditer(code):
            if is_code(match.start()):
                yield i, code[:match.start()] + str(int(match.group()) + 1) + code[match.end():]
        if CHECK.match(code):
            yield i, ";"


def sources(places):
    for place in places:
        if os.path.isdir(place):
            yield from sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".cc"))
        else:
            yield place


class Builder:
    """Compiles one changed source and links it in front of the libraries, which then leave theirs out."""

    def __init__(self, build, programs, folder):
        self.build, self.folder = build, folder
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            self.compile = {os.path.relpath(entry["file"]): entry for entry in json.load(file)}
        self.link = {}
        for program in programs:
            commands = subprocess.run(["ninja", "-C", build, "-t", "commands", program], capture_output=True, text=True,
                                      check=True).stdout.strip().split("\n")
            self.link[program] = shlex.split(commands[-1].split("&&")[1])

    def compiled(self, path, text):
        """The object, or none for what does not compile."""
        source, made = os.path.join(self.folder, os.path.basename(path)), os.path.join(self.folder, "mutant.o")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        entry = self.compile[path]
        command = shlex.split(entry["command"])
        command[command.index("-c") + 1] = source
        command[command.index("-o") + 1] = made
        command = [word for word in command if word not in ("-MD", "-Werror")] + ["-O1", "-w", "-I", os.path.dirname(path)]
        for word in ("-MT", "-MF"):
            if word in command:
                del command[command.index(word):command.index(word) + 2]
        command = [os.path.abspath(word) if word == os.path.dirname(path) else word for word in command]
        return made if subprocess.run(command, cwd=entry["directory"], capture_output=True).returncode == 0 else None

    def is_noticed(self, made):
        for program, command in self.link.items():
            linked = os.path.join(self.folder, program)
            command = list(command)
            at = command.index("-o")
            command[at + 1] = linked
            command.insert(at, made)
            subprocess.run(command, cwd=self.build, check=True, capture_output=True)
            try:
                run = subprocess.run([linked, "--gtest_fail_fast", "--gtest_brief=1"], cwd=self.folder, capture_output=True,
                                     timeout=300)
            except subprocess.TimeoutExpired:
                return True
            if run.returncode != 0:
                return True
        return False


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in MODULES:
        sys.exit("usage: python3 tests/mutants.py BUILD_DIR " + "|".join(MODULES) + " [EVERY [FIRST]]")
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    places, programs = MODULES[sys.argv[2]]
    with open("tests/mutants.txt", encoding="utf-8") as file:
        same = {line.split(" # ")[0].rstrip("\n") for line in file}
    noticed = lived = named = 0
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(os.path.abspath(sys.argv[1]), programs, folder)
        everything = [(path, i, line) for path in sources(places) for i, line in mutants_of(path)]
        for path, i, line in everything[first::every]:
            if f"{path}: {line.strip()}" in same:
                named += 1
                continue
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            old, lines[i] = lines[i], line
            made = builder.compiled(path, "\n".join(lines))
            if made is None:
                continue
            if builder.is_noticed(made):
                noticed += 1
            else:
                lived += 1
                print(f"{path}:{i + 1}: {line.strip()}\n    was {old.strip()}", flush=True)
    score = 100 * noticed / max(1, noticed + lived)
    print(f"{sys.argv[2]}: {noticed} of {noticed + lived} mutants noticed, {score:.1f} %; {named} named in tests/mutants.txt; "
          f"every {every} of {len(everything)} from {first}")
    sys.exit(0 if score >= 85 else 1)


main()
