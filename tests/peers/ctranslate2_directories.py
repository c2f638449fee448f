# SPDX-License-Identifier: Apache-2.0
"""Compares the converter and the engine with CTranslate2, on its directories of every compute type.

    python tests/peers/ctranslate2_directories.py --build build/host --work FOLDER [--models 12]

The reference for each directory is CTranslate2 itself with compute_type float32. There the weights of int8, int16 and
16-bit directories are the floats that they stand for. --check must find the logits of the converter's float32 reference
within 1e-4 of the position's largest magnitude. Ids of float32 files, greedy and all results of 2 to 4 beams, must be
CTranslate2's, or a tie within rounding. Texts must get their prefix and end tokens. model.bin written again in the
layout of versions 3 to 5 must give the same file. Exits with 1 for any difference."""

import json
import pathlib
import random
import re
import shutil
import struct
import sys
from collections import Counter

import ctranslate2
from safetensors.torch import save_file

import ctranslate2_models
import product
from ctranslate2_live import Live, Search, compare, of_goldcrest
from product import Failure

TYPES = (None, "float32", "float16", "bfloat16", "int16", "int8", "int8_float32", "int8_float16", "int8_bfloat16")
TOLERANCE = 1e-4
MOST = 16                        # generated tokens


def check_logits(options, live: Live, folder: pathlib.Path, sources, targets) -> float:
    """Checks the reference along the targets. Returns the largest difference over the least magnitude of a position."""
    samples = folder / "samples"
    samples.mkdir()
    lines, tensors, least = [], {}, float("inf")
    for i, (source, target) in enumerate(zip(sources, targets)):
        rows = live.all_logits(live.encode(source), [(0, *target[:-1])])[0]
        tensors[f"logits.{i}"] = rows.contiguous()
        least = min(least, rows.abs().amax(dim=1).min().item())
        lines.append(json.dumps({"line": i, "source_ids": source, "greedy": target, "max_target_tokens": MOST}))
    (samples / "results.jsonl").write_text("\n".join(lines))
    save_file(tensors, samples / "logits.safetensors")
    made = product.attempt(options.build / "converter/goldcrest-convert", folder, "--check", samples, "-q")
    found = re.findall(r"^ *logits\.\d+ .*?([0-9.e+-]+)$", made.stdout + made.stderr, re.MULTILINE)
    if len(found) != len(sources):
        raise Failure(f"--check compared {len(found)} of {len(sources)}: {made.stdout}{made.stderr}")
    return max(float(value) for value in found) / least


def check_directory(options, model: ctranslate2_models.Model, folder: pathlib.Path, seed: int, counts: Counter) -> None:
    draw, live, plain, ends = random.Random(seed), Live(folder, model), model.plain(), model.ends()
    sources = [[draw.choice(plain) for _ in range(draw.randint(2, 20))] + ends for _ in range(3)]
    file = folder / "model.gcst"
    product.convert(options, folder, file)
    for beams in (1, 2, 3, 4):
        compare(options, live, file, sources, Search(beams, 1, MOST), counts)
    greedy = [texts[0][1] for texts in of_goldcrest(options, file, sources, Search(1, 1, MOST))]
    worst = check_logits(options, live, folder, sources, [[draw.choice(plain) for _ in range(12)] for _ in sources])
    counts["largest logit difference"] = max(counts["largest logit difference"], worst)
    if not worst <= TOLERANCE:
        raise Failure(f"logits differ by {worst:.1e} of the smallest magnitude of a position")
    texts = "".join(" ".join(model.vocabulary[i] for i in row[:len(row) - len(ends)]) + "\n" for row in sources)
    said = product.translate(options, file, "--max-target", MOST, "--beam-size", 1, text=texts).splitlines()
    special = (model.end, "<s>", "<blank>", "<pad>")
    for line, ids in zip(said, greedy, strict=True):
        tokens = [model.vocabulary[i] for i in ids if model.vocabulary[i] not in special]
        if line.split() != [{"<unk>": "\u2047"}.get(token, token) for token in tokens]:
            raise Failure(f"the text {line!r} is not that of the ids {ids}")


def as_version(binary: bytes, version: int) -> bytes:
    """Writes the same variables in an older layout."""
    at, out = 4, bytearray(struct.pack("<I", version))

    def copy(n: int) -> bytes:
        nonlocal at
        at += n
        out.extend(binary[at - n:at])
        return binary[at - n:at]

    def number(n: int) -> int:
        return int.from_bytes(copy(n), "little")

    copy(number(2) + 4)
    for _ in range(number(4)):
        copy(number(2))
        copy(4 * number(1))
        kind, n_bytes = binary[at], struct.unpack_from("<I", binary, at + 1)[0]
        at += 5
        width = (4, 1, 2, 4, 2, 2)[kind]
        out.extend(struct.pack("<BI", width, n_bytes // width) if version < 4 else struct.pack("<BI", kind, n_bytes))
        copy(n_bytes)
    out.extend(binary[at:])
    return bytes(out)


def check_versions(options, folder: pathlib.Path) -> None:
    """Older layouts, which CTranslate2 can still read, must give the same file except for the source's hash."""
    expected, binary = (folder / "model.gcst").read_bytes(), (folder / "model.bin").read_bytes()
    for version in (3, 4, 5):
        old = folder.parent / f"{folder.name}_v{version}"
        shutil.copytree(folder, old, ignore=shutil.ignore_patterns("*.gcst", "samples"))
        (old / "model.bin").write_bytes(as_version(binary, version))
        ctranslate2.Translator(str(old), compute_type="float32")
        product.convert(options, old, old / "model.gcst", "--name", folder.name)
        found = (old / "model.gcst").read_bytes()
        if len(found) != len(expected) or sum(a != b for a, b in zip(found, expected)) > 200:
            raise Failure(f"version {version} gives a different file")


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=12))
    counts = Counter({"directories": 0, "largest logit difference": 0.0})
    for seed in range(options.models):
        folder = options.work / f"model{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        model = ctranslate2_models.make(seed, folder / "checkpoint")
        for kind in TYPES:
            directory = folder / f"ct2_{kind}"
            model.write(directory, kind)
            try:
                check_directory(options, model, directory, seed, counts)
                if kind in (None, "int8"):
                    check_versions(options, directory)
            except Failure as failure:
                print(failure)
                print(f"{model.description}, {kind}, in {directory}")
                sys.exit("goldcrest departs from CTranslate2")
            counts["directories"] += 1
    print(f"directories: {counts.pop('directories')}")
    print(f"largest logit difference: {counts.pop('largest logit difference'):.1e}")
    for kind in ("lines", "equal"):
        print(f"{kind}: {sum(n for (name, _, _), n in counts.items() if name == kind)}")


if __name__ == "__main__":
    main()
