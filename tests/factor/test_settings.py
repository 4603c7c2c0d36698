"""Settings: one field is the check, the schema, the option and the record of a setting."""

import argparse
from dataclasses import dataclass, fields

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from bove.cli import infer, train
from bove.cli.common import add_settings, flag
from bove.config.load import load_schema
from bove.errors import BoveError
from bove.factor.settings import (
    BLOCKS,
    TRAINERS,
    AlsSettings,
    InferenceSettings,
    ModelSettings,
    SgdSettings,
    check,
    from_record,
    json_schema,
    make,
    own_fields,
    record,
    setting,
)

FIELDS = {f"{name}.{one}": field for name, kind in BLOCKS.items() for one, field in own_fields(kind).items()}
VALUES = [
    -1, 0, 1, 7, 10**7, -0.5, 0.25, 1.5, True, None, "", "3", "l1", "other", "unbiased", ["l2"], {}, (1,),
]  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_the_check_allows_what_the_schema_allows(name):
    one, validator = FIELDS[name], Draft202012Validator(json_schema(FIELDS[name]))
    allowed = []
    for value in [*VALUES, *one.metadata["rules"].get("enum", ()), one.default]:
        try:
            got = check(one, value, "x")
        except BoveError as e:
            assert not validator.is_valid(value) and str(e).startswith("x ") and "must be " in str(e)
        else:
            assert validator.is_valid(value) and got == value
            allowed.append(value)
    assert one.default in allowed and len(allowed) < len(VALUES)


@pytest.mark.parametrize(
    ("kind", "name", "value", "said"),
    [
        (AlsSettings, "e_energy", 2.0, "--e-energy 2.0: must be above 0 and at most 1"),
        (AlsSettings, "rank", 10**30, "must be at least 1 and at most 1048576"),
        (AlsSettings, "rank", "3", "--rank '3': must be a whole number, at least 1"),
        (AlsSettings, "alpha", 10**400, "must be a finite number, at least 0"),
        (AlsSettings, "alpha", float("nan"), "--alpha nan: must be a finite number, at least 0"),
        (AlsSettings, "penalty_P", "nuclear", "--penalty-P nuclear: must be one of l2, l1"),
        (SgdSettings, "negative_weight", "some", "some: must be a finite number, at least 0, or unbiased"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_what_is(kind, name, value, said):
    with pytest.raises(BoveError) as caught:
        make(kind, {name: value}, flag)
    assert said in str(caught.value)


def test_numbers_become_those_of_python_and_what_is_left_out_has_its_default():
    got = make(AlsSettings, {"rank": np.int64(3), "alpha": np.float32(2), "other": "x"})
    assert got == AlsSettings(rank=3, alpha=2.0) and type(got.rank) is int and type(got.alpha) is float


@pytest.mark.parametrize("kind", TRAINERS.values())
def test_a_record_gives_its_settings_again(kind):
    given = kind(rank=7, alpha=0.5, penalty_R="nuclear")
    kept = record(given)
    assert kept["trainer"] == kind.trainer and not {"dtype", "checkpoint_every"} & kept.keys()
    assert from_record({**kept, "rounds": 3}) == given
    for change, said in (({"trainer": "adam"}, "trained by 'adam'"), ({"alpha": -1}, "alpha -1: must be")):
        with pytest.raises(BoveError, match=said):
            from_record({**kept, **change})
    del kept["penalty_R"]
    with pytest.raises(BoveError, match="does not record the setting penalty_R"):
        from_record(kept)


def test_the_configuration_has_the_settings_in_their_sections():
    keys = load_schema()["properties"]
    model, inference = keys["model"]["properties"], keys["inference"]["properties"]
    assert model["trainer"]["enum"] == list(TRAINERS)
    places = {ModelSettings: model, InferenceSettings: inference}
    for kind in (*places, *TRAINERS.values()):
        place = places.get(kind) or model[kind.trainer]["properties"]
        assert all(place[name] == json_schema(one) for name, one in own_fields(kind).items()), kind


@pytest.mark.parametrize(
    ("register", "kind"),
    [(train.register_train_als, AlsSettings), (train.register_train_sgd, SgdSettings),
     (infer.register_infer, InferenceSettings)],
)  # fmt: skip
def test_commands_have_an_option_for_each_setting(register, kind):
    parser = argparse.ArgumentParser()
    register(parser)
    options = {action.dest: action for action in parser._actions}
    for one in fields(kind):
        option = options[one.name]
        assert (option.option_strings, option.default) == ([flag(one.name)], one.default)
    assert make(kind, {name: option.default for name, option in options.items()}) == kind()


@dataclass(frozen=True)
class Switches:
    faster: bool = setting(False, help="Whether to hurry.")


def test_a_setting_that_is_on_or_off_is_an_option_too():
    (one,), parser = fields(Switches), argparse.ArgumentParser()
    assert json_schema(one) == {"description": "Whether to hurry.", "type": "boolean", "default": False}
    add_settings(parser, Switches)
    assert make(Switches, vars(parser.parse_args(["--faster"]))) == Switches(faster=True)
    with pytest.raises(BoveError, match="faster 1: must be"):
        check(one, 1, "faster")
