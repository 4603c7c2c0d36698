"""Markers by folder, two profiles of Hypothesis, and one finished demo for all tests that need a run."""

import fcntl
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))
from small_demo import FinishedDemo  # noqa: E402 the folder above makes it known

settings.register_profile("quick", max_examples=20, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
settings.load_profile("quick")


def pytest_collection_modifyitems(items):
    """Mark the tests of some folders by their names."""
    for item in items:
        part = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
        if part in ("cluster", "workflow", "docs", "fuzz"):
            item.add_marker(part)


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The finished small demo, one for all processes of pytest-xdist."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with open(folder / "demo.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return FinishedDemo(folder / "demo")
