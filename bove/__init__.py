"""Bag-of-vector embeddings of dependency graphs, and of any other graphs.

What the package offers from Python is imported when it is first used.
"""

from bove._version import __version__

# name → module that has it; the types are in __init__.pyi
_PUBLIC = {
    "Bags": "bove.bags.store",
    "BoVE": "bove.api.estimator",
    "BoveError": "bove.errors",
    "BoveWarning": "bove.errors",
    "Corpus": "bove.api.corpus",
    "Graph": "bove.api.graph",
    "GraphCorpus": "bove.factor.graphs",
    "Hit": "bove.api.text",
    "LinkPredictor": "bove.api.links",
    "Names": "bove.api.corpus",
    "Reconstruction": "bove.api.estimator",
    "TextModel": "bove.api.text",
    "Unseen": "bove.api.corpus",
    "entailment_score": "bove.evaluate.alignment",
    "from_networkx": "bove.api.readers",
    "from_triples": "bove.api.readers",
    "load": "bove.api.text",
    "read_bags": "bove.bags.store",
    "read_conll": "bove.api.readers",
    "read_json_lines": "bove.api.readers",
    "read_triples": "bove.api.readers",
    "read_vectors": "bove.api.readers",
    "similarity_score": "bove.evaluate.alignment",
    "write_bags": "bove.bags.store",
    "write_json_lines": "bove.api.readers",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)
    return value


def __dir__():
    return sorted({*globals(), *_PUBLIC})
