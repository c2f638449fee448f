# SPDX-License-Identifier: Apache-2.0
"""Converts checkpoints of OpenNMT-py's and fairseq's shapes and compares the engine with modules of their formulas
(opennmt_module.py, fairseq_module.py).

    python tests/peers/toolkits.py opennmt_py|fairseq --build build/host --work FOLDER [--models 5] [--sources 20]

Random models with random options: --check compares every layer with the module's. Greedy ids of a float32 file must be
the module's on every source, or a tie within rounding. All results of fairseq's beams must be those of its search
(fairseq_search.py). Exits with 1 for any difference."""

import pathlib
import random
import shutil
import warnings
from collections import Counter

import torch

import fairseq_module
import fairseq_search
import opennmt_module
import product
import random_checkpoints
import tutorials

WITHOUT_PIECES = ("there is no SentencePiece model next to it",)  # a warning: texts are words


def draw_opennmt(seed: int, folder: pathlib.Path) -> tuple[torch.nn.Module, random.Random]:
    """Draws a model and saves its checkpoint in the folder."""
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    d_model, heads = random_checkpoints.width(draw, even=True)
    settings = opennmt_module.draw_settings(draw)
    words = draw.randint(8, 90), draw.randint(8, 90)
    if settings["share_embeddings"]:
        words = words[0], words[0]
    d_ff, layers = draw.randint(4, 70), (draw.randint(1, 3), draw.randint(1, 3))
    model = opennmt_module.OpenNmtPy(max(d_model, 4), heads, d_ff, layers, words, settings)
    random_checkpoints.randomize(model, generator)
    random_checkpoints.end_sometimes(model.generator.bias, [model.end], draw, generator)
    model.tie()
    version = opennmt_module.version_2 if seed % 3 == 0 else opennmt_module.version_3
    torch.save(version(model), folder / "model_step_3.pt")
    return model.eval(), draw


def draw_fairseq(seed: int, folder: pathlib.Path) -> tuple[torch.nn.Module, random.Random]:
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    sizes = [random_checkpoints.width(draw, even=True) for _ in range(2)]
    if seed % 2:
        sizes[1] = sizes[0]  # otherwise the decoder has a width of its own
    sizes = [(4 * heads, heads) if d_model < 4 else (d_model, heads) for d_model, heads in sizes]
    is_old = seed % 6 == 3
    settings = fairseq_module.draw_settings(draw, *zip(*sizes), draw.randint(4, 70), is_old)
    words = draw.randint(8, 90), draw.randint(8, 90)
    if settings["share_all_embeddings"]:
        words = words[0], words[0]
    model = fairseq_module.Fairseq((draw.randint(1, 3), draw.randint(1, 3)), words, settings)
    random_checkpoints.randomize(model, generator)
    model.tie()
    with torch.no_grad():
        model.decoder.output_projection.weight[model.end] *= draw.uniform(1, 3)  # ends some results early
    checkpoint = fairseq_module.old_checkpoint(model) if is_old else fairseq_module.new_checkpoint(model, seed % 2 == 0)
    torch.save(checkpoint, folder / "checkpoint_best.pt")
    for language, n in zip(("de", "en"), words, strict=True):
        (folder / f"dict.{language}.txt").write_text(fairseq_module.dictionary(n))
    return model.eval(), draw


def sources_of(model: torch.nn.Module, draw: random.Random, n: int) -> list[list[int]]:
    """Random sources; fairseq's end with the end token, OpenNMT-py's do not."""
    end = [model.end] if model.model_type == "fairseq" else []
    return [[draw.randrange(4, model.words[0]) for _ in range(draw.randint(1, 30))] + end for _ in range(n)]


DRAWN = {"opennmt_py": draw_opennmt, "fairseq": draw_fairseq}


def main() -> None:
    parser = product.parser_of(__doc__, models=5, sources=20)
    parser.add_argument("toolkit", choices=DRAWN)
    options = product.parsed(parser)
    warnings.simplefilter("ignore")
    product.emptied(options.work)
    counts = Counter()
    for seed in range(1, options.models + 1):
        folder = options.work / f"{options.toolkit}_{seed}"
        folder.mkdir(parents=True)
        model, draw = DRAWN[options.toolkit](seed, folder)
        sources = sources_of(model, draw, options.sources)
        tutorials.check_model(options, folder, model, sources, 24, counts, WITHOUT_PIECES)
        if options.toolkit == "fairseq":
            fairseq_search.check(options, folder / "model.gcst", model, sources[:8], 48, counts)
    print(f"{options.toolkit}:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    shutil.rmtree(options.work)


if __name__ == "__main__":
    main()
