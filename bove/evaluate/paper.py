"""The figures that Popa and Henderson (2017) printed, tables 1 and 2, for the columns beside ours."""

SYSTEMS = ("bag of W2V", "BoVE")
MEAN = "mean"

# (pairs, bag of W2V, BoVE) by label and subset: Pearson's correlation; average precision for SNLI.
PAPER: dict[str, dict[str, tuple[int | None, float, float]]] = {
    "STS-2014": {
        "deft-forum": (450, 0.4334, 0.4386),
        "deft-news": (300, 0.6583, 0.6795),
        "images": (750, 0.7398, 0.7410),
        "headlines": (750, 0.6166, 0.6301),
        "OnWN": (750, 0.6857, 0.6800),
        "tweet-news": (750, 0.7235, 0.7187),
        MEAN: (None, 0.6429, 0.6480),
    },
    "STS-2015": {
        "answers-forums": (375, 0.6133, 0.6174),
        "answers-students": (750, 0.7123, 0.7145),
        "belief": (375, 0.7384, 0.7295),
        "headlines": (750, 0.6904, 0.7033),
        "images": (750, 0.8008, 0.8073),
        MEAN: (None, 0.7110, 0.7144),
    },
    "SNLI": {
        "dev": (10000, 0.6447, 0.6574),
        "test": (10000, 0.6304, 0.6401),
    },
}


def figures(label: str, subset: str, subsets: set[str]) -> tuple[float, float] | None:
    """What the paper printed for a row, or None; its mean only where the data set has just its subsets."""
    rows = PAPER.get(label, {})
    other = subset == MEAN and subsets != set(rows) - {MEAN}
    return rows[subset][1:] if subset in rows and not other else None


def pair_count(label: str, subset: str) -> int | None:
    """How many pairs the paper says that a subset has."""
    return PAPER.get(label, {}).get(subset, (None,))[0]
