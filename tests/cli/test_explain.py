"""`bove explain`: its scores are those of `bove score`; word vectors see no difference where bove does."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import reference
import yaml
from tiny_run import CHASED, RANK, TURNED, make_run, score
from tiny_treebank import tiny_sentences, write_treebank

from bove.bags.store import write_bags
from bove.cli.main import main
from bove.config.load import store
from bove.evaluate.results import read_scores
from bove.text.conll import Sentence
from bove.text.pairs import Pair, write_pairs

SYSTEMS = ["word-vectors", "properties-only", "bove"]
STRANGE = Sentence("9", ("xyz", "boy"), ("XX", "NN"), (2, 0), ("what", "ROOT"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = make_run(tmp_path_factory.mktemp("explain"))
    write_treebank(folder / "two.conllu", [CHASED, TURNED])
    write_treebank(folder / "more.conllu", [CHASED, STRANGE, TURNED, STRANGE, Sentence("none")])
    return folder


def command(folder, *words):
    return ["explain", "--run", str(folder), *map(str, words)]


def explained(folder, capsys, *words):
    assert main(command(folder, "--json", *words)) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("punctuation", [True, False])
@pytest.mark.parametrize("key", ["sts", "snli_first_entails_second"])
def test_scores_are_exactly_those_of_the_stages(folder, tmp_path, capsys, punctuation, key):
    task, gold = ("similarity", 1.0) if key == "sts" else ("entailment", "entailment")
    more = [] if punctuation else ["--no-punctuation"]
    pair = Pair("p", "d", "D", task, "a", "x", "y", gold, True)
    score(folder, tmp_path, [pair], {"x": CHASED, "y": TURNED}, SYSTEMS, *more)
    values = read_scores(tmp_path / "scores").values
    capsys.readouterr()
    systems = explained(folder, capsys, "--conllu", folder / "two.conllu", *more)["systems"]
    assert [(name, system[key]) for name, system in systems.items()] == [(s, values[s][0]) for s in SYSTEMS]


@pytest.mark.parametrize("weight", ["length", "evidence"])
def test_weighted_scores_are_those_of_the_stages(folder, tmp_path, capsys, weight):
    pair = Pair("p", "d", "D", "similarity", "a", "x", "y", 1.0, True)
    how = ["--weight", weight, "--power", "2"]
    score(folder, tmp_path, [pair], {"x": CHASED, "y": TURNED}, SYSTEMS, weights=how)
    values = read_scores(tmp_path / "scores").values
    capsys.readouterr()
    content = explained(folder, capsys, "--conllu", folder / "two.conllu", *how)
    assert (content["weight"], content["power"]) == (weight, 2)
    for system, found in content["systems"].items():
        assert found["weighted"]["sts"] == values[f"{system} ({weight})"][0]
        assert sum(found["first"]["weights"]) == pytest.approx(1)


def test_word_vectors_see_no_difference_where_bove_sees_one(folder, tmp_path, capsys):
    turned = replace(CHASED, id="2", forms=("The", "cat", "sees", "a", "dog", "."))
    write_treebank(tmp_path / "t", [CHASED, turned])
    systems = explained(folder, capsys, "--conllu", tmp_path / "t")["systems"]
    assert systems["word-vectors"]["sts"] == 1 == systems["properties-only"]["sts"]
    assert systems["bove"]["sts"] < 0.999
    assert systems["word-vectors"]["first"]["partners"] == [0, 4, 2, 3, 1, 5]


def test_the_table_has_every_word_and_the_page_is_written(folder, tmp_path, capsys):
    page = tmp_path / "new" / "page.html"
    assert main(command(folder, "--conllu", folder / "two.conllu", "--html", page)) == 0
    out = capsys.readouterr().out
    assert out.startswith("first   The dog sees a cat .\nsecond  A cat sees the dog .\n")
    rows = [line.split() for line in out.split("\n")]
    assert [row[1] for row in rows if row and row[0] in "123456"][:6] == list(CHASED.forms)
    content = explained(folder, capsys, "--conllu", folder / "two.conllu")
    scores = [f"{content['systems'][name]['sts']:.4f}" for name in SYSTEMS]
    assert ["STS", *scores] in rows
    assert page.read_text(encoding="utf-8").count("<h2>") == 3


@pytest.fixture(scope="module")
def with_pairs(folder):
    """A run with a data set of a pair, a pair without gold, and a probe of roles."""
    turned = Sentence(
        "", ("The", "cat", "sees", "a", "dog", "."), CHASED.tags, CHASED.heads, CHASED.relations
    )
    names = ("d", "D", "similarity", "a")
    pairs = [
        Pair("p#1", *names, "The dog sees a cat.", "A cat sees the dog.", 1.0, True),
        Pair("none", *names, "Of a.", "Of b.", None, False),
        Pair("r", "d", "D", "roles", "a", "x", "y", "second", True, "The cat sees a dog ."),
    ]
    trees = {"p#1.1": CHASED, "p#1.2": TURNED, "r.1": CHASED, "r.2": CHASED, "r.3": turned}
    for name in ("pairs", "parses"):
        (folder / name).mkdir()
    with open(folder / "pairs" / "d.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, pairs)
    trees = [replace(tree, id=name) for name, tree in trees.items()]
    write_treebank(folder / "parses" / "d.conllu.gz", trees)
    return folder


def test_a_pair_of_the_run_is_shown_by_its_id(with_pairs, capsys):
    content = explained(with_pairs, capsys, "--pair", "d", "p#1")
    texts = [side.pop("text") for side in content["sentences"]]
    assert texts == ["The dog sees a cat.", "A cat sees the dog."] and "exchanged" not in content
    usual = explained(with_pairs, capsys, "--conllu", with_pairs / "two.conllu")
    assert usual["systems"] == content["systems"]


def test_of_a_pair_the_tokens_of_the_run_s_encoders_are_shown_too(with_pairs, capsys, tmp_path):
    run = shutil.copytree(with_pairs, tmp_path / "tiny")
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    store(config | {"encoders": {"m": {"path": "m"}}, "scoring": {"punctuation": False}}, run / "config.yaml")
    rng, where = np.random.default_rng(0), run / "bags" / "m-tokens" / "d.safetensors"
    bags = {f"p#1.{side}": rng.standard_normal((5, 4)) for side in (1, 2)}
    where.parent.mkdir(parents=True)
    write_bags(where, bags, "m-tokens", {name: np.ones(5) for name in bags})
    systems = explained(run, capsys, "--pair", "d", "p#1")["systems"]
    assert list(systems) == [*SYSTEMS, "m-tokens"]
    assert systems["m-tokens"]["sts"] == pytest.approx(reference.sts(*bags.values()), abs=1e-6)
    assert list(explained(run, capsys, "--conllu", run / "two.conllu")["systems"]) == SYSTEMS


@pytest.mark.parametrize("weight", ["none", "length"])
def test_a_probe_of_roles_is_shown_with_the_exchanged_sentence_too(with_pairs, capsys, tmp_path, weight):
    words = ["--pair", "d", "r", "--weight", weight]
    content = explained(with_pairs, capsys, *words)
    assert content["exchanged"]["sentences"][1]["text"] == "The cat sees a dog ."
    kind = (lambda found: found) if weight == "none" else (lambda found: found["weighted"])
    scores = [
        {system: kind(found)["snli_first_entails_second"] for system, found in shown["systems"].items()}
        for shown in (content, content["exchanged"])
    ]
    assert scores[0]["bove"] > scores[1]["bove"] and scores[0]["word-vectors"] == scores[1]["word-vectors"]
    assert main(command(with_pairs, *words, "--html", tmp_path / "page.html")) == 0
    margins = [f"{scores[0][system] - scores[1][system]:.4f}" for system in SYSTEMS]
    last = capsys.readouterr().out.rstrip("\n").rsplit("\n", 1)[1]
    assert last.split() == [*("plain",) * (weight == "none"), *("by", weight) * (weight != "none"), *margins]
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<h2>") == 2 * len(SYSTEMS)


def test_files_may_be_named_instead_of_a_run_and_trees_by_their_ids(folder, capsys, refused):
    files = ["explain", "--json", "--conllu", f"{folder}/more.conllu", "--ids", "2", "1"]
    words = [
        *files,
        "--model",
        f"{folder}/model/model.safetensors",
        "--vocabulary",
        f"{folder}/vocabulary.json",
    ]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert list(json.loads(captured.out)["systems"]) == SYSTEMS[1:]
    assert "word vectors are left out" in captured.err
    assert main([*words, "--vectors", f"{folder}/vectors.safetensors"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content == explained(folder, capsys, *files[2:])
    assert [side["text"] for side in content["sentences"]] == ["A cat sees the dog .", "The dog sees a cat ."]
    refused(files, "give --run, such as --run results/demo, or else name files: --model, --vocabulary")


def test_settings_go_before_the_run_s_and_what_the_treebank_lacks_is_warned_of(folder, tmp_path, capsys):
    two = ["--conllu", folder / "two.conllu"]
    usual = explained(folder, capsys, *two)["systems"]
    once = explained(folder, capsys, *two, "--solver", "averaged", "--iterations", 1)["systems"]
    assert once["bove"]["sts"] == pytest.approx(once["properties-only"]["sts"], abs=1e-6)
    assert usual["bove"]["sts"] != pytest.approx(once["properties-only"]["sts"], abs=1e-3)
    write_treebank(tmp_path / "t", [CHASED, STRANGE])
    assert main(command(folder, "--conllu", tmp_path / "t")) == 0
    err = capsys.readouterr().err
    assert "the model's treebank has no such tags: XX;" in err
    assert "the model's treebank has no such relations: what;" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("one", "1 given, but two sentences are needed; put each in quotation marks"),
        ("one two --conllu {0}/two.conllu", "not both"),
        ("one two --ids 1 2", "--ids names trees of a file"),
        ("--conllu {0}/more.conllu", "holds 5 trees, but 2 trees are needed; name them with --ids"),
        ("--conllu {0}/more.conllu --ids 1 none", "tree none: there is no word in it"),
        ("--conllu {0}/more.conllu --ids 1 9", "2 trees have id '9'"),
        ("--conllu {0}/more.conllu --ids 1 non", "no tree has id 'non'; did you mean none?"),
        ("--conllu {0}/none.conllu", "none.conllu: no such file"),
        ("one two", "has no tagger and parser"),
        ("one two --tagger t.pt", "--tagger and --parser belong together"),
        ("one two --tagger t.pt --parser p.pt", "t.pt: no such file"),
        ("one two --variant compare/x", "has no variant 'compare/x'"),
        ("one two --pair d p", "or --pair, not both"),
        ("--pair d r --ids r.1 r.3", "--ids names trees of a file, not of a pair"),
        ("--pair e p", "tiny: has no data set 'e'; there are: d"),
        ("--pair d p", "--pair p: {0}/pairs/d.jsonl has no such pair; ids look like p#1"),
        ("--pair d none", "--pair none: has no gold, so was not parsed"),
    ],
)
def test_what_does_not_fit_is_one_line(with_pairs, refused, words, message):
    refused(command(with_pairs, *words.format(with_pairs).split()), message.format(with_pairs))


def test_vectors_of_another_length_and_missing_runs_are_one_line(folder, tmp_path, refused):
    (tmp_path / "vectors.txt").write_text("lynx 1 2 3\n", encoding="utf-8")
    words = f"vectors load --input {tmp_path}/vectors.txt --format glove --output {tmp_path}/v"
    assert main(words.split()) == 0
    write_treebank(tmp_path / "t", [CHASED, Sentence("2", ("lynx",), ("NN",), (0,), ("ROOT",))])
    words = command(folder, "--conllu", tmp_path / "t", "--vectors", tmp_path / "v")
    refused(words, f"words with vectors of 3 dimensions, but the model has rank {RANK}")
    refused(command(tmp_path / "none", "a", "b"), "no run is there")


def test_text_is_parsed_with_the_run_s_tagger_and_parser(tmp_path, capsys, refused):
    pytest.importorskip("stanza")
    folder = make_run(tmp_path)
    treebank = write_treebank(tmp_path / "treebank.conllu", tiny_sentences())
    for kind in ("tagger", "parser"):
        files = f"--output {folder}/parser/{kind}.pt --report {tmp_path}/{kind}.json --option max_steps=20"
        words = f"train-{kind} --treebank {treebank} --dev {treebank} --preset tiny --seed 3 {files}"
        assert main(words.split()) == 0
    capsys.readouterr()
    content = explained(folder, capsys, "The dog sees a cat.", "a <b>cat</b>")
    assert [token["form"] for token in content["sentences"][0]["tokens"]] == list(CHASED.forms)
    assert content["sentences"][1]["text"] == "a <b>cat</b>"
    refused(command(folder, "The dog", " "), "the second sentence: there is no word in it")
