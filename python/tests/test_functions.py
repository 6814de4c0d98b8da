"""Functions: their traces, their memory, and when they go."""

from __future__ import annotations

import collections.abc
import functools
import gc
import inspect
import os
import re
import subprocess
import sys
import threading
import time
import types
import weakref
from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops


# Traces.


def test_a_function_is_traced_once_for_each_kind_of_arguments() -> None:
    traces = []

    @kl.function
    def f(a: Any, k: int = 2, *, d: Any) -> Any:
        traces.append(k)
        return {"s": a * k, "t": (d["q"], None)}

    assert f.__name__ == "f"
    for value in (3, 4):
        found = f(kl.constant([1.0, 2.0]), d={"q": kl.constant(value)})
        assert found["s"].tolist() == [2.0, 4.0] and found["t"][0].item() == value and found["t"][1] is None
    assert len(traces) == 1
    f(np.ones(2, np.float32), d={"q": np.int32(4)})
    assert len(traces) == 1
    assert f(kl.constant([1.0]), 3, d={"q": kl.constant(1)})["s"].tolist() == [3.0]
    assert traces == [2, 3]


def test_the_order_of_arguments_by_name_does_not_matter() -> None:
    traces = []

    @kl.function
    def f(x: Any, **others: Any) -> Any:
        traces.append(list(others))
        return x * 100.0 + others["a"] * 10.0 + others["b"]

    one, two, three = (kl.constant(float(number)) for number in (1, 2, 3))
    assert f(one, a=two, b=three).item() == f(one, b=three, a=two).item() == f(a=two, b=three, x=one).item() == 123.0
    concrete = f.get_concrete_function(one, b=two, a=three)
    assert concrete(one, b=three, a=two).item() == concrete(x=one, others_a=two, others_b=three).item() == 123.0
    assert traces == [["a", "b"]]


def test_devices_that_are_asked_for_are_of_the_trace() -> None:
    devices = []

    @kl.function
    def f(x: Any) -> Any:
        y = x + 1.0
        devices.append(y.op.device)
        return y

    x = kl.constant(1.0)
    for _ in range(2):
        with kl.device("cpu"):
            assert f(x).item() == f(x).item() == 2.0
        for _ in range(3):
            # An array is no tensor yet, so that it is looked for in another place.
            assert f(x).item() == f(np.float32(1.0)).item() == 2.0
    assert devices == ["/device:CPU:0", ""]


class Pairs(collections.abc.Mapping):  # type: ignore[type-arg]
    """A mapping that never changes."""

    def __init__(self, pairs: Any) -> None:
        self.own = dict(pairs)

    def __getitem__(self, key: Any) -> Any:
        return self.own[key]

    def __iter__(self) -> Any:
        return iter(self.own)

    def __len__(self) -> int:
        return len(self.own)


def test_dicts_of_all_classes_hold_tensors() -> None:
    one, two = kl.constant(1.0), kl.constant(2.0)
    seen = []

    @kl.function
    def same(d: Any) -> Any:
        seen.append(type(d))
        return d

    grouped = collections.defaultdict(list, {"b": one, "a": two})
    for given in (
        {"b": one, "a": two},
        collections.OrderedDict(b=one, a=two),
        grouped,
        collections.Counter(b=1, a=2),
        Pairs({"b": one, "a": two}),
    ):
        found = same(given)
        assert type(found) is type(given) and list(found) == ["b", "a"]
        assert [found["b"].item(), found["a"].item()] == [1, 2]
        assert seen.pop() is type(given)
        kept = kl.function(lambda given=given: given)()
        assert type(kept) is type(given) and list(kept) == ["b", "a"] and kept["a"].item() == 2
    assert same(grouped)["c"] == []
    concrete = same.get_concrete_function(Pairs({"b": kl.TensorSpec([]), "a": kl.TensorSpec([])}))
    assert concrete(Pairs({"a": two, "b": one}))["b"].item() == concrete(d_a=two, d_b=one)["b"].item() == 1.0
    with pytest.raises(TypeError, match="cannot be made of pairs"):
        same(types.MappingProxyType({"a": one}))
    with pytest.raises(TypeError, match=r"\[1, 'a'\] cannot be"):
        same({1: one, "a": two})


def test_the_order_of_keys_does_not_matter() -> None:
    traces = []

    @kl.function
    def f(d: Any) -> Any:
        traces.append(list(d))
        return d["a"] * 10.0 + d["b"]

    one, two = kl.constant(1.0), kl.constant(2.0)
    assert f({"a": one, "b": two}).item() == f({"b": two, "a": one}).item() == 12.0
    assert traces == [["a", "b"]]
    signed = kl.function(lambda d: d["a"] * 10.0 + d["b"], input_signature=[{"b": kl.TensorSpec([]), "a": kl.TensorSpec([])}])
    concrete = signed.get_concrete_function()
    assert signed({"a": one, "b": two}).item() == concrete({"b": two, "a": one}).item() == concrete(one, two).item() == 12.0


def test_functions_have_effects_in_order() -> None:
    v = kl.Variable(1.0)

    @kl.function
    def f(x: Any) -> Any:
        v.assign_add(x)
        before = v.read_value()
        v.assign(before * 10.0)
        return before, v.read_value()

    assert [t.item() for t in f(kl.constant(2.0))] == [3.0, 30.0]
    assert [t.item() for t in f(kl.constant(1.0))] == [31.0, 310.0]
    assert v.numpy() == 310.0


def test_functions_call_functions_and_give_plain_values() -> None:
    @kl.function
    def inner(x: Any) -> Any:
        return x + 1.0

    @kl.function
    def outer(x: Any) -> Any:
        return inner(inner(x)), 7, "a"

    first, second, third = outer(kl.constant(1.0))
    assert (first.item(), second.item(), third.item()) == (3.0, 7, b"a")

    @kl.function
    def nothing() -> None:
        return None

    assert nothing() is None
    v = kl.Variable(1.0)
    assert kl.function(lambda: [RAW.AssignVariableOp(resource=v.handle, value=2.0), v])()[0] is None and v.numpy() == 2.0
    assert kl.function(functools.partial(lambda x, y: x - y, kl.constant(3.0)))(kl.constant(1.0)).item() == 2.0


def test_a_failing_trace_leaves_nothing_behind() -> None:
    @kl.function
    def f(x: Any) -> Any:
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(kl.constant(1.0))
    assert isinstance(RAW.Neg(x=1.0), kl.Tensor)

    @kl.function
    def g(x: Any) -> Any:
        return RAW.MatMul(a=x, b=x)

    with pytest.raises(kl.errors.InvalidArgumentError):
        g(kl.constant([1.0]))
    assert g(kl.constant([[2.0]])).item() == 4.0


def test_a_function_takes_variables_as_arguments() -> None:
    @kl.function
    def f(v: Any) -> Any:
        return v * 2.0

    # Each is another variable, wherever it lies in memory.
    for number in range(100):
        assert f(kl.Variable(float(number))).item() == 2.0 * number


def test_a_function_takes_values_that_have_no_hash() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __init__(self, number: float) -> None:
            self.number = number

    @kl.function
    def f(x: Any, holder: Unhashable) -> Any:
        return x * holder.number

    for number in range(100):
        assert f(kl.constant(1.0), Unhashable(float(number))).item() == number


def test_zeros_of_either_sign_and_nan_are_other_constants() -> None:
    traces = []

    @kl.function
    def f(x: Any, k: float) -> Any:
        traces.append(k)
        return x / k

    one = kl.constant(1.0)
    assert [f(one, k).item() for k in (0.0, -0.0, 0.0)] == [float("inf"), float("-inf"), float("inf")]
    assert np.isnan([f(one, float("nan")).item() for _ in range(3)]).all()
    assert len(traces) == 3


def test_traces_go_with_the_variables_that_they_are_of() -> None:
    @kl.function
    def f(v: Any) -> Any:
        return v * 2.0

    kept = kl.Variable(1.0)
    for _ in range(10):
        f(kept)
        f(kl.Variable(1.0))
    assert len(f._traces) <= 3


def test_methods_are_functions() -> None:
    class Layer:
        def __init__(self, weight: float) -> None:
            self.weight = kl.Variable(weight)

        @kl.function
        def __call__(self, x: Any) -> Any:
            return x * self.weight

    assert [Layer(w)(kl.constant(2.0)).item() for w in (1.0, 3.0, 5.0)] == [2.0, 6.0, 10.0]
    assert repr(Layer.__call__) == f"<kernlink.Function {Layer.__qualname__}.__call__>"
    assert repr(Layer(1.0).__call__).startswith(f"<kernlink.Function {Layer.__qualname__}.__call__ of <")


def test_methods_are_arguments_of_functions() -> None:
    class Layer:
        def __init__(self, weight: float) -> None:
            self.weight = weight

        @kl.function
        def traced(self, x: Any) -> Any:
            return x * self.weight

        def plain(self, x: Any) -> Any:
            return x * self.weight

    traces = []

    @kl.function
    def apply(function: Any, x: Any) -> Any:
        traces.append(function)
        return function(x)

    one, other, x = Layer(2.0), Layer(3.0), kl.constant(5.0)
    for _ in range(3):
        assert apply(one.traced, x).item() == apply(one.plain, x).item() == 10.0
        assert apply(other.traced, x).item() == apply(other.plain, x).item() == 15.0
    assert len(traces) == 4
    assert one.traced == one.traced != other.traced and hash(one.traced) == hash(one.traced)
    # Traces keep no objects alive.
    gone = weakref.ref(other)
    traces.clear()
    del other
    gc.collect()
    assert gone() is None
    for number in range(20):
        assert apply(Layer(float(number)).traced, x).item() == 5.0 * number
        traces.clear()
    assert len(apply._traces) <= 4


def test_methods_have_the_arguments_of_a_call() -> None:
    class Layer:
        @kl.function
        def scale(self, x: Any, k: float = 3.0) -> Any:
            return x * k

    layer: Any = Layer()
    assert list(inspect.signature(layer.scale).parameters) == ["x", "k"]
    assert kl.function(layer.scale)(kl.constant(2.0)).item() == 6.0


# Memory.


def test_results_have_no_memory_of_arrays() -> None:
    array = np.ones(1000, np.float32)
    v = kl.Variable(np.zeros(1000, np.float32))

    @kl.function
    def same(x: Any) -> Any:
        return x, RAW.Reshape(tensor=x, shape=[10, 100])

    @kl.function
    def keep(x: Any) -> Any:
        v.assign(x)
        return x

    nested = kl.function(lambda x: same(array)[0] + x)
    for recorded in (False, True):
        with kl.GradientTape() as tape:
            if not recorded:
                tape._stop()
            found = [*same(array), keep(array), *same.get_concrete_function(array)(array)]
        assert not any(np.shares_memory(one.numpy(), array) for one in found)
        array[:] = 2.0
        assert v.numpy().tolist() == [1.0] * 1000
        array[:] = 1.0
        assert all(one.numpy().ravel().tolist() == [1.0] * 1000 for one in found)
    zero = kl.constant(0.0)
    assert nested(zero)[0].item() == 1.0
    array[:] = 2.0
    assert nested(zero)[0].item() == 1.0


def test_variables_do_not_share_arrays_while_tapes_record() -> None:
    array = np.ones(1000, np.float32)
    shared = kl.as_tensor(array)
    v = kl.Variable(np.zeros(1000, np.float32))
    with kl.GradientTape() as tape:
        tape.watch(shared)
        v.assign(shared)
        array[:] = 2.0
        assert v.numpy()[0] == 1.0
        y = kl.function(lambda x: (v.assign(x), x * 3.0)[1])(shared)
        array[:] = 4.0
        assert v.numpy()[0] == 2.0
    # A copy is the same tensor to the tape.
    assert tape.gradient(y, shared).tolist() == [3.0] * 1000


# When functions go.


def function_count() -> int:
    return len(kl._kernlink.function_names())


def test_functions_that_nothing_holds_go() -> None:
    v = kl.Variable(1.0)
    kept = kl.function(lambda x: kl.function(lambda y: y * v)(x))
    assert kept(kl.constant(2.0)).item() == 2.0
    gc.collect()
    before = function_count()
    for number in range(150):
        inner = kl.function(lambda x: x * v)
        f = kl.function(lambda x, number=number: inner(x) + number)
        with kl.GradientTape() as tape:
            y = f(kl.constant(1.0))
        assert tape.gradient(y, v).item() == 1.0 and y.item() == 1.0 + number
        del tape
    del f, inner
    gc.collect()
    assert function_count() < before + 300
    assert kept(kl.constant(2.0)).item() == 2.0


def test_traces_of_objects_that_went_go() -> None:
    @kl.function
    def f(v: Any) -> Any:
        return v * 2.0

    gc.collect()
    before = function_count()
    for number in range(300):
        assert f(kl.Variable(float(number))).item() == 2.0 * number
    assert function_count() < before + 250


def test_functions_stay_as_long_as_something_needs_them() -> None:
    v = kl.Variable(3.0)
    with kl.GradientTape(persistent=True) as tape:
        y = kl.function(lambda x: x * v * v)(kl.constant(1.0))
    with kl.GradientTape() as around:
        with kl.GradientTape() as within:
            z = kl.function(lambda x: x * v * v * v)(kl.constant(1.0))
        slope = within.gradient(z, v)
        del within
    outer = kl.function(lambda x: kl.function(lambda y: y * v)(x))
    concrete = outer.get_concrete_function(kl.TensorSpec([]))
    del outer
    graph = kl.Graph()
    with graph:
        z = kl.function(lambda: kl.constant(1.0) + 1.0)()
    for number in range(300):
        kl.function(lambda x, number=number: x + number)(kl.constant(1.0))
    gc.collect()
    assert around.gradient(slope, v).item() == 18.0
    assert tape.gradient(y, v).item() == 6.0 and concrete(kl.constant(2.0)).item() == 6.0
    assert kl.Session(graph).run(z).item() == 2.0


def test_functions_stay_as_long_as_datasets_call_them() -> None:
    element = {"output_types": [kl.int64], "output_shapes": [[]]}
    signature = [kl.TensorSpec([], kl.int64)]

    def mapped() -> Any:
        f = kl.function(lambda x: x + 1, input_signature=signature).get_concrete_function()
        numbers = RAW.RangeDataset(start=0, stop=3, step=1, **element)
        return RAW.MapDataset(input_dataset=numbers, other_arguments=[], f=f, **element)

    def iterator(dataset: Any) -> Any:
        iterator = RAW.AnonymousIteratorV3(**element)
        RAW.MakeIterator(dataset=dataset, iterator=iterator)
        return iterator

    def following(iterator: Any) -> int:
        (value,) = RAW.IteratorGetNext(iterator=iterator, **element)
        return int(value.item())

    gc.collect()
    before = function_count()
    first = mapped()
    begun = iterator(first)
    assert following(begun) == 1
    for _ in range(200):
        assert following(iterator(mapped())) == 1
    gc.collect()
    assert [following(begun), following(begun), following(iterator(first))] == [2, 3, 1]
    assert function_count() < before + 150


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_variables_that_a_forked_child_drops_are_left_alone() -> None:
    script = """
import os
import kernlink as kl
from kernlink import _variable

v = kl.Variable(1.0)
child = os.fork()
if child == 0:
    # What would wait for ever if a thread of the parent was in it.
    _variable.set_trainable = _variable.destroy_resource = lambda *given: os._exit(7)
    del v
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), v.numpy())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "3 1.0\n", ended.stderr


def test_functions_keep_their_state_while_others_go() -> None:
    f = kl.function(lambda: RAW.RandomUniform(shape=[4], dtype="float32", seed=1, seed2=2))
    expected = [f().tolist() for _ in range(2)]
    assert expected[0] != expected[1]
    g = kl.function(lambda: RAW.RandomUniform(shape=[4], dtype="float32", seed=1, seed2=2))
    found = [g().tolist()]
    for number in range(300):
        kl.function(lambda x, number=number: x + number)(kl.constant(1.0))
    gc.collect()
    assert [*found, g().tolist()] == expected


def test_threads_make_functions_that_differentiate() -> None:
    start, failures = threading.Barrier(4), []
    inner = kl.function(lambda x: x * x * x)
    inner(kl.constant(1.0))

    def work(number: int) -> None:
        @kl.function
        def f(x: Any) -> Any:
            with kl.GradientTape() as tape:
                tape.watch(x)
                y = inner(x) * float(number)
            return tape.gradient(y, x)

        start.wait()
        for size in range(1, 6):
            if f(kl.constant([2.0] * size)).tolist() != [12.0 * number] * size:
                failures.append((number, size))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_trace_functions_that_call_each_other() -> None:
    script = """
import threading
import kernlink as kl

met = threading.Barrier(2)

def meet():
    try:
        met.wait(1)
    except threading.BrokenBarrierError:
        pass

@kl.function
def f(x, depth):
    meet()
    return g(x, depth - 1) + 1.0 if depth else x

@kl.function
def g(x, depth):
    meet()
    return f(x, depth - 1) * 2.0 if depth else x

found = {}

def work(function, depth):
    found[depth] = function(kl.constant(1.0), depth).item()

threads = [threading.Thread(target=work, args=given, daemon=True) for given in ((f, 2), (g, 3))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(30)
print(sorted(found.items()))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    # f(x, 2) is 1 + 2x, g(x, 3) twice f(x, 2).
    assert (ended.stdout, ended.stderr) == ("[(2, 3.0), (3, 6.0)]\n", "")


def test_a_trace_may_wait_for_a_thread_that_traces() -> None:
    script = """
import threading
import kernlink as kl

@kl.function
def inner(x):
    return x * 2.0

@kl.function
def outer(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(inner(kl.constant(3.0)).item()), daemon=True)
    thread.start()
    thread.join(60)
    return x + found[0]

print(outer(kl.constant(1.0)).item())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("7.0\n", "")


def test_threads_that_call_a_function_trace_it_once() -> None:
    traces, start, results = [], threading.Barrier(4), []

    @kl.function
    def slow(x: Any) -> Any:
        traces.append(threading.get_ident())
        time.sleep(0.2)
        return x + 1.0

    def work() -> None:
        start.wait()
        results.append(slow(kl.constant(1.0)).item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.0] * 4 and len(traces) == 1


def test_errors_name_types() -> None:
    for work, text in (
        (lambda: kl.constant(object()), "a value of type object cannot be a tensor"),
        (lambda: kl.constant(1.5, "int32"), "a float cannot be of dtype int32"),
        (lambda: kl.GradientTape().watch(1), "not what is of type int"),
        (lambda: kl.function(lambda x: x, input_signature=1), "not of type int"),  # type: ignore[call-overload]
        (lambda: RAW.Pack(values=1), "expected a list of tensors, not the int 1"),
    ):
        with pytest.raises(TypeError, match=text):
            work()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_that_is_forked_while_a_thread_traces_does_not_wait_for_it() -> None:
    script = """
import os, signal, threading
import kernlink as kl

x = kl.constant(1.0)
traces, ends = threading.Event(), threading.Event()

@kl.function
def slow(x):
    traces.set()
    ends.wait()
    return x

thread = threading.Thread(target=slow, args=(x,))
thread.start()
traces.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    try:
        kl.function(lambda x: x + 1.0)(x)
    except RuntimeError as error:
        os._exit(7 if "forked" in str(error) else 8)
    os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ends.set()
thread.join()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "7\n", ended.stderr


def test_names_of_functions_are_of_their_python_functions() -> None:
    @kl.function
    def scaled(x: Any) -> Any:
        return x

    assert re.fullmatch(r"__scaled_\d+", scaled.get_concrete_function(1.0).name)


def test_tensors_are_defaults_of_arguments() -> None:
    @kl.function
    def f(x: Any, y: Any = kl.constant([10.0]), *, z: Any = np.array([100.0], np.float32)) -> Any:
        return x + y + z

    x = kl.constant([1.0])
    for _ in range(3):
        assert f(x).tolist() == [111.0]
        assert f(x, kl.constant([20.0])).tolist() == [121.0]
        assert f(x, z=kl.constant([200.0])).tolist() == [211.0]
        assert f(x=x).tolist() == [111.0]
