# SPDX-License-Identifier: Apache-2.0
"""Each command of each page is run by a test, or the page says what it needs that a test has not.

Commands are the lines of ```sh blocks, indented lines that begin with a program, and scripts between backticks. A
comment "# needs ..." marks a command that no test runs. CLAIMS names the test that reads a page and runs its commands.
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

# Pages, the test, a pattern of its commands' beginning; the source that names the page, if the test's script does not.
CLAIMS = """
README.md                               readme_commands         (?!bash.tests/)
README.md                               .ci/run                 bash.tests/run.sh$
boards/README.md                        page_commands           .
boards/raspberry-pi/README.md           board_raspberry_pi_64   .
boards/*/README.md                      page_commands           (cmake|cp|sed|qemu|arm-none)
converter/README.md                     decoding_page           .
converter/dialects/CTRANSLATE2.md       programs_convert_test   .              tests/programs/inspect_test.cc
converter/dialects/FAIRSEQ.md           programs_convert_test   .              tests/programs/inspect_test.cc
converter/dialects/HUGGING_FACE.md      programs_convert_test   .              tests/programs/families_test.cc
converter/dialects/MARIAN.md            decoding_page           .
converter/dialects/NN_TRANSFORMER.md    decoding_page           .
converter/dialects/OPENNMT_PY.md        programs_convert_test   .              tests/programs/inspect_test.cc
converter/dialects/TUTORIALS.md         programs_convert_test   .              tests/programs/tutorial_test.cc
converter/dialects/speech/SPEECH.md     speech_page             .
engine/DECODING.md                      decoding_page           .
examples/README.md                      decoding_page           .
examples/bench/README.md                decoding_page           build/
examples/guides/from_faster_whisper.md  speech_page             .
examples/guides/*.md                    guide_commands          .
examples/serve/README.md                serve_clients           .
examples/speech/README.md               speech_page_full        .
examples/web/README.md                  web                     python3        tests/web/page_test.mjs
examples/*/README.md                    page_commands           (bash|cmake|cp)
tests/data/README.md                    decoding_page           .
tests/peers/README.md                   .ci/run                 bash.tests/run.sh
toolchains/modules/source_folder.md     source_folder_page      .              toolchains/modules/source_folder.cmake
toolchains/packages/README.md           packages                cmake.--preset.host tests/packages/CMakeLists.txt
toolchains/packages/README.md           web                     (cmake.--preset.wasm|npm) tests/packages/CMakeLists.txt
toolchains/packages/README.md           packages_esp_idf        (cd|idf|build/pronounce)  tests/packages/CMakeLists.txt
toolchains/packages/README.md           packages_pico_sdk       cmake.(-S|--build.build$) tests/packages/CMakeLists.txt
toolchains/packages/README.md           packages_zephyr         west           tests/packages/CMakeLists.txt
toolchains/packages/README.md           packages_platformio     pio            tests/packages/CMakeLists.txt
toolchains/packages/README.md           packages_debian         cmake.--preset.quickstart
toolchains/release.md                   release                 .              toolchains/release.sh
"""
PROGRAMS = re.compile(r"(\$ )?(arecord|bash|cd|cmake|cp|echo|for|idf\.py|npm|openocd|picotool|pio|printf|python3|"
                      r"scp|sed|ssh|west|qemu-\S+|arm-none-eabi-\S+|goldcrest-\S+|(build|bin)/\S+) ?")


def commands_of(text):
    """Returns the commands of a page's blocks, with their comments."""
    fence, commands = None, []
    for line in re.sub(r"\\\n *", "", text).split("\n"):
        if line.startswith("```"):
            fence = None if fence else line[3:] or "text"
        elif line and (fence == "sh" or not fence and line.startswith("    ") and PROGRAMS.match(line[4:])):
            commands.append(line.strip().removeprefix("$ "))
    return commands


def is_marked(command):
    return re.search(r" # needs ", command)


LABELS = {"host": "^fast$", "full": "^(fast|full)$"}


class Suites:
    """The tests of a build, and the texts that start programs in them."""

    def __init__(self, source, build):
        self.source, self.build = source, build
        self.tests = self.tests_of(build, LABELS["full"])
        self.lines = " \n".join(" ".join(words) for words in self.tests.values()) + " "
        scripts = (name for name in self.files("tests", ".ci") if re.search(r"(\.sh|/run|/CMakeLists\.txt)$", name))
        self.scripts = self.lines + "".join((source / name).read_text() for name in scripts)

    def files(self, *which):
        listed = subprocess.run(["git", "ls-files", *which], capture_output=True, text=True, cwd=self.source)
        return listed.stdout.split()

    def tests_of(self, folder, label, *options):
        listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", "-L", label, *options],
                                capture_output=True)
        return {test["name"]: test.get("command", []) for test in json.loads(listed.stdout or '{"tests": []}')["tests"]}

    def has(self, command):
        """A command as it is in a suite, but for the seconds that it takes."""
        program, *words = shlex.split(command, comments=True)
        if program == "ctest":
            folder = self.build if words[1] in [*LABELS, "build/host"] else self.build / "tests/boards" / words[1]
            return self.tests_of(folder, LABELS.get(words[1], LABELS["full"]), *words[2:])
        if words[0] == "tests/run.sh":
            return f"  {words[1]}) workflow=" in (self.source / "tests/run.sh").read_text()
        wanted = " ".join(words).replace("build/host", str(self.build)).rsplit(" ", words[-1].isdigit())[0]
        return f"/{wanted} " in self.lines

    def names(self, command):
        """A command whose script, preset, target or tests are in the suites."""
        part = re.search(r"[a-z_/]+\.(?:sh|py)(?:(?<=sdk\.sh) \w+)?|--(?:preset|target|install)(?: [a-z_-]+)?|(?<=-R )\w+", command)
        return part and part[0] in self.scripts + " ".join(self.tests)

    def runs(self, command, page, glob, test, _, *named):
        """A test that is there, and that names the page, a pattern of its path, or the command."""
        words = self.tests.get(test, [test])
        sources = (word for word in [*named, *words] if re.search(r"\.(sh|py|mjs|cc|cmake|txt)$|/run$", word))
        text = " ".join(words) + "".join((self.source / name).read_text() for name in sources)
        is_there = test in self.tests or (self.source / test).is_file()
        own_name = pathlib.Path(page).name.replace("README.md", page)
        return is_there and any(name in text for name in (own_name, glob, command.split(" #")[0].strip()))


def check(source, build):
    suites, wrong, used = Suites(source, build), [], []
    claims = [tuple(line.split()) for line in CLAIMS.strip().split("\n")]
    pages = suites.files("*.md")
    blocks = [command for page in pages for command in commands_of((source / page).read_text())]
    for page in pages:
        text = (source / page).read_text()
        for command in commands_of(text):
            row = next((row for row in claims if fnmatch.fnmatch(page, row[0]) and re.match(row[2], command)), None)
            used.append(row)
            if not (is_marked(command) or (suites.runs(command, page, *row) if row else suites.has(command))):
                wrong.append(f"{page}: no test runs: {command}")
        if page != "CHANGELOG.md":
            spans = re.findall(r"`((?:bash|cmake|ctest|python3) [^`]*)`", text)
            wrong += [f"{page}: no suite runs: {span}" for span in spans
                      if not (any(span in c for c in blocks) or suites.names(span) or suites.has(span))]
    wrong += [f"CLAIMS: no command has {row}" for row in claims if row not in used]
    promises = (source / "tests/RELIABILITY.md").read_text().split("\n## ")[0].split("\n- **")[1:]
    last = [re.findall(r"`([^`]* [^`]*)`", promise)[-1] for promise in promises]
    wrong += [f"RELIABILITY.md: no suite runs: {command}" for command in last if not suites.has(command)]
    sys.exit("\n".join(wrong) or len(last) != 10)


if __name__ == "__main__":
    paths = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    if len(paths) == 2:
        check(*paths)
    print("\n".join(command for command in commands_of(paths[0].read_text()) if not is_marked(command)))
