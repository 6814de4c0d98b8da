"""Concrete functions, which ops take, and signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops


# Concrete functions.


def test_concrete_functions_say_what_they_are() -> None:
    @kl.function
    def f(x: Any, n: float, *, m: int = 3) -> Any:
        return {"a": x * n, "b": (x, None)}

    concrete = f.get_concrete_function(kl.TensorSpec([None], kl.float32), 2.0)
    assert isinstance(concrete, kl.ConcreteFunction) and isinstance(concrete.name, str)
    spec = kl.TensorSpec([None], kl.float32, "x")
    assert concrete.structured_input_signature == ((spec, 2.0), {"m": 3})
    out = kl.TensorSpec([None], kl.float32)
    assert concrete.structured_outputs == {"a": out, "b": (out, None)}
    assert concrete.inputs == [spec] and concrete.outputs == [out, out] and concrete.captured_inputs == []
    assert "TensorSpec(shape=(None,), dtype=float32, name='x'), 2.0, m=3" in repr(concrete)


def test_concrete_functions_are_called_as_the_function_or_with_tensors_alone() -> None:
    f = kl.function(lambda x, n, *, m=3, z: x * n * m + z["q"])
    x, q = kl.constant([1.0, 2.0]), kl.constant(1.0)
    concrete = f.get_concrete_function(kl.TensorSpec([None]), 2.0, z={"q": kl.TensorSpec([])})
    for found in (
        concrete(x, 2.0, m=3, z={"q": q}),
        concrete(x, z={"q": q}),
        concrete(x, q),
        concrete(x, z_q=q),
        concrete(x=x, z_q=q),
        concrete([1, 2], z={"q": 1}),
        concrete(np.array([1, 2], np.float32), q),
    ):
        assert found.tolist() == [7.0, 13.0]
    for args, kwargs, text in (
        ((x, 3.0), {"z": {"q": q}}, "n is 2.0 in this function, not 3.0"),
        ((x,), {}, "missing a required argument: 'z'"),
        ((x, 2.0), {"z": {"p": q}}, "keys 'q'"),
        ((kl.constant([[1.0]]),), {"z": {"q": q}}, r"x: .*\(1, 1\).* does not fit .*\(None,\)"),
        ((kl.constant([1]),), {"z": {"q": q}}, "int32.* does not fit .*float32"),
        ((x, 2.0, 3), {}, "too many positional"),
        ((["a"],), {"z": {"q": q}}, "x: expected TensorSpec"),
    ):
        with pytest.raises(TypeError, match=text):
            concrete(*args, **kwargs)


def test_concrete_functions_of_methods() -> None:
    class Layer:
        def __init__(self, weight: float) -> None:
            self.weight = kl.Variable(weight)

        @kl.function
        def apply(self, x: Any) -> Any:
            """Scales."""
            return x * self.weight

        @kl.function(input_signature=[kl.TensorSpec([None])])
        def add(self, x: Any) -> Any:
            return x + self.weight

    one, other = Layer(2.0), Layer(3.0)
    assert one.apply.__doc__ == "Scales." and one.apply.__self__ is one  # type: ignore[attr-defined]
    concrete = one.apply.get_concrete_function(kl.TensorSpec([]))  # type: ignore[attr-defined]
    assert concrete(kl.constant(4.0)).item() == 8.0 and concrete(one, kl.constant(4.0)).item() == 8.0
    assert concrete.captured_inputs[0] is one.weight.handle
    with pytest.raises(TypeError, match="self is"):
        concrete(other, kl.constant(4.0))
    assert one.add([1.0, 2.0]).tolist() == [3.0, 4.0] and other.add(x=[1.0]).tolist() == [4.0]
    assert one.add.get_concrete_function()(kl.constant([1.0])).tolist() == [3.0]  # type: ignore[attr-defined]


def test_signatures_of_methods_do_not_depend_on_the_names_of_arguments() -> None:
    spec = kl.TensorSpec([None])

    class Layer:
        @kl.function(input_signature=[spec])
        def scale(this, x: Any) -> Any:  # noqa: N805
            return x * this.weight

        @kl.function(input_signature=[spec])
        def shift(layer, x: Any = 7.0) -> Any:  # noqa: N805
            return x + layer.weight

        @staticmethod
        @kl.function(input_signature=[spec])
        def double(x: Any) -> Any:
            return x + x

        weight = 3.0

    layer: Any = Layer()
    assert layer.scale([1, 2]).tolist() == layer.scale(x=[1, 2]).tolist() == [3.0, 6.0]
    assert Layer.scale(layer, [1]).tolist() == layer.scale.get_concrete_function()([1]).tolist() == [3.0]  # type: ignore[call-arg]
    assert layer.shift([1]).tolist() == layer.shift.get_concrete_function()([1]).tolist() == [4.0]
    assert layer.shift.get_concrete_function().inputs[0].shape == (None,)
    assert layer.double([1]).tolist() == Layer.double([1]).tolist() == [2.0]
    with pytest.raises(TypeError, match="missing type constraint for y"):

        class Wrong:
            @kl.function(input_signature=[spec])
            def f(this, x: Any, y: Any) -> Any:  # noqa: N805
                return x

    class NoArgument:
        @kl.function(input_signature=[spec])
        def f(x: Any) -> Any:  # noqa: N805
            return x

    with pytest.raises(TypeError, match="1 specs, and the function 0 arguments"):
        NoArgument().f()


def test_ops_take_concrete_functions_that_capture() -> None:
    limit, step = kl.Variable(5.0), kl.constant(2.0)
    below = kl.function(lambda x: x < limit).get_concrete_function(kl.TensorSpec([]))
    x = kl.constant(1.0)
    call = RAW.StatefulPartitionedCall(args=[x, *below.captured_inputs], Tout=[kl.bool], f=below)
    assert call[0].item() is True
    inputs = [x, limit.handle, step]
    specs = [kl.TensorSpec.from_tensor(value) for value in inputs]
    cond = kl.function(lambda x, handle, step: x < RAW.ReadVariableOp(resource=handle, dtype="float32"))
    body = kl.function(lambda x, handle, step: (x + step, handle, step))
    functions = {"cond": cond.get_concrete_function(*specs), "body": body.get_concrete_function(*specs)}
    assert RAW.While(input=inputs, **functions)[0].item() == 5.0
    then = kl.function(lambda x: x * step).get_concrete_function(x)
    other = kl.function(lambda x: x - step).get_concrete_function(x)
    assert then.captured_inputs[0] is other.captured_inputs[0] is step
    found = RAW.If(cond=True, input=[x, step], Tout=[kl.float32], then_branch=then, else_branch=other)
    assert found[0].item() == 2.0


def test_ops_say_what_functions_that_capture_take() -> None:
    limit = kl.Variable(5.0)
    below = kl.function(lambda x: x < limit).get_concrete_function(kl.TensorSpec([]))
    body = kl.function(lambda x: x + 1.0).get_concrete_function(kl.TensorSpec([]))
    takes = r"cond of While: .* takes 1 of its own arguments and 1 that it captured, and is given 1: .*captured_inputs"
    with pytest.raises(TypeError, match=takes):
        RAW.While(input=[1.0], cond=below, body=body)
    with pytest.raises(TypeError, match=r"f of StatefulPartitionedCall: .*captured_inputs"):
        RAW.StatefulPartitionedCall(args=[1.0], Tout=[kl.bool], f=below)


# Signatures.


def test_one_trace_serves_all_that_fits_a_signature() -> None:
    traces = []

    @kl.function(input_signature=[kl.TensorSpec([None, 2]), {"b": (kl.TensorSpec(None, kl.int32),)}])
    def f(x: Any, y: Any, k: int = 1) -> Any:
        traces.append(x.shape)
        return x * RAW.Cast(x=y["b"][0], DstT="float32") * k

    for rows in (1, 2, 3):
        assert f(np.ones((rows, 2), np.float32), {"b": (rows,)}).tolist() == [[float(rows)] * 2] * rows
    assert f([[1, 2]], y={"b": [[1]]}).tolist() == [[1.0, 2.0]]
    assert traces == [(None, 2)]
    assert f.get_concrete_function().inputs[0].shape == (None, 2)
    good = {"b": (kl.constant(1),)}
    for args, text in (
        ((kl.constant([1.0]), good), r"x: .*shape=\(1,\).* does not fit .*\(None, 2\)"),
        ((kl.constant([[1, 2]]), good), "x: .*int32.* does not fit .*float32"),
        ((kl.constant([[1.0, 2.0]]), [1]), "y: expected a dict"),
        ((kl.constant([[1.0, 2.0]]), {"b": ()}), "expected 1 values"),
        ((kl.constant([[1.0, 2.0]]),), "missing a required argument: 'y'"),
        ((kl.constant([[1.0, 2.0]]), good, 1, 2), "too many positional"),
    ):
        with pytest.raises(TypeError, match=text):
            f(*args)
    with pytest.raises(TypeError, match="missing type constraint for y"):
        kl.function(lambda x, y: x, input_signature=[kl.TensorSpec([])])
    for wrong in (kl.TensorSpec([]), [3]):
        with pytest.raises(TypeError, match="input_signature is"):
            kl.function(lambda x: x, input_signature=wrong)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="2 specs, and the function 1"):
        kl.function(lambda x: x, input_signature=[kl.TensorSpec([])] * 2)


def test_what_fits_a_signature_is_converted() -> None:
    f = kl.function(lambda x: x * 2.0, input_signature=[kl.TensorSpec([None])])
    v = kl.Variable([1.0, 2.0])
    for given in ([1, 2], np.array([1, 2]), np.array([1.0, 2.0]), np.array([1, 2], np.uint8), v, kl.constant([1.0, 2.0])):
        assert f(given).tolist() == [2.0, 4.0]
    assert f([]).shape == (0,)
    whole = kl.function(lambda x: x, input_signature=[kl.TensorSpec([], "int64")])
    assert whole(np.int32(3)).item() == whole(3).item() == 3
    # Arrays are cast, as wherever a dtype is asked for.
    assert whole(np.array(1.5)).item() == 1
    for wrong in (1.5, "a", np.array("a"), kl.constant(1)):
        with pytest.raises(TypeError, match="x: "):
            whole(wrong)
    for call in (f, f.get_concrete_function(), kl.function(lambda x: x * 2.0).get_concrete_function(kl.TensorSpec([2]))):
        with kl.GradientTape() as tape:
            y = call(v)
        assert tape.gradient(y, v).tolist() == [2.0, 2.0]


def test_gradients_flow_through_lists_that_fit_a_signature() -> None:
    f = kl.function(lambda x: x * x, input_signature=[kl.TensorSpec([None])])
    v = kl.Variable(3.0)
    with kl.GradientTape() as tape:
        y = f([v, 1.0])
    assert tape.gradient(y, v).item() == 6.0
    # In a function, too, which has no values yet.
    assert kl.function(lambda x: f([x, 1.0, v]))(kl.constant(2.0)).tolist() == [4.0, 1.0, 9.0]


def test_a_signature_of_any_number_of_arguments() -> None:
    f = kl.function(lambda *values: values[0] + values[1], input_signature=[kl.TensorSpec([])] * 2)
    assert f(1, 2).item() == 3.0
    with pytest.raises(TypeError, match="expected 2 values"):
        f(1)


def test_a_trace_of_unknown_sizes_serves_others() -> None:
    traces = []

    @kl.function
    def f(x: Any) -> Any:
        traces.append(x.shape)
        return x + 1.0

    f.get_concrete_function(kl.TensorSpec([None, 2]))
    f.get_concrete_function(kl.TensorSpec([None, None]))
    assert f(kl.constant([[1.0, 2.0]])).tolist() == [[2.0, 3.0]] and f(kl.constant([[1.0]])).tolist() == [[2.0]]
    assert traces == [(None, 2), (None, None)]
    f(kl.constant(1.0))
    assert traces[2:] == [()]


def test_specs() -> None:
    spec = kl.TensorSpec([None, 2], "int32", "n")
    assert (spec.shape, spec.dtype, spec.name) == ((None, 2), kl.int32, "n")
    assert repr(spec) == "TensorSpec(shape=(None, 2), dtype=int32, name='n')"
    assert kl.TensorSpec([2]) == kl.TensorSpec((2,)) != kl.TensorSpec([3]) and len({spec, spec}) == 1
    assert kl.TensorSpec(None).shape is None and kl.TensorSpec([]).shape == () and kl.TensorSpec(3).shape == (3,)
    assert kl.TensorSpec.from_tensor(kl.constant([1, 2])) == kl.TensorSpec([2], kl.int32)
    x = kl.constant([[1, 2]])
    assert spec.is_compatible_with(x) and kl.TensorSpec(None, "int32").is_compatible_with(x)
    assert not spec.is_compatible_with(kl.constant([1, 2])) and not kl.TensorSpec([None, 2]).is_compatible_with(x)
    assert spec.is_compatible_with(kl.TensorSpec([3, None], "int32"))
    for shape in ("ab", [1.5], 1.5):
        with pytest.raises(TypeError):
            kl.TensorSpec(shape)  # type: ignore[arg-type]


def test_sizes_of_specs_are_checked() -> None:
    assert kl.TensorSpec([None, -1, 0, 3]).shape == (None, None, 0, 3)
    for wrong in ([-2], [2**63], [1, -5]):
        with pytest.raises(ValueError, match="sizes are 0 or more"):
            kl.TensorSpec(wrong)
