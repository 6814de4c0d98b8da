"""Tensors and what they are made of and become: NumPy's arrays, lists, texts, pickles."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest
from arrays import NUMBERS, OF_ML_DTYPES, address

import kernlink as kl

RAW = kl.raw_ops


@pytest.mark.parametrize("name", [*NUMBERS, "bool"])
def test_arrays_of_every_dtype_there_and_back(name: str) -> None:
    array = np.array([[0, 1, 2], [3, 100, 7]]).astype(name)
    tensor = kl.as_tensor(array)
    assert tensor.dtype == name and tensor.dtype is kl.as_dtype(array.dtype) and tensor.dtype.as_numpy_dtype is array.dtype.type
    assert (tensor.shape, tensor.ndim, tensor.size, tensor.nbytes) == ((2, 3), 2, 6, array.nbytes)
    back = tensor.numpy()
    assert back.dtype == array.dtype and np.array_equal(back, array)
    assert tensor.tolist() == array.tolist()
    assert kl.constant(array.tolist(), name).tolist() == array.tolist()
    assert tensor[1].tolist() == array[1].tolist() and tensor[-2][2].item() == array[0, 2].item()


@pytest.mark.parametrize("name", OF_ML_DTYPES)
def test_dtypes_of_ml_dtypes(name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([[0, 1, 1], [1, 0, 0]]).astype(getattr(ml_dtypes, name))
    tensor = kl.as_tensor(array)
    assert tensor.dtype.name == name and tensor.dtype.as_numpy_dtype is getattr(ml_dtypes, name)
    back = tensor.numpy()
    assert back.dtype == array.dtype and not back.flags.writeable
    assert np.array_equal(back.astype(np.float32), array.astype(np.float32))
    # Of integers of less than 8 bits other bytes stand for the same element.
    assert np.shares_memory(back, array) == ("int" not in name)


@pytest.mark.parametrize("name", ["qint8", "quint8", "qint16", "quint16", "qint32"])
def test_quantised_elements_are_integers_to_numpy(name: str) -> None:
    tensor = RAW.Bitcast(input=np.array([1, 2, 3], name[1:]), type=name)
    assert tensor.dtype.name == name
    assert tensor.numpy().dtype == name[1:] and tensor.numpy().tolist() == [1, 2, 3]


def test_dtypes_of_pythons_values() -> None:
    assert kl.constant(1).dtype is kl.int32
    assert kl.constant(2**31).dtype is kl.int64
    assert kl.constant(2**63, "uint64").tolist() == 2**63
    assert kl.constant(1.5).dtype is kl.float32
    assert kl.constant([1, 2.5]).tolist() == [1.0, 2.5]
    assert kl.constant(True).dtype is kl.bool
    assert kl.constant(1 + 2j).item() == 1 + 2j
    assert kl.constant([]).dtype is kl.float32 and kl.constant([]).shape == (0,)
    assert kl.constant([[], []]).shape == (2, 0)
    assert kl.constant(range(4)).tolist() == [0, 1, 2, 3]
    assert kl.constant((1, (2)), "float64").tolist() == [1.0, 2.0]
    assert kl.constant(7, shape=(2, 3)).tolist() == [[7] * 3] * 2
    assert kl.constant([1, 2, 3, 4], shape=[2, 2]).tolist() == [[1, 2], [3, 4]]
    assert kl.constant([np.float32(1), np.float32(2)]).tolist() == [1.0, 2.0]
    assert kl.Tensor([1, 2]).tolist() == [1, 2]


def test_scalars_of_numpy_keep_their_dtype() -> None:
    for name in [*NUMBERS, "bool"]:
        assert kl.constant(np.dtype(name).type(1)).dtype.name == name
    assert RAW.AddV2(x=np.float64(1), y=2.0).dtype is kl.float64
    # A float that is the first decides for those after it.
    for first in (np.float16(1), np.float32(1), np.float64(1), np.array(1.5)):
        assert kl.constant([[first], [2.0]]).dtype.name == first.dtype.name
    assert kl.constant([np.float64(0.1), 2]).tolist() == [0.1, 2.0] and kl.constant([2.0, np.float64(1)]).dtype is kl.float32
    assert kl.constant([np.int64(1), 2]).dtype is kl.int32 and kl.constant([np.int64(2**40)]).dtype is kl.int64
    assert (kl.constant([1.5]) + [np.float64(1)]).dtype is kl.float32


def test_strings() -> None:
    assert kl.constant("hé").item() == "hé".encode()
    assert kl.constant(b"\xff\0").tolist() == b"\xff\0"
    tensor = kl.constant([["a", b"bc"], ["", "d" * 100]])
    assert tensor.dtype is kl.string and tensor.tolist() == [[b"a", b"bc"], [b"", b"d" * 100]]
    array = tensor.numpy()
    assert array.dtype == object and array.shape == (2, 2) and array[1, 1] == b"d" * 100
    assert kl.constant("x").numpy() == b"x"
    assert kl.constant(np.array(["x", "yé"])).tolist() == [b"x", "yé".encode()]
    assert kl.constant(np.array([b"x", b"yy"])).tolist() == [b"x", b"yy"]
    assert kl.constant(np.array([["a"], [b"b"]], object)).tolist() == [[b"a"], [b"b"]]
    assert kl.constant(np.array("x")).shape == () and kl.constant(np.array("x")).item() == b"x"
    empty = RAW.Fill(dims=[0, 2], value="")
    assert empty.numpy().shape == (0, 2) and empty.tolist() == []


@pytest.mark.parametrize("array", [np.zeros((0, 2), object), np.zeros(0, "U3"), np.zeros((2, 0), "S1")], ids=str)
def test_arrays_without_strings(array: np.ndarray) -> None:
    for tensor in (kl.as_tensor(array, kl.string), kl.constant(array), RAW.Identity(input=array)):
        assert tensor.dtype is kl.string and tensor.shape == array.shape


def test_arrays_of_objects() -> None:
    assert kl.constant(np.array([[1, 2]], object)).tolist() == [[1, 2]]
    assert kl.constant(np.array([1.5, 2], object)).dtype is kl.float32
    assert kl.constant(np.array([True, False], object)).dtype is kl.bool


@pytest.mark.parametrize("name", ["int4", "uint4", "qint8", "quint8", "qint16", "quint16", "qint32"])
def test_values_of_small_integers(name: str) -> None:
    tensor = RAW.Cast(x=[1, 0], DstT=name)
    assert tensor.tolist() == [1, 0] and tensor[0].item() == 1
    assert kl.constant([7, 0], name).tolist() == [7, 0]


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_small_integers_of_ml_dtypes_keep_their_values(name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = getattr(ml_dtypes, name)
    # All bytes: what counts of each are the low bits.
    array = np.arange(256, dtype=np.uint8).view(dtype)
    for given in (array, array[::-1]):
        tensor = kl.as_tensor(given)
        assert tensor.tolist() == given.astype(int).tolist() and np.array_equal(tensor.numpy(), given)


class OnlyArray:
    """What has nothing but `__array__`."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.given


def test_objects_that_have_only_an_array() -> None:
    array = np.arange(1000.0)
    assert address(kl.as_tensor(OnlyArray(array)).numpy()) == address(array)
    assert not np.shares_memory(kl.constant(OnlyArray(array)).numpy(), array)
    assert RAW.AddV2(x=OnlyArray(np.array([1, 2])), y=1).tolist() == [2, 3]
    assert kl.constant(OnlyArray(np.array(["a"]))).tolist() == [b"a"]
    with pytest.raises(TypeError, match="__array__ gives an array"):
        kl.constant(OnlyArray([1, 2]))
    with pytest.raises(TypeError, match="type cannot be a tensor"):
        kl.constant(OnlyArray)


class OnlyShape:
    """What looks like an array, and gives none."""

    shape = (2,)


def test_lists_of_arrays_are_stacked() -> None:
    stacked = kl.constant([np.zeros(2), [1.0, 2.0]])
    assert stacked.dtype is kl.float64 and stacked.tolist() == [[0.0, 0.0], [1.0, 2.0]]
    assert kl.constant([[np.arange(2), np.arange(2)]] * 3).shape == (3, 2, 2)
    with pytest.raises(ValueError):
        kl.constant([np.zeros(2), np.zeros(3)])
    with pytest.raises(TypeError, match="OnlyShape cannot be a tensor"):
        kl.constant([OnlyShape(), OnlyShape()])


def test_lists_of_tensors_are_stacked() -> None:
    one, two = kl.constant(1), kl.constant([1.0, 2.0])
    assert kl.as_tensor([one, 2, kl.Variable(3)]).tolist() == [1, 2, 3]
    assert kl.constant([two, [3, 4], np.array([5.0, 6.0])]).tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert kl.constant([[[one, 2], (3, one)]]).tolist() == [[[1, 2], [3, 1]]]
    assert RAW.AddV2(x=[two, two], y=1).tolist() == [[2.0, 3.0], [2.0, 3.0]]
    assert RAW.Reshape(tensor=two, shape=[kl.constant(2), -1]).shape == (2, 1)
    x = kl.Variable(2.0)
    with kl.GradientTape(persistent=True) as tape:
        by_op = RAW.Prod(input=[x, 3.0, x], axis=[0])
        by_tensor = RAW.Prod(input=kl.as_tensor([x * x, 3.0]), axis=[0])
    assert tape.gradient(by_op, x).item() == tape.gradient(by_tensor, x).item() == 12.0

    @kl.function
    def rows(x: Any) -> Any:
        return RAW.Reshape(tensor=x, shape=[RAW.Shape(input=x)[1], -1])

    assert rows(np.zeros((2, 3))).shape == (3, 2)
    graph = kl.Graph()
    x = graph.placeholder("float32", [])
    assert kl.as_tensor(x) is x and kl.as_tensor([x]).op.inputs[0] == x
    for refused in (lambda: kl.Tensor(x), lambda: np.square(x)):
        with pytest.raises(TypeError, match="no value while the graph is made"):
            refused()


def test_arrays_come_in_without_a_copy() -> None:
    array = np.arange(1000.0)
    tensor = kl.as_tensor(array)
    assert address(tensor.numpy()) == address(array)
    assert kl.as_tensor(tensor) is tensor
    assert kl.convert_to_tensor(array).__array_interface__["data"] == (address(array), True)
    rows = array.reshape(10, 100)[3:7]
    assert address(kl.as_tensor(rows).numpy()) == address(rows)


def test_constants_are_copies() -> None:
    for size in (1, 3, 1000):
        array = np.arange(float(size))
        shared = kl.as_tensor(array)
        copies = [kl.constant(array), kl.Tensor(array), kl.as_tensor(array, copy=True)]
        copies += [kl.constant(shared), kl.Tensor(shared), kl.as_tensor(shared, copy=True), copy.deepcopy(shared)]
        for tensor in copies:
            assert not np.shares_memory(tensor.numpy(), array)
            array[:] = -1
            assert tensor.tolist() == list(range(size))
            array[:] = np.arange(size)
    own = kl.constant([1.0, 2.0])
    assert kl.constant(own) is own and copy.copy(own) is own and copy.deepcopy(own) is own


def test_arrays_go_out_without_a_copy_and_read_only() -> None:
    for value in (kl.constant([1.0, 2.0]), kl.constant(np.arange(1000)), kl.as_tensor(np.ones(9))):
        array, again = value.numpy(), np.asarray(value)
        assert address(array) == address(again) and not array.flags.writeable and not again.flags.writeable
        with pytest.raises(ValueError):
            array[...] = 0
        with pytest.raises(ValueError):
            array.flags.writeable = True
        assert np.array(value).flags.writeable and np.array(value, copy=True).flags.writeable
    assert np.asarray(kl.constant([1, 2]), np.float64).tolist() == [1.0, 2.0]
    scalar = np.asarray(kl.constant(3.0))
    assert scalar.shape == () and not scalar.flags.writeable


def test_scalars_go_out_as_scalars_of_numpy() -> None:
    for name in [*NUMBERS, "bool"]:
        scalar = kl.constant(np.dtype(name).type(1)).numpy()
        assert type(scalar) is np.dtype(name).type and scalar == 1
    assert kl.constant("ab").numpy() == b"ab" and kl.Variable(1.5).numpy() == np.float32(1.5)
    assert type(kl.constant([1]).numpy()) is np.ndarray


def test_the_protocol_of_arrays() -> None:
    tensor, text = kl.constant([1, 2]), kl.constant(["a"])
    assert address(tensor.__array__(copy=False)) == address(tensor.__array__()) == address(tensor.__array__(np.int32))
    assert address(tensor.__array__(copy=True)) != address(tensor.__array__())
    assert tensor.__array__(np.float64).dtype == np.float64 and tensor.__array__(np.int8, copy=True).dtype == np.int8
    assert text.__array__().tolist() == text.__array__(copy=True).tolist() == [b"a"]
    for refused in (lambda: tensor.__array__(np.float64, copy=False), lambda: text.__array__(copy=False)):
        with pytest.raises(ValueError, match="without a copy"):
            refused()
    assert np.asarray(kl.Variable([1.5])).tolist() == [1.5]


def test_an_array_outlives_its_tensor() -> None:
    array = kl.constant(np.arange(100_000)).numpy()
    gc.collect()
    others = [kl.constant(np.zeros(100_000, np.int64)) for _ in range(4)]
    assert np.array_equal(array, np.arange(100_000)) and len(others) == 4
    tensor = kl.as_tensor(np.arange(100_000))
    gc.collect()
    assert np.array_equal(tensor.numpy(), np.arange(100_000))


BASE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "array",
    [
        BASE[:, ::2], BASE[::-1], BASE.T, BASE.swapaxes(1, 2), BASE[:, 1:2], BASE[..., ::-3], np.asfortranarray(BASE),
        np.broadcast_to(np.float32(3), (2, 5)), BASE.astype(">f4"), BASE.astype(">f4")[:, ::2], BASE.astype(">c16"),
        np.arange(5, dtype=">i2"), np.array(5, ">i8"), np.zeros((0, 3)), np.zeros((3, 0), ">i4"), np.zeros((4, 0, 2))[::2],
        np.array(7.5), np.array(True), np.ones((1,) * 30, np.int8), np.frombuffer(b"\0" + bytes(range(32)), "<i4", 8, 1),
        np.frombuffer(b"\0" * 3 + bytes(32), "<c16", 2, 3), np.arange(10, dtype=np.int64).view("<i4")[::2],
        np.zeros(3, [("a", "i1"), ("b", "<f8")])["b"], np.zeros((2, 2)).view(type("A", (np.ndarray,), {})),
    ],
    ids=lambda array: f"{array.dtype.str}-{array.shape}-{array.strides}",
)  # fmt: skip
def test_arrays_of_every_layout(array: np.ndarray) -> None:
    for tensor in (kl.as_tensor(array), kl.constant(array), RAW.Identity(input=array)):
        assert tensor.shape == array.shape and tensor.dtype.name == array.dtype.newbyteorder("=").name
        assert tensor.tolist() == array.tolist()


def test_bools_of_other_bytes_are_true() -> None:
    array = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    assert RAW.Cast(x=array, DstT="int32").tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([[1], [1, 2]], ValueError, "different lengths"),
        ([1, [2]], ValueError, "different lengths"),
        ([[1], 2], ValueError, "different lengths"),
        ([1, "a"], TypeError, "a string among integers"),
        ([True, 1], TypeError, "an integer among bools"),
        (2**64, ValueError, "beyond all dtypes of integers"),
        (-(2**63) - 1, ValueError, "beyond all dtypes of integers"),
        (object(), TypeError, "object cannot be a tensor"),
        (None, TypeError, "NoneType cannot be a tensor"),
        ({}, TypeError, "dict cannot be a tensor"),
        ([kl.constant([1, 2]), 3], kl.errors.InvalidArgumentError, "shape"),
        (np.array([kl.Variable(1.0)], object), TypeError, "array of arrays or tensors"),
        (np.zeros(0, "M8[s]"), TypeError, "datetime"),
        (np.array([1, None], object), TypeError, "NoneType"),
        (np.zeros(2, "M8[s]"), TypeError, "datetime"),
        (np.zeros(2, [("a", "i4")]), ValueError, "dtype"),
        (np.zeros(2, np.longdouble), ValueError, "longdouble|float128"),
    ],
    ids=str,
)
def test_values_that_are_no_tensors(value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        kl.as_tensor(value)


def test_a_list_in_itself() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="254 deep"):
        kl.constant(value)


def nests() -> list[Any]:
    """Arrays of objects that hold themselves, by themselves or through what they hold."""
    itself, both, by_list = np.empty(1, object), np.empty((2, 2), object), np.empty(1, object)
    itself[0] = itself
    both.fill(both)
    by_list[0] = [by_list]
    one, other = np.empty(1, object), np.empty(1, object)
    one[0], other[0] = other, one
    by_method = Nested()
    deep: Any = 1.0
    for _ in range(1000):
        deep, inner = np.empty(1, object), deep
        deep[0] = inner
    return [itself, both, by_list, one, by_method, deep]


class Nested:
    """What is an array that holds it again."""

    shape = (1,)

    def __array__(self, *_: Any, **__: Any) -> Any:
        array = np.empty(1, object)
        array[0] = self
        return array


def test_an_array_in_itself() -> None:
    for value in nests():
        for use in (
            kl.constant,
            kl.as_tensor,
            lambda value: kl.constant([value]),
            lambda value: kl.constant(value, kl.float32),
            lambda value: kl.constant([1.0]) + value,
            lambda value: kl.raw_ops.Relu(features=value),
            lambda value: kl.raw_ops.Pack(values=[value, kl.constant(1.0)]),
            kl.Variable,
        ):
            with pytest.raises(ValueError, match="nested 254 deep at most"):
                use(value)


def test_dtypes_are_not_changed_silently() -> None:
    with pytest.raises(TypeError, match="a float cannot be of dtype int32"):
        kl.constant(1.5, kl.int32)
    with pytest.raises(TypeError, match="float64, not float32: cast it first"):
        kl.as_tensor(kl.constant(np.zeros(2)), kl.float32)
    with pytest.raises(TypeError, match="an integer cannot be of dtype bool"):
        kl.constant(1, kl.bool)
    with pytest.raises(TypeError, match="complex128 cannot be one of dtype float32"):
        kl.constant(1j, kl.float32)
    with pytest.raises(TypeError, match="complex64 cannot be one of dtype float32"):
        kl.constant(np.complex64(1j), kl.float32)
    with pytest.raises(TypeError):
        kl.as_tensor(kl.constant("a"), kl.int32)
    with pytest.raises(TypeError):
        kl.constant("a", kl.int32)
    with pytest.raises(TypeError, match="is no dtype"):
        kl.constant(1, "int33")
    with pytest.raises(kl.errors.InvalidArgumentError, match="300, which is no uint8"):
        RAW.AddV2(x=kl.constant(1, kl.uint8), y=300)
    # Where a dtype is asked for, integers wrap, as in TensorFlow.
    assert kl.constant(True, kl.float32).item() == 1.0 and kl.constant(1j, kl.complex64).item() == 1j
    assert kl.constant(300, kl.uint8).item() == 44 and kl.constant([2**40], kl.int32).tolist() == [0]


def test_arrays_take_the_dtype_that_is_asked_for() -> None:
    assert kl.constant(np.array([1.5, -2.5]), kl.float32).tolist() == [1.5, -2.5]
    assert kl.constant(np.array([1.5, -2.5]), kl.int32).tolist() == [1, -2]
    assert kl.constant(np.array([1, 300]), kl.uint8).tolist() == [1, 44]
    assert kl.constant(np.array([1.5, 0.0]), kl.bool).tolist() == [True, False]
    assert kl.as_tensor(np.float64(1.5), kl.float16).dtype is kl.float16
    variable = kl.Variable([1.0, 2.0])
    assert variable.assign(np.array([3, 4])).numpy().tolist() == [3.0, 4.0]
    assert variable.assign_add(np.array([1.0, 1.0])).numpy().tolist() == [4.0, 5.0]


TENSORS = [*NUMBERS, "bool", "bfloat16", "float8_e5m2", "int4", "uint4", "qint8", "quint16", "qint32"]


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 2)])
def test_tensors_are_pickled(name: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    tensor = RAW.Cast(x=array.astype(np.float32 if "float" in name else np.int32), DstT=name)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps({"a": tensor}, protocol))["a"]
        assert back.dtype is tensor.dtype and back.shape == shape and back.tolist() == tensor.tolist()


def test_what_else_is_pickled() -> None:
    texts = kl.constant([["a", b"\xff\0", "c" * 100]])
    back = pickle.loads(pickle.dumps(texts))
    assert back.dtype is kl.string and back.shape == (1, 3) and back.tolist() == texts.tolist()
    for dtype in (kl.float32, kl.bfloat16, kl.string, kl.qint8):
        assert pickle.loads(pickle.dumps(dtype)) is dtype and copy.deepcopy(dtype) is dtype
    shape = kl.constant([[1, 2]]).shape
    assert pickle.loads(pickle.dumps(shape)) == shape
    variable = kl.Variable([1.0, 2.0], trainable=False, name="v")
    other = copy.deepcopy(variable)
    other.assign([3.0, 4.0])
    assert (other.name, other.trainable) == ("v", False) and variable.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="resource"):
        pickle.dumps(variable.handle)


def test_pickles_that_are_wrong() -> None:
    make, (dtype, shape, order, data) = kl.constant([1 + 2j]).__reduce__()
    # Of a machine of the other order of bytes.
    swapped = make(dtype, shape, not order, data[7::-1] + data[:7:-1])
    assert swapped.tolist() == [1 + 2j]
    for wrong in ((dtype, [2], order, data), (dtype, [2**62, 4], order, data), ("resource", shape, order, data)):
        with pytest.raises(kl.errors.InvalidArgumentError):
            make(*wrong)
    with pytest.raises(kl.errors.InvalidArgumentError):
        make("string", [2], order, [b"a"])


def test_what_python_does_with_scalars() -> None:
    assert int(kl.constant(3.5)) == 3 and float(kl.constant(3)) == 3.0 and bool(kl.constant(0.0)) is False
    assert [10, 20, 30][kl.constant(1)] == 20
    with pytest.raises(TypeError):
        [1, 2][kl.constant(1.0)]
    assert complex(kl.constant(1j)) == 1j and float(kl.constant("1.5")) == 1.5
    assert f"{kl.constant(3.14159):.2f}" == "3.14" and f"{kl.constant(5):03d}" == "005"
    assert f"{kl.constant([1])}" == "[1]"
    with pytest.raises(TypeError):
        [1, 2][kl.constant([1])]
    with pytest.raises(ValueError):
        bool(kl.constant([1, 2]))
    with pytest.raises(TypeError, match="no rows"):
        iter(kl.constant(1))
    with pytest.raises(TypeError):
        hash(kl.constant(1))
    with pytest.raises(TypeError):
        len(kl.constant(1))
    with pytest.raises(IndexError):
        kl.constant([1])[1]
    with pytest.raises(IndexError):
        kl.constant([1])[-2]
    with pytest.raises(IndexError):
        kl.constant(1)[0]
    assert [row.tolist() for row in kl.constant([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


def test_texts_of_tensors_and_variables() -> None:
    assert f"loss {kl.constant(3.5)}" == "loss 3.5" and f"{kl.constant(3.14159):.2f}" == "3.14"
    assert f"{kl.constant([1, 2])}" == "[1 2]"
    v = kl.Variable(3.14159)
    assert f"{v:.1f}" == "3.1" and f"{v}" == f"{np.float32(3.14159)}"
    assert v.ndim == 0 and v.item() == v.tolist() == pytest.approx(3.14159)


@pytest.mark.parametrize(
    "kind", [np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.complex64]
)
def test_scalars_of_numpy_keep_their_values(kind: type[np.generic]) -> None:
    """Each has its own memory, which lasts as long as the tensor."""
    count = 50
    assert RAW.Sub(x=kind(7), y=kind(2)).item() == 5
    assert RAW.Pack(values=[RAW.Identity(input=kind(n)) for n in range(count)]).numpy().tolist() == list(range(count))
    kept = [kl.constant(kind(n)) for n in range(count)]
    others = [np.full((), 99, kind) for _ in range(1000)]
    assert [tensor.item() for tensor in kept] == list(range(count)), others[0]
    assert RAW.SelectV2(condition=np.bool_(True), t=kind(1), e=kind(2)).item() == 1
