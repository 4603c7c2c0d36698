"""The files of the built-in corpus: treebank, raw text, similarity and entailment pairs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from bove.demo.clauses import sentence
from bove.demo.pairs import SETS, Example, entailment_set, similarity_set
from bove.demo.sampler import Sampler
from bove.demo.tree import Token, binary_parse
from bove.files import atomic_write

SET_SIZE = 250
PREMISES = 200
RAW_PER_SENTENCE = 5
STYLES = {"plain": 50, "news": 24, "caption": 20, "gloss": 6}


def write(directory: str | Path, seed: int, sentences: int) -> dict[str, int]:
    """Write every file; the same seed and number of sentences give the same bytes.

    Returns the number of rows of each file, by its path within the directory.
    """
    root = Path(directory)
    counts = {}
    for part, size in (("train", sentences), ("dev", max(200, sentences // 10))):
        counts[f"treebank/{part}.conll09"] = size
        with atomic_write(root / "treebank" / f"{part}.conll09") as stream:
            for tokens in stream_sentences(f"{seed}:{part}", size):
                stream.write(conll09(tokens))
    counts["raw.txt"] = RAW_PER_SENTENCE * sentences
    with atomic_write(root / "raw.txt") as stream:
        for tokens in stream_sentences(f"{seed}:raw", counts["raw.txt"]):
            stream.write(" ".join(true_case(tokens)) + "\n")
    for name in SETS:
        examples = similarity_set(name, seed, SET_SIZE)
        counts[f"sts/STS.input.{name}.txt"] = counts[f"sts/STS.gs.{name}.txt"] = len(examples)
        with atomic_write(root / "sts" / f"STS.input.{name}.txt") as stream:
            stream.writelines("\t".join(example.texts) + "\n" for example in examples)
        with atomic_write(root / "sts" / f"STS.gs.{name}.txt") as stream:
            stream.writelines(f"{gold}\n" for gold in gold_lines(examples))
    for part in ("dev", "test"):
        rows = snli_rows(entailment_set(part, seed, PREMISES), seed, part)
        counts[f"snli/{part}.jsonl"] = len(rows)
        with atomic_write(root / "snli" / f"{part}.jsonl") as stream:
            stream.writelines(json.dumps(row, sort_keys=True) + "\n" for row in rows)
    return counts


def stream_sentences(seed: str, size: int) -> Iterator[tuple[Token, ...]]:
    """Yield sentences of all styles, in the corpus's proportions."""
    s = Sampler(random.Random(seed))
    for _ in range(size):
        style = s.weighted(STYLES)
        yield sentence(s.gloss(), stop=False) if style == "gloss" else sentence(s.clause(style))


def true_case(tokens: tuple[Token, ...]) -> list[str]:
    """The forms, the sentence's first word in lower case unless it is a name."""
    forms = [token.form for token in tokens]
    first = 1 if forms[0] == "``" else 0
    if not tokens[first].tag.startswith("NNP") and forms[first] != "I":
        forms[first] = forms[first].lower()
    return forms


def conll09(tokens: tuple[Token, ...]) -> str:
    """A sentence in CoNLL-2009 columns, one APRED column a predicate; predicted columns repeat gold."""
    predicates = [i for i, token in enumerate(tokens, 1) if token.sense]
    lines = []
    for i, token in enumerate(tokens, 1):
        roles = dict(token.arguments)
        fields = [str(i), token.form, token.lemma, token.lemma, token.tag, token.tag, "_", "_"]
        fields += [str(token.head)] * 2 + [token.relation] * 2
        fields += ["Y", token.sense] if token.sense else ["_", "_"]
        lines.append("\t".join(fields + [roles.get(p, "_") for p in predicates]))
    return "\n".join(lines) + "\n\n"


def gold_lines(examples: list[Example]) -> list[str]:
    """The gold of each pair; one in fifty is blank, as in the 2015 task, starting from the tenth."""
    return ["" if i % 50 == 9 else f"{example.label:g}" for i, example in enumerate(examples)]


def snli_rows(examples: list[Example], seed: int, part: str) -> list[dict]:
    """SNLI 1.0 rows: five annotators' labels, the first the author's; `-` where no label has three.

    The binary parses are the bracketing of the dependency trees; phrase-structure parses are left out.
    """
    rng = random.Random(f"{seed}:labels:{part}")
    labels = ("neutral", "contradiction", "entailment")
    rows = []
    for i, example in enumerate(examples):
        caption = f"{('dev', 'test').index(part) + 1}{i // 3:06d}.jpg#{i // 3 % 5}"
        other = [label for label in labels if label != example.label]
        if i % 40 == 17:
            votes, gold = [example.label, other[0], example.label, *[other[1], other[0]]], "-"
        else:
            wrong = rng.choices((0, 1, 2), (60, 28, 12))[0]
            votes, gold = [example.label] * (5 - wrong) + rng.choices(other, k=wrong), example.label
        first, second = example.texts
        rows.append(
            {
                "annotator_labels": votes,
                "captionID": caption,
                "gold_label": gold,
                "pairID": f"{caption}r1{example.label[0]}",
                "sentence1": first,
                "sentence1_binary_parse": binary_parse(example.first),
                "sentence2": second,
                "sentence2_binary_parse": binary_parse(example.second),
            }
        )
    return rows
