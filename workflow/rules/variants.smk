# What the rules of a stage read and are told, by variant.
def vectors_file(wildcards):
    """The file or the text that vectors come from."""
    section = settings(wildcards, "vectors")
    return located(section["file" if section["source"] == "load" else "text"])


def with_vectors(source):
    """The variants that have vectors of their own, from such a source."""
    own = HOMES.own("vectors")
    return [name for name in own if SETTINGS[name]["vectors"]["source"] == source]


def training_inputs(wildcards):
    """Graphs and vocabulary of a variant, and its vectors unless it goes without."""
    files = {
        "graphs": made("vocabulary", "graphs/train.safetensors")(wildcards),
        "vocabulary": made("vocabulary", "vocabulary.json")(wildcards),
    }
    if settings(wildcards, "model")["pretrained"]:
        files["vectors"] = made("vectors", "vectors.safetensors")(wildcards)
    return files


def input_flags(wildcards, input):
    """Command-line flags that name all files that a rule reads."""
    return shlex.join(
        word for name in input.keys() for word in (f"--{name}", input[name])
    )


def model_flags(wildcards):
    """Command-line flags of both trainers."""
    model = settings(wildcards, "model")
    return flags(model, but=("trainer", "pretrained", "als", "sgd"))


def trained_by(trainer):
    """The variants that have a model of their own from such a trainer; with `select`, it decides about the run's."""
    chosen = (
        ["", *(variant.folder for variant in of_kind("seeds"))]
        if of_kind("select")
        else []
    )
    return [
        name
        for name in HOMES.own("model")
        if SETTINGS[name]["model"]["trainer"] == trainer and name not in chosen
    ]


def candidate_files(candidate):
    """Folder of a candidate's model, and its scores."""
    model = HOMES.folder("model", candidate.folder)
    scores = HOMES.folder("score", candidate.folder)
    return [
        f"{RUN}/{model}model",
        *(f"{RUN}/{scores}scores/{dataset}.parquet" for dataset in development(CONFIG)),
    ]


def encode_inputs(wildcards):
    """Parses and vocabulary, and vectors unless the variant goes without."""
    files = {
        "sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz",
        "vocabulary": made("vocabulary", "vocabulary.json")(wildcards),
    }
    if settings(wildcards, "model")["pretrained"]:
        files["vectors"] = made("vectors", "vectors.safetensors")(wildcards)
    return files


def punctuation_inputs(wildcards):
    """The sentences, where the variant leaves their punctuation out."""
    if settings(wildcards, "scoring")["punctuation"]:
        return {}
    return {"sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz"}


def punctuation_flags(wildcards):
    """Command-line flags that leave it out."""
    files = punctuation_inputs(wildcards)
    return (
        shlex.join(["--no-punctuation", "--sentences", *files.values()])
        if files
        else ""
    )


def bags_of(wildcards):
    """The bags that are scored, by the name of their system: for the run itself all of them, else one."""

    def file(system, variant):
        return f"{RUN}/{HOMES.folder('infer', variant)}bags/{system}/{wildcards.dataset}.safetensors"

    if wildcards.variant:
        return {"bove": file("bove", wildcards.variant)}
    own = {
        system: located(files[wildcards.dataset])
        for system, files in CONFIG["bags"].items()
        if wildcards.dataset in files
    }
    compared = {other.name: file("bove", other.folder) for other in of_kind("compare")}
    return {system: file(system, "") for system in CONFIG["systems"]} | compared | own


def scores_of(variant):
    """The scores of a variant's data sets."""
    home = HOMES.folder("score", variant)
    return [f"{RUN}/{home}scores/{dataset}.parquet" for dataset in CONFIG["datasets"]]


def training_files(variant):
    """Log and times of a variant's training."""
    home = HOMES.folder("model", variant)
    return [f"{RUN}/{home}model/{file}" for file in ("log.csv", "times.csv")]


def read_files(parsed):
    """Every file that some job reads from outside, by its key; vectors are left out, for they know their hash."""
    unread = ("vectors.",) if parsed else ("vectors.", "parser.", "treebank.dev")
    return {
        key: located(value)
        for key, value in sources.references(CONFIG)
        if not key.startswith(unread)
    }


def recorded(stage, file, wanted):
    """A file of a stage for each variant that has one of its own, by the variant's name."""
    found = {}
    for variant in VARIANTS:
        home = HOMES.folder(stage, variant.folder)
        if variant.kind != "select" and home == variant.folder and wanted(variant):
            found[variant.folder[:-1] or "run"] = f"{RUN}/{home}{file}"
    return found


def named_flags(flag, files):
    """Command-line flags of files by their names."""
    words = [f"{name}={file}" for name, file in files.items()]
    return shlex.join([flag, *words]) if words else ""


def of_bags(function):
    """A function of the wildcards variant and dataset as one of the wildcard bags."""
    return lambda wildcards: function(BAGS[wildcards.bags])


def infer_inputs(wildcards):
    """Model and graphs, and the sentences where the variant leaves their punctuation out."""
    return {
        **punctuation_inputs(wildcards),
        "model": made("model", "model/model.safetensors")(wildcards),
        "graphs": made("encode", "graphs/{dataset}.safetensors")(wildcards),
    }


def infer_flags(wildcards):
    """Command-line flags of the solver."""
    return flags(settings(wildcards, "inference"), but=["shards"])
