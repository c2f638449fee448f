# SPDX-License-Identifier: Apache-2.0
"""Compares Goldcrest's subwords with PyPI's subword-nmt: ids, texts and trimmed vocabularies of many words. Codes are
learned by subword-nmt, or made up so that one text has several pairs. --write writes the files of tests/data/subword
instead."""
import contextlib
import io
import random
import subprocess
import sys
from pathlib import Path

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

import product
from product import ROOT

UNKNOWN = "\u2047"
SPECIAL = ["<unk>", "</s>"]


def data_lines():
    text = (ROOT / "tests/data/enfr/valid.tsv").read_text("utf-8")
    return [side for line in text.splitlines() for side in line.split("\t")]


def hostile_lines():
    lines = []
    for line in (ROOT / "tests/data/hostile.txt").read_bytes().split(b"\n"):
        with contextlib.suppress(UnicodeDecodeError):
            lines.append(line.decode("utf-8"))
    return lines


def word_lines(rng, n, letters):
    def word():
        return "".join(rng.choice(letters) for _ in range(rng.choice([1, 2, 3, 5, 8, 13])))
    return [(" " * rng.choice([1, 1, 1, 2])).join(word() for _ in range(rng.randrange(8))) for _ in range(n)]


def learned(lines, n_merges):
    codes = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        learn_bpe(io.StringIO("\n".join(lines) + "\n"), codes, n_merges)
    return codes.getvalue()


def learned_apart(lines, n_merges):
    """Learns as subword-nmt before version 0.2: the end of a word is a symbol of its own."""
    words = {}
    for line in lines:
        for word in line.split():
            key = (*word, "</w>")
            words[key] = words.get(key, 0) + 1
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                counts[pair] = counts.get(pair, 0) + n
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(" ".join(best))
        merged = {}
        for word, n in words.items():
            symbols, i = [], 0
            while i < len(word):
                taken = 2 if word[i:i + 2] == best else 1
                symbols.append("".join(word[i:i + taken]))
                i += taken
            merged[tuple(symbols)] = merged.get(tuple(symbols), 0) + n
        words = merged
    return "\n".join(merges) + "\n"


def made_up(rng, version):
    """Pairs over three letters in any order, so that texts have several pairs and parts come after wholes."""
    inner, ends = list("abc"), ["a</w>", "b</w>", "c</w>"] + (["</w>"] if version == "0.1" else [])
    lines = []
    for _ in range(rng.randrange(4, 40)):
        left, right = rng.choice(inner), rng.choice(inner + ends)
        (ends if right.endswith("</w>") else inner).append(left + right)
        lines.append(f"{left} {right}")
    rng.shuffle(lines)
    return ("" if version == "0.1" and rng.random() < 0.5 else f"#version: {version}\n") + "\n".join(lines) + "\n"


def cut(bpe, line):
    return bpe.segment_tokens(line.strip("\r\n ").split(" "))


def entries_of(rng, codes, lines, share):
    """Returns the entries into which the lines are cut, except for a share of them."""
    bpe = BPE(io.StringIO(codes))
    entries = sorted({token for line in lines for token in cut(bpe, line) if "\0" not in token} - set(SPECIAL))
    rng.shuffle(entries)
    return SPECIAL + entries[:max(1, round(len(entries) * (1 - share)))]


def expected(bpe, entries, line):
    ids = {entry: i for i, entry in enumerate(entries)}
    tokens = cut(bpe, line)
    shown = " ".join(token if token in ids else UNKNOWN for token in tokens) + " "
    return " ".join(str(ids.get(token, 0)) for token in tokens), shown.replace("@@ ", "").rstrip(" ")


class Comparison:
    def __init__(self, program, work):
        self.program, self.work = program, work
        self.lines = self.words = self.codes = 0

    def run(self, codes, entries, lines, kept=None):
        (self.work / "codes").write_text(codes, "utf-8")
        (self.work / "vocabulary").write_text("".join(entry + "\n" for entry in entries), "utf-8")
        arguments = [str(self.work / "codes"), str(self.work / "vocabulary")]
        if kept is not None:
            (self.work / "kept").write_text("".join(entry + "\n" for entry in kept), "utf-8")
            arguments.append(str(self.work / "kept"))
        result = subprocess.run([str(self.program), *arguments], input="".join(line + "\n" for line in lines).encode(),
                                stdout=subprocess.PIPE, check=True)
        found = result.stdout.decode().split("\n")[:-1]
        if len(found) != len(lines):
            sys.exit(f"goldcrest departs from subword-nmt: {len(found)} lines of {len(lines)}")
        bpe = BPE(io.StringIO(codes), vocab=None if kept is None else set(kept))
        for line, answer in zip(lines, found):
            ids, text = expected(bpe, entries if kept is None else kept, line)
            if answer.split("\t", 1) != [ids, text]:
                sys.exit(f"goldcrest departs from subword-nmt (codes in {self.work}):\n{line!r}\nfound    {answer!r}\n"
                         f"expected {ids!r} {text!r}")
            self.words += len(line.split(" "))
        self.lines += len(lines)
        self.codes += 1


def compare(comparison, n_random):
    rng = random.Random(5)
    data = data_lines()
    letters = sorted(set("".join(data)) - {" "})
    # A lone @@ is a word here, but a decoder that removes "@@ " deletes it. Entries with a NUL are not found.
    hostile = [line for line in hostile_lines() if not any(text in line for text in ("@@", "\0"))]
    lines = data + hostile + word_lines(rng, 4000, letters) + word_lines(rng, 2000, "aeinst")
    english = data[::2]
    for codes in (learned(data, 500), learned(data, 4000), learned(english, 1500), learned_apart(data, 300),
                  "#version: 0.1\n" + learned_apart(english, 100)):
        for share in (0, 0.1):
            comparison.run(codes, entries_of(rng, codes, lines, share), lines)
        # Every text that a merge makes is an entry, so the only entries that are split again are those that were
        # removed.
        if codes.startswith("#version: 0.2"):
            made = [line.replace(" ", "") for line in codes.splitlines()[1:]]
            made = {text[:-4] if text.endswith("</w>") else text + "@@" for text in made}
            whole = SPECIAL + sorted(made | {c for c in letters} | {c + "@@" for c in letters})
            kept = [entry for entry in whole if entry in SPECIAL or len(entry) in (1, 3) or rng.random() < 0.7]
            comparison.run(codes, whole, lines, kept)
    for trial in range(n_random):
        codes = made_up(rng, "0.1" if trial % 2 else "0.2")
        lines = word_lines(rng, 60, "abc")
        comparison.run(codes, entries_of(rng, codes, lines, 0.2), lines)
    print(f"{comparison.words} words in {comparison.lines} lines under {comparison.codes} codes and vocabularies: "
          "every id and every text as subword-nmt's")


def write(folder):
    rng = random.Random(3)
    data, hostile = data_lines(), [line for line in hostile_lines() if len(line) < 80]
    made = "#version: 0.2\nb c\na b\nab c\na bc\nc c</w>\nabc cc</w>\nb c</w>\na bc</w>\nab c</w>\na a\naa aa\naa a\n"
    for name, codes, lines in (
            ("codes", learned(data, 300), rng.sample(data, 120) + hostile),
            ("codes_0_1", learned_apart(data, 200), rng.sample(data, 60) + hostile),
            ("codes_pairs", made, word_lines(rng, 80, "abc") + ["", "aaaaa aaaa aaaaaaa", "abc abcc", "d", " abcc\r"])):
        entries = entries_of(rng, codes, data + lines, 0.1) + ["@@"]
        bpe = BPE(io.StringIO(codes))
        (folder / name).write_text(codes, "utf-8")
        (folder / f"{name}.vocabulary").write_text("".join(entry + "\n" for entry in entries), "utf-8")
        (folder / f"{name}.golden").write_bytes(b"".join(
            f"{line}\t{expected(bpe, entries, line)[0]}\n".encode() for line in lines if "\n" not in line))


def main():
    arguments = product.parsed(product.parser_of(
        __doc__, build=Path, work=Path("."), program=Path, random=300, write=Path))
    if arguments.write:
        write(arguments.write)
    else:
        compare(Comparison(arguments.program, arguments.work), arguments.random)


main()
