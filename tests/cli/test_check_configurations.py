"""What `bove check` says of configurations, and of the files that they name."""

import json
from pathlib import Path

from bove.cli.main import main

ROOT = Path(__file__).parent.parent.parent


def test_configurations_stand_alone_or_change_the_one_before(capsys):
    names = ("ablations", "config", "ablations")
    assert main(["check", "--json", *(str(ROOT / "config" / f"{name}.yaml") for name in names)]) == 0
    alone, whole, changes = [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]
    assert "has no run, treebank, vectors, datasets" in alone["remarks"][0]
    assert whole["kind"] == "configuration" and "ablations" not in whole["holds"]["run"]
    assert changes["remarks"] == [] and "ablations: adjacency-only" in changes["holds"]["run"]


def test_few_resamples_are_remarked(tmp_path, capsys):
    text = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
    for given, said in (("{resamples: 1999, confidence: 0.99}", True), ("{confidence: 0.99}", False)):
        (tmp_path / "c.yaml").write_text(f"{text}\nstatistics: {given}\n", encoding="utf-8")
        assert main(["check", str(tmp_path / "c.yaml")]) == 0
        assert ("odd: statistics: 1999 resamples are few" in capsys.readouterr().out) == said


def test_a_configuration_s_files_must_be_there(tmp_path, capsys):
    text = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
    path = tmp_path / "c.yaml"
    path.write_text(text.replace("source:corpus/treebank/dev.conll09", "no dev"), encoding="utf-8")
    assert main(["check", str(path)]) == 2
    assert "treebank.dev: no dev: no such file; correct the path" in capsys.readouterr().out


def test_a_configuration_s_pairs_are_read_in_the_columns_that_it_names(tmp_path, capsys):
    text = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    own = (
        "datasets: {sts: null, snli: null, own: {label: Own, task: similarity, columns: {first: A, "
        f"second: B, gold: C}}, subsets: {{all: {{input: {tmp_path}/own.txt}}}}}}}}\n"
    )
    (tmp_path / "own.yaml").write_text(own, encoding="utf-8")
    (tmp_path / "own.txt").write_text("C\tA\tB\n1\tx\ty\n\tx\tz\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("c.yaml", "own.yaml")]
    assert main(["check", *files]) == 0
    assert "  data set own\n    all: 2 pairs, 1 of them scored\n" in capsys.readouterr().out
    (tmp_path / "own.txt").write_text("C\tA\tB\nhigh\tx\ty\n", encoding="utf-8")
    assert main(["check", *files]) == 2
    assert "own.txt, line 2: 'high' is not a score" in capsys.readouterr().out
