"""Lists, maps and optionals: values of dtype variant, so that every case is a chain of nodes."""
import numpy as np

from golden import Case, R, T, f32, i32, i64

DTYPES = ["bfloat16", "bool", "complex128", "complex64", "double", "float", "half", "int16", "int32", "int64", "int8",
          "qint16", "qint32", "qint8", "quint16", "quint8", "string", "uint16", "uint32", "uint64", "uint8"]
SOME = ["bool", "complex128", "float", "int8", "qint16", "string"]
NUMBERS = ["bfloat16", "complex128", "complex64", "double", "float", "half", "int16", "int32", "int64", "int8", "uint16",
           "uint32", "uint64", "uint8"]


class Chain:
    """A case of several nodes; `do` adds one and returns its name, `see` makes its outputs values under test."""

    def __init__(self, name, fails=False, tolerance=None):
        self.case, self.count = Case(name, tolerance, fails=fails), 0

    def do(self, op, *inputs, keep=(), control=(), dynamic=False, **attrs):
        self.count += 1
        pairs = [(i, "variant") if isinstance(i, str) else i for i in inputs]
        return self.case.apply(op, pairs, name=f"n{self.count}", keep=list(keep), control=control, dynamic=dynamic, **attrs)

    def see(self, op, *inputs, keep=None, **attrs):
        self.count += 1
        pairs = [(i, "variant") if isinstance(i, str) else i for i in inputs]
        return self.case.apply(op, pairs, name=f"n{self.count}", keep=keep, **attrs)


def chain(op, dtype, tag, fails=False):
    return Chain(f"{op}/{dtype}/{'error-' if fails else ''}{tag}", fails)


def bad(op, tag, build):
    c = chain(op, "float", tag, fails=True)
    build(c)
    return c.case


def lists(dtype):
    c = chain("TensorListFromTensor", dtype, "stack")
    a = c.do("TensorListFromTensor", R(dtype, (4, 2)), i32([2]))
    c.see("TensorListStack", a, i32([-1]), element_dtype=dtype)
    c.see("TensorListStack", a, i32(-1), element_dtype=dtype, num_elements=4)
    c.see("TensorListLength", a)
    c.see("TensorListElementShape", a, shape_type="int32")
    yield c.case

    c = chain("TensorListGetItem", dtype, "set-and-unset")
    a = c.do("TensorListReserve", i32([3]), i32(4), element_dtype=dtype)
    b = c.do("TensorListSetItem", a, i32(2), R(dtype, (3,)), element_dtype=dtype)
    for index in range(4):
        c.see("TensorListGetItem", b, i32(index), i32([3]), element_dtype=dtype)
    c.see("TensorListStack", a, i32([3]), element_dtype=dtype)
    c.see("TensorListStack", b, i32([-1]), element_dtype=dtype)
    c.see("TensorListGather", b, i32([2, 0, 2]), i32([3]), element_dtype=dtype)
    for indices in (1, [[0, 1], [2, 0]], [[]]):
        c.see("TensorListGather", b, i32(indices), i32([3]), element_dtype=dtype)
    yield c.case

    c = chain("TensorListGetItem", dtype, "vector-runtime")
    a = c.do("TensorListFromTensor", R(dtype, (4, 2)), i32([2]))
    c.see("TensorListGetItem", a, i32([3]), i32([2]), element_dtype=dtype, dynamic=True)
    yield c.case

    c = chain("TensorListPushBack", dtype, "pop")
    a = c.do("EmptyTensorList", i32([-1]), i32(-1), element_dtype=dtype)
    for k in range(3):
        a = c.do("TensorListPushBack", a, R(dtype, (2,), k))
    b = c.see("TensorListPopBack", a, i32([-1]), element_dtype=dtype, keep=[1])
    c.see("TensorListStack", b, i32([-1]), element_dtype=dtype)
    c.see("TensorListStack", a, i32([-1]), element_dtype=dtype)
    yield c.case

    c = chain("TensorListSplit", dtype, "concat")
    a = c.do("TensorListSplit", R(dtype, (6, 2)), i32([-1, 2]), i64([1, 3, 0, 2]))
    c.see("TensorListConcat", a, element_dtype=dtype)
    c.see("TensorListConcatV2", a, i32([-1, 2]), i64([]), element_dtype=dtype)
    c.see("TensorListGetItem", a, i32(1), i32(-1), element_dtype=dtype)
    yield c.case


def more_lists(dtype):
    c = chain("TensorListScatter", dtype, "into")
    a = c.do("TensorListScatter", R(dtype, (3, 2)), i32([4, 0, 2]), i32([2]))
    c.see("TensorListStack", a, i32([2]), element_dtype=dtype)
    b = c.do("TensorListScatterV2", R(dtype, (2, 2)), i32([1, 3]), i32([2]), i32(6))
    c.see("TensorListStack", b, i32([2]), element_dtype=dtype)
    e = c.do("TensorListScatter", R(dtype, (2, 2)), i32([[1, 3]]), i32([2]), dynamic=True)
    c.see("TensorListStack", e, i32([2]), element_dtype=dtype)
    d = c.do("TensorListScatterIntoExistingList", b, R(dtype, (2, 2), 3), i32([0, 1]))
    c.see("TensorListStack", d, i32([2]), element_dtype=dtype)
    c.see("TensorListStack", b, i32([2]), element_dtype=dtype)
    yield c.case

    c = chain("TensorListPushBackBatch", dtype, "two")
    a = c.do("EmptyTensorList", i32([2]), i32(-1), element_dtype=dtype)
    b = c.do("TensorListFromTensor", R(dtype, (2, 2)), i32([2]))
    packed = c.do("Pack", [(a, "variant"), (b, "variant")])
    pushed = c.do("TensorListPushBackBatch", packed, R(dtype, (2, 2), 5))
    one, two = c.do("Unpack", pushed, num=2), None
    two = one + ":1"
    c.see("TensorListStack", one, i32([2]), element_dtype=dtype)
    c.see("TensorListStack", two, i32([2]), element_dtype=dtype)
    joined = c.do("TensorListConcatLists", one, two, element_dtype=dtype)
    c.see("TensorListStack", joined, i32([2]), element_dtype=dtype)
    yield c.case


def failing():
    def reserve(c, shape=(2,), n=3, dtype="float"):
        return c.do("TensorListReserve", i32(list(shape)), i32(n), element_dtype=dtype)

    yield bad("TensorListReserve", "negative", lambda c: c.see("TensorListLength", reserve(c, n=-1)))
    yield bad("TensorListReserve", "vector-size", lambda c: c.see("TensorListLength", c.do(
        "TensorListReserve", i32([2]), i32([1, 2]), element_dtype="float")))
    yield bad("TensorListReserve", "scalar-shape", lambda c: c.see("TensorListLength", c.do(
        "TensorListReserve", i32(3), i32(1), element_dtype="float", dynamic=True)))
    yield bad("EmptyTensorList", "vector-max", lambda c: c.see("TensorListLength", c.do(
        "EmptyTensorList", i32([2]), i32([1]), element_dtype="float")))
    yield bad("TensorListPushBack", "full", lambda c: c.see("TensorListLength", c.do("TensorListPushBack", c.do(
        "EmptyTensorList", i32([2]), i32(0), element_dtype="float"), f32([1, 2]))))
    for tag, value in (("shape", f32([1, 2, 3])), ("dtype", i32([1, 2]))):
        yield bad("TensorListPushBack", tag, lambda c: c.see("TensorListLength", c.do("TensorListPushBack", c.do(
            "EmptyTensorList", i32([2]), i32(-1), element_dtype="float", dynamic=True), value)))
        yield bad("TensorListSetItem", tag, lambda c: c.see("TensorListLength", c.do(
            "TensorListSetItem", reserve(c), i32(1), value)))
    for tag, index in (("negative", -1), ("beyond", 3), ("far", 2**31 - 1)):
        yield bad("TensorListSetItem", tag, lambda c: c.see("TensorListLength", c.do(
            "TensorListSetItem", reserve(c), i32(index), f32([1, 2]))))
        yield bad("TensorListGetItem", tag, lambda c: c.see("TensorListGetItem", reserve(c), i32(index), i32([2]), element_dtype="float"))
        yield bad("TensorListGather", tag, lambda c: c.see("TensorListGather", reserve(c), i32([0, index]), i32([2]), element_dtype="float"))
    yield bad("TensorListGetItem", "dtype", lambda c: c.see("TensorListGetItem", reserve(c), i32(0), i32([2]), element_dtype="int32"))
    yield bad("TensorListGetItem", "unknown-shape", lambda c: c.see("TensorListGetItem", reserve(c, (-1,)), i32(0), i32([-1]), element_dtype="float"))
    yield bad("TensorListGetItem", "other-shape", lambda c: c.see("TensorListGetItem", reserve(c), i32(0), i32([3]), element_dtype="float"))
    yield bad("TensorListPopBack", "empty", lambda c: c.see("TensorListPopBack", reserve(c, n=0), i32([2]), element_dtype="float", keep=[1]))
    yield bad("TensorListPopBack", "unknown-shape", lambda c: c.see("TensorListPopBack", reserve(c, (-1,)), i32([-1]), element_dtype="float", keep=[1]))
    yield bad("TensorListStack", "count", lambda c: c.see("TensorListStack", reserve(c), i32([2]), element_dtype="float", num_elements=2))
    yield bad("TensorListStack", "dtype", lambda c: c.see("TensorListStack", reserve(c), i32([2]), element_dtype="double"))
    yield bad("TensorListStack", "unknown-shape", lambda c: c.see("TensorListStack", reserve(c, (-1,)), i32([-1]), element_dtype="float"))
    yield bad("TensorListStack", "empty-unknown-shape", lambda c: c.see("TensorListStack", reserve(c, (-1,), 0), i32([-1]), element_dtype="float"))
    yield bad("TensorListGather", "none-unknown-shape", lambda c: c.see("TensorListGather", reserve(c, (-1,)), i32([]), i32([-1]), element_dtype="float"))
    yield bad("TensorListStack", "not-a-list", lambda c: c.see("TensorListStack", c.do("OptionalNone"), i32([-1]), element_dtype="float"))

    def uneven(c):
        a = c.do("TensorListSetItem", reserve(c, (-1,), 2), i32(0), f32([1]))
        return c.do("TensorListSetItem", a, i32(1), f32([1, 2]))

    yield bad("TensorListStack", "uneven", lambda c: c.see("TensorListStack", uneven(c), i32([-1]), element_dtype="float"))
    yield bad("TensorListFromTensor", "scalar", lambda c: c.see("TensorListLength", c.do("TensorListFromTensor", f32(1), i32(-1))))
    yield bad("TensorListFromTensor", "scalar-runtime", lambda c: c.see("TensorListLength", c.do("TensorListFromTensor", f32(1), i32(-1), dynamic=True)))
    yield bad("TensorListFromTensor", "shape", lambda c: c.see("TensorListLength", c.do("TensorListFromTensor", f32([[1, 2]]), i32([3]), dynamic=True)))
    yield bad("TensorListResize", "negative", lambda c: c.see("TensorListLength", c.do("TensorListResize", reserve(c), i32(-1))))
    for tag, tensor, indices in (("negative", f32([[1, 2]]), [-1]), ("rows", f32([[1, 2]]), [0, 1]), ("scalar", f32(1), [0]),
                                 ("matrix", f32([[1, 2]]), [[0]]), ("shape", f32([[1, 2, 3]]), [0])):
        if tag != "matrix":
            yield bad("TensorListScatter", tag, lambda c: c.see("TensorListLength", c.do(
                "TensorListScatter", tensor, i32(indices), i32([2]), dynamic=True)))
        if tag not in ("negative", "shape"):  # what TensorFlow does not check
            yield bad("TensorListScatterIntoExistingList", tag, lambda c: c.see("TensorListLength", c.do(
                "TensorListScatterIntoExistingList", reserve(c), tensor, i32(indices), dynamic=True)))
    yield bad("TensorListScatterV2", "beyond", lambda c: c.see("TensorListLength", c.do(
        "TensorListScatterV2", f32([[1, 2]]), i32([3]), i32([2]), i32(3))))
    yield bad("TensorListScatterV2", "count", lambda c: c.see("TensorListLength", c.do(
        "TensorListScatterV2", f32([[1, 2]]), i32([0]), i32([2]), i32(-2))))
    for tag, lengths in (("short", [1, 2]), ("long", [3, 2]), ("negative", [5, -1]), ("matrix", [[4]])):
        yield bad("TensorListSplit", tag, lambda c: c.see("TensorListLength", c.do(
            "TensorListSplit", R("float", (4, 2)), i32([-1, 2]), i64(lengths), dynamic=True)))
    yield bad("TensorListSplit", "scalar-elements", lambda c: c.see("TensorListLength", c.do(
        "TensorListSplit", R("float", (4, 2)), i32([]), i64([4]), dynamic=True)))
    yield bad("TensorListConcat", "scalars", lambda c: c.see("TensorListConcat", c.do("TensorListFromTensor", f32([1, 2]), i32(-1)), element_dtype="float"))
    yield bad("TensorListConcat", "empty", lambda c: c.see("TensorListConcat", reserve(c, (-1, -1), 0), element_dtype="float"))
    yield bad("TensorListConcat", "unset", lambda c: c.see("TensorListConcat", reserve(c, (-1, 2)), element_dtype="float"))
    yield bad("TensorListConcatV2", "unset", lambda c: c.see("TensorListConcatV2", reserve(c, (-1, 2)), i32([-1, 2]), i64([1, 2]), element_dtype="float"))
    yield bad("TensorListConcatV2", "first", lambda c: c.see("TensorListConcatV2", c.do(
        "TensorListSplit", R("float", (4, 2)), i32([-1, 2]), i64([1, 3])), i32([2, 2]), i64([]), element_dtype="float"))
    yield bad("TensorListConcatLists", "dtype", lambda c: c.see("TensorListLength", c.do(
        "TensorListConcatLists", reserve(c), reserve(c, dtype="int32"), element_dtype="float")))
    yield bad("TensorListConcatLists", "shape", lambda c: c.see("TensorListLength", c.do(
        "TensorListConcatLists", reserve(c), reserve(c, (3,)), element_dtype="float")))
    yield bad("TensorListConcatLists", "not-lists", lambda c: c.see("TensorListLength", c.do(
        "TensorListConcatLists", c.do("OptionalNone"), c.do("OptionalNone"), element_dtype="float")))
    yield bad("AddN", "list-lengths", lambda c: c.see("TensorListLength", c.do("AddN", [(reserve(c), "variant"), (reserve(c, n=2), "variant")])))
    yield bad("AddN", "optionals", lambda c: c.see("OptionalHasValue", c.do("AddN", [
        (c.do("OptionalNone"), "variant"), (c.do("OptionalFromValue", [f32(1)]), "variant")])))
    yield bad("OptionalGetValue", "none", lambda c: c.see("OptionalGetValue", c.do("OptionalNone"), output_types=["float"], output_shapes=[()]))
    yield bad("OptionalGetValue", "dtype", lambda c: c.see("OptionalGetValue", c.do("OptionalFromValue", [i32(1)]), output_types=["float"], output_shapes=[()]))
    yield bad("OptionalGetValue", "shape", lambda c: c.see("OptionalGetValue", c.do("OptionalFromValue", [f32([1])]), output_types=["float"], output_shapes=[(2,)]))
    yield bad("OptionalGetValue", "count", lambda c: c.see("OptionalGetValue", c.do("OptionalFromValue", [f32([1])]), output_types=["float"] * 2, output_shapes=[(1,)] * 2))
    yield bad("OptionalHasValue", "list", lambda c: c.see("OptionalHasValue", reserve(c)))
    yield bad("TensorMapLookup", "missing", lambda c: c.see("TensorMapLookup", c.do("EmptyTensorMap"), i32(1), value_dtype="float"))
    yield bad("TensorMapErase", "missing", lambda c: c.see("TensorMapSize", c.do("TensorMapErase", c.do("EmptyTensorMap"), i32(1), value_dtype="float")))
    yield bad("TensorMapStackKeys", "empty", lambda c: c.see("TensorMapStackKeys", c.do("EmptyTensorMap"), key_dtype="float"))
    yield bad("TensorMapSize", "list", lambda c: c.see("TensorMapSize", reserve(c)))


def others():
    c = chain("EmptyTensorList", "float", "shapes")
    for shape in ((), (2, -1), (-1, -1, -1)):
        for kind in (i32, i64):
            a = c.do("EmptyTensorList", kind(list(shape)), i32(5), element_dtype="float")
            c.see("TensorListElementShape", a, shape_type="int32")
            c.see("TensorListElementShape", a, shape_type="int64")
    a = c.do("EmptyTensorList", i64(-1), i32(5), element_dtype="float")
    c.see("TensorListElementShape", a, shape_type="int64")
    yield c.case

    c = chain("TensorListStack", "float", "empty")
    a = c.do("TensorListReserve", i32([2, 3]), i32(0), element_dtype="float")
    c.see("TensorListStack", a, i32([-1, -1]), element_dtype="float")
    c.see("TensorListGather", a, i32([]), i32([2, -1]), element_dtype="float")
    b = c.do("TensorListReserve", i32([0]), i32(3), element_dtype="float")
    c.see("TensorListStack", b, i32([0]), element_dtype="float")
    yield c.case

    c = chain("TensorListStack", "float", "learns-shape")
    a = c.do("TensorListReserve", i32(-1), i32(3), element_dtype="float")
    a = c.do("TensorListSetItem", a, i32(1), R("float", (2, 2)))
    c.see("TensorListStack", a, i32(-1), element_dtype="float")
    c.see("TensorListGetItem", a, i32(0), i32(-1), element_dtype="float")
    c.see("TensorListGetItem", a, i32(2), i64([2, 2]), element_dtype="float")
    yield c.case

    c = chain("TensorListSetItem", "float", "grows")
    a = c.do("TensorListReserve", i32([1]), i32(1), element_dtype="float")
    a = c.do("TensorListSetItem", a, i32(4), f32([7]), resize_if_index_out_of_bounds=True)
    c.see("TensorListStack", a, i32([1]), element_dtype="float")
    a = c.do("TensorListSetItem", a, i32(0), f32([8]), resize_if_index_out_of_bounds=True)
    c.see("TensorListStack", a, i32([1]), element_dtype="float")
    yield c.case

    c = chain("TensorListResize", "float", "both")
    a = c.do("TensorListFromTensor", f32([1, 2, 3]), i32([]))
    for size in (0, 2, 3, 5):
        b = c.do("TensorListResize", a, i32(size))
        c.see("TensorListStack", b, i32([]), element_dtype="float")
        c.see("TensorListLength", b)
    c.see("TensorListStack", a, i32([]), element_dtype="float")
    yield c.case

    c = chain("TensorListConcatV2", "float", "unset")
    a = c.do("TensorListReserve", i32([-1, 2]), i32(3), element_dtype="float")
    a = c.do("TensorListSetItem", a, i32(1), R("float", (2, 2)))
    c.see("TensorListConcatV2", a, i32([-1, 2]), i64([1, 9, 3]), element_dtype="float")
    c.see("TensorListConcatV2", a, i32([2, 2]), i64([]), element_dtype="float")
    c.see("TensorListConcatV2", a, i32([-1, 2]), i64([0]), element_dtype="float")
    c.see("TensorListConcat", a, element_dtype="float")
    b = c.do("TensorListReserve", i32([3, 2]), i32(2), element_dtype="float")
    c.see("TensorListConcatV2", b, i32([-1, 2]), i64([]), element_dtype="float")
    d = c.do("TensorListReserve", i32([-1, 2]), i32(0), element_dtype="float")
    c.see("TensorListConcatV2", d, i32([-1, 2]), i64([]), element_dtype="float")
    yield c.case

    c = chain("TensorListPopBack", "float", "unset")
    a = c.do("TensorListReserve", i32([2]), i32(2), element_dtype="float")
    b = c.see("TensorListPopBack", a, i32([-1]), element_dtype="float", keep=[1])
    c.see("TensorListLength", b)
    yield c.case

    for dtype in NUMBERS:
        c = Chain(f"AddN/variant/lists-{dtype}")
        a = c.do("TensorListFromTensor", R(dtype, (2, 2), ints=3), i32([2]))
        b = c.do("TensorListFromTensor", R(dtype, (2, 2), 1, ints=3), i32([-1]))
        a, b = (c.do("TensorListResize", x, i32(n)) for x, n in ((a, 3), (b, 3)))
        b = c.do("TensorListSetItem", b, i32(2), R(dtype, (2,), ints=3))
        total = c.do("AddN", [(a, "variant"), (b, "variant"), (a, "variant")])
        c.see("TensorListStack", total, i32([2]), element_dtype=dtype)
        c.see("TensorListElementShape", total, shape_type="int32")
        zeros = c.do("ZerosLike", total)
        c.see("TensorListStack", zeros, i32([2]), element_dtype=dtype)
        yield c.case

    c = Chain("ZerosLike/variant/nested")
    inner = c.do("TensorListFromTensor", f32([1, 2]), i32([]))
    outer = c.do("EmptyTensorList", i32([]), i32(-1), element_dtype="variant")
    outer = c.do("TensorListPushBack", outer, (inner, "variant"))
    outer = c.do("TensorListPushBack", outer, (inner, "variant"))
    for value in (outer, c.do("ZerosLike", outer), c.do("AddN", [(outer, "variant"), (outer, "variant")])):
        item = c.do("TensorListGetItem", value, i32(1), i32([]), element_dtype="variant")
        c.see("TensorListStack", item, i32([]), element_dtype="float")
    stacked = c.do("TensorListStack", outer, i32([]), element_dtype="variant")
    item = c.do("Unpack", stacked, num=2)
    c.see("TensorListStack", item, i32([]), element_dtype="float")
    yield c.case

    c = Chain("OptionalFromValue/mixed/values")
    a = c.do("OptionalFromValue", [f32([1, 2]), i32(3), T("string", ["x"])])
    c.see("OptionalHasValue", a)
    c.see("OptionalGetValue", a, output_types=["float", "int32", "string"], output_shapes=[(-1,), (), None])
    none = c.do("OptionalNone")
    c.see("OptionalHasValue", none)
    c.see("OptionalHasValue", c.do("ZerosLike", none))
    zeros = c.do("ZerosLike", c.do("OptionalFromValue", [f32([1, 2]), i32(3)]))
    c.see("OptionalGetValue", zeros, output_types=["float", "int32"], output_shapes=[(2,), ()])
    b = c.do("OptionalFromValue", [f32([1, 2]), i32(3)])
    total = c.do("AddN", [(b, "variant"), (b, "variant")])
    c.see("OptionalGetValue", total, output_types=["float", "int32"], output_shapes=[(2,), ()])
    yield c.case

    for dtype, keys in (("int32", [i32(k) for k in range(3)]), ("string", [T("string", k) for k in "abc"]),
                        ("float", [f32([k, 1]) for k in range(3)]), ("int64", [i64(k) for k in range(3)])):
        c = chain("TensorMapInsert", dtype, "map")
        m = c.do("EmptyTensorMap")
        for k, key in enumerate(keys):
            m = c.do("TensorMapInsert", m, key, f32([k, k + 1]))
        again = c.do("TensorMapInsert", m, keys[1], f32(9))
        for key in keys:
            c.see("TensorMapLookup", m, key, value_dtype="float")
            c.see("TensorMapLookup", again, key, value_dtype="float")
            c.see("TensorMapHasKey", m, key)
        less = c.do("TensorMapErase", m, keys[0], value_dtype="float")
        for value in (m, again, less, c.do("EmptyTensorMap"), c.do("ZerosLike", less)):
            c.see("TensorMapSize", value)
        c.see("TensorMapHasKey", less, keys[0])
        single = c.do("TensorMapInsert", c.do("EmptyTensorMap"), keys[2], f32(9))
        c.see("TensorMapStackKeys", single, key_dtype=dtype)
        yield c.case


def composites():
    """Composite tensors; classes of types are those of messages: field 1 of `TypeSpecProto`, which is field 1."""
    first, to = "CompositeTensorVariantFromComponents", "CompositeTensorVariantToComponents"
    ragged = b"\n\x02\x08\x03"
    sorts = {"none": b"", "ragged": ragged, "sparse": b"\n\x02\x08\x01", "extension": b"\n\x12\x08\x0c\x1a\x0eregistered.Name"}
    for name, metadata in sorts.items():
        for types in ([], ["float"], ["int32", "string"], ["double", "bool", "int64", "float"]):
            c = Chain(f"{first}/{'-'.join(types)}/{name}")
            parts = [(f32([1, 2]) if d in ("float",) else T(d, np.array([b"a"], object) if d == "string" else [[1], [0]])) for d in types]
            value = c.do(first, parts, metadata=metadata, Tcomponents=types)
            if types:
                c.see(to, value, metadata=metadata, Tcomponents=types)
            yield c.case
    make = lambda c, metadata=b"": c.do(first, [f32([1]), i32(2)], metadata=metadata, Tcomponents=["float", "int32"])
    good = ["float", "int32"]
    yield bad(to, "class", lambda c: c.see(to, make(c), metadata=ragged, Tcomponents=good))
    yield bad(to, "other-class", lambda c: c.see(to, make(c, ragged), metadata=b"", Tcomponents=good))
    yield bad(to, "count", lambda c: c.see(to, make(c), metadata=b"", Tcomponents=["float"]))
    yield bad(to, "dtype", lambda c: c.see(to, make(c), metadata=b"", Tcomponents=["float", "float"]))
    yield bad(to, "metadata", lambda c: c.see(to, make(c), metadata=b"\xff\xff", Tcomponents=good))
    yield bad(to, "no-composite", lambda c: c.see(to, c.do("OptionalNone"), metadata=b"", Tcomponents=good))
    yield bad(first, "metadata", lambda c: c.see(to, make(c, b"\n\x05"), metadata=b"", Tcomponents=good))


def cases():
    for dtype in DTYPES:
        yield from lists(dtype)
    for dtype in SOME:
        yield from more_lists(dtype)
    c = chain("EmptyTensorList", "float", "no-limit")
    c.see("TensorListLength", c.do("TensorListPushBack", c.do("EmptyTensorList", i32([2]), i32(-2), element_dtype="float"), f32([1, 2])))
    yield c.case
    yield from others()
    yield from failing()
    yield from composites()
