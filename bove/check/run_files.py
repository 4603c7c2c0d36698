"""Checking the files that the stages write, and Stanza's models."""

from collections.abc import Callable

import numpy as np

from bove.check.report import Report
from bove.errors import BoveError


def check_vocabulary(report: Report) -> None:
    """Fill in a report on a vocabulary. Raises BoveError where it is damaged."""
    from bove.text.vocabulary import Vocabulary

    report.kind = "vocabulary of a run"
    found = Vocabulary.load(report.path)
    report.facts = {
        "words": found.n_words,
        "tags": found.n_tags,
        "relations": found.n_relations,
        "thresholds": dict(found.thresholds),
        "options": {name: str(value) for name, value in found.options.items()},
        "hash": found.hash,
    }


def check_arrays(report: Report) -> None:
    """Fill in a report on a safetensors file. Raises BoveError where it is damaged or not a run's."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(report.path, framework="numpy") as stream:
            name = (stream.metadata() or {}).get("format", "")
    except (SafetensorError, OSError) as e:
        raise BoveError(f"{report.path}: a damaged safetensors file ({e}); make it again") from e
    if name not in _ARRAYS:
        raise BoveError(
            f"{report.path}: a safetensors file of {name or 'an unnamed format'}, which no stage reads by "
            f"itself; give vectors, graphs, a model or bags"
        )
    report.kind, check = _ARRAYS[name]
    check(report)


def _vectors(report) -> None:
    from bove.text.vectors import WordVectors

    found = WordVectors.open(report.path)
    report.facts = {"words": len(found), "dimensions": found.dimensions}
    if found.source_sha256:
        report.facts["SHA-256 of the source"] = found.source_sha256


def _graphs(report) -> None:
    from bove.text.graphs import load_graphs

    found = load_graphs(report.path)
    report.facts = {
        "graphs": found.n_graphs,
        "tokens": found.n_tokens,
        "longest graph": f"{int(found.lengths.max(initial=0)):,} tokens",
        "arcs": len(found.arc_relation),
        "properties, relations": f"{found.n_properties:,}, {found.n_relations:,}",
        "words from outside the vocabulary": len(found.extra),
        "vocabulary": found.vocabulary_hash,
    }
    report.oddities.update({"graphs without tokens": n} if (n := int((found.lengths == 0).sum())) else {})


def _model(report) -> None:
    from bove.factor.lowrank import LowRank
    from bove.factor.model import Model

    found = Model.load(report.path)
    low = isinstance(found.relations, LowRank)
    report.facts = {
        "rank": found.rank,
        "properties": f"{len(found.properties):,}, {int(found.frozen.sum()):,} of them pretrained",
        "relations": f"{len(found.relation_names):,}, {'as factors' if low else 'whole'}",
        "hyperparameters": {name: str(value) for name, value in found.hyperparameters.items()},
        "vocabulary": found.vocabulary_hash,
        "hash": found.hash,
    }


def _bags(report) -> None:
    from bove.bags import Bags

    found = Bags.open(report.path)
    sizes = np.diff(found.offsets)
    report.facts = {
        "system": found.system,
        "sentences": f"{len(found):,}, {found.n_bags:,} of them different",
        "vectors": f"{len(found.vectors):,} of {found.rank} dimensions",
        "model": found.model_hash,
    }
    empty = int((sizes[found.index] == 0).sum())
    report.oddities.update({"sentences without vectors": empty} if empty else {})
    for start in range(0, len(found.vectors), 1 << 16):
        if not np.isfinite(found.vectors[start : start + (1 << 16)]).all():
            raise BoveError(f"{report.path}: vectors that are not finite; infer the bags again")


_ARRAYS: dict[str, tuple[str, Callable[[Report], None]]] = {
    "bove-vectors": ("word vectors of a run", _vectors),
    "bove-graphs": ("graphs of a run", _graphs),
    "bove-model": ("model of a run", _model),
    "bove-bags": ("bags of a run", _bags),
}


def check_scores(report: Report) -> None:
    """Fill in a report on scores. Raises BoveError where they are damaged."""
    from bove.evaluate.scores import read_scores

    report.kind = "scores of a run"
    found = read_scores(report.path)
    report.facts = {
        "data set": f"{found.dataset} ({found.label}, {found.task})",
        "subsets": ", ".join(dict.fromkeys(found.subsets)),
        "pairs": f"{len(found.ids):,}, {int(found.scored.sum()):,} of them scored",
        "systems": ", ".join(found.values),
    }
    for name, empty in found.empty.items():
        count = int(empty[found.scored].sum())
        report.oddities.update({f"pairs with an empty bag of {name}": count} if count else {})


def check_stanza(report: Report) -> None:
    """Fill in a report on a file of Stanza. Raises BoveError where it can not be read safely."""
    from bove.text.checkpoints import is_model, load_safely, read_conventions
    from bove.text.foundations import NAMES, needed

    report.kind = "a Stanza model"
    content = load_safely(report.path, "model")
    if not isinstance(content, dict):
        raise BoveError(f"{report.path}: a file of PyTorch, but no model of Stanza; give tagger or parser")
    if is_model(content):
        vocab = content["vocab"]
        kind = "parser" if "deprel" in vocab else "tagger" if "upos" in vocab else ""
        if kind:
            report.kind = f"a Stanza {kind}"
            report.facts["trained by"] = "BoVE" if read_conventions(report.path, content) else "Stanza itself"
            report.facts["needs further files"] = ", ".join(needed(report.path, content)) or "none"
            name = "deprel" if kind == "parser" else "upos"
            _units(report, "relations" if kind == "parser" else "tags", vocab[name])
            return
    kinds = [name for name, signs in NAMES.items() if any(keys <= content.keys() for keys in signs)]
    if not kinds:
        raise BoveError(f"{report.path}: a file of PyTorch, but no model of Stanza; give tagger or parser")
    report.kind = f"a file of Stanza: {kinds[0]}" if len(kinds) == 1 else "a character model of Stanza"


def _units(report, name, vocab) -> None:
    from bove.text.checkpoints import units

    named = [unit for unit in units(vocab) if not unit.startswith("<")]
    if named:
        report.facts[name] = f"{len(named):,}: {', '.join(named[:8])}{', …' if len(named) > 8 else ''}"
