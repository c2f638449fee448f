# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of Moonshine and Whisper with transformers' results for them, for `goldcrest-convert --check`.

    python tests/peers/speech.py --work FOLDER [--record tests/data/speech.json]
    python tests/peers/speech.py --work FOLDER --build build/host --models 6

Writes FOLDER/moonshine and FOLDER/whisper. With --record, packs both into one file: {FOLDER: {FILE: its bytes in
hexadecimal}}. Weights are stored in half precision.

--build: compares this many multilingual Whispers, with the 51,865 entries and 99 languages of the published ones. The
language that Goldcrest hears in a clip must be that of transformers' detect_language: `--check` compares the ids of
greedy search and beams, goldcrest-transcribe must print the text that it prints with --language."""

import collections
import json
import pathlib
import random

import numpy
import torch
import transformers
from safetensors.torch import load_file, save_file

import product
from product import RATE, emptied, write_wav
from random_checkpoints import Trace

N_TOKENS = 10
# Heads of width 20 with 8 rotating columns; the stem's kernels are the families' own.
MOONSHINE = {
    "hidden_size": 60, "intermediate_size": 36, "encoder_num_hidden_layers": 1, "decoder_num_hidden_layers": 2,
    "encoder_num_attention_heads": 3, "decoder_num_attention_heads": 3, "encoder_num_key_value_heads": 3,
    "decoder_num_key_value_heads": 3, "vocab_size": 280, "max_position_embeddings": 32, "pad_token_id": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.4}}
LANGUAGES = ["en", "fr", "haw"]
WHISPER = {
    "d_model": 60, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 3,
    "encoder_ffn_dim": 36, "decoder_ffn_dim": 44, "num_mel_bins": 12, "max_source_positions": 50,
    "max_target_positions": 24, "tie_word_embeddings": True}


def made_up_clip(seconds: float, seed: int) -> numpy.ndarray:
    draw = numpy.random.default_rng(seed)
    time = numpy.arange(int(seconds * RATE)) / RATE
    tone = numpy.sin(2 * numpy.pi * (300 + 400 * seed + 900 * time) * time)
    return (6000 * tone * numpy.sin(5 * time) + draw.normal(0, 400, len(time))).astype(numpy.int16)


def fill(model, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        scale = 2 / parameter[0].numel() ** 0.5 if parameter.dim() > 1 and "embed" not in name else 0.15
        parameter.data.normal_(0, scale, generator=generator)
        if "norm" in name and name.endswith("weight"):
            parameter.data += 1


def byte_characters() -> list[str]:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def moonshine():
    model = transformers.MoonshineForConditionalGeneration(transformers.MoonshineConfig(**MOONSHINE))
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *(f"\u2581w{i}" for i in range(19))]
    special = [0, 1, 2, 278, 279]
    pieces += ["<<ST_0>>", "<<ST_1>>"]
    tokenizer = {
        "added_tokens": [{"id": i, "content": pieces[i], "special": True} for i in special],
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "byte_fallback": True, "merges": [],
                  "vocab": {piece: i for i, piece in enumerate(pieces) if i < 278}}}
    return model, {"tokenizer.json": tokenizer}


def set_all(settings, **values: object) -> None:
    for name, value in values.items():
        setattr(settings, name, value)


def whisper(languages=tuple(LANGUAGES), n_words=0, n_timestamps=2):
    special = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{language}|>" for language in languages),
               "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>",
               "<|notimestamps|>", *(f"<|{0.02 * i:.2f}|>" for i in range(n_timestamps))]
    entries = [*byte_characters(), "\u0120the", "\u00c3\u00a9", *(f"\u0120w{i}" for i in range(n_words)), *special]
    ids = {entry: i for i, entry in enumerate(entries)}
    n_text = 258 + n_words
    model = transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        **WHISPER, vocab_size=len(entries), pad_token_id=ids[special[0]], bos_token_id=ids[special[0]],
        eos_token_id=ids[special[0]], decoder_start_token_id=ids[special[1]], begin_suppress_tokens=None))
    set_all(model.generation_config, _from_model_config=False, is_multilingual=True,
            lang_to_id={f"<|{name}|>": ids[f"<|{name}|>"] for name in languages},
            task_to_id={"transcribe": ids["<|transcribe|>"], "translate": ids["<|translate|>"]},
            no_timestamps_token_id=ids["<|notimestamps|>"], return_timestamps=False, max_length=24,
            suppress_tokens=[3, 4, *range(ids[special[1]], len(entries))],
            begin_suppress_tokens=[32, ids[special[0]]])
    return model, {"vocab.json": {e: i for e, i in ids.items() if i < n_text},
                   "added_tokens.json": {e: i for e, i in ids.items() if i >= n_text}}


def inputs_of(name: str, model, samples: numpy.ndarray) -> torch.Tensor:
    sound = samples.astype(numpy.float32) / 32768
    if name == "moonshine":
        return torch.from_numpy(sound)[None]
    seconds = model.config.max_source_positions // 50
    extractor = transformers.WhisperFeatureExtractor(feature_size=model.config.num_mel_bins, chunk_length=seconds)
    return extractor(sound, sampling_rate=RATE, return_tensors="pt").input_features


def prompt_of(name: str, model, inputs: torch.Tensor) -> list[int]:
    if name == "moonshine":
        return []
    settings = model.generation_config
    if not settings.is_multilingual:
        return [settings.no_timestamps_token_id]
    language = int(model.detect_language(input_features=inputs)[0])
    return [language, settings.task_to_id["transcribe"], settings.no_timestamps_token_id]


def generate(name: str, model, inputs: torch.Tensor, beams: int, prompt: list[int], n_tokens: int) -> list[int]:
    start = model.generation_config.decoder_start_token_id
    options = {"task": "transcribe"} if len(prompt) > 1 else {}
    found = model.generate(inputs, num_beams=beams, do_sample=False, max_new_tokens=n_tokens, **options)[0].tolist()
    while found and found[0] in (start, *prompt):
        found = found[1:]
    end = model.config.eos_token_id
    if end in found:
        found = found[:found.index(end)]
    return prompt + found + [end] * (len(found) < n_tokens)  # Whisper's results come without their end


def trace(name: str, model, inputs: torch.Tensor, target: list[int]) -> dict[str, torch.Tensor]:
    rows = Trace()
    for stack_name in ("encoder", "decoder"):
        stack = getattr(model.model, stack_name)
        rows.keep_stack(stack_name, stack.layers, stack.norm if hasattr(stack, "norm") else stack.layer_norm)
    if name == "moonshine":
        rows.keep("encoder.convolutions.0", model.model.encoder.groupnorm, turned=True)
    else:
        rows.rows["encoder.features"] = inputs[0].T.clone()
    return rows.rows_along(model, inputs, [model.generation_config.decoder_start_token_id, *target[:-1]])


def made_up_clips(n_clips: int) -> list[numpy.ndarray]:
    return [made_up_clip(0.13 + 0.06 * i, i) for i in range(n_clips)]


def record(name: str, model, folder: pathlib.Path, clips: list[numpy.ndarray], n_tokens: int = N_TOKENS) -> None:
    """Writes clips and transformers' results, as --check reads them."""
    lines = []
    kept = model.generation_config.no_timestamps_token_id + 1 if name == "whisper" else model.config.vocab_size
    for i, clip in enumerate(clips):
        inputs = inputs_of(name, model, clip)
        prompt = prompt_of(name, model, inputs)
        greedy = generate(name, model, inputs, 1, prompt, n_tokens)
        beam4 = generate(name, model, inputs, 4, prompt, n_tokens)
        lines.append({"samples": len(clip), "greedy": greedy, "beam4": beam4, "max_target_tokens": n_tokens})
        if i == 0:
            rows = trace(name, model, inputs, greedy)
            rows["logits"] = rows["logits"][:, :kept]
            save_file({tensor: value.contiguous() for tensor, value in rows.items()}, folder / "trace.safetensors")
    numpy.save(folder / "samples.npy", numpy.concatenate(clips))
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def store(model, files: dict, folder: pathlib.Path):
    """Writes the checkpoint, in half precision. Returns the model as it is stored."""
    model.save_pretrained(emptied(folder))
    weights = folder / "model.safetensors"
    save_file({tensor: value.half() for tensor, value in load_file(weights).items()}, weights)
    for file, content in files.items():
        (folder / file).write_text(json.dumps(content), encoding="utf-8")
    return type(model).from_pretrained(folder, dtype=torch.float32).eval()


def leave_out_timestamps(model, first: int | None = None) -> None:
    """Gives them no share of a soft-max, as a .gcst file, which lacks their rows. Otherwise near ties of beams turn."""
    first = first or model.generation_config.no_timestamps_token_id + 1

    def hook(_module, _inputs, logits):
        logits[..., first:] = -torch.inf
        return logits

    model.proj_out.register_forward_hook(hook)


def compare_languages(options) -> list[str]:
    """Returns what departs from transformers."""
    from transformers.models.whisper.tokenization_whisper import LANGUAGES as published
    languages, departures, heard = list(published)[:99], [], collections.Counter()
    n_others = 0  # clips whose text is another one in another language
    for seed in range(options.models):
        model, files = whisper(languages, 49999, 1501)
        assert model.config.vocab_size == 51865
        fill(model, seed)
        for name, parameter in model.named_parameters():
            if "encoder_attn.out_proj.weight" in name:
                parameter.data *= 6  # what is heard decides
        folder = options.work / f"languages{seed}"
        model = store(model, files, folder)
        leave_out_timestamps(model)
        clips = made_up_clips(6)
        record("whisper", model, folder, clips)
        checked = product.check(options, folder, folder, "--quiet", "-o", options.work / "model.gcst")
        if checked.returncode:
            departures.append(f"seed {seed}: {checked.stdout[-2000:]}{checked.stderr[-500:]}")
            continue
        for i, clip in enumerate(clips):
            write_wav(options.work / "clip.wav", clip)
            code = languages[int(model.detect_language(input_features=inputs_of("whisper", model, clip))[0]) - 50259]
            heard[code] += 1
            other = languages[(languages.index(code) + 1) % len(languages)]
            texts = [product.attempt(options.build / "examples/goldcrest-transcribe", options.work / "model.gcst",
                                     options.work / "clip.wav", "--no-gate", *more, text=None).stdout
                     for more in ([], ["--language", code], ["--language", other])]
            n_others += texts[2] != texts[0]
            if texts[0] != texts[1]:
                departures.append(f"seed {seed}, clip {i}: {texts[0]!r}, with --language {code} {texts[1]!r}")
    print(f"{options.models} models, {sum(heard.values())} clips in {len(heard)} languages, "
          f"{n_others} with another text in another language")
    if len(heard) < options.models or 2 * n_others < sum(heard.values()):
        departures.append("too few languages, or texts that depend on them, to tell anything")
    return departures


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, build=pathlib.Path, record=pathlib.Path, models=6))
    random.seed(0)
    if options.build:
        product.end_with(compare_languages(options))
    folders = []
    for seed, (name, make) in enumerate([("moonshine", moonshine), ("whisper", whisper)]):
        folder = options.work / name
        model, files = make()
        fill(model, seed)
        model = store(model, files, folder)
        record(name, model, folder, made_up_clips(3))
        folders.append(folder)
    if options.record:
        options.record.write_text(json.dumps(product.packed(folders), indent=1) + "\n")


if __name__ == "__main__":
    main()
