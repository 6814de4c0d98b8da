"""Ops whose inputs say that something is huge, and that have little to do: they end soon, in little memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernlink as kl

RAW = kl.raw_ops

ROWS = 2**40


def ids(*shape: int) -> kl.Tensor:
    """Zeros of any shape, also of one that no array of NumPy has."""
    return RAW.Fill(dims=np.array(shape, np.int64), value=np.int64(0))


def within_seconds(work: Callable[[], Any]) -> Any:
    start = time.monotonic()
    try:
        return work()
    finally:
        assert time.monotonic() - start < 20


@pytest.mark.parametrize("others", [[], [[[1, 2]]]])
def test_crosses_of_columns_without_elements(others: list[Any]) -> None:
    rows = 1 if others else ROWS
    dense = [np.array(other, np.int64) for other in others] + [ids(rows, 0)]
    cross = within_seconds(lambda: RAW.SparseCrossV2(indices=[], values=[], shapes=[], dense_inputs=dense, sep="-"))
    assert (tuple(cross[0].shape), tuple(cross[1].shape)) == ((0, 2), (0,))
    assert cross[2].numpy().tolist() == [rows, 0]


def test_ragged_crosses_of_columns_without_elements() -> None:
    """The splits of so many rows are the output's, which finds no memory."""

    def cross(rows: int) -> Any:
        return RAW.RaggedCross(
            ragged_values=[], ragged_row_splits=[], sparse_indices=[], sparse_values=[], sparse_shape=[],
            dense_inputs=[ids(rows, 0)], input_order="D", hashed_output=True, num_buckets=0, hash_key=0,
            out_values_type=kl.int64, out_row_splits_type=kl.int64,
        )  # fmt: skip

    values, splits = cross(3)
    assert (values.numpy().tolist(), splits.numpy().tolist()) == ([], [0, 0, 0, 0])
    with pytest.raises(kl.errors.ResourceExhaustedError):
        within_seconds(lambda: cross(ROWS * 2**10))


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_what_no_window_sees_is_not_resized(window: int, padding: str) -> None:
    """Images of 2^60 elements, of which few are looked at."""
    size, stride = 2**30 + 1, 2**29
    image = np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)
    found = within_seconds(
        lambda: RAW.FusedResizeAndPadConv2D(
            input=image,
            size=[size, size],
            paddings=np.zeros((4, 2), np.int32),
            filter=np.full((window, window, 1, 1), 1 / window**2, np.float32),
            mode="REFLECT",
            strides=[1, stride, stride, 1],
            padding=padding,
            resize_align_corners=True,
        )
    )
    count = (size - window) // stride + 1 if padding == "VALID" else -(-size // stride)
    assert tuple(found.shape) == (1, count, count, 1)
    assert np.isfinite(found.numpy()).all()


def test_images_that_are_none_are_refused_whatever_their_size() -> None:
    with pytest.raises(kl.errors.InvalidArgumentError, match="must be positive"):
        RAW.FractionalAvgPoolGrad(
            orig_input_tensor_shape=np.array([0, 2**61, 1, 1], np.int64),
            out_backprop=np.zeros((0, 1, 1, 1), np.float32),
            row_pooling_sequence=np.array([0, 1], np.int64),
            col_pooling_sequence=np.array([0, 1], np.int64),
        )


def test_tries_end_with_the_time_of_the_run() -> None:
    with kl.Graph() as graph:
        retries = graph.placeholder("int64", [])
        picked = RAW.KmeansPlusPlusInitialization(
            points=np.ones((1000, 30), np.float32), num_to_sample=np.int64(5), seed=np.int64(1),
            num_retries_per_sample=retries,
        )  # fmt: skip
    session = kl.Session(graph)
    assert session.run(picked, {retries: 3}).shape == (5, 30)
    with pytest.raises(kl.errors.DeadlineExceededError):
        within_seconds(lambda: session.run(picked, {retries: 2**31 - 2}, timeout=0.2))


@pytest.mark.parametrize("shape", [[0, 2**61], [2**61, 0], [2**61, 0, 3]])
def test_decompositions_of_nothing_take_no_time(shape: list[int]) -> None:
    nothing = RAW.Reshape(tensor=np.zeros(0), shape=np.array(shape, np.int64))
    assert RAW.Qr(input=nothing).r.shape[-1] == shape[-1]
    assert RAW.Svd(input=nothing, full_matrices=False).s.shape[-1] == 0
