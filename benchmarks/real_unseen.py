"""PTU beside the better of two Isomaps on seeds of the made point sets that nothing was made with.

``python benchmarks/real_unseen.py 100 110`` draws ten seeds of every generator of real_made.py, and
``… 100 110 wifi face`` of those; ``--parts`` takes 70 % of the points of every carried set instead.
Nothing is written. Whoever mends what this finds must draw other seeds to show it.
"""

import argparse
import os
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import real_made
from joblib import Parallel, delayed
from real import EMBEDDINGS, SLACK, knn_score, rank_score

METHODS = ("PTU", "Isomap 5", "Isomap 10")
PART = 0.7


def part(data, seed):
    """Keep a random part of the points of a set."""
    n_points = len(data.X)
    some = np.random.default_rng(seed).permutation(n_points)[: round(PART * n_points)]
    pick = {
        name: {key: value[some] for key, value in getattr(data, name).items()}
        for name in ("values", "angles")
    }
    labels = None if data.labels is None else data.labels[some]
    return replace(data, name=f"{data.name}_{seed}", X=data.X[some], labels=labels, **pick)


def measure(make):
    """Return name, and kNN and rank of each method."""
    warnings.simplefilter("ignore")
    data = make()
    places = [EMBEDDINGS[name](data.X.astype(float), data.n_components) for name in METHODS]
    return data.name, np.array([(knn_score(z, data), rank_score(z, data)) for z in places])


def told(name, scores):
    """Write one row, and say whether PTU is behind and whether it is ahead."""
    lead = scores[0] - scores[1:].max(axis=0)
    behind, ahead = bool((lead < -SLACK).any()), bool((lead > SLACK).any())
    knn, rank = (" ".join(f"{score:.3f}" for score in column) for column in scores.T)
    word = "BEHIND" if behind else "ahead" if ahead else ""
    print(f"{name:20s} kNN {knn}  rank {rank}  {word}", flush=True)
    return behind, ahead


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    known = [make.__name__ for make in real_made.MAKERS]
    if (asked.parts and asked.kinds) or not set(asked.kinds) <= set(known):
        parser.error(f"kinds are {', '.join(known)}, and there are none of --parts")
    seeds = range(asked.first, asked.end)
    if asked.parts:
        from real_carried import carried_sets

        makers = [partial(part, data, seed) for data in carried_sets() for seed in seeds]
    else:
        kinds = asked.kinds or known
        makers = [partial(getattr(real_made, kind), seed) for kind in kinds for seed in seeds]
    found = Parallel(asked.jobs, return_as="generator")(delayed(measure)(make) for make in makers)
    behind, ahead = np.array([told(*one) for one in found]).sum(axis=0)
    print(f"{behind} of {len(makers)} behind by more than {SLACK}, {ahead} ahead")


if __name__ == "__main__":
    main()
