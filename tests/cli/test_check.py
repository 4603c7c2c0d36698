"""`bove check`: what it says of each kind of file, of odd ones, and of files that belong together."""

import gzip
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from artefact_files import write_all
from conll_rows import DOGS_09, DOGS_U, row09, row_u, tree
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from bove.check import KINDS
from bove.cli.main import main
from bove.text.vectors import DUPLICATE, EMPTY, NOT_UTF8

ROOT = Path(__file__).parent.parent.parent
CONFIG = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
SNLI = '{"gold_label": "%s", "sentence1": "A dog.", "sentence2": "%s", "pairID": "%s"}\n'
WHOLE, PARTS = "caf\u00e9", "cafe\u0301"


@pytest.fixture
def check(tmp_path, capsys):
    """Check files of these contents, or of these paths; gives the exit code and the report on each."""

    def run(*contents, more=()):
        paths = []
        for number, content in enumerate(contents):
            if isinstance(content, Path):
                paths.append(content)
                continue
            paths.append(tmp_path / f"f{number}")
            paths[-1].write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(["check", "--json", *map(str, paths), *more])
        return code, [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]

    return run


def odd(report, unit="lines"):
    return {thing["what"]: (thing["count"], thing[unit]) for thing in report["odd"]}


def test_a_sound_treebank(check):
    code, (report,) = check(gzip.compress(DOGS_09.encode()))
    assert (code, report["kind"], report["usable"], report["odd"]) == (0, "CoNLL-2009 treebank", True, [])
    assert report["holds"] == {
        "sentences": 1, "tokens": 2, "longest sentence": "2 tokens", "relations": {"nsubj": 1},
        "words": "2 forms, 0 of them twice or more", "tags": {"NNS": 1, "VBP": 1},
        "gold and predicted columns agree": {"tags": "0.00 %", "heads": "50.00 %", "relations": "0.00 %"},
    }  # fmt: skip


def test_places_are_the_first_five_lines_or_all(check):
    text = (tree(0, 9, "_") + "\n") * 7
    _, (few,) = check(text)
    _, (full,) = check(text, more=["--all"])
    assert odd(few)["heads beyond the sentence"] == (7, [2, 6, 10, 14, 18])
    assert odd(full)["tokens without a head"] == (7, [3, 7, 11, 15, 19, 23, 27])


def test_ranges_and_empty_nodes_are_what_a_treebank_would_drop(check):
    code, (report,) = check(row_u("1-2", "Dogs", "_", "_", "_", "_") + DOGS_U + row_u("2.1", "x", *"____"))
    assert (code, report["kind"]) == (0, "CoNLL-U treebank")
    assert odd(report) == {"multiword ranges (no tokens)": (1, [1]), "empty nodes (no tokens)": (1, [4])}


def test_columns_without_any_head_are_refused(check):
    text = row09(1, "Dogs", "NNS", "_", "x") + row09(2, "bark", "VBP", "_", "y")
    code, (report,) = check(text)
    assert code == 2 and "none of its 2 tokens has a head in the gold columns" in report["error"]
    code, (report,) = check(text, more=["--columns", "predicted"])
    assert (code, report["holds"]["gold and predicted columns agree"]["heads"]) == (0, "0.00 %")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (DOGS_09.replace("\t", "  "), "line 1: its columns are separated by spaces"),
        (row09(1, "café", "T", 0, "r").encode("latin-1"), "line 1: byte 0xe9 is not utf-8"),
        (DOGS_09 + DOGS_09, "line 3: token number '1' in the place of 3"),
        ("# newdoc\n# sent_id = a", ""),
        (b"", "an empty file"),
        ("x = f(1);\n", "none of the kinds of file that BoVE reads, by its first line 'x = f(1);'"),
        (
            b"\x28\xb5\x2f\xfd\x04\0\x09",
            "packed (Zstandard), which is not read; unpack it, or pack it with gz",
        ),
        (
            DOGS_U + "\n" + DOGS_U.replace("Dogs", "Do\tgs"),
            "line 4: 11 columns, but 10 are due in a file that is CoNLL-U",
        ),
        (DOGS_U.encode("utf-16"), "UTF-16 text; convert it to UTF-8"),
        (
            b"PK\x03\x04\0[Content_Types].xml",
            "packed (a zip archive or office file), which is not read; unpack it",
        ),
        (b"3 2\na " + bytes(8) + b"b " + bytes(5), "row 2: the file ends there, but its header says 3 rows"),
        ("a\tb\nc\td\nonly one\n", "line 3: one column, but most rows have 2"),
        ("1\n" * 9000 + "high\n", "line 9001: 'high' is no"),
        ("\n\n1e999\n", "none of the kinds"),
        (SNLI % ("maybe", "x", 1), "line 1: unknown label 'maybe'"),
        (SNLI % ("-", "x", 1), "no pair has a label that counts"),
        ("run: x\nmodle: {}\n", "modle: unknown key; did you mean model?"),
        ("{\n", "none of the kinds of file that BoVE reads"),
        ('{"premise": "A"}\n', "line 1: no key"),
        ('{"gold_label": "neutral", "sentence1": "A', "line 1: not JSON"),
    ],
)
def test_what_cannot_be_used_is_reported_with_the_reason(check, content, message):
    code, (report,) = check(content)
    assert (code, report["usable"]) == ((2, False) if message else (0, True))
    assert message in (report["error"] or "")


def binary(words, rows):
    pairs = zip(words, rows.astype("<f4"), strict=True)
    return b"%d %d\n" % rows.shape + b"".join(word + b" " + row.tobytes() for word, row in pairs)


def test_word_vectors_in_every_form(check):
    rows = np.array([[3, 4], [0, 0], [1, 0], [1, 0], [1, 0], [0, 0.5]], np.float32)
    words = [b"the", b"zero", b"\xff", b"the", b"", "é".encode()]
    for content, name in (
        (binary(words, rows), "word2vec, binary"),
        (b"2 2\nthe 3 4\nzero 0 0\n", "word2vec, text"),
        (b"the 3 4\nzero 0 0\nthe 1 1\n", "GloVe"),
    ):
        code, (report,) = check(gzip.compress(content))
        assert (code, report["kind"]) == (0, f"word vectors ({name})")
        assert report["holds"]["dimensions"] == 2
        assert odd(report, "rows")["vectors of zeros"] == (1, [2])
    _, (report,) = check(binary(words, rows))
    expected = {"vectors of zeros": 2, NOT_UTF8: 3, DUPLICATE: 4, EMPTY: 5}
    assert odd(report, "rows") == {what: (1, [row]) for what, row in expected.items()}
    assert report["holds"]["words"] == 3 and report["holds"]["first words"] == "the zero é"
    assert report["holds"]["lengths of the vectors"] == "0 to 5, mean 1.42"


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("treebank", row_u(1, WHOLE, "N", "_", 0, "root") + row_u(2, PARTS, "N", "_", 1, "x"), None),
        ("sts", f"{WHOLE} a\tb\n{PARTS}\tb\na\tb {PARTS}\n", [2, 3]),
        ("vectors", f"{WHOLE} 1 2\n{PARTS} 1 2\nb 1 2\n", [2]),
    ],
)
def test_decomposed_letters_are_odd(check, kind, content, expected):
    _, (report,) = check(content, more=["--as", kind])
    if expected is None:
        assert len(report["remarks"]) == 1 and report["remarks"][0].startswith("1 tokens with decomposed")
        return
    found = odd(report, "rows" if kind == "vectors" else "lines")
    assert [places for what, (_, places) in found.items() if "not NFC" in what] == [expected]


def test_pairs_and_their_gold_are_read_together(check):
    pairs = "A dog.\tA dog.\nx\t\na\tb\t\n\u00a0\u200b\x01\t…\n"
    code, (sts, gold) = check(pairs, "1\n\n9\n2\n")
    assert code == 0
    assert odd(sts) == {
        "pairs of one sentence with itself": (1, [1]),
        "pairs with an empty sentence": (2, [2, 4]),
        "pairs with invisible format characters (such as U+200B), which match no word without them": (1, [4]),
    }
    unscored = {"lines without a score, whose pairs are not scored": (1, [2])}
    assert odd(gold) == unscored | {"scores outside 0 to 5": (1, [3])}
    assert gold["holds"]["goes with"].endswith("f0: 3 scored pairs")
    _, (wide, odd_one) = check("a\tb\tthere\nc\td\there\n", "a dog\truns\ta cat runs\na\tb\nc\td\n")
    assert wide["remarks"][0].endswith("a configuration's `columns` names them; line 1 has a | b | there")
    assert "line 1: 3 columns, but most rows have 2 (1 of 3 rows do not)" in odd_one["error"]
    code, (gold, sts) = check("1\n2\n", pairs)
    assert code == 2 and "has 4 lines, but" in gold["error"] and sts["usable"]
    _, reports = check(pairs, "1\n1\n1\n1\n")
    assert "correlate with nothing" in reports[1]["remarks"][0]


def test_snli_in_both_forms(check):
    lines = SNLI % ("neutral", "B.", 1) + "\n" + SNLI % ("-", "C.", 2)
    text = "gold_label\tsentence1\tsentence2\tpairID\nneutral\tA dog.\tB.\t1\n \n-\tA dog.\tC.\t2\n"
    for content in (lines, text):
        code, (report,) = check(content)
        assert (code, report["kind"]) == (0, "entailment pairs (SNLI)")
        assert report["holds"]["labels"] == {"neutral": 1, "-": 1}
        line = 3 + content.startswith("gold_label")
        assert odd(report) == {"pairs without a label, which are not scored": (1, [line])}


def test_graphs_of_json_lines(check):
    first = '{"id": "g", "nodes": [["word:dog", "pos:NN"], []], "edges": [["x", 0, 1], ["x", 0, 1]]}'
    code, (report,) = check(f'{first}\n\n{first}\n{{"nodes": []}}\n')
    assert (code, report["kind"]) == (0, "graphs (JSON lines)")
    assert report["holds"]["properties by kind"] == {"word": 2, "pos": 2}
    assert odd(report) == {
        "graphs without nodes": (1, [4]),
        "graphs in which a node has no property": (2, [1, 3]),
        "graphs with a repeated edge, which counts once": (2, [1, 3]),
        "graphs with a repeated id": (1, [3]),
    }
    code, (report,) = check('{"nodes": [[3]]}\n')
    assert code == 2 and "line 1: graph: 3 is no" in report["error"]
    assert "no graph has a node" in check('{"nodes": []}\n')[1][0]["error"]


def test_triples_where_they_are_named(check):
    code, (report,) = check("a\tr\tb\n\nb\tr\tb\na\tr\tb\n", more=["--as", "triples"])
    assert (code, report["holds"]) == (0, {"triples": 3, "nodes": 2, "relations": {"r": 3}})
    loops, repeated = "triples of a node with itself", "repeated triples, which count once"
    assert odd(report) == {loops: (1, [3]), repeated: (1, [4])}
    assert "line 1: needs 3 cells" in check("a\tr\n", more=["--as", "triples"])[1][0]["error"]
    assert "no triple" in check("\n", more=["--as", "triples"])[1][0]["error"]


def test_names_that_look_alike_are_counted(check):
    for mark in ("\u200b", "\u00ad", "\u200e"):
        _, (report,) = check(DOGS_U.replace("Dogs", f"Do{mark}gs"))
        assert report["remarks"][0].startswith("1 tokens with invisible format characters")
    assert not check(DOGS_U.replace("Dogs", "👩\u200d💻"))[1][0]["remarks"]
    _, (report,) = check("a\tr\tb \nb\tr\ta\u200b\n", more=["--as", "triples"])
    spaces = "triples with spaces around a name, which is another without them"
    assert odd(report)[spaces] == (1, [1]) and [2] in [places for _, places in odd(report).values()]


def test_configurations_stand_alone_or_change_the_one_before(check):
    paths = [ROOT / "config" / f"{name}.yaml" for name in ("ablations", "config", "ablations")]
    code, (alone, whole, changes) = check(*paths)
    assert code == 0 and "has no run, treebank, vectors, datasets" in alone["remarks"][0]
    assert whole["kind"] == "configuration" and "ablations" not in whole["holds"]["run"]
    assert changes["remarks"] == [] and "ablations: adjacency-only" in changes["holds"]["run"]


def test_the_manual_s_file_of_changes_is_checked_as_changes(check):
    manual = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(# my.yaml\n.*?)```", manual, re.S)[1]
    whole = "run: x\ntreebank: {train: t, dev: d}\nvectors: {file: v}\n"
    for text in (
        example,
        whole + "datasets: {sts: null}\n",
        whole + "datasets: {sts: {subsets: {news: null}}}\n",
    ):
        code, (report,) = check(text)
        assert (code, report["kind"]) == (0, "changes to a configuration")
    assert "takes away data sets; name a configuration, such as" in report["remarks"][0]
    code, (_, report) = check(CONFIG, "datasets: {snli: null, roles: null}\n")
    assert code == 0 and "data sets sts; seed" in report["holds"]["run"]
    for odd_one in ("datasets: {}\n", "datasets: {mine: {label: x}}\n"):
        code, (report,) = check(whole + odd_one)
        assert (code, report["kind"]) == (
            (2, "configuration") if "mine" in odd_one else (0, "changes to a configuration")
        )


def test_a_configuration_s_files_must_be_there(check):
    _, (report,) = check(CONFIG.replace("source:corpus/treebank/dev.conll09", "no dev"))
    assert "treebank.dev: no dev: no such file; correct the path" in report["error"]
    _, (report,) = check(ROOT / "config" / "open.yaml")
    assert "treebank-train, vectors" in report["holds"]["to be downloaded"]


def test_a_configuration_s_pairs_are_read_in_the_columns_that_it_names(check, tmp_path):
    own = (
        "datasets: {sts: null, snli: null, roles: null, own: {label: Own, task: similarity, "
        f"columns: {{first: A, second: B, gold: C}}, subsets: {{all: {{input: {tmp_path}/own.txt}}}}}}}}\n"
    )
    for rows, found in (
        ("1\tx\ty\n\tx\tz\n", {"all": "2 pairs, 1 of them scored"}),
        ("high\tx\ty\n", "own.txt, line 2: 'high' is no"),
        ("\tx\ty\n", "own.txt: no pair has a gold score"),
    ):
        (tmp_path / "own.txt").write_text(f"C\tA\tB\n{rows}", encoding="utf-8")
        code, (_, report) = check(CONFIG, own)
        if isinstance(found, dict):
            assert (code, report["holds"]["data set own"]) == (0, found)
        else:
            assert code == 2 and found in report["error"]


def test_labels_of_roles_are_those_of_the_treebank(check, tmp_path):
    (tmp_path / "own.conllu").write_text(DOGS_U, encoding="utf-8")
    own = f"treebank: {{train: {tmp_path}/own.conllu}}\n"
    code, (_, report) = check(CONFIG, own)
    assert code == 2 and "datasets.roles.objects: obj, obl, OBJ: " in report["error"]
    assert "own.conllu has no such relation" in report["error"]
    own += "datasets: {roles: {objects: [nsubj]}}\n"
    assert check(CONFIG, own)[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "The dog barks.\n\nIs it a cat?\n",
        "Un caf\u00e9, s'il vous pla\u00eet !\n",
        "A dog\n" * 9 + "Yes.\n",
        "two words",
    ],
)
def test_sentences_of_plain_text_are_known_with_what_takes_them(check, text):
    code, (report,) = check(text)
    assert (code, report["kind"]) == (0, "sentences, one on each line")
    assert report["holds"]["sentences"] == len(text.rstrip("\n").split("\n"))
    assert "bove embed FILE, bove search --texts FILE" in report["holds"]["taken by"]
    blank = {"blank lines, which are sentences without a word": (1, [2])}
    assert odd(report) == (blank if "\n\n" in text else {})
    code, (report,) = check("\u4e00\u53ea\u72d7\n", more=["--as", "sentences"])
    assert code == 0 and report["holds"]["sentences"] == 1


@pytest.mark.parametrize(
    "text", ["x = 1;\ny = f(2);\n", "a,b,c\n1,2,3\n", "id,text\n1,The dog barks\n", "7 34 x\n8 x y\n"]
)
def test_other_text_is_not_taken_for_sentences(check, text):
    code, (report,) = check(text)
    assert code == 2 and "none of the kinds" in report["error"]


@pytest.mark.parametrize("encoding", ["foo", "utf-16", "rot13"])
def test_an_encoding_that_cannot_be_used_is_one_line(tmp_path, refused, encoding):
    (tmp_path / "f").write_text("a 1 2\nb 3 4\n", encoding="utf-8")
    refused(["check", tmp_path / "f", "--encoding", encoding], f"bove check: encoding '{encoding}': ")


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_missing_file_is_one_line_whatever_kind_is_named(tmp_path, capsys, kind):
    (tmp_path / "f").write_text("x", encoding="utf-8")
    named = ["--as", kind] if kind else []
    assert main(["check", str(tmp_path / "f" / "g"), str(tmp_path), *named]) == 2
    said = capsys.readouterr().out
    assert f"{tmp_path}/f/g: no such file; check the path" in said
    assert f"{tmp_path}: is a folder; name a file inside it" in said


@pytest.mark.fuzz
@given(data=st.binary(max_size=150), kind=st.sampled_from([*KINDS]))
def test_any_bytes_give_a_report_whatever_kind_is_named(tmp_path_factory, data, kind):
    path = tmp_path_factory.getbasetemp() / "file"
    path.write_bytes(data)
    with redirect_stdout(StringIO()) as out:
        code = main(["check", "--json", str(path), "--as", kind])
    report = json.loads(out.getvalue())
    assert code == (0 if report["usable"] else 2) and (report["usable"] or report["error"].strip())


def test_the_arrays_of_a_run(check, tmp_path):
    written = write_all(tmp_path)
    paths = [written[name] for name in ("vectors", "graphs", "model", "low-rank model", "bags")]
    code, (*reports, bags) = check(*paths)
    kinds = ["vectors", "graphs", "model", "model"]
    assert (code, [report["kind"] for report in reports]) == (0, [f"{kind} of a run" for kind in kinds])
    _, graphs, model, _ = (report["holds"]["metadata"] for report in reports)
    assert model["vocabulary"] == graphs["vocabulary_hash"]
    assert (bags["holds"]["sentences"], bags["holds"]["dimensions"]) == (4, 2)
    for path in paths:
        path.write_bytes(path.read_bytes()[:-20])
    code, reports = check(*paths)
    assert code == 2 and not any(report["usable"] for report in reports)


def test_bags_of_other_programs_must_be_finite_and_other_formats_are_refused(check, tmp_path):
    bags = {"offsets": np.array([0, 1]), "ids": np.frombuffer(b"a", np.uint8), "vectors": np.ones((1, 2))}
    save_file(bags, tmp_path / "sound")
    save_file(bags | {"vectors": np.full((1, 2), np.nan)}, tmp_path / "nan")
    save_file(bags, tmp_path / "other", {"format": "bove-else"})
    code, (sound, odd, other) = check(*(tmp_path / name for name in ("sound", "nan", "other")))
    assert code == 2 and sound["kind"] == "bags of another program" and sound["holds"]["dimensions"] == 2
    assert "not finite" in odd["error"] and "holds bove-else" in other["error"]


def test_control_characters_do_not_reach_the_terminal(tmp_path, capsys):
    assert main(["check", str(tmp_path / "no\x1b[2Jne")]) == 2
    said = capsys.readouterr()
    assert "no\\x1b[2Jne: no such file" in said.out + said.err and "\x1b" not in said.out + said.err
    (tmp_path / "t").write_text(DOGS_U.replace("NNS", "N\x07N") + "\n", encoding="utf-8")
    assert main(["check", str(tmp_path / "t")]) == 0
    assert "N\\x07N 1" in capsys.readouterr().out


def test_the_kind_can_be_named(check):
    assert check("only=one\n")[0] == 2
    code, (report,) = check("only one\n", more=["--as", "sts"])
    assert code == 2 and "between the columns" in report["error"]
    assert check("1\tDogs\t2\n", more=["--as", "sts"])[0] == 0
    assert "no sentences" in check("# x\n", more=["--as", "treebank"])[1][0]["error"]
    assert "no line has a score" in check("\n", more=["--as", "gold"])[1][0]["error"]


def test_the_report_for_people_is_whole_and_goes_to_stdout(tmp_path):
    (tmp_path / "t").write_text(tree(0, 9), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bove", "check", "t", "none"],
        capture_output=True, text=True, cwd=tmp_path, check=False, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "bove check: 1 of 2 files cannot be used: none\n"
    assert done.stdout.startswith("t: CoNLL-2009 treebank\n  sentences: 1\n  tokens: 2\n")
    assert "\n  gold and predicted columns agree\n    tags: " in done.stdout
    assert (
        "\n  odd: 1 heads beyond the sentence, line 2\n  can be used\n\nnone: not recognised\n" in done.stdout
    )
    assert done.stdout.endswith("  cannot be used: none: no such file; check the path\n")
