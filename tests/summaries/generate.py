"""Writes data/: a graph whose nodes `event/K` write summaries to the folder that `logdir` is fed with, in the order of K, and the
file of events that TensorFlow wrote.

    python tests/summaries/generate.py

Needs TensorFlow (tests/golden/requirements.txt says which version).
"""
import os
import pathlib
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = pathlib.Path(__file__).parent / "data"
v1, raw = tf.compat.v1, tf.raw_ops
rng = np.random.default_rng(0)
COLOR = np.uint8([255, 0, 7, 200])

with v1.Graph().as_default() as graph, v1.Session() as session:
    folder = v1.placeholder(tf.string, [], name="logdir")
    writer = raw.SummaryWriter(shared_name="w", container="", name="writer")
    suffix = tf.constant(".kernlink")
    raw.CreateSummaryFileWriter(writer=writer, logdir=folder, max_queue=3, flush_millis=100000, filename_suffix=suffix, name="create")
    raw.FlushSummaryWriter(writer=writer, name="flush")
    raw.CloseSummaryWriter(writer=writer, name="close")
    count = 0

    def event(op, step, **inputs):
        global count
        op(writer=writer, step=np.int64(step), name=f"event/{count}", **inputs)
        count += 1

    for dtype in ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        values = np.array([[1, 2, 3], [100, 7, 0]]).astype(dtype)
        event(raw.WriteScalarSummary, 3, tag=f"scalar/{dtype}", value=values[0, 1])
        event(raw.WriteHistogramSummary, -1, tag=f"histogram/{dtype}", values=values)
    event(raw.WriteScalarSummary, 2**40, tag="", value=np.float32(np.nan))
    event(raw.WriteScalarSummary, 0, tag=["one"], value=np.float32([1e30]))
    event(raw.WriteHistogramSummary, 1, tag="h", values=np.array([True, False, True]))
    event(raw.WriteHistogramSummary, 1, tag="h", values=np.float32([]))
    event(raw.WriteHistogramSummary, 1, tag="h", values=rng.normal(size=(20, 30)))
    for dtype, channels in (("uint8", 3), ("float32", 1), ("float32", 4), ("float64", 3), ("float16", 3)):
        for low in (0, -1):
            images = rng.uniform(low * 40, 200, size=(3, 5, 7, channels))
            if dtype == "uint8":
                images = np.abs(images)
            for most in (1, 2):
                event(raw.WriteImageSummary, 5, tag="i", tensor=images.astype(dtype), bad_color=COLOR, max_images=most)
    odd = np.float32(rng.normal(size=(2, 4, 4, 3)))
    odd[0, 1, 1, 1], odd[0, 2, 3, 0], odd[1] = np.nan, np.inf, 0
    event(raw.WriteImageSummary, 5, tag="odd", tensor=odd, bad_color=COLOR, max_images=3)
    event(raw.WriteImageSummary, 5, tag="none", tensor=odd[:0], bad_color=COLOR, max_images=3)
    event(raw.WriteImageSummary, 5, tag="tiny", tensor=odd[:1] * 1e-9, bad_color=COLOR, max_images=3)
    event(raw.WriteImageSummary, 5, tag="bad", tensor=np.full((1, 2, 2, 4), np.nan, np.float32), bad_color=COLOR, max_images=3)
    for most in (1, 3):
        sounds = np.float32(rng.uniform(-1.2, 1.2, size=(2, 6, 2)))
        event(raw.WriteAudioSummary, 6, tag="a", tensor=sounds, sample_rate=8000.5, max_outputs=most)
    for tensor in (np.int32([[1, 2]]), np.float64(3), np.array([b"a", b"bc"], object), np.array([True]), np.float16([])):
        for metadata in (b"", b"\x0a\x03\x0a\x01p", b"\xff"):
            event(raw.WriteSummary, 7, tag="t", tensor=tensor, summary_metadata=metadata)
    summary = v1.Summary(value=[v1.Summary.Value(tag="r", simple_value=2)]).SerializeToString()
    for tensor in (summary, [summary, summary], np.array([], object)):
        event(raw.WriteRawProtoSummary, 8, tensor=tf.constant(tensor, tf.string))
    inner = v1.Graph()
    with inner.as_default():
        tf.constant(1, name="c")
    event(raw.WriteGraphSummary, 9, tensor=inner.as_graph_def().SerializeToString())
    imported = v1.Event(wall_time=1.5, step=10)
    imported.summary.value.add(tag="e", simple_value=3)
    raw.ImportEvent(writer=writer, event=imported.SerializeToString(), name=f"event/{count}")
    count += 1

    with tempfile.TemporaryDirectory() as log:
        for name in ["create"] + [f"event/{k}" for k in range(count)] + ["flush", "close"]:
            session.run(graph.get_operation_by_name(name), {folder: log})
        (file,) = pathlib.Path(log).iterdir()
        HERE.mkdir(exist_ok=True)
        shutil.copy(file, HERE / "events")
    (HERE / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
print(count, "events,", (HERE / "events").stat().st_size, "bytes")
