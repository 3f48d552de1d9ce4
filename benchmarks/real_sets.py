"""Every set of the benchmark on real data: ``python benchmarks/real_sets.py FOLDER`` writes them.

A file has X, and value_*, angle_* and label of its points; or, of a surface, X, sources and
distances.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from real_carried import carried_sets
from real_made import PointSet, made_sets
from real_surfaces import Surface, surfaces

__all__ = ["PointSet", "Surface", "all_sets", "carried_sets", "made_sets", "surfaces", "write"]


def all_sets():
    """Yield all point sets, then all surfaces."""
    yield from carried_sets()
    yield from made_sets()
    yield from surfaces()


def write(data, folder):
    """Write one set as a file of arrays."""
    if isinstance(data, Surface):
        arrays = {
            "X": data.X,
            "sources": data.sources,
            "distances": data.distances.astype(np.float32),
        }
    else:
        arrays = {"X": data.X.astype(np.float32)}
        arrays |= {f"value_{key}": value for key, value in data.values.items()}
        arrays |= {f"angle_{key}": angle for key, angle in data.angles.items()}
        if data.labels is not None:
            arrays["label"] = data.labels
    np.savez_compressed(Path(folder) / f"{data.name}.npz", **arrays)


def main(folder):
    warnings.simplefilter("ignore")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for data in all_sets():
        write(data, folder)
        print(data.name, data.X.shape, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
