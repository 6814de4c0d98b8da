"""Whose memory is whose, and that none is lost."""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
import tracemalloc
from collections.abc import Callable
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


def optional(value: Any) -> Callable[[], Any]:
    held = RAW.OptionalFromValue(components=[value])
    return lambda: RAW.OptionalGetValue(optional=held, output_types=["float64"], output_shapes=[None])[0]


def dataset(held: Any) -> Callable[[], Any]:
    return lambda: RAW.DatasetToSingleElement(dataset=held, output_types=["float64"], output_shapes=[None])[0]


def tensor_list(held: Any) -> Callable[[], Any]:
    return lambda: RAW.TensorListGetItem(input_handle=held, index=0, element_shape=-1, element_dtype="float64")


def empty_list(size: int) -> Any:
    return RAW.TensorListReserve(element_shape=-1, num_elements=size, element_dtype="float64")


def tensor_map(value: Any) -> Callable[[], Any]:
    held = RAW.TensorMapInsert(input_handle=RAW.EmptyTensorMap(), key=1, value=value)
    return lambda: RAW.TensorMapLookup(input_handle=held, key=1, value_dtype="float64")


def ragged(value: Any) -> Callable[[], Any]:
    splits = np.array([0, 1000])
    held = RAW.RaggedTensorToVariant(rt_nested_splits=[splits], rt_dense_values=value, batched_input=False)
    splits[:] = 0
    return lambda: RAW.RaggedTensorFromVariant(
        encoded_ragged=held, input_ragged_rank=1, output_ragged_rank=1, Tvalues="float64", Tsplits="int64"
    )[1]


def queue(value: Any) -> Callable[[], Any]:
    held = RAW.FIFOQueueV2(component_types=["float64"])
    RAW.QueueEnqueueV2(handle=held, components=[value])
    return lambda: RAW.QueueDequeueV2(handle=held, component_types=["float64"])[0]


def queue_of_many(value: Any) -> Callable[[], Any]:
    held = RAW.FIFOQueueV2(component_types=["float64"], shapes=[[1000]])
    RAW.QueueEnqueueManyV2(handle=held, components=[RAW.ExpandDims(input=value, axis=0).numpy()])
    return lambda: RAW.QueueDequeueV2(handle=held, component_types=["float64"])[0]


def stack(value: Any) -> Callable[[], Any]:
    held = RAW.StackV2(max_size=1, elem_type="float64")
    RAW.StackPushV2(handle=held, elem=value)
    return lambda: RAW.StackPopV2(handle=held, elem_type="float64")


def stage(value: Any) -> Callable[[], Any]:
    name = f"stage {next(NAMES)}"
    RAW.Stage(values=[value], shared_name=name)
    return lambda: RAW.Unstage(dtypes=["float64"], shared_name=name)[0]


def map_stage(value: Any) -> Callable[[], Any]:
    name = f"map {next(NAMES)}"
    RAW.MapStage(key=np.int64(1), indices=[0], values=[value], dtypes=["float64"], shared_name=name)
    return lambda: RAW.MapUnstage(key=np.int64(1), indices=[0], dtypes=["float64"], shared_name=name)[0]


def tensor_array(value: Any) -> Callable[[], Any]:
    held, flow = RAW.TensorArrayV3(size=1, dtype="float64")
    RAW.TensorArrayWriteV3(handle=held, index=0, value=value, flow_in=flow)
    return lambda: RAW.TensorArrayReadV3(handle=held, index=0, flow_in=flow, dtype="float64")


def table(value: Any) -> Callable[[], Any]:
    held = RAW.MutableHashTableOfTensorsV2(key_dtype="int64", value_dtype="float64", value_shape=[1000])
    row = RAW.ExpandDims(input=value, axis=0).numpy()
    RAW.LookupTableInsertV2(table_handle=held, keys=np.array([1]), values=row)
    return lambda: RAW.LookupTableFindV2(table_handle=held, keys=np.array([1]), default_value=np.zeros(1000))


def variable(value: Any) -> Callable[[], Any]:
    held = RAW.VarHandleOp(dtype="float64", shape=[1000], shared_name=f"variable {next(NAMES)}")
    RAW.AssignVariableOp(resource=held, value=value)
    return lambda: RAW.ReadVariableOp(resource=held, dtype="float64")


def session_tensor(value: Any) -> Callable[[], Any]:
    handle = RAW.GetSessionHandle(value=value)
    return lambda: RAW.GetSessionTensor(handle=handle, dtype="float64")


def function(value: Any) -> Callable[[], Any]:
    @kl.function
    def keep(x: Any) -> Any:
        return RAW.OptionalFromValue(components=[x])

    held = keep(value)
    return lambda: RAW.OptionalGetValue(optional=held, output_types=["float64"], output_shapes=[None])[0]


NAMES = itertools.count()

#: By what keeps a value: keeps it, and gives what reads it.
KEEPERS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "OptionalFromValue": optional,
    "TensorDataset": lambda value: dataset(
        RAW.TensorDataset(components=[value], output_shapes=[None])
    ),
    "TensorListFromTensor": lambda value: tensor_list(
        RAW.TensorListFromTensor(tensor=RAW.ExpandDims(input=value, axis=0).numpy(), element_shape=-1)
    ),
    "TensorListPushBack": lambda value: tensor_list(
        RAW.TensorListPushBack(input_handle=empty_list(0), tensor=value)
    ),
    "TensorListSetItem": lambda value: tensor_list(
        RAW.TensorListSetItem(input_handle=empty_list(1), index=0, item=value)
    ),
    "TensorMapInsert": tensor_map,
    "RaggedTensorToVariant": ragged,
    "QueueEnqueueV2": queue,
    "QueueEnqueueManyV2": queue_of_many,
    "StackPushV2": stack,
    "Stage": stage,
    "MapStage": map_stage,
    "TensorArrayWriteV3": tensor_array,
    "LookupTableInsertV2": table,
    "AssignVariableOp": variable,
    "GetSessionHandle": session_tensor,
    "function": function,
}


@pytest.mark.parametrize("keeper", KEEPERS)
@pytest.mark.parametrize("taped", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_what_variants_and_resources_hold_does_not_follow_arrays(keeper: str, taped: bool, shared: bool) -> None:
    array = np.arange(1000.0)
    kept = array.copy()
    with kl.GradientTape() if taped else contextlib.nullcontext():
        read = KEEPERS[keeper](kl.as_tensor(array) if shared else array)
        array[:] = 9
        assert np.array_equal(np.ravel(read().numpy())[:1000], kept)


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


def test_what_runs_keep_does_not_follow_what_was_fed() -> None:
    graph = kl.Graph()
    x = graph.placeholder("float64", [None], name="x")
    types: Any = {"output_types": ["float64"], "output_shapes": [None]}
    with graph:
        variable = RAW.VarHandleOp(dtype="float64", shape=[1000], shared_name="kept by a run")
        assign = RAW.AssignVariableOp(resource=variable, value=RAW.Identity(input=x))
        read = RAW.ReadVariableOp(resource=variable, dtype="float64")
        stage = RAW.Stage(values=[x], shared_name="kept by a run")
        staged = RAW.Unstage(dtypes=["float64"], shared_name="kept by a run")[0]
        queue = RAW.FIFOQueueV2(component_types=["float64"], shared_name="kept by a run")
        enqueue = RAW.QueueEnqueueV2(handle=queue, components=[x])
        dequeued = RAW.QueueDequeueV2(handle=queue, component_types=["float64"])[0]
        optional = RAW.OptionalFromValue(components=[x])
    session = kl.Session(graph)
    array = np.zeros(1000)
    session.run([], {x: array}, targets=[assign, stage, enqueue])
    held = session.run(optional, {x: array})
    array[:] = 9
    assert all(session.run(output).numpy().max() == 0 for output in (read, staged, dequeued))
    assert RAW.OptionalGetValue(optional=held, **types)[0].numpy().max() == 0


def test_a_skip_of_a_range_makes_no_elements() -> None:
    types: Any = {"output_types": ["int64"], "output_shapes": [[]]}
    numbers = RAW.RangeDataset(start=0, stop=2**40, step=1, **types)
    for count, first in ((2**31, 2**31), (2**40 - 1, 2**40 - 1), (0, 0)):
        skipped = RAW.SkipDataset(input_dataset=numbers, count=count, **types)
        one = RAW.TakeDataset(input_dataset=skipped, count=1, **types)
        assert RAW.DatasetToSingleElement(dataset=one, **types)[0].item() == first
    over = RAW.SkipDataset(input_dataset=numbers, count=2**41, **types)
    with pytest.raises(kl.errors.InvalidArgumentError, match="empty"):
        RAW.DatasetToSingleElement(dataset=over, **types)


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
