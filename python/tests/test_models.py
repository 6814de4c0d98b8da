"""Sessions and models: options, devices, metadata, fetches, MetaGraphs."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops
DATA = Path(__file__).resolve().parents[2] / "tests" / "saved_model" / "data"
needs_models = pytest.mark.skipif(not DATA.is_dir(), reason="the models are in the repository, not in the package")


def chain() -> tuple[kl.Graph, Any, Any]:
    """A graph in which passes find something to do: `y` is `x + 1 + 2`, over constants."""
    with kl.Graph() as graph:
        x = graph.placeholder("float32", [None], name="x")
        y = RAW.AddV2(x=x, y=RAW.AddV2(x=1.0, y=2.0, name="sum"), name="y")
    return graph, x, y


# Options.


def test_options_say_what_they_are() -> None:
    options = kl.SessionOptions(threads=2, without_passes=["fold-constants"], optimize=False, timeout=1.5)
    assert (options.threads, options.without_passes, options.optimize) == (2, ["fold-constants"], False)
    assert repr(options) == (
        'kernlink.SessionOptions(threads=2, without_passes=["fold-constants"], timeout=1.5, optimize=False)'
    )
    assert options == kl.SessionOptions(threads=2, without_passes=["fold-constants"], optimize=False, timeout=1.5)
    assert options != kl.SessionOptions() and repr(kl.SessionOptions()) == "kernlink.SessionOptions()"
    with pytest.raises(ValueError, match="seconds"):
        kl.SessionOptions(timeout=-1.0)


def nodes_that_ran(options: kl.SessionOptions) -> list[str]:
    graph, x, y = chain()
    metadata = kl.RunMetadata()
    session = kl.Session(graph, options=options)
    assert session.run(y, {x: [1.0]}, run_metadata=metadata).tolist() == [4.0]
    return [stats.node for stats in metadata.step_stats]


def test_passes_run_as_options_say() -> None:
    assert "sum" not in nodes_that_ran(kl.SessionOptions())
    assert "sum" in nodes_that_ran(kl.SessionOptions(optimize=False))
    assert "sum" in nodes_that_ran(kl.SessionOptions(without_passes=["fold-constants"]))
    with pytest.raises(kl.errors.InvalidArgumentError, match="nonsense"):
        nodes_that_ran(kl.SessionOptions(without_passes=["nonsense"]))


def test_threads_and_pools() -> None:
    graph, x, y = chain()
    session = kl.Session(graph, options=kl.SessionOptions(threads=1, inter_op_pools=[1, 2]))
    for pool in (-1, 0, 1, 2):
        if pool <= 1:
            assert session.run(y, {x: [1.0]}, inter_op_pool=pool).tolist() == [4.0]
        else:
            with pytest.raises(kl.errors.InvalidArgumentError):
                session.run(y, {x: [1.0]}, inter_op_pool=pool)
    with pytest.raises(kl.errors.InvalidArgumentError, match="thread"):
        kl.Session(graph, threads=100_000)


def waits(options: kl.SessionOptions | None = None) -> tuple[kl.Session, Any]:
    """A session of what ends only by force: an element of a queue that stays empty."""
    with kl.Graph() as graph:
        queue = RAW.FIFOQueueV2(component_types=["float32"])
        element = RAW.QueueDequeueV2(handle=queue, component_types=["float32"])[0]
    return kl.Session(graph, options=options), element


def test_runs_end_in_time() -> None:
    session, element = waits(kl.SessionOptions(timeout=0.05))
    with pytest.raises(kl.errors.DeadlineExceededError):
        session.run(element)
    session, element = waits()
    with pytest.raises(kl.errors.DeadlineExceededError):
        session.run(element, timeout=0.05)


def test_a_session_that_is_closed_runs_no_more() -> None:
    session, element = waits()
    failures: list[Exception] = []

    def run() -> None:
        try:
            session.run(element)
        except kl.errors.CancelledError as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    session.close()
    thread.join(30)
    assert len(failures) == 1
    graph, x, y = chain()
    with kl.Session(graph) as closed:
        assert closed.run(y, {x: [0.0]}).tolist() == [3.0]
    with pytest.raises(kl.errors.CancelledError):
        closed.run(y, {x: [0.0]})


@needs_models
def test_calls_nest_as_deeply_as_options_say() -> None:
    def run(depth: int) -> Any:
        options = kl.SessionOptions(call_depth=depth, optimize=False)
        return kl.saved_model.load(DATA / "tf2", options=options).signatures["words"]()["words"].item()

    assert run(1000) == b"one two\n"
    with pytest.raises(kl.errors.ResourceExhaustedError):
        run(1)


# Devices.


def test_devices_are_listed() -> None:
    cpu = kl.devices()[0]
    assert (cpu.name, cpu.device_type) == ("cpu", "CPU") and "processor" in cpu.description
    assert repr(cpu).startswith("<kernlink.Device cpu: ") and cpu == kl.devices()[0]


def test_ops_ask_for_the_device_that_is_entered() -> None:
    with kl.Graph() as graph:
        free = RAW.Neg(x=1.0)
        with kl.device("cpu") as scope:
            asked = RAW.Neg(x=1.0)
            with kl.device(None):
                free_again = RAW.Neg(x=1.0)
            again = RAW.Neg(x=1.0)
    assert scope is not None
    assert [value.op.device for value in (free, asked, free_again, again)] == ["", "/device:CPU:0", "", "/device:CPU:0"]
    assert kl.Session(graph).run(asked).item() == -1.0
    with kl.device("/device:CPU:0"):
        assert RAW.Neg(x=2.0).item() == -2.0
        assert kl.Session(graph).devices == ["/device:CPU:0"]

    def other() -> None:
        with kl.Graph():
            seen.append(RAW.Neg(x=1.0).op.device)

    seen: list[str] = []
    with kl.device("cpu"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [""]


def test_devices_that_there_are_not_are_refused() -> None:
    with pytest.raises(kl.errors.InvalidArgumentError, match="no device `tpu`"):
        kl.device("tpu")
    if any(device.device_type == "GPU" for device in kl.devices()):
        pytest.skip("the package is built with GPUs")
    graph, _, _ = chain()
    asks: list[Any] = [
        lambda: kl.device("gpu"),
        lambda: kl.device("/device:GPU:1"),
        lambda: kl.Session(graph, device="gpu:1"),
        lambda: kl.Session(graph, options=kl.SessionOptions(device="GPU")),
    ]
    for ask in asks:
        with pytest.raises(kl.errors.FailedPreconditionError, match="--features gpu"):
            ask()


def test_several_cpu_devices() -> None:
    graph, x, y = chain()
    session = kl.Session(graph, options=kl.SessionOptions(cpu_devices=2))
    assert session.devices == ["/device:CPU:0", "/device:CPU:1"]
    assert session.run(y, {x: [0.0]}).tolist() == [3.0]


# Metadata.


def test_a_run_tells_what_it_took(tmp_path: Path) -> None:
    with kl.Graph() as graph:
        x = graph.placeholder("float32", [2, 2], name="x")
        y = RAW.MatMul(a=x, b=RAW.Exp(x=x, name="exp"), name="product")
    metadata = kl.RunMetadata()
    assert metadata.step_stats == [] and metadata.costs == [] and metadata.time == 0.0
    kl.Session(graph).run(y, {x: np.ones((2, 2), np.float32)}, run_metadata=metadata)
    stats = {it.node: it for it in metadata.step_stats}
    product = stats["product"]
    assert product.op == "MatMul" and product.inputs == "float[2,2];float[2,2]" and product.outputs == "float[2,2]"
    assert product.output_bytes == 16 and product.device == "/device:CPU:0" and product.thread
    assert product.start >= stats["exp"].start + stats["exp"].time and 0 < product.time <= metadata.time
    costs = {cost.op: cost for cost in metadata.costs}
    assert costs["MatMul"].calls == 1 and costs["MatMul"].time == product.time
    times = [cost.time for cost in metadata.costs]
    assert len(times) >= 2 and times == sorted(times, reverse=True)
    events = json.loads(metadata.chrome_trace())["traceEvents"]
    assert "product" in {event["name"] for event in events}
    metadata.save_trace(tmp_path / "trace.json")
    assert (tmp_path / "trace.json").read_text() == metadata.chrome_trace()
    assert f"{len(metadata.step_stats)} nodes" in repr(metadata) and "product (MatMul)" in repr(product)
    assert "<td style='text-align:left'>MatMul</td>" in metadata._repr_html_()


def test_a_run_that_fails_tells_what_it_took() -> None:
    with kl.Graph() as graph:
        x = graph.placeholder("float32", name="x")
        wrong = RAW.MatMul(a=RAW.Neg(x=x, name="neg"), b=x)
    metadata = kl.RunMetadata()
    with pytest.raises(kl.errors.InvalidArgumentError):
        kl.Session(graph).run(wrong, {x: [1.0]}, run_metadata=metadata)
    assert "neg" in [stats.node for stats in metadata.step_stats]


def test_ops_that_run_at_once_tell_what_they_took() -> None:
    @kl.function
    def f(x: Any) -> Any:
        return RAW.Exp(x=x, name="in_a_function")

    x = kl.constant([[1.0, 2.0]])
    f(x)
    with kl.RunMetadata() as metadata:
        RAW.MatMul(a=x, b=[[1.0], [2.0]], name="product")
        f(x)
        with pytest.raises(RuntimeError, match="already"), kl.RunMetadata():
            pass
    RAW.Neg(x=x)
    ops = [stats.op for stats in metadata.step_stats]
    assert "MatMul" in ops and "Exp" in ops and "Neg" not in ops and metadata.time > 0
    assert "product" in [stats.node for stats in metadata.step_stats]
    with kl.RunMetadata() as metadata:
        pass
    assert metadata.step_stats == []


# Fetches.


def test_values_come_in_the_form_of_what_is_fetched() -> None:
    graph, x, y = chain()
    with graph:
        top = RAW.TopKV2(input=x, k=1)
        nothing = RAW.NoOp(name="nothing")
    session = kl.Session(graph)
    feeds = {x: [3.0, 5.0]}
    assert session.run(y.op.outputs, feeds)[0].tolist() == [6.0, 8.0]
    assert session.run(nothing) is None and session.run("nothing") is None and session.run([nothing, nothing]) == [None] * 2
    found = session.run({"a": y, "b": (nothing, [x, "y"])}, feeds)
    assert list(found) == ["a", "b"] and found["b"][0] is None and found["b"][1][1].tolist() == [6.0, 8.0]
    values = session.run(top, feeds)
    assert type(values) is type(top) and values.values.tolist() == [5.0] and values.indices.tolist() == [1]
    point = namedtuple("point", "x y")
    assert session.run(point(x, y), feeds).y.tolist() == [6.0, 8.0]
    # What is fed is given as it is, but in memory of its own.
    array = np.ones(2, np.float32)
    assert session.run(x, {x: array}).tolist() == [1.0, 1.0]
    assert not np.shares_memory(session.run([x, "x:0"], {"x": array})[1].numpy(), array)
    with pytest.raises(TypeError, match="not what is of type float"):
        session.run(1.5)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="without end"):
        session.run(endless)
    # Dicts are in their own order, whatever their keys are.
    values = session.run({x: x, "a": (y, [y]), 1: {}}, feeds)
    assert list(values) == [x, "a", 1] and values[x].tolist() == [3.0, 5.0] and values[1] == {}
    assert isinstance(values["a"], tuple) and values["a"][1][0].tolist() == values["a"][0].tolist()
    ordered = session.run(OrderedDict(b=y, a=x), feeds)
    assert type(ordered) is OrderedDict and list(ordered) == ["b", "a"]
    for nothing in (None, [None], {"a": None}):
        with pytest.raises(TypeError, match="not what is of type NoneType"):
            session.run(nothing)


def test_operations_run_for_what_they_do() -> None:
    with kl.Graph() as graph:
        handle = RAW.VarHandleOp(dtype="float32", shape=[], shared_name="fetched")
        assign = RAW.AssignVariableOp(resource=handle, value=1.0, name="assign")
        read = RAW.ReadVariableOp(resource=handle, dtype="float32")
    session = kl.Session(graph)
    assert session.run(assign) is None
    assert session.run([read])[0].item() == 1.0
    with pytest.raises(TypeError, match="cannot be fed"):
        session.run(read, {assign: 1.0})


def test_what_is_of_another_graph_is_refused() -> None:
    graph, _, y = chain()
    other, ox, oy = chain()
    session = kl.Session(graph)
    for wrong in (oy, oy.op, [y, oy]):
        with pytest.raises(ValueError, match="y.* is of another graph"):
            session.run(wrong, {"x": [1.0]})
    with pytest.raises(ValueError, match="x:0 is of another graph"):
        session.run(y, {ox: [1.0]})
    assert session.run(y, {"x": [1.0]}).tolist() == [4.0]
    # A session of bytes has a graph of its own.
    of_bytes = kl.Session(graph.as_graph_def())
    with pytest.raises(ValueError, match="another graph"):
        of_bytes.run(y, {"x": [1.0]})
    own = of_bytes.graph.get_operation_by_name("y").outputs[0]
    assert of_bytes.run(own, {"x": [1.0]}).tolist() == [4.0]
    assert session.graph.get_operation_by_name("y").outputs[0] == y
    assert "of 5 operations on /device:CPU:0" in repr(session)


# Models.


@needs_models
def test_a_model_takes_options() -> None:
    options = kl.SessionOptions(threads=1, optimize=False)
    model = kl.saved_model.load(DATA / "keras", options=options, prepare=["serving_default"])
    serve, x = model.signatures["serving_default"], np.zeros((1, 4), np.float32)
    inputs = {name: np.zeros([dim or 1 for dim in dims], dtype.as_numpy_dtype) for name, (dtype, dims) in serve.inputs.items()}
    metadata = kl.RunMetadata()
    found = serve(**inputs, _run_metadata=metadata, _timeout=60.0, _inter_op_pool=-1)
    assert found and metadata.step_stats and x.size
    name = sorted(serve.outputs)[0]
    assert list(serve(**inputs, _outputs=[name])) == [name]
    with pytest.raises(kl.errors.NotFoundError, match="nope"):
        serve(**inputs, _outputs=["nope"])
    with pytest.raises(kl.errors.FailedPreconditionError, match="--features gpu"):
        kl.saved_model.load(DATA / "keras", device="gpu")
    with pytest.raises(kl.errors.NotFoundError):
        kl.saved_model.load(DATA / "keras", prepare=["nope"])


@needs_models
def test_tag_sets_and_models_by_tags() -> None:
    sets = kl.saved_model.tag_sets(DATA / "tf1")
    assert sorted(sets) == [["serve"], ["train"]]
    for tags in sets:
        assert kl.saved_model.load(DATA / "tf1", tags).tags == tags
    with pytest.raises(kl.errors.NotFoundError):
        kl.saved_model.tag_sets(DATA / "nowhere")


@needs_models
def test_a_models_session_has_its_variables() -> None:
    model = kl.saved_model.load(DATA / "tf2")
    names = [op.name for op in model.graph.get_operations()]
    assert names == model.session.operations and "<kernlink.SavedModel [serve]" in repr(model)
    assert kl.Graph(model.graph_def).as_graph_def() == model.graph_def


@needs_models
def test_a_models_variables_are_saved_and_restored(tmp_path: Path) -> None:
    model = kl.saved_model.load(DATA / "tf1")
    assert model.can_save
    model.save(tmp_path / "saved")
    reader = kl.train.load_checkpoint(tmp_path / "saved")
    assert reader.get_variable_to_shape_map().keys() == kl.train.load_checkpoint(
        DATA / "tf1" / "variables" / "variables"
    ).get_variable_to_shape_map().keys()
    model.restore(tmp_path / "saved")
    again = kl.saved_model.load(DATA / "tf1", checkpoint=tmp_path / "saved")
    assert again.tags == ["serve"]
    with pytest.raises(kl.errors.NotFoundError):
        model.restore(tmp_path / "nowhere")


def test_a_folder_is_no_graph(tmp_path: Path) -> None:
    with pytest.raises(kl.errors.InvalidArgumentError, match=r"saved_model\.load"):
        kl.load_graph(tmp_path)
    with pytest.raises(kl.errors.NotFoundError):
        kl.load_meta_graph(tmp_path / "nowhere.meta")
