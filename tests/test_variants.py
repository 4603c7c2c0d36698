"""Variants of a run: what each changes and may not, which files it shares, and how they are found again."""

import shutil
from pathlib import Path

import pytest
from tiny_run import make_run

from bove.config.load import load, load_schema, resolve
from bove.config.variants import (
    SYSTEMS,
    Homes,
    Run,
    check_sources,
    development,
    model_keys,
    points,
    used_sources,
    variants,
)
from bove.errors import BoveError

ROOT = Path(__file__).parent.parent
ENTAILMENT = {"label": "D", "task": "entailment", "subsets": {"a": {"input": "a.txt"}}}
SMALL = {
    "run": "v1.0",
    "treebank": {"train": "train.conll", "dev": "dev.conll"},
    "vectors": {"file": "vectors.bin"},
    "datasets": {
        "d": {**ENTAILMENT, "development": True},
        "more": {**ENTAILMENT, "development": True},
        "test": ENTAILMENT,
    },
}
STAGES = ("vocabulary", "vectors", "encode", "model", "infer", "score")
TRAINED = ("model", "infer", "score")
ENCODED = ("encode", *TRAINED)
COUNTED = ("vocabulary", *ENCODED)


def found(**sections):
    return variants(resolve({**SMALL, **sections}))


def candidates(select, **sections):
    return points(resolve({**SMALL, "select": select, **sections}))


def refused(call, *arguments, **sections):
    with pytest.raises(BoveError) as error:
        call(*arguments, **sections)
    assert "\n" not in str(error.value)
    return str(error.value)


def checked(**sections):
    check_sources(found(**sections))


def own_stages(homes, variant):
    return tuple(stage for stage in STAGES if homes.folder(stage, variant.folder) == variant.folder)


# Candidates


@pytest.mark.parametrize(
    ("select", "model", "keys", "expected"),
    [
        (  # combinations before points
            {"grid": {"lambda_P": [1, 2], "alpha": [3, 4]}, "points": [{"alpha": 5}, {"e_step": "averaged"}]},
            {},
            ["alpha", "lambda_P", "e_step"],
            [(a, p, "averaged") for a, p in ((3, 1), (3, 2), (4, 1), (4, 2), (5, 100), (0.07, 100))],
        ),
        (
            {"points": [{"alpha": 1}, {"max_rounds": 2}, {}]},
            {"alpha": 7, "als": {"max_rounds": 9}},
            ["alpha", "max_rounds"],
            [(1, 9), (7, 2), (7, 9)],
        ),
        (
            {"grid": {"learning_rate": [0.1, 0.2]}, "points": [{"trainer": "als"}]},
            {"trainer": "sgd"},
            ["learning_rate", "trainer"],
            [(0.1, "sgd"), (0.2, "sgd"), (0.5, "als")],
        ),
        (  # none twice, however its number is written
            {"grid": {"alpha": ["1e3", 1000, 10]}, "points": [{"alpha": 1000.0}, {"alpha": "10"}, {}]},
            {},
            ["alpha"],
            [(1000.0,), (10.0,), (0.07,)],
        ),
    ],
)
def test_candidates_have_the_same_keys_and_what_they_leave_out_as_the_model_has_it(
    select, model, keys, expected
):
    got = candidates(select, model=model)
    assert [list(point) for point in got] == [keys] * len(got)
    assert [tuple(point.values()) for point in got] == expected


@pytest.mark.parametrize("select", [None, {}, {"grid": None}, {"summary": "weighted"}])
def test_without_candidates_nothing_is_chosen(select):
    assert candidates(select) == []


def test_every_key_of_the_model_and_its_trainers_has_one_place():
    def leaves(tree):
        for key, child in tree["properties"].items():
            yield from leaves(child) if "properties" in child else [key]

    keys = list(leaves(load_schema()["properties"]["model"]))
    assert len(keys) == len(set(keys)), "select could not tell two keys of one name apart"
    assert list(model_keys()) == keys


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ({"grid": {}}, "select.grid: {} should be non-empty"),
        ({"grid": {"alpha": 3}}, "select.grid.alpha: 3 has the wrong type; allowed: array"),
        ({"points": [{}]}, "select.points: without candidates"),
        ({"datasets": ["d"]}, "select.datasets: without candidates"),
        ({"grid": {"alpha": [[1, 2], 3]}}, "select: alpha: [1, 2] is not a single value"),
        ({"grid": {"alpha": [None, 3]}}, "select: alpha: None is not a single value"),
        (
            {"points": [{"als": {"tolerance": 1}}]},
            "select: als: no key of model; allowed: trainer, scale, alpha",
        ),
        ({"grid": {"alpha": [float("inf")]}}, "select.grid.alpha[0]: inf is not a finite number"),
        ({"grid": {"alpah": [1]}}, "select: alpah: no key of model; did you mean alpha? allowed: trainer"),
        ({"grid": {"rank": [10, 20]}}, "select: rank: cannot be chosen"),
        ({"points": [{"pretrained": False}]}, "select: pretrained: cannot be chosen"),
        ({"grid": {"learning_rate": [1, 2]}}, "select: learning_rate: a key of model.sgd, but model.trainer"),
        ({"grid": {"alpha": [1]}, "datasets": ["test"]}, "select.datasets: test: no data set with developm"),
        ({"grid": {"alpha": [1]}, "summary": "median"}, "select.summary: 'median' is not allowed;"),
    ],
)
def test_what_cannot_be_tried_is_one_line(select, message):
    assert refused(candidates, select).startswith(f"configuration: {message}")


@pytest.mark.parametrize("kind", ["compare", "ablations"])
def test_choosing_and_comparing_in_one_run_is_refused(kind):
    said = refused(candidates, {"grid": {"alpha": [1]}}, **{kind: {"x": {"model": {"alpha": 2}}}})
    assert said.startswith(f"configuration: {kind} is given beside select")
    assert "results/v1.0/select/chosen.yaml" in said


def test_the_development_sets_are_those_marked_or_those_of_them_that_are_asked_for():
    assert development(resolve(SMALL)) == ["d", "more"]
    assert development(resolve({**SMALL, "select": {"datasets": ["more"]}})) == ["more"]
    said = refused(candidates, {"grid": {"alpha": [1]}}, datasets={"d": ENTAILMENT})
    assert said.startswith("configuration: select: no data set has development: true")


# Variants


def test_a_further_seed_is_the_run_with_that_seed_and_shares_all_but_what_is_trained():
    base, first, second = got = found(seed=4, seeds=[10, 4, 2])
    assert [variant.folder for variant in got] == ["", "seeds/2/", "seeds/10/"]
    assert not {"select", "compare", "ablations", "seeds"} & base.config.keys()
    assert first.config == {**base.config, "seed": 2}
    homes = Homes(got)
    assert own_stages(homes, first) == own_stages(homes, second) == TRAINED


def test_a_candidate_has_the_base_s_configuration_with_its_own_settings():
    base, first, _ = found(select={"grid": {"alpha": [1, 2], "tolerance": [0.5]}}, seed=4)
    assert first.folder == "select/alpha~1/tolerance~0.5/"
    assert first.changes == {"model": {"alpha": 1.0, "als": {"tolerance": 0.5}}}
    model = base.config["model"]
    changed = {**model, "alpha": 1.0, "als": {**model["als"], "tolerance": 0.5}}
    assert first.config == {**base.config, "model": changed}


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("select", {"grid": {"alpha": [1, -1]}}, ": alpha~-1: model.alpha: -1.0 is not allowed; allowed: at"),
        ("select", {"grid": {"dtype": ["../float32"]}}, ": dtype~../float32: model.dtype: '../fl"),
        ("select", {"grid": {"max_rounds": [2.5]}}, ": max_rounds~2.5: model.als.max_rounds: 2.5 has"),
        ("select", {"grid": {"alpha": [1.00000000000001, 1]}}, ": alpha~1: two candidates have"),
        ("ablations", {"x": {"model": {"alpah": 1}}}, ".x: model.alpah: unknown key; did you mean"),
        ("ablations", {"x": {"model": 5}}, ".x: model: 5 has the wrong type; allowed: object"),
        ("ablations", {"x": {"parser": {"preset": "tiny"}}}, ".x: parser cannot be changed here; allow"),
        ("compare", {"x": {"scoring": {"power": 2}}}, ".x: scoring.power cannot be changed here, since all"),
        ("compare", {"x": {"seed": 2}}, ".x: seed cannot be changed here; allowed: vocabulary"),
        ("compare", {"x": {"vectors": {"source": "train"}}}, ".x: vectors.text is missing; vecto"),
        ("compare", {"x": {}}, ".x: changes nothing; allowed: vocabulary"),
        ("ablations", {"a|b": {"model": {"alpha": 0}}}, ": 'a|b' is not allowed; allowed: text"),
        ("ablations", {"../x": {"model": {"alpha": 0}}}, ": '../x' is not allowed; allowed: text"),
        ("ablations", {"v1.0": {"model": {"alpha": 0}}}, ".v1.0: this name is taken"),
        ("compare", {"v1.0": {"model": {"alpha": -1}}}, ".v1.0: model.alpha: -1.0 is not allowed"),
        ("bags", {"x": {"e": "b"}}, ".x.e: no such data set; "),
        ("bags", {"bove": {"d": "b"}}, ".bove: this name is taken"),
        ("figures", {"pairs": {"e": ["1"]}}, ".pairs.e: no such data set; "),
        ("inference", {"shards": "many"}, ".shards: 'many' is not allowed; allowed: integer at"),
        *(("compare", {name: {"model": {"alpha": 0}}}, f".{name}: this name is taken") for name in SYSTEMS),
    ],
)
def test_a_change_that_is_not_allowed_is_named_with_its_variant(kind, changes, message):
    assert refused(found, **{kind: changes}).startswith(f"configuration: {kind}{message}")


@pytest.mark.parametrize("kind", ["select", "compare", "ablations", "seeds"])
def test_without_bove_among_the_systems_there_is_nothing_to_vary(kind):
    sections = {"compare": {"x": {"model": {"alpha": 0}}}, "ablations": {"x": {"model": {"alpha": 0}}}}
    sections |= {"select": {"grid": {"alpha": [1, 2]}}, "seeds": [2]}
    said = refused(found, systems=["word-vectors", "properties-only"], **{kind: sections[kind]})
    assert said.startswith(f"configuration: {kind} is given, but systems lacks bove")


def test_a_missing_file_of_a_variant_is_named_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("train.conll", "dev.conll", "vectors.bin", "a.txt"):
        (tmp_path / name).touch()
    said = refused(checked, compare={"x": {"vectors": {"file": "absent.bin"}}})
    assert said == "configuration: compare.x: vectors.file: absent.bin: no such file; correct the path"
    (tmp_path / "train.conll").unlink()
    assert refused(checked).startswith("configuration: treebank.train: train.conll: no such file")


def test_the_sources_of_all_variants_are_fetched():
    web = {name: {"url": f"https://x.example/{name}"} for name in ("one", "two", "three")}
    own = {"x": {"vectors": {"file": "source:two"}}}
    got = found(sources=web, vectors={"file": "source:one"}, compare=own)
    assert list(used_sources(got)) == ["one", "two"]


# Which files variants share


# What each ablation of config/ablations.yaml makes itself; the other stages' files are the base's.
OWN = {
    "no-relations": TRAINED,
    **dict.fromkeys(("adjacency-only", "dependencies-only", "no-tags"), COUNTED),
    "words-from-scratch": ENCODED,
    **dict.fromkeys(("no-punctuation", *(f"iterations-{n}" for n in ("01", "02", "05", "30"))), STAGES[-2:]),
}


def test_the_ablations_that_come_along_share_what_they_do_not_change():
    got = variants(resolve(load(ROOT / "config" / f"{name}.yaml" for name in ("config", "ablations"))))
    homes = Homes(got)
    assert own_stages(homes, got[0]) == STAGES
    assert {v.name: own_stages(homes, v) for v in got if v.kind == "ablations"} == OWN
    assert {homes.folder(s, v.folder) in ("", v.folder) for v in got for s in STAGES} == {True}
    (sgd,) = (v for v in got if v.kind == "compare")
    assert own_stages(homes, sgd) == TRAINED


OVER = {"encoders": {"e": {"path": "e"}}, "vectors": {"source": "encoder", "encoder": "e"}}


def test_over_an_encoder_another_rank_changes_all_and_what_cannot_be_is_refused():
    for changes, stages in (({"model": {"rank": 20}}, STAGES), ({"model": {"alpha": 1}}, TRAINED)):
        _, ablation = got = found(**OVER, ablations={"x": changes})
        assert own_stages(Homes(got), ablation) == stages
    for sections, message in (
        ({"encoders": {}}, "vectors.encoder: 'e': no such encoder; encoders has: none"),
        ({"vectors": {"source": "encoder"}}, "vectors.encoder is missing; vectors.source: encoder needs it"),
        (
            {"model": {"pretrained": False}},
            "model.pretrained: with vectors.source: encoder no word is learnt",
        ),
        (
            {"baselines": ["overlap", "sif"]},
            "baselines: sif needs vectors of words, and vectors.source: enco",
        ),
    ):
        assert refused(found, **OVER | sections).startswith(f"configuration: {message}")


@pytest.mark.parametrize(
    ("changes", "stages"),
    [
        ({"vocabulary": {"min_words": 3}}, COUNTED),
        ({"vectors": {"limit": 7}}, ("vectors", *ENCODED)),
        ({"model": {"rank": 20}}, TRAINED),
        ({"model": {"als": {"max_rounds": 1}}}, TRAINED),
        ({"model": {"sgd": {"epochs": 1}}}, ("score",)),
        ({"inference": {"iterations": 30}}, ("score",)),  # as the base has it
        ({"inference": {"shards": 2}}, ("score",)),
        ({"scoring": {"weight": "evidence"}}, ("score",)),
        ({"scoring": {"power": 2}}, ("score",)),
    ],
)
def test_a_changed_key_makes_the_stages_anew_that_depend_on_it(changes, stages):
    base, ablation = got = found(ablations={"x": changes})
    assert own_stages(Homes(got), ablation) == stages
    assert own_stages(Homes(got), base) == STAGES


def test_what_two_variants_agree_in_lies_with_the_first_of_them():
    no_tags = {"tags": False}
    homes = Homes(found(ablations={
        "a": {"vocabulary": no_tags},
        "b": {"vocabulary": no_tags, "model": {"alpha": 0}},
        "c": {"vocabulary": no_tags, "scoring": {"punctuation": False}},
    }))  # fmt: skip
    first, own = "ablations/a/", "ablations/b/"
    assert [homes.folder(stage, own) for stage in STAGES] == [first, "", first, own, own, own]
    assert homes.folder("model", "ablations/c/") == first
    assert homes.own("model") == ["", first, own]
    assert homes.own("vectors") == [""]


def test_trained_vectors_depend_on_the_rank():
    got = found(ablations={"x": {"model": {"rank": 20}}}, vectors={"source": "train", "text": "raw.txt"})
    assert own_stages(Homes(got), got[1]) == ("vectors", *ENCODED)


def test_the_run_s_own_model_is_none_of_the_candidates_and_a_further_seed_is_of_the_chosen_one():
    got = found(select={"points": [{"alpha": 10}, {"alpha": 5}]}, seeds=[2])
    homes, tried = Homes(got), ["select/alpha~10/", "select/alpha~5/"]
    assert homes.own("model") == homes.own("infer") == ["", "seeds/2/", *tried]
    assert own_stages(homes, got[-1]) == TRAINED
    assert homes.own("encode") == homes.own("vocabulary") == homes.own("vectors") == [""]


# A finished run


@pytest.fixture
def folder(tmp_path):
    return make_run(tmp_path)


def test_paths_of_the_configuration_start_at_the_folder_of_results(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for path in (folder, folder.relative_to(tmp_path)):
        assert Run.open(path).treebank() == tmp_path / "data" / "train.conllu"
        assert Run.open(path).file("graphs") == path / "graphs" / "train.safetensors"
    (tmp_path / "data" / "train.conllu").unlink()
    assert "was trained on it" in refused(Run.open(folder).treebank)


def test_where_there_is_no_run_those_that_are_there_are_named(folder, tmp_path):
    message = refused(Run.open, tmp_path / "results" / "tony")
    assert "no run is there" in message and f"there are: {folder}" in message
    assert "`snakemake --cores 2` makes results/demo" in refused(Run.open, tmp_path / "nowhere" / "tony")


@pytest.mark.parametrize("file", ["model/model.safetensors", "vocabulary.json", "vectors.safetensors"])
def test_an_unfinished_run_names_the_command_that_finishes_it(folder, file):
    (folder / file).unlink()
    message = refused(Run.open(folder).file, file.partition(".")[0].partition("/")[0])
    assert message.startswith(f"{folder / file}: not there, so the run is not finished")
    assert f"`snakemake --cores 2 --configfile {folder}/config.yaml`" in message


def test_a_variant_has_files_of_its_own_where_it_differs(tmp_path):
    changes = {"no-tags": {"vocabulary": {"tags": False}}, "one-step": {"inference": {"iterations": 1}}}
    folder = make_run(tmp_path, ablations=changes)
    other = Run.open(folder, "ablations/one-step/")
    assert other.config["inference"]["iterations"] == 1
    assert other.file("model") == folder / "model" / "model.safetensors"
    message = refused(Run.open(folder, "ablations/no-tags").file, "vocabulary")
    assert str(folder / "ablations/no-tags/vocabulary.json") in message
    assert "there are: ablations/no-tags, ablations/one-step" in refused(Run.open, folder, "ablations/none")


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


def test_a_parser_that_was_not_trained_is_missed_with_the_reason(folder, tmp_path):
    message = refused(Run.open(folder).parser_files)
    files = "results/tiny/parser/tagger.pt results/tiny/parser/parser.pt"
    assert f"`snakemake --cores 2 {files} --configfile {folder}/config.yaml`" in message
    other = make_run(tmp_path / "other", datasets={"d": {**ENTAILMENT, "parses": "p"}})
    assert "since all its data sets came with trees" in refused(Run.open(other).parser_files)


def test_a_parser_that_was_trained_or_loaded_is_found_with_what_it_needs(folder, tmp_path):
    trained = {name: folder / "parser" / f"{name}.pt" for name in ("tagger", "parser")}
    (folder / "parser").mkdir()
    for path in trained.values():
        path.touch()
    assert Run.open(folder).parser_files() == trained
    place = tmp_path / "other"
    section = {"source": "load", "tagger": "t.pt", "parser": "/p.pt", "pretrain": "v.pt"}
    found = Run.open(make_run(place, parser=section)).parser_files()
    assert found == {"tagger": place / "t.pt", "parser": Path("/p.pt"), "pretrain": place / "v.pt"}
