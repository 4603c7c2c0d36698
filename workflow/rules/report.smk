# What the report shows: pages of tables, and figures; then the record of the run, and all of its files.
import hashlib

import yaml

# The report sorts them by these names.
CATEGORIES = {
    "data": "1. Data",
    "parser": "2. Parser",
    "training": "3. Training",
    "results": "4. Results",
    "differences": "5. Differences",
    "ablations": "6. Ablations",
    "inside": "7. Looking inside",
}
LEARNT = "bove" in CONFIG["systems"]
ABLATIONS = files("tables/ablations", ".csv", ".md", ".svg", ".png") if of_kind("ablations") else []
TRAINING = files("training/training", ".csv", ".md", ".svg", ".png") if LEARNT else []
OVERVIEW = files("report/", "data.md", *(["parser.md"] if PARSED else []))
# Tables that become pages, with their category and what they are.
MARKDOWN = {
    "report/data.md": ("data", "Treebank and data sets"),
    "tables/contamination.md": ("data", "What data sets share"),
    **({"report/parser.md": ("parser", "Accuracy")} if PARSED else {}),
    **({"select/candidates.md": ("training", "Candidates")} if of_kind("select") else {}),
    **({"training/training.md": ("training", "L at the end")} if TRAINING else {}),
    "tables/summary.md": ("results", "Summary"),
    "tables/sts.md": ("results", "Similarity: table"),
    "tables/snli.md": ("results", "Entailment: table"),
    "tables/roles.md": ("results", "Roles: table"),
    **({"tables/seeds.md": ("results", "Several seeds")} if SEEDS else {}),
    **({"tables/ablations.md": ("ablations", "Table")} if ABLATIONS else {}),
}
PAGES = {f"{RUN}/report/{Path(path).stem}.html": shown for path, shown in MARKDOWN.items()}
COMPARED = {
    "similarity": ("results", "Similarity: values and intervals"),
    "entailment": ("results", "Entailment: values and intervals"),
    "roles": ("results", "Roles: values and intervals", "accuracy"),
    "similarity-differences": ("differences", "Similarity", "differences"),
    "entailment-differences": ("differences", "Entailment", "differences"),
    "roles-differences": ("differences", "Roles", "differences"),
}
FIRST_OF_TASK = {CONFIG["datasets"][name]["task"]: name for name in reversed(READ)}.values()
# The data sets of which pairs are drawn, and the systems, without properties-only, whose tokens hardly differ from words.
DRAWN = [name for name in CONFIG["datasets"] if name in (CONFIG["figures"]["pairs"] or FIRST_OF_TASK)]
DRAWN_SYSTEMS = [system for system in CONFIG["systems"] if system != "properties-only"] or CONFIG["systems"]
FIGURES = [
    file
    for name in (
        *COMPARED,
        *(f"scores-{name}" for name in CONFIG["datasets"]),
        *(f"tokens-{name}" for name in DRAWN),
        *(("iterations", "relations") if LEARNT else ()),
    )
    for file in files(f"figures/{name}", ".svg", ".png")
]

# Captions and the description of the workflow read the resolved configuration here.
config["run"] = CONFIG["run"]
config |= {key: CONFIG["inference"][key] for key in ("iterations", "tolerance")}
config |= CONFIG["statistics"]
config["summary"] = summary(CONFIG)
config["text"] = yaml.safe_dump(
    CONFIG, sort_keys=False, allow_unicode=True, default_flow_style=None, width=60
)


if ABLATIONS:

    rule ablations:
        """Hold the ablations against the run, in a table and a figure."""
        input:
            compared_scores("ablations"),
        output:
            with_figure(ABLATIONS, "ablations", "Figure"),
        resources:
            mem_mb=needs(2000),
        params:
            scores=named_flags(
                "scores",
                [
                    (CONFIG["run"], scores_of("")),
                    *((variant.name, scores_of(variant.folder)) for variant in of_kind("ablations")),
                ],
            ),
            base=shlex.quote(CONFIG["run"]),
            folder=folder,
            development=DEVELOPMENT,
        shell:
            "bove ablations {params.scores} --base {params.base} {params.development}"
            " --output {params.folder:q} --log {log:q}"


if TRAINING:

    rule training:
        """Show how L fell in training, in a table and a figure."""
        input:
            training_files(""),
            [training_files(variant.folder) for variant in of_kind("compare")],
        output:
            with_figure(TRAINING, "training", "L over time and by term"),
        params:
            runs=named_flags(
                "run",
                [
                    ("bove", training_files("")),
                    *((variant.name, training_files(variant.folder)) for variant in of_kind("compare")),
                ],
            ),
            folder=folder,
        shell:
            "bove training {params.runs} --output {params.folder:q} --log {log:q}"


rule overview:
    """Count treebank, vocabulary and data sets, and print the parser's accuracy."""
    input:
        unpack(overview_inputs),
    output:
        OVERVIEW,
    params:
        files=overview_flags,
        folder=folder,
    shell:
        "bove overview {params.files} --output {params.folder:q} --log {log:q}"


rule pages:
    """Turn the tables into pages of the report."""
    input:
        markdown=files("", *MARKDOWN),
    output:
        [reported(path, *shown) for path, shown in PAGES.items()],
    params:
        folder=folder,
    shell:
        "bove pages --markdown {input.markdown:q} --output {params.folder:q} --log {log:q}"


rule figure_results:
    """Draw the results and their differences, with intervals."""
    input:
        results=f"{RUN}/tables/scores.csv",
        differences=f"{RUN}/tables/differences.csv",
    output:
        [reported(f"{RUN}/figures/{name}.svg", *shown) for name, shown in COMPARED.items()],
        files("figures/", *(f"{name}.png" for name in COMPARED)),
    params:
        # a function, since Snakemake takes braces in other text for wildcards
        names=lambda wildcards: named_flags("name", [(name, [label_of(name)]) for name in CONFIG["datasets"]]),
        confidence=CONFIG["statistics"]["confidence"],
        development=DEVELOPMENT,
        folder=folder,
    shell:
        "bove figures results --results {input.results:q} --differences {input.differences:q}"
        " --confidence {params.confidence} {params.names} {params.development}"
        " --output {params.folder:q} --log {log:q}"


rule figure_scores:
    """Draw the scores of every data set by gold."""
    input:
        scores=scores_of(""),
    output:
        [
            reported(
                f"{RUN}/figures/scores-{name}.svg", "inside", f"Scores by gold: {label_of(name)}", "scores"
            )
            for name in CONFIG["datasets"]
        ],
        each_dataset("figures/scores-", ".png"),
    params:
        folder=folder,
    shell:
        "bove figures scores --scores {input.scores:q} --output {params.folder:q} --log {log:q}"


rule figure_tokens:
    """Draw the token vectors of a few pairs of a data set."""
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
    resources:
        mem_mb=needs(2000),
    params:
        options=token_flags,
        folder=folder,
    shell:
        "bove figures tokens {params.options} --output {params.folder:q} --log {log:q}"


if LEARNT:

    rule figure_iterations:
        """Draw how many iterations inference takes, by the length of sentences."""
        input:
            [bags_file("bove", "", name, "csv") for name in CONFIG["datasets"]],
        output:
            with_figure(files("figures/iterations", ".svg", ".png"), "inside", "Iterations of inference"),
        params:
            reports=lambda wildcards: named_flags(
                "report",
                [(label_of(name), [bags_file("bove", "", name, "csv")]) for name in CONFIG["datasets"]],
            ),
            options=flags(CONFIG["inference"], "iterations", "tolerance"),
            folder=folder,
        shell:
            "bove figures iterations {params.reports} {params.options} --output {params.folder:q} --log {log:q}"

    rule figure_relations:
        """Draw the singular values of the relations, and write them as a table."""
        input:
            model=f"{RUN}/{HOMES.folder('model', '')}model/model.safetensors",
        output:
            with_figure(
                files("figures/relations", ".svg", ".png", ".csv"), "inside", "Relations: singular values"
            ),
        resources:
            mem_mb=needs(2000),
        params:
            folder=folder,
        shell:
            "bove figures relations --model {input.model:q} --output {params.folder:q} --log {log:q}"


# What the record of a run has hashes of, besides its results.
RECORD = f"{RUN}/tables/run.json"


# Vectors from outside are not among the inputs, since their own file has the hash of what it was made from.
INPUTS = {key: file for key, file in read_files(VARIANTS[0]).items() if not key.startswith("vectors.")}
RECORDED = {
    "input": INPUTS,
    "vocabulary": recorded("vocabulary", "vocabulary.json", lambda variant: True),
    "vectors": recorded("vectors", "vectors.safetensors", needs_vectors),
    "model": recorded(
        "model", "model/model.safetensors", lambda variant: CONFIG["systems"] != ["word-vectors"]
    ),
}


rule provenance:
    """Record what the run was made from and with: configuration, versions, hashes, seeds and threads."""
    input:
        files=[list(found.values()) for found in RECORDED.values()],
        results=[TABLES, CONTAMINATION, SEEDS, ABLATIONS[:2]],
    output:
        record=RECORD,
    params:
        config=f"{RUN}/config.yaml",
        files=lambda wildcards: file_flags(
            {kind: [f"{name}={file}" for name, file in found.items()] for kind, found in RECORDED.items()}
        ),
        threads=lambda wildcards: " ".join(
            f"{rule.name}={rule.resources['_cores'].value}" for rule in workflow.rules if rule.shellcmd
        ),
        # the file above is no input, since no rule makes it; this is watched for changes in its place
        content=hashlib.sha256(json.dumps(CONFIG).encode()).hexdigest(),
    shell:
        "bove provenance --config {params.config:q} {params.files} --rule-threads {params.threads}"
        " --result {input.results:q} --output {output.record:q} --log {log:q}"


# Every file that lies between the sources and the tables.
#
# Snakemake makes such a file only for a job that must run. One that a failed job has left missing would stay so, and
# what was made from it before would count as up to date, although a setting has changed since: the failure is kept
# as if the job had run with the new one. So all of them are asked for.
EVERYTHING = sorted(
    {*parsed_files(), *OVERVIEW, *(file for each in VARIANTS for file in variant_files(each))}
)
