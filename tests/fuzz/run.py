"""Fuzz a reader with Atheris: whatever its file holds, it gives a result or a BoveError, and nothing else.

    make fuzz READER=conll SECONDS=120

READER is one of READERS in tests/fuzz/readers.py. An input that fails is written to .fuzz/crash-…; further
arguments are libFuzzer's, such as a folder of inputs to begin with, which gets those that reach new code.
Half of the inputs are changed in their parts (tests/fuzz/changes.py), where they have any, the others
anywhere. Each is written to a file in TMPDIR, best one in memory. This is not a test: it
needs a package that the project does not.
"""

import logging
import sys
import warnings
from pathlib import Path
from random import Random

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))
with atheris.instrument_imports(include=["bove", "yaml", "json", "tarfile", "zipfile"]):
    from fuzz.changes import change
    from fuzz.readers import FOLDER, READERS
    from fuzz.seeds import seeds

    from bove.errors import BoveError

LONGEST = 20_000  # bytes


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

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        chance = Random(seed)
        changed = change(data, chance) if chance.random() < 0.5 else data
        return changed if data != changed and len(changed) <= longest else atheris.Mutate(data, longest)

    warnings.simplefilter("ignore")
    logging.getLogger("bove").setLevel(logging.CRITICAL)
    arguments = [sys.argv[0], f"-max_len={LONGEST}", *sys.argv[2:], str(folder)]
    atheris.Setup(arguments, once, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
