"""Numbers in texts: what is one, and which."""

import numpy as np
import pytest

from ptunfold.io.numerals import decimal_mark, read_numbers


@pytest.mark.parametrize(
    ("texts", "decimal", "expected"),
    [
        (["1", "-2.5", "+3e2", " 4 "], ".", [1, -2.5, 300, 4]),
        (["1", "", "NA", "n/a", "nan", "None", "<NA>"], ".", [1] + 6 * [np.nan]),
        (["1,234.5", "-12,345,678", "9"], ".", [1234.5, -12345678, 9]),
        (["1,5", "-0,25", "3"], ".", [1.5, -0.25, 3]),
        (["1.234,5", "1.234.567", "1.234"], ".", [1234.5, 1234567, 1234]),
        (["1,234", "2,345"], ".", [1234, 2345]),
        (["1,234", "2,345"], ",", [1.234, 2.345]),
        (["1.234", "2.345"], ".", [1.234, 2.345]),
        (["1.234", "2.345"], ",", [1234, 2345]),
        (["0.5", "2.345"], ",", [0.5, 2.345]),
    ],
)
def test_numbers(texts, decimal, expected):
    np.testing.assert_array_equal(read_numbers(texts, decimal).values, expected)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["1", "12_34"], "words, as '12_34' in row 2"),
        (["1", "x"], "words, as 'x' in row 2"),
        (["1.5", "2,5"], "numbers written in two ways, as '2,5'"),
        (["1,23,4"], "words, as '1,23,4' in row 1"),
        (["1-2"], "words, as '1-2' in row 1"),
    ],
)
def test_no_numbers(texts, why):
    assert read_numbers(texts).values is None
    assert read_numbers(texts).note == why


def test_marks():
    assert decimal_mark([["1,234"]], ";") == ","
    assert decimal_mark([["1,234"]], "\t") == "."
    assert decimal_mark([["1,234"], ["1,5"]], "\t") == ","
    assert decimal_mark([["a,b"], ["1.5"]], ";") == "."
