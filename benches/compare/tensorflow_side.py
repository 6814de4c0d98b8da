#!/usr/bin/env python3
"""The TensorFlow side of the comparison: times work items in one long-lived process.

Usage: tensorflow_side.py [--threads N] [--onednn on|off|auto] [ITEM ...]
Needs: tensorflow-cpu==2.21.0, in a virtual environment of its own.

With ITEMs (each one JSON object) it times them in order and exits: status 0, or 1 if one of them failed.
Without, it is a server, so that a driver can alternate between two sides (A B A B) in one run.

# Protocol

One JSON object a line, UTF-8, in on stdin and out on stdout; nothing else is ever written to stdout (logs go to
stderr). The first line out, once TensorFlow is loaded, says who is speaking:

    {"ready": true, "side": "tensorflow", "version": "2.21.0", "threads": 2, "onednn": true,
     "start_s": 2.9, "rss_mb": 420}

`start_s` is the time to import TensorFlow, `rss_mb` the peak resident memory by then. After that every line in is
one item, and gets exactly one line out, in order. The process sits idle between items and ends at end of file.

    -> {"name": "mm", "kind": "matmul", "n": 512, "repeat": 50}
    <- {"name": "mm", "kind": "matmul", "median_s": 0.0021, "min_s": 0.002, "runs": 50, "gflops": 127.8}

or, for an item that could not be run (the process goes on):

    <- {"name": "mm", "kind": "matmul", "error": "ValueError: ..."}

An answer without `error` has `name`, `kind`, `median_s`, `min_s` and `runs`. What an item has built (graph, session,
inputs) is kept, so asking again costs no set-up; `{"kind": "release"}` drops it all (and has no times to answer).
A machine with other work on it can double a median: quote ratios of alternating runs, and look at `min_s` too.

# Items

Fields of every item:

    kind      what to run, see below
    name      echoed in the answer; default: the kind
    repeat    timed iterations, default 20; each is one run of the graph, timed by itself
    warmup    iterations before them that are not timed, default 3
    api       "callable" (default): TensorFlow's C++ Session::MakeCallable, the cheapest way in from Python;
              "make_callable": tf.compat.v1.Session.make_callable, which goes through Session.run if there are feeds
    grappler  graph optimisation; default true, but false for chain, wide, trivial and while, whose nodes it would remove;
              Kernlink runs these without its passes, too
    inputs    [FILE.npy, ...]: feed these instead of generated values (uniform in [-1,1), float32), in feed order
    save      FILE.npy: also write the first fetched value there (outside the timing)
    graph     FILE.pb: also write the GraphDef there, so that the other side can run the very same graph

Kinds, with their own fields:

    model        path: a frozen GraphDef. input: FILE.npy for its only placeholder, or feeds: {NAME: FILE.npy, ...}.
                 fetch: NAME or [NAME, ...]; default: the nodes that no other node reads, without NoOps
    saved_model  path: the folder of a SavedModel. signature ("serving_default"): one of its signatures, called as a
                 function. strings: {INPUT: [TEXT, ...], ...}, its inputs. Only name, repeat and warmup are heeded
                 beside these
    chain        nodes (10000): x -> AddV2(x, one) -> AddV2(_, one) -> ..., a fed scalar float and one shared Const;
                 the last is fetched. Adds ns_per_node to the answer (the time of a run divided by `nodes`)
    wide         nodes (10000): that many AddV2(a, b) of the same two fed scalar floats, independent of each other,
                 all control inputs of one NoOp, which is the target; nothing is fetched. Adds ns_per_node
    trivial      one AddV2 of a fed scalar float and a Const; fetched
    while        iterations (10000): a loop of TensorFlow 1 that counts a fed scalar int32 up to that; the end is fetched.
                 Adds ns_per_node, of one iteration
    matmul       [m,k] x [k,n]: either n (square) or m, k, n. constant (false): the right side is a Const. Adds gflops
    conv2d       input [N,H,W,C], filter [h,w,C,O], stride (1), padding ("SAME"), NHWC. constant (true): the filter is
                 a Const, as in a model. Adds gflops
    elementwise  op: an op with float inputs of equal shape and one output ("Tanh", "AddV2", ...); size (1000000)
    op           op: any op. operands: {ARGUMENT: DESCRIPTION, or a list of them}, as items.py describes them. attrs: {NAME:
                 value, or {"dtype": NAME}}. table: describes the keys of a hash table, which is the op's table_handle.
                 init (false): the node `init`, which fills the table and assigns the variables, is run once before.
                 What is no constant goes through PlaceholderWithDefault, so that nothing is computed beforehand. The
                 node is `y`. fetch, targets: lists of what is fetched and run. Quantised operands are cast bit by bit from
                 integers
    pipeline     pipeline: a dataset of tensorflow_inputs.py, which the run makes and goes through; fetched is how many
                 elements it has. Rewrites of datasets and autotuning, which would be done in each run, are off
    csr          op: what is done with a CSR matrix of n rows and columns and that density, which the run makes
    median_pool  shape ([1,256,256,16]), window (3), padding ("SAME"): the median of every window, from stock ops:
                 ExtractImagePatches, Reshape to [N,H,W,k*k,C], Transpose, TopKV2 of the larger half, its last element

A feed is a 64-byte aligned array, which TensorFlow takes without a copy; a fetch hands its buffer over without one.
"""
import os
import sys
import time

START = time.perf_counter()

import argparse
import gc
import json
import resource
import statistics

import numpy as np


def parse_arguments():
    parser = argparse.ArgumentParser(description="Times work items in TensorFlow; see the top of the file.")
    parser.add_argument("--threads", type=int, default=2, metavar="N",
                        help="threads within an op and between ops (default 2)")
    parser.add_argument("--onednn", choices=["on", "off", "auto"], default="on",
                        help="oneDNN kernels; auto leaves it to TensorFlow, which looks at the CPU (default on)")
    parser.add_argument("items", nargs="*", metavar="ITEM", help="a work item in JSON; without any, read stdin")
    return parser.parse_args()


def load_tensorflow(onednn):
    """Import TensorFlow, which reads its switches from the environment when it is loaded."""
    global tf, config_pb2, op_def_registry, tensor_util, tensorflow_inputs
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    if onednn == "auto":
        os.environ.pop("TF_ENABLE_ONEDNN_OPTS", None)
    else:
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1" if onednn == "on" else "0"
    import tensorflow as tf
    import tensorflow_inputs
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.framework import op_def_registry, tensor_util


def onednn_in_use():
    try:
        from tensorflow.python.util import _pywrap_util_port
        return bool(_pywrap_util_port.IsMklEnabled())
    except (ImportError, AttributeError):
        return None


def session_config(threads, grappler):
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    if not grappler:
        options = config.graph_options
        options.rewrite_options.disable_meta_optimizer = True
        # The older optimiser (constant folding, common subexpressions) has a switch of its own.
        options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
        options.optimizer_options.do_common_subexpression_elimination = False
        options.optimizer_options.do_constant_folding = False
    return config


def aligned(array):
    """A copy of `array` that starts at a multiple of 64 bytes."""
    array = np.asarray(array)
    room = np.empty(array.nbytes + 64, np.uint8)
    first = -room.ctypes.data % 64
    copy = room[first:first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Work:
    """A graph under construction: what to feed, fetch and run, and what to add to the answer."""

    def __init__(self):
        self.graph = tf.Graph()
        self.feeds = []    # (tensor name, value)
        self.fetches = []  # tensor names
        self.targets = []  # node names
        self.init = None   # a node that is run once before
        self.extra = lambda seconds: {}
        self.random = np.random.RandomState(1)

    def uniform(self, shape):
        return np.asarray(self.random.uniform(-1, 1, shape), "float32")

    def feed(self, shape, name):
        """A placeholder, and a value for it."""
        placeholder = tf.compat.v1.placeholder(tf.float32, shape, name)
        self.feeds.append((placeholder.name, self.uniform(shape)))
        return placeholder

    def operand(self, shape, name, constant):
        return tf.constant(self.uniform(shape), name=name) if constant else self.feed(shape, name)

    def fetch(self, tensor):
        self.fetches.append(tensor.name)


def tensor_name(name):
    return name if ":" in name else name + ":0"


def model(work, item):
    graph_def = tf.compat.v1.GraphDef()
    with open(item["path"], "rb") as file:
        graph_def.ParseFromString(file.read())
    feeds = item.get("feeds")
    if feeds is None:
        placeholders = [node.name for node in graph_def.node if node.op == "Placeholder"]
        if len(placeholders) != 1:
            raise ValueError(f"the model has {len(placeholders)} placeholders; name them in 'feeds': {placeholders}")
        feeds = {placeholders[0]: item["input"]}
    fetch = item.get("fetch")
    if fetch is None:
        read = {name.lstrip("^").split(":")[0] for node in graph_def.node for name in node.input}
        fetch = [node.name for node in graph_def.node if node.name not in read and node.op != "NoOp"]
    tf.import_graph_def(graph_def, name="")
    work.feeds = [(tensor_name(name), np.load(path)) for name, path in feeds.items()]
    work.fetches = [tensor_name(name) for name in ([fetch] if isinstance(fetch, str) else fetch)]


def add_node(graph_def, op, name, inputs, **types):
    node = graph_def.node.add(op=op, name=name, input=inputs)
    for attr, dtype in types.items():
        node.attr[attr].type = dtype.as_datatype_enum


def add_constant(graph_def, name, value):
    add_node(graph_def, "Const", name, [], dtype=tf.float32)
    graph_def.node[-1].attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(value, tf.float32, []))


def add_scalar_placeholder(graph_def, name):
    add_node(graph_def, "Placeholder", name, [], dtype=tf.float32)
    graph_def.node[-1].attr["shape"].shape.SetInParent()


def per_node(nodes):
    return lambda seconds: {"nodes": nodes, "ns_per_node": round(seconds * 1e9 / nodes, 2)}


def chain(work, item):
    nodes = item.get("nodes", 10000)
    graph_def = tf.compat.v1.GraphDef()
    add_scalar_placeholder(graph_def, "x")
    add_constant(graph_def, "one", 1.0)
    last = "x"
    for i in range(nodes):
        add_node(graph_def, "AddV2", f"add_{i}", [last, "one"], T=tf.float32)
        last = f"add_{i}"
    tf.import_graph_def(graph_def, name="")
    work.feeds = [("x:0", np.float32(0))]
    work.fetches = [last + ":0"]
    work.extra = per_node(nodes)


def wide(work, item):
    nodes = item.get("nodes", 10000)
    graph_def = tf.compat.v1.GraphDef()
    add_scalar_placeholder(graph_def, "a")
    add_scalar_placeholder(graph_def, "b")
    for i in range(nodes):
        add_node(graph_def, "AddV2", f"add_{i}", ["a", "b"], T=tf.float32)
    add_node(graph_def, "NoOp", "done", [f"^add_{i}" for i in range(nodes)])
    tf.import_graph_def(graph_def, name="")
    work.feeds = [("a:0", np.float32(1)), ("b:0", np.float32(2))]
    work.targets = ["done"]
    work.extra = per_node(nodes)


def trivial(work, item):
    graph_def = tf.compat.v1.GraphDef()
    add_scalar_placeholder(graph_def, "x")
    add_constant(graph_def, "one", 1.0)
    add_node(graph_def, "AddV2", "y", ["x", "one"], T=tf.float32)
    tf.import_graph_def(graph_def, name="")
    work.feeds = [("x:0", np.float32(1))]
    work.fetches = ["y:0"]


def while_loop(work, item):
    iterations = item.get("iterations", 10000)
    tf.compat.v1.disable_control_flow_v2()
    start = tf.compat.v1.placeholder(tf.int32, [], name="start")
    end = tf.compat.v1.while_loop(lambda i: i < iterations, lambda i: i + 1, [start])
    work.feeds = [("start:0", np.int32(0))]
    work.fetches = [end.name]
    work.extra = per_node(iterations)


def gflops(operations):
    """Billions of operations a second; a multiply-add is two."""
    return lambda seconds: {"gflops": round(operations / seconds / 1e9, 2)}


def matmul(work, item):
    n = item["n"]
    m, k = item.get("m", n), item.get("k", n)
    a = work.feed([m, k], "a")
    b = work.operand([k, n], "b", item.get("constant", False))
    work.fetch(tf.raw_ops.MatMul(a=a, b=b, name="y"))
    work.extra = gflops(2 * m * k * n)


def conv2d(work, item):
    x = work.feed(item["input"], "x")
    w = work.operand(item["filter"], "w", item.get("constant", True))
    stride = item.get("stride", 1)
    padding = item.get("padding", "SAME")
    y = tf.raw_ops.Conv2D(input=x, filter=w, strides=[1, stride, stride, 1], padding=padding, name="y")
    work.fetch(y)
    h, w_, c, _ = item["filter"]
    work.extra = gflops(2 * int(np.prod(y.shape.as_list())) * h * w_ * c)


def elementwise(work, item):
    op = item["op"]
    function = getattr(tf.raw_ops, op)
    size = item.get("size", 1000000)
    arguments = [argument.name for argument in op_def_registry.get(op).input_arg]
    work.fetch(function(**{name: work.feed([size], name) for name in arguments}, name="result"))


def median_pool(work, item):
    n, h, w, c = item.get("shape", [1, 256, 256, 16])
    k = item.get("window", 3)
    x = work.feed([n, h, w, c], "x")
    patches = tf.raw_ops.ExtractImagePatches(
        images=x, ksizes=[1, k, k, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding=item.get("padding", "SAME"))
    _, rows, columns, _ = patches.shape.as_list()
    windows = tf.transpose(tf.reshape(patches, [n, rows, columns, k * k, c]), [0, 1, 2, 4, 3])
    half = k * k // 2 + 1
    largest = tf.raw_ops.TopKV2(input=windows, k=half, sorted=True).values
    work.fetch(largest[..., half - 1])


def distinct(draw, shape):
    """So many different values, or rows of values, of those that `draw` gives."""
    drawn = draw([4 * shape[0], *shape[1:]])
    places = np.sort(np.unique(drawn, axis=0, return_index=True)[1])[:shape[0]]
    return drawn[places]


def described(work, about):
    """A value as items.py describes it."""
    if "encoded" in about:
        return tensorflow_inputs.encoded(work.random, about)
    if "smooth" in about:
        return tensorflow_inputs.smooth(work.random, about["smooth"], about["dtype"])
    if "text" in about:
        return tensorflow_inputs.strings(work.random, about)
    if "value" in about:
        return np.asarray(about["value"], object if about["dtype"] == "string" else about["dtype"])
    shape, (low, high) = about["shape"], about["range"]
    if about["dtype"] == "string":
        def draw(shape):
            numbers = work.random.randint(0, about["words"], shape)
            word = b"%d" if about.get("digits") else b"Word %d"
            return np.vectorize(lambda number: word % number, [object])(numbers)
    elif about["dtype"] == "bool" or "int" in about["dtype"]:
        def draw(shape):
            return work.random.randint(low, high, shape).astype(about["dtype"].removeprefix("q"))
    else:
        def draw(shape):
            values = work.random.uniform(low, high, shape)
            if about["dtype"].startswith("complex"):
                values = values + 1j * work.random.uniform(low, high, shape)
            return values.astype(tf.as_dtype(about["dtype"]).as_numpy_dtype)
    if about.get("permutation"):
        return work.random.permutation(shape[0]).astype(about["dtype"])
    values = distinct(draw, shape) if about.get("distinct") else draw(shape)
    if about.get("sorted"):
        order = np.lexsort(values.T[::-1]) if about.get("distinct") else None
        values = np.sort(values, -1) if order is None else values[order]
    if about.get("definite"):
        values = values @ values.swapaxes(-1, -2) + np.eye(shape[-1], dtype=values.dtype) * shape[-1]
    return values


def op(work, item):
    assignments = []

    def argument(about):
        if isinstance(about, list):
            return [argument(one) for one in about]
        dtype = tf.as_dtype(about["dtype"])
        if dtype.is_quantized:
            constant = tf.constant(described(work, about))
            constant = tf.raw_ops.PlaceholderWithDefault(input=constant, shape=constant.shape)
            return tf.raw_ops.Bitcast(input=constant, type=dtype)
        constant = tf.constant(described(work, about), dtype)
        if about.get("constant"):
            return constant
        if about.get("variable"):
            name = f"variable{len(assignments)}"
            variable = tf.raw_ops.VarHandleOp(dtype=constant.dtype, shape=constant.shape, shared_name=name)
            assignments.append(tf.raw_ops.AssignVariableOp(resource=variable, value=constant))
            return variable
        return tf.raw_ops.PlaceholderWithDefault(input=constant, shape=constant.shape)

    def attr(value):
        if isinstance(value, list):
            return [attr(one) for one in value]
        return tf.as_dtype(value["dtype"]) if isinstance(value, dict) else value

    arguments = {name: argument(about) for name, about in item["operands"].items()}
    if "table" in item:
        keys = tf.constant(described(work, item["table"]), tf.as_dtype(item["table"]["dtype"]))
        table = tf.raw_ops.HashTableV2(key_dtype=keys.dtype, value_dtype=tf.int64, shared_name="table")
        assignments.append(tf.raw_ops.LookupTableImportV2(table_handle=table, keys=keys,
                                                          values=tf.range(tf.size(keys, tf.int64))))
        arguments["table_handle"] = table
    if item.get("init"):
        with tf.control_dependencies(assignments):
            work.init = tf.no_op("init").name
    attrs = {name: attr(value) for name, value in item["attrs"].items()}
    getattr(tf.raw_ops, item["op"])(**arguments, **attrs, name="y")
    work.fetches = [tensor_name(name) for name in item["fetch"]]
    work.targets = item.get("targets", [])


def pipeline(work, item):
    tensorflow_inputs.pipeline(work, item)


def csr(work, item):
    tensorflow_inputs.csr(work, item)


KINDS = {function.__name__: function
         for function in (model, chain, wide, trivial, matmul, conv2d, elementwise, op, median_pool,
                          pipeline, csr)}
KINDS["while"] = while_loop
NO_GRAPPLER = {"chain", "wide", "trivial", "while", "op", "pipeline", "csr"}


class Prepared:
    """A work item that is ready to run."""

    def __init__(self, item, threads):
        kind = item["kind"]
        self.work = work = Work()
        with work.graph.as_default():
            KINDS[kind](work, item)
        for i, path in enumerate(item.get("inputs", [])):
            work.feeds[i] = (work.feeds[i][0], np.load(path))
        self.arguments = [aligned(value) for _, value in work.feeds]
        grappler = item.get("grappler", kind not in NO_GRAPPLER)
        self.session = tf.compat.v1.Session(graph=work.graph, config=session_config(threads, grappler))
        if work.init:
            self.session.run(work.init)
        api = item.get("api", "callable")
        names = [name for name, _ in work.feeds]
        if api == "callable":
            options = config_pb2.CallableOptions(feed=names, fetch=work.fetches, target=work.targets)
            self.call = self.session._make_callable_from_options(options)
        elif api == "make_callable":
            wanted = [work.graph.get_tensor_by_name(name) for name in work.fetches]
            wanted += [work.graph.get_operation_by_name(name) for name in work.targets]
            self.call = self.session.make_callable(wanted, [work.graph.get_tensor_by_name(name) for name in names])
        else:
            raise ValueError(f"api is 'callable' or 'make_callable', not {api!r}")

    def close(self):
        self.call = None  # a callable must go before its session
        self.session.close()

    def time(self, repeat, warmup):
        call, arguments, clock = self.call, self.arguments, time.perf_counter_ns
        for _ in range(warmup):
            call(*arguments)
        gc.collect()
        gc.disable()
        try:
            times = []
            for _ in range(repeat):
                before = clock()
                call(*arguments)
                times.append(clock() - before)
        finally:
            gc.enable()
        return times


class PreparedSavedModel(Prepared):
    """A signature that is ready to be called."""

    def __init__(self, item, threads):
        del threads  # TensorFlow takes them once for the process
        self.work, self.arguments = Work(), []
        # Functions run in TensorFlow 2's way, which the graphs of the other kinds do not touch.
        with tf.init_scope():
            self.model = tf.saved_model.load(item["path"])
            strings = {name: tf.constant(values) for name, values in item.get("strings", {}).items()}
        signature = self.model.signatures[item.get("signature", "serving_default")]
        self.call = lambda: signature(**strings)

    def close(self):
        self.call = self.model = None


class Side:
    def __init__(self, threads):
        self.threads = threads
        self.prepared = {}

    def release(self):
        for prepared in self.prepared.values():
            prepared.close()
        self.prepared.clear()
        gc.collect()

    def run(self, item):
        kind = item.get("kind")
        if kind == "release":
            self.release()
            return {}
        if kind not in KINDS and kind != "saved_model":
            raise ValueError(f"kind is one of {', '.join(KINDS)}, saved_model or release, not {kind!r}")
        key = json.dumps({name: value for name, value in item.items()
                          if name not in ("name", "repeat", "warmup", "save", "graph")}, sort_keys=True)
        if key not in self.prepared:
            ready = PreparedSavedModel if kind == "saved_model" else Prepared
            self.prepared[key] = ready(item, self.threads)
        prepared = self.prepared[key]
        if item.get("graph"):
            # The other side has mapped what is there.
            with open(item["graph"] + ".new", "wb") as file:
                file.write(prepared.work.graph.as_graph_def().SerializeToString())
            os.replace(item["graph"] + ".new", item["graph"])
        if item.get("save"):
            np.save(item["save"], prepared.call(*prepared.arguments)[0])
        repeat = item.get("repeat", 20)
        if repeat < 1:
            raise ValueError("repeat is at least 1")
        times = prepared.time(repeat, item.get("warmup", 3))
        seconds = statistics.median(times) / 1e9
        return {"median_s": seconds, "min_s": min(times) / 1e9, "runs": repeat, **prepared.work.extra(seconds)}

    def answer(self, line):
        """The answer to one line of JSON, never an exception."""
        answer = {"name": None, "kind": None}
        try:
            item = json.loads(line)
            if not isinstance(item, dict):
                raise ValueError("an item is a JSON object")
            answer = {"name": item.get("name", item.get("kind")), "kind": item.get("kind")}
            answer.update(self.run(item))
        except Exception as error:  # whatever it is, the driver must hear of it and go on
            message = f"no field {error}" if isinstance(error, KeyError) else str(error)
            answer["error"] = f"{type(error).__name__}: {message}"
        return answer


def main():
    arguments = parse_arguments()
    # Keep the real stdout for answers; whatever a library prints to descriptor 1 goes to stderr.
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)

    load_tensorflow(arguments.onednn)
    # For functions; the sessions' own configuration says the same.
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(arguments.threads)
    print(json.dumps({
        "ready": True, "side": "tensorflow", "version": tf.__version__, "threads": arguments.threads,
        "onednn": onednn_in_use(), "start_s": round(time.perf_counter() - START, 3),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }), file=answers, flush=True)

    side = Side(arguments.threads)
    failed = False
    for line in arguments.items or sys.stdin:
        if line.strip():
            answer = side.answer(line)
            failed |= "error" in answer
            print(json.dumps(answer), file=answers, flush=True)
    side.release()
    return 1 if failed and arguments.items else 0


if __name__ == "__main__":
    sys.exit(main())
