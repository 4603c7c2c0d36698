"""Stanza, trained on a tiny treebank: reproducible, and one graph for every text."""

import pickle
import socket
from random import Random

import pytest

pytest.importorskip("stanza")
import torch
from fuzz.changes import changed_value
from tiny_treebank import tiny_sentences

from bove.errors import BoveError
from bove.text import parser as parsing
from bove.text.conll import Sentence
from bove.text.parser import Parser, read_checkpoint, state_hash, write_checkpoint
from bove.text.parser_training import as_arguments, find_fault, find_options, train
from bove.text.tokens import Conventions

ODD = [
    "", "   \n ", "…", "😀👍🏽", "The dog\nsees a\tcat.", "The dog sees a cat. The boy likes a horse.",
    "dog " * 300, "\ud83d", "-LRB- `` '' -RRB-", "<unk> <pad> ROOT _ #", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    out = {}
    for kind in ("tagger", "parser"):
        path = folder / f"{kind}.pt"
        result = train(kind, tiny_sentences(), tiny_sentences(), find_options(kind, "tiny"), 1, path)
        out[kind] = path, result
    return out


@pytest.fixture(scope="module")
def parser(models):
    return Parser(models["tagger"][0], models["parser"][0], max_tokens=100)


def test_training_learns_the_treebank(models):
    assert models["tagger"][1].accuracy["tags"] > 0.8
    assert models["parser"][1].accuracy["UAS"] > 0.8
    assert models["parser"][1].accuracy["LAS"] <= models["parser"][1].accuracy["UAS"]


def test_equal_seeds_give_equal_weights_and_bytes(models, tmp_path):
    path, first = models["parser"]
    options = find_options("parser", "tiny")
    again = train("parser", tiny_sentences(), tiny_sentences(), options, 1, tmp_path / "a.pt")
    assert again.state_sha256 == first.state_sha256
    assert (tmp_path / "a.pt").read_bytes() == path.read_bytes()


def test_another_seed_gives_other_weights(models, tmp_path):
    options = find_options("tagger", "tiny")
    other = train("tagger", tiny_sentences(), tiny_sentences(), options, 2, tmp_path / "b.pt")
    assert other.state_sha256 != models["tagger"][1].state_sha256


def test_the_hash_is_of_the_weights(models):
    path, result = models["parser"]
    content = read_checkpoint(path, "parser")
    assert state_hash(content) == result.state_sha256
    name = next(iter(content["model"]))
    content["model"][name].view(-1)[0] += 1
    assert state_hash(content) != result.state_sha256


def test_some_sentences_are_trained_without_their_final_stop(models):
    counts = models["tagger"][1].training
    assert counts["read"] == counts["used"] == 45
    assert 5 <= counts["trained without their final punctuation"] <= 25


def test_one_graph_per_text_in_order_whatever_it_holds(parser):
    names = [f"pair-{i}.1" for i in range(len(ODD))]
    found = list(parser.parse(ODD, names))
    assert [tree.id for tree in found] == names
    for tree in found:
        size = len(tree.forms)
        assert len(tree.tags) == len(tree.heads) == len(tree.relations) == size
        assert all(0 <= head <= size and head != i for i, head in enumerate(tree.heads, 1))
        assert (tree.heads.count(0) > 0) == (size > 0)
    assert [len(tree.forms) for tree in found] == [0, 0, 1, 2, 6, 12, 300, 1, 4, 9, 0]


def test_two_sentences_are_one_graph_with_two_roots(parser):
    both, first = parser.parse([ODD[5], "The dog sees a cat."])
    assert both.heads.count(0) == 2
    assert both.forms[:6] == first.forms and both.heads[:6] == first.heads
    assert all(head == 0 or head > 6 for head in both.heads[6:])


def test_a_long_sentence_is_cut_and_counted(models):
    short = Parser(models["tagger"][0], models["parser"][0], max_tokens=4)
    [tree] = short.parse(["The dog sees a cat the boy likes"])
    assert len(tree.forms) == 8 and tree.heads.count(0) == 2
    assert short.counts[parsing.CUT] == 1 and short.counts[parsing.TOKENS] == 8
    forms = ("The", "dog", "sees", "a", "cat", "the", "boy", "likes", "well")
    [tree] = short.parse_tokens([Sentence("x", forms)])
    assert tree.forms == forms and tree.heads.count(0) == 3
    assert short.counts[parsing.CUT] == 2 and short.counts[parsing.TOKENS] == 17


def test_equal_texts_are_parsed_once(parser, monkeypatch):
    seen = []
    run = parser._pipeline
    monkeypatch.setattr(parser, "_pipeline", lambda pieces: seen.extend(pieces) or run(pieces))
    trees = list(parser.parse(["a dog", "a cat", "a dog"]))
    assert len(seen) == 2 and trees[0].heads == trees[2].heads and trees[2].id == "3"


def test_ready_made_tokens_are_kept_and_parsed_as_those_of_a_text(parser, monkeypatch):
    monkeypatch.setattr(parsing, "CHUNK", 2)
    texts = ["The dog sees a cat.", "", "The girl likes a horse.", "A boy"]
    expected = list(parser.parse(texts))
    bare = [Sentence(tree.id, tree.forms, ("?",) * len(tree.forms)) for tree in expected]
    assert list(parser.parse_tokens(iter(bare))) == expected
    # two sentences for text, one for ready-made tokens
    [tree] = parser.parse_tokens([Sentence("x", ("dog", ".", "The", "cat"))])
    assert tree.forms == ("dog", ".", "The", "cat") and tree.heads.count(0) == 1


def test_parses_have_the_labels_and_signs_of_the_treebank(parser):
    assert {"SBJ", "OBJ", "NMOD", "ROOT"} <= parser.relations
    [tree] = parser.parse(['The dog sees a cat ("well-known").'])
    assert tree.forms == ("The", "dog", "sees", "a", "cat", "-LRB-", "``", "well-known", "''", "-RRB-", ".")
    assert set(tree.relations) <= parser.relations


def test_a_sentence_that_can_not_be_parsed_is_named(parser, monkeypatch):
    run = parser._pipeline

    def fail(pieces):
        if any("horse" in piece for piece in pieces):
            raise RuntimeError("no tree")
        return run(pieces)

    monkeypatch.setattr(parser, "_pipeline", fail)
    with pytest.raises(BoveError, match=r"sentence p-2\.1: .*no tree"):
        list(parser.parse(["a dog", "a horse", "a cat"], ["p-1.1", "p-2.1", "p-3.1"]))


def test_sentences_that_are_no_tree_are_left_out_and_counted(tmp_path):
    forms, tags, labels = ("a", "b"), ("X", "Y"), ("l", "l")
    odd = {"with several roots": (0, 0), "without a root": (2, 2), "with missing heads or labels": (0, -1)}
    for fault, heads in odd.items():
        assert find_fault(Sentence("1", forms, tags, heads, labels), "parser") == fault
        assert find_fault(Sentence("1", forms, tags, heads, labels), "tagger") is None
    assert find_fault(Sentence("1", forms, tags, (0, 2), labels), "parser") == "with a cycle"
    ring = Sentence("1", ("a", "b", "c"), ("X",) * 3, (0, 3, 2), ("l",) * 3)
    assert find_fault(ring, "parser") == "with a cycle"
    assert find_fault(Sentence("1", forms, ("X", "_"), (0, 1), labels), "tagger") == "with untagged tokens"
    bad = Sentence("1", forms, tags, (0, 0), labels)
    both = [[*tiny_sentences(), bad]] * 2
    result = train("parser", *both, find_options("parser", "tiny"), 1, tmp_path / "p")
    for counts in (result.training, result.development):
        assert (counts["read"], counts["used"], counts["with several roots"]) == (46, 45, 1)


@pytest.mark.parametrize(("code", "raised"), [(143, SystemExit), (1, BoveError)])
def test_a_signal_to_a_training_is_not_taken_for_a_fault_of_the_treebank(tmp_path, monkeypatch, code, raised):
    def leave(arguments):
        raise SystemExit(code)

    monkeypatch.setattr("stanza.models.tagger.main", leave)
    with pytest.raises(raised):
        train("tagger", tiny_sentences(), tiny_sentences(), find_options("tagger", "tiny"), 1, tmp_path / "x")


def test_nothing_to_train_or_develop_on_is_said(tmp_path):
    options = find_options("tagger", "tiny")
    with pytest.raises(BoveError, match="development file can be used"):
        train("tagger", tiny_sentences(), [], options, 1, tmp_path / "x.pt")
    bad = Sentence("1", ("a",), ("X",), (-1,), ("_",))
    with pytest.raises(BoveError, match="1 with missing heads"):
        train("parser", [bad], tiny_sentences(), options, 1, tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("steps", [1, 2, 7, 50, 1799, 2100, 2500, 10_000])
def test_the_rate_of_a_full_training_falls_once_and_its_end_is_measured(steps):
    options = find_options("tagger", "full", [f"max_steps={steps}"])
    fall = options["max_steps_before_stop"]  # Stanza's tagger falls when as many steps brought nothing better
    assert options["eval_interval"] == steps and fall <= steps
    assert steps == 1 or (fall < steps and steps - fall <= fall)  # and would stop after as many again
    options = find_options("parser", "full", [f"max_steps={steps}"])
    fall, interval = options["second_optim_start_step"], options["eval_interval"]
    assert interval <= max(fall, 1) <= steps  # a model has been kept, from which the parser goes on
    assert steps - steps // interval * interval <= max(2, steps % 3)
    assert steps == 1 or abs(fall - 2 / 3 * steps) <= 1 + steps / 2500  # as in the preset
    assert steps != 2500 or (fall, interval) == (1666, 833)
    kept = find_options("parser", "full", ["max_steps=10", "eval_interval=4", "no_second_optim=true"])
    assert kept["eval_interval"] == 4 and as_arguments(kept)[-1] == "--no_second_optim"


def test_options_change_a_preset_and_switches_are_true_or_false():
    options = find_options("parser", "demo", ["hidden-dim=16", "no_char=false", "max_steps=7"])
    assert options["hidden_dim"] == 16 and options["no_char"] is False and options["eval_interval"] == 7
    words = as_arguments(options)
    assert "--no_char" not in words and "--no_xpos" in words
    assert words[words.index("--hidden_dim") + 1] == "16"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("hiden_dim=3", "did you mean hidden_dim"),
        ("hidden_dim=many", "invalid int value"),
        ("no_char=1", "write true or false"),
        ("seed=4", "set by bove itself"),
        ("charlm=true", "set by bove itself"),
        ("hidden_dim", "write it as key=value"),
        ("max_steps=0", "give 1 or more"),
    ],
)
def test_a_wrong_option_is_refused(change, message):
    with pytest.raises(BoveError, match=message):
        find_options("parser", "tiny", [change])


def test_a_file_that_could_run_code_is_not_opened(tmp_path):
    path = tmp_path / "trap.pt"
    path.write_bytes(pickle.dumps({"model": socket.socket}, protocol=2))
    with pytest.raises(BoveError, match="read safely"):
        read_checkpoint(path, "tagger")
    torch.save({"model": {}, "vocab": {"upos": 1}, "config": {"f": print}}, path)
    with pytest.raises(BoveError, match="read safely"):
        read_checkpoint(path, "tagger")


def test_files_that_are_no_such_model_are_told_apart(models, tmp_path):
    tagger, parser = models["tagger"][0], models["parser"][0]
    with pytest.raises(BoveError, match="exchange the two files"):
        Parser(parser, tagger, max_tokens=9)
    with pytest.raises(BoveError, match="no such file"):
        Parser(tagger, tmp_path / "none.pt", max_tokens=9)
    broken = tmp_path / "cut.pt"
    broken.write_bytes(parser.read_bytes()[:2000])
    with pytest.raises(BoveError, match=r"cut\.pt"):
        Parser(tagger, broken, max_tokens=9)
    torch.save([1], broken)
    with pytest.raises(BoveError, match="not a Stanza model"):
        Parser(tagger, broken, max_tokens=9)


def test_a_model_names_no_path_of_its_training(models):
    for path, _ in models.values():
        assert b"/tmp" not in path.read_bytes() and str(path.parent).encode() not in path.read_bytes()


def test_a_model_of_stanza_alone_gets_the_default_conventions(models, tmp_path):
    tagger, parser = models["tagger"][0], models["parser"][0]
    content = read_checkpoint(parser, "parser")
    write_checkpoint(tmp_path / "own.pt", content, "parser", Conventions())
    content = read_checkpoint(tmp_path / "own.pt", "parser")
    del content["bove"]
    torch.save(content, tmp_path / "own.pt")
    assert Parser(tagger, tmp_path / "own.pt", max_tokens=9).conventions == Conventions()
    content["config"]["charlm"] = True
    torch.save(content, tmp_path / "own.pt")
    with pytest.raises(BoveError, match="needs further files: give --charlm-forward, --charlm-backward"):
        Parser(tagger, tmp_path / "own.pt", max_tokens=9)


@pytest.mark.parametrize("kind", ["tagger", "parser"])
def test_a_model_with_an_odd_part_parses_or_is_refused_in_one_line(models, kind, tmp_path):
    paths = {name: path for name, (path, _) in models.items()}
    content, chance, refused = read_checkpoint(paths[kind], kind), Random(0), 0
    for _ in range(40):
        changed = changed_value(content, chance)
        torch.save(changed, tmp_path / "odd.pt")
        files = paths | {kind: tmp_path / "odd.pt"}
        try:
            list(Parser(files["tagger"], files["parser"], max_tokens=100).parse(["Dogs bark."]))
        except BoveError as e:
            refused += 1
            assert str(files[kind]) in str(e) or "cannot parse it" in str(e)
    assert 5 < refused < 40
