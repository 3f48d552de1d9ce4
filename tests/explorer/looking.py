"""What is to be seen on a page."""

import base64
import time

import numpy as np


def wait_until(tab, holds, seconds=30):
    """Wait until `holds()`; the page forbids the evaluation that playwright's own wait needs."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} seconds"
        tab.wait_for_timeout(20)


def draw_now(tab, *views):
    """Draw views, which else waits for the next frame of the browser."""
    for view in views:
        tab.evaluate(f"ptunfold.explorer.views.{view}.drawNow()")


def screen(tab, view):
    """Where all points are in a view, in pixels of the page: (n_points, 2)."""
    box = tab.locator(f"#{view}").bounding_box()
    return np.reshape(tab.evaluate(f"ptunfold.screen('{view}')"), (-1, 3))[:, :2] + [
        box["x"],
        box["y"],
    ]


def alone(places, n_wanted, box):
    """Points with no other near them, well inside the view."""
    inside = (places[:, 0] > box["x"] + 30) & (places[:, 0] < box["x"] + box["width"] - 30)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    lonely = np.argsort(-np.where(inside, gaps.min(axis=1), 0))
    return lonely[:n_wanted].tolist()


def shade(tab, view):
    """The share of pixels of a view that are not its background."""
    return tab.evaluate(
        """(name) => {
        const view = ptunfold.explorer.views[name];
        view.drawNow();
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: view.canvas.width, height: view.canvas.height });
        const pen = canvas.getContext("2d");
        pen.drawImage(view.canvas, 0, 0);
        const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 4; i < data.length; i += 4) {
          if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) count++;
        }
        return count / (data.length / 4);
    }""",
        view,
    )


def pixels(tab, view, layer):
    """The pixels of a layer of a view, the points or what lies over them, (height, width, 4)."""
    wide, high, data = tab.evaluate(
        """([name, layer]) => {
        const view = ptunfold.explorer.views[name];
        view.drawNow();
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: view[layer].width, height: view[layer].height });
        const pen = canvas.getContext("2d");
        pen.drawImage(view[layer], 0, 0);
        const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
        let text = "";
        for (let i = 0; i < data.length; i += 32768) {
          text += String.fromCharCode(...data.subarray(i, i + 32768));
        }
        return [canvas.width, canvas.height, btoa(text)];
    }""",
        [view, layer],
    )
    return np.frombuffer(base64.b64decode(data), np.uint8).reshape(high, wide, 4)


def near(tab, view, layer, point, reach=12):
    """The pixels of a layer around a point."""
    x, y = np.reshape(tab.evaluate(f"ptunfold.screen('{view}')"), (-1, 3))[point, :2]
    dense = tab.evaluate("ptunfold.explorer.views.left.dense")
    x, y, reach = round(x * dense), round(y * dense), round(reach * dense)
    picture = pixels(tab, view, layer)
    return picture[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]


def click(tab, place):
    tab.mouse.click(*place)
