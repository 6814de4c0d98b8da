"""Writes cases.pb.gz: nodes of every declared op with random inputs, and what TensorFlow infers of their outputs.

A GraphDef, compressed. A case is a node with an attr `_shapes`, what TensorFlow made of it in a graph with its inputs, or `_error`
if TensorFlow refused it. Inputs are Placeholders, whose shapes are known in part, Consts, and small graphs that make a
shape of another tensor's; what several cases need stands there once. Needs TensorFlow.

    python tests/shapes/generate.py                           # the checked-in file
    python tests/shapes/generate.py --seed 7 --each 150 --out /tmp/many.pb.gz
    KERNLINK_SHAPES=/tmp/many.pb.gz cargo test --test oracle shapes
"""
import argparse
import gzip
import importlib.util
import os
import pathlib
import pickle
import re
import struct

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, op_def_pb2, tensor_pb2  # noqa: E402
from tensorflow.python.client import pywrap_tf_session as tf_session  # noqa: E402
from tensorflow.python.framework import ops as tf_ops  # noqa: E402

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ONE = load(ROOT / "ops/tests/data/shapes.py")
P, K, R = ONE.P, ONE.K, ONE.R
OPS = dict(ONE.OPS)
MORE = re.findall(r"^pub(?:\(crate\))? struct (\w+);", (ROOT / "tests/oracle/shapes/more_ops.rs").read_text(encoding="utf-8"), re.MULTILINE)
ALL = op_def_pb2.OpList.FromString(tf_session.TF_GetBuffer(tf_session.TF_GetAllOpList()))
OPS.update((op.name, op) for op in ALL.op if op.name in MORE)
ONE.OPS.update(OPS)
MAKERS = dict(ONE.CASES)
COMMON = ["float32", "int32", "int64", "bool", "string", "float64", "complex64", "float16", "uint8"]


def case(*names):
    def add(make):
        for name in names:
            MAKERS[name] = make
        return make
    return add


def some_shape():
    return ONE.shape(0, 1, 1, 2, 2, 3, 4)


def some_attr(attr, inferred):
    """A value of an attr, or None for its default."""
    kind = attr.type
    if attr.HasField("default_value") and R.random() < 0.6 and attr.name not in inferred:
        return None
    low = attr.minimum if attr.has_minimum else 0
    count = R.choice([low, low, low + 1, low + 2]) if kind.startswith("list(") else 0
    types = [tf.as_dtype(t).name for t in attr.allowed_values.list.type] or COMMON
    shape = lambda: tf.TensorShape(some_shape()).as_proto()  # noqa: E731
    value = attr_value_pb2.AttrValue()
    if kind == "type":
        value.type = tf.as_dtype(R.choice(types)).as_datatype_enum
    elif kind == "list(type)":
        value.list.type.extend(tf.as_dtype(R.choice(types)).as_datatype_enum for _ in range(count))
    elif kind == "int":
        value.i = R.choice([low, low + 1, low + 2, 1, 2]) if not attr.has_minimum else low + R.randint(0, 2)
        if attr.name in inferred:
            value.i = max(low, R.choice([1, 2, 3]))
    elif kind == "list(int)":
        value.list.i.extend(R.randint(-1, 3) for _ in range(count))
    elif kind == "bool":
        value.b = R.random() < 0.5
    elif kind == "float":
        value.f = R.choice([0.5, 1.0])
    elif kind == "string":
        value.s = R.choice(list(attr.allowed_values.list.s) or [b"x"])
    elif kind == "list(string)":
        value.list.s.extend(R.choice(list(attr.allowed_values.list.s) or [b"BiasAdd", b"Sum"]) for _ in range(count))
    elif kind == "list(float)":
        value.list.f.extend([0.5] * count)
    elif kind == "shape":
        value.shape.CopyFrom(shape())
    elif kind == "list(shape)":
        value.list.shape.extend(shape() for _ in range(count))
    elif kind == "func":
        value.func.name = "absent"
    elif kind == "list(func)":
        value.list.func.add(name="absent")
    elif kind == "tensor":
        value.tensor.CopyFrom(some_const(R.choice(["float32", "int32"])))
    else:
        raise ValueError(kind)
    if kind.startswith("list("):
        value.list.SetInParent()
    return value


def some_const(dtype):
    dims = R.choice([[], [], [1], [2], [3], [2, 2], [0]])
    n = tf.TensorShape(dims).num_elements()
    if dtype == "string":
        return tf.make_tensor_proto(["a"] * n, shape=dims)
    if dtype == "bool":
        return tf.make_tensor_proto([R.random() < 0.5 for _ in range(n)], tf.bool, dims)
    low = 0 if dtype.startswith("u") else -1
    return tf.make_tensor_proto([R.randint(low, 4) for _ in range(n)], tf.as_dtype(dtype), dims)


def generic(op):
    """Inputs of the right dtypes and any shape, any attrs."""
    definition = OPS[op]
    args = [*definition.input_arg, *definition.output_arg]
    inferred = {name for a in args for name in (a.number_attr, a.type_attr, a.type_list_attr) if name}
    values = {attr.name: some_attr(attr, inferred) for attr in definition.attr}
    for attr in definition.attr:
        if values[attr.name] is None and attr.name in inferred:
            values[attr.name] = attr.default_value
    if definition.name == "Const":
        values["dtype"] = attr_value_pb2.AttrValue(type=values["value"].tensor.dtype)
    base, vague = some_shape(), R.random() < 0.4
    inputs = []
    for arg in definition.input_arg:
        if arg.type_list_attr:
            types = list(values[arg.type_list_attr].list.type)
        else:
            one = values[arg.type_attr].type if arg.type_attr else arg.type
            types = [one] * (values[arg.number_attr].i if arg.number_attr else 1)
        listed = []
        for number in types:
            dtype = tf.as_dtype(number).base_dtype
            const = dtype.name in COMMON and R.random() < (0.5 if dtype in (tf.int32, tf.int64) else 0.15)
            near = R.random()
            dims = base if near < 0.4 else ONE.twist(base) if near < 0.7 else some_shape()
            if vague:
                # What asks for scalars, vectors and handles lets few other shapes pass.
                dims = R.choice([None, None, None, [], [], [2], [None]])
            if arg.is_ref and R.random() < 0.9:
                known = A(shape=tf.TensorShape(dims).as_proto())
                listed.append(N("VariableV2", [], dtype, dtype=A(type=dtype.as_datatype_enum), shape=known))
            else:
                listed.append(some_const(dtype.name) if const else P(dims, dtype))
        inputs.append(listed if arg.number_attr or arg.type_list_attr else listed[0])
    return inputs, {name: value for name, value in values.items() if value is not None}


class N:
    """A node that makes an input."""

    def __init__(self, op, inputs, out, **attrs):
        self.op, self.inputs, self.dtype, self.attrs = op, inputs, tf.as_dtype(out), attrs


def A(**value):
    return attr_value_pb2.AttrValue(**value)


def variable(dtype="float32", dims=None):
    """A handle of a variable, through some nodes."""
    dims = tf.TensorShape(dims if dims else some_shape()).as_proto()
    handle = N("VarHandleOp", [], "resource", dtype=A(type=tf.as_dtype(dtype).as_datatype_enum), shape=A(shape=dims))
    resource = A(type=tf.resource.as_datatype_enum)
    if R.random() < 0.3:
        handle = N("Identity", [handle], "resource", T=resource)
    if R.random() < 0.2:
        handle = N("Switch", [handle, P([], "bool")], "resource", T=resource)
    return R.choice([handle, handle, handle, handle, P([], "resource")])


def float_or_int():
    return R.choice(["float32", "float32", "float32", "int32"])


@case("ReadVariableOp", "VariableShape")
def read(op):
    return [variable(float_or_int())], {} if op == "VariableShape" else {"dtype": 1}


@case("AssignVariableOp")
def assign(op):
    dims = some_shape()
    return [variable("float32", dims), P(ONE.twist(dims))], {}


@case("ResourceGatherNd")
def resource_gather(op):
    return [variable(float_or_int()), P(ONE.shape(0, 1, 2, 3), "int32")], {"dtype": 1}


def reference(dims=None):
    dims = tf.TensorShape(some_shape() if dims is None else dims).as_proto()
    return N("VariableV2", [], "float32", dtype=A(type=1), shape=A(shape=dims))


@case("RefSwitch", "RefEnter", "RefExit", "RefNextIteration")
def references(op):
    return [reference(), P(R.choice([[], None, [1]]), "bool")][: len(OPS[op].input_arg)], (
        {"frame_name": "f"} if op == "RefEnter" else {})


@case("RefMerge", "RefSelect")
def several_references(op):
    dims = R.choice([[2, 3], [None, 3], []])
    refs = [reference(R.choice([dims, dims, ONE.twist(dims)])) for _ in range(R.randint(1, 3))]
    return [refs] if op == "RefMerge" else [P(R.choice([[], None, [1]]), "int32"), refs], {}


def place(op, dims):
    """A variable of the kind that the op's first input is."""
    known = tf.TensorShape(dims).as_proto()
    return N("VariableV2", [], "float32", dtype=A(type=1), shape=A(shape=known)) if OPS[op].input_arg[0].is_ref else variable(
        "float32", dims)


def likely(shape):
    return P(R.choice([shape] * 5 + [ONE.twist(shape), None]))


@case(*[name for name in OPS if re.match("(Resource)?(Sparse)?Apply", name)])
def step(op):
    """A step of an optimiser."""
    dims = some_shape() or [3, None]
    row = [R.choice([dims[0], 2])] if "Sparse" in op else dims[:1]
    inputs = []
    for arg in OPS[op].input_arg:
        if arg.is_ref or arg.type == tf.resource.as_datatype_enum:
            inputs.append(place(op, R.choice([dims] * 6 + [ONE.twist(dims), None])))
        elif arg.name in ("grad", "delta"):
            inputs.append(likely(row + dims[1:]))
        elif arg.name == "indices":
            inputs.append(P(R.choice([row] * 6 + [[None], [5], [], None]), R.choice(["int32", "int64"])))
        else:
            inputs.append(P(R.choice([[]] * 20 + [None, [1]]), "int64" if arg.name == "global_step" else "float32"))
    return inputs, {}


@case("Assign", "AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
def accumulate(op):
    dims = some_shape()
    return [place(op, dims), likely(dims)], {}


@case("IsVariableInitialized", "CountUpTo", "DestroyTemporaryVariable")
def one_reference(op):
    attrs = {"limit": 3} if op == "CountUpTo" else {"var_name": "v"} if op == "DestroyTemporaryVariable" else {}
    kind = tf.int32 if op == "CountUpTo" else tf.float32
    shape = tf.TensorShape(R.choice([[], [], None, [2, None]])).as_proto()
    return [N("VariableV2", [], kind, dtype=A(type=kind.as_datatype_enum), shape=A(shape=shape))], attrs


@case("ResourceCountUpTo")
def counter(op):
    return [variable(R.choice(["int32", "int32", "int64"]), R.choice([[], [], None, [1]]))], {"limit": 3, "T": 3}


@case(*[name for name in OPS if re.match("(Resource)?Scatter(Update|Add|Sub|Mul|Div|Min|Max)$", name)])
def scatter_rows(op):
    dims, indices = ONE.shape(1, 1, 2, 3), R.choice([[], [2], [None], [2, 3], None])
    updates = None if dims is None or indices is None else indices + dims[1:]
    return [place(op, dims), P(indices, R.choice(["int32", "int64"])), R.choice([likely(updates)] * 4 + [P([])])], {}


@case(*[name for name in OPS if re.match("(Resource)?ScatterNd(Update|Add|Sub|Min|Max)$", name)])
def scatter_slices(op):
    dims, depth = [R.choice([0, 4, 5, None]) for _ in range(R.randint(1, 3))], R.randint(0, 3)
    indices = [R.choice([2, None]), R.choice([depth, depth, None])]
    return [place(op, dims), P(R.choice([indices] * 4 + [[depth], [], None]), "int32"), likely([indices[0], *dims[depth:]])], {}


@case("ResourceGather")
def gather_rows(op):
    return [variable(float_or_int(), ONE.shape(1, 2, 3)), P(ONE.shape(0, 1, 2, 3), "int32")], {
        "dtype": 1, "batch_dims": R.choice([0, 0, 1, 2, -1])}


@case("StridedSliceAssign", "ResourceStridedSliceAssign")
def slice_assign(op):
    ends = [P(R.choice([[2], [None], None]), "int32") for _ in range(3)]
    return [place(op, some_shape()), *ends, P(some_shape())], {}


@case("Einsum")
def einsum(op):
    equation = R.choice(["ab,bc->ac", "ab->ba", "...ab,...bc->...ac", "abc->b", "a...a->...", "ab,ab->", "a,b->ab",
                         "...a->...", "ab,bc", "abc,cd->abz", "a.b->a", "...,...->..."])
    ranks = (0, 1, 2, 2, 3)
    x = ONE.shape(*ranks)
    count = 2 if "," in equation else 1
    return [[P(x), P(R.choice([ONE.twist(x), ONE.shape(*ranks)]))][:count]], {"equation": equation}


def diagonals(dims):
    low = R.randint(-2, 2)
    return ONE.maybe(R.choice([low, [low], [low, low + R.randint(-1, 2)]]), known=0.9)


@case("MatrixDiagPartV3")
def diag_part(op):
    x = ONE.shape(1, 2, 3, 3)
    return [P(x), diagonals(x), P(R.choice([[], [], None, [1]]))], {}


@case("MatrixDiagV3")
def diag(op):
    x = ONE.shape(0, 1, 1, 2, 2)
    sizes = [ONE.maybe(R.choice([-1, -1, 3, 4, 6]), known=0.8) for _ in range(2)]
    return [P(x), diagonals(x), *sizes, P([])], {}


@case("MatrixSetDiagV3")
def set_diag(op):
    x = ONE.shape(1, 2, 3, 3)
    return [P(x), P(R.choice([x and x[:-1], ONE.twist(x), None])), diagonals(x)], {}


def batch(*dims, other=None):
    """Dimensions behind a batch, which is that of another shape or much like it; some are lost."""
    before = R.choice([[], [], [2], [None], [2, 1], [0]]) if other is None else ONE.twist(other[:-2])
    return None if before is None or R.random() < 0.08 else [*before, *(None if R.random() < 0.15 else n for n in dims)]


def size():
    return R.choice([0, 1, 2, 3, 3, 5])


def nearly_square():
    n = size()
    return batch(n, n if R.random() < 0.85 else size())


@case("Cholesky", "CholeskyGrad", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "Lu", "MatrixSquareRoot", "MatrixLogarithm",
      "SelfAdjointEigV2", "Eig")
def of_square(op):
    x, attrs = R.choice([nearly_square(), nearly_square(), nearly_square(), ONE.shape()]), {}
    kind = R.choice(["complex64", "complex128"]) if op == "MatrixLogarithm" else R.choice(["float32", "float64"])
    if op in ("SelfAdjointEigV2", "Eig"):
        attrs["compute_v"] = R.random() < 0.7
    return [P(x, kind), *([P(ONE.twist(x), kind)] if op == "CholeskyGrad" else [])], attrs


@case("Qr", "Svd")
def of_any(op):
    attrs = {"full_matrices": R.random() < 0.5}
    if op == "Svd":
        attrs["compute_uv"] = R.random() < 0.7
    return [P(R.choice([batch(size(), size()), batch(size(), size()), ONE.shape()]))], attrs


@case("MatrixSolve", "MatrixSolveLs", "MatrixTriangularSolve", "BandedTriangularSolve", "TridiagonalSolve")
def equations(op):
    n, attrs = size(), {}
    rows = {"MatrixSolveLs": size(), "BandedTriangularSolve": R.choice([1, 2, 2, size()]), "TridiagonalSolve": R.choice([3, 3, 3, 2])}.get(op, n)
    x = batch(rows, n)
    y = batch(rows if op == "MatrixSolveLs" else n, size(), other=x)
    more = [P(R.choice([[], [], [], None, [1]]), "float64")] if op == "MatrixSolveLs" else []
    return [P(x, "float32"), P(R.choice([y, y, y, ONE.twist(y)]), "float32"), *more], attrs


@case("TridiagonalMatMul")
def tridiagonal(op):
    n = size()
    x = batch(1, n)
    return [P(x), *(P(R.choice([batch(1, n, other=x), x, x])) for _ in range(2)), P(batch(n, size(), other=x))], {}


@case("FFT", "IFFT", "FFT2D", "IFFT2D", "FFT3D", "IFFT3D", "RFFT", "IRFFT", "RFFT2D", "IRFFT2D", "RFFT3D", "IRFFT3D")
def transform(op):
    n = int(op[-2]) if op.endswith("D") else 1
    is_real = op.startswith("RFFT")
    x = P(ONE.shape(n, n, n + 1, n + 2, max(n - 1, 0)), "float32" if is_real else "complex64")
    if "RFFT" not in op:
        return [x], {}
    lengths = [R.choice([0, 1, 2, 5, 6]) for _ in range(R.choice([n, n, n, n + 1]))]
    return [x, ONE.maybe(R.choice([lengths, lengths, lengths, 4]), known=0.7)], {}


@case("UnsortedSegmentSum")
def segments(op):
    x = some_shape()
    ids = R.choice([x and x[:1], x and x[:2], ONE.twist(x), None])
    return [P(x), P(ids, "int32"), ONE.maybe(R.choice([3, 0, -1]))], {}


@case("UnsortedSegmentJoin")
def joined_segments(op):
    dims = some_shape()
    ids = dims[:R.randint(0, len(dims))] if dims is not None and R.random() < 0.8 else some_shape()
    return [P(dims, "string"), P(ids, ONE.index()), ONE.maybe(R.randint(-1, 4), ONE.index())], {"separator": ","}


@case("ReduceJoin")
def joined(op):
    dims = some_shape()
    axes = [ONE.axis(dims) for _ in range(R.randint(0, 2))] if R.random() < 0.7 else ONE.axis(dims)
    return [P(dims, "string"), ONE.maybe(axes)], {"keep_dims": R.random() < 0.5}


@case("DecodePaddedRaw")
def padded(op):
    kind = R.choice(["uint8", "int16", "float32", "int64"])
    return [P(some_shape(), "string"), ONE.maybe(R.choice([8, 16, 4, 3, 0, -8, [8]]))], {"out_type": tf.as_dtype(kind).as_datatype_enum}


@case("Fingerprint")
def fingerprint(op):
    method = K(R.choice(["farmhash64", "farmhash64", "md5", ["farmhash64"]]), "string") if R.random() < 0.7 else P(R.choice([None, [], [1]]), "string")
    return [P(some_shape(), R.choice(COMMON)), method], {}


@case("StringFormat")
def template(op):
    template = R.choice(["%s", "%s %s", "", "a{}b{}c{}", "aaa", "none"])
    placeholder = R.choice(["%s", "{}", "a", ""])
    count = template.count(placeholder) if placeholder else max(len(template) - 1, 0)
    count = max(0, count + R.choice([0, 0, 0, 0, 1, -1]))
    return [[P(some_shape(), R.choice(COMMON)) for _ in range(count)]], {"template": template, "placeholder": placeholder}


@case("Substr")
def substrings(op):
    dims, kind = some_shape(), ONE.index()
    pos = R.choice([[], dims, ONE.twist(dims), some_shape()])
    return [P(dims, "string"), P(pos, kind), P(R.choice([pos, pos, pos, ONE.twist(pos)]), kind)], {}


@case("ScatterNd", "TensorScatterUpdate")
def scatter(op):
    x, depth = [R.choice([0, 4, 5, 6]) for _ in range(R.randint(1, 3))], R.randint(0, 2)
    indices = [R.choice([2, None]), R.choice([depth, None])]
    updates = R.choice([[indices[0], *x[depth:]], ONE.twist(x), None])
    if op == "ScatterNd":
        return [P(indices, "int32"), P(updates), ONE.maybe(x)], {}
    return [P(ONE.twist(x)), P(R.choice([indices, indices, some_shape()]), "int32"), P(updates)], {}


def mostly(value, other):
    """`value`, sometimes something else."""
    return value if R.random() < 0.85 else other()


def sparse(dims, dtype="float32", index="int64"):
    """Indices, values and shape of a sparse tensor with the dense shape `dims`."""
    count = R.choice([None, 0, 2, 3])
    indices = mostly([count, R.choice([len(dims), None])], some_shape)
    return [P(indices, index), P(mostly([count], some_shape), dtype), ONE.maybe(dims, "int64")]


def sizes(low=0, high=3):
    return [R.randint(1, 5) for _ in range(R.randint(low, high))]


@case("SparseReduceSum", "SparseReduceMax")
def sparse_reduce(op):
    axes = ONE.maybe([R.randint(-3, 3) for _ in range(R.randint(0, 2))])
    return [P(None, "int64"), P(None), ONE.maybe(sizes(), "int64"), axes], {"keep_dims": R.random() < 0.5}


@case("SparseReshape")
def sparse_reshape(op):
    indices, _, shape = sparse(sizes())
    return [indices, shape, ONE.maybe(sizes(), "int64")], {}


@case("SparseToDense")
def sparse_to_dense(op):
    kind = ONE.index()
    dims = sizes()
    return [P(some_shape(), kind), ONE.maybe(R.choice([dims, [-1, *dims], [-2, *dims], 3]), kind), P(some_shape()), P(some_shape())], {}


@case("SparseTensorDenseMatMul")
def sparse_matmul(op):
    dims = mostly(sizes(2, 2), sizes)
    b = mostly([R.choice([None, R.randint(1, 5), dims[-1]]) for _ in range(2)] if dims else [2, 2], some_shape)
    return [*sparse(dims), P(b)], {"adjoint_a": R.random() < 0.5, "adjoint_b": R.random() < 0.5}


@case("SparseFillEmptyRows")
def sparse_fill(op):
    return [*sparse(sizes()), P(mostly([], some_shape))], {}


@case("SparseReorder", "SparseSoftmax", "SerializeSparse", "SerializeManySparse")
def one_sparse(op):
    return sparse(sizes()), {}


@case("SparseSlice")
def sparse_slice(op):
    return [*sparse(sizes()), P(some_shape(), "int64"), P(some_shape(), "int64")], {}


@case("SparseSplit")
def sparse_split(op):
    return [P([], "int64"), *sparse(sizes())], {"num_split": R.randint(1, 3)}


@case("SparseConcat")
def sparse_concat(op):
    dims = sizes()
    parts = [sparse(mostly(dims, sizes)) for _ in range(R.randint(2, 3))]
    return [list(column) for column in zip(*parts)], {"concat_dim": R.randint(-1, 1)}


@case("SparseAdd", "SparseSparseMaximum", "SparseSparseMinimum")
def two_sparse(op):
    dims = sizes()
    return [*sparse(dims), *sparse(mostly(dims, sizes)), *([P([])] if op == "SparseAdd" else [])], {}


@case("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv", "SparseTensorDenseAdd")
def sparse_and_dense(op):
    return [*sparse(sizes()), P(some_shape())], {}


@case("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")
def sparse_segments(op):
    ids = mostly([R.choice([None, 3])], some_shape)
    return [P(some_shape()), P(ids, ONE.index()), P(mostly(ids, lambda: ONE.twist(ids)), ONE.index())], {}


@case(*(f"SparseSegment{kind}{form}" for kind in ("Sum", "Mean", "SqrtN") for form in ("WithNumSegments", "Grad", "GradV2")))
def sparse_segments_and_number(op):
    number = ONE.maybe(R.choice([3, 0, -1])) if R.random() < 0.9 else P(some_shape(), "int32")
    return [*sparse_segments(op)[0], number], {}


@case("SparseBincount")
def sparse_bincount(op):
    indices, values, shape = sparse(mostly(sizes(1, 2), sizes), "int32")
    return [indices, values, shape, ONE.maybe(R.choice([3, 0, -1, [3]])), P(some_shape())], {"binary_output": R.random() < 0.5}


@case("DeserializeSparse", "DeserializeManySparse")
def deserialize(op):
    return [P(R.choice([[3], [2, 3], [None, 3], [2, None], some_shape()]), "string")], {"dtype": R.randint(1, 10)}


@case("SetSize")
def set_size(op):
    return sparse(sizes(), "int32"), {}


@case("DenseToDenseSetOperation", "DenseToSparseSetOperation", "SparseToSparseSetOperation")
def sets(op):
    dims = sizes(1, 3)
    other = mostly(dims, sizes)
    first = sparse(dims, "int32") if op.startswith("Sparse") else [P(ONE.twist(dims), "int32")]
    second = [P(ONE.twist(other), "int32")] if op.startswith("DenseToDense") else sparse(other, "int32")
    return [*first, *second], {"set_operation": "union"}


@case("RaggedRange")
def ragged_range(op):
    rows = R.choice([None, 2, 3])
    return [P(mostly(R.choice([[], [rows], [rows], None]), some_shape), "int32") for _ in range(3)], {}


def splits(count):
    return [P(mostly([R.choice([None, 0, 3])], some_shape), "int64") for _ in range(count)]


@case("RaggedGather")
def ragged_gather(op):
    rank, indices = R.randint(1, 2), mostly(R.choice([[2], [], [2, None]]), some_shape)
    output = mostly(rank + len(indices or [1]) - 1, lambda: R.randint(0, 3))
    return [splits(rank), P(some_shape()), P(indices, ONE.index())], {"OUTPUT_RAGGED_RANK": output}


@case("RaggedTensorToSparse")
def ragged_to_sparse(op):
    return [splits(R.randint(1, 3)), P(some_shape())], {}


@case("RaggedTensorToTensor")
def ragged_to_tensor(op):
    kinds = mostly(R.choice([["ROW_SPLITS"], ["ROW_SPLITS"] * 2, ["FIRST_DIM_SIZE", "VALUE_ROWIDS"], ["FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"]]),
                   lambda: R.choices(["ROW_SPLITS", "FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROWS"], k=R.randint(1, 2)))
    parts = [P(mostly([] if kind == "FIRST_DIM_SIZE" else [None], some_shape), "int64") for kind in kinds]
    value = mostly([R.choice([None, 5]), *sizes(0, 2)], some_shape)
    rank = sum(kind != "FIRST_DIM_SIZE" for kind in kinds)
    default = mostly([], lambda: value and value[1:])
    shape = R.choice([-1, -1, 2, [R.choice([-1, 2]) for _ in range(rank + len(value or [1]))], [R.choice([-1, 2])] * rank + [v or -1 for v in value or [1]]])
    return [ONE.maybe(shape, "int64"), P(value), P(default), parts], {"row_partition_types": kinds}


@case("RaggedFillEmptyRows")
def ragged_fill(op):
    count = R.choice([None, 3])
    return [P(mostly([count], some_shape), "int64"), P(mostly([count], some_shape)), P(mostly([], some_shape), "int64"), P(mostly([], some_shape))], {}


@case(*(op for op in OPS if re.search("Random(?!IndexShuffle)|Stateless(Truncated|Multi|Shuffle|Param)|Multinomial|TruncatedNormal|"
                                      "^Stateful(Uniform|Standard|Truncated)|^Rng|NonDeterministic", op)))
def random_numbers(op):
    inputs, attrs = generic(op)
    parameters = [R.choice([1, 2, 3, None]) for _ in range(R.choice([0, 1, 1, 2]))]
    for k, arg in enumerate(OPS[op].input_arg):
        if arg.name == "value" or R.random() < 0.04:
            continue
        dtype = tf.as_dtype(inputs[k].dtype)
        if arg.name == "shape":
            if arg.type_attr == "shape_dtype" and R.random() < 0.95:
                dtype = tf.as_dtype(ONE.index())
                attrs[arg.type_attr] = attr_value_pb2.AttrValue(type=dtype.as_datatype_enum)
            if dtype in (tf.int32, tf.int64):
                inputs[k] = ONE.maybe([R.choice([0, 1, 2, 3, 4, R.randint(-2, 9)]) for _ in range(R.randint(0, 4))], dtype)
        elif arg.name in ("seed", "key", "counter"):
            inputs[k] = P(R.choice([[1 if arg.name == "key" else 2]] * 4 + [[None], None]), dtype)
        elif arg.name == "num_samples":
            inputs[k] = ONE.maybe(R.choice([0, 1, 3, 3, 7, -1]))
        elif arg.name == "logits":
            inputs[k] = P(R.choice([[3, 4], [None, 2], [None, None], None, [5]]), dtype)
        elif arg.name in ("alg", "algorithm", "delta", "minval", "maxval", "resource"):
            inputs[k] = P(R.choice([[], [], [], [], None, [1]]), dtype)
        elif R.random() < 0.9:
            inputs[k] = P(ONE.twist(parameters) if R.random() < 0.5 else parameters, dtype)
    return inputs, attrs


@case("RandomIndexShuffle")
def index_shuffle(op):
    inputs, attrs = generic(op)
    rows = R.choice([[], [3], [1], [None], None])
    for k, arg in enumerate(OPS[op].input_arg):
        near = R.choice([[], rows, rows, None, [2]])
        seed = None if near is None else near + [3]
        if R.random() < 0.9:
            inputs[k] = P(seed if arg.name == "seed" else near, tf.as_dtype(inputs[k].dtype))
    return inputs, attrs


@case("Conv")
def conv(op):
    last = R.random() < 0.6
    volume = R.random() < 0.3
    rank = 5 if volume else 4
    batch = [R.choice([None, 1, 2]) for _ in range(R.choice([1, 1, 1, 0, 2]))]
    depth, groups = R.choice([4, 4, None, 6]), R.choice([1, 1, 1, 2])
    spatial = [R.choice([None, 5, 8]) for _ in range(rank - 2)]
    x = batch + (spatial + [depth] if last else [depth] + spatial)
    kernel = [R.choice([1, 2, 3, None]) for _ in range(rank - 2)] + [R.choice([4, 2, None]), R.choice([2, 4, None])]
    kind = R.choice(["SAME", "VALID", "EXPLICIT"])
    around = ONE.ints(0, 2, 4)
    return [P(x), P(R.choice([kernel] * 8 + [None, kernel[1:]]))], {
        "strides": [R.choice([1, 1, 2]) for _ in range(R.choice([rank] * 9 + [3]))],
        "dilations": R.choice([[], [1] * rank, [R.choice([1, 2]) for _ in range(rank)]]),
        "batch_dims": R.choice([len(batch)] * 9 + [1]), "groups": groups, "padding": kind,
        "data_format": "CHANNELS_LAST" if last else "CHANNELS_FIRST",
        "explicit_paddings": [] if kind != "EXPLICIT" else [0, 0, *around, 0, 0] if last else [0, 0, 0, 0, *around]}


def loosely(dims, wrong=0.05):
    """Placeholder of a shape that is known in part, and now and then of another rank."""
    known = [d if R.random() < 0.8 else None for d in dims]
    return P(R.choice([None, known[1:]]) if R.random() < wrong else known)


@case("LSTMBlockCell", "LSTMBlockCellGrad", "GRUBlockCell", "GRUBlockCellGrad", "BlockLSTM", "BlockLSTMV2", "BlockLSTMGrad", "BlockLSTMGradV2")
def recurrent(op):
    time, batch, inputs, cell = [R.randint(1, 4) for _ in range(4)]
    gates = R.choice([4 * cell] * 5 + [4 * cell + 1])
    if op.startswith("GRU"):
        sizes = [[batch, inputs], [batch, cell], [inputs + cell, 2 * cell], [inputs + cell, cell], [2 * cell], [cell]]
        sizes += [[batch, cell]] * 4 if op.endswith("Grad") else []
        return [loosely(dims) for dims in sizes], {}
    weights = [[batch, cell], [batch, cell], [inputs + cell, gates], [cell], [cell], [cell], [gates]]
    layer = op.startswith("Block")
    steps = [time, batch] if layer else [batch]
    given = [loosely(dims) for dims in [[*steps, inputs], *weights]]
    attrs = {}
    if "Grad" in op:
        given += [loosely([*steps, cell]) for _ in range(9 if layer else 8)]
        attrs["use_peephole"] = R.random() < 0.5
    return ([P(R.choice([[], None]), "int64")] if layer else []) + given, attrs


@case("CTCLoss", "CTCGreedyDecoder", "CTCBeamSearchDecoder")
def labels(op):
    time, batch, classes, count = [R.randint(1, 4) for _ in range(4)]
    lengths = P(R.choice([[batch], [None], [batch + 1], None, [batch, 1]]), "int32")
    inputs = loosely([time, batch, classes])
    if op == "CTCLoss":
        values = R.choice([[count], [None], [count + 1], None])
        return [inputs, P(R.choice([[count, 2], [None, 2], None, [count]]), "int64"), P(values, "int32"), lengths], {}
    return [inputs, lengths], {"beam_width": 5, "top_paths": R.randint(1, 3)} if "Beam" in op else {}


@case("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler", "FixedUnigramCandidateSampler",
      "AllCandidateSampler")
def candidates(op):
    columns = R.randint(1, 3)
    attrs = {"num_true": R.choice([columns, columns, 2]), "num_sampled": R.randint(1, 5), "unique": R.random() < 0.5}
    if op != "AllCandidateSampler":
        attrs["range_max"] = R.randint(5, 9)
    return [P(R.choice([[3, columns], [None, columns], None, [columns]]), "int64")], attrs


@case("ComputeAccidentalHits")
def hits(op):
    columns = R.randint(1, 3)
    return [P(R.choice([[3, columns], [None, columns], [2, None], None, [columns]]), "int64"), P(R.choice([[4], [None], None, [2, 2]]), "int64")], {
        "num_true": R.choice([columns, columns, 2])}


@case("FractionalMaxPool", "FractionalAvgPool")
def fractional(op):
    ratios = [1.0, R.choice([1.0, 1.5, 2.7, 0.5]), R.choice([1.0, 1.4, 20.0]), 1.0]
    return [loosely([2, R.randint(1, 9), R.randint(1, 9), 3])], {"pooling_ratio": ratios + R.choice([[]] * 9 + [[1.0]])}


@case("FractionalMaxPoolGrad", "FractionalAvgPoolGrad")
def fractional_back(op):
    sequences = [P([None], "int64"), P([4], "int64")]
    if op == "FractionalMaxPoolGrad":
        return [loosely([2, 5, 5, 3], 0.2), loosely([2, 3, 3, 3]), loosely([2, 3, 3, 3]), *sequences], {}
    return [ONE.maybe([2, 5, R.choice([5, 7]), 3], "int64"), loosely([2, 3, 3, 3]), *sequences], {}


@case("FusedPadConv2D", "FusedResizeAndPadConv2D")
def transformed(op):
    paddings = [[0, 0], ONE.ints(0, 2, 2), ONE.ints(-1 if R.random() < 0.1 else 0, 2, 2), [0, 0]]
    size = [] if op == "FusedPadConv2D" else [ONE.maybe(R.choice([[7, 8]] * 8 + [[7]]))]
    kernel = [R.choice([1, 2, 3]), R.choice([1, 2, 3]), R.choice([3, 3, 3, 4]), 2]
    return [loosely([2, R.choice([5, 6]), 7, 3]), *size, ONE.maybe(paddings), loosely(kernel)], {
        "mode": R.choice(["REFLECT", "SYMMETRIC"]), "strides": R.choice([[1, 1, 1, 1], [1, 2, 3, 1], [1, 1, 1]]), "padding": R.choice(["SAME", "VALID"])}


@case("Conv3D", "AvgPool3D", "MaxPool3D")
def volumes(op):
    last = R.random() < 0.6
    sizes, depth = [R.choice([None, 5, 8, 9]) for _ in range(3)], R.choice([4, 4, None])
    x = [R.choice([None, 2])] + (sizes + [depth] if last else [depth] + sizes)
    window = lambda: [1, *ONE.ints(1, 3, 3), 1] if last else [1, 1, *ONE.ints(1, 3, 3)]  # noqa: E731
    attrs = {"strides": window(), "padding": R.choice(["SAME", "VALID"]), "data_format": "NDHWC" if last else "NCDHW"}
    image = P(R.choice([x] * 8 + [None, x[1:]]))
    if op != "Conv3D":
        return [image], {**attrs, "ksize": window()}
    kernel = [R.choice([1, 2, None]) for _ in range(3)] + [R.choice([4, 4, 2, None]), R.choice([2, None])]
    return [image, P(kernel)], {**attrs, "dilations": [1] * 5}


@case("MaxPoolV2")
def pool_v2(op):
    data_format = R.choice(["NHWC", "NCHW"])
    four = lambda: ONE.maybe(ONE.window("")[1](data_format))  # noqa: E731
    attrs = {"padding": R.choice(["SAME", "VALID"]), "data_format": data_format}
    return [P(ONE.image(data_format)), four(), four()], attrs


@case("Conv2DBackpropInput")
def conv_input(op):
    data_format = R.choice(["NHWC", "NCHW"])
    image = ONE.image(data_format)
    sizes = [d or 4 for d in image or [2, 9, 9, 4]]
    kernel = [3, 3, R.choice([4, None]), R.choice([4, 6, None])]
    attrs = {"strides": [1] * 4, "padding": "SAME", "data_format": data_format}
    return [ONE.maybe(R.choice([sizes, sizes, sizes[:2]])), P(kernel), P(image)], attrs


@case("AvgPoolGrad", "AvgPool3DGrad")
def pool_grad(op):
    n = 4 if op == "AvgPoolGrad" else 5
    sizes = ONE.maybe([R.randint(1, 4) for _ in range(R.choice([n, n, n, 3]))])
    return [sizes, P(some_shape())], {"ksize": [1] * n, "strides": [1] * n, "padding": "SAME"}


@case("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", "_FusedBatchNormGradEx", "_FusedBatchNormEx")
def norm_grad(op):
    data_format = R.choice(["NHWC", "NCHW"])
    x = ONE.image(data_format)
    vector = lambda: P(R.choice([[4], [4], [4], [None], None, [3]]))  # noqa: E731
    attrs = {"data_format": data_format, "is_training": R.random() < 0.5}
    side = R.choice([0, 1])
    if op == "_FusedBatchNormEx":
        sides = [P(x) for _ in range(side)]
        return [P(x), *(vector() for _ in range(4)), sides], {**attrs, "num_side_inputs": side}
    inputs = [P(x), P(ONE.twist(x)), *(vector() for _ in range(3)), P(None)]
    if op == "_FusedBatchNormGradEx":
        return [*inputs, vector(), P(x)], {**attrs, "num_side_inputs": side}
    return inputs if op == "FusedBatchNormGradV3" else inputs[:-1], attrs


@case("_FusedConv2D", "_FusedDepthwiseConv2dNative")
def fused_conv(op):
    inputs, attrs = ONE.CASES["Conv2D"](op.removeprefix("_Fused"))
    if op != "_FusedConv2D":
        attrs.pop("explicit_paddings", None)
        attrs["padding"] = R.choice(["SAME", "VALID"])
    args = [P(some_shape())]
    return [*inputs, args, []] if op == "_FusedConv2D" else [*inputs, args], {**attrs, "num_args": 1, "fused_ops": ["BiasAdd"]}


@case("_FusedMatMul")
def fused_product(op):
    inputs, attrs = ONE.CASES["MatMul"]("MatMul")
    return [*inputs, [P(some_shape())]], {**attrs, "num_args": 1, "fused_ops": ["BiasAdd"]}


@case("QuantizedConv2D")
def quantized_conv(op):
    inputs, attrs = ONE.CASES["Conv2D"]("Conv2D")
    del attrs["data_format"]
    attrs.pop("explicit_paddings", None)
    attrs["padding"] = R.choice(["SAME", "VALID"])
    scalar = lambda: P(R.choice([[], [], [], [], [], None, [1]]))  # noqa: E731
    return [P(inputs[0].shape, "quint8"), P(inputs[1].shape, "qint8"), *(scalar() for _ in range(4))], attrs


@case("QuantizedAvgPool")
def quantized_pool(op):
    inputs, attrs = ONE.CASES["AvgPool"]("AvgPool")
    del attrs["data_format"]
    return [P(inputs[0].shape, "quint8"), P([]), P(R.choice([[], [], [1]]))], attrs


@case("QuantizeV2")
def quantize(op):
    x, at = some_shape(), R.choice([-1, -1, 0, 1, -2])
    ends = R.choice([[], [None], [x[at]] if x and 0 <= at < len(x) else [2]])
    return [P(x), P(ends), P(ends)], {"axis": at, "T": tf.quint8.as_datatype_enum}


@case("BiasAddGrad")
def bias_grad(op):
    return [P(some_shape())], {"data_format": R.choice(["NHWC", "NCHW"])}


@case("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput")
def conv_sizes(op):
    sizes = ONE.maybe([R.randint(0, 4) for _ in range(R.choice([4, 4, 4, 3]))])
    first, last = P(some_shape()), P(some_shape())
    attrs = {"strides": [1] * 4, "padding": "SAME", "data_format": R.choice(["NHWC", "NCHW"])}
    return [sizes, first, last] if op.endswith("Input") else [first, sizes, last], attrs


@case("MaxPoolGradGrad", "MaxPoolWithArgmax")
def pool_again(op):
    inputs, attrs = ONE.CASES["MaxPool"]("MaxPool")
    attrs.pop("explicit_paddings", None)
    attrs["padding"] = R.choice(["SAME", "VALID"])
    if op == "MaxPoolWithArgmax":
        attrs.pop("data_format", None)
        return inputs, attrs
    x = inputs[0].shape
    return [P(x), P(some_shape() if R.random() < 0.3 else None), P(ONE.twist(x) if R.random() < 0.3 else x)], attrs


@case("MaxPoolGradGradV2")
def pool_again_v2(op):
    (x, windows, strides), attrs = pool_v2(op)
    return [x, P(None), P(ONE.twist(x.shape) if R.random() < 0.3 else x.shape), windows, strides], attrs


@case("MaxPoolGradV2")
def max_grad_v2(op):
    return [P(ONE.shape(4, 4, 4, 3)), P(None), P(None), P(None, "int32"), P(None, "int32")], {"padding": "SAME"}


@case("MaxPoolGradWithArgmax")
def max_grad_argmax(op):
    attrs = {"ksize": [1] * 4, "strides": [1] * 4, "padding": "SAME"}
    return [P(ONE.shape(4, 4, 4, 3)), P(None), P(None, "int64")], attrs


@case("LRN", "LRNGrad")
def responses(op):
    x = ONE.shape(4, 4, 4, 3)
    return [P(x)] if op == "LRN" else [P(x), P(ONE.twist(x)), P(ONE.twist(x))], {}


@case("SoftmaxCrossEntropyWithLogits")
def entropy(op):
    x = ONE.shape(2, 2, 2, 1, 3)
    return [P(x), P(R.choice([x, ONE.twist(x), some_shape()]))], {}


@case("SparseSoftmaxCrossEntropyWithLogits", "InTopK", "InTopKV2")
def by_label(op):
    x = ONE.shape(2, 2, 2, 1)
    labels = P(R.choice([x[:1] if x else [2], [ONE.dim()], None, []]) if R.random() < 0.9 else [2, 2], "int32")
    inputs = [P(x), labels, P(R.choice([[], None, [1]]), "int32")]
    return inputs if op == "InTopKV2" else inputs[:2], {"k": 2} if op == "InTopK" else {}


@case("NthElement")
def nth(op):
    return [P(some_shape()), ONE.maybe(R.randint(-1, 4))], {"reverse": R.random() < 0.5}


@case("Dilation2D")
def dilation(op):
    x = ONE.shape(4, 4, 4, 4, 3)
    kernel = [R.choice([1, 2, 3, None]), R.choice([1, 2, 3]), R.choice([None, x[-1] if x else 3, ONE.dim()])]
    four = lambda: [1, R.randint(1, 3), R.randint(1, 3), 1] if R.random() < 0.9 else [R.randint(0, 2)] * R.choice([4, 5])  # noqa: E731
    return [P(x), P(kernel if R.random() < 0.9 else some_shape())], {"strides": four(), "rates": four(), "padding": R.choice(["SAME", "VALID"])}


@case("MaxPoolGrad", "MaxPool3DGrad")
def max_grad(op):
    n = 4 if op == "MaxPoolGrad" else 5
    return [P(ONE.shape(n, n, n, 3)), P(None), P(None)], {"ksize": [1] * n, "strides": [1] * n, "padding": "SAME"}


class Case:
    """A node under test with the nodes that make its inputs."""

    def __init__(self, name, op, shared):
        self.node = node_def_pb2.NodeDef(name=name, op=op)
        self.own, self.shared = [], shared
        self.uses = {}

    def add(self, op, inputs, **attrs):
        node = node_def_pb2.NodeDef(name=f"{self.node.name}/{len(self.own)}", op=op, input=inputs)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(value)
        self.own.append(node)
        return node.name

    def leaf(self, item):
        """A Placeholder or Const that all cases share."""
        node = node_def_pb2.NodeDef()
        if isinstance(item, P):
            node.op = "Placeholder"
            node.attr["dtype"].type = item.dtype.as_datatype_enum
            if item.shape is not None:
                node.attr["shape"].shape.CopyFrom(tf.TensorShape(item.shape).as_proto())
        else:
            node.op = "Const"
            node.attr["dtype"].type = item.dtype
            node.attr["value"].tensor.CopyFrom(item)
        key = node.SerializeToString(deterministic=True)
        node.name = self.shared.setdefault(key, f"{'k' if node.op == 'Const' else 'p'}{len(self.shared)}")
        self.uses[node.name] = node
        return node.name

    def const(self, value, dtype):
        return self.leaf(tf.make_tensor_proto(value, dtype=dtype))

    def input(self, item):
        if isinstance(item, N):
            return self.add(item.op, [self.input(source) for source in item.inputs], **item.attrs)
        if isinstance(item, tensor_pb2.TensorProto) and item.dtype in (tf.int32.as_datatype_enum, tf.int64.as_datatype_enum):
            rank = len(item.tensor_shape.dim)
            if rank < 2 and R.random() < 0.35:
                return self.disguise(tf.make_ndarray(item).tolist(), tf.as_dtype(item.dtype), 0)
        return self.leaf(item)

    def disguise(self, value, dtype, depth):
        """A graph that makes the same value, or one of which less is known."""
        t = attr_value_pb2.AttrValue(type=dtype.as_datatype_enum)
        zero = attr_value_pb2.AttrValue(i=0)
        kind = R.randrange(9)
        if depth > 2 or kind == 0:
            return self.const(value, dtype)
        again = lambda v: self.disguise(v, dtype, depth + 1)  # noqa: E731
        if kind == 1:
            part = R.randint(0, 3)
            first = [v - part for v in value] if isinstance(value, list) else value - part
            return self.add("AddV2", [again(first), self.const(part, dtype)], T=t)
        if kind == 2:
            if isinstance(value, list) and any(v < -1 for v in value):
                # TensorFlow forgets that a cast shape was refused, and takes a scalar for it: a mistake of its own.
                return self.const(value, dtype)
            other = tf.int32 if dtype == tf.int64 else tf.int64
            source = attr_value_pb2.AttrValue(type=other.as_datatype_enum)
            return self.add("Cast", [self.disguise(value, other, depth + 1)], SrcT=source, DstT=t)
        if not isinstance(value, list):
            if value < 0 or value > 4:
                return self.const(value, dtype)
            if kind == 3:
                whole = self.leaf(P(R.choice([[None] * value, [2] * value, None]), "float32"))
                ranked = self.add("Rank", [whole], T=attr_value_pb2.AttrValue(type=1))
                return ranked if dtype == tf.int32 else self.const(value, dtype)
            known = R.choice([value, value, None])
            whole = self.leaf(P(R.choice([[known], [2, known], None]), "float32"))
            shape = self.add("Shape", [whole], T=attr_value_pb2.AttrValue(type=1), out_type=t)
            if kind == 4:
                return self.add("Size", [self.leaf(P([known], "float32"))], T=attr_value_pb2.AttrValue(type=1), out_type=t)
            begin, end = self.const([-1], tf.int32), self.const([0], tf.int32)
            attrs = {f"{m}_mask": zero for m in ("begin", "end", "ellipsis", "new_axis")}
            return self.add("StridedSlice", [shape, begin, end, self.const([1], tf.int32)], T=t,
                            Index=attr_value_pb2.AttrValue(type=3), shrink_axis_mask=attr_value_pb2.AttrValue(i=1), **attrs)
        if kind == 7 and all(v >= -1 for v in value):
            dims = [None if v < 0 or R.random() < 0.3 else v for v in value]
            handle = self.input(variable("float32", dims))
            return self.add("VariableShape", [handle], out_type=t)
        if kind == 3 and all(v >= -1 for v in value):
            dims = [None if v < 0 or R.random() < 0.3 else v for v in value]
            whole = self.leaf(P(dims, "float32"))
            return self.add("Shape", [whole], T=attr_value_pb2.AttrValue(type=1), out_type=t)
        if kind == 4 and value:
            scalars = [self.disguise(v, dtype, depth + 1) for v in value]
            return self.add("Pack", scalars, T=t, N=attr_value_pb2.AttrValue(i=len(value)), axis=zero)
        if kind == 5 and len(value) > 1:
            cut = R.randint(0, len(value))
            parts = [again(value[:cut]), again(value[cut:])]
            return self.add("ConcatV2", [*parts, self.const(0, tf.int32)], T=t, N=attr_value_pb2.AttrValue(i=2),
                            Tidx=attr_value_pb2.AttrValue(type=3))
        if kind == 6:
            before, after = R.randint(0, 2), R.randint(0, 2)
            longer = again([1] * before + value + [1] * after)
            ends = [self.const([before], tf.int32), self.const([before + len(value)], tf.int32), self.const([1], tf.int32)]
            return self.add("StridedSlice", [longer, *ends], T=t, Index=attr_value_pb2.AttrValue(type=3))
        return self.leaf(P(R.choice([[len(value)], [len(value)], [None], None]), dtype))

    def graph(self):
        graph = graph_pb2.GraphDef(node=[*self.uses.values(), *self.own, self.node])
        graph.versions.producer = tf.version.GRAPH_DEF_VERSION
        return graph


def make(name, op, shared):
    maker = MAKERS.get(op)
    inputs, attrs = maker(op) if maker and R.random() < 0.8 else generic(op)
    test = filled(name, op, shared, inputs, attrs)
    if op == "SplitV" and not is_const(test, 2) and is_const(test, 1):
        # With the sizes and without the axis, TensorFlow takes the last one: that is a mistake of its own.
        return make(name, op, shared)
    if op == "GatherV2" and not is_const(test, 2) and batch_dims(attrs):
        # Without the axis, TensorFlow takes batch dimensions as they come: negative ones, and more than there are.
        return make(name, op, shared)
    if op == "ExtractVolumePatches" and isinstance(inputs[0], P) and not is_volume(inputs[0].shape):
        # Of a volume whose sizes it does not know, TensorFlow says that its patches have four dimensions, though they have five.
        return make(name, op, shared)
    return test


def is_volume(shape):
    """Whether the sizes of a volume are known, or it is none and refused."""
    return shape is not None and (len(shape) != 5 or None not in shape[1:4])


def filled(name, op, shared, inputs, attrs):
    """A case with these inputs and attrs; those that the inputs say need not be given."""
    test = Case(name, op, shared)
    values, given = {}, list(inputs)
    for arg in OPS[op].input_arg:
        item = given.pop(0)
        listed = item if isinstance(item, list) else [item]
        dtypes = [v.dtype if isinstance(v, tensor_pb2.TensorProto) else v.dtype.as_datatype_enum for v in listed]
        if arg.number_attr:
            values[arg.number_attr] = len(listed)
        if arg.type_attr and dtypes:
            values.setdefault(arg.type_attr, dtypes[0])
        elif arg.type_list_attr:
            values[arg.type_list_attr] = dtypes
        test.node.input.extend(test.input(item) for item in listed)
    values.update(attrs)
    for attr in OPS[op].attr:
        value = values.get(attr.name)
        if isinstance(value, attr_value_pb2.AttrValue):
            test.node.attr[attr.name].CopyFrom(value)
        elif value is not None:
            ONE.fill_attr(test.node.attr[attr.name], attr.type, value)
        if test.node.attr[attr.name] == attr.default_value or not test.node.attr[attr.name].WhichOneof("value"):
            del test.node.attr[attr.name]
    return test


def batch_dims(values):
    value = values.get("batch_dims")
    return value.i if isinstance(value, attr_value_pb2.AttrValue) else value or 0


def is_const(test, index):
    return test.node.input[index].startswith("k")


def build_internal(graph, node):
    """Adds a node of an op that no graph may import."""
    op = OPS[node.op]
    inputs = [graph.get_tensor_by_name(f"{name}:0") for name in node.input]
    full = node_def_pb2.NodeDef()
    full.CopyFrom(node)
    del full.input[:]
    for attr in op.attr:
        if attr.name not in full.attr:
            full.attr[attr.name].CopyFrom(attr.default_value)
    return graph._create_op_from_tf_operation(tf_ops._create_c_op(graph, full, inputs, control_inputs=[]))


def infer(test):
    """TensorFlow's answer: a list of shapes, or a text for an error."""
    gd = test.graph()
    with tf.Graph().as_default() as graph:
        try:
            if test.node.op.startswith("_"):
                del gd.node[-1]
                tf.graph_util.import_graph_def(gd, name="")
                node = build_internal(graph, test.node)
            else:
                tf.graph_util.import_graph_def(gd, name="")
                node = graph.get_operation_by_name(test.node.name)
        except (ValueError, TypeError, tf.errors.OpError) as error:
            return str(error)
        return [out.shape.as_proto().SerializeToString() for out in node.outputs]


def answers(tests):
    """Every case's answer; None where TensorFlow's process died of the case."""
    found = []
    while len(found) < len(tests):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(write, "wb") as out:
                for test in tests[len(found):]:
                    data = pickle.dumps(infer(test))
                    out.write(struct.pack("<I", len(data)) + data)
                    out.flush()
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as stream:
            while header := stream.read(4):
                found.append(pickle.loads(stream.read(struct.unpack("<I", header)[0])))
        os.waitpid(child, 0)
        if len(found) < len(tests):
            print("TensorFlow dies of", str(tests[len(found)].node).replace("\n", " ")[:300])
            found.append(None)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--each", type=int, default=20, help="cases of an op that has a maker of its own; others: half")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "cases.pb.gz")
    args = parser.parse_args()
    ONE.R.seed(args.seed)
    shared, tests = {}, []
    for op in sorted(OPS):
        for _ in range(args.each if op in MAKERS else (args.each + 1) // 2 if OPS[op].input_arg else 4):
            tests.append(make(f"c{len(tests)}", op, shared))
    print(f"{len(OPS)} ops: {write(tests, args.out, args.out == HERE / 'cases.pb.gz')}")


def write(tests, out, is_checked_in):
    """Writes the cases with TensorFlow's answers; returns what they are."""
    whole, seen, failed, count = graph_pb2.GraphDef(), set(), 0, 0
    for test, answer in zip(tests, answers(tests)):
        if answer is None:
            continue
        count += 1
        if isinstance(answer, str):
            failed += 1
            test.node.attr["_error"].s = b"" if is_checked_in else answer.encode()[:200]
        else:
            test.node.attr["_shapes"].list.SetInParent()
            for shape in answer:
                test.node.attr["_shapes"].list.shape.add().MergeFromString(shape)
        for node in test.uses.values():
            if node.name not in seen:
                seen.add(node.name)
                whole.node.append(node)
        whole.node.extend([*test.own, test.node])
    whole.versions.producer = tf.version.GRAPH_DEF_VERSION
    out.write_bytes(gzip.compress(whole.SerializeToString(deterministic=True), mtime=0))
    return f"{count} cases, {failed} of them errors, {out.stat().st_size} bytes"


if __name__ == "__main__":
    main()
