"""A command that is stopped while it writes leaves nothing and says so in a line at most."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
ROWS, DIMENSIONS = 30_000, 100


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGTERM, 143, b""), (signal.SIGINT, 130, b"bove vectors: stopped\n")]
)
def test_nothing_half_written_is_left(tmp_path, number, code, said):
    row = " 0.12345" * DIMENSIONS + "\n"
    (tmp_path / "in").write_text("".join(f"w{i}{row}" for i in range(ROWS)), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "bove", "vectors", "load", "--format", "glove"]
    command += ["--input", "in", "--output", "out/vectors"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    # a shell that starts what runs in the background may have it ignore ^C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    out = tmp_path / "out"
    while running.poll() is None and not (out.is_dir() and list(out.iterdir())):
        time.sleep(0.005)
    running.send_signal(number)
    assert running.communicate()[1] == said
    assert running.returncode == code
    assert list(out.iterdir()) == []
