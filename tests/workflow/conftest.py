"""A copy of the project, shared by the tests of a module."""

import pytest
from checkout import Checkout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("a folder") / 'Zoë\'s "own" π $HOME {x} checkout')
