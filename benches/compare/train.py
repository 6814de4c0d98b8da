#!/usr/bin/env python3
"""Compares steps of training with TensorFlow: A B A B, one round after another, with as many threads each.

Usage: train.py [--side BINARY] [--threads N] [--rounds N] [ITEM ...]
Needs: requirements.txt, in a virtual environment of its own, and Kernlink's side, which it builds unless --side names it:
    cargo build --release --features cli,train --example train_side

Items are digits (the network of examples/train-digits), lstm, mobilenet, resnet50 and bert, each with its batch: ITEM is a name,
or NAME:BATCH. A step computes the loss of a batch and its gradients, and changes all weights, by Adam or, for images, by momentum.
Kernlink adds the gradients and the step to the graph of the loss as TensorFlow has it, with its variables. TensorFlow's side is a
tf.function with a GradientTape and an optimiser of Keras. The ratio is Kernlink's time over TensorFlow's: below 1 Kernlink is
faster. Each side is a process, whose peak memory is told, and the loss after the same steps.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
ROOT = Path(__file__).resolve().parent.parent.parent
CLASSES = 10


class Side:
    """A process that takes as many steps as a line says, and answers with seconds and the loss of the last."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def run(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"train.py: {self.process.args[0]} ended with status {self.process.wait()}")
        return json.loads(line)

    def peak(self):
        """Its peak memory so far, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def numbers(np, shape):
    return (np.arange(np.prod(shape), dtype=np.int64) * 37 % 101 / 100).astype(np.float32).reshape(shape)


def digits(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential([
        tf.keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu", kernel_initializer="he_normal"),
        layers.MaxPooling2D(2, padding="same"),
        layers.Conv2D(32, 3, padding="same", activation="relu", kernel_initializer="he_normal"),
        layers.MaxPooling2D(2, padding="same"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(CLASSES),
    ])


def lstm(tf):
    return tf.keras.Sequential([tf.keras.Input((50, 256)), tf.keras.layers.LSTM(256), tf.keras.layers.Dense(CLASSES)])


def application(name):
    return lambda tf: getattr(tf.keras.applications, name)(weights=None, classes=CLASSES, classifier_activation=None)


def bert(tf):
    """A BERT-base encoder: 12 layers after the embeddings of 128 tokens."""
    keras, layers = tf.keras, tf.keras.layers
    width, heads, hidden = 768, 12, 3072

    def norm():
        return layers.LayerNormalization(epsilon=1e-6)

    def split(x):
        return keras.ops.transpose(keras.ops.reshape(x, (-1, 128, heads, width // heads)), (0, 2, 1, 3))

    x = keras.Input((128, width))
    y = norm()(x)
    for _ in range(12):
        query, key, value = (split(layers.Dense(width)(y)) for _ in range(3))
        scores = keras.ops.matmul(query, keras.ops.transpose(key, (0, 1, 3, 2))) * (width // heads) ** -0.5
        mixed = keras.ops.transpose(keras.ops.matmul(keras.ops.softmax(scores), value), (0, 2, 1, 3))
        y = norm()(y + layers.Dense(width)(keras.ops.reshape(mixed, (-1, 128, width))))
        y = norm()(y + layers.Dense(width)(layers.Dense(hidden, activation="gelu")(y)))
    return keras.Model(x, layers.Dense(CLASSES)(y[:, 0]))


# What makes the model, the batch, and Kernlink's rule with its rate.
ITEMS = {
    "digits": (digits, 32, "adam", 1e-3),
    "lstm": (lstm, 8, "adam", 1e-3),
    "mobilenet": (application("MobileNetV2"), 8, "momentum", 1e-5),
    "resnet50": (application("ResNet50"), 8, "momentum", 1e-5),
    "bert": (bert, 8, "adam", 1e-5),
}


class Training:
    """The loss of a model, as TensorFlow computes it."""

    def __init__(self, name, batch):
        import numpy as np
        import tensorflow as tf

        self.tf = tf
        make, _, rule, rate = ITEMS[name]
        tf.keras.utils.set_random_seed(1)
        self.model = make(tf)
        adam = rule == "adam"
        self.optimizer = tf.keras.optimizers.Adam(rate) if adam else tf.keras.optimizers.SGD(rate, momentum=0.9)
        self.x = tf.constant(numbers(np, (batch, *self.model.inputs[0].shape[1:])))
        self.y = tf.constant(np.arange(batch) % CLASSES)

    def loss(self, x, y):
        nn = self.tf.nn
        losses = nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=self.model(x, training=True))
        return self.tf.reduce_mean(losses)

    def step(self):
        tf, variables = self.tf, self.model.trainable_variables
        self.optimizer.build(variables)

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = self.loss(x, y)
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        return lambda: step(self.x, self.y)

    def export(self, path):
        """Writes the graph of the loss: with the placeholders `x` and `y`, the variables, whose names begin with `trainable` or
        `state`, the node `model` that gives them their values from the checkpoint that is written beside it, the output `loss`,
        and `updates`, for averages."""
        tf = self.tf
        specs = [tf.TensorSpec(value.shape, value.dtype, name) for value, name in ((self.x, "x"), (self.y, "y"))]
        function = tf.function(self.loss).get_concrete_function(*specs)
        graph_def = function.graph.as_graph_def()
        nodes = {node.name: node for node in graph_def.node}
        variables = {id(variable.handle): variable for variable in function.variables}
        trainable = {id(variable.value.handle) for variable in self.model.trainable_variables}

        def add(op, name, *inputs, **attrs):
            node = nodes[name] if name in nodes else graph_def.node.add()
            node.Clear()
            node.op, node.name = op, name
            node.input.extend(inputs)
            for key, value in attrs.items():
                node.attr[key].CopyFrom(value)

        def attr(**fields):
            return tf.compat.v1.AttrValue(**fields)

        def strings(name, values):
            value = tf.make_tensor_proto(values, tf.string, (len(values),) if isinstance(values, list) else ())
            add("Const", name, dtype=attr(type=value.dtype), value=attr(tensor=value))

        saved = {}
        for outside, inside in function.graph.captures:
            name = inside.op.name
            variable = variables.get(id(outside))
            if variable is None:
                value = tf.make_tensor_proto(outside)
                add("Const", name, dtype=attr(type=value.dtype), value=attr(tensor=value))
                continue
            dtype = attr(type=variable.dtype.as_datatype_enum)
            shared = f"{'trainable' if id(outside) in trainable else 'state'}/{name}"
            add("VarHandleOp", name, dtype=dtype, shape=attr(shape=variable.shape.as_proto()),
                shared_name=attr(s=shared.encode()), container=attr(s=b""))
            add("AssignVariableOp", f"assign/{name}", name, f"first:{len(saved)}", dtype=dtype)
            saved[name] = variable
        checkpoint, anything = f"{path}.ckpt", [""] * len(saved)
        tf.raw_ops.SaveV2(prefix=checkpoint, tensor_names=list(saved), shape_and_slices=anything,
                          tensors=[variable.value() for variable in saved.values()])
        strings("first/prefix", checkpoint)
        strings("first/names", list(saved))
        strings("first/slices", anything)
        dtypes = tf.compat.v1.AttrValue.ListValue(type=[value.dtype.as_datatype_enum for value in saved.values()])
        add("RestoreV2", "first", "first/prefix", "first/names", "first/slices", dtypes=attr(list=dtypes))
        add("NoOp", "model", *(f"^assign/{name}" for name in saved))
        add("NoOp", "updates", *(f"^{node.name}" for node in function.graph.control_outputs))
        output = function.outputs[0]
        add("Identity", "loss", output.name, T=attr(type=output.dtype.as_datatype_enum))
        Path(path).write_bytes(graph_def.SerializeToString())


def serve(name, batch, threads):
    """TensorFlow's side."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    step = Training(name, batch).step()
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            loss = step()
        loss = float(loss)
        print(json.dumps([time.perf_counter() - start, loss]), flush=True)


def compare(name, kernlink, tensorflow, rounds, seconds):
    """Both sides in turn, after a first round that is not counted."""
    sides = (kernlink, tensorflow)
    steps = max(1, round(seconds / max(min(side.run(1)[0] for _ in range(3)) for side in sides)))
    times, losses = ([], []), [None, None]
    for number in range(rounds + 1):
        for index, side in enumerate(sides):
            took, losses[index] = side.run(steps)
            if number:
                times[index].append(took / steps * 1e3)
    ours, theirs = (statistics.median(side) for side in times)
    ratios = sorted(a / b for a, b in zip(*times))
    print(f"{name:22} {ours:10.3f} ms {theirs:10.3f} ms   ratio {ours / theirs:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})   "
          f"peak {kernlink.peak():.0f}, {tensorflow.peak():.0f} MiB   losses {losses[0]:.4g}, {losses[1]:.4g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a round of each side takes, about")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--export", help="only write the graph of the loss of one item to this file")
    parser.add_argument("items", nargs="*", metavar="ITEM")
    args = parser.parse_args()
    items = []
    for item in args.items or ["digits"]:
        name, _, batch = item.partition(":")
        if name not in ITEMS:
            parser.error(f"there is no item `{name}`: there are {', '.join(ITEMS)}")
        items.append((name, int(batch) if batch else ITEMS[name][1]))
    if (args.serve or args.export) and len(items) > 1:
        parser.error("of one item")
    if args.serve:
        return serve(*items[0], args.threads)
    if args.export:
        return Training(*items[0]).export(args.export)
    side = args.side
    if side is None:
        build = ["cargo", "build", "--release", "--features", "cli,train", "--example", "train_side"]
        subprocess.run(build, cwd=ROOT, check=True)
        side = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/train_side"
    print(f"a step, median of {args.rounds} rounds, {args.threads} threads: Kernlink, TensorFlow")
    itself = [sys.executable, __file__]
    with tempfile.TemporaryDirectory() as folder:
        for name, batch in items:
            path = os.path.join(folder, name + ".pb")
            subprocess.run([*itself, "--export", path, f"{name}:{batch}"], check=True)
            kernlink = Side([side, "--threads", args.threads, path, *ITEMS[name][2:]])
            tensorflow = Side([*itself, "--serve", "--threads", args.threads, f"{name}:{batch}"])
            compare(f"{name}, batch {batch}", kernlink, tensorflow, args.rounds, args.seconds)
            kernlink.close()
            tensorflow.close()
    return None


if __name__ == "__main__":
    sys.exit(main())
