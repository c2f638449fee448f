# SPDX-License-Identifier: Apache-2.0
"""Tests compare of the installed package with live modules, where PyTorch and transformers are installed."""

import importlib.util
import json
import warnings

import goldcrest
from support import refuses, run_tests


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


CONFIG = {"model_type": "nn_transformer", "nhead": 2, "activation": "relu", "norm_first": False}
CONFIG.update(scale_embedding=False, position_encoding="learned", bos_token=1, eos_token=2, add_source_eos=True)
CONFIG["tensors"] = {"source_embedding": "table.weight", "target_embedding": "table.weight"}
CONFIG["tensors"].update(output_projection="generator", positions="position")
LINES = [[5, 9, 7, 2], [3, 2]]


def live_module(heads=2, scale=1.0, **options):
    """Returns a module of a user, with masks of its own and an nn.Transformer."""
    import torch
    from torch import nn

    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.position = nn.Embedding(11, 8), nn.Parameter(torch.randn(9, 8))
            self.transformer = nn.Transformer(8, heads, 2, 2, 16, **options)
            self.generator = nn.Linear(8, 11)

        def embed(self, ids):
            return self.table(ids) * scale + self.position[: ids.size(1)]

        def forward(self, source, target):
            mask, padding = nn.Transformer.generate_square_subsequent_mask(target.size(1)), source == -1
            source, target = self.embed(source), self.embed(target)
            if not self.transformer.batch_first:
                source, target = source.transpose(0, 1), target.transpose(0, 1)
            return self.generator(self.transformer(source, target, tgt_mask=mask, src_key_padding_mask=padding))

    torch.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, of modules that are slower than others
        return Mine()


def test_live_modules():
    """A module with an nn.Transformer equals its state dict; the layer with another weight is named."""
    if not importlib.util.find_spec("torch"):
        return print("live modules: no torch")
    from torch import nn

    config, lines = CONFIG, LINES
    for batch_first in (True, False):
        module = live_module(batch_first=batch_first)
        found = goldcrest.compare(module, module.state_dict(), lines, config=config)
        assert found["equal"] and found["departs"] is None, found["report"]
        names = [layer["name"] for layer in found["layers"]]
        parts = ("embed", "layers.0", "layers.1", "norm")
        stacks = [f"{side}.{part}" for side in ("encoder", "decoder") for part in parts]
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


def test_fast_path():
    """PyTorch's fast path of modules in evaluation mode is off while layers are compared, and then as before."""
    if not importlib.util.find_spec("torch"):
        return print("fast path: no torch")
    import torch

    for fast in (True, False):
        torch.backends.mha.set_fastpath_enabled(fast)
        for training in (True, False):
            for batch_first in (True, False):
                module = live_module(batch_first=batch_first).train(training)
                found = goldcrest.compare(module, module.state_dict(), iter(LINES), config=CONFIG)
                assert found["equal"] and found["equal_with"] is None, found["report"]
                assert len(found["layers"]) == 11 and module.training == training
                assert torch.backends.mha.get_fastpath_enabled() == fast
        refuses(goldcrest.compare, module, module.state_dict(), LINES, config=CONFIG, forward=lambda *_: int("x"))
        assert torch.backends.mha.get_fastpath_enabled() == fast
    torch.backends.mha.set_fastpath_enabled(True)


def test_settings():
    """A departure says which settings of config.json would make the model equal."""
    if not importlib.util.find_spec("torch"):
        return print("settings: no torch")
    from torch import nn

    root = 8**0.5
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 4, 16, batch_first=True), 2, nn.LayerNorm(8))
    modules = [
        ("nhead 4", {"heads": 4}),
        ("nhead 1", {"heads": 1}),
        ("activation gelu", {"activation": "gelu"}),
        ("norm_first true", {"norm_first": True}),
        ("scale_embedding true", {"scale": root}),
        ("nhead 8 and norm_first true", {"heads": 8, "norm_first": True}),
        ("activation gelu and scale_embedding true", {"activation": "gelu", "scale": root}),
        ("encoder_nhead 4", {"custom_encoder": encoder}),
        (None, {"scale": 3.0}),
        (None, {"layer_norm_eps": 0.5}),
    ]
    for settings, options in modules:
        module = live_module(batch_first=True, **options).eval()
        found = goldcrest.compare(module, module.state_dict(), LINES, config=CONFIG)
        assert not found["equal"] and found["equal_with"] == settings, (settings, found["report"])
        assert settings is None or f"with {settings} it is equal" in found["report"]
        if settings:
            parts = (part.split(" ") for part in settings.split(" and "))
            config = {name: json.loads(value) if name != "activation" else value for name, value in parts}
            found = goldcrest.compare(module, module.state_dict(), LINES, config={**CONFIG, **config})
            assert found["equal"], (settings, found["report"])


run_tests(globals())
