"""A small demo with everything in it, really run once, of which a test asks what would run again."""

import re
from contextlib import contextmanager

import small_settings
import yaml

# one ablation is run with the base, and another stays to be added
RUN_ABLATION = {"once": {"inference": {"solver": "averaged", "iterations": 1}}}
SMALL = {
    "run": "small",
    **small_settings.SMALL,
    "datasets": {
        "sts": {"subsets": small_settings.SUBSETS},
        "snli": {"subsets": {"test": None}},
    },
    "ablations": RUN_ABLATION,
}


class Run:
    """A checkout with a finished run."""

    def __init__(self, checkout) -> None:
        self.folder, self.checkout = checkout.folder, checkout
        self.write(SMALL)
        done = checkout.snakemake("--configfile", "config/config.yaml", "small.yaml")
        assert done.returncode == 0, done.stdout + done.stderr

    def write(self, settings) -> None:
        (self.folder / "small.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")

    def planned(self, *arguments):
        """What would run, with the small configuration and `--config` arguments."""
        config = ["--config", *arguments] if arguments else []
        return self.checkout.planned("--configfile", "config/config.yaml", "small.yaml", *config)

    @contextmanager
    def edited(self, path, old, new):
        """A file in which a text is replaced, for a while."""
        path = self.folder / path
        text = path.read_text(encoding="utf-8")
        assert re.search(old, text), f"{path} has no {old}"
        path.write_text(re.sub(old, new, text, count=1), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")
