"""The core of the golden-case generator: typed tensors, raw NodeDefs, cases, and TensorFlow as the oracle.

Nothing here knows an op by name. A case is a list of NodeDefs under one prefix; the table modules (`cases_*.py`)
write one line per case and `generate.py` runs TensorFlow on them.
"""
import os
import pickle
import traceback
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, tensor_pb2, types_pb2
from tensorflow.python.framework import errors, kernels, op_def_registry

v1 = tf.compat.v1

# ---------------------------------------------------------------- dtypes and tensors

NUMPY = {
    "float": np.float32, "double": np.float64, "half": np.float16, "bfloat16": ml_dtypes.bfloat16,
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "complex64": np.complex64, "complex128": np.complex128, "bool": np.bool_, "string": object,
    "qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32,
    "float8_e5m2": ml_dtypes.float8_e5m2, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "float8_e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4,
    "int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2,
}
CORE = ("float", "int32")  # every form of an op is tried on these; on the others, one or two


def some(d, rows, n=1):
    """All rows for a core dtype, the first `n` for the others: a file of every form in every dtype would be huge."""
    return rows if d in CORE else rows[:n]


REAL = ("float", "double", "half", "bfloat16")
FLOAT8 = tuple(d for d in NUMPY if d.startswith("float8"))
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
QUANTIZED = ("qint8", "quint8", "qint16", "quint16", "qint32")
SMALL = ("int4", "uint4", "int2", "uint2")
OPAQUE = ("resource", "variant")  # no Const can hold one that another runtime could read


def enum(dtype):
    """The DataType number of a dtype name such as `float` or `int32`."""
    return types_pb2.DataType.Value("DT_" + dtype.upper())


def dtype_name(number):
    """The dtype name of a DataType number."""
    return types_pb2.DataType.Name(number)[3:].lower()


class Tensor:
    """A dtype name with its values; the dtype is TensorFlow's, so qint8 and int8 differ."""

    def __init__(self, dtype, values, shape=None):
        self.dtype = dtype
        with np.errstate(all="ignore"):
            whole = dtype in INTS and not isinstance(values, np.ndarray)
            array = np.array(values, NUMPY[dtype]) if whole else np.asarray(values)
            if dtype == "string":
                array = np.array([v if isinstance(v, bytes) else str(v).encode() for v in np.ravel(np.array(values, object))],
                                 object).reshape(np.shape(np.array(values, object)))
            elif array.dtype != NUMPY[dtype]:
                array = array.astype(NUMPY[dtype])
        self.array = array.reshape(shape) if shape is not None else array

    def proto(self):
        """The TensorProto: raw bytes for every fixed-size dtype, `string_val` for strings."""
        proto = tensor_pb2.TensorProto(dtype=enum(self.dtype))
        for n in self.array.shape:
            proto.tensor_shape.dim.add(size=n)
        if self.dtype == "string":
            proto.string_val.extend(self.array.ravel().tolist())
        else:
            proto.tensor_content = np.ascontiguousarray(self.array).tobytes()
        return proto


def T(dtype, values, shape=None):
    """A tensor of the given values."""
    return Tensor(dtype, values, shape)


def i32(values):
    """An int32 tensor."""
    return Tensor("int32", np.array(values, np.int32))


def i64(values):
    """An int64 tensor."""
    return Tensor("int64", np.array(values, np.int64))


def f32(values):
    """A float tensor."""
    return Tensor("float", np.array(values, np.float32))


def is_float(dtype):
    """Whether results of this dtype are compared with a tolerance."""
    return dtype in REAL or dtype in COMPLEX or dtype in FLOAT8


def limits(dtype):
    """(lowest, highest) of an integer dtype."""
    if dtype in SMALL:
        info = ml_dtypes.iinfo(NUMPY[dtype])
    else:
        info = np.iinfo(NUMPY[dtype])
    return int(info.min), int(info.max)


def R(dtype, shape, seed=0, scale=2.0, ints=None):
    """Pseudo-random values of any dtype; `ints=k` asks for whole numbers in [-k, k] (exact sums in every float)."""
    shape = tuple(np.atleast_1d(shape)) if shape != () else ()
    r = np.random.RandomState(zlib.crc32(repr((dtype, shape, seed)).encode()))
    if dtype == "string":
        return Tensor(dtype, np.array([b"s%d" % k for k in r.randint(0, 50, int(np.prod(shape)))], object).reshape(shape))
    if dtype == "bool":
        return Tensor(dtype, r.rand(*shape) < 0.5)
    if is_float(dtype):
        if ints is not None:
            v = r.randint(-ints, ints + 1, shape).astype(np.float64)
            if dtype in COMPLEX:
                v = v + 1j * r.randint(-ints, ints + 1, shape)
        else:
            v = r.normal(0, scale, shape)
            if dtype in COMPLEX:
                v = v + 1j * r.normal(0, scale, shape)
        return Tensor(dtype, v)
    low, high = limits(dtype)
    k = ints if ints is not None else 9
    return Tensor(dtype, r.randint(max(low, -k), min(high, k) + 1, shape))


# ---------------------------------------------------------------- kernels that TensorFlow has

_kernels = {}


def cpu_kernels(op):
    """Every unlabelled CPU or DEFAULT kernel of an op, as {attr: set of allowed dtype names or strings}."""
    if op not in _kernels:
        found = []
        for k in kernels.get_registered_kernels_for_op(op).kernel:
            if k.device_type in ("CPU", "DEFAULT") and not k.label:
                found.append((k.device_type, {
                    c.name: {dtype_name(t) for t in c.allowed_values.list.type} | {s.decode() for s in c.allowed_values.list.s}
                    for c in k.constraint}))
        _kernels[op] = found
    return _kernels[op]


def dtypes(op, attr="T", skip=OPAQUE):
    """The dtypes that some CPU kernel of `op` allows for `attr`, in enum order."""
    found = set()
    for _, constraints in cpu_kernels(op):
        found |= constraints.get(attr, set())
    allowed = allowed_dtypes(op, attr)
    return sorted((d for d in found if d not in skip and d in NUMPY and d in allowed), key=enum)


def allowed_dtypes(op, attr):
    """The dtypes that the OpDef itself allows for `attr` (some kernels stand on dtypes that their op forbids)."""
    found = [a for a in op_def_registry.get(op).attr if a.name == attr]
    listed = {dtype_name(t) for a in found for t in a.allowed_values.list.type}
    return listed or set(NUMPY) | set(OPAQUE)


# ---------------------------------------------------------------- tolerances

TOLERANCE = {"float": (1e-5, 1e-6), "double": (1e-12, 1e-13), "half": (2e-3, 2e-3), "bfloat16": (2e-2, 1e-2),
             "complex64": (1e-5, 2e-6), "complex128": (1e-12, 1e-13)}


def tol(dtype, factor=1.0):
    """The usual tolerance of a function that is not exact, times `factor`; None for exact dtypes."""
    return tuple(factor * t for t in TOLERANCE[dtype]) if dtype in TOLERANCE else None


# ---------------------------------------------------------------- cases

class Case:
    """One golden case: nodes under `name/`, the values to compare, and how exact they must be."""

    def __init__(self, name, tolerance=None, fails=False, risky=False, reference=None, optional=False):
        self.optional = optional  # quietly left out where TensorFlow has no kernel
        self.name, self.tolerance, self.fails, self.risky, self.reference = name, tolerance, fails, risky, reference
        self.nodes, self.values, self.under_test = [], [], []
        self.functions = []  # FunctionDefs that the nodes call
        self.shared = {}  # one Const for a tensor that several nodes read
        self.results = self.code = self.message = None

    def node(self, op, name, inputs, attrs, test=False):
        """Adds a NodeDef. `attrs` maps names to AttrValues, see `attr_value`."""
        node = node_def_pb2.NodeDef(name=f"{self.name}/{name}", op=op, input=inputs)
        for key in sorted(attrs):
            node.attr[key].CopyFrom(attrs[key])
        self.nodes.append(node)
        if test:
            self.under_test.append(node)
        return node.name

    def const(self, name, tensor):
        """Adds a Const node; `tensor` is a Tensor or a ready TensorProto."""
        proto = tensor if isinstance(tensor, tensor_pb2.TensorProto) else tensor.proto()
        node = node_def_pb2.NodeDef(name=f"{self.name}/{name}", op="Const")
        node.attr["dtype"].type = proto.dtype
        node.attr["value"].tensor.CopyFrom(proto)
        self.nodes.append(node)
        return node.name

    def input(self, name, tensor, dynamic=False):
        """Adds an input: a Const, behind a PlaceholderWithDefault of unknown shape if `dynamic`."""
        source = self.const(name, tensor)
        if not dynamic:
            return source
        shape = attr_value_pb2.AttrValue()
        shape.shape.unknown_rank = True
        return self.node("PlaceholderWithDefault", name + "d", [source],
                         {"dtype": attr_value("type", dtype_name(self.nodes[-1].attr["dtype"].type)), "shape": shape})

    def apply(self, op, inputs, dynamic=False, name="op", control=(), keep=None, **attrs):
        """Adds a node of any op, inferring type and count attrs from the inputs and spelling out every default.

        `inputs` has one entry an argument: a Tensor, a `name:k` string with its dtype as (string, dtype), or a list of
        those for `N * T` arguments. All outputs (or those in `keep`) become values under test.
        """
        opdef = op_def_registry.get(op)
        found, edges = dict(attrs), []
        count = len(self.nodes)
        for arg, given in zip(opdef.input_arg, inputs, strict=True):
            several = bool(arg.number_attr or arg.type_list_attr)
            parts = given if several else [given]
            if arg.number_attr:
                found.setdefault(arg.number_attr, len(parts))
            kinds = []
            for part in parts:
                dyn = dynamic
                if isinstance(part, tuple) and isinstance(part[0], Tensor):
                    part, dyn = part
                if isinstance(part, tuple):
                    edges.append(part[0])
                    kinds.append(part[1])
                else:
                    key = (part.proto().SerializeToString(deterministic=True), dyn)
                    if key not in self.shared:
                        self.shared[key] = self.input(f"{count}.{len(edges)}", part, dyn)
                    edges.append(self.shared[key])
                    kinds.append(part.dtype)
            if arg.type_attr and kinds:
                found.setdefault(arg.type_attr, kinds[0])
            elif arg.type_list_attr:
                found.setdefault(arg.type_list_attr, kinds)
        final = {}
        for attr in opdef.attr:
            if attr.name in found:
                final[attr.name] = attr_value(attr.type, found[attr.name])
            elif attr.HasField("default_value"):
                final[attr.name] = attr.default_value
        node = self.node(op, name, edges + ["^" + c for c in control], final, test=True)
        outputs = 0
        for arg in opdef.output_arg:
            if arg.number_attr:
                outputs += final[arg.number_attr].i
            elif arg.type_list_attr:
                outputs += len(final[arg.type_list_attr].list.type)
            else:
                outputs += 1
        for k in range(outputs) if keep is None else keep:
            kind = self._output_type(opdef, final, k)
            self.values.append((f"{node}:{k}" if k else node, kind))
        return node

    def _output_type(self, opdef, attrs, k):
        at = 0
        for arg in opdef.output_arg:
            if arg.type_list_attr:
                for t in attrs[arg.type_list_attr].list.type:
                    if at == k:
                        return dtype_name(t)
                    at += 1
                continue
            n = attrs[arg.number_attr].i if arg.number_attr else 1
            if k < at + n:
                return dtype_name(attrs[arg.type_attr].type if arg.type_attr else arg.type)
            at += n
        return "float"

    def question(self):
        """The nodes with `actual` Identities, but without any answer."""
        nodes = list(self.nodes)
        for k, (edge, kind) in enumerate(self.values[:1] if self.fails else self.values):
            node = node_def_pb2.NodeDef(name=f"{self.name}/actual/{k}", op="Identity", input=[edge])
            node.attr["T"].type = enum(kind)
            nodes.append(node)
        return nodes

    def answered(self):
        """The nodes with `actual`, `expected`, `tolerance` and `error`."""
        extra = Case(self.name)
        if self.fails:
            extra.const("error", Tensor("string", self.code))
        else:
            for k, proto in enumerate(self.results):
                extra.const(f"expected/{k}", proto)
            if self.tolerance is not None:
                extra.const("tolerance", f32(self.tolerance))
        return self.question() + extra.nodes


def functions_of(graph_def):
    """The functions of a GraphDef."""
    return getattr(graph_def, "library").function


class Traced(Case):
    """A case whose graph TensorFlow's own Python functions build: `build()` returns the tensors under test.

    Loops and branches are those of TensorFlow 1 unless `v2`.
    """

    def __init__(self, name, build, v2=False, **options):
        super().__init__(name, **options)
        (v1.enable_control_flow_v2 if v2 else v1.disable_control_flow_v2)()
        with v1.Graph().as_default() as graph:
            outputs = build()
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        built = graph.as_graph_def(add_shapes=False)
        prefix = name.replace("/", "_").replace("-", "_")
        functions = functions_of(built)
        renamed = {f.signature.name: f"{prefix}_{f.signature.name}" for f in functions}
        for f in functions:
            f.signature.name = renamed[f.signature.name]
            for node in f.node_def:
                self._rename(node, renamed)
            self.functions.append(f)
        for node in built.node:
            self._rename(node, renamed)
            node.name = f"{name}/{node.name}"
            node.input[:] = [f"^{name}/{i[1:]}" if i.startswith("^") else f"{name}/{i}" for i in node.input]
            node.attr.pop("_class", None)
            self.nodes.append(node)
        self.under_test = [node for node in self.nodes if node.op not in ("Const", "Placeholder")]
        self.values = [(f"{name}/{t.name}".removesuffix(":0"), dtype_name(t.dtype.base_dtype.as_datatype_enum)) for t in outputs]

    @staticmethod
    def _rename(node, functions):
        if node.op in functions:
            node.op = functions[node.op]
        for value in node.attr.values():
            for f in [value.func] if value.HasField("func") else value.list.func:
                f.name = functions.get(f.name, f.name)


def attr_value(kind, value):
    """An AttrValue of the OpDef's attr type `kind`."""
    a = attr_value_pb2.AttrValue()
    if isinstance(value, type(a)):
        return value
    if kind == "int":
        a.i = int(value)
    elif kind == "bool":
        a.b = bool(value)
    elif kind == "float":
        a.f = float(value)
    elif kind == "string":
        a.s = value if isinstance(value, bytes) else value.encode()
    elif kind == "type":
        a.type = enum(value)
    elif kind == "shape":
        if value is None:
            a.shape.unknown_rank = True
        else:
            a.shape.SetInParent()
            for n in value:
                a.shape.dim.add(size=n)
    elif kind == "tensor":
        a.tensor.CopyFrom(value if isinstance(value, tensor_pb2.TensorProto) else value.proto())
    elif kind == "list(shape)":
        a.list.SetInParent()
        for shape in value:
            a.list.shape.append(attr_value("shape", shape).shape)
    elif kind == "list(int)":
        a.list.i.extend(int(v) for v in value)
        a.list.SetInParent()
    elif kind == "list(string)":
        a.list.s.extend(v.encode() for v in value)
        a.list.SetInParent()
    elif kind == "list(float)":
        a.list.f.extend(float(v) for v in value)
        a.list.SetInParent()
    elif kind == "list(type)":
        a.list.type.extend(enum(v) for v in value)
        a.list.SetInParent()
    else:
        raise ValueError(f"attr type {kind}")
    return a


def one(op, dtype, tag, inputs, /, tolerance=None, risky=False, reference=None, dynamic=False, keep=None, optional=False, **attrs):
    """A case of one node: `Op/dtype/tag`, without the underscore of an internal op, with which no node's name begins."""
    case = Case(f"{op.lstrip('_')}/{dtype}/{tag}", tolerance, risky=risky, reference=reference, optional=optional)
    case.apply(op, inputs, dynamic=dynamic, keep=keep, **attrs)
    return case


def many(op, dtype, tag, rows, /, tolerance=None, risky=False, keep=None, **attrs):
    """A case of several nodes of one op; a row is a list of inputs, or (inputs, {attrs})."""
    case = Case(f"{op}/{dtype}/{tag}", tolerance, risky=risky)
    for k, row in enumerate(rows):
        inputs, own = row if isinstance(row, tuple) else (row, {})
        case.apply(op, inputs, name=f"op{k}", keep=keep, **{**attrs, **own})
    return case


def bad(op, dtype, tag, inputs, /, static=True, runtime=True, risky=False, **attrs):
    """Cases that must fail: with everything known when the graph is built, and with shapes known only when it runs."""
    for wanted, dynamic, suffix in ((static, False, ""), (runtime, True, "-runtime")):
        if wanted:
            case = Case(f"{op.lstrip('_')}/{dtype}/error-{tag}{suffix}", fails=True, risky=risky)
            case.apply(op, inputs, dynamic=dynamic, **attrs)
            yield case


# ---------------------------------------------------------------- the oracle

def _graph_def(nodes, cases):
    functions = [f for c in cases for f in c.functions]
    g = graph_pb2.GraphDef(node=nodes, **({"library": {"function": functions}} if functions else {}))
    g.versions.producer = v1.GRAPH_DEF_VERSION if hasattr(v1, "GRAPH_DEF_VERSION") else tf.version.GRAPH_DEF_VERSION
    return g


def graph_def(cases):
    """The GraphDef of a family, answers included."""
    return _graph_def([n for c in cases for n in c.answered()], cases)


def session(graph):
    """A session that runs the kernels themselves: no grappler, no folding, one thread."""
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    options = config.graph_options.optimizer_options
    options.opt_level = -1  # L0
    options.do_constant_folding = options.do_common_subexpression_elimination = options.do_function_inlining = False
    options.global_jit_level = -1
    return v1.Session(graph=graph, config=config)


def _code(error):
    if isinstance(error, errors.OpError):
        return [n for n, v in vars(errors).items() if n.isupper() and v == error.error_code][0]
    if isinstance(error, ValueError):
        return "INVALID_ARGUMENT"  # what import_graph_def makes of an InvalidArgumentError
    return "UNKNOWN " + type(error).__name__


def _message(error):
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    at = next((k for k, line in enumerate(lines) if line.startswith("[[{{node")), len(lines))
    return lines[max(at - 1, 0)][:300] if lines else ""


def _pack(array, kind):
    if kind == "string":
        return Tensor("string", array).proto().SerializeToString(deterministic=True)
    proto = tensor_pb2.TensorProto(dtype=enum(kind))
    for n in np.shape(array):
        proto.tensor_shape.dim.add(size=n)
    proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto.SerializeToString(deterministic=True)


def _ask(cases):
    """Runs cases in one graph. Returns, for each, (list of TensorProto bytes, None) or (None, (code, message))."""
    if not cases:
        return []
    try:
        with v1.Graph().as_default() as graph:
            tf.import_graph_def(_graph_def([n for c in cases for n in c.question()], cases), name="")
            fetches = [[f"{c.name}/actual/{k}:0" for k in range(1 if c.fails else len(c.values))] for c in cases]
            with session(graph) as s:
                values = s.run(fetches)
        return [([_pack(a, kind) for a, (_, kind) in zip(v, c.values)], None) for c, v in zip(cases, values)]
    except Exception as e:  # noqa: BLE001 - the point is to learn how TensorFlow fails
        if len(cases) == 1:
            return [(None, (_code(e), _message(e)))]
        middle = len(cases) // 2
        return _ask(cases[:middle]) + _ask(cases[middle:])


def isolated(function, *args):
    """Runs a function in a child process; None if the child died (TensorFlow can crash on some inputs)."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            data = pickle.dumps(function(*args))
            with os.fdopen(write, "wb") as f:
                f.write(data)
        except BaseException:  # noqa: BLE001 - the parent sees an empty answer, the reader sees why
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        data = f.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def _ask_isolated(cases, log):
    answers = isolated(_ask, cases)
    if answers is not None:
        return answers
    if len(cases) == 1:
        log(f"TensorFlow crashed: {cases[0].name}")
        return [(None, ("CRASH", ""))]
    middle = len(cases) // 2
    return _ask_isolated(cases[:middle], log) + _ask_isolated(cases[middle:], log)


def widen(case, log):
    """Grows a case's tolerance to what TensorFlow's distance from a correctly rounded function asks for."""
    kind = case.values[0][1]
    source = case.nodes[0].attr["value"].tensor
    x = np.frombuffer(source.tensor_content, NUMPY[kind]).astype(np.longdouble if kind == "double" else np.float64)
    got = np.frombuffer(case.results[0].tensor_content, NUMPY[kind])
    with np.errstate(all="ignore"):
        right = case.reference(x).astype(NUMPY[kind])
        got, right = got.astype(np.float64), right.astype(np.float64)
        rtol, atol = case.tolerance or (0.0, 0.0)
        both = np.isfinite(got) & np.isfinite(right)
        need = np.where(both, (np.abs(got - right) - atol) / np.abs(np.where(got == 0, 1, got)), 0)
        odd = ~both & ~((got == right) | (np.isnan(got) & np.isnan(right)))
    for k in np.flatnonzero(odd):
        log(f"{case.name}: TensorFlow says {got[k]}, correct is {right[k]}, of {x[k]!r}")
    if need.max() > rtol:
        k = need.argmax()
        case.tolerance = (float("%.1e" % (need.max() * 1.3)), atol)
        log(f"note: {case.name}: tolerance {case.tolerance}: TensorFlow says {got[k]!r}, correct is {right[k]!r}, of {x[k]!r}")


def answer(cases, log):
    """Fills in every case's results from TensorFlow. Returns the cases that belong in the file."""
    names = set()
    for c in cases:
        if c.name in names:
            raise ValueError(f"two cases named {c.name}")
        names.add(c.name)
    normal = [c for c in cases if not c.fails and not c.risky]
    failing = [c for c in cases if c.fails and not c.risky]
    risky = [c for c in cases if c.risky]
    pairs = list(zip(normal, _ask_isolated(normal, log)))
    pairs += list(zip(failing, isolated(lambda cs: [_ask([c])[0] for c in cs], failing) or
                      [_ask_isolated([c], log)[0] for c in failing]))
    pairs += [(c, _ask_isolated([c], log)[0]) for c in risky]
    kept = set()
    for c, (results, error) in pairs:
        if c.fails and error is not None and error[0] != "CRASH":
            c.code, c.message = error
            kept.add(c.name)
        elif not c.fails and results is not None:
            c.results = [tensor_pb2.TensorProto.FromString(b) for b in results]
            if c.reference:
                widen(c, log)
            kept.add(c.name)
        elif error is None:
            log(f"should fail but gives a value: {c.name}")
        elif not (c.optional and error[0] in ("UNIMPLEMENTED", "NOT_FOUND")):
            log(f"fails: {c.name}: {error[0]}: {error[1]}")
    return [c for c in cases if c.name in kept]
