# What a run starts from: downloads or the built-in corpus, the vocabulary, word vectors, the treebank's graphs.
for name, source in used_sources(VARIANTS).items():
    if sources.kind(source) == "url":

        rule:
            """Download a source, or link a local copy of it."""
            name:
                f"fetch_{name.replace('-', '_')}"
            output:
                files=sources.outputs(name, source),
            # On a cluster, the machine where Snakemake runs may be the only one that reaches other networks.
            localrule: True
            resources:
                runtime=needs(240),
            params:
                source=fetch_flags(name, source),
                target=folder if "members" in source else only,
            shell:
                "bove fetch {params.source} --output {params.target:q} --log {log:q}"


rule demo:
    """Unpack the first sentences of the built-in corpus."""
    output:
        files=expand(f"{RUN}/data/{{file}}", file=demo.FILES),
    params:
        sentences=lambda wildcards: next(
            source["sentences"] for source in CONFIG["sources"].values() if "sentences" in source
        ),
        folder=folder,
    shell:
        "bove demo --sentences {params.sentences} --output {params.folder:q} --log {log:q}"


rule vocabulary:
    """Count the treebank's words, tags and relations, and choose those that are frequent enough."""
    input:
        treebank=located(CONFIG["treebank"]["train"]),
    output:
        vocabulary=f"{RUN}/{{variant}}vocabulary.json",
    resources:
        mem_mb=needs(1000, 5, "treebank"),
        runtime=needs(20, 0.5, "treebank"),
    params:
        treebank=f"{TREEBANK} {STRICT}",
        options=lambda wildcards: (
            flags(settings(wildcards, "vocabulary")) + (" --no-words" if over(wildcards) else "")
        ),
    shell:
        "bove vocabulary --treebank {input.treebank:q} {params.treebank} {params.options}"
        " --output {output.vocabulary:q} --log {log:q}"


if with_vectors("load"):

    rule load_vectors:
        """Read pretrained word vectors into a file that the stages map."""
        input:
            vectors=vectors_file,
        output:
            vectors=f"{RUN}/{{variant}}vectors.safetensors",
        wildcard_constraints:
            variant=one_of(with_vectors("load")),
        resources:
            mem_mb=needs(4000),
            runtime=needs(120),
        params:
            options=lambda wildcards: flags(settings(wildcards, "vectors"), "format", "limit"),
        shell:
            "bove vectors load --input {input.vectors:q} {params.options}"
            " --output {output.vectors:q} --log {log:q}"


if with_vectors("train"):

    rule train_vectors:
        """Train word2vec vectors on raw text."""
        input:
            text=vectors_file,
        output:
            vectors=f"{RUN}/{{variant}}vectors.safetensors",
        wildcard_constraints:
            variant=one_of(with_vectors("train")),
        resources:
            mem_mb=needs(2000, 5, "text"),
            runtime=needs(60, 5, "text"),
        params:
            rank=lambda wildcards: settings(wildcards, "model")["rank"],
            options=lambda wildcards: flags(
                settings(wildcards, "vectors"), "window", "epochs", "min_count", "negative"
            ),
            seed=CONFIG["seed"],
        shell:
            "bove vectors train --input {input.text:q} --dimensions {params.rank} {params.options}"
            " --seed {params.seed} --output {output.vectors:q} --log {log:q}"


if with_vectors("encoder"):

    rule encoder_treebank:
        """Make an encoder's vectors of the treebank's tokens."""
        input:
            encoder=encoder_files,
            treebank=located(CONFIG["treebank"]["train"]),
        output:
            tokens=tokens_file("{encoder}"),
        wildcard_constraints:
            encoder=one_of(CONFIG["encoders"]),
        threads: CONFIG["threads"]
        resources:
            mem_mb=needs(2000, 100, "treebank"),
            runtime=needs(120, 10, "treebank"),
        params:
            folder=encoder_folder,
            treebank=TREEBANK,
            versions=TRANSFORMERS,
        shell:
            "bove encoder --encoder {params.folder:q} --name {wildcards.encoder} --sentences {input.treebank:q}"
            " {params.treebank} --threads {threads} --output {output.tokens:q} --log {log:q}"

    rule components:
        """Shorten the vectors of an encoder's tokens to the model's rank."""
        input:
            tokens=lambda wildcards: tokens_file(over(wildcards)),
        output:
            vectors=f"{RUN}/{{variant}}vectors.safetensors",
        wildcard_constraints:
            variant=one_of(with_vectors("encoder")),
        resources:
            mem_mb=needs(1000, 2, "tokens"),
        params:
            rank=lambda wildcards: settings(wildcards, "model")["rank"],
        shell:
            "bove components --tokens {input.tokens:q} --rank {params.rank} --output {output.vectors:q} --log {log:q}"


rule encode_treebank:
    """Turn the treebank's sentences into the graphs that models are trained on."""
    input:
        unpack(treebank_inputs),
    output:
        graphs=f"{RUN}/{{variant}}graphs/train.safetensors",
    resources:
        mem_mb=needs(1000, 20, "treebank"),
        runtime=needs(20, 1, "treebank"),
    params:
        treebank=TREEBANK,
        vectors=lambda wildcards, input: file_flags(
            {name: file for name, file in input.items() if name in ("vectors", "tokens")}
        ),
    shell:
        "bove encode --sentences {input.treebank:q} {params.treebank} --vocabulary {input.vocabulary:q}"
        " {params.vectors} --output {output.graphs:q} --log {log:q}"
