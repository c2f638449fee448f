# SPDX-License-Identifier: Apache-2.0
"""The voice detector: Silero's probabilities, no words in noise, and all words of speech in noise.

    python tests/peers/voice.py --build build/host --work FOLDER [--clips FOLDER] [--model CHECKPOINT] [--noises N]

Fetches PyPI's silero-vad 6.2.3 and, without --model, moonshine-voice 0.1.0. Compares the probabilities of all kernel
tables for the WAV files below --clips (16 kHz, one channel) and made-up noise with ONNX Runtime's, within 1e-4. Then
goldcrest-transcribe hears N clips of noise, hum, music-like sounds, clicks and near silence of 20 s; and 50
recordings of four clips each with noise at 20, 10 and 5 dB. Then it hears only phrases, and key terms among 100 that
nobody says. The file name of a clip is its text."""

import collections
import json
import pathlib
import random
import sys
import zipfile

import numpy as np

import product
from product import RATE, ROOT, download, read_wav, run, write_wav
from speech_clips import word_errors, words_of

STEP, PAST = 512, 64


def onnx_probabilities(session, samples):
    state, past, found = np.zeros((2, 1, 128), np.float32), np.zeros(PAST, np.float32), []
    for at in range(0, len(samples) - STEP + 1, STEP):
        sound = np.concatenate([past, samples[at:at + STEP].astype(np.float32) / 32768])
        past = sound[-PAST:]
        probability, state = session.run(None, {"input": sound[None], "state": state, "sr": np.array(RATE)})
        found.append(probability[0, 0])
    return np.array(found)


def colored(draw, n, power):
    """Noise whose power falls with this power of the frequency."""
    frequency = np.fft.rfftfreq(n, 1 / RATE)
    frequency[0] = frequency[1]
    waves = draw.normal(size=len(frequency)) + 1j * draw.normal(size=len(frequency))
    noise = np.fft.irfft(waves / frequency**(power / 2), n)
    return noise / noise.std()


def clicks(draw, n):
    sound = draw.normal(size=n) * 0.01
    for at in draw.integers(0, n - 400, size=40):
        sound[at:at + 200] += 3 * draw.normal(size=200) * np.exp(-np.arange(200) / 30)
    return sound


def music(draw, n):
    sound, step = np.zeros(n), int(RATE * draw.uniform(0.25, 0.5))
    for start in range(0, n, step):
        time = np.arange(min(2 * step, n - start)) / RATE
        root = 220 * 2**(draw.integers(-12, 13) / 12)
        for pitch in (1, 1.25, 1.5, 2):
            for harmonic in (1, 2, 3, 4):
                sound[start:start + len(time)] += np.exp(-time / 0.3) * np.sin(
                    2 * np.pi * root * pitch * harmonic * time) / harmonic**1.5
    return sound / sound.std()


def noises(n_clips, seconds=20):
    """Yields (name, samples)."""
    n, time = int(seconds * RATE), np.arange(int(seconds * RATE)) / RATE
    kinds = {
        "white": lambda draw: colored(draw, n, 0), "pink": lambda draw: colored(draw, n, 1),
        "brown": lambda draw: colored(draw, n, 2), "clicks": lambda draw: clicks(draw, n),
        "music": lambda draw: music(draw, n),
        "hum": lambda draw: sum(np.sin(2 * np.pi * 50 * h * time + draw.uniform(0, 6)) / h for h in range(1, 9)),
        "fan": lambda draw: colored(draw, n, 1.5) * (1 + 0.5 * np.sin(2 * np.pi * draw.uniform(0.3, 1.7) * time)),
        "silence": lambda draw: draw.normal(size=n) * 0.005 + 0.5}
    for i in range(n_clips):
        name, draw = list(kinds)[i % len(kinds)], np.random.default_rng(i)
        yield f"{name}_{i}", kinds[name](draw) * [30, 100, 300, 1000, 3000, 6000][i // len(kinds) % 6]


def to_samples(sound):
    return np.clip(np.round(sound), -32768, 32767).astype("<i2")


class Check:
    def __init__(self, arguments):
        self.work, self.build, self.n_bad = arguments.work, arguments.build, 0
        wheel = download(self.work, "silero-vad==6.2.3")
        with zipfile.ZipFile(wheel) as files:
            self.onnx = files.read("silero_vad/data/silero_vad_16k_op15.onnx")
            (self.work / "other.safetensors").write_bytes(files.read("silero_vad/data/silero_vad_16k.safetensors"))
        run(sys.executable, ROOT / "examples/speech/silero_weights.py", wheel, self.work / "silero.safetensors")
        checkpoint = arguments.model
        if not checkpoint:
            checkpoint = self.work / "moonshine-tiny"
            run(sys.executable, ROOT / "examples/speech/moonshine_weights.py",
                download(self.work, "moonshine-voice==0.1.0"), checkpoint)
        self.model = self.work / "voice.gcst"
        converter = self.build / "converter/goldcrest-convert"
        convert = (converter, "--quiet", checkpoint, "-o", self.model, "--max-seconds", 10, "--voice")
        run(*convert, self.work / "silero.safetensors")
        other = product.attempt(*convert, self.work / "other.safetensors")
        self.expect(other.returncode == 1 and "has other weights" in other.stderr, "the package's safetensors is taken")

    def expect(self, good, what):
        if not good:
            self.n_bad += 1
            print("goldcrest departs:", what)

    def compare_probabilities(self, paths):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.onnx, options)
        lines = run(self.build / "examples/voice_probabilities", self.model, *paths).split("\n")
        worst, n_steps, n_flips = 0, 0, 0
        for path, line in zip(paths, lines):
            wanted, found = onnx_probabilities(session, read_wav(path)), np.array([float(p) for p in line.split()])
            self.expect(len(wanted) == len(found), f"{path.name}: {len(found)} steps of {len(wanted)}")
            distance = np.abs(wanted - found[:len(wanted)]).max(initial=0)
            self.expect(distance < 1e-4, f"{path.name}: {distance:.2g} from ONNX Runtime")
            worst, n_steps = max(worst, distance), n_steps + len(wanted)
            n_flips += int(((wanted >= 0.5) != (found[:len(wanted)] >= 0.5)).sum())
        print(f"{len(paths)} clips, {n_steps} steps: at most {worst:.2g} from ONNX Runtime, {n_flips} decisions differ")

    def hear(self, paths, *options):
        """Returns the utterances of each clip."""
        heard = collections.defaultdict(list)
        text = run(self.build / "examples/goldcrest-transcribe", self.model, "--json", *options, *paths)
        for utterance in map(json.loads, text.splitlines()):
            heard[utterance["clip"]].append(utterance)
        return heard

    def hear_noise(self, paths):
        heard, gated = self.hear(paths), self.hear(paths, "--no-voice")
        for clip, utterances in heard.items():
            print(pathlib.Path(clip).name, [utterance["text"] for utterance in utterances])
        print(f"{len(paths)} clips without speech: words in {len(heard)} with the detector, in {len(gated)} without")

    def hear_joined(self, clips, n_files=50):
        """Prints word errors in recordings of clips with noise, and of each clip with that noise and without a gate."""
        draw, choose = np.random.default_rng(3), random.Random(3)
        errors = collections.Counter()
        for file in range(n_files):
            sound, spans = [np.zeros(int(RATE * choose.uniform(0.5, 2)))], []
            for path in (choose.choice(clips) for _ in range(4)):
                begin = sum(map(len, sound))
                sound += [read_wav(path).astype(float), np.zeros(int(RATE * choose.uniform(1, 2.5)))]
                spans.append((begin, begin + len(sound[-2]), path))
            whole = np.concatenate(sound)
            power = np.concatenate([whole[begin:end] for begin, end, _ in spans]).var()
            for decibels in (20, 10, 5):
                noisy = whole + colored(draw, len(whole), file % 3) * np.sqrt(power / 10**(decibels / 10))
                path = write_wav(self.work / "joined.wav", to_samples(noisy))
                parts = [write_wav(self.work / f"part{i}.wav", to_samples(noisy[begin:end]))
                         for i, (begin, end, _) in enumerate(spans)]
                found, alone = self.hear([path])[str(path)], self.hear(parts, "--no-gate")
                for (begin, end, clip), part in zip(spans, parts):
                    wanted = words_of(clip.stem)
                    here = [u["text"] for u in found if u["end"] * RATE > begin and u["start"] * RATE < end]
                    errors["words", decibels] += len(wanted)
                    errors["joined", decibels] += word_errors(wanted, words_of(" ".join(here)))
                    texts = [u["text"] for u in alone[str(part)]]
                    errors["alone", decibels] += word_errors(wanted, words_of(" ".join(texts)))
                    if not here:
                        print(f"{decibels} dB, nobody is heard: {clip.stem}")
        for decibels in (20, 10, 5):
            joined, alone, n = (errors[what, decibels] for what in ("joined", "alone", "words"))
            print(f"{decibels} dB: {joined} word errors of {n} in recordings, {alone} in single clips without a gate")
            self.expect(joined <= alone + n / 200, f"words are missing at {decibels} dB")

    def hear_lists(self, clips, others):
        """Phrases: the right one of all texts, and none of speech that is no phrase. Terms: fewer errors on names."""
        phrases = self.work / "phrases.txt"
        phrases.write_text("".join(sorted({clip.stem + "\n" for clip in clips})))
        heard = self.hear([*clips, *others], "--phrases", phrases)
        text_of = lambda found, clip: " ".join(part["text"] for part in found[str(clip)])
        right = sum(text_of(heard, clip) == clip.stem for clip in clips)
        taken = [clip.stem for clip in others if heard[str(clip)]]
        print(f"phrases: {right} of {len(clips)} clips right, {len(taken)} of {len(others)} other clips taken for one")
        self.expect(right >= 0.95 * len(clips) and not taken, "phrases are not told from other speech")
        names = ["EcoBee", "Bed Light", "Standing Light", "Sliding Door", "Party Time", "Mood Lighting", "Garage Door",
                 "Front Door", "Shopping List", "New York"]
        syllables, choose = "ba del kin mor tas vel run pol gri shen wick ford".split(), random.Random(5)
        distractors = ["".join(choose.choices(syllables, k=choose.randint(2, 3))).capitalize() for _ in range(100)]
        terms, counts = self.work / "terms.txt", {}
        terms.write_text("\n".join(names + distractors))
        for kind, options in (("without", []), ("with", ["--key-terms", terms])):
            heard, wrong, errors = self.hear(clips, "--no-gate", "--no-voice", *options), 0, 0
            for clip in clips:
                text, wanted = words_of(text_of(heard, clip)), words_of(clip.stem)
                said, heard_text = " ".join(wanted), " ".join(text)
                wrong += sum(name.lower() in said and name.lower() not in heard_text for name in names)
                errors += word_errors(wanted, text)
            counts[kind] = (wrong, errors)
            print(f"{kind} key terms: {wrong} names wrong, {errors} word errors of "
                  f"{sum(len(words_of(clip.stem)) for clip in clips)}")
        self.expect(counts["with"][0] <= 0.75 * counts["without"][0] and counts["with"][1] <= counts["without"][1],
                    "key terms do not help")


def main():
    arguments = product.parsed(product.parser_of(__doc__, clips=pathlib.Path, model=pathlib.Path, noises=64))
    check = Check(arguments)
    clips = sorted(arguments.clips.rglob("*.wav")) if arguments.clips else []
    noise = [write_wav(arguments.work / f"{name}.wav", to_samples(sound)) for name, sound in noises(arguments.noises)]
    check.compare_probabilities([*clips, *noise, ROOT / "tests/data/speech/ask.wav"])
    check.hear_noise(noise)
    english = [clip for clip in clips if "en" in clip.parts and not clip.name.startswith("oov")]
    if english:
        check.hear_joined(english)
        check.hear_lists(english, [clip for clip in clips if "en" in clip.parts and clip.name.startswith("oov")])
    sys.exit(1 if check.n_bad else 0)


if __name__ == "__main__":
    main()
