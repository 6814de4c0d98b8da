"""Steps of optimisers, on variables of both kinds, dense and sparse."""
import numpy as np

from cases_state import Steps, failing
from golden import R, T, Tensor, dtypes, i32, i64, op_def_registry

SCALARS = {"lr": 0.1, "alpha": 0.3, "rho": 0.9, "epsilon": 0.01, "momentum": 0.8, "l1": 0.02, "l2": 0.05, "l2_shrinkage": 0.03,
           "lr_power": -0.5, "beta1_power": 0.7, "beta2_power": 0.9, "beta1": 0.8, "beta2": 0.95, "beta": 0.9, "sign_decay": 0.6,
           "logbase": 1.5}
# What holds sums and averages of squares, never negative.
SQUARES = ("accum", "accum_update", "ms", "v", "vhat", "gradient_squared_accumulator")
TOLERANCE = {"float": (2e-6, 2e-7), "double": (1e-12, 1e-13), "half": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2),
             "complex64": (1e-5, 2e-6), "complex128": (1e-12, 1e-13)}
DENSE = ["GradientDescent", "ProximalGradientDescent", "Momentum", "KerasMomentum", "Adagrad", "AdagradV2", "AdagradDA", "ProximalAdagrad",
         "Adam", "AdamWithAmsgrad", "AdaMax", "Adadelta", "RMSProp", "CenteredRMSProp", "Ftrl", "FtrlV2", "AddSign", "PowerSign"]
FORMS = [("ref", "Apply"), ("resource", "ResourceApply"), ("ref", "SparseApply"), ("resource", "ResourceSparseApply")]


def exists(op):
    return op_def_registry.get(op) is not None


def first_value(op, name, d, shape):
    """What a variable of a step begins with."""
    values = R(d, shape, name, scale=0.5).array
    if name in SQUARES and not (op.endswith("Momentum")):
        values = (np.abs(values.astype(np.float64)) + 0.5 if not np.iscomplexobj(values) else values * values + 1.5).astype(values.dtype)
    if name == "mg":
        values = (values * 0.1).astype(values.dtype)
    return Tensor(d, values)


def step(s, op, variables, d, gradient, indices=None, scalars=SCALARS, dynamic=None, **attrs):
    """Adds a step; `variables` are the edges by name."""
    inputs = []
    for arg in op_def_registry.get(op).input_arg:
        if arg.name in variables:
            inputs.append(variables[arg.name])
        elif arg.name in ("grad", "delta"):
            inputs.append(gradient)
        elif arg.name == "indices":
            inputs.append(indices)
        elif arg.name == "global_step":
            inputs.append(i64(3))
        else:
            inputs.append(T(d, scalars[arg.name]))
    s.run(op, inputs, dynamic=dynamic, **attrs)


def variables_of(op):
    return [a.name for a in op_def_registry.get(op).input_arg if a.is_ref or a.type == 20]


def started(s, kind, op, d, shape, prefix=""):
    return {name: s.variable(kind, first_value(op, name, d, shape), prefix + name) for name in variables_of(op)}


def both(base, d, tag, shape=(3, 2), indices=((2, 0, 2),), dense=True, sparse=True, tolerance=None, **attrs):
    """A case of steps in all the forms that an optimiser has; the sparse ones once for each entry of `indices`."""
    s = Steps(f"{base}/{d}/{tag}", tolerance or TOLERANCE[d])
    for kind, form in FORMS:
        op, is_sparse = form + base, "Sparse" in form
        if not exists(op) or d not in dtypes(op) or not (sparse if is_sparse else dense):
            continue
        if kind == "ref" and d not in ("float", "half"):
            continue  # the same loops as on resource variables
        variables = started(s, kind, op, d, shape, form)
        for k, rows in enumerate(indices):
            index = (i32, i64)[k % 2](rows)
            own = (index.array.size, *shape[1:]) if is_sparse else shape
            step(s, op, variables, d, R(d, own, k), index, **attrs)
        for v in variables.values():
            s.read(v)
    return s.done()


def steps_of_all():
    for base in DENSE:
        for d in dtypes("ResourceApply" + base):
            yield both(base, d, "steps", indices=((2, 0, 2), (1,)) if d == "float" else ((2, 0, 2),))


def forms():
    for op, attrs in (("Momentum", {"use_nesterov": True}), ("KerasMomentum", {"use_nesterov": True}), ("Adam", {"use_nesterov": True}),
                      ("Adagrad", {"update_slots": False}), ("AdagradV2", {"update_slots": False}),
                      ("Ftrl", {"multiply_linear_by_lr": True}), ("FtrlV2", {"multiply_linear_by_lr": True})):
        yield both(op, "float", next(iter(attrs)).replace("_", "-"), **attrs)
    for op in ("Ftrl", "FtrlV2"):
        # The vector code of TensorFlow's power is not exact, and differences of powers are small.
        yield both(op, "float", "power", scalars={**SCALARS, "lr_power": -0.7}, tolerance=(2e-5, 2e-6))
        yield both(op, "double", "power", scalars={**SCALARS, "lr_power": -0.7}, tolerance=(1e-11, 1e-12))
        yield both(op, "float", "power0", scalars={**SCALARS, "lr_power": 0.0})
    for op in ("ProximalGradientDescent", "ProximalAdagrad", "AdagradDA"):
        yield both(op, "float", "no-l1", scalars={**SCALARS, "l1": 0.0})
    for base in ("GradientDescent", "Momentum", "Adam", "RMSProp", "Ftrl"):
        yield both(base, "float", "scalar", (), sparse=False)
        yield both(base, "float", "empty", (0, 3), sparse=False)
        yield both(base, "float", "wide", (33,), sparse=False)
    for base in DENSE:
        if exists("ResourceSparseApply" + base):
            yield both(base, "float", "vector", (4,), ((3, 0, 3),), dense=False)
            yield both(base, "float", "no-rows", (4, 2), ((),), dense=False)
            yield both(base, "float", "rank3", (4, 2, 3), ((3, 1),), dense=False)


def errors():
    for kind, form in FORMS:
        for base in ("GradientDescent", "Momentum"):
            op = form + base
            if not exists(op):
                continue
            sparse = "Sparse" in form
            rows = i32([0, 1]) if sparse else None
            good = R("float", (2, 2) if sparse else (3, 2))

            def shape(s):
                step(s, op, started(s, kind, op, "float", (3, 2)), "float", R("float", (2, 3)), rows)
            yield from failing(op, "float", "gradient-shape", shape)

            def scalar(s):
                scalars = {name: [value] for name, value in SCALARS.items()}
                step(s, op, started(s, kind, op, "float", (3, 2)), "float", good, rows, scalars=scalars)
            yield from failing(op, "float", "no-scalar", scalar)

            def missing(s):
                make = (lambda name: s.reference("float", (3, 2), name)) if kind == "ref" else (lambda name: s.handle("float", (3, 2), name))
                step(s, op, {name: make(name) for name in variables_of(op)}, "float", good, rows)
            yield from failing(op, "float", "uninitialized", missing, runtime=False)
            if len(variables_of(op)) > 1:
                def others(s):
                    variables = started(s, kind, op, "float", (3, 2))
                    name = variables_of(op)[1]
                    variables[name] = s.variable(kind, R("float", (2, 2)), "other")
                    step(s, op, variables, "float", good, rows)
                yield from failing(op, "float", "variable-shape", others, runtime=kind == "resource")
            if sparse:
                for tag, indices, gradient in (("range", [0, 3], (2, 2)), ("negative", [-1, 0], (2, 2)), ("count", [0], (2, 2)),
                                               ("matrix", [[0, 1]], (2, 2))):
                    def bad(s, indices=indices, gradient=gradient):
                        step(s, op, started(s, kind, op, "float", (3, 2)), "float", R("float", gradient), i32(indices))
                    yield from failing(op, "float", tag, bad)

                def vector(s):
                    step(s, op, started(s, kind, op, "float", ()), "float", R("float", (2,)), rows)
                yield from failing(op, "float", "scalar-variable", vector, runtime=kind == "resource")

    def hollow(s):
        op = "ResourceSparseApplyProximalAdagrad"
        step(s, op, started(s, "resource", op, "float", (3, 0)), "float", R("float", (2, 0)), i32([0, 1]))
    yield from failing("ResourceSparseApplyProximalAdagrad", "float", "no-elements", hollow)


def cases():
    yield from steps_of_all()
    yield from forms()
    yield from errors()
