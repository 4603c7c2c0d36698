"""Counting a treebank, and resolving forms, tags and relations."""

import json

import pytest

from bove.errors import BoveError
from bove.text.conll import Sentence
from bove.text.vocabulary import Vocabulary, build

OPTIONS = dict.fromkeys(("numbers", "punctuation", "adjacency"), True)
OPTIONS |= {"lookup": ["exact", "lower", "capitalised"]}
LOW = {"words": 2, "tags": 2, "relations": 2}


def sentence(words, relations=None):
    """A sentence from form/TAG words; every token hangs on the first, which is the root."""
    forms, tags = zip(*(word.rsplit("/", 1) for word in words.split()), strict=True)
    heads = (0,) + (1,) * (len(forms) - 1)
    labels = (relations or "root " + "dep " * (len(forms) - 1)).split()
    return Sentence("s", forms, tags, heads, tuple(labels))


def row_of(vocabulary, form, tag):
    """The row of a token's word, the one for unknown words included; -1 if it has none."""
    row, _ = vocabulary.known_row(form)
    return vocabulary.unknown_row(tag) if row < 0 else row


def make(*sentences, options=(), thresholds=()):
    return build(sentences, LOW | dict(thresholds), OPTIONS | dict(options))


def test_variants_come_in_the_configured_order_without_repeats():
    lookup = ["lower", "exact", "capitalised"]
    assert make(sentence("a/T")).variants("iPhone") == ["iPhone", "iphone", "Iphone"]
    assert make(sentence("a/T"), options={"lookup": lookup}).variants("the") == ["the", "The"]


def words_of(vocabulary):
    return dict(zip(vocabulary.words, vocabulary.word_counts, strict=True))


def test_counts_thresholds_and_order():
    vocabulary = make(
        sentence("Dogs/NNS see/VBP dogs/NNS ,/, 2/CD cats/NNS !/.", "root obj obj punct obj obj punct"),
        sentence("dogs/NNS see/VBP Paris/NNP", "root obj iobj"),
    )
    # Dogs is rare, and stands for dogs; cats and Paris stand for nothing known.
    assert vocabulary.words == ("dogs", "PUNCT", "see", "NB", "UNKNOWN_NNP", "UNKNOWN_NNS")
    assert vocabulary.word_counts == (3, 2, 2, 1, 1, 1)
    # One each of CD, "," "." and NNP is below the threshold; the threshold itself is enough.
    assert (vocabulary.tags, vocabulary.tag_counts) == (("NNS", "UNKNOWN_POSTAG", "VBP"), (4, 4, 2))
    assert vocabulary.rare_tags == (",", ".", "CD", "NNP") and vocabulary.rare_relations == ("iobj",)
    assert vocabulary.relations == ("obj", "punct", "UNKNOWN_RELATION", "ADJACENCY")
    assert vocabulary.relation_counts == (5, 2, 1, 8)
    assert vocabulary.coverage == {
        "tokens": 10,
        "tokens_by_route": {"NB": 1, "PUNCT": 2, "exact": 4, "lower": 1, "unknown": 2},
        "word_types": 5,
        "word_types_kept": 2,
    }


def test_rare_forms_are_looked_up_as_capitalised_too():
    vocabulary = make(sentence("Paris/NNP Paris/NNP PARIS/NNP paris/NN"))
    assert words_of(vocabulary) == {"Paris": 4}


def test_words_are_counted_under_their_first_variant():
    vocabulary = make(sentence("The/DT THE/DT the/DT"), options={"lookup": ["lower"]})
    assert (vocabulary.words, vocabulary.word_counts) == (("the",), (3,))
    assert vocabulary.known_row("tHe") == (0, "lower")


def test_replacements_can_be_switched_off():
    assert make(sentence("NB/T a/T a/T"), options={"numbers": False}).words == ("a", "UNKNOWN_T")
    sentences = [sentence("5/CD 5/CD ,/, ,/, a/T", "root x x x x")]
    vocabulary = make(*sentences, options={"numbers": False, "punctuation": False, "adjacency": False})
    assert vocabulary.words == (",", "5", "UNKNOWN_T")
    assert vocabulary.relations == ("x",)
    assert vocabulary.word_class("5") is None and vocabulary.word_class(",") is None


def test_without_tags_unknown_words_share_one_row_and_do_not_tell_their_tag():
    trees = [sentence("dogs/NNS dogs/NNS cat/NN runs/VBZ 5/CD ,/,", "root x x x x x")]
    vocabulary = make(*trees, options={"tags": False})
    assert not vocabulary.has_tags
    assert (vocabulary.tags, vocabulary.tag_counts, vocabulary.rare_tags) == ((), (), ())
    assert words_of(vocabulary) == {"UNKNOWN_": 2, "dogs": 2, "NB": 1, "PUNCT": 1}
    row = vocabulary.words.index("UNKNOWN_")
    assert {row_of(vocabulary, "zebra", tag) for tag in ("NN", "JJ", "never seen")} == {row}
    assert vocabulary.tag_row("NNS") == -1 and vocabulary.n_properties == vocabulary.n_words == 4
    assert vocabulary.is_reserved("UNKNOWN_")
    assert vocabulary.relations == make(*trees).relations and vocabulary.rare_relations == ()


def test_what_a_vocabulary_does_not_state_is_on_and_hashes_alike(tmp_path):
    trees = [sentence("é/T é/T “/T rare/R")]
    silent, stated = make(*trees), make(*trees, options={"tags": True, "dependencies": True})
    assert silent == stated and silent.hash == stated.hash and silent.has_tags and silent.has_dependencies
    assert not silent.options.keys() & {"tags", "dependencies"}
    without = make(*trees, options={"tags": False})
    assert without.hash != silent.hash
    without.save(tmp_path / "v.json")
    assert Vocabulary.load(tmp_path / "v.json") == without and without.options["tags"] is False
    content = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert content["hash"] == without.hash and content["format"] == "bove-vocabulary"


def test_without_dependencies_adjacency_is_the_one_relation(tmp_path):
    trees = [sentence("a/T b/T c/T", "root x ADJACENCY"), sentence("a/T b/T", "root x")]
    vocabulary = make(*trees, options={"dependencies": False})
    assert (vocabulary.relations, vocabulary.relation_counts) == (("ADJACENCY",), (3,))
    assert vocabulary.rare_relations == () and not vocabulary.has_dependencies and vocabulary.has_tags
    assert vocabulary.relation_row("x") == vocabulary.relation_row("ADJACENCY") == -1
    vocabulary.save(tmp_path / "v.json")
    assert Vocabulary.load(tmp_path / "v.json") == vocabulary
    assert vocabulary.words == make(*trees, options={"adjacency": False}).words


def test_without_any_relation_there_is_no_vocabulary():
    with pytest.raises(BoveError, match=r"neither dependencies nor adjacency.*set alpha to 0"):
        make(sentence("a/T b/T"), options={"dependencies": False, "adjacency": False})


def test_the_arc_from_the_root_and_a_missing_arc_are_no_relations():
    trees = [Sentence("s", ("a", "b", "c"), ("T",) * 3, (0, -1, 1), ("root", "_", "dep"))] * 2
    vocabulary = make(*trees)
    assert vocabulary.relations == ("dep", "ADJACENCY")
    assert vocabulary.rare_relations == ()


def test_a_word_with_a_replacements_name_gets_no_row_of_its_own():
    vocabulary = make(sentence("NB/NNP NB/NNP 5/CD UNKNOWN_NNP/FW UNKNOWN_NNP/FW"))
    assert words_of(vocabulary) == {"NB": 1, "UNKNOWN_NNP": 2, "UNKNOWN_FW": 2}
    row = vocabulary.words.index("UNKNOWN_NNP")
    assert row_of(vocabulary, "NB", "NNP") == row
    assert vocabulary.is_reserved("NB") and not vocabulary.is_reserved("nb")


def test_resolving_words():
    vocabulary = make(sentence("dogs/NNS dogs/NNS see/VBP see/VBP 2/CD cat/NN"))
    words = vocabulary.words
    assert words[row_of(vocabulary, "DOGS", "NNP")] == "dogs"
    assert words[row_of(vocabulary, "1,000", "CD")] == "NB"
    assert words[row_of(vocabulary, "zebra", "NN")] == "UNKNOWN_NN"
    assert row_of(vocabulary, "zebra", "JJ") == -1
    assert row_of(vocabulary, "!", ".") == -1
    assert vocabulary.known_row("zebra") == (-1, "unknown")


def test_resolving_tags_and_relations():
    vocabulary = make(sentence("a/T a/T a/T"))
    assert vocabulary.tag_row("new") == vocabulary.relation_row("new") == -1, "nothing is rare here"
    vocabulary = make(
        sentence("a/T b/T c/RARE d/T", "root x rare x"),
        sentence("a/T b/T", "root x"),
        options={"adjacency": True},
    )
    assert vocabulary.tag_row("T") == vocabulary.n_words + vocabulary.tags.index("T")
    assert vocabulary.tag_row("RARE") == vocabulary.tag_row("new") == vocabulary.tag_row("UNKNOWN_POSTAG")
    assert vocabulary.relation_row("x") == 0
    assert vocabulary.relation_row("rare") == vocabulary.relation_row("new") == 1
    assert vocabulary.relation_row("ADJACENCY") == 1, "a parse cannot smuggle in adjacency"
    fates = [vocabulary.relation_fate(name) for name in ("x", "rare", "new", "ADJACENCY")]
    assert fates == ["kept", "rare", "new", "new"]
    assert [vocabulary.tag_fate(name) for name in ("T", "RARE", "new")] == ["kept", "rare", "new"]


def test_the_same_treebank_in_another_order_gives_the_same_vocabulary():
    trees = [sentence("b/T a/U a/T b/U", "root x y x"), sentence("c/T c/U y/T", "root y x")]
    low = {"relations": 1}
    assert make(*trees, thresholds=low) == make(*reversed(trees), thresholds=low)
    assert make(*trees, thresholds=low).relations == ("x", "y", "ADJACENCY")


def test_the_hash_covers_names_thresholds_and_options():
    trees = [sentence("a/T a/T b/T b/T")]
    hashes = {
        make(*trees).hash,
        make(*trees, thresholds={"relations": 1}).hash,
        make(*trees, options={"lookup": ["exact"]}).hash,
        make(*trees, sentence("b/T a/T a/T")).hash,
    }
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["words"].__setitem__(0, "x"), "its hash differs"),
        (lambda c: c["options"].update(adjacency=False), "its hash differs"),
        (lambda c: c.pop("tags"), "its hash differs"),
        (lambda c: c.update(tags=1), "its hash differs"),
        (lambda c: c["words"].__setitem__(0, "\ud83d"), "its hash differs"),
        (lambda c: c.pop("hash"), "its hash differs"),
        (lambda c: c["coverage"].update(tokens=0), "its hash differs"),
        (lambda c: c.update(coverage=[]), "its hash differs"),
        (lambda c: c.update(version=2), "vocabulary version 2, not 1"),
        (lambda c: c.update(format="other"), "not a vocabulary"),
    ],
)
def test_a_changed_file_is_refused(tmp_path, change, message):
    path = tmp_path / "v.json"
    make(sentence("a/T a/T")).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BoveError, match=message):
        Vocabulary.load(path)


@pytest.mark.parametrize("data", [b'{"format": "bove-voc', b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_refused(tmp_path, data):
    (tmp_path / "v.json").write_bytes(data)
    with pytest.raises(BoveError, match="not a vocabulary, or cut off"):
        Vocabulary.load(tmp_path / "v.json")


def test_a_treebank_that_can_not_be_counted_is_refused():
    with pytest.raises(BoveError, match="no tokens"):
        make(Sentence("empty"))
    with pytest.raises(BoveError, match="relation ADJACENCY, the name of ours"):
        make(sentence("a/T b/T", "root ADJACENCY"))
