"""What errors say: which argument is wrong, and what to do in Python, not in Rust or by the command's flags."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops
errors = kl.errors

# How Rust and the command would say what to do.
NOT_PYTHON = re.compile(r"\.attr\(|#\[|use \w+ as|--\w|::|`kernlink [a-z]|not_differentiable!|raise_loops")


def message(error: type[Exception], work: Callable[[], object]) -> str:
    """What the error of a call says, without what is foreign to Python."""
    with pytest.raises(error) as raised:
        work()
    text = str(raised.value)
    assert not NOT_PYTHON.search(text), text
    return text


def test_empty_lists_ask_for_a_tensor() -> None:
    text = message(errors.InvalidArgumentError, lambda: RAW.Pack(values=[]))
    assert "give `values` one tensor at least" in text and "while building NodeDef 'Pack'" in text
    with kl.Graph():
        assert "give `inputs` one" in message(errors.InvalidArgumentError, lambda: RAW.AddN(inputs=[]))


def test_ops_without_a_gradient_say_how_to_stop_it() -> None:
    def by_tape() -> object:
        x = kl.constant([0.5])
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = RAW.DeepCopy(x=x)
        return tape.gradient(y, x)

    def in_graph() -> object:
        with kl.Graph() as graph:
            x = graph.placeholder("float32", [1])
            return graph.gradients(RAW.DeepCopy(x=x), x)

    for work in (by_tape, in_graph):
        assert "`StopGradient`" in message(errors.NotFoundError, work)
    # As it says.
    x = kl.constant([0.5])
    with kl.GradientTape() as tape:
        tape.watch(x)
        y = RAW.StopGradient(input=RAW.DeepCopy(x=x)) + x
    assert tape.gradient(y, x).tolist() == [1.0]


def test_ops_that_are_missing_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_text('node { name: "a" op: "MatMull" } node { name: "b" op: "TFText>Nope" }')
    text = message(errors.NotFoundError, lambda: kl.load_graph(path).run([], targets=["a"]))
    assert "did you mean MatMul" in text and "`kernlink.load_op_library(path)`" in text
    found = kl.tools.inspect(path)
    advice = found.graphs[0].advice
    assert any("load_op_library" in line for line in advice) and not any(map(NOT_PYTHON.search, [*advice, str(found)]))
    assert "load_op_library" in message(errors.NotFoundError, lambda: kl._kernlink.execute("MatMull", (), (), None))


CALLS_ITSELF = """
node { name: "x" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
node { name: "call" op: "StatefulPartitionedCall" input: "x" attr { key: "Tin" value { list { type: DT_FLOAT } } }
  attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "again" } } } }
library { function {
  signature { name: "again" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } is_stateful: true }
  node_def { name: "call" op: "StatefulPartitionedCall" input: "x" attr { key: "Tin" value { list { type: DT_FLOAT } } }
    attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "again" } } } }
  ret { key: "y" value: "call:output:0" } } }
"""


def test_functions_that_call_themselves_without_end(tmp_path: Path) -> None:
    (tmp_path / "graph.pbtxt").write_text(CALLS_ITSELF)
    session = kl.load_graph(tmp_path / "graph.pbtxt", options=kl.SessionOptions(call_depth=3))
    text = message(errors.ResourceExhaustedError, lambda: session.run("call"))
    assert "within 3 other calls" in text and "`call_depth` of `kernlink.SessionOptions`" in text


def test_names_that_are_nearly_right() -> None:
    for module, wrong, right in ((kl.raw_ops, "MatMull", "MatMul"), (kl.raw_ops, "matmul", "MatMul"), (kl.ops, "mat_mull", "mat_mul")):
        assert f"did you mean {right}" in message(AttributeError, lambda: getattr(module, wrong))
    assert "did you mean" not in message(AttributeError, lambda: kl.raw_ops.Nonsensical)


def test_names_of_nodes_are_texts() -> None:
    name: Any = 3
    assert message(TypeError, lambda: RAW.Relu(features=[1.0], name=name)) == "name of Relu: expected a str, not the int 3"
    with kl.Graph() as graph:
        assert "name of Relu" in message(TypeError, lambda: RAW.Relu(features=[1.0], name=name))
        assert "name of placeholder" in message(TypeError, lambda: graph.placeholder("float32", name=name))
    assert "values of Pack: expected a list of tensors, not the int 1" == message(TypeError, lambda: RAW.Pack(values=1))


@pytest.mark.parametrize("wrong", [None, 3, "x", [1.0]], ids=repr)
def test_jacobians_are_of_one_tensor(wrong: Any) -> None:
    x = kl.constant([[1.0, 2.0]])
    with kl.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    kind = type(wrong).__name__
    assert f"target is one tensor or variable, not what is of type {kind}" in message(TypeError, lambda: tape.jacobian(wrong, x))
    assert f"target is one tensor or variable, not what is of type {kind}" in message(
        TypeError, lambda: tape.batch_jacobian(wrong, x)
    )
    assert f"source is one tensor or variable, not what is of type {kind}" in message(
        TypeError, lambda: tape.batch_jacobian(y, wrong)
    )
    assert "call it for each" in message(TypeError, lambda: tape.jacobian([y], x))
    # The tape is as it was.
    assert tape.jacobian(y, x).shape == (1, 2, 1, 2)


def test_gradients_of_graphs_are_of_outputs_or_lists() -> None:
    with kl.Graph() as graph:
        a = graph.placeholder("float32", [2])
        b = a * a
        for ys, xs in ((b, a), ([b], a), (b, [a]), ((b,), (a,))):
            (slope,) = graph.gradients(ys, xs)
            assert slope is not None and kl.Session(graph).run(slope, {a: [1.0, 2.0]}).tolist() == [2.0, 4.0]
        wrong: Any = None
        assert message(TypeError, lambda: graph.gradients(b, wrong)) == "xs: expected outputs of the graph, not NoneType"
        assert "ys: expected outputs" in message(TypeError, lambda: graph.gradients([wrong], a))
        assert "ys: expected outputs" in message(TypeError, lambda: graph.gradients(kl.constant(1.0), a))  # type: ignore[arg-type]
    with kl.Graph() as other:
        c = other.placeholder("float32", [])
    assert "of another graph" in message(ValueError, lambda: graph.gradients(b, c))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"threads": -1}, ValueError, "threads is a whole number from 0, not -1"),
        ({"threads": 2**70}, ValueError, "threads is a whole number"),
        ({"threads": 1.5}, TypeError, "threads: expected a whole number, not the float 1.5"),
        ({"threads": True}, TypeError, "threads: expected a whole number"),
        ({"inter_op_pools": [1, -1]}, ValueError, "each of inter_op_pools is a whole number from 0, not -1"),
        ({"inter_op_pools": 2}, TypeError, "inter_op_pools: expected a list"),
        ({"cpu_devices": 0}, ValueError, "cpu_devices is a whole number from 1, not 0"),
        ({"call_depth": -1}, ValueError, "call_depth is a whole number from 0"),
        ({"call_depth": 2**32}, ValueError, r"call_depth is a whole number from 0, below 2\*\*32, not 4294967296"),
        ({"threads": int}, TypeError, "threads: expected a whole number, not the type <class 'int'>"),
        ({"timeout": -1.0}, ValueError, "a timeout is a number of seconds"),
        ({"timeout": "x"}, TypeError, "timeout: expected a number of seconds, not the str 'x'"),
        ({"device": 5}, TypeError, "device: expected a str, not the int 5"),
        ({"without_passes": "prune"}, TypeError, "without_passes: expected a list of str, not the str 'prune'"),
        ({"without_passes": [1]}, TypeError, "without_passes: expected a list of str"),
        ({"without_passes": ["zz"]}, errors.InvalidArgumentError, "without_passes: .*no pass or rewrite `zz`.*kernlink.tools.passes"),
        ({"without_passes": ["prun"]}, errors.InvalidArgumentError, "did you mean prune"),
        ({"device": "tpu"}, errors.InvalidArgumentError, "no device `tpu`"),
    ],
    ids=str,
)
def test_options_that_cannot_be(options: dict[str, Any], error: type[Exception], text: str) -> None:
    assert re.search(text, message(error, lambda: kl.SessionOptions(**options)))
    if "threads" in options:
        with kl.Graph() as graph:
            RAW.NoOp()
        assert re.search(text, message(error, lambda: kl.Session(graph, **options)))


def test_options_that_can_be() -> None:
    names = [it.name for it in kl.tools.passes()]
    assert kl.SessionOptions(without_passes=names, threads=np.int64(2)).without_passes == names  # type: ignore[arg-type]


def test_checkpoints_have_names(tmp_path: Path) -> None:
    write, nothing = kl.train.write_checkpoint, Any
    nothing = None
    assert "prefix: expected a path" in message(TypeError, lambda: write(nothing, {}))
    for folder in (Path(""), Path(".."), tmp_path / "..", f"{tmp_path}/."):
        assert "a folder: name what the names of the files" in message(ValueError, lambda: write(folder, {"a": 1.0}))
    assert "tensors: expected a dict" in message(TypeError, lambda: write(tmp_path / "x", nothing))
    assert "^a: " not in (text := message(TypeError, lambda: write(tmp_path / "x", {"a": None}))) and text.startswith("a: ")
    assert "the names of tensors are str" in message(TypeError, lambda: write(tmp_path / "x", {1: 1.0}))  # type: ignore[dict-item]
    checkpoint = kl.train.Checkpoint(v=kl.Variable(1.0))
    for save in (checkpoint.save, checkpoint.write, lambda prefix: write(prefix, {"a": 1.0})):
        assert "prefix is empty" in message(ValueError, lambda: save(""))
        assert "prefix: expected a path" in message(TypeError, lambda: save(nothing))
    assert checkpoint.save_counter == 0 and checkpoint.save(f"{tmp_path}/") == f"{tmp_path}/-1"


def test_what_is_measured_and_written_speaks_of_arguments(tmp_path: Path) -> None:
    with kl.Graph() as graph:
        x = graph.placeholder("float32", [2], name="x")
        RAW.Neg(x=x, name="y")
    (tmp_path / "graph.pb").write_bytes(graph.as_graph_def())
    bench = kl.tools.bench
    for wrong, error, text in (
        ({"runs": 0}, ValueError, "runs is a whole number from 1"),
        ({"warm_up": -1}, ValueError, "warm_up is a whole number from 0"),
        ({"threads": -1}, ValueError, "threads is a whole number from 0"),
        ({"runs": "3"}, TypeError, "runs is a whole number, not of type str"),
        ({"runs": True}, TypeError, "runs is a whole number, not of type bool"),
        ({"outputs": "nope"}, errors.NotFoundError, "outputs: .*nope"),
        ({"inputs": {"nope": 1.0}}, errors.NotFoundError, "inputs: .*nope"),
        ({"inputs": {"x": ["a"]}}, errors.InvalidArgumentError, "inputs x: "),
        ({"signature": "nope"}, errors.InvalidArgumentError, "signature: a plain graph has no signatures"),
        ({"tags": "nope"}, errors.InvalidArgumentError, "tags is for SavedModels"),
        ({"checkpoint": "nope"}, errors.InvalidArgumentError, "checkpoint is for SavedModels"),
    ):
        arguments: dict[str, Any] = wrong
        assert re.search(text, message(error, lambda: bench(tmp_path / "graph.pb", **arguments)))
    assert "a string is no float" in message(errors.InvalidArgumentError, lambda: bench(tmp_path / "graph.pb", {"x": "a"}))
    measured = bench(tmp_path / "graph.pb", runs=np.int64(3), warm_up=np.int64(0)).measured  # type: ignore[arg-type]
    assert measured["runs"] == 3
    assert "name='my-ops'" in message(errors.InvalidArgumentError, lambda: kl.tools.new(tmp_path / "My Ops"))
    assert "name='NAME'" in message(errors.InvalidArgumentError, lambda: kl.tools.new("/"))
    assert "kernlink: " in message(errors.NotFoundError, lambda: kl.tools.new(tmp_path / "ops", kernlink=tmp_path))


def test_sums_of_another_shape_than_they_say() -> None:
    two = kl.constant([1.0, 2.0])
    assert RAW.AccumulateNV2(inputs=[two, two], shape=[None]).tolist() == [2.0, 4.0]
    for inputs in ([two, two], [two]):
        with pytest.raises(errors.InvalidArgumentError, match=r"attr `shape` says \[3\], and the inputs have the shape \[2\]"):
            RAW.AccumulateNV2(inputs=inputs, shape=[3])
