# From bags to the result tables.
TABLES = [f"{RUN}/tables/{name}" for name in ("scores.csv", "sts.md", "snli.md")]


rule score:
    input:
        unpack(
            lambda wildcards: {
                system: f"{RUN}/bags/{system}/{wildcards.dataset}.safetensors"
                for system in CONFIG["systems"]
            }
        ),
        pairs=rules.pairs.output.pairs,
    output:
        scores=f"{RUN}/scores/{{dataset}}.parquet",
    log:
        f"{RUN}/logs/score/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/score/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        bags=lambda wildcards, input: " ".join(
            shlex.quote(f"{system}={input[system]}") for system in CONFIG["systems"]
        ),
        code=fingerprint("bove.cli.score"),
    shell:
        "bove score --pairs {input.pairs:q} --bags {params.bags} --output {output.scores:q} --log {log:q}"


rule tables:
    input:
        scores=expand(rules.score.output.scores, dataset=CONFIG["datasets"]),
    output:
        TABLES,
    log:
        f"{RUN}/logs/tables.log",
    benchmark:
        f"{RUN}/benchmarks/tables.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder=folder,
        development=development_flags(),
        code=fingerprint("bove.cli.tables"),
    shell:
        "bove tables --scores {input.scores:q} {params.development} --output {params.folder:q} --log {log:q}"
