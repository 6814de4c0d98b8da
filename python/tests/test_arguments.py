"""Arguments of other types than they are to be: errors that name them. Paths in all forms; what is empty."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernlink as kl

errors = kl.errors

# What nobody means, and what says nothing of where it was given.
FOREIGN = re.compile(
    r"is not an instance of|[Cc]an't extract|cannot be (interpreted|converted)|is not iterable|has no attribute|expected str, bytes or"
)


class Nothing:
    """What no argument is."""

    def __repr__(self) -> str:
        return "Nothing()"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A graph of `b = Relu(a)`."""
    with kl.Graph() as graph:
        a = graph.placeholder(kl.float32, [None, 2], name="a")
        kl.raw_ops.Relu(features=a, name="b")
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.as_graph_def())
    return path


def calls(saved: Path) -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """What is called by people, with arguments that it takes, as far as it must be given some."""
    model = {"model": saved}
    yield from (
        (kl.tools.inspect, model),
        (kl.tools.optimize, model | {"outputs": ["b"]}),
        (kl.tools.gradients, model | {"ys": ["b"], "xs": ["a"]}),
        (kl.tools.freeze, model),
        (kl.tools.convert, model | {"to": saved.parent / "other.pb"}),
        (kl.tools.select, {"models": [saved]}),
        (kl.tools.verify, {"files": [saved]}),
        (kl.tools.bench, model | {"runs": 1, "warm_up": 0}),
        (kl.tools.verify_checkpoint, {"checkpoint": saved}),
        (kl.tools.ops, {"name": "Relu"}),
        (kl.tools.kernels, {"op": "Relu"}),
        (kl.tools.compare_ops, {"old": saved}),
        (kl.tools.write_pages, {"folder": saved.parent / "pages", "own": True}),
        (kl.tools.new, {"folder": saved.parent / "crate"}),
        (kl.saved_model.load, {"export_dir": saved.parent}),
        (kl.saved_model.tag_sets, {"export_dir": saved.parent}),
        (kl.load_op_library, {"library_filename": saved}),
        (kl.train.load_checkpoint, {"ckpt_dir_or_file": saved}),
        (kl.train.latest_checkpoint, {"checkpoint_dir": saved.parent}),
        (kl.train.write_checkpoint, {"prefix": saved.parent / "model", "tensors": {"x": 1.0}}),
        (kl.train.CheckpointManager, {"checkpoint": kl.train.Checkpoint(), "directory": saved.parent}),
        (kl.train.Checkpoint().save, {"file_prefix": saved.parent / "model"}),
    )


def rust_calls(saved: Path) -> Iterator[tuple[Callable[..., Any], dict[str, Any], list[str]]]:
    """The same, of what is written in Rust, with the names of all arguments."""
    session = kl.load_graph(saved)
    graph = session.graph
    settings = ["options", "threads", "device"]
    prefix = kl.train.write_checkpoint(saved.parent / "reader", {"x": 1.0})
    reader = kl.train.load_checkpoint(prefix)
    yield from (
        (kl.load_graph, {"path": saved}, ["path", *settings]),
        (kl.load_meta_graph, {"path": saved}, ["path", "checkpoint", *settings]),
        (kl.Session, {"graph": graph}, ["graph", *settings]),
        (kl.Graph, {}, ["graph_def"]),
        (kl.device, {"name": "cpu"}, ["name"]),
        (
            session.run,
            {"fetches": "b", "feed_dict": {"a": [[1.0, 2.0]]}},
            ["fetches", "feed_dict", "targets", "timeout", "run_metadata", "inter_op_pool"],
        ),
        (graph.import_graph_def, {"graph_def": graph.as_graph_def(), "name": "again"}, ["graph_def", "name"]),
        (graph.get_operation_by_name, {"name": "b"}, ["name"]),
        (graph.get_operation_by_name("b").get_attr, {"name": "T"}, ["name"]),
        (reader.get_tensor, {"name": "x"}, ["name"]),
        (reader.has_tensor, {"name": "x"}, ["name"]),
        (kl.RunMetadata().save_trace, {"path": saved.parent / "trace.json"}, ["path"]),
        (
            kl.SessionOptions,
            {},
            "threads inter_op_pools device cpu_devices soft_placement optimize without_passes inexact_rewrites call_depth timeout".split(),
        ),
    )


def refused(call: Callable[..., Any], given: dict[str, Any], name: str) -> None:
    # A list of numbers may be a dict's keys.
    for wrong in (Nothing(), [Nothing()], {1: Nothing()})[: 2 if name == "inter_op_pools" else 3]:
        with pytest.raises(TypeError) as raised:
            call(**{**given, name: wrong})
        text = str(raised.value)
        # Of what is shown of the value nothing may pass for the name.
        said = text.replace("Nothing", "")
        assert re.search(rf"\b{name}\b", said) and not FOREIGN.search(said), (call, name, text)


def test_arguments_of_wrong_types_are_named(saved: Path) -> None:
    count = 0
    for call, given in calls(saved):
        for name in inspect.signature(call).parameters:
            refused(call, given, name)
            count += 1
    for call, given, names in rust_calls(saved):
        for name in names:
            refused(call, given, name)
            count += 1
    assert count > 90


def test_a_graph_is_read_from_bytes(saved: Path) -> None:
    data = saved.read_bytes()
    for given in (data, bytearray(data), memoryview(data)):
        assert [own.name for own in kl.Graph(given).get_operations()] == ["a", "b"]
        assert kl.Session(given).operations == ["a", "b"]
    for wrong in ("abc", [1, 2], 5):
        for call in (kl.Graph, kl.Session):
            with pytest.raises(TypeError, match="the bytes of a serialized GraphDef"):
                call(wrong)  # type: ignore[arg-type]


def test_one_text_stands_for_a_list_of_it(saved: Path) -> None:
    assert kl.tools.optimize(saved, outputs="b").nodes == kl.tools.optimize(saved, outputs=["b"]).nodes == 2
    assert kl.tools.gradients(saved, "b", "a").names == kl.tools.gradients(saved, ("b",), ["a"]).names


def test_paths_are_texts_bytes_and_objects(saved: Path) -> None:
    folder = saved.parent
    for form in (str, os.fsencode, Path):
        path: Any = form(str(saved))
        assert kl.load_graph(path).operations == ["a", "b"]
        assert kl.tools.inspect(path).model == str(saved)
        assert kl.tools.bench(path, {"a": [[1.0, 2.0]]}, runs=1, warm_up=0).measured["runs"] == 1
        assert kl.tools.select(path).text == kl.tools.select([path]).text
        prefix: Any = form(str(folder / "model"))
        assert kl.train.write_checkpoint(prefix, {"x": 2.0}) == str(folder / "model")
        assert kl.train.load_checkpoint(prefix).get_tensor("x").item() == 2.0
        assert kl.train.Checkpoint(v=kl.Variable(1.0)).save(prefix) == str(folder / "model-1")
        assert kl.train.latest_checkpoint(form(str(folder))) == str(folder / "model-1")
        assert kl.tools.verify_checkpoint(prefix) == ["x"]
        kl.tools.optimize(path).save(form(str(folder / "small.pb")))
        kl.tools.convert(path, form(str(folder / "text.pbtxt")))
        assert (folder / "text.pbtxt").read_text().startswith("node")
        for call in (kl.saved_model.load, kl.saved_model.tag_sets, kl.load_op_library):
            with pytest.raises(errors.NotFoundError, match="nowhere"):
                call(form(str(folder / "nowhere")))


def test_nothing_is_not_taken_for_all_is_well(saved: Path) -> None:
    for call in (kl.tools.verify, kl.tools.select):
        with pytest.raises(ValueError, match="is empty: name one path"):
            call([])
    for ys, xs, name in (([], [], "ys"), (["b"], [], "xs"), ([], ["a"], "ys")):
        with pytest.raises(ValueError, match=f"{name} is empty"):
            kl.tools.gradients(saved, ys, xs)


def test_options_are_copied_and_pickled() -> None:
    options = kl.SessionOptions(
        threads=2, inter_op_pools=[1, 2], device="cpu", cpu_devices=2, soft_placement=False, optimize=False,
        without_passes=["rewrite"], inexact_rewrites=True, call_depth=7, timeout=1.5,
    )
    protocols = [pickle.loads(pickle.dumps(options, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for other in (copy.copy(options), copy.deepcopy(options), *protocols):
        assert other == options != kl.SessionOptions() and repr(other) == repr(options)


def test_a_run_may_take_for_ever(saved: Path) -> None:
    session = kl.Session(kl.load_graph(saved).graph, threads=None)
    feeds = {"a": [[1.0, -2.0]]}
    assert session.run("b", feeds, timeout=float("inf")).tolist() == [[1.0, 0.0]]
    assert kl.SessionOptions(timeout=float("inf")) == kl.SessionOptions()
    for wrong in (-1.0, float("nan"), float("-inf")):
        with pytest.raises(ValueError, match="a timeout is a number of seconds"):
            session.run("b", feeds, timeout=wrong)


def test_dtypes_that_differ_are_told() -> None:
    x, y = kl.constant([1.0]), kl.constant([1])
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: x + y, "x of AddV2 is float32, y is int32: cast one"),
        (lambda: y * x, "x of Mul is int32, y is float32: cast one"),
        (lambda: x < y, "x of Less is float32, y is int32: cast one"),
        (lambda: x == y, "x of Equal is float32, y is int32: cast one"),
        (lambda: x / y, "x of RealDiv is float32, y is int32: cast one"),
        (lambda: y / kl.constant([1], "int64"), "one operand is int32, the other int64: cast one"),
        (lambda: x + "a", "x of AddV2 is float32, y is string"),
        (lambda: x + 1j, "x of AddV2 is float32, y is .*1j.*, which is no float32"),
        (lambda: y + 1.5, "x of AddV2 is int32, y is 1.5, which is no int32"),
        (lambda: x + 1e39, "x of AddV2 is float32, y is 1e39, which is no float32"),
        (lambda: kl.constant(1, "uint8") + 300, "x of AddV2 is uint8, y is 300, which is no uint8"),
        (lambda: kl.constant(1, "uint64") * -1, "x of Mul is uint64, y is -1, which is no uint64"),
        (lambda: kl.constant(1, "int8") < [1, 128], "x of Less is int8, y has int32, of which not all are int8"),
        (lambda: y + [1.5, 2.5], "x of AddV2 is int32, y has float64, of which not all are int32"),
        (lambda: y + 2**40, "x of AddV2 is int32, y is 1099511627776, which is no int32"),
        (lambda: y == 1.5, "x of Equal is int32, y is 1.5, which is no int32"),
        (lambda: y == "a", "x of Equal is int32, y is string"),
        (lambda: kl.constant("a") == 1, "x of Equal is string, y is 1, which is no string"),
        (lambda: kl.constant(True) == 1, "x of Equal is bool, y is 1, which is no bool"),
        (lambda: kl.raw_ops.ConcatV2(values=[x, y], axis=0), r"values\[0\] of ConcatV2 is float32, values\[1\] is int32: cast one"),
        (lambda: kl.raw_ops.AddN(inputs=[y, y, x]), r"inputs\[0\] of AddN is int32, inputs\[2\] is float32: cast one"),
    ]
    for work, text in cases:
        for call in (work, kl.function(work)):
            with pytest.raises(errors.DTypeError, match=text) as raised:
                call()
            assert isinstance(raised.value, (TypeError, errors.InvalidArgumentError)) and "NodeDef" not in str(raised.value)


@pytest.mark.parametrize("traced", [False, True])
def test_no_number_beyond_a_dtype_is_equal(traced: bool) -> None:
    infinity = float("inf")
    cases: list[tuple[Any, str, Any, Any]] = [
        (1.0, "float32", 1e39, False),
        # What TensorFlow rounds it to.
        (infinity, "float32", 1e39, True),
        ([1.0, infinity], "float32", [1.0, 1e39], [True, True]),
        (1.0, "float16", 1e5, False),
        (1.0, "bfloat16", 1e39, False),
        (1.0, "float32", 2**70, False),
        (1, "int32", 2**40, False),
        ([1, 2], "int32", 2**40, [False, False]),
        ([1, 2], "int32", [1, 2**40], [True, False]),
        ([[1], [2]], "int32", [1, 2**40], [[True, False], [False, False]]),
        ([44, 2], "uint8", 300, [False, False]),
        ([44, 2], "uint8", [300, 2], [False, True]),
        (255, "uint8", -1, False),
        (2**63, "uint64", -(2**63), False),
        (2**64 - 1, "uint64", -1, False),
        (-1, "int64", 2**64 - 1, False),
        (-(2**63), "int64", 2**63, False),
    ]
    for value, dtype, other, expected in cases:
        x = kl.constant(value, dtype)
        equal, differs = (lambda x, other=other: x == other), (lambda x, other=other: x != other)
        if traced:
            equal, differs = kl.function(equal), kl.function(differs)
        assert equal(x).tolist() == expected, (value, dtype, other)
        assert np.array_equal(differs(x).numpy(), np.logical_not(expected)), (value, dtype, other)
        assert (kl.Variable(x) == other).tolist() == expected
    # Shapes that do not suit each other are as they are with numbers that are there.
    assert (kl.constant([1, 2], "uint8") == [300, 2, 1]).tolist() is False
    assert (kl.constant([1, 2], "uint8") != [300, 2, 1]).tolist() is True


def test_uint64_has_nothing_below_zero() -> None:
    for value in (-1, [1, -1], [[2**40, -(2**63)]], [np.int64(-1)], [np.array([-1])]):
        with pytest.raises(ValueError, match=r"-\d+ is no uint64"):
            kl.constant(value, "uint64")
    # As in TensorFlow: an array is cast, and other dtypes cut.
    assert kl.constant(np.array([-1]), "uint64").tolist() == [2**64 - 1]
    cut = ((-1, "uint32", 2**32 - 1), (300, "uint8", 44), (2**40, "int32", 0), (8, "int4", -8), (2**63, "uint64", 2**63))
    for number, dtype, expected in cut:
        assert kl.constant(number, dtype).item() == expected
    for value, dtype in ((2**63, "int64"), (2**63, "uint8"), (2**64, "uint64"), (-(2**63) - 1, "int64")):
        with pytest.raises(ValueError, match="beyond"):
            kl.constant(value, dtype)


def test_what_holds_no_tensor_is_told() -> None:
    with pytest.raises(TypeError, match="what is of type int has no __dlpack__"):
        kl.from_dlpack(5)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_ranges_of_quantized_numbers_have_one_element_and_any_rank(shape: tuple[int, ...]) -> None:
    x = np.array([0.1, 0.9], np.float32)
    least, greatest = np.full(shape, 0.6, np.float32), np.full(shape, 0.9, np.float32)
    numbers, start, end = kl.raw_ops.QuantizeV2(input=x, min_range=least, max_range=greatest, T="quint8")
    assert start.item() == 0 and end.item() == np.float32(0.9) and start.shape == end.shape == ()
    assert kl.raw_ops.Bitcast(input=numbers, type="uint8").tolist() == [28, 255]
    with pytest.raises(kl.errors.InvalidArgumentError, match="single float element"):
        kl.raw_ops.QuantizeV2(input=x, min_range=np.zeros(2, np.float32), max_range=greatest, T="quint8")
