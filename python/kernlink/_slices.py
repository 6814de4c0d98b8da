"""Some rows of a tensor."""

from __future__ import annotations

from typing import NamedTuple

from ._kernlink import Tensor


class IndexedSlices(NamedTuple):
    """Some rows of a tensor, as a gradient of what gathers rows: those that are there several times count as often."""

    values: Tensor
    indices: Tensor
    dense_shape: Tensor
