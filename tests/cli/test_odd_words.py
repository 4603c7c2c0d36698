"""Words that other programs take for missing values, and empty sentences, from the pairs to the tables."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from pair_forms import words_of
from tiny_treebank import tiny_sentences, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.evaluate.metrics import MEASURES
from bove.text.conll import Sentence, write_conllu

WORDS = ("n/a", "null", "NA", "nan", "None", "NaN", "-", "_")
LABELS = {"nan": "entailment", "null": "no", "NA": "None", "": "-"}


def run(line, *more):
    assert main([*line.split(), *map(str, more)]) == 0


def chain(ids, out):
    """One tree a pair side, each word under the first; vectors; bags and scores."""
    trees = []
    with open(out / "trees.conllu", "w", encoding="utf-8") as stream:
        for name, forms in ids.items():
            n = len(forms)
            trees.append(Sentence(name, tuple(forms), ("NN",) * n, ((0,) + (1,) * n)[:n], ("ROOT",) * n))
            write_conllu(stream, trees[-1], " ".join(forms))
    write_treebank(out / "t.conllu", [*tiny_sentences(), *(tree for tree in trees if tree.forms)] * 2)
    rng = np.random.default_rng(0)
    rows = [f"{word} {' '.join(map(str, rng.normal(size=4)))}" for word in WORDS]
    (out / "vectors.txt").write_text("\n".join([f"{len(rows)} 4", *rows]) + "\n", encoding="utf-8")
    run(f"vectors load --input {out}/vectors.txt --format auto --output {out}/vectors")
    run(
        f"vocabulary --treebank {out}/t.conllu --columns gold --min-words 1 --min-tags 1 --min-relations 1 "
        f"--lookup exact --no-numbers --no-punctuation --output {out}/vocabulary"
    )
    run(f"parse --pairs {out}/pairs.jsonl --parses {out}/trees.conllu --output {out}/parses.gz")
    run(
        f"infer --system word-vectors --vectors {out}/vectors --vocabulary {out}/vocabulary "
        f"--sentences {out}/parses.gz --output {out}/bags"
    )
    run(f"score --pairs {out}/pairs.jsonl --bags null={out}/bags --output {out}/scores.parquet")
    statistics = "--resamples 100 --confidence 0.95 --seed 1"
    run(f"tables --scores {out}/scores.parquet {statistics} --output {out}/tables")


@pytest.mark.parametrize("form", ["text", "json"])
def test_they_are_words_labels_names_and_ids_like_any_other(tmp_path, capsys, form):
    rows = [(word, WORDS[i - 1], ("nan", "null", "NA", "")[i % 4], word) for i, word in enumerate(WORDS)]
    rows += [("", "nan", "nan", "nothing")]
    keys = ("NaN", "nan", "None", "null")
    if form == "text":
        lines = ["\t".join(row) for row in (keys, *rows)]
    else:
        lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
    (tmp_path / "file").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = dict(zip(("first", "second", "gold", "id"), keys, strict=True))
    words = words_of("entailment", columns=columns, labels=LABELS)
    names = ["--dataset", "NA", "--label", "nan", "--subset", "null", tmp_path / "file"]
    run(f"pairs --output {tmp_path}/pairs.jsonl", *words, *names)
    sides = {
        f"null-{name}.{side}": text.split()
        for first, second, _, name in rows
        for side, text in ((1, first), (2, second))
    }
    chain(sides, tmp_path)

    bags = Bags.open(tmp_path / "bags")
    scored = [row for row in rows if row[2]]
    assert len(bags.ids) == 2 * len(scored)
    for first, second, _, name in scored:
        assert (len(bags[f"null-{name}.1"]), len(bags[f"null-{name}.2"])) == (len(first.split()), 1), name
        assert first == second or not first or (bags[f"null-{name}.1"] != bags[f"null-{name}.2"]).any()
    table = pq.read_table(tmp_path / "scores.parquet").to_pydict()
    assert table["id"] == [f"null-{name}" for *_, name in rows]
    assert table["gold"] == [LABELS[label] for _, _, label, _ in rows]
    assert set(table["dataset"]) == {"NA"} and set(table["label"]) == {"nan"}
    assert [value is not None for value in table["score:null"]] == [bool(row[2]) for row in rows]
    assert table["empty:null"] == [name == "nothing" for *_, name in rows]
    with open(tmp_path / "tables" / "scores.csv", encoding="utf-8") as stream:
        row, *others = csv.DictReader(stream)
    assert [row["metric"] for row in (row, *others)] == list(MEASURES["entailment"])
    assert [row[key] for key in ("dataset", "subset", "system", "n_pairs", "n_scored", "n_empty")] == [
        *("NA", "null", "null"),
        *(str(n) for n in (len(rows), len(scored), 1)),
    ]
    assert 0 < float(row["value"]) <= 1
