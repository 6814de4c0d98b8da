"""Writes data/: models that TensorFlow saved, and in `answers.pb`, a graph of constants, what TensorFlow makes of them.

    python tests/saved_model/generate.py

Needs TensorFlow (tests/golden/requirements.txt says which version), with Keras 3. With names behind it, only these
models are written anew: `generate.py keras`.
"""
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.framework import graph_pb2  # noqa: E402

HERE = pathlib.Path(__file__).parent / "data"
# Models remember where their assets came from.
SOURCES = pathlib.Path("/tmp/kernlink-assets")
v1 = tf.compat.v1
ANSWERS = graph_pb2.GraphDef()


def answer(name, value):
    node = ANSWERS.node.add(name=name, op="Const")
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))


class Scale(tf.Module):
    """Two variables, a file, and a signature that counts its calls."""

    def __init__(self, vocabulary):
        super().__init__()
        self.factor = tf.Variable([1.5, -2.0, 4.0], name="factor")
        self.calls = tf.Variable(np.int64(7), name="calls")
        self.vocabulary = tf.saved_model.Asset(str(vocabulary))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def scale(self, x):
        self.calls.assign_add(1)
        return {"scaled": x * self.factor, "calls": self.calls.read_value(), "x": x}

    @tf.function(input_signature=[])
    def words(self):
        return {"words": tf.io.read_file(self.vocabulary.asset_path)}


def tf2():
    file = SOURCES / "vocabulary.txt"
    file.write_text("one two\n")
    model = Scale(file)
    folder = HERE / "tf2"
    tf.saved_model.save(model, str(folder), signatures={"serving_default": model.scale, "words": model.words})
    file.unlink()
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    loaded = tf.saved_model.load(str(folder))
    x = tf.constant([[1.0, 2.0, 3.0], [0.5, 0.25, -1.0]])
    answer("tf2/x", x)
    for name, value in loaded.signatures["serving_default"](x=x).items():
        answer(f"tf2/{name}", value)


def tf1():
    """Reference variables, two graphs with tags, an old-style initialiser with an asset, as text."""
    file = SOURCES / "table.txt"
    file.write_text("a\nb\n")
    folder = HERE / "tf1"
    builder = v1.saved_model.Builder(str(folder))
    for training in (True, False):
        with v1.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 2], name="x")
            w = v1.get_variable("w", initializer=np.float32([[1, 2], [3, 4]]), use_resource=False)
            asset = tf.constant(str(file), name="asset")
            v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
            text = v1.get_variable("text", initializer="", use_resource=False)
            init = v1.assign(text, tf.io.read_file(asset), name="read_asset").op
            y = tf.identity(tf.matmul(x, w), name="y")
            session.run(v1.global_variables_initializer())
            signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y, "text": tf.identity(text)})
            arguments = {"legacy_init_op": init, "assets_collection": [asset],
                         "signature_def_map": {"predict": signature}}
            if training:
                builder.add_meta_graph_and_variables(session, ["train"], **arguments)
            else:
                builder.add_meta_graph(["serve"], **arguments)
    builder.save(as_text=True)
    file.unlink()
    x = np.float32([[1, 2], [-1, 0.5]])
    answer("tf1/x", x)
    answer("tf1/y", x @ np.float32([[1, 2], [3, 4]]))


def meta():
    """A graph that trains, its checkpoint, and the losses of the next steps."""
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=np.float32([[0.5], [-1]]), use_resource=False)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 3.0), name="loss")
        step = v1.train.get_or_create_global_step()
        # By hand: no optimiser's op is needed.
        gradient = 2.0 * tf.matmul(x, tf.matmul(x, w) - 3.0, transpose_a=True) / tf.cast(tf.shape(x)[0], tf.float32)
        train = tf.group(v1.assign_sub(w, 0.01 * gradient), v1.assign_add(step, 1), name="train")
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        batch = np.float32([[1, 2], [3, -1], [0.5, 0.5]])
        session.run(train, {x: batch})
        saver.save(session, str(HERE / "meta" / "model"), write_state=False)
        losses = []
        for _ in range(5):
            losses.append(session.run(loss, {x: batch}))
            session.run(train, {x: batch})
        answer("meta/x", batch)
        answer("meta/losses", np.float32(losses))
        answer("meta/w", session.run(w))


class Trained(tf.Module):
    """Two layers of one name, and an optimiser. Keras gives the saver a second variable for each of theirs."""

    def __init__(self):
        super().__init__()
        tf.keras.utils.set_random_seed(1)
        self.layers = [tf.keras.layers.Dense(2, name="dense"), tf.keras.layers.Dense(2, name="dense")]
        for layer in self.layers:
            layer.build((None, 2))
        self.weights = [weight for layer in self.layers for weight in layer.trainable_variables]
        self.optimizer = tf.keras.optimizers.Adam(0.1)
        self.optimizer.build(self.weights)
        # One that the saver restores itself.
        self.calls = tf.Variable(np.int64(5), name="calls")

    def forward(self, x):
        return self.layers[1](tf.tanh(self.layers[0](x)))

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def predict(self, x):
        return {"y": self.forward(x), "calls": self.calls.read_value()}

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def train(self, x):
        self.calls.assign_add(1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.forward(x) - 1.0))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.weights), self.weights))
        return {"loss": loss, "steps": tf.identity(self.optimizer.iterations)}


def keras():
    model = Trained()
    x = tf.constant([[1.0, 2.0], [-0.5, 0.25], [3.0, -1.0]])
    # So that the optimiser has something to go on with.
    model.train(x)
    folder = HERE / "keras"
    signatures = {"serving_default": model.predict, "train": model.train}
    tf.saved_model.save(model, str(folder), signatures=signatures)
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    (folder / "assets").rmdir()
    loaded = tf.saved_model.load(str(folder))
    answer("keras/x", x)
    answer("keras/y", loaded.signatures["serving_default"](x=x)["y"])
    answer("keras/losses", tf.stack([loaded.signatures["train"](x=x)["loss"] for _ in range(3)]))
    answer("keras/trained", loaded.signatures["serving_default"](x=x)["y"])


MODELS = {"tf2": tf2, "tf1": tf1, "meta": meta, "keras": keras}
wanted = sys.argv[1:] or list(MODELS)
if (HERE / "answers.pb").exists():
    old = graph_pb2.GraphDef.FromString((HERE / "answers.pb").read_bytes())
    ANSWERS.node.extend(node for node in old.node if node.name.split("/")[0] not in wanted)
HERE.mkdir(exist_ok=True)
SOURCES.mkdir(exist_ok=True)
for model in wanted:
    shutil.rmtree(HERE / model, ignore_errors=True)
    MODELS[model]()
SOURCES.rmdir()
(HERE / "answers.pb").write_bytes(ANSWERS.SerializeToString(deterministic=True))
