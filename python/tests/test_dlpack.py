"""Tensors of other packages by DLPack, there and back, without copies."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest
from arrays import NUMBERS, Plain, address

import kernlink as kl


@pytest.mark.parametrize("name", [*NUMBERS, "bool"])
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 2), (1, 1, 500)])
def test_dlpack_to_numpy_and_from_it(name: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, name)
    tensor = kl.from_dlpack(array)
    assert tensor.dtype.name == name and tensor.shape == shape and tensor.tolist() == array.tolist()
    # Of bools Python may change the bytes to what is no bool.
    if array.size and name != "bool":
        assert address(np.asarray(tensor)) == address(array)
    back = np.from_dlpack(tensor)
    assert back.dtype == array.dtype and back.shape == shape and np.array_equal(back, array)
    assert not back.flags.writeable
    # Of bools Python may write bytes that are none: these are copied.
    if array.size and name != "bool":
        assert address(back) == address(array)


def test_plain_and_versioned_capsules() -> None:
    array, tensor = np.arange(6.0), kl.constant(np.arange(6.0))
    assert address(kl.from_dlpack(Plain(array)).numpy()) == address(array)
    assert kl.as_tensor(Plain(tensor)).tolist() == tensor.tolist()
    assert np.from_dlpack(Plain(tensor)).tolist() == tensor.tolist()
    assert '"dltensor"' in repr(tensor.__dlpack__()) and '"dltensor"' in repr(tensor.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(tensor.__dlpack__(max_version=(1, 0)))
    for options in ({}, {"max_version": (1, 1)}):
        capsule = tensor.__dlpack__(**options)
        assert kl.from_dlpack(capsule).tolist() == tensor.tolist()
        with pytest.raises(BufferError, match="taken already"):
            kl.from_dlpack(capsule)
    copy = kl.from_dlpack(tensor.__dlpack__(copy=True))
    assert not np.shares_memory(copy.numpy(), tensor.numpy())
    assert tensor.__dlpack_device__() == (1, 0)


def test_dlpack_refuses() -> None:
    tensor = kl.constant([1.0])
    with pytest.raises(BufferError, match="host"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="string"):
        kl.constant("a").__dlpack__()
    with pytest.raises(BufferError, match="one after the other"):
        kl.from_dlpack(np.arange(10.0)[::2])
    with pytest.raises(TypeError, match="no __dlpack__"):
        kl.from_dlpack(1)

    class OnDevice(Plain):
        def __dlpack_device__(self) -> Any:
            return (2, 0)

    with pytest.raises(BufferError, match="device"):
        kl.from_dlpack(OnDevice(tensor))
    with pytest.raises(BufferError):
        np_capsule = np.ones(1).__dlpack__()
        kl.from_dlpack(np_capsule)
        kl.from_dlpack(np_capsule)


def test_dlpack_holds_the_memory() -> None:
    array = np.arange(100_000)
    before = sys.getrefcount(array)
    tensor = kl.from_dlpack(array)
    assert sys.getrefcount(array) == before + 1
    back = np.from_dlpack(tensor)
    del tensor
    assert np.array_equal(back, np.arange(100_000))
    del back
    gc.collect()
    # What NumPy lets go of is let go of at the package's next call.
    kl.constant(0)
    assert sys.getrefcount(array) == before
    capsule = kl.from_dlpack(array).__dlpack__()
    del capsule
    kl.constant(0)
    assert sys.getrefcount(array) == before
