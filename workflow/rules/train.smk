# The models: one of the two trainers writes each. With `select`, the run's own is the best candidate's, and with
# `seeds` too, that one's settings are trained again.
MODEL_FILES = {"model": "model.safetensors", "losses": "log.csv", "times": "times.csv"}
TRAINED = {name: f"{RUN}/{{variant}}model/{file}" for name, file in MODEL_FILES.items()}
WRITTEN = "--output {output.model:q} --training-log {output.losses:q} --times {output.times:q} --log {log:q}"


if trained_by("als"):

    rule train_als:
        """Train a model by alternating least squares."""
        input:
            unpack(training_inputs),
        output:
            **TRAINED,
        wildcard_constraints:
            variant=one_of(trained_by("als")),
        threads: CONFIG["threads"]
        resources:
            mem_mb=needs(2000 * CONFIG["mpi"]["processes"], 100, "graphs"),
            runtime=needs(120, 10, "graphs"),
            mpi=MPI_LAUNCHER,
            tasks=CONFIG["mpi"]["processes"],
        params:
            inputs=input_flags,
            model=model_flags,
            options=lambda wildcards: flags(settings(wildcards, "model")["als"]),
            seed=lambda wildcards: settings(wildcards, "seed"),
            launcher=launched,
        shell:
            "{params.launcher}bove train-als {params.inputs} {params.model} {params.options} --seed {params.seed}"
            f" --threads {{threads}} --mpi {{resources.tasks}} {WRITTEN}"


if trained_by("sgd"):

    rule train_sgd:
        """Train a model by stochastic gradient descent."""
        input:
            unpack(training_inputs),
        output:
            **TRAINED,
        wildcard_constraints:
            variant=one_of(trained_by("sgd")),
        threads: CONFIG["threads"]
        resources:
            mem_mb=needs(2000, 100, "graphs"),
            runtime=needs(240, 15, "graphs"),
        params:
            inputs=input_flags,
            model=model_flags,
            options=lambda wildcards: flags(settings(wildcards, "model")["sgd"]),
            seed=lambda wildcards: settings(wildcards, "seed"),
        shell:
            "bove train-sgd {params.inputs} {params.model} {params.options} --seed {params.seed}"
            f" --threads {{threads}} {WRITTEN}"


if of_kind("select"):

    rule select:
        """Choose the candidate with the best scores on the development sets."""
        input:
            models=[
                f"{candidate_files(candidate)[0]}/{file}"
                for candidate in of_kind("select")
                for file in MODEL_FILES.values()
            ],
            scores=[file for candidate in of_kind("select") for file in candidate_files(candidate)[1:]],
        output:
            choice=files("select/", "choice.json", "chosen.yaml", "candidates.csv", "candidates.md"),
            model=files("model/", *MODEL_FILES.values()),
        resources:
            mem_mb=needs(2000),
            runtime=needs(20),
        params:
            candidates=" ".join(
                file_flags({"candidate": [each.name, json.dumps(each.changes), *candidate_files(each)]})
                for each in of_kind("select")
            ),
            summary=CONFIG["select"]["summary"],
            output=lambda wildcards, output: os.path.dirname(output.choice[0]),
            model=lambda wildcards, output: os.path.dirname(output.model[0]),
        shell:
            "bove select {params.candidates} --summary {params.summary} --output {params.output:q}"
            " --model {params.model:q} --log {log:q}"

    if of_kind("seeds"):

        rule train_again:
            """Train the chosen settings with another seed."""
            input:
                unpack(training_inputs),
                model=f"{RUN}/model/model.safetensors",
            output:
                **TRAINED,
            wildcard_constraints:
                variant=one_of(variant.folder for variant in of_kind("seeds")),
            threads: CONFIG["threads"]
            resources:
                mem_mb=needs(2000 * CONFIG["mpi"]["processes"], 100, "graphs"),
                runtime=needs(240, 15, "graphs"),
                mpi=MPI_LAUNCHER,
                tasks=CONFIG["mpi"]["processes"],
            params:
                inputs=input_flags,
                options=flags(CONFIG["model"]["als"], "checkpoint_every"),
                seed=lambda wildcards: settings(wildcards, "seed"),
                launcher=launched,
            shell:
                "{params.launcher}bove train-again {params.inputs} {params.options} --seed {params.seed}"
                f" --threads {{threads}} --mpi {{resources.tasks}} {WRITTEN}"
