# SPDX-License-Identifier: Apache-2.0
"""The two engines behind the same two questions: tokens/s of a cell, and the cost of opening a model."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass

SOURCE_TOKENS = 32
BACKENDS = {"oneDNN": "0", "MKL": "1"}  # value of CT2_USE_MKL


@dataclass(frozen=True)
class Cell:
    beam_size: int
    batch: int

    @property
    def target_tokens(self) -> int:
        return 64 if self.batch == 1 else 32


@dataclass(frozen=True)
class Patience:
    """One measurement: the median of at least `repetitions` runs and `seconds`, after `warm_ups`."""

    seconds: float
    warm_ups: int
    repetitions: int


class Goldcrest:
    """goldcrest-bench, one process for each measurement."""

    def __init__(self, program: pathlib.Path, model: pathlib.Path, kernels: str | None, patience: Patience):
        self.command = [program, model, "--json", "--source", str(SOURCE_TOKENS), "--seconds", str(patience.seconds),
                        "--warm-ups", str(patience.warm_ups), "--repetitions", str(patience.repetitions)]
        if kernels:
            self.command += ["--kernels", kernels]

    def _run(self, *arguments: str) -> dict:
        return json.loads(subprocess.run([*self.command, *arguments], check=True, capture_output=True).stdout)

    def tokens_per_s(self, cell: Cell) -> float:
        report = self._run("--measure", "speed", "--beam", str(cell.beam_size), "--batch", str(cell.batch),
                           "--target", str(cell.target_tokens))
        return report["speed"][0]["tokens_per_s"]

    def opening(self) -> dict:
        report = self._run("--measure", "open")
        return {"kernels": report["kernels"], "load_s": report["open"]["full"]["median_s"],
                "first_token_s": report["open"]["first_token"]["median_s"],
                "peak_resident_bytes": report["open"]["peak_resident_bytes"]}


class CTranslate2:
    """ct2_worker.py, a process that keeps its model and waits without using the core."""

    def __init__(self, model: pathlib.Path, backend: str, patience: Patience):
        self.patience = patience
        environment = os.environ | {"CT2_USE_MKL": BACKENDS[backend], "OMP_NUM_THREADS": "1"}
        worker = pathlib.Path(__file__).with_name("ct2_worker.py")
        self.process = subprocess.Popen([sys.executable, worker, model], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        self.start = self._answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"ct2_worker.py ended with status {self.process.wait()}")
        return json.loads(line)

    def tokens_per_s(self, cell: Cell) -> float:
        request = asdict(cell) | asdict(self.patience) | {"source_tokens": SOURCE_TOKENS,
                                                          "target_tokens": cell.target_tokens}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()["tokens_per_s"]


def ct2_opening(model: pathlib.Path, backend: str, patience: Patience) -> dict:
    """Medians over fresh processes, imports and process start excluded from the times."""
    starts = []
    for _ in range(patience.repetitions):
        with CTranslate2(model, backend, patience) as engine:
            starts.append(engine.start)
    return {key: statistics.median(start[key] for start in starts) for key in starts[0] if key != "version"}
