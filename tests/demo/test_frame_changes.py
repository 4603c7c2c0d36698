"""Pairs of the built-in corpus: what a change keeps, and the label that it gets."""

import random
from collections import Counter, defaultdict
from statistics import mean

import pytest

from bove.demo import changes, modifiers
from bove.demo.clauses import sentence
from bove.demo.pairs import CHANGES, GOLD, SETS, entailment_set, similarity_set
from bove.demo.sampler import Sampler

AUXILIARIES = {"be", "have", "do"}
SWAPS = ("roles", "speakers", "clauses", "bindings", "attachment")


def content(tokens):
    """The multiset of content lemmas."""
    kept = ("NN", "VB", "JJ", "CD")
    return Counter(t.lemma for t in tokens if t.tag.startswith(kept) and t.lemma not in AUXILIARIES)


def arcs(tokens):
    """The multiset of (head's lemma, label, lemma)."""
    lemmas = ["", *(t.lemma for t in tokens)]
    return Counter((lemmas[t.head], t.relation, t.lemma) for t in tokens)


@pytest.fixture(scope="module")
def sets():
    """Similarity pairs of each set."""
    return {name: similarity_set(name, 11, 200) for name in SETS}


@pytest.fixture(scope="module")
def pairs(sets):
    """Similarity pairs of all sets, by recipe."""
    found = defaultdict(list)
    for examples in sets.values():
        for example in examples:
            found[example.recipe].append(example)
    return found


@pytest.fixture(scope="module")
def entailment():
    return entailment_set("dev", 11, 150)


def changed(change, count=25, styles=("plain", "news", "caption")):
    """Token sequences before and after a change, for frames that give room for it."""
    s = Sampler(random.Random(5))
    found = []
    while len(found) < count:
        frame = s.clause(s.rng.choice(styles))
        after = change(s, frame)
        if after is not None:
            found.append((sentence(frame), sentence(after)))
    return found


@pytest.mark.parametrize("recipe", SWAPS)
def test_exchanges_keep_the_content_words_and_change_the_tree(recipe):
    for before, after in changed(CHANGES[recipe]):
        assert content(before) == content(after)
        assert arcs(before) != arcs(after)


@pytest.mark.parametrize("change", [changes.voice, changes.order, changes.fragment])
def test_paraphrases_keep_the_predicates_arguments(change):
    def heads(tokens):
        """(sense, role, lemma or, for a preposition by or to, its object's)."""
        below = {t.head: t.lemma for t in tokens if t.relation == "PMOD"}
        return Counter(
            (tokens[p - 1].sense, role, below.get(i, t.lemma) if t.lemma in {"by", "to"} else t.lemma)
            for i, t in enumerate(tokens, 1)
            for p, role in t.arguments
        )

    for before, after in changed(change):
        assert content(before) == content(after)
        assert heads(before) == heads(after)


def test_synonyms_stay_in_their_synsets():
    for before, after in changed(changes.synonyms):
        assert len(before) == len(after)
        assert [t.relation for t in before] == [t.relation for t in after]
        assert [t.form for t in before] != [t.form for t in after]


def test_what_is_dropped_leaves_a_part_and_what_is_added_leaves_the_rest():
    for drop in (modifiers.drop, modifiers.part):
        for before, after in changed(drop):
            assert content(after) < content(before) or len(after) < len(before)
            assert not content(after) - content(before)
    for before, after in changed(modifiers.add):
        assert not content(before) - content(after) and len(after) > len(before)


def test_an_argument_or_event_is_replaced_by_one_other_word():
    for change, tag in ((changes.argument, "NN"), (changes.event, "VB"), (changes.hypernym, "NN")):
        for before, after in changed(change):
            gone, come = content(before) - content(after), content(after) - content(before)
            assert sum(gone.values()) == sum(come.values()) == 1
            (word,) = come
            assert next(t for t in after if t.lemma == word and t.tag.startswith(tag))


def test_negation_adds_or_removes_not_alone():
    for before, after in changed(changes.negate):
        lemmas = Counter(t.lemma for t in before), Counter(t.lemma for t in after)
        difference = (lemmas[0] - lemmas[1]) + (lemmas[1] - lemmas[0])
        assert difference["not"] == 1 and set(difference) <= {"not", "do"}


def test_scores_follow_the_recipe(pairs):
    assert pairs.keys() == GOLD.keys()
    for recipe, examples in pairs.items():
        assert all(abs(example.label - GOLD[recipe]) < 1.2 for example in examples), recipe
        assert abs(mean(example.label for example in examples) - GOLD[recipe]) < 0.4, recipe


def test_role_exchanges_stand_in_every_set_and_score_low(sets):
    for name, examples in sets.items():
        low = [e for e in examples if e.recipe in SWAPS]
        assert len(low) > 8, name
        assert mean(e.label for e in low) < 3


def test_unrelated_pairs_share_little(pairs):
    shared = [sum((content(e.first) & content(e.second)).values()) for e in pairs["unrelated"]]
    assert mean(shared) < 0.5


def test_each_premise_has_one_hypothesis_of_each_label(entailment):
    labels = [example.label for example in entailment]
    assert labels == ["entailment", "neutral", "contradiction"] * 150
    assert all(a.first == b.first for a, b in zip(entailment[::3], entailment[2::3], strict=True))
    assert all(example.texts[0] != example.texts[1] for example in entailment)


def test_what_follows_has_no_content_word_of_its_own_unless_said_otherwise(entailment):
    for example in entailment:
        if example.label == "entailment" and set(example.recipe.split()) <= {"drop", "part"}:
            extra = content(example.second) - content(example.first)
            # a synonym may have been put in besides: then one has gone for each that has come
            assert len(extra) <= len(content(example.first) - content(example.second))


def test_length_does_not_give_the_label_away(entailment):
    differences = defaultdict(Counter)
    for example in entailment:
        differences[len(example.second) - len(example.first)][example.label] += 1
    right = sum(max(labels.values()) for labels in differences.values())
    assert right < 0.68 * len(entailment)
