# SPDX-License-Identifier: Apache-2.0
"""Random TrOCRs and manga-ocrs: the float32 files' layers and results are those of transformers.

    python tests/peers/images.py --build build/host --work FOLDER [--models 200] [--seed 1] [--only NUMBER]
        [--record tests/data/images.json]

Encoders are ViT's and DeiT's, two of five decoders BERT's. Images and patches are not square, in colours or in grey.
Pixels come from transformers' processors with Pillow, and images are of any size. `--check` compares every layer for
the first image, and the ids of all. goldcrest-read must print transformers' texts for the images as PNG. Different
results are a tie if the best two differ by less than 1e-3; ties are printed. Exit status 1 for another departure, and
for ties in more than 0.5 % of the searches. --record packs four of the models, with the pixels and what transformers
computed, and files of each kind with Pillow's pixels: {FOLDER: {FILE: its bytes in hexadecimal}}."""

import json
import pathlib
import random
import shutil
from collections import Counter

import numpy
import torch
import transformers
from PIL import Image, ImageOps
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import product
import speech
from generation_settings import Draw, WARNED, draw_settings
from random_checkpoints import Trace
from speech_equality import closest_cut, compare, converted, numbers_of, run

IMAGES, RECORDED = 4, [20003, 20025, 20042, 20059]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "[UNK]", "[PAD]", "[SEP]", "[CLS]"]
NOT_DRAWN = {*WARNED, "encoder_no_repeat_ngram_size", "eos_token_id"}
# With these, texts of a random BERT are the same ids in another order, which are ties.
NOT_OF_BERT = {"no_repeat_ngram_size", "repetition_penalty", "sequence_bias"}


def texts_of(draw: random.Random, is_bert: bool) -> tuple[list[str], dict]:
    """Returns the entries of a vocabulary, and the files of its tokenizer."""
    if is_bert:
        entries = [*SPECIAL[5:], *(f"{draw.choice(['', '##'])}\u6587{i}" for i in range(draw.randint(20, 200)))]
        return entries, {"vocab.txt": "".join(entry + "\n" for entry in entries)}
    special, words = SPECIAL[:4], [f"w{i}" for i in range(draw.randint(20, 200))]
    if draw.random() < 0.5:
        entries = [*special, *speech.byte_characters(), *(f"\u0120{word}" for word in words), "<mask>"]
        return entries, {"vocab.json": {entry: i for i, entry in enumerate(entries)}}
    space = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}
    entries = [*special, *(f"\u2581{word}" for word in words), *(f"{word}x" for word in words)]
    return entries, {"tokenizer.json": {
        "added_tokens": [{"id": i, "content": entry, "special": True, "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False} for i, entry in enumerate(special)],
        "normalizer": None, "decoder": space,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]},
        "model": {"type": "Unigram", "unk_id": 3, "vocab": [[entry, -1.0 - i] for i, entry in enumerate(entries)]}}}


def text_of(entries: list[str], ids: list[int]) -> str:
    shown = "".join(entries[i].removeprefix("##") for i in ids if i < len(entries) and entries[i] not in SPECIAL)
    if "<mask>" not in entries:
        return shown.replace("\u2581", " ")
    return bytes(speech.byte_characters().index(character) for character in shown).decode("utf-8", "replace")


def readable(text: str) -> str:
    """Returns the text without what a line shows in another way: spaces, control characters, bytes."""
    return "".join(character for character in text if character > " " and character not in "\x7f\ufffd")


def processor_of(draw: random.Random, height: int, width: int, colours: int):
    numbers = {"image_mean": [draw.uniform(0.3, 0.6) for _ in range(colours)],
               "image_std": [draw.uniform(0.2, 0.6) for _ in range(colours)], "resample": draw.choice([2, 3])}
    if draw.random() < 0.5:
        return ViTImageProcessorPil(size={"height": height, "width": width}, **numbers)
    size = {"height": height + draw.randint(0, 40), "width": width + draw.randint(0, 41)}
    return DeiTImageProcessorPil(size=size, crop_size={"height": height, "width": width}, **numbers)


def made_model(draw: random.Random, seed: int, folder: pathlib.Path) -> tuple:
    """Writes a checkpoint. Returns transformers' model of the file, its processor, its entries and its end."""
    heads, patch = draw.choice([1, 2, 3]), [draw.choice([4, 8, 12]), draw.choice([4, 6, 16])]
    colours = draw.choice([1, 3, 3])
    size = [patch[0] * draw.randint(1, 4), patch[1] * draw.randint(1, 6)]
    d_encoder, d_decoder = heads * draw.choice([8, 12, 20]), draw.choice([2, 4]) * draw.choice([6, 8, 10])
    is_bert = seed % 5 in (1, 4)
    entries, files = texts_of(draw, is_bert)
    kind = draw.choice([transformers.ViTConfig, transformers.DeiTConfig])
    encoder = kind(hidden_size=d_encoder, num_hidden_layers=draw.randint(1, 2), num_attention_heads=heads,
                   intermediate_size=draw.randint(8, 60), hidden_act=draw.choice(["gelu", "relu"]), image_size=size,
                   patch_size=patch, num_channels=colours, qkv_bias=draw.random() < 0.7)
    decoder = transformers.TrOCRConfig(
        vocab_size=len(entries) + draw.choice([0, 3]), d_model=d_decoder, decoder_layers=draw.randint(1, 2),
        decoder_attention_heads=2, decoder_ffn_dim=draw.randint(8, 60), max_position_embeddings=draw.randint(24, 40),
        activation_function=draw.choice(["gelu", "relu"]), scale_embedding=draw.random() < 0.5,
        use_learned_position_embeddings=draw.random() < 0.6, layernorm_embedding=draw.random() < 0.7,
        tie_word_embeddings=draw.random() < 0.5, cross_attention_hidden_size=d_encoder, decoder_start_token_id=2)
    if is_bert:
        decoder = transformers.BertConfig(
            vocab_size=decoder.vocab_size, hidden_size=d_encoder, num_attention_heads=heads, num_hidden_layers=2,
            intermediate_size=44, max_position_embeddings=decoder.max_position_embeddings, hidden_act="gelu")
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.decoder_start_token_id = config.eos_token_id = 2
    config.pad_token_id = 1
    model = transformers.VisionEncoderDecoderModel(config)
    speech.fill(model, seed)
    for name, parameter in model.named_parameters():
        if "encoder_attn.o" in name:
            parameter.data *= 6  # what is seen decides
        if "bert.embeddings" in name and "LayerNorm" not in name:
            parameter.data *= 6  # or orders of ids make ties
        if "bert" in name and ".attention.output.dense.weight" in name:
            parameter.data *= 3
    settings, _ = draw_settings(Draw(draw, len(entries), decoder.max_position_embeddings - 2, 2, 1),
                                NOT_DRAWN | (NOT_OF_BERT if is_bert else set()))
    settings |= {"decoder_start_token_id": 2} | ({"bad_words_ids": [[1]]} if is_bert else {})
    processor = processor_of(draw, *size, colours)
    model = speech.store(model, {"generation_config.json": settings, **{file: content for file, content in files.items()
                                                                        if file.endswith(".json")}}, folder)
    processor.save_pretrained(folder)
    if is_bert:
        (folder / "vocab.txt").write_text(files["vocab.txt"], encoding="utf-8")
        return model, processor, entries, settings
    positions = model.decoder.model.decoder.embed_positions
    if not decoder.use_learned_position_embeddings:  # which transformers 5.24 leaves without values
        positions.weights = positions.get_embedding(decoder.max_position_embeddings + 2, d_decoder, 1)
    return model, processor, entries, settings


def image_of(draw: random.Random, seed: int, colours: int) -> Image.Image:
    """Noise of large and small squares, of any size."""
    noise, shape = numpy.random.default_rng(seed), [draw.choice([1, 7, 31, 90, 211]), draw.choice([1, 5, 40, 133, 320])]
    coarse = noise.integers(0, 256, [-(-side // 8) for side in shape] + [colours])
    pixels = numpy.kron(coarse, numpy.ones((8, 8, 1)))[:shape[0], :shape[1]]
    pixels = (pixels + noise.integers(-30, 30, [*shape, colours])).clip(0, 255).astype(numpy.uint8)
    return Image.fromarray(pixels if colours == 3 else pixels[..., 0])


def rows_of(pixels: torch.Tensor, model) -> torch.Tensor:
    """The rows of the engine: zeros for the tokens, then the patches."""
    projection = model.encoder.embeddings.patch_embeddings.projection
    patches = torch.nn.functional.unfold(pixels, projection.kernel_size, stride=projection.kernel_size)[0].T
    tokens = model.encoder.embeddings.position_embeddings.shape[1] - len(patches)
    return torch.cat([torch.zeros(tokens, patches.shape[1]), patches])


def check_model(options, seed: int, counts: Counter) -> list[str]:
    """Returns what departs from transformers."""
    draw, folder, file = random.Random(seed), options.work / str(seed), options.work / f"{seed}.gcst"
    model, processor, entries, settings = made_model(draw, seed, folder)
    colours = model.config.encoder.num_channels
    images = [image_of(draw, seed + i, colours) for i in range(IMAGES)]
    lines, rows, pixels_of, beams = [], [], [], settings.get("num_beams", 1)
    for i, image in enumerate(images):
        array = numpy.asarray(image).reshape(image.height, image.width, colours)
        pixels = processor(array, return_tensors="pt", input_data_format="channels_last").pixel_values
        pixels_of.append(pixels)
        rows.append(rows_of(pixels, model))
        lines.append({"samples": rows[-1].numel()})
        for size in sorted({1, 4, beams}):
            ids = model.generate(pixels, num_beams=size)[0].tolist()[1:]
            lines[-1]["greedy" if size == 1 else f"beam{size}"] = ids[:ids.index(2) + 1] if 2 in ids else ids
        if i == 0:
            trace = Trace()
            trace.keep_stack("encoder", model.encoder.layers, model.encoder.layernorm)
            is_bert = hasattr(model.decoder, "bert")
            trace.keep_stack(
                "decoder", model.decoder.bert.encoder.layer if is_bert else model.decoder.model.decoder.layers, None)
            made = trace.rows_along(model, pixels, [2, *lines[0]["greedy"][:-1]])
            speech.save_file({name: value.contiguous() for name, value in made.items()}, folder / "trace.safetensors")
        image.save(options.work / f"{i}.png")
        if options.record:
            numpy.save(folder / f"{i}.npy", array)
    report = converted(options, folder, file, torch.cat(rows).flatten().numpy(), lines)

    def printed(source: int, size: int, ids: list[int]) -> tuple[str, str]:
        made = product.attempt(options.build / "examples/goldcrest-read", file, options.work / f"{source}.png",
                               *([] if size == beams else ["--beam-size", size]))
        return readable(made.stderr if made.returncode else made.stdout), readable(text_of(entries, ids))

    counts["models"] += 1
    departures = compare(seed, lines, report, counts, printed, lambda source, size: closest_cut(
        model, 2, size, lambda: model.generate(pixels_of[source], num_beams=size)))
    if not departures and not options.record:
        shutil.rmtree(folder), file.unlink()
    return departures


def write_files(folder: pathlib.Path) -> None:
    """Writes files of all kinds, and NAME.npy with the pixels of those that goldcrest-read reads."""
    pixels = numpy.random.default_rng(5).integers(0, 256, [5, 7, 4]).astype(numpy.uint8)
    clear = Image.fromarray(pixels)
    colour = Image.fromarray(numpy.kron(pixels[..., :3], numpy.ones((8, 8, 1), numpy.uint8)))
    files = {"clear.png": clear, "palette.png": clear.quantize(9), "pair.png": clear.convert("LA"), "photo.jpg": colour}
    files |= {"bits.png": colour.convert("1"), "grey.png": colour.convert("L"), "grey.jpg": colour.convert("L")}
    for name, image in files.items():
        image.save(folder / name)
    for i in range(10):
        exif = Image.Exif()
        exif[274] = i
        colour.save(folder / f"turned{i}.{'png' if i % 3 else 'jpg'}", exif=exif)
    for path in [*folder.iterdir()]:
        image = ImageOps.exif_transpose(Image.open(path))
        mode = "RGBA" if image.mode[0] in "LP" and image.mode != "L" or image.mode == "RGBA" else image.mode
        shown = numpy.asarray(image.convert(mode.replace("1", "L")))
        numpy.save(folder / (path.name + ".npy"), numpy.atleast_3d(shown))
    Image.fromarray(pixels[..., 0].astype(numpy.uint16) * 256 + 99).save(folder / "deep.png")
    numpy.save(folder / "deep.png.npy", pixels[..., :1])
    colour.convert("CMYK").save(folder / "print.jpg")
    Image.new("1", (10000, 10000)).save(folder / "large.png")
    Image.new("1", (70000, 1)).save(folder / "wide.png")


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, models=200, seed=1, only=int, record=pathlib.Path))
    run(options, check_model, RECORDED if options.record else numbers_of(options))
    if options.record:
        write_files(product.emptied(options.work / "files"))
        packed = product.packed(options.work / folder for folder in ["files", *map(str, RECORDED)])
        options.record.write_text(json.dumps(packed) + "\n")


if __name__ == "__main__":
    main()
