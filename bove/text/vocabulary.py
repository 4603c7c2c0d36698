"""The words, part-of-speech tags and relations that a model knows, counted in a treebank.

A token stands for a word row by the first of these that holds:

1. NB, if its form is a number (see `bove.text.tokens`);
2. PUNCT, if it is punctuation;
3. the first of the form's variants (exact, lower-cased, capitalised) that is in the vocabulary;
4. UNKNOWN_<tag>, with its own tag; UNKNOWN_ alone in a vocabulary without tags.

Words are counted under their first variant; those below the threshold are resolved by 3 and 4. Rare tags
become UNKNOWN_POSTAG, rare relations UNKNOWN_RELATION. The arc from the artificial root is no relation.
Every replacement, the words, the tags and the dependencies (which leaves ADJACENCY) can be switched off;
without words each token has a vector of its own instead. A form that reads like a replacement's name (NB,
PUNCT, UNKNOWN_…) is never a word of its own.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from bove.errors import BoveError
from bove.files import open_bytes, write_json
from bove.text.conll import Sentence
from bove.text.tokens import NUMBER, PUNCTUATION, character_class

UNKNOWN_WORD, UNKNOWN_TAG, UNKNOWN_RELATION = "UNKNOWN_", "UNKNOWN_POSTAG", "UNKNOWN_RELATION"
ADJACENCY = "ADJACENCY"
# Forms under which a word can be looked up.
VARIANTS = {"exact": lambda form: form, "lower": str.lower, "capitalised": str.capitalize}
_LISTS = ("words", "word_counts", "tags", "tag_counts", "relations", "relation_counts")
_LISTS += ("rare_tags", "rare_relations")
_TABLES = ("thresholds", "options", "coverage")


@dataclass(frozen=True)
class Vocabulary:
    """Words, tags and relations by row, each ordered by count (highest first), then name; ADJACENCY is last.

    Attributes:
        words, tags, relations: names, replacements (NB, UNKNOWN_…, ADJACENCY) among them.
        word_counts, tag_counts, relation_counts: training tokens and arcs that each stands for.
        rare_tags, rare_relations: names below the threshold; UNKNOWN_POSTAG and UNKNOWN_RELATION mean these.
        thresholds: least count, by "words", "tags", "relations".
        options: "numbers", "punctuation", "adjacency" (bool) and "lookup" (list of variants); "words", "tags"
            and "dependencies" (False) only where they are switched off.
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
    def has_words(self) -> bool:
        """Whether words are properties; else each token may have a vector of its own."""
        return self.options.get("words", True)

    @property
    def has_tags(self) -> bool:
        """Whether tags are properties and distinguish unknown words."""
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
        """NB, PUNCT or None, as the options allow."""
        name = character_class(form)
        switches = {NUMBER: "numbers", PUNCTUATION: "punctuation"}
        return name if name and self.options[switches[name]] else None

    def unknown_word(self, tag: str) -> str:
        """The name for a word that the vocabulary lacks; it has the tag only where tags are properties."""
        return UNKNOWN_WORD + tag if self.has_tags else UNKNOWN_WORD

    def is_reserved(self, word: str) -> bool:
        """Whether the name is a replacement's, so that no word of the text has its row."""
        return (
            word.startswith(UNKNOWN_WORD)
            or (word == NUMBER and self.options["numbers"])
            or (word == PUNCTUATION and self.options["punctuation"])
        )

    def is_own_relation(self, label: str) -> bool:
        """Whether a relation is one of the treebank's, neither ADJACENCY nor UNKNOWN_RELATION."""
        return label != UNKNOWN_RELATION and not (label == ADJACENCY and self.options["adjacency"])

    def variants(self, form: str) -> list[str]:
        """The forms under which a word is looked up, in order, none twice."""
        return list(dict.fromkeys(VARIANTS[name](form) for name in self.options["lookup"]))

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

    def unknown_row(self, tag: str) -> int:
        """Row of UNKNOWN_<tag>, or of UNKNOWN_ in a vocabulary without tags; or -1."""
        return self._word_rows.get(self.unknown_word(tag), -1)

    def tag_row(self, tag: str) -> int:
        """Property row of a tag, or of UNKNOWN_POSTAG, or -1; never below n_words."""
        return self._tag_rows.get(tag, self._tag_rows.get(UNKNOWN_TAG, -1))

    def relation_row(self, label: str) -> int:
        """Index of a relation, or of UNKNOWN_RELATION, or -1."""
        if label == ADJACENCY and self.options["adjacency"]:
            label = UNKNOWN_RELATION
        return self._relation_rows.get(label, self._relation_rows.get(UNKNOWN_RELATION, -1))

    def tag_fate(self, tag: str) -> str:
        """ "kept" (the tag has its own row), "rare" (the treebank had it, below the threshold) or "new"."""
        return "rare" if tag in self.rare_tags else "kept" if tag in self._tag_rows else "new"

    def relation_fate(self, label: str) -> str:
        """The same of a relation."""
        if label == ADJACENCY and self.options["adjacency"]:
            return "new"
        return "rare" if label in self.rare_relations else "kept" if label in self._relation_rows else "new"

    def _content(self) -> dict:
        return {
            "format": "bove-vocabulary",
            "version": 1,
            **{name: list(getattr(self, name)) for name in _LISTS},
            "thresholds": self.thresholds,
            "options": self.options,
        }

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON, one name per line."""
        write_json(path, self._content() | {"coverage": self.coverage, "hash": self.hash})

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
        try:
            lists = {name: tuple(content[name]) for name in _LISTS}
            vocabulary = cls(**lists, **{name: content[name] for name in _TABLES})
            routes = vocabulary.coverage.get("tokens_by_route", {})  # no part of the hash
            sound = sum(routes.values()) == vocabulary.coverage.get("tokens", 0)
            sound = sound and vocabulary.hash == content["hash"]
        except (KeyError, TypeError, ValueError, AttributeError):
            sound = False
        if not sound:
            raise BoveError(f"{path}: changed since it was written (its hash differs); make it again")
        return vocabulary


def build(sentences: Iterable[Sentence], thresholds: dict, options: dict) -> Vocabulary:
    """Count a treebank and keep what reaches the thresholds, by the rules that the module states.

    Args:
        sentences: the treebank; read once.
        thresholds: least count, by "words", "tags", "relations".
        options: see `Vocabulary`; "words", "tags" and "dependencies" are on unless they are False.

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
    words, coverage = _count_words(tokens, Vocabulary(*[()] * len(_LISTS), dict(thresholds), options))
    if not options.get("words", True):
        words.clear()
    kept_tags, rare_tags = _replace_rare(tags, thresholds["tags"], UNKNOWN_TAG)
    kept_arcs, rare_arcs = _replace_rare(arcs, thresholds["relations"], UNKNOWN_RELATION)
    columns = [*_ordered(words), *_ordered(kept_tags), *_ordered(kept_arcs)]
    if options["adjacency"]:
        columns[4:] = [(*columns[4], ADJACENCY), (*columns[5], adjacent)]
    return Vocabulary(*columns, rare_tags, rare_arcs, dict(thresholds), options, coverage)


def _checked(options: dict) -> dict:
    """The options as a vocabulary states them: what may be switched off is named only where it is."""
    if not (options.get("dependencies", True) or options["adjacency"]):
        raise BoveError(
            "neither dependencies nor adjacency: no relation is left; switch one of them on, and to train "
            "without relations set alpha to 0"
        )
    stated = {name: options[name] for name in ("numbers", "punctuation", "lookup", "adjacency")}
    return stated | {name: False for name in ("words", "tags", "dependencies") if not options.get(name, True)}


def _count(sentences) -> tuple[Counter, Counter, Counter, int]:
    """Counts of (form, tag), tags and relations, and the number of adjacent pairs."""
    tokens, tags, arcs, adjacent = Counter(), Counter(), Counter(), 0
    for sentence in sentences:
        tokens.update(zip(sentence.forms, sentence.tags, strict=True))
        tags.update(sentence.tags)
        arcs.update(r for head, r in zip(sentence.heads, sentence.relations, strict=True) if head > 0)
        adjacent += max(len(sentence.forms) - 1, 0)
    return tokens, tags, arcs, adjacent


def _count_words(tokens: Counter, empty: Vocabulary) -> tuple[Counter, dict]:
    """Tokens of each word row, and the coverage: tokens by route, types seen and kept.

    Args:
        tokens: counts of (form, tag).
        empty: a vocabulary without names, of the thresholds and options.
    """
    first = VARIANTS[empty.options["lookup"][0]]
    types: Counter = Counter()
    for (form, _), count in tokens.items():
        if empty.word_class(form) is None:
            types[first(form)] += count
    least = empty.thresholds["words"]
    kept = {word for word, count in types.items() if count >= least and not empty.is_reserved(word)}
    draft = replace(empty, words=(*filter(empty.is_reserved, (NUMBER, PUNCTUATION)), *kept))
    words, routes = Counter(), Counter()
    for (form, tag), count in tokens.items():
        row, route = draft.known_row(form)
        words[draft.words[row] if row >= 0 else draft.unknown_word(tag)] += count
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
