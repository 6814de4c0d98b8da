"""What runs: graphs, sessions, variables, SavedModels, the command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops
REPOSITORY = Path(__file__).resolve().parents[2]
MODELS = REPOSITORY / "tests" / "saved_model" / "data"
needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason="the models are in the repository, not in the package")


# Graphs and sessions.


def test_a_graph_runs() -> None:
    with kl.Graph() as graph:
        x = graph.placeholder(kl.float32, [None, 2], name="x")
        product = RAW.MatMul(a=x, b=[[1.0], [2.0]], name="product")
        y = product + 1.0
    assert (x.name, x.dtype, x.shape) == ("x:0", kl.float32, (None, 2))
    assert product.op.name == "product" and product.op.type == "MatMul" and product.op.get_attr("transpose_a") is False
    assert product.op.inputs[0] == x and product.shape == (None, 1) and len({x, product, x}) == 2
    assert [op.name for op in graph.get_operations()][0] == "x"
    assert graph.get_operation_by_name("product").outputs == [product]
    session = kl.Session(graph)
    assert session.run(y, {x: [[1, 2], [3, 4]]}).tolist() == [[6.0], [12.0]]
    first, second = session.run(["product:0", y], {"x:0": np.ones((1, 2), np.float32)})
    assert (first.item(), second.item()) == (3.0, 4.0)
    with pytest.raises(kl.errors.InvalidArgumentError, match="nothing to run"):
        session.run([], {x: [[1, 2]]})
    assert "product" in session.operations


def test_a_graph_goes_out_and_comes_in() -> None:
    with kl.Graph() as graph:
        x = graph.placeholder("float32", name="x")
        RAW.Neg(x=x, name="y")
    text = graph.as_graph_def()
    again = kl.Graph(text)
    assert again.as_graph_def() == text
    assert kl.Session(text).run("y", {"x": 2.0}).item() == -2.0
    into = kl.Graph()
    into.import_graph_def(text, "a")
    into.import_graph_def(text, name="b")
    assert kl.Session(into).run(["a/y:0", "b/y"], {"a/x": 1.0, "b/x:0": 2.0})[1].item() == -2.0
    assert "digraph" in graph.to_dot()


def test_a_graph_goes_through_a_file(tmp_path: Path) -> None:
    with kl.Graph() as graph:
        RAW.AddV2(x=graph.placeholder("int32", name="x"), y=1, name="y")
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def())
    session = kl.load_graph(tmp_path / "graph.pb", threads=1)
    assert session.run("y", {"x": [1, 2]}).tolist() == [2, 3]
    assert kl.load_graph(str(tmp_path / "graph.pb")).graph_def == session.graph_def


def test_a_session_is_of_the_graph_as_it_was() -> None:
    graph = kl.Graph()
    with graph:
        RAW.Neg(x=1.0, name="a")
    session = kl.Session(graph)
    with graph:
        later = RAW.Neg(x=2.0, name="b")
    with pytest.raises(kl.errors.OpError, match="b"):
        session.run(later)
    assert kl.Session(graph).run(later).item() == -2.0


def test_names_that_are_taken_get_numbers() -> None:
    with kl.Graph():
        assert [RAW.Neg(x=1.0, name="n").op.name for _ in range(3)] == ["n", "n_1", "n_2"]


def test_targets_run_operations() -> None:
    with kl.Graph() as graph:
        handle = RAW.VarHandleOp(dtype="float32", shape=[], shared_name="v")
        assign = RAW.AssignVariableOp(resource=handle, value=1.0)
        add = RAW.AssignAddVariableOp(resource=handle, value=2.0, name="add")
        read = RAW.ReadVariableOp(resource=handle, dtype="float32")
    session = kl.Session(graph)
    with pytest.raises(kl.errors.FailedPreconditionError):
        session.run(read)
    session.run([], targets=[assign])
    session.run([], targets=["add"])
    session.run([], targets=[add])
    assert session.run(read).item() == 5.0


def test_gradients_of_a_graph() -> None:
    with kl.Graph() as graph:
        x, other = graph.placeholder("float32", [2]), graph.placeholder("float32", [2])
        y = RAW.Sum(input=x * x, axis=[0])
    gradient, none = graph.gradients([y], [x, other])
    assert none is None
    assert kl.Session(graph).run(gradient, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: RAW.Nope, AttributeError, "there is no op Nope"),
        (lambda: kl.ops.nope, AttributeError, "nope"),
        (lambda: RAW.MatMul(a=[[1.0]], b=[1]), (TypeError, kl.errors.InvalidArgumentError), ""),
        (lambda: RAW.MatMul(a=[[1.0]], b=[[1.0], [2.0]]), kl.errors.InvalidArgumentError, "MatMul"),
        (lambda: RAW.MatMul([[1.0]], [[1.0]]), TypeError, "positional"),
        (lambda: RAW.MatMul(a=[[1.0]]), TypeError, "'b'"),
        (lambda: RAW.MatMul(a=[[1.0]], b=[[1.0]], c=1), TypeError, "'c'"),
        (lambda: RAW.Pack(values=3), TypeError, "list of tensors"),
        (lambda: RAW.AddN(inputs=[]), kl.errors.InvalidArgumentError, "AddN"),
        (lambda: RAW.Cast(x=1.0, DstT="nope"), TypeError, "DstT of Cast.*no dtype"),
        (lambda: RAW.Neg(x=object()), TypeError, "x of Neg.*object cannot be a tensor"),
        (lambda: RAW.AddV2(x=kl.constant(1), y=kl.constant(1.0)), kl.errors.InvalidArgumentError, "float"),
        (lambda: RAW.Placeholder(dtype="float32"), kl.errors.OpError, "fe[de]"),
        (lambda: kl.Graph(b"nonsense"), kl.errors.OpError, ""),
        (lambda: kl.Session(1), TypeError, "the bytes of a serialized GraphDef"),
        (lambda: kl.Session(kl.Graph()).run("a"), kl.errors.OpError, "a"),
        (lambda: kl.Session(kl.Graph()).run(1), (TypeError, AttributeError), ""),
        (lambda: kl.Graph().get_operation_by_name("a"), KeyError, "no operation `a`"),
        (lambda: kl.load_graph("/nonexistent.pb"), kl.errors.NotFoundError, "/nonexistent.pb"),
        (lambda: kl.saved_model.load("/nonexistent"), kl.errors.NotFoundError, "/nonexistent"),
        (lambda: kl.load_op_library("/nonexistent.so"), kl.errors.NotFoundError, "/nonexistent.so"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as found:
        call()
    assert re.search(text, str(found.value)), str(found.value)
    if isinstance(found.value, kl.errors.OpError):
        assert found.value.code == type(found.value).code and found.value.message == str(found.value)


def test_a_feed_of_another_shape_is_refused() -> None:
    graph = kl.Graph()
    x = graph.placeholder("float32", [2])
    with graph:
        y = RAW.Neg(x=x)
    with pytest.raises(ValueError, match=r"shape \[3\] for Placeholder:0, .* \[2\]"):
        kl.Session(graph).run(y, {x: [1.0, 2.0, 3.0]})


def test_outputs_of_graphs_are_compared() -> None:
    assert kl.function(lambda x: x > 1.0)(kl.constant(2.0)).item() is True


def test_functions_are_arguments_of_ops() -> None:
    goes_on = kl.function(lambda x: RAW.Less(x=x, y=10))
    body = kl.function(lambda x: x + 1)
    x = kl.constant(0)
    cond, step = goes_on.get_concrete_function(x), body.get_concrete_function(x)
    assert RAW.While(input=[x], cond=cond, body=step.name)[0].item() == 10
    outer = kl.function(lambda x: RAW.While(input=[x], cond=cond, body=step)[0])
    assert outer(x).item() == 10
    with pytest.raises(TypeError, match="cond of While"):
        RAW.While(input=[x], cond=3, body=step)


def test_outputs_of_another_graph_are_refused() -> None:
    one, other = kl.Graph(), kl.Graph()
    x = one.placeholder("float32", name="x")
    with other, pytest.raises(ValueError, match="x:0 is of another graph"):
        RAW.Neg(x=x)
    with pytest.raises(TypeError, match="no value while the graph is made"):
        bool(x)
    with pytest.raises(TypeError, match="iterated"):
        list(x)
    # A failure leaves nothing entered.
    assert RAW.Neg(x=1.0).item() == -1.0


def test_a_session_names_what_is_wrong_with_a_feed() -> None:
    graph = kl.Graph()
    graph.placeholder("float32", [2], name="x")
    with graph:
        RAW.Neg(x=graph.get_operation_by_name("x").outputs[0], name="y")
    session = kl.Session(graph)
    for value in ("a", kl.constant(np.zeros(2)), object()):
        with pytest.raises(TypeError, match="x"):
            session.run("y", {"x": value})
    with pytest.raises(kl.errors.InvalidArgumentError, match="x"):
        session.run("y")
    for timeout in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="number of seconds"):
            session.run("y", {"x": [1, 2]}, timeout=timeout)


# Variables.


def test_variables() -> None:
    v = kl.Variable([1, 2], name="v")
    assert v.shape == (2,) and v.dtype is kl.int32 and "'v' shape=(2,) dtype=int32" in repr(v)
    assert v.assign_add([1, 1]).assign_sub([0, 1]).numpy().tolist() == [2, 2]
    assert (v + 1).tolist() == (1 + v).tolist() == [3, 3] and (-v).tolist() == [-2, -2] and (v**2).tolist() == [4, 4]
    assert (v // 2).tolist() == [1, 1] and (5 // v).tolist() == [2, 2] and (5 % v).tolist() == [1, 1] and (v % 2).tolist() == [0, 0]
    assert abs(v).tolist() == [2, 2] and v[0].item() == 2
    assert (v > 1).tolist() == (v >= 2).tolist() == [True] * 2 and (v < 2).tolist() == (v <= 1).tolist() == [False] * 2
    assert RAW.Neg(x=v).tolist() == [-2, -2] and kl.constant([1, 1]).dtype is kl.int32
    with pytest.raises(kl.errors.InvalidArgumentError):
        v.assign(kl.constant([1.5, 2.5]))
    assert kl.Variable(1, dtype="float64").dtype is kl.float64


def test_a_variables_resource_goes_with_it() -> None:
    v = kl.Variable(1.0)
    # The handle itself would keep it.
    other = RAW.Identity(input=v.handle)
    assert RAW.VarIsInitializedOp(resource=other).item() is True
    del v
    assert RAW.VarIsInitializedOp(resource=other).item() is False


# SavedModels.


@pytest.fixture(scope="module")
def answers() -> dict[str, kl.Tensor]:
    # Of those of one name the last counts.
    nodes = {node.name: node for node in golden.nodes((MODELS / "answers.pb").read_bytes())}
    return golden.constants(list(nodes.values()))


@needs_models
def test_a_model_of_tensorflow_2(answers: dict[str, kl.Tensor]) -> None:
    model = kl.saved_model.load(MODELS / "tf2")
    assert model.tags == ["serve"] and sorted(model.signatures) == ["serving_default", "words"]
    serve = model.signatures["serving_default"]
    assert serve.inputs == {"x": (kl.float32, [None, 3])} and sorted(serve.outputs) == ["calls", "scaled", "x"]
    x = answers["tf2/x"]
    for calls in (8, 9, 10):
        given = x if calls == 8 else x.numpy() if calls == 9 else x.tolist()
        found = serve(x=given)
        assert found["scaled"].tolist() == answers["tf2/scaled"].tolist()
        assert found["x"].tolist() == x.tolist() and found["calls"].item() == calls
    array = x.numpy().copy()
    assert not np.shares_memory(serve(x=array)["x"].numpy(), array)
    assert model.signatures["words"]()["words"].item() == b"one two\n"
    with pytest.raises(TypeError, match="by name: x"):
        serve(x)
    with pytest.raises(kl.errors.InvalidArgumentError, match="x"):
        serve()
    with pytest.raises(kl.errors.InvalidArgumentError, match="y"):
        serve(y=x)
    with pytest.raises(TypeError, match="x: .*float32"):
        serve(x=kl.constant(np.zeros((1, 3))))
    with pytest.raises(kl.errors.NotFoundError, match="train"):
        kl.saved_model.load(MODELS / "tf2", "train")


@needs_models
def test_a_model_of_tensorflow_1(answers: dict[str, kl.Tensor]) -> None:
    for tags in ("serve", ["train"]):
        model = kl.saved_model.load(str(MODELS / "tf1"), tags)
        found = model.signatures["predict"](x=answers["tf1/x"])
        assert np.allclose(found["y"].numpy(), answers["tf1/y"].numpy()) and found["text"].item() == b"a\nb\n"


@needs_models
def test_a_model_that_trains(answers: dict[str, kl.Tensor]) -> None:
    model = kl.saved_model.load(MODELS / "keras")
    x = answers["keras/x"]
    assert np.allclose(model.signatures["serving_default"](x=x)["y"].numpy(), answers["keras/y"].numpy(), rtol=1e-4)
    losses = [model.signatures["train"](x=x)["loss"].item() for _ in range(3)]
    assert np.allclose(losses, answers["keras/losses"].numpy(), rtol=1e-4)


# Threads.


@needs_models
def test_eight_threads_on_a_model(answers: dict[str, kl.Tensor]) -> None:
    model = kl.saved_model.load(MODELS / "keras", threads=2)
    serve, x = model.signatures["serving_default"], answers["keras/x"].numpy()

    def work(number: int) -> bool:
        rows = x[number % 3 : number % 3 + 1]
        wanted = answers["keras/y"].numpy()[number % 3 : number % 3 + 1]
        return all(np.allclose(serve(x=rows)["y"].numpy(), wanted, rtol=1e-4) for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_eight_threads_on_a_function() -> None:
    start, traces = threading.Barrier(8), []
    total = kl.Variable(np.int64(0))

    @kl.function
    def f(x: Any, k: int) -> Any:
        traces.append(k)
        total.assign_add(RAW.Cast(x=1, DstT="int64"))
        return x * k

    def work(number: int) -> bool:
        start.wait()
        return all(f(kl.constant([number, i]), i % 5).tolist() == [number * (i % 5), i * (i % 5)] for i in range(100))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert sorted(traces) == [0, 1, 2, 3, 4]
    assert total.numpy() == 800


# The command.


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(kl.__file__).parents[1])}
    line = [sys.executable, "-m", "kernlink", *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_the_command() -> None:
    found = command("ops")
    assert found.returncode == 0 and "MatMul" in found.stdout, found.stderr
    assert command("ops", "MatMul").returncode == 0
    wrong = command("nonsense")
    assert wrong.returncode != 0 and "nonsense" in wrong.stderr and "Traceback" not in wrong.stderr
