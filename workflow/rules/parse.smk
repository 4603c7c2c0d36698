# The data sets' pairs, the tagger and the parser, and the sentences as trees. None of it needs the vocabulary.
PARSER = CONFIG["parser"]
PARSED = [name for name in READ if not CONFIG["datasets"][name].get("parses")]
# What is not parsed at once. Own trees are: they are only taken over.
PARSE_SHARDS = {
    name: shard_count(f"parses/{name}", "conllu.gz", PARSER["shards"], "parsing", name) for name in PARSED
}
SHARDED = [name for name, count in PARSE_SHARDS.items() if count > 1]
STANZA = versions("stanza", "torch")
# Tagger and parser, and what loaded ones need.
MODELS = {name: f"{RUN}/parser/{name}.pt" for name in ("tagger", "parser")}
if PARSER["source"] == "load":
    MODELS = {name: located(PARSER[name]) for name in sources.PARSER_FILES if name in PARSER}


if PARSER["source"] == "train":

    rule train_tagger:
        """Train a part-of-speech tagger on the treebank."""
        input:
            treebank=located(CONFIG["treebank"]["train"]),
            dev=located(CONFIG["treebank"]["dev"]),
        output:
            model=MODELS["tagger"],
            report=f"{RUN}/parser/tagger.json",
        resources:
            mem_mb=needs(3000, 40, "treebank"),
            runtime=needs(240, 5, "treebank"),
        params:
            treebank=f"{TREEBANK} {STRICT}",
            preset=PARSER["preset"],
            options=stanza_options(PARSER["tagger_options"]),
            seed=CONFIG["seed"],
            versions=STANZA,
        shell:
            "bove train-tagger --treebank {input.treebank:q} --dev {input.dev:q} {params.treebank}"
            " --preset {params.preset} {params.options} --seed {params.seed}"
            " --output {output.model:q} --report {output.report:q} --log {log:q}"

    rule train_parser:
        """Train a dependency parser on the treebank."""
        input:
            treebank=located(CONFIG["treebank"]["train"]),
            dev=located(CONFIG["treebank"]["dev"]),
        output:
            model=MODELS["parser"],
            report=f"{RUN}/parser/parser.json",
        resources:
            mem_mb=needs(3000, 40, "treebank"),
            runtime=needs(240, 5, "treebank"),
        params:
            treebank=f"{TREEBANK} {STRICT}",
            preset=PARSER["preset"],
            options=stanza_options(PARSER["parser_options"]),
            seed=CONFIG["seed"],
            versions=STANZA,
        shell:
            "bove train-parser --treebank {input.treebank:q} --dev {input.dev:q} {params.treebank}"
            " --preset {params.preset} {params.options} --seed {params.seed}"
            " --output {output.model:q} --report {output.report:q} --log {log:q}"


rule evaluate_parser:
    """Measure tagger and parser together on the treebank's development part."""
    input:
        **MODELS,
        treebank=located(CONFIG["treebank"]["dev"]),
    output:
        report=f"{RUN}/parser/accuracy.json",
    resources:
        mem_mb=needs(3000),
        runtime=needs(30),
    params:
        inputs=input_flags,
        treebank=TREEBANK,
        limit=flags(PARSER, "max_tokens"),
        versions=STANZA,
    shell:
        "bove evaluate-parser {params.inputs} {params.treebank} {params.limit} --output {output.report:q} --log {log:q}"


rule pairs:
    """Read a data set's files into one file of pairs."""
    input:
        files=dataset_files,
    output:
        pairs=f"{RUN}/pairs/{{dataset}}.jsonl",
        dataset=f"{RUN}/pairs/{{dataset}}.json",
    wildcard_constraints:
        dataset=one_of(READ),
    resources:
        mem_mb=needs(1000, 5, "files"),
        runtime=needs(10, 0.2, "files"),
    params:
        dataset=dataset_record,
    shell:
        "printf '%s\\n' {params.dataset:q} > {output.dataset:q}; "
        "bove pairs --dataset-file {output.dataset:q} --output {output.pairs:q} --log {log:q}"


rule parse:
    """Parse the sentences of a data set, or take over the user's own trees."""
    input:
        unpack(parse_inputs),
    output:
        parses=f"{RUN}/parses/{{dataset}}.conllu.gz",
    wildcard_constraints:
        dataset=one_of(name for name in READ if name not in SHARDED),
    resources:
        mem_mb=needs(3000, 50, "pairs"),
        runtime=needs(60, 30, "pairs"),
    params:
        inputs=input_flags,
        limit=limit_flags,
        versions=STANZA,
    shell:
        "bove parse {params.inputs} {params.limit} --output {output.parses:q} --log {log:q}"


if SHARDED:

    rule parse_shard:
        """Parse a part of a large data set."""
        input:
            unpack(parse_inputs),
        output:
            parses=f"{RUN}/parses/{{dataset}}/{{shard}}-of-{{shards}}.conllu.gz",
        wildcard_constraints:
            dataset=one_of(SHARDED),
        resources:
            mem_mb=needs(3000, 50, "pairs"),
            runtime=needs(60, 30, "pairs", divided=True),
        params:
            inputs=input_flags,
            limit=limit_flags,
            versions=STANZA,
        shell:
            "bove parse {params.inputs} {params.limit} --shard {wildcards.shard}/{wildcards.shards}"
            " --output {output.parses:q} --log {log:q}"

    rule gather_parses:
        """Put the trees of all parts into the order of the pairs."""
        input:
            pairs=rules.pairs.output.pairs,
            shards=lambda wildcards: shard_files(
                f"parses/{wildcards.dataset}", PARSE_SHARDS[wildcards.dataset], "conllu.gz"
            ),
        output:
            parses=f"{RUN}/parses/{{dataset}}.conllu.gz",
        wildcard_constraints:
            dataset=one_of(SHARDED),
        resources:
            mem_mb=needs(1000, 100, "pairs"),
            runtime=needs(20, 2, "pairs"),
        params:
            inputs=input_flags,
        shell:
            "bove gather-parses {params.inputs} --output {output.parses:q} --log {log:q}"


if ROLES:

    rule roles:
        """Make probes of roles from the pairs and the trees of other data sets."""
        input:
            pairs=lambda wildcards: each_source("pairs/", wildcards.dataset, ".jsonl"),
            parses=lambda wildcards: each_source("parses/", wildcards.dataset, ".conllu.gz"),
        output:
            pairs=f"{RUN}/pairs/{{dataset}}.jsonl",
            parses=f"{RUN}/parses/{{dataset}}.conllu.gz",
        wildcard_constraints:
            dataset=one_of(ROLES),
        resources:
            mem_mb=needs(1000, 100, "pairs"),
            runtime=needs(20, 2, "pairs"),
        params:
            sources=lambda wildcards, input: " ".join(
                file_flags({"from": both}) for both in zip(input.pairs, input.parses)
            ),
            options=lambda wildcards: flags(
                CONFIG["datasets"][wildcards.dataset], "label", "subjects", "objects", "min_gold"
            ),
        shell:
            "bove roles --dataset {wildcards.dataset} {params.options} {params.sources}"
            " --parses {output.parses:q} --output {output.pairs:q} --log {log:q}"
