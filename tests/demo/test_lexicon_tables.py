"""The tables of the lexicon fit together."""

from itertools import combinations

from bove.demo import nouns, verbs
from bove.demo.lexicon import affinity, lexicon


def test_no_two_synsets_of_a_class_share_a_lemma():
    for kind in (lexicon().nouns, lexicon().verbs, lexicon().manners):
        for one, other in combinations(kind, 2):
            assert not (set(one.lemmas) & set(other.lemmas) and one.cls == other.cls), (one.name, other.name)


def test_every_class_that_a_verb_or_adjective_selects_has_nouns():
    for synset in lexicon().verbs + lexicon().adjectives:
        for classes in synset.selects:
            assert all(lexicon().select(c) for c in classes), synset.name
        assert not synset.instrument or lexicon().select(synset.instrument), synset.name


def test_antonyms_are_mutual_and_of_the_same_frame():
    for synset in lexicon().verbs + lexicon().adjectives + lexicon().manners:
        opposite = lexicon().antonym(synset)
        assert (opposite is None) == (not synset.antonym), synset.name
        if opposite is not None and opposite.cls == synset.cls:
            assert lexicon().antonym(opposite) is synset, synset.name


def test_the_word_for_a_class_is_a_noun_of_that_class():
    for cls, lemma in nouns.HYPERNYMS.items():
        assert any(n.lemmas[0] == lemma and n.topic == "any" for n in lexicon().select(cls)), cls


def test_named_places_and_listed_adjectives_exist():
    places = {"/".join(n.lemmas) for n in lexicon().select("place")}
    assert set(nouns.PLACE_PREPOSITIONS) <= places
    assert verbs.COLOURS < verbs.UNGRADABLE <= {a.lemmas[0] for a in lexicon().adjectives}
    assert {v.lemmas[0] for v in lexicon().verbs} >= verbs.STATIVE


def test_company_depends_on_the_pair_of_synsets():
    doctor, chase = lexicon().select("doctor")[0], next(v for v in lexicon().verbs if "chase" in v.lemmas)
    weights = {affinity(chase, noun) for noun in lexicon().select("person")}
    assert weights == {0.1, 1.0, 5.0}
    nurse, sailor = (lexicon().select(n)[0] for n in ("nurse", "sailor"))
    same_topic = [affinity(doctor, n) for n in lexicon().select("person:health")]
    assert max(same_topic) == 25.0 and affinity(doctor, nurse) != affinity(doctor, sailor)
