# SPDX-License-Identifier: Apache-2.0
"""Generation settings of transformers that a Marian checkpoint may have, with draws of values that matter. The
converter must apply each of them, or name it in a warning."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Draw:
    random: random.Random
    vocab_size: int  # the targets' vocabulary
    positions: int
    end: int
    pad: int

    def token(self) -> int:
        """A token that is neither the end nor the padding."""
        while (token := self.random.randrange(self.vocab_size)) in (self.end, self.pad):
            pass
        return token

    def sequences(self) -> list[list[int]]:
        """So many that texts have some of them."""
        return [[self.token() for _ in range(self.random.choice((2, 2, 2, 3)))] for _ in range(4 * self.vocab_size)]

    def biases(self) -> list[list]:
        sequences = [[token] for token in self.tokens(4)] + self.random.choice(([], self.sequences()))
        return [[sequence, self.random.uniform(-3, 3)] for sequence in sequences]

    def tokens(self, most: int) -> list[int]:
        return sorted({self.token() for _ in range(self.random.randint(1, most))})


@dataclass(frozen=True)
class Setting:
    draw: Callable[[Draw], object]
    chance: float


DONE = {
    "length_penalty": Setting(lambda d: d.random.choice([0.0, 0.6, 1.3, 2.0, -0.5]), 0.5),
    "num_beams": Setting(lambda d: d.random.choice([1, 2, 3, 5, 6]), 0.5),
    "max_new_tokens": Setting(lambda d: d.random.randint(1, min(20, d.positions)), 0.2),
    "min_length": Setting(lambda d: d.random.randint(1, 8), 0.2),
    "min_new_tokens": Setting(lambda d: d.random.randint(1, 6), 0.1),
    "suppress_tokens": Setting(lambda d: d.tokens(5), 0.25),
    "forced_bos_token_id": Setting(lambda d: d.token(), 0.2),
    "early_stopping": Setting(lambda d: d.random.choice([True, "never"]), 0.3),
    "renormalize_logits": Setting(lambda d: True, 0.2),
    "no_repeat_ngram_size": Setting(lambda d: d.random.randint(1, 4), 0.15),
    "repetition_penalty": Setting(lambda d: d.random.choice([0.8, 1.1, 1.5, 3.0]), 0.15),
    "eos_token_id": Setting(lambda d: [d.end, *d.tokens(2)], 0.1),
    "sequence_bias": Setting(lambda d: d.biases(), 0.15),
    "encoder_no_repeat_ngram_size": Setting(lambda d: d.random.randint(1, 3), 0.1),
    # With None, transformers forces no end at the last token.
    "forced_eos_token_id": Setting(lambda d: None, 0.1),
}

# A model has at most one of these, so that the test sees whether the warning names it.
WARNED = {
    "do_sample": Setting(lambda d: True, 1),
    "begin_suppress_tokens": Setting(lambda d: d.tokens(2), 1),
    "encoder_repetition_penalty": Setting(lambda d: 1.5, 1),
    "exponential_decay_length_penalty": Setting(lambda d: [3, 1.5], 1),
    "num_beam_groups": Setting(lambda d: 2, 1),
    "diversity_penalty": Setting(lambda d: 0.5, 1),
    "penalty_alpha": Setting(lambda d: 0.6, 1),
    "dola_layers": Setting(lambda d: "high", 1),
    "guidance_scale": Setting(lambda d: 1.5, 1),
    "watermarking_config": Setting(lambda d: {"bias": 2.5, "context_width": 1}, 1),
    "max_time": Setting(lambda d: 1.5, 1),
    "stop_strings": Setting(lambda d: ["t1"], 1),
    "force_words_ids": Setting(lambda d: [[d.token()]], 1),
}


def draw_settings(draw: Draw, skipped: set[str]) -> tuple[dict, str]:
    """Returns the settings of generation_config.json, and the name of the one that needs a warning, or ''."""
    settings = {"bad_words_ids": [[draw.pad]], "pad_token_id": draw.pad, "eos_token_id": draw.end,
                "forced_eos_token_id": draw.end, "max_length": draw.random.randint(8, draw.positions)}
    if draw.random.random() < 0.3:
        settings["bad_words_ids"] += [[token] for token in draw.tokens(3)]
    if draw.random.random() < 0.15:
        settings["bad_words_ids"] += draw.sequences()
    for name, setting in DONE.items():
        if draw.random.random() < setting.chance and name not in skipped:
            settings[name] = setting.draw(draw)
    most = settings.get("max_new_tokens", settings["max_length"] - 1)
    settings["min_length"] = min(settings.get("min_length", 0), most)
    if "min_new_tokens" in settings:
        settings["min_new_tokens"] = min(settings["min_new_tokens"], most - 1)
    first = settings.get("forced_bos_token_id")
    if first in settings.get("suppress_tokens", []):  # which transformers refuses
        settings["suppress_tokens"] = [token for token in settings["suppress_tokens"] if token != first] or None
    warned = ""
    names = [name for name in WARNED if name not in skipped]
    if draw.random.random() < 0.08 and names:
        warned = draw.random.choice(names)
        settings[warned] = WARNED[warned].draw(draw)
    return {name: value for name, value in settings.items() if value is not None}, warned
