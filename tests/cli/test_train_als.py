"""`bove train-als`, `train-again`, `compress` and `infer` on a small treebank, by their command lines."""

import csv
import re
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import reference
from tiny_treebank import count_and_encode, flat, tiny_sentences, write_treebank

from bove.bags.store import Bags
from bove.cli import train
from bove.cli.main import main
from bove.factor import als
from bove.factor.model import LowRank, Model
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import load_graphs
from bove.text.vectors import WordVectors, write_vectors
from bove.text.vocabulary import Vocabulary

RANK = 6
WORDS = ["dog", "cat", "girl", "boy", "sees", "follows", "likes"]
TRAIN = [
    "--rank", RANK, "--scale", "absolute", "--alpha", 2, "--lambda-P", 1, "--lambda-R", 0.5, "--lambda-E", 3,
    "--dtype", "float32", "--penalty-P", "l2", "--penalty-R", "l2",
    "--max-rounds", 5, "--tolerance", 1e-9, "--restart-every", 3, "--restart-iterations", 4,
    "--e-step", "averaged", "--e-tolerance", 1e-3, "--e-energy", 1, "--r-tolerance", 1e-4,
    "--r-iterations", 40, "--batch-tokens", 64, "--checkpoint-every", 2, "--seed", 3,
]  # fmt: skip


def bove(*args) -> int:
    return main([str(arg) for arg in args])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with treebank, vocabulary, vectors, graphs and a model."""
    folder = tmp_path_factory.mktemp("built")
    rng = np.random.default_rng(0)
    twice = [flat(name, ("dog", "sees")) for name in ("again", "same")]
    write_treebank(folder / "t.conllu", [*tiny_sentences(), Sentence("nothing"), *twice])
    vectors = rng.standard_normal((len(WORDS) + 1, RANK)).astype(np.float32)
    write_vectors(folder / "v", [([w.encode() for w in [*WORDS, "wolves"]], vectors)], {})
    count_and_encode(folder)
    assert not bove("train-als", *inputs(folder), *TRAIN, *outputs(folder, "m"))
    return folder


def log_of(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def same(folder, one, two):
    """Whether two trainings gave one model and one log."""
    pairs = ((folder / f"{one}{end}", folder / f"{two}{end}") for end in ("", ".csv"))
    return all(first.read_bytes() == second.read_bytes() for first, second in pairs)


def inputs(folder):
    return ["--graphs", folder / "g", "--vocabulary", folder / "vocabulary", "--vectors", folder / "v"]


def outputs(folder, name):
    return ["--output", folder / name, "--training-log", folder / f"{name}.csv"]


def infer(folder, output, *options, system="bove", model="m"):
    return bove(
        "infer", "--system", system, "--model", folder / model, "--graphs", folder / "g", "--iterations", 30,
        "--tolerance", 0, "--solver", "averaged", "--energy", 1, "--batch-tokens", 64, *options,
        "--output", folder / output,
    )  # fmt: skip


def dense(corpus):
    """The oracle's cells of every graph."""
    tokens = np.repeat(np.arange(corpus.n_tokens), np.diff(corpus.property_offsets))
    W = np.zeros((corpus.n_properties, corpus.n_tokens))
    X = np.zeros((corpus.n_relations, corpus.n_tokens, corpus.n_tokens))
    W[corpus.properties, tokens] = X[corpus.arc_relation, corpus.arc_head, corpus.arc_dependent] = 1
    return [(W[:, a:b], X[:, a:b, a:b]) for a, b in pairwise(corpus.token_offsets)]


def test_the_log_has_a_row_a_round_and_terms_that_add_up(built):
    rows = log_of(built / "m.csv")
    assert [row["round"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row["restart"] for row in rows] == ["0", "0", "0", "1", "0"]
    relations = Vocabulary.load(built / "vocabulary").relations
    terms = ["words", "tags", *(f"relation:{name}" for name in relations)]
    for row in rows:
        parts = sum(float(row[name]) for name in [*terms, "lambda_P", "lambda_R", "lambda_E"])
        assert float(row["total"]) == pytest.approx(parts)


def test_frozen_rows_are_the_pretrained_vectors(built):
    model, vocabulary = Model.load(built / "m"), Vocabulary.load(built / "vocabulary")
    vectors = WordVectors.open(built / "v")
    row = vocabulary.words.index("dog")
    assert model.frozen[row] and not model.frozen[vocabulary.n_words :].any()
    np.testing.assert_array_equal(model.properties[row], vectors.rows(vectors.find(["dog"]))[0])
    assert model.hyperparameters["alpha"] == 2 and model.relation_names == vocabulary.relations


@pytest.mark.parametrize("threads", [1, 2])
def test_training_gives_the_same_bytes_on_any_number_of_threads(built, threads):
    words = ["train-als", *inputs(built), *TRAIN, *outputs(built, f"m{threads}"), "--threads", threads]
    assert not bove(*words) and same(built, f"m{threads}", "m")
    assert not list(built.glob("*.checkpoint"))


def test_a_stopped_training_goes_on(built):
    words = ["train-als", *inputs(built), *TRAIN, "--max-rounds", 4000, *outputs(built, "stop")]
    command = [sys.executable, "-m", "bove", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert any("round 20:" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
    assert process.returncode == 143 and "run again to go on" in rest, rest
    assert not (built / "stop").exists() and (built / "stop.checkpoint").exists()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert "going on from round" in "".join(process.stderr.readline() for _ in range(3))
        process.kill()


@pytest.mark.parametrize(("system", "rounds"), [("bove", 30), ("properties-only", 3)])
def test_averaged_bags_equal_the_oracle_and_duplicates_share_one(built, system, rounds):
    assert not infer(built, system, system=system)
    bags, model = Bags.open(built / system), Model.load(built / "m")
    corpus = load_graphs(built / "g")
    P, R = model.properties.astype(float), model.relations.astype(float) * (system == "bove")
    for name, graph in zip(corpus.ids, dense(corpus), strict=True):
        want = reference.infer(graph, P, R, 2, 3, rounds)
        np.testing.assert_allclose(bags[name], want, rtol=2e-3, atol=2e-5)
    assert bags["nothing"].shape == (0, RANK)
    assert bags.bag_of("again") == bags.bag_of("same") and bags.n_bags < len(bags)
    assert bags.system == system and bags.model_hash == model.hash


def test_a_compressed_model_at_energy_one_gives_the_same_bags(built):
    assert bove("compress", "--model", built / "m", "--energy", 0, "--output", built / "c") == 2
    assert not bove("compress", "--model", built / "m", "--energy", 1, "--output", built / "c")
    assert isinstance(Model.load(built / "c").relations, LowRank)
    fast = ["--solver", "fixed-point", "--tolerance", 1e-5, "--iterations", 200]
    assert not infer(built, "fast", *fast, "--report", built / "r.csv")
    assert not infer(built, "compressed", *fast, model="c")
    assert not infer(built, "averaged", "--iterations", 400, "--tolerance", 1e-5)
    one, two, three = (Bags.open(built / name) for name in ("fast", "compressed", "averaged"))
    for name in one.ids:
        np.testing.assert_allclose(one[name], two[name], rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(one[name], three[name], rtol=1e-3, atol=1e-5)
    (row,) = (row for row in log_of(built / "r.csv") if row["id"] == "again")
    assert row["tokens"] == "2" and int(row["iterations"]) > 1


def test_nuclear_relations_are_written_with_the_ranks_that_compressing_and_inference_find(built):
    penalties = ["--penalty-R", "nuclear", "--lambda-R", 2, "--penalty-P", "l1", "--r-iterations", 4000]
    assert not bove("train-als", *inputs(built), *TRAIN, *penalties, *outputs(built, "n"))
    model = Model.load(built / "n")
    assert model.hyperparameters["penalty_R"] == "nuclear" and model.hyperparameters["penalty_P"] == "l1"
    s = np.linalg.svd(model.relations.astype(float), compute_uv=False)
    ranks = (s > 1e-5 * s[:, :1]).sum(axis=1)
    assert 0 < ranks.sum() < 0.6 * len(s) * RANK
    assert not bove("compress", "--model", built / "n", "--energy", 1, "--output", built / "nc")
    np.testing.assert_array_equal(Model.load(built / "nc").relations.ranks, ranks)
    assert (built / "nc").stat().st_size < (built / "n").stat().st_size
    log = built / "n.log"
    options = ["--solver", "fixed-point", "--tolerance", 1e-5, "--iterations", 200, "--log", log]
    assert not infer(built, "nb", *options, model="n")
    assert f"relations: {ranks.sum()} of {len(s) * RANK} singular values kept" in log.read_text()


def test_a_penalty_that_leaves_no_relation_is_said_to_be_too_large(built, capsys):
    penalties = ["--penalty-R", "l1", "--lambda-R", 1e4, "--max-rounds", 1]
    assert not bove("train-als", *inputs(built), *TRAIN, *penalties, *outputs(built, "zero"))
    assert "every relation is 0: lambda_R is too large for the l1 penalty" in capsys.readouterr().err
    assert not Model.load(built / "zero").relations.any()


def test_the_baseline_has_the_words_that_have_a_vector_and_no_others(built):
    assert not bove(
        "infer", "--system", "word-vectors", "--vectors", built / "v", "--vocabulary", built / "vocabulary",
        "--sentences", built / "t.conllu", "--output", built / "w",
    )  # fmt: skip
    bags, vectors = Bags.open(built / "w"), WordVectors.open(built / "v")
    for sentence in read_sentences(built / "t.conllu"):
        known = [form for form in sentence.forms if form in WORDS]
        np.testing.assert_array_equal(bags[sentence.id], vectors.rows(vectors.find(known)))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--rank", 7], "set rank to 6"),
        (["--lambda-E", "nan"], "--lambda-E nan: must be a finite number"),
        (["--checkpoint-every", -1], "--checkpoint-every -1: must be at least 0"),
        (["--penalty-P", "nuclear"], "--penalty-P nuclear: must be one of l2, l1"),
        (["--graphs", "nowhere"], "nowhere: no such file"),
        (["--alpha", 1e38, "--lambda-R", 0], "raise lambda_"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(built, refused, change, says):
    before = {path for path in built.iterdir() if "checkpoint" not in path.name}
    refused(["train-als", *inputs(built), *TRAIN, *change, *outputs(built, "bad")], says)
    assert {path for path in built.iterdir() if "checkpoint" not in path.name} == before
    (built / "bad.checkpoint").unlink(missing_ok=True)


def test_graphs_of_another_vocabulary_and_files_that_are_no_model_are_refused(built, refused, tmp_path):
    (tmp_path / "t.conllu").write_bytes((built / "t.conllu").read_bytes())
    count_and_encode(tmp_path, "--min-words", "9")
    words = ["infer", "--system", "bove", "--output", built / "x", "--model"]
    said = "encode the sentences with the model's vocabulary"
    refused([*words, built / "m", "--graphs", tmp_path / "g"], said, built / "x")
    (tmp_path / "cut").write_bytes((built / "m").read_bytes()[:-100])
    for path in (tmp_path / "cut", built / "g", built / "t.conllu"):
        refused([*words, path, "--graphs", built / "g"], str(path), built / "x")


# Times of the rounds, and steps cut short


def command(folder, name, *options):
    """The command line that writes the model `name`, its log and its times."""
    times = ["--times", folder / f"{name}.times"]
    return ["train-als", *inputs(folder), *TRAIN, *outputs(folder, name), *times, *options]


@pytest.fixture
def happened(monkeypatch):
    """What happened of `round` and `save`, by a clock on which they alone take time: 2 and 1000 seconds."""
    names, one_round, save = [], als.AlsTrainer._round, train.Checkpoint.save
    lengths = {"round": 2, "save": 1000}

    def slow_round(*args):
        names.append("round")
        return one_round(*args)

    def slow_save(*args):
        names.append("save")
        save(*args)

    monkeypatch.setattr(als.AlsTrainer, "_round", slow_round)
    monkeypatch.setattr(train.Checkpoint, "save", slow_save)
    clock = SimpleNamespace(monotonic=lambda: float(sum(lengths[name] for name in names)))
    monkeypatch.setattr(als, "time", clock)
    return names


def test_times_have_the_seconds_up_to_each_round_without_checkpoints(built, happened, capsys):
    assert not bove(*command(built, "timed"))
    assert happened.count("save") == 2
    times = log_of(built / "timed.times")
    assert list(times[0]) == ["round", "seconds", "total"]
    assert [float(row["seconds"]) for row in times] == [2, 4, 6, 8, 10]
    assert [row["total"] for row in times] == [row["total"] for row in log_of(built / "timed.csv")]
    assert len(re.findall(r"round \d.*; 2\.0 s$", capsys.readouterr().err, re.M)) == 5


def test_a_resumed_training_counts_on_to_the_bytes_of_an_undisturbed_one(built, happened, monkeypatch):
    one_round = als.AlsTrainer._round

    def stopped(self, state, workers):
        if state.round == 3:
            raise KeyboardInterrupt
        return one_round(self, state, workers)

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(als.AlsTrainer, "_round", stopped)
        bove(*command(built, "stopped"))
    assert not (built / "stopped.times").exists()
    assert not bove(*command(built, "stopped"))
    assert [float(row["seconds"]) for row in log_of(built / "stopped.times")] == [2, 4, 6, 8, 10]
    assert same(built, "stopped", "m") and not (built / "m.times").exists()


@pytest.mark.parametrize(
    "said", ["of another training; starting afresh", "without a hash; make the file again; star"]
)
def test_a_checkpoint_of_another_training_or_version_is_not_gone_on_from(built, monkeypatch, capsys, said):
    load, key = train.artefacts.load, "key" if "training" in said else "seconds"

    def of_old(path, format, *needed):
        if format != train.FORMAT:
            return load(path, format, *needed)
        arrays, metadata = load(path, format)
        if key == "key":
            return arrays, metadata | {key: "other"}
        with train.artefacts.create(path, format, {k: (a.dtype, a.shape) for k, a in arrays.items()}, {}):
            pass
        return load(path, format)

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(train, "log_round", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        bove(*command(built, "old"))
    monkeypatch.setattr(train.artefacts, "load", of_old)
    assert not bove(*command(built, "old"))
    assert said in capsys.readouterr().err
    assert [row["round"] for row in log_of(built / "old.times")] == ["1", "2", "3", "4", "5"]


def test_a_step_that_runs_out_of_iterations_is_warned_of_once_with_what_to_raise(built, capsys, monkeypatch):
    from bove.factor import penalties, training

    assert not bove(*command(built, "enough", "--r-iterations", 1000))
    assert "still above its tolerance" not in capsys.readouterr().err
    for module in (penalties, training):
        monkeypatch.setattr(module, "P_ITERATIONS", 2)
    few = ["--r-iterations", 1, "--r-tolerance", 1e-6, "--penalty-P", "l1", "--max-rounds", 3]
    assert not bove(*command(built, "short", *few))
    rows = log_of(built / "short.csv")
    told = [line for line in capsys.readouterr().err.splitlines() if "still above its tolerance" in line]
    assert len(told) == 2
    for line, name, tolerance, advice in (
        (told[0], "r", "1e-06 after all 1", "r_iterations or r_tolerance"),
        (told[1], "p", "0.0001 after all 2", "lambda_P"),
    ):
        worst = max(float(row[f"{name}_residual"]) for row in rows)
        assert f"{name.upper()}-step: still above its tolerance of {tolerance} iterations in 3 of 3" in line
        assert line.endswith(f"by a residual of {worst:.1e}; raise {advice}")


def test_a_loss_below_0_ends_the_training_and_no_model_is_written(built, refused, monkeypatch):
    terms = als.terms
    monkeypatch.setattr(als, "terms", lambda *given: {**(row := terms(*given)), "total": -row["total"]})
    words = command(built, "swamped", "--max-rounds", 2)
    refused(words, "training: L is below 0 in round 1", built / "swamped")


@pytest.mark.parametrize("flag", ["--output", "--training-log", "--times"])
def test_a_place_that_cannot_be_written_is_refused_before_training(built, refused, happened, flag):
    refused([*command(built, "bad"), flag, built], f"{built}: cannot be written", lines=1)
    assert happened == []


# Training again


def again(folder, model, output, seed, *, vectors=True):
    files = ["--model", folder / model, "--graphs", folder / "g", "--vocabulary", folder / "vocabulary"]
    files += ["--vectors", folder / "v"] if vectors else []
    return ["train-again", *files, *outputs(folder, output), "--checkpoint-every", 2, "--seed", seed]


def test_training_again_goes_by_the_settings_of_the_model_and_its_own_seed(built):
    assert not bove("train-als", *inputs(built), *TRAIN[:-1], 9, *outputs(built, "nine"))
    assert not bove(*again(built, "m", "second", 9)) and same(built, "second", "nine")
    before, after = Model.load(built / "m"), Model.load(built / "second")
    equal = np.all(after.properties == before.properties, axis=1)
    np.testing.assert_array_equal(equal, before.frozen)
    assert not np.array_equal(after.relations, before.relations)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trainer": "other"}, "trained by 'other'; known: als, sgd"),
        ({"e_step": None}, "does not record the setting e_step; train that model again"),
        ({"vocabulary": "other"}, "not the vocabulary of"),
        ({"vectors": None}, "has words with a pretrained vector; give their file with --vectors"),
    ],
)
def test_a_model_that_cannot_be_trained_again_is_refused(built, refused, change, message):
    model = Model.load(built / "m")
    given = {k: v for k, v in {**model.hyperparameters, **change}.items() if v is not None}
    given.pop("vocabulary", None)
    hash_ = change.get("vocabulary", model.vocabulary_hash)
    replace(model, hyperparameters=given, vocabulary_hash=hash_).save(built / "changed")
    words = again(built, "changed", "none", 2, vectors="vectors" not in change)
    refused(words, message, built / "none")
