"""A million sentences from end to end, stage by stage: seconds, memory, disk.

    python tests/bench/million_sentences.py RUN FOLDER [--sentences 1000000] [--rank 50] [--rounds 3]

Makes a treebank and pairs of that size in FOLDER from those of a finished run: each copy of a sentence has
half of its words exchanged for words of the same tag, as frequent as in the treebank. The run's word vectors
are cut to their first principal components. Then the stages run one after another, each in a process of its
own on one thread.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import yaml

from bove.text.conll import read_sentences
from bove.text.vectors import WordVectors


class Text:
    """Sentences of a few, again and again, with half of the words exchanged."""

    def __init__(self, treebank, rng):
        words = defaultdict(list)
        for sentence in treebank:
            for form, tag in zip(sentence.forms, sentence.tags, strict=True):
                words[tag].append(form)
        self.words, self.rng = {tag: np.array(forms, object) for tag, forms in words.items()}, rng

    def write(self, path, sentences, n: int) -> int:
        """Write n of them as CoNLL-U; returns the number of tokens."""
        sentences = [sentence for sentence in sentences if sentence.forms]
        of_tag = defaultdict(list)
        for i, sentence in enumerate(sentences):
            for j, tag in enumerate(sentence.tags):
                of_tag[tag].append((i, j))
        rest = [
            [
                f"\t_\t_\t{t}\t_\t{h}\t{r}\t_\t_\n"
                for t, h, r in zip(s.tags, s.heads, s.relations, strict=True)
            ]
            for s in sentences
        ]
        count = tokens = 0
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            while count < n:
                forms = [list(sentence.forms) for sentence in sentences]
                for tag, places in of_tag.items():
                    if count and tag in self.words:
                        own = self.words[tag]
                        for (i, j), new in zip(
                            places, self.rng.integers(2 * len(own), size=len(places)), strict=True
                        ):
                            forms[i][j] = own[new] if new < len(own) else forms[i][j]
                for row, tails in zip(forms[: n - count], rest, strict=False):
                    count += 1
                    tokens += len(row)
                    out.write(f"# sent_id = {self.name(count)}\n# text = {' '.join(row)}\n")
                    out.writelines(
                        f"{k}\t{form}{tail}" for k, (form, tail) in enumerate(zip(row, tails, strict=True), 1)
                    )
                    out.write("\n")
        return tokens

    @staticmethod
    def name(count: int) -> str:
        return f"{(count + 1) // 2}.{2 - count % 2}"  # the two sentences of a pair


def components(run: Path, path: Path, rank: int) -> None:
    """Write the run's word vectors in their first principal components, as word2vec's text."""
    words = WordVectors.open(run / "vectors.safetensors")
    _, axes = np.linalg.eigh(words.vectors.T.astype(float) @ words.vectors)
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write(f"{len(words)} {rank}\n")
        for row, vector in enumerate(words.vectors @ axes[:, -rank:]):
            out.write(f"{words.word(row)} {' '.join(f'{x:.5f}' for x in vector)}\n")


def pairs(path: Path, n: int) -> None:
    rng = np.random.default_rng(2)
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        for number, gold in enumerate(rng.uniform(0, 5, n // 2).round(1).tolist(), 1):
            pair = {
                "id": str(number),
                "dataset": "large",
                "label": "large",
                "task": "similarity",
                "subset": "all",
            }
            out.write(json.dumps(pair | {"first": "-", "second": "-", "gold": gold, "scored": True}) + "\n")


def stage(title: str, *command: str, output: Path) -> None:
    """Run one stage and print what it took."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bove", *map(str, command)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=open(output.with_suffix(".log"), "w", encoding="utf-8"),  # noqa: SIM115
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{title} failed: see {output.with_suffix('.log')}")
    seconds, cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    print(
        f"| {title} | {seconds:,.0f} | {cpu:,.0f} | {usage.ru_maxrss * 1024 / 1e9:.2f} |"
        f" {output.stat().st_size / 1e9:.2f} |",
        flush=True,
    )


def make(args) -> None:
    """Write the treebank, the trees of the pairs, the pairs and the vectors."""
    at, n = args.folder.joinpath, args.sentences
    with open(args.run / "config.yaml", encoding="utf-8") as file:
        source = yaml.safe_load(file)["sources"]["treebank-train"]["file"]
    treebank = list(read_sentences(source))
    text = Text(treebank, np.random.default_rng(1))
    print(f"treebank: {n:,} sentences, {text.write(at('treebank.conllu'), treebank, n):,} tokens")
    parses = list(read_sentences(args.run / "parses" / f"{args.dataset}.conllu.gz"))
    print(f"pairs: {n // 2:,}, {text.write(at('trees.conllu'), parses, n):,} tokens", flush=True)
    pairs(at("pairs.jsonl"), n)
    components(args.run, at("vectors.txt"), args.rank)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dataset", default="STS-2014")
    parser.add_argument("--sentences", type=int, default=10**6)
    parser.add_argument("--rank", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shards", type=int, default=4)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    # In a process of its own: a child's memory is never reported below its parent's.
    maker = multiprocessing.get_context("spawn").Process(target=make, args=(args,))
    maker.start()
    maker.join()
    if maker.exitcode:
        sys.exit(1)
    at = args.folder.joinpath
    print("| stage | seconds | CPU seconds | memory in GB | disk in GB |\n|---|---|---|---|---|")
    files = {name: at(name) for name in ("vocabulary.json", "vectors.safetensors", "train.safetensors")}
    vocabulary, vectors, train = files.values()
    known = ["--vocabulary", vocabulary, "--vectors", vectors]
    stage(
        "vocabulary",
        "vocabulary",
        "--treebank",
        at("treebank.conllu"),
        "--output",
        vocabulary,
        output=vocabulary,
    )
    stage("vectors", "vectors", "load", "--input", at("vectors.txt"), "--output", vectors, output=vectors)
    stage(
        "encode the treebank",
        "encode",
        "--sentences",
        at("treebank.conllu"),
        *known[:2],
        "--output",
        train,
        output=train,
    )
    model = at("model.safetensors")
    stage(
        "train-als",
        "train-als",
        "--graphs",
        train,
        *known,
        "--rank",
        args.rank,
        "--checkpoint-every",
        0,
        "--max-rounds",
        args.rounds,
        "--tolerance",
        0,
        "--output",
        model,
        "--training-log",
        at("log.csv"),
        "--times",
        at("times.csv"),
        output=model,
    )
    graphs = at("graphs.safetensors")
    stage("encode", "encode", "--sentences", at("trees.conllu"), *known, "--output", graphs, output=graphs)
    one = ["infer", "--system", "bove", "--model", model, "--graphs", graphs]
    bags = at("bags.safetensors")
    stage("infer", *one, "--output", bags, output=bags)
    stage(
        "score",
        "score",
        "--pairs",
        at("pairs.jsonl"),
        "--bags",
        f"bove={bags}",
        "--weight",
        "none",
        "evidence",
        "--output",
        at("scores.parquet"),
        output=at("scores.parquet"),
    )
    shards = [at(f"{shard}.safetensors") for shard in range(1, args.shards + 1)]
    for shard, path in enumerate(shards, 1):
        stage(
            f"infer, shard {shard} of {args.shards}",
            *one,
            "--shard",
            f"{shard}/{args.shards}",
            "--output",
            path,
            "--report",
            path.with_suffix(".csv"),
            output=path,
        )
    gathered = at("gathered.safetensors")
    stage(
        "gather-bags",
        "gather-bags",
        "--graphs",
        graphs,
        "--shards",
        *shards,
        "--reports",
        *(path.with_suffix(".csv") for path in shards),
        "--output",
        gathered,
        "--report",
        at("gathered.csv"),
        output=gathered,
    )


if __name__ == "__main__":
    main()
