# The data sets' trees as graphs, and the graphs as bags of vectors.


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
        mem_mb=2000,
        runtime=20,
    params:
        inputs=input_flags,
        min_coverage=CONFIG["parser"]["min_coverage"],
        code=fingerprint("bove.cli.encode"),
    shell:
        "bove encode {params.inputs} --min-coverage {params.min_coverage}"
        " --output {output.graphs:q} --log {log:q}"


rule infer:
    input:
        unpack(punctuation_inputs),
        model=made("model", "model/model.safetensors"),
        graphs=made("encode", "graphs/{dataset}.safetensors"),
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
        mem_mb=4000,
        runtime=240,
    params:
        options=lambda wildcards: flags(
            settings(wildcards, "inference"),
            "solver",
            "iterations",
            "tolerance",
            "energy",
            "batch_tokens",
        ),
        punctuation=punctuation_flags,
        code=fingerprint("bove.cli.infer"),
    shell:
        "bove infer --system {wildcards.system} --model {input.model:q} --graphs {input.graphs:q}"
        " {params.options} {params.punctuation} --threads {threads} --output {output.bags:q}"
        " --report {output.iterations:q} --log {log:q}"


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
        mem_mb=2000,
        runtime=30,
    params:
        options=lambda wildcards: flags(settings(wildcards, "scoring"), "punctuation"),
        code=fingerprint("bove.cli.infer"),
    shell:
        "bove infer --system word-vectors --vectors {input.vectors:q} --vocabulary {input.vocabulary:q}"
        " --sentences {input.parses:q} {params.options} --output {output.bags:q} --log {log:q}"


ruleorder: look_up_words > infer
