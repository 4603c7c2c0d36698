"""How the files of a data set are laid out, with the schema's defaults for what a test does not say."""

from bove.config.load import fill, load_schema
from bove.text.pairs import Form, read_pair_file


def dataset(task: str, **keys) -> dict:
    """A data set of the configuration, defaults filled in."""
    form = load_schema()["properties"]["datasets"]["additionalProperties"]
    return fill({"task": task, **keys}, form, "")


def form_of(task: str, **keys) -> Form:
    """The form of such a data set."""
    return Form.of(dataset(task, **keys))


def read_sts(path, gold_path, dataset="sts", label="STS", subset="set"):
    """Pairs of an STS input file and its gold file."""
    return read_pair_file(path, form_of("similarity"), (dataset, label, subset), gold_path)


def read_snli(path, dataset="snli", label="SNLI", subset="dev"):
    """Pairs of a file of SNLI."""
    return read_pair_file(path, form_of("entailment"), (dataset, label, subset))


def words_of(task: str, **keys) -> list[str]:
    """Command-line words of `bove pairs` for such a data set."""
    entry = dataset(task, **keys)
    words = ["--task", task, f"--separator={entry['separator']}", f"--encoding={entry['encoding']}"]
    words += [f"--column={role}={column}" for role, column in entry["columns"].items()]
    return words + [f"--meaning={label}={meaning}" for label, meaning in entry.get("labels", {}).items()]
