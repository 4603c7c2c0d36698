"""What the plans of every configuration have in common."""

DRAWN = ("figure_results", "figure_scores", "figure_tokens", "overview", "pages")
ALWAYS = dict.fromkeys(
    (
        *DRAWN,
        "figure_iterations",
        "figure_relations",
        "vocabulary",
        "encode_treebank",
        "train_tagger",
        "train_parser",
        "evaluate_parser",
        "training",
        "contamination",
        "tables",
        "provenance",
    ),
    1,
) | {"figure_tokens": 2}  # token vectors are drawn of one data set a task
DEMO = {"demo": 1, "train_vectors": 1}


def each(data_sets):
    """Jobs that there are for each data set."""
    return {"pairs": data_sets, "parse": data_sets, "encode": data_sets, "infer": 2 * data_sets} | {
        "look_up_words": data_sets,
        "score": data_sets,
    }


def write_file(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)
