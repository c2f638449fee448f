# SPDX-License-Identifier: Apache-2.0
"""The settings of a config.json as export_nn_transformer.py reads them, with a message for each that is not there."""
import difflib
import math

STACKS = {'encoder': 'source', 'decoder': 'target'}  # each stack reads the tokens of this side
STORED = ('learned', 'stored')


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


def of_stack(settings, stack, key, default=None):
    """The value of a setting for 'encoder' or 'decoder': its own, or that of both."""
    own = settings.get(f'{stack}_{key}')
    value = settings.get(key) if own is None else own
    return default if value is None else value


def of_both(settings, key, default=None):
    """The value of a setting that must be the same for both stacks."""
    encoder, decoder = (of_stack(settings, stack, key, default) for stack in STACKS)
    if encoder != decoder:
        raise NotFound(f'encoder_{key} is {encoder!r} and decoder_{key} is {decoder!r}; --checkpoint builds '
                       'nn.Transformer, which has one for both; use --from')
    return encoder


def has_table(settings, stack):
    """Whether the positions of a stack are a table of the checkpoint."""
    return of_stack(settings, stack, 'position_encoding') in STORED


def position_table(settings, stack):
    """The name of that table; None when no setting has it."""
    names = settings.get('tensors') or {}
    return names.get(f'{STACKS[stack]}_positions') or names.get('positions')


def position_rows(settings, stack, shape_of):
    """Positions of a stack: max_positions, else the rows of its table. shape_of(name) is the shape of a tensor, whose
    last size is d_model."""
    rows = of_stack(settings, stack, 'max_positions')
    if rows is not None:
        return rows
    name = position_table(settings, stack)
    if not has_table(settings, stack):
        raise NotFound('setting max_positions was not found, which sinusoidal positions need')
    if name is None:
        raise NotFound(f'tensors.positions was not found, or tensors.{STACKS[stack]}_positions: the name of the table '
                       'of positions')
    return math.prod(shape_of(name)[:-1]) - of_stack(settings, stack, 'position_offset', 0)


def check_settings(settings):
    """Names every setting that --checkpoint needs and that neither --set nor --config has, one on a line."""
    of_stacks = ['activation', 'nhead', 'norm_first', 'scale_embedding', 'position_encoding']
    missing = [key for key in of_stacks if any(of_stack(settings, stack, key) is None for stack in STACKS)]
    has_target = lambda key: settings.get(f'target_{key}', settings.get(key)) is not None
    missing += [] if has_target('bos_token') or has_target('decoder_start_token') else ['bos_token']
    missing += [] if has_target('eos_token') else ['eos_token']
    missing += [] if settings.get('add_source_eos') is not None else ['add_source_eos']
    computed = [stack for stack in STACKS if not has_table(settings, stack)]
    if any(of_stack(settings, stack, 'max_positions') is None for stack in computed):
        missing.append('max_positions')
    names = settings.get('tensors') or {}
    missing += [] if names.get('source_embedding') else ['tensors source_embedding']
    without = [stack for stack in STACKS if has_table(settings, stack) and position_table(settings, stack) is None]
    if len(without) == len(STACKS):
        missing.append('tensors positions, or source_positions and target_positions')
    else:
        missing += [f'tensors {STACKS[stack]}_positions' for stack in without]
    if missing:
        raise NotFound('settings that were not found in --set, --tensors or --config (converter/dialects/'
                       'NN_TRANSFORMER.md describes them):' + ''.join(f'\n  {key}' for key in missing))
