"""Files that a Stanza tagger or parser may need beside its own: word vectors, character models, a lemmatizer.

Models that BoVE trains need none. Stanza's published ones do: their files hold what was learnt from the
treebank, and not the vectors and character models below it; and their parsers read lemmas.
"""

from collections.abc import Mapping
from pathlib import Path

from bove.errors import BoveError
from bove.text.checkpoints import load_safely, units

# Each kind of file, with the entries by which it is told: one of these sets.
NAMES: dict[str, tuple[set[str], ...]] = {
    "lemmatizer": ({"model", "dicts", "vocab", "config"},),
    "pretrain": ({"emb", "vocab"},),
    "charlm_forward": ({"state_dict", "vocab", "args"}, {"model"}),
    "charlm_backward": ({"state_dict", "vocab", "args"}, {"model"}),
}
_KEYWORDS = {
    "pretrain": "pretrain_path",
    "charlm_forward": "forward_charlm_path",
    "charlm_backward": "backward_charlm_path",
}
_NO_LEMMAS = {"<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "_"}


def needed(path: str | Path, content: dict) -> list[str]:
    """The names of the files that a checkpoint needs.

    Raises:
        BoveError: it needs a transformer, which is no file.
    """
    config, vocab = content["config"], content["vocab"]
    if config.get("bert_model"):
        raise BoveError(
            f"{path}: needs the transformer {config['bert_model']}, which `bove parse` does not load; choose "
            f"a model without one, or parse with Stanza yourself and give the trees with --parses"
        )
    names = ["pretrain"] if config.get("pretrain") else []
    names += ["charlm_forward", "charlm_backward"] if config.get("charlm") else []
    lemmas = set(units(vocab.get("lemma"))) - _NO_LEMMAS if "deprel" in vocab else set()
    return [*names, "lemmatizer"] if lemmas and config.get("word_emb_dim") else names


def settings(models: Mapping[str, tuple[str | Path, dict]], given: Mapping[str, str | Path]) -> dict:
    """What a Stanza pipeline is told of the further files.

    Args:
        models: path and checkpoint of each processor: "pos", "depparse", and "lemma" where there is one.
        given: paths by name, from `NAMES`.

    Raises:
        BoveError: a file that a model needs is not given.
    """
    told = {}
    for processor, (path, content) in models.items():
        names = needed(path, content)
        missing = [f"--{name.replace('_', '-')}" for name in names if name not in given]
        if missing:
            raise BoveError(
                f"{path}: needs further files: give {', '.join(missing)}; or parse with Stanza yourself and "
                f"give the trees with --parses"
            )
        # the parts of a lemmatizer have needs of their own, which it does not tell
        used = [name for name in (given if processor == "lemma" else names) if name in _KEYWORDS]
        told |= {f"{processor}_{_KEYWORDS[name]}": str(given[name]) for name in used}
    return told


def read_foundation(name: str, path: str | Path) -> dict:
    """A further file as a dictionary, read as safely as a checkpoint.

    Raises:
        BoveError: no such file, not readable, or one of another kind.
    """
    content = load_safely(path, name)
    if not isinstance(content, dict) or not any(keys <= content.keys() for keys in NAMES[name]):
        raise BoveError(f"{path}: no {name} of Stanza; give the file that tagger and parser were made with")
    return content
