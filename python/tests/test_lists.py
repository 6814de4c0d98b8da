"""Nested lists of Python's values and of what has memory of its own: dtypes, values and refusals, which are TensorFlow's."""

from __future__ import annotations

import array
import collections
import time
from typing import Any

import kernlink as kl
import ml_dtypes
import numpy as np
import pytest

HUGE, LARGE = 2**200, 2**63


def unsigned(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint64)


@pytest.mark.parametrize(
    ("value", "dtype", "expected", "asked"),
    [
        # Integers are int32 if they fit, whatever they were to NumPy, which has no integers for these together.
        ([unsigned(5), [6]], "int32", [[5], [6]], None),
        ([unsigned(2**53 + 1), np.array([1])], "int64", [[2**53 + 1], [1]], None),
        ([unsigned(2**53 + 1), np.array([1])], "int64", [[2**53 + 1], [1]], "int64"),
        ([[2**53 + 1], unsigned(1)], "int64", [[2**53 + 1], [1]], "int64"),
        ([unsigned(LARGE), np.array([1])], "uint64", [[LARGE], [1]], "uint64"),
        ([np.int8(5)], "int32", [5], None),
        ([np.array([300], np.int64)], "int8", [[44]], "int8"),
        ([np.array([1, 2]), np.array([3, 4], np.int8)], "int32", [[1, 2], [3, 4]], None),
        ([[np.array([1, 2])], [[3, 4]]], "int32", [[[1, 2]], [[3, 4]]], None),
        # Integers beyond 64 bits are floats where floats are asked for.
        (2**64, "float64", 2.0**64, "float64"),
        (LARGE, "float32", 2.0**63, "float32"),
        ([2**70], "float64", [2.0**70], "float64"),
        ([2**70], "complex128", [2.0**70 + 0j], "complex128"),
        ([LARGE, -1], "float64", [2.0**63, -1.0], "float64"),
        ([LARGE, 1.0], "float64", [2.0**63, 1.0], "float64"),
        ([1.0, LARGE], "float32", [1.0, 2.0**63], None),
        ([1.0, HUGE], "float64", [1.0, 2.0**200], "float64"),
        # Floats take the dtype of the first, and keep their value where another is asked for.
        ([np.array([1], np.float16)], "float16", [[1.0]], None),
        ([np.array([1e10]), np.array([1], np.float16)], "float64", [[1e10], [1.0]], None),
        ([[1.5], np.array([1.0])], "float32", [[1.5], [1.0]], None),
        ([np.array([1]), np.array([1.5])], "float32", [[1.0], [1.5]], None),
        ([np.array([1.5], np.float32), np.array([1])], "float32", [[1.5], [1.0]], None),
        ([np.array([1], np.float64), [1e39]], "float64", [[1.0], [1e39]], None),
        ([np.float16(1), 1e10], "float32", [1.0, 1e10], "float32"),
        ([np.float32(1.5), 0.1], "float64", [1.5, 0.1], "float64"),
        ([np.array([1e39])], "float32", [[np.inf]], "float32"),
        ([np.array([1], ml_dtypes.bfloat16), [2.5]], "bfloat16", [[1.0], [2.5]], None),
        # Bools of Python's are numbers behind numbers, or where numbers are asked for.
        ([1, True], "int32", [1, 1], None),
        ([1j, True], "complex128", [1j, 1.0], None),
        ([True, 1], "int32", [1, 1], "int32"),
        ([True, 2.5], "float32", [1.0, 2.5], "float32"),
        ([True, np.bool_(False)], "bool", [True, False], None),
        ([np.array([True])], "bool", [[True]], "bool"),
        ([1j, np.complex64(2)], "complex128", [1j, 2.0], None),
        # Texts keep their bytes.
        ([[b"a\0"], np.array([b"b"])], "string", [[b"a\0"], [b"b"]], None),
        ([["a\0"], np.array(["b"])], "string", [[b"a\0"], [b"b"]], None),
        ([np.array(["a"], object), ["b"]], "string", [[b"a"], [b"b"]], None),
        (array.array("u", "a\0"), "string", [b"a", b"\0"], None),
        # Sequences are lists, and what has memory is.
        (collections.deque([1, 2]), "int32", [1, 2], None),
        ([collections.UserList([1, 2])], "int32", [[1, 2]], None),
        ([range(3), bytearray(b"abc")], "int32", [[0, 1, 2], [97, 98, 99]], None),
        (range(2**40, 2**40 + 2), "int64", [2**40, 2**40 + 1], None),
        (memoryview(np.arange(6)[::2]), "int32", [0, 2, 4], None),
        (memoryview(array.array("d", [1, 2])), "float32", [1.0, 2.0], None),
        (memoryview(np.array([True])), "bool", [True], None),
        (memoryview(b"abc"), "uint8", [97, 98, 99], "uint8"),
        (memoryview(b"ab").cast("c"), "string", [b"a", b"b"], None),
        ([array.array("f", [1, 2]), [3, 4]], "float32", [[1.0, 2.0], [3.0, 4.0]], None),
        (array.array("d", [1e39]), "float64", [1e39], "float64"),
        (bytearray(), "float32", [], None),
        ([np.zeros((2, 0), np.int32)], "float32", [[[], []]], None),
    ],
    ids=repr,
)
def test_values_of_lists(value: Any, dtype: str, expected: Any, asked: str | None) -> None:
    tensor = kl.constant(value, asked)
    assert (tensor.dtype.name, tensor.tolist()) == (dtype, expected)


BEYOND = "beyond int64: give the dtype"


@pytest.mark.parametrize(
    ("value", "asked", "error", "text"),
    [
        ([["a"], np.array([1])], None, TypeError, "an integer among strings"),
        ([[1], np.array(["a"])], None, TypeError, "a string among integers"),
        ([1, np.bool_(True)], None, TypeError, "a bool of NumPy's among integers"),
        ([1.5, np.bool_(True)], "float32", TypeError, "a bool of NumPy's among floats"),
        ([np.array([1]), np.array([True])], None, TypeError, "a bool of NumPy's among integers"),
        ([[True], np.array([1])], None, TypeError, "an integer among bools"),
        ([np.array([True])], "int32", TypeError, "of dtype bool, not int32"),
        ([np.bool_(True)], "float32", TypeError, "of dtype bool, not float32"),
        ([np.array([1.5])], "int32", TypeError, "a float cannot be of dtype int32"),
        ([np.float32(1.5), 1e39], None, ValueError, "1e39 is beyond float32"),
        ([np.float16(1), np.float32(1e10)], None, ValueError, "10000000000.0 is beyond float16"),
        ([np.array([1], np.float32), [1e39]], None, ValueError, "1e39 is beyond float32"),
        ([1.0, HUGE], None, ValueError, "is beyond float32"),
        ([1.0, 2**2000], None, ValueError, "… is beyond float64"),
        (2**2000, "float64", ValueError, "… is beyond float64"),
        ([unsigned(LARGE)], None, ValueError, BEYOND),
        ([LARGE, 1.0], None, ValueError, BEYOND),
        ([LARGE], "int64", ValueError, BEYOND),
        ([unsigned(LARGE), np.array([-1])], None, ValueError, "no dtype has integers below zero and of 2"),
        ([np.array([1, 2]), [3]], None, ValueError, "different lengths"),
        ([np.array([1, 2]), 3], None, ValueError, "different lengths"),
        ([3, np.array([1, 2])], None, ValueError, "different lengths"),
        ([np.zeros((0, 3)), []], None, ValueError, "different lengths"),
        ([np.zeros((2, 0)), np.zeros((2, 1))], None, ValueError, "different lengths"),
        ([np.longdouble(1)], None, TypeError, "longdouble cannot be a tensor"),
        ([np.zeros(1, "M8[s]")], None, TypeError, "datetime64"),
        (collections.UserString("ab"), None, ValueError, "254 deep"),
    ],
    ids=repr,
)
def test_lists_that_are_no_tensors(value: Any, asked: str | None, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        kl.constant(value, asked)


class Raises:
    """What looks like an array, and raises when it is asked for one."""

    shape = (2,)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise ValueError("the file is gone")


def test_errors_of_arrays_are_passed_on() -> None:
    with pytest.raises(ValueError, match="the file is gone"):
        kl.constant([[1, 2], Raises()])
    assert kl.constant(_nested(np.zeros(1, np.int32), 70)).shape == (1,) * 71
    with pytest.raises(ValueError, match="254 deep"):
        kl.constant(_nested(np.zeros((1,) * 60), 200))


def _nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def test_arrays_that_give_themselves() -> None:
    class Again(array.array):  # type: ignore[type-arg]
        def tolist(self) -> Any:
            return self

    class Item:
        shape = ()

        def item(self) -> Any:
            return self

    assert kl.constant(Again("i", [1, 2])).tolist() == [1, 2]
    with pytest.raises(TypeError, match="Item cannot be a tensor"):
        kl.constant([Item()])


def test_arrays_beside_tensors_take_their_dtype() -> None:
    tensor = kl.constant([1.0])
    assert kl.constant([np.array([1]), np.array([True]), tensor]).tolist() == [[1.0], [1.0], [1.0]]
    value: list[Any] = [np.array([1]), np.array([True])]
    value += [value, value]
    with pytest.raises(ValueError, match="different lengths|254 deep"):
        kl.constant(value)


def test_memory_is_read_at_once() -> None:
    memory = bytes(4_000_000)
    begun = time.process_time()
    for value in (memoryview(memory), bytearray(memory), array.array("B", memory)):
        assert kl.constant(value, "uint8").shape == (len(memory),)
    # An object of Python's for each takes twenty times as long.
    assert time.process_time() - begun < 3


def test_fetches_in_lists_of_other_classes() -> None:
    class Named(list):  # type: ignore[type-arg]
        def __init__(self, name: str, items: Any) -> None:
            super().__init__(items)

    class Both(tuple):  # type: ignore[type-arg]
        def __new__(cls, one: Any, two: Any) -> Both:
            return super().__new__(cls, (one, two))

    Pair = collections.namedtuple("Pair", ["a", "b"])
    with kl.Graph() as graph:
        x = graph.placeholder("float32", [])
    session = kl.Session(graph)
    for fetches, cls in ((Named("n", [x, [x]]), list), (Both(x, [x]), tuple), (Pair(x, [x]), Pair)):
        given = session.run(fetches, {x: 2.0})
        assert type(given) is cls and given[0].item() == 2.0 and given[1][0].item() == 2.0
