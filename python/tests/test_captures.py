"""What functions capture: tensors, variables, and what graphs around them compute."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops


def test_tensors_that_are_closed_over_are_inputs() -> None:
    small, large = kl.constant(3.0), kl.constant(np.ones(1000, np.float32))

    @kl.function
    def f(x: Any) -> Any:
        return x * small * large

    f(kl.constant(1.0))
    captured = f.get_concrete_function(kl.constant(1.0)).captured_inputs
    assert len(captured) == 2 and captured[0] is small and captured[1] is large
    with kl.GradientTape() as tape:
        tape.watch([small, large])
        y = f(kl.constant(2.0))
    found = tape.gradient(y, [small, large])
    assert found[0].item() == 2000.0 and found[1].tolist() == [6.0] * 1000


def test_constants_of_a_trace_are_no_inputs() -> None:
    @kl.function
    def f(x: Any) -> Any:
        two = kl.constant(2.0)
        return x * two + kl.constant([1.0, 1.0])

    concrete = f.get_concrete_function(kl.constant(1.0))
    assert concrete.captured_inputs == [] and concrete(kl.constant(3.0)).tolist() == [7.0, 7.0]


def test_rows_of_what_is_closed_over_are_computed_from_it() -> None:
    w = kl.constant([[1.0, 2.0], [3.0, 4.0]])
    f = kl.function(lambda: w[0] * w[-1])
    f()
    with kl.GradientTape() as tape:
        tape.watch(w)
        y = f()
    assert tape.gradient(y, w).tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_large_tensors_are_not_copied_into_a_function() -> None:
    large = kl.constant(np.zeros(100_000, np.float32))
    concrete = kl.function(lambda x: x + large).get_concrete_function(kl.TensorSpec([]))
    with kl.Graph() as graph:
        arguments = [graph.placeholder("float32", []), graph.placeholder("float32", [100_000])]
        RAW.PartitionedCall(args=arguments, Tout=[kl.float32], f=concrete)
    text = graph.as_graph_def()
    assert concrete.name.encode() in text and len(text) < 10_000


@pytest.mark.parametrize("kept", [False, True])
def test_what_is_captured_does_not_depend_on_what_else_holds_it(kept: bool) -> None:
    holders: list[Any] = []
    outside = kl.constant(1.0)

    @kl.function
    def outer(x: Any) -> Any:
        two = kl.constant(2.0)
        if kept:
            holders.append(two)
        inner = kl.function(lambda z: z * two * kl.constant(3.0))
        found = inner.get_concrete_function(x).captured_inputs
        assert len(found) == 1 and found[0] is two
        return inner(x) + outside

    concrete = outer.get_concrete_function(kl.constant(1.0))
    assert len(concrete.captured_inputs) == 1 and concrete.captured_inputs[0] is outside
    assert concrete(kl.constant(4.0)).item() == 25.0
    # What nothing else holds, but was there before, is given to tapes by what it was taken from.
    holder = [kl.constant(5.0)]
    of_holder = kl.function(lambda x: x * holder.pop())
    assert len(of_holder.get_concrete_function(kl.constant(1.0)).captured_inputs) == 1


def test_tensors_and_variables_are_converted_in_a_trace() -> None:
    v, w = kl.Variable(3.0), kl.Variable([0.0, 0.0])

    @kl.function
    def f(a: Any) -> Any:
        assert kl.as_tensor(a) is a and kl.convert_to_tensor(a, "float32") is a and kl.constant(a) is a
        with pytest.raises(TypeError, match="of dtype float32, not int32: cast it"):
            kl.as_tensor(a, "int32")
        pairs = [kl.as_tensor([a, 1.0]), kl.constant([[a, 1.0], [2, v]]), kl.as_tensor([a, 2], "int32")]
        w.assign([a, a])
        w.assign_add([a, 10])
        w.assign_sub((v, 1.0))
        return [*pairs, kl.as_tensor(v), kl.constant(v), w, kl.constant([a, a], shape=[2, 1])]

    found = [value.tolist() for value in f(kl.constant(2.0))]
    assert found == [[2.0, 1.0], [[2.0, 1.0], [2.0, 3.0]], [2, 2], 3.0, 3.0, [1.0, 11.0], [[2.0], [2.0]]]
    with kl.Graph():
        one = RAW.Neg(x=1.0)
        assert kl.as_tensor(one) is one and kl.as_tensor([one, 2.0]).shape == (2,)
    with kl.GradientTape(persistent=True) as tape:
        y, z = kl.as_tensor(v) * 2.0, kl.as_tensor([v, 1], "float64") * 3.0
    assert tape.gradient(y, v).item() == 2.0 and tape.gradient(z, v).item() == 3.0
    with pytest.raises(ValueError, match="no value before the graph runs"):
        kl.function(lambda x: kl.Variable([x, 1.0]))(kl.constant(1.0))


def test_functions_capture_what_functions_around_them_compute() -> None:
    @kl.function
    def outer(x: Any) -> Any:
        y = x * 2.0

        @kl.function
        def inner(z: Any) -> Any:
            innermost = kl.function(lambda: y + z + x)
            return innermost() * y

        return inner(x), inner(y)

    assert [t.item() for t in outer(kl.constant(3.0))] == [72.0, 90.0]
    x = kl.constant(3.0)
    with kl.GradientTape() as tape:
        tape.watch(x)
        y, z = outer(x)
        both = y + z
    # 2x(2x + x + x) + 2x(2x + 2x + x) = 18x².
    assert tape.gradient(both, x).item() == 108.0


def test_a_function_is_traced_again_where_what_it_captures_is_out_of_scope() -> None:
    kept: list[Any] = []
    inner = kl.function(lambda z: z + kept[-1])

    @kl.function
    def outer(x: Any) -> Any:
        kept.append(x * 10.0)
        return inner(x)

    assert outer(kl.constant(1.0)).item() == 11.0
    assert outer(kl.constant([1.0, 2.0])).tolist() == [11.0, 22.0]
    kept.append(kl.constant(5.0))
    assert inner(kl.constant(1.0)).item() == 6.0


def test_a_trace_takes_the_place_of_another_for_all_calls() -> None:
    one, kept = kl.constant(1.0), [kl.constant(0.0)]
    f = kl.function(lambda x: x + kept[-1])
    with kl.Graph() as graph:
        kept.append(RAW.Neg(x=1.0))
        f(one)
        f(one)
    kept.append(kl.constant(5.0))
    assert f(np.float32(1.0)).item() == 6.0
    with graph:
        found = [f(one), f(np.float32(1.0))]
    assert [t.item() for t in kl.Session(graph).run(found)] == [6.0, 6.0]


def test_what_leaks_from_a_trace_is_refused() -> None:
    leaked: list[Any] = []
    kl.function(leaked.append)(kl.constant(1.0))
    with pytest.raises(TypeError, match="out of scope"):
        leaked[0] + 1.0
    with pytest.raises(TypeError, match="out of scope"):
        kl.function(lambda x: x + leaked[0])(kl.constant(1.0))


def test_tapes_of_what_runs_at_once_refuse_what_functions_compute() -> None:
    x = kl.constant(2.0)
    with kl.GradientTape() as tape:
        tape.watch(x)
        for use in (tape.watch, lambda y: tape.gradient(y, x)):
            with pytest.raises(TypeError, match=r"records what runs at once, and <.*> has no value before its graph runs"):
                kl.function(lambda y, use=use: use(y))(x)


def test_results_of_functions_may_be_of_functions_around() -> None:
    @kl.function
    def outer(x: Any) -> Any:
        return kl.function(lambda: (x, x + 1.0))()

    assert [t.item() for t in outer(kl.constant(1.0))] == [1.0, 2.0]


def test_functions_are_called_in_graphs() -> None:
    w = kl.constant(2.0)
    double = kl.function(lambda x: x + x)
    quadruple = kl.function(lambda x: double(double(x)))
    with kl.Graph() as graph:
        x = graph.placeholder("float32", [])
        y = quadruple(x)
    assert kl.Session(graph).run(y, {x: 3.0}).item() == 12.0
    (slope,) = graph.gradients([y], [x])
    assert kl.Session(graph).run(slope, {x: 3.0}).item() == 4.0
    scaled = kl.function(lambda x: x * w)
    with kl.Graph() as graph:
        x = graph.placeholder("float32", [])
        y = scaled(x)
    assert kl.Session(graph).run(y, {x: 3.0}).item() == 6.0


def test_functions_make_variables_once() -> None:
    class Layer:
        weight: Any = None

        @kl.function
        def __call__(self, x: Any) -> Any:
            if self.weight is None:
                self.weight = kl.Variable(lambda: kl.constant([2.0, 3.0]) * 2.0, name="weight")
            return x * self.weight

    other, layer = Layer(), Layer()
    assert other(kl.constant(2.0)).tolist() == [8.0, 12.0]
    assert layer(kl.constant(1.0)).tolist() == layer(kl.constant(1.0)).tolist() == [4.0, 6.0]
    assert layer(kl.constant([2.0, 1.0])).tolist() == [8.0, 6.0] and layer.weight.numpy().tolist() == [4.0, 6.0]

    kept = []

    @kl.function
    def f(x: Any) -> Any:
        kept.append(kl.Variable(1.0))
        return x + kept[-1]

    assert f(kl.constant(1.0)).item() == 2.0 and f(kl.constant(3.0)).item() == 4.0
    with pytest.raises(ValueError, match="for the first time"):
        f(kl.constant([1.0]))
    with pytest.raises(ValueError, match="no value before the graph runs"):
        kl.function(lambda x: kl.Variable(x))(kl.constant(1.0))
    with kl.Graph():
        assert kl.Variable(1.0).shape == ()


def test_variables_have_their_shapes_in_functions() -> None:
    shapes = []
    w = kl.Variable([[1.0, 2.0]])

    @kl.function
    def f(x: Any) -> Any:
        inner = kl.function(lambda: w * x)
        y = inner()
        shapes.extend([(w + 0.0).shape, y.shape])
        return y

    f(kl.constant([3.0, 4.0]))
    assert shapes == [(1, 2), (1, 2)]


def test_a_variable_stays_for_what_captured_it() -> None:
    variable = kl.Variable([1.0])
    there = weakref.ref(variable)
    function = kl.function(lambda: variable * 2.0)
    assert function().tolist() == [2.0]
    concrete = function.get_concrete_function()
    handle = weakref.ref(variable.handle)
    del variable
    gc.collect()
    assert there() is None and function().tolist() == concrete().tolist() == [2.0]
    del function
    gc.collect()
    assert concrete().tolist() == [2.0]
    del concrete
    gc.collect()
    assert handle() is None
