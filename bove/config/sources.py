"""Where the files that a configuration names come from: paths, downloads, or the built-in corpus.

`source:NAME/FILE` is FILE of the source NAME; `source:NAME` is a source that is one file; anything else is a
path. A download is checked by hash, repeated if it fails, and written whole or not at all. Beside a download
X is X.json with its address, size and SHA-256. If no hash is given, that of the first download is recorded
there, and a later download from the same address must have it too.
"""

import errno
import logging
import lzma
import os
import shutil
import struct
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO

from bove import demo
from bove.errors import BoveError, similar
from bove.files import atomic_path, read_json, sha256, write_json
from bove.text.encoders import encoder_files
from bove.text.vector_files import find_kind

log = logging.getLogger("bove")
DOWNLOADS = "results/downloads"
# Keys of the section parser that name files of Stanza.
PARSER_FILES = ("tagger", "parser", "lemmatizer", "pretrain", "charlm_forward", "charlm_backward")
# Keys of a subset that name files of pairs, in the order of the command line.
PAIR_FILES = ("input", "gold")
_PREFIX = "source:"
TIMEOUT = 60  # seconds without a byte
# What text is packed to a tenth or a twentieth of; what unpacks to far more is there to fill the disk.
_HARMLESS, _PROPORTION = 1 << 26, 200
# What reading a damaged archive raises; a name that is not of its encoding is a ValueError.
_DAMAGES = (
    zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError, struct.error, EOFError, OSError,
    RuntimeError, ValueError, LookupError, OverflowError, MemoryError,
)  # fmt: skip


def references(config: dict) -> Iterator[tuple[str, str]]:
    """Every (key, value) of a resolved configuration that names a file which the run reads."""
    for key in ("train", "dev"):
        yield f"treebank.{key}", config["treebank"][key]
    if key := {"load": "file", "train": "text"}.get(config["vectors"]["source"]):
        yield f"vectors.{key}", config["vectors"][key]
    if config["parser"]["source"] == "load":
        for key in PARSER_FILES:
            if key in config["parser"]:
                yield f"parser.{key}", config["parser"][key]
    for name, dataset in config["datasets"].items():
        if "parses" in dataset:
            yield f"datasets.{name}.parses", dataset["parses"]
        for subset, files in dataset.get("subsets", {}).items():
            for key in PAIR_FILES:
                if key in files:
                    yield f"datasets.{name}.subsets.{subset}.{key}", files[key]
    for name in config["encoders"]:
        yield from ((f"encoders.{name}.{file}", path) for file, path in encoder_paths(config, name).items())
    for system, files in config["bags"].items():
        for name, value in files.items():
            yield f"bags.{system}.{name}", value


def used(config: dict) -> dict[str, dict]:
    """The sources that some file of the run comes from."""
    names = {_split(value)[0] for _, value in references(config)}
    return {name: source for name, source in config["sources"].items() if name in names}


def _split(value: str) -> tuple[str | None, str]:
    """The source that a value names and the file in it; None and the path where it names none."""
    if not value.startswith(_PREFIX):
        return None, value
    name, _, rest = value.removeprefix(_PREFIX).partition("/")
    return name, rest


def kind(source: dict) -> str | None:
    """What a source is: `file`, `url` or `sentences`, the first that it has."""
    return next((key for key in ("file", "url", "sentences") if key in source), None)


def members(source: dict) -> list[str]:
    """The file names that a downloaded archive leaves in its folder."""
    return [PurePosixPath(member).name for member in source.get("members", ())]


def outputs(name: str, source: dict) -> list[str]:
    """The paths that a download leaves: its members in a folder, or one file."""
    return [f"{DOWNLOADS}/{name}/{file}" for file in members(source)] or [f"{DOWNLOADS}/{name}"]


def locate(config: dict, value: str) -> str:
    """The path of a file, relative to the working directory unless the user named it otherwise."""
    name, rest = _split(value)
    if name is None:
        return os.path.expanduser(rest)  # noqa: PTH111 a path stays as the user wrote it
    source = config["sources"][name]
    made = {"url": f"{DOWNLOADS}/{name}", "sentences": f"results/{config['run']}/data"}
    base = made.get(kind(source)) or os.path.expanduser(source["file"])  # noqa: PTH111
    return f"{base}/{rest}" if rest else base


def source_encoder(config: dict) -> str | None:
    """The encoder whose vectors are the words of a configuration's model; None where words have their own."""
    section = config["vectors"]
    return section["encoder"] if section["source"] == "encoder" else None


def encoder_folder(config: dict, name: str) -> str:
    """The folder of an encoder of a configuration."""
    return os.path.expanduser(config["encoders"][name]["path"])  # noqa: PTH111


def encoder_paths(config: dict, name: str) -> dict[str, str]:
    """The paths of an encoder's files, by their places in its folder; BoveError where it is none."""
    folder = encoder_folder(config, name)
    try:
        return {file: f"{folder}/{file}" for file in encoder_files(folder)}
    except BoveError as e:
        raise BoveError(f"configuration: encoders.{name}.path: {e}") from e


def check(config: dict) -> None:
    """See that every file is there or made, and that the run can have its folder and Stanza its options.

    Raises:
        BoveError: the first of these that fails, with its key.
    """
    folder = os.path.join("results", config["run"])  # noqa: PTH118
    if folder == DOWNLOADS or (os.path.exists(folder) and not os.path.isdir(folder)):  # noqa: PTH110, PTH112
        raise BoveError(f"configuration: run: {folder} is not free for a run; choose another name")
    for part in ("tagger", "parser") if config["parser"]["source"] == "train" else ():
        if options := config["parser"][f"{part}_options"]:
            _check_options(part, config["parser"]["preset"], tuple(options.items()))
    for name, source in config["sources"].items():
        if kind(source) is None:
            raise BoveError(f"configuration: sources.{name}: has no url, file or sentences; give one")
        files = members(source)
        if len(set(files)) < len(files):
            raise BoveError(f"configuration: sources.{name}.members: two members have one file name")
    for key, value in references(config):
        name, rest = _split(value)
        made = name is not None and _check_source(config["sources"], f"configuration: {key}", name, rest)
        path = locate(config, value)
        if not made and not os.path.isfile(path):  # noqa: PTH113 a name may be too long
            found = "is a folder, not a file" if os.path.isdir(path) else "no such file"  # noqa: PTH112
            raise BoveError(f"configuration: {key}: {path}: {found}; correct the path")
        if not made and key == "vectors.file":
            _check_rank(config, path)
    if encoder := source_encoder(config):
        _check_components(config, encoder)


def _check_rank(config: dict, path: str) -> None:
    """BoveError for word vectors of another rank than the model's; what else is wrong their stage says."""
    rank = config["model"]["rank"]
    try:
        found = find_kind(path, config["vectors"]["format"]).dimensions
    except BoveError:
        return
    if config["model"]["pretrained"] and found != rank:
        raise BoveError(
            f"configuration: model.rank: is {rank}, but {path} has vectors of {found} dimensions; "
            f"set it to {found} or give other vectors"
        )


def _check_components(config: dict, encoder: str) -> None:
    """BoveError for more components than an encoder has dimensions; what else is wrong its stage says."""
    path, rank = Path(encoder_folder(config, encoder), "config.json"), config["model"]["rank"]
    found = read_json(path).get("hidden_size")
    if isinstance(found, int) and rank > found:
        raise BoveError(
            f"configuration: model.rank: is {rank}, but encoder {encoder} has {found} dimensions; set it to "
            f"{found} or less"
        )


@cache
def _check_options(kind: str, preset: str, options: tuple[tuple[str, str], ...]) -> None:
    """BoveError for an option that Stanza does not have, where Stanza is installed."""
    from bove.text.parser_training import find_options

    try:
        find_options(kind, preset, [f"{key}={value}" for key, value in options])
    except BoveError as e:
        raise BoveError(f"configuration: parser.{kind}_options: {e}") from e
    except ModuleNotFoundError:  # the stage that needs it says so
        pass


def _check_source(known: dict[str, dict], where: str, name: str, rest: str) -> bool:
    """Whether the workflow makes a source; BoveError for an unknown source or a file that it lacks."""
    if name not in known:
        raise BoveError(f"{where}: no source {name!r}; {_options(name, known)}")
    if kind(known[name]) == "file":
        return False
    files = demo.FILES if kind(known[name]) == "sentences" else members(known[name])
    if files and rest not in files:
        raise BoveError(f"{where}: source {name!r} has no file {rest!r}; {_options(rest, files)}")
    if rest and not files:
        raise BoveError(f"{where}: source {name!r} is one file; write {_PREFIX}{name}")
    return True


def _options(name: str, known) -> str:
    return f"{similar(name, known)}there are: {', '.join(known) or 'none'}"


def fetch(
    url: str,
    output: Path,
    known_hash: str | None = None,
    members: tuple[str, ...] = (),
    retries: int = 5,
) -> None:
    """Download `url` to the file `output`, or the members of an archive to the folder `output`.

    Args:
        known_hash: "sha256:…" or "md5:…"; None takes the recorded hash, or records the first one.
        members: names, or patterns of names, in the archive; they are written without their folders.
        retries: how often to try again after a failed transfer or a wrong hash.

    Raises:
        BoveError: the transfer fails every time, the hash is wrong, or the archive is not as asked for.
    """
    record = output.with_name(output.name + ".json")
    hint = "check address and hash"
    if known_hash is None and (known_hash := _recorded(record, url)):
        hint = f"it is the first download's, kept in {record}; delete that to take the new file"
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as folder:
            file = _download(url, known_hash, Path(folder), retries, hint)
            entry = {"url": url, "bytes": file.stat().st_size, "sha256": sha256(file)}
            if known_hash is None:
                said = "no hash is known for %s: this one is taken and recorded, sha256 %s"
                log.info(said, url, entry["sha256"])
            if members:
                unpacked = extract(file, members, Path(folder, "members"), url)
                output.mkdir(exist_ok=True)
                for path in unpacked:
                    path.replace(output / path.name)
            else:
                with atomic_path(output) as path:  # gives it the permissions of a new file
                    file.replace(path)
    except OSError as e:
        raise BoveError(f"{output}: cannot be written ({e.strerror or e}); choose another place") from e
    write_json(record, entry)
    log.info("%s: %d bytes fetched, sha256 %s", output, entry["bytes"], entry["sha256"])


def _recorded(record: Path, url: str) -> str | None:
    """The hash that an earlier download of this address had."""
    if not record.is_file():
        return None
    entry = read_json(record)
    return f"sha256:{entry.get('sha256')}" if entry.get("url") == url else None


def _download(url: str, known_hash: str | None, folder: Path, retries: int, hint: str) -> Path:
    import pooch
    from requests.exceptions import RequestException

    pooch.get_logger().setLevel("WARNING")
    keeper = pooch.create(
        folder, "", registry={"download": known_hash}, urls={"download": url}, retry_if_failed=retries
    )
    transfer = pooch.HTTPDownloader(timeout=TIMEOUT, progressbar=sys.stderr.isatty())
    try:
        return Path(keeper.fetch("download", downloader=transfer))
    except RequestException as e:
        raise BoveError(
            f"{url}: not fetched in {retries + 1} tries ({e}); try later, or name a local file"
        ) from e
    except ValueError as e:
        raise BoveError(f"{url}: what came does not have the hash {known_hash}; {hint}") from e


def extract(archive: Path, patterns: tuple[str, ...], folder: Path, name: str | None = None) -> list[Path]:
    """Write the wanted members of a zip or tar archive into a folder, without the archive's own folders.

    Nothing is written before every pattern is seen to match, and every name and the size of all to be safe.
    Messages call the archive by its name, or else its path.

    Raises:
        BoveError: no such member, an unsafe name, two members with one file name, members beyond all
            proportion to the archive, or a damaged archive.
    """
    name = name or str(archive)
    try:
        with ExitStack() as stack:
            sizes, open_member = _opened(archive, name, stack)
            wanted = _wanted(list(sizes), patterns, name)
            size = sum(sizes[member] for member in wanted.values())
            if size > max(_HARMLESS, _PROPORTION * archive.stat().st_size):
                raise BoveError(
                    f"{name}: would unpack to {size:,} bytes, over {_PROPORTION} times its own; this archive "
                    f"is not safe"
                )
            folder.mkdir(parents=True, exist_ok=True)
            for base, member in wanted.items():
                with open_member(member) as source, open(folder / base, "wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
                    target.flush()
                    os.fsync(target.fileno())
    except _DAMAGES as e:
        if isinstance(e, OSError) and e.errno not in (None, errno.EINVAL):  # of the disk
            raise
        reason = str(e) or "it asks for too much memory"
        raise BoveError(f"{name}: damaged or locked archive ({reason}); fetch it again") from e
    return [folder / base for base in wanted]


def _opened(archive: Path, name: str, stack: ExitStack) -> tuple[dict[str, int], Callable[[str], IO[bytes]]]:
    """The regular files of an archive with their sizes, and how to open one by its name."""
    if zipfile.is_zipfile(archive):
        packed = stack.enter_context(zipfile.ZipFile(archive))
        return {info.filename: info.file_size for info in packed.infolist() if not info.is_dir()}, packed.open
    if tarfile.is_tarfile(archive):
        tar = stack.enter_context(tarfile.open(archive))  # noqa: SIM115 the stack closes it
        # of one name the last file, whatever else bears it
        files = {info.name: info for info in tar if info.isfile()}
        while tar.fileobj.read(1 << 20):  # to the sum at the end of what is packed, which is checked then
            pass
        return {name: info.size for name, info in files.items()}, lambda name: tar.extractfile(files[name])
    raise BoveError(f"{name}: neither a zip nor a tar archive; leave members out to keep it as one file")


def _wanted(names: list[str], patterns: tuple[str, ...], archive: str) -> dict[str, str]:
    """The members that match, by their file names."""
    wanted: dict[str, str] = {}
    for pattern in patterns:
        matches = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not matches:
            some = f"{', '.join(names[:8])}{' …' * (len(names) > 8)}" or "none"
            raise BoveError(f"{archive}: has no member {pattern}; it has {some}")
        for name in matches:
            path = PurePosixPath(name)
            if not path.name or path.is_absolute() or ".." in path.parts or "\\" in name:
                raise BoveError(
                    f"{archive}: member {name} points outside its folder; this archive is not safe"
                )
            if (other := wanted.setdefault(path.name, name)) != name:
                raise BoveError(f"{archive}: {other} and {name} have one file name; ask for one of them")
    return wanted
