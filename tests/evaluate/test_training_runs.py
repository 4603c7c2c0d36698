"""Logs and times of trainings are read as one, summed up by term, and refused where they do not fit."""

import csv
import io

import pytest

from bove.errors import BoveError
from bove.evaluate.training_log import (
    CSV_COLUMNS,
    NOT_REACHED,
    read_run,
    seconds_until_below,
    training_table,
    write_csv,
)

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
    stream = io.StringIO()
    write_csv(stream, curves)
    return list(csv.DictReader(io.StringIO(stream.getvalue())))


def cells(table):
    """The Markdown tables of a text as lists of rows of cells."""
    tables, inside = [], False
    for line in table.split("\n"):
        if line.startswith("|"):
            if not inside:
                tables.append([])
            tables[-1].append([cell.strip() for cell in line.strip("|").split(" | ")])
        inside = line.startswith("|")
    return tables


def test_relations_and_penalties_are_summed_and_other_columns_do_not_count(read):
    curve = read()
    assert (curve.rounds, curve.seconds, curve.total) == ([1, 2, 4], [1.5, 2.5, 4.25], [206.0, 157.0, 123.5])
    assert curve.terms == {
        "words": [100.0, 80.0, 70.5],
        "tags": [50.0, 40.0, 30.0],
        "relations": [50.0, 30.0, 15.0],
        "penalties": [6.0, 7.0, 8.0],
    }
    parts = zip(*curve.terms.values(), strict=True)
    assert [sum(row) for row in parts] == curve.total


def test_columns_may_stand_in_any_order_and_lines_end_in_either_way(read):
    turned = io.StringIO()
    csv.writer(turned, lineterminator="\r\n").writerows(row[::-1] for row in csv.reader(io.StringIO(LOG)))
    assert read(turned.getvalue()) == read()


def test_a_log_without_tags_and_with_empty_cells_has_gaps_there(read):
    log = "round,words,relation:SBJ,relation:OBJ,lambda_P,lambda_R,total\n1,,3,,,,5\n2,1.5,,,,,4\n"
    curve = read(log, "round,seconds,total\n1,1,5\n2,2,4\n")
    assert curve.terms == {"words": [None, 1.5], "relations": [3.0, None]}
    assert rows_of(curve)[0] == dict(
        zip(CSV_COLUMNS, ["als", "1", "1.0", "5.0", "", "", "3.0", ""], strict=True)
    )
    assert cells(training_table([curve]))[0][2] == ["als", "2", "2.0", "4", "1.5", "-", "-", "-"]


def test_the_csv_has_a_row_a_run_and_round_in_full_precision(read):
    third = 1 / 3
    log, times = LOG.replace("206.0", repr(206 + third)), TIMES.replace("206.0", repr(206 + third))
    rows = rows_of(read(log, times), read(name="sgd"))
    assert [(row["run"], row["round"]) for row in rows] == [(n, r) for n in ("als", "sgd") for r in "124"]
    assert float(rows[0]["total"]) == 206 + third and float(rows[5]["relations"]) == 15


def test_the_table_has_the_last_round_and_thousands_are_marked(read):
    log, times = (text.replace("123.5", "1234567.8") for text in (LOG, TIMES))
    table = training_table([read(log, times)])
    header, _, row = cells(table)[0]
    assert header == ["run", "rounds", "seconds", "L at the end", "words", "tags", "relations", "penalties"]
    assert row == ["als", "3", "4.2", "1,234,568", "70.5", "30", "15", "8"]
    assert "Seconds are measured" in table and "differ from run to run" in table
    assert len(cells(table)) == 1, "a run alone has none to be held against"


def test_a_run_is_timed_until_it_is_below_where_another_one_ended(read):
    slow = read("round,total\n1,160\n2,150\n", "round,seconds,total\n1,10,160\n2,20,150\n", "slow|er")
    equal = read("round,total\n7,123.5\n", "round,seconds,total\n7,9,123.5\n", "equal")
    table = cells(training_table([read(), slow, equal]))[1]
    assert table[2:] == [
        ["als", "-", "4.2", NOT_REACHED],
        ["slow\\|er", NOT_REACHED, "-", NOT_REACHED],
        ["equal", NOT_REACHED, "9.0", "-"],
    ]


def test_below_means_below(read):
    curve = read()
    assert seconds_until_below(curve, 157.0) == 4.25
    assert seconds_until_below(curve, 157.1) == 2.5
    assert seconds_until_below(curve, 123.5) is None


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("", "log.csv, line 1: has no column 'round'; give the CSV that a trainer writes by --training-log"),
        (LOG.replace("total", "sum"), "log.csv, line 1: has no column 'total'"),
        (LOG.replace("restart", "words"), "log.csv, line 1: has column 'words' twice"),
        (LOG.split("1,0")[0], "log.csv: has no round"),
        (LOG[:-20], "log.csv, line 4: 7 cells, but 11 columns; make the file again"),
        (LOG + "\n", "log.csv, line 5: 0 cells, but 11 columns"),
        (LOG.replace("157.0", ""), "log.csv, line 3: 'total' is '', not a finite number"),
        (LOG.replace("80.0", "x"), "log.csv, line 3: 'words' is 'x', not a finite number"),
        (LOG.replace("10.0,4.0", "nan,4.0"), "log.csv, line 3: 'relation:a,b' is 'nan', not a finite number"),
        (
            LOG.replace("\n2,", "\n1,"),
            "log.csv, line 3: round 1 is no whole number above that of the line before",
        ),
        (LOG.replace("\n1,", "\n0.5,"), "log.csv, line 2: round 0.5 is no whole number"),
        (LOG.replace("\n2,1,80", '\n2,1,"80'), "log.csv, line 4: not CSV"),
        (LOG.replace("\n4,", "\n3,"), "log.csv, line 4: round 3 has no time in "),
        (LOG.replace("123.5", "123.6"), "log.csv, line 4: the total of round 4 is 123.6, but 123.5 in "),
    ],
)
def test_a_malformed_log_is_told_with_its_line(read, log, message):
    with pytest.raises(BoveError) as told:
        read(log)
    assert message in str(told.value)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (LOG, "times.csv, line 1: has no column 'seconds'; give the CSV that a trainer writes by --times"),
        (
            TIMES.replace("2.5", "1.25"),
            "times.csv, line 3: 1.25 seconds after 1.5; seconds run from the start",
        ),
        (TIMES.replace("1.5", "-1"), "times.csv, line 2: -1 seconds after 0"),
        (TIMES.replace("1.5", ""), "times.csv, line 2: 'seconds' is '', not a finite number"),
        (TIMES + "5,6,7\n", "times.csv: has a round 5, which "),
    ],
)
def test_malformed_times_are_told_with_their_line(read, times, message):
    with pytest.raises(BoveError) as told:
        read(times=times)
    assert message in str(told.value)
