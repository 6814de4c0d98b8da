"""Operators and indices: of tensors, of variables, of outputs of graphs; alike, and as NumPy and TensorFlow have them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernlink as kl
from kernlink import _kernlink

RAW = kl.raw_ops


def eager(function: Callable[[Any], Any], value: Any) -> Any:
    return function(kl.constant(value))


def traced(function: Callable[[Any], Any], value: Any) -> Any:
    return kl.function(function)(kl.constant(value))


def of_variable(function: Callable[[Any], Any], value: Any) -> Any:
    return function(kl.Variable(value))


def taped(function: Callable[[Any], Any], value: Any) -> Any:
    with kl.GradientTape() as tape:
        tensor = kl.constant(value)
        if tensor.dtype.is_floating:
            tape.watch(tensor)
        return function(tensor)


def in_graph(function: Callable[[Any], Any], value: Any) -> Any:
    graph = kl.Graph()
    x = graph.placeholder(kl.as_tensor(value).dtype, name="x")
    with graph:
        y = function(x)
    return kl.Session(graph).run(y, {x: value})


everywhere = pytest.mark.parametrize("compute", [eager, traced, of_variable, taped, in_graph])

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow,
}  # fmt: skip
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
FLOATS, INTS = np.array([1.5, -2.5, 3.0], np.float32), np.array([7, -8, 2], np.int32)


@everywhere
@pytest.mark.parametrize("sign", [*BINARY, *COMPARISONS])
@pytest.mark.parametrize("array", [FLOATS, INTS], ids=["floats", "ints"])
@pytest.mark.parametrize("other", [2, np.float64(2), np.int64(2), [2, 2, 2], np.array([3.0, 1.0, 2.0]), np.array([3, 1, 2])], ids=repr)
def test_operators_of_two(compute: Any, sign: str, array: np.ndarray, other: Any) -> None:
    if sign in ("==", "!=") and compute is in_graph:
        pytest.skip("outputs of graphs are told apart by what they are")
    function = (BINARY | COMPARISONS)[sign]
    own = np.asarray(other).astype(array.dtype)
    expected = function(array, own)
    result = compute(lambda x: function(x, other), array)
    assert result.dtype == expected.dtype
    assert np.allclose(result.numpy(), expected, equal_nan=True)


@everywhere
@pytest.mark.parametrize("sign", BINARY)
@pytest.mark.parametrize("other", [2, np.float64(2), [2, 2, 2], np.array([3.0, 1.0, 2.0])], ids=repr)
def test_reflected_operators(compute: Any, sign: str, other: Any) -> None:
    array = np.array([1.5, 2.5, 3.0], np.float32)
    expected = BINARY[sign](np.asarray(other, np.float32), array)
    result = compute(lambda x: BINARY[sign](other, x), array)
    assert result.dtype is kl.float32 and np.allclose(result.numpy(), expected)


@everywhere
def test_reflected_comparisons(compute: Any) -> None:
    assert compute(lambda x: np.array([2.0, 2.0]) < x, np.float32([1, 3])).tolist() == [False, True]
    assert compute(lambda x: 2 > x, np.float32([1, 3])).tolist() == [True, False]


@everywhere
@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_true_division_of_integers_gives_floats(compute: Any, name: str) -> None:
    array = np.array([7, 8], name)
    expected = kl.float32 if array.itemsize <= 2 else kl.float64
    for result in (compute(lambda x: x / x, array), compute(lambda x: x / 2, array), compute(lambda x: 14 / x, array)):
        assert result.dtype is expected
    assert compute(lambda x: x / 2, array).tolist() == [3.5, 4.0] and compute(lambda x: 14 / x, array).tolist() == [2.0, 1.75]
    assert compute(lambda x: x / kl.constant(np.array(2, name)), array).tolist() == [3.5, 4.0]
    with pytest.raises(TypeError, match=f"one operand is {name}, the other float64: cast one"):
        compute(lambda x: x / 2.5, array)
    with pytest.raises(TypeError, match=f"one operand is {name}, the other float32: cast one"):
        compute(lambda x: x / kl.constant(1.0), array)


@everywhere
def test_operators_of_one(compute: Any) -> None:
    assert compute(operator.neg, INTS).tolist() == (-INTS).tolist()
    assert compute(abs, INTS).tolist() == abs(INTS).tolist()
    assert compute(operator.invert, INTS).tolist() == (~INTS).tolist()
    assert compute(operator.invert, np.array([1, 255], np.uint8)).tolist() == [254, 0]
    assert compute(operator.invert, np.array([True, False])).tolist() == [False, True]
    for name, size in (("complex64", kl.float32), ("complex128", kl.float64)):
        result = compute(abs, np.array([3 + 4j], name))
        assert result.dtype is size and result.tolist() == [5.0]


@everywhere
@pytest.mark.parametrize("function", [operator.and_, operator.or_, operator.xor])
def test_bits_and_truths(compute: Any, function: Any) -> None:
    bools = np.array([True, False, True])
    others = np.array([True, True, False])
    assert compute(lambda x: function(x, others), bools).tolist() == function(bools, others).tolist()
    assert compute(lambda x: function(x, True), bools).tolist() == function(bools, True).tolist()
    assert compute(lambda x: function(True, x), bools).tolist() == function(True, bools).tolist()
    assert compute(lambda x: function(x, 6), INTS).tolist() == function(INTS, 6).tolist()
    assert compute(lambda x: function(6, x), INTS).tolist() == function(6, INTS).tolist()


@everywhere
def test_matrices(compute: Any) -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    result = compute(lambda x: x @ b, a)
    assert result.dtype is kl.float32 and result.tolist() == (a @ b).tolist()
    assert compute(lambda x: b.T @ x, a.T).tolist() == (b.T @ a.T).tolist()
    assert compute(lambda x: [[1.0, 2.0]] @ x, a).tolist() == ([[1.0, 2.0]] @ a).tolist()
    batch = np.ones((4, 2, 3), np.float32)
    assert compute(lambda x: x @ b, batch).tolist() == (batch @ b).tolist()


def test_texts() -> None:
    for compute in (eager, traced, taped, in_graph):
        assert compute(lambda x: x + "c", np.array(["a", "b"])).tolist() == [b"ac", b"bc"]
        assert compute(lambda x: "c" + x, np.array(["a", "b"])).tolist() == [b"ca", b"cb"]
        assert compute(lambda x: x + np.array(["c", "d"]), np.array(["a", "b"])).tolist() == [b"ac", b"bd"]
    texts = kl.constant(["a", "b"])
    assert (texts == "a").tolist() == [True, False] and ("a" != texts).tolist() == [False, True]
    for function in (lambda: texts + 1, lambda: texts * 2, lambda: texts == 1, lambda: texts / texts, lambda: texts < "b"):
        with pytest.raises(kl.errors.InvalidArgumentError):
            function()


def test_what_takes_the_dtype_of_the_other_operand() -> None:
    """As TensorFlow 2.21 has it."""
    half, wide = kl.constant([1.5], "float16"), kl.constant([1.5], "bfloat16")
    assert (half + np.float64(1)).dtype is kl.float16 and (wide * np.array([2.0])).dtype is kl.bfloat16
    assert (kl.constant([7, -8]) + np.array([1.5, 2.5])).tolist() == [8, -6]
    assert (kl.constant([7], "int8") + np.int64(300)).tolist() == [51]
    assert (kl.constant([7], "uint8") + np.int8(-1)).tolist() == [6]
    assert (kl.constant([1.5]) + True).tolist() == (kl.constant([1.5]) + np.True_).tolist() == [2.5]
    assert (kl.constant([True]) & np.array([2])).tolist() == [True]
    assert (kl.constant([1j], "complex64") + 1j).dtype is kl.complex64 and (kl.constant([1j]) + 1.5).tolist() == [1.5 + 1j]
    assert (kl.constant([1.5]) + 2**40).tolist() == [2.0**40] and (kl.constant([1], "uint64") + 2**40).tolist() == [2**40 + 1]
    # Among the inputs of any op, in lists too; tensors decide before arrays.
    assert RAW.AddV2(x=np.float64(1), y=kl.constant([1.5])).dtype is kl.float32
    assert RAW.AddN(inputs=[np.array([1.0]), kl.constant([1.5])]).dtype is kl.float32
    assert RAW.MatMul(a=np.ones((2, 3)), b=np.ones((3, 2), np.float32)).dtype is kl.float64
    assert RAW.LogicalAnd(x=[True, True], y=np.array([1, 0])).tolist() == [True, False]
    assert RAW.Reshape(tensor=[1, 2], shape=np.array([2, 1], np.uint8)).shape == (2, 1)
    assert RAW.IdentityN(input=[np.float64(1), kl.constant(1)])[0].dtype is kl.float64


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: x + kl.constant([1.0], "float64"), kl.errors.InvalidArgumentError),
        (lambda x: x + kl.constant([1]), kl.errors.InvalidArgumentError),
        (lambda x: x + 1j, kl.errors.InvalidArgumentError),
        (lambda x: x + "a", kl.errors.InvalidArgumentError),
        (lambda x: x + np.array(["a"]), kl.errors.InvalidArgumentError),
        (lambda x: x & x, kl.errors.InvalidArgumentError),
        (lambda x: ~x, kl.errors.InvalidArgumentError),
        (lambda x: kl.constant([1]) + 1.5, kl.errors.InvalidArgumentError),
        (lambda x: kl.constant([1]) + 2**40, kl.errors.InvalidArgumentError),
        (lambda x: kl.constant([1]) // 1.5, kl.errors.InvalidArgumentError),
        (lambda x: kl.constant([1], "uint8") + 300, kl.errors.InvalidArgumentError),
        (lambda x: kl.constant([True]) & 1, kl.errors.InvalidArgumentError),
        (lambda x: kl.constant([True]) + True, kl.errors.InvalidArgumentError),
        (lambda x: x + np.complex64(1j), kl.errors.InvalidArgumentError),
        (lambda x: kl.constant([2]) ** -1, kl.errors.InvalidArgumentError),
        (lambda x: x + None, TypeError),
        (lambda x: x + object(), TypeError),
        (lambda x: x == object(), TypeError),
        (lambda x: x == {}, TypeError),
        (lambda x: +x, TypeError),
        (lambda x: x << 1, TypeError),
        (lambda x: divmod(x, 2), TypeError),
        (lambda x: pow(x, 2, 3), TypeError),
    ],
)
def test_what_operators_refuse(function: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        function(kl.constant([1.5]))


def test_equality() -> None:
    tensor = kl.constant([7, -8])
    assert (tensor == [7, 8]).tolist() == [True, False] and (tensor != np.array([7.0, 8.0])).tolist() == [False, True]
    assert (np.array([7, 8]) == tensor).tolist() == [True, False] and (np.int64(7) != tensor).tolist() == [False, True]
    # Shapes that do not suit each other.
    assert (tensor == [1, 2, 3]).item() is False and (tensor != [1, 2, 3]).item() is True
    assert (tensor == None) is False and (tensor != None) is True  # noqa: E711
    with pytest.raises(kl.errors.InvalidArgumentError):
        tensor == kl.constant([7.0, 8.0])  # noqa: B015
    variable, other = kl.Variable([1.0, 2.0]), kl.Variable([1.0, 3.0])
    assert (variable == other).tolist() == [True, False] and (variable != 1).tolist() == [False, True]
    assert {variable: 1, other: 2}[variable] == 1 and len({variable, other}) == 2


class Other:
    """What has operators of its own, and is no tensor."""

    def __radd__(self, other: Any) -> str:
        return f"radd {other.shape}"

    def __gt__(self, other: Any) -> str:
        return "gt"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_classes_with_operators_of_their_own() -> None:
    tensor = kl.constant([1.0])
    assert tensor + Other() == "radd (1,)" and (tensor < Other()) == "gt" and (tensor == Other()) is True
    with pytest.raises(TypeError, match="Other cannot be a tensor"):
        tensor * Other()


def test_there_is_one_list() -> None:
    names = set(_kernlink.OPERATORS)
    assert {"__add__", "__rxor__", "__invert__", "__rpow__", "__eq__", "__ge__"} < names
    for cls in (kl.Tensor, kl.SymbolicTensor, kl.Variable):
        assert not [name for name in names if getattr(cls, name) is getattr(object, name, None)]


# Indices.

CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
INDICES: list[Any] = [
    0, -1, np.int64(1), np.array(1), (0, 1), (0, 1, 2), (-1, -2, -3), [0, 1], (), ..., None, (..., None), (None, 0, None),
    (..., 0), (0, ..., 0), (..., 1, 2), (slice(1, None), ..., None, slice(None, None, -1)), slice(None), slice(None, None, 2),
    slice(None, None, -1), (slice(None), slice(None, None, -2)), slice(10, None), slice(-100, 100), slice(1, 1), slice(2**40, None),
    slice(0, np.int32(1)), (slice(None), 1), (slice(0, 2), slice(2, 0, -1), slice(-3, -1)), (Ellipsis, slice(None, None, 3)),
    (None, None, ..., None), (slice(1), None, slice(1)),
]  # fmt: skip


@everywhere
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indices(compute: Any, index: Any) -> None:
    # A list of indices is what a tuple of them is, as in TensorFlow.
    expected = CUBE[tuple(index) if isinstance(index, list) else index]
    result = compute(lambda x: x[index], CUBE)
    assert result.shape == expected.shape and result.tolist() == expected.tolist()


@everywhere
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_tensors_as_indices(compute: Any, dtype: str) -> None:
    one = kl.constant(1, dtype)
    assert compute(lambda x: x[one], CUBE).tolist() == CUBE[1].tolist()
    assert compute(lambda x: x[0, one:, ..., one], CUBE).tolist() == CUBE[0, 1:, ..., 1].tolist()
    assert compute(lambda x: x[one, kl.constant(2)], CUBE).tolist() == CUBE[1, 2].tolist()
    assert kl.constant(CUBE)[kl.Variable(one)].tolist() == CUBE[1].tolist()

    @kl.function
    def of_symbols(x: Any, i: Any, j: Any) -> Any:
        return x[i, None, j : j + 1, ::j], x[-1, j:]

    first, second = of_symbols(CUBE, one, kl.constant(2))
    assert first.tolist() == CUBE[1, None, 2:3, ::2].tolist() and second.tolist() == CUBE[-1, 2:].tolist()


@everywhere
def test_masks(compute: Any) -> None:
    assert compute(lambda x: x[x > 5], CUBE).tolist() == CUBE[CUBE > 5].tolist()
    rows = np.array([True, False])
    assert compute(lambda x: x[rows], CUBE).tolist() == CUBE[rows].tolist()
    assert compute(lambda x: x[kl.constant([[True, False, True], [False] * 3])], CUBE).tolist() == CUBE[0, ::2].tolist()


@pytest.mark.parametrize("index", [2, -3, (2, 0), (0, 3), (0, 0, -5), (..., 4), (0, 0, 0, 0), (None, 2), 2**40, (..., 0, 0, 0, 0)], ids=repr)
def test_indices_out_of_range(index: Any) -> None:
    for compute in (eager, taped, of_variable, traced):
        with pytest.raises(IndexError):
            compute(lambda x: x[index], CUBE)
        with pytest.raises(kl.errors.InvalidArgumentError):
            compute(lambda x: x[index], CUBE)


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (1.5, TypeError), ("a", TypeError), (object(), TypeError), ((0, True), TypeError), (np.array([0, 1]), TypeError),
        (slice(1.0, None), TypeError), (slice("a"), TypeError), ([True, False], TypeError), (True, ValueError),
        (np.array([True, False, True]), ValueError), (slice(None, None, 0), kl.errors.InvalidArgumentError),
        ((..., ...), kl.errors.InvalidArgumentError),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_index(index: Any, error: type[Exception]) -> None:
    for compute in (eager, of_variable, traced):
        with pytest.raises(error):
            compute(lambda x: x[index], CUBE)
    with pytest.raises(TypeError):
        kl.constant(CUBE)[kl.constant(1.0)]
    with pytest.raises(TypeError):
        kl.constant(CUBE)[kl.constant([0, 1])]


def test_scalars_have_no_rows() -> None:
    scalar = kl.constant(3.5)
    assert scalar[...].item() == 3.5 and scalar[None].tolist() == [3.5] and scalar[()].item() == 3.5
    for index in (0, slice(None)):
        with pytest.raises(IndexError):
            scalar[index]


def test_loops_over_rows() -> None:
    for value in (kl.constant(CUBE), kl.Variable(CUBE)):
        assert [row.tolist() for row in value] == CUBE.tolist()
    assert list(kl.constant(np.zeros((0, 2)))) == []


def test_gradients_go_through_indices_and_operators() -> None:
    x = kl.Variable([[1.0, 2.0], [3.0, 4.0]])
    with kl.GradientTape() as tape:
        y = RAW.Sum(input=x[1:, ::-1] ** 2 / 2, axis=[0, 1]) + 3 * x[0, 1] - abs(-x[0, 0])
    assert RAW.Identity(input=tape.gradient(y, x)).tolist() == [[-1.0, 3.0], [3.0, 4.0]]
