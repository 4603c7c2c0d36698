"""A run's files are found by its folder, its variants' too; what is missing is said with what makes it."""

import shutil

import pytest
from tiny_run import make_run

from bove.config.load import defaults
from bove.config.variants import Run
from bove.errors import BoveError


@pytest.fixture
def folder(tmp_path):
    return make_run(tmp_path)


def refused(call, *arguments):
    with pytest.raises(BoveError) as error:
        call(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_run_s_own_files_lie_in_its_folder(folder):
    run = Run.open(folder)
    assert run.file("vocabulary") == folder / "vocabulary.json"
    assert run.file("vectors") == folder / "vectors.safetensors"
    assert run.file("model") == folder / "model" / "model.safetensors"
    assert run.training_graphs() == folder / "graphs" / "train.safetensors"


def test_paths_of_the_configuration_begin_where_results_lies(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for path in (folder, folder.relative_to(tmp_path)):
        assert Run.open(path).treebank() == tmp_path / "data" / "train.conllu"
    (tmp_path / "data" / "train.conllu").unlink()
    assert "was trained on it; put it there, or name it with --treebank" in refused(Run.open(folder).treebank)


def test_no_run_is_said_with_those_that_are_there(folder, tmp_path):
    message = refused(Run.open, tmp_path / "results" / "tony")
    assert "no run is there" in message and f"there are: {folder}" in message
    assert "`snakemake --cores 2` makes results/demo" in refused(Run.open, tmp_path / "nowhere" / "tony")


@pytest.mark.parametrize("file", ["model/model.safetensors", "vocabulary.json", "vectors.safetensors"])
def test_an_unfinished_run_names_the_command_that_finishes_it(folder, file):
    (folder / file).unlink()
    stage = file.partition(".")[0].partition("/")[0]
    message = refused(Run.open(folder).file, stage)
    assert message.startswith(f"{folder / file}: not there, so the run is not finished")
    assert f"`snakemake --cores 2 --configfile {folder}/config.yaml`" in message


def test_a_variant_has_files_of_its_own_where_it_differs(tmp_path):
    changes = {"no-tags": {"vocabulary": {"tags": False}}, "one-step": {"inference": {"iterations": 1}}}
    folder = make_run(tmp_path, ablations=changes)
    other = Run.open(folder, "ablations/one-step/")
    assert other.config["inference"]["iterations"] == 1
    assert other.file("model") == folder / "model" / "model.safetensors"
    assert str(folder / "ablations/no-tags/vocabulary.json") in refused(
        Run.open(folder, "ablations/no-tags").file, "vocabulary"
    )
    message = refused(Run.open, folder, "ablations/none")
    assert "has no variant 'ablations/none'; there are: ablations/no-tags, ablations/one-step" in message


def test_with_select_the_run_has_the_chosen_model_and_each_candidate_its_own(tmp_path):
    folder = make_run(tmp_path, select={"grid": {"alpha": [0.5, 3], "lambda_P": [1e3]}})
    assert Run.open(folder).file("model") == folder / "model" / "model.safetensors"
    place = folder / "select" / "alpha~0.5" / "lambda_P~1000" / "model" / "model.safetensors"
    place.parent.mkdir(parents=True)
    shutil.copy(folder / "model" / "model.safetensors", place)
    candidate = Run.open(folder, "select/alpha~0.5/lambda_P~1000")
    assert candidate.file("model") == place
    assert candidate.file("vocabulary") == folder / "vocabulary.json"
    assert "alpha~3" in refused(Run.open(folder, "select/alpha~3/lambda_P~1000").file, "model")


def test_a_parser_that_was_not_trained_is_said_with_the_reason(folder, tmp_path):
    message = refused(Run.open(folder).parser_files)
    assert "since the run is not finished" in message
    files = "results/tiny/parser/tagger.pt results/tiny/parser/parser.pt"
    assert f"`snakemake --cores 2 {files} --configfile {folder}/config.yaml`" in message
    datasets = {"d": {"label": "D", "task": "entailment", "parses": "p", "subsets": {"a": {"input": "a"}}}}
    other = make_run(tmp_path / "other", datasets=datasets)
    assert "since all its data sets came with trees" in refused(Run.open(other).parser_files)


def test_a_parser_that_was_trained_or_loaded_is_found_with_what_it_needs(folder, tmp_path):
    (folder / "parser").mkdir()
    for name in ("tagger", "parser"):
        (folder / "parser" / f"{name}.pt").touch()
    assert Run.open(folder).parser_files() == {
        name: folder / "parser" / f"{name}.pt" for name in ("tagger", "parser")
    }
    section = {"source": "load", "tagger": "t.pt", "parser": "/p.pt", "pretrain": "v.pt"}
    found = Run.open(make_run(tmp_path / "other", parser=section)).parser_files()
    paths = {"tagger": tmp_path / "other" / "t.pt", "pretrain": tmp_path / "other" / "v.pt"}
    assert found == {**paths, "parser": type(tmp_path)("/p.pt")}


def test_the_defaults_are_those_of_the_schema(folder):
    config = Run.open(folder).config
    for section in ("parser", "inference", "scoring"):
        assert defaults()[section] == config[section]
