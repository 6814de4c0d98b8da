"""Makes the same calls of TensorFlow's C API on whichever library it is given, and prints what they answer.

    python3 calls.py LIBRARY [SCENARIO...]

LIBRARY is `libtensorflow.so` of Kernlink's, or `libtensorflow_cc.so.2` of the package tensorflow-cpu 2.21.0 (in which case the
folder that it is in must be where its libtensorflow_framework.so.2 is). `compare.sh` runs both and shows where they differ.
"""

import ctypes as c
import os
import struct
import sys
import tempfile

FLOAT, DOUBLE, INT32, STRING, INT64, BOOL, RESOURCE = 1, 2, 3, 7, 9, 10, 20
P = c.c_void_p


class Output(c.Structure):
    _fields_ = [("oper", P), ("index", c.c_int)]


class AttrMetadata(c.Structure):
    _fields_ = [("is_list", c.c_ubyte), ("list_size", c.c_int64), ("type", c.c_int), ("total_size", c.c_int64)]


class Buffer(c.Structure):
    _fields_ = [("data", P), ("length", c.c_size_t), ("free", P)]


class WhileParams(c.Structure):
    _fields_ = [
        ("ninputs", c.c_int), ("cond_graph", P), ("cond_inputs", c.POINTER(Output)), ("cond_output", Output),
        ("body_graph", P), ("body_inputs", c.POINTER(Output)), ("body_outputs", c.POINTER(Output)), ("name", c.c_char_p),
    ]


class Library:
    """The functions of a library; `status` is handed to all that want one."""

    RESULTS = {
        "TF_Version": c.c_char_p, "TF_Message": c.c_char_p, "TF_OperationName": c.c_char_p,
        "TF_OperationOpType": c.c_char_p, "TF_OperationDevice": c.c_char_p, "TF_DeviceListName": c.c_char_p,
        "TF_DeviceListType": c.c_char_p, "TF_FunctionName": c.c_char_p, "TFE_OpGetName": c.c_char_p,
        "TFE_OpGetDevice": c.c_char_p, "TFE_TensorHandleDeviceName": c.c_char_p,
        "TFE_TensorHandleBackingDeviceName": c.c_char_p, "TF_OperationInput": Output, "TF_NewWhile": WhileParams,
        "TF_OperationGetAttrMetadata": AttrMetadata, "TF_Dim": c.c_int64, "TF_TensorByteSize": c.c_size_t,
        "TF_TensorElementCount": c.c_int64, "TF_DataTypeSize": c.c_size_t, "TFE_TensorHandleNumElements": c.c_int64,
        "TFE_TensorHandleDim": c.c_int64, "TF_DeviceListMemoryBytes": c.c_int64, "TF_GetCode": c.c_int,
        "TF_StringGetSize": c.c_size_t, "TF_TryEvaluateConstant": c.c_ubyte, "TF_SessionRun": None,
        "TFE_ContextHasFunction": c.c_ubyte,
    }
    INTS = (
        "Num", "Count", "Length", "Type", "Rank", "GetFunctions", "Consumers", "ControlInputs", "ControlOutputs",
        "MissingUnused", "IsHost",
    )

    def __init__(self, path):
        folder = os.path.dirname(path)
        framework = os.path.join(folder, "libtensorflow_framework.so.2")
        self.framework = c.CDLL(framework, mode=c.RTLD_GLOBAL) if os.path.exists(framework) else None
        self.main = c.CDLL(path, mode=c.RTLD_GLOBAL)
        self.status = self.function("TF_NewStatus")()

    def function(self, name):
        try:
            function = getattr(self.main, name)
        except AttributeError:
            function = getattr(self.framework, name)
        if name in self.RESULTS:
            function.restype = self.RESULTS[name]
        elif any(part in name for part in self.INTS) and "New" not in name:
            function.restype = c.c_int
        else:
            function.restype = P
        return function

    def __getattr__(self, name):
        function = self.function(name)

        def call(*arguments):
            return function(*[convert(argument) for argument in arguments])

        setattr(self, name, call)
        return call

    def outcome(self):
        code = self.TF_GetCode(self.status)
        return "OK" if code == 0 else f"{code} {self.TF_Message(self.status).decode(errors='replace')}"


def convert(argument):
    if isinstance(argument, bool):
        return c.c_ubyte(argument)
    if isinstance(argument, int):
        return c.c_void_p(argument) if argument > 0x7FFFFFFF else c.c_int64(argument)
    if isinstance(argument, str):
        return c.c_char_p(argument.encode())
    if isinstance(argument, float):
        return c.c_float(argument)
    return argument


def array(kind, values):
    return (kind * max(1, len(values)))(*values)


def say(*words):
    text = " ".join(str(word) for word in words)
    print("   ", text.replace("\n", "\\n").replace("\t", "\\t"))


class Caller:
    """What the scenarios are written with."""

    def __init__(self, library):
        self.tf = library
        self.s = library.status

    def tell(self, what, *result):
        """Prints the outcome, and clears it: TensorFlow leaves an error that comes in where it is."""
        say(f"{what}:", self.tf.outcome(), *result)
        self.tf.TF_SetStatus(self.s, 0, "")

    # Tensors.

    def tensor(self, dtype, shape, values=None, raw=None):
        tf = self.tf
        codes = {FLOAT: "f", DOUBLE: "d", INT32: "i", INT64: "q", BOOL: "?"}
        data = raw if raw is not None else struct.pack(f"<{len(values)}{codes[dtype]}", *values)
        tensor = tf.TF_AllocateTensor(dtype, array(c.c_int64, shape), len(shape), len(data))
        if tensor is None:
            return None
        if data:
            c.memmove(tf.TF_TensorData(tensor), data, len(data))
        return tensor

    def strings(self, shape, values):
        tf = self.tf
        tensor = tf.TF_AllocateTensor(STRING, array(c.c_int64, shape), len(shape), 24 * len(values))
        base = tf.TF_TensorData(tensor)
        for i, value in enumerate(values):
            tf.TF_StringInit(P(base + 24 * i))
            tf.TF_StringCopy(P(base + 24 * i), c.c_char_p(value), c.c_size_t(len(value)))
        return tensor

    def values(self, tensor):
        tf = self.tf
        if not tensor:
            return None
        dtype, rank = tf.TF_TensorType(tensor), tf.TF_NumDims(tensor)
        shape = [tf.TF_Dim(tensor, i) for i in range(rank)]
        size, data = tf.TF_TensorByteSize(tensor), tf.TF_TensorData(tensor)
        if dtype == STRING:
            count = tf.TF_TensorElementCount(tensor)
            tf.function("TF_StringGetDataPointer").restype = P
            found = []
            for i in range(count):
                place = P(data + 24 * i)
                found.append(c.string_at(tf.TF_StringGetDataPointer(place), tf.TF_StringGetSize(place)))
            return dtype, shape, found
        raw = c.string_at(data, size) if size else b""
        codes = {FLOAT: "f", DOUBLE: "d", INT32: "i", INT64: "q", BOOL: "?"}
        if dtype in codes:
            count = size // struct.calcsize(codes[dtype])
            return dtype, shape, [round(v, 5) if isinstance(v, float) else v for v in struct.unpack(f"<{count}{codes[dtype]}", raw)]
        return dtype, shape, raw

    # Graphs.

    def node(self, graph, op, name, inputs=(), tell=False, controls=(), device=None, lists=(), **attrs):
        tf = self.tf
        description = tf.TF_NewOperation(graph, op, name)
        for value in inputs:
            tf.TF_AddInput(description, value if isinstance(value, Output) else Output(value, 0))
        for values in lists:
            tf.TF_AddInputList(description, array(Output, [Output(value, 0) for value in values]), len(values))
        for control in controls:
            tf.TF_AddControlInput(description, control)
        if device is not None:
            tf.TF_SetDevice(description, device)
        for key, value in attrs.items():
            self.attr(description, key, value)
        made = tf.TF_FinishOperation(description, self.s)
        if tell:
            self.tell(f"{op} {name}", "made" if made else "null")
        return made

    def attr(self, description, key, value):
        tf = self.tf
        kind, value = value if isinstance(value, tuple) else (None, value)
        if kind == "type":
            tf.TF_SetAttrType(description, key, value)
        elif kind == "types":
            tf.TF_SetAttrTypeList(description, key, array(c.c_int, value), len(value))
        elif kind == "int":
            tf.TF_SetAttrInt(description, key, value)
        elif kind == "ints":
            tf.TF_SetAttrIntList(description, key, array(c.c_int64, value), len(value))
        elif kind == "float":
            tf.function("TF_SetAttrFloat")(P(description), c.c_char_p(key.encode()), c.c_float(value))
        elif kind == "floats":
            tf.TF_SetAttrFloatList(description, key, array(c.c_float, value), len(value))
        elif kind == "bool":
            tf.TF_SetAttrBool(description, key, value)
        elif kind == "string":
            tf.TF_SetAttrString(description, key, c.c_char_p(value), c.c_size_t(len(value)))
        elif kind == "strings":
            pointers, lengths = array(c.c_char_p, value), array(c.c_size_t, [len(v) for v in value])
            tf.TF_SetAttrStringList(description, key, pointers, lengths, len(value))
        elif kind == "shape":
            dims = array(c.c_int64, value or [])
            tf.TF_SetAttrShape(description, key, dims, -1 if value is None else len(value))
        elif kind == "shapes":
            dims = [array(c.c_int64, v or []) for v in value]
            pointers = array(P, [c.addressof(d) for d in dims])
            tf.TF_SetAttrShapeList(description, key, pointers, array(c.c_int, [-1 if v is None else len(v) for v in value]), len(value))
        elif kind == "tensor":
            tf.TF_SetAttrTensor(description, key, value, self.s)
        elif kind == "func":
            tf.TF_SetAttrFuncName(description, key, value, c.c_size_t(len(value)))
        else:
            raise ValueError(key)

    def placeholder(self, graph, name, dtype=FLOAT, shape=None, tell=False):
        return self.node(graph, "Placeholder", name, tell=tell, dtype=("type", dtype), shape=("shape", shape))

    def constant(self, graph, name, dtype, shape, values):
        tensor = self.tensor(dtype, shape, values)
        made = self.node(graph, "Const", name, dtype=("type", dtype), value=("tensor", tensor))
        self.tf.TF_DeleteTensor(tensor)
        return made

    def names(self, graph):
        tf, place, found = self.tf, c.c_size_t(0), []
        while True:
            operation = tf.TF_GraphNextOperation(graph, c.byref(place))
            if not operation:
                return found
            inputs = []
            for i in range(tf.TF_OperationNumInputs(operation)):
                source = tf.function("TF_OperationInput")(Output(operation, i))
                inputs.append(f"{tf.TF_OperationName(source.oper).decode()}:{source.index}")
            found.append(f"{tf.TF_OperationName(operation).decode()}={tf.TF_OperationOpType(operation).decode()}({','.join(inputs)})")

    # Sessions.

    def session(self, graph):
        tf = self.tf
        options = tf.TF_NewSessionOptions()
        session = tf.TF_NewSession(graph, options, self.s)
        tf.TF_DeleteSessionOptions(options)
        return session

    def run(self, what, session, feeds=(), fetches=(), targets=(), options=None, metadata=None):
        tf = self.tf
        outputs = array(P, [None] * len(fetches))
        tf.TF_SessionRun(
            session, options, array(Output, [f for f, _ in feeds]), array(P, [t for _, t in feeds]), len(feeds),
            array(Output, list(fetches)), outputs, len(fetches), array(P, list(targets)), len(targets), metadata, self.s,
        )
        self.tell(what, [self.values(outputs[i]) for i in range(len(fetches))])


SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


@scenario
def status(k):
    tf, s = k.tf, k.s
    k.tell("fresh")
    for code in [0, 3, 5, 16, 42]:
        tf.TF_SetStatus(s, code, "why")
        k.tell(f"set {code}")
    tf.TF_SetStatusFromIOError(s, 2, "opening")
    k.tell("from errno 2")
    tf.TF_SetStatusFromIOError(s, 13, "opening")
    k.tell("from errno 13")
    tf.TF_SetStatus(s, 0, "")
    for dtype in list(range(0, 32)) + [101, 120, 999]:
        say("size of dtype", dtype, tf.TF_DataTypeSize(dtype))


@scenario
def tensors(k):
    tf = k.tf
    for dtype, shape, length in [(FLOAT, [2, 3], 24), (FLOAT, [2, 3], 20), (FLOAT, [2, 3], 40), (FLOAT, [], 4), (FLOAT, [0, 5], 0), (STRING, [2], 48)]:
        t = tf.TF_AllocateTensor(dtype, array(c.c_int64, shape), len(shape), length)
        if not t:
            say("allocate", dtype, shape, length, "null")
            continue
        say("allocate", dtype, shape, length, tf.TF_NumDims(t), tf.TF_TensorByteSize(t), tf.TF_TensorElementCount(t))
        tf.TF_DeleteTensor(t)
    for values in [[b"", b"a", b"x" * 22, b"y" * 23, b"z" * 1000], [b"\0zero\0", "häß".encode()]]:
        t = k.strings([len(values)], values)
        say("strings", k.values(t))
        tf.TF_DeleteTensor(t)


@scenario
def building(k):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    p = k.placeholder(g, "p", FLOAT, [-1, 3], tell=True)
    k.placeholder(g, "p", FLOAT, [-1, 3], tell=True)
    k.placeholder(g, "bad name", tell=True)
    k.node(g, "Placeholder", "no_type", tell=True)
    k.node(g, "NoSuchOp", "x", tell=True)
    k.node(g, "AddV2", "one", [p], tell=True)
    k.node(g, "AddV2", "three", [p, p, p], tell=True)
    i = k.placeholder(g, "i", INT32, None)
    k.node(g, "AddV2", "mixed", [p, i], tell=True)
    k.node(g, "Neg", "n", [p], tell=True)
    k.node(g, "Neg", "n5", [Output(p, 5)], tell=True)
    k.node(g, "Neg", "unknown_attr", [p], tell=True, foo=("int", 3))
    k.node(g, "AddN", "sum", lists=[[p, p, p]], tell=True)
    k.node(g, "AddN", "none", lists=[[]], tell=True)
    n = tf.TF_GraphOperationByName(g, "n")
    k.node(g, "NoOp", "after", controls=[n, p], tell=True)
    after = tf.TF_GraphOperationByName(g, "after")
    say("controls", tf.TF_OperationNumControlInputs(after), tf.TF_OperationNumControlOutputs(p), tf.TF_OperationNumControlOutputs(n))
    say("consumers", tf.TF_OperationOutputNumConsumers(Output(p, 0)))
    sum_ = tf.TF_GraphOperationByName(g, "sum")
    say("sum", tf.TF_OperationNumInputs(sum_), tf.TF_OperationNumOutputs(sum_), tf.TF_OperationOutputType(Output(sum_, 0)))
    k.tell("list length", tf.TF_OperationInputListLength(sum_, "inputs", s))
    k.tell("list length of none", tf.TF_OperationInputListLength(sum_, "nope", s))
    k.tell("output list length", tf.TF_OperationOutputListLength(sum_, "sum", s))
    k.node(g, "Neg", "on_gpu", [p], tell=True, device="/device:GPU:7")
    k.node(g, "Neg", "bad_device", [p], tell=True, device="nonsense")
    say("device", tf.TF_OperationDevice(tf.TF_GraphOperationByName(g, "on_gpu") or p))
    say("absent", tf.TF_GraphOperationByName(g, "absent"))
    say(k.names(g))
    rank = tf.TF_GraphGetTensorNumDims(g, Output(p, 0), s)
    k.tell("rank", rank)
    dims = array(c.c_int64, [7, 7])
    tf.TF_GraphGetTensorShape(g, Output(p, 0), dims, 2, s)
    k.tell("shape", list(dims))
    tf.TF_GraphGetTensorShape(g, Output(p, 0), dims, 3, s)
    k.tell("shape of wrong rank")
    k.tell("rank unknown", tf.TF_GraphGetTensorNumDims(g, Output(i, 0), s))
    tf.TF_GraphSetTensorShape(g, Output(i, 0), array(c.c_int64, [2, -1]), 2, s)
    k.tell("set shape", tf.TF_GraphGetTensorNumDims(g, Output(i, 0), s))
    tf.TF_GraphSetTensorShape(g, Output(i, 0), array(c.c_int64, [-1, 4]), 2, s)
    tf.TF_GraphGetTensorShape(g, Output(i, 0), dims, 2, s)
    k.tell("merged", list(dims))
    tf.TF_GraphSetTensorShape(g, Output(i, 0), array(c.c_int64, [3, 4]), 2, s)
    k.tell("contradiction")
    buffer = tf.TF_NewBuffer()
    tf.TF_GraphToGraphDef(g, buffer, s)
    k.tell("to graph def")
    tf.TF_GraphGetOpDef(g, "NoSuchOp", buffer, s)
    k.tell("op def of none")
    tf.TF_GraphGetOpDef(g, "Neg", buffer, s)
    k.tell("op def of Neg")
    tf.TF_DeleteBuffer(buffer)
    tf.TF_DeleteGraph(g)


@scenario
def attrs(k):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    p = k.placeholder(g, "p", FLOAT, [-1, 3])
    u = k.placeholder(g, "u", FLOAT, None)
    x = k.placeholder(g, "x", FLOAT, [1, 5, 5, 2])
    pool = k.node(g, "MaxPool", "pool", [x], tell=True, ksize=("ints", [1, 2, 2, 1]), strides=("ints", [1, 1, 1, 1]), padding=("string", b"SAME"))
    queue = k.node(g, "FIFOQueueV2", "queue", tell=True, component_types=("types", [FLOAT, INT32]), shapes=("shapes", [[2, 3], []]), capacity=("int", 7))
    const = k.constant(g, "c", INT64, [3], [1, 2, 3])
    extra = k.node(g, "Neg", "extra", [p], tell=True, a=("bool", True), b=("float", 2.5), s=("strings", [b"one", b"", b"three"]), f=("floats", [0.5, 1.5]), sh=("shapes", [[1, -1], None, []]), e=("ints", []), sc=("string", b"text"))

    def metadata(operation, name):
        m = tf.function("TF_OperationGetAttrMetadata")(P(operation), c.c_char_p(name.encode()), P(s))
        k.tell(f"metadata {name}", (m.is_list, m.list_size, m.type, m.total_size) if tf.TF_GetCode(s) == 0 else "")

    for operation, names in [(p, ["dtype", "shape", "nope"]), (u, ["shape"]), (pool, ["ksize", "padding", "data_format", "T"]), (queue, ["component_types", "shapes", "capacity", "container"]), (const, ["value", "dtype"]), (extra, ["a", "b", "s", "f", "sh", "e", "sc"])]:
        for name in names:
            metadata(operation, name)
    value = c.c_int64(-7)
    for operation, name in [(queue, "capacity"), (p, "dtype"), (p, "nope"), (pool, "ksize")]:
        tf.TF_OperationGetAttrInt(operation, name, c.byref(value), s)
        k.tell(f"int {name}", value.value)
    kind = c.c_int(-7)
    for operation, name in [(p, "dtype"), (queue, "capacity"), (p, "nope"), (queue, "component_types")]:
        tf.TF_OperationGetAttrType(operation, name, c.byref(kind), s)
        k.tell(f"type {name}", kind.value)
    flag, number = c.c_ubyte(9), c.c_float(9)
    tf.TF_OperationGetAttrBool(extra, "a", c.byref(flag), s)
    k.tell("bool", flag.value)
    tf.TF_OperationGetAttrFloat(extra, "b", c.byref(number), s)
    k.tell("float", number.value)
    text = c.create_string_buffer(b"-" * 8, 8)
    for length in [8, 4, 2, 0]:
        tf.TF_OperationGetAttrString(pool, "padding", text, c.c_size_t(length), s)
        k.tell(f"string {length}", text.raw)
    ints = array(c.c_int64, [-7] * 6)
    for length in [6, 4, 2]:
        tf.TF_OperationGetAttrIntList(pool, "ksize", ints, length, s)
        k.tell(f"ints {length}", list(ints))
    tf.TF_OperationGetAttrIntList(p, "dtype", ints, 6, s)
    k.tell("ints of a type")
    tf.TF_OperationGetAttrIntList(p, "nope", ints, 6, s)
    k.tell("ints of none")
    kinds = array(c.c_int, [-7] * 3)
    tf.TF_OperationGetAttrTypeList(queue, "component_types", kinds, 3, s)
    k.tell("types", list(kinds))
    floats = array(c.c_float, [-7] * 3)
    tf.TF_OperationGetAttrFloatList(extra, "f", floats, 3, s)
    k.tell("floats", list(floats))
    for size in [64, 8, 7]:
        values, lengths, storage = array(P, [None] * 3), array(c.c_size_t, [0] * 3), c.create_string_buffer(64)
        tf.TF_OperationGetAttrStringList(extra, "s", values, lengths, 3, storage, c.c_size_t(size), s)
        k.tell(f"strings {size}", [c.string_at(values[i], lengths[i]) for i in range(3)] if tf.TF_GetCode(s) == 0 else "")
    shape = array(c.c_int64, [-7] * 4)
    for operation in [p, u]:
        for rank in [2, 3, 1]:
            tf.TF_OperationGetAttrShape(operation, "shape", shape, rank, s)
            k.tell(f"shape {rank}", list(shape))
    for size in [8, 2, 1]:
        dims, ranks, storage = array(P, [None] * 3), array(c.c_int, [-7] * 3), array(c.c_int64, [-7] * 8)
        tf.TF_OperationGetAttrShapeList(extra, "sh", dims, ranks, 3, storage, size, s)
        k.tell(f"shapes {size}", list(ranks), list(storage))
    tensor = P()
    tf.TF_OperationGetAttrTensor(const, "value", c.byref(tensor), s)
    k.tell("tensor", k.values(tensor.value))
    buffer = tf.TF_NewBuffer()
    tf.TF_OperationGetAttrValueProto(queue, "capacity", buffer, s)
    k.tell("value proto", c.string_at(Buffer.from_address(buffer).data, Buffer.from_address(buffer).length))
    tf.TF_OperationGetAttrValueProto(queue, "nope", buffer, s)
    k.tell("value proto of none")
    description = tf.TF_NewOperation(g, "Neg", "proto")
    tf.TF_AddInput(description, Output(p, 0))
    tf.TF_SetAttrValueProto(description, "z", c.c_char_p(b"\xff\xff"), c.c_size_t(2), s)
    k.tell("bad value proto")
    tf.TF_SetAttrValueProto(description, "z", c.c_char_p(b"\x18\x05"), c.c_size_t(2), s)
    k.tell("value proto set")
    tf.TF_FinishOperation(description, s)
    k.tell("finished")
    metadata(tf.TF_GraphOperationByName(g, "proto"), "z")


def graph_def(k, build):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    build(g)
    buffer = tf.TF_NewBuffer()
    tf.TF_GraphToGraphDef(g, buffer, s)
    tf.TF_DeleteGraph(g)
    return buffer


@scenario
def importing(k):
    tf, s = k.tf, k.s

    def build(g):
        p = k.placeholder(g, "p", FLOAT, [2])
        q = k.node(g, "Neg", "scope/q", [p])
        k.node(g, "AddV2", "add", [p, q], controls=[q])
    data = graph_def(k, build)

    def imported(what, graph, returns=(), operations=(), maps=(), remap=(), controls=(), **options):
        o = tf.TF_NewImportGraphDefOptions()
        if "prefix" in options:
            tf.TF_ImportGraphDefOptionsSetPrefix(o, options["prefix"])
        if "names" in options:
            tf.TF_ImportGraphDefOptionsSetUniquifyNames(o, options["names"])
        if "uniquify_prefix" in options:
            tf.TF_ImportGraphDefOptionsSetUniquifyPrefix(o, options["uniquify_prefix"])
        if "device" in options:
            tf.TF_ImportGraphDefOptionsSetDefaultDevice(o, options["device"])
        for name, index, output in maps:
            tf.TF_ImportGraphDefOptionsAddInputMapping(o, name, index, output)
        for name, operation in remap:
            tf.TF_ImportGraphDefOptionsRemapControlDependency(o, name, operation)
        for operation in controls:
            tf.TF_ImportGraphDefOptionsAddControlDependency(o, operation)
        for name, index in returns:
            tf.TF_ImportGraphDefOptionsAddReturnOutput(o, name, index)
        for name in operations:
            tf.TF_ImportGraphDefOptionsAddReturnOperation(o, name)
        results = tf.TF_GraphImportGraphDefWithResults(graph, data, o, s)
        told = []
        if results:
            count, outputs = c.c_int(0), P()
            tf.TF_ImportGraphDefResultsReturnOutputs(results, c.byref(count), c.byref(outputs))
            found = c.cast(outputs, c.POINTER(Output))
            told.append([f"{tf.TF_OperationName(found[i].oper).decode()}:{found[i].index}" for i in range(count.value)])
            tf.TF_ImportGraphDefResultsReturnOperations(results, c.byref(count), c.byref(outputs))
            found = c.cast(outputs, c.POINTER(P))
            told.append([tf.TF_OperationName(found[i]).decode() for i in range(count.value)])
            names, indices = P(), P()
            tf.TF_ImportGraphDefResultsMissingUnusedInputMappings(results, c.byref(count), c.byref(names), c.byref(indices))
            found, index = c.cast(names, c.POINTER(c.c_char_p)), c.cast(indices, c.POINTER(c.c_int))
            told.append([f"{found[i].decode()}:{index[i]}" for i in range(count.value)])
            tf.TF_DeleteImportGraphDefResults(results)
        k.tell(what, told)
        tf.TF_DeleteImportGraphDefOptions(o)

    g = tf.TF_NewGraph()
    imported("plain", g, returns=[("add", 0), ("p", 0)], operations=["scope/q"])
    imported("again", g)
    imported("with prefix", g, prefix="pre", returns=[("add", 0)])
    imported("with prefix and slash", g, prefix="post/", returns=[("add", 0)])
    imported("bad prefix", g, prefix="bad prefix")
    imported("unique names", g, names=True, returns=[("add", 0), ("scope/q", 0)])
    imported("unique prefix", g, prefix="pre", uniquify_prefix=True, returns=[("add", 0)])
    imported("no such output", g, prefix="r1", returns=[("x", 0)])
    imported("no such index", g, prefix="r2", returns=[("add", 4)])
    imported("no such operation", g, prefix="r3", operations=["x"])
    own = k.placeholder(g, "own", FLOAT, [2])
    imported("mapped", g, prefix="m1", maps=[("p", 0, Output(own, 0))], returns=[("add", 0), ("p", 0)])
    imported("unused mapping", g, prefix="m2", maps=[("scope/q", 3, Output(own, 0)), ("nowhere", 0, Output(own, 0))])
    whole = k.placeholder(g, "whole", INT32, [2])
    imported("mapped to another dtype", g, prefix="m3", maps=[("p", 0, Output(whole, 0))])
    imported("control dependency", g, prefix="c1", controls=[own], operations=["p", "add"])
    imported("control remapped", g, prefix="c2", remap=[("scope/q", own)], operations=["add"])
    for name in ["c1/p", "c1/add", "c2/add"]:
        operation = tf.TF_GraphOperationByName(g, name)
        if operation:
            count = tf.TF_OperationNumControlInputs(operation)
            controls = array(P, [None] * count)
            tf.TF_OperationGetControlInputs(operation, controls, count)
            say("controls of", name, sorted(tf.TF_OperationName(controls[i]).decode() for i in range(count)))
    imported("default device", g, prefix="d", device="/device:CPU:0")
    operation = tf.TF_GraphOperationByName(g, "d/add")
    say("device", tf.TF_OperationDevice(operation) if operation else None)
    say(k.names(g))
    bad = tf.TF_NewBufferFromString(c.c_char_p(b"\xff\xff\xff"), c.c_size_t(3))
    options = tf.TF_NewImportGraphDefOptions()
    tf.TF_GraphImportGraphDef(g, bad, options, s)
    k.tell("no graph")


@scenario
def running(k):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    p = k.placeholder(g, "p", FLOAT, [-1, 3])
    n = k.node(g, "Neg", "n", [p])
    session = k.session(g)
    k.tell("session")
    x = k.tensor(FLOAT, [1, 3], [1, 2, 3])
    po, no = Output(p, 0), Output(n, 0)
    k.run("run", session, [(po, x)], [no])
    k.run("twice", session, [(po, x)], [no, no, po])
    k.run("unfed", session, [], [no])
    k.run("nothing", session, [(po, x)], [])
    k.run("target", session, [(po, x)], [], [n])
    k.run("fed twice", session, [(po, x), (po, x)], [no])
    k.run("bad index", session, [(po, x)], [Output(n, 3)])
    k.run("negative index", session, [(po, x)], [Output(n, -1)])
    k.run("bad feed index", session, [(Output(p, 2), x)], [no])
    i = k.tensor(INT32, [1, 3], [1, 2, 3])
    k.run("wrong dtype", session, [(po, i)], [no])
    wrong = k.tensor(FLOAT, [2], [1, 2])
    k.run("wrong shape", session, [(po, wrong)], [no])
    k.run("fed in the middle", session, [(no, x)], [no])
    two = k.node(g, "AddV2", "two", [n, n])
    k.run("after growing", session, [(po, x)], [Output(two, 0)])
    k.run("fed in the middle", session, [(no, x)], [Output(two, 0)])
    bad = tf.TF_NewBufferFromString(c.c_char_p(b"\xff\xff"), c.c_size_t(2))
    k.run("bad options", session, [(po, x)], [no], options=P(bad))
    full = tf.TF_NewBufferFromString(c.c_char_p(b"\x00\x00"), c.c_size_t(2))
    k.run("full metadata", session, [(po, x)], [no], metadata=P(full))
    variable = k.node(g, "VarHandleOp", "v", dtype=("type", FLOAT), shape=("shape", [2]), shared_name=("string", b"v"))
    one = k.constant(g, "one", FLOAT, [2], [1, 1])
    assign = k.node(g, "AssignVariableOp", "assign", [variable, one], dtype=("type", FLOAT))
    add = k.node(g, "AssignAddVariableOp", "more", [variable, one], dtype=("type", FLOAT))
    read = k.node(g, "ReadVariableOp", "read", [variable], dtype=("type", FLOAT))
    k.run("read before", session, [], [Output(read, 0)])
    k.run("assign", session, [], [], [assign])
    k.run("add", session, [], [], [add])
    k.run("read", session, [], [Output(read, 0)])
    more = k.node(g, "AssignAddVariableOp", "again", [variable, one], dtype=("type", FLOAT))
    k.run("add again", session, [], [], [more])
    k.run("read again", session, [], [Output(read, 0)])
    text = k.strings([2], [b"a" * 40, b""])
    names = k.placeholder(g, "names", STRING, None)
    joined = k.node(g, "StringUpper", "upper", [names])
    k.run("strings", session, [(Output(names, 0), text)], [Output(joined, 0)])
    # Whatever fails while it runs.
    zero = k.constant(g, "zero", INT32, [], [0])
    whole = k.placeholder(g, "whole", INT32, [])
    division = k.node(g, "FloorDiv", "division", [whole, zero])
    k.run("division", session, [(Output(whole, 0), k.tensor(INT32, [], [7]))], [Output(division, 0)])
    devices = tf.TF_SessionListDevices(session, s)
    k.tell("devices")
    for d in range(tf.TF_DeviceListCount(devices)):
        k.tell("device", tf.TF_DeviceListName(devices, d, s), tf.TF_DeviceListType(devices, d, s), tf.TF_DeviceListMemoryBytes(devices, d, s))
    tf.TF_DeviceListName(devices, 99, s)
    k.tell("no device")
    tf.TF_CloseSession(session, s)
    k.tell("close")
    tf.TF_CloseSession(session, s)
    k.tell("close again")
    k.run("closed", session, [(po, x)], [no])
    tf.TF_DeleteSession(session, s)
    k.tell("delete")
    options = tf.TF_NewSessionOptions()
    tf.TF_SetConfig(options, c.c_char_p(b"\xff\xff"), c.c_size_t(2), s)
    k.tell("bad config")
    tf.TF_SetTarget(options, "nonsense")
    tf.TF_NewSession(g, options, s)
    k.tell("bad target")


@scenario
def partial(k):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    a, b = k.placeholder(g, "a", FLOAT, []), k.placeholder(g, "b", FLOAT, [])
    n = k.node(g, "Neg", "n", [a])
    m = k.node(g, "AddV2", "m", [n, b])
    session = k.session(g)
    handle = P()
    feeds, fetches = array(Output, [Output(a, 0), Output(b, 0)]), array(Output, [Output(n, 0), Output(m, 0)])
    tf.TF_SessionPRunSetup(session, feeds, 2, fetches, 2, None, 0, c.byref(handle), s)
    k.tell("setup", bool(handle.value))

    def step(what, feeds, fetches):
        outputs = array(P, [None] * len(fetches))
        tf.TF_SessionPRun(session, handle, array(Output, [f for f, _ in feeds]), array(P, [t for _, t in feeds]), len(feeds), array(Output, fetches), outputs, len(fetches), None, 0, s)
        k.tell(what, [k.values(outputs[i]) for i in range(len(fetches))])
    step("first", [(Output(a, 0), k.tensor(FLOAT, [], [2]))], [Output(n, 0)])
    step("same again", [(Output(a, 0), k.tensor(FLOAT, [], [2]))], [Output(n, 0)])
    step("second", [(Output(b, 0), k.tensor(FLOAT, [], [5]))], [Output(m, 0)])
    step("over", [(Output(b, 0), k.tensor(FLOAT, [], [5]))], [Output(m, 0)])
    tf.TF_DeletePRunHandle(handle)
    tf.TF_SessionPRunSetup(session, feeds, 2, fetches, 0, None, 0, c.byref(handle), s)
    k.tell("setup of nothing", bool(handle.value))


@scenario
def functions(k):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    p = k.placeholder(g, "P/x", FLOAT, [2])
    q = k.placeholder(g, "q", FLOAT, [2])
    one = k.constant(g, "one", FLOAT, [], [1])
    add = k.node(g, "AddV2", "add", [p, one])
    neg = k.node(g, "Neg", "neg", [add])

    def function(what, name, inputs, outputs, operations=None, names=None, append=False, description=None):
        made = tf.TF_GraphToFunction(
            g, name, append, -1 if operations is None else len(operations), array(P, operations or []), len(inputs),
            array(Output, [Output(i, 0) for i in inputs]), len(outputs), array(Output, [Output(o, 0) for o in outputs]),
            None if names is None else array(c.c_char_p, names), None, description, s,
        )
        k.tell(what)
        if made:
            say("name", tf.TF_FunctionName(made).decode() if not append else "(made)")
        return made

    f = function("whole", "F", [p, q], [neg])
    function("named", "G", [p, q], [neg, add], names=[b"out", b"Other"])
    function("same name twice", "G2", [p, q], [neg, add], names=[b"out", b"out"])
    function("some operations", "H", [add], [neg], [neg])
    function("missing input", "I", [], [neg], [add, neg])
    function("input twice", "J", [p, p], [neg])
    function("output twice", "K", [p, q], [neg, neg])
    function("no operations", "L", [p], [p], [])
    function("no name", "", [p, q], [neg])
    buffer = tf.TF_NewBuffer()
    tf.TF_FunctionToFunctionDef(f, buffer, s)
    k.tell("to def")
    back = tf.TF_FunctionImportFunctionDef(P(Buffer.from_address(buffer).data), c.c_size_t(Buffer.from_address(buffer).length), s)
    k.tell("and back", tf.TF_FunctionName(back))
    tf.TF_FunctionImportFunctionDef(c.c_char_p(b"\xff\xff"), c.c_size_t(2), s)
    k.tell("no def")
    g2 = tf.TF_NewGraph()
    tf.TF_GraphCopyFunction(g2, f, None, s)
    k.tell("copied", tf.TF_GraphNumFunctions(g2))
    tf.TF_GraphCopyFunction(g2, f, None, s)
    k.tell("copied again", tf.TF_GraphNumFunctions(g2))
    found = array(P, [None] * 3)
    k.tell("functions", tf.TF_GraphGetFunctions(g2, found, 3, s), tf.TF_FunctionName(found[0]))
    x, y = k.placeholder(g2, "x", FLOAT, [2]), k.placeholder(g2, "y", FLOAT, [2])
    call = k.node(g2, "F", "call", [x, y], tell=True)
    if call:
        session = k.session(g2)
        k.run("call", session, [(Output(x, 0), k.tensor(FLOAT, [2], [1, 2])), (Output(y, 0), k.tensor(FLOAT, [2], [1, 2]))], [Output(call, 0)])


@scenario
def gradients(k):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    x, w = k.placeholder(g, "x", FLOAT, [2, 2]), k.placeholder(g, "w", FLOAT, [2, 2])
    y = k.node(g, "MatMul", "y", [x, w])
    z = k.node(g, "Sigmoid", "z", [y])
    floor = k.node(g, "NextAfter", "floor", [x, w])
    unrelated = k.placeholder(g, "unrelated", FLOAT, [2, 2])

    def add(what, prefix, ys, xs, dx=None):
        dy = array(Output, [Output(None, -5)] * len(xs))
        tf.TF_AddGradientsWithPrefix(g, prefix, array(Output, [Output(o, 0) for o in ys]), len(ys), array(Output, [Output(o, 0) for o in xs]), len(xs), dx, s, dy)
        k.tell(what, [bool(o.oper) for o in dy[: len(xs)]])
        return dy

    first = add("first", None, [z], [x, w])
    say("under gradients/", sum(name.startswith("gradients/") for name in k.names(g)) > 0)
    add("second", None, [z], [x])
    say("under gradients_1/", sum(name.startswith("gradients_1/") for name in k.names(g)) > 0)
    add("with a prefix", "mine", [y], [w])
    say("under mine/", sum(name.startswith("mine/") for name in k.names(g)) > 0)
    add("prefix of a node", "x", [y], [w])
    add("prefix again", "mine", [y], [w])
    add("none", None, [floor], [x])
    add("unreachable", None, [y], [unrelated])
    add("own gradient", "given", [y], [w], array(Output, [Output(x, 0)]))
    session = k.session(g)
    a, b = k.tensor(FLOAT, [2, 2], [1, 2, 3, 4]), k.tensor(FLOAT, [2, 2], [0.1, 0.2, -0.3, 0.4])
    if first[0].oper:
        k.run("values", session, [(Output(x, 0), a), (Output(w, 0), b)], [first[0], first[1]])


@scenario
def loops(k):
    tf, s = k.tf, k.s
    g = tf.TF_NewGraph()
    i = k.placeholder(g, "i", INT32, [])
    x = k.placeholder(g, "x", FLOAT, [])
    # TensorFlow reads the inputs again when the loop is finished.
    inputs = array(Output, [Output(i, 0), Output(x, 0)])
    p = tf.function("TF_NewWhile")(P(g), inputs, c.c_int(2), P(s))
    k.tell("new", p.ninputs, bool(p.cond_graph), p.name, [tf.TF_OperationName(p.cond_inputs[0].oper), tf.TF_OperationName(p.body_inputs[1].oper)])
    outputs = array(Output, [Output(None, 0)] * 2)
    ten = k.constant(p.cond_graph, "ten", INT32, [], [10])
    less = k.node(p.cond_graph, "Less", "less", [p.cond_inputs[0], ten])
    one = k.constant(p.body_graph, "one", INT32, [], [1])
    next_ = k.node(p.body_graph, "AddV2", "next", [p.body_inputs[0], one])
    twice = k.node(p.body_graph, "AddV2", "twice", [p.body_inputs[1], p.body_inputs[1]])
    p.cond_output = Output(less, 0)
    p.body_outputs[0], p.body_outputs[1] = Output(next_, 0), Output(twice, 0)
    p.name = b"loop"
    tf.TF_FinishWhile(c.byref(p), P(s), outputs)
    k.tell("finish", [tf.TF_OperationName(o.oper) if o.oper else None for o in outputs], [o.index for o in outputs])
    session = k.session(g)
    feeds = [(Output(i, 0), k.tensor(INT32, [], [0])), (Output(x, 0), k.tensor(FLOAT, [], [1.5]))]
    k.run("run", session, feeds, list(outputs))
    for what in ["cond_output", "body_outputs", "name"]:
        q = tf.function("TF_NewWhile")(P(g), inputs, c.c_int(1), P(s))
        ten = k.constant(q.cond_graph, "ten", INT32, [], [10])
        less = k.node(q.cond_graph, "Less", "less", [q.cond_inputs[0], ten])
        one = k.constant(q.body_graph, "one", INT32, [], [1])
        next_ = k.node(q.body_graph, "AddV2", "next", [q.body_inputs[0], one])
        if what != "cond_output":
            q.cond_output = Output(less, 0)
        if what != "body_outputs":
            q.body_outputs[0] = Output(next_, 0)
        if what != "name":
            q.name = b"other"
        tf.TF_FinishWhile(c.byref(q), P(s), outputs)
        k.tell(f"without {what}")
    q = tf.function("TF_NewWhile")(P(g), inputs, c.c_int(1), P(s))
    tf.TF_AbortWhile(c.byref(q))
    tf.function("TF_NewWhile")(P(g), array(Output, []), c.c_int(0), P(s))
    k.tell("of nothing")


@scenario
def eager(k):
    tf, s = k.tf, k.s
    options = tf.TFE_NewContextOptions()
    context = tf.TFE_NewContext(options, s)
    k.tell("context")
    tf.TFE_DeleteContextOptions(options)
    devices = tf.TFE_ContextListDevices(context, s)
    k.tell("devices", tf.TF_DeviceListCount(devices), tf.TF_DeviceListName(devices, 0, s))

    def handle(*tensor):
        t = k.tensor(*tensor)
        h = tf.TFE_NewTensorHandle(t, s)
        tf.TF_DeleteTensor(t)
        return h

    def execute(what, op, inputs=(), capacity=1, lists=(), device=None, set_attrs=lambda op: None, show=True):
        o = tf.TFE_NewOp(context, op, s)
        if not o:
            return k.tell(what)
        for value in inputs:
            tf.TFE_OpAddInput(o, value, s)
            if tf.TF_GetCode(s):
                k.tell("add input")
        for values in lists:
            tf.TFE_OpAddInputList(o, array(P, values), len(values), s)
        if device:
            tf.TFE_OpSetDevice(o, device, s)
            k.tell("set device")
        set_attrs(o)
        results, count = array(P, [None] * 8), c.c_int(capacity)
        tf.TFE_Execute(o, results, c.byref(count), s)
        code = tf.TF_GetCode(s)
        k.tell(what, "" if code or not show else [k.values(tf.TFE_TensorHandleResolve(results[i], s)) for i in range(count.value)])
        tf.TFE_DeleteOp(o)
        return [results[i] for i in range(count.value)] if not code else None

    a, b = handle(FLOAT, [2], [1, 2]), handle(FLOAT, [2], [3, 5])
    i = handle(INT32, [], [0])
    execute("add", "AddV2", [a, b])
    execute("one input", "AddV2", [a])
    execute("mixed", "AddV2", [a, i])
    execute("no room", "AddV2", [a, b], capacity=0)
    execute("no op", "NoSuchOp")
    execute("cast without DstT", "Cast", [a])
    execute("cast", "Cast", [a], set_attrs=lambda o: tf.TFE_OpSetAttrType(o, "DstT", INT64))
    execute("list", "AddN", lists=[[a, b, a]])
    execute("concat", "ConcatV2", lists=[[a, b]], inputs=[], set_attrs=lambda o: tf.TFE_OpAddInput(o, i, s))
    execute("one by one, told", "Pack", [a, b], set_attrs=lambda o: (tf.TFE_OpSetAttrInt(o, "N", 2), tf.TFE_OpSetAttrType(o, "T", FLOAT)))
    execute("split", "Split", [i, a], capacity=2, set_attrs=lambda o: tf.TFE_OpSetAttrInt(o, "num_split", 2))
    execute("unknown attr", "Neg", [a], set_attrs=lambda o: tf.TFE_OpSetAttrInt(o, "nope", 2))
    execute("no device", "Neg", [a], device="/device:GPU:3")
    execute("device", "Neg", [a], device="/device:CPU:0")
    execute("bad shapes", "MatMul", [a, b])
    text = k.strings([2], [b"one", b"t" * 50])
    h = tf.TFE_NewTensorHandle(text, s)
    execute("strings", "StringUpper", [h])
    say("handle", tf.TFE_TensorHandleDataType(a), tf.TFE_TensorHandleNumDims(a, s), tf.TFE_TensorHandleNumElements(a, s), tf.TFE_TensorHandleDim(a, 0, s))
    say("device name", tf.TFE_TensorHandleDeviceName(a, s), tf.TFE_TensorHandleBackingDeviceName(a, s))
    copy = tf.TFE_TensorHandleCopyToDevice(a, context, "/device:CPU:0", s)
    k.tell("copy", bool(copy))
    tf.TFE_TensorHandleCopyToDevice(a, context, "/device:GPU:3", s)
    k.tell("copy to none")

    def variable(o):
        tf.TFE_OpSetAttrType(o, "dtype", FLOAT)
        tf.TFE_OpSetAttrShape(o, "shape", array(c.c_int64, [2]), 1, s)
        tf.TFE_OpSetAttrString(o, "shared_name", c.c_char_p(b"v"), c.c_size_t(1))
    of_float = lambda o: tf.TFE_OpSetAttrType(o, "dtype", FLOAT)
    v = execute("variable", "VarHandleOp", set_attrs=variable, show=False)
    execute("read before", "ReadVariableOp", v, set_attrs=of_float)
    execute("assign", "AssignVariableOp", v + [a], capacity=0, set_attrs=of_float)
    execute("read", "ReadVariableOp", v, set_attrs=of_float)
    o = tf.TFE_NewOp(context, "AddV2", s)
    k.tell("op", tf.TFE_OpGetName(o, s))
    is_list = c.c_ubyte(7)
    k.tell("attr type", tf.TFE_OpGetAttrType(o, "T", c.byref(is_list), s), is_list.value)
    tf.TFE_OpGetAttrType(o, "nope", c.byref(is_list), s)
    k.tell("attr type of none")
    k.tell("attr type by name", tf.TFE_OpNameGetAttrType(context, "ConcatV2", "N", c.byref(is_list), s), is_list.value)
    k.tell("input length", tf.TFE_OpGetInputLength(o, "x", s))
    k.tell("has", tf.TFE_ContextHasFunction(context, "F"))
    tf.TFE_ContextRemoveFunction(context, "F", s)
    k.tell("remove")


@scenario
def lists(k):
    tf, s = k.tf, k.s
    ops = Buffer.from_address(tf.TF_GetAllOpList())
    say("ops", ops.length > 1000)
    kernels = tf.TF_GetAllRegisteredKernels(s)
    k.tell("kernels", Buffer.from_address(kernels).length > 1000)
    kernels = tf.TF_GetRegisteredKernelsForOp("NoSuchOp", s)
    k.tell("of none", Buffer.from_address(kernels).length)
    tf.TF_LoadLibrary("/nonexistent.so", s)
    say("no library:", tf.TF_GetCode(s))
    missing = os.path.join(tempfile.gettempdir(), "no-such-model")
    g = tf.TF_NewGraph()
    options = tf.TF_NewSessionOptions()
    tf.TF_LoadSessionFromSavedModel(options, None, missing, array(c.c_char_p, [b"serve"]), 1, g, None, s)
    k.tell("no model")


def main():
    path, *wanted = sys.argv[1:]
    caller = Caller(Library(path))
    for name, run in SCENARIOS.items():
        if not wanted or name in wanted:
            print(f"== {name}")
            run(caller)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
