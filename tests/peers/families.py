# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of BART's relatives through the converter and the engine: the ids of float32 files are those of
transformers' generate, greedy and at beam 4, and the scores are within 1e-3. With --ctranslate2 they are CTranslate2's
too. Every second seed is saved as transformers 4 saves it: pytorch_model.bin with all tables, even equal ones.

  python tests/peers/families.py --build build/host --work FOLDER [--seeds 4] [--lines 15] [--words 200] [--ctranslate2]
  python tests/peers/families.py --work FOLDER --record tests/data/families.json

All pairs of six languages are compared too, with text, ids and scores, by a file with the table of languages and by
files of one pair; and words of a BART whose config.json lists letters and phonemes, as misaki's does.

The second form writes two small checkpoints of each family, with samples for `goldcrest-convert --check`, into one
file: {FOLDER: {FILE: its bytes in hexadecimal}}. The second one is saved as transformers 4 saves it. Exit status 1 for
a departure that is no tie in float64, and for ties in more than 0.2 % of the searches."""

import argparse
import json
import pathlib
import random
import shutil
import string
from collections import Counter

import sentencepiece
import torch
import transformers
from safetensors.torch import save_file

import product
from family_searches import MAX_LENGTH, Peer, check, compare_folder, converted, results_of, scored, translate
from random_checkpoints import Trace

# Folder, class of the model, class of the tokenizer, first three languages, the tokenizer's shift.
FAMILIES = [
    ("bart", "Bart", None, [], 0),
    ("mbart", "MBart", "MBartTokenizer", ["en_XX", "fr_XX", "de_DE"], 1),
    ("mbart50", "MBart", "MBart50Tokenizer", ["en_XX", "fr_XX", "de_DE"], 1),
    ("pegasus", "Pegasus", None, [], 103),
    ("m2m100", "M2M100", "M2M100Tokenizer", ["__en__", "__fr__", "__de__"], 1),
    ("nllb", "M2M100", "NllbTokenizer", ["eng_Latn", "fra_Latn", "deu_Latn"], 1),
    ("blenderbot", "Blenderbot", None, [], 0),
    ("fsmt", "FSMT", None, [], 0),
]
PIECES = 130


def train_tokenizer(work: pathlib.Path, name: str, **options: object) -> pathlib.Path:
    lines = work / "lines.txt"
    source = pathlib.Path(__file__).parent.parent / "data/enfr/valid.tsv"
    lines.write_text(source.read_text(encoding="utf-8").replace("\t", "\n"), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(lines), model_prefix=str(work / name), vocab_size=PIECES, normalization_rule_name="identity",
        character_coverage=0.99, minloglevel=2, **options)
    return work / f"{name}.model"


def random_model(family: tuple, seed: int, **given):
    folder, model_class, _, _, _ = family
    draw = random.Random(f"{folder} {seed}")
    heads = draw.choice([2, 3])
    settings = {
        "d_model": heads * 2 * draw.randint(2, 8), "encoder_layers": draw.randint(1, 2),
        "decoder_layers": draw.randint(1, 2), "encoder_attention_heads": heads, "decoder_attention_heads": heads,
        "encoder_ffn_dim": draw.randint(8, 40), "decoder_ffn_dim": draw.randint(8, 40),
        "max_position_embeddings": draw.randint(20, 40), "scale_embedding": draw.random() < 0.5,
        "activation_function": draw.choice(["relu", "gelu", "silu", "gelu_new"])}
    if folder == "fsmt":
        settings.update(langs=["en", "de"], src_vocab_size=40, tgt_vocab_size=44)
    else:
        size = {"bart": 50, "blenderbot": 50, "pegasus": PIECES + 103}.get(folder, PIECES + 12)
        settings.update(vocab_size=size, tie_word_embeddings=draw.random() < 0.6)
    if folder == "mbart50":
        settings["decoder_start_token_id"] = 2
    model = getattr(transformers, model_class + "ForConditionalGeneration")(
        getattr(transformers, model_class + "Config")(**settings | given)).eval()
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "embed_positions" in name and folder in ("pegasus", "fsmt"):
            continue  # sinusoids
        parameter.data.normal_(0, 0.3, generator=generator)
        if "norm" in name and name.endswith("weight"):
            parameter.data += 1
    if hasattr(model, "final_logits_bias"):
        model.final_logits_bias.normal_(0, 0.5, generator=generator)
    model.generation_config.max_length = MAX_LENGTH
    if folder in ("fsmt", "m2m100", "nllb"):
        model.generation_config.suppress_tokens = [1]  # padding inside a text has no position of its own
    return model


def save_as_version_4(model, folder: pathlib.Path) -> None:
    """Replaces a folder's weights by pytorch_model.bin, in which each table has its own tensor."""
    (folder / "model.safetensors").unlink()
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if model.config.model_type == "fsmt":
        for stack in ("encoder", "decoder"):  # the oldest ones have sinusoids too, by this name
            tensors[f"model.{stack}.embed_positions.weights"] = torch.empty(1)
    torch.save(tensors, folder / "pytorch_model.bin")


def write_checkpoint(family: tuple, model, folder: pathlib.Path, tokenizers: dict[str, pathlib.Path],
                     is_old: bool = False) -> None:
    name, _, tokenizer, languages, _ = family
    model.save_pretrained(folder)
    if is_old:
        save_as_version_4(model, folder)
    if name == "pegasus":
        shutil.copy(tokenizers["pegasus"], folder / "spiece.model")
    if tokenizer is None:
        return
    shutil.copy(tokenizers["fairseq"], folder / "sentencepiece.bpe.model")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": tokenizer, "additional_special_tokens": languages}))
    if name == "m2m100":
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizers["fairseq"]))
        ids = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        ids.update({pieces.id_to_piece(i): i + 1 for i in range(3, PIECES)})
        (folder / "vocab.json").write_text(json.dumps(ids))


def language_options(family: tuple) -> list[str]:
    languages = [language.strip("_") for language in family[3]]
    return ["--source-lang", languages[0], "--target-lang", languages[1]] if languages else []


def first_choice(family: tuple) -> dict[str, int]:
    """Returns the option of generate that chooses the target's language."""
    if family[2] == "MBartTokenizer":
        return {"decoder_start_token_id": PIECES + 2}
    return {} if family[2] is None else {"forced_bos_token_id": PIECES + 2}


def generate(family: tuple, model, source: list[int], beams: int) -> list[int]:
    ids, end = scored(model, source, beams, first_choice(family))[0], model.config.eos_token_id
    return ids[:ids.index(end) + 1] if end in ids else ids


def sources_of(family: tuple, model, n: int) -> list[list[int]]:
    draw = random.Random(7)
    size = getattr(model.config, "src_vocab_size", None) or model.config.vocab_size
    return [[draw.randrange(4, size) for _ in range(draw.randint(1, 12))] + [model.config.eos_token_id]
            for _ in range(n)]


def trace(family: tuple, model, source: list[int], target: list[int]) -> dict[str, torch.Tensor]:
    start = PIECES + 2 if family[2] == "MBartTokenizer" else model.generation_config.decoder_start_token_id
    rows = Trace()
    for name in ("encoder", "decoder"):
        stack = getattr(model.model, name)
        rows.keep_stack(name, stack.layers, getattr(stack, "layer_norm", None))
    return rows.rows_along(model, torch.tensor([source]), [start, *target[:-1]])


def record(family: tuple, model, folder: pathlib.Path) -> None:
    lines, logits = [], {}
    for i, source in enumerate(sources_of(family, model, 3)):
        greedy = generate(family, model, source, 1)
        lines.append({"source_ids": source, "greedy": greedy, "beam4": generate(family, model, source, 4)})
        if family[0] == "fsmt":
            continue  # its forward over a whole target has no causal mask
        rows = trace(family, model, source, greedy)
        logits[f"logits.{i}"] = rows["logits"].clone()
        if i == 0:
            save_file({name: value.contiguous() for name, value in rows.items()}, folder / "trace.safetensors")
    if logits:
        save_file(logits, folder / "logits.safetensors")
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


SIX = {
    "nllb": ["eng_Latn", "fra_Latn", "deu_Latn", "zho_Hans", "arb_Arab", "spa_Latn"],
    "m2m100": ["__en__", "__fr__", "__de__", "__zh__", "__ar__", "__es__"],
    "mbart50": ["en_XX", "fr_XX", "de_DE", "zh_CN", "ar_AR", "es_XX"],
    "mbart": ["en_XX", "fr_XX", "de_DE", "zh_CN", "ar_AR", "es_XX"]}
TEXTS = ["Where is the station?", "We are not here."]


def compare_languages(options: argparse.Namespace, family: tuple, tokenizer: pathlib.Path, seed: int,
                      counts: Counter) -> None:
    """All 30 pairs: the table's file and the pair's file give the same lines, and those are transformers'."""
    name, languages = family[0], SIX[family[0]]
    folder = product.emptied(options.work / f"six-{name}-{seed}")
    model = random_model(family, seed)
    write_checkpoint((*family[:3], languages, family[4]), model, folder, {"fairseq": tokenizer})
    model = type(model).from_pretrained(folder).eval()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    table, text = converted(options, folder).rename(folder / "table.gcst"), "".join(text + "\n" for text in TEXTS)
    for source_index, source in enumerate(languages):
        for target_index, target in enumerate(languages):
            if source == target:
                continue
            pair = ["--source-lang", source.strip("_"), "--target-lang", target.strip("_")]
            fixed = converted(options, folder, *pair)
            source_id, target_id = PIECES + 1 + source_index, PIECES + 1 + target_index
            peer = Peer(f"{folder.name}, {pair}", model,
                        {"decoder_start_token_id" if name == "mbart" else "forced_bos_token_id": target_id})
            for beams in (1, 4):
                given = ["--no-split", "--tokens", "--scores", "--beam-size", str(beams)]
                lines = translate(options, table, text, *given, *pair)
                if lines != translate(options, fixed, text, *given):
                    raise SystemExit(f"{peer.name}: goldcrest departs: the table's file and the pair's file differ")
                for source_text, line in zip(TEXTS, lines, strict=True):
                    ids = [3 if i == 0 else i + 1 for i in pieces.encode(source_text)]
                    ids = [*ids, 2, source_id] if name == "mbart" else [source_id, *ids, 2]
                    score, found = line.split("\t")
                    peer.compare(ids, beams, ([int(i) for i in found.split()], float(score)), counts)


# A BART of misaki's: the first four characters of each list stand for special tokens.
LETTERS = "____'" + string.ascii_letters + "é"
PHONEMES = "____AIOWYbdfhijklmnpstuvwzæðŋɑɔəɛɜɡɪɹɾʃʊʌʒʤʧˈˌθᵊᵻʔ"


def pronounced(model, n: int) -> list[tuple[str, list[int], str]]:
    """Returns random words, some with unknown characters, their ids, and the phonemes that generate gives them."""
    draw, made, letters = random.Random(9), [], LETTERS[3:] + "£"
    while len(made) < n:
        words = ["".join(draw.choices(letters, k=draw.randint(1, 12))) for _ in range(min(n - len(made), 250))]
        ids = [[1, *(max(LETTERS.find(letter), 3) for letter in word), 2] for word in words]
        rows = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in ids], batch_first=True)
        with torch.no_grad():
            spoken = model.generate(rows, attention_mask=(rows > 0).long(), num_beams=1, do_sample=False).tolist()
        made += zip(words, ids, ["".join(PHONEMES[i] for i in row if 3 < i < len(PHONEMES)) for row in spoken])
    return made


def compare_words(options: argparse.Namespace, folder: pathlib.Path, counts: Counter) -> None:
    """Words by text; those that differ, by ids."""
    given = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "d_model": 12}
    family = ("misaki", "Bart", None, [], 0)
    model = random_model(family, 4, vocab_size=62, grapheme_chars=LETTERS, phoneme_chars=PHONEMES, **given)
    write_checkpoint(family, model, folder, {})
    words = pronounced(model, 200 if options.record else options.words)
    if options.record:
        lines = "".join(f"{word}\t{phonemes}\n" for word, _, phonemes in words)
        (folder / "words.tsv").write_text(lines, encoding="utf-8")
        return
    file = converted(options, folder)
    found = translate(options, file, "".join(word + "\n" for word, _, _ in words), "--no-split")
    others = [ids for (_, ids, phonemes), line in zip(words, found, strict=True) if line != phonemes]
    counts["searches"] += len(words) - len(others)
    print(f"misaki: {len(words) - len(others)} of {len(words)} words are equal", flush=True)
    for ids in others:
        Peer(folder.name, model, {}).compare(ids, 1, results_of(options, file, [ids], 1)[0], counts)


def options_of(description: str, **more: object) -> argparse.Namespace:
    """With --ctranslate2, CTranslate2 is compared too."""
    return product.parsed(product.parser_of(
        description, build=pathlib.Path, record=pathlib.Path, seeds=4, lines=15, words=200, ctranslate2=False, **more))


def seeds_to_record(family: tuple) -> list[int]:
    """Returns seed 0 and that of the smallest of the next models with the other way of tying."""
    def size(seed: int) -> tuple[bool, int]:
        model = random_model(family, seed)
        return model.config.tie_word_embeddings == first, sum(tensor.numel() for tensor in model.state_dict().values())

    first = random_model(family, 0).config.tie_word_embeddings
    return [0, min(range(1, 12), key=size)]


def main() -> None:
    options = options_of(__doc__)
    tokenizers = {"fairseq": train_tokenizer(options.work, "fairseq", model_type="bpe"),
                  "pegasus": train_tokenizer(options.work, "pegasus", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)}
    counts, folders = Counter(), []
    for family in FAMILIES:
        for i, seed in enumerate(seeds_to_record(family) if options.record else range(options.seeds)):
            folder = product.emptied(options.work / (f"{family[0]}-{i}" if i > 0 or not options.record else family[0]))
            folders.append(folder)
            model = random_model(family, seed)
            write_checkpoint(family, model, folder, tokenizers, is_old=i % 2 == 1)
            model = type(model).from_pretrained(folder).eval()
            if options.record:
                record(family, model, folder)
                continue
            compare_folder(options, Peer(folder.name, model, first_choice(family)), folder,
                           sources_of(family, model, options.lines), language_options(family), counts)
        if not options.record:
            print(f"{family[0]}: so far {counts['searches']} searches, of which {counts['ties']} are ties", flush=True)
            if family[0] in SIX:
                compare_languages(options, family, tokenizers["fairseq"], 0, counts)
    folders.append(product.emptied(options.work / "misaki"))
    compare_words(options, folders[-1], counts)
    if not options.record:
        return check(counts)
    options.record.write_text(json.dumps(product.packed(folders), indent=1) + "\n")


if __name__ == "__main__":
    main()
