# Every file that lies between the sources and the tables.
#
# Snakemake makes such a file only for a job that must run. One that a failed job has left missing would stay so, and
# what was made from it before would count as up to date, although a setting has changed since: the failure is kept
# as if the job had run with the new one. So all of them are asked for.


def fetched_or_written():
    """The files of sources that some variant reads, where a rule makes them."""
    unread = () if PARSED else ("parser.", "treebank.dev")
    if not any(map(needs_vectors, VARIANTS)):
        unread += ("vectors.",)
    named = [
        located(value)
        for variant in VARIANTS
        for key, value in sources.references(variant.config)
        if not key.startswith(unread)
    ]
    return [
        file for file in named if file.startswith((sources.DOWNLOADS, f"{RUN}/data/"))
    ]


def needs_vectors(variant):
    """Whether any file of a variant depends on word vectors."""
    own = not variant.kind and "word-vectors" in CONFIG["systems"]
    return own or variant.config["model"]["pretrained"]


def parsed_files():
    """Pairs, tagger and parser, trees, and the shards of these."""
    files = [TAGGER_FILE, PARSER_FILE] if PARSED else []
    for name in CONFIG["datasets"]:
        files += [f"{RUN}/pairs/{name}.jsonl", f"{RUN}/parses/{name}.conllu.gz"]
    for name in SHARDED:
        files += shard_files(f"parses/{name}", PARSE_SHARDS[name], "conllu.gz")
    return files


def variant_files(variant):
    """Vocabulary, vectors, graphs, model, bags and scores of a variant."""
    chosen = variant.kind == "select"
    systems = ["bove"] if variant.kind else CONFIG["systems"]
    for dataset in development(CONFIG) if chosen else CONFIG["datasets"]:
        names = {"variant": variant.folder, "dataset": dataset}
        for system in systems:
            yield from system_files(Wildcards(fromdict=names | {"system": system}))
        if variant.kind != "compare":
            scores = HOMES.folder("score", variant.folder)
            yield f"{RUN}/{scores}scores/{dataset}.parquet"


def system_files(wildcards):
    """What the bags of a system and of a data set are made from, and they themselves."""
    yield made("vocabulary", "vocabulary.json")(wildcards)
    if wildcards.system == "word-vectors":
        yield made("vectors", "vectors.safetensors")(wildcards)
    else:
        yield from training_inputs(wildcards).values()
        yield from infer_inputs(wildcards).values()
    bags = made("infer", "bags/{system}/{dataset}")(wildcards)
    yield f"{bags}.safetensors"
    shards = bags.removeprefix(f"{RUN}/")
    if wildcards.system == "bove" and shards in BAG_SHARDS:
        yield from shard_files(shards, BAG_SHARDS[shards], "safetensors")


EVERYTHING = sorted(
    {
        *fetched_or_written(),
        *parsed_files(),
        *OVERVIEW,
        *(file for variant in VARIANTS for file in variant_files(variant)),
    }
)
