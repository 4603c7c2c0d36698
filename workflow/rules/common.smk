# The configuration, what several rules need from it, and what all rules have in common.
import json
import os
import re
import shlex
import sys
import tarfile
import tempfile
from importlib import metadata
from io import BytesIO
from pathlib import Path

import snakemake
import yaml
from snakemake.iocontainers import Wildcards
from snakemake.persistence import PersistenceBase
from snakemake.settings.types import ExecMode
from snakemake.sourcecache import HostingProviderFile
from snakemake_interface_executor_plugins.settings import DeploymentMethod


def checkout(here):
    """The project's folder; of a module that is named by its repository's address, that version, unpacked once."""
    if not isinstance(here, HostingProviderFile):
        return Path(here).parent.parent
    repository = here.hosted_repo.repo
    folder = Path(".snakemake", f"bove-{repository.commit(here.ref).hexsha}").absolute()
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        part, stream = tempfile.mkdtemp(dir=folder.parent), BytesIO()
        repository.archive(stream, here.ref)
        stream.seek(0)
        with tarfile.open(fileobj=stream) as archive:
            archive.extractall(part, filter="data")
        os.rename(part, folder)
    return folder


MODULE = not workflow.modifier.is_main_snakefile()
ROOT = checkout(workflow.current_basedir)
sys.path.insert(0, str(ROOT))

from bove import demo
from bove.bags.shards import SENTENCES, ShardCounts
from bove.cli.cache import cache_folder
from bove.cli.stages import code
from bove.config import sources
from bove.config.load import load, resolve, store, summary
from bove.config.load import parse as parse_config  # Snakemake has a parse of its own here
from bove.config.variants import Homes, check_sources, development, encoder_systems, used_sources, variants
from bove.errors import BoveError
from bove.fingerprint import fingerprint


def refuse(error):
    """Say in one line what is wrong, and end with exit code 2."""
    print(" ".join(str(error).split()), file=sys.stderr)
    sys.exit(2)


def configuration():
    """The resolved configuration and its variants; what is wrong is one line on stderr and exit code 2.

    It is read from files, or is what a workflow that uses this one as a module gives it.
    """
    files = workflow.config_settings.configfiles or [ROOT / "config" / "config.yaml"]
    try:
        if MODULE and config:
            given = parse_config(yaml.safe_dump(json.loads(json.dumps(config))), "the module's config")
        else:
            given = load(files, workflow.config_settings.config_args or ())
        resolved = resolve(given)
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


# Each stage runs from this checkout, under the Python that runs Snakemake or, with --sdm conda, that of its
# environment. What BOVE_LAUNCHER has, such as mpiexec -n 4, starts it.
CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
shell.prefix(
    "set -euo pipefail; bove() {{ ${{BOVE_LAUNCHER-}} env PYTHONPATH=%s${{PYTHONPATH:+:$PYTHONPATH}}"
    ' %s -P -m bove "$@"; }}; '
    % tuple(
        shlex.quote(str(path)).replace("{", "{{").replace("}", "}}")
        for path in (ROOT, "python" if CONDA else sys.executable)
    )
)


def complete(job):
    """Give a rule of a stage what all of them have in common; what it states itself stays.

    Log and benchmark are named after the rule and its wildcards, `<variant><rule>/<wildcards>`. A change of the
    code that the stage runs is a reason to run it again. Memory and time are those of a small job.
    """
    if job.shellcmd is None:
        return
    parts = [f"{{{name}}}" for name in ("bags", "system", "encoder", "dataset") if name in job.wildcard_names]
    parts += ["{shard}-of-{shards}"] if "shard" in job.wildcard_names else []
    name = ("{variant}" if "variant" in job.wildcard_names else "") + "/".join([job.name, *parts])
    job.log_modifier = job.benchmark_modifier = job.output_modifier
    job.set_log(f"{RUN}/logs/{name}.log")
    job.benchmark = f"{RUN}/benchmarks/{name}.tsv"
    job.conda_env = ENVIRONMENT
    stage = re.search(r"\bbove (figures [a-z]+|[a-z-]+)", job.shellcmd)[1]
    job.set_params(code=fingerprint(code(stage)))
    stated = job.ruleinfo.resources[1] if job.ruleinfo.resources else {}
    stated |= workflow.resource_settings.overwrite_resources.get(job.name, {})
    for resource, need in (("mem_mb", needs(1000)), ("runtime", needs(10))):
        if resource not in stated:
            job.resources[resource] = need


def needs(least, each=0, *names, divided=False):
    """A resource of a job: `least`, and `each` for every MB of its named inputs; doubled at each new attempt.

    What is `divided` is a shard's share of that.

    Megabytes of memory and minutes are well above what was measured on English-EWT at rank 300, and grow so
    that a treebank of a million tokens and SNLI have enough.
    """

    def resource(wildcards, input, attempt):
        files = [file for name in names for file in listed(input[name])]
        size = sum(os.path.getsize(file) for file in files) / 1e6
        size /= int(wildcards.shards) if divided else 1
        return round((least + each * size) * 2 ** (attempt - 1))

    return resource


def versions(*packages):
    """Versions of packages, whose change is a reason to run again; Snakemake itself watches its environments."""
    return "" if CONDA else " ".join(f"{name}={installed(name)}" for name in packages)


def installed(package):
    """The version of a package, or `none`."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


# What starts the processes of a training; none where there is one.
MPI_LAUNCHER = CONFIG["mpi"]["launcher"] if CONFIG["mpi"]["processes"] > 1 else None


if CONFIG["encoders"] and not CONDA and installed("sentence-transformers") == "none":
    refuse(
        "configuration: encoders: they need sentence-transformers; install it with: pip install 'bove[encoders]'"
    )


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


def of_kind(kind):
    """The variants of a kind."""
    return [variant for variant in VARIANTS if variant.kind == kind]


def files(start, *endings):
    """Files of the run that begin alike."""
    return [f"{RUN}/{start}{ending}" for ending in endings]


def each_dataset(start, ending):
    """A file of each data set."""
    return files(start, *(f"{name}{ending}" for name in CONFIG["datasets"]))


def each_source(start, name, ending):
    """A file of each data set that probes of roles are made of."""
    return files(start, *(f"{source}{ending}" for source in CONFIG["datasets"][name]["from"]))


def begin():
    """Store the configuration and what was chosen by it, where jobs and commands find it."""
    try:
        cache_folder()
        store(CONFIG, Path(RUN, "config.yaml"))
        SHARD_COUNTS.store()
        if not os.access(RUN, os.W_OK):
            raise BoveError(f"{RUN}: may not be written; change its permissions")
    except BoveError as e:
        refuse(e)
    logger.info(summary(CONFIG))


def finish():
    """Say what was found, and what is left over."""
    if not whole():
        logger.info("That was a part of the run; `snakemake` without a target or --until makes the rest.")
    else:
        from bove.cli.cost import write_cost
        from bove.evaluate.summary import ending

        write_cost(RUN)
        logger.info(ending(RUN, Path(RUN, "tables", "summary.md").read_text(encoding="utf-8")))
    if left := left_over("tables", "figures", "report"):
        logger.info(f"Of an earlier configuration, and not of this one: {', '.join(left)}.")


def whole():
    """Whether all of a run was asked for."""
    asked = workflow.dag_settings
    part = asked.until or asked.omit_from or asked.batch
    return not part and (not asked.targets or bool({"all", "default"} & set(asked.targets)))


# The names of rules, which another workflow that has this one as a module may change.
CALLED = workflow.modifier.modify_rulename


def check_until():
    """See that --until names what puts the shards together, where it names a stage that has shards."""
    until = workflow.dag_settings.until if workflow.dag_settings else ()  # None while the rules are read
    for stage, gather, sharded in (
        ("parse", "gather_parses", SHARDED),
        ("infer", "gather_bags", BAGS),
        ("encoder", "gather_encoded", ENCODED),
    ):
        stage, gather = CALLED(stage), CALLED(gather)
        if sharded and stage in until and gather not in until:
            refuse(
                f"--until {stage}: {', '.join(sharded)}: made by {stage}_shard in parts, which {gather} puts "
                f"together; write --until {stage} {gather}"
            )


def left_over(*folders):
    """Files of these folders that no rule makes under the present configuration, and so an earlier one made."""
    made = [file for rule in workflow.rules for file in rule.output]
    found = [str(path) for name in folders for path in sorted(Path(RUN, name).glob("[!.]*"))]
    return [path for path in found if not any(file.match(path) for file in made)]


def folder(wildcards, output):
    """The folder that holds all files of a rule."""
    return os.path.commonpath([os.path.dirname(path) for path in output])


def flags(section, *names, but=()):
    """Command-line flags for keys of a section: min_words=2 gives --min-words 2, and what is off --no-….

    Without names for all of its keys, `but` some.
    """
    words = []
    for name in names or (key for key in section if key not in but):
        value = section[name]
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{name.replace('_', '-')}")
        elif value is not None:
            items = value if isinstance(value, list) else [value]
            words.append(file_flags({name: [str(item) for item in items]}))
    return " ".join(words)


def file_flags(named):
    """Command-line flags of files, or of other words, by what they are: tagger=x gives --tagger x."""
    words = {f"--{name.replace('_', '-')}": listed(files) for name, files in named.items()}
    return " ".join(shlex.join([flag, *files]) for flag, files in words.items() if files)


def input_flags(wildcards, input):
    """Command-line flags that name all files that a rule reads."""
    return file_flags(dict(input.items()))


def named_flags(flag, found):
    """Command-line flags that name lists of files: --flag NAME FILE…, for each of them."""
    return " ".join(file_flags({flag: [name, *paths]}) for name, paths in found)


def fetch_flags(name, source):
    """Command-line flags of a download."""
    words = ["--name", name, "--url", source["url"]]
    words += [word for key in ("sha256", "md5") if key in source for word in (f"--{key}", source[key])]
    words += [word for member in source.get("members", ()) for word in ("--member", member)]
    return shlex.join(words)


def only(wildcards, output):
    """The one file of a rule."""
    return output[0]


def stanza_options(options):
    """Command-line flags for Stanza options, in the order of their names."""
    return " ".join(shlex.quote(f"--option={key}={value}") for key, value in options.items())


def dataset_files(wildcards):
    """Every file of a data set: the pairs of each subset, and its gold where that has a file of its own."""
    subsets = CONFIG["datasets"][wildcards.dataset]["subsets"].values()
    return [located(subset[key]) for subset in subsets for key in sources.PAIR_FILES if key in subset]


def dataset_record(wildcards):
    """What `bove pairs --dataset-file` reads: a data set's layout and its subsets' files, as a line of JSON."""
    dataset = CONFIG["datasets"][wildcards.dataset]
    keys = ("label", "task", "columns", "labels", "separator", "encoding", "header")
    subsets = {
        subset: entry | {key: located(entry[key]) for key in sources.PAIR_FILES if key in entry}
        for subset, entry in dataset["subsets"].items()
    }
    layout = {key: dataset[key] for key in keys if key in dataset}
    return json.dumps({"name": wildcards.dataset, **layout, "subsets": subsets})


def parse_inputs(wildcards):
    """The pairs of a data set, and what their trees come from: the user's own file, or tagger and parser."""
    own = CONFIG["datasets"][wildcards.dataset].get("parses")
    models = {"parses": located(own)} if own else MODELS
    return {"pairs": f"{RUN}/pairs/{wildcards.dataset}.jsonl", **models}


def limit_flags(wildcards):
    """Command-line flags for the longest sentence; a function of the input is not watched for changes, this is."""
    return flags(PARSER, "max_tokens") if wildcards.dataset in PARSED else ""


def reported(path, category, what, caption=None):
    """A file that the report shows, with the caption of its own name, or another one.

    What it is, is text or a function of the wildcards.
    """
    return report(
        path,
        caption=f"../report/{caption or Path(path).stem}.rst",
        category=CATEGORIES[category],
        labels=(lambda wildcards: {"what": what(wildcards)}) if callable(what) else {"what": what},
    )


def with_figure(paths, category, what):
    """Files of which the report shows the figure."""
    return [reported(path, category, what) if path.endswith("svg") else path for path in paths]


def label_of(dataset):
    """A data set's name in print, with its own name where another one has the same label."""
    label = CONFIG["datasets"][dataset]["label"]
    labels = [other["label"] for other in CONFIG["datasets"].values()]
    return label if labels.count(label) == 1 else f"{label} ({dataset})"


# Data sets that are read from files, and those that are made of these.
ROLES = [name for name, dataset in CONFIG["datasets"].items() if dataset["task"] == "roles"]
READ = [name for name in CONFIG["datasets"] if name not in ROLES]
TREEBANK = flags(CONFIG["treebank"], "columns", "encoding")
STRICT = "--strict" if CONFIG["treebank"]["strict"] else ""
DEVELOPMENT = file_flags(
    {"development": [name for name, dataset in CONFIG["datasets"].items() if dataset["development"]]}
)


# A job that another process has submitted, as to a cluster, keeps the record of its files itself.
#
# Snakemake's record says what a file was made from. The process that submits a job writes it when the job has
# ended, but the job itself removes the mark that its files are incomplete. So, if Snakemake is killed and its jobs
# go on, their files keep the record of an earlier run, and count as up to date with the settings of that one. Seen
# in Snakemake 9.27; docs/_upstream/snakemake-record.md reports it, with the steps that show it.
def recording(finished):
    """What Snakemake does with the record of a job that has ended, as done by the process that submits."""

    async def finish(persistence, job):
        settings = workflow.workflow_settings
        mode, settings.exec_mode = settings.exec_mode, ExecMode.DEFAULT
        try:
            await finished(persistence, job)
        finally:
            settings.exec_mode = mode

    return finish


if not workflow.is_main_process and snakemake.__version__.startswith("9."):
    PersistenceBase.finished = recording(PersistenceBase.finished)
