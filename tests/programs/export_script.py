# SPDX-License-Identifier: Apache-2.0
"""examples/export_nn_transformer.py: tables of positions, messages. Usage: export_script.py EXAMPLES CONVERTER"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

EXAMPLES, CONVERT = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, EXAMPLES)

# Many training scripts have such a module with a learned table [1, rows, d_model].
MODULE = '''
import torch
from torch import nn

class Mine(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 8)
        self.pos_embed = nn.Parameter(torch.randn(1, 9, 8))
        self.transformer = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
        self.generator = nn.Linear(8, 11)

    def embed(self, ids):
        return self.table(ids) + self.pos_embed[:, :ids.size(1)]

    def encode(self, ids):
        return self.transformer.encoder(self.embed(ids))

    def decode(self, memory, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
        return self.generator(self.transformer.decoder(self.embed(ids), memory, tgt_mask=mask))

def make(**more):
    torch.manual_seed(0)
    mine = Mine()
    settings = {'position_encoding': 'learned', 'tensors': {'positions': 'pos_embed'}, 'scale_embedding': False,
                'bos_token': 1, 'eos_token': 2, 'add_source_eos': True, **more}
    return {'model': mine, 'encode': mine.encode, 'decode': mine.decode, 'source_embedding': mine.table,
            'target_embedding': mine.table, 'projection': mine.generator, 'settings': settings,
            'sources': [[5, 9, 7, 2], [3, 2]]}

def unnamed():
    return make(tensors={})

def misnamed():
    return make(tensors={'positions': 'pos_embd'})
'''


LINEAR = '''
import torch
from torch import nn

def make():
    return {'model': nn.Linear(2, 2), 'encode': None, 'decode': None, 'source_embedding': None,
            'target_embedding': None, 'projection': None, 'settings': {}, 'sources': []}
'''


def run(folder, *command):
    environment = {**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'}
    return subprocess.run(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def export(folder, *arguments):
    return run(folder, sys.executable, os.path.join(EXAMPLES, 'export_nn_transformer.py'), 'out', *arguments)


def expect_checked(folder, *arguments):
    """The export is made, and the converter computes what its samples say."""
    done = export(folder, *arguments)
    if done.returncode != 0:
        sys.exit(f'{arguments}: status {done.returncode}\n{done.stderr}')
    done = run(folder, CONVERT, 'out', '-q', '--check', 'out/samples')
    if done.returncode != 0:
        sys.exit(f'{arguments}: its conversion ended with {done.returncode}\n{done.stdout}{done.stderr}')
    lines = pathlib.Path(folder, 'out/samples/results.jsonl').read_text(encoding='utf8')
    return json.loads(lines.split('\n')[0])['max_target_tokens']


def expect_refused(folder, text, *arguments):
    done = export(folder, *arguments)
    found = '\n'.join(done.stderr.splitlines()[-1 - text.count('\n'):])
    if done.returncode != 1 or found != 'export_nn_transformer.py: ' + text:
        sys.exit(f'{arguments}: status {done.returncode}\n{found}\nexpected\n{text}')


def equal(found, expected):
    if found != expected:
        sys.exit(f'found {found!r}, expected {expected!r}')


def check_rows():
    """Rows of positions by settings, which needs no PyTorch."""
    from export_settings import NotFound, position_rows
    shape_of = {'p': (1, 9, 8), 'q': (7, 8)}.__getitem__
    learned = {'position_encoding': 'learned', 'tensors': {'positions': 'p', 'target_positions': 'q'}}
    equal(position_rows(learned, 'encoder', shape_of), 9)
    equal(position_rows(learned, 'decoder', shape_of), 7)
    equal(position_rows({**learned, 'position_offset': 2}, 'decoder', shape_of), 5)
    equal(position_rows({**learned, 'decoder_max_positions': 3}, 'decoder', shape_of), 3)
    equal(position_rows({**learned, 'encoder_max_positions': 3}, 'decoder', shape_of), 7)
    for settings in ({'position_encoding': 'sinusoidal_interleaved'}, {'position_encoding': 'stored'}):
        try:
            sys.exit(f'{settings} have {position_rows(settings, "decoder", shape_of)} rows')
        except NotFound:
            pass


def save_checkpoint(folder, torch):
    """A state dict whose stacks have tables of their own, and a config.json that names them."""
    torch.manual_seed(1)
    transformer = torch.nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
    weights = {'transformer.' + name: value for name, value in transformer.state_dict().items()}
    weights.update({'src.weight': torch.randn(11, 8), 'tgt.weight': torch.randn(13, 8),
                    'src_pos.weight': torch.randn(12, 8), 'tgt_pos.weight': torch.randn(10, 8),
                    'generator.weight': torch.randn(13, 8), 'generator.bias': torch.randn(13)})
    torch.save(weights, os.path.join(folder, 'model.pt'))
    config = {'model_type': 'nn_transformer', 'nhead': 2, 'activation': 'relu', 'norm_first': False,
              'scale_embedding': True, 'position_encoding': 'learned', 'bos_token': 1, 'eos_token': 2,
              'add_source_eos': True, 'tensors': {
                  'source_embedding': 'src.weight', 'target_embedding': 'tgt.weight',
                  'output_projection': 'generator', 'source_positions': 'src_pos.weight',
                  'target_positions': 'tgt_pos.weight'}}
    pathlib.Path(folder, 'config.json').write_text(json.dumps(config), encoding='utf8')


def check_messages():
    """Messages about things that the script does not find."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            import torch
        except ImportError:
            expect_refused(folder, "PyTorch was not found (No module named 'torch'); pip install torch")
            print('skipped the tests with PyTorch, which is not installed')
            return
        pathlib.Path(folder, 'mine.py').write_text(LINEAR, encoding='utf8')
        path = os.path.join(folder, 'model.pt')
        torch.save({'state_dict': {'module.a.weight': torch.zeros(3, 2)}}, path)
        given = ['--set', 'nhead=1', 'activation=relu', 'norm_first=false', 'scale_embedding=true',
                 'position_encoding=sinusoidal_interleaved', 'max_positions=4', 'bos_token=1', 'eos_token=2',
                 'add_source_eos=true', '--tensors', 'source_embedding=a.weight']
        expect_refused(folder, f"module 'absent' was not found in {os.path.realpath(folder)} or in the Python path",
                       '--from', 'absent:make')
        expect_refused(folder, "function 'made' was not found in mine; it has make", '--from', 'mine:made')
        expect_refused(folder, 'no nn.Transformer was found in Linear, whose modules are Linear; give it as '
                       'transformer=', '--from', 'mine:make')
        checkpoint = '--checkpoint', 'model.pt'
        expect_refused(
            folder, 'settings that were not found in --set, --tensors or --config (converter/dialects/NN_TRANSFORMER.md'
            ' describes them):\n  norm_first\n  scale_embedding\n  position_encoding\n  bos_token\n  eos_token\n'
            '  add_source_eos\n  max_positions\n  tensors source_embedding', *checkpoint, *given[:3])
        expect_refused(folder, 'no tensor of the state dict ends in encoder.layers.0.linear1.weight; it has a.weight',
                       *checkpoint, *given)
        expect_refused(folder, "[Errno 2] No such file or directory: 'absent.pt'", '--checkpoint', 'absent.pt', *given)
        torch.save(torch.nn.Linear(2, 2), path)
        expect_refused(folder, 'the checkpoint has more than weights, which is not executed; save '
                       'torch.save(model.state_dict(), ...) where it was made, or use --from', *checkpoint, *given)


def main():
    check_messages()
    check_rows()
    with tempfile.TemporaryDirectory() as folder:
        try:
            import torch
        except ImportError:
            print('without PyTorch this is all that can be tested')
            return
        pathlib.Path(folder, 'mine.py').write_text(MODULE, encoding='utf8')
        equal(expect_checked(folder, '--from', 'mine:make'), 9)
        expect_refused(folder, 'tensors.positions was not found, or tensors.target_positions: the name of the table '
                       'of positions', '--from', 'mine:unnamed')
        expect_refused(folder, "tensor 'pos_embd' was not found in the state dict of Mine; nearest: pos_embed",
                       '--from', 'mine:misnamed')
        save_checkpoint(folder, torch)
        checkpoint = ['--checkpoint', 'model.pt', '--config', 'config.json']
        equal(expect_checked(folder, *checkpoint), 10)
        equal(expect_checked(folder, *checkpoint, '--set', 'position_offset=2', 'max_positions=6'), 6)
        equal(expect_checked(folder, *checkpoint, '--set', 'encoder_position_encoding=sinusoidal_interleaved',
                             'encoder_max_positions=8'), 10)
        expect_refused(folder, "encoder_nhead is 4 and decoder_nhead is 2; --checkpoint builds nn.Transformer, which "
                       'has one for both; use --from', *checkpoint, '--set', 'encoder_nhead=4')


main()
