# The models: one of the two trainers writes each. With `select`, the run's own is the best candidate's, and with
# `seeds` too, that one's settings are trained again.
MODEL_FILES = ("model.safetensors", "log.csv", "times.csv")


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
            mem_mb=needs(2000 * CONFIG["mpi"]["processes"], 100, "graphs"),
            runtime=needs(120, 10, "graphs"),
            mpi=MPI_LAUNCHER,
            tasks=CONFIG["mpi"]["processes"],
        params:
            inputs=input_flags,
            model=model_flags,
            options=lambda wildcards: flags(settings(wildcards, "model")["als"]),
            seed=lambda wildcards: settings(wildcards, "seed"),
            code=code_of("train-als"),
            launcher=launched,
        shell:
            "{params.launcher}bove train-als {params.inputs} {params.model} {params.options} --seed {params.seed}"
            " --threads {threads} --mpi {resources.tasks}"
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
            mem_mb=needs(2000, 100, "graphs"),
            runtime=needs(240, 15, "graphs"),
        params:
            inputs=input_flags,
            model=model_flags,
            options=lambda wildcards: flags(settings(wildcards, "model")["sgd"]),
            seed=lambda wildcards: settings(wildcards, "seed"),
            code=code_of("train-sgd"),
        shell:
            "bove train-sgd {params.inputs} {params.model} {params.options} --seed {params.seed} --threads {threads}"
            " --output {output.model:q} --training-log {output.losses:q} --times {output.times:q} --log {log:q}"


if of_kind("select"):

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
            mem_mb=needs(2000),
            runtime=needs(20),
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
            output=lambda wildcards, output: os.path.dirname(output.choice[0]),
            model=lambda wildcards, output: os.path.dirname(output.model[0]),
            code=code_of("select"),
        shell:
            "bove select {params.candidates} --summary {params.summary} --output {params.output:q}"
            " --model {params.model:q} --log {log:q}"

    if of_kind("seeds"):

        rule train_again:
            input:
                unpack(training_inputs),
                model=f"{RUN}/model/model.safetensors",
            output:
                model=f"{RUN}/{{variant}}model/model.safetensors",
                losses=f"{RUN}/{{variant}}model/log.csv",
                times=f"{RUN}/{{variant}}model/times.csv",
            log:
                f"{RUN}/logs/{{variant}}train.log",
            benchmark:
                f"{RUN}/benchmarks/{{variant}}train.tsv"
            wildcard_constraints:
                variant=one_of(variant.folder for variant in of_kind("seeds")),
            conda:
                ENVIRONMENT
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
                code=code_of("train-again"),
                launcher=launched,
            shell:
                "{params.launcher}bove train-again {params.inputs} {params.options} --seed {params.seed}"
                " --threads {threads} --mpi {resources.tasks}"
                " --output {output.model:q} --training-log {output.losses:q} --times {output.times:q} --log {log:q}"
