"""Every stage of the `bove` command: its group, the module of this package that has it, and what it does.

A stage's module is imported when the stage is asked for, and no other, so that `bove --help` answers at once.
"""

from collections.abc import Callable
from importlib import import_module

# title → stage → its module in this package, and what it does; behind the first, the stages of the workflow
USE = "what people use, with a finished run or files of their own"
GROUPS = {
    USE: {
        "embed": ("embed", "make vectors of sentences of your own, with a finished run"),
        "explain": ("explain", "show word by word how two sentences are aligned"),
        "neighbours": ("explain", "find the training words nearest to a word in its sentence"),
        "search": ("search", "find the sentences of a file of bags that answer a query best"),
        "index": ("search", "make an index of a file of bags, for searches in large collections"),
        "check": ("check", "say what files are, what they hold, and what in them is odd"),
        "pack": ("pack", "put a finished run into one file, for `bove embed` and others to use anywhere"),
    },
    "data": {
        "fetch": ("data", "download a data set, checked by hash, or link a local file"),
        "demo": ("data", "write the built-in treebank, STS and SNLI files"),
        "pairs": ("data", "read files of sentence pairs, such as those of STS and SNLI"),
        "contamination": (
            "data",
            "find the pairs that are in development sets too, and the sentences of the treebank",
        ),
    },
    "vocabulary, vectors and graphs": {
        "vocabulary": ("data", "count a treebank and choose its words, tags and relations"),
        "vectors": ("data", "read pretrained word vectors, or train them, into a mapped file"),
        "components": ("encoder", "shorten the vectors of an encoder's tokens to a model's rank"),
        "encode": ("data", "turn sentences into graphs"),
    },
    "parsing": {
        "train-tagger": ("parse", "train a part-of-speech tagger on a treebank"),
        "train-parser": ("parse", "train a dependency parser on a treebank"),
        "evaluate-parser": ("parse", "measure tagger and parser together on a treebank"),
        "parse": ("parse", "parse the sentences of the pairs"),
        "gather-parses": ("parse", "put the trees of all shards of parsing into the pairs' order"),
        "roles": ("parse", "make probes of roles: pairs whose subject and object are exchanged"),
    },
    "training": {
        "train-als": ("train", "train a model by alternating least squares"),
        "train-sgd": ("train", "train a model by stochastic gradient descent"),
        "train-again": ("train", "train a model with the settings of another one and another seed"),
        "compress": ("infer", "keep a model's relations as low-rank factors"),
    },
    "bags of vectors": {
        "infer": ("infer", "infer bags of vectors for graphs"),
        "baseline": ("baseline", "make bags of a baseline, such as averages of word vectors"),
        "encoder": ("encoder", "make bags of an encoder: vectors of sentences and of their tokens"),
        "gather-bags": ("infer", "put the bags of all shards of inference into one file"),
        "compare-bags": ("infer", "compare two files of bags of the same sentences, token by token"),
    },
    "evaluation": {
        "score": ("score", "score pairs of bags"),
        "select": ("tables", "choose one of several models by its scores on development sets"),
        "tables": ("tables", "write the result tables"),
        "ablations": ("tables", "hold variants of a run against a base, in a table and a figure"),
        "seeds": ("tables", "show mean and spread of the results over several seeds of the model"),
    },
    "reports": {
        "training": ("report", "show how L fell in training, in a table and a figure"),
        "figures": ("figures", "look inside a run: scores, iterations, relations, token vectors"),
        "overview": ("report", "say what a run is made of, in tables"),
        "provenance": ("report", "record what a run was made from and with, by hashes and versions"),
        "cost": ("cost", "say what each system of a finished run costs: size, training, speed, memory"),
        "pages": ("report", "turn tables in Markdown into pages of HTML"),
    },
}
STAGES = {stage: entry for group in GROUPS.values() for stage, entry in group.items()}


def functions(stage: str) -> tuple[Callable, Callable]:
    """A stage's two functions: `register_…` takes its parser of arguments, `run_…` the arguments."""
    module, _, run = code(stage).partition(":")
    found = import_module(module)
    return getattr(found, run.replace("run_", "register_", 1)), getattr(found, run)


def code(stage: str) -> str:
    """Module and name of the function that runs a stage, or a kind of it such as "figures results"."""
    return f"bove.cli.{STAGES[stage.split()[0]][0]}:run_{stage.replace('-', '_').replace(' ', '_')}"
