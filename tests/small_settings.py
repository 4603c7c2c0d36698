"""The demo with a tenth of its sentences, and models that have hardly been trained."""

SUBSETS = dict.fromkeys(("captions", "definitions", "modifiers", "news", "paraphrase"))
SMALL = {
    "sources": {"corpus": {"sentences": 300}},
    "vocabulary": {"min_relations": 20},
    "vectors": {"epochs": 2},
    "model": {"rank": 10, "alpha": 10, "lambda_R": 0.1, "als": {"max_rounds": 2}},
    "parser": {"preset": "tiny", "min_coverage": 0},
}
