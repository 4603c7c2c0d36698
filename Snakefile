# The workflow is in workflow/Snakefile; this file lets `snakemake` find it from the project's own folder.
include: "workflow/Snakefile"


rule default:
    """Make all that workflow/Snakefile asks for."""
    default_target: True
    input:
        rules.all.input,
