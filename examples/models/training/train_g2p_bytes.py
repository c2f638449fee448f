# SPDX-License-Identifier: Apache-2.0
"""Train g2p-bytes: a T5 over bytes (ByT5's tokenizer) that pronounces English words.

Its words, their split and what it learns are those of g2p-small: `train_g2p_small.py label` writes taught.tsv.

    python3 train_g2p_bytes.py MINUTES tests/data/g2p/valid.tsv examples/models/g2p-bytes

reads taught.tsv and writes the checkpoint. MINUTES are of one CPU: after them the learning rate is zero. Every 200
steps the script saves its state in state.pt of the folder. If that file exists, the script goes on from there, and
MINUTES may be others. Needs torch and transformers.
"""
import math
import os
import random
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from transformers import T5Config, T5ForConditionalGeneration

import train_g2p_small

PAD, END, FIRST_BYTE = 0, 1, 3
PEAK_RATE, WARM_UP, TOKENS_A_BATCH = 3e-3, 300, 4000
MAX_TARGET_BYTES = 63  # the longest pronunciation that is taught has 59


def ids_of(text):
    return [byte + FIRST_BYTE for byte in text.encode()] + [END]


def new_model():
    model = T5ForConditionalGeneration(T5Config(
        vocab_size=384, d_model=128, d_kv=32, num_heads=4, d_ff=256, num_layers=3, num_decoder_layers=2,
        relative_attention_num_buckets=32, relative_attention_max_distance=64, feed_forward_proj='gated-gelu',
        dropout_rate=0.0, tie_word_embeddings=True, tokenizer_class='ByT5Tokenizer', pad_token_id=PAD, eos_token_id=END,
        decoder_start_token_id=PAD, n_positions=128, license='BSD-2-Clause', attribution='Trained on CMUdict, '
        'Copyright (C) 1993-2015 Carnegie Mellon University (LICENSE.cmudict)'))
    model.generation_config.max_length = 1 + MAX_TARGET_BYTES + 1  # start and end
    model.generation_config.forced_eos_token_id = END
    for part in model.modules():
        if hasattr(part, 'wi_0'):
            part.act = nn.GELU(approximate='tanh')  # gelu_new in one pass
    return model


def loss_of(model, batch):
    source = train_g2p_small.padded([source for source, _ in batch])
    target = train_g2p_small.padded([target for _, target in batch])
    given = F.pad(target[:, :-1], (1, 0), value=PAD)
    logits = model(input_ids=source, attention_mask=source.ne(PAD), decoder_input_ids=given, use_cache=False).logits
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=0.03)


@torch.no_grad()
def word_errors(model, pairs):
    """Per cent of the words whose greedy result is none of their pronunciations."""
    wrong = 0
    for k in range(0, len(pairs), 512):
        source = train_g2p_small.padded([ids_of(word) for word, _ in pairs[k:k + 512]])
        results = model.generate(input_ids=source, attention_mask=source.ne(PAD))
        for row, (_, right) in zip(results.tolist(), pairs[k:k + 512]):
            text = bytes(i - FIRST_BYTE for i in row if FIRST_BYTE <= i < FIRST_BYTE + 256).decode(errors='replace')
            wrong += text not in right.split(' | ')
    return 100 * wrong / len(pairs)


def train(minutes, validation, folder):
    torch.manual_seed(7)
    random.seed(7)
    torch.set_num_threads(1)
    train_g2p_small.TOKENS_A_BATCH = TOKENS_A_BATCH
    pairs = [tuple(map(ids_of, line.rstrip('\n').split('\t'))) for line in open('taught.tsv')]
    valid = [line.rstrip('\n').split('\t') for line in open(validation)]
    model = new_model()
    print(sum(p.numel() for p in model.parameters()), 'parameters', len(pairs), 'pairs', flush=True)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    average, step, used, losses = None, 0, 0.0, []
    state = os.path.join(folder, 'state.pt')
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(state):
        saved = torch.load(state, weights_only=True)
        model.load_state_dict(saved['model'])
        optimizer.load_state_dict(saved['optimizer'])
        average, step, used = saved['average'], saved['step'], saved['used']
        random.seed(7 + step)
    done, begin = 0.0, time.process_time() - used  # the part of the time that is over
    while done < 1:
        for batch in train_g2p_small.batches(pairs):
            step += 1
            done = min(1, (time.process_time() - begin) / 60 / minutes)
            if done >= 1:
                break
            rate = PEAK_RATE * min(step / WARM_UP, 0.5 * (1 + math.cos(math.pi * done)))
            losses.append(train_g2p_small.descend(model, optimizer, rate, loss_of(model, batch)))
            if done > 0.85:  # the mean of the last weights is better than the last
                if average is None:
                    average = {name: value.clone() for name, value in model.state_dict().items()}
                for name, value in model.state_dict().items():
                    average[name].lerp_(value, 0.01)
            if step % 200 == 0:
                used = time.process_time() - begin
                print(f'step {step} loss {sum(losses) / len(losses):.4f} {used:.0f} CPU s', flush=True)
                losses = []
                torch.save({'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'average': average,
                            'step': step, 'used': used}, state + '.new')
                os.replace(state + '.new', state)
    model.load_state_dict(average or model.state_dict())
    model.eval()
    print(f'word errors {word_errors(model, valid):.2f} %')
    model.half().save_pretrained(folder)


if __name__ == '__main__':
    train(float(sys.argv[1]), *sys.argv[2:])
