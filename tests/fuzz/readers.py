"""Fuzz a reader with Atheris: whatever its file holds, it gives a result or a BoveError, and nothing else.

    make fuzz READER=conll SECONDS=120

READER is one of READERS in tests/every_reader.py. An input that fails is written to .fuzz/crash-…; further
arguments are libFuzzer's, such as a folder of inputs to begin with, which gets those that reach new code.
Each input is written to a file in TMPDIR, which had better be in memory. Not part of the test suite: it needs
a package that the project does not.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))
with atheris.instrument_imports(include=["bove", "yaml", "json"]):
    from every_reader import FOLDER, READERS
    from reader_seeds import seeds

    from bove.errors import BoveError


def main() -> None:
    """Run libFuzzer on the reader that the command line names."""
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"name a reader: {', '.join(READERS)}")
    read, path, folder = READERS[sys.argv[1]], FOLDER / "file", FOLDER / "seeds"
    folder.mkdir()
    for number, content in enumerate(seeds()[sys.argv[1]]):
        (folder / str(number)).write_bytes(content)

    def once(data: bytes) -> None:
        path.write_bytes(data)
        try:
            read(path)
        except BoveError as e:
            assert str(e)

    atheris.Setup([sys.argv[0], *sys.argv[2:], str(folder)], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
