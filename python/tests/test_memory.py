"""Whose memory is whose, and that none is lost."""

from __future__ import annotations

import contextlib
import gc
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import Plain

import kernlink as kl

RAW = kl.raw_ops


@pytest.mark.parametrize("size", [1, 4, 6, 1000])
@pytest.mark.parametrize("taped", [False, True])
def test_results_never_share_memory_with_arrays(size: int, taped: bool) -> None:
    array = np.arange(float(size))
    kept = array.copy()
    with kl.GradientTape() if taped else contextlib.nullcontext():
        results = [
            RAW.Identity(input=array),
            RAW.Reshape(tensor=array, shape=[-1, 1]),
            RAW.ExpandDims(input=array, axis=0),
            RAW.Squeeze(input=array.reshape(1, -1), axis=[0]) if size > 1 else RAW.Identity(input=array),
            *RAW.IdentityN(input=[array, array]),
            RAW.Bitcast(input=array, type="int64"),
            RAW.Slice(input=array, begin=[0], size=[size]),
            *RAW.Split(axis=0, value=array, num_split=1),
            *RAW.Unpack(value=array.reshape(1, -1), num=1),
            RAW.Concat(concat_dim=0, values=[array, array[:0]]),
            RAW.StopGradient(input=array),
            RAW.Snapshot(input=array),
            RAW.Pack(values=[array]),
            RAW.Relu(features=array),
            RAW.AddN(inputs=[array]),
            RAW.BroadcastTo(input=array, shape=[size]),
            RAW.Tile(input=array, multiples=[1]),
            RAW.Cast(x=array, DstT="float64"),
            RAW.StridedSlice(input=array, begin=[0], end=[size], strides=[1]),
        ]
    assert not any(np.shares_memory(result.numpy(), array) for result in results)
    assert np.array_equal(array, kept), "an op wrote to its input"


def test_variables_do_not_follow_arrays() -> None:
    for size in (2, 1000):
        array = np.zeros(size)
        made, assigned = kl.Variable(array), kl.Variable(np.ones(size))
        assigned.assign(array)
        raw = kl.Variable(np.ones(size))
        RAW.AssignVariableOp(resource=raw.handle, value=array)
        array[:] = 9
        assert [v.numpy().max() for v in (made, assigned, raw)] == [0, 0, 0]


def test_what_was_read_of_a_variable_does_not_change() -> None:
    variable = kl.Variable(np.zeros(100))
    before = variable.numpy()
    tensor = variable.read_value()
    variable.assign_add(np.ones(100))
    assert before.max() == 0 and tensor.numpy().max() == 0 and variable.numpy().min() == 1


def test_a_variable_of_a_shared_tensor_does_not_write_to_the_array() -> None:
    array = np.zeros(1000)
    tensor = kl.as_tensor(array)
    variable = kl.Variable(tensor)
    variable.assign_add(np.ones(1000))
    assert array.max() == 0
    variable.assign(tensor)
    RAW.AssignSubVariableOp(resource=variable.handle, value=np.ones(1000))
    assert array.max() == 0 and array.min() == 0


@pytest.mark.parametrize("size", [2, 1000])
def test_a_variable_does_not_follow_the_array_of_a_shared_tensor(size: int) -> None:
    array = np.zeros(size)
    variable = kl.Variable(np.ones(size))
    variable.assign(kl.as_tensor(array))
    array[:] = 5
    assert variable.numpy().max() == 0


@pytest.mark.parametrize("size", [2, 1000])
def test_results_of_runs_do_not_share_memory_with_what_was_fed(size: int) -> None:
    graph = kl.Graph()
    x = graph.placeholder("float64", [None], name="x")
    with graph:
        y = RAW.Reshape(tensor=x, shape=[-1, 1])
    session = kl.Session(graph)
    array = np.zeros(size)
    assert not np.shares_memory(session.run(y, {x: array}).numpy(), array)
    assert not np.shares_memory(session.run(["x:0"], {x: array})[0].numpy(), array)


def test_constants_of_graphs_do_not_follow_arrays() -> None:
    array = np.zeros(100)
    with kl.Graph() as graph:
        y = RAW.Identity(input=array)

    @kl.function
    def f() -> Any:
        return RAW.Neg(x=array)

    assert f().numpy().max() == 0
    array[:] = 3
    assert kl.Session(graph).run(y).numpy().max() == 0 and f().numpy().min() == 0


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


CONVERSIONS = {
    "as_tensor": lambda array: kl.as_tensor(array),
    "constant": lambda array: kl.constant(array),
    "numpy": lambda array: kl.as_tensor(array).numpy(),
    "dlpack": lambda array: np.from_dlpack(kl.from_dlpack(array)),
    "plain capsule": lambda array: kl.from_dlpack(Plain(kl.as_tensor(array))),
    "capsules": lambda array: kl.as_tensor(array).__dlpack__(max_version=(1, 0)),
    "identity": lambda array: RAW.Identity(input=array),
    "list": lambda array: kl.constant([[1, 2], [3, 4]]).tolist(),
    "strings": lambda array: kl.constant(["a" * 40, b"b"]).numpy(),
    "strided": lambda array: kl.as_tensor(array[::2]),
    "attr": lambda array: RAW.TopKV2(input=array, k=2),
    "failure": lambda array: pytest.raises(kl.errors.InvalidArgumentError, RAW.MatMul, a=array, b=array),
    "row": lambda array: kl.as_tensor(array)[0],
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_ten_thousand_conversions_leak_nothing(name: str) -> None:
    convert, array = CONVERSIONS[name], np.arange(2000.0)
    count = 400 if name == "failure" else 4000
    for _ in range(count // 4):
        convert(array)
    gc.collect()
    references, size = sys.getrefcount(array), resident() if sys.platform == "linux" else 0
    dtype_references, none_references = sys.getrefcount(kl.float64), sys.getrefcount(None)
    tracemalloc.start()
    grown = []
    for _ in range(3):
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(count):
            convert(array)
        gc.collect()
        grown.append(tracemalloc.get_traced_memory()[0] - start)
    tracemalloc.stop()
    assert sys.getrefcount(array) == references
    assert abs(sys.getrefcount(kl.float64) - dtype_references) < 100
    assert abs(sys.getrefcount(None) - none_references) < 200
    # Python's own tables grow once in a while: a leak is there in every round.
    assert min(grown) < count * 8, f"{grown} bytes of Python's are left"
    if sys.platform == "linux":
        # A leak of an array each would be 192 MB.
        assert resident() - size < 20_000_000
