"""Logs and times of trainings are read as one, summed up by term, and refused where they do not fit."""

import csv
import io

import pytest

from bove.errors import BoveError
from bove.evaluate.results import csv_text
from bove.evaluate.training_log import NOT_REACHED, read_run, training_frame, training_table

LOG = """round,restart,words,tags,relation:SBJ,"relation:a,b",lambda_P,lambda_R,lambda_E,total,held_out
1,0,100.0,50.0,30.0,20.0,3.0,2.0,1.0,206.0,
2,1,80.0,40.0,20.0,10.0,4.0,2.0,1.0,157.0,0.5
4,0,70.5,30.0,10.0,5.0,5.0,2.0,1.0,123.5,0.25
"""
TIMES = "round,seconds,total\n1,1.5,206.0\n2,2.5,157.0\n4,4.25,123.5\n"


@pytest.fixture
def read(tmp_path):
    """Reads a run from the text of its two files."""

    def read(log=LOG, times=TIMES, name="als"):
        for file, text in (("log.csv", log), ("times.csv", times)):
            (tmp_path / file).write_text(text, encoding="utf-8", newline="")
        return read_run(name, tmp_path / "log.csv", tmp_path / "times.csv")

    return read


def rows_of(*curves):
    return list(csv.DictReader(csv_text(training_frame(curves)).split("\n")))


def cells(text):
    """The rows of the last Markdown table of a text, without its rule."""
    lines = text.strip().split("\n\n")[-2 if "\n\nSeconds" in text else 1].split("\n")
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[:1] + lines[2:]]


def test_relations_and_penalties_are_summed_and_other_columns_do_not_count(read):
    curve = read()
    assert (curve.rounds, curve.seconds, curve.total) == ([1, 2, 4], [1.5, 2.5, 4.25], [206.0, 157.0, 123.5])
    words, tags, relations, penalties = [100, 80, 70.5], [50, 40, 30], [50, 30, 15], [6, 7, 8]
    assert curve.terms == {"words": words, "tags": tags, "relations": relations, "penalties": penalties}
    turned = io.StringIO()
    csv.writer(turned, lineterminator="\r\n").writerows(row[::-1] for row in csv.reader(io.StringIO(LOG)))
    assert read(turned.getvalue()) == curve, "columns in another order"


def test_a_log_without_tags_and_with_empty_cells_has_gaps_there(read):
    log = "round,words,relation:SBJ,relation:OBJ,lambda_P,lambda_R,total\n1,,3,,,,5\n2,1.5,,,,,4\n"
    curve = read(log, "round,seconds,total\n1,1,5\n2,2,4\n")
    assert curve.terms == {"words": [None, 1.5], "relations": [3.0, None]}
    assert list(rows_of(curve)[0].values()) == ["als", "1", "1.0", "5.0", "", "", "3.0", ""]
    assert cells(training_table([curve]))[1] == ["als", "2", "2.0", "4", "1.5", "-", "-", "-"]


def test_the_csv_has_one_row_per_run_and_round_in_full_precision(read):
    third = 1 / 3
    log, times = LOG.replace("206.0", repr(206 + third)), TIMES.replace("206.0", repr(206 + third))
    rows = rows_of(read(log, times), read(name="sgd"))
    assert [(row["run"], row["round"]) for row in rows] == [(n, r) for n in ("als", "sgd") for r in "124"]
    assert float(rows[0]["total"]) == 206 + third and float(rows[5]["relations"]) == 15


def test_the_table_has_the_last_round_and_thousands_are_marked(read):
    table = training_table([read(*(text.replace("123.5", "1234567.8") for text in (LOG, TIMES)))])
    header, row = cells(table)
    assert header == ["run", "rounds", "seconds", "L at the end", "words", "tags", "relations", "penalties"]
    assert row == ["als", "3", "4.2", "1,234,568", "70.5", "30", "15", "8"]


def test_a_run_is_timed_until_it_is_below_where_another_one_ended(read):
    slow = read("round,total\n1,160\n2,150\n", "round,seconds,total\n1,10,160\n2,20,150\n", "slow|er")
    equal = read("round,total\n7,123.5\n", "round,seconds,total\n7,9,123.5\n", "equal")
    assert cells(training_table([read(), slow, equal]))[1:] == [
        ["als", "-", "4.2", NOT_REACHED],
        ["slow\\|er", NOT_REACHED, "-", NOT_REACHED],
        ["equal", NOT_REACHED, "9.0", "-"],
    ]


@pytest.mark.parametrize(
    ("log", "times", "found"),
    [
        ("", TIMES, "log.csv, line 1: has no column 'round', but ''; give the CSV that a trainer writes by"),
        (LOG.replace("total", "sum"), TIMES, "log.csv, line 1: has no column 'total'"),
        (LOG.replace("restart", "words"), TIMES, "log.csv, line 1: column 'words' is repeated"),
        (LOG.split("1,0")[0], TIMES, "log.csv: has no round"),
        (LOG + "\n5\n", TIMES, "log.csv, line 6: 1 cells, but 11 columns"),
        (LOG.replace("157.0", ""), TIMES, "log.csv, line 3: 'total' is ''"),
        (LOG.replace("\n2,1,80", '\n2,1,"80'), TIMES, "log.csv, line 4: not CSV"),
        (LOG.replace("\n4,", "\n3,"), TIMES, "log.csv: has other rounds than "),
        (LOG, LOG, "times.csv, line 1: has no column 'seconds', but 'round, "),
        (LOG, TIMES + "5,6,7\n", "log.csv: has other rounds than "),
    ],
)
def test_what_is_malformed_or_not_of_one_training_is_refused_with_its_line(read, log, times, found):
    with pytest.raises(BoveError) as refused:
        read(log, times)
    assert found in str(refused.value)
