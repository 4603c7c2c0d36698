"""Sentences of the built-in corpus: forms, trees, predicates and text from frames."""

import pytest

from bove.demo.clauses import sentence
from bove.demo.frames import Adjunct, Clause, Quality, Thing, Time
from bove.demo.lexicon import Word, article, lexicon, plural, verb_form
from bove.demo.tree import binary_parse, detokenise


def word(lemma, kind="nouns"):
    synset = next(s for s in getattr(lexicon(), kind) if lemma in s.lemmas)
    return Word(synset, synset.lemmas.index(lemma))


def verb(lemma):
    return word(lemma, "verbs")


DOG, MAN, HAMMER = Thing(word("dog")), Thing(word("man")), Thing(word("hammer"), determiner="a")
PARK = Thing(word("park"))
CHASE = Clause(verb("chase"), DOG, MAN)


def arcs(frame):
    """`form<label<head` of every token but the final stop."""
    tokens = sentence(frame)
    forms = ["0", *(t.form for t in tokens)]
    return [f"{t.form}<{t.relation}<{forms[t.head]}" for t in tokens if t.tag != "."]


def roles(frame):
    """{predicate's sense: {form: role}}."""
    tokens = sentence(frame)
    found = {t.sense: {} for t in tokens if t.sense}
    for t in tokens:
        for predicate, role in t.arguments:
            found[tokens[predicate - 1].sense][t.form] = role
    return found


def text(frame):
    return detokenise(sentence(frame))


def test_active_and_passive_have_the_same_arguments_under_other_labels():
    assert arcs(CHASE) == [
        "The<NMOD<dog",
        "dog<SBJ<chased",
        "chased<ROOT<0",
        "the<NMOD<man",
        "man<OBJ<chased",
    ]
    passive = Clause(verb("chase"), DOG, MAN, passive=True)
    assert arcs(passive)[1:5] == ["man<SBJ<was", "was<ROOT<0", "chased<VC<was", "by<LGS<chased"]
    assert roles(CHASE) == {"chase.01": {"dog": "A0", "man": "A1"}}
    assert roles(passive) == {"chase.01": {"man": "A1", "by": "A0"}}


def test_a_chain_of_auxiliaries_hangs_by_vc_and_carries_not():
    denied = Clause(verb("chase"), DOG, MAN, modal="will", negated=True)
    assert text(denied) == "The dog won't chase the man."
    assert arcs(denied)[2:5] == ["wo<ROOT<0", "n't<ADV<wo", "chase<VC<wo"]
    assert roles(denied)["chase.01"] == {"dog": "A0", "man": "A1", "wo": "AM-MOD", "n't": "AM-NEG"}
    running = Clause(verb("chase"), DOG, MAN, aspect="progressive", passive=True, tense="present")
    assert text(running) == "The man is being chased by the dog."


def test_the_verb_agrees_with_the_subject():
    dogs = Thing(word("dog"), plural=True, numeral="two")
    both = Thing(word("dog"), other=MAN)
    either = Thing(word("dog"), other=MAN, joiner="or")
    for subject, form in ((dogs, "are"), (both, "are"), (either, "is"), (DOG, "is")):
        assert f" {form} chasing" in text(
            Clause(verb("chase"), subject, MAN, tense="present", aspect="progressive")
        )
    assert text(Clause(verb("chase"), both, MAN)) == "The dog and the man chased the man."


def test_a_phrase_hangs_on_the_noun_or_on_the_verb():
    where = Adjunct("in", PARK, "LOC", "AM-LOC")
    outer = Clause(verb("chase"), DOG, MAN, adjuncts=(where,))
    inner = Clause(verb("chase"), DOG, Thing(word("man"), adjuncts=(Adjunct("in", PARK, "LOC"),)))
    assert text(outer) == text(inner) == "The dog chased the man in the park."
    assert "in<LOC<chased" in arcs(outer) and "in<LOC<man" in arcs(inner)
    assert roles(outer)["chase.01"]["in"] == "AM-LOC" and "in" not in roles(inner)["chase.01"]


def test_relative_clauses_are_modifiers_whose_pronoun_is_subject_or_object():
    chaser = Thing(word("man"), relative=Clause(verb("help"), None, Thing(word("nurse"))))
    chased = Thing(word("dog"), relative=Clause(verb("see"), Thing(word("nurse")), None))
    tree = arcs(Clause(verb("chase"), chaser, chased))
    assert {"who<SBJ<helped", "helped<NMOD<man", "that<OBJ<saw", "nurse<SBJ<saw", "saw<NMOD<dog"} <= set(tree)
    found = roles(Clause(verb("chase"), chaser, chased))
    assert found["help.01"] == {"man": "A0", "who": "R-A0", "nurse": "A1"}
    assert found["see.01"] == {"nurse": "A0", "dog": "A1", "that": "R-A1"}


def test_what_is_said_is_an_object_with_or_without_quotation_marks():
    said = Clause(verb("say"), Thing(name=(("Mr.", "title"), ("Reed", "last"))), content=CHASE)
    assert text(said) == "Mr. Reed said that the dog chased the man."
    assert {"Mr.<TITLE<Reed", "that<OBJ<said", "chased<SUB<that"} <= set(arcs(said))
    quoted = Clause(verb("say"), MAN, content=CHASE, quoted=True)
    assert text(quoted) == '"The dog chased the man," the man said.'
    assert {"``<P<said", "chased<OBJ<said", "''<P<said"} <= set(arcs(quoted))


def test_gifts_come_in_two_orders_with_the_same_arguments():
    give = {"verb": verb("give"), "subject": MAN, "object": HAMMER, "recipient": Thing(word("nurse"))}
    late, early = Clause(**give), Clause(**give, double_object=True)
    assert text(late) == "The man gave a hammer to the nurse."
    assert text(early) == "The man gave the nurse a hammer."
    assert roles(late)["give.01"] == {"man": "A0", "hammer": "A1", "to": "A2"}
    assert roles(early)["give.01"] == {"man": "A0", "hammer": "A1", "nurse": "A2"}


def test_clauses_are_joined_by_conjunctions_and_purpose():
    sleep = Clause(verb("sleep"), MAN)
    because = Clause(verb("chase"), DOG, MAN, subordinate=("because", sleep), subordinate_first=True)
    assert text(because) == "Because the man slept, the dog chased the man."
    assert {"Because<PRP<chased", "slept<SUB<Because"} <= set(arcs(because))
    when = Clause(verb("chase"), DOG, MAN, subordinate=("when", sleep))
    assert {"when<TMP<slept", "slept<TMP<chased"} <= set(arcs(when))
    both = Clause(verb("chase"), DOG, MAN, coordinate=sleep)
    assert text(both) == "The dog chased the man, and the man slept."
    assert {"and<COORD<chased", "slept<CONJ<and"} <= set(arcs(both))
    aim = Clause(verb("chase"), MAN, DOG, purpose=Clause(verb("buy"), None, HAMMER))
    assert text(aim) == "The man chased the dog to buy a hammer."
    assert {"to<PRP<chased", "buy<IM<to"} <= set(arcs(aim))


def test_questions_fragments_and_existence():
    assert text(Clause(verb("chase"), DOG, MAN, question=True)) == "Did the dog chase the man?"
    caption = Clause(verb("chase"), DOG, MAN, tense="present", fragment=True)
    assert arcs(caption)[1:3] == ["dog<ROOT<0", "chasing<APPO<dog"]
    there = Clause(None, None, state=Thing(word("dog"), determiner="a"), tense="present")
    assert text(there) == "There is a dog."
    assert arcs(there) == ["There<SBJ<is", "is<ROOT<0", "a<NMOD<dog", "dog<PRD<is"]


def test_amounts_and_dates_read_as_in_a_newspaper():
    rise = Clause(
        verb("rise"),
        Thing(word("profit")),
        change=("5 %", "", "$ 3.2 million"),
        time=Time(("date", "Jan.", "12")),
        front=True,
    )
    assert text(rise) == "On Jan. 12, the profit rose 5% to $3.2 million."
    assert {"%<EXT<rose", "$<PMOD<to", "million<DEP<$", "12<NMOD<Jan.", "On<TMP<rose"} <= set(arcs(rise))
    assert text(Clause(verb("rise"), Thing(word("profit")), time=Time(("month", "Feb.")))).endswith("in Feb.")


def test_comparison_and_possession():
    tall, famous = (Quality(word(a, "adjectives")) for a in ("tall", "famous"))
    assert text(Clause(None, MAN, state=tall, than=DOG)) == "The man was taller than the dog."
    assert text(Clause(None, MAN, state=famous, than=DOG)) == "The man was more famous than the dog."
    owned = Thing(word("hammer"), owner=Thing(word("man"), qualities=(tall,)), determiner="")
    owners = Thing(word("hammer"), owner=Thing(word("nurse"), plural=True), determiner="")
    assert text(Clause(verb("see"), owned, owners)) == "The tall man's hammer saw the nurses' hammer."


def test_a_becomes_an_before_whatever_follows():
    old = Quality(word("old", "adjectives"))
    assert text(Clause(verb("see"), MAN, Thing(word("man"), determiner="a", qualities=(old,)))).endswith(
        "an old man."
    )
    assert [article(w) for w in ("apple", "union", "honest", "Oslo", "one")] == ["an", "a", "an", "an", "a"]


@pytest.mark.parametrize(
    ("lemma", "forms"),
    [
        ("carry", "carries carried carried carrying"),
        ("hug", "hugs hugged hugged hugging"),
        ("visit", "visits visited visited visiting"),
        ("write", "writes wrote written writing"),
        ("push", "pushes pushed pushed pushing"),
        ("play", "plays played played playing"),
    ],
)
def test_verbs_are_inflected(lemma, forms):
    assert [verb_form(lemma, tag) for tag in ("VBZ", "VBD", "VBN", "VBG")] == forms.split()


def test_nouns_are_inflected():
    given = ("box", "city", "boy", "woman", "thief", "sheep", "bench", "bus")
    assert [plural(n) for n in given] == [
        "boxes",
        "cities",
        "boys",
        "women",
        "thieves",
        "sheep",
        "benches",
        "buses",
    ]


def test_the_bracketing_is_binary_and_keeps_the_tokens():
    assert binary_parse(sentence(CHASE)) == "( ( The dog ) ( ( chased ( the man ) ) . ) )"
