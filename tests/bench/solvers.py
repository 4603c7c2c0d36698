"""Whole solvers: inference by the averaged step and by the fixed point, and both in training."""

from pathlib import Path

import numpy as np
from made import BATCH, THREADS, corpus_of, factors, timed, treebank_lengths

from bove.evaluate.alignment import score_pairs
from bove.evaluate.metrics import pearson
from bove.factor.als import AlsTrainer, initial_properties, initial_state
from bove.factor.inference import FixedPoint, infer_averaged, relative_change
from bove.factor.model import Model, compress
from bove.factor.parallel import Batch, Workers, plan_batches
from bove.factor.settings import AlsSettings
from bove.factor.steps import EStep
from bove.factor.training import TrainingData, start
from bove.text.graphs import load_graphs
from bove.text.pairs import read_pairs

WEIGHTS = ("alpha", "lambda_P", "lambda_R", "lambda_E")


def bench_solvers(folder):
    """The averaged dense step against the fixed point at several energies, to the same tolerance.

    Of a run's model, or of three that are trained with relative settings, whose relations count.
    """
    if folder:
        model = Model.load(Path(folder, "model/model.safetensors"))
        pairs = _similarity_pairs(folder)
        corpus = load_graphs(Path(folder, "graphs", f"{pairs[0].dataset}.safetensors"))
        P, R = model.properties, model.dense_relations()
        alpha, lambda_E = model.weight("alpha"), model.weight("lambda_E")
        PtP = P.T @ P
        P = np.concatenate([P, corpus.extra.astype(P.dtype)]) if len(corpus.extra) else P
        yield from _solvers(corpus, P, PtP, R, alpha, lambda_E, Path(folder).name, pairs)
        return
    for rank, alpha in ((100, 0.07), (100, 0.14), (300, 0.07)):
        corpus = corpus_of(treebank_lengths(80_000 // rank))
        P, R, settings = _trained(corpus, rank, alpha)
        where = f"random, r = {rank}, relative alpha {alpha:g}"
        yield from _solvers(corpus, P, P.T @ P, R, settings.alpha, settings.lambda_E, where, [])


def _trained(corpus, rank, alpha, rounds=2):
    """P, R and absolute settings of a model of random trees with frozen words."""
    words, _ = factors(corpus.n_properties - 51, 1, rank)
    frozen = np.arange(corpus.n_properties) < len(words)
    groups = {"words": slice(0, len(words)), "tags": slice(len(words), corpus.n_properties)}
    data = TrainingData(corpus, words, frozen, groups, tuple(map(str, range(corpus.n_relations))))
    begun = start(data, AlsSettings(rank, alpha=alpha, max_rounds=rounds, e_step="fixed-point"), 1, THREADS)
    trainer = AlsTrainer(corpus, frozen, groups, begun.settings, THREADS)
    *_, state = trainer.rounds(initial_state(corpus, begun.P, begun.E, begun.R))
    return state.P, state.R, begun.settings


def _solvers(corpus, P, PtP, R, alpha, lambda_E, where, pairs):
    first, index = corpus.distinct()
    plan = plan_batches(corpus.lengths[first], BATCH)
    batches = [Batch(corpus, first[part], np.float32) for part in plan]
    kernel = EStep(P, PtP, R, alpha, lambda_E)

    def bags(solve):
        with Workers(THREADS) as workers:
            return list(workers.map(solve, batches))

    options = {"iterations": 50, "tolerance": 1e-3}
    slow, dense = timed(bags, lambda b: infer_averaged(kernel, b, **options))
    what = "inference, averaged"
    yield what, where, "sentences/s", len(first) / slow
    yield what, where, "iterations, mean", _mean_iterations(dense)
    if pairs:
        base = _mean_pearson(pairs, corpus, plan, index, dense)
        yield what, where, "mean Pearson", base
    for energy in (0.9, 0.99, 1):
        low = compress(R, energy)
        fast = FixedPoint(P, PtP, low, alpha, lambda_E, lambda: kernel)
        quick, got = timed(bags, lambda b, fast=fast: fast.infer(b, **options))
        what = f"inference, fixed point, {energy:.1%} of the energy"
        moved = np.concatenate([relative_change(g.E, w.E, 1) for g, w in zip(got, dense, strict=True)])
        yield what, where, "times faster than averaged", slow / quick
        yield what, where, "sentences/s", len(first) / quick
        yield what, where, "iterations, mean", _mean_iterations(got)
        yield what, where, "sentences that fell back", float(sum(g.lost.sum() for g in got))
        yield what, where, "singular values kept", float(low.ranks.sum())
        if pairs:
            yield what, where, "change of mean Pearson", _mean_pearson(pairs, corpus, plan, index, got) - base
        yield what, where, "change of a token, median", float(np.median(moved))
        yield what, where, "change of a token, 99th hundredth", float(np.quantile(moved, 0.99))


def bench_training(folder):
    """The two E-steps in training, to the same stopping rule: rounds, seconds and where L ends."""
    settings = {
        "max_rounds": 10, "tolerance": 1e-3, "restart_every": 0, "restart_iterations": 30,
        "e_tolerance": 1e-3, "e_energy": 0.99, "r_tolerance": 1e-3, "r_iterations": 50, "batch_tokens": BATCH,
    }  # fmt: skip
    if folder:
        model = Model.load(Path(folder, "model/model.safetensors"))
        corpus = load_graphs(Path(folder, "graphs/train.safetensors")).select(slice(2000))
        frozen, vectors = model.frozen, model.properties[model.frozen]
        groups = {name: slice(*rows) for name, rows in model.groups.items()}
        weights = {name: model.weight(name) for name in WEIGHTS}
        where = f"{Path(folder).name}, {corpus.n_graphs} sentences"
    else:
        corpus = corpus_of(treebank_lengths(1000))
        frozen, vectors = np.zeros(corpus.n_properties, bool), np.zeros((0, 100), np.float32)
        groups = {"words": slice(0, corpus.n_properties)}
        weights = dict.fromkeys(WEIGHTS, 1.0)
        where = "random, r = 100"
    P = initial_properties(corpus.n_properties, vectors, frozen, 1, np.float32)
    for e_step in ("averaged", "fixed-point"):
        chosen = AlsSettings(**weights, **settings, scale="absolute", e_step=e_step)
        trainer = AlsTrainer(corpus, frozen, groups, chosen, THREADS)
        seconds, states = timed(list, trainer.rounds(initial_state(corpus, P)))
        what = f"training, {e_step} E-step"
        yield what, where, "seconds", seconds
        yield what, where, "rounds", states[-1].round
        yield what, where, "L at the end", states[-1].log[-1]["total"]


def _similarity_pairs(folder):
    """Scored pairs of the run's first similarity data set."""
    for path in sorted(Path(folder, "pairs").glob("*.jsonl")):
        pairs = [pair for pair in read_pairs(path) if pair.scored]
        if pairs and pairs[0].task == "similarity":
            return pairs
    raise SystemExit(f"{folder}: no similarity pairs; give a finished run")


def _mean_pearson(pairs, corpus, plan, index, results):
    """Unweighted mean over the subsets."""
    bags = {}
    for part, got in zip(plan, results, strict=True):
        r = got.E.shape[1]
        bags |= dict(zip(part.tolist(), got.E.reshape(len(part), -1, r), strict=True))
    empty = np.zeros((0, 1), np.float32)
    place = {name: s for s, name in enumerate(corpus.ids)}
    first, second = ([int(index[place[f"{pair.id}.{side}"]]) for pair in pairs] for side in (1, 2))
    scores = score_pairs(first, second, lambda b: bags.get(b, empty), "similarity").values
    subsets = np.array([pair.subset for pair in pairs])
    gold = np.array([pair.gold for pair in pairs], float)
    return float(np.mean([pearson(gold[subsets == s], scores[subsets == s]) for s in dict.fromkeys(subsets)]))


def _mean_iterations(results):
    return float(np.concatenate([got.iterations for got in results]).mean())
