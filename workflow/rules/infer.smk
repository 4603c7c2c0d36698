# The data sets' trees as graphs, and the graphs as bags of vectors.
# What of bove's bags is not inferred at once: how many shards, and which variant and data set.
BAG_SHARDS, BAGS = {}, {}
for variant in HOMES.own("infer"):
    section = SETTINGS[variant]["inference"]
    for dataset in CONFIG["datasets"]:
        bags = f"{variant}bags/bove/{dataset}"
        count = shard_count(bags, "safetensors", section["shards"], section["solver"], dataset)
        if count > 1:
            BAG_SHARDS[bags] = count
            BAGS[bags] = Wildcards(fromdict={"variant": variant, "dataset": dataset, "system": "bove"})


rule encode:
    """Turn a data set's trees into graphs."""
    input:
        unpack(encode_inputs),
    output:
        graphs=f"{RUN}/{{variant}}graphs/{{dataset}}.safetensors",
    resources:
        mem_mb=needs(1500, 100, "sentences"),
        runtime=needs(20, 10, "sentences"),
    params:
        inputs=input_flags,
        min_coverage=CONFIG["parser"]["min_coverage"],
    shell:
        "bove encode {params.inputs} --min-coverage {params.min_coverage} --output {output.graphs:q} --log {log:q}"


rule infer:
    """Infer the bags of a data set's graphs."""
    input:
        unpack(infer_inputs),
    output:
        bags=f"{RUN}/{{variant}}bags/{{system}}/{{dataset}}.safetensors",
        iterations=f"{RUN}/{{variant}}bags/{{system}}/{{dataset}}.csv",
    threads: CONFIG["threads"]
    resources:
        mem_mb=needs(1500, 50, "graphs"),
        runtime=needs(60, 10, "graphs"),
    params:
        options=infer_flags,
        punctuation=punctuation_flags,
    shell:
        "bove infer --system {wildcards.system} --model {input.model:q} --graphs {input.graphs:q}"
        " {params.options} {params.punctuation} --threads {threads} --output {output.bags:q}"
        " --report {output.iterations:q} --log {log:q}"


if BAGS:

    rule infer_shard:
        """Infer the bags of a part of a large data set."""
        input:
            unpack(of_bags(infer_inputs)),
        output:
            bags=f"{RUN}/{{bags}}/{{shard}}-of-{{shards}}.safetensors",
            iterations=f"{RUN}/{{bags}}/{{shard}}-of-{{shards}}.csv",
        wildcard_constraints:
            bags=one_of(BAGS),
        threads: CONFIG["threads"]
        resources:
            mem_mb=needs(1500, 50, "graphs"),
            runtime=needs(60, 10, "graphs", divided=True),
        params:
            options=of_bags(infer_flags),
            punctuation=of_bags(punctuation_flags),
        shell:
            "bove infer --system bove --model {input.model:q} --graphs {input.graphs:q}"
            " {params.options} {params.punctuation} --shard {wildcards.shard}/{wildcards.shards}"
            " --threads {threads} --output {output.bags:q} --report {output.iterations:q} --log {log:q}"

    rule gather_bags:
        """Put the bags of all parts into one file."""
        input:
            unpack(of_bags(punctuation_inputs)),
            graphs=of_bags(made("encode", "graphs/{dataset}.safetensors")),
            shards=lambda wildcards: shard_files(wildcards.bags, BAG_SHARDS[wildcards.bags], "safetensors"),
            iterations=lambda wildcards: shard_files(wildcards.bags, BAG_SHARDS[wildcards.bags], "csv"),
        output:
            bags=f"{RUN}/{{bags}}.safetensors",
            iterations=f"{RUN}/{{bags}}.csv",
        wildcard_constraints:
            bags=one_of(BAGS),
        resources:
            mem_mb=needs(1500, 50, "graphs"),
            runtime=needs(30, 1, "graphs"),
        params:
            punctuation=of_bags(punctuation_flags),
        shell:
            "bove gather-bags --graphs {input.graphs:q} --shards {input.shards:q} --reports {input.iterations:q}"
            " {params.punctuation} --output {output.bags:q} --report {output.iterations:q} --log {log:q}"

    ruleorder: gather_bags > infer


rule look_up_words:
    """Make bags of the sentences' word vectors, the baseline."""
    input:
        unpack(word_inputs),
    output:
        bags=f"{RUN}/{{variant}}bags/word-vectors/{{dataset}}.safetensors",
    resources:
        mem_mb=needs(2000),
        runtime=needs(30),
    params:
        inputs=input_flags,
        options=lambda wildcards: flags(settings(wildcards, "scoring"), "punctuation"),
    shell:
        "bove infer --system word-vectors {params.inputs} {params.options} --output {output.bags:q} --log {log:q}"


ruleorder: look_up_words > infer


if CONFIG["baselines"]:

    rule baseline:
        """Make bags of a baseline, such as averages of word vectors."""
        input:
            unpack(baseline_inputs),
        output:
            bags=f"{RUN}/{{variant}}bags/{{system}}/{{dataset}}.safetensors",
        wildcard_constraints:
            system=one_of(CONFIG["baselines"]),
        resources:
            mem_mb=needs(2000),
            runtime=needs(30),
        params:
            inputs=input_flags,
            treebank=lambda wildcards: TREEBANK if wildcards.system == "sif" else "",
            options=lambda wildcards: flags(settings(wildcards, "scoring"), "punctuation"),
        shell:
            "bove baseline --system {wildcards.system} {params.inputs} {params.treebank} {params.options}"
            " --output {output.bags:q} --log {log:q}"


# What encoders write of a data set; and what of it is not encoded at once, with its data set.
ENCODER_FILES = {name: f"{{variant}}bags/{{encoder}}-{name}/{{dataset}}" for name in ("tokens", "sentences")}
if OVER:
    ENCODER_FILES["whole"] = "{variant}encoded/{encoder}/{dataset}"
ENCODED = {}
for encoder in CONFIG["encoders"]:
    for dataset in CONFIG["datasets"]:
        found = [file.format(variant="", encoder=encoder, dataset=dataset) for file in ENCODER_FILES.values()]
        count = shard_count(found[0], "safetensors", CONFIG["inference"]["shards"], "encoding", dataset)
        if count > 1:
            BAG_SHARDS |= dict.fromkeys(found, count)
            ENCODED |= dict.fromkeys(found, dataset)


if CONFIG["encoders"]:

    rule encoder:
        """Make bags of an encoder: its vectors of sentences, and those of their tokens."""
        input:
            unpack(encoder_inputs),
        output:
            **{name: f"{RUN}/{file}.safetensors" for name, file in ENCODER_FILES.items()},
        wildcard_constraints:
            encoder=one_of(CONFIG["encoders"]),
        threads: CONFIG["threads"]
        resources:
            mem_mb=needs(2000, 4, "encoder"),
            runtime=needs(120),
        params:
            folder=encoder_folder,
            options=encoder_flags,
            whole=lambda wildcards, output: f"--whole-output {shlex.quote(output.whole)}" if OVER else "",
            versions=TRANSFORMERS,
        shell:
            "bove encoder --encoder {params.folder:q} --name {wildcards.encoder} --sentences {input.sentences:q}"
            " {params.options} --threads {threads} --output {output.tokens:q}"
            " --sentence-output {output.sentences:q} {params.whole} --log {log:q}"


if ENCODED:

    use rule encoder as encoder_shard with:
        output:
            **{
                name: f"{RUN}/{file}/{{shard}}-of-{{shards}}.safetensors"
                for name, file in ENCODER_FILES.items()
            },

    rule gather_encoded:
        """Put an encoder's bags of all parts into one file."""
        input:
            sentences=lambda wildcards: f"{RUN}/parses/{ENCODED[wildcards.bags]}.conllu.gz",
            shards=lambda wildcards: shard_files(wildcards.bags, BAG_SHARDS[wildcards.bags], "safetensors"),
        output:
            bags=f"{RUN}/{{bags}}.safetensors",
        wildcard_constraints:
            bags=one_of(ENCODED),
        resources:
            mem_mb=needs(1500, 50, "sentences"),
            runtime=needs(30, 5, "sentences"),
        params:
            options=lambda wildcards: (
                "" if wildcards.bags.startswith("encoded/") else flags(CONFIG["scoring"], "punctuation")
            ),
        shell:
            "bove gather-bags --sentences {input.sentences:q} --shards {input.shards:q} {params.options}"
            " --output {output.bags:q} --log {log:q}"

    ruleorder: gather_encoded > encoder
