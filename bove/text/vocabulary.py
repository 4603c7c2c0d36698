"""The words, part-of-speech tags and relations that a model knows, counted in a treebank.

A token stands for a word row by the first of these that holds:

1. NB, if its form is a number (see `bove.text.words`);
2. PUNCT, if it is punctuation;
3. the first of the form's variants (exact, lower-cased, capitalised) that is in the vocabulary;
4. UNKNOWN_<tag>, with its own tag; UNKNOWN_ alone in a vocabulary without tags.

Words are counted under their first variant; those below the threshold are resolved by 3 and 4. Rare tags
become UNKNOWN_POSTAG, rare relations UNKNOWN_RELATION. The arc from the artificial root is no relation.
Every replacement, the tags and the dependencies (which leaves ADJACENCY) can be switched off. A form that
reads like a replacement's name (NB, PUNCT, UNKNOWN_…) is never a word of its own.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bove.errors import BoveError
from bove.files import atomic_write, open_bytes
from bove.text.conll import Sentence
from bove.text.tokens import LOOKUP, NUMBER, PUNCTUATION, VARIANTS, character_class, form_variants

UNKNOWN_WORD, UNKNOWN_TAG, UNKNOWN_RELATION = "UNKNOWN_", "UNKNOWN_POSTAG", "UNKNOWN_RELATION"
ADJACENCY = "ADJACENCY"


@dataclass(frozen=True)
class Vocabulary:
    """Words, tags and relations by row, each ordered by count (highest first), then name; ADJACENCY is last.

    Attributes:
        words, tags, relations: names, replacements (NB, UNKNOWN_…, ADJACENCY) among them.
        word_counts, tag_counts, relation_counts: training tokens and arcs that each stands for.
        rare_tags, rare_relations: names below the threshold; UNKNOWN_POSTAG and UNKNOWN_RELATION mean these.
        thresholds: least count, by "words", "tags", "relations".
        options: "numbers", "punctuation", "adjacency" (bool) and "lookup" (list of variants); "tags" and
            "dependencies" (False) only where they are switched off.
        coverage: how the training tokens were resolved; not part of the hash.
    """

    words: tuple[str, ...]
    word_counts: tuple[int, ...]
    tags: tuple[str, ...]
    tag_counts: tuple[int, ...]
    relations: tuple[str, ...]
    relation_counts: tuple[int, ...]
    rare_tags: tuple[str, ...]
    rare_relations: tuple[str, ...]
    thresholds: dict
    options: dict
    coverage: dict = field(default_factory=dict)

    @property
    def n_words(self) -> int:
        return len(self.words)

    @property
    def n_tags(self) -> int:
        return len(self.tags)

    @property
    def has_tags(self) -> bool:
        """Whether tags are properties and tell unknown words apart."""
        return self.options.get("tags", True)

    @property
    def has_dependencies(self) -> bool:
        """Whether the treebank's relations are relations."""
        return self.options.get("dependencies", True)

    @property
    def n_properties(self) -> int:
        """Rows of P: words, then tags."""
        return len(self.words) + len(self.tags)

    @property
    def n_relations(self) -> int:
        return len(self.relations)

    @cached_property
    def hash(self) -> str:
        """Hex SHA-256 of all that numbers or resolves anything."""
        text = json.dumps(self._content(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _word_rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def _tag_rows(self) -> dict[str, int]:
        return {tag: row for row, tag in enumerate(self.tags, self.n_words)}

    @cached_property
    def _relation_rows(self) -> dict[str, int]:
        return {label: row for row, label in enumerate(self.relations)}

    def word_class(self, form: str) -> str | None:
        """ "NB", "PUNCT" or None, as the options allow."""
        return form_class(form, self.options)

    def is_reserved(self, word: str) -> bool:
        """Whether the name is a replacement's, so that no word of the text has its row."""
        return is_reserved(word, self.options)

    def is_own_relation(self, label: str) -> bool:
        """Whether a relation is one of the treebank's, neither ADJACENCY nor UNKNOWN_RELATION."""
        return label != UNKNOWN_RELATION and not (label == ADJACENCY and self.options["adjacency"])

    def variants(self, form: str) -> list[str]:
        """The forms under which a word is looked up, in order, none twice."""
        return form_variants(form, self.options["lookup"])

    def known_row(self, form: str) -> tuple[int, str]:
        """Row of a form's class or first known variant and the route's name; (-1, "unknown") for none."""
        name = self.word_class(form)
        if name in self._word_rows:
            return self._word_rows[name], name
        for route in self.options["lookup"]:
            variant = VARIANTS[route](form)
            if variant in self._word_rows and not self.is_reserved(variant):
                return self._word_rows[variant], route
        return -1, "unknown"

    def word_row(self, form: str, tag: str) -> int:
        """Row of the word property of a token, the one for unknown words included; -1 if it has none."""
        row = self.known_row(form)[0]
        return self.unknown_row(tag) if row < 0 else row

    def unknown_row(self, tag: str) -> int:
        """Row of UNKNOWN_<tag>, or of UNKNOWN_ in a vocabulary without tags; or -1."""
        return self._word_rows.get(unknown_word(tag, self.options), -1)

    def tag_row(self, tag: str) -> int:
        """Property row of a tag, or of UNKNOWN_POSTAG, or -1; never below n_words."""
        return self._tag_rows.get(tag, self._tag_rows.get(UNKNOWN_TAG, -1))

    def relation_row(self, label: str) -> int:
        """Index of a relation, or of UNKNOWN_RELATION, or -1."""
        if label == ADJACENCY and self.options["adjacency"]:
            label = UNKNOWN_RELATION
        return self._relation_rows.get(label, self._relation_rows.get(UNKNOWN_RELATION, -1))

    def covers_tag(self, tag: str) -> bool:
        """Whether the treebank had the tag, frequent or rare."""
        return tag in self._tag_rows or tag in self.rare_tags

    def covers_relation(self, label: str) -> bool:
        """Whether the treebank had the relation, frequent or rare."""
        if label == ADJACENCY and self.options["adjacency"]:
            return False
        return label in self._relation_rows or label in self.rare_relations

    def _content(self) -> dict:
        return {
            "format": "bove-vocabulary",
            "version": 1,
            **{name: list(getattr(self, name)) for name in _LISTS},
            "thresholds": self.thresholds,
            "options": self.options,
        }

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON, one name a line."""
        content = self._content() | {"coverage": self.coverage, "hash": self.hash}
        with atomic_write(path) as stream:
            json.dump(content, stream, ensure_ascii=False, indent=1)
            stream.write("\n")

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read a vocabulary.

        Raises:
            BoveError: not a vocabulary, another version, or changed since it was written.
        """
        with open_bytes(path) as stream:
            try:
                content = json.loads(stream.read().decode())
            except (ValueError, RecursionError) as e:
                raise BoveError(f"{path}: not a vocabulary, or cut off ({e}); make it again") from e
        if not isinstance(content, dict) or content.get("format") != "bove-vocabulary":
            raise BoveError(f"{path}: JSON, but not a vocabulary; give the file that `bove vocabulary` wrote")
        if content.get("version") != 1:
            raise BoveError(f"{path}: vocabulary version {content.get('version')}, not 1; make it again")
        if missing := [name for name in (*_LISTS, *_TABLES, "hash") if name not in content]:
            raise BoveError(f"{path}: a vocabulary that lacks {missing[0]!r}; make it again")
        if not _is_sound(content):
            raise BoveError(f"{path}: its parts do not fit together, as if changed by hand; make it again")
        lists = {name: tuple(content[name]) for name in _LISTS}
        vocabulary = cls(**lists, **{name: content[name] for name in _TABLES})
        if vocabulary.hash != content["hash"]:
            raise BoveError(f"{path}: changed since it was written (its hash differs); make it again")
        return vocabulary


_LISTS = (
    "words",
    "word_counts",
    "tags",
    "tag_counts",
    "relations",
    "relation_counts",
    "rare_tags",
    "rare_relations",
)
_TABLES = ("thresholds", "options", "coverage")


def _is_sound(content: dict) -> bool:
    """Whether all parts of a vocabulary's file are of their types and fit together."""
    counts = [name for name in _LISTS if name.endswith("_counts")]
    typed = all(
        isinstance(content[name], list)
        and all(type(x) is int if name in counts else _is_text(x) for x in content[name])
        for name in _LISTS
    )
    if not typed or not all(isinstance(content[name], dict) for name in _TABLES):
        return False
    for name in counts:
        names = content[name.replace("_counts", "s")]
        if not len(names) == len(set(names)) == len(content[name]):
            return False
    lookup = content["options"].get("lookup")
    return (
        isinstance(lookup, list)
        and all(isinstance(route, str) and route in VARIANTS for route in lookup)
        and all(type(content["options"].get(name)) is bool for name in _SWITCHES[:3])
        and all(type(content["options"].get(name, True)) is bool for name in _SWITCHES[3:])
        and (not content["options"]["adjacency"] or content["relations"][-1:] == [ADJACENCY])
        and all(type(content["thresholds"].get(name)) is int for name in ("words", "tags", "relations"))
        and _adds_up(content["coverage"])
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def _adds_up(coverage: dict) -> bool:
    """Whether the tokens by route, where they are told, are as many as there are."""
    total, routes = coverage.get("tokens", 0), coverage.get("tokens_by_route", {})
    counted = isinstance(routes, dict) and all(type(n) is int and n > 0 for n in routes.values())
    return type(total) is int and counted and sum(routes.values()) == total


_SWITCHES = ("numbers", "punctuation", "adjacency", "tags", "dependencies")


def form_class(form: str, options: dict) -> str | None:
    """ "NB", "PUNCT" or None, as a vocabulary's options allow."""
    name = character_class(form)
    switched_on = {NUMBER: "numbers", PUNCTUATION: "punctuation"}
    return name if name and options[switched_on[name]] else None


def unknown_word(tag: str, options: dict) -> str:
    """What stands for a word that the vocabulary lacks: it tells the tag only where tags are properties."""
    return UNKNOWN_WORD + tag if options.get("tags", True) else UNKNOWN_WORD


def is_reserved(word: str, options: dict) -> bool:
    """Whether the name is a replacement's under a vocabulary's options."""
    return (
        word.startswith(UNKNOWN_WORD)
        or (word == NUMBER and options["numbers"])
        or (word == PUNCTUATION and options["punctuation"])
    )


# Counting a treebank into a vocabulary, by the rules that `bove.text.vocabulary` states.


def build(sentences: Iterable[Sentence], thresholds: dict, options: dict) -> Vocabulary:
    """Count a treebank and keep what reaches the thresholds.

    Args:
        sentences: the treebank; read once.
        thresholds: least count, by "words", "tags", "relations".
        options: see `Vocabulary`; "tags" and "dependencies" are on unless they are False.

    Raises:
        BoveError: the options leave no relation, or the treebank has no tokens, or a relation called
            ADJACENCY beside ours.
    """
    options = _checked(options)
    tokens, tags, arcs, adjacent = _count(sentences)
    if not tokens:
        raise BoveError("the treebank has no tokens; check the file")
    if not options.get("tags", True):
        tags.clear()
    if not options.get("dependencies", True):
        arcs.clear()
    if options["adjacency"] and ADJACENCY in arcs:
        raise BoveError(
            f"the treebank has a relation {ADJACENCY}, the name of ours; rename it, or switch ours off"
        )
    words, coverage = _count_words(tokens, thresholds["words"], options)
    kept_tags, rare_tags = _replace_rare(tags, thresholds["tags"], UNKNOWN_TAG)
    kept_arcs, rare_arcs = _replace_rare(arcs, thresholds["relations"], UNKNOWN_RELATION)
    columns = [*_ordered(words), *_ordered(kept_tags), *_ordered(kept_arcs)]
    if options["adjacency"]:
        columns[4:] = [(*columns[4], ADJACENCY), (*columns[5], adjacent)]
    return Vocabulary(*columns, rare_tags, rare_arcs, dict(thresholds), options, coverage)


def _checked(options: dict) -> dict:
    """The options as a vocabulary states them: one with tags and dependencies does not speak of these."""
    if not options["lookup"] or any(name not in VARIANTS for name in options["lookup"]):
        raise BoveError(f"lookup {options['lookup']!r}: choose one or more of {', '.join(LOOKUP)}")
    if not (options.get("dependencies", True) or options["adjacency"]):
        raise BoveError(
            "neither dependencies nor adjacency: no relation is left; switch one of them on, and to train "
            "without relations set alpha to 0"
        )
    stated = {name: options[name] for name in ("numbers", "punctuation", "lookup", "adjacency")}
    return stated | {name: False for name in ("tags", "dependencies") if not options.get(name, True)}


def _count(sentences) -> tuple[Counter, Counter, Counter, int]:
    """Counts of (form, tag), tags and relations, and the number of adjacent pairs."""
    tokens, tags, arcs, adjacent = Counter(), Counter(), Counter(), 0
    for sentence in sentences:
        tokens.update(zip(sentence.forms, sentence.tags, strict=True))
        tags.update(sentence.tags)
        arcs.update(r for head, r in zip(sentence.heads, sentence.relations, strict=True) if head > 0)
        adjacent += max(len(sentence.forms) - 1, 0)
    return tokens, tags, arcs, adjacent


def _count_words(tokens: Counter, threshold: int, options: dict) -> tuple[Counter, dict]:
    """Tokens that each word row stands for, and the coverage: tokens by route, types seen and kept."""
    first = options["lookup"][0]
    types: Counter = Counter()
    for (form, _), count in tokens.items():
        if form_class(form, options) is None:
            types[VARIANTS[first](form)] += count
    kept = {word for word, count in types.items() if count >= threshold and not is_reserved(word, options)}
    words, routes = Counter(), Counter()
    for (form, tag), count in tokens.items():
        route = name = form_class(form, options)
        if name is None:
            found = ((r, VARIANTS[r](form)) for r in options["lookup"])
            route, name = next((f for f in found if f[1] in kept), ("unknown", unknown_word(tag, options)))
        words[name] += count
        routes[route] += count
    coverage = {
        "tokens": tokens.total(),
        "tokens_by_route": dict(sorted(routes.items())),
        "word_types": len(types),
        "word_types_kept": len(kept),
    }
    return words, coverage


def _replace_rare(counts: Counter, threshold: int, unknown: str) -> tuple[Counter, tuple[str, ...]]:
    kept, rare = Counter(), []
    for name, count in counts.items():
        if count < threshold and name != unknown:
            rare.append(name)
            kept[unknown] += count
        else:
            kept[name] += count
    return kept, tuple(sorted(rare))


def _ordered(counts: Counter) -> tuple[tuple[str, ...], tuple[int, ...]]:
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(name for name, _ in pairs), tuple(count for _, count in pairs)
