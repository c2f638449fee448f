# SPDX-License-Identifier: Apache-2.0
"""The rule of rule.patch in the command line, the report and Python, against the file that has it.
Usage: rule.py TREE BUILD, in the folder with decoding_test's files."""
import pathlib
import shutil
import subprocess
import sys

tree, build = (pathlib.Path(path).resolve() for path in sys.argv[1:])


def printed(*command: object, text: str = "") -> str:
    return subprocess.run([str(word) for word in command], input=text, stdout=-1, text=True, check=True).stdout


def translated(*arguments: str) -> str:
    return printed(build / "examples/goldcrest-translate", "--ids", *arguments, text="5 3 1 7\n").strip()


bonus = translated("bonus.gcst")
assert bonus != translated("plain.gcst"), "the rule changes nothing"
assert bonus == translated("plain.gcst", "--source-bonus", "10"), "--source-bonus"
assert "bonus of 10 for the source's tokens" in printed(build / "converter/goldcrest-inspect", "bonus.gcst"), "report"
shutil.copytree(tree / "converter/python/goldcrest", "python/goldcrest", dirs_exist_ok=True)
shutil.copy(build / "converter/python/libgoldcrest.so", "python/goldcrest")
sys.path.insert(0, "python")
import goldcrest  # noqa: E402

result = goldcrest.Model("plain.gcst", source_bonus=10).translate_batch([[5, 3, 1, 7]])[0]
assert bonus == " ".join(map(str, result.ids[0])), "source_bonus="
