# SPDX-License-Identifier: Apache-2.0
"""The model that a state dict and a config.json describe, with a message for whatever they do not have."""
import difflib
import math
import sys

try:
    import torch
    from torch import nn
except ImportError as error:
    sys.exit(f'export_nn_transformer.py: PyTorch was not found ({error}); pip install torch')


class NotFound(ValueError):
    """Something that the export needs, with what it was looked for in."""


def listed(names, most=8):
    names = list(names)
    return ', '.join(map(str, names[:most])) + (f' and {len(names) - most} more' if len(names) > most else '')


def find(table, name, what, where):
    """table[name]; where it is not there, the nearest names are said, or the first ones."""
    if name in table:
        return table[name]
    near = difflib.get_close_matches(str(name), list(table), 4)
    held = f'nearest: {listed(near)}' if near else f'it has {listed(table) or "nothing"}'
    raise NotFound(f'{what} {name!r} was not found in {where}; {held}')


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


class StateDictModel(nn.Module):
    """The model that a state dict and a config.json describe; only the activation may differ between the stacks."""

    def __init__(self, weights, config):
        super().__init__()
        self.config, names = config, config['tensors']
        first = 'encoder.layers.0.linear1.weight'
        prefix = names.get('transformer')
        if prefix is None:
            prefix = next((n for n in weights if n.endswith(first)), None)
            if prefix is None:
                raise NotFound(f'no tensor of the state dict ends in {first}; it has {listed(weights)}')
            prefix = prefix[:-len(first)]
        tensor = lambda name: find(weights, name, 'tensor', 'the state dict')
        tensor(prefix + first), tensor(prefix + 'decoder.layers.0.linear1.weight')
        layer_of = lambda name, start: int(name[len(start):].split('.')[0])
        count = lambda start: 1 + max(layer_of(name, start) for name in weights if name.startswith(start))
        self.src_embed = nn.Embedding.from_pretrained(tensor(names['source_embedding']))
        self.tgt_embed = nn.Embedding.from_pretrained(
            tensor(names.get('target_embedding', names['source_embedding'])))
        d_model, d_ff = self.src_embed.embedding_dim, weights[prefix + 'encoder.layers.0.linear1.weight'].size(0)
        bias = prefix + 'encoder.layers.0.linear1.bias' in weights
        activation = lambda side: find(ACTIVATIONS, config.get(side + '_activation', config.get('activation')),
                                       'activation', 'what can be converted')
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
        weight = tensor(projection + '.weight') if projection else self.tgt_embed.weight
        bias = weights.get(names.get('output_bias', f'{projection}.bias'))
        self.generator = nn.Linear(d_model, weight.size(0), bias is not None)
        self.generator.load_state_dict({'weight': weight} if bias is None else {'weight': weight, 'bias': bias})
        self.scale = math.sqrt(d_model) if config['scale_embedding'] else 1.0
        self.register_buffer('positions', self.position_table(weights, d_model), persistent=False)

    def position_table(self, weights, d_model):
        config, offset = self.config, self.config.get('position_offset', 0)
        if config['position_encoding'] in ('learned', 'stored'):
            table = find(weights, config['tensors']['positions'], 'tensor', 'the state dict')
            return table.reshape(-1, d_model)[offset:]
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


def check_settings(settings):
    """Names every setting that --checkpoint needs and that neither --set nor --config has."""
    needed = ['activation', 'nhead', 'norm_first', 'scale_embedding', 'position_encoding', 'bos_token', 'eos_token',
              'add_source_eos']
    has = lambda key: settings.get(key) is not None
    stored = settings.get('position_encoding') in ('learned', 'stored')
    missing = [key for key in needed if not has(key) and not (has('encoder_' + key) and has('decoder_' + key))
               and not (has('source_' + key) and has('target_' + key))]
    missing += [] if has('max_positions') or stored else ['max_positions']
    roles = ['source_embedding'] + (['positions'] if stored else [])
    missing += [f'tensors {role}' for role in roles if settings['tensors'].get(role) is None]
    if missing:
        raise NotFound(f'settings that were not found in --set, --tensors or --config: {", ".join(missing)}; they are '
                       'described in converter/dialects/NN_TRANSFORMER.md')


def load_weights(path):
    """The state dict in a .pt file, without executing what else the file may hold; training scripts wrap it."""
    loaded = torch.load(path, map_location='cpu', weights_only=True)
    for key in ('state_dict', 'model', 'model_state_dict'):
        if key in loaded and not torch.is_tensor(loaded[key]):
            loaded = loaded[key]
    strip = lambda name: name.removeprefix('_orig_mod.').removeprefix('module.')
    weights = {strip(name): value.float() for name, value in loaded.items() if torch.is_tensor(value)}
    if not weights:
        raise NotFound(f'no tensor was found in {path}, nor under state_dict, model or model_state_dict; it has '
                       f'{listed(loaded)}')
    return weights
