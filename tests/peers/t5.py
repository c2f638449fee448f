# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of T5's families through the converter and the engine, like those of BART's in families.py.

    python tests/peers/t5.py --build build/host --work FOLDER [--seeds 4] [--lines 15] [--ctranslate2]
    python tests/peers/t5.py --work FOLDER --record tests/data/t5.json

Every second seed is saved as transformers 4 saves it: pytorch_model.bin with all tables, even equal ones.
The record has the first distance of each bucket too, by torch."""

import json
import math
import pathlib
import random
import shutil
from collections import Counter

import torch
import transformers

import families
import product
from family_searches import MAX_LENGTH, Peer, check, compare_folder, converted, results_of, scored
from random_checkpoints import Trace

PIECES = families.PIECES
SMALL, SENTINELS = PIECES + 12, 100
# Folder, class of the model, tokenizer, its shift: as in families.py.
FAMILIES = [(name, model_class, None, [], 0) for name, model_class in [
    ("t5", "T5"), ("flan", "T5"), ("mt5", "MT5"), ("umt5", "UMT5"), ("byt5", "T5"), ("madlad", "T5")]]
BUCKETS = [(32, 128), (32, 256), (64, 128), (16, 64), (8, 32), (128, 800)]
FARTHEST = 4096


def random_model(family: tuple, seed: int, vocab_size: int | None = None):
    name, model_class, _, _, _ = family
    draw = random.Random(f"{name} {seed}")
    settings = {
        "d_model": draw.randint(9, 24), "d_kv": draw.choice([5, 8, 11]), "d_ff": draw.randint(9, 40),
        "num_heads": draw.choice([2, 3]), "num_layers": draw.randint(1, 3), "num_decoder_layers": draw.randint(1, 3),
        "relative_attention_num_buckets": draw.choice([8, 16]),
        "relative_attention_max_distance": draw.choice([10, 14]),
        "feed_forward_proj": "relu" if name == "t5" else draw.choice(["gated-gelu", "gated-silu"]),
        "vocab_size": vocab_size or {"byt5": 384, "mt5": SMALL, "umt5": SMALL}.get(name, PIECES + SENTINELS + 6),
        "tie_word_embeddings": name in ("t5", "umt5"), "decoder_start_token_id": 0,
        "pad_token_id": 1 if name == "madlad" else 0, "eos_token_id": 2 if name == "madlad" else 1}
    # The decoder's cache of transformers 5.23 has as many layers as the encoder, so it may not have more.
    settings["num_decoder_layers"] = min(settings["num_decoder_layers"], settings["num_layers"])
    model = getattr(transformers, model_class + "ForConditionalGeneration")(
        getattr(transformers, model_class + "Config")(**settings)).eval()
    generator = torch.Generator().manual_seed(seed)
    if not settings["tie_word_embeddings"]:
        model.lm_head.weight = torch.nn.Parameter(torch.zeros_like(model.lm_head.weight))
    for parameter_name, parameter in model.named_parameters():
        is_bias = "relative_attention_bias" in parameter_name
        parameter.data.normal_(0, 1 if is_bias else 0.3, generator=generator)
        if "layer_norm" in parameter_name:
            parameter.data += 1
    model.generation_config.max_length = MAX_LENGTH
    first = {"t5": PIECES + SENTINELS, "flan": PIECES + SENTINELS, "madlad": PIECES + SENTINELS}.get(
        name, settings["vocab_size"] if name == "byt5" else PIECES)
    model.generation_config.suppress_tokens = list(range(first, settings["vocab_size"])) or None
    return model


def write_checkpoint(family: tuple, model, folder: pathlib.Path, tokenizers: dict, seed: int) -> None:
    name = family[0]
    model.save_pretrained(folder)
    if seed % 2 == 1:
        (folder / "model.safetensors").unlink()
        tensors = dict(model.state_dict())
        for stack in ("encoder", "decoder"):
            tensors[f"{stack}.embed_tokens.weight"] = tensors["shared.weight"]
        tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = torch.zeros(4, 2)
        torch.save(tensors, folder / "pytorch_model.bin")
        settings = json.loads((folder / "config.json").read_text())
        scales = settings.pop("scale_decoder_outputs", name == "umt5")
        settings["tie_word_embeddings"] = scales
        (folder / "config.json").write_text(json.dumps(settings))
    if name == "byt5":
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "ByT5Tokenizer"}))
    else:
        shutil.copy(tokenizers["madlad" if name == "madlad" else "t5"], folder / "spiece.model")


def trace(_family: tuple, model, source: list[int], target: list[int]) -> dict[str, torch.Tensor]:
    rows = Trace()
    rows.keep_stack("encoder", model.encoder.block, model.encoder.final_layer_norm)
    rows.keep_stack("decoder", model.decoder.block, None)  # a converted model's norm has the factor of the logits
    return rows.rows_along(model, torch.tensor([source]), [0, *target[:-1]])


def umt5_scores(options) -> None:
    """An umT5 whose tables are not tied: transformers 5 scales its logits nevertheless, version 4 did not, and neither
    do we. The ids of greedy search are equal, the scores are version 4's."""
    family, folder = FAMILIES[3], product.emptied(options.work / "umt5-untied")
    model, generator = random_model(family, 1), torch.Generator().manual_seed(1)
    model.lm_head.weight = torch.nn.Parameter(0.3 * torch.randn(model.lm_head.weight.shape, generator=generator))
    model.config.tie_word_embeddings = False
    model.save_pretrained(folder)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"tie_word_embeddings": False}))
    (folder / "tokenizer_config.json").write_text("{}")
    shutil.copy(options.work / "t5.model", folder / "spiece.model")
    model = type(model).from_pretrained(folder).eval()
    sources = families.sources_of(family, model, options.lines)
    newer = older = 0.0
    for source, (ids, score) in zip(sources, results_of(options, converted(options, folder), sources, 1)):
        expected, of_newer = scored(model, source, 1, {})
        if ids != expected:
            raise SystemExit(f"umt5-untied, source {source}: {ids}, transformers {expected}")
        with torch.no_grad():
            logits = model(torch.tensor([source]), decoder_input_ids=torch.tensor([[0, *ids[:-1]]])).logits[0].double()
        chosen = torch.log_softmax(logits * settings["d_model"] ** 0.5, -1)[range(len(ids)), ids]
        newer, older = max(newer, abs(score - of_newer)), max(older, abs(score - chosen.mean().item()))
    print(f"umt5 with tables of its own: scores are at most {older:.1e} from version 4's, {newer:.2f} from version 5's")
    if older > 1e-3 or newer < 1e-3:
        raise SystemExit("umT5's scores are not those of transformers 4")


def bucket_of(distances: torch.Tensor, n: int, farthest: int) -> torch.Tensor:
    """Returns the buckets of one direction, as modeling_t5.py computes them."""
    exact = n // 2
    wide = exact + (torch.log(distances.float() / exact) / math.log(farthest / exact) * (n - exact)).to(torch.long)
    return torch.where(distances < exact, distances, torch.min(wide, torch.full_like(wide, n - 1)))


def first_distances() -> list[dict]:
    """Returns the first distance of each bucket, for one direction and for both; buckets never descend."""
    rows, distances = [], torch.arange(FARTHEST + 1)
    for n, farthest in BUCKETS:
        row = {"buckets": n, "max_distance": farthest}
        for key, of_direction in (("one", n), ("both", n // 2)):
            found = bucket_of(distances, of_direction, farthest)
            assert bool((found[1:] >= found[:-1]).all())
            row[key] = [int((found < bucket).sum()) for bucket in range(of_direction)]
        rows.append(row)
    return rows


def main() -> None:
    options = families.options_of(__doc__)
    families.trace = trace
    special = {"t5": {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
               "madlad": {"unk_id": 0, "bos_id": 1, "eos_id": 2, "user_defined_symbols": ["<2fr>", "<2de>"]}}
    tokenizers = {name: families.train_tokenizer(options.work, name, **ids) for name, ids in special.items()}
    counts = Counter()
    for family in FAMILIES:
        for seed in range(2 if options.record else options.seeds):
            folder = product.emptied(options.work / f"{family[0]}-{seed}")
            model = random_model(family, seed)
            write_checkpoint(family, model, folder, tokenizers, seed)
            if options.record:
                families.record(family, model, folder)
                continue
            compare_folder(options, Peer(folder.name, model, {}), folder,
                           families.sources_of(family, model, options.lines), [], counts)
        if not options.record:
            print(f"{family[0]}: so far {counts['searches']} searches, of which {counts['ties']} are ties", flush=True)
    if not options.record:
        umt5_scores(options)
        return check(counts)
    packed = product.packed(folder for folder in sorted(options.work.iterdir()) if folder.is_dir())
    options.record.write_text(json.dumps({"folders": packed, "buckets": first_distances()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
