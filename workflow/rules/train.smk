# The model: one of the two trainers writes it.
MODEL = CONFIG["model"]
COMMON = flags(MODEL, "rank", "alpha", "lambda_P", "lambda_R", "lambda_E", "dtype")
PENALTIES = f"--p-penalty {MODEL['penalty_P']} --r-penalty {MODEL['penalty_R']}"

if MODEL["trainer"] == "als":

    rule train_als:
        input:
            graphs=rules.encode_treebank.output.graphs,
            vocabulary=rules.vocabulary.output.vocabulary,
            vectors=f"{RUN}/vectors.safetensors",
        output:
            model=f"{RUN}/model/model.safetensors",
            losses=f"{RUN}/model/log.csv",
        log:
            f"{RUN}/logs/train.log",
        benchmark:
            f"{RUN}/benchmarks/train.tsv"
        conda:
            ENVIRONMENT
        threads: CONFIG["threads"]
        resources:
            mem_mb=8000,
            runtime=720,
        params:
            model=f"{COMMON} {PENALTIES}",
            options=flags(
                MODEL["als"],
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
            "bove train-als --graphs {input.graphs:q} --vocabulary {input.vocabulary:q} --vectors {input.vectors:q}"
            " {params.model} {params.options} --seed {params.seed} --threads {threads}"
            " --output {output.model:q} --training-log {output.losses:q} --log {log:q}"

else:

    rule train_sgd:
        input:
            graphs=rules.encode_treebank.output.graphs,
            vocabulary=rules.vocabulary.output.vocabulary,
            vectors=f"{RUN}/vectors.safetensors",
        output:
            model=f"{RUN}/model/model.safetensors",
            losses=f"{RUN}/model/log.csv",
        log:
            f"{RUN}/logs/train.log",
        benchmark:
            f"{RUN}/benchmarks/train.tsv"
        conda:
            ENVIRONMENT
        threads: CONFIG["threads"]
        resources:
            mem_mb=8000,
            runtime=720,
        params:
            model=COMMON,
            options=flags(
                MODEL["sgd"],
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
            "bove train-sgd --graphs {input.graphs:q} --vocabulary {input.vocabulary:q} --vectors {input.vectors:q}"
            " {params.model} {params.options} --seed {params.seed} --threads {threads}"
            " --output {output.model:q} --training-log {output.losses:q} --log {log:q}"
