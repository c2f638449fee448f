# SPDX-License-Identifier: Apache-2.0
"""The model that a state dict and a config.json describe, with a message for whatever they do not have."""
import math
import sys

from export_settings import STACKS, NotFound, find, has_table, listed, of_both, of_stack, position_table

try:
    import torch
    from torch import nn
except ImportError as error:
    sys.exit(f'export_nn_transformer.py: PyTorch was not found ({error}); pip install torch')


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
        names = config['tensors']
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
        self.tgt_embed = nn.Embedding.from_pretrained(tensor(names.get('target_embedding', names['source_embedding'])))
        d_model, d_ff = self.src_embed.embedding_dim, weights[prefix + 'encoder.layers.0.linear1.weight'].size(0)
        bias = prefix + 'encoder.layers.0.linear1.bias' in weights
        activation = lambda side: find(ACTIVATIONS, of_stack(config, side, 'activation'), 'activation',
                                       'what can be converted')
        self.transformer = nn.Transformer(
            d_model, of_both(config, 'nhead'), *(count(f'{prefix}{stack}.layers.') for stack in STACKS),
            d_ff, 0.0, activation('encoder'), layer_norm_eps=of_both(config, 'layer_norm_eps', 1e-5), batch_first=True,
            norm_first=of_both(config, 'norm_first'), bias=bias)
        for layer in self.transformer.decoder.layers:
            layer.activation = activation('decoder')
        for side in STACKS:
            if f'{prefix}{side}.norm.weight' not in weights:
                getattr(self.transformer, side).norm = None
        parts = tuple(f'{prefix}{side}.{part}.' for side in STACKS for part in ('layers', 'norm'))
        self.transformer.load_state_dict({n[len(prefix):]: v for n, v in weights.items() if n.startswith(parts)})
        projection = names.get('output_projection')
        weight = tensor(projection + '.weight') if projection else self.tgt_embed.weight
        bias = weights.get(names.get('output_bias', f'{projection}.bias'))
        self.generator = nn.Linear(d_model, weight.size(0), bias is not None)
        self.generator.load_state_dict({'weight': weight} if bias is None else {'weight': weight, 'bias': bias})
        for stack, side in STACKS.items():
            scale = math.sqrt(d_model) if of_stack(config, stack, 'scale_embedding') else 1.0
            setattr(self, side + '_scale', scale)
            self.register_buffer(side + '_positions', position_values(config, stack, weights, d_model),
                                 persistent=has_table(config, stack))

    def encode(self, ids):
        embedded = self.src_embed(ids) * self.source_scale + self.source_positions[:ids.size(1)]
        return self.transformer.encoder(embedded)

    def decode(self, memory, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
        embedded = self.tgt_embed(ids) * self.target_scale + self.target_positions[:ids.size(1)]
        return self.generator(self.transformer.decoder(embedded, memory, tgt_mask=mask))


def position_values(config, stack, weights, d_model):
    """The rows [positions, d_model] that a stack adds to its embeddings."""
    setting = lambda key, default=None: of_stack(config, stack, key, default)
    offset, rows = setting('position_offset', 0), setting('max_positions')
    if has_table(config, stack):
        table = find(weights, position_table(config, stack), 'tensor', 'the state dict').reshape(-1, d_model)[offset:]
        if rows is not None and rows > len(table):
            raise NotFound(f'tensor {position_table(config, stack)!r} has {len(table)} rows from position_offset '
                           f'{offset} on; max_positions is {rows}')
        return table[:rows].clone()
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    denominator = d_model - 2 if setting('position_denominator') == 'd_model-2' else d_model
    frequencies = setting('position_base', 10000.0) ** (-2 * pairs / denominator)
    angles = (torch.arange(rows) + offset)[:, None] * frequencies
    waves, interleaved = (angles.sin(), angles.cos()), setting('position_encoding') == 'sinusoidal_interleaved'
    return (torch.stack(waves, 2).flatten(1) if interleaved else torch.cat(waves, 1)).float()


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
