# What goes into the report, and how the rules of the figures say which files they draw.
import yaml

# The report sorts them by their names, and this is the order in which they are to be read.
CATEGORIES = {
    "data": "1. Data",
    "parser": "2. Parser",
    "training": "3. Training",
    "results": "4. Results",
    "differences": "5. Differences",
    "ablations": "6. Ablations",
    "inside": "7. Looking inside",
}

# Captions and the description of the workflow read the resolved configuration here.
config["run"] = CONFIG["run"]
config |= {key: CONFIG["inference"][key] for key in ("iterations", "tolerance")}
config |= CONFIG["statistics"]
config["summary"] = summary(CONFIG)
config["text"] = yaml.safe_dump(
    CONFIG, sort_keys=False, allow_unicode=True, default_flow_style=None, width=60
)


def reported(path, category, what, caption=None):
    """A file that the report shows, with the caption of its own name, or another one.

    What it is, is text or a function of the wildcards.
    """
    name = caption or os.path.splitext(os.path.basename(path))[0]
    return report(
        path,
        caption=f"../report/{name}.rst",
        category=CATEGORIES[category],
        labels=(
            (lambda wildcards: {"what": what(wildcards)})
            if callable(what)
            else {"what": what}
        ),
    )


def figure_files(name):
    """Both files of a figure."""
    return [f"{RUN}/figures/{name}.{ending}" for ending in ("svg", "png")]


def overview_inputs(wildcards):
    """What the overview counts: vocabulary and graphs of the treebank, data sets, accuracy of the parser."""
    home = HOMES.folder("vocabulary", "")
    files = {
        "vocabulary": f"{RUN}/{home}vocabulary.json",
        "pairs": expand(f"{RUN}/pairs/{{dataset}}.jsonl", dataset=CONFIG["datasets"]),
        "parses": expand(
            f"{RUN}/parses/{{dataset}}.conllu.gz", dataset=CONFIG["datasets"]
        ),
    }
    if CONFIG["systems"] != ["word-vectors"]:
        files["graphs"] = f"{RUN}/{home}graphs/train.safetensors"
    if PARSED:
        files["accuracy"] = f"{RUN}/parser/accuracy.json"
    return files


def overview_flags(wildcards, input):
    """Command-line flags that name all these files."""
    data = [
        word for files in zip(input.pairs, input.parses) for word in ("--data", *files)
    ]
    named = [
        word
        for name in ("vocabulary", "graphs", "accuracy")
        if name in input.keys()
        for word in (f"--{name}", input[name])
    ]
    return shlex.join([*named, *data])


def markdown_pages():
    """Tables in Markdown that become pages of the report, with their category and what they are."""
    pages = {f"{RUN}/report/data.md": ("data", "Treebank and data sets")}
    pages[f"{RUN}/tables/contamination.md"] = ("data", "What data sets share")
    if PARSED:
        pages[f"{RUN}/report/parser.md"] = ("parser", "Accuracy")
    if of_kind("select"):
        pages[f"{RUN}/select/candidates.md"] = ("training", "Candidates")
    if "bove" in CONFIG["systems"]:
        pages[f"{RUN}/training/training.md"] = ("training", "L at the end")
    pages[f"{RUN}/tables/sts.md"] = ("results", "Similarity: table")
    pages[f"{RUN}/tables/snli.md"] = ("results", "Entailment: table")
    if of_kind("seeds"):
        pages[f"{RUN}/tables/seeds.md"] = ("results", "Several seeds")
    if of_kind("ablations"):
        pages[f"{RUN}/tables/ablations.md"] = ("ablations", "Table")
    return pages


def label_of(dataset):
    """A data set's name in print, with its own name where another one has the same label."""
    label = CONFIG["datasets"][dataset]["label"]
    labels = [other["label"] for other in CONFIG["datasets"].values()]
    return label if labels.count(label) == 1 else f"{label} ({dataset})"


def looked_into():
    """The data sets of which pairs are drawn: those that the configuration names, or the first of each task."""
    chosen = CONFIG["figures"]["pairs"]
    tasks = {
        dataset["task"]: name for name, dataset in reversed(CONFIG["datasets"].items())
    }
    return [name for name in CONFIG["datasets"] if name in (chosen or tasks.values())]


def dataset_names():
    """Command-line flags that give the data sets' names in print."""
    return " ".join(
        shlex.join(["--name", name, label_of(name)]) for name in CONFIG["datasets"]
    )


def iteration_flags():
    """Command-line flags that name the reports of inference, by the data sets' names in print."""
    return " ".join(
        shlex.join(["--report", label_of(name), iteration_file(name)])
        for name in CONFIG["datasets"]
    )


def iteration_file(dataset):
    """The report of the run's own inference of a data set."""
    return f"{RUN}/{HOMES.folder('infer', '')}bags/bove/{dataset}.csv"


def drawn_bags(dataset):
    """Bags whose tokens are drawn, by system: without properties-only, whose tokens hardly differ from words."""
    return {
        system: f"{RUN}/{HOMES.folder('infer', '')}bags/{system}/{dataset}.safetensors"
        for system in CONFIG["systems"]
        if system != "properties-only" or CONFIG["systems"] == ["properties-only"]
    }


def token_inputs(wildcards):
    """Pairs, trees and bags of a data set, and what tells which words have a vector."""
    files = {
        "pairs": f"{RUN}/pairs/{wildcards.dataset}.jsonl",
        "sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz",
        "bags": list(drawn_bags(wildcards.dataset).values()),
    }
    if "word-vectors" in CONFIG["systems"]:
        files["vectors"] = f"{RUN}/{HOMES.folder('vectors', '')}vectors.safetensors"
        files["vocabulary"] = f"{RUN}/{HOMES.folder('vocabulary', '')}vocabulary.json"
    return files


def token_flags(wildcards):
    """Command-line flags that name all these files, and the pairs that the configuration names."""
    words = [
        word
        for name, value in token_inputs(wildcards).items()
        if name != "bags"
        for word in (f"--{name}", value)
    ]
    bags = [f"{name}={file}" for name, file in drawn_bags(wildcards.dataset).items()]
    chosen = CONFIG["figures"]["pairs"].get(wildcards.dataset, [])
    return shlex.join(
        [*words, "--bags", *bags, *(["--pair", *chosen] if chosen else [])]
    )
