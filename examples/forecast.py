# SPDX-License-Identifier: Apache-2.0
"""Forecasts of a time series by a Chronos-T5. A number, scaled by the series' mean, becomes a bin. The model draws the
bins that follow, and the forecast is their quantiles.

    goldcrest-convert chronos-t5-small -o chronos.gcst
    python3 examples/forecast.py chronos.gcst chronos-t5-small/config.json SERIES [LENGTH]

SERIES is a file of numbers, oldest first. Prints the 10 %, 50 % and 90 % quantiles of each that follows. Needs numpy.
"""
import json
import pathlib
import sys

import numpy


class Bins:
    """The tokens of `chronos_config`: bins of equal width, by their centers, after the special tokens."""

    def __init__(self, config):
        settings = json.loads(pathlib.Path(config).read_text(encoding="utf-8"))["chronos_config"]
        if settings["tokenizer_class"] != "MeanScaleUniformBins":
            raise ValueError(f"{config}: tokenizer_class is not MeanScaleUniformBins, which this script knows")
        self.settings, n = settings, settings["n_tokens"] - settings["n_special_tokens"] - 1
        low, high = (settings["tokenizer_kwargs"][name] for name in ("low_limit", "high_limit"))
        at = numpy.arange(n) * float(numpy.float32((high - low) / (n - 1)))
        # Each half from its own end, rounded once, as torch.linspace.
        self.centers = numpy.where(numpy.arange(n) < n // 2, low + at, high - at[::-1]).astype(numpy.float32)

    def encode(self, series):
        """Returns the ids of the end of a series, and the scale that its forecast needs. Unknown numbers may lead."""
        series = numpy.asarray(series, numpy.float32)[-self.settings["context_length"]:]
        series = series[numpy.argmin(numpy.isnan(series)):]
        if not len(series) or numpy.isnan(series).any():
            raise ValueError("the series has no numbers, or gaps; fill the gaps first")
        scale = numpy.abs(series).mean(dtype=numpy.float32) or numpy.float32(1)
        borders = (self.centers[1:] + self.centers[:-1]) / 2
        ids = numpy.searchsorted(borders, series / scale, side="right") + 1 + self.settings["n_special_tokens"]
        return ids.tolist() + [self.settings["eos_token_id"]] * self.settings["use_eos_token"], scale

    def decode(self, ids, scale):
        at = numpy.asarray(ids) - self.settings["n_special_tokens"] - 1
        return self.centers[at.clip(0, len(self.centers) - 1)] * scale


def forecast(model, config, series, length, levels=(0.1, 0.5, 0.9), seed=0):
    """Returns [length, levels]: quantiles of as many samples as the checkpoint draws."""
    import goldcrest

    bins = Bins(config)
    ids, scale = bins.encode(series)
    settings = {name: bins.settings[name] for name in ("temperature", "top_k", "top_p")}
    no_end = [[bins.settings["eos_token_id"]]]
    engine = goldcrest.Model(model, sample=True, seed=seed, max_target=length, suppress=no_end, **settings)
    half = -(-bins.settings["num_samples"] // 2)  # a call draws up to 16 of a source
    samples = [found for result in engine.translate_batch([ids, ids], n_best=half) for found in result.ids]
    return numpy.quantile(bins.decode(samples, scale), levels, axis=0).T


if __name__ == "__main__":
    model, config, file, *length = sys.argv[1:]
    rows = forecast(model, config, numpy.loadtxt(file), int(length[0]) if length else 12)
    print("\n".join(" ".join(f"{number:.6g}" for number in row) for row in rows))
