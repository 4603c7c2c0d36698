# The tagger and the parser, and the data sets' sentences as trees. None of it needs the vocabulary.
PARSER = CONFIG["parser"]
PARSED = [
    name for name, dataset in CONFIG["datasets"].items() if not dataset.get("parses")
]
# What is not parsed at once. Own trees are: they are only taken over.
PARSE_SHARDS = {
    name: SHARD_COUNTS.number(
        f"parses/{name}",
        "conllu.gz",
        PARSER["shards"],
        SENTENCES["parsing"],
        pair_files(name),
    )
    for name in PARSED
}
SHARDED = [name for name, count in PARSE_SHARDS.items() if count > 1]

if PARSER["source"] == "train":
    TAGGER_FILE = f"{RUN}/parser/tagger.pt"
    PARSER_FILE = f"{RUN}/parser/parser.pt"

    rule train_tagger:
        input:
            treebank=located(CONFIG["treebank"]["train"]),
            dev=located(CONFIG["treebank"]["dev"]),
        output:
            model=TAGGER_FILE,
            report=f"{RUN}/parser/tagger.json",
        log:
            f"{RUN}/logs/train_tagger.log",
        benchmark:
            f"{RUN}/benchmarks/train_tagger.tsv"
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(3000, 40, "treebank"),
            runtime=needs(240, 5, "treebank"),
        params:
            columns=CONFIG["treebank"]["columns"],
            encoding=CONFIG["treebank"]["encoding"],
            strict="--strict" if CONFIG["treebank"]["strict"] else "",
            preset=PARSER["preset"],
            options=stanza_options(PARSER["tagger_options"]),
            seed=CONFIG["seed"],
            code=code_of("train-tagger"),
            versions=versions("stanza", "torch"),
        shell:
            "bove train-tagger --treebank {input.treebank:q} --dev {input.dev:q} --columns {params.columns}"
            " --encoding {params.encoding:q} {params.strict} --preset {params.preset} {params.options} --seed {params.seed}"
            " --output {output.model:q} --report {output.report:q} --log {log:q}"

    rule train_parser:
        input:
            treebank=located(CONFIG["treebank"]["train"]),
            dev=located(CONFIG["treebank"]["dev"]),
        output:
            model=PARSER_FILE,
            report=f"{RUN}/parser/parser.json",
        log:
            f"{RUN}/logs/train_parser.log",
        benchmark:
            f"{RUN}/benchmarks/train_parser.tsv"
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(3000, 40, "treebank"),
            runtime=needs(240, 5, "treebank"),
        params:
            columns=CONFIG["treebank"]["columns"],
            encoding=CONFIG["treebank"]["encoding"],
            strict="--strict" if CONFIG["treebank"]["strict"] else "",
            preset=PARSER["preset"],
            options=stanza_options(PARSER["parser_options"]),
            seed=CONFIG["seed"],
            code=code_of("train-parser"),
            versions=versions("stanza", "torch"),
        shell:
            "bove train-parser --treebank {input.treebank:q} --dev {input.dev:q} --columns {params.columns}"
            " --encoding {params.encoding:q} {params.strict} --preset {params.preset} {params.options} --seed {params.seed}"
            " --output {output.model:q} --report {output.report:q} --log {log:q}"

else:
    TAGGER_FILE = located(PARSER["tagger"])
    PARSER_FILE = located(PARSER["parser"])


rule evaluate_parser:
    input:
        **parser_inputs(TAGGER_FILE, PARSER_FILE),
        treebank=located(CONFIG["treebank"]["dev"]),
    output:
        report=f"{RUN}/parser/accuracy.json",
    log:
        f"{RUN}/logs/evaluate_parser.log",
    benchmark:
        f"{RUN}/benchmarks/evaluate_parser.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(3000),
        runtime=needs(30),
    params:
        parser=parse_flags,
        columns=CONFIG["treebank"]["columns"],
        encoding=CONFIG["treebank"]["encoding"],
        limit=flags(PARSER, "max_tokens"),
        code=code_of("evaluate-parser"),
        versions=versions("stanza", "torch"),
    shell:
        "bove evaluate-parser --treebank {input.treebank:q} --columns {params.columns} --encoding {params.encoding:q}"
        " {params.parser} {params.limit} --output {output.report:q} --log {log:q}"


rule pairs:
    input:
        files=lambda wildcards: dataset_files(wildcards.dataset),
    output:
        pairs=f"{RUN}/pairs/{{dataset}}.jsonl",
        dataset=f"{RUN}/pairs/{{dataset}}.json",
    log:
        f"{RUN}/logs/pairs/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/pairs/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000, 5, "files"),
        runtime=needs(10, 0.2, "files"),
    params:
        dataset=lambda wildcards: dataset_record(wildcards.dataset),
        code=code_of("pairs"),
    shell:
        "printf '%s\\n' {params.dataset:q} > {output.dataset:q}; "
        "bove pairs --dataset-file {output.dataset:q} --output {output.pairs:q} --log {log:q}"


rule parse:
    input:
        unpack(
            lambda wildcards: parse_inputs(wildcards.dataset, TAGGER_FILE, PARSER_FILE)
        ),
        pairs=rules.pairs.output.pairs,
    output:
        parses=f"{RUN}/parses/{{dataset}}.conllu.gz",
    log:
        f"{RUN}/logs/parse/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/parse/{{dataset}}.tsv"
    wildcard_constraints:
        dataset=one_of(name for name in CONFIG["datasets"] if name not in SHARDED),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(3000, 50, "pairs"),
        runtime=needs(60, 30, "pairs"),
    params:
        parser=parse_flags,
        limit=limit_flags,
        code=code_of("parse"),
        versions=versions("stanza", "torch"),
    shell:
        "bove parse --pairs {input.pairs:q} {params.parser} {params.limit} --output {output.parses:q} --log {log:q}"


if SHARDED:

    rule parse_shard:
        input:
            unpack(
                lambda wildcards: parse_inputs(
                    wildcards.dataset, TAGGER_FILE, PARSER_FILE
                )
            ),
            pairs=rules.pairs.output.pairs,
        output:
            parses=f"{RUN}/parses/{{dataset}}/{{shard}}-of-{{shards}}.conllu.gz",
        log:
            f"{RUN}/logs/parse/{{dataset}}/{{shard}}-of-{{shards}}.log",
        benchmark:
            f"{RUN}/benchmarks/parse/{{dataset}}/{{shard}}-of-{{shards}}.tsv"
        wildcard_constraints:
            dataset=one_of(SHARDED),
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(3000, 50, "pairs"),
            runtime=needs(60, 30, "pairs", divided=True),
        params:
            parser=parse_flags,
            limit=flags(PARSER, "max_tokens"),
            code=code_of("parse"),
            versions=versions("stanza", "torch"),
        shell:
            "bove parse --pairs {input.pairs:q} {params.parser} {params.limit}"
            " --shard {wildcards.shard}/{wildcards.shards} --output {output.parses:q} --log {log:q}"

    rule gather_parses:
        input:
            shards=lambda wildcards: shard_files(
                f"parses/{wildcards.dataset}",
                PARSE_SHARDS[wildcards.dataset],
                "conllu.gz",
            ),
            pairs=rules.pairs.output.pairs,
        output:
            parses=f"{RUN}/parses/{{dataset}}.conllu.gz",
        log:
            f"{RUN}/logs/gather_parses/{{dataset}}.log",
        benchmark:
            f"{RUN}/benchmarks/gather_parses/{{dataset}}.tsv"
        wildcard_constraints:
            dataset=one_of(SHARDED),
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(1000, 100, "pairs"),
            runtime=needs(20, 2, "pairs"),
        params:
            code=code_of("gather-parses"),
        shell:
            "bove gather-parses --pairs {input.pairs:q} --shards {input.shards:q} --output {output.parses:q} --log {log:q}"
