"""Counting a treebank into a vocabulary, by the rules that `bove.text.vocabulary` states."""

from collections import Counter
from collections.abc import Iterable

from bove.errors import BoveError
from bove.text.conll import Sentence
from bove.text.vocabulary import (
    ADJACENCY,
    UNKNOWN_RELATION,
    UNKNOWN_TAG,
    Vocabulary,
    form_class,
    is_reserved,
    unknown_word,
)
from bove.text.words import LOOKUP, VARIANTS


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
