"""Draw the picture of the start page: a sheet with a hole unrolls, and a path on it.

``python docs/unfolding.py`` writes docs/images/unfolding.svg, a picture that moves by itself in
browsers, and unfolding-still.svg, its end, for those who asked for less motion. The sheet moves as
its exact shape says; the path and both its lengths are PTU's.
"""

import re
from pathlib import Path

import numpy as np

from ptunfold import PTU
from ptunfold.datasets import s_with_hole

WIDTH, HEIGHT = 760, 330
SECONDS = 9
FRAMES = 12
REST = 0.16, 0.42  # shares of the time in which it is rolled up, and flat
# Dark enough for white paper, light enough for black.
SHEET = "#5e4fa2", "#4a78b5", "#4aa3a8", "#6dbd8b", "#a3b96c", "#c99f6a", "#c97b84"
WAY, STRAIGHT, WORDS = "#1f77b4", "#e0591b", "#8a929a"


def unrolled(angle, height, share):
    """Bend the sheet less: lengths along it stay as they are at every moment, (n_points, 3)."""
    bend = max(1 - share, 1e-4)
    across = np.sin(bend * angle) / bend
    up = np.sign(angle) * (np.cos(bend * angle) - 1) / bend
    return np.column_stack((across, height, up))


def on_paper(points, share):
    """Look at it from a little above, and from straight above in the end, (n_points, 2)."""
    tilt = np.radians(62 + 28 * share)
    turn = np.radians(-32 * (1 - share))
    x = points[:, 0] * np.cos(turn) + points[:, 1] * np.sin(turn)
    y = -points[:, 0] * np.sin(turn) + points[:, 1] * np.cos(turn)
    return np.column_stack((x, y * np.sin(tilt) + points[:, 2] * np.cos(tilt)))


def shares():
    """Return how far the sheet is unrolled in each frame, slowly at both ends, (FRAMES,)."""
    way = np.linspace(0, 1, FRAMES)
    return 0.5 - 0.5 * np.cos(np.pi * way)


def times():
    """Return when frames are shown: a rest at either end, there and back again."""
    begun, flat = REST
    there = np.linspace(begun, flat, FRAMES)
    back = np.linspace(flat + 0.36, 0.99, FRAMES)
    return np.concatenate(([0], there, back, [1]))


def moving(name, values, digits=0):
    """Write how an attribute goes through the frames, and back."""
    there = [f"{value:.{digits}f}" if not isinstance(value, str) else value for value in values]
    said = ";".join([there[0], *there, *there[::-1], there[0]])
    when = ";".join(f"{time:.2f}".rstrip("0").rstrip(".") for time in times())
    return (
        f'<animate attributeName="{name}" dur="{SECONDS}s" repeatCount="indefinite" '
        f'keyTimes="{when}" values="{said}"/>'
    )


def main(output=Path(__file__).parent / "images" / "unfolding.svg"):
    """Fit, unroll, draw."""
    data = s_with_hole(2000)
    model = PTU().fit(data.points)
    angle, height = data.coordinates.T
    middle = np.abs(height - height.mean())
    start, end = (int(np.argmin((angle - place) ** 2 + middle**2)) for place in (-2.9, 2.9))
    path = model.path(start, end)

    frames = [on_paper(unrolled(angle, height, share), share) for share in shares()]
    shift = [frame.mean(axis=0) for frame in frames]
    scale = 0.92 * WIDTH / np.ptp(frames[-1][:, 0])
    frames = [
        (frame - by) * [scale, -scale] + [WIDTH / 2, HEIGHT / 2 - 12]
        for frame, by in zip(frames, shift, strict=True)
    ]

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="15" role="img">',
        '<g fill="none" stroke-width="5" stroke-linecap="round" stroke-opacity="0.75">',
    ]
    # A quarter of the points is enough to see the sheet by. Those of one colour are one path of
    # dots, so that the moments of the frames are written once for all of them.
    seen = np.arange(0, len(angle), 4)
    kind = np.digitize(angle[seen], np.quantile(angle, np.linspace(0, 1, len(SHEET) + 1)[1:-1]))
    for number, color in enumerate(SHEET):
        dots = [
            "".join(f"M{x:.0f} {y:.0f}h0" for x, y in frame[seen[kind == number]])
            for frame in frames
        ]
        lines.append(f'<path stroke="{color}" d="{dots[-1]}">{moving("d", dots)}</path>')
    lines.append("</g>")

    ways = [" ".join(f"{x:.1f},{y:.1f}" for x, y in frame[path.nodes]) for frame in frames]
    lines.append(
        f'<polyline fill="none" stroke="{WAY}" stroke-width="3.2" stroke-linejoin="round" '
        f'points="{ways[-1]}">{moving("points", ways)}</polyline>'
    )
    # The straight line means something on the flat sheet alone: it shows when that is reached.
    begun = 2 / FRAMES
    shown = [float(max(0.0, (share - 1 + begun) / begun)) for share in shares()]
    (x1, y1), (x2, y2) = frames[-1][[start, end]]
    lines.append(
        f'<g><line stroke="{STRAIGHT}" stroke-width="3.2" stroke-dasharray="8 6" x1="{x1:.1f}" '
        f'y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>{moving("opacity", shown, 1)}</g>'
    )
    for node in (start, end):
        places = np.array([frame[node] for frame in frames])
        lines.append(
            f'<circle r="6" fill="{WAY}" cx="{places[-1, 0]:.1f}" cy="{places[-1, 1]:.1f}">'
            f"{moving('cx', places[:, 0])}{moving('cy', places[:, 1])}</circle>"
        )
    true = float(np.linalg.norm(data.coordinates[start] - data.coordinates[end]))
    lines.append(
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle" fill="{WORDS}">'
        f'<tspan fill="{WAY}">along the graph {path.graph_length:.3f}</tspan>, '
        f'<tspan fill="{STRAIGHT}">unfolded {path.distance:.3f}</tspan>, the truth {true:.3f}'
        "</text></svg>"
    )
    text = "\n".join(lines) + "\n"
    output.write_text(text, encoding="utf-8")
    still = output.with_name(f"{output.stem}-still.svg")
    still.write_text(re.sub("<animate [^>]*/>", "", text), encoding="utf-8")
    print(f"{output}: {path.graph_length:.3f}, {path.distance:.3f}, {true:.3f}")


if __name__ == "__main__":
    main()
