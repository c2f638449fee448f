# SPDX-License-Identifier: Apache-2.0
"""Messages of examples/export_nn_transformer.py about things that it does not find: python3 export_messages.py EXAMPLES"""
import os
import subprocess
import sys
import tempfile

EXAMPLES = sys.argv[1]

MODULE = '''
import torch
from torch import nn

def make():
    return {'model': nn.Linear(2, 2), 'encode': None, 'decode': None, 'source_embedding': None,
            'target_embedding': None, 'projection': None, 'settings': {}, 'sources': []}
'''


def expect(folder, arguments, text):
    script = os.path.join(EXAMPLES, 'export_nn_transformer.py')
    environment = {**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'}
    done = subprocess.run([sys.executable, script, 'out', *arguments], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = '\n'.join(done.stderr.splitlines()[-1 - text.count('\n'):])
    if done.returncode != 1 or found != 'export_nn_transformer.py: ' + text:
        sys.exit(f'{arguments}: status {done.returncode}\n{found}\nexpected\n{text}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        try:
            import torch
        except ImportError:
            expect(folder, [], "PyTorch was not found (No module named 'torch'); pip install torch")
            print('skipped the tests with PyTorch, which is not installed')
            return
        with open(os.path.join(folder, 'mine.py'), 'w', encoding='utf8') as f:
            f.write(MODULE)
        path = os.path.join(folder, 'model.pt')
        torch.save({'state_dict': {'module.a.weight': torch.zeros(3, 2)}}, path)
        all_set = ['--set', 'nhead=1', 'activation=relu', 'norm_first=false', 'scale_embedding=true',
                   'position_encoding=sinusoidal_interleaved', 'max_positions=4', 'bos_token=1', 'eos_token=2',
                   'add_source_eos=true', '--tensors', 'source_embedding=a.weight']
        expect(folder, ['--from', 'absent:make'],
               f"module 'absent' was not found in {os.path.realpath(folder)} or in the Python path")
        expect(folder, ['--from', 'mine:made'], "function 'made' was not found in mine; it has make")
        expect(folder, ['--from', 'mine:make'],
               'no nn.Transformer was found in Linear, whose modules are Linear; give it as transformer=')
        expect(folder, ['--checkpoint', 'model.pt', '--set', 'nhead=1', 'activation=relu'],
               'settings that were not found in --set, --tensors or --config (converter/dialects/NN_TRANSFORMER.md '
               'describes them):\n  norm_first\n  scale_embedding\n  position_encoding\n  bos_token\n  eos_token\n'
               '  add_source_eos\n  max_positions\n  tensors source_embedding')
        expect(folder, ['--checkpoint', 'model.pt', *all_set],
               'no tensor of the state dict ends in encoder.layers.0.linear1.weight; it has a.weight')
        expect(folder, ['--checkpoint', 'absent.pt', *all_set], "[Errno 2] No such file or directory: 'absent.pt'")
        torch.save(torch.nn.Linear(2, 2), path)
        expect(folder, ['--checkpoint', 'model.pt', *all_set],
               'the checkpoint has more than weights, which is not executed; save torch.save(model.state_dict(), ...) '
               'where it was made, or use --from')


main()
