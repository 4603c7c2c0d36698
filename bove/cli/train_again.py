"""`bove train-again`: a model by the trainer and the settings of another one, with another seed."""

import argparse
import logging

from bove.cli import train_als, train_sgd
from bove.cli.training import add_mpi_argument
from bove.errors import BoveError
from bove.factor.model import Model
from bove.factor.peers import Peers
from bove.mpi import joined
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
TRAINERS = {"als": train_als, "sgd": train_sgd}
_FILES = ("graphs", "vocabulary", "vectors", "output", "training_log", "times")
_GIVEN = (*_FILES, "seed", "checkpoint_every", "mpi")


def register(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="FILE", help="model whose trainer and settings are used")
    add("--graphs", required=True, metavar="FILE", help="graphs of the treebank")
    add("--vocabulary", required=True, metavar="FILE", help="vocabulary.json")
    add("--vectors", metavar="FILE", help="pretrained vectors; needed where the model had some")
    add("--seed", type=int, required=True, help="of the random start")
    add("--checkpoint-every", type=int, required=True, help="als: rounds between checkpoints (0: when ended)")
    add("--output", required=True, metavar="FILE", help="model.safetensors to write")
    add("--training-log", required=True, metavar="FILE", help="CSV to write: L by term, a row a round")
    add("--times", metavar="FILE", help="CSV to write: the seconds of training up to the end of each round")
    add_mpi_argument(parser)


def run(args: argparse.Namespace) -> None:
    """Train as `bove train-als` or `bove train-sgd` would; BoveError as there."""
    with joined(args.mpi) as peers:
        _train(args, peers)


def _train(args, peers: Peers) -> None:
    model = Model.load(args.model)
    trainer = model.hyperparameters.get("trainer")
    if not isinstance(trainer, str) or trainer not in TRAINERS:
        raise BoveError(f"{args.model}: trained by {trainer!r}; known: {', '.join(TRAINERS)}")
    if Vocabulary.load(args.vocabulary).hash != model.vocabulary_hash:
        raise BoveError(f"{args.vocabulary}: not the vocabulary of {args.model}; give that one")
    if model.frozen.any() and not args.vectors:
        raise BoveError(f"{args.model}: has words with a pretrained vector; give their file with --vectors")
    log.info("settings of %s (%s, seed %s)", args.model, trainer, model.hyperparameters.get("seed"))
    arguments = _arguments(args, model, TRAINERS[trainer])
    if trainer == "als":
        train_als.train(arguments, peers)
        return
    if peers.count > 1:
        log.warning("SGD trains by one process alone; %d were started", peers.count)
    with peers.together():
        if peers.number == 0:
            train_sgd.run(arguments)


class _Arguments(argparse.ArgumentParser):
    """A parser whose mistakes are the model's, not those of the command line."""

    def error(self, message):
        raise BoveError(f"the model does not say all of its settings ({message}); train that model again")


def _arguments(args, model: Model, stage) -> argparse.Namespace:
    """The trainer's arguments: files, seed and threads as given, all else from the model."""
    parser = _Arguments(add_help=False, allow_abbrev=False)
    stage.register(parser)
    chosen = {**model.hyperparameters, "dtype": model.properties.dtype.name}
    given = {name: getattr(args, name) for name in _GIVEN}
    words = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in {**chosen, **given}.items()
        if value is not None
    ]
    # what else a model tells, such as the rounds that it took, is no argument
    known, _ = parser.parse_known_args(words)
    known.threads = args.threads
    return known
