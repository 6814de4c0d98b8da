"""What mypy and pyright must accept; `test_stubs.py` shows it to them."""

from __future__ import annotations

import numpy as np

import kernlink
from kernlink import ops, raw_ops

x = np.ones((2, 2), np.float32)
product: kernlink.Tensor = raw_ops.MatMul(a=x, b=[[1.0, 2.0], [3.0, 4.0]], transpose_b=True)
again: kernlink.Tensor = ops.mat_mul(product, product, False, True, name="again")
sums: kernlink.Tensor = product @ again + 1.0
cast: kernlink.Tensor = ops.cast(sums, kernlink.int32)
by_name: kernlink.Tensor = raw_ops.Cast(x=sums, DstT="int64")
of_numpy: kernlink.Tensor = raw_ops.Cast(x=sums, DstT=np.float64)
of_dtype: kernlink.Tensor = raw_ops.Cast(x=sums, DstT=np.dtype("float64"))
top = raw_ops.TopKV2(input=x, k=1, index_type=kernlink.int64)
values: kernlink.Tensor = top.values
_, indices = ops.top_kv2(x, k=1)
rows: list[kernlink.Tensor] = raw_ops.Unpack(value=x, num=2)
joined: kernlink.Tensor = raw_ops.ConcatV2(values=rows, axis=np.int32(0))
unique = raw_ops.UniqueWithCounts(x=[1, 1, 2])
count: kernlink.Tensor = unique.count
image = np.ones((1, 1, 1, 1), np.float32)
convolved: kernlink.Tensor = raw_ops.Conv2D(input=image, filter=image, strides=[1, 1, 1, 1], padding="SAME")
variable = kernlink.Variable([[1.0, 2.0], [3.0, 4.0]])
computed: kernlink.Tensor = (2 ** variable - np.float64(1)) / sums + (1.0 - variable) @ x
compared: kernlink.Tensor = (variable < 2.0) & (sums >= x) | ~(product > 1.0) ^ True
some: kernlink.Tensor = variable[:, ::-1] + sums[..., None, 0, 1:]
masked: kernlink.Tensor = sums[sums > 0.0]
scalars: list[float] = [float(row[0]) for row in sums] + [float(variable[0, 0])]
stacked: kernlink.Tensor = kernlink.as_tensor([product, x])
text: kernlink.Tensor = raw_ops.StringLower(input=[b"A", "B"])
raw_ops.NoOp()


def in_graphs() -> kernlink.Tensor:
    placeholder = raw_ops.Placeholder(dtype=kernlink.float32, shape=[None, 2])
    return ops.add_v2(placeholder, 1.0)


@kernlink.function(input_signature=[kernlink.TensorSpec([None, 2], kernlink.float32)])
def doubled(x: kernlink.Tensor) -> kernlink.Tensor:
    return x + x


@kernlink.function
def scaled(x: kernlink.Tensor, factor: float) -> kernlink.Tensor:
    return x * factor


concrete: kernlink.ConcreteFunction = doubled.get_concrete_function()
names: list[str | None] = [spec.name for spec in concrete.inputs]
four: kernlink.Tensor = scaled(doubled(product), 2.0)
weight = kernlink.Variable([1.0, 2.0], trainable=True)
with kernlink.GradientTape(persistent=True) as tape, tape.stop_recording():
    tape.watch([product, weight])
watched: tuple[kernlink.Variable, ...] = tape.watched_variables()
slope: kernlink.Tensor | None = tape.gradient(product, weight, unconnected_gradients="zero")
chosen: kernlink.Tensor = kernlink.cond(True, lambda: product, lambda: again)


def is_small(n: kernlink.Tensor) -> kernlink.Tensor:
    return ops.less(n, 3)


def incremented(n: kernlink.Tensor) -> list[kernlink.Tensor]:
    return [ops.add_v2(n, 1)]


last: list[kernlink.Tensor] = kernlink.while_loop(is_small, incremented, [0], maximum_iterations=2)
with kernlink.name_scope("layer") as scope, kernlink.control_dependencies([product]):
    prefix: str = scope
