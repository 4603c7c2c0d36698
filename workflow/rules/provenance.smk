# The record of a run: it is made again when the configuration, a file that is read, or a result has changed.
import hashlib

RECORD = f"{RUN}/tables/run.json"


def read_files():
    """Every file that some job reads from outside, by its key; vectors are left out, for they know their hash."""
    unread = ("vectors.",) if PARSED else ("vectors.", "parser.")
    if not (PARSED and PARSER["source"] == "train"):
        unread += ("treebank.dev",)
    return {
        key: located(value)
        for key, value in sources.references(CONFIG)
        if not key.startswith(unread)
    }


def recorded(stage, file, wanted):
    """A file of a stage for each variant that has one of its own, by the variant's name."""
    found = {}
    for variant in VARIANTS:
        home = HOMES.folder(stage, variant.folder)
        if variant.kind != "select" and home == variant.folder and wanted(variant):
            found[variant.folder.rstrip("/") or "run"] = f"{RUN}/{home}{file}"
    return found


def named_flags(flag, files):
    """Command-line flags of files by their names."""
    words = [f"{name}={file}" for name, file in files.items()]
    return shlex.join([flag, *words]) if words else ""


RECORDED = {
    "input": read_files(),
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
        mem_mb=1000,
        runtime=10,
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
        code=fingerprint("bove.cli.provenance"),
    shell:
        "bove provenance --config {params.config:q} {params.files} --rule-threads {params.threads}"
        " --result {input.results:q} --output {output.record:q} --log {log:q}"
