# SPDX-License-Identifier: Apache-2.0
"""Compares the searches of a family's float32 file with transformers' generate and CTranslate2 (families.py, t5.py).
Ids that differ must be a tie: the Python search in float64 gives both results if its scores are off by roundings."""

import copy
import json
import pathlib
import sys
import types
from collections import Counter

import torch
from transformers import ForcedBOSTokenLogitsProcessor, ForcedEOSTokenLogitsProcessor, SuppressTokensLogitsProcessor

import product
from python_search import Memory, Rules, are_ties

MAX_LENGTH = 18  # the start token included
LEAST_EQUAL = 0.998
CLOSE = 1e-3  # of scores
# CTranslate2 has no loader for the others.
IN_CTRANSLATE2 = "bart mbart mbart50 pegasus m2m100 nllb t5 flan mt5 umt5 byt5 madlad".split()
Found = tuple[list[int], float]  # ids and their score


def without_end(ids: list[int], end: int) -> list[int]:
    return ids[:ids.index(end)] if end in ids else ids


def converted(options, folder: pathlib.Path, *given: str) -> pathlib.Path:
    """Returns the float32 file of a folder."""
    file = folder / "model.gcst"
    product.convert(options, folder, file, *given)
    return file


def translate(options, file: pathlib.Path, text: str, *given: str) -> list[str]:
    lines = product.translate(options, file, *given, text=text).splitlines()
    if len(lines) != text.count("\n"):
        sys.exit(f"{file.parent.name}: {len(lines)} results, expected {text.count(chr(10))}")
    return lines


def results_of(options, file: pathlib.Path, sources: list[list[int]], beams: int) -> list[Found]:
    return [(ids, score) for [(score, ids)] in product.search(options, file, sources, "--beam-size", beams)]


def forced_ids(model, n: int, choice: dict) -> list[int]:
    """Returns the places of n generated ids that are forced: they add nothing to a score and count in its length."""
    ends = model.generation_config.forced_eos_token_id is not None
    return [i for i in range(n) if i == 0 and "forced_bos_token_id" in choice or i + 2 == MAX_LENGTH and ends]


def mean_score(model, logits: list[torch.Tensor], ids: list[int], choice: dict) -> float:
    """Returns the mean log-probability before the rules."""
    forced = forced_ids(model, len(ids), choice)
    values = [torch.log_softmax(row.double(), -1)[token].item() for row, token in zip(logits, ids)]
    return sum(value for i, value in enumerate(values) if i not in forced) / len(ids)


def scored(model, source: list[int], beams: int, choice: dict) -> Found:
    """Returns the ids of generate and their score."""
    with torch.no_grad():
        found = model.generate(torch.tensor([source]), num_beams=beams, do_sample=False, output_scores=True,
                               output_logits=True, return_dict_in_generate=True, **choice)
    ids = found.sequences[0].tolist()[1:]
    if beams > 1:
        return ids, float(found.sequences_scores[0])
    return ids, mean_score(model, [row[0] for row in found.logits], ids, choice)


def norm_of_t5(self, hidden: torch.Tensor) -> torch.Tensor:
    """T5's norm in the type of its input; transformers computes the variance in float32."""
    return self.weight * hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)


class Exact:
    """A model in float64, for the Python search."""

    def __init__(self, model):
        self.model = copy.deepcopy(model).double()
        for module in self.model.modules():
            if hasattr(module, "variance_epsilon"):
                module.forward = types.MethodType(norm_of_t5, module)

    def encode(self, source: list[int]) -> tuple:
        with torch.no_grad():
            return source, self.model.get_encoder()(torch.tensor([source])).last_hidden_state

    def logits(self, encoded: tuple, prefixes: list[tuple[int, ...]]) -> torch.Tensor:
        (source, rows), n = encoded, len(prefixes)
        with torch.no_grad():  # FSMT makes its causal mask only if it also gets the source
            return self.model(torch.tensor([source] * n), encoder_outputs=(rows.expand(n, -1, -1),),
                              decoder_input_ids=torch.tensor(prefixes), use_cache=False).logits[:, -1]


class Peer:
    """A family's model, its choice of a language (options of generate), and how departures are looked at."""

    def __init__(self, name: str, model, choice: dict):
        self.name, self.model, self.choice, self.exact = name, model, choice, None

    def rules(self, beams: int, of_ctranslate2: bool) -> Rules:
        """Returns those of generate or of CTranslate2, whose soft-max is over what may be chosen."""
        settings, processors = self.model.generation_config, []
        if settings.suppress_tokens:
            processors.append(SuppressTokensLogitsProcessor(settings.suppress_tokens))
        if "forced_bos_token_id" in self.choice:
            processors.append(ForcedBOSTokenLogitsProcessor(self.choice["forced_bos_token_id"]))
        if settings.forced_eos_token_id is not None:
            processors.append(ForcedEOSTokenLogitsProcessor(MAX_LENGTH, settings.forced_eos_token_id))
        if of_ctranslate2:
            processors.append(lambda _, scores: torch.log_softmax(scores, -1))
        start = self.choice.get("decoder_start_token_id", settings.decoder_start_token_id)
        return Rules(start=start, ends=[self.model.config.eos_token_id], most=MAX_LENGTH - 1, beams=beams,
                     length_penalty=1.0 if settings.length_penalty is None else settings.length_penalty,
                     early_stopping=of_ctranslate2 or settings.early_stopping or False, processors=processors)

    def is_tie(self, source: list[int], beams: int, results: list[list[int]], of_ctranslate2: bool = False) -> bool:
        """Returns whether the search in float64 can give all results, which end with the end token or at the limit."""
        self.exact = self.exact or Exact(self.model)
        return are_ties(Memory(self.exact, source), self.rules(beams, of_ctranslate2), results)

    def score_of(self, source: list[int], ids: list[int]) -> float:
        """Returns the score of given ids in float64."""
        memory, start = Memory(self.exact, source), self.rules(1, False).start
        return mean_score(self.model, [memory([(start, *ids[:i])])[0] for i in range(len(ids))], ids, self.choice)

    def compare(self, source: list[int], beams: int, found: Found, counts: Counter) -> None:
        """Compares a result with generate's; exits with a message unless they are equal or a tie."""
        (ids, score), (expected, expected_score) = found, scored(self.model, source, beams, self.choice)
        end = self.model.config.eos_token_id
        expected = [*without_end(expected, end), *[end] * (end in expected)]  # without padding
        counts["searches"] += 1
        is_close = abs(score - expected_score) < CLOSE
        if ids == expected and is_close:
            return
        if ids != expected and self.is_tie(source, beams, [ids, expected]):
            is_close = abs(score - self.score_of(source, ids)) < CLOSE
            print(f"{self.name}, beams {beams}, source {source}: a tie, {score} {ids}, "
                  f"transformers {expected_score} {expected}")
            counts["ties"] += 1
            if is_close:
                return
        sys.exit(f"{self.name}, beams {beams}, source {source}: goldcrest departs from transformers: {score} {ids}, "
                 f"transformers {expected_score} {expected}")


def ctranslate2_translator(name: str, model, folder: pathlib.Path, start: int):
    """CTranslate2 with the float32 weights of a folder; its token texts are t0, t1 ..."""
    import ctranslate2
    from ctranslate2.converters import TransformersConverter

    config = model.config

    class Names:
        pad_token, eos_token, unk_token = f"t{config.pad_token_id}", f"t{config.eos_token_id}", "t3"
        bos_token, special_tokens_map, num_madeup_words = f"t{start}", {}, 0

        def get_vocab(self) -> dict[str, int]:
            return {f"t{i}": i for i in range(config.vocab_size)}

        def convert_ids_to_tokens(self, i: int) -> str:
            return f"t{i}"

    class Converter(TransformersConverter):
        def load_tokenizer(self, *_, **__):
            return Names()

        def load_model(self, *given, **named):
            # Its loaders read settings of older transformers. That of T5 scales the logits wherever tables are tied.
            loaded = super().load_model(*given, **named)
            loaded.config.normalize_before = name != "bart"
            loaded.config.normalize_embedding = name in ("bart", "mbart", "mbart50")
            if hasattr(config, "feed_forward_proj"):
                loaded.config.tie_word_embeddings = getattr(config, "scale_decoder_outputs", name == "umt5")
            return loaded

    output = folder / "ctranslate2"
    Converter(str(folder)).convert(str(output), force=True)
    settings = json.loads((output / "config.json").read_text())
    (output / "config.json").write_text(json.dumps(settings | {"decoder_start_token": f"t{start}"}))
    return ctranslate2.Translator(str(output), intra_threads=1)


def compare_ctranslate2(peer: Peer, translator, sources: list[list[int]], found: list[Found], beams: int,
                        counts: Counter) -> None:
    """Compares ids and scores. Of greedy results that the limit cuts it compares the ids before the last; of beams it
    leaves them out, because CTranslate2 forces no end."""
    choice, model = peer.choice, peer.model
    prefix = [[f"t{choice['forced_bos_token_id']}"]] * len(sources) if "forced_bos_token_id" in choice else None
    suppressed = [[f"t{i}"] for i in model.generation_config.suppress_tokens or []] or None
    results = translator.translate_batch(
        [[f"t{i}" for i in source] for source in sources], target_prefix=prefix, suppress_sequences=suppressed,
        beam_size=beams, min_decoding_length=0, max_decoding_length=MAX_LENGTH - 1, return_scores=True)
    end = model.config.eos_token_id
    for source, (ids, score), result in zip(sources, found, results):
        expected, expected_score = [int(text[1:]) for text in result.hypotheses[0]], result.scores[0]
        is_cut = len(expected) == MAX_LENGTH - 1
        if beams > 1 and (is_cut or len(ids) == MAX_LENGTH - 1):
            continue
        counts["searches of CTranslate2"] += 1
        if is_cut and ids[:-1] == expected[:-1] or not is_cut and without_end(ids, end) == expected and \
                abs(score - expected_score) < CLOSE:
            continue
        if without_end(ids, end) != expected and \
                peer.is_tie(source, beams, [ids, expected if is_cut else [*expected, end]], of_ctranslate2=True):
            print(f"{peer.name}, beams {beams}, source {source}: a tie, {score} {ids}, "
                  f"CTranslate2 {expected_score} {expected}")
            counts["ties of CTranslate2"] += 1
            continue
        sys.exit(f"{peer.name}, beams {beams}, source {source}: goldcrest departs from CTranslate2: {score} {ids}, "
                 f"CTranslate2 {expected_score} {expected}")


def compare_folder(options, peer: Peer, folder: pathlib.Path, sources: list[list[int]], languages: list[str],
                   counts: Counter) -> None:
    """Compares all searches of a folder's file. That for CTranslate2 has its soft-max and its end of beams."""
    family = folder.name.split("-")[0]
    start = peer.rules(1, False).start
    is_compared = options.ctranslate2 and family in IN_CTRANSLATE2
    translator = ctranslate2_translator(family, peer.model, folder, start) if is_compared else None
    file = converted(options, folder, *languages)
    for beams in (1, 4):
        for source, found in zip(sources, results_of(options, file, sources, beams)):
            peer.compare(source, beams, found, counts)
    if translator:
        file = converted(options, folder, *languages, "--renormalize", "--early-stopping", "true")
        for beams in (1, 4):
            compare_ctranslate2(peer, translator, sources, results_of(options, file, sources, beams), beams, counts)


def check(counts: Counter) -> None:
    """Prints all counts; exits with a message if too few searches are equal."""
    for peer, of_peer in (("transformers", ""), ("CTranslate2", " of CTranslate2")):
        n, ties = counts["searches" + of_peer], counts["ties" + of_peer]
        if n == 0 and of_peer:
            continue
        print(f"{peer}: {n - ties} of {n} searches are equal, {ties} are ties in float64")
        if n == 0 or n - ties < LEAST_EQUAL * n:
            sys.exit(f"goldcrest departs from {peer} in {ties} of {n} searches")
