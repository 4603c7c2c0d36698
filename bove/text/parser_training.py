"""Training Stanza's tagger and parser on a treebank, so that parses bear the treebank's own labels.

The part-of-speech tag stands in Stanza's UPOS column; there are no lemmas and no features, for nothing would
supply them to new text. Final punctuation is dropped from a random 30 % of the training sentences, or else
captions and headlines, which have none, parse badly. Everything is seeded, and computed in one thread: equal
input gives equal weights.
"""

import contextlib
import io
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bove.errors import BoveError, similar
from bove.text import parser as parsing
from bove.text.conll import Sentence
from bove.text.parser import read_checkpoint, state_hash, write_checkpoint
from bove.text.tokens import PUNCTUATION, character_class, find_conventions

# Options of Stanza's training: presets that a CPU can finish, and a user's changes to them.
#
# Stanza's own sizes are made for accelerators; these are small, with little dropout, and budgets in steps,
# so
# that a run gives the same model however busy the processor is.

# ruff: noqa: SIM905 a long word list reads better unquoted


_TAGGER = {
    "num_layers": 1,
    "tag_emb_dim": 10,
    "composite_deep_biaff_hidden_dim": 10,
    "batch_size": 20,
    "dropout": 0.2,
    "word_dropout": 0.1,
    "lr": 5e-3,
    "fix_eval_interval": True,
}
_PARSER = {
    "no_checkpoint": True,
    "no_char": True,
    "no_xpos": True,
    "no_ufeats": True,
    "no_second_optim": True,
    "no_plateau": True,
    "num_layers": 2,
    "tag_emb_dim": 25,
    "batch_size": 500,
    "dropout": 0.1,
    "word_dropout": 0.1,
    "optim": "adam",
    "lr": 4e-3,
    "beta2": 0.95,
    "weight_decay": 0,
}


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
    known = _stanza_actions(kind)
    options: dict[str, object] = dict(PRESETS[kind][preset])
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
        changed[key] = _value(kind, key, value.strip(), switch=known[key].nargs == 0)
    options = {key: value for key, value in options.items() if key not in changed} | changed
    if options["max_steps"] < 1 or options["eval_interval"] < 1:
        raise BoveError("max_steps and eval_interval: give 1 or more")
    _rescale(options, PRESETS[kind][preset], changed)
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


def _stanza_actions(kind) -> dict:
    """Stanza's options by name."""
    import stanza.models.parser
    import stanza.models.tagger

    actions = getattr(stanza.models, kind).build_argparse()._actions
    return {name.lstrip("-"): action for action in actions for name in action.option_strings}


def _value(kind, key, text, switch) -> object:
    """The value as Stanza reads it; a switch is a bool."""
    import stanza.models.parser
    import stanza.models.tagger

    if switch:
        if text not in ("true", "false"):
            raise BoveError(f"option {key}={text}: a switch; write true or false")
        return text == "true"
    words = io.StringIO()
    try:
        with contextlib.redirect_stderr(words):
            found = getattr(stanza.models, kind).build_argparse().parse_args([f"--{key}", text])
    except SystemExit as e:
        reason = words.getvalue().strip().rpartition("error: ")[2]
        raise BoveError(f"option {key}={text}: {reason or 'not a value that Stanza takes'}") from e
    value = getattr(found, key)
    return value if isinstance(value, int | float | str) else text


def as_arguments(options: Mapping[str, object]) -> list[str]:
    """Options as words of a command line."""
    out = []
    for key, value in options.items():
        if value is True:
            out.append(f"--{key}")
        elif value is not False:
            out += [f"--{key}", str(value)]
    return out


# Training Stanza's tagger and parser on a treebank, so that parses bear the treebank's own labels.
#
# The part-of-speech tag stands in Stanza's UPOS column; there are no lemmas and no features, for nothing
# would
# supply them to new text. Final punctuation is dropped from a random 30 % of the training sentences, or
# else
# captions and headlines, which have none, parse badly. Everything is seeded, and computed in one thread:
# equal
# input gives equal weights.

NO_FINAL_STOP = 0.3
# Why a sentence is left out.
EMPTY, UNTAGGED = "without tokens", "with untagged tokens"
NO_HEAD, NO_ROOT, TWO_ROOTS, CYCLE = (
    "with missing heads or labels",
    "without a root",
    "with several roots",
    "with a cycle",
)
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
    """Train a model and write it to `output`.

    Args:
        kind: "tagger" or "parser".
        training, development: sentences with tags, and for a parser one tree each; others are left out.
        options: of Stanza, from `bove.text.parser_options.find_options`.
        seed: for the shortened sentences and for Stanza.
        output: model file.

    Raises:
        BoveError: no usable sentence, or Stanza can not train on them.
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
        fault = find_fault(sentence, kind)
        if fault:
            counts[fault] += 1
        else:
            kept.append(sentence)
    if not kept:
        faults = ", ".join(f"{counts[name]} {name}" for name in counts if name != "read") or "it is empty"
        raise BoveError(f"no sentence of the {where} can be used ({faults}); give one with tags and trees")
    counts["used"] = len(kept)
    return kept


def find_fault(sentence: Sentence, kind: str) -> str | None:
    """Why a sentence can not train a model; a tagger needs no tree."""
    heads = sentence.heads
    if not heads:
        return EMPTY
    if "_" in sentence.tags:
        return UNTAGGED
    if kind == "tagger":
        return None
    if any(head < 0 or head > len(heads) for head in heads) or "_" in sentence.relations:
        return NO_HEAD
    if heads.count(0) != 1:
        return TWO_ROOTS if heads.count(0) else NO_ROOT
    return CYCLE if len(_reached(heads)) < len(heads) else None


def _reached(heads) -> set[int]:
    """Tokens below the root."""
    below: dict[int, list[int]] = {}
    for token, head in enumerate(heads, 1):
        below.setdefault(head, []).append(token)
    reached, waiting = set(), [0]
    while waiting:
        children = below.get(waiting.pop(), [])
        reached.update(children)
        waiting += children
    return reached


def _drop_final_stops(sentences, generator, counts) -> list[Sentence]:
    """The sentences, a share of them without their last token where it is punctuation that heads nothing."""
    out = []
    for sentence in sentences:
        chosen = generator.random() < NO_FINAL_STOP
        size = len(sentence.forms)
        final = size > 1 and character_class(sentence.forms[-1]) == PUNCTUATION
        if chosen and final and sentence.heads[-1] != 0 and size not in sentence.heads:
            counts[SHORTENED] += 1
            lists = (sentence.forms, sentence.tags, sentence.heads, sentence.relations)
            sentence = Sentence(sentence.id, *(values[:-1] for values in lists))
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
        raise BoveError(
            f"Stanza can not train a {kind} with this treebank and these options ({type(e).__name__}: {e}); "
            f"see the log, and change one of them"
        ) from e
    if not (folder / "model.pt").is_file():
        raise BoveError(f"Stanza ended without writing a {kind}; see the log")


def evaluate(kind: str, model: str | Path, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Share of tokens with the right tag; or with the right head (UAS) and label too (LAS), on given tags."""
    from stanza.models.common.doc import Document

    run = parsing.pipeline(**{kind: model})
    right: Counter[str] = Counter()
    for start in range(0, len(sentences), parsing.CHUNK):
        chunk = sentences[start : start + parsing.CHUNK]
        rows = [_document_rows(sentence) for sentence in chunk]
        found = run(Document(rows)).sentences
        for sentence, parsed in zip(chunk, found, strict=True):
            gold = zip(sentence.tags, sentence.heads, sentence.relations, strict=True)
            for word, (tag, head, label) in zip(parsed.words, gold, strict=True):
                right["tokens"] += 1
                right["tags"] += word.upos == tag
                right["UAS"] += word.head == head
                right["LAS"] += word.head == head and word.deprel == label
    names = ("tags",) if kind == "tagger" else ("UAS", "LAS")
    return {name: right[name] / right["tokens"] for name in names}


def _document_rows(sentence) -> list[dict]:
    """Stanza's form of a sentence with tags."""
    words = zip(sentence.forms, sentence.tags, strict=True)
    return [{"id": (i,), "text": form, "upos": tag} for i, (form, tag) in enumerate(words, 1)]
