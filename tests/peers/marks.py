# SPDX-License-Identifier: Apache-2.0
"""Tags, placeholders and terms in translations of the shipped English-French model.

    python tests/peers/marks.py --build build/host --work FOLDER [--lines 960]

Makes HTML fragments and strings with placeholders of the validation sentences, and terms of their references by the
model's alignments. Compares names that are marked with PyPI's translatehtml, where that is installed (with --no-deps
argostranslate, beautifulsoup4, soupsieve, sacremoses), on the same model as CTranslate2 runs it in an Argos package.
Exits with 1 if a figure misses its bound."""

import collections
import html
import html.parser
import pathlib
import random
import re
import resource
import subprocess
import sys
import types

import sacrebleu
import sentencepiece

import product
from product import ROOT as SOURCE

SHIPPED = SOURCE / "examples/models/enfr"
PLACEHOLDERS = ("{name}", "{{count}}", "%s", "%1$d", "%(n)s", "${user}", "<x id=1/>", "https://example.org/a?b=1",
                "me@mail.example.org")
VOIDS = ("<img src='a>b.png'>", "<wbr>", "<input disabled/>", "<!-- <b> -->", "&hearts;")
ELEMENTS = ("b", "i", "em", "span class='x y'", 'a href="p?q=1&r=<2>"', "u", "sup")
failed = False


def check(good: bool, text: str) -> None:
    global failed
    failed = failed or not good
    print(text + ("" if good else " departs"), flush=True)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def times(phrase: str, text: str) -> int:
    return len(re.findall(r"(?<!\w)" + re.escape(phrase) + r"(?!\w)", text, re.IGNORECASE))


class Program:
    def __init__(self, options, model: pathlib.Path) -> None:
        self.command = [options.build / "examples/goldcrest-translate", model]
        self.err, self.seconds = "", 0.0

    def __call__(self, text: str, *arguments, beams: int = 4) -> str:
        arguments += ("--beam-size", beams)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        # From a shell, because a process's peak of memory includes what Python had when it forked.
        command = ["sh", "-c", '"$@"; exit $?', "sh", *self.command, *map(str, arguments)]
        run = subprocess.run(command, input=text, capture_output=True, text=True)
        self.seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self.err = run.stderr
        return run.stdout

    def lines(self, lines: list[str], *arguments) -> list[str]:
        return self("".join(line + "\n" for line in lines), *arguments).split("\n")[:-1]


def tags_of(text: str) -> list[str]:
    return sorted(re.findall(r"<!--.*?-->|<code>.*?</code>|<(?:'[^']*'|\"[^\"]*\"|[^>'\"])*>|&hearts;", text))


def is_well_formed(text: str) -> bool:
    open_tags: list[str] = []
    good = True

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, _):
            if tag not in ("img", "wbr", "input", "br"):
                open_tags.append(tag)

        def handle_startendtag(self, tag, _):
            pass

        def handle_endtag(self, tag):
            nonlocal good
            good = bool(open_tags) and open_tags.pop() == tag and good

    Parser().feed(text)
    return good and not open_tags


def text_of(fragment: str) -> str:
    fragment = re.sub(r"<br>|</?(?:p|div|li|ul)>", "\n", fragment)
    for tag in sorted(tags_of(fragment), key=len, reverse=True):  # a comment has a tag in it
        fragment = fragment.replace(tag, "")
    return html.unescape(fragment)


def decorated(draw: random.Random, pieces: list[str], depth: int) -> str:
    """Pieces of a sentence with elements in them, some of them empty or void."""
    if depth == 0 or not pieces or draw.random() < 0.2:
        return "".join(pieces)
    first = draw.randint(0, len(pieces) - 1)
    last = draw.randint(first, len(pieces)) if draw.random() < 0.9 else first
    inner = decorated(draw, pieces[first:last], depth - 1)
    space = inner[:len(inner) - len(inner.lstrip())]
    element = draw.choice(ELEMENTS)
    tag = f"<{element}>{inner.lstrip()}</{element.split()[0]}>"
    tag = draw.choice(VOIDS) if last == first and draw.random() < 0.5 else tag
    code = " <code>f(a < b)</code>" if draw.random() < 0.005 else ""
    return "".join(pieces[:first]) + space + tag + code + decorated(draw, pieces[last:], depth - 1)


def fragment_of(draw: random.Random, sentences: list[str]) -> str:
    """Elements in some sentences, in blocks and between them."""
    parts = [decorated(draw, [html.escape(piece, quote=False) for piece in re.findall(r"\s*\S+", sentence)], 3)
             for sentence in draw.sample(sentences, draw.randint(1, 3))]
    if draw.random() < 0.5:
        return "<div>" + "<br>".join(parts) + "</div>"
    return "<ul>" + "".join(f"<li><p>{part}</p></li>" for part in parts) + "</ul>"


def check_fragments(program: Program, sentences: list[str], n: int) -> None:
    draw = random.Random(65)
    fragments = [fragment_of(draw, sentences) for _ in range(n)]
    found = program.lines(fragments, "--html")
    message = program.err.strip()
    texts = [[line.strip() for line in text_of(one).split("\n") if line.strip()] for one in fragments]
    plain = iter(program.lines([line for text in texts for line in text], "--batch", 8))
    expected = [[next(plain) for _ in text] for text in texts]
    n_found = [[" ".join(line.split()) for line in text_of(one).split("\n") if line.strip()] for one in found]
    same = sum(a == [" ".join(line.split()) for line in b] for a, b in zip(n_found, expected))
    kept = sum(tags_of(a) == tags_of(b) for a, b in zip(fragments, found))
    good = sum(is_well_formed(one) for one in found)
    check(len(found) == n and kept == n and good == n,
          f"fragments with all tags once: {kept} of {n}, well-formed: {good}")
    check(same >= 0.97 * n, f"fragments whose text is that without tags: {same} of {n}; it says {message!r}")


def check_placeholders(program: Program, sentences: list[str], n: int) -> None:
    draw = random.Random(66)
    lines = []
    for _ in range(n):
        pieces = draw.choice(sentences).split()
        for placeholder in draw.sample(PLACEHOLDERS, draw.randint(1, 2)):
            pieces.insert(draw.randint(0, len(pieces)), placeholder)
        lines.append(" ".join(pieces))
    found = program.lines(lines, "--keep", "built-in", "--batch", 8)

    def spaced(line: str, placeholder: str) -> tuple[bool, bool]:
        before, after = line.split(placeholder)
        return before == "" or before[-1].isspace(), after == "" or after[0].isspace()

    once = sum(all(line.count(p) == out.count(p) for p in PLACEHOLDERS) for line, out in zip(lines, found))
    glued = sum(all(spaced(out, p)[0] or not out.split(p)[0][-1].isalnum() for p in PLACEHOLDERS if p in line)
                for line, out in zip(lines, found) if all(out.count(p) == line.count(p) for p in PLACEHOLDERS))
    left = sum(any(name in words(out) and name not in words(line) for name in ("Tom", "Boston", "Tokyo"))
               for line, out in zip(lines, found))
    check(once == n and glued == n,
          f"strings with each placeholder once, apart from words: {once} and {glued} of {n}; "
          f"a name that stood for one is left in {left}")


def shared_names(pairs: dict[str, list[str]], n: int) -> list[tuple[str, str]]:
    """Sentences with a name or a number that both sides share; then those that get one in place of a pronoun."""
    found, changed = [], []
    for source, references in pairs.items():
        shared = [word for word in words(source) if (word[0].isdigit() or (word[0].isupper() and len(word) > 1)) and
                  words(source).count(word) == 1 and words(references[0]).count(word) == 1]
        if shared:
            found.append((source, shared[0]))
        elif "Tom" in source:
            continue
        elif re.match("(He|She) ", source) and re.match("(Il|Elle) ", references[0]):
            changed.append((re.sub("^(He|She) ", "Tom ", source), "Tom"))
        elif re.search(r" (him|her)[.?!]$", source):
            changed.append((re.sub(r" (him|her)([.?!])$", r" Tom\2", source), "Tom"))
        elif re.search(r"[a-z][.?]$", source):
            changed.append((source[:-1] + ", Tom" + source[-1], "Tom"))
    return (found + changed)[:n]


def argos_translator(options):
    """Returns translatehtml's call on the model, or why there is none. Each text is one sentence."""
    for name in ("stanza", "spacy"):
        sys.modules.setdefault(name, types.ModuleType(name))  # they cut texts into sentences
    cutter = sys.modules.setdefault("minisbd", types.ModuleType("minisbd"))
    cutter.SBDetect, cutter.models = None, types.SimpleNamespace()
    try:
        import ctranslate2
        from translatehtml import translate_html
    except ImportError as error:
        return str(error)
    folder = options.work / "argos"
    if not folder.exists():
        ctranslate2.converters.TransformersConverter(str(SHIPPED)).convert(str(folder), quantization="int8")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(SHIPPED / "source.spm"))
    model = ctranslate2.Translator(str(folder), compute_type="int8", intra_threads=1)

    def translate(text: str) -> str:  # as Argos does with a sentence of a package
        result = model.translate_batch([pieces.encode(text, out_type=str) + ["</s>"]], beam_size=4, length_penalty=0.2)
        return "".join(result[0].hypotheses[0]).replace("▁", " ").strip()

    return lambda text: str(translate_html(types.SimpleNamespace(translate=translate), text))


def check_names(program: Program, pairs: dict[str, list[str]], options, n: int) -> None:
    cases = shared_names(pairs, n)
    sources = [source for source, _ in cases]
    tagged = [re.sub(r"(?<!\w)" + name + r"(?!\w)", f"<b>{name}</b>", source, count=1) for source, name in cases]
    rows = {"goldcrest": (program.lines(sources), program.lines(tagged, "--html"))}
    argos = argos_translator(options)
    if callable(argos):
        rows["translatehtml"] = ([argos(source) for source in sources], [argos(text) for text in tagged])
    else:
        print(f"translatehtml is not installed: {argos}")
    print(f"| {len(cases)} sentences | name is in the translation | marked | of those | text as without the tag |")
    print("|---|--:|--:|--:|--:|")
    for system, (plain, found) in rows.items():
        has = [times(name, text) == 1 for (_, name), text in zip(cases, plain)]
        marked = [re.search(rf"<b>\W*{name}\W*</b>", text) is not None for (_, name), text in zip(cases, found)]
        same = sum(a == re.sub("</?b>", "", b) for a, b in zip(plain, found))
        share = sum(a and b for a, b in zip(has, marked)) / max(1, sum(has))
        line = f"| {system} | {sum(has)} | {sum(marked)} | {100 * share:.1f} % | {same} |"
        check(system != "goldcrest" or (share >= 0.95 and sum(marked) >= 0.95 * len(cases)), line)


def aligned_terms(program: Program, options, pairs: dict[str, list[str]]) -> dict[str, list[tuple[str, str]]]:
    """Pairs of phrases of one to three words, of a source and its reference, that attend to each other only."""
    import json

    vocabulary = json.loads((SHIPPED / "vocab.json").read_text())
    cut = {side: sentencepiece.SentencePieceProcessor(model_file=str(SHIPPED / f"{side}.spm"))
           for side in ("source", "target")}
    targets = [cut["target"].encode(references[0], out_type=str) for references in pairs.values()]
    ids = options.work / "ids.txt"
    ids.write_text("".join(" ".join(str(vocabulary.get(p, 1)) for p in (*line, "</s>")) + "\n" for line in targets))
    rows = program.lines(list(pairs), "--score", ids, "--alignments", "soft", "--alignment-layer", 1)
    found: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for (source, references), target, row in zip(pairs.items(), targets, rows):
        weights = [[float(x) for x in token.split(",")] for token in row.split("\t")[1].split()]
        sides = [words_of(cut["source"].encode(source, out_type=str)), words_of(target)]
        best = {}
        for j, (_, t) in enumerate(sides[1]):
            sums = [sum(weights[y][x] for y in t for x in s) / len(t) for _, s in sides[0]]
            if sums and max(sums) > 0.5:
                best[j] = sums.index(max(sums))
        single = {j: i for j, i in best.items() if list(best.values()).count(i) == 1}
        for j in single:
            for n in (1, 2, 3):
                if any(single.get(j + k) != single[j] + k for k in range(n)):
                    break
                pair = [" ".join(word for word, _ in side[at:at + n]) for side, at in zip(sides, (single[j], j))]
                if min(map(len, pair)) > 2 and " " + pair[0] in source and " " + pair[1] in references[0]:
                    found[source].append((pair[0], pair[1]))
    return found


def words_of(pieces: list[str]) -> list[tuple[str, list[int]]]:
    """Words of letters with their pieces; another piece ends a word."""
    result: list[tuple[str, list[int]]] = []
    joins = False
    for i, piece in enumerate(pieces):
        letters = piece.lstrip("▁")
        if not letters.isalpha():
            joins = joins and letters == ""
        elif joins and not piece.startswith("▁"):
            result[-1] = (result[-1][0] + letters, result[-1][1] + [i])
        else:
            result.append((letters, [i]))
        joins = letters.isalpha()
    return result


def check_terms(program: Program, options, pairs: dict[str, list[str]], n: int) -> None:
    candidates = aligned_terms(program, options, pairs)
    free = dict(zip(pairs, program.lines(list(pairs))))

    def fits(phrase: str, form: str) -> bool:
        lines = [source for source in pairs if times(phrase, source)]
        return all(times(phrase, source) == 1 == times(form, pairs[source][0]) for source in lines)

    draw = random.Random(67)
    terms: dict[str, str] = {}
    chosen: dict[str, tuple[str, str]] = {}
    unchosen: dict[str, tuple[str, str]] = {}
    for source, found in candidates.items():
        good = [pair for pair in found if fits(*pair) and terms.get(pair[0], pair[1]) == pair[1]]
        if good and len(chosen) < n:
            chosen[source] = draw.choice(good)
            terms[chosen[source][0]] = chosen[source][1]
        new = [pair for pair in good if times(pair[1], free[source]) == 0]
        if new and len(unchosen) < n // 5:
            unchosen[source] = draw.choice(new)
    others = [source for source in pairs if source not in chosen]
    lists = {"in the references": (chosen, (list(chosen) + others)[:n], 0.0)}
    others = [source for source in pairs if source not in unchosen]
    lists["not chosen by the free search"] = (unchosen, (list(unchosen) + others)[:n], 1.0)
    for name, (list_of, lines, loss) in lists.items():
        file = options.work / f"terms{loss:.0f}.tsv"
        file.write_text("".join(f"{phrase}\t{form}\n" for phrase, form in sorted(set(list_of.values()))))
        pairs_of_times = []
        for _ in range(3):
            free_lines = program.lines(lines)
            seconds = program.seconds
            found = program.lines(lines, "--glossary", file)
            pairs_of_times.append(program.seconds / max(seconds, 1e-3))
        with_term = [i for i, source in enumerate(lines) if source in list_of]
        once = sum(times(list_of[lines[i]][1], found[i]) == 1 for i in with_term)
        references = [pairs[lines[i]] for i in with_term]
        bleu = [bleu_of([texts[i] for i in with_term], references) for texts in (free_lines, found)]
        before = sum(times(list_of[lines[i]][1], free_lines[i]) == 1 for i in with_term)
        for i in with_term:
            if times(list_of[lines[i]][1], found[i]) != 1:
                print(f"  {lines[i]!r}, {list_of[lines[i]]}: {found[i]!r}")
        ratio = sorted(pairs_of_times)[1]
        check(once == len(with_term) > 0 and bleu[1] >= bleu[0] - loss and ratio <= 1.3,
              f"{len(set(list_of.values()))} terms {name}: once in {once} of {len(with_term)} lines ({before} without "
              f"them); BLEU {bleu[1]:.2f} ({bleu[0]:.2f}); {ratio:.2f} times the time of {len(lines)} lines")


def bleu_of(texts: list[str], references: list[list[str]]) -> float:
    most = max(map(len, references))
    streams = [[(line + line[:1] * most)[i] for line in references] for i in range(most)]
    return sacrebleu.corpus_bleu(texts, streams).score


def check_memory(program: Program, sentences: list[str], n: int) -> None:
    def peak(lines: int) -> int:
        text = "".join(f"<p>{sentences[i % len(sentences)]} <b>{{x}}</b></p>\n" for i in range(lines))
        program(text, "--html", "--keep", "built-in", "--stats", "--batch", 8, beams=1)
        found = re.search(r"memory (\d+) KiB", program.err)
        return int(found[1]) if found else sys.exit(program.err)

    few, many = peak(n // 50), peak(n)
    check(many < few + 2048, f"peak memory: {few} KiB for {n // 50} lines, {many} KiB for {n}")


def main() -> None:
    options = product.parsed(product.parser_of(__doc__, lines=1000))  # fragments; others are in proportion
    pairs: dict[str, list[str]] = {}
    for line in (SOURCE / "tests/data/enfr/valid.tsv").read_text().splitlines():
        source, target = re.sub("[\u00a0\u202f]", " ", line).split("\t")
        pairs.setdefault(source, []).append(target)
    model = options.work / "enfr.gcst"
    product.convert(options, SHIPPED, model, weights="int8")
    program = Program(options, model)
    check_fragments(program, list(pairs), options.lines)
    check_placeholders(program, list(pairs), 2 * options.lines)
    check_names(program, pairs, options, options.lines // 2)
    check_terms(program, options, pairs, options.lines // 2)
    check_memory(program, list(pairs), 100 * options.lines)
    sys.exit(failed)


if __name__ == "__main__":
    main()
