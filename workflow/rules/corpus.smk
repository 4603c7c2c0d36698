# What a run starts from: downloads or the built-in corpus, the vocabulary, word vectors, the treebank's graphs.


for name, source in used_sources(VARIANTS).items():
    if sources.kind(source) == "url":

        rule:
            name:
                f"fetch_{name.replace('-', '_')}"
            output:
                files=sources.outputs(name, source),
            log:
                f"{sources.DOWNLOADS}/logs/{name}.log",
            benchmark:
                f"{sources.DOWNLOADS}/benchmarks/{name}.tsv"
            # On a cluster, the machine where Snakemake runs may be the only one that reaches other networks.
            localrule: True
            conda:
                ENVIRONMENT
            threads: 1
            resources:
                mem_mb=needs(500),
                runtime=needs(240),
            params:
                source=fetch_flags(name, source),
                target=folder if "members" in source else only,
            shell:
                "bove fetch {params.source} --output {params.target:q} --log {log:q}"


rule demo:
    output:
        files=expand(f"{RUN}/data/{{file}}", file=demo.FILES),
    log:
        f"{RUN}/logs/demo.log",
    benchmark:
        f"{RUN}/benchmarks/demo.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        sentences=lambda wildcards: next(
            source["sentences"]
            for source in CONFIG["sources"].values()
            if "sentences" in source
        ),
        folder=folder,
        code=code_of("demo"),
    shell:
        "bove demo --sentences {params.sentences} --output {params.folder:q} --log {log:q}"


rule vocabulary:
    input:
        treebank=located(CONFIG["treebank"]["train"]),
    output:
        vocabulary=f"{RUN}/{{variant}}vocabulary.json",
    log:
        f"{RUN}/logs/{{variant}}vocabulary.log",
    benchmark:
        f"{RUN}/benchmarks/{{variant}}vocabulary.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000, 5, "treebank"),
        runtime=needs(20, 0.5, "treebank"),
    params:
        columns=CONFIG["treebank"]["columns"],
        encoding=CONFIG["treebank"]["encoding"],
        strict="--strict" if CONFIG["treebank"]["strict"] else "",
        options=lambda wildcards: flags(
            settings(wildcards, "vocabulary"),
            "min_words",
            "min_tags",
            "min_relations",
            "lookup",
            "adjacency",
            "dependencies",
            "tags",
            "numbers",
            "punctuation",
        ),
        code=code_of("vocabulary"),
    shell:
        "bove vocabulary --treebank {input.treebank:q} --columns {params.columns} --encoding {params.encoding:q}"
        " {params.strict} {params.options} --output {output.vocabulary:q} --log {log:q}"


if with_vectors("load"):

    rule load_vectors:
        input:
            vectors=vectors_file,
        output:
            vectors=f"{RUN}/{{variant}}vectors.safetensors",
        log:
            f"{RUN}/logs/{{variant}}vectors.log",
        benchmark:
            f"{RUN}/benchmarks/{{variant}}vectors.tsv"
        wildcard_constraints:
            variant=one_of(with_vectors("load")),
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(4000),
            runtime=needs(120),
        params:
            options=lambda wildcards: flags(
                settings(wildcards, "vectors"), "format", "limit"
            ),
            code=code_of("vectors"),
        shell:
            "bove vectors load --input {input.vectors:q} {params.options}"
            " --output {output.vectors:q} --log {log:q}"


if with_vectors("train"):

    rule train_vectors:
        input:
            text=vectors_file,
        output:
            vectors=f"{RUN}/{{variant}}vectors.safetensors",
        log:
            f"{RUN}/logs/{{variant}}vectors.log",
        benchmark:
            f"{RUN}/benchmarks/{{variant}}vectors.tsv"
        wildcard_constraints:
            variant=one_of(with_vectors("train")),
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(2000, 5, "text"),
            runtime=needs(60, 5, "text"),
        params:
            rank=lambda wildcards: settings(wildcards, "model")["rank"],
            options=lambda wildcards: flags(
                settings(wildcards, "vectors"),
                "window",
                "epochs",
                "min_count",
                "negative",
            ),
            seed=CONFIG["seed"],
            code=code_of("vectors"),
        shell:
            "bove vectors train --input {input.text:q} --dimensions {params.rank} {params.options}"
            " --seed {params.seed} --output {output.vectors:q} --log {log:q}"


rule encode_treebank:
    input:
        treebank=located(CONFIG["treebank"]["train"]),
        vocabulary=f"{RUN}/{{variant}}vocabulary.json",
    output:
        graphs=f"{RUN}/{{variant}}graphs/train.safetensors",
    log:
        f"{RUN}/logs/{{variant}}encode/train.log",
    benchmark:
        f"{RUN}/benchmarks/{{variant}}encode/train.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000, 20, "treebank"),
        runtime=needs(20, 1, "treebank"),
    params:
        columns=CONFIG["treebank"]["columns"],
        encoding=CONFIG["treebank"]["encoding"],
        code=code_of("encode"),
    shell:
        "bove encode --sentences {input.treebank:q} --columns {params.columns} --encoding {params.encoding:q}"
        " --vocabulary {input.vocabulary:q} --output {output.graphs:q} --log {log:q}"
