# SPDX-License-Identifier: Apache-2.0
"""Train lines: a ViT with TrOCR's decoder that reads the digits of an image, for microcontrollers.

    apt-get install fonts-dejavu-core
    python3 train_lines.py train MINUTES examples/models/lines
    python3 train_lines.py render COUNT SEED FOLDER

`train` writes the checkpoint; after MINUTES of the clock the learning rate is zero. `render` writes images, their list
for `goldcrest-convert --evaluate`, and the first three as tests/boards/image_test.cc takes them. Training measures the
2,000 images of seed 1. Needs Pillow and numpy, and to train torch and transformers.
"""
import functools
import json
import math
import pathlib
import random
import sys
import time

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS, NAMES = '/usr/share/fonts/truetype/dejavu/DejaVu{}.ttf', 'Sans Sans-Bold SansMono SansMono-Bold Serif Serif-Bold'
HEIGHT, WIDTH, MOST_DIGITS, HELD_OUT, HELD_OUT_SEED = 32, 128, 10, 2000, 1
ENTRIES = ['<s>', '<pad>', '</s>', '<unk>', *'0123456789']
PAD, END, FIRST_DIGIT = 1, 2, 4
COLUMN, BATCH, POOL, FRESH, PEAK_RATE, WARM_UP = 4, 64, 4096, 16, 3e-3, 150
font_of = functools.cache(lambda name, size: ImageFont.truetype(FONTS.format(name), size))


def render(draw):
    """Returns an image of 1 to 10 digits, 28 to 64 pixels high and four times as wide, its text, and for each column of
    patches the number of its digit, from 1; 0 is none."""
    text = ''.join(draw.choices('0123456789', k=draw.randint(1, MOST_DIGITS)))
    height, paper = draw.randint(28, 64), draw.randint(160, 255)
    font = font_of(draw.choice(NAMES.split()), round(height * draw.uniform(0.48, 0.54)))
    left, top, _, bottom = font.getbbox(text)
    x, y = draw.uniform(0.05, 0.22) * height, draw.uniform(0.35, 0.65) * (height - bottom + top)
    image = Image.new('L', (4 * height, height), paper)
    ImageDraw.Draw(image).text((x - left, y - top), text, draw.randint(0, paper - 100), font)
    image = image.rotate(draw.uniform(-1, 1), Image.Resampling.BILINEAR, fillcolor=paper)
    if draw.random() < 0.4:
        image = image.filter(ImageFilter.GaussianBlur(draw.uniform(0.3, 0.03 * height)))
    noise = numpy.random.default_rng(draw.getrandbits(32)).normal(0, draw.uniform(0, 12), (height, 4 * height))
    edges = [(x - left + font.getlength(text[:i])) * WIDTH / (4 * height) for i in range(len(text) + 1)]
    numbers = numpy.searchsorted(edges, numpy.arange(0.5, WIDTH // COLUMN) * COLUMN) % (len(text) + 1)
    return Image.fromarray((numpy.asarray(image) + noise).clip(0, 255).astype(numpy.uint8)), text, numbers


def render_folder(count, seed, folder):
    draw, folder = random.Random(int(seed)), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made = [render(draw) for _ in range(int(count))]
    for i, (image, *_) in enumerate(made):
        image.save(folder / f'{i}.png', optimize=True)
    (folder / 'lines.tsv').write_text(''.join(f'{i}.png\t{text}\n' for i, (_, text, _) in enumerate(made)))
    (folder / 'packed.raw').write_bytes(b''.join(
        numpy.array(image.size, '<u2').tobytes() + image.tobytes() for image, *_ in made[:3]))


def new_model():
    import transformers
    encoder = transformers.ViTConfig(
        hidden_size=64, num_hidden_layers=3, num_attention_heads=4, intermediate_size=192, hidden_act='relu',
        image_size=[HEIGHT, WIDTH], patch_size=[HEIGHT, COLUMN], num_channels=1, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0)
    decoder = transformers.TrOCRConfig(
        vocab_size=len(ENTRIES), d_model=64, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=192,
        activation_function='relu', max_position_embeddings=MOST_DIGITS + 2, cross_attention_hidden_size=64,
        dropout=0.0)
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.license, config.attribution = 'Apache-2.0', 'Trained on digits of the DejaVu fonts'
    ids = {'pad_token_id': PAD, 'eos_token_id': END, 'decoder_start_token_id': END}
    config.update(ids)
    model = transformers.VisionEncoderDecoderModel(config)
    model.generation_config = transformers.GenerationConfig(max_length=MOST_DIGITS + 2, forced_eos_token_id=END, **ids)
    return model


def save(model, folder):
    model.half().save_pretrained(folder)
    settings = {'image_processor_type': 'ViTImageProcessor', 'size': {'height': HEIGHT, 'width': WIDTH}, 'resample': 2,
                'image_mean': [0.5], 'image_std': [0.5]}
    vocabulary = {entry: i for i, entry in enumerate(ENTRIES)}
    for name, values in {'preprocessor_config.json': settings, 'vocab.json': vocabulary}.items():
        (pathlib.Path(folder) / name).write_text(json.dumps(values, indent=1) + '\n')


def edits(found, text):
    row = list(range(len(text) + 1))
    for i, a in enumerate(found):
        diagonal, row[0] = row[0], i + 1
        for j, b in enumerate(text):
            diagonal, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, diagonal + (a != b))
    return row[-1]


def rendered(draw, n):
    """Renders, with the pixels that ViTImageProcessor makes of images with the settings of `save`."""
    return [(numpy.asarray(image.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)), *rest)
            for image, *rest in (render(draw) for _ in range(n))]


def train(minutes, folder):
    import torch
    torch.manual_seed(7)
    torch.set_num_threads(1)

    def tensor_of(images):
        return (torch.from_numpy(numpy.stack(images)).float() / 127.5 - 1)[:, None]

    def loss_of(images, texts, numbers):
        rows = [[*map(ENTRIES.index, text), END] + [PAD] * (MOST_DIGITS - len(text)) for text in texts]
        target = torch.tensor(rows)
        given = torch.nn.functional.pad(target[:, :-1], (1, 0), value=END)
        output = model(pixel_values=tensor_of(images), decoder_input_ids=given, use_cache=False)
        loss = torch.nn.functional.cross_entropy(output.logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
        # While it trains, each row of a patch tells its digit and the digit's number, too. So it learns in minutes.
        numbers = torch.from_numpy(numpy.stack(numbers))
        digits = torch.nn.functional.pad(target, (1, 0), value=0).gather(1, numbers)
        told = heads(output.encoder_last_hidden_state[:, 1:]).flatten(0, 1).split(len(ENTRIES), 1)
        return loss + sum(map(torch.nn.functional.cross_entropy, told, (digits.flatten(), numbers.flatten())))

    draw = random.Random(7)
    pool, heads = rendered(draw, POOL), torch.nn.Linear(64, 2 * len(ENTRIES))
    model, average, losses, begin, step, done = new_model(), None, [], time.time(), 0, 0.0
    print(sum(p.numel() for p in model.parameters()), 'parameters', flush=True)
    optimizer = torch.optim.Adam([*model.parameters(), *heads.parameters()], betas=(0.9, 0.98), eps=1e-9)
    while done < 1:
        step, done = step + 1, min(1, (time.time() - begin) / 60 / float(minutes))
        for group in optimizer.param_groups:
            group['lr'] = PEAK_RATE * min(step / WARM_UP, 0.5 * (1 + math.cos(math.pi * done)))
        place = step * FRESH % POOL
        pool[place:place + FRESH] = rendered(draw, min(FRESH, POOL - place))
        loss = loss_of(*zip(*draw.sample(pool, BATCH)))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if done > 0.85:  # the mean of the last weights is better than the last
            average = average or {name: value.clone() for name, value in model.state_dict().items()}
            for name, value in model.state_dict().items():
                average[name].lerp_(value, 0.01)
        if step % 200 == 0:
            print(f'step {step} loss {sum(losses) / len(losses):.4f} {time.time() - begin:.0f} s', flush=True)
            losses = []
    model.load_state_dict(average)
    model.eval()
    images, texts, _ = zip(*rendered(random.Random(HELD_OUT_SEED), HELD_OUT))
    found = [[ENTRIES[i] for i in row if i >= FIRST_DIGIT] for row in model.generate(tensor_of(images)).tolist()]
    print(f'character errors {100 * sum(map(edits, found, texts)) / len("".join(texts)):.3f} %')
    save(model, folder)


if __name__ == '__main__':
    {'render': render_folder, 'train': train}[sys.argv[1]](*sys.argv[2:])
