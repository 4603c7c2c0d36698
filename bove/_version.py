"""The version, apart from the names that the package offers, so that no stage depends on these."""

__version__ = "0.1.0"
