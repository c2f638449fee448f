#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a PyTorch nn.Transformer as a checkpoint for goldcrest-convert, with samples for `--check`. Needs PyTorch only.

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
import struct
import sys

import torch
from torch import nn

LINES_WITH_LOGITS = 8


def save_safetensors(path, tensors):
    """Writes {name: tensor} as float32 in the safetensors format."""
    header, payload, offset = {}, [], 0
    for name, tensor in tensors.items():
        values = tensor.detach().to('cpu', torch.float32).contiguous()
        raw = values.numpy().astype('<f4').tobytes()
        header[name] = {'dtype': 'F32', 'shape': list(values.shape), 'data_offsets': [offset, offset + len(raw)]}
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
    raise ValueError('a given embedding or projection is not a module of the model')


def gelu_tanh(x):
    return nn.functional.gelu(x, approximate='tanh')


ACTIVATIONS = {'relu': nn.functional.relu, 'gelu': nn.functional.gelu, 'gelu_tanh': gelu_tanh,
               'silu': nn.functional.silu}


def activation_name(activation):
    for name, function in ACTIVATIONS.items():
        if activation is function:
            return name
    if isinstance(activation, nn.GELU):
        return 'gelu_tanh' if activation.approximate == 'tanh' else 'gelu'
    if activation is torch.relu or isinstance(activation, nn.ReLU):
        return 'relu'
    if isinstance(activation, nn.SiLU):
        return 'silu'
    raise ValueError(f'activation {activation!r}: only ReLU, GELU and SiLU can be converted')


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
    if isinstance(vocabulary, dict):
        return vocabulary[token]
    if isinstance(vocabulary, list):
        return vocabulary.index(token)
    raise ValueError(f'token {token!r}: give its id, or {side}_vocabulary as a list or an object')


def token_id(settings, key, side='target'):
    """A special token's id, None when there is none."""
    return id_of(settings, settings.get(f'{side}_{key}', settings.get(key)), side)


class Search:
    """Greedy and beam search; step(list of id lists) gives the logits [n, vocabulary] of each one's next token."""

    def __init__(self, settings):
        start = token_id(settings, 'decoder_start_token')
        self.start = token_id(settings, 'bos_token') if start is None else start
        self.end = token_id(settings, 'eos_token')
        self.suppressed = [id_of(settings, token) for token in settings.get('suppressed_tokens', [])]
        self.limit = settings.get('max_length', settings.get('target_max_positions', settings['max_positions']))
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

    for side in ('encoder', 'decoder'):
        stack = getattr(transformer, side)
        first = stack.layers[0]
        hooks.append(first.register_forward_pre_hook(
            lambda module, args, side=side, stack=stack: keep(side + '.embed', stack, args[0])))
        for i, layer in enumerate(stack.layers):
            hooks.append(layer.register_forward_hook(
                lambda module, args, out, name=f'{side}.layers.{i}', stack=stack: keep(name, stack, out)))
        if stack.norm is not None:
            hooks.append(stack.norm.register_forward_hook(
                lambda module, args, out, name=side + '.norm', stack=stack: keep(name, stack, out)))
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
    transformer = transformer or next(m for m in model.modules() if isinstance(m, nn.Transformer))
    config = {'model_type': 'nn_transformer',
              **read_settings(model, transformer, source_embedding, target_embedding, projection)}
    config['tensors'].update(settings.get('tensors', {}))
    config.update({key: value for key, value in settings.items() if key != 'tensors'})
    os.makedirs(folder, exist_ok=True)
    weights = {name: value for name, value in model.state_dict().items() if value.is_floating_point()}
    save_safetensors(os.path.join(folder, 'model.safetensors'), weights)
    with open(os.path.join(folder, 'config.json'), 'w', encoding='utf8') as f:
        json.dump(config, f, ensure_ascii=False, indent=1)
        f.write('\n')
    write_samples(os.path.join(folder, 'samples'), transformer, encode, decode, Search(config), sources, beam_size)


class StateDictModel(nn.Module):
    """The model that a state dict and a config.json describe; only the activation may differ between the stacks."""

    def __init__(self, weights, config):
        super().__init__()
        self.config, names = config, config['tensors']
        prefix = names.get('transformer')
        if prefix is None:
            prefix = next(n for n in weights if n.endswith('encoder.layers.0.linear1.weight'))
            prefix = prefix[:-len('encoder.layers.0.linear1.weight')]
        layer_of = lambda name, start: int(name[len(start):].split('.')[0])
        count = lambda start: 1 + max(layer_of(name, start) for name in weights if name.startswith(start))
        self.src_embed = nn.Embedding.from_pretrained(weights[names['source_embedding']])
        self.tgt_embed = nn.Embedding.from_pretrained(
            weights[names.get('target_embedding', names['source_embedding'])])
        d_model, d_ff = self.src_embed.embedding_dim, weights[prefix + 'encoder.layers.0.linear1.weight'].size(0)
        bias = prefix + 'encoder.layers.0.linear1.bias' in weights
        activation = lambda side: ACTIVATIONS[config.get(side + '_activation', config.get('activation'))]
        self.transformer = nn.Transformer(
            d_model, config['nhead'], count(prefix + 'encoder.layers.'), count(prefix + 'decoder.layers.'), d_ff, 0.0,
            activation('encoder'), layer_norm_eps=config.get('layer_norm_eps', 1e-5), batch_first=True,
            norm_first=config['norm_first'], bias=bias)
        for layer in self.transformer.decoder.layers:
            layer.activation = activation('decoder')
        for side in ('encoder', 'decoder'):
            if f'{prefix}{side}.norm.weight' not in weights:
                getattr(self.transformer, side).norm = None
        parts = tuple(f'{prefix}{side}.{part}.' for side in ('encoder', 'decoder') for part in ('layers', 'norm'))
        self.transformer.load_state_dict({n[len(prefix):]: v for n, v in weights.items() if n.startswith(parts)})
        projection = names.get('output_projection')
        weight = weights[projection + '.weight'] if projection else self.tgt_embed.weight
        bias = weights.get(names.get('output_bias', f'{projection}.bias'))
        self.generator = nn.Linear(d_model, weight.size(0), bias is not None)
        self.generator.load_state_dict({'weight': weight} if bias is None else {'weight': weight, 'bias': bias})
        self.scale = math.sqrt(d_model) if config['scale_embedding'] else 1.0
        self.register_buffer('positions', self.position_table(weights, d_model), persistent=False)

    def position_table(self, weights, d_model):
        config, offset = self.config, self.config.get('position_offset', 0)
        if config['position_encoding'] in ('learned', 'stored'):
            return weights[config['tensors']['positions']].reshape(-1, d_model)[offset:]
        pairs = torch.arange(d_model // 2, dtype=torch.float64)
        denominator = d_model - 2 if config.get('position_denominator') == 'd_model-2' else d_model
        frequencies = config.get('position_base', 10000.0) ** (-2 * pairs / denominator)
        angles = (torch.arange(config['max_positions']) + offset)[:, None] * frequencies
        sines, cosines = angles.sin(), angles.cos()
        interleaved = config['position_encoding'] == 'sinusoidal_interleaved'
        table = torch.stack((sines, cosines), 2).flatten(1) if interleaved else torch.cat((sines, cosines), 1)
        return table.float()

    def embed(self, table, ids):
        return table(ids) * self.scale + self.positions[:ids.size(1)]

    def encode(self, ids):
        return self.transformer.encoder(self.embed(self.src_embed, ids))

    def decode(self, memory, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
        return self.generator(self.transformer.decoder(self.embed(self.tgt_embed, ids), memory, tgt_mask=mask))


def load_weights(path):
    """The state dict in a .pt file, without executing what else the file may hold; training scripts wrap it."""
    loaded = torch.load(path, map_location='cpu', weights_only=True)
    for key in ('state_dict', 'model', 'model_state_dict'):
        if key in loaded and not torch.is_tensor(loaded[key]):
            loaded = loaded[key]
    strip = lambda name: name.removeprefix('_orig_mod.').removeprefix('module.')
    return {strip(name): value.float() for name, value in loaded.items() if torch.is_tensor(value)}


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


def random_sources(settings, vocab_size):
    generator, end = torch.Generator().manual_seed(0), token_id(settings, 'eos_token', 'source')
    lengths = torch.randint(1, min(20, settings['max_positions'] - 1), (16,), generator=generator).tolist()
    suffix = [end] if settings['add_source_eos'] else []
    return [torch.randint(vocab_size, (n,), generator=generator).tolist() + suffix for n in lengths]


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
        export(args.out, **getattr(importlib.import_module(module), function)())
        return
    settings = json.load(open(args.config, encoding='utf8')) if args.config else {}
    settings.update(parse_pairs(args.set))
    settings['tensors'] = {**settings.get('tensors', {}), **parse_pairs(args.tensors)}
    weights = load_weights(args.checkpoint)
    model = StateDictModel(weights, settings)
    sources = random_sources(settings, model.src_embed.num_embeddings)
    if args.sources:
        sources = [[int(i) for i in line.split()] for line in open(args.sources) if line.strip()]
    # The config names the tensors of StateDictModel's own state dict, which has every table.
    for key in ('shared_embeddings', 'tied_output_projection'):
        settings.pop(key, None)
    settings['tensors'] = {}
    if settings['position_encoding'] in ('learned', 'stored'):
        model.register_buffer('positions', model.positions, persistent=True)
        settings.update(position_offset=0, tensors={'positions': 'positions'})
    export(args.out, model, encode=model.encode, decode=model.decode, source_embedding=model.src_embed,
           target_embedding=model.tgt_embed, projection=model.generator, settings=settings, sources=sources)


if __name__ == '__main__':
    main()
