"""What `bove train-als` reports beside its model: the times of its rounds, and steps cut short."""

import csv
import re
from types import SimpleNamespace

import pytest
from test_train_als import TRAIN, bove
from tiny_treebank import count_and_encode, tiny_sentences, write_treebank

from bove.cli import train as als_checkpoint
from bove.cli import train as train_als
from bove.factor import als


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with vocabulary and graphs."""
    folder = tmp_path_factory.mktemp("reports")
    write_treebank(folder / "t.conllu", tiny_sentences())
    count_and_encode(folder)
    return folder


def command(folder, name, *options):
    """The command line that writes the model `name` and all that is beside it."""
    paths = ["--graphs", "g", "--vocabulary", "vocabulary", "--output", name]
    paths += ["--training-log", f"{name}.csv", "--times", f"{name}.times"]
    return ["train-als", *(x if x.startswith("--") else folder / x for x in paths), *TRAIN, *options]


def log_of(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def happened(monkeypatch):
    """What happened of `round` and `save`, by a clock on which they alone take time: 2 and 1000 seconds."""
    names, one_round, save = [], als.AlsTrainer._round, train_als.Checkpoint.save
    lengths = {"round": 2, "save": 1000}

    def slow_round(*args):
        names.append("round")
        return one_round(*args)

    def slow_save(*args):
        names.append("save")
        save(*args)

    monkeypatch.setattr(als.AlsTrainer, "_round", slow_round)
    monkeypatch.setattr(train_als.Checkpoint, "save", slow_save)
    clock = SimpleNamespace(monotonic=lambda: float(sum(lengths[name] for name in names)))
    monkeypatch.setattr(als, "time", clock)
    return names


def test_times_have_the_seconds_up_to_each_round_without_checkpoints(built, happened, capsys):
    assert not bove(*command(built, "m"))
    assert happened.count("save") == 2
    times = log_of(built / "m.times")
    assert list(times[0]) == ["round", "seconds", "total"]
    assert [float(row["seconds"]) for row in times] == [2, 4, 6, 8, 10]
    log = log_of(built / "m.csv")
    assert [(row["round"], row["total"]) for row in times] == [(row["round"], row["total"]) for row in log]
    assert len(re.findall(r"round \d.*; 2\.0 s$", capsys.readouterr().err, re.M)) == 5


def test_a_resumed_training_counts_on_and_a_training_without_times_writes_none(built, happened, monkeypatch):
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
    without = command(built, "without")
    place = without.index("--times")
    assert not bove(*without[:place], *without[place + 2 :])
    assert (built / "without").read_bytes() == (built / "stopped").read_bytes()
    assert not (built / "without.times").exists()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("key", "other", "of another training; starting afresh"),
        ("seconds", None, "damaged (KeyError('seconds')); starting afresh"),
        ("finished", "{", "damaged (JSONDecodeError"),
        ("log", "3", "damaged (TypeError"),
    ],
)
def test_a_checkpoint_without_its_parts_is_not_gone_on_from(built, monkeypatch, capsys, key, value, said):
    load = als_checkpoint.artefacts.load

    def of_old(*args):
        arrays, metadata = load(*args)
        return arrays, {name: text for name, text in {**metadata, key: value}.items() if text is not None}

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(train_als, "log_round", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        bove(*command(built, "old"))
    monkeypatch.setattr(als_checkpoint.artefacts, "load", of_old)
    assert not bove(*command(built, "old"))
    assert said in capsys.readouterr().err
    assert [row["round"] for row in log_of(built / "old.times")] == ["1", "2", "3", "4", "5"]


def test_a_step_that_runs_out_of_iterations_is_warned_of_once_with_what_to_raise(built, capsys, monkeypatch):
    from bove.factor import penalties as proximal
    from bove.factor import training

    assert not bove(*command(built, "enough", "--r-iterations", 1000))
    assert "still above its tolerance" not in capsys.readouterr().err
    monkeypatch.setattr(proximal, "P_ITERATIONS", 2)
    monkeypatch.setattr(training, "P_ITERATIONS", 2)
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


def test_a_loss_below_0_ends_the_training_and_no_model_is_written(built, capsys, monkeypatch):
    terms = als.terms
    monkeypatch.setattr(als, "terms", lambda *given: {**(row := terms(*given)), "total": -row["total"]})
    assert bove(*command(built, "swamped", "--max-rounds", 2)) == 2
    said = capsys.readouterr().err.strip().split("\n")[-1]
    assert "training: L is below 0 in round 1" in said and "float64" in said
    assert not (built / "swamped").exists()


@pytest.mark.parametrize("flag", ["--output", "--training-log", "--times"])
def test_a_place_that_cannot_be_written_is_refused_before_training(built, capsys, happened, flag):
    assert bove(*command(built, "bad"), flag, built) == 2
    said = f"{built}: cannot be written (is a folder, a pipe or a device); name a file\n"
    assert capsys.readouterr().err == f"bove train-als: {said}"
    assert happened == []
