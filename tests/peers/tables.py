# SPDX-License-Identifier: Apache-2.0
"""Results as Markdown."""

from collections.abc import Iterable, Sequence

SHOWN_CASES = {"greedy, batch 1": (1, 1), "beam 4, batch 1": (4, 1), "greedy, batch 32": (1, 32),
               "beam 4, batch 32": (4, 32)}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column is text, the others are figures. Without rows there is no table."""
    rows = list(rows)
    if not rows:
        return ""
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def speed_table(rows: list[dict]) -> str:
    def cells(row: dict) -> list[str]:
        others = [f"{name} {rate:.0f}" for name, rate in row["probes"].items() if name != row["variant"]]
        bound = row["bound"]
        return [row["model"], row["peer"], str(row["beam_size"]), str(row["batch"]), str(row["threads"]),
                f"{row['ours']:.0f}", f"{row['theirs']:.0f}", row["variant"], ", ".join(others) or "-",
                f"{row['ratio']:.2f}", f"{row['low']:.2f} to {row['high']:.2f}",
                f"{min(row['ratios']):.2f} to {max(row['ratios']):.2f}",
                f"{bound['tokens_per_s']:.0f}", f"{100 * row['ours'] / bound['tokens_per_s']:.0f} %",
                f"{bound['encode_limit']}, {bound['decode_limit']}"]

    return table(["model", "peer", "beam", "batch", "threads", "Goldcrest tok/s", "peer tok/s", "its backend",
                  "its others", "ratio", "95 % interval", "least and most", "bound tok/s", "Goldcrest of it",
                  "limits: encoding, decoding"], map(cells, rows))


def opening_table(openings: dict[str, dict]) -> str:
    def cells(model: str, engine: str, figures: dict) -> list[str]:
        imported = figures.get("imported_bytes", 0)
        megabytes = figures["peak_resident_bytes"] / 1e6
        return [model, engine, f"{figures['load_s'] * 1e3:.1f}", f"{figures['first_token_s'] * 1e3:.1f}",
                f"{figures['first_sentence_s'] * 1e3:.1f}", f"{megabytes:.0f}",
                f"{megabytes - imported / 1e6:.0f}" if imported else "-"]

    return table(["model", "engine", "open ms", "to the first token ms", "to the first sentence ms", "peak MB",
                  "without imports MB"],
                 (cells(model, engine, figures) for model, engines in openings.items()
                  for engine, figures in engines.items()))


def thread_table(rows: list[dict]) -> str:
    by_case = {(row["threads"], row["model"], row["peer"], row["beam_size"], row["batch"]): row for row in rows}
    found = [(case, row, by_case.get((2, *case))) for (threads, *case), row in by_case.items() if threads == 1]
    return table(["two threads over one: model", "peer", "beam", "batch", "Goldcrest", "the peer"],
                 ([*map(str, case), f"{two['ours'] / one['ours']:.2f}", f"{two['theirs'] / one['theirs']:.2f}"]
                  for case, one, two in found if two))


def length_table(lengths: dict[str, dict]) -> str:
    return table(["a position of 200 target tokens over one of 20: model", "beam", "Goldcrest"],
                 ([model, beam_size, f"{ratio:.2f}"] for model, ratios in lengths.items()
                  for beam_size, ratio in ratios.items()))


def compact_table(rows: list[dict]) -> str:
    """Has a row a model: the ratio to CTranslate2 on one thread, and our tokens/s; ratios to XNNPACK's kernels."""
    def ratio_of(model: str, peer: str, case: tuple[int, int]) -> dict | None:
        return next((row for row in rows if (row["model"], row["peer"], row["threads"]) == (model, peer, 1) and
                     (row["beam_size"], row["batch"]) == case), None)

    def cell(model: str, case: tuple[int, int]) -> str:
        row = ratio_of(model, "CTranslate2", case)
        return f"{row['ratio']:.1f}x ({row['ours']:,.0f})" if row else "-"

    def xnnpack_cell(model: str) -> str:
        found = [ratio_of(model, "XNNPACK", case) for case in SHOWN_CASES.values()]
        return ", ".join(f"{row['ratio']:.2f}x" if row else "-" for row in found)

    models = dict.fromkeys(row["model"] for row in rows)
    has_xnnpack = any(row["peer"] == "XNNPACK" for row in rows)
    heads = ["times CTranslate2 int8 (our tokens/s)", *SHOWN_CASES] + ["XNNPACK's kernels, the same four"] * has_xnnpack
    return table(heads, ([model, *(cell(model, case) for case in SHOWN_CASES.values())] +
                         [xnnpack_cell(model)] * has_xnnpack for model in models))


def compact_conditions(conditions: dict) -> str:
    return (f"{conditions['cpu']}, one thread, kernels `{conditions['kernels']}`, {conditions['date']}, commit "
            f"{conditions['commit']}; CTranslate2 {conditions.get('ctranslate2', '-')} int8 with its faster backend; "
            f"the same weights, {conditions['source_tokens']} source tokens, 64 (batch 1) or 32 (batch 32) target "
            f"tokens forced, encoding included; medians of {conditions['pairs']} interleaved pairs.")


def long_conditions(conditions: dict, load_averages: dict) -> str:
    loads = " and ".join(" ".join(f"{value:.2f}" for value in load) for load in load_averages.values())
    versions = ", ".join(f"{name} {conditions[name]}" for name in ("ctranslate2", "onnxruntime", "transformers")
                         if name in conditions)
    return "\n".join([
        f"- {conditions['date']}, {conditions['cpu']}, {conditions['cpus']} cores, {conditions['system']}; cores "
        f"{conditions['cores']} pinned, a thread each; load averages before and after {loads}",
        f"- Goldcrest {conditions['commit']} with {conditions['kernels']}; {versions}; weights int8 on all sides, "
        f"seed {conditions['seed']}",
        f"- {conditions['source_tokens']} source tokens, forced target lengths, encoding included; "
        f"{conditions['pairs']} interleaved pairs, each side the median of at least {conditions['repetitions']} runs "
        f"and {conditions['seconds']} s after {conditions['warm_ups']} warm-up runs",
        "- A peer's backends get one probe a case; the pairs are against the fastest. Ratios above 1: Goldcrest is "
        "faster. An interval that crosses 1 shows nothing.",
        "- ONNX Runtime: greedy only, its loop over positions in Python and counted.",
        "- Bound: goldcrest-bench's, from the machine's measured speed of reading and of multiplying."])
