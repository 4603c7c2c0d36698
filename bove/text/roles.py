"""Probes of roles: is a sentence entailed better than the same one with its subject and its object exchanged?

A probe comes from a pair whose first sentence entails the second. There, the first verb that has both a
nominal subject and a nominal object gives two tokens, which exchange words and tags; the tree stays. A bag of
words cannot tell the second sentence from the third.

The subject of a verb that has none of its own is that of its auxiliary, on which CoNLL-2009 puts it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from bove.errors import BoveError
from bove.text.conll import Sentence
from bove.text.pairs import POSITIVE, ROLES, Pair

GOLD = "second"  # of every probe: the first sentence entails the second, not the third
# Why a pair makes no probe.
NO_GOLD = "without gold"
NOT_ENTAILED = "whose first sentence does not entail the second"
NO_WORDS = "with a sentence without words"
NO_CLAUSE = "without a verb that has a nominal subject and object"
ONE_WORD = "whose subject and object are one word"
_VERBS, _MODAL = ("VB", "VERB", "AUX"), "MD"
_NOMINALS = ("NN", "NOUN", "PROPN", "PRON", "PRP")
_NOT_NOMINAL = "PRP$"
_CHAIN = "VC"  # from an auxiliary to its verb


def probes(
    pairs: Iterable[Pair],
    trees: Mapping[str, Sentence],
    names: tuple[str, str],
    labels: tuple[Collection[str], Collection[str]],
    min_gold: float,
    counts: Counter,
) -> Iterator[tuple[Pair, tuple[Sentence, Sentence, Sentence]]]:
    """Yield each probe that pairs of one data set make, with its trees PROBE.1, PROBE.2 and PROBE.3.

    Args:
        trees: of the scored pairs' sentences, by PAIR.1 and PAIR.2.
        names: the probes' data set, and its label in the tables; their subset is the pairs' data set.
        labels: of arcs to subjects, and to objects.
        min_gold: least score of a similarity pair that counts as entailed.
        counts: gets the number of pairs that make none, by reason.

    Raises:
        BoveError: a scored pair without a tree.
    """
    for pair in pairs:
        found = _probe(pair, trees, *labels, min_gold)
        if isinstance(found, str):
            counts[found] += 1
            continue
        own = (*names, ROLES, pair.dataset)
        name, text = f"{pair.dataset}-{pair.id}", " ".join(found[2].forms)
        probe = Pair(name, *own, pair.first, pair.second, GOLD, True, text)
        ids = probe.sentences
        yield probe, tuple(replace(tree, id=own) for tree, own in zip(found, ids, strict=True))


def _probe(pair, trees, subjects, objects, min_gold) -> tuple[Sentence, Sentence, Sentence] | str:
    """The three trees of a pair's probe, or why it makes none."""
    if not pair.scored:
        return NO_GOLD
    if not (pair.gold == POSITIVE if pair.task == "entailment" else pair.gold >= min_gold):
        return NOT_ENTAILED
    if missing := [name for name in pair.sentences if name not in trees]:
        raise BoveError(f"the parses have no tree {missing[0]}; parse these pairs")
    first, second = (trees[name] for name in pair.sentences)
    if not (first.forms and second.forms):
        return NO_WORDS
    found = subject_and_object(second, subjects, objects)
    if found is None:
        return NO_CLAUSE
    one, other = (second.forms[token].casefold() for token in found)
    return ONE_WORD if one == other else (first, second, exchanged(second, *found))


def subject_and_object(
    sentence: Sentence, subjects: Collection[str], objects: Collection[str]
) -> tuple[int, int] | None:
    """Places of the subject and the object of the first verb that has both, and nominal ones, or None.

    Args:
        subjects, objects: labels of arcs to these; of several dependents, the first counts.
    """
    first: dict[tuple[int, str], int] = {}
    for token, (head, tag, label) in enumerate(
        zip(sentence.heads, sentence.tags, sentence.relations, strict=True)
    ):
        if _is_nominal(tag):
            for role, of_role in (("subject", subjects), ("object", objects)):
                if label in of_role:
                    first.setdefault((head - 1, role), token)
    for verb, tag in enumerate(sentence.tags):
        if tag.startswith(_VERBS) and (verb, "object") in first:
            holder, seen = verb, set()
            while (holder, "subject") not in first and holder not in seen:
                seen.add(holder)
                holder = sentence.heads[holder] - 1 if _has_auxiliary(sentence, holder) else holder
            if (holder, "subject") in first:
                return first[holder, "subject"], first[verb, "object"]
    return None


def _is_nominal(tag: str) -> bool:
    return tag.startswith(_NOMINALS) and tag != _NOT_NOMINAL


def _has_auxiliary(sentence: Sentence, verb: int) -> bool:
    head = sentence.heads[verb] - 1
    return (
        head >= 0 and sentence.relations[verb] == _CHAIN and sentence.tags[head].startswith((*_VERBS, _MODAL))
    )


def exchanged(sentence: Sentence, one: int, other: int) -> Sentence:
    """The sentence with words and tags of two tokens exchanged, on the same tree."""
    order = list(range(len(sentence.forms)))
    order[one], order[other] = other, one
    columns = {name: getattr(sentence, name) for name in ("forms", "tags")}
    return replace(sentence, **{name: tuple(column[i] for i in order) for name, column in columns.items()})
