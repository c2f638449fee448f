# SPDX-License-Identifier: Apache-2.0
"""What there is before a Model: conversion, evaluation, comparison with a live module, C source.

goldcrest-convert runs in a process of its own: a hostile checkpoint cannot harm this one, Ctrl-C ends both at once.
"""

import os
import struct
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ._model import Model
from ._native import FOLDER, Error, Path
from ._values import lines_of

_TYPES = dict(zip("fdebBhilq?", ("F32", "F64", "F16", "I8", "U8", "I16", "I32", "I64", "I64", "BOOL")))
_PREFIX = "goldcrest-convert: "


def convert(
    checkpoint: Union[Path, Mapping[str, Any]],
    out: Path,
    *,
    config: Union[Path, Mapping[str, Any], None] = None,
    folder: Optional[Path] = None,
    **options: Any,
) -> Dict[str, Any]:
    """Converts a checkpoint to the file `out` and returns the report.

    A state dict (name to tensor) needs `config`, a mapping or a file; `folder` has the files of its tokenizers. Options
    are those of goldcrest-convert: max_source=25 is --max-source 25, ids=True is --ids, matrices=["a=near", "b=exact"]
    is --matrices a=near,b=exact.
    """
    import tempfile  # this and what else is imported late takes longer than the rest of the package

    with tempfile.TemporaryDirectory(prefix="goldcrest-") as work:
        source = _prepare(work, checkpoint, config, folder, options)
        return _run(source, ["--json", "-o", os.fsdecode(out)], options)


def evaluate(checkpoint: Path, sources: Iterable[str], references: Iterable[str], **options: Any) -> Dict[str, Any]:
    """Translates sources with the float32 reference and with int8, and returns the quality of both."""
    sources, references = lines_of(sources), lines_of(references)
    if len(sources) != len(references):
        raise Error(f"{len(sources)} sources and {len(references)} references; expected as many")
    for line in (*sources, *references):
        if any(c in line for c in "\t\n\r"):
            raise Error(f"{line!r} has a tab or a line end")
    import tempfile

    with tempfile.TemporaryDirectory(prefix="goldcrest-") as work:
        path = os.path.join(work, "lines.tsv")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{source}\t{reference}\n" for source, reference in zip(sources, references))
        report = _run(checkpoint, ["--json", "--evaluate", path], options)
    evaluation: Dict[str, Any] = report["evaluation"]
    return evaluation


def compare(
    module: Any,
    checkpoint: Union[Path, Mapping[str, Any]],
    lines: Iterable[Union[str, Sequence[int]]],
    *,
    forward: Optional[Callable[[Any, Any], Any]] = None,
    layers: Optional[Mapping[str, Any]] = None,
    config: Union[Path, Mapping[str, Any], None] = None,
    folder: Optional[Path] = None,
    **options: Any,
) -> Dict[str, Any]:
    """Compares the float32 reference, layer by layer, with a live module.

    `module` has the weights of `checkpoint`, which is what convert takes with `config` and `folder`: a path or a state
    dict. `lines` are texts or source ids. A model of transformers needs no more. Of another module,
    forward(source ids [1, n], target ids [1, t]) gives the logits [1, t, vocabulary]; without it the module itself is
    called. `layers` are its parts by the names of goldcrest-convert --check ("encoder.layers.0", "decoder.norm");
    without them they are those of its nn.Transformer.

    The result has "equal"; "departs", the name of the first layer that departs or None; "equal_with", the settings of
    config.json with which no layer departs ("nhead 4") or None; "layers", for each layer its name, its largest
    difference, whether it departs and the decibels of its worst int8 matrix or None; "decibels", the signal-to-noise
    ratio of each int8 matrix; and "report", the text of goldcrest-convert --check. Options are those of convert. The
    ids are those of the module's generate; without generate they are the reference's own.
    """
    import json
    import re
    import tempfile

    if not hasattr(module, "register_forward_hook"):
        raise TypeError(f"module is {type(module).__name__}; expected an nn.Module")
    with tempfile.TemporaryDirectory(prefix="goldcrest-") as work:
        source = _prepare(work, checkpoint, config, folder, options)
        path = os.path.join(work, "model.gcst")
        report = _run(source, ["--json", "-o", path], options)
        of_transformers = hasattr(module, "get_encoder") and hasattr(module, "generate")
        if not of_transformers:
            path = os.path.join(work, "exact.gcst")
            exact = {**options, "weights": "float32", "accuracy": None, "matrices": None}
            _run(source, ["--json", "-o", path], exact, False)
        model = Model(path)
        results, logits = [], {}
        for index, line in enumerate(lines_of(lines)):
            ids = model.encode(line) if isinstance(line, str) else list(line)
            if of_transformers:
                greedy, trace = _trace_transformers(module, ids)
            else:
                greedy = model.translate_batch([ids], beam_size=1)[0].ids[0]
                start = int(model._session.info.decoder_start_id)
                trace = _trace_module(module, forward, layers, ids, [start, *greedy[:-1]])
            logits[f"logits.{index}"] = trace["logits"]
            if index == 0:
                _write_safetensors(os.path.join(work, "trace.safetensors"), trace)
            results.append(json.dumps({"source_ids": ids, "greedy": greedy}) + "\n")
        _write_safetensors(os.path.join(work, "logits.safetensors"), logits)
        with open(os.path.join(work, "results.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(results)
        done = _start(source, ["--json", "-o", path, "--check", work], options)
    said = done.stderr.decode("utf-8", "replace").replace(_PREFIX, "").strip()
    if done.returncode not in (0, 3):
        raise Error(said)
    first = re.search(r"^first departure: ([^,]+),", said, re.M)
    other = re.search(r"^with (.+) it is equal$", said, re.M)
    measured = {tensor["name"]: tensor for tensor in report["tensors"] if tensor.get("sqnr_db")}
    compared = []
    for row in re.finditer(r"^(\S+) +\[\d+, \d+\]  largest difference (\S+)(  departs)?$", said, re.M):
        worst = [tensor["sqnr_db"] for tensor in measured.values() if tensor["group"] == row[1]]
        layer = {"name": row[1], "difference": float(row[2]), "departs": row[3] is not None}
        compared.append({**layer, "decibels": min(worst, default=None)})
    return {
        "equal": done.returncode == 0,
        "departs": first[1] if first else None,
        "equal_with": other[1] if other else None,
        "layers": compared,
        "decibels": {name: tensor["sqnr_db"] for name, tensor in measured.items()},
        "report": said,
    }


def _rows(output: Any) -> Any:
    """Returns a layer's output for the only sentence, [positions, values]; layouts differ in where the batch is."""
    if not hasattr(output, "dim"):
        output = output.logits if hasattr(output, "logits") else output[0]
    output = output.detach()
    if output.dim() == 3 and 1 in output.shape[:2]:
        output = output[0] if output.shape[0] == 1 else output[:, 0]
    return output.float().contiguous()


def _trace(module: Any, layers: Mapping[str, Any], call: Callable[[], Any]) -> Dict[str, Any]:
    """Returns the output of each layer during a call, and of the call itself as "logits"."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    rows: Dict[str, Any] = {}
    hooks: List[Any] = []

    def keep(name: str) -> Any:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            rows[name] = _rows(output)

        return hook

    def keep_input(name: str) -> Any:
        def hook(_module: Any, inputs: Any) -> None:
            rows[name] = _rows(inputs[0])

        return hook

    # The fast path of nn.TransformerEncoder gives nested tensors to its layers and skips parts of them.
    fast: Any = getattr(torch.backends, "mha", None)
    was_fast = fast is not None and fast.get_fastpath_enabled()
    trained = module.training
    module.eval()
    try:
        if was_fast:
            fast.set_fastpath_enabled(False)
        for name, layer in layers.items():
            if name.endswith(".embed"):
                hooks.append(layer.register_forward_pre_hook(keep_input(name)))
            else:
                hooks.append(layer.register_forward_hook(keep(name)))
        with torch.no_grad():
            rows["logits"] = _rows(call())
    finally:
        for hook in hooks:
            hook.remove()
        module.train(trained)
        if was_fast:
            fast.set_fastpath_enabled(True)
    return rows


def _trace_transformers(module: Any, source: List[int]) -> Tuple[List[int], Dict[str, Any]]:
    """Returns the ids of greedy search of a model of transformers, and what each layer gives for them."""
    import copy

    import torch  # type: ignore[import-not-found,unused-ignore]

    if not str(module.dtype).endswith("float32"):
        module = copy.deepcopy(module).float()
    ids = torch.tensor([source], device=module.device)
    trained, end = module.training, module.config.eos_token_id
    module.eval()
    try:
        with torch.no_grad():
            found = module.generate(ids, num_beams=1, do_sample=False)[0].tolist()
    finally:
        module.train(trained)
    greedy = found[1 : found.index(end, 1) + 1] if end in found[1:] else found[1:]
    layers = {}
    for name, stack in (("encoder", module.get_encoder()), ("decoder", module.get_decoder())):
        for index, layer in enumerate(stack.layers if hasattr(stack, "layers") else stack.block):
            layers[f"{name}.layers.{index}"] = layer
    before = torch.tensor([found[:1] + greedy[:-1]], device=module.device)
    return greedy, _trace(module, layers, lambda: module(ids, decoder_input_ids=before, use_cache=False))


def _trace_module(
    module: Any,
    forward: Optional[Callable[[Any, Any], Any]],
    layers: Optional[Mapping[str, Any]],
    source: Sequence[int],
    before: Sequence[int],
) -> Dict[str, Any]:
    """Returns what each layer of a module gives for the ids of a source and those before each position of a target."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    parameter = next(module.parameters(), None)
    if parameter is None or parameter.dtype != torch.float32:
        raise Error(f"module has {'no parameters' if parameter is None else parameter.dtype}; expected module.float()")
    call = forward or module
    ids = [torch.tensor([list(given)], device=parameter.device) for given in (source, before)]
    return _trace(module, _stacks(module) if layers is None else layers, lambda: call(*ids))


def _stacks(module: Any) -> Dict[str, Any]:
    """Returns the layers of a module's nn.Transformer, or of its nn.TransformerEncoder and nn.TransformerDecoder."""
    from torch import nn

    layers: Dict[str, Any] = {}
    for side, kind in (("encoder", nn.TransformerEncoder), ("decoder", nn.TransformerDecoder)):
        stacks = [part for part in module.modules() if isinstance(part, kind)]
        if len(stacks) != 1:
            raise Error(f"{type(module).__name__} has {len(stacks)} {kind.__name__}; give its layers by name, layers=")
        layers[f"{side}.embed"] = stacks[0].layers[0]
        layers.update({f"{side}.layers.{index}": layer for index, layer in enumerate(stacks[0].layers)})
        if stacks[0].norm is not None:
            layers[f"{side}.norm"] = stacks[0].norm
    return layers


def emit_c(path: Path, folder: Path, **limits: Any) -> None:
    """Writes a model file as C source for firmware into a folder."""
    _run(path, ["--emit-c", os.fsdecode(folder)], limits)


def _start(source: Path, arguments: List[str], options: Mapping[str, Any]) -> Any:
    import subprocess
    import tempfile

    path = os.fsdecode(source)
    path = os.path.join(".", path) if path.startswith("-") else path  # it is no option
    command = [os.path.join(FOLDER, "goldcrest_programs"), "convert", path, "--quiet", *arguments]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        if value is True:
            command.append(option)
        elif value is not None and value is not False:
            command.append(f"{option}={os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else value}")
    if any("\0" in part for part in command):
        raise Error("an argument of goldcrest-convert has no NUL byte")
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        try:
            assert process.stdout is not None
            with process.stdout as stream:
                printed = stream.read()
            status = process.wait()
        except BaseException:  # Ctrl-C: subprocess.run would wait a quarter of a second for the converter to end
            process.kill()
            process.wait()
            _remove_partial(process.pid, arguments)
            raise
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, printed, errors.read())


def _remove_partial(process: int, arguments: Sequence[str]) -> None:
    """Removes files that a killed converter had begun to write."""
    for option, path in zip(arguments, arguments[1:]):
        if option in ("-o", "--emit-c"):
            folder = path if os.path.isdir(path) else os.path.dirname(os.path.realpath(path))
            for name in os.listdir(folder) if os.path.isdir(folder) else []:
                if name.startswith(f".goldcrest-{process}-") and name.endswith(".partial"):
                    os.remove(os.path.join(folder, name))


def _run(source: Path, arguments: List[str], options: Mapping[str, Any], warn: bool = True) -> Dict[str, Any]:
    import json

    done = _start(source, arguments, options)
    said = done.stderr.decode("utf-8", "replace").replace(_PREFIX, "").strip()
    if done.returncode != 0:
        raise Error(said or f"goldcrest-convert ended with status {done.returncode}")
    for line in said.splitlines():
        if warn and line.startswith("warning: "):
            warnings.warn(line[len("warning: ") :], stacklevel=3)
    report: Dict[str, Any] = json.loads(done.stdout) if "--json" in arguments else {}
    return report


def _prepare(
    work: str,
    checkpoint: Union[Path, Mapping[str, Any]],
    config: Union[Path, Mapping[str, Any], None],
    folder: Optional[Path],
    options: Dict[str, Any],
) -> Path:
    """Returns the path of a checkpoint; a state dict and a mapping of a config are written to `work`."""
    import json

    if hasattr(checkpoint, "state_dict"):
        raise Error("the checkpoint is a module; give module.state_dict(), with config= or folder=")
    if not isinstance(checkpoint, Mapping):
        source: Path = checkpoint
    else:
        source = _write_checkpoint(work, checkpoint, folder)
        if config is None and not os.path.exists(os.path.join(source, "config.json")):
            raise Error("a state dict needs config=, a mapping or a file, or folder= with a config.json")
    if isinstance(config, Mapping):
        path = os.path.join(work, "config.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dict(config), file)
        config = path
    if config is not None:
        options["config"] = config
    return source


def _write_checkpoint(work: str, tensors: Mapping[str, Any], folder: Optional[Path]) -> str:
    """Writes safetensors next to links to the files of `folder`; nothing is pickled."""
    checkpoint = os.path.join(work, "checkpoint")
    os.mkdir(checkpoint)
    if folder is not None:
        folder = os.fsdecode(folder)
        for name in os.listdir(folder):
            if not name.endswith((".safetensors", ".bin", ".pt", ".pth", ".index.json")):
                os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(checkpoint, name))
    _write_safetensors(os.path.join(checkpoint, "model.safetensors"), tensors)
    return checkpoint


def _write_safetensors(path: str, tensors: Mapping[str, Any]) -> None:
    import json

    views = {name: _view(name, tensor) for name, tensor in tensors.items()}
    header: Dict[str, Any] = {}
    offset = 0
    for name, view in views.items():
        begin, offset = offset, offset + view.nbytes
        header[name] = {"dtype": _TYPES[view.format], "shape": view.shape, "data_offsets": [begin, offset]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for view in views.values():
            file.write(view.tobytes())


def _view(name: str, tensor: Any) -> memoryview:
    """Returns the values of a PyTorch tensor, a numpy array or another buffer."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            tensor = tensor.float()
        tensor = tensor.numpy()
    try:
        view = memoryview(tensor)
    except TypeError:
        raise Error(f"{name} is {type(tensor).__name__}; expected a tensor, an array or a buffer") from None
    if view.format not in _TYPES:
        raise Error(f"{name} has values of type {view.format!r}; expected one of {', '.join(_TYPES)}")
    return view
