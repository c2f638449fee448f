# SPDX-License-Identifier: Apache-2.0
"""A random MarianMTModel, its folder, and the results of transformers' own generate."""

import copy
import json
import pathlib
import random

import torch
from transformers import MarianConfig, MarianMTModel

import containers
import generation_settings
import random_checkpoints
from python_search import Rules


# transformers ignores these in config.json if there is a generation_config.json.
DECOYS = {"num_beams": 7, "length_penalty": 3.0, "min_length": 5, "no_repeat_ngram_size": 1, "do_sample": True}


class Live:
    """A module in its own type of numbers, for the Python search."""

    def __init__(self, model: MarianMTModel):
        self.model = model

    def encode(self, source: list[int]):
        with torch.no_grad():
            return self.model.model.encoder(torch.tensor([source])).last_hidden_state

    def logits(self, encoded, prefixes: list[tuple[int, ...]]) -> torch.Tensor:
        with torch.no_grad():
            return self.model(encoder_outputs=(encoded.expand(len(prefixes), -1, -1),),
                              decoder_input_ids=torch.tensor(prefixes), use_cache=False).logits[:, -1]


class Marian:
    family = "Marian"

    def __init__(self, seed: int, folder: pathlib.Path, skipped: set[str]):
        self.draw, self.folder = random.Random(seed), folder
        draw = self.draw
        generator = torch.Generator().manual_seed(seed)
        d_model, heads = random_checkpoints.width(draw, even=True)
        divisors = [n for n in range(1, 9) if d_model % n == 0]
        source_size, shared = draw.randint(12, 150), draw.random() < 0.6
        target_size = source_size if shared else draw.randint(12, 150)
        smaller = min(source_size, target_size)
        end, pad, unknown = draw.sample(range(smaller), 3)
        start = draw.choice([pad, pad, draw.randrange(smaller)])
        ties = [name for name in (True, False) if not (name is False and shared and "untied_shared" in skipped)]
        config = MarianConfig(
            vocab_size=source_size, decoder_vocab_size=target_size, d_model=d_model,
            encoder_layers=draw.randint(1, 3), decoder_layers=draw.randint(1, 3),
            encoder_attention_heads=heads, decoder_attention_heads=draw.choice([heads, *divisors]),
            encoder_ffn_dim=draw.randint(1, 70), decoder_ffn_dim=draw.randint(1, 70),
            activation_function=draw.choice(["relu", "gelu", "gelu_new", "silu", "swish", "gelu_pytorch_tanh"]),
            scale_embedding=draw.random() < 0.5, share_encoder_decoder_embeddings=shared,
            tie_word_embeddings=draw.choice(ties), max_position_embeddings=draw.randint(10, 64),
            pad_token_id=pad, eos_token_id=end, bos_token_id=None, decoder_start_token_id=start,
            forced_eos_token_id=None)
        self.config, self.vocab_size = config, target_size
        model = MarianMTModel(config).eval()
        model.tie_weights()
        random_checkpoints.randomize(model, generator)
        self.expected = ()  # words that the warnings must have
        if shared and not config.tie_word_embeddings:
            self.expected += ("is not used: the encoder and the decoder have tables of their own",)
        own_positions = draw.random() < 0.1
        if not own_positions:
            for stack in (model.model.encoder, model.model.decoder):
                stack.embed_positions.weight.data.copy_(stack.embed_positions.create_weight())
        else:
            self.expected += ("is not the table of sinusoids",)
        if config.vocab_size > target_size:  # where transformers takes a source's id for one of the target, and fails
            skipped = skipped | {"encoder_no_repeat_ngram_size"}
        self.settings, self.warned = generation_settings.draw_settings(
            generation_settings.Draw(draw, target_size, config.max_position_embeddings, end, pad), skipped)
        ends = self.settings["eos_token_id"]
        random_checkpoints.end_sometimes(model.final_logits_bias, ends if isinstance(ends, list) else [ends], draw,
                                         generator)
        places = ["generation_config.json"] * 3 + ["config.json", "decoys"]
        self.place = draw.choice([place for place in places if place not in skipped])
        if self.place == "decoys":
            self.expected += ("ignored, as in transformers",)
        self.container = draw.choice(list(containers.CONTAINERS))
        self.stored = draw.choice(["float32", "float32", "float16", "bfloat16"])
        self._write(model, own_positions, {"</s>": end, "<pad>": pad, "<unk>": unknown})
        self.model = MarianMTModel.from_pretrained(folder / "reference", dtype=torch.float32).eval()
        self.sources = random_checkpoints.random_sources(draw, source_size, end, config.max_position_embeddings, 4)
        self.processors = None

    def describe(self) -> str:
        c = self.config
        return (f"d_model {c.d_model}, heads {c.encoder_attention_heads} {c.decoder_attention_heads}, layers "
                f"{c.encoder_layers} + {c.decoder_layers}, {c.activation_function}, vocabularies {c.vocab_size} "
                f"{c.decoder_vocab_size}, shared {c.share_encoder_decoder_embeddings}, tied {c.tie_word_embeddings}, "
                f"{self.container} {self.stored}, in {self.place}: {json.dumps(self.settings)}")

    def _write(self, model: MarianMTModel, own_positions: bool, special: dict[str, int]) -> None:
        model = model.to(containers.TYPES[self.stored])
        state = model.state_dict()
        if not own_positions and self.draw.random() < 0.5:  # as newer versions save it
            state = {name: value for name, value in state.items() if "embed_positions" not in name}
        config = self.config.to_dict()
        config["architectures"] = ["MarianMTModel"]
        reference = self.folder / "reference"  # what transformers can read, whatever the container
        reference.mkdir(parents=True)
        settings = {"decoder_start_token_id": config["decoder_start_token_id"], **self.settings}
        for folder in (self.folder, reference):
            if self.place == "config.json":
                (folder / "config.json").write_text(json.dumps({**config, **settings}))
                continue
            (folder / "generation_config.json").write_text(json.dumps(settings))
            (folder / "config.json").write_text(json.dumps({**config, **DECOYS} if self.place == "decoys" else config))
        containers.save(state, reference, "safetensors", ("model.safetensors", "pytorch_model.bin"), self.draw)
        self.state = state
        self.write_weights()
        random_checkpoints.write_tokenizers(self.folder, self.config.vocab_size, self.vocab_size, special,
                                            separate=not self.config.share_encoder_decoder_embeddings)

    def write_weights(self) -> None:
        containers.save(self.state, self.folder, self.container, ("model.safetensors", "pytorch_model.bin"), self.draw)

    def default_beams(self) -> int:
        return self.settings.get("num_beams", 1)

    def generate(self, source: list[int], beams: int) -> list[int]:
        """Returns transformers' ids without the start, up to the end. Keeps the processors that it used."""
        original = self.model._get_logits_processor

        def keep(*arguments, **named):
            self.processors = original(*arguments, **named)
            return self.processors

        self.model._get_logits_processor = keep
        try:
            ids = self.model.generate(torch.tensor([source]), num_beams=beams)[0].tolist()[1:]
        finally:
            del self.model._get_logits_processor
        ends = self.rules(beams).ends
        last = next((i for i, token in enumerate(ids) if token in ends), len(ids) - 1)
        return ids[:last + 1]

    def rules(self, beams: int) -> Rules:
        ends = self.settings["eos_token_id"]
        return Rules(start=self.config.decoder_start_token_id, ends=ends if isinstance(ends, list) else [ends],
                     most=self.settings.get("max_new_tokens", self.settings["max_length"] - 1), beams=beams,
                     length_penalty=self.settings.get("length_penalty", 1.0),
                     early_stopping=self.settings.get("early_stopping", False), processors=list(self.processors or []))

    def live(self) -> Live:
        return Live(self.model)

    def exact(self) -> Live:
        return Live(copy.deepcopy(self.model).double())
