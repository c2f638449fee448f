#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a PyTorch nn.Transformer as a checkpoint for goldcrest-convert, with samples for `--check`. Needs PyTorch,
and state_dict_model.py and export_settings.py next to it.

OUT gets model.safetensors, config.json (its keys: converter/dialects/NN_TRANSFORMER.md) and samples/:
  results.jsonl        a line for each source: source_ids, greedy and beam4 ids (start token left out, end token kept)
  logits.safetensors   logits.<line> [target length, vocabulary], along the greedy ids, of the first 8 lines
  trace.safetensors    every layer's output for line 0
Then: goldcrest-convert OUT -o model.gcst --check OUT/samples

From a live module, whose own code makes the samples, so that a wrong setting shows:

  from export_nn_transformer import export
  export('out', model, encode=lambda ids: model.encode(ids), decode=lambda memory, ids: model.decode(ids, memory),
         source_embedding=model.src_embed, target_embedding=model.tgt_embed, projection=model.generator,
         settings={'position_encoding': 'sinusoidal_interleaved', 'max_positions': 64, 'scale_embedding': True,
                   'bos_token': 1, 'eos_token': 2, 'add_source_eos': True}, sources=[[5, 9, 7, 2]])

or by name, where the function returns those arguments as a dictionary (without the folder):

  export_nn_transformer.py OUT --from package.module:function

From a saved state dict, with the forward pass of this file:

  export_nn_transformer.py OUT --checkpoint model.pt --tensors source_embedding=src_embed.weight
      target_embedding=tgt_embed.weight output_projection=generator --set nhead=4 activation=relu norm_first=false
      position_encoding=sinusoidal_interleaved max_positions=64 scale_embedding=true bos_token=1 eos_token=2
      add_source_eos=true
"""
import argparse
import importlib
import json
import math
import os
import pickle
import struct
import sys

from export_settings import STACKS, NotFound, check_settings, find, has_table, listed, position_rows
from state_dict_model import StateDictModel, activation_name, load_weights, nn, torch

LINES_WITH_LOGITS = 8


def save_safetensors(path, tensors):
    """Writes {name: tensor} as float32 in the safetensors format."""
    header, payload, offset = {}, [], 0
    for name, tensor in tensors.items():
        raw = tensor.detach().to('cpu', torch.float32).contiguous().numpy().astype('<f4').tobytes()
        header[name] = {'dtype': 'F32', 'shape': list(tensor.shape), 'data_offsets': [offset, offset + len(raw)]}
        offset += len(raw)
        payload.append(raw)
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text)
        f.writelines(payload)


def name_of(model, part):
    """The name that the model has for one of its modules."""
    for name, module in model.named_modules(remove_duplicate=False):
        if module is part:
            return name
    modules = [name for name, module in model.named_modules() if isinstance(module, (nn.Embedding, nn.Linear))]
    raise NotFound(f'a given {type(part).__name__} was not found among the modules of {type(model).__name__}; its '
                   f'embeddings and linear layers are {listed(modules)}')


def read_stack(layer):
    """Settings of one stack. They are read for each: PyTorch gives the decoder ReLU when nn.Transformer was made with a
    module as activation (its layers lose it when they are copied)."""
    return {'nhead': layer.self_attn.num_heads, 'dim_feedforward': layer.linear1.out_features,
            'activation': activation_name(layer.activation), 'norm_first': layer.norm_first,
            'layer_norm_eps': layer.norm1.eps}


def read_settings(model, transformer, source_embedding, target_embedding, projection):
    """What a live module says about itself, as config.json has it."""
    config = {'d_model': source_embedding.embedding_dim, 'num_encoder_layers': len(transformer.encoder.layers),
              'num_decoder_layers': len(transformer.decoder.layers)}
    encoder, decoder = read_stack(transformer.encoder.layers[0]), read_stack(transformer.decoder.layers[0])
    for key, value in encoder.items():
        same = value == decoder[key]
        config.update({key: value} if same else {'encoder_' + key: value, 'decoder_' + key: decoder[key]})
    prefix = name_of(model, transformer)
    config['tensors'] = {'source_embedding': name_of(model, source_embedding) + '.weight',
                         'target_embedding': name_of(model, target_embedding) + '.weight',
                         'transformer': prefix + '.' if prefix else '', 'output_projection': name_of(model, projection)}
    return config


def id_of(settings, token, side='target'):
    """The id of a token that is given as an id or as a text of the vocabulary."""
    vocabulary = settings.get(side + '_vocabulary')
    if not isinstance(token, str):
        return token
    if isinstance(vocabulary, list):
        vocabulary = {text: i for i, text in reversed(list(enumerate(vocabulary)))}
    if isinstance(vocabulary, dict):
        return find(vocabulary, token, 'token', f'{side}_vocabulary')
    raise NotFound(f'token {token!r}: give its id, or {side}_vocabulary as a list or an object')


def token_id(settings, key, side='target'):
    """A special token's id, None when there is none."""
    return id_of(settings, settings.get(f'{side}_{key}', settings.get(key)), side)


class Search:
    """Greedy and beam search; step(list of id lists) gives the logits [n, vocabulary] of each one's next token."""

    def __init__(self, settings, most):
        """most: generated tokens where the settings do not say it."""
        start = token_id(settings, 'decoder_start_token')
        self.start = token_id(settings, 'bos_token') if start is None else start
        self.end = token_id(settings, 'eos_token')
        self.suppressed = [id_of(settings, token) for token in settings.get('suppressed_tokens', [])]
        self.limit = settings.get('max_length', most)
        self.least = settings.get('min_length', 0)
        self.first = token_id(settings, 'forced_first_token')
        self.length_penalty = settings.get('length_penalty', 1.0)

    def log_probs(self, logits, length):
        """Of the token that makes a hypothesis `length` long; what is forced or forbidden is not normalized again."""
        log_probs = torch.log_softmax(logits.double(), -1)
        log_probs[:, self.suppressed] = -math.inf
        if length < self.least:
            log_probs[:, self.end] = -math.inf
        forced = self.end if length == self.limit else self.first if length == 1 else None
        if forced is not None:
            log_probs[:] = -math.inf
            log_probs[:, forced] = 0
        return log_probs

    def greedy(self, step):
        ids = []
        while not ids or ids[-1] != self.end:
            ids.append(self.log_probs(step([[self.start] + ids]), len(ids) + 1)[0].argmax().item())
        return ids

    def beam(self, step, beam_size):
        """As transformers' generate with early_stopping=False."""
        live, finished, length = [(0.0, [])], [], 0
        while live:
            length += 1
            log_probs = self.log_probs(step([[self.start] + ids for _, ids in live]), length)
            totals = log_probs + log_probs.new_tensor([[total] for total, _ in live])
            best = totals.flatten().topk(min(2 * beam_size, totals.numel()))
            following = []
            for rank, (total, place) in enumerate(zip(best.values.tolist(), best.indices.tolist())):
                ids = live[place // totals.size(1)][1] + [place % totals.size(1)]
                if total == -math.inf:
                    break
                if ids[-1] != self.end:
                    following.append((total, ids))
                elif rank < beam_size:
                    finished.append((total / length ** self.length_penalty, ids))
            finished = sorted(finished, key=lambda hypothesis: -hypothesis[0])[:beam_size]
            live = following[:beam_size]
            if live and len(finished) == beam_size and finished[-1][0] >= live[0][0] / length ** self.length_penalty:
                break
        return finished[0][1]


def trace(transformer, run):
    """Outputs [positions, d_model] of every layer while run() does one forward pass of one sentence."""
    outputs, hooks = {}, []

    def keep(name, stack, value):
        # Layers take their input as [batch, positions, d_model], or without batch_first as [positions, batch, d_model].
        batch_first = stack.layers[0].self_attn.batch_first
        outputs[name] = (value[0] if batch_first else value[:, 0]).clone()

    for side in STACKS:
        stack = getattr(transformer, side)
        hooks.append(stack.layers[0].register_forward_pre_hook(
            lambda module, args, side=side, stack=stack: keep(side + '.embed', stack, args[0])))
        for name, part in [*((f'layers.{i}', layer) for i, layer in enumerate(stack.layers)), ('norm', stack.norm)]:
            if part is not None:
                hooks.append(part.register_forward_hook(
                    lambda module, args, out, name=f'{side}.{name}', stack=stack: keep(name, stack, out)))
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return outputs


def write_samples(folder, transformer, encode, decode, search, sources, beam_size):
    os.makedirs(folder, exist_ok=True)
    device = next(transformer.parameters()).device
    as_batch = lambda rows: torch.tensor(rows, device=device)
    logits, lines = {}, []
    for line, source in enumerate(sources):
        memory = encode(as_batch([source]))
        batch_first = transformer.decoder.layers[0].self_attn.batch_first

        def step(hypotheses):
            n = len(hypotheses)
            shared = memory.expand(n, -1, -1) if batch_first else memory.expand(-1, n, -1)
            return decode(shared, as_batch(hypotheses))[:, -1]

        greedy = search.greedy(step)
        shifted = as_batch([[search.start] + greedy[:-1]])
        if line < LINES_WITH_LOGITS:
            logits[f'logits.{line}'] = decode(memory, shifted)[0]
        if line == 0:
            layers = trace(transformer, lambda: decode(encode(as_batch([source])), shifted))
            layers['logits'] = logits['logits.0']
            save_safetensors(os.path.join(folder, 'trace.safetensors'), layers)
        lines.append({'line': line, 'source_ids': source, 'greedy': greedy,
                      f'beam{beam_size}': search.beam(step, beam_size), 'max_target_tokens': search.limit})
    save_safetensors(os.path.join(folder, 'logits.safetensors'), logits)
    with open(os.path.join(folder, 'results.jsonl'), 'w', encoding='utf8') as f:
        f.writelines(json.dumps(row) + '\n' for row in lines)


@torch.no_grad()
def export(folder, model, *, encode, decode, source_embedding, target_embedding, projection, settings, sources,
           transformer=None, beam_size=4):
    """Writes weights, config.json and samples of a live module.

    model: the nn.Module with all weights; transformer: its nn.Transformer, when there is more than one.
    encode(source ids [1, n]) -> memory and decode(memory, target ids [m, t]) -> logits [m, t, vocabulary] are the
    module's own inference; source_embedding, target_embedding, projection its nn.Embedding and nn.Linear modules.
    settings: the keys of config.json that the module does not say itself, or says otherwise; sources: lists of ids, as
    the model expects them (end token included).
    """
    model.eval()
    transformer = transformer or next((m for m in model.modules() if isinstance(m, nn.Transformer)), None)
    if transformer is None:
        kinds = sorted({type(m).__name__ for m in model.modules()})
        raise NotFound(f'no nn.Transformer was found in {type(model).__name__}, whose modules are {listed(kinds, 16)}; '
                       'give it as transformer=')
    config = {'model_type': 'nn_transformer',
              **read_settings(model, transformer, source_embedding, target_embedding, projection)}
    config['tensors'].update(settings.get('tensors', {}))
    config.update({key: value for key, value in settings.items() if key != 'tensors'})
    weights = {name: value for name, value in model.state_dict().items() if value.is_floating_point()}
    shape_of = lambda name: find(weights, name, 'tensor', f'the state dict of {type(model).__name__}').shape
    search = Search(config, position_rows(config, 'decoder', shape_of))
    os.makedirs(folder, exist_ok=True)
    save_safetensors(os.path.join(folder, 'model.safetensors'), weights)
    with open(os.path.join(folder, 'config.json'), 'w', encoding='utf8') as f:
        f.write(json.dumps(config, ensure_ascii=False, indent=1) + '\n')
    write_samples(os.path.join(folder, 'samples'), transformer, encode, decode, search, sources, beam_size)


def parse_pairs(pairs):
    """KEY=VALUE words; a value is JSON, or else a text."""
    out = {}
    for pair in pairs:
        key, separator, value = pair.partition('=')
        if not separator:
            raise SystemExit(f'{pair}: expected KEY=VALUE')
        try:
            out[key] = json.loads(value)
        except json.JSONDecodeError:
            out[key] = value
    return out


def random_sources(settings, vocab_size, positions):
    generator, end = torch.Generator().manual_seed(0), token_id(settings, 'eos_token', 'source')
    lengths = torch.randint(1, min(20, positions - 1), (16,), generator=generator).tolist()
    suffix = [end] if settings['add_source_eos'] else []
    return [torch.randint(vocab_size, (n,), generator=generator).tolist() + suffix for n in lengths]


def load_function(module, name):
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        raise NotFound(f'module {error.name!r} was not found in {os.getcwd()} or in the Python path') from error
    except AttributeError as error:
        names = [n for n, value in vars(sys.modules[module]).items() if callable(value) and not n.startswith('_')]
        raise NotFound(f'function {name!r} was not found in {module}; it has {listed(names) or "none"}') from error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument('--from', dest='function', metavar='MODULE:FUNCTION', help='returns the arguments of export()')
    origin.add_argument('--checkpoint', metavar='FILE.pt', help='a state dict saved by torch.save')
    parser.add_argument('--config', metavar='FILE', help='a config.json to start from')
    parser.add_argument('--set', nargs='+', default=[], metavar='KEY=VALUE', help='keys of config.json')
    parser.add_argument('--tensors', nargs='+', default=[], metavar='ROLE=NAME', help='keys of its "tensors"')
    parser.add_argument('--sources', metavar='FILE', help='token ids of a source a line (default: 16 random ones)')
    args = parser.parse_args()
    if args.function:
        module, _, function = args.function.partition(':')
        sys.path.insert(0, os.getcwd())
        export(args.out, **load_function(module, function)())
        return
    settings = json.load(open(args.config, encoding='utf8')) if args.config else {}
    settings = {key: value for key, value in settings.items() if not key.endswith('?')}
    settings.update(parse_pairs(args.set))
    settings['tensors'] = {**settings.get('tensors', {}), **parse_pairs(args.tensors)}
    check_settings(settings)
    weights = load_weights(args.checkpoint)
    model = StateDictModel(weights, settings)
    sources = random_sources(settings, model.src_embed.num_embeddings, len(model.source_positions))
    if args.sources:
        sources = [[int(i) for i in line.split()] for line in open(args.sources) if line.strip()]
    # The config names the tensors of StateDictModel's own state dict, which has every table.
    for key in ('shared_embeddings', 'tied_output_projection'):
        settings.pop(key, None)
    settings['tensors'] = {}
    for stack, side in STACKS.items():
        if has_table(settings, stack):
            settings['tensors'][side + '_positions'] = side + '_positions'
            settings[stack + '_position_offset'] = 0  # position 0 is the table's first row
    export(args.out, model, encode=model.encode, decode=model.decode, source_embedding=model.src_embed,
           target_embedding=model.tgt_embed, projection=model.generator, settings=settings, sources=sources)


if __name__ == '__main__':
    try:
        main()
    except pickle.UnpicklingError:
        sys.exit('export_nn_transformer.py: the checkpoint has more than weights, which is not executed; save '
                 'torch.save(model.state_dict(), ...) where it was made, or use --from')
    except (NotFound, OSError) as error:
        sys.exit(f'export_nn_transformer.py: {error}')
