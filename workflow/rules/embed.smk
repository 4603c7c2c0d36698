# The data sets' trees as graphs, and the graphs as bags of vectors.
# What of bove's bags is not inferred at once: how many shards, and which variant and data set.
BAG_SHARDS, BAGS = {}, {}
for variant in HOMES.own("infer"):
    section = SETTINGS[variant]["inference"]
    for dataset in CONFIG["datasets"]:
        bags = f"{variant}bags/bove/{dataset}"
        count = SHARD_COUNTS.number(
            bags,
            "safetensors",
            section["shards"],
            SENTENCES[section["solver"]],
            pair_files(dataset),
        )
        if count > 1:
            BAG_SHARDS[bags] = count
            BAGS[bags] = Wildcards(
                fromdict={"variant": variant, "dataset": dataset, "system": "bove"}
            )


rule encode:
    input:
        unpack(encode_inputs),
    output:
        graphs=f"{RUN}/{{variant}}graphs/{{dataset}}.safetensors",
    log:
        f"{RUN}/logs/{{variant}}encode/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/{{variant}}encode/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1500, 100, "sentences"),
        runtime=needs(20, 10, "sentences"),
    params:
        inputs=input_flags,
        min_coverage=CONFIG["parser"]["min_coverage"],
        code=code_of("encode"),
    shell:
        "bove encode {params.inputs} --min-coverage {params.min_coverage}"
        " --output {output.graphs:q} --log {log:q}"


rule infer:
    input:
        unpack(infer_inputs),
    output:
        bags=f"{RUN}/{{variant}}bags/{{system}}/{{dataset}}.safetensors",
        iterations=f"{RUN}/{{variant}}bags/{{system}}/{{dataset}}.csv",
    log:
        f"{RUN}/logs/{{variant}}infer/{{system}}/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/{{variant}}infer/{{system}}/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: CONFIG["threads"]
    resources:
        mem_mb=needs(1500, 50, "graphs"),
        runtime=needs(60, 10, "graphs"),
    params:
        options=infer_flags,
        punctuation=punctuation_flags,
        code=code_of("infer"),
    shell:
        "bove infer --system {wildcards.system} --model {input.model:q} --graphs {input.graphs:q}"
        " {params.options} {params.punctuation} --threads {threads} --output {output.bags:q}"
        " --report {output.iterations:q} --log {log:q}"


if BAGS:

    rule infer_shard:
        input:
            unpack(of_bags(infer_inputs)),
        output:
            bags=f"{RUN}/{{bags}}/{{shard}}-of-{{shards}}.safetensors",
            iterations=f"{RUN}/{{bags}}/{{shard}}-of-{{shards}}.csv",
        log:
            f"{RUN}/logs/{{bags}}/{{shard}}-of-{{shards}}.log",
        benchmark:
            f"{RUN}/benchmarks/{{bags}}/{{shard}}-of-{{shards}}.tsv"
        wildcard_constraints:
            bags=one_of(BAGS),
        conda:
            ENVIRONMENT
        threads: CONFIG["threads"]
        resources:
            mem_mb=needs(1500, 50, "graphs"),
            runtime=needs(60, 10, "graphs", divided=True),
        params:
            options=of_bags(infer_flags),
            punctuation=of_bags(punctuation_flags),
            code=code_of("infer"),
        shell:
            "bove infer --system bove --model {input.model:q} --graphs {input.graphs:q}"
            " {params.options} {params.punctuation} --shard {wildcards.shard}/{wildcards.shards}"
            " --threads {threads} --output {output.bags:q} --report {output.iterations:q} --log {log:q}"

    rule gather_bags:
        input:
            unpack(of_bags(punctuation_inputs)),
            graphs=of_bags(made("encode", "graphs/{dataset}.safetensors")),
            shards=lambda wildcards: shard_files(
                wildcards.bags, BAG_SHARDS[wildcards.bags], "safetensors"
            ),
            iterations=lambda wildcards: shard_files(
                wildcards.bags, BAG_SHARDS[wildcards.bags], "csv"
            ),
        output:
            bags=f"{RUN}/{{bags}}.safetensors",
            iterations=f"{RUN}/{{bags}}.csv",
        log:
            f"{RUN}/logs/{{bags}}.log",
        benchmark:
            f"{RUN}/benchmarks/{{bags}}.tsv"
        wildcard_constraints:
            bags=one_of(BAGS),
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(1500, 50, "graphs"),
            runtime=needs(30, 1, "graphs"),
        params:
            punctuation=of_bags(punctuation_flags),
            code=code_of("gather-bags"),
        shell:
            "bove gather-bags --graphs {input.graphs:q} --shards {input.shards:q} --reports {input.iterations:q}"
            " {params.punctuation} --output {output.bags:q} --report {output.iterations:q} --log {log:q}"

    ruleorder: gather_bags > infer


rule look_up_words:
    input:
        vectors=made("vectors", "vectors.safetensors"),
        vocabulary=made("vocabulary", "vocabulary.json"),
        parses=f"{RUN}/parses/{{dataset}}.conllu.gz",
    output:
        bags=f"{RUN}/{{variant}}bags/word-vectors/{{dataset}}.safetensors",
    log:
        f"{RUN}/logs/{{variant}}infer/word-vectors/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/{{variant}}infer/word-vectors/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(2000),
        runtime=needs(30),
    params:
        options=lambda wildcards: flags(settings(wildcards, "scoring"), "punctuation"),
        code=code_of("infer"),
    shell:
        "bove infer --system word-vectors --vectors {input.vectors:q} --vocabulary {input.vocabulary:q}"
        " --sentences {input.parses:q} {params.options} --output {output.bags:q} --log {log:q}"


ruleorder: look_up_words > infer
