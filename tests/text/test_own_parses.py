"""Trees that a user brings: which comments count, and how they are matched with sentences."""

import pytest

from bove.errors import BoveError
from bove.text.pairs import match_parses

ROW = "1\tx\t_\tX\tX\t_\t0\troot\t_\t_\n"


@pytest.fixture
def own(tmp_path):
    """A file whose lines end in two carriage returns and a line feed, as some programs leave them."""

    def write(text):
        (tmp_path / "own").write_bytes(text.replace("\n", "\r\r\n").encode())
        return tmp_path / "own"

    return write


def test_the_first_comments_before_a_tree_are_its_id_and_text(own):
    path = own(f"# sent_id = a\n# sent_id = b\n# text = other\n{ROW}# text = x\n\n")
    assert [tree.id for tree in match_parses(path, ["a"], ["other"])] == ["a"]
    with pytest.raises(BoveError, match="line 3: the tree a is of 'other', but the sentence is 'x'"):
        list(match_parses(path, ["a"], ["x"]))


def test_an_id_keeps_spaces_that_are_not_ascii(own):
    path = own(f"#\u00a0sent_id = no\n#  sent_id\t=  a\u00a0  \n# text = x\n{ROW}\n\n")
    assert [tree.id for tree in match_parses(path, ["a\u00a0"], ["x"])] == ["a\u00a0"]
    with pytest.raises(BoveError, match=r"line 3: the tree a.* is of 'x', but the sentence is 'y'"):
        list(match_parses(path, ["a\u00a0"], ["y"]))
    with pytest.raises(BoveError, match="no tree has sent_id a "):
        list(match_parses(path, ["a"], ["x"]))


def test_white_space_in_a_text_may_be_of_any_kind(own):
    path = own(f"# sent_id = a\n# text = x y\n{ROW}\n")
    assert len(list(match_parses(path, ["a"], ["x\u00a0 y\n"]))) == 1
