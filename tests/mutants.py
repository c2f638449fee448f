#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Mutation testing: changes each comparison, bound, condition and check of a module, one at a time, and the module's
# fast tests must fail. In the modules whose names end in `constants` it replaces each decimal constant by the next
# smaller and the next larger float32, and so each float32 that a dialect of the converter computes. Prints the mutants
# that the tests let live, and the score; exits with 1 below 85 %.
# Usage: python3 tests/mutants.py BUILD_DIR MODULE [EVERY [FIRST]]
# EVERY 5 takes each fifth mutant, from number FIRST on. tests/mutants.txt lists mutants that change nothing, with the
# reason.
import json
import os
import pathlib
import re
import resource
import shlex
import struct
import subprocess
import sys
import tempfile

# The sources, and the programs that must notice the mutants. PATH@TEXT: only the lines from the one with the text on.
MODULES = {
    "validate": (["engine/model/validate", "engine/model/float_bounds.cc"], ["model_test", "api_test"]),
    "structure": (["engine/model/structure.cc"], ["model_test"]),
    "trailer": (["engine/model/validate/trailer.h"], ["model_test"]),
    "plan": (["engine/memory/plan.cc"], ["memory_test"]),
    "limits": (["engine/api/limits.cc"], ["api_test"]),
    "sampling": (["engine/decoding/search/draw.cc"], ["decoding_test"]),
    "lexicon": (["engine/decoding/limits/lexicon.cc", "engine/api/set_lexicon.cc",
                 "engine/model/validate/lists.cc@LEXICON"], ["decoding_test", "api_test", "model_test"]),
    "prefix": (["engine/" + name for name in (
        "decoding/limits/prefix.cc", "decoding/limits/prefix.h", "decoding/limits/prompt_mask.cc",
        "decoding/search/forced_token.cc", "api/set_prefix.cc")], ["decoding_test", "api_test"]),
    "buckets": (["converter/dialects/hugging_face/t5_buckets.cc"], ["load_families_test"]),
    "constants": (["engine/kernels/reference/math.h", "engine/kernels/reference/reference.cc"],
                  ["kernels_test", "contract_test"]),
    "family_constants": (["converter/dialects/hugging_face/seq2seq_graph.cc", "converter/dialects/hugging_face/t5.cc"],
                         ["load_families_test"]),
    "reference_constants": (["converter/reference/operations.cc"], ["reference_test", "load_families_test"]),
    "containers": (["converter/sources/" + name + ".cc" for name in (
        "containers/ctranslate2_binary", "containers/marian_binary", "containers/marian_npz", "containers/numpy_array",
        "values/pickle", "containers/safetensors", "containers/state_dict", "containers/torch_file",
        "files/zip_directory")], ["load_sources_test"]),
}
# The sources that include a header.
USERS = {"engine/model/validate/trailer.h": ["engine/model/validate/frame.cc", "engine/model/validate/slices.cc"],
         "engine/kernels/reference/math.h": ["engine/kernels/reference/reference.cc"],
         "engine/decoding/limits/prefix.h": ["engine/decoding/limits/prefix.cc", "engine/api/set_prefix.cc"]}
# A test that includes a header, and its program, which runs first.
TESTS_OF = {"engine/kernels/reference/math.h": ("tests/unit/kernels/math_test.cc", "kernels_test")}
# The suites that know most about a source; they run first.
FIRST = {"draw": "Sampling*:Alternatives*:LexiconOutputs*", "lexicon": "Lexicon*", "set_lexicon": "Lexicon*",
         "lists": "Lexicon*:Shortlist*", "prefix": "Prefix*:Prompt*", "prompt_mask": "Prefix*:Prompt*:Alternatives*",
         "forced_token": "ForcedToken*:Prefix*:Prompt*", "set_prefix": "SetPrefix*:Agreement*:Prefix*",
         "ctranslate2_binary": "CTranslate2*", "marian_binary": "MarianBinary*", "marian_npz": "MarianNpz*",
         "numpy_array": "MarianNpz*", "pickle": "PickleOperations*:PickleDocuments*", "safetensors": "Safetensors*",
         "state_dict": "StateDict*:Pickle.R*", "torch_zip": "TorchZip*", "zip_directory": "Zip*",
         "limits": "Limits*:Search*", "t5": "T5*", "t5_buckets": "T5*", "seq2seq_graph": "Families*",
         "math": "AllFunctions*:Exp*", "operations": "Activations*"}
MOST_MEMORY = 16 << 30  # bytes of address space, for mutants that allocate without end
SWAPS = [("==", "!="), ("!=", "=="), ("<=", "<"), (">=", ">"), (" < ", " <= "), (" > ", " >= "), ("&&", "||"),
         ("||", "&&"), (" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" % ", " / "),
         ("return false", "return true"), ("return true", "return false"), ("(!", "("), (" & ", " | "),
         ("continue;", ";")]
CHECK = re.compile(r"^\s*(GOLDCREST_TRY|GOLDCREST_REQUIRE\w*|if \(.*\) throw)\b.*;$")
NUMBER = re.compile(r"(?<![\w.\"])(\d+)(?![\w.\"])")
COMPUTED = "static_cast<float>("
CONSTANT = re.compile(r"(?<![\w.\"])(\d+\.\d+(?:e-?\d+)?|\d+e-?\d+)(f?)(?![\w.\"])")


def neighbours(constant):
    """Returns the next smaller and the next larger float32 of a positive constant."""
    bits = struct.unpack("<I", struct.pack("<f", float(constant)))[0]
    values = [struct.unpack("<f", struct.pack("<I", bits + step))[0] for step in (-1, 1) if bits > 0]
    return [format(value, "#.9g") for value in values]


def computed(code):
    """Returns (begin, end) of each conversion to float32 whose parentheses close on the line."""
    for match in re.finditer(re.escape(COMPUTED), code):
        depth = 1
        for end in range(match.end(), len(code)):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            if depth == 0:
                yield match.start(), end + 1
                break


def mutants_of(path, begin, constants):
    """Returns (line number, the changed line) for every mutant, from the first line with the text `begin` on."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    first = next(i for i, line in enumerate(lines) if begin in line)
    for i, line in enumerate(lines[first:], first):
        code = line.split("//")[0].rstrip()
        if not code.strip() or code.lstrip().startswith(("#", "static_assert", "template", "using", "namespace")):
            continue
        # Text in quotes does not change.
        quoted = [range(*match.span()) for match in re.finditer(r'"(\\.|[^"\\])*"', code)]
        is_code = lambda at: not any(at in span for span in quoted)
        if constants:
            for match in CONSTANT.finditer(code):
                for value in neighbours(match.group(1)) if is_code(match.start()) else []:
                    yield i, code[:match.start()] + value + code[match.end(1):]
            for begin, end in computed(code) if path.startswith("converter/dialects/") else []:
                for limit in ("-INFINITY", "INFINITY"):
                    yield i, f"{code[:begin]}std::nextafter({code[begin:end]}, {limit}){code[end:]}"
            continue
        for old, new in SWAPS:
            for match in re.finditer(re.escape(old), code):
                if is_code(match.start()):
                    yield i, code[:match.start()] + new + code[match.end():]
        for match in NUMBER.finditer(code):
            if is_code(match.start()):
                yield i, code[:match.start()] + str(int(match.group()) + 1) + code[match.end():]
        if CHECK.match(code):
            yield i, f";  // {code.strip()}"


def sources(places):
    """Returns (path, text of the first line) for every source."""
    for place in places:
        if os.path.isdir(place):
            yield from sorted((os.path.join(place, name), "") for name in os.listdir(place) if name.endswith(".cc"))
        else:
            yield place.partition("@")[::2]


class Builder:
    """Compiles changed sources and links them before the libraries, whose own copies the linker then leaves out."""

    def __init__(self, build, programs, folder):
        self.build, self.folder, self.included, self.header = build, folder, {}, None
        os.environ["CCACHE_DISABLE"] = "1"
        entries = json.loads(pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {os.path.relpath(entry["file"]): entry for entry in entries}
        self.link = {}
        self.most_seconds = {}  # of CPU time, for a program with some suites
        for program in programs:
            commands = subprocess.run(["ninja", "-C", build, "-t", "commands", program], capture_output=True, text=True,
                                      check=True).stdout.strip().split("\n")
            self.link[program] = shlex.split(commands[-1].split("&&")[1])
            self.measure(program, "")

    def measure(self, program, suites):
        """Sets the bound for mutants, from the time that the suites take without one."""
        self.most_seconds[program, suites] = 600
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not self.runs(program, self.linked(program, []), suites):
            sys.exit(f"{program} fails without a mutant")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.most_seconds[program, suites] = int(5 + 5 * (after.ru_utime - before.ru_utime))

    def compiles(self, path, words):
        """Compiles with the build's options for the source."""
        entry = self.commands[path]
        command = shlex.split(entry["command"])
        command = [word for word in command[:command.index("-o")] if word != "-Werror"]
        first = next(i for i, word in enumerate(command) if word.startswith("-I"))
        command[first:first] = ["-I", self.folder]  # where a changed header is found before its own
        command += ["-O1", "-w", "-I", os.path.abspath(os.path.dirname(path)), *words]
        return subprocess.run(command, cwd=entry["directory"], capture_output=True).returncode == 0

    def includes_of(self, path, of="#include"):
        """Compiles the headers of a source, once for all of its mutants."""
        if path not in self.included:
            lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
            made = os.path.join(self.folder, os.path.basename(path) + ".includes.h")
            pathlib.Path(made).write_text("".join(line for line in lines if line.startswith(of)), encoding="utf-8")
            is_made = self.compiles(path, ["-x", "c++-header", made, "-o", made + ".gch"])
            self.included[path] = ["-include", made] if is_made else []
        return self.included[path]

    def compiled(self, path, text):
        """Returns the objects, or none if a source does not compile."""
        if self.header is not None:  # of the last mutant; this one must not find it
            os.remove(self.header)
            self.header = None
        if path not in USERS:
            source, made = os.path.join(self.folder, os.path.basename(path)), os.path.join(self.folder, "mutant.o")
            pathlib.Path(source).write_text(text, encoding="utf-8")
            return [made] if self.compiles(path, [*self.includes_of(path), "-c", source, "-o", made]) else None
        header = os.path.join(self.folder, os.path.relpath(path, path.split("/")[0]))
        os.makedirs(os.path.dirname(header), exist_ok=True)
        pathlib.Path(header).write_text(text, encoding="utf-8")
        self.header = header
        objects = [self.with_header(user) for user in USERS[path]]
        return None if None in objects else objects

    def with_header(self, user):
        """Compiles a source with the changed header. Returns the object, or none."""
        made = os.path.join(self.folder, os.path.basename(user) + ".o")
        words = [*self.includes_of(user, "#include <"), "-c", os.path.abspath(user), "-o", made]
        return made if self.compiles(user, words) else None

    def linked(self, program, objects):
        """Returns the program with these objects in place of its own."""
        linked, command = os.path.join(self.folder, program), list(self.link[program])
        own = {os.path.basename(word): i for i, word in enumerate(command) if word.endswith(".o")}
        for made in objects:  # a test's object replaces the program's
            if os.path.basename(made) in own:
                command[own[os.path.basename(made)]] = made
        at = command.index("-o")
        command[at + 1] = linked
        command[at:at] = [made for made in objects if made not in command]
        subprocess.run(command, cwd=self.build, check=True, capture_output=True)
        return linked

    def runs(self, program, linked, suites):
        most_seconds = self.most_seconds[program, suites]

        def bound():  # CPU time, because other programs may slow this one down
            resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [linked, "--gtest_fail_fast", "--gtest_brief=1", *(["--gtest_filter=" + suites] if suites else [])]
        try:
            run = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=1800, preexec_fn=bound)
        except subprocess.TimeoutExpired:
            return False
        return run.returncode == 0

    def passes(self, program, objects, suites):
        if (program, suites) not in self.most_seconds:
            self.measure(program, suites)
        linked = self.linked(program, objects)
        return all(self.runs(program, linked, some) for some in dict.fromkeys([suites, ""]))

    def is_noticed(self, path, objects):
        suites = FIRST.get(os.path.splitext(os.path.basename(path))[0], "")
        if path in TESTS_OF:
            test, program = TESTS_OF[path]
            made = self.with_header(test)
            if made is None or not self.passes(program, [*objects, made], suites):
                return True
        return not all(self.passes(program, objects, suites) for program in self.link)


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in MODULES:
        sys.exit("usage: python3 tests/mutants.py BUILD_DIR " + "|".join(MODULES) + " [EVERY [FIRST]]")
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    places, programs = MODULES[sys.argv[2]]
    named_mutants = pathlib.Path("tests/mutants.txt").read_text(encoding="utf-8").splitlines()
    same = {line.split(" # ")[0] for line in named_mutants}
    noticed = lived = named = 0
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(os.path.abspath(sys.argv[1]), programs, folder)
        everything = [(path, i, line) for path, begin in sources(places)
                      for i, line in mutants_of(path, begin, sys.argv[2].endswith("constants"))]
        for path, i, line in everything[first::every]:
            if f"{path}: {line.strip()}" in same:
                named += 1
                continue
            lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
            old, lines[i] = lines[i], line
            objects = builder.compiled(path, "\n".join(lines))
            if objects is None:
                continue
            if builder.is_noticed(path, objects):
                noticed += 1
            else:
                lived += 1
                print(f"{path}:{i + 1}: {line.strip()}\n    was {old.strip()}", flush=True)
    score = 100 * noticed / max(1, noticed + lived)
    print(f"{sys.argv[2]}: {noticed} of {noticed + lived} mutants noticed, {score:.1f} %; "
          f"{named} named in tests/mutants.txt; every {every} of {len(everything)} from {first}")
    sys.exit(0 if score >= 85 else 1)


main()
