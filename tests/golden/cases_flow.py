"""Constants in every encoding, placeholders with defaults, identities and control dependencies."""
import numpy as np

from golden import NUMPY, T, Case, allowed_dtypes, bad, enum, f32, i32, many, one, R, tensor_pb2

EVERY = [d for d in NUMPY]


def proto(dtype, shape, **fields):
    """A TensorProto in one of the typed encodings, as graphs in the wild hold them."""
    p = tensor_pb2.TensorProto(dtype=enum(dtype), **fields)
    p.tensor_shape.SetInParent()
    for n in shape:
        p.tensor_shape.dim.add(size=n)
    return p


def const_case(dtype, tag, value, ok=True):
    case = Case(f"Const/{dtype}/{tag}", fails=not ok)
    case.apply("Const", [], dtype=dtype, value=value)
    return case


ENCODINGS = [
    ("float", "splat", (2, 3), {"float_val": [1.5]}), ("float", "last-repeats", (5,), {"float_val": [1, 2, 3]}),
    ("float", "none-is-zero", (3,), {}), ("float", "full", (2, 2), {"float_val": [1, 2, 3, 4]}), ("float", "scalar", (), {"float_val": [7]}),
    ("float", "empty", (0, 3), {}), ("double", "values", (3,), {"double_val": [1e300, -2]}), ("int32", "values", (3,), {"int_val": [-5, 6]}),
    ("int8", "values", (3,), {"int_val": [-128, 127]}), ("uint8", "values", (3,), {"int_val": [255, 0]}),
    ("int16", "values", (3,), {"int_val": [-32768, 5]}), ("uint16", "values", (2,), {"int_val": [65535]}),
    ("int64", "values", (3,), {"int64_val": [-(2**63), 2**63 - 1]}), ("uint32", "values", (2,), {"uint32_val": [2**32 - 1]}),
    ("uint64", "values", (2,), {"uint64_val": [2**64 - 1]}), ("bool", "values", (3,), {"bool_val": [True, False]}),
    ("bool", "none-is-false", (2,), {}), ("string", "values", (3,), {"string_val": [b"a", b"\xff\x00"]}), ("string", "none-is-empty", (2,), {}),
    ("string", "scalar", (), {"string_val": [b"hello"]}), ("string", "empty", (0,), {}),
    ("half", "values", (3,), {"half_val": [0x3C00, 0xC000]}), ("bfloat16", "values", (3,), {"half_val": [0x3F80, 0xC000]}),
    ("complex64", "values", (3,), {"scomplex_val": [1, 2, 3, -4]}), ("complex128", "values", (2,), {"dcomplex_val": [1, -2]}),
    ("qint8", "values", (3,), {"int_val": [-128, 127]}), ("quint8", "values", (3,), {"int_val": [255, 1]}),
    ("qint32", "values", (2,), {"int_val": [-7]}), ("qint16", "values", (2,), {"int_val": [-7]}), ("quint16", "values", (2,), {"int_val": [65535]}),
    ("float8_e5m2", "values", (3,), {"float8_val": b"\x3c\xbc"}), ("float8_e4m3fn", "values", (3,), {"float8_val": b"\x38\xb8"}),
    ("int4", "values", (3,), {"int_val": [-8, 7]}), ("uint4", "values", (3,), {"int_val": [15, 1]}),
]


def numbers(d, shape=(2, 3)):
    return R(d, shape, 1)


def cases():
    for d in EVERY:
        yield const_case(d, "content", numbers(d))
    for d, tag, shape, fields in ENCODINGS:
        yield const_case(d, tag, proto(d, shape, **fields))
    for shape in ((), (0,), (2, 0), (1,) * 8, (2, 1) * 4):
        yield const_case("float", "shape" + "x".join(map(str, shape)), R("float", shape))
    # one short: the element is missing
    yield const_case("float", "error-content-short", proto("float", (3,), tensor_content=b"\0" * 8), ok=False)
    yield const_case("float", "error-content-long", proto("float", (1,), tensor_content=b"\0" * 8), ok=False)
    yield const_case("float", "too-many", proto("float", (1,), float_val=[1, 2]))
    yield const_case("float", "error-negative-dim", proto("float", (-1,), float_val=[1]), ok=False)
    yield const_case("float", "error-other-dtype", proto("int32", (1,), int_val=[1]), ok=False)

    for op in ("Identity", "StopGradient", "PreventGradient"):
        for d in EVERY:
            if d in allowed_dtypes(op, "T"):
                yield one(op, d, "values", [numbers(d)])
        yield many(op, "float", "shapes", [[R("float", s)] for s in ((), (0,), (1, 2) * 4)])
    for d in EVERY:
        yield one("PlaceholderWithDefault", d, "default", [numbers(d)], dtype=d, shape=(2, 3))
    for tag, shape in (("unknown", None), ("partial", (-1, 3)), ("partial-last", (2, -1))):
        yield one("PlaceholderWithDefault", "float", tag, [numbers("float")], dtype="float", shape=shape)
    yield from bad("PlaceholderWithDefault", "float", "shape", [numbers("float")], dtype="float", shape=(2, 2), runtime=False)
    yield from bad("PlaceholderWithDefault", "float", "rank", [numbers("float")], dtype="float", shape=(2,), runtime=False)

    yield one("IdentityN", "mixed", "values", [[numbers(d) for d in ("float", "int32", "string", "bool", "complex64", "half")]])
    yield one("IdentityN", "float", "single", [[numbers("float")]])
    yield one("IdentityN", "string", "two", [[numbers("string"), R("string", ())]])
    yield one("IdentityN", "int8", "shapes", [[R("int8", s) for s in ((), (0, 2), (1, 2, 1, 2, 1, 2))]])

    case = Case("NoOp/none/control-input")
    first = case.input("x", R("float", (2,)))
    case.node("NoOp", "noop", ["^" + first], {}, test=True)
    case.apply("Identity", [numbers("float")], control=[f"{case.name}/noop"])
    yield case
    case = Case("NoOp/none/control-chain")
    for k in range(4):
        case.node("NoOp", f"noop{k}", [f"^{case.name}/noop{k - 1}"] if k else [], {}, test=True)
    case.apply("AddV2", [numbers("float"), f32(1)], control=[f"{case.name}/noop3", f"{case.name}/noop0"])
    yield case
    case = Case("NoOp/none/error-in-control-input", fails=True)
    case.apply("FloorDiv", [i32([1, 2]), i32([1, 0])], name="fails")
    case.node("NoOp", "noop", [f"^{case.name}/fails"], {})
    case.values = []
    case.apply("Identity", [numbers("float")], control=[f"{case.name}/noop"])
    yield case
    case = Case("Identity/float/one-value-many-uses")
    x = case.apply("Identity", [numbers("float")])
    for k in range(5):
        case.apply("Mul", [(x, "float"), (x, "float")], name=f"square{k}")
    yield case
    case = Case("Split/float/outputs-by-number")
    x = case.apply("Split", [i32(0), R("float", (6, 2))], name="split", num_split=3)
    case.apply("Sub", [(x + ":2", "float"), (x + ":1", "float")], name="difference")
    yield case
    for n in (30, 200):
        case = Case(f"AddV2/float/chain{n}")
        x = case.input("x", f32([0.5, 1.0]))
        y = case.input("y", f32([1.0, -1.0]))
        for k in range(n):
            x = case.apply("AddV2", [(x, "float"), (y, "float")], name=f"n{k}")
        case.values = case.values[-1:]
        yield case
    yield one("Fact", "string", "fact", [])
    for d, value in (("float", f32([1.5, -2])), ("int32", i32(3)), ("string", T("string", np.array([b"a", b""], object))), ("bool", T("bool", [[True], [False]])), ("double", T("double", np.zeros((0, 2))))):
        yield one("HostConst", d, "value", [], value=value, dtype=d)
    for name, types in (("first", ["CPU", "GPU"]), ("second", ["GPU", "CPU"]), ("missing", ["GPU", "TPU"]), ("none", []), ("other-words", ["cpu", "/device:CPU:0"]), ("twice", ["CPU", "CPU"])):
        yield one("DeviceIndex", "int32", name, [], device_names=types)
    for d in ("float", "double", "half", "int32", "string", "bool"):
        given = [numbers(d) if d not in ("string", "bool") else T(d, np.array([b"x", b"yz"], object) if d == "string" else [True, False]) for _ in range(3)]
        yield one("_ListToArray", d, "three", [given], Tin=[d] * 3, T=d, N=3)
        yield one("_ArrayToList", d, "three", [given], T=d, N=3, out_types=[d] * 3)
        yield one("_ListToArray", d, "one", [given[:1]], Tin=[d], T=d, N=1)
