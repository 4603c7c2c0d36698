"""Bag-of-vector embeddings of dependency graphs."""

__version__ = "0.1.0"
