"""Variants of a run: what each changes, what it may not, and which stages' files it shares."""

from pathlib import Path

import pytest

from bove.config.load import load, load_schema, resolve
from bove.config.variants import SYSTEMS, Homes, check_sources, used_sources, variants
from bove.errors import BoveError

ROOT = Path(__file__).parent.parent
SMALL = {
    "run": "v1.0",
    "treebank": {"train": "train.conll", "dev": "dev.conll"},
    "vectors": {"file": "vectors.bin"},
    "datasets": {
        "d": {"label": "D", "task": "entailment", "development": True, "subsets": {"a": {"input": "a.txt"}}}
    },
}
STAGES = ("vocabulary", "vectors", "encode", "model", "infer", "score")


def found(**sections):
    return variants(resolve({**SMALL, **sections}))


def refused(**sections):
    with pytest.raises(BoveError) as error:
        check_sources(found(**sections))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_run_without_variants_is_itself_alone():
    (base,) = found()
    assert (base.kind, base.name, base.folder, base.changes) == ("", "", "", {})
    assert base.config["model"]["alpha"] == 10
    assert not {"select", "compare", "ablations", "seeds"} & base.config.keys()


def test_a_further_seed_is_the_run_with_that_seed_and_shares_all_but_what_is_trained():
    base, first, second = got = found(seed=4, seeds=[10, 4, 2])
    assert [variant.folder for variant in got] == ["", "seeds/2/", "seeds/10/"]
    assert first.config == {**base.config, "seed": 2}
    homes = Homes(got)
    assert own_stages(homes, first) == own_stages(homes, second) == ("model", "infer", "score")


def test_with_candidates_a_further_seed_is_of_the_chosen_model():
    got = found(select={"points": [{"alpha": 10}, {"alpha": 5}]}, seeds=[2])
    homes = Homes(got)
    assert own_stages(homes, got[-1]) == ("model", "infer", "score")
    assert homes.own("model") == ["", "seeds/2/", "select/alpha~10/", "select/alpha~5/"]


def test_a_candidate_has_the_base_s_configuration_with_its_own_settings():
    base, first, second = found(select={"grid": {"alpha": [1, 2], "tolerance": [0.5]}}, seed=4)
    assert first.folder == "select/alpha~1/tolerance~0.5/"
    assert first.changes == {"model": {"alpha": 1.0, "als": {"tolerance": 0.5}}}
    assert (second.config["model"]["alpha"], second.config["model"]["als"]["tolerance"]) == (2, 0.5)
    first.config["model"]["alpha"], first.config["model"]["als"]["tolerance"] = 10.0, 0.001
    assert first.config == base.config


def test_comparisons_and_ablations_have_folders_of_their_own():
    changes = {"no-tags.1": {"vocabulary": {"tags": False}}}
    base, other, ablation = found(compare={"sgd": {"model": {"trainer": "sgd"}}}, ablations=changes)
    assert (other.folder, ablation.folder) == ("compare/sgd/", "ablations/no-tags.1/")
    assert ablation.changes == changes["no-tags.1"]
    assert ablation.config["vocabulary"] == {**base.config["vocabulary"], "tags": False}
    assert ablation.config["model"] == base.config["model"]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"select": {"grid": {"alpha": [1, -1]}}},
            "select: alpha~-1: model.alpha: -1.0 is not allowed; allowed: at least 0",
        ),
        (
            {"select": {"grid": {"penalty_P": ["l1", "nuclear"]}}},
            "select: penalty_P~nuclear: model.penalty_P: 'nuclear' is not allowed; allowed: l2, l1",
        ),
        ({"select": {"grid": {"dtype": ["../float32"]}}}, "select: dtype~../float32: model.dtype: '../fl"),
        (
            {"select": {"grid": {"max_rounds": [2.5]}}},
            "select: max_rounds~2.5: model.als.max_rounds: 2.5 has",
        ),
        ({"select": {"grid": {"alpha": [1.00000000000001, 1]}}}, "select: alpha~1: two candidates have"),
        (
            {"ablations": {"x": {"model": {"alpah": 1}}}},
            "ablations.x: model.alpah: unknown key; did you mean",
        ),
        ({"ablations": {"x": {"model": 5}}}, "ablations.x: model: 5 has the wrong type; allowed: object"),
        (
            {"ablations": {"x": {"model": {"alpha": -1}}}},
            "ablations.x: model.alpha: -1.0 is not allowed; allo",
        ),
        (
            {"ablations": {"x": {"parser": {"preset": "tiny"}}}},
            "ablations.x: parser cannot be changed here; allowed: vocabulary, vectors, model, infer",
        ),
        ({"compare": {"x": {"seed": 2}}}, "compare.x: seed cannot be changed here; allowed: vocabulary"),
        ({"compare": {"x": {"vectors": {"source": "train"}}}}, "compare.x: vectors.text is missing; vecto"),
        ({"compare": {"x": {}}}, "compare.x: changes nothing; allowed: vocabulary"),
        ({"ablations": {"a|b": {"model": {"alpha": 0}}}}, "ablations: 'a|b' is not allowed; allowed: text"),
        ({"ablations": {"../x": {"model": {"alpha": 0}}}}, "ablations: '../x' is not allowed; allowed: text"),
        (
            {"ablations": {"v1.0": {"model": {"alpha": 0}}}},
            "ablations.v1.0: the run itself has this name; ch",
        ),
        ({"compare": {"v1.0": {"model": {"alpha": -1}}}}, "compare.v1.0: model.alpha: -1.0 is not allowed"),
    ],
)
def test_a_change_that_is_not_allowed_is_told_with_the_variant_s_name(sections, message):
    assert refused(**sections).startswith(f"configuration: {message}")


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_comparison_can_not_have_the_name_of_a_system(name):
    said = refused(compare={name: {"model": {"alpha": 0}}}, systems=["bove"])
    assert said.startswith(f"configuration: compare.{name}: a system has this name; choose another than wo")


def test_the_names_of_systems_are_those_of_the_schema():
    schema = load_schema()
    assert list(SYSTEMS) == schema["properties"]["systems"]["items"]["enum"]


@pytest.mark.parametrize("kind", ["select", "compare", "ablations", "seeds"])
def test_without_bove_among_the_systems_there_is_nothing_to_vary(kind):
    sections = {"compare": {"x": {"model": {"alpha": 0}}}, "ablations": {"x": {"model": {"alpha": 0}}}}
    sections |= {"select": {"grid": {"alpha": [1, 2]}}, "seeds": [2]}
    said = refused(systems=["word-vectors", "properties-only"], **{kind: sections[kind]})
    assert said == (
        f"configuration: {kind} is given, but systems lacks bove, which it is about; add bove to systems or "
        f"leave {kind} out"
    )


def test_a_missing_file_of_a_variant_is_told_with_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("train.conll", "dev.conll", "vectors.bin", "a.txt"):
        (tmp_path / name).touch()
    said = refused(compare={"x": {"vectors": {"file": "absent.bin"}}})
    assert said == "configuration: compare.x: vectors.file: absent.bin: no such file; correct the path"
    (tmp_path / "train.conll").unlink()
    assert refused().startswith("configuration: treebank.train: train.conll: no such file")


def test_the_sources_of_all_variants_are_fetched():
    web = {name: {"url": f"https://x.example/{name}"} for name in ("one", "two", "three")}
    got = found(
        sources=web,
        vectors={"file": "source:one"},
        compare={"x": {"vectors": {"file": "source:two"}}},
    )
    assert list(used_sources(got)) == ["one", "two"]


# What each ablation of config/ablations.yaml makes itself; the other stages' files are the base's.
OWN = {
    "no-relations": ("model", "infer", "score"),
    "adjacency-only": ("vocabulary", "encode", "model", "infer", "score"),
    "dependencies-only": ("vocabulary", "encode", "model", "infer", "score"),
    "no-tags": ("vocabulary", "encode", "model", "infer", "score"),
    "words-from-scratch": ("encode", "model", "infer", "score"),
    "no-punctuation": ("infer", "score"),
    "iterations-01": ("infer", "score"),
    "iterations-02": ("infer", "score"),
    "iterations-05": ("infer", "score"),
    "iterations-30": ("infer", "score"),
}


def own_stages(homes, variant):
    return tuple(stage for stage in STAGES if homes.folder(stage, variant.folder) == variant.folder)


def test_the_ablations_that_come_along_share_what_they_do_not_change():
    files = [ROOT / "config" / f"{name}.yaml" for name in ("config", "ablations")]
    got = variants(resolve(load(files)))
    homes = Homes(got)
    assert own_stages(homes, got[0]) == STAGES
    assert {v.name: own_stages(homes, v) for v in got if v.kind == "ablations"} == OWN
    for variant in got:
        for stage in STAGES:
            assert homes.folder(stage, variant.folder) in ("", variant.folder), (variant.name, stage)
    (sgd,) = (v for v in got if v.kind == "compare")
    assert own_stages(homes, sgd) == ("model", "infer", "score")


def test_what_two_variants_agree_in_lies_with_the_first_of_them():
    no_tags = {"tags": False}
    got = found(ablations={
        "a": {"vocabulary": no_tags},
        "b": {"vocabulary": no_tags, "model": {"alpha": 0}},
        "c": {"vocabulary": no_tags, "scoring": {"punctuation": False}},
    })  # fmt: skip
    homes = Homes(got)
    assert {stage: homes.folder(stage, "ablations/b/") for stage in STAGES} == {
        "vocabulary": "ablations/a/",
        "vectors": "",
        "encode": "ablations/a/",
        "model": "ablations/b/",
        "infer": "ablations/b/",
        "score": "ablations/b/",
    }
    assert homes.folder("model", "ablations/c/") == "ablations/a/"
    assert homes.own("model") == ["", "ablations/a/", "ablations/b/"]
    assert homes.own("vectors") == [""]


def test_an_ablation_that_equals_the_base_is_scored_by_itself_from_the_base_s_bags():
    got = found(ablations={"same": {"inference": {"iterations": 30}}})
    homes = Homes(got)
    assert own_stages(homes, got[1]) == ("score",)


def test_settings_of_the_other_trainer_change_nothing():
    homes = Homes(found(ablations={"x": {"model": {"sgd": {"epochs": 1}}}}))
    assert homes.folder("model", "ablations/x/") == ""


def test_trained_vectors_depend_on_the_rank_and_loaded_ones_do_not():
    change = {"x": {"model": {"rank": 20}}}
    assert Homes(found(ablations=change)).folder("vectors", "ablations/x/") == ""
    trained = found(ablations=change, vectors={"source": "train", "text": "raw.txt"})
    assert Homes(trained).folder("vectors", "ablations/x/") == "ablations/x/"


def test_the_run_s_own_model_is_none_of_the_candidates_even_if_one_has_its_settings():
    got = found(select={"points": [{"alpha": 10}, {"alpha": 5}]})
    homes = Homes(got)
    assert homes.own("model") == ["", "select/alpha~10/", "select/alpha~5/"]
    assert homes.own("infer") == ["", "select/alpha~10/", "select/alpha~5/"]
    assert homes.own("encode") == homes.own("vocabulary") == homes.own("vectors") == [""]
