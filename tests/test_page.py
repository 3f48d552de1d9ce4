"""What goes into the explorer's page, without a browser."""

import base64
import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ptunfold import PTU
from ptunfold.datasets import s_with_hole
from ptunfold.explorer.columns import as_columns
from ptunfold.explorer.images import thumbnails
from ptunfold.explorer.page import make_page


@pytest.fixture(scope="module")
def model():
    return PTU().fit(s_with_hole(300).points)


def unpack(page):
    """The page's own words, and its arrays."""

    def inside(name):
        start = page.html.index(f'id="{name}">') + len(f'id="{name}">')
        return page.html[start : page.html.index("</script>", start)]

    meta = json.loads(inside("meta"))
    arrays = {
        name: np.frombuffer(gzip.decompress(base64.b64decode(inside(entry["id"]))), entry["dtype"])
        for name, entry in meta["arrays"].items()
    }
    return meta, arrays


def test_arrays_arrive(model):
    meta, arrays = unpack(model.explore())
    np.testing.assert_array_equal(
        arrays["embedding"].reshape(-1, 2), model.embedding_.astype(np.float32)
    )
    n_edges = model.graph_.n_edges // 2
    assert len(arrays["heads"]) == len(arrays["lengths"]) == n_edges
    assert arrays["counts"].sum() == n_edges
    assert arrays["steps"].shape == (n_edges * 4,)
    assert meta["points"] == 300


def test_the_same_model_makes_the_same_page(model):
    assert model.explore().html == model.explore().html


def test_nothing_is_fetched(model):
    html = model.explore().html
    assert "default-src 'none'" in html
    for word in ("<link", "<img", 'src="http', "import("):
        assert word not in html.split("<script", 1)[0]


def test_rounding_of_many_points():
    rng = np.random.default_rng(0)
    points = rng.normal(5, 100, (200_001, 3))
    places = rng.random((200_001, 2))
    places[7] = np.nan
    meta, arrays = unpack(make_page(points, places, title="", names=["x", "y", "z"], columns=[]))
    assert arrays["features"].dtype == np.uint16
    entry = meta["arrays"]["features"]
    found = arrays["features"].reshape(-1, 3) * entry["unit"] + np.array(entry["low"])
    assert np.abs(found - points).max() <= 0.5001 * max(entry["unit"])
    assert (arrays["embedding"].reshape(-1, 2)[7] == 65535).all()
    assert (arrays["embedding"].reshape(-1, 2)[8] < 65535).all()


def test_paths_may_be_left_out(model):
    meta, arrays = unpack(model.explore(paths=False))
    assert "heads" not in arrays
    assert "paths=True" in meta["no_paths"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_columns_of_all_kinds(make):
    given = make(
        {
            "number": [0.5, float("nan"), 2.0],
            "count": [1, 2, 3],
            "word": ["b", None, "a"],
            "flag": [True, False, True],
            "key": [2**60, 1, 2],
        }
    )
    number, count, word, flag, key = as_columns(given, 3)
    np.testing.assert_array_equal(number.values, [0.5, np.nan, 2])
    assert number.labels is None
    np.testing.assert_array_equal(count.values, [1, 2, 3])
    assert (word.labels, word.values.tolist()) == (["a", "b"], [1, -1, 0])
    assert (flag.labels, flag.values.tolist()) == (["False", "True"], [1, 0, 1])
    assert str(2**60) in key.labels  # 32 bits would change it


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"a": [1, 2]}}, "column a has shape"),
        ({"columns": [1, 2]}, "columns are list"),
        ({"color": "nothing"}, "there is no column nothing"),
        ({"images": (5, 5)}, "images of shape"),
        ({"images": np.zeros((3, 2, 2))}, "images have shape"),
        ({"feature_names": ["x"]}, "1 feature_names for 3 features"),
    ],
)
def test_bad_input(model, options, message):
    with pytest.raises(ValueError, match=message):
        model.explore(**options)


def test_names_that_are_taken(model):
    page = model.explore(columns={"ptu0": np.zeros(300), "x1": np.ones(300)}, color="ptu0")
    meta, _ = unpack(page)
    names = [column["name"] for column in meta["columns"]]
    assert names[:2] == ["ptu0 (given)", "x1 (given)"]
    assert meta["color"] == "ptu0 (given)"


def test_thumbnails():
    rng = np.random.default_rng(0)
    images = rng.random((10, 96, 192))
    made = thumbnails(images, np.zeros((10, 2)))
    assert made.shape == (10, 24, 48, 1)
    blocks = images.reshape(10, 24, 4, 48, 4).mean(axis=(2, 4))
    span = (blocks - images.min()) / np.ptp(images) * 255
    assert np.abs(made[..., 0] - span).max() <= 0.51
    colours = rng.integers(0, 256, (10, 20, 30, 3), dtype=np.uint8)
    np.testing.assert_array_equal(thumbnails(colours, np.zeros((10, 2))), colours)


def test_models_show_themselves(model):
    bundle = model._repr_mimebundle_()
    assert "300 points of 3 features in 2 dimensions" in bundle["text/html"]
    assert "300 points of 3 features" in model._repr_html_()
    assert "points of" not in PTU()._repr_mimebundle_()["text/html"]
    assert "explorer" in model.explore()._repr_html_()


def test_writes_the_file_whole(model, tmp_path):
    page = model.explore(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(ValueError, match="there is no folder"):
        model.explore(tmp_path / "nowhere" / "page.html")
