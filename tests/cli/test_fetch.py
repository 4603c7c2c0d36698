"""Downloads against a local server: hashes, retries, archives, and that failures leave nothing behind."""

import hashlib
import io
import json
import os
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fuzz.changes import summed

from bove.cli.main import main
from bove.config.sources import extract
from bove.errors import BoveError

CONTENT = b"some vectors\n" * 1000
TWICE = {"a/x.txt": "1", "b/x.txt": "2"}


class _Server(ThreadingHTTPServer):
    def __init__(self):
        self.files, self.failures, self.asked = {"/vectors.bin": CONTENT}, [], 0
        super().__init__(("127.0.0.1", 0), _Handler)

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked += 1
        body = self.server.files.get(self.path)
        failure = self.server.failures.pop() if self.server.failures else None
        status = failure if isinstance(failure, int) else 404 if body is None else 200
        self.send_response(status)
        body = body or b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status == 200:
            self.wfile.write(body[: len(body) // 2] if failure == "cut" else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def _words(server, name, output, *more):
    return ["fetch", "--name", "x", "--url", server.url(name), "--output", str(output), *more]


def _fetch(*given):
    return main(_words(*given))


def _zip(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, text in members.items():
            packed.writestr(name, text)
    return stream.getvalue()


def _tar(path, *members, kind="w"):
    """A tar archive of (name, content, type)."""
    with tarfile.open(path, kind) as packed:
        for name, content, type_ in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = type_, len(content), "/etc/passwd"
            packed.addfile(info, io.BytesIO(content))
    return path


def _everything_under(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_a_file_with_the_right_hash_is_kept_and_recorded(server, tmp_path, kind):
    output = tmp_path / "down" / "vectors"
    assert _fetch(server, "vectors.bin", output, f"--{kind}", hashlib.new(kind, CONTENT).hexdigest()) == 0
    assert output.read_bytes() == CONTENT
    (tmp_path / "new").touch()
    assert output.stat().st_mode == (tmp_path / "new").stat().st_mode
    record = json.loads((tmp_path / "down" / "vectors.json").read_text())
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert record == {"url": server.url("vectors.bin"), "bytes": len(CONTENT), "sha256": digest}


@pytest.mark.parametrize("failure", [500, 404, "cut"])
def test_a_transfer_that_fails_once_is_tried_again(server, tmp_path, failure):
    server.failures = [failure]
    assert _fetch(server, "vectors.bin", tmp_path / "vectors", "--retries", "2") == 0
    assert server.asked == 2
    assert (tmp_path / "vectors").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("name", "options", "said", "asked"),
    [
        ("vectors.bin", f"--sha256 {'0' * 64} --retries 1", f"sha256:{'0' * 64}", 2),
        ("absent", "--retries 2", "not fetched in 3 tries", 3),
        ("vectors.bin", "--sha256 abc", "--sha256", 0),
        ("vectors.bin", f"--md5 {'0' * 64}", "--md5", 0),
        ("vectors.bin", "--retries -1", "--retries", 0),
    ],
)
def test_a_download_that_fails_is_one_line_and_leaves_nothing(
    server, tmp_path, refused, name, options, said, asked
):
    refused(_words(server, name, tmp_path / "vectors", *options.split()), said)
    assert server.asked == asked
    assert _everything_under(tmp_path) == []


def test_without_a_hash_the_first_one_holds_from_then_on(server, tmp_path, capsys):
    output = tmp_path / "vectors"
    assert _fetch(server, "vectors.bin", output) == 0
    assert hashlib.sha256(CONTENT).hexdigest() in capsys.readouterr().err
    output.unlink()
    assert _fetch(server, "vectors.bin", output) == 0
    server.files["/vectors.bin"] = b"something else"
    output.unlink()
    assert _fetch(server, "vectors.bin", output, "--retries", "0") == 2
    assert "vectors.json; delete that to take the new file" in capsys.readouterr().err
    assert not output.exists()
    (tmp_path / "vectors.json").unlink()
    assert _fetch(server, "vectors.bin", output) == 0
    assert output.read_bytes() == b"something else"


def test_only_the_wanted_members_of_an_archive_are_written(server, tmp_path):
    members = {"a/STS.gs.x.txt": "1\n", "a/STS.input.x.txt": "p\tq\n", "a/big.pdf": "no"}
    server.files["/sts.zip"] = _zip(members)
    assert _fetch(server, "sts.zip", tmp_path / "sts", "--member", "a/STS.*.txt") == 0
    assert _everything_under(tmp_path) == ["sts", "sts.json", "sts/STS.gs.x.txt", "sts/STS.input.x.txt"]
    assert (tmp_path / "sts" / "STS.input.x.txt").read_text() == "p\tq\n"


@pytest.mark.parametrize(
    ("members", "wanted", "complaint"),
    [
        *(
            ({"a/good.txt": "fine", name: "evil"}, "*.txt", "not safe")
            for name in ("../evil.txt", "/evil.txt", "a/../../evil.txt", "a\\evil.txt")
        ),
        (TWICE, "c/x.txt", "has no member c/x.txt; it has a/x.txt, b/x.txt"),
        (TWICE, "*/x.txt", "have one file name"),
        ({"a/x.txt": "first" * 100, "a/y.txt": "text" * 1000}, "a/*", "damaged"),
        (None, "x", "neither a zip nor a tar archive"),
    ],
)
def test_an_archive_without_safe_and_sound_members_leaves_nothing(
    server, tmp_path, refused, members, wanted, complaint
):
    content = _zip(members) if members else CONTENT
    server.files["/bad.zip"] = content.replace(b"texttext", b"TEXTtext", 1)
    refused(_words(server, "bad.zip", tmp_path / "out", "--member", wanted), complaint)
    assert _everything_under(tmp_path) == []


def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(1 << 27))
    with pytest.raises(BoveError, match="would unpack to 134,217,728 bytes, over 200 times its own"):
        extract(tmp_path / "a.zip", ("*",), tmp_path / "out")
    header = bytearray(tarfile.TarInfo("holes").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[483:495] = b"77777777777\0"  # size with its holes, of which the archive has none
    (tmp_path / "a.tar").write_bytes(summed(header) + bytes(1024))
    with pytest.raises(BoveError, match="would unpack to 8,589,934,591 bytes"):
        extract(tmp_path / "a.tar", ("*",), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_or_a_folder_of_one_name_in_a_tar_archive(tmp_path):
    path = _tar(tmp_path / "a.tar", ("a", b"text", tarfile.REGTYPE), ("a", b"", tarfile.DIRTYPE))
    assert extract(path, ("a",), tmp_path / "out")[0].read_bytes() == b"text"


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_a_tar_archive_whose_sum_is_wrong_is_damaged_even_if_its_members_can_be_read(
    server, tmp_path, refused, kind
):
    path = _tar(tmp_path / "a", ("x.txt", os.urandom(50_000), tarfile.REGTYPE), kind=f"w:{kind}")
    content = bytearray(path.read_bytes())
    content[25_000] ^= 255
    server.files["/a.tar"] = bytes(content)
    words = _words(server, "a.tar", tmp_path / "out", "--member", "x.txt")
    refused(words, "a.tar: damaged or locked archive (", tmp_path / "out")


def test_tar_members_come_out_but_links_do_not(tmp_path):
    members = ("a/x.txt", b"abc", tarfile.REGTYPE), ("a/link.txt", b"", tarfile.SYMTYPE)
    archive = _tar(tmp_path / "a.tar.gz", *members, kind="w:gz")
    assert [path.name for path in extract(archive, ("a/*",), tmp_path / "out")] == ["x.txt"]
    with pytest.raises(BoveError, match="has no member"):
        extract(archive, ("a/link.txt",), tmp_path / "out")


def test_an_output_that_cannot_be_written_is_one_line(server, tmp_path, refused, monkeypatch):
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").touch()
    for place in ("taken", "file/x"):
        refused(_words(server, "vectors.bin", tmp_path / place), "cannot be written")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bove.config.sources.shutil.copyfileobj", full)
    server.files["/a.zip"] = _zip(TWICE)
    words = _words(server, "a.zip", tmp_path / "out", "--member", "a/x.txt")
    refused(words, "out: cannot be written (No space left on device)")
