"""What tests of commands share."""

import pytest

from bove.cli.main import main


@pytest.fixture
def refused(capsys):
    """Run a command that must end with code 2 and a line with the message, and write none of the paths."""

    def run(words, message, *paths, lines=None):
        capsys.readouterr()
        assert main([*map(str, words)]) == 2
        said = capsys.readouterr().err.strip().split("\n")
        assert message in said[-1] and said[-1].startswith(f"bove {words[0]}: "), said
        assert lines is None or len(said) == lines
        assert not any(path.exists() for path in paths)

    return run
