#!/usr/bin/env python3
"""Writes the models of the comparison, each as a frozen GraphDef and as the same graph in ONNX.

Usage: export_models.py DIR [NAME ...]
Needs: requirements.txt, in a virtual environment of its own.

Writes, for each model, DIR/NAME.pb, DIR/NAME.onnx, DIR/NAME.json and what it says to feed. The JSON has `feeds`
({placeholder: file}), `fetch` and `onnx` ({placeholder: name of the input in the ONNX model}). Weights are random, as
nothing is downloaded, but the statistics of normalisations are those of no identity. All is made for a batch of one.
A model whose files are there already is left alone.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

# The converter reads an alias that NumPy 2 no longer has.
for alias, plain in (("object", object), ("bool", bool)):
    if alias not in np.__dict__:
        setattr(np, alias, plain)
if not hasattr(np, "cast"):
    np.cast = {np.dtype(name).type: (lambda name: lambda value: np.asarray(value, name))(name)
               for name in ("float32", "float64", "int32", "int64", "bool")}

IMAGES = {
    "MobileNetV2": 224, "MobileNetV3Small": 224, "EfficientNetB0": 224, "ResNet50": 224, "InceptionV3": 299,
    "DenseNet121": 224, "NASNetMobile": 224, "Xception": 299,
}
RANDOM = np.random.RandomState(1)
# Bytes of a graph of which the converter would take more memory than most machines have.
LARGE = 400 << 20


def uniform(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def application(name, size):
    model = getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3))
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            # Scale and offset, of which one may be missing, mean and variance.
            near = [1] * layer.scale + [0] * layer.center + [0, 1]
            layer.set_weights([value + RANDOM.uniform(-0.1, 0.1, old.shape)
                               for value, old in zip(near, layer.get_weights())])
    return lambda x: model(x, training=False), {"x": uniform(1, size, size, 3)}


class Transformer:
    """Layers of a transformer, in the forms in which both Kernlink and ONNX Runtime fuse them; weights are random."""

    def __init__(self, width, heads, hidden):
        self.width, self.heads, self.hidden = width, heads, hidden

    def dense(self, x, columns):
        rows = x.shape[-1]
        weights = tf.constant((RANDOM.randn(rows, columns) / np.sqrt(rows)).astype("float32"))
        bias = tf.constant(uniform(columns) * 0.1)
        return tf.nn.bias_add(tf.matmul(x, weights), bias)

    def norm(self, x):
        gamma, beta = (tf.constant((start + 0.1 * uniform(self.width)).astype("float32")) for start in (1, 0))
        centred = x - tf.reduce_mean(x, -1, keepdims=True)
        variance = tf.reduce_mean(tf.pow(centred, 2.0), -1, keepdims=True)
        return centred / tf.sqrt(variance + 1e-6) * gamma + beta

    def split(self, x):
        return tf.transpose(tf.reshape(x, [1, -1, self.heads, self.width // self.heads]), [0, 2, 1, 3])

    def attention(self, x, mask=None, past=None):
        query, key, value = (self.split(self.dense(x, self.width)) for _ in range(3))
        if past is not None:
            key, value = tf.concat([past[0], key], 2), tf.concat([past[1], value], 2)
        scores = tf.matmul(query, key, transpose_b=True) * (1 / np.sqrt(self.width // self.heads)).astype("float32")
        if mask is not None:
            scores += mask
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), [0, 2, 1, 3])
        return self.dense(tf.reshape(mixed, [1, -1, self.width]), self.width), key, value

    def feed_forward(self, x, approximate):
        x = self.dense(x, self.hidden)
        if approximate:
            x = 0.5 * x * (1 + tf.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + 0.044715 * tf.pow(x, 3.0))))
        else:
            x = 0.5 * x * (1 + tf.math.erf(x / np.float32(np.sqrt(2))))
        return self.dense(x, self.width)


def bert():
    """A BERT-base encoder: 12 layers after the embeddings of 128 tokens."""
    layers = Transformer(768, 12, 3072)

    def model(x, mask):
        bias = (1 - mask[:, None, None, :]) * -10000.0
        x = layers.norm(x)
        for _ in range(12):
            x = layers.norm(x + layers.attention(x, bias)[0])
            x = layers.norm(x + layers.feed_forward(x, False))
        return x

    mask = np.ones([1, 128], "float32")
    mask[:, 100:] = 0
    return model, {"x": uniform(1, 128, 768), "mask": mask}


def vit():
    """A ViT-B/16."""
    layers = Transformer(768, 12, 3072)

    def model(x):
        patches = tf.constant((RANDOM.randn(16, 16, 3, 768) / 28).astype("float32"))
        x = tf.nn.bias_add(tf.nn.conv2d(x, patches, 16, "VALID"), tf.constant(uniform(768) * 0.1))
        x = tf.concat([tf.constant(uniform(1, 1, 768)), tf.reshape(x, [1, 196, 768])], 1)
        x += tf.constant(uniform(1, 197, 768) * 0.1)
        for _ in range(12):
            x += layers.attention(layers.norm(x))[0]
            x += layers.feed_forward(layers.norm(x), False)
        return layers.dense(layers.norm(x)[:, 0], 1000)

    return model, {"x": uniform(1, 224, 224, 3)}


def gpt2():
    """A step of GPT-2 small for one token behind 255 others, whose keys and values are fed; all are fetched."""
    layers = Transformer(768, 12, 3072)
    words = tf.constant(RANDOM.randn(50257, 768).astype("float32") * 0.02)
    places = tf.constant(RANDOM.randn(1024, 768).astype("float32") * 0.02)

    def model(token, past):
        count = tf.shape(past)[4]
        x = tf.gather(words, token) + tf.gather(places, count)
        keys, values = [], []
        for layer in range(12):
            mixed, key, value = layers.attention(layers.norm(x), past=(past[layer, 0], past[layer, 1]))
            keys.append(key)
            values.append(value)
            x += mixed
            x += layers.feed_forward(layers.norm(x), True)
        logits = tf.matmul(tf.reshape(layers.norm(x), [1, 768]), words, transpose_b=True)
        return logits, tf.stack([tf.stack(keys), tf.stack(values)], 1)

    return model, {"token": np.array([[50]], "int32"), "past": uniform(12, 2, 1, 12, 255, 64)}


def lstm(unroll):
    layer = keras.layers.LSTM(256, unroll=unroll, return_sequences=True)
    return layer, {"x": uniform(1, 50, 256)}


MODELS = {name: (lambda name, size: lambda: application(name, size))(name, size) for name, size in IMAGES.items()}
MODELS |= {"BERT": bert, "ViT": vit, "GPT2": gpt2, "LSTM": lambda: lstm(True), "LSTM-while": lambda: lstm(False)}


def take_weights(graph_def):
    """Makes placeholders of the large constants of a graph, and returns their values by name."""
    weights = {}
    for node in graph_def.node:
        if node.op == "Const" and node.attr["value"].tensor.ByteSize() > 1 << 20:
            weights[node.name] = tf.make_ndarray(node.attr["value"].tensor)
            dtype = node.attr["dtype"].type
            name = node.name
            node.Clear()
            node.name, node.op = name, "Placeholder"
            node.attr["dtype"].type = dtype
            for size in weights[name].shape:
                node.attr["shape"].shape.dim.add().size = size
    return weights


def to_onnx(graph_def, inputs, outputs, path):
    import onnx
    import tf2onnx
    import tf2onnx.tf_loader

    # The converter copies constants many times: those of large models come in when it is done.
    weights = take_weights(graph_def) if graph_def.ByteSize() > LARGE else {}
    inputs = inputs + [name + ":0" for name in weights]
    with tf.Graph().as_default() as graph:
        graph_def = tf2onnx.tf_loader.tf_optimize(inputs, outputs, graph_def)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.compat.v1.Session(graph=graph):
            # Images in NCHW, as ONNX has them, so that no transposes are left.
            made = tf2onnx.tfonnx.process_tf_graph(graph, opset=18, input_names=inputs, output_names=outputs)
            made = tf2onnx.optimizer.optimize_graph(made)
    model = made.make_model("exported")
    for name, value in weights.items():
        (place,) = [place for place in model.graph.input if place.name == name + ":0"]
        model.graph.input.remove(place)
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name + ":0"))
    onnx.save(model, path)


def export(folder, name):
    function, feeds = MODELS[name]()
    specs = [tf.TensorSpec(value.shape, value.dtype, name=key) for key, value in feeds.items()]
    concrete = tf.function(function).get_concrete_function(*specs)
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    graph_def = frozen.graph.as_graph_def()
    inputs = [tensor.name for tensor in frozen.inputs]
    outputs = [tensor.name for tensor in frozen.outputs]
    base = os.path.join(folder, name)
    with open(base + ".pb", "wb") as file:
        file.write(graph_def.SerializeToString())
    files = {}
    for tensor, (key, value) in zip(inputs, feeds.items()):
        files[tensor.split(":")[0]] = f"{name}.{key}.npy"
        np.save(os.path.join(folder, f"{name}.{key}.npy"), value)
    to_onnx(graph_def, inputs, outputs, base + ".onnx")
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump({"feeds": files, "fetch": [output.removesuffix(":0") for output in outputs],
                   "onnx": dict(zip(files, inputs))}, file, indent=1)


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        if os.path.exists(os.path.join(folder, name + ".json")):
            continue
        # Each in a process of its own, so that the memory of one is gone when the next is made.
        if len(names) > 1:
            if os.spawnv(os.P_WAIT, sys.executable, [sys.executable, __file__, folder, name]):
                print(f"{name}: not written", file=sys.stderr)
            continue
        export(folder, name)
        print(f"{name}: written", file=sys.stderr)


if __name__ == "__main__":
    main()
