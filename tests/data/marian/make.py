#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Made savez.npz and savez_compressed.npz with NumPy, as Marian's .npz: arrays and special:model.yml as bytes."""
from pathlib import Path

import numpy as np

here = Path(__file__).parent
values = np.arange(6, dtype=np.float32).reshape(3, 2) / 2
arrays = {
    "Wemb": values,
    "half": values.astype(np.float16),
    "row": np.array([1, 2, 3], np.float32),
    "special:model.yml": np.frombuffer(b"type: transformer\n\0", np.int8),
}
np.savez(here / "savez.npz", **arrays)
np.savez_compressed(here / "savez_compressed.npz", **arrays)
