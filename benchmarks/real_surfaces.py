"""Surfaces with exact geodesic distances: triangle meshes made here, given as points only.

Distances are those of the whole mesh, by an exact algorithm, which takes a while: meshes and
distances are kept in ``build/real``.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import map_coordinates
from scipy.sparse import coo_matrix
from scipy.spatial import ConvexHull, Delaunay, cKDTree

KEPT = Path(__file__).parent.parent / "build" / "real"
N_SOURCES = 30


@dataclass(frozen=True)
class Surface:
    """Points, the numbers of some of them, and the true distances from these to all points."""

    name: str
    X: np.ndarray
    sources: np.ndarray
    distances: np.ndarray


def bumps(n_points, seed=0):
    """Mesh a ball with bumps and dents."""
    rng = np.random.default_rng(seed)
    points = _ball(n_points)
    for centre, height in zip(_ball(25), rng.uniform(-0.2, 0.3, 25), strict=True):
        at = centre + 0.2 * rng.standard_normal(3)
        close = points @ (at / np.linalg.norm(at)) / np.linalg.norm(points, axis=1)
        points *= 1 + height * np.exp((close - 1) / 0.03)[:, None]
    return points, ConvexHull(_ball(n_points)).simplices


def _ball(n_points):
    """Spread points evenly on the unit sphere, along a spiral."""
    i = np.arange(n_points) + 0.5
    height, turn = 1 - 2 * i / n_points, np.pi * (1 + 5**0.5) * i
    ring = np.sqrt(1 - height**2)
    return np.column_stack((ring * np.cos(turn), ring * np.sin(turn), height))


def ridges(n_points, seed=0):
    """Mesh a plate with waves of several lengths."""
    rng = np.random.default_rng(seed)
    outline = [np.array([[0, 0], [1.5, 0], [1.5, 1], [0, 1]])]
    plane, faces = fill(outline, (1.5 * 1.15 / n_points) ** 0.5, rng)
    height = np.zeros(len(plane))
    for length, tall in ((0.8, 0.12), (0.35, 0.05), (0.2, 0.02)):
        turn, start = rng.uniform(0, np.pi), rng.uniform(0, 2 * np.pi)
        along = plane @ [np.cos(turn), np.sin(turn)]
        height += tall * np.sin(2 * np.pi * along / length + start)
    return np.column_stack((plane, height)), faces


def knot(n_points, seed=0):
    """Mesh a tube along a trefoil knot."""
    n_around = round((n_points / 14) ** 0.5)
    n_along = n_points // n_around
    t = 2 * np.pi * np.arange(n_along) / n_along
    line = np.column_stack(
        (np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -1.3 * np.sin(3 * t))
    )
    ahead = np.roll(line, -1, axis=0) - np.roll(line, 1, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    aside = np.cross(ahead, [0, 0, 1])
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    up = np.cross(aside, ahead)
    turn = 2 * np.pi * np.arange(n_around) / n_around
    ring = np.cos(turn)[:, None] * aside[:, None] + np.sin(turn)[:, None] * up[:, None]
    thick = 0.42 + 0.08 * np.sin(5 * t)
    points = line[:, None] + thick[:, None, None] * ring
    return points.reshape(-1, 3), _woven(n_along, n_around, closed=True)


def _woven(n_along, n_around, *, closed):
    """Triangulate a grid that is closed around, and along or not."""
    i, j = np.divmod(np.arange((n_along - (not closed)) * n_around), n_around)
    corners = [
        ((i + down) % n_along) * n_around + (j + right) % n_around
        for down, right in ((0, 0), (1, 0), (1, 1), (0, 1))
    ]
    a, b, c, d = corners
    return np.concatenate((np.column_stack((a, b, c)), np.column_stack((a, c, d))))


def steps(n_points, seed=0):
    """Mesh a machined block: stairs with a bevel and a round, all edges sharp."""
    round_off = np.linspace(np.pi / 2, 0, 12)
    arc = np.column_stack((1.3 + 0.3 * np.cos(round_off), 0.25 + 0.3 * np.sin(round_off)))
    outline = np.vstack(
        ([[0, 0], [1.6, 0]], arc[::-1], [[0.9, 0.55], [0.9, 0.9], [0.65, 1.1], [0, 1.1]])
    )
    return extrude([outline], 0.7, n_points, seed)


def bracket(n_points, seed=0):
    """Mesh an angle iron with a round hole: sharp edges, genus 1."""
    outline = np.array(
        [[0, 0], [1.5, 0], [1.5, 0.45], [0.6, 0.5], [0.5, 0.6], [0.4, 1.3], [0, 1.3]]
    )
    turn = -2 * np.pi * np.arange(40) / 40
    hole = np.column_stack((0.27 + 0.15 * np.cos(turn), 0.27 + 0.15 * np.sin(turn)))
    return extrude([outline, hole], 0.5, n_points, seed)


def extrude(outlines, thick, n_points, seed):
    """Mesh the solid of some thickness over an outline with holes, about n points on all sides."""
    rng = np.random.default_rng(seed)
    area, around = _size(outlines)
    side = ((2 * area + thick * around) * 1.15 / n_points) ** 0.5
    plane, faces = fill(outlines, side, rng)
    rings = [cut(outline, side) for outline in outlines]
    n_up = max(2, round(thick / side)) + 1
    points = [np.column_stack((plane, np.full(len(plane), z))) for z in (0, thick)]
    meshes = [faces[:, ::-1], faces + len(plane)]
    start = 2 * len(plane)
    for ring in rings:
        wall = [np.column_stack((ring, np.full(len(ring), z))) for z in np.linspace(0, thick, n_up)]
        points.append(np.concatenate(wall))
        meshes.append(start + _woven(n_up, len(ring), closed=False)[:, ::-1])
        start += n_up * len(ring)
    return welded(np.concatenate(points), np.concatenate(meshes))


def _size(outlines):
    x, y = outlines[0].T
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    around = sum(np.linalg.norm(line - np.roll(line, 1, axis=0), axis=1).sum() for line in outlines)
    return area, around


def cut(outline, side):
    """Cut every edge of a closed outline into pieces of about one length; corners stay."""
    pieces = []
    for start, stop in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        n_pieces = max(1, round(np.linalg.norm(stop - start) / side))
        pieces.append(start + (stop - start) * np.arange(n_pieces)[:, None] / n_pieces)
    return np.concatenate(pieces)


def fill(outlines, side, rng):
    """Triangulate the inside of an outline, less its holes, with edges of about one length."""
    border = np.concatenate([cut(outline, side) for outline in outlines])
    low, high = border.min(axis=0), border.max(axis=0)
    rows = np.arange(low[1], high[1], side * 0.866)
    columns = np.arange(low[0] - side, high[0], side)
    x, y = np.meshgrid(columns, rows)
    x = x + (np.arange(len(rows)) % 2)[:, None] * side / 2
    grid = np.column_stack((x.ravel(), y.ravel())) + 0.12 * side * rng.standard_normal((x.size, 2))
    grid = grid[_within(grid, outlines)]
    # Inner points keep away, so that every piece of the border is an edge of the triangulation.
    grid = grid[cKDTree(border).query(grid)[0] > 0.7 * side]
    plane = np.concatenate((border, grid))
    faces = Delaunay(plane).simplices
    faces = faces[_within(plane[faces].mean(axis=1), outlines)]
    a, b, c = (plane[faces[:, i]] for i in range(3))
    doubled = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    faces = faces[np.abs(doubled) > 1e-9]
    doubled = doubled[np.abs(doubled) > 1e-9]
    faces[doubled < 0] = faces[doubled < 0, ::-1]
    return plane, faces


def _within(points, outlines):
    """Say which points lie inside: a ray to the right crosses outlines an odd number of times."""
    inside = np.zeros(len(points), dtype=bool)
    x, y = points.T
    for outline in outlines:
        for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            between = (ay > y) != (by > y)
            inside ^= between & (x < ax + (bx - ax) * (y - ay) / (by - ay or 1))
    return inside


def welded(points, faces):
    """Make one point of points in the same place."""
    _, first, names = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    return points[first], names.ravel()[faces]


def animal(n_points, seed=0):
    """Mesh a body with a head, ears, four thin legs and a tail."""
    legs = [
        ((x, y, -0.1), (1.1 * x, 1.2 * y, -0.95), 0.09) for x in (-0.6, 0.5) for y in (-0.2, 0.2)
    ]
    ears = [((0.95, y, 0.6), (0.98, 2.2 * y, 0.95), 0.06) for y in (-0.12, 0.12)]
    bones = [
        ((-0.55, 0, 0), (0.45, 0, 0.05), 0.33),
        ((0.5, 0, 0.1), (0.85, 0, 0.5), 0.19),
        ((0.85, 0, 0.5), (1.15, 0, 0.42), 0.19),
        ((-0.8, 0, 0.1), (-1.1, 0, 0.5), 0.06),
        ((-1.1, 0, 0.5), (-1.0, 0, 0.85), 0.06),
        *legs,
        *ears,
    ]
    return contour(lambda points: _flesh(points, bones, 0.05), (1.4, 0.8, 1.25), n_points)


def doll(n_points, seed=0):
    """Mesh a doll of balls that meet in deep grooves, with flat ears and feet that nearly touch."""
    bones = [
        ((0, 0, 0.55), (0, 0.02, 0.57), 0.4),
        ((0, 0, -0.2), (0, 0, -0.5), 0.33),
        *(((x, 0, 0.62), (1.5 * x, 0, 0.68), 0.2) for x in (-0.5, 0.5)),
        *(((x, 0, 0.0), (2.1 * x, 0.1, -0.45), 0.1) for x in (-0.26, 0.26)),
        *(((x, 0, -0.95), (x, 0.25, -0.97), 0.15) for x in (-0.165, 0.165)),
    ]
    return contour(lambda points: _flesh(points, bones, 0.012), (1.1, 0.6, 1.2), n_points)


def handle(n_points, seed=0):
    """Mesh a ring grown together with an arm and a knob: smooth, genus 1."""

    def field(points):
        x, y, z = points[..., 0], points[..., 1], points[..., 2]
        ring = np.hypot(np.hypot(x + 0.5, y) - 0.5, z) - 0.2
        arm = _flesh(
            points,
            [((0, 0, 0), (1, 0.2, 0.2), 0.17), ((1, 0.2, 0.2), (1.05, 0.2, 0.55), 0.22)],
            0.08,
        )
        return -0.08 * np.log(np.exp(-ring / 0.08) + np.exp(-arm / 0.08))

    return contour(field, (1.45, 1.0, 0.95), n_points)


def _flesh(points, bones, soft):
    """Measure how far outside of a soft union of capsules points are."""
    total = np.zeros(points.shape[:-1])
    for start, stop, thick in bones:
        start, along = np.array(start), np.subtract(stop, start)
        share = np.clip((points - start) @ along / (along @ along), 0, 1)
        off = np.linalg.norm(points - start - share[..., None] * along, axis=-1) - thick
        total += np.exp(-off / soft)
    return -soft * np.log(total)


def contour(field, reach, n_points):
    """Mesh the surface where a function is zero, within a box about the origin."""
    from skimage.measure import marching_cubes

    step = 0.05
    for _ in range(3):
        axes = [np.arange(-far, far + step, step) for far in reach]
        grid = field(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1))
        points, faces, _, _ = marching_cubes(grid, 0.0)
        points, faces = collapsed(points.astype(float), faces.astype(np.int64))
        step *= (len(points) / n_points) ** 0.5
    # Triangles of marching cubes are slivers: spread the points along the surface.
    slopes = np.stack(np.gradient(grid))
    for _ in range(30):
        points = 0.5 * points + 0.5 * (_neighbours(faces, len(points)) @ points)
        for _ in range(2):
            value = map_coordinates(grid, points.T, order=1, mode="nearest")
            slope = np.stack(
                [map_coordinates(s, points.T, order=1, mode="nearest") for s in slopes]
            )
            points -= (value / (slope**2).sum(axis=0) * slope).T
    return points, faces


def collapsed(points, faces):
    """Merge the ends of the shortest edges, as long as the surface stays one."""
    short = 0.35
    tails, heads = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).T
    lengths = np.linalg.norm(points[tails] - points[heads], axis=1)
    around = [set() for _ in points]
    for tail, head in zip(tails, heads, strict=True):
        around[tail].add(head)
        around[head].add(tail)
    into, fixed = np.arange(len(points)), np.zeros(len(points), dtype=bool)
    for edge in np.argsort(lengths):
        tail, head = tails[edge], heads[edge]
        if lengths[edge] > short:
            break
        near = around[tail] | around[head]
        # Two common neighbours, no more: otherwise a tube would be pinched off.
        if any(fixed[list(near)]) or len(around[tail] & around[head]) != 2:
            continue
        into[head] = tail
        fixed[list(near)] = True
    faces = into[faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    used, names = np.unique(faces, return_inverse=True)
    return points[used], names.reshape(faces.shape)


def _neighbours(faces, n_points):
    """Average over neighbours, as a matrix."""
    tails, heads = faces[:, [0, 1, 1, 2, 2, 0, 1, 0, 2, 1, 0, 2]].reshape(-1, 2).T
    matrix = coo_matrix((np.ones(len(tails)), (tails, heads)), (n_points, n_points)).tocsr()
    matrix.data[:] = 1
    return matrix.multiply(1 / matrix.sum(axis=1)).tocsr()


SHAPES = (bumps, ridges, knot, steps, bracket, animal, doll, handle)
# Which points of a mesh are given: all of a coarse one, or some of a finer one.
VARIANTS = {"all": (3000, None), "farthest": (8000, 2500), "random": (8000, 3500)}


def surfaces():
    """Yield every shape with all points of a coarse mesh, and with some of a fine one."""
    for shape in SHAPES:
        for variant in VARIANTS:
            yield surface(shape, variant)


def surface(shape, variant, seed=0):
    """Make one surface, or read the one that was made before."""
    name = f"{shape.__name__}_{variant}"
    path = KEPT / f"{name}.npz"
    if not path.exists():
        n_points, n_given = VARIANTS[variant]
        points, faces = shape(n_points, seed)
        points = (points - points.mean(axis=0)) / np.linalg.norm(np.ptp(points, axis=0))
        rng = np.random.default_rng(seed)
        given = np.arange(len(points))
        if variant == "random":
            given = np.sort(rng.choice(len(points), n_given, replace=False))
        elif variant == "farthest":
            given = farthest(points, n_given)
        sources = np.sort(rng.choice(len(given), N_SOURCES, replace=False))
        distances = exact_distances(points, faces, given[sources])[:, given]
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, X=points[given], sources=sources, distances=distances)
    with np.load(path) as kept:
        return Surface(name, kept["X"], kept["sources"], kept["distances"])


def farthest(points, n_given):
    """Choose points one after the other, each the farthest from those before."""
    chosen = np.zeros(n_given, dtype=np.int64)
    nearest = np.linalg.norm(points - points[0], axis=1)
    for i in range(1, n_given):
        chosen[i] = nearest.argmax()
        np.minimum(nearest, np.linalg.norm(points - points[chosen[i]], axis=1), out=nearest)
    return np.sort(chosen)


def exact_distances(points, faces, sources):
    """Measure geodesic distances on a mesh from some of its points to all."""
    from pygeodesic.geodesic import PyGeodesicAlgorithmExact

    exact = PyGeodesicAlgorithmExact(points, faces.astype(np.int32))
    rows = [exact.geodesicDistances(np.array([source], dtype=np.int32))[0] for source in sources]
    return np.stack(rows)
