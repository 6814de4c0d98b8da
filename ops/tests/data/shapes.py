"""Writes shapes.pb: nodes with random inputs, and what TensorFlow infers for their outputs.

A GraphDef. A node of the op under test has inputs that are Placeholders (of a shape that is known in part) or Consts,
and an attr `_shapes`, what TensorFlow made of them, or `_error`. Needs TensorFlow.

    python ops/tests/data/shapes.py
    python ops/tests/data/shapes.py 1000 /tmp/many.pb    # more cases an op, for the test in
    KERNLINK_SHAPES=/tmp/many.pb cargo test -p kernlink-ops --test shapes
"""
import pathlib
import random
import sys

import tensorflow as tf
from tensorflow.core.framework import graph_pb2, node_def_pb2, op_def_pb2, tensor_pb2

HERE = pathlib.Path(__file__).parent
OPS = {op.name: op for op in op_def_pb2.OpList.FromString((HERE / "ops.pb").read_bytes()).op}
R = random.Random(20)


class P:
    """A placeholder."""

    def __init__(self, shape, dtype="float32"):
        self.shape, self.dtype = shape, tf.as_dtype(dtype)


def K(value, dtype="int32"):
    return tf.make_tensor_proto(value, dtype=tf.as_dtype(dtype))


def fill_attr(attr, kind, value):
    """Sets an attr of a node from a Python value."""
    if kind.startswith("list("):
        field = {"int": "i", "float": "f", "type": "type", "string": "s"}[kind[5:-1]]
        attr.list.SetInParent()
        getattr(attr.list, field).extend(v.encode() if isinstance(v, str) else v for v in value)
    elif kind == "shape":
        attr.shape.CopyFrom(tf.TensorShape(value).as_proto())
    elif kind == "string":
        attr.s = value.encode()
    else:
        setattr(attr, {"int": "i", "float": "f", "bool": "b", "type": "type"}[kind], value)


def graph(name, op, inputs, attrs):
    """A graph of one node and its inputs. Attrs that follow from the inputs are filled in."""
    gd = graph_pb2.GraphDef()
    node = node_def_pb2.NodeDef(name=name, op=op)
    values = {}
    given = list(inputs)
    for arg in OPS[op].input_arg:
        value = given.pop(0)
        listed = value if isinstance(value, list) else [value]
        if arg.number_attr:
            values[arg.number_attr] = len(listed)
        dtypes = [v.dtype if isinstance(v, tensor_pb2.TensorProto) else v.dtype.as_datatype_enum for v in listed]
        if arg.type_attr:
            values[arg.type_attr] = dtypes[0]
        elif arg.type_list_attr:
            values[arg.type_list_attr] = dtypes
        for item in listed:
            node_in = gd.node.add(name=f"{name}/{len(node.input)}")
            if isinstance(item, P):
                node_in.op = "Placeholder"
                node_in.attr["dtype"].type = item.dtype.as_datatype_enum
                node_in.attr["shape"].shape.CopyFrom(tf.TensorShape(item.shape).as_proto())
            else:
                node_in.op = "Const"
                node_in.attr["dtype"].type = item.dtype
                node_in.attr["value"].tensor.CopyFrom(item)
            node.input.append(node_in.name)
    values.update(attrs)
    for attr in OPS[op].attr:
        if attr.name in values:
            fill_attr(node.attr[attr.name], attr.type, values[attr.name])
        else:
            assert attr.HasField("default_value"), (op, attr.name)
            node.attr[attr.name].CopyFrom(attr.default_value)
    gd.node.append(node)
    gd.versions.producer = tf.version.GRAPH_DEF_VERSION
    return gd


def infer(gd):
    """TensorFlow's answer: a list of shapes, or None for an error."""
    with tf.Graph().as_default() as g:
        try:
            tf.graph_util.import_graph_def(gd, name="")
        except ValueError as error:
            return None, str(error)
        return [out.shape.as_proto() for out in g.get_operation_by_name(gd.node[-1].name).outputs], None


def dim(*extra):
    return R.choice([None, 0, 1, 2, 3, 4, 6, 12, *extra])


def shape(*ranks, unknown=0.15):
    if R.random() < unknown:
        return None
    return [dim() for _ in range(R.choice(ranks or (0, 1, 2, 3, 4)))]


def twist(dims):
    """A shape much like another."""
    if dims is None or R.random() < 0.1:
        return shape()
    new = [d if R.random() < 0.6 else R.choice([None, 1, d, dim()]) for d in dims]
    if new and R.random() < 0.1:
        new.pop(R.randrange(len(new)))
    return new


def maybe(value, dtype="int32", known=0.8):
    """A constant, or a placeholder in its place."""
    proto = K(value, dtype)
    if R.random() < known:
        return proto
    dims = [d.size for d in proto.tensor_shape.dim]
    return P(R.choice([None, dims, dims, [None] * len(dims)]), dtype)


def ints(low, high, count):
    return [R.randint(low, high) for _ in range(count)]


def rank(dims):
    return R.randint(0, 4) if dims is None or R.random() < 0.05 else len(dims)


def axis(dims, extra=0):
    n = rank(dims) + extra
    return R.randint(-n - (R.random() < 0.1), max(-n, n - 1 + (R.random() < 0.1)))


def index():
    return R.choice(["int32", "int64"])


CASES = {}


def case(*ops):
    def add(make):
        for op in ops:
            CASES[op] = make
        return make
    return add


@case("Abs", "Relu", "Identity", "L2Loss", "Size", "Rank", "Softmax", "LogSoftmax", "ZerosLike", "Shape")
def one(op):
    return [P(shape())], {}


@case("Where")
def where(op):
    return [P(shape(), "bool")], {}


@case("InvertPermutation")
def inverse(op):
    return [P(shape(0, 1, 1, 2), index())], {}


@case("Add", "Maximum", "SquaredDifference", "Less")
def two(op):
    x = shape()
    return [P(x), P(twist(x))], {}


@case("Equal", "NotEqual")
def equal(op):
    return two(op)[0], {"incompatible_shape_error": R.random() < 0.5}


@case("Select", "SelectV2")
def select(op):
    x = shape()
    condition = R.choice([[], [dim()], twist(x), twist(x), x and x[:1]])
    return [P(condition, "bool"), P(x), P(twist(x))], {}


@case("AddN", "ShapeN", "IdentityN")
def several(op):
    x = shape()
    return [[P(x), *(P(twist(x)) for _ in range(R.randint(0, 3)))]], {}


@case("Bitcast")
def bitcast(op):
    x, y = R.choice(["float32", "int64", "uint8", "int16"]), R.choice(["float32", "int64", "uint8", "complex128"])
    return [P(shape(), x)], {"type": tf.as_dtype(y).as_datatype_enum}


@case("Sum", "Max", "All")
def reduction(op):
    x = shape()
    axes = maybe([axis(x) for _ in range(R.randint(0, 3))] if R.random() < 0.8 else axis(x), index())
    return [P(x, "bool" if op == "All" else "float32"), axes], {"keep_dims": R.random() < 0.5}


@case("ArgMax", "ArgMin")
def arg(op):
    x = shape()
    return [P(x), maybe(axis(x), index())], {}


@case("UniqueV2", "UniqueWithCountsV2")
def unique(op):
    x = shape()
    return [P(x), maybe([axis(x)] if R.random() < 0.8 else [], index())], {}


@case("DynamicPartition")
def partition(op):
    x = shape()
    return [P(x), P(twist(x[: R.randint(0, 2)] if x else x), "int32")], {"num_partitions": R.randint(1, 3)}


@case("DynamicStitch", "ParallelDynamicStitch")
def stitch(op):
    rest, indices, data = shape(0, 1, 1, 2) or [], [], []
    for _ in range(R.randint(1, 3)):
        size = R.choice([0, 1, 2, 3])
        indices.append(maybe([R.randint(0, 6) for _ in range(size)], "int32"))
        data.append(P(twist([size] + rest)))
    return [indices, data], {}


@case("MirrorPadGrad")
def mirror_pad_grad(op):
    x = shape()
    rows = len(x) if x else R.randint(0, 3)
    paddings = [[R.choice([0, 0, 1, 2, -1]), R.choice([0, 1, 2])] for _ in range(rows)]
    return [P(x), maybe(paddings, index()) if paddings else P([0, 2], "int32")], {"mode": R.choice(["REFLECT", "SYMMETRIC"])}


@case("Bincount", "DenseBincount")
def bincount(op):
    kind = "int32" if op == "Bincount" else index()
    return [P(shape(), kind), maybe(R.choice([0, 1, 5, 5, -1, [3]]), kind), P(shape())], {}


@case("ResizeBilinear", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad", "ResizeArea", "ResizeBicubic")
def resize(op):
    x = R.choice([shape(), shape(4), shape(4)])
    return [P(x), maybe(R.choice([[3, 4], [3, 4], [0, 2], [5], [-1, 2]]), "int32")], {}


def sizes():
    return maybe(R.choice([[3, 4], [3, 4], [0, 2], [5], [-1, 2]]), "int32")


def scalar(dtype="float32"):
    """Mostly a scalar of unknown value."""
    return P(R.choice([[], [], [], None, [2]] if R.random() < 0.3 else [[]]), dtype)


def images():
    return P(R.choice([shape(), shape(4), shape(4), [2, 6, None, 3], [None, 4, 4, 3]]))


@case("ScaleAndTranslate")
def scale(op):
    return [images(), sizes(), P(shape(1)), P(shape(1))], {}


@case("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def projective(op):
    return [images(), P(shape(2)), sizes(), *([scalar()] if op.endswith("V3") else [])], {"interpolation": "NEAREST"}


@case("CropAndResize")
def crop(op):
    return [images(), P(R.choice([[5, 4], [None, 4], [3, None], shape(2)])), P(R.choice([[5], [None], shape(1)]), "int32"), sizes()], {}


@case("CropAndResizeGradImage")
def crop_grad_image(op):
    return [images(), P([5, 4]), P([5], "int32"), maybe(R.choice([[2, 6, 7, 3], [0, 6, 7, 3], [2, 6, 7], [2, 6, -2, 3], 4]), "int32")], {"T": tf.float32.as_datatype_enum}


@case("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5", "NonMaxSuppressionWithOverlaps")
def suppression(op):
    boxes = R.choice([[7, 7], [None, 7], [7, 6], shape(2)] if op.endswith("Overlaps") else [[7, 4], [None, 4], [7, None], [7, 5], shape(2)])
    count = {"NonMaxSuppression": 0, "NonMaxSuppressionV2": 1, "NonMaxSuppressionV5": 3}.get(op, 2)
    attrs = {"pad_to_max_output_size": R.random() < 0.5} if op.endswith(("V4", "V5")) else {}
    return [P(boxes), P(R.choice([[7], [7], [None], None, shape(1)])), maybe(R.choice([3, 3, 0, -1, [3]]), "int32"), *(scalar() for _ in range(count))], attrs


@case("CombinedNonMaxSuppression")
def combined(op):
    boxes = R.choice([[2, 7, 1, 4], [2, 7, 3, 4], [2, None, 1, 4], [None, 7, 2, 4], shape(4)])
    limits = [maybe(R.choice([3, 3, 9, 0, -1, [3]]), "int32") for _ in range(2)]
    return [P(boxes), P(R.choice([[2, 7, 3], [2, 7, 3], [2, None, None], None, shape(3)])), *limits, scalar(), scalar()], {"pad_per_class": R.random() < 0.5}


@case("DrawBoundingBoxes", "DrawBoundingBoxesV2")
def draw(op):
    boxes = R.choice([[2, 5, 4], [None, None, 4], [2, 5, 3], shape(3)])
    return [P(R.choice([[2, 6, 7, 3], [2, 6, 7, 2], [2, 6, 7, None], shape(4), shape(2)])), P(boxes), *([P(shape(2))] if op.endswith("V2") else [])], {}


@case("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox")
def sample(op):
    inputs = [P(R.choice([[3], [3], [None], None, [2], [1, 3]]), "int32"), P(R.choice([[1, 5, 4], [None, None, None], None, [1, 5, 3], [5, 4]]))]
    if op != "SampleDistortedBoundingBox":
        inputs.append(scalar())
    if op.startswith("Stateless"):
        inputs.append(P(R.choice([[2], [2], [None], [3]]), "int64"))
    return inputs, {}


@case("ExtractGlimpse", "ExtractGlimpseV2")
def glimpse(op):
    noise = R.choice([{}, {}, {"noise": "zero"}, {"noise": "zero", "uniform_noise": False}, {"noise": ""}])
    return [images(), sizes(), P(R.choice([[2, 2], [None, 2], [2, None], [3, 2], [2, 3], shape(2)]))], noise


@case("RGBToHSV", "HSVToRGB")
def color(op):
    return [P(R.choice([[2, 3], [3], [None, None], [4, 2], [], None, [2, 5, None]]))], {}


@case("AdjustHue", "AdjustSaturation", "AdjustContrastv2")
def adjust(op):
    return [P(R.choice([shape(3), shape(4), shape(2), [6, 7, 3]])), scalar()], {}


@case("MatMul", "BatchMatMul", "BatchMatMulV2")
def product(op):
    x, y = twist(R.choice([[2, 3], [4, 3, 2], [None, 2, 3], [1, 4, 3, 2]])), twist(R.choice([[3, 4], [2, 2, 3], [1, 3, 2]]))
    if op == "MatMul":
        x, y = x and x[-2:], y and y[-2:]
    a, b = ("transpose_a", "transpose_b") if op == "MatMul" else ("adj_x", "adj_y")
    return [P(x), P(y)], {a: R.random() < 0.3, b: R.random() < 0.3}


@case("Reshape")
def reshape(op):
    to = R.choice([[-1], [2, -1], [-1, 3], [4, 3], [12], [0, -1], [-1, -1], [], [2, 2, 3], [-2], [0]])
    return [P(R.choice([shape(), [4, 3], [None, 6], [None, 12], [2, 0]])), maybe(to, index())], {}


@case("Squeeze")
def squeeze(op):
    x = shape() if R.random() < 0.5 else [R.choice([1, 1, None, 2]) for _ in range(R.randint(0, 4))]
    return [P(x)], {"squeeze_dims": [axis(x) for _ in range(R.choice([0, 1, 1, 2]))]}


@case("ExpandDims")
def expand(op):
    x = shape()
    at = axis(x, 1)
    return [P(x), maybe(R.choice([at, at, [at], [at, at]]), index())], {}


@case("BroadcastTo")
def broadcast_to(op):
    x = shape()
    to = [d if d is not None else -1 for d in twist(x) or []]
    return [P(x), maybe([2] * R.randint(0, 1) + to, index())], {}


@case("BroadcastArgs", "BroadcastGradientArgs")
def shapes(op):
    return [P(shape(0, 1, 1, 1), "int32"), P(shape(1, 1, 2), "int32")], {}


@case("Transpose")
def transpose(op):
    x = shape()
    perm = list(range(rank(x)))
    R.shuffle(perm)
    perm = [p - len(perm) * (R.random() < 0.1) + (R.random() < 0.03) for p in perm]
    return [P(x), maybe(perm, index())], {}


@case("Concat", "ConcatV2")
def concat(op):
    x = shape()
    values = [P(x), *(P(twist(x)) for _ in range(R.randint(1, 2)))]
    at = maybe(axis(x))
    return ([at, values] if op == "Concat" else [values, at]), {}


@case("Pack")
def pack(op):
    x = shape()
    return [[P(x), *(P(twist(x)) for _ in range(R.randint(0, 2)))]], {"axis": axis(x, 1)}


@case("Unpack")
def unpack(op):
    x = shape()
    at = axis(x)
    size = x[at] if x and -len(x) <= at < len(x) and R.random() < 0.8 else None
    return [P(x)], {"axis": at, "num": R.randint(0, 4) if size is None else size}


@case("Split")
def split(op):
    x = shape()
    return [maybe(axis(x)), P(x)], {"num_split": R.choice([1, 2, 3])}


@case("SplitV")
def split_v(op):
    x = shape()
    sizes = R.choice([[1, 1], [2, 4], [-1, 2], [6], [1, -1, 1], [-1, -1], [12, 0], [3, -2]])
    count = len(sizes) + (R.random() < 0.05)
    # With the sizes and without the axis, TensorFlow takes the last one.
    at = maybe(axis(x))
    sizes = maybe(sizes, index(), 0.0 if isinstance(at, P) else 0.8)
    return [P(x), sizes, at], {"num_split": count}


@case("Slice")
def slices(op):
    x, dtype = shape(), index()
    n = rank(x)
    return [P(x), maybe(ints(0, 2, n), dtype), maybe(ints(-1, 3, n), dtype)], {}


@case("StridedSlice")
def strided(op):
    x, dtype, n = shape(), index(), R.randint(0, 4)
    strides = [R.choice([1, 1, 1, 2, -1, -2, 0 if R.random() < 0.1 else 1]) for _ in range(n)]
    mask = lambda: R.choice([0, 0, R.randrange(16)])  # noqa: E731
    masks = {f"{m}_mask": mask() for m in ("begin", "end", "new_axis", "shrink_axis")}
    masks["ellipsis_mask"] = R.choice([0, 0, 1, 2, 4, 6])
    begin, end = maybe(ints(-4, 4, n), dtype), maybe(ints(-4, 7, n), dtype)
    return [P(x), begin, end, maybe(strides, dtype, 0.9)], masks


@case("Gather")
def gather(op):
    return [P(shape()), P(shape(), "int32")], {}


@case("GatherV2")
def gather_v2(op):
    x, y = shape(), shape(0, 1, 2, 3)
    # Without the axis, TensorFlow aborts if there are fewer dimensions than batch dimensions.
    known = R.random() < 0.8
    batch_dims = R.choice([0, 0, 0, 1, 1, 2, -1]) if known else 0
    return [P(x), P(y, "int32"), maybe(axis(x), index(), float(known))], {"batch_dims": batch_dims}


@case("GatherNd")
def gather_nd(op):
    return [P(shape()), P(shape(0, 1, 2, 3), "int32")], {}


@case("Tile")
def tile(op):
    x = shape()
    return [P(x), maybe(ints(-(R.random() < 0.1), 3, rank(x)), index())], {}


@case("Fill")
def fill(op):
    return [maybe(ints(-(R.random() < 0.1), 4, R.randint(0, 4)), index()), P(R.choice([[], [], None, [1]]))], {}


@case("Range")
def ranges(op):
    dtype = R.choice(["int32", "int64", "float32", "float64", "bfloat16", "int8", "uint32"])
    low = 0 if dtype == "uint32" else -9
    number = lambda low: R.randint(low, 9) if "int" in dtype else R.randint(low, 9) / 4  # noqa: E731
    return [maybe(number(low), dtype, 0.9), maybe(number(low), dtype, 0.95), maybe(number(max(low, -2)), dtype, 0.95)], {}


@case("LinSpace")
def lin_space(op):
    return [P(R.choice([[], [], None, [1]])), P([]), maybe(R.randint(-1, 5), index())], {}


@case("Pad", "PadV2", "MirrorPad")
def pad(op):
    x = shape()
    paddings = maybe([ints(-(R.random() < 0.1), 3, 2) for _ in range(max(1, rank(x)))], index())
    inputs = [P(x), paddings] + ([P([])] if op == "PadV2" else [])
    return inputs, {"mode": "REFLECT"} if op == "MirrorPad" else {}


@case("ReverseV2")
def reverse(op):
    x = shape()
    return [P(x), maybe([axis(x) for _ in range(R.randint(0, 2))], index())], {}


@case("OneHot")
def one_hot(op):
    x = shape()
    return [P(x, "int32"), maybe(R.randint(-1, 5)), P([]), P([])], {"axis": R.randint(-2, 4)}


@case("TopKV2")
def top_k(op):
    return [P(shape()), maybe(R.choice([0, 1, 2, 3, 4, -1, [1]]))], {}


@case("ExtractImagePatches")
def patches(op):
    x = R.choice([shape(3), shape(4), [2, 9, 11, 3], [None, 7, 8, 2], [1, None, 8, 2]])
    lists = {name: [1, R.randint(1, 3), R.randint(1, 3), 1] for name in ("ksizes", "strides", "rates")}
    return [P(x)], {**lists, "padding": R.choice(["SAME", "VALID"])}


@case("DepthToSpace", "SpaceToDepth")
def depth(op):
    x = R.choice([shape(4), shape(3, 5), [1, 4, 6, 12], [None, 12, 2, 4]])
    return [P(x)], {"block_size": R.choice([2, 2, 3]), "data_format": R.choice(["NHWC", "NCHW"])}


@case("SpaceToBatchND", "BatchToSpaceND")
def space(op):
    x = R.choice([shape(), [12, 4, 6, 3], [None, 4, 6], [4, None, 6], [6, 2, 3]])
    n = R.choice([1, 2, 2])
    block = maybe([R.choice([1, 2, 2, 3, 0 if R.random() < 0.1 else 1]) for _ in range(n)], index())
    borders = maybe([ints(-(R.random() < 0.05), 2, 2) for _ in range(n)], index())
    return [P(x), block, borders], {}


@case("SpaceToBatch", "BatchToSpace")
def squares(op):
    x = R.choice([shape(), [12, 4, 6, 3], [None, 4, 6, 2], [4, None, 6, None], [4, 2, 2], [9, 6, 3, 1]])
    borders = maybe(R.choice([[ints(-(R.random() < 0.05), 2, 2) for _ in range(2)], [[0, 0], [0, 0]], [[0, 0]]]), index())
    return [P(x), borders], {"block_size": R.choice([2, 2, 3])}


@case("LowerBound", "UpperBound")
def bound(op):
    return [P(R.choice([[2, 5], [None, 5], shape(2), shape()])), P(R.choice([[2, 3], [None, 3], shape(2), shape()]))], {}


@case("UnravelIndex")
def unravel(op):
    kind = index()
    return [P(R.choice([[], [5], [None], [2, 3], None]), kind), maybe(R.choice([[2, 3], [2, 3, 4], [7], 6, [[2, 3]]]), kind)], {}


@case("Betainc")
def beta(op):
    x = shape()
    return [P(R.choice([x, x, [], twist(x)])) for _ in range(3)], {}


@case("ParallelConcat")
def rows(op):
    row = R.choice([[2], [2, 3], []])
    inputs = [P(R.choice([[1, *row], [1, *row], [None, *row], None, [2, *row], [1, 2]])) for _ in range(R.randint(1, 3))]
    return [inputs], {"shape": R.choice([[len(inputs), *row], [len(inputs), *row], [4, *row], [None, *row], None, []])}


@case("ApproxTopK")
def approximate(op):
    x = R.choice([shape(), [3, 500], [2000], [4, 300, 2], [None, 130]])
    attrs = {"k": R.choice([0, 1, 2, 10, 100]), "reduction_dimension": R.choice([-1, -1, 0, 1]), "aggregate_to_topk": R.random() < 0.5,
             "recall_target": R.choice([0.95, 0.5, 0.99, 1.0]), "reduction_input_size_override": R.choice([-1, -1, 5000])}
    return [P(x)], attrs


def window(name, low=1):
    def four(data_format):
        rows, columns = R.randint(low, 3), R.randint(low, 3)
        return [1, rows, columns, 1] if data_format == "NHWC" else [1, 1, rows, columns]
    return name, four


def image(data_format):
    channels = R.choice([4, 4, None, 6])
    size = [R.choice([None, 5, 8, 9]), R.choice([None, 5, 7, 8])]
    batch = R.choice([None, 0, 1, 2])
    x = [batch, *size, channels] if data_format == "NHWC" else [batch, channels, *size]
    return R.choice([x] * 10 + [None, x[1:]])


def padding(data_format, explicit):
    kind = R.choice(["SAME", "VALID"] + ["EXPLICIT"] * explicit)
    attrs = {"padding": kind, "data_format": data_format}
    if kind == "EXPLICIT":
        around = ints(0, 2, 4)
        attrs["explicit_paddings"] = [0, 0, *around, 0, 0] if data_format == "NHWC" else [0, 0, 0, 0, *around]
    return attrs


@case("Conv2D", "DepthwiseConv2dNative")
def conv(op):
    data_format = R.choice(["NHWC", "NHWC", "NCHW"])
    attrs = padding(data_format, True)
    for name, make in (window("strides"), window("dilations")):
        attrs[name] = make(data_format)
    if op != "Conv2D":
        rows = attrs["strides"][1 if data_format == "NHWC" else 2]
        attrs["strides"] = [1, rows, rows, 1] if data_format == "NHWC" else [1, 1, rows, rows]
    kernel = [R.choice([1, 2, 3, None]), R.choice([1, 3]), R.choice([4, 4, 4, 2, None, 6]), R.choice([2, 4, None])]
    return [P(image(data_format)), P(R.choice([kernel] * 8 + [None, kernel[1:]]))], attrs


@case("MaxPool", "AvgPool")
def pool(op):
    data_format = R.choice(["NHWC", "NHWC", "NCHW"])
    attrs = padding(data_format, op == "MaxPool")
    for name, make in (window("ksize"), window("strides")):
        attrs[name] = make(data_format)
    return [P(image(data_format))], attrs


def volume():
    return R.choice([[2, 5, 6, 7, 4], [None, 5, None, 7, 4], [2, 3, 9, 4, 4], [1, 5, 6, 7, None], shape(5), shape(4)])


def moves(name):
    return {name: [1, R.randint(1, 3), R.randint(1, 3), R.randint(1, 3), 1], "padding": R.choice(["SAME", "VALID"])}


@case("Conv3D")
def convolve(op):
    filter = R.choice([[2, 3, 2, 4, 5], [1, 1, 3, 4, None], [None, 3, 2, 4, 5], [2, 2, 2, 3, 1], shape(5), [3, 3, 4, 5]])
    return [P(volume()), P(filter)], {**moves("strides"), "data_format": R.choice(["NDHWC", "NDHWC", "NCDHW"])}


@case("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")
def convolve_back(op):
    sizes = maybe(R.choice([[2, 5, 6, 7, 4], [2, 5, 6, 7, 4], [2, 5, 6, 7], [2, 5, -2, 7, 4], 5]), index() if op.endswith("InputV2") else "int32")
    others = [P(shape(5)), P(shape(5))]
    return [sizes, *others] if op.endswith("InputV2") else [others[0], sizes, others[1]], moves("strides")


@case("MaxPool3D", "AvgPool3D")
def pool_volumes(op):
    return [P(volume())], {**moves("ksize"), **moves("strides"), "data_format": R.choice(["NDHWC", "NDHWC", "NCDHW"])}


@case("MaxPool3DGrad", "MaxPool3DGradGrad")
def pool_volumes_back(op):
    x = volume()
    return [P(x), P(shape(5)), P(twist(x))], {**moves("ksize"), **moves("strides")}


@case("AvgPool3DGrad")
def mean_volumes_back(op):
    return [maybe(R.choice([[2, 5, 6, 7, 4], [2, 5, 6, 7], [2, 5, -2, 7, 4], 5]), "int32"), P(shape(5))], {**moves("ksize"), **moves("strides")}


@case("ExtractVolumePatches")
def patches_of_volumes(op):
    return [P(volume())], {**moves("ksizes"), **moves("strides")}


@case("BiasAdd")
def bias(op):
    x = R.choice([shape(), [2, 4, 4], [2, 5, 5, 4], [None, 4, 3]])
    return [P(x), P(R.choice([[4], [None], [3], None, []]))], {"data_format": R.choice(["NHWC", "NCHW"])}


@case("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def norm(op):
    data_format = R.choice(["NHWC", "NCHW"])
    vector = lambda: P(R.choice([[4], [4], [4], [None], None, [3] if R.random() < 0.2 else [4]]))  # noqa: E731
    training = R.random() < 0.5
    others = [P([0]), P([0])] if training else [vector(), vector()]
    return [P(image(data_format)), vector(), vector(), *others], {"data_format": data_format, "is_training": training}


@case("PlaceholderWithDefault")
def default(op):
    x = shape()
    return [P(x)], {"shape": twist(x)}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    whole = graph_pb2.GraphDef()
    failed = 0
    for op, make in CASES.items():
        for i in range(count):
            inputs, attrs = make(op)
            gd = graph(f"{op}/{i}", op, inputs, attrs)
            shapes, error = infer(gd)
            node = gd.node[-1]
            if shapes is None:
                node.attr["_error"].s = error.encode()[:80]
                failed += 1
            else:
                node.attr["_shapes"].list.SetInParent()
                node.attr["_shapes"].list.shape.extend(shapes)
            whole.node.extend(gd.node)
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "shapes.pb"
    out.write_bytes(whole.SerializeToString(deterministic=True))
    print(f"{count * len(CASES)} cases of {len(CASES)} ops, {failed} of them errors, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
