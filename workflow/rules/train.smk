# The models: one of the two trainers writes each; with `select`, the run's own is the best candidate's.
MODEL_FILES = ("model.safetensors", "log.csv", "times.csv")


def training_inputs(wildcards):
    """Graphs and vocabulary of a variant, and its vectors unless it goes without."""
    files = {
        "graphs": made("vocabulary", "graphs/train.safetensors")(wildcards),
        "vocabulary": made("vocabulary", "vocabulary.json")(wildcards),
    }
    if settings(wildcards, "model")["pretrained"]:
        files["vectors"] = made("vectors", "vectors.safetensors")(wildcards)
    return files


def input_flags(wildcards, input):
    """Command-line flags that name them."""
    return shlex.join(
        word for name in input.keys() for word in (f"--{name}", input[name])
    )


def model_flags(wildcards):
    """Command-line flags of both trainers."""
    model = settings(wildcards, "model")
    common = flags(model, "rank", "alpha", "lambda_P", "lambda_R", "lambda_E", "dtype")
    return f"{common} --p-penalty {model['penalty_P']} --r-penalty {model['penalty_R']}"


def trained_by(trainer):
    """The variants that have a model of their own from such a trainer."""
    chosen = [""] if of_kind("select") else []
    return [
        name
        for name in HOMES.own("model")
        if SETTINGS[name]["model"]["trainer"] == trainer and name not in chosen
    ]


if trained_by("als"):

    rule train_als:
        input:
            unpack(training_inputs),
        output:
            model=f"{RUN}/{{variant}}model/model.safetensors",
            losses=f"{RUN}/{{variant}}model/log.csv",
            times=f"{RUN}/{{variant}}model/times.csv",
        log:
            f"{RUN}/logs/{{variant}}train.log",
        benchmark:
            f"{RUN}/benchmarks/{{variant}}train.tsv"
        wildcard_constraints:
            variant=one_of(trained_by("als")),
        conda:
            ENVIRONMENT
        threads: CONFIG["threads"]
        resources:
            mem_mb=8000,
            runtime=720,
        params:
            inputs=input_flags,
            model=model_flags,
            options=lambda wildcards: flags(
                settings(wildcards, "model")["als"],
                "max_rounds",
                "tolerance",
                "restart_every",
                "restart_iterations",
                "e_step",
                "e_tolerance",
                "e_energy",
                "r_tolerance",
                "r_iterations",
                "batch_tokens",
                "checkpoint_every",
            ),
            seed=CONFIG["seed"],
            code=fingerprint("bove.cli.train_als"),
        shell:
            "bove train-als {params.inputs} {params.model} {params.options} --seed {params.seed} --threads {threads}"
            " --output {output.model:q} --training-log {output.losses:q} --times {output.times:q} --log {log:q}"


if trained_by("sgd"):

    rule train_sgd:
        input:
            unpack(training_inputs),
        output:
            model=f"{RUN}/{{variant}}model/model.safetensors",
            losses=f"{RUN}/{{variant}}model/log.csv",
            times=f"{RUN}/{{variant}}model/times.csv",
        log:
            f"{RUN}/logs/{{variant}}train.log",
        benchmark:
            f"{RUN}/benchmarks/{{variant}}train.tsv"
        wildcard_constraints:
            variant=one_of(trained_by("sgd")),
        conda:
            ENVIRONMENT
        threads: CONFIG["threads"]
        resources:
            mem_mb=8000,
            runtime=720,
        params:
            inputs=input_flags,
            model=model_flags,
            options=lambda wildcards: flags(
                settings(wildcards, "model")["sgd"],
                "learning_rate",
                "epochs",
                "batch_sentences",
                "negatives",
                "negative_weight",
                "patience",
                "held_out",
                "device",
            ),
            seed=CONFIG["seed"],
            code=fingerprint("bove.cli.train_sgd"),
        shell:
            "bove train-sgd {params.inputs} {params.model} {params.options} --seed {params.seed} --threads {threads}"
            " --output {output.model:q} --training-log {output.losses:q} --times {output.times:q} --log {log:q}"


if of_kind("select"):
    CHOSEN_ON = development(CONFIG)

    def candidate_files(candidate):
        """Folder of a candidate's model, and its scores."""
        model = HOMES.folder("model", candidate.folder)
        scores = HOMES.folder("score", candidate.folder)
        return [
            f"{RUN}/{model}model",
            *(f"{RUN}/{scores}scores/{dataset}.parquet" for dataset in CHOSEN_ON),
        ]

    rule select:
        input:
            models=[
                f"{candidate_files(candidate)[0]}/{file}"
                for candidate in of_kind("select")
                for file in MODEL_FILES
            ],
            scores=[
                file
                for candidate in of_kind("select")
                for file in candidate_files(candidate)[1:]
            ],
        output:
            choice=[
                f"{RUN}/select/{file}"
                for file in (
                    "choice.json",
                    "chosen.yaml",
                    "candidates.csv",
                    "candidates.md",
                )
            ],
            model=[f"{RUN}/model/{file}" for file in MODEL_FILES],
        log:
            f"{RUN}/logs/select.log",
        benchmark:
            f"{RUN}/benchmarks/select.tsv"
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=2000,
            runtime=20,
        params:
            candidates=" ".join(
                shlex.join(
                    [
                        "--candidate",
                        candidate.name,
                        json.dumps(candidate.changes),
                        *candidate_files(candidate),
                    ]
                )
                for candidate in of_kind("select")
            ),
            summary=CONFIG["select"]["summary"],
            output=f"{RUN}/select",
            model=f"{RUN}/model",
            code=fingerprint("bove.cli.select"),
        shell:
            "bove select {params.candidates} --summary {params.summary} --output {params.output:q}"
            " --model {params.model:q} --log {log:q}"
