"""The files of a finished run, found by its folder: results/<run> with its config.yaml.

Each kind of file lies where the workflow puts it: for a variant (a candidate of `select`, an entry of
`compare` or `ablations`) in the folder of the first variant that shares it.
"""

from dataclasses import dataclass
from pathlib import Path

from bove import sources
from bove.candidates import folders
from bove.config import fill, load, load_schema, resolve
from bove.errors import BoveError
from bove.variants import Homes, Variant, variants

SCHEMA = Path(__file__).parent / "schema" / "config.schema.yaml"
# Where each kind of file lies below the folder of its stage.
_FILES = {
    "vocabulary": "vocabulary.json",
    "vectors": "vectors.safetensors",
    "model": "model/model.safetensors",
}
_TRAIN_GRAPHS = "graphs/train.safetensors"


def defaults() -> dict:
    """The defaults of those sections of a configuration that say how sentences are read and embedded."""
    tree = schema()["properties"]
    names = ("treebank", "model", "parser", "inference", "scoring")
    return {name: fill({}, tree[name], name) for name in names}


def schema() -> dict:
    """The schema of the configuration."""
    return load_schema(SCHEMA)


@dataclass(frozen=True)
class Run:
    """A run, or one of its variants.

    Attributes:
        path: the run's folder.
        variant: which of its variants, the run itself or another.
        homes: which folder holds what a stage made for a variant.
    """

    path: Path
    variant: Variant
    homes: Homes

    @classmethod
    def open(cls, path: str | Path, variant: str = "") -> "Run":
        """Read the configuration of a run.

        Args:
            path: its folder, such as results/demo.
            variant: folder of a variant below it, such as ablations/no-relations; "" for the run itself.

        Raises:
            BoveError: no such run or variant, or a configuration that can not be read.
        """
        path = Path(path)
        file = path / "config.yaml"
        if not file.is_file():
            raise BoveError(f"{path}: no run is there (it has no config.yaml);{_others(path)}")
        config = resolve(load([file], SCHEMA), SCHEMA)
        found = {other.folder.rstrip("/"): other for other in variants(config, SCHEMA, folders)}
        if variant.strip("/") not in found:
            names = ", ".join(name for name in found if name) or "none"
            raise BoveError(f"{path}: has no variant {variant!r}; there are: {names}")
        return cls(path, found[variant.strip("/")], Homes(list(found.values())))

    @property
    def config(self) -> dict:
        """The configuration of the variant, defaults filled in."""
        return self.variant.config

    def file(self, stage: str) -> Path:
        """The variant's vocabulary, vectors or model.

        Raises:
            BoveError: it has not been made yet.
        """
        return self._made(self.homes.folder(stage, self.variant.folder) + _FILES[stage])

    def training_graphs(self) -> Path:
        """The graphs of the treebank.

        Raises:
            BoveError: as in `file`.
        """
        return self._made(self.homes.folder("vocabulary", self.variant.folder) + _TRAIN_GRAPHS)

    def treebank(self) -> Path:
        """The training part of the treebank.

        Raises:
            BoveError: it is not where the run had it.
        """
        path = self._located(self.config["treebank"]["train"])
        if not path.is_file():
            raise BoveError(
                f"{path}: no such file, but {self.path} was trained on it; put it there, or name it with "
                f"--treebank"
            )
        return path

    def parser_files(self) -> dict[str, Path]:
        """Tagger, parser and what these need, by name.

        Raises:
            BoveError: they are not there, because no data set of the run was parsed or for another reason.
        """
        section = self.config["parser"]
        if section["source"] == "load":
            return {name: self._located(section[name]) for name in sources.PARSER_FILES if name in section}
        files = {name: self.path / "parser" / f"{name}.pt" for name in ("tagger", "parser")}
        missing = [path.name for path in files.values() if not path.is_file()]
        if missing:
            own = all("parses" in dataset for dataset in self.config["datasets"].values())
            why = "all its data sets came with trees" if own else "the run is not finished"
            raise BoveError(
                f"{self.path}: has no tagger and parser, since {why}; make them with "
                f"`{self._make(*missing)}`, or name others with --tagger and --parser, or give the trees "
                f"with --conllu"
            )
        return files

    def _made(self, file: str) -> Path:
        path = self.path / file
        if not path.is_file():
            raise BoveError(f"{path}: not there, so the run is not finished; finish it with `{self._make()}`")
        return path

    def _make(self, *files: str) -> str:
        """The command that makes the run, or some of its parser's files."""
        named = "".join(f" results/{self.config['run']}/parser/{file}" for file in files)
        return f"snakemake --cores 2{named} --configfile {self.path / 'config.yaml'}"

    def _located(self, value: str) -> Path:
        """A file that the configuration names: relative paths begin where results/ lies."""
        return self.path.absolute().parent.parent / sources.locate(self.config, value)


def _others(path: Path) -> str:
    """What to do where there is no run: a hint at those that lie beside it."""
    beside = sorted(str(other.parent) for other in path.parent.glob("*/config.yaml"))
    given = f" there are: {', '.join(beside)};" if beside else ""
    return f"{given} `snakemake --cores 2` makes results/demo, config/README.md says how to make others"
