"""How far predicted trees agree with gold trees of the same tokens."""

from collections import Counter

from bove.text.conll import Sentence
from bove.text.words import PUNCTUATION, character_class


class Accuracy:
    """Tokens whose tag, head, and head with label were predicted right, all of them and without punctuation.

    Attributes:
        tokens: number of tokens that are counted in `shares(punctuation)`, by its argument.
        labels: gold labels with their number of arcs.
    """

    def __init__(self) -> None:
        self.tokens = {True: 0, False: 0}
        self.labels: Counter[str] = Counter()
        self._right: Counter[tuple[str, bool]] = Counter()

    def add(self, gold: Sentence, found: Sentence) -> None:
        """Count a sentence; both must have the same tokens, or a ValueError is raised."""
        if gold.forms != found.forms:
            raise ValueError(f"sentence {gold.id}: its tokens are not those of the gold tree")
        self.labels.update(gold.relations)
        for i, form in enumerate(gold.forms):
            head = gold.heads[i] == found.heads[i]
            right = {
                "tags": gold.tags[i] == found.tags[i],
                "UAS": head,
                "LAS": head and gold.relations[i] == found.relations[i],
            }
            with_it = (True,) if character_class(form) == PUNCTUATION else (True, False)
            for punctuation in with_it:
                self.tokens[punctuation] += 1
                for name, value in right.items():
                    self._right[name, punctuation] += value

    def shares(self, punctuation: bool) -> dict[str, float | None]:
        """Shares of tokens with the right tag ("tags"), head ("UAS"), and head and label ("LAS").

        Args:
            punctuation: whether tokens of punctuation marks alone count too. Where no token counts, a share
                is None.
        """
        total = self.tokens[punctuation]
        return {
            name: self._right[name, punctuation] / total if total else None for name in ("tags", "UAS", "LAS")
        }
