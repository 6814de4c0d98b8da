"""Tapes: what they record, within functions and graphs, too, and what they compute."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops


def values(found: Any) -> Any:
    """Nested gradients as numbers."""
    if isinstance(found, dict):
        return {key: values(item) for key, item in found.items()}
    if isinstance(found, (list, tuple)):
        return type(found)(map(values, found))
    return found.tolist() if isinstance(found, kl.Tensor) else found


def at_once(work: Any) -> Any:
    return values(work())


def traced(work: Any) -> Any:
    return values(kl.function(work)())


def in_a_graph(work: Any) -> Any:
    graph = kl.Graph()
    with graph:
        found = work()
    leaves: list[Any] = []
    structure = kl._structure.flatten(found, leaves)
    return values(kl._structure.rebuild(structure, iter(kl.Session(graph).run(leaves) if leaves else [])))


everywhere = pytest.mark.parametrize("run", [at_once, traced, in_a_graph])


def symbolic(value: Any) -> Any:
    return RAW.Identity(input=value)


@everywhere
def test_gradients(run: Any) -> None:
    def work() -> Any:
        x, unused = symbolic(3.0), symbolic(1.0)
        with kl.GradientTape() as tape:
            tape.watch([x, unused])
            y = x * x + x
        return tape.gradient(y, {"x": x, "unused": unused})

    assert run(work) == {"x": 7.0, "unused": None}


@everywhere
def test_only_what_is_recorded_counts(run: Any) -> None:
    def work() -> Any:
        x = symbolic(3.0)
        before = x * x
        with kl.GradientTape(persistent=True) as tape:
            tape.watch(before)
            y = before * before
            with tape.stop_recording():
                aside = y * y
            z = y + aside
        after = z * 2.0
        return tape.gradient(z, [x, before, y]), tape.gradient(after, before), tape.gradient(before, before)

    assert run(work) == ([None, 18.0, 1.0], None, 1.0)


@everywhere
def test_what_is_watched_late_counts_from_then_on(run: Any) -> None:
    def work() -> Any:
        x = symbolic(3.0)
        with kl.GradientTape(persistent=True) as tape:
            y = x * x
            tape.watch(y)
            z = y * 2.0
        return tape.gradient(z, [x, y])

    assert run(work) == [None, 2.0]


@everywhere
def test_nested_structures(run: Any) -> None:
    def work() -> Any:
        x, y = symbolic(3.0), symbolic(5.0)
        with kl.GradientTape() as tape:
            tape.watch({"a": [x], "b": (y,)})
            target = {"l": (x * x, [x * y])}
        return tape.gradient(target, {"a": [x, (y,)], "b": None})

    assert run(work) == {"a": [11.0, (3.0,)], "b": None}


@everywhere
def test_flows_and_zeros(run: Any) -> None:
    def work() -> Any:
        x, unused = symbolic([1.0, 2.0]), symbolic([[5.0]])
        with kl.GradientTape(persistent=True) as tape:
            tape.watch([x, unused])
            y, z = x * x, x * 3.0
        return (
            tape.gradient([y, z], x),
            tape.gradient(y, x, output_gradients=kl.constant([10.0, 1.0])),
            tape.gradient([y, z], [x], output_gradients=[kl.constant([1.0, 1.0]), kl.constant([0.0, 1.0])]),
            tape.gradient(y, [x, unused], unconnected_gradients="zero"),
        )

    assert run(work) == ([5.0, 7.0], [20.0, 4.0], [[2.0, 7.0]], [[2.0, 4.0], [[0.0]]])


@everywhere
def test_tapes_in_tapes(run: Any) -> None:
    def work() -> Any:
        x = symbolic(3.0)
        with kl.GradientTape() as third:
            third.watch(x)
            with kl.GradientTape() as second:
                second.watch(x)
                with kl.GradientTape() as first:
                    first.watch(x)
                    y = x * x * x
                a = first.gradient(y, x)
            b = second.gradient(a, x)
        return a, b, third.gradient(b, x)

    assert run(work) == (27.0, 18.0, 6.0)


@everywhere
def test_a_tape_that_is_persistent_records_its_own_gradients(run: Any) -> None:
    square = kl.function(lambda x: x * x)

    def work() -> Any:
        x = symbolic(3.0)
        with kl.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * square(x)
            first = tape.gradient(y, x)
            with tape.stop_recording():
                aside = tape.gradient(y, x)
            second = tape.gradient(first, x)
        return first, tape.gradient(first, x), tape.gradient(second, x), tape.gradient(aside, x), tape.gradient(y, x)

    assert run(work) == (27.0, 18.0, 6.0, None, 27.0)


@everywhere
def test_jacobians(run: Any) -> None:
    def work() -> Any:
        x, unused = symbolic([1.0, 2.0]), symbolic(1.0)
        with kl.GradientTape() as tape:
            tape.watch([x, unused])
            y = RAW.Pack(values=[x * x, x * 3.0])
        found = tape.jacobian(y, {"x": x, "u": unused}, unconnected_gradients="zero")
        with kl.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = RAW.GatherV2(params=x, indices=[1, 1, 0], axis=0)
        return found, tape.jacobian(y, x), tape.jacobian(y, unused)

    zeros = [0.0, 0.0]
    assert run(work) == (
        {"x": [[[2.0, 0.0], [0.0, 4.0]], [[3.0, 0.0], [0.0, 3.0]]], "u": [zeros, zeros]},
        [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]],
        None,
    )


@everywhere
def test_batch_jacobians(run: Any) -> None:
    def work() -> Any:
        x = symbolic([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.batch_jacobian(y, x)

    assert run(work) == [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]], [[10.0, 0.0], [0.0, 12.0]]]


@pytest.mark.parametrize("run", [at_once, traced])
def test_variables_that_are_not_trained_are_not_watched(run: Any) -> None:
    trained, fixed = kl.Variable(2.0), kl.Variable(5.0, trainable=False)
    square = kl.function(lambda: trained * fixed * fixed)

    def work() -> Any:
        with kl.GradientTape() as one:
            y = trained * fixed
        with kl.GradientTape() as other:
            other.watch(fixed)
            z = trained * fixed
        with kl.GradientTape(watch_accessed_variables=False) as third:
            third.watch(fixed)
            a = trained * fixed
        with kl.GradientTape() as fourth:
            b = square()
        variables = [trained, fixed]
        assert one.watched_variables() == (trained,)
        assert set(other.watched_variables()) == {trained, fixed} and third.watched_variables() == (fixed,)
        assert fourth.watched_variables() == (trained,)
        found = [tape.gradient(loss, variables) for tape, loss in ((one, y), (other, z), (third, a), (fourth, b))]
        assert one.watched_variables() == (trained,) and set(other.watched_variables()) == {trained, fixed}
        return found

    assert trained.trainable and not fixed.trainable
    assert run(work) == [[5.0, None], [5.0, 2.0], [None, 2.0], [25.0, None]]
    with pytest.raises(AttributeError):
        fixed.trainable = True  # type: ignore[misc]


def test_a_variable_that_is_only_assigned_is_not_watched() -> None:
    v, w = kl.Variable(1.0), kl.Variable(1.0)
    with kl.GradientTape() as tape:
        v.assign(w * 2.0)
    assert tape.watched_variables() == (w,)


def test_a_step_of_training_is_a_function() -> None:
    w, b, steps = kl.Variable([[0.0], [0.0]]), kl.Variable([0.0]), kl.Variable(0, trainable=False)

    @kl.function
    def model(x: Any) -> Any:
        return x @ w + b

    @kl.function
    def step(x: Any, y: Any) -> Any:
        steps.assign_add(1)
        with kl.GradientTape() as tape:
            off = model(x) - y
            loss = RAW.Mean(input=off * off, axis=[0, 1])
        variables = tape.watched_variables()
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            assert gradient.shape == variable.shape
            variable.assign_sub(0.3 * gradient)
        return loss

    def step_at_once(x: Any, y: Any) -> Any:
        return step.python_function(x, y)

    random = np.random.default_rng(1)
    x = random.normal(size=(64, 2)).astype(np.float32)
    y = x @ np.array([[2.0], [-3.0]], np.float32) + 0.5
    first = [step(x, y).item() for _ in range(5)]
    for variable, value in ((w, [[0.0], [0.0]]), (b, [0.0])):
        variable.assign(value)
    assert np.allclose([step_at_once(x, y).item() for _ in range(5)], first, rtol=1e-4)
    losses = [step(x, y).item() for _ in range(100)]
    assert losses[-1] < 1e-8 and np.allclose(w.numpy(), [[2.0], [-3.0]], atol=1e-3) and steps.numpy() == 110


def test_functions_within_traced_functions_under_tapes() -> None:
    v = kl.Variable(3.0)
    cube = kl.function(lambda x: x * x * x * v)

    @kl.function
    def slopes(x: Any) -> Any:
        with kl.GradientTape() as outer:
            outer.watch(x)
            with kl.GradientTape() as inner:
                inner.watch(x)
                y = cube(x) + cube(x * 2.0)
            (dx, dv) = inner.gradient(y, [x, v])
        return dx, dv, outer.gradient(dx, x)

    x = kl.constant(2.0)
    # y = 9x³v.
    assert values(slopes(x)) == (324.0, 72.0, 324.0)
    with kl.GradientTape() as tape:
        tape.watch(x)
        dx, _, _ = slopes(x)
    assert tape.gradient(dx, [x, v])[0].item() == 324.0
    # What was differentiated in a trace can be differentiated in another.
    again = kl.function(lambda x: slopes(x)[0] + cube(x))
    assert again(x).item() == 348.0 and slopes(kl.constant([2.0]))[0].tolist() == [324.0]


def test_gradients_of_one_function_for_tapes_and_in_functions() -> None:
    v = kl.Variable(2.0)
    f = kl.function(lambda x: kl.function(lambda x: x * v)(x) * x)

    @kl.function
    def g(x: Any) -> Any:
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, v])

    x = kl.constant(3.0)
    # What each asks of the function's gradient is another function.
    for _ in range(2):
        with kl.GradientTape() as tape:
            y = f(x)
        assert tape.gradient(y, v).item() == 9.0 and values(g(x)) == [12.0, 9.0]
        with kl.GradientTape() as tape:
            tape.watch(x)
            (dx, dv) = g(x)
        assert tape.gradient([dx, dv], [x, v])[0].item() == 10.0


def test_gradients_of_rows_in_functions() -> None:
    table = kl.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))

    @kl.function
    def f() -> Any:
        with kl.GradientTape() as tape:
            rows = RAW.ResourceGather(resource=table.handle, indices=[2, 0, 2], dtype="float32")
            loss = RAW.Sum(input=rows * rows, axis=[0, 1])
        return tape.gradient(loss, table)

    slices = f()
    assert isinstance(slices, kl.IndexedSlices)
    assert slices.indices.tolist() == [2, 0, 2] and slices.values.tolist() == [[8.0, 10.0], [0.0, 2.0], [8.0, 10.0]]


def test_tensors_that_are_closed_over_are_watched_in_functions() -> None:
    c = kl.constant(3.0)

    @kl.function
    def f() -> Any:
        with kl.GradientTape() as tape:
            tape.watch(c)
            y = c * c
        return tape.gradient(y, c)

    assert f().item() == 6.0


def test_rows_of_tensors_that_are_closed_over_have_gradients_in_functions() -> None:
    c = kl.constant([3.0, 5.0])

    @kl.function
    def f() -> Any:
        with kl.GradientTape(persistent=True) as tape:
            tape.watch(c)
            y = c[0] * c[-1]
            z = kl.constant(0.0)
            for row in c:
                z = z + row * row
        return tape.gradient(y, c), tape.gradient(z, c)

    assert values(f()) == ([5.0, 3.0], [6.0, 10.0])
    g = kl.function(lambda: c[0] * sum(row * row for row in c))
    assert g().item() == 102.0
    with kl.GradientTape() as tape:
        tape.watch(c)
        y = g()
    assert tape.gradient(y, c).tolist() == [34.0 + 18.0, 30.0]
    # At once, they are there.
    assert [row.item() for row in c] == [3.0, 5.0]


def test_a_tape_computes_once_unless_it_is_persistent() -> None:
    x = kl.constant(3.0)

    def work() -> Any:
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.jacobian(y, x)
        with pytest.raises(RuntimeError, match="persistent"):
            tape.gradient(y, x)
        with pytest.raises(RuntimeError, match="persistent"):
            tape.batch_jacobian(RAW.Reshape(tensor=y, shape=[1]), RAW.Reshape(tensor=x, shape=[1]))
        tape.reset()
        with tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    assert at_once(work) == traced(work) == 6.0


def test_a_gradient_ends_the_recording_of_a_tape_that_is_not_persistent() -> None:
    x = kl.constant(3.0)
    with kl.GradientTape() as outer:
        outer.watch(x)
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
            slope = tape.gradient(y, x)
        with pytest.raises(ValueError, match="not recording"), tape.stop_recording():
            pass
    assert slope.item() == 27.0 and outer.gradient(slope, x).item() == 18.0


def test_a_tape_that_pauses_keeps_its_place() -> None:
    x = kl.constant(2.0)
    with kl.GradientTape() as outer:
        outer.watch(x)
        with kl.GradientTape() as inner:
            inner.watch(x)
            with outer.stop_recording(), inner.stop_recording():
                x * x
            y = x * x * x
        slope = inner.gradient(y, x)
    assert slope.item() == 12.0 and outer.gradient(slope, x).item() == 12.0


def test_tapes_say_what_is_wrong() -> None:
    x = kl.constant(3.0)
    tape = kl.GradientTape()
    with pytest.raises(ValueError, match="'none' or 'zero'"):
        tape.gradient(x, x, unconnected_gradients="some")
    with pytest.raises(TypeError, match="None"):
        tape.gradient(None, x)
    with pytest.raises(TypeError, match="float"):
        tape.gradient(x, [x, 1.0])
    with pytest.raises(ValueError, match="2 tensors flow back to 1"):
        tape.gradient(x, x, output_gradients=[x, x])
    with pytest.raises(ValueError, match="as many rows"):
        tape.batch_jacobian(x, x)

    @kl.function(input_signature=[kl.TensorSpec([None])])
    def f(x: Any) -> Any:
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x)

    with pytest.raises(ValueError, match="must be known"):
        f(kl.constant([1.0]))


def test_a_persistent_tape() -> None:
    x = kl.constant([1.0, 2.0])
    with kl.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, x * 3.0
    assert tape.gradient(y, x).tolist() == [2.0, 4.0]
    assert tape.gradient(z, [x])[0].tolist() == [3.0, 3.0]
    assert tape.gradient([y, z], x).tolist() == [5.0, 7.0]
    assert tape.gradient(y, x, output_gradients=kl.constant([10.0, 1.0])).tolist() == [20.0, 4.0]
    tape.reset()
    assert tape.gradient(y, x) is None


def test_variables_are_recorded() -> None:
    v = kl.Variable([1.0, 2.0])
    with kl.GradientTape() as tape:
        loss = RAW.Sum(input=v * v, axis=[0])
    gradient = tape.gradient(loss, v)
    assert gradient.tolist() == [2.0, 4.0]
    v.assign_sub(gradient * 0.5)
    assert v.numpy().tolist() == [0.0, 0.0]


def test_rows_have_gradients_of_rows() -> None:
    table = kl.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    with kl.GradientTape() as tape:
        rows = RAW.ResourceGather(resource=table.handle, indices=[2, 0, 2], dtype="float32")
        loss = RAW.Sum(input=rows * rows, axis=[0, 1])
    slices = tape.gradient(loss, table)
    assert isinstance(slices, kl.IndexedSlices)
    assert slices.indices.tolist() == [2, 0, 2] and slices.dense_shape.tolist() == [3, 2]
    assert slices.values.tolist() == [[8.0, 10.0], [0.0, 2.0], [8.0, 10.0]]


def test_gradients_through_functions() -> None:
    v = kl.Variable(3.0)

    @kl.function
    def f(x: Any) -> Any:
        return x * v * x

    x = kl.constant(2.0)
    for _ in range(2):
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert {k: g.item() for k, g in tape.gradient(y, {"x": x, "v": v}).items()} == {"x": 12.0, "v": 4.0}


def test_tapes_record_their_own_thread_only() -> None:
    x, found = kl.constant(2.0), []

    def other() -> None:
        with kl.GradientTape() as tape:
            tape.watch(x)
            y = x * 5.0
        found.append(tape.gradient(y, x).item())

    with kl.GradientTape() as tape:
        tape.watch(x)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        y = x * x
    assert tape.gradient(y, x).item() == 4.0 and found == [5.0]


def test_threads_that_watch_one_tensor_mean_the_same() -> None:
    found: list[Any] = []

    def work(x: Any) -> None:
        with kl.GradientTape() as tape:
            barrier.wait(10)
            tape.watch(x)
            y = x * x
        found.append(values(tape.gradient(y, x)))

    barrier = threading.Barrier(4)
    for _ in range(100):
        threads = [threading.Thread(target=work, args=(x,)) for x in [kl.constant(3.0)] for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [6.0] * 400


def test_a_tape_ends_on_whatever_thread_it_is_ended() -> None:
    def elsewhere(work: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments)
        thread.start()
        thread.join()

    x = kl.constant(3.0)
    tape = kl.GradientTape(persistent=True)
    with kl.GradientTape() as outer:
        outer.watch(x)
        tape.__enter__()
        tape.watch(x)
        before = x * x
        elsewhere(tape.__exit__)
        after = x * x
        with tape:
            again = x * x
        elsewhere(tape.__enter__)
        last = x * x
        tape.__exit__()
    assert values([tape.gradient(y, x) for y in (before, after, again, last)]) == [6.0, None, 6.0, None]
    assert outer.gradient(after, x).item() == 6.0
    # What ends elsewhere leaves ops as they are.
    tape.__enter__()
    elsewhere(tape.__exit__)
    assert (x * x).item() == 9.0


def test_tapes_refuse_what_they_do_not_know() -> None:
    with kl.GradientTape() as tape, pytest.raises(RuntimeError, match="records already"):
        tape.__enter__()
    with pytest.raises(TypeError, match="watched"):
        kl.GradientTape().watch(1.0)
    with pytest.raises(TypeError):
        kl.GradientTape().gradient(1.0, kl.constant(1.0))
