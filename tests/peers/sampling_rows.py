# SPDX-License-Identifier: Apache-2.0
"""Writes or checks tests/data/sampling_rows.tsv: what transformers' logits processors keep of seeded rows of logits.

A line has the row's seed and number of logits, temperature, top_k, top_p, min_p, the number of kept tokens, and the
probabilities of the first, the middle and the last of them. The logits are 6 * uniform() of tests/support/rng.h. Rows
with equal logits among the best ones, or within 1e-5 of a cut, are left out.

  sampling_rows.py          writes the file
  sampling_rows.py --check  fails if transformers gives other lines
  sampling_rows.py --build build/host --work FOLDER [--models N]
      draws from every row without min_p, or from N of them, with goldcrest-translate and with CTranslate2: the tokens
      that come must be those that the file's line keeps. The model of a row has its logits as biases of the output and
      zeros as embeddings. Enough is drawn that a kept token is missed with a probability below 1e-10; rows for which
      this takes more than MOST_DRAWS draws are left out. Exit status 1 with any difference.
"""

import argparse
import math
import pathlib
import random
import sys

import torch
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

import product

ROWS = 1000
MASK = (1 << 64) - 1
MOST_DRAWS = 20000


def uniform_values(seed: int, n: int) -> list[float]:
    """splitmix64 (Steele, Lea and Flood 2014), as tests/support/rng.h."""
    values, state = [], seed
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        values.append(((z >> 40) - (1 << 23)) / (1 << 23))
    return values


def kept(logits: torch.Tensor, temperature: float, top_k: int, top_p: float, min_p: float) -> list[float]:
    scores = logits.unsqueeze(0)
    for warper in (TemperatureLogitsWarper(temperature), TopKLogitsWarper(top_k)):
        scores = warper(None, scores)
    if top_p < 1:
        scores = TopPLogitsWarper(top_p)(None, scores)
    if min_p > 0:
        scores = MinPLogitsWarper(min_p)(None, scores)
    probabilities = torch.softmax(scores.double(), -1)[0]
    return sorted((p for p, score in zip(probabilities.tolist(), scores[0].tolist(), strict=True)
                   if score != float("-inf")), reverse=True)


def is_close_call(logits: torch.Tensor, temperature: float, top_k: int, top_p: float, min_p: float) -> bool:
    best = torch.sort(logits.double(), descending=True).values[:top_k + 1]
    if torch.any(best[:-1] == best[1:]):
        return True
    p = torch.softmax(best[:top_k] / temperature, -1)
    before = torch.cumsum(p, -1) - p
    return bool(torch.any((before - top_p).abs() < 1e-5) or torch.any((p / p[0] - min_p).abs() < 1e-5))


def lines() -> list[str]:
    draw, made, seed = random.Random(1), [], 0
    while len(made) < ROWS:
        seed += 1
        n = draw.choice((40, 300, 1000))
        settings = (draw.choice((0.25, 0.5, 1.0, 1.5, 4.0)), draw.choice((2, 10, 50, 200)),
                    draw.choice((1.0, 1.0, 0.25, 0.5, 0.75, 0.875)), draw.choice((0.0, 0.0, 0.125, 0.5)))
        logits = torch.tensor(uniform_values(seed, n), dtype=torch.float32) * 6
        if is_close_call(logits, *settings):
            continue
        p = kept(logits, *settings)
        numbers = "\t".join(f"{p[i]:.8f}" for i in (0, len(p) // 2, len(p) - 1))
        made.append("\t".join(map(str, (seed, n, *settings, len(p)))) + "\t" + numbers)
    return made


class RowModel:
    """Checkpoints of a number of logits, and their conversions, whose output has only its biases. Id i + 1 has logit i;
    id 0 ends a text, the last id pads, and neither is ever drawn."""

    def __init__(self, n: int, options: argparse.Namespace):
        import ctranslate2
        import random_checkpoints

        self.n, self.folder, self.options = n, options.work / f"{n}", options
        size = n + 3
        self.model = random_checkpoints.marian(size, 16, 2, [1, 1], [16, 16], max_position_embeddings=16)
        torch.nn.init.zeros_(self.model.model.shared.weight)
        self.bias = torch.full((1, size), -30000.0)
        self.bias[0, 1:n + 1] = torch.arange(n) + 0.5  # found again in CTranslate2's file
        self.save()
        random_checkpoints.write_tokenizers(self.folder / "checkpoint", size, size,
                                            {"</s>": 0, "<unk>": size - 2, "<pad>": size - 1}, False)
        ctranslate2.converters.TransformersConverter(str(self.folder / "checkpoint")).convert(
            str(self.folder / "ct2"), force=True)
        self.file = self.folder / "ct2" / "model.bin"
        self.bytes = self.file.read_bytes()
        self.mark = self.bias[0, 1:n + 1].numpy().tobytes()
        if self.bytes.count(self.mark) != 1:
            sys.exit("CTranslate2's file does not have the biases once")

    def save(self) -> None:
        self.model.final_logits_bias = self.bias
        self.model.save_pretrained(self.folder / "checkpoint")

    def set_row(self, seed: int) -> None:
        logits = torch.tensor(uniform_values(seed, self.n), dtype=torch.float32) * 6
        self.bias[0, 1:self.n + 1] = logits
        self.save()
        self.file.write_bytes(self.bytes.replace(self.mark, logits.numpy().tobytes()))

    def of_goldcrest(self, draws: int, temperature: float, top_k: int, top_p: float) -> set[int]:
        file = self.folder / "row.gcst"
        product.convert(self.options, self.folder / "checkpoint", file)
        settings = ["--sample", "--temperature", temperature, "--top-k", top_k, "--top-p", top_p, "--seed", 7]
        made = product.translate(self.options, file, "--ids", *settings, "--max-target", 2, "--batch", 64,
                                 text="1 0\n" * draws)
        return {int(line.split()[0]) - 1 for line in made.splitlines()}

    def of_ctranslate2(self, draws: int, temperature: float, top_k: int, top_p: float) -> set[int]:
        import ctranslate2

        ctranslate2.set_random_seed(7)
        translator = ctranslate2.Translator(str(self.folder / "ct2"), compute_type="float32", intra_threads=1)
        made = translator.translate_batch([["t1", "</s>"]] * draws, max_batch_size=256, beam_size=1,
                                          sampling_topk=min(top_k, self.n), sampling_topp=top_p,
                                          sampling_temperature=temperature, max_decoding_length=1)
        return {int(result.hypotheses[0][0][1:]) - 1 for result in made}


def compare_sets(options: argparse.Namespace) -> None:
    models: dict[int, RowModel] = {}
    compared = left_out = different = 0
    for line in options.file.read_text().splitlines():
        seed, n, temperature, top_k, top_p, min_p, n_kept, _, _, last = map(float, line.split("\t"))
        if min_p > 0 or compared == options.models:
            continue
        draws = math.ceil(30 / max(last, 1e-9))
        if draws > MOST_DRAWS:
            left_out += 1
            continue
        if n not in models:
            models[n] = RowModel(int(n), options)
        model = models[n]
        model.set_row(int(seed))
        logits = model.bias[0, 1:model.n + 1]
        wanted = set(torch.sort(logits, descending=True).indices[:int(n_kept)].tolist())
        for kind, found in (("goldcrest", model.of_goldcrest(draws, temperature, int(top_k), top_p)),
                            ("CTranslate2", model.of_ctranslate2(draws, temperature, int(top_k), top_p))):
            if found != wanted:
                different += 1
                print(f"row {int(seed)}: {kind} departs from transformers: {len(found)} tokens, expected {len(wanted)}")
        compared += 1
    print(f"{compared} rows compared, {left_out} left out, {different} different sets")
    if different or not compared:
        sys.exit(1)


def main() -> None:
    default = product.ROOT / "tests/data/sampling_rows.tsv"
    options = product.parsed(product.parser_of(
        __doc__, build=pathlib.Path, work=pathlib.Path("."), file=default, check=False, models=ROWS))
    if options.build:
        compare_sets(options)
        return
    text = "\n".join(lines()) + "\n"
    if not options.check:
        options.file.write_text(text)
    elif options.file.read_text() != text:
        sys.exit(f"{options.file}: transformers gives other lines")
    print(f"{ROWS} rows")


if __name__ == "__main__":
    main()
