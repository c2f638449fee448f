# SPDX-License-Identifier: Apache-2.0
"""One state dict in every container that the converter reads, or refuses by name."""

import json
import pathlib
import random

import torch

# name: whether the converter reads it
CONTAINERS = {"safetensors": True, "sharded": True, "zip": True, "zip_nested": True, "legacy": True}
WRAPPERS = ["", "", "module.", "_orig_mod."]  # what DistributedDataParallel and torch.compile put before every name
TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def save(state: dict[str, torch.Tensor], folder: pathlib.Path, container: str, names: tuple[str, str],
         draw: random.Random) -> pathlib.Path:
    """Writes the tensors. `names`: of a safetensors file and a torch file. Returns the weights' file or their index."""
    from safetensors.torch import save_file

    safe, pickled = folder / names[0], folder / names[1]
    if container == "safetensors":
        save_file({name: value.contiguous().clone() for name, value in state.items()}, safe, {"format": "pt"})
        return safe
    if container == "sharded":
        n, shards = draw.randint(2, 3), {}
        for name, value in state.items():
            shards.setdefault(draw.randrange(n), {})[name] = value.contiguous().clone()
        place = {}
        for i, shard in enumerate(shards.values()):
            file = f"{safe.stem}-{i + 1:05}-of-{len(shards):05}.safetensors"
            save_file(shard, folder / file, {"format": "pt"})
            place.update({name: file for name in shard})
        index = folder / f"{safe.name}.index.json"
        index.write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": place}))
        return index
    if container == "zip_nested":
        state = {"epoch": 3, "state_dict": state, "optimizer": {"lr": 0.1}}
    torch.save(state, pickled, _use_new_zipfile_serialization=container != "legacy")
    return pickled
