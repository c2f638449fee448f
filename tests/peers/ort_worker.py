# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime int8 as a peer, greedy search only; worker.py has the protocol, onnx_export.py the two graphs.

The loop over target positions is in Python: it binds every cache at every position, and its time counts."""

import pathlib

import numpy as np
import onnxruntime
import worker


def open_session(path: pathlib.Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # One thread never waits for another. More threads get ONNX Runtime's default, which is faster for them.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0" if threads == 1 else "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def names(values: list) -> list[str]:
    return [value.name for value in values]


class OnnxRuntime:
    def __init__(self, folder: pathlib.Path, threads: int):
        self.encoder = open_session(folder / "encoder.onnx", threads)
        self.decoder = open_session(folder / "decoder.onnx", threads)
        shape = next(value.shape for value in self.decoder.get_inputs() if value.name == "past_keys_0")
        self.n_heads, self.d_head = shape[1], shape[3]
        self.past = [name for name in names(self.decoder.get_inputs()) if name.startswith("past_")]
        self.vocab_size, self.start_id = (int(text) for text in (folder / "ids.txt").read_text().split())

    def make_sources(self, n_tokens: int, batch: int) -> np.ndarray:
        return np.random.default_rng(1).integers(0, self.vocab_size, (batch, n_tokens), dtype=np.int64)

    def encode(self, source: np.ndarray) -> dict[str, onnxruntime.OrtValue]:
        binding = self.encoder.io_binding()
        binding.bind_cpu_input("source", source)
        for name in names(self.encoder.get_outputs()):
            binding.bind_output(name)
        self.encoder.run_with_iobinding(binding)
        return dict(zip(names(self.encoder.get_outputs()), binding.get_outputs()))

    def translate(self, sources: np.ndarray, n_tokens: int, beam_size: int) -> np.ndarray:
        """Ids [n_tokens, batch]."""
        if beam_size != 1:
            raise ValueError("ONNX Runtime has only greedy search here")
        batch = len(sources)
        binding = self.decoder.io_binding()
        for name, value in self.encode(sources).items():
            binding.bind_ortvalue_input(name, value)
        empty = np.zeros((batch, self.n_heads, 0, self.d_head), np.float32)
        caches = [onnxruntime.OrtValue.ortvalue_from_numpy(empty) for _ in self.past]
        token = onnxruntime.OrtValue.ortvalue_from_numpy(np.full((batch, 1), self.start_id, np.int64))
        ids = []
        for _ in range(n_tokens):
            binding.bind_ortvalue_input("token", token)
            for name, value in zip(self.past, caches):
                binding.bind_ortvalue_input(name, value)
            for name in names(self.decoder.get_outputs()):
                binding.bind_output(name)  # again each time, so that no output overwrites an input
            self.decoder.run_with_iobinding(binding)
            token, *caches = binding.get_outputs()
            ids.append(token.numpy()[:, 0])
        return np.stack(ids)


if __name__ == "__main__":
    worker.serve(OnnxRuntime)
