# SPDX-License-Identifier: Apache-2.0
"""Tests compare of the installed package with live modules, where PyTorch and transformers are installed."""

import importlib.util
import time
import warnings

import goldcrest


def refuses(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (goldcrest.Error, TypeError, ValueError, OSError) as error:
        assert str(error), call
        return str(error)
    raise AssertionError(f"no exception: {call} {arguments} {options}")


def test_compare():
    """A model of transformers equals its checkpoint; the layer with another weight is named."""
    if not importlib.util.find_spec("transformers"):
        return print("compare: no transformers")
    import transformers

    lines = ["Let's go home.", "Where is the station?"]
    module = transformers.MarianMTModel.from_pretrained("examples/models/enfr")
    found = goldcrest.compare(module, "examples/models/enfr", lines)
    assert found["equal"] and found["departs"] is None, found["report"]
    assert min(found["decibels"].values()) > 20, found["decibels"]
    module.model.encoder.layers[2].fc1.weight.data[0, 0] += 1
    found = goldcrest.compare(module, "examples/models/enfr", lines)
    assert not found["equal"] and found["departs"] == "encoder.layers.2", found["report"]
    refuses(goldcrest.compare, module, "missing", lines)


def test_live_modules():
    """A module with an nn.Transformer equals its state dict; the layer with another weight is named."""
    if not importlib.util.find_spec("torch"):
        return print("live modules: no torch")
    import torch
    from torch import nn

    torch.manual_seed(3)

    class Mine(nn.Module):
        def __init__(self, batch_first):
            super().__init__()
            self.table, self.position = nn.Embedding(11, 8), nn.Parameter(torch.randn(9, 8))
            self.transformer = nn.Transformer(8, 2, 2, 2, 16, 0.0, batch_first=batch_first)
            self.generator = nn.Linear(8, 11)

        def embed(self, ids):
            return self.table(ids) + self.position[: ids.size(1)]

        def forward(self, source, target):
            mask = nn.Transformer.generate_square_subsequent_mask(target.size(1))
            source, target = self.embed(source), self.embed(target)
            if not self.transformer.batch_first:
                source, target = source.transpose(0, 1), target.transpose(0, 1)
            return self.generator(self.transformer(source, target, tgt_mask=mask))

    config = {"model_type": "nn_transformer", "nhead": 2, "activation": "relu", "norm_first": False, "scale_embedding": False}
    config.update(position_encoding="learned", bos_token=1, eos_token=2, add_source_eos=True)
    config["tensors"] = {"source_embedding": "table.weight", "target_embedding": "table.weight"}
    config["tensors"].update(output_projection="generator", positions="position")
    lines = [[5, 9, 7, 2], [3, 2]]
    for batch_first in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's, that batch_first=False is slower
            module = Mine(batch_first)
        found = goldcrest.compare(module, module.state_dict(), lines, config=config)
        assert found["equal"] and found["departs"] is None, found["report"]
        names = [layer["name"] for layer in found["layers"]]
        stacks = [f"{side}.{part}" for side in ("encoder", "decoder") for part in ("embed", "layers.0", "layers.1", "norm")]
        assert names == [*stacks, "logits", "logits.0", "logits.1"], names
        assert all(layer["decibels"] > 30 for layer in found["layers"] if "layers" in layer["name"]), found["layers"]
        weights = {name: value.clone() for name, value in module.state_dict().items()}
        module.transformer.decoder.layers[1].linear2.weight.data[0, 0] += 1
        found = goldcrest.compare(module, weights, lines, config=config, forward=module.forward)
        assert not found["equal"] and found["departs"] == "decoder.layers.1", found["report"]
        assert [layer["name"] for layer in found["layers"] if layer["departs"]][0] == "decoder.layers.1"
        parts = {"encoder.layers.0": module.transformer.encoder.layers[0]}
        found = goldcrest.compare(module, weights, lines, config=config, layers=parts)
        assert found["departs"] == "logits" and found["layers"][0]["name"] == "encoder.layers.0", found["report"]
    refuses(goldcrest.compare, module.double(), weights, lines, config=config)
    refuses(goldcrest.compare, nn.Linear(2, 2), weights, lines, config=config)
    refuses(goldcrest.compare, module, weights, lines, config={})


for name, test in list(globals().items()):
    if name.startswith("test_"):
        start = time.perf_counter()
        test()
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
