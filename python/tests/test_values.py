"""What Python's values become as tensors: TensorFlow's dtypes and refusals, and where Kernlink says more."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops

# Expressions with `constant`, and what TensorFlow makes of them: the dtype and the elements, or the error. A test below asks it, where
# it is installed.
VALUES: dict[str, tuple[str, Any] | type[Exception]] = {
    # Floats beyond float32, which nobody asked to be infinite.
    "constant(1e40)": ValueError,
    "constant(-1e40)": ValueError,
    "constant([1.0, 1e40])": ValueError,
    "constant([1, 1e40])": ValueError,
    "constant(3.4028235677973366e38)": ValueError,
    "constant(3.4028235677973362e38)": ("float32", 3.4028234663852886e38),
    "constant(1e40, dtype='float32')": ("float32", float("inf")),
    "constant(1e40, dtype='float16')": ("float16", float("inf")),
    "constant(1e40, dtype='float64')": ("float64", 1e40),
    "constant(1e40, dtype='complex64')": ("complex64", complex("inf")),
    "constant(float('inf'))": ("float32", float("inf")),
    "constant([float('-inf'), 1e-50])": ("float32", [float("-inf"), 0.0]),
    "constant(np.float64(1e40))": ("float64", 1e40),
    "constant(np.array([1e40]), dtype='float32')": ("float32", [float("inf")]),
    "constant([np.float64(1e40)])": ("float64", [1e40]),
    # Bools among numbers.
    "constant([1.0, True])": ("float32", [1.0, 1.0]),
    "constant([1, True, False])": ("int32", [1, 1, 0]),
    "constant([2**40, True])": ("int64", [2**40, 1]),
    "constant([1 + 1j, 2, True, 2.5])": ("complex128", [1 + 1j, 2, 1, 2.5]),
    "constant([[1.5, 2], [True, 2.5]])": ("float32", [[1.5, 2.0], [1.0, 2.5]]),
    "constant([True, 1.0])": ValueError,
    "constant([True, 1])": ValueError,
    "constant([False, 'a'])": ValueError,
    "constant(['a', True])": ValueError,
    "constant([True, False], dtype='float32')": ("float32", [1.0, 0.0]),
    # Integers beyond 64 bits, with a sign or without.
    "constant(2**63)": ValueError,
    "constant([1, 2**63])": ValueError,
    "constant([2**63, -1])": ValueError,
    "constant([-1, 2**63])": ValueError,
    "constant(2**64)": ValueError,
    "constant(-2**63 - 1)": ValueError,
    "constant(10**400)": ValueError,
    "constant([1.0, 10**400])": ValueError,
    "constant([np.uint64(2**63)])": ValueError,
    "constant(-2**63)": ("int64", -(2**63)),
    "constant(2**63, dtype='uint64')": ("uint64", 2**63),
    "constant([1, 2**64 - 1], dtype='uint64')": ("uint64", [1, 2**64 - 1]),
    "constant(2**63, dtype='float32')": ("float32", float(2**63)),
    "constant(np.uint64(2**63))": ("uint64", 2**63),
    "constant([1.0, 2**63])": ("float32", [1.0, float(2**63)]),
    "constant([1.0, 2**70])": ("float32", [1.0, float(2**70)]),
    "constant([1j, 2**70])": ("complex128", [1j, float(2**70)]),
    "constant(300, dtype='uint8')": ("uint8", 44),
    "constant(-1, dtype='uint8')": ("uint8", 255),
    # What is a list to Python, too.
    "constant(bytearray(b'ab'))": ("int32", [97, 98]),
    "constant(bytearray())": ("float32", []),
    "constant([bytearray(b'a'), bytearray(b'b')])": ("int32", [[97], [98]]),
    "constant(bytearray(b'ab'), dtype='uint8')": ("uint8", [97, 98]),
    "constant(memoryview(b'ab'))": ("int32", [97, 98]),
    "constant(memoryview(bytearray(b'abc'))[::2])": ("int32", [97, 99]),
    "constant(memoryview(b'ab').cast('c'))": ("string", [b"a", b"b"]),
    "constant(memoryview(np.array([True])))": ("bool", [True]),
    "constant(array.array('d', [1.5, 2]))": ("float32", [1.5, 2.0]),
    "constant(array.array('d', [1.5, 2]), dtype='float64')": ("float64", [1.5, 2.0]),
    "constant(array.array('d', [1e40]))": ValueError,
    "constant(array.array('i', [1, -2]))": ("int32", [1, -2]),
    "constant(array.array('q', [2**40]))": ("int64", [2**40]),
    "constant(array.array('u', 'ab'))": ("string", [b"a", b"b"]),
    "constant([array.array('d', [1, 2]), [3, 4]])": ("float32", [[1.0, 2.0], [3.0, 4.0]]),
    "constant(array.array('d', [1.5]), dtype='int32')": TypeError,
    # Arrays in lists count as numbers of NumPy's do.
    "constant([np.array([1, 2]), np.array([3, 4])])": ("int32", [[1, 2], [3, 4]]),
    "constant([np.array([1, 2]), [2**40, 4]])": ("int64", [[1, 2], [2**40, 4]]),
    "constant([np.array([1, 2], np.uint8)])": ("int32", [[1, 2]]),
    "constant([np.array([1, 2], np.int16), np.array([3, 4], np.int32)])": ("int32", [[1, 2], [3, 4]]),
    "constant([np.array([1, 2]), np.array([3.5, 4])])": ("float32", [[1.0, 2.0], [3.5, 4.0]]),
    "constant([[1, 2], np.array([3.5, 4])])": ("float32", [[1.0, 2.0], [3.5, 4.0]]),
    "constant([np.array([1.5, 2]), [3, 4]])": ("float64", [[1.5, 2.0], [3.0, 4.0]]),
    "constant([np.array([1.5, 2], np.float32), np.array([3.5, 4])])": ("float32", [[1.5, 2.0], [3.5, 4.0]]),
    "constant([np.array([1.5, 2], np.float16)])": ("float16", [[1.5, 2.0]]),
    "constant([[1.5], np.array([1e40])])": ValueError,
    "constant([np.array([1e40]), [1e40]])": ("float64", [[1e40], [1e40]]),
    "constant([np.array([1 + 1j], np.complex64)])": ("complex128", [[1 + 1j]]),
    "constant([np.array([True])])": ("bool", [[True]]),
    "constant([np.array(['a']), ['b']])": ("string", [[b"a"], [b"b"]]),
    "constant([[np.array([1, 2])], [np.array([3, 4])]])": ("int32", [[[1, 2]], [[3, 4]]]),
    "constant([np.array([1, 2])], dtype='int64')": ("int64", [[1, 2]]),
    "constant([np.array([], np.int64), []])": ("float32", [[], []]),
    "constant([np.array([1]), [True]])": ("int32", [[1], [1]]),
    "constant([np.array([True]), [1]])": ValueError,
    "constant([[True], np.array([1])])": ValueError,
    "constant([np.array([1]), ['a']])": ValueError,
    "constant([np.array([1, 2]), [1]])": ValueError,
    "constant([np.array([1]), 2])": ValueError,
    "constant([np.array(2**63, np.uint64)])": ValueError,
    "constant([np.array([1.5])], dtype='int32')": TypeError,
    # Whether they are true.
    "bool(constant([]))": ("bool", False),
    "bool(constant([[], []]))": ("bool", False),
    "bool(constant([[0]]))": ("bool", False),
    "bool(constant([2.5]))": ("bool", True),
    "bool(constant(''))": ("bool", False),
    "bool(constant('a'))": ("bool", True),
    "bool(constant(0j))": ("bool", False),
    "bool(constant([1, 2]))": ValueError,
    # Inputs of ops.
    "raw_ops.Identity(input=2**63)": ValueError,
    "raw_ops.Identity(input=[1, True])": ("int32", [1, 1]),
    "raw_ops.Identity(input=bytearray(b'ab'))": ("int32", [97, 98]),
    "raw_ops.AddV2(x=constant(1, dtype='uint64'), y=2**63)": ("uint64", 2**63 + 1),
    "raw_ops.AddV2(x=np.uint64([1]), y=2**63)": ("uint64", [2**63 + 1]),
}


def result(expression: str, module: Any) -> Any:
    """The dtype and the elements that an expression gives, or the class of its error."""
    names = {"constant": module.constant, "raw_ops": module.raw_ops, "np": np, "array": array}
    try:
        value = eval(expression, names)
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError
    return ("bool", value) if isinstance(value, bool) else (value.dtype.name, value.numpy().tolist())


@pytest.mark.parametrize("expression", VALUES)
def test_what_values_become(expression: str) -> None:
    expected = VALUES[expression]
    found = result(expression, kl)
    # Where TensorFlow raises a ValueError for elements of several kinds, Kernlink raises a TypeError.
    assert found == expected or (expected, found) == (ValueError, TypeError)


@pytest.mark.parametrize("expression", VALUES)
def test_what_tensorflow_makes_of_values(expression: str) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    assert result(expression, tensorflow) == VALUES[expression]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e40, "1e40 is beyond float32: .*float64"),
        (2**63, "beyond int64: .*uint64"),
        (2**64, "18446744073709551616 is beyond all dtypes of integers: make it a float"),
        ([2**63, -1], "below zero and of 2\\*\\*63 or more"),
        ([np.zeros(2), np.zeros(3)], "different lengths"),
    ],
    ids=str,
)
def test_what_is_beyond_a_dtype_says_so(value: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        kl.constant(value)


def test_elements_of_several_kinds_say_which() -> None:
    for value, text in (
        ([True, 1.0], "a float among bools"),
        ([np.array([True]), [1]], "an integer among bools"),
        ([np.array([1]), ["a"]], "a string among integers"),
    ):
        with pytest.raises(TypeError, match=text):
            kl.constant(value)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="this NumPy has no StringDType")
def test_arrays_of_strings_of_any_length() -> None:
    dtype = np.dtypes.StringDType()
    assert kl.constant(np.array([["a", "ü"]], dtype)).tolist() == [[b"a", "ü".encode()]]
    assert kl.as_tensor(np.array("long" * 20, dtype)).tolist() == b"long" * 20
    assert kl.constant(np.array([], dtype)).dtype is kl.string
    assert RAW.StringLength(input=np.array(["ab", ""], dtype)).tolist() == [2, 0]
    with pytest.raises(TypeError, match="NoneType"):
        kl.constant(np.array(["a", None], np.dtypes.StringDType(na_object=None)))


def test_large_arrays_in_lists() -> None:
    rows = [np.arange(100_000), np.arange(100_000)]
    assert kl.constant(rows).dtype is kl.int32 and (kl.constant(rows).numpy() == np.stack(rows)).all()
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert kl.constant([np.ones(3, ml_dtypes.bfloat16)]).dtype is kl.bfloat16


def test_variables_show_their_values() -> None:
    v = kl.Variable([[1, 2]], name="v")
    assert repr(v) == "<kernlink.Variable 'v' shape=(1, 2) dtype=int32 value=[[1 2]]>"
    assert repr(kl.Variable(["a"])).endswith('dtype=string value=["a"]>') and "…" in repr(kl.Variable(np.zeros(2000)))
    # No tape records that it was read.
    with kl.GradientTape() as tape:
        assert "value=1.5" in repr(kl.Variable(1.5))
    assert tape.watched_variables() == ()
    texts = []
    kl.function(lambda: texts.append(repr(v)))()
    assert texts == ["<kernlink.Variable 'v' shape=(1, 2) dtype=int32>"]
    RAW.DestroyResourceOp(resource=v.handle)
    assert repr(v) == "<kernlink.Variable 'v' shape=(1, 2) dtype=int32>"


def test_softmax_of_what_is_no_number_is_none() -> None:
    """As TensorFlow's own kernels, which oneDNN's take the place of for float32 and bfloat16: those spare what is beside a NaN."""
    infinity, nan = float("inf"), float("nan")
    rows = [[infinity, 0.0, 1.0], [0.0, nan, 1.0], [-infinity] * 3, [infinity, -infinity, nan]]
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for op in (kl.raw_ops.Softmax, kl.raw_ops.LogSoftmax):
            found = kl.raw_ops.Cast(x=op(logits=kl.constant([*rows, [0.0, 0.0, 0.0]], dtype)), DstT="float64").numpy()
            assert np.isnan(found[:4]).all() and np.isfinite(found[4]).all(), (dtype, op)
        left = kl.raw_ops.Softmax(logits=kl.constant([[-infinity, 0.0, 0.0]], dtype))
        assert left.tolist() == [[0.0, 0.5, 0.5]]


def test_resizing_is_derived_for_as_many_images_as_the_gradient_has() -> None:
    for grads, image, expected in (
        ((1, 2, 2, 3), (2, 4, 5, 3), (1, 4, 5, 3)),
        ((2, 2, 2, 1), (1, 4, 5, 1), (2, 4, 5, 1)),
        ((1, 2, 2, 2), (1, 4, 5, 3), (1, 4, 5, 2)),
        ((0, 2, 2, 1), (1, 4, 5, 1), (0, 4, 5, 1)),
        ((1, 2, 2, 1), (0, 4, 5, 1), (1, 4, 5, 1)),
    ):
        flow, images = np.ones(grads, np.float32), np.ones(image, np.float32)
        for op in (kl.raw_ops.ResizeBicubicGrad, kl.raw_ops.ResizeBilinearGrad):
            derive = lambda flow, images, op=op: op(grads=flow, original_image=images)  # noqa: E731
            for call in (derive, kl.function(derive)):
                found = call(kl.constant(flow), kl.constant(images))
                # All that flows arrives.
                assert found.shape == expected and abs(found.numpy().sum() - flow.sum()) < 1e-4
    for op in (kl.raw_ops.ResizeBicubicGrad, kl.raw_ops.ResizeBilinearGrad):
        for grads, image in (((1, 0, 2, 1), (1, 4, 4, 1)), ((1, 2, 2, 1), (1, 0, 4, 1)), ((1, 2, 2), (1, 4, 4, 1))):
            with pytest.raises(kl.errors.InvalidArgumentError):
                op(grads=np.ones(grads, np.float32), original_image=np.ones(image, np.float32))


def test_integers_are_not_truncated_by_zero() -> None:
    """TensorFlow says INTERNAL of these two alone."""
    for dtype in ("int32", "int64"):
        x, y = kl.constant([1, 2], dtype), kl.constant([1, 0], dtype)
        for op in (kl.raw_ops.TruncateDiv, kl.raw_ops.TruncateMod):
            with pytest.raises(kl.errors.InternalError):
                op(x=x, y=y)
        for op in (kl.raw_ops.Div, kl.raw_ops.FloorDiv, kl.raw_ops.FloorMod, kl.raw_ops.Mod):
            with pytest.raises(kl.errors.InvalidArgumentError, match="Integer division by zero"):
                op(x=x, y=y)
