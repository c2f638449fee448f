# SPDX-License-Identifier: Apache-2.0
"""Write the small checkpoints of this folder with PyTorch itself (made with torch 2.13.0): python3 make.py

Every tensor is a function of its index, so that the test can compute what it expects:
  weight     [3, 4] float32, element i is i / 8 - 0.5
  transposed [4, 3] float32, a view of weight with strides (1, 4)
  row        [4]    float32, the view weight[1]
  half, bfloat16, double, long: weight in that type (long: i)
  empty      [0, 5] float32
"""
import collections
import torch

weight = torch.arange(12, dtype=torch.float32).reshape(3, 4) / 8 - 0.5
state = collections.OrderedDict(
    weight=weight, transposed=weight.t(), row=weight[1], half=weight.half(), bfloat16=weight.bfloat16(),
    double=weight.double(), long=torch.arange(12).reshape(3, 4), empty=torch.zeros(0, 5))
# A training checkpoint: the state dict is nested, the optimizer's tensors are not part of it.
module = torch.nn.Linear(4, 3)
optimizer = torch.optim.Adam(module.parameters())
module(torch.ones(1, 4)).sum().backward()
optimizer.step()
torch.save({"epoch": 3, "loss": 0.25, "model_state_dict": state, "optimizer_state_dict": optimizer.state_dict()},
           "nested.pt")
torch.save({"state_dict": state}, "legacy.pt", _use_new_zipfile_serialization=False)
torch.jit.script(module).save("script.pt")
torch.serialization.set_crc32_options(False)
torch.save(collections.OrderedDict((name, torch.nn.Parameter(value)) if value.is_floating_point() else (name, value)
                                   for name, value in state.items()), "without_crc.pt")
