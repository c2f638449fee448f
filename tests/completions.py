#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the manual pages and completions of toolchains/shell again from the programs' tables of options, compares them,
and tries them in each shell that is installed.
Usage: completions.py [--update] SOURCE PROGRAM...
  --update   write what the programs print into SOURCE/toolchains/shell"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

# The places are those in share/ after an installation.
PLACES = {"man": "man/man1/{}.1", "bash": "bash-completion/completions/{}", "zsh": "zsh/site-functions/_{}",
          "fish": "fish/vendor_completions.d/{}.fish"}
BASH = """source "$1"
read -r -a COMP_WORDS <<< "${2//=/ = }"
[[ "$2" != *" " ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
"_${COMP_WORDS[0]//-/_}"
echo "${COMPREPLY[*]}"
"""


def printed(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def complete_in_bash(page: pathlib.Path, line: str) -> str:
    return printed("bash", "-c", BASH, "-", page, line)


def complete_in_fish(page: pathlib.Path, line: str) -> str:
    words = printed("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", page, line)
    return re.sub(r"\t.*", "", words)  # without descriptions


def complete_in_zsh(page: pathlib.Path, line: str) -> str:
    """Types the line and two tabs into an interactive shell."""
    with tempfile.TemporaryDirectory() as work:
        process, terminal = pty.fork()
        if process == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})
        text = ""

        def read_until(wanted: str, seconds: float) -> None:
            nonlocal text
            while wanted not in text and select.select([terminal], [], [], seconds)[0]:
                text += os.read(terminal, 65536).decode("utf-8", "replace")

        loads = f"fpath=({page.parent} $fpath); autoload -U compinit; compinit -u -d {work}/dump"
        os.write(terminal, f"PROMPT=; {loads}; echo re''ady\n".encode())
        read_until("\nready", 20)
        text = ""
        os.write(terminal, line.encode() + b"\t\t")
        read_until("\0", 2)
        os.close(terminal)
        os.waitpid(process, 0)
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", " ", text)


def check_pages(programs: list[str], pages: pathlib.Path, update: bool) -> None:
    for program in programs:
        for kind, place in PLACES.items():
            page = pages / place.format(os.path.basename(program))
            made = printed(program, "--completion", kind)
            if update:
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(made)
            assert page.read_text() == made, f"run tests/completions.py --update SOURCE PROGRAM... and commit {page}"


def check_shells(pages: pathlib.Path) -> list[str]:
    tried = []
    for shell, complete in {"bash": complete_in_bash, "fish": complete_in_fish, "zsh": complete_in_zsh}.items():
        if not shutil.which(shell):
            continue
        tried.append(shell)
        for line, wanted, unwanted in (("goldcrest-convert model --accura", "--accuracy", "--max-loss"),
                                       ("goldcrest-convert model --metric ", "chrf", "--accuracy"),
                                       ("goldcrest-convert model --weights=fl", "float32", "int8"),
                                       ("goldcrest-translate model --length-penalty-ki", "--length-penalty-kind",
                                        "--lexicon")):
            words = complete(pages / PLACES[shell].format(line.split()[0]), line)
            assert wanted in words and unwanted not in words, f"{shell} completes '{line}' with {words!r}"
    return tried


def check_manual(pages: pathlib.Path) -> None:
    for page in sorted((pages / "man/man1").iterdir()):
        if shutil.which("mandoc"):
            printed("mandoc", "-T", "lint", "-W", "error", page)
        if shutil.which("man"):
            shown = subprocess.run(["man", "--warnings", "-l", page], check=True, capture_output=True, text=True)
            assert "--help-all" in shown.stdout and not shown.stderr, f"{page}: {shown.stderr}"


def main() -> None:
    update = sys.argv[1:2] == ["--update"]
    source, *programs = sys.argv[2 if update else 1:]
    pages = pathlib.Path(source) / "toolchains/shell"
    check_pages(programs, pages, update)
    check_manual(pages)
    print(f"completions.py: {len(programs)} programs, tried in {', '.join(check_shells(pages))}")


main()
