# SPDX-License-Identifier: Apache-2.0
"""Random Whispers and Moonshines with random generation settings and added tokens: the float32 files' results are those
of transformers' generate.

    python tests/peers/speech_equality.py --build build/host --work FOLDER [--models 200] [--seed 1] [--only NUMBER]

Settings are language, task, forced_decoder_ids and the languages known; suppressed tokens, always and at the begin;
bans and biases, penalties, lengths, beams and their end. Tokens are added to added_tokens.json or tokenizer.json.
`--check` compares the ids, with the file's own settings. goldcrest-transcribe must print transformers' texts.
Different results are a tie if the best two differ by less than 1e-3, or if transformers' beam search, in some step, let
a continuation go for less than 1e-4. Ties are printed. Exit status 1 for another departure, and for ties in more than
0.5 % of the searches."""

import json
import pathlib
import random
import shutil
import sys
import time
from collections import Counter

import numpy
import torch
import transformers

import product
import speech
from generation_settings import Draw, WARNED, draw_settings

CLIPS, CLOSE, CLOSEST_CUT, MOST_TIES = 4, 1e-3, 1e-4, 0.005
LANGUAGES = ["en", "fr", "haw", "yue", "de", "zh"]
# Settings of text only: speech has no source ids to repeat, and prompts in place of a forced first id.
NOT_DRAWN = {*WARNED, "encoder_no_repeat_ngram_size", "forced_bos_token_id"}
GAP = "\ufffd".encode()  # of a special entry, which no character spans
BYTE_OF = {character: byte for byte, character in enumerate(speech.byte_characters())}


def shape(draw: random.Random) -> tuple[int, int]:
    heads = draw.choice([1, 2, 3, 4])
    return heads * draw.choice([4, 8, 12, 16, 20]), heads


def readable(shown: bytes) -> str:
    """Returns a printed text without what stands for bytes that are no UTF-8: programs differ in how many there are."""
    return shown.decode("utf-8", "replace").replace("\ufffd", "").strip(" ")


def added_entries(draw: random.Random) -> list[str]:
    entries = ["<cmd>", "Goldcrest", "zürich", "日本", "[1]", "two words", "@@"]
    return draw.sample(entries, draw.choice([0, 0, 1, 3, 5]))


class Whisper:
    """`entries` are the vocabulary; `added` those that were added after it, `special` those that print nothing."""

    def __init__(self, draw: random.Random):
        d_model, heads = shape(draw)
        self.languages = draw.sample(LANGUAGES, draw.randint(1, 6)) if draw.random() < 0.8 else []
        own = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{name}|>" for name in self.languages or ["en"]),
               "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>",
               "<|notimestamps|>"]
        text = [*speech.byte_characters(), *(f"\u0120w{i}" for i in range(draw.randint(20, 200)))]
        self.added = added_entries(draw)
        times = [f"<|{0.02 * i:.2f}|>" for i in range(draw.choice([2, 51]))]
        self.entries, self.n_text = [*text, *own, *times, *self.added], len(text)
        self.special, self.first_time = {*own, *times}, len(text) + len(own)
        ids = self.ids = {entry: i for i, entry in enumerate(self.entries)}
        start, positions = ids["<|startoftranscript|>"], draw.randint(20, 40)
        self.settings = self.draw_settings(draw, ids, positions)
        config = transformers.WhisperConfig(
            vocab_size=len(self.entries) + draw.choice([0, 0, 3]), d_model=d_model, encoder_layers=draw.randint(1, 2),
            decoder_layers=draw.randint(1, 2), encoder_attention_heads=heads, decoder_attention_heads=heads,
            encoder_ffn_dim=draw.randint(8, 60), decoder_ffn_dim=draw.randint(8, 60),
            num_mel_bins=draw.choice([10, 12, 40]), max_source_positions=50, max_target_positions=positions,
            scale_embedding=draw.random() < 0.3,
            activation_function=draw.choice(["gelu", "relu", "silu"]), tie_word_embeddings=True,
            pad_token_id=ids["<|endoftext|>"], bos_token_id=ids["<|endoftext|>"], eos_token_id=ids["<|endoftext|>"],
            decoder_start_token_id=start, begin_suppress_tokens=None, suppress_tokens=None)
        self.model = transformers.WhisperForConditionalGeneration(config)
        self.embedding = self.model.model.decoder.embed_tokens.weight

    def draw_settings(self, draw: random.Random, ids: dict, positions: int) -> dict:
        end, n_text = ids["<|endoftext|>"], self.n_text
        drawn, _ = draw_settings(Draw(draw, n_text, positions - 8, end, end),
                                 NOT_DRAWN | {"eos_token_id", "forced_eos_token_id"})
        drawn |= {"no_timestamps_token_id": ids["<|notimestamps|>"], "is_multilingual": bool(self.languages),
                  "return_timestamps": False, "decoder_start_token_id": ids["<|startoftranscript|>"]}
        if draw.random() < 0.8:
            del drawn["forced_eos_token_id"]
        drawn["bad_words_ids"] = drawn["bad_words_ids"][1:]  # without the padding, which is the end
        if not drawn["bad_words_ids"]:
            del drawn["bad_words_ids"]
        if draw.random() < 0.6:
            drawn["suppress_tokens"] = sorted({*drawn.get("suppress_tokens", []), *range(end + 1, self.first_time)})
        if draw.random() < 0.6:
            drawn["begin_suppress_tokens"] = [draw.randrange(n_text), draw.randrange(n_text), end]
        tasks = {name: ids[f"<|{name}|>"] for name in ("transcribe", "translate")}
        if self.languages:
            known = draw.sample(self.languages, draw.randint(1, len(self.languages)))
            drawn |= {"lang_to_id": {f"<|{name}|>": ids[f"<|{name}|>"] for name in known}, "task_to_id": tasks}
            kind = draw.choice(["language", "task", "both", "forced", "forced", "transcribe"])
            if kind in ("language", "both"):
                drawn["language"] = draw.choice(known)
            if kind in ("task", "both", "transcribe"):
                drawn["task"] = "transcribe" if kind == "transcribe" else draw.choice(list(tasks))
            if kind == "forced":
                first = draw.choice([None, ids[f"<|{draw.choice(known)}|>"]])
                more = [draw.choice(list(tasks.values()))]
                more += [draw.randrange(n_text) for _ in range(draw.choice([0, 0, 2]))]
                if draw.random() < 0.5:
                    more.append(ids["<|notimestamps|>"])
                drawn["forced_decoder_ids"] = [[i + 1, token] for i, token in enumerate([first, *more])]
        elif draw.random() < 0.5:
            drawn["forced_decoder_ids"] = [[1, ids["<|notimestamps|>"]]]
        return drawn

    def files(self, draw: random.Random) -> dict:
        n_base = len(self.entries) - len(self.added)
        if draw.random() < 0.5:
            return {"vocab.json": {e: i for e, i in self.ids.items() if i < self.n_text},
                    "added_tokens.json": {e: i for e, i in self.ids.items() if i >= self.n_text}}
        self.special |= {entry for entry in self.added if draw.random() < 0.2}
        return {"tokenizer.json": {
            "added_tokens": [{"id": i, "content": e, "special": e in self.special} for e, i in self.ids.items()
                             if i >= self.n_text],
            "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "merges": [], "vocab": {e: i for e, i in self.ids.items() if i < n_base}}}}

    def printed(self, ids: list[int]) -> str:
        """Returns the bytes that the program prints for a text's ids."""
        shown = b""
        for entry in (self.entries[i] for i in ids if i < len(self.entries)):
            if entry in self.special:
                shown += GAP
            else:
                shown += entry.encode() if entry in self.added else bytes(BYTE_OF[c] for c in entry)
        return readable(shown)

    def leave_out(self, model) -> None:
        """A file lacks the rows of timestamps, so they have no share in a soft-max. If tokens follow, it suppresses
        them."""
        if self.added:
            times = range(self.first_time, len(self.entries) - len(self.added))
            model.generation_config.suppress_tokens = [*(model.generation_config.suppress_tokens or []), *times]
        speech.leave_out_timestamps(model, len(self.entries) if self.added else self.first_time)

    def generate(self, model, clip: numpy.ndarray, beams: int) -> tuple[list[int], int]:
        """Returns the ids after the start, and how many of them are the prompt."""
        retrieve, prompts = model._retrieve_init_tokens, []

        def keep(*arguments, **named):
            prompts.append(retrieve(*arguments, **named))
            return prompts[0]

        model._retrieve_init_tokens = keep
        try:
            made = model.generate(speech.inputs_of("whisper", model, clip), num_beams=beams,
                                  return_dict_in_generate=True, force_unique_generate_call=True)
        finally:
            del model._retrieve_init_tokens
        return made.sequences[0].tolist()[1:], prompts[0].shape[1] - 1


class Moonshine:
    def __init__(self, draw: random.Random):
        heads, head = draw.choice([1, 2, 3]), draw.choice([8, 12, 16, 20])
        self.added = added_entries(draw)
        pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)),
                  *(f"\u2581w{i}" for i in range(draw.randint(20, 200))), "<<ST_0>>", "<<ST_1>>"]
        self.entries, self.n_base, positions = [*pieces, *self.added], len(pieces) - 2, draw.randint(20, 60)
        self.special = {"<unk>", "<s>", "</s>", "<<ST_0>>", "<<ST_1>>"}
        self.settings, _ = draw_settings(Draw(draw, len(self.entries), positions, 2, 0), NOT_DRAWN)
        self.settings |= {"decoder_start_token_id": 1, "bad_words_ids": self.settings["bad_words_ids"] + [[1]]}
        if draw.random() < 0.7:
            self.settings.pop("forced_eos_token_id", None)
        rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": draw.choice([0.5, 1.0])}
        d_model, layers = heads * head, [draw.randint(1, 2), draw.randint(1, 2)]
        self.model = transformers.MoonshineForConditionalGeneration(transformers.MoonshineConfig(
            hidden_size=d_model, intermediate_size=draw.randint(8, 60), encoder_num_hidden_layers=layers[0],
            decoder_num_hidden_layers=layers[1], encoder_num_attention_heads=heads, decoder_num_attention_heads=heads,
            encoder_num_key_value_heads=heads, decoder_num_key_value_heads=heads, pad_token_id=0,
            vocab_size=len(self.entries) + draw.choice([0, 5]), max_position_embeddings=positions, rope_parameters=rope,
            decoder_hidden_act=draw.choice(["silu", "gelu", "relu"]), tie_word_embeddings=draw.random() < 0.7))
        self.embedding = self.model.model.decoder.embed_tokens.weight

    def files(self, draw: random.Random) -> dict:
        self.special |= {entry for entry in self.added if draw.random() < 0.2}
        return {"tokenizer.json": {
            "added_tokens": [{"id": i, "content": e, "special": e in self.special} for i, e in enumerate(self.entries)
                             if e in self.special or e in self.added],
            "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
            "model": {"type": "BPE", "byte_fallback": True, "merges": [],
                      "vocab": {entry: i for i, entry in enumerate(self.entries[:self.n_base])}}}}

    def printed(self, ids: list[int]) -> str:
        shown = b""
        for entry in (self.entries[i] if i < len(self.entries) else "<s>" for i in ids):
            if entry in self.special:
                shown += GAP
            elif entry.startswith("<0x"):
                shown += bytes([int(entry[3:5], 16)])
            else:
                shown += entry.replace("\u2581", " ").encode()
        return readable(shown)

    def leave_out(self, model) -> None:
        """A file has all rows."""

    def generate(self, model, clip: numpy.ndarray, beams: int) -> tuple[list[int], int]:
        return model.generate(speech.inputs_of("moonshine", model, clip), num_beams=beams)[0].tolist()[1:], 0


def made_model(seed: int, folder: pathlib.Path) -> tuple:
    """Writes a checkpoint. Returns its class' object and transformers' model of the file."""
    draw = random.Random(seed)
    kind = draw.choice([Whisper, Whisper, Moonshine])(draw)
    speech.fill(kind.model, seed)
    ends = kind.settings["eos_token_id"]
    for end in ends if isinstance(ends, list) else [ends]:  # large logits of either sign
        kind.embedding.data[end] *= draw.uniform(1, 3)
    for name, parameter in kind.model.named_parameters():
        if "encoder_attn.o" in name:
            parameter.data *= 6  # what is heard decides
    return kind, speech.store(kind.model, kind.files(draw) | {"generation_config.json": kind.settings}, folder)


def expected_lines(kind, model, clips: list[numpy.ndarray], beam_sizes: list[int]) -> list[dict]:
    ends = kind.settings["eos_token_id"]
    ends = ends if isinstance(ends, list) else [ends]
    lines = []
    for clip in clips:
        line = {"samples": len(clip)}
        for beams in beam_sizes:
            with torch.no_grad():
                ids, n_prompt = kind.generate(model, clip, beams)
            last = next((i for i in range(n_prompt, len(ids)) if ids[i] in ends), len(ids) - 1)
            line["greedy" if beams == 1 else f"beam{beams}"] = ids[:last + 1]
        lines.append(line)
    return lines


def found_ids(report: str) -> dict[tuple[str, int], tuple[list[int], float]]:
    """Returns what `--check` found elsewhere than the sample, by search and line, and how far the sample is ahead."""
    found, search, place = {}, "", None
    for line in report.splitlines():
        words = line.split()
        if line.startswith("  line "):
            place = search, int(words[1].rstrip(":"))
            found[place] = [], float(words[-1])
        elif line.startswith("    found"):
            found[place] = [int(word) for word in words[1:]], found[place][1]
        elif not line.startswith(" ") and words:
            search = words[0]
    return found


def closest_cut(model, ends, beams: int, generate) -> float:
    """Returns by how little, in a step of transformers' beam search, the last of the continuations that stay was ahead
    of the first that goes."""
    choose, gaps = model._get_top_k_continuations, []

    def watch(*, accumulated_log_probs, **named):
        scores = accumulated_log_probs.clone().view(beams, -1)
        scores[:, ends] = -torch.inf
        *_, last, first = scores.flatten().topk(beams + 1).values.tolist()
        gaps.append(last - first)
        return choose(accumulated_log_probs=accumulated_log_probs, **named)

    model._get_top_k_continuations = watch
    try:
        with torch.no_grad():
            generate()
    finally:
        del model._get_top_k_continuations
    return min(gaps, default=float("inf"))


def compare(seed: int, lines: list[dict], report: str, counts: Counter, printed, cut) -> list[str]:
    """Returns the searches that depart. printed(source, beams, ids) returns a program's text, and that of the ids.
    cut(source, beams) is closest_cut of a search."""
    departures, others = [], found_ids(report)
    for i, line in enumerate(lines):
        for search, expected in line.items():
            if search == "samples":
                continue
            counts["searches"] += 1
            ids, ahead = others.get((search, i), (expected, 0.0))
            beams, where = 1 if search == "greedy" else int(search[4:]), f"source {i}, {search}"
            text, shown = printed(i, beams, ids)
            departs = [f"{where}: {ids}, transformers {expected}, ahead by {ahead}"] if ids != expected else []
            if text != shown:
                departs.append(f"{where}: prints {text!r}, expected {shown!r}")
            is_tie = departs and (text == shown and abs(ahead) < CLOSE or beams > 1 and cut(i, beams) < CLOSEST_CUT)
            if is_tie:
                counts["ties"] += 1
                print(f"model {seed}, a tie: {'; '.join(departs)}", flush=True)
            else:
                departures += departs
    return departures


def converted(options, folder: pathlib.Path, file: pathlib.Path, samples: numpy.ndarray, lines: list[dict],
              *more: object) -> str:
    """Makes the file. Returns what `--check` finds of the results' ids, which may differ."""
    numpy.save(folder / "samples.npy", samples)
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    checked = product.check(options, folder, folder, "-o", file, "--quiet", *more)
    if checked.returncode not in (0, 3) or "departure" in checked.stdout:
        raise product.Failure(f"goldcrest-convert: {checked.returncode} {checked.stdout}{checked.stderr}")
    if checked.returncode == 3:
        product.convert(options, folder, file)
    return checked.stdout


def check_model(options, seed: int, counts: Counter) -> list[str]:
    """Returns what departs from transformers."""
    folder, file = options.work / str(seed), options.work / f"{seed}.gcst"
    kind, model = made_model(seed, folder)
    kind.leave_out(model)
    clips = [speech.made_up_clip(random.Random(seed + i).uniform(0.1, 0.9), seed % 7 + i) for i in range(CLIPS)]
    beam_sizes = list(dict.fromkeys([1, 4, kind.settings.get("num_beams", 1)]))
    try:
        lines = expected_lines(kind, model, clips, beam_sizes)
    except IndexError as error:  # of its fallback, which looks at the last of no ids
        counts["without a result of transformers"] += 1
        print(f"model {seed}: transformers fails: {error}", flush=True)
        return []
    more = ["--ids-per-second", 0] if isinstance(kind, Moonshine) else []
    report = converted(options, folder, file, numpy.concatenate(clips), lines, *more)

    def printed(source: int, beams: int, ids: list[int]) -> tuple[str, str]:
        product.write_wav(folder / "clip.wav", clips[source])
        given = [] if beams == kind.settings.get("num_beams", 1) else ["--beam-size", beams]
        made = product.attempt(options.build / "examples/goldcrest-transcribe", file, folder / "clip.wav",
                               "--no-gate", "--no-guards", "--keep-controls", *given, text=None)
        return readable(made.stderr if made.returncode else made.stdout[:-1]), kind.printed(ids)

    def cut(source: int, beams: int) -> float:
        return closest_cut(model, kind.settings["eos_token_id"], beams,
                           lambda: kind.generate(model, clips[source], beams))

    departures = compare(seed, lines, report, counts, printed, cut)
    counts[type(kind).__name__] += 1
    if departures:
        return [*departures, f"added: {kind.added}; in {folder}; {json.dumps(kind.settings)[:1500]}"]
    shutil.rmtree(folder), file.unlink()
    return []


def run(options, check, numbers) -> None:
    """Checks the models with these numbers. Ends the script if one departs, or for too many ties."""
    begin, counts, n_departures = time.time(), Counter(), 0
    for seed in numbers:
        try:
            departures = check(options, seed, counts)
        except product.Failure as failure:
            departures = [str(failure)]
        n_departures += bool(departures)
        for departure in departures:
            print(f"model {seed} departs: {departure}", flush=True)
    print(f"{dict(counts)}; {n_departures} models depart; {time.time() - begin:.0f} s; transformers "
          f"{transformers.__version__}")
    if n_departures or counts["ties"] > MOST_TIES * counts["searches"]:
        sys.exit(f"goldcrest departs: {n_departures} models, {counts['ties']} ties of {counts['searches']} searches")


def numbers_of(options) -> list[int]:
    first = options.seed * 10000
    return [*range(first, first + options.models)] if options.only is None else [options.only]


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=200, seed=1, only=int))
    run(options, check_model, numbers_of(options))


if __name__ == "__main__":
    main()
