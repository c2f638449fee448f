# SPDX-License-Identifier: Apache-2.0
"""Tests the installed package. Usage: wheel_test.py SOURCE WHEEL"""

import argparse
import contextlib
import ctypes
import fcntl
import importlib.metadata
import inspect
import io
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import termios
import time
import warnings
import wave
from array import array
from pathlib import Path

import goldcrest
from support import as_lines, program, refuses, refuses_each, run_tests, unpack, words

SOURCE, WHEEL = Path(sys.argv[1]), Path(sys.argv[2])
warnings.filterwarnings("ignore", ".*a text is cut at ")  # random models write to the limit
FOLDER = Path(goldcrest.__file__).parent


def program_of(page):
    return re.search(r"```python\n(.*?)```", (SOURCE / page).read_text(), re.S).group(1)


def test_pages():
    """The page's program runs in 30 s."""
    start = sum(os.times()[:4])
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program_of("converter/python/README.md"), {})
    print(f"pages: {sum(os.times()[:4]) - start:.1f} s of a processor")
    assert sum(os.times()[:4]) - start <= 30 and Path("firmware").is_dir()
    assert goldcrest.__version__ == importlib.metadata.version("goldcrest-transformer")


def test_documented():
    """Every public name has a description, types, and a place on the package's page."""
    page = (SOURCE / "converter/python/README.md").read_text()
    calls = {name: getattr(goldcrest, name) for name in goldcrest.__all__}
    calls.update({name: call for name, call in vars(goldcrest.Model).items() if not name.startswith("_")})
    assert len(calls) >= 20, calls
    for name, call in calls.items():
        assert inspect.cleandoc(call.__doc__ or "").endswith((".", ")")), f"{name} has no description"
        assert re.search(rf"\b{name}\b", page), f"{name} is not on the page"
        kinds = [] if isinstance(call, (type, property)) else inspect.signature(call).parameters.values()
        assert all(kind.name == "self" or kind.annotation is not kind.empty for kind in kinds), f"{name} has no types"


def test_sizes():
    assert WHEEL.stat().st_size <= 3_000_000, WHEEL.stat().st_size
    installed = sum(path.stat().st_size for path in FOLDER.rglob("*") if "__pycache__" not in path.parts)
    assert installed <= 8_000_000, installed
    times = []
    for _ in range(5):
        # Seconds of a processor: other programs may run.
        code = "import time; t = time.process_time(); import goldcrest; print(time.process_time() - t)"
        times.append(float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout))
    print(f"wheel {WHEEL.stat().st_size} bytes, installed {installed} bytes, import {min(times) * 1000:.1f} ms")
    assert min(times) <= 0.03, times


def test_bytes_of_the_program():
    dice = random.Random(39)
    for beam, batch, threads in ((1, 1, 1), (4, 8, 2)):
        lines = [words(dice, 0, 12) for _ in range(500)]
        options = ["--beam-size", str(beam), "--batch", str(batch), "--threads", str(threads)]
        expected = program("translate", "enfr.gcst", *options, lines=lines)
        assert expected.returncode == 0, expected.stderr
        model = goldcrest.Model("enfr.gcst", beam_size=beam, batch=batch, threads=threads)
        assert as_lines(model.translate(lines)) == expected.stdout


def test_progress():
    """Work of more than a second shows tqdm's bar at a terminal, and nothing elsewhere or without tqdm."""
    code = "import goldcrest; goldcrest.Model('enfr.gcst', threads=1).translate(['I do not know what to do.'] * 3000)"
    for path in ("", os.environ.get("GOLDCREST_TQDM", "")):
        screen, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, stderr=terminal, env={**os.environ, "PYTHONPATH": path}) as process:
            os.close(terminal)
            shown = b""
            with contextlib.suppress(OSError):  # the end of a terminal
                while some := os.read(screen, 4096):
                    shown += some
        os.close(screen)
        assert process.returncode == 0, shown
        assert bool(re.search(rb"\b\d+%\|", shown)) == bool(path), (path, shown)
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": path})
    assert done.stderr == b"", done.stderr


def test_cost():
    """A short line costs at most 20 us more than goldcrest_translate does."""
    from goldcrest._native import lib

    goldcrest.convert("examples/models/g2p", "g2p.gcst")
    model = goldcrest.Model("g2p.gcst", beam_size=1)
    lib.goldcrest_translate.argtypes = [ctypes.c_void_p, *[ctypes.c_char_p, ctypes.c_size_t] * 2]
    out = ctypes.create_string_buffer(256)
    calls = (lambda: model.translate("a"), lambda: lib.goldcrest_translate(model._engine, b"a", 1, out, 256))
    assert calls[1]() == len(calls[0]().encode())
    assert calls[0]().encode() == out.value
    least = [1.0, 1.0]
    for _ in range(50):
        for index, call in enumerate(calls):
            begin = time.perf_counter()
            for _ in range(20):
                call()
            least[index] = min(least[index], (time.perf_counter() - begin) / 20)
    print(f"a short line: {least[0] * 1e6:.1f} us, goldcrest_translate {least[1] * 1e6:.1f} us")
    assert least[0] - least[1] <= 20e-6, least


def test_programs():
    """python -m goldcrest is each of the programs, with its exit status, and says so without one."""
    for name in ("convert", "translate", "transcribe", "inspect"):
        assert f"goldcrest-{name}".encode() in program(name, "--help").stdout.lower(), name
        assert program(name, "--version").stdout == f"goldcrest-{name} {goldcrest.__version__}\n".encode()
        assert program(name, "missing").returncode == 1
        command = Path(sys.executable).with_name(f"goldcrest-{name}")
        assert subprocess.check_output([command, "--version"]) == program(name, "--version").stdout, command
    assert program("convert", "examples/models/g2p", "-o", "by_program.gcst", "--quiet").returncode == 0
    assert Path("by_program.gcst").read_bytes() == Path("g2p.gcst").read_bytes()
    assert program("inspect", "by_program.gcst", "--self-test").returncode == 0
    assert program("--version").stdout == f"goldcrest {goldcrest.__version__}\n".encode()
    assert b"convert CHECKPOINT" in program("--help").stdout
    for arguments in ((), ("bench",)):
        done = program(*arguments)
        assert done.returncode == 2 and done.stdout == b"" and b"convert CHECKPOINT" in done.stderr, done


def test_state_dict():
    """A state dict of buffers gives the model that the checkpoint gives."""
    data = Path("examples/models/g2p/model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    formats = {"F32": "f", "F16": "e", "F64": "d", "I64": "q"}
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + at for at in entry["data_offsets"])
        tensors[name] = memoryview(data[begin:end]).cast(formats[entry["dtype"]], entry["shape"])
    goldcrest.convert(tensors, "state.gcst", config="examples/models/g2p/config.json", folder="examples/models/g2p")
    lines = ["goldcrest", "engine", "small"]
    assert goldcrest.Model("g2p.gcst").translate(lines) == goldcrest.Model("state.gcst").translate(lines)
    assert repr(goldcrest.Model("g2p.gcst")) == f"<goldcrest.Model {Path('g2p.gcst').absolute()}>"
    try:
        goldcrest.convert(argparse.Namespace(state_dict=dict), "out.gcst")
    except goldcrest.Error as error:
        assert "give module.state_dict()" in str(error), error
    else:
        raise AssertionError("a module is taken for a checkpoint")


def test_prefixes():
    """Results begin with the ids of `prefix`; buffers give what lists give."""
    lines = ["Let's go home.", "Where is the station?"]
    model = goldcrest.Model("enfr.gcst", beam_size=4, batch=2)
    ids = model.translate_batch(["We are hungry."])[0].ids[0][:2]
    found = model.translate_batch(lines, prefix=ids)
    assert all(result.ids[0][:2] == ids for result in found)
    assert model.translate_batch(lines, prefix=[array("i", ids), []]) == [found[0], model.translate_batch(lines)[1]]
    source = model.encode(lines[0])
    view = memoryview(array("i", source).tobytes()).cast("i")
    sources = (lines[0], source, array("i", source), array("q", source), view)
    results = [model.translate_batch([each]) for each in sources]
    assert all(result == results[0] for result in results), results
    for prefix in ([-1], [10**6], [[1]], [[1], [2], [3]], ["a", 5], [0], [1] * 1000, 5, [None]):
        refuses(model.translate_batch, lines, prefix=prefix)
    assert model.languages == ["fr"]
    assert model.source_languages == ["en"]


def test_buffers():
    """Samples and ids of buffers are used where they are, also of those that may not be written."""
    from goldcrest._values import array_of

    data = bytes(range(64))
    view = memoryview(data).cast("i")
    samples = array_of(view, ctypes.c_int32, "i")
    assert list(samples) == view.tolist()
    assert ctypes.string_at(ctypes.addressof(samples), 64) == data
    if sys.implementation.name == "cpython":
        assert ctypes.addressof(samples) == ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, "a copy"
    odd = memoryview(data)[1:57].cast("i")
    assert list(array_of(odd, ctypes.c_int32, "i")) == odd.tolist()
    assert list(array_of(view[::2], ctypes.c_int32, "i")) == view[::2].tolist()
    try:
        import numpy
    except ImportError:
        print("buffers: no numpy")
        return
    for values in (numpy.arange(8, dtype=numpy.int32), numpy.frombuffer(data, dtype=numpy.int32)):
        assert ctypes.addressof(array_of(values, ctypes.c_int32, "i")) == values.ctypes.data, "a copy"
    model = goldcrest.Model("enfr.gcst")
    ids = model.encode("I'm hungry.")
    expected = model.translate_batch(["a"], prefix=[5, 6])
    for kind in (numpy.int32, numpy.int64):
        assert model.translate_batch([numpy.array(ids, kind)]) == model.translate_batch([ids])
        assert model.translate_batch(["a"], prefix=numpy.array([5, 6], kind)) == expected


def write_wav(channels, width, rate, frames):
    with wave.open("clip.wav", "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(frames)


def test_speech():
    """transcribe gives the ids that transformers chose, of a buffer and of a WAV file; other clips are refused."""
    for name, files in json.loads((SOURCE / "tests/data/speech.json").read_text()).items():
        data = unpack(name, files, without=("results.jsonl", "samples.npy", "trace.safetensors"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # transformers has no limit of ids a second.
            goldcrest.convert(name, name + ".gcst", weights="float32", ids_per_second=0)
        model = goldcrest.Model(name + ".gcst")
        npy = data["samples.npy"]
        samples = memoryview(npy)[10 + struct.unpack("<H", npy[8:10])[0] :].cast("h")
        first = 0
        for line in data["results.jsonl"].decode().splitlines():
            expected = json.loads(line)
            clip = array("h", samples[first : first + expected["samples"]])
            first += expected["samples"]
            text = model.transcribe(clip, gate=False)
            assert text.startswith(model.decode(expected["greedy"]).lstrip(" ").rstrip("\ufffd")), (text, expected)
            for channels in (1, 2):
                repeated = array("h", [sample for sample in clip for _ in range(channels)])
                write_wav(channels, 2, 16000, repeated.tobytes())
                found = [model.transcribe(path, gate=False) for path in ("clip.wav", Path("clip.wav"))]
                assert found == [text, text]
            stereo = array("h", [sample + change for sample in clip if abs(sample) < 32000 for change in (-7, 7)])
            mono = array("h", [sample for sample in clip if abs(sample) < 32000])
            stereo = memoryview(stereo).cast("B").cast("h", [len(mono), 2])
            assert model.transcribe(stereo, gate=False) == model.transcribe(mono, gate=False)
        header = Path("clip.wav").read_bytes()
        for cut in (0, 3, 12, 20, 40, 50):
            Path("cut.wav").write_bytes(header[:cut])
            refuses(model.transcribe, "cut.wav")
        ask = SOURCE / "tests/data/speech/ask.wav"
        with wave.open(str(ask), "rb") as file:
            spoken = array("h", file.readframes(file.getnframes()))
        text = model.transcribe(ask)
        assert text and text == model.transcribe(spoken) == model.transcribe(ask, gate=False)
        for rate, width, channels in ((8000, 2, 1), (44100, 3, 2), (192000, 4, 1), (16000, 1, 6)):
            write_wav(channels, width, rate, (b"\x80" if width == 1 else b"\0") * (width * channels * rate))
            assert model.transcribe("clip.wav") == ""  # silence
        for rate in (7999, 192001):
            write_wav(1, 2, rate, bytes(4000))
            refuses(model.transcribe, "clip.wav")
        Path("clip.flac").write_bytes(b"fLaC" + bytes(4000))
        said = refuses(model.transcribe, "clip.flac")
        assert said.endswith("ffmpeg -i 'clip.flac' -ar 16000 -ac 1 -c:a pcm_s16le 'clip.flac.wav'"), said
        for shape in ([2, 100, 80], [160, 100]):
            refuses(model.transcribe, memoryview(spoken[:16000]).cast("B").cast("h", shape))
        bad = ["missing.wav", ".", name + ".gcst", None, 5, b"ab", [1, 2], array("f", [1.0])]
        if name != "whisper":  # its window cuts and fills up
            bad += [array("h"), array("h", bytes(2 * 10**7))]
        for clip in bad:
            refuses(model.transcribe, clip)
        assert model.transcribe(clip := samples[:16000], prefix=[5, 6], gate=False).startswith(model.decode([5, 6]))
        refuses(model.transcribe, clip, language="xx")
        rows = memoryview(array("f", [0.1] * 480)).cast("B").cast("f", [40, 12])
        if name == "whisper":
            languages = [model.transcribe(clip, language=code, gate=False) for code in ("en", "fr")]
            assert languages[0] != languages[1]
            assert model.transcribe(rows)
        parts = list(model.transcribe_segments(spoken, words=True, gate=False))
        texts = [part.text for part in model.transcribe_segments(ask, gate=False)]
        assert parts and [part.text for part in parts] == texts
        for number, part in enumerate(parts):
            assert part.id == number and 0 <= part.start < part.end <= len(spoken) / 16000, part
            assert "".join(word.word for word in part.words).strip() == part.text.strip(), part
            assert all(part.start <= word.start <= word.end <= part.end for word in part.words), part
            assert part.tokens and not math.isnan(part.avg_logprob), part
            assert (part.language is None) == (name == "moonshine"), part
        assert model.transcribe_segments(spoken, gate=False).__next__().words is None, "the rest is not wanted"
        if name == "whisper":
            assert {part.language for part in model.transcribe_segments(ask, language=["haw", "fr"])} <= {"haw", "fr"}
            assert [part.text for part in model.transcribe_segments(ask, gate=False, prompt="Q")] != texts
            assert list(model.transcribe_segments(ask, gate=False, key_terms=["Qq", "Zz"]))
            code = program_of("examples/guides/from_faster_whisper.md").replace("build/whisper.gcst", "whisper.gcst")
            exec(code.replace("tests/data/speech/ask.wav", str(ask)), {})
        else:
            refuses(lambda text: list(model.transcribe_segments(ask, prompt=text)), "Q")
        for call in (dict(language="xx"), dict(language=["en", "xx"]), dict(key_terms="Tom")):
            refuses(lambda options: list(model.transcribe_segments(ask, **options)), call)
        for clip_of_no_kind in (None, 5, "missing.wav", array("f", [1.0]), "clip.flac"):
            refuses(lambda clip: list(model.transcribe_segments(clip)), clip_of_no_kind)
        refuses(model.transcribe, rows.cast("B").cast("f", [48, 10]))
        refuses(model.translate, "a")
        refuses(model.translate_batch, [[1, 2]])
    refuses(goldcrest.Model("enfr.gcst").transcribe, "clip.wav")


def test_images():
    """read gives the texts of the ids that transformers chose; other images are refused."""
    recorded = json.loads((SOURCE / "tests/data/images.json").read_text())
    del recorded["files"]
    for name, files in recorded.items():
        data = unpack(name, files)
        goldcrest.convert(name, name + ".gcst", weights="float32", quiet=True)
        model = goldcrest.Model(name + ".gcst", beam_size=1)
        images, expected = [], []
        for i, line in enumerate(data["results.jsonl"].decode().splitlines()):
            npy = data[f"{i}.npy"]
            shape = [int(size) for size in re.search(rb"\((\d+), (\d+), (\d)\)", npy).groups()]
            images.append(memoryview(npy[-math.prod(shape) :]).cast("B", shape))
            expected.append(model.decode(json.loads(line)["greedy"]).lstrip(" "))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # texts reach their limit
            assert model.read(images) == [model.read(image) for image in images] == expected, name
    for image in (None, 5, "a.png", array("f", [1.0]), memoryview(bytes(12)).cast("B", [2, 3, 2]), memoryview(b"")):
        refuses(model.read, image)
    refuses(goldcrest.Model("moonshine.gcst").read, images[0])


def test_channels():
    """Samples [samples, channels], as soundfile gives them, become their mean, rounded towards zero."""
    dice = random.Random(9)
    for name in ("moonshine.gcst", "whisper.gcst"):
        model = goldcrest.Model(name)
        for channels in (1, 2, 3, 6):
            frames = [[dice.choice([-32768, 32767, dice.randint(-9, 9)]) for _ in range(channels)] for _ in range(9000)]
            mean = array("h", [abs(sum(frame)) // channels * (1 if sum(frame) > 0 else -1) for frame in frames])
            flat = memoryview(array("h", sum(frames, []))).cast("B")
            assert model.transcribe(flat.cast("h", [9000, channels])) == model.transcribe(mean), (name, channels)
        for shape, hint in (([6, 9000], "; transpose it"), ([600, 90], ""), ([9000, 2, 3], "")):
            said = refuses(model.transcribe, flat.cast("h", shape))
            assert said == f"samples has the shape {shape}; expected [samples] or [samples, channels]{hint}"


def damage(data, dice, most):  # cuts the bytes or not, and changes 8 of the first `most`
    damaged = bytearray(data if dice.random() < 0.5 else data[: dice.randrange(1, len(data))])
    for _ in range(8):
        damaged[dice.randrange(min(len(damaged), most))] ^= 1 + dice.randrange(255)
    return damaged


def test_hostile_files():
    dice = random.Random(7)
    before = refuses.n
    good = Path("enfr.gcst").read_bytes()
    for index in range(100):
        Path("bad.gcst").write_bytes(damage(good, dice, 4096))
        refuses((goldcrest.Model, goldcrest.arena_bytes, goldcrest.memory_map)[index % 3], "bad.gcst")
    checkpoint = Path("examples/models/g2p")
    for index in range(30):
        shutil.rmtree("hostile", ignore_errors=True)
        shutil.copytree(checkpoint, "hostile")
        name = ("config.json", "model.safetensors")[index % 2]
        Path("hostile", name).write_bytes(damage((checkpoint / name).read_bytes(), dice, 200))
        refuses(goldcrest.convert, "hostile", "out.gcst")
    for path in ("", "missing", ".", "a\0b", None, "\ud800", "examples/models/enfr/config.json"):
        for function in (goldcrest.Model, goldcrest.arena_bytes, goldcrest.memory_map):
            refuses(function, path)
        refuses(goldcrest.convert, path, "out.gcst")
        refuses(goldcrest.evaluate, path, ["a"], ["b"])
        refuses(goldcrest.emit_c, path, "out")
    values = (object(), None, "text", b"\0" * 8, memoryview(b"\0" * 8).cast("c"))
    for state in ({}, {5: b"\0"}, *({"w": value} for value in values)):
        for config in ({}, {"model_type": "bert"}, {"model_type": ["marian"]}, "missing.json", "enfr.gcst"):
            refuses(goldcrest.convert, state, "out.gcst", config=config)
    print(f"{refuses.n - before} hostile files")
    assert refuses.n - before >= 200


def test_hostile_arguments():
    before = refuses.n
    model = goldcrest.Model("enfr.gcst", max_source=16, max_target=16)
    for text in (None, 5, b"a", "a\0b", "\ud800", ["a", None], [5], [b"a"], [["a"]]):
        refuses(model.translate, text)
        if not isinstance(text, list):
            refuses(model.encode, text)
            refuses(lambda text: list(model.stream(text)), text)
            refuses(model.translate_batch, text)
    bad = {
        "beam_size": (17, -1, 2**32, 1.5, "4", None),
        "batch": (257, -1, 2**40, 1.5, "4", None),
        "max_source": (10**6, -1, 2**32, 2.0, "a", [1]),
        "max_target": (10**6, -1, 2**40, 2.0, "a", (1,)),
        "max_source_bytes": (-1, 2**32, 1.5, b"1", None),
        "no_such_limit": (1,),
    }
    for function in (goldcrest.Model, goldcrest.arena_bytes, goldcrest.memory_map):
        refuses_each(bad, function, "enfr.gcst")
    bad = {
        "threads": (65, -1, 2**40, 1.5, "4", None),
        "source_lang": ("xx", 5, b"en", "en\0", "\ud800"),
        "target_lang": ("xx", 5, b"fr", "fr\0", "\ud800"),
        "min_target": (-1, 2**32 + 1, 1.5, "4"),
        "length_penalty": (99.0, float("nan"), float("inf"), "1"),
        "word_penalty": (float("nan"), "1", [1]),
        "no_repeat_ngram": (-1, 2**32 + 1, 1.5, "4"),
        "repetition_penalty": (-1.0, 1e9, float("nan"), "1"),
    }
    refuses_each(bad, goldcrest.Model, "enfr.gcst")
    for ids in ([-1], [10**6], [2**40], [], ["a"], [0] * 1000, [None], [1.5], "12", 5, None):
        refuses(model.score_batch, ["a"], [ids])
        if ids not in ([], "12"):
            refuses(model.translate_batch, [ids])
        if ids != []:
            refuses(model.decode, ids if isinstance(ids, (int, str, type(None))) else [10**6, *ids])
    refuses_each({"n_best": (0, 17, 1.0, "1"), "beam_size": (17, "1")}, model.translate_batch, ["a"])
    refuses(goldcrest.convert, {"w": b"\0"}, "out.gcst")
    refuses(goldcrest.evaluate, "examples/models/enfr", "a", "b")
    refuses(goldcrest.convert, "-x", "out.gcst")
    for module in (None, 5, {}):
        refuses(goldcrest.compare, module, "examples/models/enfr", ["a"])
    refuses(model.score_batch, ["a"], [])
    refuses(model.score_batch, "a", [[0]])
    refuses(model.score_batch, None, None)
    refuses(model.encode, "x " * 100_000)
    bad = {"no_such_option": (1,), "max_source": (-1, "x"), "config": ("missing",), "cpu": ("abacus",), "a b": (True,)}
    refuses_each(bad, goldcrest.convert, "examples/models/enfr", "out.gcst")
    for out in ("no/such/folder/out.gcst", ".", None, 5, "a\0b"):
        refuses(goldcrest.convert, "examples/models/enfr", out)
    for out in ("enfr.gcst", "enfr.gcst/out", None, 5, "a\0b"):
        refuses(goldcrest.emit_c, "enfr.gcst", out)
    for lines in ((["a\tb"], ["c"]), (["a"], []), ([5], ["a"]), (["a"], [None]), (["\ud800"], ["a"]), (None, ["a"])):
        refuses(goldcrest.evaluate, "examples/models/enfr", *lines)
    assert model.translate("Let's go home.") == "Allons à la maison."
    print(f"{refuses.n - before} hostile arguments")
    assert refuses.n - before >= 200


def test_memory():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    model = goldcrest.Model("g2p.gcst", beam_size=1)

    def run(n):
        for index in range(n):
            model.translate("goldcrest") if index % 10 else model.translate_batch(["goldcrest"], prefix=[5])

    run(1000)
    before = resident()
    run(10_000)
    assert resident() - before <= 512 * 1024, resident() - before


run_tests(globals())
