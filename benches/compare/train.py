#!/usr/bin/env python3
"""Compares steps of training with TensorFlow: A B A B, one round after another, with as many threads each.

Usage: train.py [--side BINARY] [--threads N] [--rounds N] [--model NAME:BATCH ...]
Needs: requirements.txt, in a virtual environment of its own, and Kernlink's side, which it builds unless --side names it:
    cargo build --release --features cli,train --example train_side

The item `digits` is a step of Adam for the network of examples/train-digits, 32 images. Each --model is one of
tf.keras.applications, such as ResNet50:8, with random weights, of which the gradients of a batch with respect to all weights of two
dimensions and more are computed, on both sides from the same frozen graph: forward and back, which is all of a step but the
optimiser. The ratio is Kernlink's time over TensorFlow's: below 1 Kernlink is faster.
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


class Kernlink:
    def __init__(self, side, threads, work):
        command = [side, "--threads", str(threads), *work]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"train.py: Kernlink's side ended with status {self.process.wait()}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class TensorFlow:
    """Calls a function that takes one step."""

    def __init__(self, step):
        self.step = step

    def run(self, steps):
        start, loss = time.perf_counter(), None
        for _ in range(steps):
            loss = self.step()
        loss = None if loss is None else float(loss)
        return [time.perf_counter() - start, loss]


def numbers(np, shape):
    return (np.arange(np.prod(shape), dtype=np.int64) * 37 % 101 / 100).astype(np.float32).reshape(shape)


def digits(tf, np):
    keras = tf.keras
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((8, 8, 1), batch_size=32),
        layers.Conv2D(16, 3, padding="same", activation="relu", kernel_initializer="he_normal"),
        layers.MaxPooling2D(2, padding="same"),
        layers.Conv2D(32, 3, padding="same", activation="relu", kernel_initializer="he_normal"),
        layers.MaxPooling2D(2, padding="same"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(10),
    ])
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    x, y = tf.constant(numbers(np, (32, 8, 8, 1))), tf.constant(np.arange(32) % 10)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x, training=True))
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    return TensorFlow(lambda: step(x, y))


def export(tf, name, batch, folder):
    """A frozen graph with the batch in its shapes."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    model = getattr(tf.keras.applications, name)(weights=None)
    spec = tf.TensorSpec([batch, *model.inputs[0].shape[1:]], tf.float32, name="x")
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(spec)
    path = os.path.join(folder, name + ".pb")
    Path(path).write_bytes(convert_variables_to_constants_v2(function).graph.as_graph_def().SerializeToString())
    return path


def gradients(tf, np, path, batch, threads):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(Path(path).read_bytes()), name="")
        operations = graph.get_operations()
        x = next(operation.outputs[0] for operation in operations if operation.type == "Placeholder")
        weights = [operation.outputs[0] for operation in operations if operation.type == "Const"
                   and operation.outputs[0].dtype == tf.float32 and len(operation.outputs[0].shape) >= 2]
        sinks = [operation.outputs[0] for operation in operations if operation.type != "Placeholder"
                 and operation.outputs and not any(output.consumers() for output in operation.outputs)]
        found = [tf.convert_to_tensor(g).op for g in tf.gradients(sinks, weights) if g is not None]
        options = v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
        session = v1.Session(graph=graph, config=options)
        values = numbers(np, [batch if dim is None else dim for dim in x.shape.as_list()])
        step = session.make_callable(found, [x])

    def run():
        step(values)

    return TensorFlow(run)


def compare(name, kernlink, tensorflow, rounds, seconds):
    """Both sides in turn, after a first round that is not counted."""
    steps = max(1, round(seconds / max(min(side.run(1)[0] for _ in range(3)) for side in (kernlink, tensorflow))))
    kernlink.run(steps), tensorflow.run(steps)
    times, losses = ([], []), [None, None]
    for _ in range(rounds):
        for index, side in enumerate((kernlink, tensorflow)):
            took, losses[index] = side.run(steps)
            times[index].append(took / steps * 1e3)
    ours, theirs = (statistics.median(side) for side in times)
    ratios = sorted(a / b for a, b in zip(*times))
    told = "" if losses[0] is None else f"   losses {losses[0]:.2g}, {losses[1]:.2g}"
    print(f"{name:24} {ours:9.3f} ms {theirs:9.3f} ms   ratio {ours / theirs:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}){told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a round of each side takes, about")
    parser.add_argument("--model", action="append", default=[], metavar="NAME:BATCH")
    args = parser.parse_args()
    side = args.side
    if side is None:
        build = ["cargo", "build", "--release", "--features", "cli,train", "--example", "train_side"]
        subprocess.run(build, cwd=ROOT, check=True)
        side = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/train_side"

    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    print(f"a step, median of {args.rounds} rounds, {args.threads} threads: Kernlink, TensorFlow {tf.__version__}")
    items = [("digits", ["digits"], lambda: digits(tf, np))]
    folder = tempfile.TemporaryDirectory()
    for model in args.model:
        name, _, batch = model.rpartition(":")
        path = export(tf, name, int(batch), folder.name)
        make = lambda path=path, batch=int(batch): gradients(tf, np, path, batch, args.threads)  # noqa: E731
        items.append((f"{name}, batch {batch}", [path, batch], make))
    for name, work, make in items:
        kernlink = Kernlink(str(side), args.threads, work)
        compare(name, kernlink, make(), args.rounds, args.seconds)
        kernlink.close()


if __name__ == "__main__":
    main()
