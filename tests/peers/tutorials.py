# SPDX-License-Identifier: Apache-2.0
"""Converts the tutorials' Transformers and compares the engine with tutorial_modules.py.

    python tests/peers/tutorials.py --build build/host --work FOLDER [--models 5] [--sources 20] [--annalog FOLDER]

Random models of each dialect, with a config.json for the settings that checkpoints cannot tell: --check compares every
layer with the module's. Greedy ids of a float32 file must be the module's on every source, or a tie within rounding.
--annalog tests only the trained model of PyPI's annalog 1.0.6, unpacked in FOLDER, which has Ben Trevett's layout.
Exits with 1 for any difference."""

import argparse
import json
import pathlib
import pickle
import random
import shutil
import warnings
from collections import Counter

import torch
from safetensors.torch import save_file

import equality
import product
import random_checkpoints
import tutorial_modules

ROUNDING = 2e-5  # two logits closer than this times the largest logit may be a tie


def draw_model(kind: type, seed: int) -> tuple[torch.nn.Module, dict, list[list[int]], random.Random]:
    """Draws a model, its config.json and the words of its sources."""
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    d_model, heads = random_checkpoints.width(draw, even=True)
    words = (draw.randint(8, 90), draw.randint(8, 90))
    model = kind(max(d_model, 4), heads, draw.randint(4, 70), (draw.randint(1, 3), draw.randint(1, 3)), words)
    random_checkpoints.randomize(model, generator)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("a_2"):
                value.copy_(1 + 0.2 * torch.randn(value.shape, generator=generator))
    random_checkpoints.end_sometimes(dict(model.named_parameters())[bias_of(model)], [kind.end], draw, generator)
    return model.eval(), {"nhead": heads, "bos_token": kind.start, "eos_token": kind.end}, words, draw


def bias_of(model: torch.nn.Module) -> str:
    return {"annotated_transformer": "generator.proj.bias", "seq2seq_transformer": "generator.bias",
            "trevett_transformer": "decoder.fc_out.bias"}[model.model_type]


def write_samples(folder: pathlib.Path, model: torch.nn.Module, sources: list[list[int]], most: int) -> None:
    """Writes the samples that --check reads."""
    folder.mkdir()
    results, logits = [], {}
    for line, source in enumerate(sources):
        ids = tutorial_modules.greedy(model, source, most)
        trace = {}
        logits[f"logits.{line}"] = tutorial_modules.forward(model, source, [model.start, *ids[:-1]], trace)
        results.append(json.dumps({"source_ids": source, "greedy": ids, "max_target_tokens": most}))
        if line == 0:
            save_file({name: rows.contiguous() for name, rows in trace.items()}, folder / "trace.safetensors")
    save_file(logits, folder / "logits.safetensors")
    (folder / "results.jsonl").write_text("\n".join(results) + "\n")


def is_tie(model: torch.nn.Module, source: list[int], ours: list[int], theirs: list[int]) -> bool:
    at = next(i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b)
    row = tutorial_modules.forward(tutorial_modules.exact(model), source, [model.start, *theirs[:at]])[-1]
    return abs(row[ours[at]] - row[theirs[at]]).item() <= ROUNDING * max(1.0, row.abs().max().item())


def check_model(options: argparse.Namespace, folder: pathlib.Path, model: torch.nn.Module, sources: list[list[int]],
                most: int, counts: Counter, expected: tuple[str, ...] = ()) -> None:
    """The folder has the checkpoint and its files. `expected` are parts of the converter's warnings, in order. Raises
    equality.Failure."""
    write_samples(folder / "samples", model, sources[:4], most)
    file = folder / "model.gcst"
    made = product.check(options, folder, folder / "samples", "-o", file)
    warned = [line for line in made.stderr.splitlines() if ": warning: " in line]
    is_expected = len(warned) == len(expected) and all(part in line for part, line in zip(expected, warned))
    if made.returncode != 0 or not is_expected:
        raise equality.Failure(f"goldcrest-convert: {made.returncode} {made.stdout}{made.stderr}  kept in {folder}")
    if ("\nnorms " in made.stdout) != (model.model_type == "annotated_transformer"):
        raise equality.Failure(f"goldcrest-convert's report of norms: {made.stdout}")
    found = equality.translate(options, file, sources, ["--max-target", most, "--beam-size", 1])
    for source, ours in zip(sources, found, strict=True):
        theirs = tutorial_modules.greedy(model, source, most)
        counts["sources"] += 1
        if ours != theirs:
            if not is_tie(model, source, ours, theirs):
                raise equality.Failure(f"goldcrest departs from {model.model_type}, source {source}:\n"
                                       f"  goldcrest {ours}\n  module    {theirs}\n  kept in {folder}")
            counts["ties"] += 1
    counts["models"] += 1


class PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str):
        raise equality.Failure(f"the vocabulary has a {module}.{name}")


def check_annalog(options: argparse.Namespace, folder: pathlib.Path, counts: Counter) -> None:
    """Builds molecules from random parts whose atoms and rings fit."""
    files = options.annalog / "annalog" / "ckpt_and_vocab"
    with open(files / "stereo_experiment_vocab_ttf.pkl", "rb") as file:
        ids = PlainUnpickler(file).load()["stoi"]
    state = torch.load(files / "Lev_extended.pt", weights_only=True, map_location="cpu")
    model = tutorial_modules.Trevett(256, 8, 512, (3, 3), (len(ids), len(ids)), positions=102)
    model.load_state_dict(state)
    shutil.copy(files / "Lev_extended.pt", folder / "model.pt")
    config = {"nhead": 8, "bos_token": ids["<sos>"], "eos_token": ids["<eos>"], "pad_token": ids["<pad>"]}
    (folder / "config.json").write_text(json.dumps(config))
    draw = random.Random(7)
    parts = "C O N CC C(=O)N C(=O)O C(C) C(F) c1ccccc1 c1ccncc1 S(=O)(=O) C#C c1ccc(Cl)cc1".split()
    sources = []
    for _ in range(100):
        text = "".join(draw.choice(parts) for _ in range(draw.randint(2, 5)))
        tokens = text.replace("Cl", "Q")
        sources.append([ids["<sos>"], *(ids["Cl" if token == "Q" else token] for token in tokens), ids["<eos>"]])
    check_model(options, folder, model.eval(), sources, 60, counts)


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=5, sources=20, annalog=pathlib.Path))
    warnings.simplefilter("ignore")
    product.emptied(options.work)
    for kind in () if options.annalog else tutorial_modules.KINDS:
        counts = Counter()
        for seed in range(1, options.models + 1):
            folder = options.work / f"{kind.model_type}_{seed}"
            folder.mkdir(parents=True)
            model, config, words, draw = draw_model(kind, seed)
            (folder / "config.json").write_text(json.dumps(config))
            state = model.state_dict()
            torch.save(state if seed % 2 else {"epoch": 2, "model": state}, folder / "model.pt")
            sources = [[kind.start, *(draw.randrange(words[0]) for _ in range(draw.randint(1, 30))), kind.end]
                       for _ in range(options.sources)]
            check_model(options, folder, model, sources, 24, counts)
        print(f"{kind.model_type}:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    if options.annalog:
        counts = Counter()
        check_annalog(options, options.work, counts)
        print("annalog:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    shutil.rmtree(options.work)


if __name__ == "__main__":
    main()
