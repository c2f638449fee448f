# SPDX-License-Identifier: Apache-2.0
"""CTranslate2 in a process of its own: reads one JSON request a line, writes one JSON answer a line.

  ct2_worker.py MODEL_FOLDER; one thread; the environment chooses the backend (CT2_USE_MKL=0 or 1)
  first line out     {"version", "load_s", "first_token_s", "imported_bytes", "peak_resident_bytes"}
  request            {"source_tokens", "target_tokens", "beam_size", "batch", "seconds", "warm_ups", "repetitions"}
  answer             {"tokens_per_s", "repetitions"}
"""

import json
import pathlib
import random
import statistics
import sys
import time

import ctranslate2


def random_sources(vocabulary: list[str], n_tokens: int, batch: int) -> list[list[str]]:
    """n_tokens tokens each, the end token that the model wants included."""
    chooser = random.Random(1)
    ordinary = [text for text in vocabulary if text not in ("</s>", "<unk>", "<pad>")]
    return [chooser.choices(ordinary, k=n_tokens - 1) + ["</s>"] for _ in range(batch)]


def translate(translator, sources, n_tokens: int, beam_size: int) -> None:
    """Exactly n_tokens positions for every source; less is an error."""
    results = translator.translate_batch(
        sources, beam_size=beam_size, min_decoding_length=n_tokens, max_decoding_length=n_tokens,
        return_scores=False, max_batch_size=0)
    for result in results:
        if len(result.hypotheses[0]) != n_tokens:
            raise RuntimeError(f"{len(result.hypotheses[0])} tokens where {n_tokens} were forced")


def peak_resident_bytes() -> int:
    """From the kernel's own account of this process; getrusage's figure starts from that of the parent."""
    status = pathlib.Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def measure(work, request) -> tuple[float, int]:
    """The median seconds of one call and the number of calls, taken as goldcrest-bench takes them."""
    for _ in range(request["warm_ups"]):
        work()
    times: list[float] = []
    while sum(times) < request["seconds"] or len(times) < request["repetitions"]:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times), len(times)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    vocabulary = json.loads((folder / "shared_vocabulary.json").read_text(encoding="utf-8"))
    first = random_sources(vocabulary, 32, 1)
    imported_bytes = peak_resident_bytes()
    begin = time.perf_counter()
    translator = ctranslate2.Translator(str(folder), device="cpu", compute_type="int8", inter_threads=1,
                                        intra_threads=1)
    load_s = time.perf_counter() - begin
    translate(translator, first, 1, 1)
    first_token_s = time.perf_counter() - begin
    print(json.dumps({"version": ctranslate2.__version__, "load_s": load_s, "first_token_s": first_token_s,
                      "imported_bytes": imported_bytes, "peak_resident_bytes": peak_resident_bytes()}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        sources = random_sources(vocabulary, request["source_tokens"], request["batch"])
        seconds, repetitions = measure(
            lambda: translate(translator, sources, request["target_tokens"], request["beam_size"]), request)
        print(json.dumps({"tokens_per_s": request["batch"] * request["target_tokens"] / seconds,
                          "repetitions": repetitions}), flush=True)


if __name__ == "__main__":
    main()
