"""Checkpoints: read, written, restored, and exchanged with TensorFlow."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernlink as kl

TESTS = Path(__file__).resolve().parents[2] / "tests"
DATA = TESTS / "saved_model" / "data"
needs_models = pytest.mark.skipif(not DATA.is_dir(), reason="the models are in the repository, not in the package")


@needs_models
def test_a_checkpoint_is_read(tmp_path: Path) -> None:
    prefix = DATA / "meta" / "model"
    reader = kl.train.load_checkpoint(prefix)
    assert os.fspath(reader.prefix) == os.fspath(prefix) and len(reader) == len(reader.keys()) > 0
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert list(shapes) == reader.keys() == sorted(dtypes)
    for name in reader.keys():
        tensor = reader.get_tensor(name)
        assert list(tensor.shape) == shapes[name] and tensor.dtype is dtypes[name]
        assert name in reader and reader.has_tensor(name) and reader[name].tolist() == tensor.tolist()
        assert kl.train.load_variable(prefix, name).tolist() == tensor.tolist()
    assert kl.train.list_variables(f"{prefix}.index") == sorted(shapes.items())
    assert "nope" not in reader and f"{len(reader)} tensors" in repr(reader)
    with pytest.raises(kl.errors.NotFoundError, match="nope"):
        reader.get_tensor("nope")
    with pytest.raises(KeyError, match="nope"):
        reader["nope"]
    with pytest.raises(kl.errors.NotFoundError):
        kl.train.load_checkpoint(tmp_path / "nowhere")
    (tmp_path / "bad.index").write_bytes(b"not a table")
    with pytest.raises(kl.errors.DataLossError):
        kl.train.load_checkpoint(tmp_path / "bad")


@needs_models
def test_formats_of_all_versions_are_read() -> None:
    data = TESTS / "checkpoint" / "data"
    one, two = kl.train.load_checkpoint(data / "one"), kl.train.load_checkpoint(data / "two.data-00001-of-00002")
    # The format before that of TensorFlow 1.0, all files of which are named by a pattern.
    first = kl.train.load_checkpoint(data / "first-*")
    assert len(first) > len(kl.train.load_checkpoint(data / "first-00000-of-00002"))
    for reader in (two, first):
        shared = set(reader.keys()) & set(one.keys())
        assert len(shared) > 10
        for name in shared:
            assert repr(reader[name]) == repr(one[name]), name


def test_tensors_are_written_by_name(tmp_path: Path) -> None:
    values = {"a/b": [[1.0, 2.0]], "n": np.int64(3), "s": [b"x", b"\xff"], "v": kl.Variable([True, False])}
    prefix = kl.train.write_checkpoint(tmp_path / "new" / "all", values)
    reader = kl.train.load_checkpoint(prefix)
    assert reader.get_variable_to_shape_map() == {"a/b": [1, 2], "n": [], "s": [2], "v": [2]}
    found = {name: reader[name].tolist() for name in reader.keys()}
    assert found == {"a/b": [[1.0, 2.0]], "n": 3, "s": [b"x", b"\xff"], "v": [True, False]}
    # A checkpoint by names alone is restored by the ways to variables, or by their names.
    a, n = kl.Variable([[0.0, 0.0]], name="a/b"), kl.Variable(np.int64(0))
    status = kl.train.Checkpoint(first=a, n=n).restore(prefix)
    assert a.numpy().tolist() == [[1.0, 2.0]] and n.numpy() == 3
    assert status.missing == [] and sorted(status.unused) == ["s", "v"]


class Layer:
    def __init__(self, size: int) -> None:
        self.kernel = kl.Variable(np.full((size, 2), float(size), np.float32), name="kernel")
        self.size = size
        self.unused = ["no", "variables"]
        self.call = kl.function(lambda x: x @ self.kernel)


class Model:
    def __init__(self) -> None:
        self.layers = [Layer(1), Layer(2)]
        self.table = {"a.b/c": kl.Variable(np.int64(7))}
        self.last = self.layers[1]
        self.itself = self


def test_objects_are_saved_and_restored(tmp_path: Path) -> None:
    step = kl.Variable(np.int64(5), name="step")
    model = Model()
    checkpoint = kl.train.Checkpoint(model, step=step)
    prefix = checkpoint.save(tmp_path / "some" / "model")
    assert prefix == str(tmp_path / "some" / "model-1") and checkpoint.save_counter == 1
    assert kl.train.latest_checkpoint(tmp_path / "some") == prefix
    names = [name for name in kl.train.load_checkpoint(prefix).keys() if name != "_CHECKPOINTABLE_OBJECT_GRAPH"]
    assert sorted(name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for name in names) == [
        "last/kernel",
        "layers/0/kernel",
        "save_counter",
        "step",
        "table/a..b.Sc",
    ]
    other, other_step = Model(), kl.Variable(np.int64(0))
    other.layers[0].kernel.assign([[0.0, 0.0]])
    again = kl.train.Checkpoint(other, step=other_step)
    again.restore(tmp_path / "some").assert_consumed()
    assert other_step.numpy() == 5 and other.layers[0].kernel.numpy().tolist() == [[1.0, 1.0]]
    assert again.save_counter == 1 and again.save(tmp_path / "some" / "model").endswith("model-2")
    assert again.step is other_step
    with pytest.raises(AttributeError, match="nope"):
        again.nope
    # What the object has is looked at when it is saved.
    del other.table
    other.added = [kl.Variable(1.0)]  # type: ignore[attr-defined]
    keys = kl.train.load_checkpoint(again.write(tmp_path / "changed")).keys()
    assert "added/0/.ATTRIBUTES/VARIABLE_VALUE" in keys and not any(key.startswith("table") for key in keys)


def test_what_does_not_match_is_told(tmp_path: Path) -> None:
    prefix = kl.train.Checkpoint(a=kl.Variable(1.0), b=kl.Variable(2.0)).write(tmp_path / "ab")
    assert kl.train.latest_checkpoint(tmp_path) is None
    a, c = kl.Variable(0.0), kl.Variable(3.0)
    status = kl.train.Checkpoint(a=a, c=c).restore(prefix)
    assert a.numpy() == 1.0 and c.numpy() == 3.0 and status.missing == ["c"]
    with pytest.raises(AssertionError, match="no value for c"):
        status.assert_existing_objects_matched()
    status = kl.train.Checkpoint(a=a).read(prefix).expect_partial().assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="b/.ATTRIBUTES"):
        status.assert_consumed()
    with pytest.raises(ValueError, match="shape"):
        kl.train.Checkpoint(a=kl.Variable([1.0, 2.0])).restore(prefix)
    with pytest.raises(kl.errors.InvalidArgumentError):
        kl.train.Checkpoint(a=kl.Variable(np.int32(0))).restore(prefix)
    with pytest.raises(ValueError, match="x, of type int, has no variables"):
        kl.train.Checkpoint(x=1)


def test_a_manager_keeps_the_last(tmp_path: Path) -> None:
    v = kl.Variable(0.0)
    manager = kl.train.CheckpointManager(kl.train.Checkpoint(v=v), tmp_path / "kept", max_to_keep=2)
    assert manager.restore_or_initialize() is None and manager.latest_checkpoint is None and manager.checkpoints == []
    for number in range(1, 4):
        v.assign(float(number))
        assert manager.save() == str(tmp_path / "kept" / f"ckpt-{number}")
    assert [Path(path).name for path in manager.checkpoints] == ["ckpt-2", "ckpt-3"]
    assert manager.save(checkpoint_number=10).endswith("ckpt-10")
    v.assign(0.0)
    assert str(manager.restore_or_initialize()).endswith("ckpt-10") and v.numpy() == 3.0
    assert not (tmp_path / "kept" / "ckpt-1.index").exists()
    with pytest.raises(ValueError, match="max_to_keep"):
        kl.train.CheckpointManager(kl.train.Checkpoint(v=v), tmp_path, max_to_keep=0)


@needs_models
def test_a_meta_graph_trains_from_a_checkpoint(tmp_path: Path) -> None:
    model = kl.load_meta_graph(DATA / "meta" / "model.meta", DATA / "meta" / "model")
    assert model.tags == [] and repr(model).startswith("<kernlink.MetaGraph") and "MetaGraph" in model._repr_html_()
    saved = kl.train.load_checkpoint(DATA / "meta" / "model")
    model.save(tmp_path / "again")
    again = kl.train.load_checkpoint(tmp_path / "again")
    assert {name: again[name].tolist() for name in again.keys()} == {name: saved[name].tolist() for name in saved.keys()}
    without = kl.load_meta_graph(DATA / "meta" / "model.meta")
    with pytest.raises(kl.errors.OpError):
        without.save(tmp_path / "none")
    without.restore(tmp_path / "again")
    without.save(tmp_path / "more")
    with pytest.raises(kl.errors.NotFoundError):
        without.restore(tmp_path / "nowhere")


def test_keys_of_dicts_are_strings(tmp_path: Path) -> None:
    v = kl.Variable(1.0)
    for wrong in ({1: v, "1": kl.Variable(2.0)}, {None: [v]}, {"a": {2: {"b": v}}}):
        with pytest.raises(ValueError, match="the keys of what is saved are strings"):
            kl.train.Checkpoint(x=wrong).write(tmp_path / "wrong")
    # What has no variables may have any.
    kl.train.Checkpoint(x={1: 2, "v": v}).write(tmp_path / "right")


def test_what_cannot_be_restored_changes_nothing(tmp_path: Path) -> None:
    saved = kl.train.Checkpoint(a=kl.Variable([1.0, 2.0]), b=kl.Variable([3.0]))
    prefix = saved.save(tmp_path / "model")
    a, short = kl.Variable([0.0, 0.0]), kl.Variable([9.0, 9.0])
    other = kl.train.Checkpoint(a=a, b=short)
    with pytest.raises(ValueError, match=r"b has shape \(2,\), and the checkpoint's value \(1,\)"):
        other.restore(prefix)
    assert a.numpy().tolist() == [0.0, 0.0] and other.save_counter == 0
    other = kl.train.Checkpoint(a=a, b=kl.Variable([9]))
    with pytest.raises(kl.errors.InvalidArgumentError, match="b is int32, and the checkpoint's value float32"):
        other.restore(prefix)
    assert a.numpy().tolist() == [0.0, 0.0]


def test_a_number_that_is_given_is_the_files_alone(tmp_path: Path) -> None:
    checkpoint = kl.train.Checkpoint(v=kl.Variable(1.0))
    manager = kl.train.CheckpointManager(checkpoint, tmp_path)
    assert manager.save(checkpoint_number=7) == str(tmp_path / "ckpt-7") and checkpoint.save_counter == 1
    assert manager.save() == str(tmp_path / "ckpt-2") and checkpoint.save_counter == 2
    with pytest.raises(ValueError, match="0 or more, not -3"):
        manager.save(checkpoint_number=-3)
    assert checkpoint.save_counter == 2


def test_files_are_read_and_written_outside_of_graphs(tmp_path: Path) -> None:
    checkpoint = kl.train.Checkpoint(v=kl.Variable(1.0))
    prefix = checkpoint.save(tmp_path / "model")
    for wrong in (lambda: checkpoint.save(tmp_path / "x"), lambda: checkpoint.restore(prefix)):
        with kl.Graph(), pytest.raises(NotImplementedError, match="outside of them"):
            wrong()
        with pytest.raises(NotImplementedError, match="of a checkpoint reads or writes files at once"):
            kl.function(lambda wrong=wrong: wrong() and None)()
    assert checkpoint.save_counter == 1


TENSORFLOW = """
import sys
import numpy as np
import tensorflow as tf

given, wanted = sys.argv[1:]


class Layer(tf.Module):
    def __init__(self, size):
        self.kernel = tf.Variable(np.zeros((size, 2), np.float32))


class Model(tf.Module):
    def __init__(self):
        self.layers = [Layer(1), Layer(2)]
        self.table = {"a.b/c": tf.Variable(np.int64(0))}
        self.last = self.layers[1]


model, step = Model(), tf.Variable(np.int64(0))
checkpoint = tf.train.Checkpoint(model, step=step)
checkpoint.restore(given).assert_consumed()
assert step.numpy() == 5 and model.table["a.b/c"].numpy() == 7, (step, model.table)
assert model.last.kernel.numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]
assert int(checkpoint.save_counter) == 1
step.assign(6)
model.last.kernel.assign([[3.0, 3.0], [4.0, 4.0]])
print(checkpoint.save(wanted))
"""


def test_a_variable_is_saved_and_restored(tmp_path: Path) -> None:
    variable = kl.Variable([1.0, 2.0])
    checkpoint = kl.train.Checkpoint(variable)
    path = checkpoint.save(tmp_path / "model")
    assert kl.train.load_checkpoint(path).has_tensor("/.ATTRIBUTES/VARIABLE_VALUE")
    variable.assign([0.0, 0.0])
    checkpoint.restore(path).assert_consumed()
    assert variable.tolist() == [1.0, 2.0]
    inner = kl.train.Checkpoint(inner=kl.train.Checkpoint(variable))
    path = inner.write(tmp_path / "inner")
    variable.assign([0.0, 0.0])
    inner.read(path).assert_consumed()
    assert variable.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="the root has shape"):
        kl.train.Checkpoint(kl.Variable([1.0])).restore(checkpoint.save(tmp_path / "model"))


def test_what_cannot_be_saved_is_refused() -> None:
    with pytest.raises(ValueError, match="root, of type int, has no attributes"):
        kl.train.Checkpoint(5)
    with pytest.raises(ValueError, match="another name"):
        kl.train.Checkpoint(save_counter=kl.Variable(1))
    with pytest.raises(TypeError, match="checkpoint: expected"):
        kl.train.CheckpointManager(5, "folder")  # type: ignore[arg-type]
    for keep, error in ((0, ValueError), ("a", TypeError)):
        with pytest.raises(error, match="max_to_keep"):
            kl.train.CheckpointManager(kl.train.Checkpoint(), "folder", keep)  # type: ignore[arg-type]


def test_tensorflow_reads_and_writes_the_same(tmp_path: Path) -> None:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    model, step = Model(), kl.Variable(np.int64(5))
    checkpoint = kl.train.Checkpoint(model, step=step)
    prefix = checkpoint.save(tmp_path / "ours" / "model")
    command = [sys.executable, "-c", TENSORFLOW, prefix, str(tmp_path / "theirs" / "model")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    checkpoint.restore(result.stdout.strip().splitlines()[-1]).assert_consumed()
    assert step.numpy() == 6 and checkpoint.save_counter == 2
    assert model.layers[1].kernel.numpy().tolist() == [[3.0, 3.0], [4.0, 4.0]]
    assert kl.train.latest_checkpoint(tmp_path / "theirs") == str(tmp_path / "theirs" / "model-2")


def test_the_ways_to_variables_do_not_grow_beyond_their_number(tmp_path: Path) -> None:
    # Lists that hold the next one twice, sixty deep.
    value: Any = [kl.Variable(1.0)]
    for _ in range(60):
        value = [value, value]
    prefix = kl.train.Checkpoint(value=value).write(tmp_path / "deep")
    assert len(kl.train.load_checkpoint(prefix)) == 2
