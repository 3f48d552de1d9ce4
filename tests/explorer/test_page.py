"""What goes into the explorer's page, without a browser."""

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ptunfold import PTU
from ptunfold.datasets import s_with_hole
from ptunfold.explorer import page
from ptunfold.explorer.columns import as_column, as_columns
from ptunfold.explorer.page import make_page
from ptunfold.explorer.thumbnails import thumbnails


@pytest.fixture(scope="module")
def model():
    return PTU().fit(s_with_hole(300).points)


def unpack(page):
    """The page's own words, and its arrays."""
    found = dict(re.findall(r'<script type="[^"]*" id="([^"]*)">(.*?)</script>', page.html))
    meta = json.loads(found["meta"])
    arrays = {}
    for name, entry in meta["arrays"].items():
        texts = (found.get(f"data-{name}-{index}", "") for index in range(1000))
        raw = base64.b64decode("".join(texts))
        raw = gzip.decompress(raw) if entry["packed"] else raw
        arrays[name] = np.frombuffer(raw, entry["dtype"])
    return meta, arrays


def test_own_columns_keep_every_digit(model):
    rng = np.random.default_rng(0)
    columns = {
        "share": rng.random(300),
        "small": rng.random(300) * 1e-60,
        "far": 1e9 + rng.random(300),
        "gaps": np.where(rng.random(300) < 0.2, np.nan, rng.random(300)),
        "inf": np.where(rng.random(300) < 0.2, np.inf, rng.random(300)),
        "single": rng.random(300).astype(np.float32),
        "count": rng.integers(0, 1000, 300),
        "large": rng.integers(0, 2**50, 300),
    }
    meta, arrays = unpack(model.explore(columns=columns))
    stored = {entry["name"]: arrays[entry["array"]] for entry in meta["columns"]}
    for name, values in columns.items():
        np.testing.assert_array_equal(stored[name].astype(np.float64), values.astype(np.float64))
    # The page writes 64 bits in full, and what is in 32 bits with the fewest digits.
    assert {name for name in columns if stored[name].dtype == np.float32} == {"count"}


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
    assert len(arrays["features"]) == 3 * 200_001  # in several elements
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
            "key": [2**50, 1, 2],
        }
    )
    number, count, word, flag, key = as_columns(given, 3)
    np.testing.assert_array_equal(number.values, [0.5, np.nan, 2])
    assert number.labels is None
    np.testing.assert_array_equal(count.values, [1, 2, 3])
    assert (word.labels, word.values.tolist()) == (["a", "b"], [1, -1, 0])
    assert (flag.labels, flag.values.tolist()) == (["False", "True"], [1, 0, 1])
    assert key.values[0] == 2**50


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


def test_pale_thumbnails_have_contrast_of_their_own():
    rng = np.random.default_rng(0)
    images = rng.random((10, 5, 6)) + 10 * np.arange(10)[:, None, None]
    made = thumbnails(images, np.zeros((10, 2)))
    assert (made.min(axis=(1, 2, 3)) == 0).all()
    assert (made.max(axis=(1, 2, 3)) == 255).all()
    assert not thumbnails(np.ones((3, 2, 2)), np.zeros((3, 2))).any()


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


def test_kinds_of_values_that_pandas_has():
    frame = pd.DataFrame(
        {
            "flag": pd.array([True, None, False], dtype="boolean"),
            "text": pd.array(["b", None, "a"], dtype="string"),
            "size": pd.Categorical(["low", "high", None], ["low", "medium", "high"], ordered=True),
            "day": pd.to_datetime(["2026-01-02", None, "2025-01-02"]),
            "mixed": pd.Series([0.5, None, 2], dtype=object),
            "place": ["9", "10", "1"],
        }
    )
    flag, text, size, day, mixed, place = as_columns(frame, 3)
    assert (flag.labels, flag.values.tolist()) == (["False", "True"], [1, -1, 0])
    assert (text.labels, text.values.tolist()) == (["a", "b"], [1, -1, 0])
    assert (size.labels, size.values.tolist()) == (["low", "high"], [0, 1, -1])
    assert day.labels == ["2025-01-02", "2026-01-02"]
    assert day.values.tolist() == [1, -1, 0]
    np.testing.assert_array_equal(mixed.values, [0.5, np.nan, 2])
    assert place.labels == ["1", "9", "10"]
    masked = as_columns({"a": np.ma.masked_array([1.0, 2, 3], [False, True, False])}, 3)[0]
    np.testing.assert_array_equal(masked.values, [1, np.nan, 3])
    import pyarrow as pa

    table = pa.table({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    assert [column.name for column in as_columns(table, 3)] == ["a", "b"]


def test_columns_are_never_rounded():
    n_points = 200_001
    key = np.arange(n_points)
    wild = np.zeros(n_points)
    wild[5] = 1e9
    wild[6] = 99
    columns = as_columns({"key": key, "wild": wild}, n_points)
    page = make_page(
        np.zeros((n_points, 1)), np.zeros((n_points, 2)), title="", names=["x"], columns=columns
    )
    _, arrays = unpack(page)
    np.testing.assert_array_equal(arrays["column0"], key)
    np.testing.assert_array_equal(arrays["column1"], wild)


def test_points_in_the_order_given():
    """More points than are left in their order inside."""
    rng = np.random.default_rng(0)
    points = rng.random((20_500, 2)).astype(np.float32)
    model = PTU(landmarks=40).fit(points)
    meta, arrays = unpack(model.explore(columns={"mine": np.arange(20_500)}))
    np.testing.assert_array_equal(arrays["features"].reshape(-1, 2), points)
    np.testing.assert_array_equal(arrays["embedding"].reshape(-1, 2), model.embedding_)
    edges = np.repeat(np.arange(20_500), arrays["counts"]), arrays["heads"]
    lengths = np.linalg.norm(points[edges[0]] - points[edges[1]], axis=1)
    np.testing.assert_allclose(lengths, arrays["lengths"], rtol=1e-4)
    columns = {column["name"]: arrays[column["array"]] for column in meta["columns"]}
    np.testing.assert_array_equal(np.flatnonzero(columns["landmark"]), np.sort(model.landmarks_))
    assert columns["local distortion"] == pytest.approx(
        model.scores()["local distortion"], rel=1e-5
    )


def test_components_are_told_apart():
    rng = np.random.default_rng(0)
    points = np.vstack((rng.random((60, 2)), rng.random((40, 2)) + 9))
    model = PTU(disconnected="separate", n_neighbors=5).fit(points)
    meta, arrays = unpack(model.explore())
    column = next(column for column in meta["columns"] if column["name"] == "component")
    np.testing.assert_array_equal(arrays[column["array"]], model.component_labels_)


def test_many_features_are_shown_by_their_principal_components():
    rng = np.random.default_rng(0)
    flat = rng.random((200, 3)) * [9, 5, 2]
    points = 0.001 * rng.random((200, 8))
    points[:, 5:] += flat  # the first three features say nothing
    meta, arrays = unpack(PTU(3, n_neighbors=12).fit(points).explore())
    entry = meta["arrays"]["input"]
    shown = arrays["input"].reshape(-1, 3) * entry["unit"] + np.array(entry["low"])
    from scipy.spatial.distance import pdist

    np.testing.assert_allclose(pdist(shown), pdist(flat), atol=0.01)


def test_chords_of_more_features_than_points():
    points = np.random.default_rng(0).random((40, 3000))
    meta, arrays = unpack(PTU(2, n_neighbors=8).fit(points).explore())
    stored = arrays["features"].reshape(40, meta["n_features"])
    assert meta["n_features"] <= 40
    from scipy.spatial.distance import pdist

    np.testing.assert_allclose(pdist(stored), pdist(points), rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": np.zeros(300)}, "not the name of a column"),
        ({"images": "faces"}, "one image of numbers"),
        ({"images": np.zeros((300, 0, 4))}, "one image of numbers"),
        ({"columns": {"a": [[1], [2, 3]] * 150}}, "column a has shape"),
    ],
)
def test_mistakes_get_a_sentence(model, options, message):
    with pytest.raises(ValueError, match=message):
        model.explore(**options)


def test_scales_are_recognised_and_chosen(model):
    rng = np.random.default_rng(0)
    turn, sign = rng.uniform(0, 2 * np.pi, 300), rng.normal(size=300)
    columns = {
        "phase": turn,
        "Azimuth (°)": np.degrees(turn) - 180,
        "emphasis": turn,
        "half angle": turn / 2,
        "fold_change": sign,
        "error": np.abs(sign),
        "height": sign,
        "S_score": sign,
        "score": np.abs(sign),
        "digit": rng.integers(0, 10, 300),
        "type": turn,
        "label": np.where(sign > 0, 1.0, np.nan),
        "hour": rng.integers(0, 24, 300),
        "mine": sign,
        "code": rng.integers(0, 3, 300),
        "words": ["a", "b", "c"] * 100,
    }
    scales = {"hour": 24, "mine": "diverging", "code": "kinds", "x1": "cyclic", "ptu0": "diverging"}
    meta, arrays = unpack(model.explore(columns=columns, scales=scales))
    told = {column["name"]: column for column in meta["columns"]}
    kinds = {name: column["scale"]["kind"] for name, column in told.items()}
    assert {name for name, kind in kinds.items() if kind == "cyclic"} == {
        "phase",
        "Azimuth (°)",
        "hour",
    }
    assert [kinds[name] for name in ("fold_change", "mine", "S_score", "curvature")] == [
        "diverging"
    ] * 4
    assert [kinds[name] for name in ("emphasis", "half angle", "error", "height", "score")] == [
        "sequential"
    ] * 5
    assert kinds["type"] == "sequential"
    assert told["Azimuth (°)"]["scale"] == {"kind": "cyclic", "start": -180, "period": 360}
    assert told["hour"]["scale"] == {"kind": "cyclic", "start": 0, "period": 24}
    assert told["digit"]["labels"] == [str(digit) for digit in range(10)]
    np.testing.assert_array_equal(arrays[told["digit"]["array"]], columns["digit"])
    assert told["label"]["labels"] == ["1"]
    assert told["code"]["labels"] == ["0", "1", "2"]
    assert told["words"]["labels"] == ["a", "b", "c"]
    axes = [axis["kind"] for axis in meta["axes"]]
    assert axes == ["sequential", "cyclic", "sequential", "diverging", "sequential"]
    # Without a word, signs of coordinates and of features mean nothing.
    meta, _ = unpack(model.explore(feature_names=["change", "phase", "z"]))
    assert {axis["kind"] for axis in meta["axes"]} == {"sequential"}


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        ({"a": "rainbow"}, "the scale of a is 'rainbow'; pass one of kinds, sequential, diverging"),
        ({"a": -1}, "the scale of a is -1; pass one of"),
        ({"a": True}, "the scale of a is True; pass one of"),
        ({"b": "cyclic"}, "there is no column b to scale; there are a, w, local distortion"),
        ({"w": "cyclic"}, "column w holds words, which are kinds"),
        ({"x0": "kinds"}, "x0 cannot be shown as kinds; pass it among the columns"),
        ("cyclic", "scales are str, not names with words; pass a dict"),
    ],
)
def test_scales_that_are_none(model, scales, message):
    columns = {"a": np.arange(300), "w": ["a", "b"] * 150}
    with pytest.raises(ValueError, match=message):
        model.explore(columns=columns, scales=scales)


def test_large_arrays_are_packed_in_pieces_so_that_they_can_be_stopped(monkeypatch):
    numbers = np.random.default_rng(0).integers(0, 9, 10 << 20).astype(np.uint8)
    assert gzip.decompress(page._packed(numbers)) == numbers.tobytes()
    looks = []

    def look():
        looks.append(1)
        if len(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(page, "check_not_stopped", look)
    with pytest.raises(KeyboardInterrupt):
        page._packed(numbers)


def test_a_folder_is_no_page(model, tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        model.explore(tmp_path)


@pytest.mark.parametrize(
    "kinds",
    [
        pd.to_datetime(["2020-01-02", "2020-01-01"]),
        pd.to_timedelta([2, 1], unit="D"),
        pd.Index([b"b", b"a"]),
    ],
)
def test_categories_of_any_kind_keep_their_order(kinds):
    given = pd.Series(pd.Categorical(kinds.take([0, 1, 0, 1]), categories=kinds, ordered=True))
    column = as_column("kind", given, 4)
    assert len(column.labels) == 2
    np.testing.assert_array_equal(column.values, [0, 1, 0, 1])


def test_categories_of_numbers_are_kinds():
    sizes = pd.Categorical([10, 9, None, 10], [10, 9, 8])
    for given in (sizes, pd.Series(sizes), pd.CategoricalIndex(sizes)):
        column = as_column("size", given, 4)
        assert (column.labels, column.values.tolist()) == (["10", "9"], [0, 1, -1, 0])


@pytest.mark.parametrize(
    ("times", "labels"),
    [
        (pd.to_timedelta([10, 2, None], unit="D"), ["2 days", "10 days"]),
        (
            pd.to_datetime(["2020-01-01 10:30", "2020-01-01 00:00", None]),
            ["2020-01-01T00:00", "2020-01-01T10:30"],
        ),
        (np.array(["2021", "2020", "NaT"], dtype="M8[Y]"), ["2020", "2021"]),
        (
            np.array([1, 0, "NaT"], dtype="M8[ns]"),
            ["1970-01-01T00:00:00.000000000", "1970-01-01T00:00:00.000000001"],
        ),
    ],
)
def test_times_are_written_no_finer_than_they_are_and_in_their_order(times, labels):
    column = as_column("time", times, 3)
    assert (column.labels, column.values.tolist()) == (labels, [1, 0, -1])


def test_columns_of_lists_and_masked_words():
    lists = np.fromiter([[1, 2], [3, 4]], object, 2)
    assert as_column("lists", lists, 2).labels == ["[1, 2]", "[3, 4]"]
    words = np.ma.array(["a", "b", "c"], mask=[False, True, False])
    found = as_column("words", words, 3)
    assert found.labels == ["a", "c"]
    np.testing.assert_array_equal(found.values, [0, -1, 1])
