"""Point sets of the kinds that scientists have, made by code: pictures, signals, molecules.

Every set takes a seed, and knows the values, angles or labels behind its points.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.ndimage import gaussian_filter1d

PIXELS = 32


@dataclass(frozen=True)
class PointSet:
    """Points, the number of coordinates to look for, and what is true of each point."""

    name: str
    X: np.ndarray
    n_components: int = 2
    values: dict[str, np.ndarray] = field(default_factory=dict)
    angles: dict[str, np.ndarray] = field(default_factory=dict)
    labels: np.ndarray | None = None


def turntable(seed=0, n_views=72):
    """Turn one thing made of balls before a camera."""
    pictures, angle = _views(np.random.default_rng(seed), n_views)
    return PointSet(f"turntable_{seed}", pictures, angles={"turn": angle})


def turntables(seed=0, n_things=16, n_views=72):
    """Turn several things, one after the other: as many loops as things."""
    rng = np.random.default_rng(seed)
    views = [_views(rng, n_views) for _ in range(n_things)]
    return PointSet(
        f"turntables_{seed}",
        np.concatenate([pictures for pictures, _ in views]),
        angles={"turn": np.concatenate([angle for _, angle in views])},
        labels=np.repeat(np.arange(n_things), n_views),
    )


def _views(rng, n_views):
    """Draw a thing at random, from nearly round about its axis to lopsided, and its pictures."""
    n_balls = rng.integers(4, 14)
    centres = rng.standard_normal((n_balls, 3)) * rng.uniform(0.25, 0.6) * [1, 1, 1.2]
    radii = rng.uniform(0.18, 0.5, n_balls)
    # A body on the axis, as most things have one.
    centres[0], radii[0] = 0, rng.uniform(0.4, 0.7)
    reach = (np.linalg.norm(centres, axis=1) + radii).max()
    centres, radii = centres / reach, radii / reach
    shades = rng.uniform(0.3, 1, n_balls)
    angle = 2 * np.pi * np.arange(n_views) / n_views
    pictures = [_balls(_turn(centres, turn), radii, shades) for turn in angle]
    noisy = np.stack(pictures) + 0.01 * rng.standard_normal((n_views, PIXELS**2))
    return np.clip(np.round(255 * noisy), 0, 255), angle


def _turn(points, angle):
    """Turn points about the vertical axis, the third."""
    cos, sin = np.cos(angle), np.sin(angle)
    return points @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])


def _balls(centres, radii, shades, fine=2):
    """Render balls as seen along the second axis, lit from above on one side."""
    light = np.array([0.4, -0.7, 0.6]) / np.linalg.norm([0.4, -0.7, 0.6])
    x, z = _screen(fine)
    depth = np.full(x.shape, np.inf)
    picture = np.zeros(x.shape)
    for centre, radius, shade in zip(centres, radii, shades, strict=True):
        under = radius**2 - (x - centre[0]) ** 2 - (z - centre[2]) ** 2
        front = centre[1] - np.sqrt(np.maximum(under, 0))
        seen = (under > 0) & (front < depth)
        depth[seen] = front[seen]
        lit = (
            light[0] * (x - centre[0]) + light[1] * (front - centre[1]) + light[2] * (z - centre[2])
        ) / radius
        picture[seen] = shade * (0.15 + 0.85 * np.maximum(lit, 0))[seen]
    return _coarse(picture, fine)


def _screen(fine):
    side = (np.arange(PIXELS * fine) + 0.5) / (PIXELS * fine) * 2 - 1
    return np.meshgrid(side, -side)


def _coarse(picture, fine):
    """Average squares of fine pixels, so that edges move smoothly."""
    return picture.reshape(PIXELS, fine, PIXELS, fine).mean(axis=(1, 3)).ravel()


def face(seed=0, n_images=700):
    """Render a head under two angles of its pose and one of the light."""
    rng = np.random.default_rng(seed)
    yaw = rng.uniform(-75, 75, n_images)
    pitch = rng.uniform(-15, 15, n_images)
    light = rng.uniform(-70, 70, n_images)
    features = _features(rng)
    X = np.stack(
        [_head(features, *np.deg2rad(angles)) for angles in zip(yaw, pitch, light, strict=True)]
    )
    X = X + 0.005 * rng.standard_normal(X.shape)
    return PointSet(f"face_{seed}", X, 3, {"yaw": yaw, "pitch": pitch, "light": light})


def _features(rng):
    """Place spots on a head: x, z, their sizes and how dark they are."""
    eye, brow = rng.uniform(0.22, 0.3), rng.uniform(0.28, 0.36)
    mouth = rng.uniform(-0.5, -0.4)
    spots = [(side * eye, 0.15, 0.09, 0.06, 0.75) for side in (-1, 1)]
    spots += [(side * eye, brow, 0.16, 0.04, 0.6) for side in (-1, 1)]
    spots.append((0, mouth, rng.uniform(0.18, 0.28), 0.06, 0.6))
    return np.array(spots), rng.uniform(0.45, 0.6)


def _head(features, yaw, pitch, light, fine=2):
    """Render an ellipsoid with a nose and two ears, in the frame of the head."""
    spots, hair = features
    x, z = _screen(fine)
    rays = np.stack((x, np.zeros_like(x), z), axis=-1).reshape(-1, 3)
    turn, nod = _turn(np.eye(3), -yaw), _turn(np.eye(3), -pitch)[[1, 2, 0]][:, [1, 2, 0]]
    to_head = turn @ nod
    starts, along = rays @ to_head, np.array([0, 1.0, 0]) @ to_head
    lamp = np.array([np.sin(light), -np.cos(light), 0.3]) @ to_head
    lamp /= np.linalg.norm(lamp)
    parts = [
        ((0, 0, 0), (0.62, 0.75, 0.85)),
        ((0, -0.75, -0.1), (0.09, 0.16, 0.2)),
        ((-0.62, 0.05, 0.02), (0.08, 0.12, 0.18)),
        ((0.62, 0.05, 0.02), (0.08, 0.12, 0.18)),
    ]
    depth, picture = np.full(len(rays), np.inf), np.zeros(len(rays))
    for i, (centre, axes) in enumerate(parts):
        start, step = (starts - centre) / axes, along / axes
        a, b, c = step @ step, start @ step, (start**2).sum(axis=1) - 1
        under = b * b - a * c
        time = (-b - np.sqrt(np.maximum(under, 0))) / a
        seen = (under > 0) & (time < depth)
        depth[seen] = time[seen]
        normal = (start + time[:, None] * step) / axes
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        shade = np.full(len(rays), 0.9)
        if i == 0:
            place = starts + time[:, None] * along
            for at_x, at_z, wide, high, dark in spots:
                off = ((place[:, 0] - at_x) / wide) ** 2 + ((place[:, 2] - at_z) / high) ** 2
                shade -= dark * np.exp(-(off**2)) * (place[:, 1] < 0)
            top = place[:, 2] - hair + 0.5 * np.maximum(place[:, 1], -0.3)
            shade = np.where(top + 0.6 * (place[:, 1] > 0.2) > 0, 0.25, shade)
        lit = 0.2 + 0.8 * np.maximum(normal @ lamp, 0)
        picture[seen] = (shade * lit)[seen]
    return _coarse(picture.reshape(x.shape), fine)


def edge_patches(seed=0, n_patches=1500, side=9):
    """Draw patches of a picture with one soft edge through each: its angle and its offset."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n_patches)
    offset = rng.uniform(-0.5, 0.5, n_patches)
    place = np.linspace(-1, 1, side)
    x, y = np.meshgrid(place, place)
    across = np.cos(angle)[:, None] * x.ravel() + np.sin(angle)[:, None] * y.ravel()
    X = np.tanh((across - offset[:, None]) / 0.35) + 0.1 * rng.standard_normal(across.shape)
    return PointSet(f"edge_patches_{seed}", X, values={"offset": offset}, angles={"edge": angle})


def head_direction(seed=0, n_bins=2000):
    """Count spikes of neurons that each like one direction, while a head turns to and fro."""
    rng = np.random.default_rng(seed)
    n_neurons = rng.integers(15, 26)
    speed = gaussian_filter1d(rng.standard_normal(n_bins), 6) * 0.9
    angle = np.mod(rng.uniform(0, 2 * np.pi) + np.cumsum(speed), 2 * np.pi)
    liked = rng.uniform(0, 2 * np.pi, n_neurons)
    narrow = rng.uniform(1, 8, n_neurons)
    # A few neurons fire much, most of them little.
    most, least = rng.lognormal(-0.3, 1, n_neurons), rng.uniform(0, 0.3, n_neurons)
    tuned = np.exp(narrow * (np.cos(angle[:, None] - liked) - 1))
    # The whole group is more or less awake from time to time.
    gain = np.exp(0.3 * gaussian_filter1d(rng.standard_normal(n_bins), 30) * np.sqrt(30))
    counts = rng.poisson(gain[:, None] * (least + most * tuned))
    X = gaussian_filter1d(np.sqrt(counts), 2, axis=0)
    return PointSet(f"head_direction_{seed}", X, angles={"direction": angle})


def wifi(seed=0):
    """Measure signal strengths along the corridors of a building with walls."""
    rng = np.random.default_rng(seed)
    wide, deep = rng.uniform(30, 60), rng.uniform(15, 30)
    n_places, n_senders = rng.integers(200, 301), rng.integers(20, 31)
    # Two long corridors and three across, wandered through with small steps aside.
    ends = [((0, deep * s), (wide, deep * s)) for s in (0.2, 0.8)]
    ends += [((wide * s, deep * 0.2), (wide * s, deep * 0.8)) for s in (0.1, 0.5, 0.9)]
    starts, stops = (np.array(side, dtype=float) for side in zip(*ends, strict=True))
    lengths = np.linalg.norm(stops - starts, axis=1)
    which = rng.choice(len(ends), n_places, p=lengths / lengths.sum())
    share = rng.uniform(0, 1, (n_places, 1))
    places = (
        starts[which] + share * (stops - starts)[which] + 0.5 * rng.standard_normal((n_places, 2))
    )
    senders = rng.uniform(0, 1, (n_senders, 2)) * [wide, deep]
    apart = np.linalg.norm(places[:, None] - senders, axis=2)
    # Walls stand every 6 m lengthwise and along both sides of the long corridors.
    walls = np.abs(places[:, None, 0] // 6 - senders[:, 0] // 6)
    for side in (0.12, 0.28, 0.72, 0.88):
        walls += (places[:, None, 1] > side * deep) != (senders[:, 1] > side * deep)
    loss = 10 * rng.uniform(2.5, 3.5) * np.log10(np.maximum(apart, 1)) + 3 * np.minimum(walls, 8)
    noise = rng.uniform(2, 3) * rng.standard_normal(apart.shape)
    X = np.maximum(np.round(-35 - loss + noise), -100)
    return PointSet(f"wifi_{seed}", X, values={"x": places[:, 0], "y": places[:, 1]})


def molecule(seed=0, n_frames=2000):
    """Let a chain of atoms turn about two of its bonds, with heat in all the others."""
    rng = np.random.default_rng(seed)
    n_atoms = 5 + seed % 4
    # Basins of the two angles, their widths and how often they are visited.
    basins = np.deg2rad([[-75, -20], [-70, 145], [-150, 155], [60, 40]])
    shares = rng.dirichlet([6, 6, 4, 1])
    which = rng.choice(len(basins), n_frames, p=shares)
    free = basins[which] + np.deg2rad([22, 25]) * rng.standard_normal((n_frames, 2))
    bonds = 1.45 + 0.03 * rng.standard_normal((n_frames, n_atoms - 1))
    bends = np.deg2rad(115 + 4 * rng.standard_normal((n_frames, n_atoms - 2)))
    twists = np.deg2rad(180 + 7 * rng.standard_normal((n_frames, n_atoms - 3)))
    first = (n_atoms - 5) // 2
    twists[:, first : first + 2] = free
    atoms = _chain(bonds, bends, twists)
    X = np.stack([_onto(frame, atoms[0]) for frame in atoms]).reshape(n_frames, -1)
    phi, psi = np.angle(np.exp(1j * free)).T
    return PointSet(f"molecule_{seed}", X, angles={"phi": phi, "psi": psi})


def _chain(bonds, bends, twists):
    """Place atoms one after the other from lengths of bonds, angles between, and dihedrals."""
    n_frames, n_atoms = len(bonds), bonds.shape[1] + 1
    atoms = np.zeros((n_frames, n_atoms, 3))
    atoms[:, 1, 0] = bonds[:, 0]
    for i in range(2, n_atoms):
        back = atoms[:, i - 1] - atoms[:, i - 2]
        back /= np.linalg.norm(back, axis=1, keepdims=True)
        before = atoms[:, i - 2] - atoms[:, i - 3] if i > 2 else np.tile([0.0, 1, 0], (n_frames, 1))
        normal = np.cross(before, back)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        twist = twists[:, i - 3] if i > 2 else np.zeros(n_frames)
        bend = bends[:, i - 2]
        step = (
            -np.cos(bend)[:, None] * back
            + (np.sin(bend) * np.cos(twist))[:, None] * np.cross(normal, back)
            + (np.sin(bend) * np.sin(twist))[:, None] * normal
        )
        atoms[:, i] = atoms[:, i - 1] + bonds[:, i - 1, None] * step
    return atoms


def _onto(frame, first):
    """Move a frame onto the first one by the best rigid motion (Kabsch)."""
    frame, first = frame - frame.mean(axis=0), first - first.mean(axis=0)
    left, _, right = np.linalg.svd(frame.T @ first)
    flip = np.diag([1, 1, np.sign(np.linalg.det(left @ right))])
    return frame @ left @ flip @ right


def gait(seed=0, n_frames=1500):
    """Follow markers on a walker, who is now faster, now slower: phase of the step and speed."""
    rng = np.random.default_rng(seed)
    n_markers = 12
    speed = 1 + 0.5 * np.clip(gaussian_filter1d(rng.standard_normal(n_frames), 60) * 13, -1, 1)
    phase = np.cumsum(0.12 * speed * (1 + 0.05 * rng.standard_normal(n_frames)))
    lag = rng.uniform(0, 2 * np.pi, (n_markers, 3))
    swing = rng.uniform(0.2, 1, (n_markers, 3))
    second = 0.4 * swing * rng.uniform(0, 1, swing.shape)
    turn = phase[:, None, None]
    wide = (0.4 + 0.6 * speed)[:, None, None]
    X = wide * (swing * np.cos(turn - lag) + second * np.cos(2 * turn - 3 * lag))
    X = X.reshape(n_frames, -1) + 0.03 * rng.standard_normal((n_frames, 3 * n_markers))
    return PointSet(
        f"gait_{seed}", X, values={"speed": speed}, angles={"phase": np.mod(phase, 2 * np.pi)}
    )


def spectra(seed=0, n_samples=600, n_channels=200):
    """Measure absorption of a mixture whose lines shift and widen with temperature."""
    rng = np.random.default_rng(seed)
    share, heat = rng.uniform(0, 1, n_samples), rng.uniform(0, 1, n_samples)
    channel = np.linspace(0, 1, n_channels)
    X = np.zeros((n_samples, n_channels))
    for weight in (share, 1 - share):
        for _ in range(5):
            at, wide, shift = rng.uniform(0.1, 0.9), rng.uniform(0.01, 0.04), rng.normal(0, 0.06)
            off = (channel - at - shift * heat[:, None]) / (wide * (1 + 0.5 * heat[:, None]))
            X += rng.uniform(0.3, 1) * weight[:, None] * np.exp(-0.5 * off**2)
    # Every probe is a little thicker or thinner than the last, on a slightly slanted ground.
    X *= 1 + 0.03 * rng.standard_normal((n_samples, 1))
    X += 0.02 * rng.standard_normal((n_samples, 1)) * channel
    X += 0.01 * rng.standard_normal(X.shape)
    return PointSet(f"spectra_{seed}", X, values={"share": share, "heat": heat})


def cells(seed=0, n_cells=1500, n_genes=300):
    """Count genes of cells on a tree of three branches; log of shares, 30 principal axes."""
    rng = np.random.default_rng(seed)
    branch = rng.choice(3, n_cells, p=[0.4, 0.35, 0.25])
    along = rng.uniform(0, 1, n_cells)
    # Time runs from 0 to 1 in the trunk, branch 0, and from 1 to 2 in the others.
    time = along + (branch > 0)
    base = rng.normal(-0.5, 1, n_genes)
    course = np.tile(base, (n_cells, 1))
    for part, until in (
        (0, np.minimum(time, 1)),
        (1, along * (branch == 1)),
        (2, along * (branch == 2)),
    ):
        moved = rng.random(n_genes) < (0.4 if part == 0 else 0.3)
        peak, height = rng.uniform(0, 1.2, n_genes), rng.normal(0, 2, n_genes) * moved
        course += height * (
            np.exp(-(((until[:, None] - peak) / 0.5) ** 2)) - np.exp(-((peak / 0.5) ** 2))
        )
    size = np.exp(0.3 * rng.standard_normal((n_cells, 1)))
    counts = rng.poisson(size * np.exp(course) * rng.gamma(5, 1 / 5, course.shape))
    shares = np.log1p(
        counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) * np.median(counts.sum(axis=1))
    )
    centred = shares - shares.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    return PointSet(f"cells_{seed}", (left * sizes)[:, :30], values={"time": time}, labels=branch)


MAKERS = (
    turntable,
    turntables,
    face,
    edge_patches,
    head_direction,
    wifi,
    molecule,
    gait,
    spectra,
    cells,
)


def made_sets(n_seeds=2, n_things=6):
    """Yield every made set for each seed; of things on a turntable, more."""
    for make in MAKERS:
        for seed in range(n_things if make is turntable else n_seeds):
            yield make(seed)
