# The configuration, and what several rules need from it.
import json
import os
import re
import shlex
import sys
from importlib import metadata
from pathlib import Path

from snakemake.iocontainers import Wildcards
from snakemake_interface_executor_plugins.settings import DeploymentMethod

ROOT = Path(workflow.current_basedir).parent.parent
sys.path.insert(0, str(ROOT))

from bove import demo
from bove.bags.shards import SENTENCES, ShardCounts
from bove.cli.cache import cache_folder
from bove.cli.stages import code
from bove.config import sources
from bove.config.load import load, resolve, store, summary
from bove.config.variants import (
    Homes,
    check_sources,
    development,
    used_sources,
    variants,
)
from bove.errors import BoveError
from bove.fingerprint import fingerprint


def refuse(error):
    """Say in one line what is wrong, and end with exit code 2."""
    print(" ".join(str(error).split()), file=sys.stderr)
    sys.exit(2)


def configuration():
    """The resolved configuration and its variants; what is wrong is one line on stderr and exit code 2."""
    files = workflow.config_settings.configfiles or [ROOT / "config" / "config.yaml"]
    try:
        resolved = resolve(
            load(files, workflow.config_settings.config_args or ())
        )
        found = variants(resolved)
        check_sources(found)
    except BoveError as e:
        refuse(e)
    return resolved, found


CONFIG, VARIANTS = configuration()
HOMES = Homes(VARIANTS)
SETTINGS = {variant.folder: variant.config for variant in VARIANTS}
RUN = f"results/{CONFIG['run']}"
SHARD_COUNTS = ShardCounts(RUN, choosing=workflow.is_main_process)
# Snakemake takes braces in the path for names of wildcards, unless they are doubled.
ENVIRONMENT = str(ROOT / "environment.yml").replace("{", "{{").replace("}", "}}")


def one_of(words):
    """A pattern of these words; of one empty word too."""
    return f"(?:{'|'.join(map(re.escape, words))})"


wildcard_constraints:
    dataset=one_of(CONFIG["datasets"]),
    system=one_of(CONFIG["systems"]),
    variant=one_of(SETTINGS),
    shard="[0-9]+",
    shards="[0-9]+",


# Each stage runs from this checkout, under the Python that runs Snakemake or, with --sdm conda, its own one.
# What BOVE_LAUNCHER has, such as mpiexec -n 4, starts it.
CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
shell.prefix(
    "set -euo pipefail; bove() {{ ${{BOVE_LAUNCHER-}} env PYTHONPATH=%s${{PYTHONPATH:+:$PYTHONPATH}}"
    ' %s -P -m bove "$@"; }}; '
    % tuple(
        shlex.quote(str(path)).replace("{", "{{").replace("}", "}}")
        for path in (ROOT, "python" if CONDA else sys.executable)
    )
)


def code_of(stage):
    """A hash of what a stage runs, whose change is a reason to run it again."""
    return fingerprint(code(stage))


def versions(*packages):
    """Versions of packages, whose change is a reason to run again; an environment of Snakemake's own is watched by it."""
    return "" if CONDA else " ".join(f"{name}={installed(name)}" for name in packages)


def installed(package):
    """The version of a package, or what stands for none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def needs(least, each=0, *names, divided=False):
    """A resource of a job: `least`, and `each` for every MB of its named inputs; doubled at every new attempt.

    What is `divided` is a shard's share of that.

    Megabytes of memory and minutes are well above what was measured on English-EWT at rank 300, and grow so that a
    treebank of a million tokens and SNLI have enough.
    """

    def resource(wildcards, input, attempt):
        files = [file for name in names for file in listed(input[name])]
        size = sum(os.path.getsize(file) for file in files) / 1e6
        size /= int(wildcards.shards) if divided else 1
        return round((least + each * size) * 2 ** (attempt - 1))

    return resource


# What starts the processes of a training; none where there is one.
MPI_LAUNCHER = CONFIG["mpi"]["launcher"] if CONFIG["mpi"]["processes"] > 1 else None


def launched(wildcards, resources):
    """What starts a stage as several processes of MPI; not watched for changes, since the results agree."""
    if resources.tasks == 1:
        return ""
    return f"BOVE_LAUNCHER={shlex.quote(f'{resources.mpi} -n {resources.tasks}')} "


def listed(files):
    """One file or several as a list."""
    return [files] if isinstance(files, str) else list(files)


def located(value):
    """Path of a file that the configuration names."""
    return sources.locate(CONFIG, value)


def settings(wildcards, section):
    """A section or a key of the configuration of a rule's variant."""
    return SETTINGS[wildcards.variant][section]


def made(stage, file):
    """A function from a rule's wildcards to a file that an earlier stage made for its variant."""
    return lambda wildcards: (
        f"{RUN}/{HOMES.folder(stage, wildcards.variant)}{file.format(**wildcards)}"
    )


def of_kind(kind):
    """The variants of a kind."""
    return [variant for variant in VARIANTS if variant.kind == kind]


def left_over(*folders):
    """Files of these folders that no rule makes under the present configuration, and so an earlier one made."""
    made = [file for rule in workflow.rules for file in rule.output]
    found = [
        str(path) for name in folders for path in sorted(Path(RUN, name).glob("[!.]*"))
    ]
    return [path for path in found if not any(file.match(path) for file in made)]


def folder(wildcards, output):
    """The folder that holds all files of a rule."""
    return os.path.commonpath([os.path.dirname(path) for path in output])


def only(wildcards, output):
    """The one file of a rule."""
    return output[0]


def flags(section, *names, but=()):
    """Command-line flags for keys of a section: min_words=2 gives --min-words 2, and what is off --no-….

    Without names for all of its keys, `but` some.
    """
    words = []
    for name in names or (key for key in section if key not in but):
        value, flag = section[name], name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
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
    """Every file of a data set: the pairs of each subset, and its gold where that has a file of its own."""
    subsets = CONFIG["datasets"][name]["subsets"].values()
    return [
        located(subset[key])
        for subset in subsets
        for key in sources.PAIR_FILES
        if key in subset
    ]


def dataset_record(name):
    """What `bove pairs --dataset-file` reads: a data set's layout and the files of its subsets, as one line of JSON."""
    dataset = CONFIG["datasets"][name]
    keys = ("label", "task", "columns", "labels", "separator", "encoding", "header")
    subsets = {
        subset: entry
        | {key: located(entry[key]) for key in sources.PAIR_FILES if key in entry}
        for subset, entry in dataset["subsets"].items()
    }
    layout = {key: dataset[key] for key in keys if key in dataset}
    return json.dumps({"name": name, **layout, "subsets": subsets})


def pair_files(name):
    """The files of a data set that have its pairs."""
    return [
        located(subset["input"])
        for subset in CONFIG["datasets"][name]["subsets"].values()
    ]


def shard_files(folder, count, ending):
    """The shards of a file."""
    return [
        f"{RUN}/{folder}/{number}-of-{count}.{ending}" for number in range(1, count + 1)
    ]


def parser_inputs(tagger, parser):
    """The two models, and what these need."""
    section = CONFIG["parser"]
    further = {
        name: located(section[name])
        for name in sources.PARSER_FILES[2:]
        if section["source"] == "load" and name in section
    }
    return {"tagger": tagger, "parser": parser, **further}


def parse_inputs(dataset, tagger, parser):
    """What the trees of a data set come from: the user's own file, or tagger and parser."""
    own = CONFIG["datasets"][dataset].get("parses")
    return {"parses": located(own)} if own else parser_inputs(tagger, parser)


def parse_flags(wildcards, input):
    """Command-line flags for either."""
    return shlex.join(
        word
        for name in ("parses", *sources.PARSER_FILES)
        if name in input.keys()
        for word in (f"--{name.replace('_', '-')}", input[name])
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
