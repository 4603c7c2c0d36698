"""Link prediction by ranks: three small knowledge bases, and the same scores in another program's evaluator.

    python tests/bench/link_ranking.py FOLDER … [--ranks 20 50 100] [--lambdas 1 3 10 30] [--check]

Each folder has train.txt, valid.txt and test.txt, of triples: head, relation, tail, separated by tabs. Of all
ranks, penalties (lambda = lambda_P = lambda_R = lambda_E, alpha = 1), and graphs whose nodes have a property
of their own or none, those with the best filtered mean reciprocal rank on valid.txt are taken; test.txt is
looked at once. Prints a table for each folder, and the seconds of the processor that the best training took,
and all of them with their evaluation.

--check needs PyKEEN, which ships Nations, UMLS and Kinships as such folders. It compares every figure with
what its RankBasedEvaluator gives for the same scores; they must be equal to 1e-6.
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np

import bove

ROUNDS = 30
PARTS = ("train", "valid", "test")


def fitted(graph: bove.Graph, rank: int, weight: float) -> bove.BoVE:
    """Thirty rounds from the eigenvectors, with one penalty for all."""
    penalties = {"lambda_P": weight, "lambda_R": weight, "lambda_E": weight}
    fixed = {"scale": "absolute", "alpha": 1, "init": "eigenvectors", "max_rounds": ROUNDS, "tolerance": 0}
    return bove.BoVE(rank, **fixed, **penalties).fit([graph])


def best(
    files: dict[str, Path], ranks: list[int], weights: list[float]
) -> tuple[dict, bove.BoVE, bove.LinkPredictor]:
    """The settings with the best mean reciprocal rank on valid.txt, their model and its predictor."""
    found, whole = ({"valid": -1.0}, None, None), time.process_time()
    for own, rank, weight in product((False, True), ranks, weights):
        graph = bove.from_triples(files["train"], own_property=own)
        began = time.process_time()
        try:
            model = fitted(graph, rank, weight)
        except bove.BoveError as e:
            print(f"  rank {rank}, lambda {weight:g}: {e}")
            continue
        took, links = time.process_time() - began, bove.LinkPredictor(model, graph)
        mrr = links.evaluate_ranking(files["valid"], files.values()).loc["both", "mrr"]
        if mrr > found[0]["valid"]:
            how = {"property of its own": own, "rank": rank, "lambda": weight, "seconds": took, "valid": mrr}
            found = how, model, links
    return found[0] | {"seconds of all": time.process_time() - whole}, *found[1:]


def check(links: bove.LinkPredictor, R: np.ndarray, files: dict[str, Path]) -> float:
    """The largest difference from PyKEEN's evaluator, of all figures of the filtered ranks of test.txt.

    PyKEEN's RESCAL with the same vectors and matrices gives the scores, its evaluator filters and ranks.
    """
    import torch
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import RESCAL
    from pykeen.triples import TriplesFactory

    ids = {
        "entity_to_id": {name: row for row, name in enumerate(links.nodes)},
        "relation_to_id": {name: row for row, name in enumerate(links.relations)},
    }
    of = {part: TriplesFactory.from_path(path, **ids) for part, path in files.items()}
    model = RESCAL(triples_factory=of["train"], embedding_dim=links.bag.shape[1]).double()
    for kind, values in (("entity", links.bag), ("relation", R)):
        weight = getattr(model, f"{kind}_representations")[0]._embeddings.weight
        weight.data = torch.as_tensor(values, dtype=torch.float64).reshape(weight.shape)
    known = [of[part].mapped_triples for part in ("train", "valid")]
    theirs = RankBasedEvaluator(filtered=True).evaluate(
        model.eval(),
        of["test"].mapped_triples,
        additional_filter_triples=known,
        batch_size=64,
        use_tqdm=False,
    )
    ours, most = links.evaluate_ranking(files["test"], files.values()), 0.0
    names = {"mrr": "inverse_harmonic_mean_rank", "mean_rank": "arithmetic_mean_rank"}
    for side in ("head", "tail", "both"):
        for name in ("mrr", "mean_rank", "hits@1", "hits@3", "hits@10"):
            want = theirs.get_metric(f"{side}.realistic.{names.get(name, name.replace('@', '_at_'))}")
            most = max(most, abs(ours.loc[side, name] - want))
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--ranks", nargs="+", type=int, default=[10, 20, 50, 100])
    parser.add_argument("--lambdas", nargs="+", type=float, default=[1.0, 3.0, 10.0, 30.0])
    parser.add_argument("--check", action="store_true", help="against PyKEEN's evaluator")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in args.folders:
        files = {part: folder / f"{part}.txt" for part in PARTS}
        settings, model, links = best(files, args.ranks, args.lambdas)
        print(f"{folder.name}: {', '.join(f'{name} {value:.4g}' for name, value in settings.items())}")
        print(links.evaluate_ranking(files["test"], files.values()).round(3).to_string(), flush=True)
        if args.check:
            print(f"largest difference from PyKEEN: {check(links, model.relations_, files):.1e}", flush=True)


if __name__ == "__main__":
    main()
