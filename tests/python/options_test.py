# SPDX-License-Identifier: Apache-2.0
"""Tests the options of the installed package: results of goldcrest-translate, languages, the page's table.

Usage: options_test.py SOURCE
"""

import importlib.util
import json
import random
import re
import sys
import types
import warnings
from array import array
from pathlib import Path

import goldcrest
import support
from support import as_lines, refuses, refuses_each, run_tests, unpack, words

SOURCE = Path(sys.argv[1])
ENFR = "enfr.gcst"
warnings.filterwarnings("ignore", ".*a text is cut at ")  # random models write to the limit
FRENCH = ["Nous", "Je ne sais", "La gare", "Où est", "J'ai faim.", "Allons à la maison.", "Il", "le docteur"]


def program(*arguments, lines=(), model=ENFR):
    return support.program("translate", model, *arguments, lines=lines)


def ids_text(ids):
    return " ".join(map(str, ids))


class Options:
    """Options of the program, and the same of Model and of the call."""

    def __init__(self, dice, vocabulary):
        self.dice, self.vocabulary = dice, vocabulary
        self.arguments, self.model, self.call = [], {}, {}
        self.scores = self.token_scores = self.tokens = False
        self.alignments = self.prefix = None
        self.by_line = False

    def ids(self, most):
        return [self.dice.randrange(3, self.vocabulary) for _ in range(self.dice.randint(1, most))]

    def rule(self, option, name, value, argument=None):
        if self.dice.random() < 0.15:
            self.arguments.append(f"--{option}={value if argument is None else argument}")
            self.model[name] = value

    def flag(self, option, name, value):
        if name not in self.model and self.dice.random() < 0.1:
            self.arguments.append("--" + option)
            self.model[name] = value

    def draw(self):
        dice = self.dice
        kind = dice.choice(["beams", "beams", "n_best", "sample", "alternatives", "stream"])
        self.kind = kind
        n = dice.randint(2, 4)
        if kind in ("beams", "n_best", "stream"):
            beam = dice.randint(n if kind == "n_best" else 1, 5)
            self.arguments.append(f"--beam-size={beam}")
            self.model["beam_size"] = beam
            self.rule("early-stopping", "early_stopping", *dice.choice([(True, "true"), (False, "false"), ("never",)]))
        if kind == "n_best":
            self.arguments.append(f"--n-best={n}")
            self.call["n_best"] = n
        if kind == "sample":
            self.arguments.append("--sample")
            self.model["sample"] = True
            self.rule("seed", "seed", dice.randrange(2**64))
            self.rule("temperature", "temperature", dice.choice([0.5, 1.5]))
            self.rule("top-k", "top_k", dice.randint(1, 256))
            self.rule("top-p", "top_p", 0.75)
            self.rule("min-p", "min_p", 0.125)
            if dice.random() < 0.5:
                self.arguments.append(f"--num-samples={n}")
                self.call["n_best"] = n
        if kind == "alternatives":
            self.arguments += [f"--alternatives={n}", "--min-alternative-prob=0.03125"]
            self.call.update(n_best=n, return_alternatives=True, min_alternative_prob=0.03125)
        if kind != "stream":
            batch = dice.choice([1, 3, 8])
            self.arguments += [f"--batch={batch}", f"--threads={batch % 3 + 1}"]
            self.model.update(batch=batch, threads=batch % 3 + 1)
            self.draw_output()
        self.draw_rules()
        self.draw_prefix()
        return self

    def draw_output(self):
        dice = self.dice
        if dice.random() < 0.3:
            self.scores = self.call["return_scores"] = True
            self.arguments.append("--scores")
        if dice.random() < 0.2:
            self.token_scores = self.call["return_token_scores"] = True
            self.arguments.append("--token-scores")
        if dice.random() < 0.2:
            self.alignments = dice.choice(["hard", "soft"])
            layer, head = dice.randint(-1, 2), dice.randint(-1, 3)
            self.arguments.append(f"--alignments={self.alignments}")
            self.arguments += [f"--alignment-layer={layer}", f"--alignment-head={head}"]
            self.call.update(return_attention=True, attention_layer=layer, attention_head=head)
        if dice.random() < 0.2:
            self.tokens = True
            self.arguments.append("--tokens")
        self.by_line = bool(self.call) or self.tokens

    def draw_rules(self):
        dice = self.dice
        self.rule("min-target", "min_target", dice.randint(0, 9))
        self.rule("length-penalty", "length_penalty", dice.choice([0.0, 0.5, 2.0]))
        self.rule("word-penalty", "word_penalty", dice.choice([-0.5, 0.25]))
        self.rule("length-penalty-kind", "length_penalty_kind", dice.choice(["power", "wu"]))
        self.rule("no-repeat-ngram", "no_repeat_ngram", dice.randint(0, 3))
        self.rule("max-extra", "max_extra", dice.randint(0, 5))
        self.rule("max-length-factor", "max_length_factor", dice.choice([0, 0.5, 2]))
        self.rule("repetition-penalty", "repetition_penalty", dice.choice([0.5, 1.25]))
        if self.kind != "stream":
            self.flag("replace-unknowns", "replace_unknowns", True)
        self.rule("max-target", "max_target", dice.choice([24, 32]))
        self.rule("max-source", "max_source", dice.choice([8, 24]))
        self.rule("no-repeat-source-ngram", "no_repeat_source_ngram", dice.randint(0, 2))
        for option, value in (("renormalize", True), ("no-renormalize", False)):
            self.flag(option, "renormalize", value)
        for option, value in (("force-end", True), ("no-force-end", False)):
            self.flag(option, "force_end", value)
        self.flag("prefix-in-lengths", "prefix_in_lengths", True)
        self.flag("low-memory", "low_memory", True)
        self.flag("structure-only", "structure_only", True)
        self.flag("no-split", "split", False)
        if "split" not in self.model and dice.random() < 0.1:
            Path("abbreviations.txt").write_text("station. said:\nhome")
            self.arguments.append("--abbreviations=abbreviations.txt")
            self.model["abbreviations"] = ["station.", "said:", "home"]
        if dice.random() < 0.2:
            first, second, third = (self.ids(2) for _ in range(3))
            text = dice.choice(FRENCH)
            self.arguments += ["--suppress=" + text, f"--suppress-ids={ids_text(first)},{ids_text(second)}"]
            self.arguments += [f"--bias-ids=2.5 {ids_text(third)},-1 {first[0]}"]
            self.model["suppress"] = [text, first, second]
            self.model["bias"] = [(2.5, third), (-1, first[:1])]
        if dice.random() < 0.2:
            entries = dice.sample(FRENCH, 4)
            Path("lexicon.txt").write_bytes(as_lines([*entries, " "]))
            self.arguments.append("--lexicon=lexicon.txt")
            self.model["lexicon"] = [*entries, " "]
            if dice.random() < 0.5:
                self.arguments.append("--lexicon-words")
                self.model["lexicon_words"] = True

    def draw_prefix(self):
        kind = self.dice.choice(["none", "none", "none", "text", "ids", "file"])
        if "lexicon" in self.model or kind == "none":
            return
        if kind == "text":
            self.prefix = self.dice.choice(FRENCH)
            self.arguments.append("--prefix=" + self.prefix)
        if kind == "ids":
            self.prefix = self.ids(3)
            self.arguments.append("--prefix-ids=" + ids_text(self.prefix))
        if kind == "file" and self.kind != "stream":
            self.prefix = [self.ids(2) if self.dice.random() < 0.7 else [] for _ in range(10)]
            Path("prefixes.txt").write_bytes(as_lines(map(ids_text, self.prefix)))
            self.arguments.append("--prefix-file=prefixes.txt")

    def row(self, number, rank, result, n):
        row = f"{number}\t{rank + 1}\t" if n > 1 else ""
        row += f"{result.scores[rank]:.6f}\t" if self.scores else ""
        row += ids_text(result.ids[rank]) if self.tokens else result.hypotheses[rank]
        if self.token_scores:
            row += "\t" + " ".join(f"{score:.6f}" for score in result.token_scores[rank])
        if self.alignments == "soft":
            row += "\t" + " ".join(",".join(f"{w:.6f}" for w in weights) for weights in result.attention[rank])
        if self.alignments == "hard":
            best = [max(range(len(weights)), key=weights.__getitem__) for weights in result.attention[rank]]
            row += "\t" + " ".join(f"{source}-{target}" for target, source in enumerate(best))
        return row + "\n"

    def printed(self, lines):
        """Returns what the program prints, as bytes, and whether it warns that a limit cut a text."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            rows, cut = self.rows(lines)
        assert all("a text is cut at " in str(warning.message) for warning in seen), seen
        return "".join(rows).encode(), cut or bool(seen)

    def rows(self, lines):
        model = goldcrest.Model(ENFR, **self.model)
        if self.kind == "stream":
            return ["".join(model.stream(line, self.prefix)) + "\n" for line in lines], False
        if not self.by_line:
            return [text + "\n" for text in model.translate(lines, self.prefix)], False
        results = model.translate_batch(lines, prefix=self.prefix, **self.call)
        n = self.call.get("n_best", 1)
        ranks = [(index, rank) for index, result in enumerate(results) for rank in range(len(result.ids))]
        return [self.row(index + 1, rank, results[index], n) for index, rank in ranks], any(r.cut[0] for r in results)


def test_random_options():
    """1,000 random sources with 100 random sets of options: the program's bytes. Sets that it refuses are refused."""
    vocabulary = 1 + max(goldcrest.Model(ENFR).encode("Where is the station? I'm hungry."))
    dice, n_equal, n_refused, n_cut = random.Random(39), 0, 0, 0
    while n_equal < 1000:
        options = Options(dice, vocabulary).draw()
        lines = [words(dice, 1, 8) for _ in range(10)]
        done = program(*options.arguments, lines=lines)
        if done.returncode != 0:
            n_refused += 1
            refuses(options.printed, lines)
            continue
        found, cut = options.printed(lines)
        n_cut += cut
        assert cut == (b" lines end too early: " in done.stderr), (options.arguments, lines, done.stderr)
        assert found == done.stdout, (options.arguments, lines, found.decode(), done.stdout.decode())
        n_equal += len(lines)
    print(f"{n_equal} sources equal, {n_refused} sets of options refused by both")
    assert n_refused <= 30 and 10 <= n_cut <= 90, n_cut


def test_scores_and_ids():
    """--score, --ids, --encode and --decode have the calls score_results, translate_batch, encode and decode."""
    lines = ["Let's go home.", "Where is the station?", "I'm hungry."]
    model = goldcrest.Model(ENFR, beam_size=4, batch=2)
    sources = [model.encode(line) for line in lines]
    targets = [result.ids[0] for result in model.translate_batch(sources)]
    asked, given = list(map(ids_text, sources)), as_lines(map(ids_text, targets))
    assert as_lines(asked) == program("--encode", lines=lines).stdout
    assert given == program("--ids", "--beam-size=4", lines=asked).stdout
    assert as_lines(map(model.decode, targets)) == program("--decode", lines=map(ids_text, targets)).stdout
    Path("targets.txt").write_bytes(given)
    scored = model.score_results(lines, targets, return_attention=True, attention_layer=1)
    rows = []
    for result in scored:
        numbers = " ".join(f"{score:.6f}" for score in result.token_scores[0])
        best = [max(range(len(weights)), key=weights.__getitem__) for weights in result.attention[0]]
        rows.append(f"{result.scores[0]:.6f}\t{numbers}\t{' '.join(f'{s}-{t}' for t, s in enumerate(best))}\n")
    done = program("--score=targets.txt", "--token-scores", "--alignments=hard", "--alignment-layer=1", lines=lines)
    assert "".join(rows).encode() == done.stdout, (rows, done.stdout, done.stderr)
    assert model.score_batch(sources, targets) == [result.scores[0] for result in scored]
    assert model.score_batch(sources[:1], [array("i", targets[0])]) == [scored[0].scores[0]]


def test_warnings():
    """A source without its end, an unknown language code and a deadline give warnings; a bad text is named."""
    model = goldcrest.Model(ENFR)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.translate_batch([model.encode("I'm hungry.")[:-1]])
        model.translate_batch([model.encode("I'm hungry.")[:-1]])
        late = goldcrest.Model(ENFR, deadline=1e-9).translate(["I'm hungry.", "Let's go home."])
        assert list(goldcrest.Model(ENFR, deadline=1e-9).stream("I'm hungry.")) == []
    stopped = "stopped after 1e-09 s (deadline); its end is missing"
    assert sorted(str(warning.message) for warning in seen)[:3] == [stopped, "text 1: " + stopped, "text 2: " + stopped]
    assert len(seen) == 4 and late == ["", ""]
    assert goldcrest.Model(ENFR, deadline=1000).translate("Let's go home.") == "Allons à la maison."
    assert refuses(model.translate, ["a", "b\0c"]).startswith("text 2: a NUL byte")
    coded = [">>xx<< Let's go home. I'm hungry."]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (model.translate(coded)[0] + "\n").encode() == program(lines=coded).stdout
    refuses(goldcrest.Model(ENFR, deadline=1).translate_batch, ["a"], n_best=2)
    assert "n_best" in refuses(model.translate_batch, ["a"], num_hypotheses=2)


def test_unknowns():
    """Source tokens replace unknown ones, which a bias makes, as in the program; ids stay. Memory grows."""
    lines = ["Where is the station?", "☃☃ I don't know what to do.", "Let's go home."]
    for replaces, option in ((True, "--replace-unknowns"), (False, "--no-replace-unknowns")):
        model = goldcrest.Model(ENFR, 1, max_target=9, bias=[(12, [1])], split=False, replace_unknowns=replaces)
        done = program(option, "--beam-size=1", "--max-target=9", "--bias-ids=12 1", "--no-split", lines=lines)
        assert as_lines(model.translate(lines)) == done.stdout
        results = model.translate_batch(lines)
        assert [result.hypotheses[0] for result in results] == model.translate(lines)
        assert sum(1 in result.ids[0] for result in results) > 1, results
        assert ("☃" in results[1].hypotheses[0]) == replaces, results[1]
    assert goldcrest.Model(ENFR, replace_unknowns=True).arena_bytes > goldcrest.Model(ENFR).arena_bytes


def test_steps_of_layers():
    """A Model of large batches steps layer by layer, with the same texts and pieces."""
    text = "Where is the station? I'm hungry."
    small, large = goldcrest.Model(ENFR, beam_size=4), goldcrest.Model(ENFR, beam_size=4, batch=64)
    assert list(small.stream(text)) == list(large.stream(text))
    assert large.translate([text] * 3) == [small.translate(text)] * 3
    assert large.translate_batch([text], n_best=4) == small.translate_batch([text], n_best=4)


def converted(folder, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        goldcrest.convert(folder, folder + ".gcst", **options)
    return folder + ".gcst"


def test_phonemes():
    """The page's fallback for misaki gives each word transformers' phonemes."""
    unpack("misaki", json.loads((SOURCE / "tests/data/families.json").read_text())["misaki"])
    converted("misaki", weights="float32")
    page = (SOURCE / "converter/dialects/HUGGING_FACE.md").read_text()
    made = {"goldcrest": goldcrest}
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], made)
    for line in Path("misaki/words.tsv").read_text(encoding="utf-8").splitlines():
        word, phonemes = line.split("\t")
        assert made["fallback"](types.SimpleNamespace(text=word)) == (phonemes, 1), line


def test_forecasts():
    """examples/forecast.py: ordered quantiles of each number, the same for a seed; a series with gaps is refused."""
    if importlib.util.find_spec("numpy") is None:
        return print("forecasts: no numpy")
    sys.path.append(str(SOURCE / "examples"))
    from forecast import forecast

    unpack("chronos", json.loads((SOURCE / "tests/data/t5.json").read_text())["folders"]["t5-0"])
    config = json.loads(Path("chronos/config.json").read_text())
    config["chronos_config"] = {
        "tokenizer_class": "MeanScaleUniformBins", "tokenizer_kwargs": {"low_limit": -15.0, "high_limit": 15.0},
        "n_tokens": config["vocab_size"], "n_special_tokens": 2, "pad_token_id": 0, "eos_token_id": 1,
        "use_eos_token": True, "context_length": 32, "num_samples": 20, "temperature": 1.0, "top_k": 50, "top_p": 1.0}
    Path("chronos/config.json").write_text(json.dumps(config))
    file = converted("chronos")
    first, again, other = (forecast(file, "chronos/config.json", [1, 2, 4] * 9, 6, seed=i) for i in (1, 1, 2))
    assert first.shape == (6, 3) and (first[:, 0] < first[:, 1]).all() and (first[:, 1] < first[:, 2]).all(), first
    assert (first == again).all() and (first != other).any()
    try:
        forecast(file, "chronos/config.json", [1, float("nan"), 2], 6)
    except ValueError as error:
        return print(f"forecasts: {error}")
    raise AssertionError("a gap is taken")


def test_languages():
    """Models of several languages: their lists, the languages of a Model and of the next texts, as the program."""
    for name, files in json.loads((SOURCE / "tests/data/families.json").read_text()).items():
        if name not in ("nllb", "m2m100", "mbart50"):
            continue
        unpack(name, files)
        model = goldcrest.Model(converted(name))
        refuses(model.translate, "a b")
        lines, sources, targets = ["a b", "c. d"], model.source_languages, model.languages
        for source, target in ((sources[0], targets[-1]), (sources[-1], targets[0])):
            asked = [f"--source-lang={source}", f"--target-lang={target}"]
            expected = program(*asked, lines=lines, model=name + ".gcst")
            assert expected.returncode == 0, expected.stderr
            model.set_languages(source, target)
            given = goldcrest.Model(name + ".gcst", source_lang=source, target_lang=target)
            for each in (model, given):
                assert as_lines(each.translate(lines)) == expected.stdout
        refuses(model.set_languages, "xx")
        assert model.translate(lines) == given.translate(lines), "a refused language changed the model"
        model.set_languages()
        refuses(model.translate, "a b")


def test_hostile_options():
    bad = {
        "length_penalty_kind": ("", "x", 1, []),
        "early_stopping": ("", "x", 3, []),
        "renormalize": ("yes", 5, []),
        "force_end": ("yes", 5, []),
        "max_extra": (-1, 2**32, 1.5, "4"),
        "max_length_factor": (-1, 2000, float("nan"), "1"),
        "max_candidates": (-1, 2**32, "1"),
        "suppress": ("text", 5, [5], [[]], [[-1]], [[10**6]], ["\0"], [None], [b"a"]),
        "bias": ("text", 5, [5], [(1, [])], [(float("nan"), [1])], [(1e9, [1])], [("a", [1])], [(1, [-5])], [(1,)]),
        "no_repeat_source_ngram": (-1, 1.5, "1"),
        "lexicon": ("text", 5, [], [" "], [[-1]], [[10**6]], ["a\0b"], [5], [None]),
        "abbreviations": ("text", 5, [5], ["a\0"]),
        "kernels": ("no_such_table", 5, "a\0"),
        "deadline": (-1, float("nan"), float("inf"), "x", []),
    }
    refuses_each(bad, goldcrest.Model, ENFR)
    bad = {
        "temperature": (0, -1, 1e9, float("nan"), "1"),
        "top_k": (0, 257, -1, 1.5, "1"),
        "top_p": (0, 1.5, float("nan"), "1"),
        "min_p": (-1, 2, float("nan"), "1"),
        "seed": (-1, 2**64, 1.5, "1"),
        "beam_size": (2,),
    }
    refuses_each(bad, goldcrest.Model, ENFR, sample=True)
    model = goldcrest.Model(ENFR)
    bad = {"min_alternative_prob": (2.0, float("nan")), "beam_size": (2,)}
    refuses_each(bad, model.translate_batch, ["a"], return_alternatives=True)
    bad = {"attention_layer": (50,), "attention_head": (-2, "1")}
    refuses_each(bad, model.translate_batch, ["a"], return_attention=True)
    for prefix in ("\0", ["a", "b"], [[1] * 1000], 5, [None], b"ab"):
        refuses(model.translate_batch, ["a"], prefix=prefix)
    for prefix in ("\0", ["a", "b"], [None], 5, [1] * 1000):
        refuses(model.translate, "a", prefix)
    for codes in (("xx",), (None, "xx"), (5,), ("en\0",)):
        refuses(model.set_languages, *codes)
    assert model.translate("Let's go home.") == "Allons à la maison."


def test_coarse():
    """Model(coarse=True) gives the scores of a file that has no fine inputs, as the program does with --coarse."""
    levels = ["encoder.*=near", "decoder=near", "projection=exact"]
    goldcrest.convert("examples/models/enfr", "fine.gcst", matrices=levels)
    lines = ["Where is the station?", "I'm hungry.", "Let's go home."]

    def scores(path, **options):
        results = goldcrest.Model(path, beam_size=2, **options).translate_batch(lines, return_scores=True)
        return [(result.hypotheses, result.scores) for result in results]

    plain = scores(ENFR)
    assert scores("fine.gcst", coarse=True) == plain == scores(ENFR, coarse=True)
    assert scores("fine.gcst") != plain
    printed = program("--coarse", "--scores", "--beam-size=2", lines=lines, model="fine.gcst")
    assert printed.stdout == program("--scores", "--beam-size=2", lines=lines).stdout, printed.stderr


def test_table():
    """Each example of the guide's table for users of CTranslate2 runs."""
    page = (SOURCE / "examples/guides/from_ctranslate2.md").read_text()
    table = page[page.index("| CTranslate2 |") :]
    rows = re.findall(r"^\|(.*?)\|(.*)\|$", table, re.M)[2:]
    if not Path("model.gcst").exists():
        Path("model.gcst").symlink_to(ENFR)
    model = goldcrest.Model(ENFR, beam_size=2)
    lines = ["Let's go home.", "I'm hungry."]
    names = {"goldcrest": goldcrest, "model": model, "lines": lines, "source": lines[0]}
    names["ids"] = model.translate_batch(lines)[0].ids[0]
    n = 0
    for theirs, ours in rows:
        for example in re.findall(r"`((?:goldcrest|model)\.[^`]*)`", ours):
            value = eval(example, names)
            assert value is not None, (theirs, example)
            n += len(list(value)) if hasattr(value, "__next__") else 1
    print(f"{n} examples of {len(rows)} rows")
    assert n >= 25


def test_marks():
    """Tags, placeholders and terms are the program's, also of several texts; options that they exclude are refused."""
    model = goldcrest.Model(ENFR, beam_size=2)
    page = ["<p>I <b>love</b> {x} &amp; <i>Tom</i>.</p>"]
    page += ["<ul><li>I'm hungry. My dog sleeps.<li>Let's <u>go</u> home.</ul>"]
    options = {"html": True, "keep": ["[A-Z]\\d+"], "glossary": {"dog": ["chat", "chien"], "hungry": "grosse faim"}}
    Path("terms.tsv").write_text("dog\tchat|chien\nhungry\tgrosse faim\n")
    printed = program("--html", "--keep=[A-Z]\\d+", "--glossary=terms.tsv", "--beam-size=2", lines=page)
    assert printed.stdout.decode().splitlines() == model.translate(page, **options), printed
    assert model.translate(page[0], html=True, keep=True).count("{x}") == 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "</i>" in model.translate("Let's go</i> home.", html=True)
    assert "not well-formed" in str(caught[0].message), caught
    for wrong in ({"keep": [".*"]}, {"keep": "%s"}, {"glossary": {"dog": ""}}, {"html": True, "prefix": "Nous"}):
        refuses(model.translate, "Let's go home.", **wrong)
    assert model.translate("I'm hungry.") == "J'ai faim."


def test_documented():
    names = [getattr(goldcrest, name) for name in goldcrest.__all__]
    methods = [value for name, value in vars(goldcrest.Model).items() if not name.startswith("_")]
    assert len(methods) > 12 and all(value.__doc__ for value in names + methods)


goldcrest.convert("examples/models/enfr", ENFR)
run_tests(globals())
