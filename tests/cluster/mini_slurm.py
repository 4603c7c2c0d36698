"""A Slurm cluster of several nodes on one machine, for as long as a test lasts, without any set-up."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo", "scancel", "scontrol")
PATIENCE = 60  # seconds until all nodes are ready
# What to give to Snakemake for it.
FLAGS = (
    "--workflow-profile=profiles/slurm",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=1",
    "--seconds-between-status-checks=1",
    "--slurm-keep-successful-logs",
    "--default-resources=slurm_partition=main",
)


def missing() -> list[str]:
    """Which of Slurm's programs are not installed."""
    return [name for name in PROGRAMS if _find(name) is None]


def _find(name: str) -> str | None:
    """Where a program is; daemons often lie where only an administrator's shell looks."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/sbin:/usr/sbin:/sbin")


class MiniSlurm:
    """Context manager: a controller and some nodes, all on this machine, without accounting.

    Args:
        folder: for its files; made if it is not there.
        nodes, cores: how many nodes, and how many cores each says it has.

    Attributes:
        environment: what Slurm's commands, and programs that call them, need to find it.
    """

    def __init__(self, folder: Path, nodes: int = 2, cores: int = 1) -> None:
        self.folder, self.names = folder, [f"node{number}" for number in range(1, nodes + 1)]
        self._cores, self._daemons = cores, []
        commands = folder / "bin"
        self.environment = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{commands}:{os.environ['PATH']}",
        }

    def __enter__(self) -> "MiniSlurm":
        for part in ("state", "spool", "bin", *(f"tmp/{name}" for name in self.names)):
            (self.folder / part).mkdir(parents=True)
        (self.folder / "slurm.conf").write_text(self._configuration(), encoding="utf-8")
        self._wrap_srun()
        try:
            self._start("slurmctld", "-D", "-i")
            for name in self.names:
                self._start("slurmd", "-D", "-N", name, log=name)
            self._wait()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *error) -> None:
        self.run("scancel", "--user", getpass.getuser())
        self._stop()

    def run(self, *command: str) -> str:
        """What a command of Slurm says."""
        done = subprocess.run(
            [_find(command[0]), *command[1:]],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout

    def _configuration(self) -> str:
        host, user = socket.gethostname().partition(".")[0], getpass.getuser()
        ports = _free_ports(len(self.names) + 2)
        lines = [
            "ClusterName=mini",
            f"SlurmctldHost={host}(127.0.0.1)",
            *(f"{role}User={user}" for role in ("Slurm", "Slurmd")),
            # both have no keys, which is good enough where every process is one user's own
            "AuthType=auth/none",
            "CredType=cred/none",
            f"SlurmctldPort={ports[0]}",
            f"SlurmdPort={ports[1]}",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid",
            f"SlurmdPidFile={self.folder}/%n.pid",
            f"StateSaveLocation={self.folder}/state",
            f"SlurmdSpoolDir={self.folder}/spool/%n",
            # PMIx has a folder in it for each job, so nodes cannot share one
            f"TmpFS={self.folder}/tmp/%n",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "SwitchType=switch/none",
            "MpiDefault=none",
            "AccountingStorageType=accounting_storage/none",
            # without control groups, memory is looked at once a second, and what takes too much is killed
            "JobAcctGatherType=jobacct_gather/linux",
            "JobAcctGatherFrequency=task=1",
            "JobAcctGatherParams=OverMemoryKill",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core_Memory",
            "SchedulerParameters=sched_interval=1,batch_sched_delay=0",
            "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
            "PropagateResourceLimits=NONE",
            "ReturnToService=2",
            # finished jobs can be asked about for a day; nothing else remembers them
            "MinJobAge=86400",
            # nodes have what they say they have
            "SlurmdParameters=config_overrides",
        ]
        lines += [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self._cores}"
            " RealMemory=64000"
            for name, port in zip(self.names, ports[2:], strict=True)
        ]
        lines += ["PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]
        return "\n".join(lines) + "\n"

    def _wrap_srun(self) -> None:
        """Tell srun where the configuration is: in a job, Snakemake takes that out of the environment."""
        wrapper = self.folder / "bin" / "srun"
        text = f'#!/bin/sh\nSLURM_CONF="{self.folder}/slurm.conf" exec "{_find("srun")}" "$@"\n'
        wrapper.write_text(text, encoding="utf-8")
        wrapper.chmod(0o755)

    def _start(self, program: str, *arguments: str, log: str = "controller") -> None:
        with open(self.folder / f"{log}.log", "wb") as stream:
            self._daemons.append(
                subprocess.Popen(
                    [_find(program), *arguments], env=self.environment, stdout=stream, stderr=stream
                )
            )

    def _wait(self) -> None:
        """Wait until every node takes jobs."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ready = self.run("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N")
            if set(ready.split()) == set(self.names):
                return
            if any(daemon.poll() is not None for daemon in self._daemons):
                break
            time.sleep(0.2)
        logs = (path.read_text(encoding="utf-8", errors="replace") for path in self.folder.glob("*.log"))
        raise RuntimeError("the cluster does not start:\n" + "\n".join(text[-2000:] for text in logs))

    def _stop(self) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; all are held until the last is found, so that none comes twice."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
