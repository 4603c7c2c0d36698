# The record of a run: it is made again when the configuration, a file that is read, or a result has changed.
import hashlib

RECORD = f"{RUN}/tables/run.json"
RECORDED = {
    "input": read_files(PARSED),
    "vocabulary": recorded("vocabulary", "vocabulary.json", lambda variant: True),
    "vectors": recorded(
        "vectors",
        "vectors.safetensors",
        lambda variant: variant.config["model"]["pretrained"]
        or (not variant.kind and "word-vectors" in CONFIG["systems"]),
    ),
    "model": recorded(
        "model",
        "model/model.safetensors",
        lambda variant: {"bove", "properties-only"} & set(CONFIG["systems"]),
    ),
}


rule provenance:
    input:
        files=[list(files.values()) for files in RECORDED.values()],
        results=[
            TABLES,
            CONTAMINATION,
            SEEDS if of_kind("seeds") else [],
            ABLATIONS[:2] if of_kind("ablations") else [],
        ],
    output:
        record=RECORD,
    log:
        f"{RUN}/logs/provenance.log",
    benchmark:
        f"{RUN}/benchmarks/provenance.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=needs(1000),
        runtime=needs(10),
    params:
        config=f"{RUN}/config.yaml",
        files=lambda wildcards: " ".join(
            named_flags(f"--{kind}", files) for kind, files in RECORDED.items()
        ),
        threads=lambda wildcards: " ".join(
            f"{rule.name}={rule.resources['_cores'].value}"
            for rule in workflow.rules
            if rule.shellcmd
        ),
        # the file above is no input, since no rule makes it; this is watched for changes in its place
        content=hashlib.sha256(json.dumps(CONFIG).encode()).hexdigest(),
        code=code_of("provenance"),
    shell:
        "bove provenance --config {params.config:q} {params.files} --rule-threads {params.threads}"
        " --result {input.results:q} --output {output.record:q} --log {log:q}"
