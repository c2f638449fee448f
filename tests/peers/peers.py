# SPDX-License-Identifier: Apache-2.0
"""Goldcrest, CTranslate2, ONNX Runtime and XNNPACK, all int8, on the same weights, with equal forced work, in
interleaved pairs on pinned cores.

  python peers.py --build BUILD_FOLDER --work FOLDER [--quick] [--models base,small] [--json FILE]
  python peers.py --build BUILD_FOLDER --work FOLDER --texts CHECKPOINT LINES

--texts compares greedy texts of int8 engines with float32's, and their CPU time, one line at a time on one thread.
Prints Markdown tables with their conditions. --json FILE saves every figure at once, and the same command then
continues where it was interrupted.
"""

import argparse
import contextlib
import functools
import importlib.metadata
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import checkpoints
import product
import tables
from engines import OTHER, PEERS, SOURCE_TOKENS, XNNPACK, Case, Goldcrest, Patience, PeerProcess, Variant, peer_opening

BENCH = "examples/goldcrest-bench"
PACKAGES = {"CTranslate2": "ctranslate2", "ONNX Runtime": "onnxruntime"}
# A peer's idle threads spin for a while; CTranslate2's OpenMP spins for 0.2 s.
SETTLE_S = 0.3


class Results:
    """Figures by name in sections. `conditions` must be those of the run that the file came from."""

    def __init__(self, path: pathlib.Path | None, conditions: dict):
        self.path = path
        self.content = {"date": time.strftime("%Y-%m-%d"), "conditions": conditions,
                        "load_averages": {"first": os.getloadavg()}}
        if path and path.exists():
            self.content = json.loads(path.read_text(encoding="utf-8"))
            for key, found in self.content["conditions"].items():
                if found != conditions.get(key):
                    raise SystemExit(f"{path}: {key}: its figures were taken with {found!r}, this run has "
                                     f"{conditions.get(key)!r}; name another file or go back to those conditions")
        self.date, self.conditions, self.load_averages = map(self.content.get, ("date", "conditions", "load_averages"))

    def section(self, name: str) -> dict[str, dict]:
        return self.content.setdefault(name, {})

    def measure(self, section: str, name: str, figures: Callable[[], dict]) -> dict:
        """Returns the saved figures, or measures and saves new ones."""
        if name not in self.section(section):
            self.section(section)[name] = figures()
            self.load_averages["last"] = os.getloadavg()
            if self.path:
                unfinished = self.path.with_name(self.path.name + ".part")
                unfinished.write_text(json.dumps(self.content, indent=2) + "\n", encoding="utf-8")
                unfinished.replace(self.path)
        return self.section(section)[name]


def bootstrap_interval(ratios: list[float], resamples: int = 10000) -> tuple[float, float]:
    """The 95 % interval of the median, by resampling the pairs."""
    chooser = random.Random(1)
    medians = sorted(statistics.median(chooser.choices(ratios, k=len(ratios))) for _ in range(resamples))
    return medians[int(0.025 * resamples)], medians[int(0.975 * resamples) - 1]


def compare(ours: Goldcrest, theirs: PeerProcess, case: Case, n_pairs: int) -> dict:
    """Measures pairs in the order AB BA AB ..., so that a drift of the machine affects both sides."""
    our_rates, their_rates = [], []
    for pair in range(n_pairs):
        sides = [(ours, our_rates), (theirs, their_rates)]
        for engine, rates in sides if pair % 2 == 0 else reversed(sides):
            time.sleep(SETTLE_S if case.threads > 1 else 0)
            rates.append(engine.tokens_per_s(case))
    ratios = [our / their for our, their in zip(our_rates, their_rates)]
    low, high = bootstrap_interval(ratios)
    return {"ours": statistics.median(our_rates), "theirs": statistics.median(their_rates), "ratios": ratios,
            "ratio": statistics.median(ratios), "low": low, "high": high}


def compare_case(ours: Goldcrest, variants: list[PeerProcess], case: Case, n_pairs: int) -> dict:
    """Probes each of the peer's backends once, then measures pairs with the fastest."""
    probes = {peer.variant.name: peer.probe(case) for peer in variants}
    fastest = max(variants, key=lambda peer: probes[peer.variant.name])
    return {"variant": fastest.variant.name, "probes": probes, "bound": ours.bound(case)} | compare(
        ours, fastest, case, n_pairs)


def named_cases(arguments: argparse.Namespace, model: str, peer: str, threads: int) -> dict[str, Case]:
    beams = arguments.beams if peer != "ONNX Runtime" else [beam for beam in arguments.beams if beam == 1]
    return {f"{model}, {peer}, beam {beam}, batch {batch}, {threads} threads": Case(beam, batch, threads)
            for beam in beams for batch in arguments.batches}


def open_peer(arguments: argparse.Namespace, variant: Variant, model: pathlib.Path,
              threads: int) -> PeerProcess | Goldcrest:
    if variant is XNNPACK:
        return goldcrest(arguments, model, variant.name)
    if variant is OTHER:
        ours = goldcrest(arguments, model)
        ours.variant = variant
        return ours
    return PeerProcess(variant, model, arguments.patience, arguments.cores[:threads])


def measure_speeds(arguments: argparse.Namespace, results: Results, model: str, ours: Goldcrest, peer: str,
                   folder: pathlib.Path, threads: int) -> None:
    cases = named_cases(arguments, model, peer, threads)
    with contextlib.ExitStack() as stack:
        variants = [stack.enter_context(open_peer(arguments, variant, folder, threads)) for variant in PEERS[peer]]
        for name, case in cases.items():
            row = results.measure("speed", name, lambda: {
                "model": model, "peer": peer, "beam_size": case.beam_size, "batch": case.batch,
                "threads": threads} | compare_case(ours, variants, case, arguments.pairs))
            print(f"{name}: {row['ratio']:.2f}x", file=sys.stderr, flush=True)


def measure_model(arguments: argparse.Namespace, results: Results, model: str) -> None:
    gcst, folders = checkpoints.prepare(
        model, arguments.work, product.ROOT / "tests/data/opus-mt-en-mg",
        arguments.build / "converter/goldcrest-convert", arguments.seed, arguments.peers)
    ours = goldcrest(arguments, gcst)
    for threads in arguments.threads:
        for peer, folder in folders.items():
            measure_speeds(arguments, results, model, ours, peer, folder, threads)
    results.measure("opening", model, lambda: {
        "Goldcrest": ours.opening(), "Goldcrest --low-memory": ours.opening("--low-memory")} | {
        peer: open_cost(arguments, peer, folder) for peer, folder in folders.items()})
    results.measure("length", model, ours.length_ratios)


def open_cost(arguments: argparse.Namespace, peer: str, model: pathlib.Path) -> dict:
    if PEERS[peer] in ((XNNPACK,), (OTHER,)):
        return goldcrest(arguments, model, XNNPACK.name if PEERS[peer] == (XNNPACK,) else None).opening()
    return peer_opening(PEERS[peer], model, arguments.patience, arguments.cores[0])


def goldcrest(arguments: argparse.Namespace, model: pathlib.Path, kernels: str | None = None) -> Goldcrest:
    return Goldcrest(arguments.build / BENCH, model, kernels or arguments.kernels, arguments.patience, arguments.cores)


def cpu_fields() -> Iterator[tuple[str, str]]:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if ":" in line:
            name, value = line.split(":", 1)
            yield name.strip().lower(), value.strip()


def best_kernels(build: pathlib.Path) -> str:
    return subprocess.run([build / BENCH, "--list-kernels"], check=True, capture_output=True,
                          text=True).stdout.split()[0]


def conditions_of(arguments: argparse.Namespace) -> dict:
    """Returns everything that two parts of one run must have in common."""
    commit = subprocess.run(["git", "-C", product.ROOT, "describe", "--always", "--dirty"], capture_output=True,
                            text=True).stdout.strip() or "unknown"
    packages = ["transformers", *(PACKAGES[peer] for peer in arguments.peers if peer in PACKAGES)]
    return {
        "cpu": next((value for name, value in cpu_fields() if name in ("model name", "hardware")), platform.machine()),
        "cpus": os.cpu_count(), "system": f"{platform.system()} {platform.release()}", "cores": arguments.cores,
        "kernels": arguments.kernels or best_kernels(arguments.build), "commit": commit, "seed": arguments.seed,
        "source_tokens": SOURCE_TOKENS, "pairs": arguments.pairs, "seconds": arguments.patience.seconds,
        "repetitions": arguments.patience.repetitions, "warm_ups": arguments.patience.warm_ups,
    } | {package: importlib.metadata.version(package) for package in packages}


def report(results: Results, markdown: bool) -> str:
    rows, conditions = list(results.section("speed").values()), results.conditions | {"date": results.date}
    if markdown:
        return tables.compact_table(rows) + "\n\n" + tables.compact_conditions(conditions)
    return "\n\n".join(filter(None, [
        tables.speed_table(rows), tables.thread_table(rows), tables.opening_table(results.section("opening")),
        tables.length_table(results.section("length")), tables.long_conditions(conditions, results.load_averages)]))


# Goldcrest's files of --texts by the options of goldcrest-convert. The first one's texts are the measure, the second
# one's time.
TEXT_FILES = {"float32": ["--weights", "float32"], "int8": [],
              "--matrices decoder=near": ["--matrices", "decoder=near"],
              "--accuracy near": ["--accuracy", "near"], "--accuracy exact": ["--accuracy", "exact"]}


def texts_of_goldcrest(build: pathlib.Path, model: pathlib.Path, sources: list[str]) -> list[str]:
    command = [build / "examples/goldcrest-translate", model, "--beam-size", "1", "--batch", "1", "--threads", "1"]
    lines = "".join(f"{line}\n" for line in sources)
    return subprocess.run(command, input=lines, check=True, capture_output=True, text=True).stdout.splitlines()


def ctranslate2_texts(checkpoint: pathlib.Path, folder: pathlib.Path) -> Callable[[list[str]], list[str]]:
    """Opens the checkpoint as CTranslate2 int8; one line at a time, as our program takes them."""
    import ctranslate2
    from transformers import AutoTokenizer

    if not folder.exists():
        ctranslate2.converters.TransformersConverter(str(checkpoint)).convert(str(folder), quantization="int8")
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    translator = ctranslate2.Translator(str(folder), compute_type="int8", intra_threads=1)

    def translate(sources: list[str]) -> list[str]:
        texts = []
        for source in sources:
            tokens = tokenizer.convert_ids_to_tokens(tokenizer.encode(source))
            found = translator.translate_batch([tokens], beam_size=1, max_decoding_length=512)[0].hypotheses[0]
            texts.append(tokenizer.decode(tokenizer.convert_tokens_to_ids(found), skip_special_tokens=True))
        return texts

    return translate


def cpu_seconds() -> float:
    return sum(os.times()[:4])  # of this process and of the programs that it ran


def compare_texts(arguments: argparse.Namespace) -> str:
    """Returns a table. Each engine's time is its least of several rounds, in which the engines take turns."""
    checkpoint, lines = arguments.texts
    sources = sorted({line.split("\t")[0] for line in lines.read_text(encoding="utf-8").splitlines() if line})
    arguments.work.mkdir(parents=True, exist_ok=True)
    engines = {}
    for name, options in TEXT_FILES.items():
        model = arguments.work / (f"texts{len(engines)}.gcst")
        product.run(arguments.build / "converter/goldcrest-convert", "--quiet", checkpoint, "-o", model, *options)
        engines[name] = functools.partial(texts_of_goldcrest, arguments.build, model)
    engines["CTranslate2 int8"] = ctranslate2_texts(checkpoint, arguments.work / "texts_ctranslate2")
    seconds, texts = {name: [] for name in engines}, {}
    for _ in range(3 if arguments.quick else 7):
        for name, translate in engines.items():
            before = cpu_seconds()
            texts[name] = translate(sources)
            seconds[name].append(cpu_seconds() - before)
    cpu = conditions_of(arguments)["cpu"]
    rows = [f"| {len(sources)} lines, {cpu} | identical to float32's | CPU time over int8's |", "|---|--:|--:|"]
    for name, found in texts.items():
        identical = sum(one == other for one, other in zip(found, texts["float32"], strict=True))
        rows.append(f"| {name} | {identical} ({100 * identical / len(sources):.2f} %) | "
                    f"{min(seconds[name]) / min(seconds['int8']):.2f} |")
    return "\n".join(rows)


def comma_list(kind: type) -> Callable[[str], list]:
    return lambda text: [kind(part) for part in text.split(",")]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a Release build of this repository")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where checkpoints and models are kept")
    parser.add_argument("--models", type=comma_list(str), default=list(checkpoints.SHAPES),
                        help="of " + ",".join(checkpoints.SHAPES | checkpoints.FAMILIES) + "; all but the last four")
    parser.add_argument("--peers", type=comma_list(str),
                        help="of \"" + ",".join(PEERS) + "\" (all; XNNPACK if the build has that)")
    parser.add_argument("--beams", type=comma_list(int), default=[1, 4])
    parser.add_argument("--batches", type=comma_list(int), default=[1, 32])
    parser.add_argument("--threads", type=comma_list(int), default=[1, 2], help="numbers of threads (1,2)")
    parser.add_argument("--cores", type=comma_list(int), default=sorted(os.sched_getaffinity(0), reverse=True),
                        help="to pin to; one thread runs on the first, two on the first two")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=2, help="least time of one measurement")
    parser.add_argument("--kernels", help="force one of Goldcrest's kernel tables")
    parser.add_argument("--seed", type=int, default=1, help="of the weights of checkpoints that are not there yet")
    parser.add_argument("--quick", action="store_true", help="3 short pairs a case: a look, not a result")
    parser.add_argument("--json", type=pathlib.Path, help="save all figures there, and go on from those it has")
    parser.add_argument("--texts", type=pathlib.Path, nargs=2, metavar=("CHECKPOINT", "LINES"),
                        help="only compare texts: of a Marian checkpoint, for lines of SOURCE [TAB REFERENCE]...")
    parser.add_argument("--markdown", action="store_true", help="print only a short table of the ratios")
    arguments = parser.parse_args()
    has_xnnpack = (arguments.build / "engine/libgoldcrest_xnnpack.a").exists()
    if arguments.peers is None:
        arguments.peers = [peer for peer in PEERS if peer not in ("XNNPACK", checkpoints.OTHER_MODEL)
                           or peer == "XNNPACK" and has_xnnpack]
    elif "XNNPACK" in arguments.peers and not has_xnnpack:
        parser.error("--peers: this build has no XNNPACK; bash tests/xnnpack.sh makes build/xnnpack, which has")
    for option, known in (("models", checkpoints.SHAPES | checkpoints.FAMILIES), ("peers", PEERS)):
        unknown = [name for name in getattr(arguments, option) if name not in known]
        if unknown:
            parser.error(f"--{option}: no {unknown[0]!r}; there are {', '.join(known)}")
    if max(arguments.threads) > len(arguments.cores):
        parser.error(f"--threads: {max(arguments.threads)} on {len(arguments.cores)} cores")
    if arguments.quick:
        arguments.pairs = 3
    arguments.patience = Patience(0.2, 1, 1) if arguments.quick else Patience(arguments.seconds, 3, 3)
    return arguments


def main() -> None:
    arguments = parse_arguments()
    if arguments.texts:
        print(compare_texts(arguments))
        return
    results = Results(arguments.json, conditions_of(arguments))
    for model in arguments.models:
        measure_model(arguments, results, model)
    print(report(results, arguments.markdown))


if __name__ == "__main__":
    main()
