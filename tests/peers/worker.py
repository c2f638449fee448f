# SPDX-License-Identifier: Apache-2.0
"""A peer in a process of its own: reads one JSON request a line, writes one JSON answer a line.

  arguments          MODEL_FOLDER FIRST_TOKENS THREADS
  first line out     {"load_s", "first_s", "imported_bytes", "peak_resident_bytes"}: loading, and from the start of
                     loading to the end of a greedy translation of FIRST_TOKENS; memory before loading, and after that
  request            {"source_tokens", "target_tokens", "beam_size", "batch", "seconds", "warm_ups", "repetitions"}
  answer             {"tokens_per_s", "repetitions"}
"""

import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

FIRST_SOURCE_TOKENS = 32


class Peer(Protocol):
    def make_sources(self, n_tokens: int, batch: int) -> Any:
        """Random sources of n_tokens each."""

    def translate(self, sources: Any, n_tokens: int, beam_size: int) -> None:
        """Translates exactly n_tokens positions for every source; fewer are an error."""


def peak_resident_bytes() -> int:
    """Reads the kernel's own account of this process, because getrusage's figure starts from the parent's."""
    status = pathlib.Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def measure(work: Callable[[], None], request: dict) -> tuple[float, int]:
    """Returns the median seconds of one call and the number of calls, measured as goldcrest-bench does."""
    for _ in range(request["warm_ups"]):
        work()
    times: list[float] = []
    while sum(times) < request["seconds"] or len(times) < request["repetitions"]:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times), len(times)


def serve(load: Callable[[pathlib.Path, int], Peer]) -> None:
    """load(model folder, threads) opens the model. Everything that it needs must be imported before."""
    folder, first_tokens, threads = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    imported_bytes = peak_resident_bytes()
    begin = time.perf_counter()
    peer = load(folder, threads)
    load_s = time.perf_counter() - begin
    first = peer.make_sources(FIRST_SOURCE_TOKENS, 1)
    begin_first = time.perf_counter()
    peer.translate(first, first_tokens, 1)
    first_s = load_s + time.perf_counter() - begin_first
    print(json.dumps({"load_s": load_s, "first_s": first_s, "imported_bytes": imported_bytes,
                      "peak_resident_bytes": peak_resident_bytes()}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        sources = peer.make_sources(request["source_tokens"], request["batch"])
        seconds, repetitions = measure(
            lambda: peer.translate(sources, request["target_tokens"], request["beam_size"]), request)
        print(json.dumps({"tokens_per_s": request["batch"] * request["target_tokens"] / seconds,
                          "repetitions": repetitions}), flush=True)
