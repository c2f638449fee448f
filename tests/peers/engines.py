# SPDX-License-Identifier: Apache-2.0
"""Measures Goldcrest and its peers in the same way: tokens/s of a case, and the cost of opening a model."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass

SOURCE_TOKENS = 32
FIRST_SENTENCE_TOKENS = 64


@dataclass(frozen=True)
class Case:
    beam_size: int
    batch: int
    threads: int

    @property
    def target_tokens(self) -> int:
        return 64 if self.batch == 1 else 32


@dataclass(frozen=True)
class Patience:
    """One measurement: the median of at least `repetitions` runs and `seconds`, after `warm_ups`."""

    seconds: float
    warm_ups: int
    repetitions: int


PROBE = Patience(0.3, 1, 1)


@dataclass(frozen=True)
class Variant:
    """A peer with one of its backends."""

    name: str
    worker: str
    environment: tuple[tuple[str, str], ...] = ()


ONEDNN = Variant("oneDNN", "ct2_worker.py", (("CT2_USE_MKL", "0"),))
MKL = Variant("MKL", "ct2_worker.py", (("CT2_USE_MKL", "1"),))
MLAS = Variant("MLAS", "ort_worker.py")
XNNPACK = Variant("xnnpack", "goldcrest-bench")  # the same engine with XNNPACK's kernels for its linear layers
OTHER = Variant("another model", "goldcrest-bench")  # the same engine and kernels
PEERS = {"CTranslate2": (ONEDNN, MKL), "ONNX Runtime": (MLAS,), "XNNPACK": (XNNPACK,), "other model": (OTHER,)}


class Goldcrest:
    """goldcrest-bench, one process for each measurement."""

    def __init__(self, program: pathlib.Path, model: pathlib.Path, kernels: str | None, patience: Patience,
                 cores: list[int], variant: Variant = XNNPACK):
        self.program, self.model, self.kernels = program, model, kernels
        self.patience, self.cores, self.variant = patience, cores, variant

    def _run(self, patience: Patience, measures: str, threads: int, *arguments: str) -> dict:
        command = [self.program, self.model, "--json", "--measure", measures, "--source", str(SOURCE_TOKENS),
                   "--threads", str(threads), "--seconds", str(patience.seconds),
                   "--warm-ups", str(patience.warm_ups), "--repetitions", str(patience.repetitions), *arguments]
        if self.kernels:
            command += ["--kernels", self.kernels]
        run = subprocess.run(command, capture_output=True, text=True,
                             preexec_fn=lambda: os.sched_setaffinity(0, self.cores[:threads]))
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip())
        return json.loads(run.stdout)

    def _run_case(self, measures: str, case: Case) -> dict:
        report = self._run(self.patience, measures, case.threads, "--beam-size", str(case.beam_size), "--batch",
                           str(case.batch), "--target", str(case.target_tokens))
        return report["cases"][0]

    def tokens_per_s(self, case: Case) -> float:
        return self._run_case("speed", case)["tokens_per_s"]

    def probe(self, case: Case) -> float:
        """As PeerProcess.probe."""
        return self.tokens_per_s(case)

    def __enter__(self) -> "Goldcrest":
        return self

    def __exit__(self, *_) -> None:
        """Every measurement had a process of its own."""

    def bound(self, case: Case) -> dict:
        """Returns the bound by the machine's measured speeds, and what limits each part."""
        bound = self._run_case("speed,bounds", case)["bound"]
        return {"tokens_per_s": bound["tokens_per_s"], "encode_limit": bound["encode"]["limit"],
                "decode_limit": bound["decode"]["limit"]}

    def length_ratios(self) -> dict[str, float]:
        """By beam size: the cost of a position in 200 target tokens over that in 20."""
        report = self._run(self.patience, "length", 1, "--beam-size", "1,4")
        return {str(cost["beam_size"]): cost["ratio"] for cost in report["length"]}

    def opening(self, *options: str) -> dict:
        """Medians over fresh processes, process start excluded from the times; options of goldcrest-bench."""
        once = Patience(0, 0, 1)
        starts = []
        for _ in range(self.patience.repetitions):
            report = self._run(once, "open", 1, "--target", str(FIRST_SENTENCE_TOKENS), *options)["open"]
            starts.append({"load_s": report["full"]["median_s"], "load_bytes_per_s": report["full_bytes_per_s"],
                           "first_token_s": report["first_token"]["median_s"],
                           "first_sentence_s": report["first_sentence"]["median_s"],
                           "peak_resident_bytes": report["peak_resident_bytes"]})
        return medians(starts)


class PeerProcess:
    """A worker that keeps its model and waits without using a core."""

    def __init__(self, variant: Variant, model: pathlib.Path, patience: Patience, cores: list[int],
                 first_tokens: int = 1):
        self.variant, self.patience = variant, patience
        threads = len(cores)
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)} | dict(variant.environment)
        worker = pathlib.Path(__file__).with_name(variant.worker)
        self.process = subprocess.Popen(
            [sys.executable, worker, model, str(first_tokens), str(threads)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.start = self._answer()

    def __enter__(self) -> "PeerProcess":
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.variant.worker} ended with status {self.process.wait()}")
        return json.loads(line)

    def probe(self, case: Case) -> float:
        """Tokens/s from few runs, enough to choose a backend; some take many times as long."""
        return self.tokens_per_s(case, PROBE)

    def tokens_per_s(self, case: Case, patience: Patience | None = None) -> float:
        request = asdict(case) | asdict(patience or self.patience)
        request |= {"source_tokens": SOURCE_TOKENS, "target_tokens": case.target_tokens}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()["tokens_per_s"]


def peer_opening(variants: tuple[Variant, ...], model: pathlib.Path, patience: Patience, core: int) -> dict:
    """Medians over fresh processes of the variant with the fastest first token. The times exclude imports and the
    process start."""
    def start(variant: Variant, first_tokens: int) -> dict:
        with PeerProcess(variant, model, patience, [core], first_tokens) as peer:
            return peer.start

    def opening(variant: Variant) -> dict:
        starts = []
        for _ in range(patience.repetitions):
            first = start(variant, 1)
            starts.append({"load_s": first["load_s"], "first_token_s": first["first_s"],
                           "first_sentence_s": start(variant, FIRST_SENTENCE_TOKENS)["first_s"],
                           "imported_bytes": first["imported_bytes"],
                           "peak_resident_bytes": first["peak_resident_bytes"]})
        return medians(starts) | {"variant": variant.name}

    return min((opening(variant) for variant in variants), key=lambda figures: figures["first_token_s"])


def medians(rows: list[dict]) -> dict:
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}
