# SPDX-License-Identifier: Apache-2.0
"""Compares float32 files' token scores, scores of targets and alignments with transformers on random MarianMTModels."""

import pathlib
import random
import sys

import torch
from transformers import MarianMTModel

import product
import random_checkpoints

TOLERANCE = 1e-4
MOST = 24  # generated ids; the last one is a forced end, without cost


def make_model(seed: int, folder: pathlib.Path) -> tuple[MarianMTModel, random.Random]:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    heads = draw.choice([1, 2, 4])
    size = draw.randint(20, 600)
    d_model, layers = heads * 2 * draw.randint(3, 12), [draw.randint(1, 3), draw.randint(1, 4)]
    model = random_checkpoints.marian(
        size, d_model, heads, layers, [draw.randint(8, 90), draw.randint(8, 90)],
        activation_function=draw.choice(["relu", "gelu", "swish"]), scale_embedding=draw.random() < 0.5,
        max_position_embeddings=40, attn_implementation="eager")  # the others give no attentions
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2 and parameter.requires_grad:
                parameter.copy_(torch.randn_like(parameter) * 1.5 * parameter.shape[1] ** -0.5)
        model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias))
        model.final_logits_bias[0, 0] += draw.uniform(1, 4)  # makes some texts end
    model.tie_weights()
    model.save_pretrained(folder)
    random_checkpoints.write_tokenizers(folder, size, size, {"</s>": 0, "<unk>": size - 2, "<pad>": size - 1}, False)
    return model, draw


class Along:
    """Transformers' results along a target: [tokens] log-probabilities, [layers][heads, tokens, source] attentions."""

    def __init__(self, model: MarianMTModel, source: list[int], target: list[int]):
        with torch.no_grad():
            out = model(input_ids=torch.tensor([source]), output_attentions=True,
                        decoder_input_ids=torch.tensor([[model.config.decoder_start_token_id, *target[:-1]]]))
            log_probs = torch.log_softmax(out.logits[0], dim=-1)
            labels = model(input_ids=torch.tensor([source]), labels=torch.tensor([target]))
        self.log_probs = [log_probs[i, token].item() for i, token in enumerate(target)]
        self.total = -labels.loss.item() * len(target)
        self.attentions = [layer[0] for layer in out.cross_attentions]


def weights_of(field: str) -> torch.Tensor:
    return torch.tensor([[float(weight) for weight in row.split(",")] for row in field.split(" ")])


class Worst:
    """The largest difference of each kind."""

    def __init__(self):
        self.of = {}

    def add(self, kind: str, found, expected) -> None:
        difference = (torch.as_tensor(found) - torch.as_tensor(expected)).abs().max().item()
        self.of[kind] = max(self.of.get(kind, 0.0), difference)


def heads_of(model: MarianMTModel) -> list[tuple[int, int]]:
    layers, heads = model.config.decoder_layers, model.config.decoder_attention_heads
    return [(layer, head) for layer in range(-1, layers) for head in range(-1, heads)]


def mean_of(attentions: list[torch.Tensor], layer: int, head: int) -> torch.Tensor:
    chosen = attentions if layer < 0 else [attentions[layer]]
    return torch.stack([each.mean(0) if head < 0 else each[head] for each in chosen]).mean(0)


def compare(options, model: MarianMTModel, draw: random.Random, folder: pathlib.Path, worst: Worst) -> int:
    gcst = folder / "model.gcst"
    product.convert(options, folder, gcst)
    size = model.config.vocab_size
    sources = [[draw.randrange(1, size - 1) for _ in range(draw.randint(1, 20))] + [0] for _ in range(4)]
    lines = product.as_lines(sources)
    n_results, known = 0, {}
    for beam_size in (1, 4):
        for layer, head in heads_of(model):
            out = product.translate(options, gcst, "--ids", "--beam-size", beam_size, "--n-best", beam_size,
                                    "--max-target", MOST, "--token-scores", "--alignments", "soft", "--alignment-layer",
                                    layer, "--alignment-head", head, text=lines)
            results = [line.split("\t") for line in out.splitlines()]
            if beam_size > 1:
                results = [[number, *fields] for number, _, *fields in results]
            else:
                results = [[str(i + 1), *fields] for i, fields in enumerate(results)]
            for number, ids, scores, alignment in results:
                source, target = sources[int(number) - 1], product.ids_of(ids)
                along = known.get((number, ids)) or Along(model, source, target)
                known[number, ids] = along
                n = len(target) - (1 if len(target) == MOST else 0)
                worst.add("token scores", [float(score) for score in scores.split(" ")][:n], along.log_probs[:n])
                worst.add("alignments", weights_of(alignment), mean_of(along.attentions, layer, head))
                n_results += 1
    targets = [[draw.randrange(size) for _ in range(draw.randint(1, 25))] for _ in sources]
    given = folder / "targets"
    given.write_text(product.as_lines(targets))
    out = product.translate(options, gcst, "--ids", "--score", given, "--max-target", 40, "--token-scores",
                            "--alignments", "soft", "--batch", 3, text=lines)
    for line, source, target in zip(out.splitlines(), sources, targets, strict=True):
        along = Along(model, source, target)
        total, scores, alignment = line.split("\t")
        worst.add("given targets", float(total) / len(target), along.total / len(target))
        worst.add("token scores of given targets", [float(score) for score in scores.split(" ")], along.log_probs)
        worst.add("alignments of given targets", weights_of(alignment), mean_of(along.attentions, -1, -1))
    out = product.translate(options, gcst, "--ids", "--beam-size", 1, "--max-target", MOST, "--token-scores",
                            text=lines)
    transition_scores(model, sources[0], out.splitlines()[0].split("\t"), worst)
    return n_results


def transition_scores(model, source: list[int], fields: list[str], worst: Worst) -> None:
    """Returns generate's own scores of its greedy text, if our text is the same."""
    generated = model.generate(torch.tensor([source]), num_beams=1, do_sample=False, max_length=MOST + 1,
                               output_scores=True, output_logits=True, return_dict_in_generate=True)
    ids = generated.sequences[0, 1:].tolist()
    if product.ids_of(fields[0]) != ids or len(ids) == MOST:
        return
    theirs = model.compute_transition_scores(generated.sequences, generated.logits, normalize_logits=True)[0]
    worst.add("compute_transition_scores", [float(score) for score in fields[1].split(" ")], theirs)


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=20))
    worst, n_results = Worst(), 0
    for seed in range(options.models):
        folder = options.work / f"model{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        model, draw = make_model(seed, folder)
        n_results += compare(options, model, draw, folder, worst)
    for kind, difference in worst.of.items():
        print(f"{kind}: {difference:.1e}")
    print(f"{options.models} models, {n_results} results, tolerance {TOLERANCE}")
    if len(worst.of) < 6 or not all(difference <= TOLERANCE for difference in worst.of.values()):
        sys.exit("goldcrest departs from transformers")


if __name__ == "__main__":
    main()
