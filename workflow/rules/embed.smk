# The data sets' trees as graphs, and the graphs as bags of vectors.


rule encode:
    input:
        parses=rules.parse.output.parses,
        vocabulary=rules.vocabulary.output.vocabulary,
        vectors=f"{RUN}/vectors.safetensors",
    output:
        graphs=f"{RUN}/graphs/{{dataset}}.safetensors",
    log:
        f"{RUN}/logs/encode/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/encode/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        min_coverage=CONFIG["parser"]["min_coverage"],
        code=fingerprint("bove.cli.encode"),
    shell:
        "bove encode --sentences {input.parses:q} --vocabulary {input.vocabulary:q} --vectors {input.vectors:q}"
        " --min-coverage {params.min_coverage} --output {output.graphs:q} --log {log:q}"


rule infer:
    input:
        model=f"{RUN}/model/model.safetensors",
        graphs=rules.encode.output.graphs,
    output:
        bags=f"{RUN}/bags/{{system}}/{{dataset}}.safetensors",
    log:
        f"{RUN}/logs/infer/{{system}}/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/infer/{{system}}/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: CONFIG["threads"]
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        options=flags(
            CONFIG["inference"],
            "solver",
            "iterations",
            "tolerance",
            "energy",
            "batch_tokens",
        ),
        code=fingerprint("bove.cli.infer"),
    shell:
        "bove infer --system {wildcards.system} --model {input.model:q} --graphs {input.graphs:q}"
        " {params.options} --threads {threads} --output {output.bags:q} --log {log:q}"


rule look_up_words:
    input:
        vectors=f"{RUN}/vectors.safetensors",
        vocabulary=rules.vocabulary.output.vocabulary,
        parses=rules.parse.output.parses,
    output:
        bags=f"{RUN}/bags/word-vectors/{{dataset}}.safetensors",
    log:
        f"{RUN}/logs/infer/word-vectors/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/infer/word-vectors/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=fingerprint("bove.cli.infer"),
    shell:
        "bove infer --system word-vectors --vectors {input.vectors:q} --vocabulary {input.vocabulary:q}"
        " --sentences {input.parses:q} --output {output.bags:q} --log {log:q}"


ruleorder: look_up_words > infer
