# SPDX-License-Identifier: Apache-2.0
"""The languages that a multilingual Whisper hears in the clips of speech_clips.py (--languages), compared with
transformers' detect_language; with them the log-mel and the encoder's rows. The weights are those of tiny.en, whose
table has the entries of languages too, with one text entry more."""

import json
import pathlib
import re
import struct
import subprocess

import numpy as np
import speech
import torch
import transformers
from safetensors.torch import save_file


def read_ctranslate2(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The tensors of a model.bin of version 6: each a name, its shape, a type, bytes."""
    data, at = path.read_bytes(), 0

    def take(form: str) -> int:
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        at += struct.calcsize("<" + form)
        return value

    def name() -> str:
        nonlocal at
        n = take("H")
        at += n
        return data[at - n:at - 1].decode()

    assert take("I") == 6 and name() == "WhisperSpec" and take("I") > 0
    tensors = {}
    for _ in range(take("I")):
        key, shape = name(), [take("I") for _ in range(take("B"))]
        kind, n = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}[take("B")], take("I")
        tensors[key] = np.frombuffer(data, kind, n // np.dtype(kind).itemsize, at).reshape(shape)
        at += n
    return tensors


def multilingual_model(folder: pathlib.Path, source: pathlib.Path):
    """Whisper tiny.en as transformers' model with one more text entry, so that it has a multilingual model's ids."""
    tensors = read_ctranslate2(source / "model.bin")
    names = {"self_attention/linear_0": "self_attn", "self_attention/linear_1": "self_attn.out_proj",
             "attention/linear_0": "encoder_attn.q_proj", "attention/linear_1": "encoder_attn",
             "attention/linear_2": "encoder_attn.out_proj", "self_attention/layer_norm": "self_attn_layer_norm",
             "attention/layer_norm": "encoder_attn_layer_norm", "ffn/layer_norm": "final_layer_norm",
             "ffn/linear_0": "fc1", "ffn/linear_1": "fc2"}
    parts = {"self_attention/linear_0": ("q_proj", "k_proj", "v_proj"), "attention/linear_1": ("k_proj", "v_proj")}
    weights = {}
    for name, values in tensors.items():
        if not name.startswith(("encoder/", "decoder/")) or values.ndim == 0 or "alignment" in name:
            continue
        stack, *path, leaf = name.split("/")
        leaf = {"gamma": "weight", "beta": "bias", "encodings": "weight"}.get(leaf, leaf)
        if path[0].startswith("layer_") and path[0] != "layer_norm":
            block = "/".join(path[1:])
            prefix = f"model.{stack}.layers.{path[0][6:]}.{names[block]}"
            pieces = parts.get(block, ("",))
            for piece, value in zip(pieces, np.split(values, len(pieces))):
                if (piece, leaf) != ("k_proj", "bias"):  # zeros
                    weights[f"{prefix}{'.' if piece else ''}{piece}.{leaf}"] = value
        else:
            inner = {"embeddings": "embed_tokens", "position_encodings": "embed_positions"}.get(path[0], path[0])
            weights[f"model.{stack}.{inner}.{leaf}"] = values
    table = weights["model.decoder.embed_tokens.weight"]
    weights["model.decoder.embed_tokens.weight"] = np.concatenate([table[:50256], table[:1], table[50256:]])
    weights["proj_out.weight"] = weights["model.decoder.embed_tokens.weight"]
    config = transformers.WhisperConfig(
        vocab_size=len(table) + 1, d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6,
        decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536, pad_token_id=50257, bos_token_id=50257,
        eos_token_id=50257, decoder_start_token_id=50258, begin_suppress_tokens=None, tie_word_embeddings=True)
    model = transformers.WhisperForConditionalGeneration(config).eval()
    wrong = model.load_state_dict({name: torch.tensor(np.float32(value)) for name, value in weights.items()}, strict=False)
    assert not wrong.unexpected_keys and not wrong.missing_keys, wrong
    entries = (source / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:len(table)]
    entries.insert(50256, "furtherentryoftext")
    ids = {entry: i for i, entry in enumerate(entries)}
    languages = {entry: i for entry, i in ids.items() if re.fullmatch(r"<\|[a-z]{2,3}\|>", entry)}
    settings = dict(_from_model_config=False, is_multilingual=True, lang_to_id=languages, max_length=448,
                    task_to_id={task: ids[f"<|{task}|>"] for task in ("transcribe", "translate")}, return_timestamps=False,
                    no_timestamps_token_id=ids["<|notimestamps|>"], begin_suppress_tokens=[220, 50257],
                    suppress_tokens=list(range(50258, len(entries))))
    for key, value in settings.items():
        setattr(model.generation_config, key, value)
    model.save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({e: i for e, i in ids.items() if i < 50257}), encoding="utf-8")
    (folder / "added_tokens.json").write_text(json.dumps({e: i for e, i in ids.items() if i >= 50257}), encoding="utf-8")
    return model, {i: entry for entry, i in languages.items()}


def compare_languages(options, source: pathlib.Path, clips: dict[str, np.ndarray]) -> list[str]:
    """Compares log-mel, encoder and ids, the language's first, with transformers. Returns what does not hold."""
    folder, problems, worst, counts = options.work / "multilingual", [], 0.0, {}
    model, languages = multilingual_model(folder, source)
    extract = transformers.WhisperFeatureExtractor()
    for name, samples in clips.items():
        sound = samples.astype(np.float32) / 32768
        inputs = extract(sound, sampling_rate=speech.RATE, return_tensors="pt").input_features
        with torch.no_grad():
            prompt = speech.prompt_of("whisper", model, inputs)
            ids = speech.generate("whisper", model, inputs, 1, prompt)
            rows = model.model.encoder(inputs).last_hidden_state[0]
        np.save(folder / "samples.npy", samples.astype(np.int16))
        line = {"samples": len(samples), "greedy": ids, "max_target_tokens": speech.N_TOKENS}
        (folder / "results.jsonl").write_text(json.dumps(line) + "\n")
        save_file({"encoder.features": inputs[0].T.contiguous(), "encoder.norm": rows}, folder / "trace.safetensors")
        done = subprocess.run([options.build / "converter/goldcrest-convert", "-q", folder, "--check", folder], text=True,
                              capture_output=True)
        found = re.search(r"encoder[.]features .* difference ([0-9.e+-]+)", done.stdout)
        worst = max(worst, float(found[1]) if found else np.inf)
        counts[languages[prompt[0]]] = counts.get(languages[prompt[0]], 0) + 1
        if done.returncode or worst > 1e-4:
            problems.append(f"{name}: {done.stdout[:600]} {done.stderr[:300]}")
    chosen = ", ".join(f"{language} {n}" for language, n in sorted(counts.items()))
    print(f"\nlanguages as transformers' detect_language, then {speech.N_TOKENS} ids: {len(clips) - len(problems)} of {len(clips)} "
          f"clips ({chosen}); log-mel within {worst:.1e}")
    return problems
