"""Probes of roles from trees of both styles, by hand."""

from collections import Counter
from dataclasses import replace

import pytest

from bove.errors import BoveError
from bove.text import roles
from bove.text.conll import Sentence
from bove.text.pairs import Pair
from bove.text.roles import probes, subject_and_object

UD, CONLL = ({"nsubj"}, {"obj", "obl"}), ({"SBJ"}, {"OBJ"})


def tree(rows: str, name: str = "") -> Sentence:
    """A tree from rows of form/tag/head/label."""
    forms, tags, heads, relations = zip(*(row.rsplit("/", 3) for row in rows.split()), strict=True)
    return Sentence(name, forms, tags, tuple(map(int, heads)), relations)


CHASED = "The/DT/2/det dog/NN/3/nsubj chased/VBD/0/root two/CD/5/nummod cats/NNS/3/obj"
CHASING = "A/DT/2/NMOD dog/NN/3/SBJ is/VBZ/0/ROOT chasing/VBG/3/VC cats/NNS/4/OBJ"


@pytest.mark.parametrize(
    ("rows", "labels", "expected"),
    [
        (CHASED, UD, ("dog", "cats")),
        (CHASED, CONLL, None),
        (CHASED.replace("chased/VBD", "chased/VERB").replace("cats/NNS", "cats/NOUN"), UD, ("dog", "cats")),
        (CHASED.replace("chased/VBD", "chased/JJ"), UD, None),
        (CHASED.replace("dog/NN", "what/WP"), UD, None),
        (CHASED.replace("cats/NNS", "hers/PRP$"), UD, None),
        (CHASED.replace("dog/NN", "she/PRP"), UD, ("she", "cats")),
        ("He/PRP/2/nsubj slept/VBD/0/root", UD, None),
        # CoNLL-2009 puts the subject on the auxiliary, be it one of several
        (CHASING, CONLL, ("dog", "cats")),
        ("It/PRP/2/SBJ will/MD/0/ROOT be/VB/2/VC seeing/VBG/3/VC us/PRP/4/OBJ", CONLL, ("It", "us")),
        (CHASING.replace("/VC", "/OPRD"), CONLL, None),
        ("a/NN/2/SBJ x/VBZ/3/VC y/VBZ/2/VC z/NN/3/OBJ", CONLL, ("a", "z")),
        ("x/VBZ/2/VC y/VBZ/1/VC z/NN/2/OBJ", CONLL, None),
        # the first verb that has both, and its first dependents
        (
            "He/PRP/2/nsubj said/VBD/0/root I/PRP/4/nsubj saw/VBD/2/ccomp her/PRP/4/obj men/NNS/4/obl",
            UD,
            ("I", "her"),
        ),
        ("x/NN/0/nsubj saw/VBD/-1/root y/NN/2/obj", UD, None),
    ],
)
def test_the_first_verb_with_a_nominal_subject_and_object(rows, labels, expected):
    sentence = tree(rows)
    found = subject_and_object(sentence, *labels)
    assert expected == (found and tuple(sentence.forms[token] for token in found))


def pair(name, gold, task="entailment", scored=True):
    return Pair(name, "sts", "STS", task, "images", "Dogs chase .", "A text .", gold, scored)


def made(pairs, second=CHASED, labels=UD, least=4.0):
    counts: Counter = Counter()
    trees = {f"{one.id}.1": tree("Dogs/NNS/0/root") for one in pairs}
    trees |= {f"{one.id}.2": tree(second) if second else Sentence("") for one in pairs}
    found = list(probes(pairs, trees, ("roles", "Roles"), labels, least, counts))
    assert len(found) + counts.total() == len(pairs)
    return found, dict(counts)


def test_a_probe_exchanges_words_and_tags_and_keeps_the_tree():
    [(probe, (first, second, third))], _ = made([pair("images-7", "entailment")])
    assert (probe.id, probe.dataset, probe.label, probe.task, probe.subset, probe.scored) == (
        *("sts-images-7", "roles", "Roles", "roles", "sts", True),
    )
    assert list(probe.sentences.values()) == ["Dogs chase .", "A text .", "The cats chased two dog"]
    assert [t.id for t in (first, second, third)] == list(probe.sentences)
    assert third.tags == ("DT", "NNS", "VBD", "CD", "NN")
    assert replace(third, id=second.id, forms=second.forms, tags=second.tags) == second


@pytest.mark.parametrize(
    ("one", "second", "reason"),
    [
        (pair("a", "neutral"), CHASED, roles.NOT_ENTAILED),
        (pair("a", 3.9, "similarity"), CHASED, roles.NOT_ENTAILED),
        (pair("a", None, "similarity", False), CHASED, roles.NO_GOLD),
        (pair("a", "-", scored=False), CHASED, roles.NO_GOLD),
        (pair("a", "entailment"), "", roles.NO_WORDS),
        (pair("a", "entailment"), "Yes/UH/0/root", roles.NO_CLAUSE),
        (pair("a", "entailment"), CHASED.replace("cats/", "Dog/"), roles.ONE_WORD),
    ],
)
def test_a_pair_that_makes_no_probe_is_counted_by_its_reason(one, second, reason):
    assert made([one], second) == ([], {reason: 1})


def test_a_similar_pair_counts_from_the_least_score_on():
    found, counts = made([pair("a", 4.0, "similarity"), pair("b", 5, "similarity")])
    assert len(found) == 2 and not counts


def test_a_scored_pair_without_a_tree_is_refused():
    with pytest.raises(BoveError, match=r"no tree a\.1; parse"):
        list(probes([pair("a", "entailment")], {}, ("roles", "Roles"), UD, 4, Counter()))
