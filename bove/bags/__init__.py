"""Files of bags of vectors, whole and in shards; and the names of the systems that make bags.

`word-vectors` looks the words up, `bove` infers token vectors from a graph, and `properties-only` is the
first step of that, without relations. The baselines, which a configuration may ask for, are in baselines.py.
An encoder NAME gives two: `NAME-sentences` has its vectors of sentences, `NAME-tokens` those of tokens.
"""

SYSTEMS = WORD_VECTORS, PROPERTIES_ONLY, BOVE = ("word-vectors", "properties-only", "bove")
BASELINES = MEAN, SIF, WHITENED, RWMD, OVERLAP, ARCS = ("mean", "sif", "whitened", "rwmd", "overlap", "arcs")
ENCODED = SENTENCES, TOKENS = ("-sentences", "-tokens")
OF_TOKENS = "of_tokens"  # what bags of word-vectors say whose tokens each have a vector of their own
