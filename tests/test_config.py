"""The configuration: what YAML becomes, how files merge, what is coerced, and what a mistake says."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bove.bags import SYSTEMS
from bove.config.load import defaults, load, load_schema, resolve, store, summary
from bove.config.variants import variants
from bove.errors import BoveError

ROOT = Path(__file__).parent.parent
SMALL = """
run: small
treebank: {train: train.conll, dev: dev.conll}
vectors: {file: vectors.bin}
datasets:
  sts: {label: STS, task: similarity, subsets: {a: {input: a.txt, gold: a.gs}}}
"""

# nine values, nine times nine times …
LAUGHS = "\n".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]" for a, b in zip("abcdef", "bcdefg", strict=True))


@pytest.fixture
def read(tmp_path):
    """Resolve YAML texts, merged in their order, and `key=value` assignments."""

    def resolved(*texts, assignments=()):
        files = []
        for number, text in enumerate(texts):
            files.append(tmp_path / f"{number}.yaml")
            files[-1].write_text(text, encoding="utf-8")
        return resolve(load(files, assignments))

    return resolved


def _keys(schema, where=()):
    """(path, schema) of every key, those with free names as `*`."""
    children = list(schema.get("properties", {}).items())
    if isinstance(schema.get("additionalProperties"), dict):
        children.append(("*", schema["additionalProperties"]))
    for name, child in children:
        yield (*where, name), child
        yield from _keys(child, (*where, name))


def test_every_key_is_described_and_no_section_takes_unknown_keys():
    for path, schema in _keys(load_schema()):
        assert schema.get("description"), path
        if schema.get("type") == "object":
            assert "additionalProperties" in schema, path


def test_the_manual_has_every_key_with_its_default_and_description():
    manual = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    for path, schema in _keys(load_schema()):
        description = " ".join(schema["description"].split())
        if path[-1] == "*":
            continue
        if schema.get("properties") or path in (("sources",), ("datasets",), ("encoders",)):
            assert f"## {'.'.join(path)}\n\n{description}" in manual, path
        else:
            default = f"`{_yaml(schema['default'])}` " if "default" in schema else ""
            assert f"| `{path[-1]}` | {default}| {description}" in manual, path
        for value in schema.get("enum", []):
            assert f"`{value}`" in manual, path


def _yaml(value):
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("\n").removesuffix("\n...")


def test_what_is_left_out_has_the_schema_s_default(read):
    config, seen = read(SMALL), 0
    for path, schema in _keys(load_schema()):
        if "default" in schema and "*" not in path:
            value = config
            for name in path:
                value = value[name]
            assert value == schema["default"], path
            value = defaults()
            for name in path:
                value = value[name]
            assert value == schema["default"], path
            seen += 1
    assert seen > 30
    assert tuple(config["systems"]) == SYSTEMS and config["baselines"] == []


@pytest.mark.parametrize("name", ["2024_01", "010", "no", "1e3", "0x10", "2024-01-05", "null_run", "1.50"])
@pytest.mark.parametrize("how", ["file", "command line"])
def test_names_stay_as_they_are_written(read, name, how):
    if how == "file":
        text = SMALL.replace("run: small", f"run: {name}").replace("label: STS", f"label: {name}")
        config = read(text.replace("sts:", "2014:"))
        assert config["datasets"]["2014"]["label"] == name
    else:
        config = read(SMALL, assignments=[f"run={name}"])
    assert config["run"] == name


@pytest.mark.parametrize("text", ["1000", "1e3", "1.0E+3", "1000.0", "'1000'", "1_000", "01000"])
def test_one_number_is_one_value_however_it_is_written(read, text):
    config = read(SMALL + f"model: {{lambda_P: {text}}}\nvocabulary: {{min_relations: {text}}}")
    assert repr(config["model"]["lambda_P"]) == "1000.0"
    assert repr(config["vocabulary"]["min_relations"]) == "1000"


def test_the_order_of_keys_makes_no_difference(read):
    text = "  b: {label: B, task: entailment, subsets: {x: {input: x}, y: {input: y}}}\nmodel: {rank: 5}"
    given = yaml.safe_load(SMALL + text)
    turned = {key: given[key] for key in reversed(given)}
    turned["datasets"] = {key: given["datasets"][key] for key in reversed(given["datasets"])}
    first, second = read(SMALL + text), read(yaml.safe_dump(turned, sort_keys=False))
    assert yaml.safe_dump(first, sort_keys=False) == yaml.safe_dump(second, sort_keys=False)


def test_later_files_and_assignments_win_key_by_key(read):
    assigned = ["model={lambda_E: 7}", "seed=9"]
    config = read(SMALL + "model: {rank: 5, alpha: 2}", "model: {alpha: 3}", assignments=assigned)
    model = config["model"]
    assert (model["rank"], model["alpha"], model["lambda_E"], config["seed"]) == (5, 3.0, 7.0, 9)


def test_null_removes_a_data_set_and_resets_a_key(read):
    text = SMALL + "  b: {label: B, task: entailment, subsets: {x: {input: x}, y: {input: y}}}\nseed: 8"
    config = read(text, "datasets: {sts: null, b: {subsets: {y: null}}}\nseed: null")
    assert list(config["datasets"]) == ["b"]
    assert list(config["datasets"]["b"]["subsets"]) == ["x"]
    assert config["seed"] == load_schema()["properties"]["seed"]["default"]


def test_a_section_of_comments_alone_is_an_empty_one(read):
    assert read(SMALL + "model:\n  # rank: 5\n") == read(SMALL)


def test_anchors_and_merge_keys_work(read):
    text = "  b: &b {label: B, task: entailment, subsets: {x: {input: x}}}\n  c: &c {<<: *b, label: 010}\n"
    found = read(SMALL + text + "  d: *c\n  e: {<<: *c, label: E}\n")["datasets"]
    assert found["c"] == found["d"] == {**found["b"], "label": "010"}
    assert found["e"] == {**found["b"], "label": "E"}


def test_where_the_schema_leaves_it_open_a_number_is_what_would_be_written_so(read):
    text = "{vectors: {file: 010, limit: 5}, vocabulary: {tags: no, numbers: false}, model: {alpha: 1.50}}"
    changes = read(SMALL, f"ablations: {{x: {text}}}")["ablations"]["x"]
    assert changes["vectors"] == {"file": "010", "limit": 5} and changes["model"] == {"alpha": "1.50"}
    assert changes["vocabulary"] == {"tags": "no", "numbers": False}
    (_, changed) = variants(read(SMALL, f"ablations: {{x: {text}}}"))
    assert changed.config["vectors"]["file"] == "010" and changed.config["model"]["alpha"] == 1.5
    assert not changed.config["vocabulary"]["tags"]


MISTAKES = {
    "modle: {}": "modle: unknown key; did you mean model? allowed: run, seed",
    "model: {alpah: 1}": "model.alpah: unknown key; did you mean alpha? allowed: trainer, rank, scale, alpha",
    "model: {trainer: asl}": "model.trainer: 'asl' is not allowed; did you mean als? allowed: als, sgd",
    "model: {rank: 0}": "model.rank: 0 is not allowed; allowed: at least 1",
    "model: {rank: 2.5}": "model.rank: 2.5 has the wrong type; allowed: integer",
    "model: {alpha: many}": "model.alpha: 'many' has the wrong type; allowed: number",
    "model: {alpha: .nan}": "model.alpha: '.nan' has the wrong type; allowed: number",
    "model: {alpha: true}": "model.alpha: 'true' has the wrong type",
    "model: [1]": "model: ['1'] has the wrong type; allowed: object",
    "vocabulary: {lookup: [exact, exact]}": "vocabulary.lookup:",
    "vocabulary: {numbers: maybe}": "vocabulary.numbers: 'maybe' has the wrong type; allowed: boolean",
    "systems: [bove, bvoe]": "systems.1: 'bvoe' is not allowed; did you mean bove?",
    "parser: {source: load}": "parser.tagger is missing; parser.source: load needs it",
    "sources: {x: {url: 'ftp://x'}}": "sources.x.url: 'ftp://x' is not allowed",
    "sources: {a b: {file: x}}": "sources: 'a b' is not allowed",
    "sources: {x: {sha256: 123}}": "sources.x.sha256: '123' is not allowed",
    "model: {penalty_P: nuclear}": "model.penalty_P: 'nuclear' is not allowed; allowed: l2, l1",
    "scoring: {weight: lenght}": "scoring.weight: 'lenght' is not allowed; allowed: none, length",
    "scoring: {weight: [none, x]}": "scoring.weight: ['none', 'x'] is not allowed; allowed: none, length",
    "scoring: {power: 0}": "scoring.power: 0.0 is not allowed; allowed: above 0",
    "seed: -1": "seed: -1 is not allowed; allowed: at least 0",
    "seed: 2024-13-45": "seed: '2024-13-45' has the wrong type; allowed: integer",
    "seed: 1" + "0" * 5000: "seed: '1000",
    "model: {alpha: 1" + "0" * 400 + "}": "model.alpha: '1000",
    "seed: 1:30": "seed: '1:30' has the wrong type; allowed: integer",
    "seed: =": "seed: '=' has the wrong type; allowed: integer",
    "model: {trainer: " + "x" * 999 + "}": "model.trainer: 'xxxxxxxx",
}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("run: small", "", "top level: run is missing; add it, or name a whole configuration before it, "),
        ("run: small", "run: ../up", "run: '../up' is not allowed"),
        ("run: small", "run: ''", "run: '' is not allowed"),
        (", dev: dev.conll", "", "treebank: dev is missing"),
        ("file: vectors.bin", "source: train", "vectors.text is missing"),
        (", gold: a.gs", "", "datasets.sts.subsets.a.gold is missing"),
        ("similarity", "entailment", "datasets.sts.subsets.a.gold: columns.gold names the input's gold"),
        ("{a: {input: a.txt, gold: a.gs}}", "{}", "datasets.sts.subsets: {} should be non-empty"),
        (", subsets: {a: {input: a.txt, gold: a.gs}}", "", "datasets.sts: subsets is missing; add it"),
        *(("\n", f"\n{extra}\n", message) for extra, message in MISTAKES.items()),
    ],
)
def test_a_mistake_names_its_key_its_value_and_what_is_allowed(read, old, new, message):
    with pytest.raises(BoveError) as error:
        read(SMALL.replace(old, new, 1))
    assert str(error.value).startswith(f"configuration: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["none", "[evidence, none]"])
def test_one_weight_of_scores_is_a_list_of_one(read, text):
    config = read(f"{SMALL}\nscoring: {{weight: {text}}}\n")
    assert config["scoring"]["weight"] == (["none"] if text == "none" else ["evidence", "none"])


def test_a_missing_file_and_a_bare_word_are_refused(tmp_path):
    with pytest.raises(BoveError, match=r"absent\.yaml: no such file"):
        load([tmp_path / "absent.yaml"])
    with pytest.raises(BoveError, match="'run' is not an assignment"):
        load([], ["run"])


def test_a_stored_configuration_reads_back_the_same_and_is_not_written_twice(read, tmp_path):
    config = read(SMALL, assignments=["run=010"])
    path = tmp_path / "results" / "config.yaml"
    store(config, path)
    before = path.stat().st_mtime_ns
    store(config, path)
    assert path.stat().st_mtime_ns == before
    assert resolve(load([path])) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "0.yaml, line 1: not valid YAML (expected the node content"),
        ("just text", "0.yaml: holds 'just text'; write keys and values"),
        ("seed: 1\nseed: 2", "0.yaml, line 2: key 'seed' is repeated in its section, first in line 1"),
        ("model: {rank: 1, rank: 2}", "0.yaml, line 1: key 'rank' is repeated"),
        ("a: &a [*a]", "0.yaml: nested too deeply, or a part that holds itself"),
        ("a: " + "[" * 3000 + "]" * 3000, "0.yaml: nested too deeply"),
        ("a: &a [1,1,1,1,1,1,1,1,1]\n" + LAUGHS, "0.yaml: more than 100000 values with its aliases"),
        ("model:\n\trank: 1", "0.yaml, line 2: not valid YAML (a tab before its text; indent with spaces)"),
        ("? [a]\n: b", "0.yaml, line 1: a key that is not text; write a name"),
        ("seed: !x y", "0.yaml, line 1: the tag '!x'; leave it out"),
        ("seed: !!python/object:os.system x", "0.yaml, line 1: the tag 'tag:yaml.org,2002:python/object:os"),
        ("<<: 3", "0.yaml, line 1: not valid YAML (expected a mapping"),
        ("a: \0", "0.yaml: not valid YAML (unacceptable character #x0000"),
        ('run: "a\\n"', "0.yaml, line 1: '\\n' in 'a\\n'; write one line of plain text"),
        ('run: a\n"b\\0": 1', "0.yaml, line 2: '\\x00' in 'b\\x00'; write one line"),
        ('seeds: ["\\ud800"]', "0.yaml, line 1: '\\ud800' in '\\ud800'; write one line"),
        ("run: 'a\u2028b'", "0.yaml, line 1: '\\u2028' in "),
        ("a: 1\n---\nb: 2", "0.yaml, line 2: not valid YAML (but found another document"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, message):
    path = tmp_path / "0.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BoveError) as error:
        load([path])
    assert message in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize("name", ["config", "open", "paper"])
def test_the_configurations_that_come_along_are_valid_and_the_ablations_go_with_each(name):
    files = [ROOT / "config" / f"{file}.yaml" for file in (name, "ablations")]
    config = resolve(load(files[:1]))
    assert f"rank {config['model']['rank']}" in summary(config)
    got = [variant.name for variant in variants(resolve(load(files)))]
    assert got[:3] == ["", "bove-sgd", "adjacency-only"]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("", "; seed 1."),
        (
            "select: {grid: {alpha: [1, 2]}, points: [{lambda_P: 3, alpha: 4}]}",
            "; seed 1; select: alpha, lambda_P.",
        ),
        ("compare: {a: {}}\nablations: {b: {}, c: {}}", "; seed 1; compare: a; ablations: b, c."),
    ],
)
def test_the_summary_names_what_is_tried_and_compared(read, text, end):
    assert summary(read(SMALL, text)).endswith(end)


odd = st.sampled_from(
    ["[]", "{}", "-1", "1e999", "nan", "~", "''", "{a: {}}", "[1, x]", "no", "010", "2024-99-99", "!!int x"]
)


@given(st.data())
def test_any_value_under_any_key_is_taken_or_refused_in_one_line(tmp_path_factory, data):
    where = data.draw(st.sampled_from([path for path, _ in _keys(load_schema())]))
    text = data.draw(odd)
    for name in reversed(where):
        text = f"{{{data.draw(st.sampled_from(['x', 'sts'])) if name == '*' else name}: {text}}}"
    folder = tmp_path_factory.mktemp("config")
    for name, content in (("a", SMALL), ("b", text)):
        (folder / name).write_text(content, encoding="utf-8")
    try:
        config = resolve(load([folder / "a", folder / "b"]))
    except BoveError as e:
        assert "\n" not in str(e) and str(e)
    else:
        store(config, folder / "c")
        assert resolve(load([folder / "c"])) == config
        assert "\n" not in summary(config)
