# From bags to the result tables.
TABLES = files(
    "tables/",
    *("scores.csv", "differences.csv", "summary.csv", "legend.md"),
    *(f"{name}.{ending}" for name in ("summary", "sts", "snli", "roles") for ending in ("md", "tex")),
)
CONTAMINATION = files("tables/contamination", ".csv", ".md")
SEEDS = files("tables/seeds", ".csv", ".md") if of_kind("seeds") else []
# What is said below the result tables.
NOTES = files("notes/", "contamination.json", *(["seeds.json"] if SEEDS else []))


rule score:
    """Score the pairs of a data set by the bags of every system."""
    input:
        bags=lambda wildcards: list(bags_of(wildcards).values()),
        pairs=f"{RUN}/pairs/{{dataset}}.jsonl",
    output:
        scores=f"{RUN}/{{variant}}scores/{{dataset}}.parquet",
    resources:
        mem_mb=needs(1500, 3, "bags"),
        runtime=needs(30, 0.1, "bags"),
    params:
        bags=lambda wildcards: shlex.join(f"{name}={file}" for name, file in bags_of(wildcards).items()),
        weights=lambda wildcards: flags(settings(wildcards, "scoring"), "weight", "power"),
    shell:
        "bove score --pairs {input.pairs:q} --bags {params.bags} {params.weights} --output {output.scores:q}"
        " --log {log:q}"


rule tables:
    """Write the result tables: metrics, intervals and differences between systems."""
    input:
        scores=scores_of(""),
        notes=NOTES,
    output:
        TABLES,
    params:
        folder=folder,
        development=DEVELOPMENT,
        statistics=flags(CONFIG["statistics"]),
        seed=CONFIG["seed"],
    shell:
        "bove tables --scores {input.scores:q} {params.statistics} --seed {params.seed} {params.development}"
        " --notes {input.notes:q} --output {params.folder:q} --log {log:q}"


rule contamination:
    """Find pairs of development sets that are in other sets too, and treebank sentences among the pairs."""
    input:
        pairs=each_dataset("pairs/", ".jsonl"),
        treebank=located(CONFIG["treebank"]["train"]),
    output:
        tables=CONTAMINATION,
        notes=NOTES[0],
    params:
        treebank=TREEBANK,
        development=DEVELOPMENT,
        folder=lambda wildcards, output: os.path.dirname(output.tables[0]),
    shell:
        "bove contamination --pairs {input.pairs:q} {params.development} --treebank {input.treebank:q}"
        " {params.treebank} --output {params.folder:q} --table-notes {output.notes:q} --log {log:q}"


if SEEDS:

    rule seeds:
        """Show mean and spread of the results over several seeds of the model."""
        input:
            compared_scores("seeds"),
        output:
            tables=SEEDS,
            notes=NOTES[1],
        params:
            scores=named_flags(
                "scores",
                [
                    (str(variant.config["seed"]), scores_of(variant.folder))
                    for variant in sorted(
                        of_kind("") + of_kind("seeds"), key=lambda each: each.config["seed"]
                    )
                ],
            ),
            base=CONFIG["seed"],
            folder=lambda wildcards, output: os.path.dirname(output.tables[0]),
            development=DEVELOPMENT,
        shell:
            "bove seeds {params.scores} --base {params.base} {params.development} --output {params.folder:q}"
            " --table-notes {output.notes:q} --log {log:q}"
