"""Tags, heads and labels against gold ones, token by token."""

import pytest

from bove.text.conll import Sentence
from bove.text.parser_training import Accuracy

GOLD = Sentence("1", ("Dogs", "bark", "loudly", "."), ("NNS", "VBP", "RB", "."), (2, 0, 2, 2), tuple("abcd"))


def changed(**fields):
    return Sentence("1", *(fields.get(name, getattr(GOLD, name)) for name in Sentence.__slots__[1:]))


def shares(*found, punctuation=True):
    accuracy = Accuracy()
    for tree in found:
        accuracy.add(GOLD, tree)
    return accuracy.shares(punctuation)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (GOLD, (1, 1, 1)),
        (changed(tags=("NN", "VBP", "RB", ",")), (1 / 2, 1, 1)),
        (changed(relations=tuple("abxy")), (1, 1, 1 / 2)),
        # a right label under a wrong head is not right
        (changed(heads=(3, 0, 2, 2)), (1, 3 / 4, 3 / 4)),
        (changed(heads=(3, 0, 2, 2), relations=tuple("xbcd")), (1, 3 / 4, 3 / 4)),
        (changed(heads=(2, 0, 2, 3)), (1, 3 / 4, 3 / 4)),
    ],
)
def test_shares_of_a_sentence(found, expected):
    assert tuple(shares(found).values()) == expected


def test_without_punctuation_its_tokens_count_neither_as_right_nor_as_wrong():
    wrong = changed(tags=("NN", "VBP", "RB", ","), heads=(2, 0, 2, 3))
    assert shares(wrong, punctuation=False) == {"tags": 2 / 3, "UAS": 1, "LAS": 1}


def test_tokens_are_averaged_over_all_sentences():
    short = Sentence("2", ("Hi",), ("UH",), (0,), ("r",))
    accuracy = Accuracy()
    accuracy.add(GOLD, changed(heads=(3, 0, 4, 3)))
    accuracy.add(short, short)
    assert accuracy.shares(True)["UAS"] == 2 / 5 and accuracy.shares(False)["UAS"] == 2 / 4
    assert accuracy.tokens == {True: 5, False: 4}
    assert accuracy.labels == {"a": 1, "b": 1, "c": 1, "d": 1, "r": 1}


def test_of_nothing_there_is_no_share():
    accuracy = Accuracy()
    accuracy.add(Sentence("1", ("!",), (".",), (0,), ("P",)), Sentence("1", ("!",), (".",), (0,), ("P",)))
    assert accuracy.shares(True) == {"tags": 1, "UAS": 1, "LAS": 1}
    assert accuracy.shares(False) == {"tags": None, "UAS": None, "LAS": None}
