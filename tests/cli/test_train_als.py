"""`bove train-als`, `bove compress` and `bove infer` on a small treebank, by their command lines."""

import csv
import signal
import subprocess
import sys

import numpy as np
import pytest
import reference
from tiny_treebank import count_and_encode

from bove.bags.store import Bags
from bove.cli.main import main
from bove.factor.model import LowRank, Model
from bove.text.conll import Sentence, read_sentences, write_conllu
from bove.text.graphs import load_graphs
from bove.text.vectors import write_vectors
from bove.text.vocabulary import Vocabulary

RANK = 6
WORDS = ["dogs", "cats", "chase", "see", "men", "big", "small"]
TRAIN = [
    "--rank", RANK, "--alpha", 2, "--lambda-P", 1, "--lambda-R", 0.5, "--lambda-E", 3, "--dtype", "float32",
    "--penalty-P", "l2", "--penalty-R", "l2",
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
    with open(folder / "t.conllu", "w", encoding="utf-8") as stream:
        for i in range(40):
            a, b = rng.choice(WORDS, 2)
            forms = (str(a), "chase", str(b), ".")[: 4 if i % 3 else 3]
            write_conllu(
                stream,
                Sentence(f"s{i}", forms, ("NNS", "VBP", "NNS", ".")[: len(forms)], (2, 0, 2, 2)[: len(forms)],
                         ("SBJ", "ROOT", "OBJ", "P")[: len(forms)]),
            )  # fmt: skip
        write_conllu(stream, Sentence("nothing", (), (), (), ()))
        write_conllu(stream, Sentence("again", ("dogs", "chase"), ("NNS", "VBP"), (2, 0), ("SBJ", "ROOT")))
        write_conllu(stream, Sentence("same", ("dogs", "chase"), ("NNS", "VBP"), (2, 0), ("SBJ", "ROOT")))
    vectors = rng.standard_normal((len(WORDS) + 1, RANK)).astype(np.float32)
    write_vectors(folder / "v", [([w.encode() for w in [*WORDS, "wolves"]], vectors)], {})
    count_and_encode(folder)
    assert not bove("train-als", *inputs(folder), *TRAIN, *outputs(folder, "m"))
    return folder


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


def dense(folder):
    """The oracle's cells of every graph."""
    corpus, made = load_graphs(folder / "g"), []
    for s in range(corpus.n_graphs):
        first, last = corpus.token_offsets[s : s + 2]
        W = np.zeros((corpus.n_properties, last - first))
        X = np.zeros((corpus.n_relations, last - first, last - first))
        for t in range(first, last):
            W[corpus.properties[corpus.property_offsets[t] : corpus.property_offsets[t + 1]], t - first] = 1
        for a in range(*corpus.arc_offsets[s : s + 2]):
            X[corpus.arc_relation[a], corpus.arc_head[a] - first, corpus.arc_dependent[a] - first] = 1
        made.append((W, X))
    return corpus, made


def test_the_log_has_a_row_a_round_and_terms_that_add_up(built):
    with open(built / "m.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["round"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row["restart"] for row in rows] == ["0", "0", "0", "1", "0"]
    terms = ["words", "tags", "relation:SBJ", "relation:OBJ", "relation:P", "relation:ADJACENCY"]
    for row in rows:
        parts = sum(float(row[name]) for name in [*terms, "lambda_P", "lambda_R", "lambda_E"])
        assert float(row["total"]) == pytest.approx(parts)


def test_frozen_rows_are_the_pretrained_vectors(built):
    from bove.text.vectors import WordVectors

    model, vocabulary = Model.load(built / "m"), Vocabulary.load(built / "vocabulary")
    vectors = WordVectors.open(built / "v")
    row = vocabulary.words.index("dogs")
    assert model.frozen[row] and not model.frozen[vocabulary.n_words :].any()
    np.testing.assert_array_equal(model.properties[row], vectors.rows(vectors.find(["dogs"]))[0])
    assert model.hyperparameters["alpha"] == 2 and model.relation_names == vocabulary.relations


def test_training_gives_the_same_bytes_on_any_number_of_threads(built):
    for threads in (1, 2):
        assert not bove(
            "train-als", *inputs(built), *TRAIN, *outputs(built, f"m{threads}"), "--threads", threads
        )
        assert (built / f"m{threads}").read_bytes() == (built / "m").read_bytes()
        assert (built / f"m{threads}.csv").read_bytes() == (built / "m.csv").read_bytes()
    assert not list(built.glob("*.checkpoint"))


def test_a_stopped_training_goes_on_to_the_same_end(built):
    long = [*map(str, TRAIN)]
    long[long.index("--max-rounds") + 1] = "4000"
    command = [
        sys.executable,
        "-m",
        "bove",
        "train-als",
        *map(str, [*inputs(built), *long, *outputs(built, "stop")]),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "round 20:" in line:
            break
    process.send_signal(signal.SIGTERM)
    rest = process.stderr.read()
    assert process.wait(timeout=60) == 143 and "run again to go on" in rest, rest
    assert not (built / "stop").exists() and (built / "stop.checkpoint").exists()
    again = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert (
        "going on from round" in again.stderr.readline() + again.stderr.readline() + again.stderr.readline()
    )
    again.kill()
    again.wait()
    again.stderr.close()
    process.stderr.close()


def test_a_resumed_training_has_the_bytes_of_an_undisturbed_one(built, monkeypatch):
    from bove.factor import als

    one_round, calls = als.AlsTrainer._round, []

    def stop_in_third(self, state, workers):
        calls.append(state.round)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return one_round(self, state, workers)

    monkeypatch.setattr(als.AlsTrainer, "_round", stop_in_third)
    with pytest.raises(SystemExit):
        bove("train-als", *inputs(built), *TRAIN, *outputs(built, "again"))
    assert not (built / "again").exists()
    assert not bove("train-als", *inputs(built), *TRAIN, *outputs(built, "again"))
    assert calls == [0, 1, 2, 3, 3, 4]
    assert (built / "again").read_bytes() == (built / "m").read_bytes()


def test_averaged_bags_equal_the_oracle_and_duplicates_share_one(built):
    assert not infer(built, "b")
    bags, model = Bags.open(built / "b"), Model.load(built / "m")
    corpus, graphs = dense(built)
    P, R = model.properties.astype(float), model.relations.astype(float)
    for name, graph in zip(corpus.ids, graphs, strict=True):
        want = reference.infer(graph, P, R, 2, 3, 30)
        np.testing.assert_allclose(bags[name], want, rtol=2e-3, atol=2e-5)
    assert bags["nothing"].shape == (0, RANK)
    assert bags.bag_of("again") == bags.bag_of("same") and bags.n_bags < len(bags)
    assert bags.system == "bove" and bags.model_hash == model.hash


def test_properties_only_bags_are_those_of_no_relations(built):
    assert not infer(built, "p", system="properties-only")
    bags, model = Bags.open(built / "p"), Model.load(built / "m")
    corpus, graphs = dense(built)
    P = model.properties.astype(float)
    want = reference.infer(graphs[1], P, np.zeros_like(model.relations), 2, 3, 3)
    np.testing.assert_allclose(bags[corpus.ids[1]], want, rtol=1e-3, atol=1e-6)


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
    with open(built / "r.csv", encoding="utf-8", newline="") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    assert rows["again"]["tokens"] == "2" and int(rows["again"]["iterations"]) > 1


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
    from bove.text.vectors import WordVectors

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
def test_bad_input_is_one_line_and_leaves_nothing(built, capsys, change, says):
    before = {path for path in built.iterdir() if "checkpoint" not in path.name}
    assert bove("train-als", *inputs(built), *TRAIN, *change, *outputs(built, "bad")) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("bove train-als:")]
    assert len(lines) == 1 and says in lines[0]
    assert {path for path in built.iterdir() if "checkpoint" not in path.name} == before
    (built / "bad.checkpoint").unlink(missing_ok=True)


def test_graphs_of_another_vocabulary_and_files_that_are_no_model_are_refused(built, capsys, tmp_path):
    assert not bove(
        "vocabulary", "--treebank", built / "t.conllu", "--columns", "gold", "--min-words", 9,
        "--min-tags", 2, "--min-relations", 1, "--lookup", "exact", "--adjacency", "--output", tmp_path / "v",
    )  # fmt: skip
    assert not bove(
        "encode",
        "--sentences",
        built / "t.conllu",
        "--vocabulary",
        tmp_path / "v",
        "--output",
        tmp_path / "g",
    )
    capsys.readouterr()
    assert infer(built, "x", "--graphs", tmp_path / "g") == 2
    assert "encode the sentences with the model's vocabulary" in capsys.readouterr().err
    cut = tmp_path / "cut"
    cut.write_bytes((built / "m").read_bytes()[:-100])
    for path in (cut, built / "g", built / "t.conllu"):
        assert infer(built, "x", "--model", path) == 2
        assert str(path) in capsys.readouterr().err
    assert not (built / "x").exists()
