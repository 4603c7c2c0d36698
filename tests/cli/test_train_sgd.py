"""`bove train-sgd` on a small treebank, by its command line."""

import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from test_train_als import again, bove, log_of
from tiny_treebank import count_and_encode, tiny_sentences, write_treebank

from bove.bags.store import Bags
from bove.cli import train
from bove.factor import sampling, sgd
from bove.factor.model import Model
from bove.text.vectors import write_vectors
from bove.text.vocabulary import Vocabulary

RANK = 5
OPTIONS = {
    "rank": RANK, "scale": "absolute", "alpha": 2, "lambda-P": 1, "lambda-R": 0.5, "lambda-E": 3,
    "dtype": "float32", "seed": 3, "learning-rate": 0.1, "epochs": 6, "batch-sentences": 8, "negatives": 3,
    "negative-weight": "unbiased", "patience": 3, "held-out": 0.1, "device": "cpu",
    "penalty-P": "l2", "penalty-R": "l2",
}  # fmt: skip


def command(folder, name, **changes):
    """The command line that writes the model `name`."""
    given = OPTIONS | {key.replace("_", "-"): value for key, value in changes.items()}
    options = [part for key, value in given.items() for part in (f"--{key}", value)]
    paths = ["--graphs", "g", "--vocabulary", "vocabulary", "--vectors", "v", "--output", name]
    paths = [part if part.startswith("--") else folder / part for part in paths]
    return ["train-sgd", *paths, "--training-log", folder / f"{name}.csv", *options]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with treebank, vocabulary, vectors, graphs and a model."""
    folder = tmp_path_factory.mktemp("sgd")
    write_treebank(folder / "t.conllu", tiny_sentences())
    words = ["dog", "cat", "sees", "the"]
    vectors = np.random.default_rng(0).standard_normal((len(words), RANK)).astype(np.float32)
    write_vectors(folder / "v", [([word.encode() for word in words], vectors)], {})
    count_and_encode(folder)
    assert not bove(*command(folder, "m"))
    return folder


def test_the_log_has_the_terms_of_the_other_trainer_and_they_add_up(built):
    rows = log_of(built / "m.csv")
    relations = [f"relation:{name}" for name in Vocabulary.load(built / "vocabulary").relations]
    terms = ["words", "tags", *relations, "lambda_P", "lambda_R", "lambda_E"]
    explained = [f"explained:{name}" for name in ("relations", "words", "tags", *relations)]
    assert list(rows[0]) == ["round", "restart", *terms, "total", *explained, "sampled", "held_out"]
    for number, row in enumerate(rows, 1):
        assert (row["round"], row["restart"]) == (str(number), "0")
        assert float(row["total"]) == pytest.approx(sum(float(row[name]) for name in terms))
    assert float(rows[-1]["total"]) < float(rows[0]["total"])


def test_the_model_is_that_of_the_best_epoch_and_infers_bags(built):
    held = [float(row["held_out"]) for row in log_of(built / "m.csv")]
    model, vocabulary = Model.load(built / "m"), Vocabulary.load(built / "vocabulary")
    given = model.hyperparameters
    assert given["epoch"] == int(np.argmin(held)) + 1 and given["epochs_done"] == len(held)
    assert (given["trainer"], given["alpha"], given["lambda_E"]) == ("sgd", 2, 3)
    frozen = [name for name, held in zip(vocabulary.words, model.frozen, strict=False) if held]
    assert {"dog", "cat", "sees"} <= set(frozen)
    row = vocabulary.words.index("dog")
    rng = np.random.default_rng(0)
    assert model.properties[row].tobytes() == rng.standard_normal((4, RANK)).astype(np.float32)[0].tobytes()
    assert model.relations.any()
    assert not bove(
        "infer", "--system", "bove", "--model", built / "m", "--graphs", built / "g", "--iterations", 30,
        "--tolerance", 0, "--solver", "averaged", "--energy", 1, "--batch-tokens", 64,
        "--output", built / "bags",
    )  # fmt: skip
    bags = Bags.open(built / "bags")
    assert bags[bags.ids[0]].shape == (11, RANK) and bags.model_hash == model.hash


def test_training_again_goes_by_the_settings_of_the_model(built):
    assert not bove(*command(built, "nine", seed=9))
    assert not bove(*again(built, "m", "second", 9))
    assert (built / "second").read_bytes() == (built / "nine").read_bytes()
    assert Model.load(built / "second").hash != Model.load(built / "m").hash


def test_penalties_leave_zeros_in_p_and_low_rank_in_r_and_are_in_the_model(built):
    assert not bove(*command(built, "sparse", penalty_P="l1", lambda_P=20, penalty_R="nuclear", lambda_R=0.1))
    model = Model.load(built / "sparse")
    given = model.hyperparameters
    assert (given["penalty_P"], given["penalty_R"]) == ("l1", "nuclear")
    assert (model.properties[~model.frozen] == 0).any() and (model.properties[model.frozen] != 0).all()
    s = np.linalg.svd(model.relations.astype(float), compute_uv=False)
    ranks = (s > 1e-5 * s[:, :1]).sum(axis=1)
    assert 0 < ranks.sum() < 0.9 * len(s) * RANK
    assert Model.load(built / "m").hyperparameters["penalty_R"] == "l2"


def test_times_have_the_seconds_of_the_updates_and_not_those_of_watching(built, monkeypatch):
    start, update, evaluate = sgd.SgdTrainer._start, sgd.SgdTrainer._update, sgd.SgdTrainer._evaluate
    now = [0.0]

    def takes(seconds, function):
        def slow(*args):
            now[0] += seconds
            return function(*args)

        return slow

    monkeypatch.setattr(sgd.SgdTrainer, "_start", takes(0.5, start))
    monkeypatch.setattr(sgd.SgdTrainer, "_update", takes(1, update))
    monkeypatch.setattr(sgd.SgdTrainer, "_evaluate", takes(1000, evaluate))
    for module in (sgd, train):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert not bove(*command(built, "timed", times=built / "timed.times"))
    log = log_of(built / "timed.csv")
    rows = log_of(built / "timed.times")
    held = round(OPTIONS["held-out"] * len(tiny_sentences()))
    updates = -(-(len(tiny_sentences()) - held) // OPTIONS["batch-sentences"])
    assert [float(row["seconds"]) for row in rows] == [0.5 + updates * n for n in range(1, len(log) + 1)]
    assert [(row["round"], row["total"]) for row in rows] == [(row["round"], row["total"]) for row in log]
    assert list(rows[0]) == ["round", "seconds", "total"]
    assert (built / "timed").read_bytes() == (built / "m").read_bytes()


def test_with_nothing_held_out_the_objective_is_watched(built):
    assert not bove(*command(built, "all", held_out=0, negative_weight=1, negatives=0))
    assert {row["held_out"] for row in log_of(built / "all.csv")} == {""}


def test_tokens_without_negatives_are_reported_once(built, capsys, monkeypatch):
    fit = sampling.Sampler.__init__

    def some_exhausted(self, *args, **options):
        fit(self, *args, **options)
        self.exhausted = {"tokens": 7}

    monkeypatch.setattr(sampling.Sampler, "__init__", some_exhausted)
    assert not bove(*command(built, "exhausted"))
    assert capsys.readouterr().err.count("7 tokens have no zero cell, and so get no negatives") == 1


def test_a_learning_rate_that_is_too_high_is_one_sentence_and_leaves_no_model(built, capsys):
    assert bove(*command(built, "wild", learning_rate=1e4)) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("bove train-sgd:")]
    assert len(said) == 1 and "in epoch 1 at learning rate 10000" in said[0] and "no model to keep" in said[0]
    assert not list(built.glob("wild*")) and not list(built.glob(".wild*"))


def test_divergence_after_good_epochs_keeps_the_best_model(built, capsys, monkeypatch):
    update, calls = sgd.SgdTrainer._update, []

    def breaks_in_the_third_epoch(self, sample):
        calls.append(sample)
        batches = -(-self.training.n_graphs // OPTIONS["batch-sentences"])
        return float("nan") if len(calls) > 2 * batches else update(self, sample)

    monkeypatch.setattr(sgd.SgdTrainer, "_update", breaks_in_the_third_epoch)
    assert bove(*command(built, "lost")) == 2
    assert "is not finite in epoch 3" in (said := capsys.readouterr().err)
    assert f"is kept in {built / 'lost.last-good'}" in said
    assert not (built / "lost").exists() and not (built / "lost.csv").exists()
    assert Model.load(built / "lost.last-good").hyperparameters["epochs_done"] == 2
    monkeypatch.setattr(sgd.SgdTrainer, "_update", update)
    assert not bove(*command(built, "lost"))
    assert not (built / "lost.last-good").exists()


def test_sigterm_leaves_nothing(built):
    line = command(built, "stopped", epochs=100000, patience=100000)
    words = [sys.executable, "-m", "bove", *map(str, line)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert any("epoch 2:" in text for text in process.stderr)
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
    assert process.returncode == 143 and "stopped; nothing was written" in rest
    assert not list(built.glob("stopped*")) and not list(built.glob(".stopped*"))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"epochs": 0}, "--epochs 0: must be at least 1"),
        ({"negative_weight": "some"}, "--negative-weight some: must be a finite number, at least 0, or"),
        ({"penalty_R": "L1"}, "--penalty-R L1: must be one of l2, l1, nuclear, nuclear-shrink"),
        ({"held_out": 0.999}, "set held_out to 0, which watches"),
    ],
)
def test_bad_options_are_one_clear_sentence(built, refused, changes, message):
    refused(command(built, "bad", **changes), message)
    assert not list(built.glob("bad*"))


def test_a_device_that_is_not_there_is_no_silent_fallback(built, refused, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch, "use_deterministic_algorithms", lambda on: None)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    refused(command(built, "gpu", device="cuda"), "PyTorch finds no CUDA device here", built / "gpu")


def test_help_needs_no_pytorch():
    code = "import sys; from bove.cli.main import main\ntry: main(['train-sgd', '--help'])\n"
    code += "except SystemExit: pass\nsys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0
