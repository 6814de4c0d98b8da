"""Branches, loops, scopes of names and what waits for what: at once, in functions and in graphs."""

from __future__ import annotations

import collections
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from test_tapes import everywhere, in_a_graph, symbolic, traced

import kernlink as kl

RAW = kl.raw_ops
in_graphs = pytest.mark.parametrize("run", [traced, in_a_graph])


@everywhere
@pytest.mark.parametrize("holds", [True, False])
def test_cond(run: Any, holds: bool) -> None:
    far = kl.constant(np.full(200, 7.0, np.float32))

    def work() -> Any:
        x, y = symbolic(3.0), symbolic(4.0)
        pred = symbolic(holds)
        found = kl.cond(pred, lambda: {"a": x * y, "b": [1.0, far]}, lambda: {"a": x, "b": [2.0, far * 2.0]})
        inner = kl.cond(pred, lambda: kl.cond(RAW.LogicalNot(x=pred), lambda: x, lambda: y + x), lambda: x - y)
        return found["a"], found["b"][0], RAW.Sum(input=found["b"][1], axis=[0]), inner

    assert run(work) == ((12.0, 1.0, 1400.0, 7.0) if holds else (3.0, 2.0, 2800.0, -1.0))


@everywhere
def test_dicts_of_branches_and_loops_may_be_in_any_order(run: Any) -> None:
    def work() -> Any:
        x, y = symbolic(3.0), symbolic(4.0)
        ordered = collections.OrderedDict
        found = [
            kl.cond(x > y, lambda: {"a": x, "b": y}, lambda: {"b": y * 2.0, "a": x * 2.0}),
            kl.cond(x > y, lambda: {"a": x, "b": y}, lambda: ordered(b=y * 2.0, a=x * 2.0)),
            *kl.while_loop(lambda d: d["a"] < 6.0, lambda d: ({"b": d["a"], "a": d["b"] * 2.0},), [{"a": x, "b": y}]),
        ]
        return [one[key] for one in found for key in ("a", "b")]

    assert run(work) == [6.0, 8.0, 6.0, 8.0, 8.0, 3.0]


@everywhere
def test_gradients_of_branches_and_loops(run: Any) -> None:
    def work() -> Any:
        x = symbolic(3.0)
        with kl.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = kl.cond(x > 2.0, lambda: x * x, lambda: x)
            _, z = kl.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * x), (0, x))
        return tape.gradient(y, x), tape.gradient(z, x)

    assert run(work) == (6.0, 108.0)


def test_functions_may_be_called_as_branches_and_loops_are() -> None:
    script = """
import kernlink as kl

def cond(x):
    return x + 1.0

x = kl.constant(1.0)
found = [kl.function(cond)(x)]
for _ in range(5):
    found.append(kl.function(lambda x: kl.cond(x > 0.0, lambda: x * 2.0, lambda: x))(x))
    found.append(kl.function(cond)(x))
print(sum(one.item() for one in found))
"""
    # In a process of its own, in which nothing is named yet.
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("22.0\n", "")


def test_effects_of_branches_and_loops() -> None:
    v, w = kl.Variable(1.0), kl.Variable(10.0)

    @kl.function
    def f(x: Any) -> Any:
        kl.cond(x > 0.0, lambda: (v.assign_add(x), None)[1], lambda: (w.assign_add(x), None)[1])
        (n,) = kl.while_loop(lambda n: n < w, lambda n: n + v, [x])
        return n, v.read_value()

    assert [t.item() for t in f(kl.constant(4.0))] == [14.0, 5.0]
    assert [t.item() for t in f(kl.constant(-4.0))] == [6.0, 5.0] and w.numpy() == 6.0


@everywhere
def test_while_loop(run: Any) -> None:
    def work() -> Any:
        n, one = symbolic(5), symbolic(1)
        (alone,) = kl.while_loop(lambda i: i < n, lambda i: i + one, [0])
        pair = kl.while_loop(
            lambda i, d: i < n, lambda i, d: (i + 1, {"a": d["a"] * 2.0}), (0, {"a": 1.0}), maximum_iterations=3
        )
        grown = kl.while_loop(
            lambda i, a: i < 2,
            lambda i, a: [i + 1, RAW.ConcatV2(values=[a, a], axis=0)],
            [0, kl.constant([1.0])],
            shape_invariants=[[], kl.TensorSpec([None])],
        )
        return alone, pair, grown

    assert run(work) == (5, (3, {"a": 8.0}), [2, [1.0] * 4])


@everywhere
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_loops_count_in_the_dtype_of_their_limit(run: Any, dtype: str) -> None:
    v = kl.Variable(2, dtype=dtype)

    def rounds(limit: Any) -> Any:
        return kl.while_loop(lambda x: x < 100.0, lambda x: x + 1.0, [symbolic(0.0)], maximum_iterations=limit)[0]

    def work() -> Any:
        limits = [symbolic(np.array(3, dtype)), kl.constant(4, dtype), np.array(5, dtype), 2**40]
        return [rounds(limit) for limit in [*limits, *([] if run is in_a_graph else [v])]]

    assert run(work) == [3.0, 4.0, 5.0, 100.0, *([] if run is in_a_graph else [2.0])]


def test_shapes_of_branches_and_loops() -> None:
    ones = [kl.constant(np.ones(shape, np.float32)) for shape in ((2, 3), (2, 4), (2,))]

    @kl.function
    def f(p: Any) -> None:
        assert kl.cond(p, lambda: ones[0], lambda: ones[1]).shape == (2, None)
        assert kl.cond(p, lambda: ones[0], lambda: ones[2]).shape is None
        assert kl.cond(p, lambda: None, lambda: None) is None
        assert kl.while_loop(lambda x: p, lambda x: x * x, [ones[0]])[0].shape == (2, 3)

    f.get_concrete_function(kl.TensorSpec([], "bool"))


@in_graphs
@pytest.mark.parametrize(
    ("work", "error", "text"),
    [
        (lambda: kl.cond(True, lambda: 1, lambda: 2), TypeError, "bool of Python's"),
        (lambda: kl.cond(symbolic(True), lambda: 1, lambda: 2.0), TypeError, "same dtypes"),
        (lambda: kl.cond(symbolic(True), lambda: (1,), lambda: 1), TypeError, "same structure"),
        (lambda: kl.cond(symbolic(True), lambda: None, lambda: 1), TypeError, "as many tensors"),
        (lambda: kl.while_loop(lambda i: i < 1, lambda i: RAW.Cast(x=i, DstT="int64"), [0]), TypeError, "int32 and int64"),
        (lambda: kl.while_loop(lambda i: i < 1, lambda i: (i, i), [0]), TypeError, "as many tensors"),
        (lambda: kl.while_loop(lambda i: i < 1, lambda i: i, 0), TypeError, "list or tuple"),
        (lambda: kl.while_loop(lambda i: True, lambda i: RAW.Pack(values=[i]), [0]), ValueError, "shape_invariants"),
        (lambda: kl.while_loop(lambda i: True, lambda i: i, [0], shape_invariants=[]), ValueError, "0 shape_invariants"),
        (lambda: kl.while_loop(lambda i: True, lambda i: i, [0], shape_invariants=[[1]]), ValueError, "invariant"),
    ],
)
def test_what_branches_and_loops_refuse(run: Any, work: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        run(work)


def test_scopes_of_names() -> None:
    with kl.Graph() as graph:
        found = []
        with kl.name_scope("a") as first:
            found += [RAW.Neg(x=1.0), RAW.Neg(x=1.0, name="n"), graph.placeholder("float32")]
            for _ in range(2):
                with kl.name_scope("b") as inner:
                    found.append(RAW.Neg(x=1.0))
        with kl.name_scope("a") as second:
            found.append(RAW.Neg(x=1.0))
        with kl.name_scope(first) as again:
            found.append(RAW.Neg(x=1.0))
        found.append(RAW.Neg(x=1.0))
        with pytest.raises(ValueError, match="'!'"), kl.name_scope("!"):
            pass
    assert (first, inner, second, again) == ("a/", "a/b_1/", "a_1/", "a/")
    names = ["a/Neg", "a/n", "a/Placeholder", "a/b/Neg", "a/b_1/Neg", "a_1/Neg", "a/Neg_1", "Neg"]
    assert [output.op.name for output in found] == names
    with kl.name_scope("z") as outer, kl.name_scope("y") as inner:
        assert (outer, inner) == ("z/", "z/y/")
    with pytest.raises(ValueError, match="string"), kl.name_scope(None):  # type: ignore[arg-type]
        pass


def test_nodes_wait_for_others() -> None:
    with kl.Graph() as graph:
        handle = RAW.VarHandleOp(dtype="float32", shape=[], shared_name="waits")
        with kl.control_dependencies([RAW.AssignVariableOp(resource=handle, value=1.0)]):
            before = RAW.ReadVariableOp(resource=handle, dtype="float32")
            with kl.control_dependencies([before]):
                add = RAW.AssignAddVariableOp(resource=handle, value=5.0)
            with kl.control_dependencies([add, kl.constant(1.0)]):
                after = RAW.ReadVariableOp(resource=handle, dtype="float32")
            with kl.control_dependencies(None):
                free = RAW.Neg(x=1.0, name="free")
        with pytest.raises(TypeError, match="float"), kl.control_dependencies([1.0]):
            pass
    for _ in range(3):
        assert [t.item() for t in kl.Session(graph).run([before, after])] == [1.0, 6.0]
    text = graph.as_graph_def()
    assert text.count(b"^AssignVariableOp") == 3 and free.op.name == "free"
    v = kl.Variable(1.0)

    @kl.function
    def f() -> Any:
        with kl.control_dependencies([v.assign(7.0)]):
            return v.read_value()

    assert f().item() == 7.0
    with kl.control_dependencies([kl.constant(1.0)]):
        assert RAW.Neg(x=1.0).item() == -1.0


def test_branches_in_branches_are_traced_in_time_for_each() -> None:
    def traced(depth: int) -> float:
        def branch(left: int, x: Any) -> Any:
            if left == 0:
                return x
            return kl.cond(x > float(left), lambda: branch(left - 1, x + 1.0), lambda: x * 2.0)

        function = kl.function(lambda x: branch(depth, x))
        begun = time.process_time()
        function.get_concrete_function(kl.TensorSpec([], kl.float32))
        took = time.process_time() - begun
        # All conditions hold, or the first does not.
        assert function(kl.constant(1000.0)).item() == 1000.0 + depth
        assert function(kl.constant(1.0)).item() == 2.0
        return took

    traced(5)
    short = min(traced(10) for _ in range(3))
    # Six times as many: in proportion it is 6, a bit more with what each brings of those within; n**2.6 would be 105.
    assert traced(60) < 30 * short
