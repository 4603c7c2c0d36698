"""Keep the inputs that fuzzing has found, each of which took a reader another way, as tests.

    python tests/fuzz/found.py .fuzz/corpus

Packs them into tests/data/found.tar.xz, a folder per reader; those of readers that were not fuzzed stay. The
same inputs give the same bytes. tests/fuzz/test_readers.py reads them all.
"""

import io
import sys
import tarfile
from pathlib import Path

KEPT = Path(__file__).parent.parent / "data" / "found.tar.xz"


def kept() -> dict[str, bytes]:
    """The inputs that are kept, by reader/name."""
    with tarfile.open(KEPT) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def keep(corpus: Path) -> None:
    """Pack a folder of folders of inputs."""
    fuzzed = [folder for folder in corpus.iterdir() if any(folder.iterdir())]
    names = {folder.name for folder in fuzzed}
    inputs = {name: content for name, content in kept().items() if name.partition("/")[0] not in names}
    inputs |= {f"{path.parent.name}/{path.name}": path.read_bytes() for f in fuzzed for path in f.iterdir()}
    with tarfile.open(KEPT, "w:xz", preset=9) as archive:
        for name in sorted(inputs):
            member = tarfile.TarInfo(name)
            member.size = len(inputs[name])
            archive.addfile(member, io.BytesIO(inputs[name]))


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
