# What the stages of each variant read and make, and the command-line flags that say so.
# The systems whose bags the run makes.
OWN_SYSTEMS = CONFIG["systems"] + CONFIG["baselines"] + list(encoder_systems(CONFIG))
# Those of a model, and those without any vectors; all others look words up.
MODELLED, BARE = ("properties-only", "bove"), ("overlap", *encoder_systems(CONFIG))
TRANSFORMERS = versions("sentence-transformers", "transformers", "torch")
# Whether some model is over an encoder.
OVER = any(sources.source_encoder(variant.config) for variant in VARIANTS)


def made(stage, file):
    """A function from a rule's wildcards to a file that an earlier stage made for its variant."""
    return lambda wildcards: f"{RUN}/{HOMES.folder(stage, wildcards.variant)}{file.format(**wildcards)}"


def vectors_file(wildcards):
    """The file or the text that vectors come from."""
    section = settings(wildcards, "vectors")
    return located(section["file" if section["source"] == "load" else "text"])


def with_vectors(source):
    """The variants that have vectors of their own, from such a source."""
    own = HOMES.own("vectors")
    return [name for name in own if SETTINGS[name]["vectors"]["source"] == source]


def over(wildcards):
    """The encoder whose vectors are the words of a variant; none where these are vectors of words."""
    return sources.source_encoder(SETTINGS[wildcards.variant])


def tokens_file(encoder, dataset=None):
    """An encoder's vectors of all tokens of a data set, or of the treebank."""
    place = f"{encoder}/{dataset}" if dataset else encoder
    return f"{RUN}/encoded/{place}.safetensors"


def coding_inputs(wildcards):
    """What sentences are encoded with: the vocabulary, and the vectors unless the variant goes without."""
    files = {"vocabulary": made("vocabulary", "vocabulary.json")(wildcards)}
    if settings(wildcards, "model")["pretrained"]:
        files["vectors"] = made("vectors", "vectors.safetensors")(wildcards)
    return files


def training_inputs(wildcards):
    """What a model is trained on; over an encoder, the graphs have the vectors."""
    files = {"graphs": made("vocabulary", "graphs/train.safetensors")(wildcards), **coding_inputs(wildcards)}
    return {name: file for name, file in files.items() if name != "vectors" or not over(wildcards)}


def treebank_inputs(wildcards):
    """The treebank and the vocabulary; over an encoder, the components and the vectors of all tokens too."""
    files = {"treebank": located(CONFIG["treebank"]["train"])}
    if encoder := over(wildcards):
        files["tokens"] = tokens_file(encoder)
        return files | coding_inputs(wildcards)
    return files | {"vocabulary": f"{RUN}/{wildcards.variant}vocabulary.json"}


def trained_by(trainer):
    """The variants that have a model of their own from such a trainer; with `select`, it decides about the run's."""
    chosen = ["", *(variant.folder for variant in of_kind("seeds"))] if of_kind("select") else []
    own = [name for name in HOMES.own("model") if name not in chosen]
    return [name for name in own if SETTINGS[name]["model"]["trainer"] == trainer]


def training_files(variant):
    """Log and times of a variant's training."""
    home = HOMES.folder("model", variant)
    return [f"{RUN}/{home}model/{file}" for file in ("log.csv", "times.csv")]


def encode_inputs(wildcards):
    """The trees of a data set, and what they are encoded with."""
    files = {"tokens": tokens_file(encoder, wildcards.dataset)} if (encoder := over(wildcards)) else {}
    return {"sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz", **coding_inputs(wildcards), **files}


def infer_inputs(wildcards):
    """Model and graphs, and the sentences where the variant leaves their punctuation out."""
    return {
        **punctuation_inputs(wildcards),
        "model": made("model", "model/model.safetensors")(wildcards),
        "graphs": made("encode", "graphs/{dataset}.safetensors")(wildcards),
    }


def baseline_inputs(wildcards):
    """The trees of a data set, and what a baseline knows of words."""
    files = {"sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz"}
    if wildcards.system not in BARE:
        files["vectors"] = made("vectors", "vectors.safetensors")(wildcards)
        files["vocabulary"] = made("vocabulary", "vocabulary.json")(wildcards)
    if wildcards.system == "sif":
        files["treebank"] = located(CONFIG["treebank"]["train"])
    return files


def encoder_folder(wildcards):
    """The folder of an encoder."""
    return sources.encoder_folder(CONFIG, wildcards.encoder)


def encoder_files(wildcards):
    """The files of an encoder."""
    return list(sources.encoder_paths(CONFIG, wildcards.encoder).values())


def encoder_inputs(wildcards):
    """The trees of a data set, and the files of an encoder."""
    return {"encoder": encoder_files(wildcards), "sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz"}


def encoder_flags(wildcards):
    """Command-line flags of an encoder: whether punctuation has bags, and which shard is made."""
    shard = f" --shard {wildcards.shard}/{wildcards.shards}" if "shard" in wildcards.keys() else ""
    return flags(settings(wildcards, "scoring"), "punctuation") + shard


def word_inputs(wildcards):
    """The trees of a data set and the vectors of its words; over an encoder, the graphs have these."""
    files = {"sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz"}
    if over(wildcards):
        return files | {"graphs": made("encode", "graphs/{dataset}.safetensors")(wildcards)}
    return files | {
        "vectors": made("vectors", "vectors.safetensors")(wildcards),
        "vocabulary": made("vocabulary", "vocabulary.json")(wildcards),
    }


def punctuation_inputs(wildcards):
    """The sentences, where the variant leaves their punctuation out."""
    if settings(wildcards, "scoring")["punctuation"]:
        return {}
    return {"sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz"}


def punctuation_flags(wildcards):
    """Command-line flags that leave punctuation out."""
    files = punctuation_inputs(wildcards)
    return f"--no-punctuation {file_flags(files)}" if files else ""


def bags_file(system, variant, dataset, ending="safetensors"):
    """The bags of a system for a variant, or the report of their inference."""
    return f"{RUN}/{HOMES.folder('infer', variant)}bags/{system}/{dataset}.{ending}"


def bags_of(wildcards):
    """The bags that are scored, by the name of their system: for the run itself all of them, else one."""
    dataset = wildcards.dataset
    if wildcards.variant:
        return {"bove": bags_file("bove", wildcards.variant, dataset)}
    own = {system: bags_file(system, "", dataset) for system in OWN_SYSTEMS}
    compared = {other.name: bags_file("bove", other.folder, dataset) for other in of_kind("compare")}
    given = {system: located(files[dataset]) for system, files in CONFIG["bags"].items() if dataset in files}
    return own | compared | given


def scores_of(variant, datasets=CONFIG["datasets"]):
    """The scores of a variant's data sets."""
    home = HOMES.folder("score", variant)
    return [f"{RUN}/{home}scores/{dataset}.parquet" for dataset in datasets]


def shard_files(folder, count, ending):
    """The shards of a file."""
    check_until()
    return [f"{RUN}/{folder}/{number}-of-{count}.{ending}" for number in range(1, count + 1)]


def shard_count(file, ending, wanted, kind, dataset):
    """In how many shards the file of a data set is made."""
    subsets = CONFIG["datasets"][dataset].get("subsets", {})  # roles have none; they are few
    pairs = [located(subset["input"]) for subset in subsets.values()]
    return SHARD_COUNTS.number(file, ending, wanted, SENTENCES[kind], pairs)


def model_flags(wildcards):
    """Command-line flags of both trainers."""
    model = settings(wildcards, "model")
    return flags(model, but=("trainer", "pretrained", "als", "sgd"))


def candidate_files(candidate):
    """Folder of a candidate's model, and its scores on the development sets."""
    home = HOMES.folder("model", candidate.folder)
    return [f"{RUN}/{home}model", *scores_of(candidate.folder, development(CONFIG))]


def of_bags(function):
    """A function of the wildcards variant and dataset as one of the wildcard bags."""
    return lambda wildcards: function(BAGS[wildcards.bags])


def infer_flags(wildcards):
    """Command-line flags of the solver."""
    return flags(settings(wildcards, "inference"), but=["shards"])


def compared_scores(kind):
    """The scores of the run and of its variants of a kind."""
    return [file for home in ["", *(variant.folder for variant in of_kind(kind))] for file in scores_of(home)]


def overview_inputs(wildcards):
    """What the overview counts: vocabulary and graphs of the treebank, data sets, accuracy of the parser."""
    home = HOMES.folder("vocabulary", "")
    inputs = {"vocabulary": f"{RUN}/{home}vocabulary.json"}
    if CONFIG["systems"] != ["word-vectors"]:
        inputs["graphs"] = f"{RUN}/{home}graphs/train.safetensors"
    if PARSED:
        inputs["accuracy"] = f"{RUN}/parser/accuracy.json"
    return inputs | {
        "pairs": each_dataset("pairs/", ".jsonl"),
        "parses": each_dataset("parses/", ".conllu.gz"),
    }


def overview_flags(wildcards, input):
    """Command-line flags that name all these files."""
    named = {name: file for name, file in input.items() if name not in ("pairs", "parses")}
    data = [file_flags({"data": both}) for both in zip(input.pairs, input.parses)]
    return " ".join([file_flags(named), *data])


def token_inputs(wildcards):
    """Pairs, trees and bags of a data set, and what says which words have a vector."""
    inputs = {
        "pairs": f"{RUN}/pairs/{wildcards.dataset}.jsonl",
        "sentences": f"{RUN}/parses/{wildcards.dataset}.conllu.gz",
        "bags": [bags_file(system, "", wildcards.dataset) for system in DRAWN_SYSTEMS],
    }
    if "word-vectors" in CONFIG["systems"] and not sources.source_encoder(CONFIG):
        inputs["vectors"] = f"{RUN}/{HOMES.folder('vectors', '')}vectors.safetensors"
        inputs["vocabulary"] = f"{RUN}/{HOMES.folder('vocabulary', '')}vocabulary.json"
    return inputs


def token_flags(wildcards):
    """Command-line flags that name all these files, and the pairs that the configuration names."""
    inputs = token_inputs(wildcards)
    bags = [f"{system}={file}" for system, file in zip(DRAWN_SYSTEMS, inputs["bags"])]
    pairs = CONFIG["figures"]["pairs"].get(wildcards.dataset, [])
    return file_flags(inputs | {"bags": bags, "pair": pairs})


def read_files(variant):
    """Every file that some job of a variant reads from outside, by its key."""
    unread = [] if PARSED else ["parser.", "treebank.dev"]
    if not needs_vectors(variant):
        unread.append("vectors.")
    return {
        key: located(value)
        for key, value in sources.references(variant.config)
        if not key.startswith(tuple(unread))
    }


def needs_vectors(variant):
    """Whether any file of a variant depends on word vectors."""
    looked_up = set(OWN_SYSTEMS) - {*MODELLED, *BARE}
    return variant.config["model"]["pretrained"] or (not variant.kind and bool(looked_up))


def recorded(stage, file, wanted):
    """A file of a stage for each variant that has one of its own, by the variant's name."""
    return {
        variant.folder[:-1] or "run": f"{RUN}/{variant.folder}{file}"
        for variant in VARIANTS
        if variant.kind != "select" and variant.folder in HOMES.own(stage) and wanted(variant)
    }


def parsed_files():
    """Pairs, tagger and parser, trees, and the shards of these."""
    found = [*(MODELS.values() if PARSED else []), *each_dataset("pairs/", ".jsonl")]
    found += each_dataset("parses/", ".conllu.gz")
    return found + [
        file for name in SHARDED for file in shard_files(f"parses/{name}", PARSE_SHARDS[name], "conllu.gz")
    ]


def variant_files(variant):
    """What a variant reads that a rule makes, vocabulary, vectors, graphs, model, bags and scores."""
    yield from (
        file for file in read_files(variant).values() if file.startswith((sources.DOWNLOADS, f"{RUN}/data/"))
    )
    datasets = development(CONFIG) if variant.kind == "select" else CONFIG["datasets"]
    for dataset in datasets:
        for system in ["bove"] if variant.kind else OWN_SYSTEMS:
            names = {"variant": variant.folder, "dataset": dataset, "system": system}
            yield from system_files(Wildcards(fromdict=names))
    if variant.kind != "compare":
        yield from scores_of(variant.folder, datasets)


def system_files(wildcards):
    """What the bags of a system and of a data set are made from, and they themselves."""
    yield made("vocabulary", "vocabulary.json")(wildcards)
    if wildcards.system in MODELLED:
        if encoder := over(wildcards):
            yield tokens_file(encoder)
        yield from encode_inputs(wildcards).values()
        yield from training_inputs(wildcards).values()
        yield from infer_inputs(wildcards).values()
    elif wildcards.system not in BARE:
        yield made("vectors", "vectors.safetensors")(wildcards)
    bags = bags_file(wildcards.system, wildcards.variant, wildcards.dataset)
    yield bags
    shards = bags.removeprefix(f"{RUN}/").removesuffix(".safetensors")
    if shards in BAG_SHARDS:
        yield from shard_files(shards, BAG_SHARDS[shards], "safetensors")
