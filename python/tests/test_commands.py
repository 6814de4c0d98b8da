"""What the command does, as functions."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernlink as kl
from kernlink import _progress

tools = kl.tools
RAW = kl.raw_ops
REPOSITORY = Path(__file__).resolve().parents[2]
DATA, GOLDEN = REPOSITORY / "tests" / "saved_model" / "data", REPOSITORY / "tests" / "golden" / "data"
needs_models = pytest.mark.skipif(not DATA.is_dir(), reason="the models are in the repository, not in the package")


def printed(*arguments: str) -> str:
    """What the command prints."""
    environment = {**os.environ, "PYTHONPATH": str(Path(kl.__file__).parents[1])}
    line = [sys.executable, "-m", "kernlink", *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False).stdout


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A graph with something to fold, and an integer."""
    with kl.Graph() as made:
        x = made.placeholder("float32", [None, 2], name="x")
        unused = made.placeholder("float32", [], name="unused")
        RAW.Mul(x=x, y=RAW.AddV2(x=1.0, y=2.0, name="sum"), name="y")
        RAW.Cast(x=unused, DstT="int32", name="whole")
    path = tmp_path / "graph.pb"
    path.write_bytes(made.as_graph_def())
    return path


# inspect


@needs_models
def test_inspect_says_what_the_command_prints() -> None:
    for name in ("keras", "tf1", "tf2"):
        found = tools.inspect(DATA / name)
        assert str(found).rstrip() == printed("inspect", str(DATA / name)).rstrip()
        assert found.is_whole and len(found.graphs) == (2 if name == "tf1" else 1)
    (only,) = tools.inspect(DATA / "tf2").graphs
    assert only.tags == ["serve"] and only.missing == [] and only.faults == [] and only.elsewhere is None
    assert only.signatures["serving_default"][0] == {"x": (kl.float32, [None, 3])}
    assert sum(only.ops.values()) == int(str(only).split(" nodes")[0].split("\n")[-1].split()[-1])
    assert only.variables > 0 and only.variable_bytes > 0 and only.functions > 0
    assert "[serve]" in repr(only) and "tf2" in repr(tools.inspect(DATA / "tf2"))


def test_inspect_of_a_graph(graph: Path) -> None:
    found = tools.inspect(graph)
    (only,) = found.graphs
    assert only.inputs["x"] == ("Placeholder", [(kl.float32, [None, 2])]) and sorted(only.outputs) == ["whole", "y"]
    assert only.ops["Const"] == 2 and only.constant_bytes == 8 and only.variables == 0
    html = found._repr_html_()
    assert "nothing is missing" in html and "<td style='text-align:left'>Placeholder</td>" in html
    on_cpu = tools.inspect(graph, device="cpu").graphs[0]
    assert on_cpu.elsewhere == {} and "on /device:CPU:0: everything" in str(on_cpu)
    with pytest.raises(kl.errors.NotFoundError, match="nowhere"):
        tools.inspect("nowhere")
    with pytest.raises(kl.errors.InvalidArgumentError, match="tpu"):
        tools.inspect(graph, device="tpu")


def test_inspect_tells_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "graph.pbtxt").write_text('node { name: "a" op: "MatMull" }')
    found = tools.inspect(tmp_path / "graph.pbtxt")
    assert not found.is_whole and "MatMul" in found.graphs[0].missing[0]
    assert "lacks something" in repr(found) and "MatMull" in found._repr_html_()
    # What to do is said in other words.
    ours, theirs = str(found).splitlines(), printed("inspect", str(tmp_path / "graph.pbtxt")).splitlines()
    differ, others = [line for line in ours if line not in theirs], [line for line in theirs if line not in ours]
    assert len(differ) == len(found.graphs[0].advice) == 1 and "load_op_library" in differ[0]
    assert len(ours) == len(theirs) - len(others) + 1 and "`--library FILE`" in others[-1]


# optimize, gradients, convert


def test_optimize(graph: Path, tmp_path: Path) -> None:
    made = tools.optimize(graph, outputs="y", inputs=["x"])
    assert made.nodes < made.nodes_before == 7 and made.variables == 0 and made.restored_by is None
    assert {op.name for op in made.graph.get_operations()} >= {"x", "y"}
    assert any(done.name == "fold-constants" and done.changes for done in made.passes)
    made.save(tmp_path / "out.pb")
    made.save(tmp_path / "out.pbtxt")
    for name in ("out.pb", "out.pbtxt"):
        assert kl.load_graph(tmp_path / name).run("y", {"x": [[1.0, 2.0]]}).tolist() == [[3.0, 6.0]]
    assert "7 nodes before" in repr(made) and "fold-constants" in made._repr_html_()
    kept = tools.optimize(graph, outputs=["y"], without="fold-constants")
    assert "fold-constants" not in [done.name for done in kept.passes if done.changes]
    with pytest.raises(kl.errors.NotFoundError, match="^(?!.*--)outputs: .*nope"):
        tools.optimize(graph, outputs=["nope"])
    with pytest.raises(kl.errors.NotFoundError, match="^(?!.*--)signature: .*nope"):
        tools.optimize(graph, signature="nope")
    with pytest.raises(kl.errors.InvalidArgumentError, match="^without: .*nope"):
        tools.optimize(graph, without=["nope"])


@needs_models
def test_optimize_of_a_model_with_variables() -> None:
    made = tools.optimize(DATA / "tf1", tags="serve")
    assert made.variables > 0 and made.restored_by is not None
    with pytest.raises(kl.errors.InvalidArgumentError, match="several graphs"):
        tools.optimize(DATA / "tf1")


@needs_models
@pytest.mark.parametrize(("name", "signature"), [("tf1", "predict"), ("keras", "serving_default"), ("tf2", "words")])
def test_freeze(tmp_path: Path, name: str, signature: str) -> None:
    model = kl.saved_model.load(DATA / name, "serve")
    described = model.signatures[signature]
    frozen = tools.freeze(DATA / name, signature=signature, tags="serve")
    assert sorted(frozen.inputs) == sorted(described.inputs) and sorted(frozen.outputs) == sorted(described.outputs)
    ops = {op.type for op in frozen.graph.get_operations()}
    assert not ops & {"VarHandleOp", "ReadVariableOp", "VariableV2", "StatefulPartitionedCall", "PartitionedCall"}
    assert frozen.variables > 0 and frozen.nodes == len(frozen.graph.get_operations())
    values = {
        name: np.linspace(0, 1, 2 * (dims[-1] or 2), dtype=dtype.as_numpy_dtype).reshape([dim or 2 for dim in dims])
        for name, (dtype, dims) in described.inputs.items()
    }
    frozen.save(tmp_path / "frozen.pb")
    feeds = {frozen.inputs[name]: value for name, value in values.items()}
    found, wanted = kl.load_graph(tmp_path / "frozen.pb").run(frozen.outputs, feeds), described(**values)
    for output, value in wanted.items():
        is_close = value.dtype.is_floating and np.allclose(found[output].numpy(), value.numpy())
        assert is_close or found[output].tolist() == value.tolist(), output
    (first, *_) = described.outputs
    part = tools.freeze(model, signature=signature, outputs=first)
    assert list(part.outputs) == [first] and "made constant" in repr(part)


@needs_models
def test_what_changes_variables_is_not_frozen() -> None:
    with pytest.raises(kl.errors.FailedPreconditionError, match="variable `calls` cannot become a constant"):
        tools.freeze(DATA / "tf2")
    with pytest.raises(kl.errors.NotFoundError, match="nope"):
        tools.freeze(DATA / "tf2", signature="nope")
    with pytest.raises(kl.errors.NotFoundError, match="nope"):
        tools.freeze(DATA / "tf2", signature="words", outputs="nope")
    # The values are those that variables have now.
    model = kl.load_meta_graph(DATA / "meta" / "model.meta")
    with pytest.raises(kl.errors.NotFoundError, match="no signature"):
        tools.freeze(model)


def test_gradients(graph: Path, tmp_path: Path) -> None:
    made = tools.gradients(graph, "y", ["x", "unused"])
    assert made.names == ["gradients/0", None] and "gradients/0" in repr(made)
    made.save(tmp_path / "with.pb")
    found = kl.load_graph(tmp_path / "with.pb").run("gradients/0", {"x": [[1.0, 2.0]]})
    assert found.tolist() == [[3.0, 3.0]]
    with pytest.raises(kl.errors.InvalidArgumentError, match="^(?!.*--)ys: .*int32"):
        tools.gradients(graph, "whole", "x")


@needs_models
def test_convert(graph: Path, tmp_path: Path) -> None:
    tools.convert(graph, tmp_path / "graph.pbtxt")
    assert 'name: "sum"' in (tmp_path / "graph.pbtxt").read_text()
    tools.convert(tmp_path / "graph.pbtxt", tmp_path / "again.pb")
    assert (tmp_path / "again.pb").read_bytes() == graph.read_bytes()
    tools.convert(DATA / "tf1", tmp_path / "serve.pb", tags="serve")
    assert kl.load_graph(tmp_path / "serve.pb").operations
    with pytest.raises(kl.errors.InvalidArgumentError, match="2 such graphs"):
        tools.convert(DATA / "tf1", tmp_path / "none.pb")
    with pytest.raises(kl.errors.NotFoundError):
        tools.convert(DATA / "tf1", tmp_path / "none.pb", tags="nope")


# verify, select, bench, checkpoints, lists


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the cases are in the repository, not in the package")
def test_verify(graph: Path) -> None:
    report = tools.verify([GOLDEN / "logging.pb", GOLDEN / "select.pb"], threads=2)
    one = tools.verify(GOLDEN / "logging.pb")
    assert report.is_whole and report.passed == report.cases > one.cases > 0 and one.covered < report.covered
    assert f"{report.passed} passed, 0 failed" in str(report) and repr(report).startswith("<kernlink.tools.Report")
    assert tools.verify(GOLDEN / "logging.pb", only="nothing of this name").cases == 0
    with pytest.raises(kl.errors.InvalidArgumentError, match="no golden case"):
        tools.verify(graph)


def test_a_case_that_fails_is_told(tmp_path: Path) -> None:
    with kl.Graph() as made:
        RAW.Neg(x=1.0, name="Neg/wrong/actual/0")
        RAW.Identity(input=0.0, name="x")
    text = tmp_path / "case.pb"
    text.write_bytes(made.as_graph_def())
    with kl.Graph() as made:
        RAW.Neg(x=1.0, name="Neg/wrong/actual/0")
    made.import_graph_def(constant("Neg/wrong/expected/0", 2.0))
    text.write_bytes(made.as_graph_def())
    report = tools.verify(text)
    assert not report.is_whole and report.failures[0][0] == "Neg/wrong" and "FAILED Neg/wrong" in str(report)


def constant(name: str, value: float) -> bytes:
    """A graph of one constant."""
    with kl.Graph() as made:
        RAW.Const(value=kl.constant(value), dtype="float32", name=name)
    return made.as_graph_def()


@needs_models
def test_select(tmp_path: Path) -> None:
    selected = tools.select(DATA / "keras", signatures="serving_default")
    assert str(selected).splitlines() == printed("select", str(DATA / "keras"), "--signature", "serving_default").splitlines()
    assert "MatMul" in selected.text and selected.unknown == selected.missing_kernels == selected.underived == []
    selected.save(tmp_path / "selection")
    assert (tmp_path / "selection").read_text() == selected.text and "kernels" in repr(selected)
    with pytest.raises(kl.errors.NotFoundError, match="^(?!.*--).*nope"):
        tools.select([DATA / "keras"], signatures=["nope"])
    (tmp_path / "graph.pbtxt").write_text('node { name: "a" op: "Nothing" }')
    with pytest.raises(kl.errors.NotFoundError, match="(?s)Nothing.*allow_unknown"):
        tools.select(tmp_path / "graph.pbtxt")
    assert "Nothing" in tools.select(tmp_path / "graph.pbtxt", allow_unknown=True).unknown[0]


def test_bench(graph: Path) -> None:
    found = tools.bench(graph, {"x": np.ones((3, 2), np.float32)}, outputs="y", runs=3, warm_up=1, threads=1)
    assert found.measured["runs"] == 3 and found.measured["inputs"][0]["shape"] == [3, 2]
    assert 0 < found.latency["min"] <= found.latency["p50"] <= found.latency["max"]
    assert "Mul" in [op["op"] for op in found.ops]
    assert "p50" in repr(found) and "<td style='text-align:left'>Mul</td>" in found._repr_html_()
    with pytest.raises(kl.errors.NotFoundError):
        tools.bench(graph, outputs="nope", runs=1)


@needs_models
def test_checkpoints_are_verified(tmp_path: Path) -> None:
    names = tools.verify_checkpoint(DATA / "keras" / "variables" / "variables")
    assert names == kl.train.load_checkpoint(DATA / "keras" / "variables" / "variables").keys()
    prefix = kl.train.write_checkpoint(tmp_path / "bad", {"a": np.ones(100, np.float32)})
    data = tmp_path / "bad.data-00000-of-00001"
    changed = bytearray(data.read_bytes())
    changed[5] ^= 1
    data.write_bytes(changed)
    with pytest.raises(kl.errors.DataLossError, match="Checksum"):
        tools.verify_checkpoint(prefix)


def test_lists(tmp_path: Path) -> None:
    kernels = tools.kernels("MatMul", "CPU")
    assert kernels and all(kernel.op == "MatMul" and kernel.device == "CPU" for kernel in kernels)
    assert len(tools.kernels()) > 1000 and "MatMul" in str(kernels[0])
    with pytest.raises(kl.errors.NotFoundError, match="MatMull"):
        tools.kernels("MatMull")
    passes = tools.passes()
    assert "fold-constants" in [it.name for it in passes if not it.is_rewrite] and any(it.is_rewrite for it in passes)
    (tmp_path / "ops.pb").write_bytes(tools.op_list())
    found = tools.compare_ops(tmp_path / "ops.pb")
    assert found.broken == [] and found.new >= 0 and found.compared > 700
    (tmp_path / "bad.pb").write_bytes(b"\xff")
    with pytest.raises(kl.errors.OpError):
        tools.compare_ops(tmp_path / "bad.pb")


def test_ops_and_their_pages(tmp_path: Path) -> None:
    assert len(tools.ops()) > 700 and tools.ops(own=True) == []
    (op,) = tools.ops("MatMul")
    assert [arg["name"] for arg in op["inputs"]] == ["a", "b"] and op["crate"] == "kernlink-ops"
    with pytest.raises(kl.errors.NotFoundError, match="MatMul"):
        tools.ops("MatMull")
    assert "index.html" in tools.write_pages(tmp_path / "pages", own=True)
    assert (tmp_path / "pages" / "index.html").exists()


def test_new(tmp_path: Path) -> None:
    said = tools.new(tmp_path / "my-crate", name="other-name", gpu=True)
    assert "crate other-name is in" in said and 'name = "other-name"' in (tmp_path / "my-crate" / "Cargo.toml").read_text()
    assert (tmp_path / "my-crate" / "src" / "gpu.rs").exists()
    with pytest.raises(kl.errors.OpError, match="empty"):
        tools.new(tmp_path / "my-crate")
    with pytest.raises(kl.errors.InvalidArgumentError):
        tools.new(tmp_path / "x", name="9 lives")


def test_a_library_that_is_unloaded_is_forgotten() -> None:
    path = os.environ.get("KERNLINK_CUSTOM_OPS")
    if not path:
        pytest.skip("KERNLINK_CUSTOM_OPS does not say where the build of examples/custom-ops is")
    # In a process of its own: the ops are in all of it.
    script = """
import sys
import kernlink as kl
library = kl.load_op_library(sys.argv[1])
for module in (kl.raw_ops, kl.ops):
    assert hasattr(module, "ZeroOut") or hasattr(module, "zero_out")
library.LIB_HANDLE.unload()
for module in (kl.raw_ops, kl.ops):
    assert not hasattr(module, "ZeroOut") and not hasattr(module, "zero_out") and "zero_out" not in dir(module)
try:
    library.zero_out([1, 2])
except AttributeError as error:
    assert "was unloaded" in str(error)
else:
    raise AssertionError("no error")
again = kl.load_op_library(sys.argv[1])
assert again is not library and again is kl.load_op_library(sys.argv[1])
try:
    library.LIB_HANDLE.unload()
except kl.errors.FailedPreconditionError as error:
    assert "already" in str(error)
else:
    raise AssertionError("no error")
assert kl.load_op_library(sys.argv[1]) is again
# What ran at once, or in a function, keeps it no longer than it is wanted.
function = kl.function(lambda x: again.zero_out(x))
assert function(kl.constant([1, 2])).tolist() == [1, 0]
try:
    again.LIB_HANDLE.unload()
except kl.errors.FailedPreconditionError as error:
    assert "in use" in str(error)
else:
    raise AssertionError("no error")
del function
assert again.zero_out([1, 2]).tolist() == kl.ops.zero_out([1, 2]).tolist() == [1, 0]
again.LIB_HANDLE.unload()
assert not hasattr(kl.ops, "zero_out")
print("done")
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(kl.__file__).parents[1])}
    line = [sys.executable, "-c", script, path]
    result = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout == "done\n", result.stderr


def test_tools_are_found() -> None:
    assert "tools" in dir(kl) and set(tools.__all__) <= set(dir(tools))
    for name in tools.__all__:
        assert getattr(tools, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing"):
        kl.nothing  # type: ignore[attr-defined]


# Progress.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terminals_see_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_progress, "_BEFORE_FIRST", 0.0)
    monkeypatch.setattr(_progress, "_BETWEEN", 0.0)
    assert list(_progress.steps("step", range(3), 3)) == [0, 1, 2]
    text = terminal.getvalue()
    assert "\rstep 1 of 3\x1b[K" in text and "step 3 of 3, 0 s left" in text and text.endswith("\r\x1b[K")
    monkeypatch.setattr(_progress, "_BEFORE_WAITING", 0.01)
    shown = threading.Event()
    monkeypatch.setattr(terminal, "flush", shown.set)
    with _progress.waiting("loading"):
        assert shown.wait(10)
    assert "loading, 0 s" in terminal.getvalue() and terminal.getvalue().endswith("\r\x1b[K")
    monkeypatch.setenv("TERM", "dumb")
    before = terminal.getvalue()
    assert list(_progress.steps("step", range(2), 2)) == [0, 1] and terminal.getvalue() == before


def test_files_see_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = io.StringIO()
    monkeypatch.setattr(sys, "stderr", quiet)
    monkeypatch.setattr(_progress, "_BEFORE_FIRST", 0.0)
    with _progress.waiting("loading"):
        assert list(_progress.steps("step", range(3), 3)) == [0, 1, 2]
    assert quiet.getvalue() == ""


def test_notebooks_see_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    def display(html: str, display_id: bool) -> Handle:
        assert display_id
        shown.append(html)
        return Handle()

    class ZMQInteractiveShell:
        pass

    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display, ipython.display.HTML = display, str
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(_progress, "_BEFORE_FIRST", 0.0)
    monkeypatch.setattr(_progress, "_BETWEEN", 0.0)
    assert list(_progress.steps("<file>", range(2), 2)) == [0, 1]
    assert shown == [
        "<progress value='0.000'></progress> &lt;file&gt; 1 of 2",
        shown[1],
        "",
    ] and shown[1].startswith("<progress value='0.500'></progress> &lt;file&gt; 2 of 2")
    assert json.dumps(shown)
