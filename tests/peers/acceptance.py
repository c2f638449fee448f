# SPDX-License-Identifier: Apache-2.0
"""The ratios to CTranslate2 that Goldcrest must reach, and the verdict on each."""

from dataclasses import dataclass

# Ratio of tokens/s on one thread, by (model, beam size, batch), on a machine with AVX2 and no VNNI.
SPEED_BARS = {
    ("base", 1, 1): 2.5, ("base", 4, 1): 2.5, ("base", 4, 32): 1.3,
    ("opus", 1, 1): 2.5, ("opus", 4, 1): 2.5, ("opus", 4, 32): 1.3,
    ("small", 1, 1): 2.5, ("small", 4, 1): 2.0, ("small", 4, 32): 1.4,
    ("tiny", 1, 1): 4.0, ("tiny", 4, 1): 3.0, ("tiny", 4, 32): 1.8,
}
SHARE_OF_BOUND = 0.65  # on other machines this share of the machine's bound suffices
LOW_MEMORY = "Goldcrest --low-memory"  # openings with that option of goldcrest-bench and goldcrest-translate
OPEN_BAR = 10.0        # GB/s, base, full verification from the page cache
FIRST_TOKEN_BAR = 4.0  # base: CTranslate2's time from opening to the first token over ours
MEMORY_BAR = 0.5       # base: our peak memory over CTranslate2's
LENGTH_BAR = 1.25      # the cost of a position in 200 target tokens over that in 20
TWO_THREADS_BAR = 1.7  # base, batch 32: tokens/s on two threads over that on one, or CTranslate2's ratio if lower


@dataclass(frozen=True)
class Verdict:
    what: str
    found: float
    bar: float
    at_least: bool = True

    @property
    def met(self) -> bool:
        return self.found >= self.bar if self.at_least else self.found <= self.bar


def speed_bar(row: dict, plain_avx2: bool) -> float | None:
    """Returns the ratio that a row of results must reach, or None if nothing is asked."""
    if row["peer"] != "CTranslate2" or row["threads"] != 1:
        return None
    bar = SPEED_BARS.get((row["model"], row["beam_size"], row["batch"]))
    if bar is None or plain_avx2:
        return bar
    return min(bar, SHARE_OF_BOUND * row["bound"]["tokens_per_s"] / row["theirs"])


def opening_verdicts(openings: dict[str, dict]) -> list[Verdict]:
    if "CTranslate2" not in openings.get("base", {}):
        return []
    base, theirs = openings["base"], openings["base"]["CTranslate2"]
    return [
        *(Verdict(f"base: CTranslate2's time to the first token over that of {ours}",
                  theirs["first_token_s"] / base[ours]["first_token_s"], FIRST_TOKEN_BAR)
          for ours in ("Goldcrest", LOW_MEMORY)),
        Verdict(f"base: peak memory of {LOW_MEMORY} over CTranslate2's",
                base[LOW_MEMORY]["peak_resident_bytes"] / theirs["peak_resident_bytes"], MEMORY_BAR, at_least=False),
        Verdict("base: GB/s of opening with every check", base["Goldcrest"]["load_bytes_per_s"] / 1e9, OPEN_BAR),
    ]


def length_verdicts(lengths: dict[str, dict]) -> list[Verdict]:
    return [Verdict(f"{model}, beam {beam_size}: a position of 200 target tokens over one of 20", ratio, LENGTH_BAR,
                    at_least=False)
            for model, ratios in lengths.items() for beam_size, ratio in ratios.items()]


def thread_ratios(rows: list[dict]) -> list[dict]:
    """Ratios of two threads to one for both engines, if both were measured with the same peer."""
    by_case = {(row["model"], row["peer"], row["beam_size"], row["batch"], row["threads"]): row for row in rows}
    ratios = []
    for (model, peer, beam_size, batch, threads), one in by_case.items():
        two = by_case.get((model, peer, beam_size, batch, 2))
        if threads == 1 and two:
            ratios.append({"model": model, "peer": peer, "beam_size": beam_size, "batch": batch,
                           "ours": two["ours"] / one["ours"], "theirs": two["theirs"] / one["theirs"]})
    return ratios


def thread_verdicts(rows: list[dict]) -> list[Verdict]:
    return [Verdict(f"base, beam {ratio['beam_size']}, batch 32: two threads over one", ratio["ours"],
                    min(TWO_THREADS_BAR, ratio["theirs"]))
            for ratio in thread_ratios(rows)
            if (ratio["model"], ratio["peer"], ratio["batch"]) == ("base", "CTranslate2", 32)]
