"""Columns that are used: settled by the first part of a table, and held in all others."""

import json

import numpy as np
import pyarrow
import pytest

from ptunfold.io.choice import Choice
from ptunfold.io.table import RefusedError, Style, Table


def part(first_row=0, is_last=False, decimal=".", index=(), **columns):
    n_rows = len(next(iter(columns.values())))
    return Table(
        list(columns),
        list(columns.values()),
        style=Style(".csv", ",", decimal),
        first_row=first_row,
        lines=range(first_row + 2, first_row + 2 + n_rows),
        index=frozenset(index),
        is_last=is_last,
    )


def take(parts, names=None, again=False):
    """Take the points of parts, if asked for each time with a choice restored from JSON."""
    choice, found = Choice(names), []
    for one in parts:
        found.append(choice.points(one))
        if again:
            state, choice = json.loads(json.dumps(choice.state)), Choice(names)
            choice.restore(state)
    return np.concatenate(found), choice


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("names", [None, ["x", "y"], ["y", "x"]])
def test_parts_are_the_whole(names, again):
    x, y, words = ["1", "", "3", "4"], ["1,5", "2", "3", "4,25"], ["a", "1", "2", "3"]
    whole, one = take([part(is_last=True, x=x, y=y, w=words)], names)
    for cut in (1, 2, 3):
        parts = [
            part(x=x[:cut], y=y[:cut], w=words[:cut]),
            part(cut, is_last=True, x=x[cut:], y=y[cut:], w=words[cut:]),
        ]
        found, other = take(parts, names, again)
        np.testing.assert_array_equal(found, whole)
        assert (other.used, other.notes) == (one.used, one.notes)
        assert other.left_out == one.left_out


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    ("first", "then", "decimal", "message"),
    [
        (
            ["1", "2"],
            ["3", "word"],
            ".",
            r"\(words, as 'word' in row 4, line 5\); mend it, or name",
        ),
        (["1,234"], ["5", "1,5"], ".", r"two ways, as '1,5' in row 3, line 4"),
        (["1.234"], ["1,5"], ".", r"two ways, as '1,5' in row 2, line 3"),
        (["1.234"], ["0.5"], ",", r"two ways, as '0.5' in row 2, line 3"),
        (["1.5"], ["2", "1,5"], ".", r"two ways, as '1,5' in row 3, line 4"),
    ],
)
def test_what_would_change_rows_before_is_refused(first, then, decimal, message, again):
    parts = [part(decimal=decimal, x=first, y=["1"] * len(first))]
    parts.append(part(len(first), True, decimal, x=then, y=["1"] * len(then)))
    for names in (None, ["x"]):
        with pytest.raises(RefusedError, match=rf"column x .* to its end .*{message}"):
            take(parts, names, again)
    take(parts, ["y"], again)  # who does not use it need not care


def test_numbers_that_tell_later_how_they_are_written():
    parts = [part(x=["1", "2"]), part(2, True, x=["3,5", "4"])]
    found, choice = take(parts)
    np.testing.assert_array_equal(found[:, 0], [1, 2, 3.5, 4])
    assert choice.notes == {"x": "decimal commas"}


@pytest.mark.parametrize("again", [False, True])
def test_gaps_that_end(again):
    parts = [part(x=["1", "2"], y=["", "NA"]), part(2, True, x=["3"], y=["4"])]
    with pytest.raises(RefusedError, match="column y held nothing but gaps in its first 2 rows"):
        take(parts, None, again)
    found, _ = take(parts, ["x", "y"], again)
    np.testing.assert_array_equal(found[:, 1], [np.nan, np.nan, 4])
    parts[1] = part(2, True, x=["3"], y=[""])
    assert take(parts, None, again)[1].left_out == {"y": "nothing but gaps"}
    with pytest.raises(ValueError, match=r"column y does not hold numbers \(nothing but gaps\)"):
        take(parts, ["x", "y"], again)


@pytest.mark.parametrize("again", [False, True])
def test_rows_that_are_no_longer_numbered(again):
    first = part(index=[""], **{"": ["0", "1"], "x": ["1", "2"]})
    then = part(2, True, index=[""], **{"": ["2"], "x": ["3"]})
    assert take([first, then], None, again)[1].left_out == {"": "numbers the rows"}
    other = part(2, True, **{"": ["7"], "x": ["3"]})
    with pytest.raises(
        RefusedError, match="column '' numbers the rows, but not those after 2; name"
    ):
        take([first, other], None, again)
    assert take([first, other], ["x"], again)[0].shape == (3, 1)


def test_gaps_of_arrow():
    def arrow(first_row, is_last, values):
        columns = [pyarrow.chunked_array([values]), pyarrow.chunked_array([[1.0]])]
        return Table(["x", "y"], columns, first_row=first_row, is_last=is_last)

    first = arrow(0, False, pyarrow.array([None], pyarrow.float64()))
    with pytest.raises(RefusedError, match="column x held nothing but gaps"):
        take([first, arrow(1, True, pyarrow.array([2.0]))])
