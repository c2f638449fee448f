# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of BART's relatives through the converter and the engine: the ids of float32 files are those of
transformers' generate, greedy and at beam 4, and the scores are within 1e-3. With --ctranslate2 they are CTranslate2's too.

    python tests/peers/families.py --build build/host --work FOLDER [--seeds 4] [--lines 15] [--ctranslate2]
    python tests/peers/families.py --work FOLDER --record tests/data/families.json

All pairs of six languages are compared too, with text, ids and scores, by a file with the table of languages and by files
of one pair.

The second form writes one small checkpoint of each tokenizer's class, with samples for `goldcrest-convert --check`, into
one file: {FOLDER: {FILE: its bytes in hexadecimal}}.
Exit status 1 where ids or scores differ in more than 0.2 % of the lines."""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys

import sentencepiece
import torch
import transformers
from safetensors.torch import save_file

MAX_LENGTH = 18  # the start token included
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


def random_model(family: tuple, seed: int):
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
        getattr(transformers, model_class + "Config")(**settings)).eval()
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


def write_checkpoint(family: tuple, model, folder: pathlib.Path, tokenizers: dict[str, pathlib.Path]) -> None:
    name, _, tokenizer, languages, _ = family
    model.save_pretrained(folder)
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
    rows: dict[str, torch.Tensor] = {}

    def keep(name: str):
        def hook(_module, _inputs, output):
            rows[name] = (output[0] if isinstance(output, tuple) else output).detach()[0].clone()
        return hook

    hooks = []
    for stack_name in ("encoder", "decoder"):
        stack = getattr(model.model, stack_name)

        def before(_module, inputs, keywords, name=f"{stack_name}.embed"):
            hidden = inputs[0] if inputs else keywords["hidden_states"]
            rows[name] = (hidden if hidden.shape[0] == 1 else hidden.transpose(0, 1)).detach()[0].clone()

        hooks.append(stack.layers[0].register_forward_pre_hook(before, with_kwargs=True))
        for i, layer in enumerate(stack.layers):
            hooks.append(layer.register_forward_hook(keep(f"{stack_name}.layers.{i}")))
        if hasattr(stack, "layer_norm"):
            hooks.append(stack.layer_norm.register_forward_hook(keep(f"{stack_name}.norm")))
    with torch.no_grad():
        logits = model(torch.tensor([source]), decoder_input_ids=torch.tensor([[start, *target[:-1]]]),
                       use_cache=False).logits
    for hook in hooks:
        hook.remove()
    rows["logits"] = logits[0]
    return rows


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


def without_end(ids: list[int], end: int) -> list[int]:
    return ids[:ids.index(end)] if end in ids else ids


def results_of(options: argparse.Namespace, family: tuple, folder: pathlib.Path, sources: list[list[int]], beams: int,
               *given: str) -> list[tuple[list[int], float]]:
    """The ids and scores of a folder's float32 file."""
    file = folder / "model.gcst"
    commands = [
        [options.build / "converter/goldcrest-convert", folder, "-o", file, "--weights", "float32", "-q",
         *language_options(family), *given],
        [options.build / "examples/goldcrest-translate", file, "--ids", "--scores", "--beam", str(beams)]]
    text = "".join(" ".join(map(str, source)) + "\n" for source in sources)
    for command in commands:
        made = subprocess.run(command, input=text, capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(f"families.py: {folder.name}: {made.stderr}")
    lines = [line.split("\t") for line in made.stdout.splitlines()]
    if len(lines) != len(sources):
        sys.exit(f"families.py: {folder.name}: {len(lines)} results, expected {len(sources)}")
    return [([int(token) for token in ids.split()], float(score)) for score, ids in lines]


def compare(options: argparse.Namespace, family: tuple, model, folder: pathlib.Path) -> tuple[int, int]:
    sources, equal, n, end = sources_of(family, model, options.lines), 0, 0, model.config.eos_token_id
    translator = options.ctranslate2 and family[0] in IN_CTRANSLATE2 and ctranslate2_translator(family, model, folder)
    for beams in (1, 4):
        for source, (ids, score) in zip(sources, results_of(options, family, folder, sources, beams)):
            expected, expected_score = scored(model, source, beams, first_choice(family))
            n += 1
            if without_end(ids, end) == without_end(expected, end) and abs(score - expected_score) < 1e-3:
                equal += 1
            else:
                print(f"{folder.name}, beams {beams}, source {source}: {score} {ids}, transformers {expected_score} {expected}")
        if translator:
            of_peer = compare_ctranslate2(family, model, translator, sources,
                                          results_of(options, family, folder, sources, beams, "--renormalize"), beams)
            print(f"{folder.name}, beams {beams}: {of_peer[0]} of {of_peer[1]} results are CTranslate2's")
            equal, n = equal + of_peer[0], n + of_peer[1]
    return equal, n


# CTranslate2 has no loader for the others.
IN_CTRANSLATE2 = ("bart", "mbart", "mbart50", "pegasus", "m2m100", "nllb", "t5", "flan", "mt5", "umt5", "byt5", "madlad")


def ctranslate2_translator(family: tuple, model, folder: pathlib.Path):
    """CTranslate2 with the float32 weights of a folder; its token texts are t0, t1 ..."""
    import ctranslate2
    from ctranslate2.converters import TransformersConverter

    config = model.config
    start = first_choice(family).get("decoder_start_token_id", model.generation_config.decoder_start_token_id)

    class Names:
        pad_token, eos_token, unk_token = f"t{config.pad_token_id}", f"t{config.eos_token_id}", "t3"
        bos_token, special_tokens_map, num_madeup_words = f"t{start}", {}, 0

        def get_vocab(self) -> dict[str, int]:
            return {f"t{i}": i for i in range(config.vocab_size)}

        def convert_ids_to_tokens(self, i: int) -> str:
            return f"t{i}"

    class Converter(TransformersConverter):
        def load_tokenizer(self, *_, **__):
            return Names()

        def load_model(self, *given, **named):
            # Its loaders read settings of older transformers. That of T5 scales the logits wherever tables are tied.
            loaded = super().load_model(*given, **named)
            loaded.config.normalize_before = family[0] != "bart"
            loaded.config.normalize_embedding = family[0] in ("bart", "mbart", "mbart50")
            if hasattr(config, "feed_forward_proj"):
                loaded.config.tie_word_embeddings = getattr(config, "scale_decoder_outputs", family[0] == "umt5")
            return loaded

    output = folder / "ctranslate2"
    Converter(str(folder)).convert(str(output), force=True)
    settings = json.loads((output / "config.json").read_text())
    (output / "config.json").write_text(json.dumps(settings | {"decoder_start_token": f"t{start}"}))
    return ctranslate2.Translator(str(output), device="cpu", intra_threads=1)


def compare_ctranslate2(family: tuple, model, translator, sources: list, found: list, beams: int) -> tuple[int, int]:
    """Compares ids and scores. Of greedy results that the limit cuts it compares the ids before the last; of beams it
    leaves them out, because CTranslate2 forces no end. Returns how many are equal, of all."""
    choice = first_choice(family)
    prefix = [[f"t{choice['forced_bos_token_id']}"]] * len(sources) if "forced_bos_token_id" in choice else None
    suppressed = [[f"t{i}"] for i in model.generation_config.suppress_tokens or []] or None
    results = translator.translate_batch(
        [[f"t{i}" for i in source] for source in sources], target_prefix=prefix, suppress_sequences=suppressed,
        beam_size=beams, min_decoding_length=0, max_decoding_length=MAX_LENGTH - 1, return_scores=True)
    equal = n = 0
    for source, (ids, score), result in zip(sources, found, results):
        expected = [int(text[1:]) for text in result.hypotheses[0]]
        is_cut = len(expected) == MAX_LENGTH - 1
        if beams > 1 and (is_cut or len(ids) == MAX_LENGTH - 1):
            continue
        n += 1
        if is_cut and ids[:-1] == expected[:-1] or not is_cut and abs(score - result.scores[0]) < 1e-3 and \
                without_end(ids, model.config.eos_token_id) == expected:
            equal += 1
        else:
            print(f"{family[0]}, beams {beams}, source {source}: {score} {ids}, CTranslate2 {result.scores[0]} {expected}")
    return equal, n


SIX = {
    "nllb": ["eng_Latn", "fra_Latn", "deu_Latn", "zho_Hans", "arb_Arab", "spa_Latn"],
    "m2m100": ["__en__", "__fr__", "__de__", "__zh__", "__ar__", "__es__"],
    "mbart50": ["en_XX", "fr_XX", "de_DE", "zh_CN", "ar_AR", "es_XX"],
    "mbart": ["en_XX", "fr_XX", "de_DE", "zh_CN", "ar_AR", "es_XX"]}
TEXTS = ["Where is the station?", "We are not here."]


def scored(model, source: list[int], beams: int, language: dict) -> tuple[list[int], float]:
    """Returns the ids of generate and their score. The score is the mean log-probability before the rules; a forced
    token adds nothing and counts in the length."""
    with torch.no_grad():
        found = model.generate(torch.tensor([source]), num_beams=beams, do_sample=False, output_scores=True,
                               output_logits=True, return_dict_in_generate=True, **language)
    ids = found.sequences[0].tolist()[1:]
    if beams > 1:
        return ids, float(found.sequences_scores[0])
    chosen = [torch.log_softmax(logits[0].double(), -1)[token].item() for logits, token in zip(found.logits, ids)]
    forced = [i for i in range(len(ids)) if (i == 0 and "forced_bos_token_id" in language)
              or (i + 2 == MAX_LENGTH and model.generation_config.forced_eos_token_id is not None)]
    return ids, sum(value for i, value in enumerate(chosen) if i not in forced) / len(ids)


def compare_languages(options: argparse.Namespace, family: tuple, tokenizer: pathlib.Path,
                      seed: int) -> tuple[int, int]:
    """All 30 pairs: the table's file and the pair's file give the same lines, and those are transformers'."""
    name, languages = family[0], SIX[family[0]]
    folder = options.work / f"six-{name}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = random_model(family, seed)
    write_checkpoint((*family[:3], languages, family[4]), model, folder, {"fairseq": tokenizer})
    model = type(model).from_pretrained(folder).eval()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))

    def convert(file: pathlib.Path, *pair: str) -> pathlib.Path:
        made = subprocess.run([options.build / "converter/goldcrest-convert", folder, "-o", file, "--weights", "float32",
                               "-q", *pair], capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(f"families.py: {folder.name}: {made.stderr}")
        return file

    def translate(file: pathlib.Path, *more: str) -> str:
        made = subprocess.run([options.build / "examples/goldcrest-translate", file, "--no-split", "--tokens", "--scores",
                               *more], input="\n".join(TEXTS) + "\n", capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(f"families.py: {folder.name}: {made.stderr}")
        return made.stdout

    table, equal, n = convert(folder / "table.gcst"), 0, 0
    for source_index, source in enumerate(languages):
        for target_index, target in enumerate(languages):
            if source == target:
                continue
            pair = ["--source-lang", source.strip("_"), "--target-lang", target.strip("_")]
            fixed = convert(folder / "pair.gcst", *pair)
            source_id, target_id = PIECES + 1 + source_index, PIECES + 1 + target_index
            language = {"decoder_start_token_id" if name == "mbart" else "forced_bos_token_id": target_id}
            for beams in (1, 4):
                lines = translate(table, "--beam", str(beams), *pair)
                if lines != translate(fixed, "--beam", str(beams)):
                    sys.exit(f"families.py: {folder.name}, {pair}: the table's file and the pair's file differ")
                for text, line in zip(TEXTS, lines.splitlines(), strict=True):
                    ids = [3 if i == 0 else i + 1 for i in pieces.encode(text)]
                    ids = [*ids, 2, source_id] if name == "mbart" else [source_id, *ids, 2]
                    expected, score = scored(model, ids, beams, language)
                    found_score, found = line.split("\t")
                    n += 1
                    if [int(i) for i in found.split()] == expected and abs(float(found_score) - score) < 1e-3:
                        equal += 1
                    else:
                        print(f"{folder.name}, {pair}, beams {beams}: {line}; transformers {score:.4f} {expected}")
    return equal, n


def argument_parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--lines", type=int, default=15)
    parser.add_argument("--ctranslate2", action="store_true", help="compare with CTranslate2 too")
    return parser


def prepare(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options.work.mkdir(parents=True, exist_ok=True)


def main() -> None:
    options = argument_parser(__doc__).parse_args()
    prepare(options)
    tokenizers = {"fairseq": train_tokenizer(options.work, "fairseq", model_type="bpe"),
                  "pegasus": train_tokenizer(options.work, "pegasus", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)}
    equal = n = 0
    for family in FAMILIES:
        for seed in range(1 if options.record else options.seeds):
            folder = options.work / (family[0] if options.record else f"{family[0]}-{seed}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            model = random_model(family, seed)
            write_checkpoint(family, model, folder, tokenizers)
            model = type(model).from_pretrained(folder).eval()
            if options.record:
                record(family, model, folder)
                continue
            of_model = compare(options, family, model, folder)
            equal, n = equal + of_model[0], n + of_model[1]
        if not options.record:
            print(f"{family[0]}: {equal} of {n} lines so far are equal")
            if family[0] in SIX:
                of_pairs = compare_languages(options, family, tokenizers["fairseq"], 0)
                print(f"{family[0]}, six languages: {of_pairs[0]} of {of_pairs[1]} lines are equal, scores included")
                equal, n = equal + of_pairs[0], n + of_pairs[1]
    if options.record:
        options.record.write_text(json.dumps(
            {family[0]: {path.name: path.read_bytes().hex() for path in sorted((options.work / family[0]).iterdir())}
             for family in FAMILIES}, indent=1) + "\n")
    elif n == 0 or equal < 0.998 * n:
        sys.exit(f"goldcrest departs from transformers in {n - equal} of {n} searches")


if __name__ == "__main__":
    main()
