#!/usr/bin/env python3
"""Train a small convolutional network on handwritten digits and freeze it to a TensorFlow GraphDef.

Usage: train.py [OUT_DIR]      (default: the folder of this script)
Needs: the packages in requirements.txt, in a virtual environment of their own. Nothing is downloaded:
the 1,797 images come with scikit-learn.

Writes OUT_DIR/digits.pb          the frozen GraphDef: input `images` [N,8,8,1] float,
                                  outputs `probabilities` [N,10] float and `classes` [N] int64
       OUT_DIR/images.npy         the 360 images that were kept aside for the test, float32 [360,8,8,1] in [0,1]
       OUT_DIR/labels.npy         what they show, int64 [360]
       OUT_DIR/probabilities.npy  TensorFlow's answers for them, computed from the frozen digits.pb
       OUT_DIR/classes.npy

Nothing is written unless the network is right on at least 97% of the test images, no prediction is near a tie,
and the graph is small and made of plain ops.
"""
import os
import sys
from collections import Counter
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

SEED = 2024
TEST_IMAGES = 360
EPOCHS = 40
BATCH = 32

MIN_ACCURACY = 0.97
# The smallest distance between the best and the second-best probability of any test image. Rounding differs
# between implementations by far less (about 1e-6), so every correct one must give the same classes.
MIN_MARGIN = 0.01
MAX_BYTES = 300_000
OPS = {
    "Placeholder", "Const", "Identity", "Conv2D", "FusedBatchNormV3", "BiasAdd", "Relu", "MaxPool",
    "Shape", "StridedSlice", "Pack", "Reshape", "MatMul", "Softmax", "ArgMax",
}


def load():
    """The images in [0,1] as [N,8,8,1] and their labels: training set, then test set. The split is always the same."""
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., np.newaxis]
    labels = digits.target.astype("int64")
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels, test_size=TEST_IMAGES, stratify=labels, random_state=SEED)
    return train_x, train_y, test_x, test_y


def build():
    layers = keras.layers
    return keras.Sequential([
        layers.InputLayer(input_shape=(8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", use_bias=False, name="conv1"),
        layers.BatchNormalization(name="norm1"),
        layers.ReLU(name="relu1"),
        layers.Conv2D(32, 3, padding="same", use_bias=False, name="conv2"),
        layers.BatchNormalization(name="norm2"),
        layers.ReLU(name="relu2"),
        layers.MaxPooling2D(2, name="pool2"),
        layers.Conv2D(32, 3, padding="same", activation="relu", name="conv3"),
        layers.MaxPooling2D(2, name="pool3"),
        layers.Reshape((128,), name="flat"),
        layers.Dropout(0.3, seed=SEED, name="drop"),
        layers.Dense(64, activation="relu", name="dense1"),
        layers.Dense(10, name="dense2"),
    ], name="digits")


def train(model, x, y):
    steps = EPOCHS * (len(x) // BATCH)
    # Label smoothing keeps the network from claiming certainty; the decaying rate lets the weights settle.
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, steps)),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.05),
        metrics=["accuracy"])
    model.fit(x, np.eye(10, dtype="float32")[y], batch_size=BATCH, epochs=EPOCHS, verbose=0)


def freeze(model):
    """The inference graph with the weights as constants."""
    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 1], tf.float32, name="images")])
    def predict(images):
        scores = model(images, training=False)
        probabilities = tf.nn.softmax(scores, name="probabilities")
        classes = tf.argmax(probabilities, axis=-1, name="classes")
        return probabilities, classes

    graph = convert_variables_to_constants_v2(predict.get_concrete_function()).graph.as_graph_def()
    # What the function adds around its results (Identity, NoOp) is not part of the model.
    graph = tf.compat.v1.graph_util.extract_sub_graph(graph, ["probabilities", "classes"])
    graph.ClearField("library")
    return graph


def answer(serialized, images):
    """TensorFlow's own answers, from the frozen bytes."""
    graph = tf.compat.v1.GraphDef.FromString(serialized)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(graph, name="")
        return session.run(["probabilities:0", "classes:0"], {"images:0": images})


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    out.mkdir(parents=True, exist_ok=True)
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()

    train_x, train_y, test_x, test_y = load()
    model = build()
    train(model, train_x, train_y)

    graph = freeze(model)
    serialized = graph.SerializeToString(deterministic=True)
    probabilities, classes = answer(serialized, test_x)

    accuracy = float(np.mean(classes == test_y))
    best = np.sort(probabilities, axis=-1)
    margin = float((best[:, -1] - best[:, -2]).min())
    ops = Counter(node.op for node in graph.node)
    print(f"trained on {len(train_x)} images; right on {int((classes == test_y).sum())} of {len(test_y)} "
          f"({accuracy:.2%}); smallest margin {margin:.4f}; {len(serialized)} bytes")
    print("ops:", ", ".join(f"{op} x{count}" for op, count in sorted(ops.items())))

    if accuracy < MIN_ACCURACY:
        sys.exit(f"accuracy {accuracy:.2%} is below {MIN_ACCURACY:.0%}")
    if margin < MIN_MARGIN:
        sys.exit(f"a prediction is near a tie: margin {margin:.5f} is below {MIN_MARGIN}")
    if len(serialized) > MAX_BYTES:
        sys.exit(f"the graph has {len(serialized)} bytes, more than {MAX_BYTES}")
    if set(ops) - OPS:
        sys.exit(f"the graph has ops that the example does not expect: {sorted(set(ops) - OPS)}")

    (out / "digits.pb").write_bytes(serialized)
    np.save(out / "images.npy", np.ascontiguousarray(test_x, dtype="float32"))
    np.save(out / "labels.npy", test_y.astype("int64"))
    np.save(out / "probabilities.npy", probabilities.astype("float32"))
    np.save(out / "classes.npy", classes.astype("int64"))


if __name__ == "__main__":
    main()
