"""The built-in corpus: English-like sentences with trees, predicates and labelled pairs.

corpus.tar.xz holds the files at full size; its README says how they were made. A smaller treebank is the
beginning of the full one. Pairs were made by changing a sentence, and their gold follows from the change:

    same 5.0 · synonyms, fragment (caption with or without its auxiliary) 4.8 · order 4.7 · voice 4.6 ·
    tense 4.0 · drop, add (a modifier) 3.8 · hypernym 3.7 · figures 3.4 · attachment (of a phrase) 3.2 ·
    part (a clause dropped) 3.0 · argument (a noun replaced) 2.6 · bindings (modifiers exchanged),
    antonym 2.4 · clauses (exchanged), negate, event (verb replaced) 2.2 · speakers (exchanged) 1.8 ·
    roles (exchanged), rewritten (verb and noun replaced) 1.6 · topic (a participant shared) 0.9 ·
    unrelated 0.2

with a jitter of a few tenths; synonyms on top of another change cost 0.1. Entailment: what is dropped,
generalised or rephrased follows (entailment); what is added may or may not hold (neutral); other participants
or events, opposites and exchanged roles contradict.
"""

import hashlib
import tarfile
from pathlib import Path

from bove.errors import BoveError
from bove.files import atomic_write

ARCHIVE = Path(__file__).with_name("corpus.tar.xz")
SHA256 = "91bb996e3d78a7a54d005cb4de2072b772b230faef18f4cdee523503254e20ae"
SENTENCES = 4500  # of the training treebank, at full size
SETS = ("captions", "definitions", "modifiers", "news", "paraphrase", "roles")
FILES = (
    *("treebank/train.conll09", "treebank/dev.conll09", "raw.txt"),
    *(f"sts/STS.{part}.{name}.txt" for name in SETS for part in ("input", "gs")),
    *("snli/dev.jsonl", "snli/test.jsonl"),
)


def write(directory: str | Path, sentences: int) -> dict[str, int]:
    """Write every file of the corpus, with the first sentences of the training treebank.

    The development part has a tenth as many sentences, but at least 200; the raw text has five times as many
    lines, all of them other sentences. The pairs do not depend on the size.

    Returns:
        The number of sentences, lines or pairs of each file, by its path within the directory.

    Raises:
        BoveError: the corpus does not have so many sentences, or its archive is damaged.
    """
    if not 1 <= sentences <= SENTENCES:
        raise BoveError(f"--sentences {sentences}: the corpus has {SENTENCES}; ask for 1 to {SENTENCES}")
    if hashlib.sha256(ARCHIVE.read_bytes()).hexdigest() != SHA256:
        raise BoveError(f"{ARCHIVE}: damaged or replaced (another SHA-256); install bove again")
    sizes = {FILES[0]: sentences, FILES[1]: max(200, sentences // 10), FILES[2]: 5 * sentences}
    counts = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if member.name in FILES:
                end = "\n\n" if member.name.endswith(".conll09") else "\n"
                rows = archive.extractfile(member).read().decode("utf-8").split(end)[:-1]
                rows = rows[: sizes.get(member.name)]
                with atomic_write(Path(directory) / member.name) as stream:
                    stream.writelines(row + end for row in rows)
                counts[member.name] = len(rows)
    return counts
