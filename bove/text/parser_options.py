"""Options of Stanza's training: presets that a CPU can finish, and a user's changes to them.

Stanza's own sizes are made for accelerators; these are small, with little dropout, and budgets in steps, so
that a run gives the same model however busy the processor is.
"""

# ruff: noqa: SIM905 a long word list reads better unquoted

import contextlib
import difflib
import io
from collections.abc import Mapping, Sequence

from bove.errors import BoveError

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
            close = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]}?" if close else "see Stanza's documentation"
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
