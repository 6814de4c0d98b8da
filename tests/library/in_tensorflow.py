#!/usr/bin/env python3
"""Checks libraries of ops of Kernlink's in TensorFlow: examples/custom-ops, and one with an op of every kind.

    python3 -m venv venv && venv/bin/pip install tensorflow-cpu==2.21.0
    cargo build --release -p custom-ops --lib
    cargo build -p kernlink-library --features guest --example every_kind
    venv/bin/python tests/library/in_tensorflow.py target/release/libcustom_ops.so \\
        --every-kind target/debug/examples/libevery_kind.so --export /tmp/custom-ops --time

Every op runs eagerly, in a tf.function and from a SavedModel, and is held against NumPy; with `--kernlink target/release/kernlink`
the command runs the SavedModel as well, with the same library. `--export DIR` keeps the SavedModel, as DIR/model, with the inputs
and the expected outputs of each signature in DIR/cases.json. `--time` measures a call beside TensorFlow's Identity,
which says something of a release build only. The exit status is 1 if anything differs.
"""
import argparse
import collections
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("RUST_BACKTRACE", "0")

import ml_dtypes
import numpy as np
import tensorflow as tf

RANDOM = np.random.default_rng(17)
NUMBERS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int16, np.int32, np.int64,
           np.uint8, np.uint16, np.uint32, np.uint64, np.complex64, np.complex128]

# ---------------------------------------------------------------- what is expected


def zero_out(x, index):
    y = np.zeros_like(x)
    y.flat[index] = x.flat[index]
    return y


def polynomial(x, coefficients):
    # As the kernel rounds: after each step, in the dtype.
    with np.errstate(over="ignore"):
        y = np.zeros_like(x)
        for c in coefficients[::-1]:
            y = (y * x + c).astype(x.dtype)
        return y


def soft_shrink(x, threshold):
    threshold = x.dtype.type(np.float32(threshold))
    return np.where(x > threshold, x - threshold, np.where(x < -threshold, x + threshold, x * x.dtype.type(0)))


def median_pool(images, ksize, stride, padding, relu):
    batch, height, width, channels = images.shape
    if padding == "SAME":
        before = []
        for size in (height, width):
            count = -(-size // stride)
            total = max((count - 1) * stride + ksize - size, 0)
            before.append((total // 2, total - total // 2))
        images = np.pad(images, [(0, 0), before[0], before[1], (0, 0)])
    rows, columns = (images.shape[1] - ksize) // stride + 1, (images.shape[2] - ksize) // stride + 1
    medians = np.empty((batch, rows, columns, channels), images.dtype)
    for row in range(rows):
        for column in range(columns):
            window = images[:, row * stride:row * stride + ksize, column * stride:column * stride + ksize]
            window = np.sort(window.reshape(batch, -1, channels), axis=1)
            medians[:, row, column] = window[:, ksize * ksize // 2]
    return np.maximum(medians, 0) if relu else medians


# ---------------------------------------------------------------- cases

Case = collections.namedtuple("Case", "name inputs call expected")


def custom_cases(ops):
    """Cases of examples/custom-ops: a name, arrays by name, what calls the op with tensors of that name, the results."""
    def add(name, inputs, call, *expected):
        cases.append(Case(name, inputs, call, expected))

    def random(shape, dtype):
        values = RANDOM.integers(0, 60, shape) if np.dtype(dtype).kind == "u" else RANDOM.integers(-60, 60, shape)
        return values.astype(dtype) if np.dtype(dtype).kind in "iu" else (values / 8).astype(dtype)

    cases = []
    for dtype in [np.float32, np.float64, np.int32]:
        for shape, index in [((), 0), ((3,), 2), ((4, 5), 7), ((2, 3, 50), 299)]:
            x = random(shape, dtype)
            add(f"zero_out_{dtype.__name__}_{len(shape)}", {"x": x},
                lambda x, index=index: ops.zero_out(x, preserve_index=index), zero_out(x, index))
    for dtype in NUMBERS:
        for shape in [(2,), (3, 40)]:
            x, c = random(shape, dtype), random((3,), dtype)
            add(f"polynomial_{np.dtype(dtype).name}_{len(shape)}", {"x": x, "c": c},
                lambda x, c: ops.polynomial(x, c), polynomial(x, c))
    for dtype in [np.float32, np.float64]:
        x = random((7, 9), dtype)
        add(f"soft_shrink_{dtype.__name__}", {"x": x}, lambda x: ops.soft_shrink(x), soft_shrink(x, 0.5))
        add(f"soft_shrink_{dtype.__name__}_wide", {"x": x}, lambda x: ops.soft_shrink(x, threshold=1.3),
            soft_shrink(x, 1.3))
    for dtype in [np.int32, np.int64]:
        for shape in [(0,), (1,), (5, 11)]:
            x = random(shape, dtype)
            for name, whole in [("max", np.maximum), ("min", np.minimum)]:
                add(f"running_{name}_{dtype.__name__}_{x.size}", {"x": x},
                    lambda x, name=name: getattr(ops, f"running_{name}")(x),
                    whole.accumulate(x.reshape(-1)).reshape(x.shape))
    for dtype in [np.float32, np.float64, np.int32, np.uint8, np.int16, np.int8, np.int64]:
        for ksize, stride, padding, relu in [(3, 1, "SAME", ""), (3, 1, "VALID", "Relu"), (2, 2, "SAME", ""),
                                             (5, 3, "VALID", ""), (1, 1, "SAME", "Relu")]:
            x = random((2, 9, 8, 3), dtype)
            add(f"median_pool_{dtype.__name__}_{ksize}_{stride}_{padding}{relu}", {"x": x},
                lambda x, k=ksize, s=stride, p=padding, a=relu:
                    ops.median_pool(x, ksize=k, stride=s, padding=p, activation=a),
                median_pool(x, ksize, stride, padding, relu))

    def look_up(words):
        handle = ops.vocabulary_handle(shared_name="of in_tensorflow.py")
        # Nobody makes a vocabulary twice: each caller of a name makes its own.
        return tf.cond(ops.is_vocabulary_initialized(handle), lambda: tf.no_op(),
                       lambda: tf.group(ops.initialize_vocabulary(handle, ["cat", "dog", "a word of more than 22 bytes"]))
                       ), ops.look_up_words(handle, words, unknown=-7)

    words = np.array([["dog", "bird"], ["a word of more than 22 bytes", ""]], object)
    add("look_up_words", {"words": words}, lambda words: look_up(words)[1], np.array([[1, -7], [2, -7]]))
    return cases


def kind_cases(ops):
    """Cases of library/tests/ops."""
    cases = []

    def add(name, inputs, call, *expected):
        cases.append(Case(name, inputs, call, expected))

    a, b = np.array(["a", "b" * 40], object), np.array(["c", "d"], object)
    add("join_texts", {"a": a, "b": b}, lambda a, b: ops.join_texts([a, b, a], separator="\0-"),
        np.array([b"a\0-c\0-a", b"b" * 40 + b"\0-d\0-" + b"b" * 40], object))
    for dtype in [np.float32, np.int32]:
        x = np.arange(6, dtype=dtype).reshape(2, 3)
        add(f"sum_of_{dtype.__name__}", {"x": x}, lambda x: ops.sum_of([x, x, x]), 3 * x, np.array([3] * 3, np.int32))
    values = {"f": np.arange(5, dtype=np.float32), "i": np.array(7, np.int32), "b": np.array([True, False]),
              "s": np.array(["x" * 30, ""], object)}
    add("pass_all", values, lambda f, i, b, s: ops.pass_all([f, i, b, s, f]),
        values["f"], values["i"], values["b"], np.array([b"x" * 30, b""], object), values["f"])
    x = np.arange(12, dtype=np.float32)
    add("cut", {"x": x}, lambda x: ops.cut(x, parts=3), x[:4], x[4:8], x[8:])
    for dtype in NUMBERS + [np.bool_]:
        for shape in [(), (3, 0), (2, 13)]:
            x = RANDOM.integers(0, 2, shape).astype(dtype)
            add(f"copy_of_{np.dtype(dtype).name}_{x.size}", {"x": x}, lambda x: ops.copy_of(x), x)
    x, w = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 0.5, 2], np.float32)
    add("row_sums", {"x": x, "w": w}, lambda x, w: ops.row_sums(x, w), (x * w).sum(axis=1), (x * w).reshape(2, 1, 3))
    add("double_later", {"x": w}, lambda x: ops.double_later(x, milliseconds=5), 2 * w)
    add("double_at_once", {"x": w}, lambda x: ops.double_later(x, milliseconds=0), 2 * w)
    for dtype, mode, kernel in [(np.float32, "", b"any"), (np.int32, "", b"urgent"), (np.int64, "slow", b"slow"),
                                (np.int64, "quick", b"quick")]:
        add(f"which_kernel_{kernel.decode()}", {"x": np.array(1, dtype)},
            lambda x, mode=mode: ops.which_kernel(x, mode=mode), np.array(kernel, object))
    return cases


# ---------------------------------------------------------------- checks


class Checks:
    """Counts what was checked, and tells what differs."""

    def __init__(self):
        self.agreed, self.failed = collections.Counter(), []

    def run(self, kind, name, check):
        try:
            check()
            self.agreed[kind] += 1
        except Exception as error:  # pylint: disable=broad-except
            said = getattr(error, "stderr", None)
            self.failed.append(f"{kind} {name}: {said.decode() if said else error}")
            print(f"FAILED {kind} {name}\n{traceback.format_exc()}", file=sys.stderr)


def same(results, expected):
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    assert len(results) == len(expected), f"{len(results)} results"
    for result, wanted in zip(results, expected):
        result = result.numpy() if hasattr(result, "numpy") else result
        if wanted.dtype == object:
            np.testing.assert_array_equal(np.asarray(result, object), wanted)
            continue
        assert result.dtype == wanted.dtype and result.shape == wanted.shape, f"{result.dtype} {result.shape}"
        if wanted.dtype.kind in "iub":
            np.testing.assert_array_equal(result, wanted)
        else:
            wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
            rtol = 1e-2 if wanted.dtype.itemsize == 2 else 1e-5
            np.testing.assert_allclose(result.astype(wide), wanted.astype(wide), rtol=rtol, atol=rtol)


def as_function(case):
    specs = {name: tf.TensorSpec(value.shape, tf.as_dtype(value.dtype), name) for name, value in case.inputs.items()}

    def body(**inputs):
        results = case.call(**inputs)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        return {f"y{index}": result for index, result in enumerate(results)}
    return tf.function(body).get_concrete_function(**specs)


def check_cases(checks, cases, folder):
    """Eagerly, in functions, and from a SavedModel."""
    module, names = tf.Module(), []
    for case in cases:
        tensors = {name: tf.constant(value) for name, value in case.inputs.items()}
        checks.run("eager", case.name, lambda: same(case.call(**tensors), case.expected))

        def in_function():
            function = as_function(case)
            results = function(**tensors)
            same([results[f"y{index}"] for index in range(len(case.expected))], case.expected)
            setattr(module, case.name, function)
            names.append(case.name)
        checks.run("tf.function", case.name, in_function)
    model = os.path.join(folder, "model")
    tf.saved_model.save(module, model, {name: getattr(module, name) for name in names})
    loaded = tf.saved_model.load(model)
    written = []
    for case in cases:
        if case.name in names:
            tensors = {name: tf.constant(value) for name, value in case.inputs.items()}

            def from_model():
                results = loaded.signatures[case.name](**tensors)
                same([results[f"y{index}"] for index in range(len(case.expected))], case.expected)
            checks.run("SavedModel", case.name, from_model)
            written.append(written_case(case, folder))
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as file:
        json.dump(written, file, indent=1)


def written_case(case, folder):
    """The case as `kernlink run` takes it: sources of inputs, and files of expected outputs; strings are texts."""
    def written(name, value):
        if value.dtype == object:
            text = np.vectorize(lambda s: s.decode("latin-1") if isinstance(s, bytes) else s, otypes=[object])(value)
            return json.dumps(text.tolist())
        file = f"{case.name}.{name}.npy"
        np.save(os.path.join(folder, file), value)
        return "@" + file
    inputs = {name: written(name, value) for name, value in case.inputs.items()}
    outputs = {f"y{index}": written(f"y{index}", value) for index, value in enumerate(case.expected)}
    return {"signature": case.name, "inputs": inputs, "outputs": outputs}


def check_in_kernlink(checks, cases, folder, program, library):
    """The SavedModel that TensorFlow wrote, run by the command, with the same library."""
    for case in cases:
        if any(value.dtype == object for value in case.expected):
            continue
        written = written_case(case, folder)
        sources = [f"{name}={source}" for name, source in written["inputs"].items()]
        inputs = [part for source in sources for part in ("--input", source)]

        def run():
            with tempfile.TemporaryDirectory() as saved:
                command = [program, "run", "model", "--library", library, "--signature", case.name, "--save", saved, *inputs]
                subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                results = [np.load(os.path.join(saved, f"y{index}.npy")) for index in range(len(case.expected))]
            raw = [result.view(wanted.dtype) if result.dtype.kind == "V" else result
                   for result, wanted in zip(results, case.expected)]
            same(raw, case.expected)
        checks.run("kernlink", case.name, run)


def check_errors(checks, ops, kinds):
    def refused(name, error, text, call):
        def check():
            for run in [call, tf.function(call)]:
                try:
                    run()
                except error as met:
                    assert text in met.message, met.message
                else:
                    raise AssertionError("no error")
        checks.run("error", name, check)

    errors = tf.errors
    refused("ZeroOut", errors.InvalidArgumentError, "preserve_index 4 is out of range for 2 elements",
            lambda: ops.zero_out(tf.constant([1.0, 2.0]), preserve_index=4))
    refused("MedianPool, ksize", errors.InvalidArgumentError, "has more than 1048576 elements",
            lambda: ops.median_pool(tf.zeros([1, 2, 2, 1]), ksize=10000, padding="SAME"))
    refused("LookUpWords", errors.NotFoundError, "nobody",
            lambda: ops.look_up_words(ops.vocabulary_handle(shared_name="nobody"), ["cat"]))
    if not kinds:
        return
    for code, error in [(1, errors.CancelledError), (3, errors.InvalidArgumentError), (5, errors.NotFoundError),
                        (6, errors.AlreadyExistsError), (8, errors.ResourceExhaustedError),
                        (9, errors.FailedPreconditionError), (11, errors.OutOfRangeError), (12, errors.UnimplementedError),
                        (13, errors.InternalError), (15, errors.DataLossError)]:
        refused(f"code {code}", error, "so it is asked: 100%s", lambda code=code: kinds.fail(how="ask", code=code))
    refused("in new", errors.NotFoundError, "the kernel cannot be made", lambda: kinds.fail(how="in new", code=5))
    refused("panic in new", errors.InternalError, "a panic in new", lambda: kinds.fail(how="panic in new"))
    refused("panic", errors.InternalError, "a panic in compute", lambda: kinds.fail(how="panic"))
    refused("without output", errors.InternalError, "did not set output `nothing`",
            lambda: kinds.fail(how="without output"))
    refused("later", errors.OutOfRangeError, "too late for numbers below zero", lambda: kinds.double_later([-1.0, 1.0]))
    refused("mode", errors.NotFoundError, "mode is \"other\"",
            lambda: kinds.which_kernel(tf.constant(1, tf.int64), mode="other"))
    refused("dtype", (errors.NotFoundError, errors.InvalidArgumentError), "", lambda: kinds.copy_of(["text"]))


def check_shapes(checks, ops, kinds):
    def shape(name, call, specs, *expected):
        def check():
            function = tf.function(call).get_concrete_function(*[tf.TensorSpec(s, tf.float32) for s in specs])
            outputs = [output.shape for output in function.outputs]
            wanted = [tf.TensorShape(dims) for dims in expected]
            assert [str(a) for a in outputs] == [str(a) for a in wanted], f"{outputs}"
        checks.run("shape", name, check)

    shape("unchanged", lambda x: ops.zero_out(x), [[None, 3]], [None, 3])
    shape("unchanged, of no rank", lambda x: ops.zero_out(x), [None], None)
    shape("scalar", lambda: ops.is_vocabulary_initialized(ops.vocabulary_handle()), [], [])
    # It asks for ksize, which a shape function in C cannot have.
    shape("of attrs", lambda x: ops.median_pool(x, padding="SAME"), [[1, 8, 8, 1]], None)
    if kinds:
        shape("N * T", lambda x, y: kinds.sum_of([x, y]), [[None, 3], [2, None]], [2, 3], [2])
        shape("list(type)", lambda x, y: kinds.pass_all([x, y]), [[None, 3], [2]], [None, 3], [2])
        shape("outputs of no number", lambda x: kinds.cut(x, parts=2), [[8]], None, None)
        shape("rows", lambda x, y: kinds.row_sums(x, y), [[None, 3], [None]], [None], [None, 1, None])
        shape("rows that are known", lambda x, y: kinds.row_sums(x, y), [[4, None], [3]], [4], [4, 1, 3])
        shape("of no rank", lambda x, y: kinds.row_sums(x, y), [None, None], [None], [None, 1, None])

        def differ():
            function = tf.function(lambda x: kinds.row_sums(x, tf.zeros([4])))
            try:
                function.get_concrete_function(tf.TensorSpec([2, 3], tf.float32))
            except ValueError as error:
                assert "must be equal" in str(error), error
            else:
                raise AssertionError("no error")
        checks.run("shape", "that cannot be", differ)


def check_kinds(checks, kinds):
    """What only the library with an op of every kind has."""
    def attrs():
        value = tf.make_tensor_proto([[1.5]])
        got = tf.function(lambda: kinds.every_attr(value=value, count=-3, shape=[2, None], shapes=[[1], None], flags=[True],
                                                   texts=[b"\xff", ""], dtypes=[tf.float64, tf.float32], factor=-0.5))()
        text = got.numpy()
        for part in [b"text=\"it\\'s\"", b"count=-3", b"factor=-0.5", b"flag=true", b"dtype=DT_INT32", b"shape=[2,?]",
                     b"value=Tensor<float [1,1] [[1.5]]>", b"texts=[\"\\xff\", \"\"]", b"counts=[1, -2]", b"factors=[0.5]",
                     b"flags=[true]", b"dtypes=[DT_DOUBLE, DT_FLOAT]", b"shapes=[[1], <unknown>]", b"mode=\"exact\""]:
            assert part in text, (part, text)
    checks.run("attrs", "EveryAttr", attrs)

    def state():
        before = kinds.count_calls().numpy()
        assert [kinds.count_calls().numpy() for _ in range(3)] == [before + 1, before + 2, before + 3]
    checks.run("state", "CountCalls", state)

    def waits():
        # TensorFlow's callbacks are good during the call only, so that each holds a thread meanwhile.
        @tf.function
        def many(x):
            return tf.add_n([kinds.double_later(x + float(index), milliseconds=20) for index in range(16)])
        same(many(tf.zeros([3])), [np.full(3, 240, np.float32)])
    checks.run("async", "16 in a graph", waits)

    def threads():
        failed = []

        def work():
            for index in range(200):
                if kinds.sum_of([tf.fill([40], float(index)), tf.ones([40])]).sum.numpy()[39] != index + 1:
                    failed.append(index)
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not failed, failed
    checks.run("threads", "SumOf", threads)


def check_gradient(checks, ops):
    """Python adds the gradients that a library cannot offer."""
    @tf.RegisterGradient("ZeroOut")
    def _gradient(op, grad):
        return ops.zero_out(grad, preserve_index=op.get_attr("preserve_index"))

    def gradient():
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.zero_out(x, preserve_index=1) * 5.0
        same(tape.gradient(y, x), [np.array([0, 5, 0], np.float32)])
    checks.run("gradient", "ZeroOut", gradient)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def check_memory(checks, ops, calls):
    x, words = tf.reshape(tf.range(4000.0), [40, 100]), tf.constant(["cat", "a word of more than 22 bytes"] * 20)
    handle = ops.vocabulary_handle(shared_name="of in_tensorflow.py")

    def results():
        ops.zero_out(x)
        ops.look_up_words(handle, words)

    def errors():
        try:
            ops.zero_out(x, preserve_index=5000)
        except tf.errors.InvalidArgumentError:
            pass

    # Apart, as TensorFlow 2.21 keeps what was computed before an error, by its own ops too.
    for name, call in [("results", results), ("errors", errors)]:
        def level():
            for _ in range(calls // 5):
                call()
            gc.collect()
            before = resident()
            for _ in range(calls):
                call()
            gc.collect()
            grown = resident() - before
            print(f"memory after {calls} calls with {name}: {grown:+} KiB")
            assert grown < 4096, f"{grown} KiB"
        checks.run("memory", name, level)


def measure(ops):
    """Time of a call beside Identity, in eager execution: the least of several rounds' means."""
    def mean(call, count=3000):
        start = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - start) / count * 1e6

    for size in [4, 100, 100_000]:
        x = tf.random.uniform([size])
        calls = {"Identity": lambda: tf.raw_ops.Identity(input=x), "Square": lambda: tf.raw_ops.Square(x=x),
                 "SoftShrink": lambda: ops.soft_shrink(x), "ZeroOut": lambda: ops.zero_out(x)}
        rounds = {name: [] for name in calls}
        for _ in range(9):
            for name, call in calls.items():
                rounds[name].append(mean(call, 3000 if size < 10_000 else 300))
        best = {name: min(times) for name, times in rounds.items()}
        medians = {name: statistics.median(times) for name, times in rounds.items()}
        text = ", ".join(f"{name} {best[name]:.2f} (median {medians[name]:.2f})" for name in calls)
        print(f"µs a call, {size} elements: {text}; ZeroOut beyond Identity {best['ZeroOut'] - best['Identity']:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("custom_ops", help="libcustom_ops.so")
    parser.add_argument("--every-kind", metavar="FILE", help="libevery_kind.so")
    parser.add_argument("--export", metavar="DIR", help="keep the SavedModel and the expected outputs there")
    parser.add_argument("--kernlink", metavar="FILE", help="the command, which runs the SavedModels, too")
    parser.add_argument("--calls", type=int, default=10_000, help="calls between which memory is measured")
    parser.add_argument("--time", action="store_true", help="measure a call")
    arguments = parser.parse_args()

    checks = Checks()
    ops = tf.load_op_library(os.path.abspath(arguments.custom_ops))
    kinds = tf.load_op_library(os.path.abspath(arguments.every_kind)) if arguments.every_kind else None
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.export or os.path.join(scratch, "custom-ops")
        os.makedirs(folder, exist_ok=True)
        cases = custom_cases(ops)
        check_cases(checks, cases, folder)
        if arguments.kernlink:
            program, library = os.path.abspath(arguments.kernlink), os.path.abspath(arguments.custom_ops)
            check_in_kernlink(checks, cases, folder, program, library)
        if kinds:
            folder = os.path.join(scratch, "kinds")
            os.makedirs(folder)
            cases = kind_cases(kinds)
            check_cases(checks, cases, folder)
            if arguments.kernlink:
                check_in_kernlink(checks, cases, folder, program, os.path.abspath(arguments.every_kind))
            check_kinds(checks, kinds)
    check_errors(checks, ops, kinds)
    check_shapes(checks, ops, kinds)
    check_gradient(checks, ops)
    check_memory(checks, ops, arguments.calls)
    if arguments.time:
        measure(ops)
    print(f"{sum(checks.agreed.values())} agree: " + ", ".join(f"{n} {kind}" for kind, n in checks.agreed.items()))
    for failure in checks.failed:
        print("FAILED", failure.splitlines()[0])
    sys.exit(bool(checks.failed))


if __name__ == "__main__":
    main()
