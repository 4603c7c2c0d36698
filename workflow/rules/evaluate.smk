# From bags to the result tables.
TABLES = [f"{RUN}/tables/{name}.csv" for name in ("scores", "differences")]
TABLES += [
    f"{RUN}/tables/{name}.{ending}"
    for name in ("sts", "snli")
    for ending in ("md", "tex")
]
TRAINING = [
    f"{RUN}/training/training.{ending}" for ending in ("csv", "md", "svg", "png")
]
ABLATIONS = [
    f"{RUN}/tables/ablations.{ending}" for ending in ("csv", "md", "svg", "png")
]

SEEDS = [f"{RUN}/tables/seeds.{ending}" for ending in ("csv", "md")]
CONTAMINATION = [f"{RUN}/tables/contamination.{ending}" for ending in ("csv", "md")]
CONTAMINATION_NOTES = f"{RUN}/notes/contamination.json"
SEED_NOTES = f"{RUN}/notes/seeds.json"


rule score:
    input:
        bags=lambda wildcards: list(bags_of(wildcards).values()),
        pairs=f"{RUN}/pairs/{{dataset}}.jsonl",
    output:
        scores=f"{RUN}/{{variant}}scores/{{dataset}}.parquet",
    log:
        f"{RUN}/logs/{{variant}}score/{{dataset}}.log",
    benchmark:
        f"{RUN}/benchmarks/{{variant}}score/{{dataset}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1500, 3, "bags"),
        runtime=needs(30, 0.1, "bags"),
    params:
        bags=lambda wildcards: shlex.join(
            f"{name}={file}" for name, file in bags_of(wildcards).items()
        ),
        code=code_of("score"),
    shell:
        "bove score --pairs {input.pairs:q} --bags {params.bags} --output {output.scores:q} --log {log:q}"


rule tables:
    input:
        scores=expand(f"{RUN}/scores/{{dataset}}.parquet", dataset=CONFIG["datasets"]),
        notes=[CONTAMINATION_NOTES, *([SEED_NOTES] if of_kind("seeds") else [])],
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
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        folder=folder,
        development=development_flags(),
        statistics=flags(CONFIG["statistics"], "resamples", "confidence"),
        seed=CONFIG["seed"],
        code=code_of("tables"),
    shell:
        "bove tables --scores {input.scores:q} {params.statistics} --seed {params.seed} {params.development}"
        " --notes {input.notes:q} --output {params.folder:q} --log {log:q}"


rule contamination:
    input:
        pairs=expand(f"{RUN}/pairs/{{dataset}}.jsonl", dataset=CONFIG["datasets"]),
        treebank=located(CONFIG["treebank"]["train"]),
    output:
        tables=CONTAMINATION,
        notes=CONTAMINATION_NOTES,
    log:
        f"{RUN}/logs/contamination.log",
    benchmark:
        f"{RUN}/benchmarks/contamination.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        columns=CONFIG["treebank"]["columns"],
        encoding=CONFIG["treebank"]["encoding"],
        development=development_flags(),
        folder=lambda wildcards, output: os.path.dirname(output.tables[0]),
        code=code_of("contamination"),
    shell:
        "bove contamination --pairs {input.pairs:q} {params.development} --treebank {input.treebank:q}"
        " --columns {params.columns} --encoding {params.encoding:q} --output {params.folder:q}"
        " --table-notes {output.notes:q} --log {log:q}"


if of_kind("ablations"):

    rule ablations:
        input:
            scores_of(""),
            [scores_of(variant.folder) for variant in of_kind("ablations")],
        output:
            [
                reported(path, "ablations", "Figure") if path.endswith("svg") else path
                for path in ABLATIONS
            ],
        log:
            f"{RUN}/logs/ablations.log",
        benchmark:
            f"{RUN}/benchmarks/ablations.tsv"
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(2000),
            runtime=needs(10),
        params:
            scores=" ".join(
                shlex.join(["--scores", name, *scores_of(folder)])
                for name, folder in [
                    (CONFIG["run"], ""),
                    *(
                        (variant.name, variant.folder)
                        for variant in of_kind("ablations")
                    ),
                ]
            ),
            base=shlex.quote(CONFIG["run"]),
            folder=folder,
            development=development_flags(),
            code=code_of("ablations"),
        shell:
            "bove ablations {params.scores} --base {params.base} {params.development}"
            " --output {params.folder:q} --log {log:q}"


if of_kind("seeds"):

    rule seeds:
        input:
            scores_of(""),
            [scores_of(variant.folder) for variant in of_kind("seeds")],
        output:
            tables=SEEDS,
            notes=SEED_NOTES,
        log:
            f"{RUN}/logs/seeds.log",
        benchmark:
            f"{RUN}/benchmarks/seeds.tsv"
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=needs(1000),
            runtime=needs(10),
        params:
            scores=" ".join(
                shlex.join(["--scores", str(seed), *scores_of(folder)])
                for seed, folder in sorted(
                    (variant.config["seed"], variant.folder)
                    for variant in VARIANTS
                    if variant.kind in ("", "seeds")
                )
            ),
            base=CONFIG["seed"],
            folder=f"{RUN}/tables",
            development=development_flags(),
            code=code_of("seeds"),
        shell:
            "bove seeds {params.scores} --base {params.base} {params.development} --output {params.folder:q}"
            " --table-notes {output.notes:q} --log {log:q}"


rule training:
    input:
        training_files(""),
        [training_files(variant.folder) for variant in of_kind("compare")],
    output:
        [
            (
                reported(path, "training", "L over time and by term")
                if path.endswith("svg")
                else path
            )
            for path in TRAINING
        ],
    log:
        f"{RUN}/logs/training.log",
    benchmark:
        f"{RUN}/benchmarks/training.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        runs=" ".join(
            shlex.join(["--run", name, *training_files(folder)])
            for name, folder in [
                ("bove", ""),
                *((variant.name, variant.folder) for variant in of_kind("compare")),
            ]
        ),
        folder=folder,
        code=code_of("training"),
    shell:
        "bove training {params.runs} --output {params.folder:q} --log {log:q}"
