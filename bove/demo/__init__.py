"""The built-in corpus: English sentences from a grammar, with trees, predicates and labelled pairs.

Modules build on one another in this order: tables (`nouns`, `verbs`), `lexicon`, `tree`, `frames`,
realisation (`phrases`, `clauses`), sampling (`things`, `sampler`), changes of frames (`changes`,
`modifiers`, `swaps`), `pairs`, `corpus`. All choices come from seeded generators; nothing is read.
"""
