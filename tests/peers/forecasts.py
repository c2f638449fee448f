# SPDX-License-Identifier: Apache-2.0
"""Random Chronos-T5s, next to chronos-forecasting: examples/forecast.py gives each series its ids, and the drawn ids
their values; the float32 file gives the drawn ids transformers' log-probabilities within 1e-4.

    python tests/peers/forecasts.py --build build/host --work FOLDER [--models 12]
"""
import random
import sys

import chronos
import numpy
import torch
import transformers

import product

sys.path.append(str(product.ROOT / "examples"))
import forecast  # noqa: E402

SETTINGS = {"tokenizer_class": "MeanScaleUniformBins", "tokenizer_kwargs": {"low_limit": -15.0, "high_limit": 15.0},
            "n_special_tokens": 2, "pad_token_id": 0, "eos_token_id": 1, "use_eos_token": True, "model_type": "seq2seq",
            "prediction_length": 8, "num_samples": 20, "temperature": 1.0, "top_k": 50, "top_p": 1.0}
LEVELS = torch.tensor([0.1, 0.5, 0.9])


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=12))
    targets, worst = options.work / "targets", []
    for seed in range(options.models):
        draw, _ = random.Random(seed), torch.manual_seed(seed)
        settings = SETTINGS | {"n_tokens": draw.choice([64, 333, 4096]), "context_length": draw.randint(8, 64)}
        config = transformers.T5Config(
            vocab_size=settings["n_tokens"], d_model=24, d_kv=8, d_ff=32, num_layers=2, num_heads=3,
            decoder_start_token_id=0, feed_forward_proj=draw.choice(["relu", "gated-gelu"]), chronos_config=settings)
        folder, file = product.emptied(options.work / str(seed)), options.work / f"{seed}.gcst"
        transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
        product.convert(options, folder, file)
        pipeline, bins = chronos.ChronosPipeline.from_pretrained(folder), forecast.Bins(folder / "config.json")
        for shape in (0, 1, 1e-3, 1e6):
            series = [draw.gauss(draw.random(), 1) * shape for _ in range(draw.randint(1, 80))]
            ids, mask, scale = pipeline.tokenizer.context_input_transform(torch.tensor([series]))
            found, own_scale = bins.encode([numpy.nan] * draw.randint(0, 3) + series)
            drawn = pipeline.model(ids, mask)
            values = pipeline.tokenizer.output_transform(drawn, scale)[0].numpy()
            if found != ids[0].tolist() or not numpy.isclose(own_scale, scale.item(), rtol=1e-6, atol=0) or \
                    not numpy.array_equal(bins.decode(drawn[0], scale.numpy()), values):
                sys.exit(f"model {seed}: the recipe departs from chronos-forecasting: {series}: {found}")
            numpy.testing.assert_allclose(numpy.quantile(values, LEVELS, axis=0),
                                          torch.quantile(torch.tensor(values), LEVELS, dim=0), rtol=1e-5)
            targets.write_text(product.as_lines(drawn[0].tolist()))
            printed = product.translate(options, file, "--ids", "--score", targets, "--token-scores",
                                        text=product.as_lines([found] * len(drawn[0])))
            scores = [[float(word) for word in line.split("\t")[1].split()] for line in printed.splitlines()]
            with torch.no_grad():
                before = torch.nn.functional.pad(drawn[0, :, :-1], (1, 0))
                logits = pipeline.model.model(ids.expand(len(before), -1), decoder_input_ids=before).logits
            expected = logits.log_softmax(-1).gather(-1, drawn[0].unsqueeze(-1)).squeeze(-1).numpy()
            worst.append(numpy.abs(numpy.array(scores) - expected).max())
    print(f"{len(worst)} series: log-probabilities of {expected.size} ids each within {max(worst):.1e}")
    if not max(worst) <= 1e-4:
        sys.exit("goldcrest departs from transformers in log-probabilities")


if __name__ == "__main__":
    main()
