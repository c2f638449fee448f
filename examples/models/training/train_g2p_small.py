# SPDX-License-Identifier: Apache-2.0
"""Train g2p-small: a grapheme-to-phoneme nn.Transformer for microcontrollers of 256 kB, taught by the model g2p.

Words and their phonemes come from the pronunciation dictionary of Debian's package pocketsphinx-en-us, which has no
stress marks. The teacher lists pronunciations with stress; of these the best that the dictionary confirms is learnt, or
the teacher's best where it confirms none. Words of the validation and test sets (by train_g2p.py's hash) are left out.

    apt-get download pocketsphinx-en-us && dpkg -x pocketsphinx-en-us_*.deb dictionary
    goldcrest-convert examples/models/g2p -o g2p.gcst --weights float32
    python3 train_g2p_small.py label dictionary/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict g2p.gcst
    python3 train_g2p_small.py train tests/data/g2p/valid.tsv examples/models/g2p-small

`label` writes taught.tsv; `train` reads it and writes the checkpoint. Needs torch and safetensors.
"""
import hashlib
import json
import math
import random
import re
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

D_MODEL, D_FF, N_HEADS, ENCODER_LAYERS, DECODER_LAYERS, MAX_POSITIONS = 64, 192, 4, 2, 1, 34
EPOCHS, PEAK_RATE, WARM_UP, TOKENS_A_BATCH = 30, 4e-3, 1000, 6000
TEACHER = 'examples/models/g2p/config.json'  # its vocabularies are the student's
PAD, START, END = 0, 1, 2


def bucket(word):
    return int(hashlib.sha1(word.encode()).hexdigest(), 16) % 100


def without_stress(phonemes):
    return re.sub(r'\d', '', phonemes)


def label(dictionary, teacher):
    pronunciations = {}
    for line in open(dictionary, encoding='utf8'):
        word, phonemes = line.strip().split(maxsplit=1)
        word = re.sub(r'\(\d+\)$', '', word)
        if re.fullmatch(r"[a-z']+", word) and len(word) <= 24 and bucket(word) >= 4:
            pronunciations.setdefault(word, set()).add(phonemes)
    words = sorted(pronunciations)
    listed = subprocess.run(['goldcrest-translate', teacher, '--beam-size', '8', '--n-best', '8', '--batch', '32'],
                            input='\n'.join(words) + '\n', capture_output=True, text=True, check=True).stdout
    candidates = {}
    for line in listed.splitlines():
        number, _, phonemes = line.split('\t')
        candidates.setdefault(words[int(number) - 1], []).append(phonemes)
    confirmed = 0
    with open('taught.tsv', 'w') as out:
        for word in words:
            known = [p for p in candidates[word] if without_stress(p) in pronunciations[word]]
            confirmed += bool(known)
            print(word, (known or candidates[word])[0], sep='\t', file=out)
    print(f'{len(words)} words, the dictionary confirms a pronunciation of {confirmed}')


class Model(nn.Module):
    def __init__(self, n_letters, n_phonemes):
        super().__init__()
        self.src_embed = nn.Embedding(n_letters, D_MODEL)
        self.tgt_embed = nn.Embedding(n_phonemes, D_MODEL)
        self.transformer = nn.Transformer(D_MODEL, N_HEADS, ENCODER_LAYERS, DECODER_LAYERS, D_FF, dropout=0.0,
                                          activation='relu', batch_first=True)
        self.generator = nn.Linear(D_MODEL, n_phonemes)
        frequencies = torch.exp(torch.arange(0, D_MODEL, 2) * (-math.log(1e4) / D_MODEL))
        angles = torch.arange(MAX_POSITIONS)[:, None] * frequencies  # sines and cosines are interleaved
        self.register_buffer('positions', torch.stack([angles.sin(), angles.cos()], -1).flatten(1), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def embed(self, table, ids):
        return table(ids) * math.sqrt(D_MODEL) + self.positions[:ids.size(1)]

    def encode(self, source):
        return self.transformer.encoder(self.embed(self.src_embed, source), src_key_padding_mask=source.eq(PAD))

    def decode(self, target, keys, source):
        causal = nn.Transformer.generate_square_subsequent_mask(target.size(1)).isinf()
        return self.generator(self.transformer.decoder(
            self.embed(self.tgt_embed, target), keys, tgt_mask=causal, memory_key_padding_mask=source.eq(PAD)))


def padded(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def batches(pairs):
    """Pairs of like lengths together, so that little is padding."""
    pairs = sorted(pairs, key=lambda pair: max(map(len, pair)) + random.random() * 2)
    out, batch, longest = [], [], 0
    for pair in pairs:
        longest = max(longest, *map(len, pair))
        if batch and longest * (len(batch) + 1) > TOKENS_A_BATCH:
            out.append(batch)
            batch, longest = [], max(map(len, pair))
        batch.append(pair)
    random.shuffle(out)
    return out + [batch]


def descend(model, optimizer, rate, loss):
    """A step of the optimizer. Returns the loss as a number."""
    for group in optimizer.param_groups:
        group['lr'] = rate
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def word_errors(model, sources, references):
    """Per cent of the words whose greedy result is none of their references."""
    wrong = 0
    for k in range(0, len(sources), 512):
        source = padded(sources[k:k + 512])
        keys, target = model.encode(source), torch.full((len(source), 1), START)
        for _ in range(34):
            target = torch.cat([target, model.decode(target, keys, source)[:, -1:].argmax(-1)], 1)
        for row, right in zip(target.tolist(), references[k:k + 512]):
            wrong += tuple(row[1:row.index(END)] if END in row else row[1:]) not in right
    return 100 * wrong / len(sources)


def train(validation, folder):
    torch.manual_seed(7)
    random.seed(7)
    torch.set_num_threads(1)
    config = json.load(open(TEACHER))
    letters, phonemes = config['source_vocabulary'], config['target_vocabulary']
    letter_id, phoneme_id = ({name: i for i, name in enumerate(names)} for names in (letters, phonemes))

    def ids_of(word):
        return [letter_id[c] for c in word] + [END]

    def phoneme_ids(text):
        return [phoneme_id[p] for p in text.split()]

    pairs = []
    for line in open('taught.tsv'):
        word, text = line.rstrip('\n').split('\t')
        pairs.append((ids_of(word), [START] + phoneme_ids(text) + [END]))
    valid = [line.rstrip('\n').split('\t') for line in open(validation)]
    sources = [ids_of(word) for word, _ in valid]
    references = [{tuple(phoneme_ids(each)) for each in right.split(' | ')} for _, right in valid]

    model = Model(len(letters), len(phonemes))
    print(sum(p.numel() for p in model.parameters()), 'parameters', len(pairs), 'pairs', flush=True)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    average, step, begin = None, 0, time.time()
    steps = EPOCHS * len(batches(pairs))
    for epoch in range(EPOCHS):
        losses = []
        for batch in batches(pairs):
            step += 1
            rate = PEAK_RATE * min(step / WARM_UP, 0.5 * (1 + math.cos(math.pi * min(1, step / steps))))
            source, target = padded([s for s, _ in batch]), padded([t for _, t in batch])
            logits = model.decode(target[:, :-1], model.encode(source), source)
            loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD, label_smoothing=.03)
            losses.append(descend(model, optimizer, rate, loss))
            if step > 0.8 * steps:  # the mean of the last weights is better than the last
                if average is None:
                    average = {name: value.clone() for name, value in model.state_dict().items()}
                for name, value in model.state_dict().items():
                    average[name].mul_(0.998).add_(value, alpha=0.002)
        model.eval()
        note = f'word errors {word_errors(model, sources, references):.2f} %' if epoch % 4 == 3 else ''
        model.train()
        print(f'epoch {epoch} loss {sum(losses) / len(losses):.4f} {time.time() - begin:.0f} s {note}', flush=True)
        torch.save(average or model.state_dict(), 'g2p_small.pt')
    model.load_state_dict(average)
    model.eval()
    print(f'word errors {word_errors(model, sources, references):.2f} %')

    save_file({name: value.half() for name, value in average.items()}, f'{folder}/model.safetensors')
    config.update(name='g2p-small', d_model=D_MODEL, nhead=N_HEADS, num_encoder_layers=ENCODER_LAYERS,
                  num_decoder_layers=DECODER_LAYERS, dim_feedforward=D_FF, max_positions=MAX_POSITIONS)
    json.dump(config, open(f'{folder}/config.json', 'w'), ensure_ascii=False, indent=1)


if __name__ == '__main__':
    {'label': label, 'train': train}[sys.argv[1]](*sys.argv[2:])
