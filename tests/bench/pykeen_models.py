"""Models of PyKEEN on folders of triples, by the figures of `link_ranking.py`; needs PyKEEN.

    python tests/bench/pykeen_models.py FOLDER … [--models DistMult RESCAL …] [--rates 0.001 0.01]

Of the learning rates the one with the best filtered mean reciprocal rank on valid.txt is taken; test.txt is
looked at once. All else is as PyKEEN has it, at 100 dimensions and after 100 epochs, on one thread. Prints
the seconds of the processor of the chosen training, and of all with their evaluation.
"""

import argparse
import time
from pathlib import Path

import torch
from pykeen.evaluation import RankBasedEvaluator
from pykeen.pipeline import pipeline
from pykeen.triples import TriplesFactory

NAMES = ("inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--models", nargs="+", default=["RESCAL", "DistMult", "ComplEx", "TransE"])
    parser.add_argument("--rates", nargs="+", type=float, default=[0.001, 0.01])
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=100)
    args = parser.parse_args()
    torch.set_num_threads(1)
    for folder in args.folders:
        train = TriplesFactory.from_path(folder / "train.txt")
        ids = {"entity_to_id": train.entity_to_id, "relation_to_id": train.relation_to_id}
        valid, test = (TriplesFactory.from_path(folder / f"{part}.txt", **ids) for part in ("valid", "test"))

        def figures(model, triples, known):
            """MRR and hits, filtered and realistic, heads and tails together."""
            found = RankBasedEvaluator(filtered=True).evaluate(
                model, triples.mapped_triples, additional_filter_triples=known, use_tqdm=False
            )
            return [found.get_metric(f"both.realistic.{name}") for name in NAMES]

        known = [part.mapped_triples for part in (train, valid, test)]
        for name in args.models:
            whole, best = time.process_time(), None
            for rate in args.rates:
                began = time.process_time()
                model = pipeline(
                    training=train, testing=valid, model=name, random_seed=1, device="cpu",
                    model_kwargs={"embedding_dim": args.dimensions}, optimizer_kwargs={"lr": rate},
                    training_kwargs={"num_epochs": args.epochs, "use_tqdm": False}, evaluation_fallback=False,
                    evaluator_kwargs={"filtered": True}, use_tqdm=False,
                ).model  # fmt: skip
                took, mrr = time.process_time() - began, figures(model, valid, known)[0]
                if best is None or mrr > best[0]:
                    best = mrr, rate, took, model
            _, rate, took, model = best
            shown = " ".join(f"{value:.3f}" for value in figures(model, test, known))
            print(f"{folder.name} {name}: MRR, hits@1, @3, @10 {shown}; rate {rate:g}, {took:.1f} s,"
                  f" all {time.process_time() - whole:.1f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
