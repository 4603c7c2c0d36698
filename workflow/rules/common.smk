# The configuration, and what several rules need from it.
import os
import re
import shlex
import sys
from pathlib import Path

from snakemake_interface_executor_plugins.settings import DeploymentMethod

ROOT = Path(workflow.current_basedir).parent.parent
sys.path.insert(0, str(ROOT))

from bove import sources
from bove.config import load, resolve, store, summary
from bove.errors import BoveError
from bove.fingerprint import fingerprint


def configuration():
    """The resolved configuration; what is wrong with it is one line on stderr and exit code 2."""
    schema = ROOT / "workflow" / "schemas" / "config.schema.yaml"
    files = workflow.config_settings.configfiles or [ROOT / "config" / "config.yaml"]
    try:
        resolved = resolve(
            load(files, schema, workflow.config_settings.config_args or ()), schema
        )
        sources.check(resolved)
    except BoveError as e:
        print(" ".join(str(e).split()), file=sys.stderr)
        sys.exit(2)
    return resolved


CONFIG = configuration()
RUN = f"results/{CONFIG['run']}"
ENVIRONMENT = "../../environment.yml"


wildcard_constraints:
    dataset="|".join(map(re.escape, CONFIG["datasets"])),
    system="|".join(map(re.escape, CONFIG["systems"])),


# Each stage runs from this checkout, under the Python that runs Snakemake or, with --sdm conda, its own one.
CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
shell.prefix(
    'set -euo pipefail; bove() {{ PYTHONPATH=%s${{PYTHONPATH:+:$PYTHONPATH}} %s -P -m bove "$@"; }}; '
    % tuple(
        shlex.quote(str(path)).replace("{", "{{").replace("}", "}}")
        for path in (ROOT, "python" if CONDA else sys.executable)
    )
)


def located(value):
    """Path of a file that the configuration names."""
    return sources.locate(CONFIG, value)


def folder(wildcards, output):
    """The folder that holds all files of a rule."""
    return os.path.commonpath([os.path.dirname(path) for path in output])


def only(wildcards, output):
    """The one file of a rule."""
    return output[0]


def flags(section, *names):
    """Command-line flags for the named keys of a section: min_words=2 gives --min-words 2, and what is off --no-…."""
    words = []
    for name in names:
        value, flag = section[name], name.replace("_", "-")
        if isinstance(value, bool):
            words += [] if value else [f"--no-{flag}"]
        elif value is not None:
            listed = value if isinstance(value, list) else [value]
            words += [f"--{flag}", *(shlex.quote(str(item)) for item in listed)]
    return " ".join(words)


def fetch_flags(name, source):
    """Command-line flags of a download."""
    words = ["--name", name, "--url", source["url"]]
    words += [
        word
        for key in ("sha256", "md5")
        if key in source
        for word in (f"--{key}", source[key])
    ]
    words += [
        word for member in source.get("members", ()) for word in ("--member", member)
    ]
    return shlex.join(words)


def stanza_options(options):
    """Command-line flags for Stanza options, in the order of their names."""
    return " ".join(
        shlex.quote(f"--option={key}={value}") for key, value in options.items()
    )


def dataset_files(name):
    """Every file of a data set."""
    subsets = CONFIG["datasets"][name]["subsets"].values()
    return [located(file) for files in subsets for file in files.values()]


def dataset_flags(name):
    """Command-line flags that name a data set, its task and the files of each subset."""
    dataset = CONFIG["datasets"][name]
    words = ["--dataset", name, "--label", dataset["label"], "--task", dataset["task"]]
    for subset, files in dataset["subsets"].items():
        words += ["--subset", subset, *map(located, files.values())]
    return shlex.join(words)


def parse_inputs(dataset, tagger, parser):
    """What the trees of a data set come from: the user's own file, or the two models."""
    own = CONFIG["datasets"][dataset].get("parses")
    return {"parses": located(own)} if own else {"tagger": tagger, "parser": parser}


def parse_flags(wildcards, input):
    """Command-line flags for either."""
    return shlex.join(
        word
        for name in ("parses", "tagger", "parser")
        if name in input.keys()
        for word in (f"--{name}", input[name])
    )


def limit_flags(wildcards):
    """Command-line flags for the longest sentence; a function of the input is not watched for changes, this is."""
    return (
        ""
        if CONFIG["datasets"][wildcards.dataset].get("parses")
        else flags(CONFIG["parser"], "max_tokens")
    )


def development_flags():
    """Command-line flags that name the data sets on which settings are chosen."""
    names = [
        name for name, dataset in CONFIG["datasets"].items() if dataset["development"]
    ]
    return shlex.join(["--development", *names]) if names else ""
