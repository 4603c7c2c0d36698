"""A copy of the project, shared by the tests of a module, and changes to the demo's configuration."""

import pytest
import yaml
from checkout import Checkout, write_file


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("a folder") / 'Zoë\'s "own" π $HOME {x} checkout')


@pytest.fixture
def own(tmp_path):
    """A function that writes changes to the demo's configuration; what to give to Snakemake."""

    def write(**changes):
        path = write_file(tmp_path / "own.yaml", yaml.safe_dump(changes, sort_keys=False))
        return "--configfile", "config/config.yaml", path

    return write
