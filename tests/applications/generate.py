"""Writes data/: applications as people export them, each a SavedModel, and in `answers.pb`, a graph of constants, what TensorFlow
answers to calls of their signatures.

    python tests/applications/generate.py

Needs TensorFlow (tests/golden/requirements.txt says which version), with Keras 3. With names behind it, only these
applications are written anew: `generate.py unet`.

A call is `MODEL/K/SIGNATURE`; below it stand `in/NAME`, `out/NAME` and, for floats, `tolerance` ([rtol, atol]). The calls of a
model follow each other, so that a training step sees what the last one left.
"""
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.framework import graph_pb2  # noqa: E402

HERE = pathlib.Path(__file__).parent / "data"
SOURCES = pathlib.Path("/tmp/kernlink-assets")
ANSWERS = graph_pb2.GraphDef()
layers = tf.keras.layers
v1 = tf.compat.v1


def constant(name, value):
    node = ANSWERS.node.add(name=name, op="Const")
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))


def save(name, module, calls, tolerance=(1e-4, 1e-5), **signatures):
    """Saves the module and asks what was saved: `calls` are (signature, arguments)."""
    folder = HERE / name
    tf.saved_model.save(module, str(folder), signatures=signatures)
    finish(name)
    loaded = tf.saved_model.load(str(folder))
    ask(name, calls, lambda signature, arguments: loaded.signatures[signature](**arguments), tolerance)


def finish(name):
    folder = HERE / name
    (folder / "fingerprint.pb").unlink(missing_ok=True)
    if (folder / "assets").exists() and not any((folder / "assets").iterdir()):
        (folder / "assets").rmdir()


def ask(name, calls, answer, tolerance):
    for k, (signature, arguments) in enumerate(calls):
        arguments = {key: tf.constant(value) for key, value in arguments.items()}
        call = f"{name}/{k}/{signature}"
        for key, value in arguments.items():
            constant(f"{call}/in/{key}", value)
        for key, value in answer(signature, arguments).items():
            constant(f"{call}/out/{key}", value)
        constant(f"{call}/tolerance", np.float32(tolerance))


def random(seed):
    return np.random.default_rng(seed)


def picture(seed, height, width):
    """Soft gradients with a few shapes, so that a JPEG file of it is as those of photographs are."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    rng = random(seed)
    image = np.stack([128 + 100 * np.sin(x / (7 + 3 * c) + y / (11 - 2 * c) + seed) for c in range(3)], -1)
    for _ in range(6):
        top, left = rng.integers(0, height - 8), rng.integers(0, width - 8)
        image[top : top + rng.integers(4, height // 2), left : left + rng.integers(4, width // 2)] = rng.integers(0, 256, 3)
    return np.clip(image, 0, 255).astype(np.uint8)


def convolution(filters, strides=1, size=3, activation="relu", **options):
    return layers.Conv2D(filters, size, strides=strides, padding="same", activation=activation, **options)


def ssd():
    """A detector: two feature maps, anchors, boxes from offsets, suppression for all classes at once."""
    tf.keras.utils.set_random_seed(11)
    classes, sizes = 4, {8: [0.2, 0.35], 4: [0.5, 0.7]}
    image = layers.Input([64, 64, 3])
    x = convolution(8, 2)(image)
    x = layers.SeparableConv2D(12, 3, strides=2, padding="same", activation="relu")(x)
    first = layers.BatchNormalization()(convolution(16, 2)(x))
    second = convolution(24, 2)(first)
    offsets, scores, anchors = [], [], []
    for features, (grid, boxes) in zip((first, second), sizes.items()):
        offsets.append(layers.Reshape([-1, 4])(convolution(4 * len(boxes), activation=None)(features)))
        wide = convolution(classes * len(boxes), activation=None, kernel_initializer="random_normal")(features)
        scores.append(layers.Reshape([-1, classes])(wide))
        centres = (np.arange(grid) + 0.5) / grid
        anchors += [[cy, cx, size, size] for cy in centres for cx in centres for size in boxes]
    network = tf.keras.Model(image, [layers.Concatenate(1)(offsets), layers.Concatenate(1)(scores)])
    anchors = tf.constant(np.float32(anchors))

    @tf.function(input_signature=[tf.TensorSpec([None, 64, 64, 3], tf.uint8, name="images")])
    def detect(images):
        offsets, logits = network(tf.image.convert_image_dtype(images, tf.float32) * 2.0 - 1.0, training=False)
        centre = offsets[..., :2] * 0.1 * anchors[:, 2:] + anchors[:, :2]
        half = tf.exp(offsets[..., 2:] * 0.2) * anchors[:, 2:] / 2.0
        boxes = tf.concat([centre - half, centre + half], -1)
        found = tf.image.combined_non_max_suppression(
            boxes[:, :, None, :], tf.sigmoid(logits), max_output_size_per_class=5, max_total_size=12, iou_threshold=0.4,
            score_threshold=0.5)
        return found._asdict()

    images = np.stack([picture(k, 64, 64) for k in range(3)])
    module = tf.Module()
    module.network = network
    save("ssd", module, [("serving_default", {"images": images}), ("serving_default", {"images": images[:1]})],
         serving_default=detect)


def image_serving():
    """Files of JPEG in, classes out: what TensorFlow Serving is asked."""
    tf.keras.utils.set_random_seed(12)
    network = tf.keras.Sequential([
        layers.Input([48, 48, 3]), convolution(8, 2), layers.DepthwiseConv2D(3, padding="same", activation="relu6"),
        convolution(16, 2, 1), layers.GlobalAveragePooling2D(), layers.Dense(5, activation="softmax")])
    names = tf.constant(["cat", "dog", "bird", "fish", "tree"])

    def prepare(file):
        image = tf.io.decode_jpeg(file, channels=3, dct_method="INTEGER_ACCURATE")
        image = tf.image.resize(tf.cast(image, tf.float32), [56, 56], antialias=True)
        image = tf.image.adjust_contrast(tf.image.resize_with_crop_or_pad(image, 48, 48), 1.2)
        return tf.image.per_image_standardization(tf.ensure_shape(image, [48, 48, 3]))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="image_bytes")])
    def classify(image_bytes):
        images = tf.map_fn(prepare, image_bytes, fn_output_signature=tf.TensorSpec([48, 48, 3], tf.float32))
        scores = network(images, training=False)
        best = tf.math.top_k(scores, 3)
        return {"scores": scores, "classes": tf.gather(names, best.indices)}

    files = []
    for k, (height, width) in enumerate([(60, 80), (97, 64), (48, 48)]):
        files.append(tf.io.encode_jpeg(picture(k, height, width), quality=90).numpy())
    grey = tf.io.encode_jpeg(picture(9, 50, 70)[..., :1], format="grayscale").numpy()
    module = tf.Module()
    module.network = network
    save("image_serving", module, [("serving_default", {"image_bytes": files}), ("serving_default", {"image_bytes": [grey]})],
         tolerance=(1e-4, 1e-4), serving_default=classify)


def speech():
    """Sound to keywords: windows, spectra, the mel scale, cepstra, a network over time."""
    tf.keras.utils.set_random_seed(13)
    network = tf.keras.Sequential([
        layers.Input([None, 13]), layers.Conv1D(16, 5, strides=2, padding="same", activation="relu"),
        layers.Conv1D(16, 3, dilation_rate=2, padding="causal", activation="relu"), layers.GRU(12),
        layers.Dense(6)])

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32, name="waves")])
    def front(waves):
        spectra = tf.abs(tf.signal.stft(waves, frame_length=400, frame_step=160, fft_length=512, pad_end=True))
        mel = tf.signal.linear_to_mel_weight_matrix(40, 257, 16000, 80.0, 7600.0)
        log_mel = tf.math.log(tf.tensordot(spectra, mel, 1) + 1e-6)
        cepstra = tf.signal.mfccs_from_log_mel_spectrograms(log_mel)[..., :13]
        return {"log_mel": log_mel, "cepstra": cepstra, "keywords": network(cepstra, training=False)}

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32, name="waves")])
    def there_and_back(waves):
        spectra = tf.signal.stft(waves, 256, 64)
        window = tf.signal.inverse_stft_window_fn(64)
        return {"waves": tf.signal.inverse_stft(spectra, 256, 64, window_fn=window)}

    time = np.arange(4000) / 16000.0
    waves = np.float32([np.sin(2 * np.pi * (200 + 150 * k) * time * (1 + time)) * 0.4 for k in range(2)])
    waves += np.float32(random(1).normal(size=waves.shape) * 0.05)
    module = tf.Module()
    module.network = network
    save("speech", module, [("serving_default", {"waves": waves}), ("back", {"waves": waves[:, :1500]})],
         tolerance=(1e-3, 2e-3), serving_default=front, back=there_and_back)


def crnn():
    """Lines of text: convolutions, a network over the columns in both directions, CTC for reading and for learning."""
    tf.keras.utils.set_random_seed(14)
    characters = 7
    image = layers.Input([16, 40, 1])
    x = layers.MaxPooling2D(2)(convolution(8)(image))
    x = layers.MaxPooling2D([2, 1])(convolution(12)(x))
    x = layers.Reshape([20, -1])(layers.Permute([2, 1, 3])(x))
    x = layers.Bidirectional(layers.LSTM(10, return_sequences=True))(x)
    network = tf.keras.Model(image, layers.Dense(characters + 1, kernel_initializer="random_normal")(x))
    images_spec = tf.TensorSpec([None, 16, 40, 1], tf.float32, name="images")

    def columns(logits):
        return tf.transpose(logits, [1, 0, 2]), tf.fill([tf.shape(logits)[0]], tf.shape(logits)[1])

    @tf.function(input_signature=[images_spec])
    def read(images):
        logits, lengths = columns(network(images, training=False))
        (greedy,), score = tf.nn.ctc_greedy_decoder(logits, lengths)
        (beam, second), chances = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=8, top_paths=2)
        return {"greedy": tf.sparse.to_dense(greedy, -1), "score": score, "beam": tf.sparse.to_dense(beam, -1),
                "second": tf.sparse.to_dense(second, -1), "chances": chances}

    @tf.function(input_signature=[images_spec, tf.TensorSpec([None, None], tf.int64, name="labels")])
    def learn(images, labels):
        sparse = tf.sparse.from_dense(labels + 1)
        sparse = tf.SparseTensor(sparse.indices, tf.cast(sparse.values - 1, tf.int32), sparse.dense_shape)
        with tf.GradientTape() as tape:
            logits, lengths = columns(network(images, training=True))
            old = v1.nn.ctc_loss(sparse, logits, lengths)
            new = tf.nn.ctc_loss(tf.cast(labels, tf.int32), logits, tf.reduce_sum(tf.cast(labels >= 0, tf.int32), 1), lengths,
                                 blank_index=-1)
            loss = tf.reduce_mean(old)
        gradients = tape.gradient(loss, network.trainable_variables)
        for variable, gradient in zip(network.trainable_variables, gradients):
            variable.value.assign_sub(0.01 * gradient)
        return {"old": old, "new": new, "norm": tf.linalg.global_norm(gradients)}

    images = np.float32(random(2).uniform(size=[2, 16, 40, 1]))
    labels = np.int64([[1, 2, 2, 5], [0, 6, -1, -1]])
    module = tf.Module()
    module.network = network
    calls = [("serving_default", {"images": images})] + [("learn", {"images": images, "labels": labels})] * 3
    save("crnn", module, calls + calls[:1], tolerance=(2e-4, 1e-4), serving_default=read, learn=learn)


def columns():
    """Wide and deep of TensorFlow 1: feature columns over serialised Examples."""
    column = v1.feature_column
    with v1.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(15)
        age = column.numeric_column("age", default_value=30.0)
        words = column.categorical_column_with_vocabulary_list("words", ["red", "green", "blue"], num_oov_buckets=2)
        place = column.categorical_column_with_hash_bucket("place", 20)
        buckets = column.bucketized_column(age, [18, 25, 40, 65])
        crossed = column.crossed_column(["place", buckets], 50)
        deep = [age, column.indicator_column(words), column.embedding_column(place, 4), column.indicator_column(buckets),
                column.embedding_column(crossed, 3, combiner="sqrtn"), column.numeric_column("size", shape=[2])]
        wide = [words, place, buckets, crossed, column.weighted_categorical_column(words, "weight")]
        examples = v1.placeholder(tf.string, [None], name="examples")
        features = v1.parse_example(examples, column.make_parse_example_spec(deep + wide))
        x = column.input_layer(features, deep)
        w = v1.get_variable("w", [x.shape[1], 1], initializer=v1.glorot_uniform_initializer(seed=5))
        logits = tf.matmul(x, w) + column.linear_model(features, wide)
        chance = tf.sigmoid(logits, name="chance")
        rng = random(3)
        assign = [v1.assign_add(v, np.float32(rng.normal(size=v.shape) * 0.3)) for v in v1.trainable_variables()]
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        session.run(assign)
        folder = HERE / "columns"
        builder = v1.saved_model.Builder(str(folder))
        outputs = {"chance": chance, "columns": x}
        builder.add_meta_graph_and_variables(
            session, ["serve"], main_op=v1.tables_initializer(),
            signature_def_map={"serving_default": v1.saved_model.predict_signature_def({"examples": examples}, outputs)})
        builder.save()

        def example(**features):
            message = tf.train.Example()
            for name, values in features.items():
                feature = message.features.feature[name]
                if isinstance(values[0], bytes):
                    feature.bytes_list.value.extend(values)
                else:
                    feature.float_list.value.extend(values)
            return message.SerializeToString(deterministic=True)

        asked = [example(age=[23.0], words=[b"red", b"pink"], weight=[0.5, 2.0], place=[b"Oslo"], size=[1.0, -2.0]),
                 example(words=[b"blue"], weight=[1.0], place=[b"Rome", b"Lima"], size=[0.25, 0.0]),
                 example(age=[70.0], size=[3.0, 4.0])]
        calls = [("serving_default", {"examples": asked}), ("serving_default", {"examples": asked[2:]})]

        def answer(_, arguments):
            return session.run(outputs, {examples: arguments["examples"]})

        values = [(signature, answer(signature, arguments)) for signature, arguments in calls]
    finish("columns")
    answers = iter(values)
    ask("columns", calls, lambda *_: next(answers)[1], (1e-4, 1e-5))


def kalman():
    """A Kalman filter over a batch of tracks, with the smoother after it."""
    state, seen = 4, 2
    step = np.float64([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]])
    see = np.float64([[1, 0, 0, 0], [0, 1, 0, 0]])
    drift = np.float64(np.diag([0.05, 0.05, 0.02, 0.02]))
    noise = np.float64([[0.5, 0.1], [0.1, 0.3]])

    @tf.function(input_signature=[tf.TensorSpec([None, None, seen], tf.float64, name="observed")])
    def track(observed):
        batch, steps = tf.shape(observed)[0], tf.shape(observed)[1]
        mean = tf.zeros([batch, state], tf.float64)
        covariance = tf.eye(state, batch_shape=[batch], dtype=tf.float64) * 10.0
        means = tf.TensorArray(tf.float64, steps, element_shape=[None, state])
        covariances = tf.TensorArray(tf.float64, steps, element_shape=[None, state, state])
        chance = tf.zeros([batch], tf.float64)
        for t in tf.range(steps):
            mean = tf.linalg.matvec(step, mean)
            covariance = step @ covariance @ tf.linalg.matrix_transpose(step) + drift
            innovation = observed[:, t] - tf.linalg.matvec(see, mean)
            spread = see @ covariance @ tf.transpose(see) + noise
            factor = tf.linalg.cholesky(spread)
            gain = tf.linalg.matrix_transpose(tf.linalg.cholesky_solve(factor, see @ covariance))
            mean += tf.linalg.matvec(gain, innovation)
            left = tf.eye(state, dtype=tf.float64) - gain @ see
            covariance = left @ covariance @ tf.linalg.matrix_transpose(left) + gain @ noise @ tf.linalg.matrix_transpose(gain)
            whitened = tf.linalg.triangular_solve(factor, innovation[..., None])
            chance -= 0.5 * (tf.reduce_sum(whitened**2, [1, 2]) + tf.linalg.logdet(spread) + seen * np.log(2 * np.pi))
            means, covariances = means.write(t, mean), covariances.write(t, covariance)
        smooth = tf.TensorArray(tf.float64, steps, element_shape=[None, state])
        later, smooth = mean, smooth.write(steps - 1, mean)
        means, covariances = means.stack(), covariances.stack()
        for t in tf.range(steps - 2, -1, -1):
            ahead = step @ covariances[t] @ tf.transpose(step) + drift
            back = covariances[t] @ tf.linalg.matrix_transpose(tf.constant(step)) @ tf.linalg.inv(ahead)
            later = means[t] + tf.linalg.matvec(back, later - tf.linalg.matvec(step, means[t]))
            smooth = smooth.write(t, later)
        return {"means": tf.transpose(means, [1, 0, 2]), "smooth": tf.transpose(smooth.stack(), [1, 0, 2]), "chance": chance,
                "spread": tf.linalg.det(covariance)}

    rng = random(4)
    observed = np.cumsum(rng.normal(size=[3, 12, seen]), 1) + rng.normal(size=[3, 12, seen]) * 0.5
    save("kalman", tf.Module(), [("serving_default", {"observed": observed}), ("serving_default", {"observed": observed[:1, :2]})],
         tolerance=(1e-9, 1e-10), serving_default=track)


def unet():
    """A U-Net over volumes, and a step of its training."""
    tf.keras.utils.set_random_seed(16)

    def block(x, filters):
        x = layers.Conv3D(filters, 3, padding="same", use_bias=False)(x)
        return layers.ReLU()(layers.BatchNormalization()(x))

    volume = layers.Input([8, 16, 16, 1])
    first = block(volume, 4)
    second = block(layers.MaxPooling3D(2)(first), 8)
    third = block(layers.AveragePooling3D(2)(second), 12)
    up = layers.Concatenate()([layers.Conv3DTranspose(8, 2, strides=2)(third), second])
    up = layers.Concatenate()([layers.UpSampling3D(2)(block(up, 8)), first])
    network = tf.keras.Model(volume, layers.Conv3D(2, 1)(block(up, 4)))
    spec = tf.TensorSpec([None, 8, 16, 16, 1], tf.float32, name="volumes")

    @tf.function(input_signature=[spec])
    def segment(volumes):
        logits = network(volumes, training=False)
        return {"chances": tf.nn.softmax(logits), "sizes": tf.math.bincount(tf.argmax(logits, -1, tf.int32), minlength=2)}

    @tf.function(input_signature=[spec, tf.TensorSpec([None, 8, 16, 16], tf.int32, name="parts")])
    def learn(volumes, parts):
        with tf.GradientTape() as tape:
            logits = network(volumes, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=parts, logits=logits))
        gradients = tape.gradient(loss, network.trainable_variables)
        for variable, gradient in zip(network.trainable_variables, gradients):
            variable.value.assign_sub(0.1 * gradient)
        return {"loss": loss}

    rng = random(5)
    volumes = np.float32(rng.normal(size=[2, 8, 16, 16, 1]))
    parts = np.int32(volumes[..., 0] > 0.3)
    module = tf.Module()
    module.network = network
    calls = [("serving_default", {"volumes": volumes})] + [("learn", {"volumes": volumes, "parts": parts})] * 3
    save("unet", module, calls, tolerance=(1e-3, 1e-4), serving_default=segment, learn=learn)


def quantisation_aware():
    """A network that learns with the numbers it will have as integers: weights by channel, activations with moving ranges."""
    rng = random(6)

    class Aware(tf.Module):
        def __init__(self):
            super().__init__()
            self.filters = tf.Variable(np.float32(rng.normal(size=[3, 3, 3, 6]) * 0.3), name="filters")
            self.dense = tf.Variable(np.float32(rng.normal(size=[6, 4]) * 0.5), name="dense")
            self.low = tf.Variable(-1.0, name="low", trainable=False)
            self.high = tf.Variable(1.0, name="high", trainable=False)

        def forward(self, images, training):
            images = tf.quantization.fake_quant_with_min_max_args(images, -1, 1)
            ranges = tf.reduce_max(tf.abs(self.filters), [0, 1, 2])
            filters = tf.quantization.fake_quant_with_min_max_vars_per_channel(self.filters, -ranges, ranges, narrow_range=True)
            x = tf.nn.relu6(tf.nn.conv2d(images, filters, 2, "SAME"))
            if training:
                self.low.assign(0.9 * self.low + 0.1 * tf.reduce_min(x))
                self.high.assign(0.9 * self.high + 0.1 * tf.reduce_max(x))
            x = tf.quantization.fake_quant_with_min_max_vars(x, self.low, self.high, num_bits=8)
            dense = tf.quantization.quantize_and_dequantize_v2(
                self.dense, tf.fill([4], -1.0), tf.ones([4]), range_given=False, axis=1)
            return tf.reduce_mean(x, [1, 2]) @ dense

    module = Aware()
    spec = tf.TensorSpec([None, 12, 12, 3], tf.float32, name="images")

    @tf.function(input_signature=[spec])
    def serve(images):
        return {"logits": module.forward(images, False)}

    @tf.function(input_signature=[spec, tf.TensorSpec([None], tf.int32, name="labels")])
    def learn(images, labels):
        with tf.GradientTape() as tape:
            logits = module.forward(images, True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        for variable, gradient in zip([module.filters, module.dense], tape.gradient(loss, [module.filters, module.dense])):
            variable.assign_sub(0.05 * gradient)
        return {"loss": loss, "high": module.high.read_value()}

    images = np.float32(rng.uniform(-1.2, 1.2, size=[5, 12, 12, 3]))
    labels = np.int32([0, 1, 2, 3, 1])
    calls = [("serving_default", {"images": images})] + [("learn", {"images": images, "labels": labels})] * 3
    save("quantisation_aware", module, calls + calls[:1], tolerance=(1e-3, 1e-4), serving_default=serve, learn=learn)


def records():
    """Training from files: records are read, parsed, shuffled and batched in front of each step."""
    rng = random(7)
    SOURCES.mkdir(exist_ok=True)
    truth = np.float32([[1.0], [-2.0], [0.5]])
    files = []
    for k in range(2):
        file = SOURCES / f"part-{k}.tfrecord"
        with tf.io.TFRecordWriter(str(file), "GZIP") as writer:
            for _ in range(11):
                x = rng.normal(size=3)
                message = tf.train.Example()
                message.features.feature["x"].float_list.value.extend(x)
                message.features.feature["y"].float_list.value.extend(x @ truth)
                writer.write(message.SerializeToString(deterministic=True))
        files.append(file)

    class Pipeline(tf.Module):
        def __init__(self):
            super().__init__()
            self.files = [tf.saved_model.Asset(str(file)) for file in files]
            self.w = tf.Variable(tf.zeros([3, 1]), name="w")

        def batches(self, seed):
            spec = {"x": tf.io.FixedLenFeature([3], tf.float32), "y": tf.io.FixedLenFeature([1], tf.float32)}
            names = tf.data.Dataset.from_tensor_slices(tf.stack([file.asset_path for file in self.files]))
            data = names.interleave(lambda file: tf.data.TFRecordDataset(file, "GZIP"), cycle_length=2, block_length=1)
            data = data.shuffle(16, seed=seed).batch(4).map(lambda batch: tf.io.parse_example(batch, spec),
                                                            num_parallel_calls=2)
            return data.repeat(2).prefetch(2)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="rate")])
        def learn(self, rate):
            losses = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
            for batch in self.batches(5):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((batch["x"] @ self.w - batch["y"]) ** 2)
                self.w.assign_sub(rate * tape.gradient(loss, self.w))
                losses = losses.write(losses.size(), loss)
            return {"losses": losses.stack(), "w": self.w.read_value()}

        @tf.function(input_signature=[])
        def count(self):
            data = self.batches(8).map(lambda batch: tf.shape(batch["x"])[0])
            return {"count": data.reduce(0, lambda total, size: total + size)}

    module = Pipeline()
    calls = [("serving_default", {"rate": np.float32(0.1)})] * 2 + [("count", {})]
    save("records", module, calls, serving_default=module.learn, count=module.count)
    for file in files:
        file.unlink()


APPLICATIONS = {f.__name__: f for f in [ssd, image_serving, speech, crnn, columns, kalman, unet, quantisation_aware, records]}
wanted = sys.argv[1:] or list(APPLICATIONS)
if (HERE / "answers.pb").exists():
    old = graph_pb2.GraphDef.FromString((HERE / "answers.pb").read_bytes())
    ANSWERS.node.extend(node for node in old.node if node.name.split("/")[0] not in wanted)
HERE.mkdir(exist_ok=True)
for name in wanted:
    shutil.rmtree(HERE / name, ignore_errors=True)
    APPLICATIONS[name]()
(HERE / "answers.pb").write_bytes(ANSWERS.SerializeToString(deterministic=True))
