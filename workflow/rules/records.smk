# A job that another process has submitted, as to a cluster, keeps the record of its files itself.
#
# Snakemake's record says what a file was made from. The process that submits a job writes it, when the job has ended;
# but the job itself takes back the mark that its files are incomplete. So, if Snakemake is killed and its jobs go on,
# these files would be left with the record of an earlier run, and count as up to date with that one's settings.
from snakemake.persistence import PersistenceBase
from snakemake.settings.types import ExecMode


def recording(finished):
    """What Snakemake does with the record of a job that has ended, as done by the process that submits."""

    async def finish(persistence, job):
        settings = workflow.workflow_settings
        mode, settings.exec_mode = settings.exec_mode, ExecMode.DEFAULT
        try:
            await finished(persistence, job)
        finally:
            settings.exec_mode = mode

    return finish


if not workflow.is_main_process:
    PersistenceBase.finished = recording(PersistenceBase.finished)
