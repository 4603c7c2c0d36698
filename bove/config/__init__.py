"""The configuration of a run: reading, variants, and where its files come from."""
