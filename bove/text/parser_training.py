"""Training Stanza's tagger and parser on a treebank, so that parses have the treebank's own labels.

The part-of-speech tag is in Stanza's UPOS column; there are no lemmas and no features, for nothing would
supply them to new text. Final punctuation is dropped from a random 30 % of the training sentences, or else
captions and headlines, which have none, parse badly. Everything is seeded, and computed in one thread: equal
input gives equal weights.

Stanza's own sizes are made for accelerators; the presets here are small enough for a CPU, with little
dropout, and budgets in steps, so that a run gives the same model however busy the processor is.
"""

import argparse
import random
import signal
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bove.errors import BoveError, similar
from bove.text import conll
from bove.text import parser as parsing
from bove.text.conll import Sentence
from bove.text.parser import read_checkpoint, state_hash, write_checkpoint
from bove.text.tokens import find_conventions, is_punctuation

# ruff: noqa: SIM905 a long word list reads better unquoted

_TAGGER = {
    "num_layers": 1, "tag_emb_dim": 10, "composite_deep_biaff_hidden_dim": 10, "batch_size": 20,
    "dropout": 0.2, "word_dropout": 0.1, "lr": 5e-3, "fix_eval_interval": True,
}  # fmt: skip
_PARSER = {
    "no_checkpoint": True, "no_char": True, "no_xpos": True, "no_ufeats": True, "no_second_optim": True,
    "no_plateau": True, "num_layers": 2, "tag_emb_dim": 25, "batch_size": 500, "dropout": 0.1,
    "word_dropout": 0.1, "optim": "adam", "lr": 4e-3, "beta2": 0.95, "weight_decay": 0,
}  # fmt: skip
# The learning rate falls once, late in the training, where there is time for it.
_TAGGER_FALL = {"second_optim": "adam", "second_lr": 1e-3}
_PARSER_FALL = {"no_second_optim": False, "second_optim": "adam", "second_lr": 8e-4, "second_warmup_steps": 0}


def _tagger(hidden, characters, biaffine, steps, interval) -> dict:
    sizes = {"hidden_dim": hidden, "char_hidden_dim": characters, "char_emb_dim": characters // 2}
    sizes["deep_biaff_hidden_dim"] = biaffine
    return _TAGGER | sizes | {"max_steps": steps, "eval_interval": interval}


def _parser(hidden, biaffine, steps, interval) -> dict:
    sizes = {"hidden_dim": hidden, "deep_biaff_hidden_dim": biaffine}
    return _PARSER | sizes | {"max_steps": steps, "eval_interval": interval}


PRESETS = {
    "tagger": {
        "tiny": _tagger(32, 16, 32, steps=30, interval=30),
        "demo": _tagger(64, 32, 64, steps=300, interval=150),
        # Stanza's tagger changes its optimiser when no evaluation was better for so many steps.
        "full": _tagger(150, 64, 100, 1800, interval=1800)
        | {"dropout": 0.1, "word_dropout": 0.05, "word_cutoff": 3, "max_steps_before_stop": 1100}
        | _TAGGER_FALL,
    },
    "parser": {
        # When its learning rate falls, Stanza's parser goes on from the best model that was evaluated before.
        "tiny": _parser(32, 32, steps=30, interval=30),
        "demo": _parser(64, 64, steps=200, interval=100),
        "full": _parser(128, 64, 2500, interval=833) | _PARSER_FALL | {"second_optim_start_step": 1666},
    },
}
# Set by this module, or in need of files that a finished model would not hold.
_RESERVED = tuple(
    "mode lang shorthand train_ eval_file silver_ save_ output_ seed no_seed wandb device cuda cpu "
    "help charlm no_charlm wordvec bert no_bert second_bert no_pretrain pretrain continue_from "
    "checkpoint no_gold_labels augment_nopunct extra_tag write_extra upos_word_regex data_dir "
    "use_peft lora_".split()
)


def find_options(kind: str, preset: str, changes: Sequence[str] = ()) -> dict[str, object]:
    """A preset's options of Stanza, with changes `key=value`; switches are true or false.

    Raises:
        BoveError: an option that Stanza does not have, that BoVE sets itself, or whose value is wrong.
    """
    import stanza.models.parser
    import stanza.models.tagger

    reader = getattr(stanza.models, kind).build_argparse()
    known = {name.lstrip("-"): action for action in reader._actions for name in action.option_strings}
    changed = {}
    for change in changes:
        key, equals, value = change.partition("=")
        key = key.strip().lstrip("-").replace("-", "_")
        if not equals or not key:
            raise BoveError(f"option {change!r}: write it as key=value")
        if key.startswith(_RESERVED):
            raise BoveError(f"option {key!r} of Stanza's {kind} is set by bove itself; leave it out")
        if key not in known:
            hint = similar(key, known) or "see Stanza's documentation"
            raise BoveError(f"option {key!r}: Stanza's {kind} has none of that name; {hint}")
        changed[key] = _value(reader, key, value.strip(), switch=known[key].nargs == 0)
    usual = PRESETS[kind][preset]
    options: dict[str, object] = {key: value for key, value in usual.items() if key not in changed} | changed
    if options["max_steps"] < 1 or options["eval_interval"] < 1:
        raise BoveError("max_steps and eval_interval: give 1 or more")
    _rescale(options, usual, changed)
    options["eval_interval"] = min(options["eval_interval"], options["max_steps"])
    return options


def _rescale(options, preset, changed) -> None:
    """Where the learning rate falls, let it fall at the same share of steps, after as many evaluations."""
    steps, falls = options["max_steps"], ("max_steps_before_stop", "second_optim_start_step")
    if any(name in preset for name in falls):
        for name in falls:
            if name in preset and name not in changed:
                options[name] = max(1, preset[name] * steps // preset["max_steps"])
        if "eval_interval" not in changed:  # the last of them is at the end of the training, or nearly so
            options["eval_interval"] = max(1, steps // (preset["max_steps"] // preset["eval_interval"]))


def _value(reader, key, text, switch) -> object:
    """The value as Stanza reads it; a switch is a bool."""
    if switch:
        if text not in ("true", "false"):
            raise BoveError(f"option {key}={text}: a switch; write true or false")
        return text == "true"
    reader.exit_on_error = False
    try:
        value = getattr(reader.parse_args([f"--{key}", text]), key)
    except argparse.ArgumentError as e:
        raise BoveError(f"option {key}={text}: {e}") from e
    return value if isinstance(value, int | float | str) else text


def as_arguments(options: Mapping[str, object]) -> list[str]:
    """Options as words of a command line."""
    out = []
    for key, value in options.items():
        if value is not False:
            out += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return out


NO_FINAL_STOP = 0.3
# Why a sentence is left out.
EMPTY, UNTAGGED, NO_HEAD = "without tokens", "with untagged tokens", "with missing heads or labels"
_FAULTS = {
    conll.NEGATIVE: NO_HEAD,
    conll.OUT_OF_RANGE: NO_HEAD,
    conll.NO_ROOT: "without a root",
    conll.TWO_ROOTS: "with several roots",
    conll.SELF_LOOP: "with a cycle",
    conll.CYCLE: "with a cycle",
}
SHORTENED = "trained without their final punctuation"


@dataclass(frozen=True)
class Trained:
    """What a training run gave.

    Attributes:
        accuracy: shares on the development sentences: "tags", or "UAS" and "LAS" on their own tags; every
            token counts, punctuation too.
        training, development: number of sentences "read" and "used", and of those left out or shortened.
        options: every option that was handed to Stanza, with its value.
        state_sha256: hash of the weights.
        conventions: how the treebank writes its tokens, as JSON.
    """

    accuracy: dict[str, float]
    training: dict[str, int]
    development: dict[str, int]
    options: dict
    state_sha256: str
    conventions: dict


def train(
    kind: str,
    training: Iterable[Sentence],
    development: Iterable[Sentence],
    options: Mapping[str, object],
    seed: int,
    output: str | Path,
) -> Trained:
    """Train a "tagger" or a "parser" and write it to a file.

    Args:
        training, development: sentences with tags, and for a parser one tree each; others are left out.
        options: of Stanza, from `find_options`.
        seed: for the shortened sentences and for Stanza.

    Raises:
        BoveError: no usable sentence, or Stanza cannot train on them.
    """
    read, dev_read = list(training), list(development)
    counts, dev_counts = Counter(read=len(read)), Counter(read=len(dev_read))
    usable = _usable(read, kind, counts, "treebank")
    dev = _usable(dev_read, kind, dev_counts, "development file")
    conventions = find_conventions([sentence.forms for sentence in read])
    shortened = _drop_final_stops(usable, random.Random(seed), counts)
    with tempfile.TemporaryDirectory() as folder, parsing.one_thread():
        model = Path(folder, "model.pt")
        _run_stanza(kind, shortened, dev, options, seed, Path(folder))
        content = read_checkpoint(model, kind)
        accuracy = evaluate(kind, model, dev)
        write_checkpoint(output, content, kind, conventions)
    weights = state_hash(content)
    return Trained(accuracy, dict(counts), dict(dev_counts), dict(options), weights, conventions.as_json())


def _usable(sentences, kind, counts, where) -> list[Sentence]:
    kept = []
    for sentence in sentences:
        if fault := find_fault(sentence, kind):
            counts[fault] += 1
        else:
            kept.append(sentence)
    if not kept:
        faults = ", ".join(f"{counts[name]} {name}" for name in counts if name != "read") or "it is empty"
        raise BoveError(f"no sentence of the {where} can be used ({faults}); give one with tags and trees")
    counts["used"] = len(kept)
    return kept


def find_fault(sentence: Sentence, kind: str) -> str | None:
    """Why a sentence cannot train a model; a tagger needs no tree."""
    if not sentence.forms:
        return EMPTY
    if "_" in sentence.tags:
        return UNTAGGED
    if kind == "tagger":
        return None
    found = {kind for kind, _ in conll.oddities(sentence.heads)}
    return NO_HEAD if "_" in sentence.relations else next((_FAULTS[k] for k in _FAULTS if k in found), None)


def _drop_final_stops(sentences, generator, counts) -> list[Sentence]:
    """The sentences, a share of them without their last token where it is punctuation that heads nothing."""
    out = []
    for sentence in sentences:
        chosen = generator.random() < NO_FINAL_STOP
        size = len(sentence.forms)
        final = size > 1 and is_punctuation(sentence.forms[-1])
        if chosen and final and sentence.heads[-1] != 0 and size not in sentence.heads:
            counts[SHORTENED] += 1
            columns = ("forms", "tags", "heads", "relations")
            sentence = replace(sentence, **{name: getattr(sentence, name)[:-1] for name in columns})
        out.append(sentence)
    return out


def _write_rows(path, sentences, kind) -> None:
    """Stanza's training file; a tagger's sentences become chains, so that no odd tree stops it."""
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        for sentence in sentences:
            chain = kind == "tagger"
            for i, (form, tag) in enumerate(zip(sentence.forms, sentence.tags, strict=True)):
                head, label = (i, "dep") if chain else (sentence.heads[i], sentence.relations[i])
                stream.write(f"{i + 1}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n")
            stream.write("\n")


def _run_stanza(kind, training, dev, options, seed, folder) -> None:
    import stanza.models.parser
    import stanza.models.tagger

    _write_rows(folder / "train.conllu", training, kind)
    _write_rows(folder / "dev.conllu", dev, kind)
    fixed = ["--mode", "train", "--lang", "en", "--shorthand", "en_ptb", "--no_pretrain", "--cpu"]
    fixed += ["--seed", str(seed), "--augment_nopunct", "0"]
    fixed += ["--train_file", str(folder / "train.conllu"), "--eval_file", str(folder / "dev.conllu")]
    fixed += ["--save_dir", str(folder), "--save_name", "model.pt"]
    try:
        getattr(stanza.models, kind).main(fixed + as_arguments(options))
    except (RuntimeError, ValueError, IndexError, KeyError, AssertionError, TypeError, SystemExit) as e:
        if isinstance(e, SystemExit) and e.code == 128 + signal.SIGTERM:
            raise  # from outside, not by Stanza
        raise BoveError(
            f"Stanza cannot train a {kind} with this treebank and these options ({type(e).__name__}: {e}); "
            f"see the log, and change one of them"
        ) from e
    if not (folder / "model.pt").is_file():
        raise BoveError(f"Stanza ended without writing a {kind}; see the log")


SHARES = ("tags", "UAS", "LAS")


class Accuracy:
    """Tokens whose tag, head, and head with label were predicted right, all of them and without punctuation.

    Attributes:
        tokens: number of tokens that are counted in `shares(punctuation)`, by its argument.
        labels: gold labels with their number of arcs.
    """

    def __init__(self) -> None:
        self.tokens = {True: 0, False: 0}
        self.labels: Counter[str] = Counter()
        self._right = {punctuation: np.zeros(3, np.int64) for punctuation in self.tokens}

    def add(self, gold: Sentence, found: Sentence) -> None:
        """Count a sentence, of which both have the same tokens."""
        self.labels.update(gold.relations)
        for i, form in enumerate(gold.forms):
            tag, head = gold.tags[i] == found.tags[i], gold.heads[i] == found.heads[i]
            right = tag, head, head and gold.relations[i] == found.relations[i]
            for punctuation in (True,) if is_punctuation(form) else (True, False):
                self.tokens[punctuation] += 1
                self._right[punctuation] += right

    def shares(self, punctuation: bool) -> dict[str, float | None]:
        """Shares of tokens with the right tag ("tags"), head ("UAS"), and head and label ("LAS").

        Tokens of punctuation marks alone count only if asked for. Where no token counts, a share is None.
        """
        total, right = self.tokens[punctuation], self._right[punctuation].tolist()
        return {name: n / total if total else None for name, n in zip(SHARES, right, strict=True)}


def evaluate(kind: str, model: str | Path, sentences: Sequence[Sentence]) -> dict[str, float | None]:
    """Share of tokens with the right tag; or with the right head (UAS) and label too (LAS), on given tags."""
    from stanza.models.common.doc import Document

    run, accuracy = parsing.pipeline(**{kind: model}), Accuracy()
    for start in range(0, len(sentences), parsing.CHUNK):
        chunk = sentences[start : start + parsing.CHUNK]
        tagged = [enumerate(zip(sentence.forms, sentence.tags, strict=True), 1) for sentence in chunk]
        rows = [[{"id": (i,), "text": form, "upos": tag} for i, (form, tag) in words] for words in tagged]
        for gold, parsed in zip(chunk, run(Document(rows)).sentences, strict=True):
            words = [(word.upos, word.head, word.deprel) for word in parsed.words]
            tags, heads, relations = zip(*words, strict=True)
            accuracy.add(gold, Sentence(gold.id, gold.forms, tags, heads, relations))
    shares = accuracy.shares(punctuation=True)
    return {name: shares[name] for name in (SHARES[:1] if kind == "tagger" else SHARES[1:])}
