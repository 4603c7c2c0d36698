# Figures that look inside a run, and pages that show its tables in the report.
COMPARED = {
    "similarity": ("results", "Similarity: values and intervals"),
    "entailment": ("results", "Entailment: values and intervals"),
    "similarity-differences": ("differences", "Similarity", "differences"),
    "entailment-differences": ("differences", "Entailment", "differences"),
}
FIGURES = [
    *(file for name in COMPARED for file in figure_files(name)),
    *(file for name in CONFIG["datasets"] for file in figure_files(f"scores-{name}")),
    *(file for name in looked_into() for file in figure_files(f"tokens-{name}")),
    *(
        file
        for name in ("iterations", "relations")
        for file in figure_files(name)
        if "bove" in CONFIG["systems"]
    ),
]
OVERVIEW = [
    f"{RUN}/report/{name}.md" for name in ("data", "parser") if name == "data" or PARSED
]
PAGES = {
    f"{RUN}/report/{os.path.splitext(os.path.basename(path))[0]}.html": where
    for path, where in markdown_pages().items()
}


rule overview:
    input:
        unpack(overview_inputs),
    output:
        OVERVIEW,
    log:
        f"{RUN}/logs/overview.log",
    benchmark:
        f"{RUN}/benchmarks/overview.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        files=overview_flags,
        folder=folder,
        code=code_of("overview"),
    shell:
        "bove overview {params.files} --output {params.folder:q} --log {log:q}"


rule pages:
    input:
        markdown=list(markdown_pages()),
    output:
        [reported(path, *where) for path, where in PAGES.items()],
    log:
        f"{RUN}/logs/pages.log",
    benchmark:
        f"{RUN}/benchmarks/pages.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(500),
        runtime=needs(10),
    params:
        folder=folder,
        code=code_of("pages"),
    shell:
        "bove pages --markdown {input.markdown:q} --output {params.folder:q} --log {log:q}"


rule figure_results:
    input:
        results=f"{RUN}/tables/scores.csv",
        differences=f"{RUN}/tables/differences.csv",
    output:
        [
            reported(f"{RUN}/figures/{name}.svg", *where)
            for name, where in COMPARED.items()
        ],
        [f"{RUN}/figures/{name}.png" for name in COMPARED],
    log:
        f"{RUN}/logs/figures/results.log",
    benchmark:
        f"{RUN}/benchmarks/figures/results.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        names=lambda wildcards: dataset_names(),
        confidence=CONFIG["statistics"]["confidence"],
        development=development_flags(),
        folder=folder,
        code=code_of("figures results"),
    shell:
        "bove figures results --results {input.results:q} --differences {input.differences:q}"
        " --confidence {params.confidence} {params.names} {params.development}"
        " --output {params.folder:q} --log {log:q}"


rule figure_scores:
    input:
        scores=expand(f"{RUN}/scores/{{dataset}}.parquet", dataset=CONFIG["datasets"]),
    output:
        [
            reported(
                f"{RUN}/figures/scores-{name}.svg",
                "inside",
                f"Scores by gold: {label_of(name)}",
                "scores",
            )
            for name in CONFIG["datasets"]
        ],
        expand(f"{RUN}/figures/scores-{{dataset}}.png", dataset=CONFIG["datasets"]),
    log:
        f"{RUN}/logs/figures/scores.log",
    benchmark:
        f"{RUN}/benchmarks/figures/scores.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        folder=folder,
        code=code_of("figures scores"),
    shell:
        "bove figures scores --scores {input.scores:q} --output {params.folder:q} --log {log:q}"


rule figure_tokens:
    input:
        unpack(token_inputs),
    output:
        reported(
            f"{RUN}/figures/tokens-{{dataset}}.svg",
            "inside",
            lambda wildcards: f"Token vectors: {label_of(wildcards.dataset)}",
            "tokens",
        ),
        f"{RUN}/figures/tokens-{{dataset}}.png",
    log:
        f"{RUN}/logs/figures/tokens-{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/figures/tokens-{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(2000),
        runtime=needs(10),
    params:
        options=token_flags,
        folder=folder,
        code=code_of("figures tokens"),
    shell:
        "bove figures tokens {params.options} --output {params.folder:q} --log {log:q}"


if "bove" in CONFIG["systems"]:

    rule figure_iterations:
        input:
            [iteration_file(name) for name in CONFIG["datasets"]],
        output:
            reported(
                f"{RUN}/figures/iterations.svg", "inside", "Iterations of inference"
            ),
            f"{RUN}/figures/iterations.png",
        log:
            f"{RUN}/logs/figures/iterations.log",
        benchmark:
            f"{RUN}/benchmarks/figures/iterations.tsv"
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(1000),
            runtime=needs(10),
        params:
            reports=lambda wildcards: iteration_flags(),
            options=flags(CONFIG["inference"], "iterations", "tolerance"),
            folder=folder,
            code=code_of("figures iterations"),
        shell:
            "bove figures iterations {params.reports} {params.options} --output {params.folder:q} --log {log:q}"

    rule figure_relations:
        input:
            model=f"{RUN}/{HOMES.folder('model', '')}model/model.safetensors",
        output:
            reported(
                f"{RUN}/figures/relations.svg", "inside", "Relations: singular values"
            ),
            multiext(f"{RUN}/figures/relations", ".png", ".csv"),
        log:
            f"{RUN}/logs/figures/relations.log",
        benchmark:
            f"{RUN}/benchmarks/figures/relations.tsv"
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(2000),
            runtime=needs(10),
        params:
            folder=folder,
            code=code_of("figures relations"),
        shell:
            "bove figures relations --model {input.model:q} --output {params.folder:q} --log {log:q}"
