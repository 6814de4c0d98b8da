"""All ops, by their names. Written by `generate_stubs.py`."""

from . import _dtypes, _outputs
from ._types import DTypeLike, Effect, FunctionLike, Literal, Sequence, ShapeLike, Tensor, TensorLike

def Abs(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value, `|x|`. The least integer has none and stays itself."""

def AccumulateNV2(*, inputs: Sequence[TensorLike], shape: ShapeLike, name: str | None = None) -> Tensor:
    """The sum of all inputs, as [`AddN`]. TensorFlow adds them up as they become known."""

def AccumulatorApplyGradient(
    *,
    handle: TensorLike,
    local_step: TensorLike,
    gradient: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a gradient to an accumulator."""

def AccumulatorNumAccumulated(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of gradients in an accumulator."""

def AccumulatorSetGlobalStep(*, handle: TensorLike, new_global_step: TensorLike, name: str | None = None) -> Effect:
    """Tells an accumulator the present step."""

def AccumulatorTakeGradient(
    *,
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Takes the mean, or the sum, of the gradients in an accumulator; waits until there are enough."""

def Acos(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse cosine, from 0 to π. NaN outside of −1 to 1."""

def Acosh(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine. NaN below 1."""

def Add(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The sum, `x + y`; strings are joined. Integers wrap. The shapes broadcast."""

def AddManySparseToTensorsMap(
    *,
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Puts each row of a sparse tensor into a map; returns the numbers under which they are there."""

def AddN(*, inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The sum of all inputs, which have one shape. Nothing broadcasts."""

def AddSparseToTensorsMap(
    *,
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Puts a sparse tensor into a map; returns the number under which it is there."""

def AddV2(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The sum, `x + y`. Integers wrap. The shapes broadcast."""

def AdjustContrast(
    *,
    images: TensorLike,
    contrast_factor: TensorLike,
    min_value: TensorLike,
    max_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """[`AdjustContrastv2`] with results clipped to a range."""

def AdjustContrastv2(*, images: TensorLike, contrast_factor: TensorLike, name: str | None = None) -> Tensor:
    """Images whose pixels are as many times as far from the mean of their channel as `contrast_factor` says."""

def AdjustHue(*, images: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Images of red, green and blue whose hues are turned by `delta`."""

def AdjustSaturation(*, images: TensorLike, scale: TensorLike, name: str | None = None) -> Tensor:
    """Images of red, green and blue whose saturations are multiplied by `scale`."""

def All(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Whether all elements over some dimensions are true. Of nothing, yes."""

def AllCandidateSampler(
    *,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.AllCandidateSampler:
    """All classes, of which there are `num_sampled`, each once."""

def Angle(*, input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The argument in radians, from −π to π."""

def AnonymousHashTable(*, key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Tensor:
    """A table from keys to values that is filled once and goes with the last copy of its handle."""

def AnonymousIterator(
    *,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator that goes with its handle."""

def AnonymousIteratorV2(
    *,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> _outputs.AnonymousIteratorV2:
    """An iterator that goes with its handle."""

def AnonymousIteratorV3(
    *,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator that goes with its handle."""

def AnonymousMemoryCache(*, name: str | None = None) -> _outputs.AnonymousMemoryCache:
    """A cache that goes with its handle."""

def AnonymousMultiDeviceIterator(
    *,
    devices: Sequence[str | bytes],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> _outputs.AnonymousMultiDeviceIterator:
    """An iterator whose elements several devices get in turn, and that goes with its handle."""

def AnonymousMultiDeviceIteratorV3(
    *,
    devices: Sequence[str | bytes],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator whose elements several devices get in turn, and that goes with its handle."""

def AnonymousMutableDenseHashTable(
    *,
    empty_key: TensorLike,
    deleted_key: TensorLike,
    value_dtype: DTypeLike,
    value_shape: ShapeLike = [],
    initial_num_buckets: int = 131072,
    max_load_factor: float = 0.8,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values in one block of memory, which goes with the last copy of its handle."""

def AnonymousMutableHashTable(*, key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Tensor:
    """A table from keys to values that can be changed at any time and goes with the last copy of its handle."""

def AnonymousMutableHashTableOfTensors(
    *,
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    value_shape: ShapeLike = [],
    name: str | None = None,
) -> Tensor:
    """A table from keys to vectors that can be changed at any time and goes with the last copy of its handle."""

def AnonymousRandomSeedGenerator(
    *,
    seed: TensorLike,
    seed2: TensorLike,
    name: str | None = None,
) -> _outputs.AnonymousRandomSeedGenerator:
    """A generator of seeds that goes with its handle."""

def AnonymousSeedGenerator(
    *,
    seed: TensorLike,
    seed2: TensorLike,
    reshuffle: TensorLike,
    name: str | None = None,
) -> _outputs.AnonymousSeedGenerator:
    """A generator of seeds that goes with its handle."""

def Any(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Whether any element over some dimensions is true. Of nothing, no."""

def ApplyAdaMax(
    *,
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of AdaMax: `m += (grad - m) * (1 - beta1)`, `v = max(beta2 * v, |grad|)`, `var -= lr / (1 - beta1_power) * m / (v + epsilon)`."""

def ApplyAdadelta(
    *,
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of Adadelta: the gradient is scaled by the quotient of two averages, that of the squared updates and that of the squared gradients."""

def ApplyAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Tensor:
    """A step of Adagrad: `accum += grad²`, `var -= lr * grad / sqrt(accum)`."""

def ApplyAdagradDA(
    *,
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of Adagrad by dual averaging: what follows from all gradients so far, not from the variable's last value."""

def ApplyAdagradV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Tensor:
    """A step of Adagrad with an epsilon: `accum += grad²`, `var -= lr * grad / (sqrt(accum) + epsilon)`."""

def ApplyAdam(
    *,
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    beta2_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of Adam."""

def ApplyAddSign(
    *,
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    alpha: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of AddSign: `m = m * beta + grad * (1 - beta)`, `var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad`."""

def ApplyCenteredRMSProp(
    *,
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of RMSProp by the gradients' variance."""

def ApplyFtrl(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of FTRL-proximal."""

def ApplyFtrlV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of FTRL-proximal with shrinkage: [`ApplyFtrl`] with `grad + 2 * l2_shrinkage * var` in the place of the gradient that `linear` takes in."""

def ApplyGradientDescent(
    *,
    var: TensorLike,
    alpha: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step against the gradient: `var -= alpha * delta`."""

def ApplyMomentum(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    momentum: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step with momentum: `accum = accum * momentum + grad`, `var -= lr * accum`."""

def ApplyPowerSign(
    *,
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    logbase: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of PowerSign: `m = m * beta + grad * (1 - beta)`, `var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad`."""

def ApplyProximalAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of Adagrad, then towards zero (FOBOS)."""

def ApplyProximalGradientDescent(
    *,
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step against the gradient, then towards zero (FOBOS)."""

def ApplyRMSProp(
    *,
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step of RMSProp."""

def ApproxTopK(
    *,
    input: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> _outputs.ApproxTopK:
    """The `k` greatest or least elements along a dimension, or nearly, and where they stood."""

def ApproximateEqual(*, x: TensorLike, y: TensorLike, tolerance: float = 1e-05, name: str | None = None) -> Tensor:
    """Whether `abs(x - y) < tolerance`."""

def ArgMax(
    *,
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the greatest element along one dimension, which falls away. Of equals it is the first."""

def ArgMin(
    *,
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the least element along one dimension, which falls away. Of equals it is the first."""

def AsString(
    *,
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Each element as text."""

def Asin(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse sine, from −π/2 to π/2. NaN outside of −1 to 1."""

def Asinh(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine."""

def Assert(*, condition: TensorLike, data: Sequence[TensorLike], summarize: int = 3, name: str | None = None) -> Effect:
    """Fails with INVALID_ARGUMENT and the values of `data` unless the condition holds."""

def AssertCardinalityDataset(
    *,
    input_dataset: TensorLike,
    cardinality: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which must be as many as is said."""

def AssertNextDataset(
    *,
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def AssertPrevDataset(
    *,
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def Assign(
    *,
    ref: TensorLike,
    value: TensorLike,
    validate_shape: bool = True,
    use_locking: bool = True,
    name: str | None = None,
) -> Tensor:
    """Gives a variable a value."""

def AssignAdd(*, ref: TensorLike, value: TensorLike, use_locking: bool = False, name: str | None = None) -> Tensor:
    """Adds to a variable."""

def AssignAddVariableOp(*, resource: TensorLike, value: TensorLike, name: str | None = None) -> Effect:
    """Adds to a variable."""

def AssignSub(*, ref: TensorLike, value: TensorLike, use_locking: bool = False, name: str | None = None) -> Tensor:
    """Subtracts from a variable."""

def AssignSubVariableOp(*, resource: TensorLike, value: TensorLike, name: str | None = None) -> Effect:
    """Subtracts from a variable."""

def AssignVariableOp(
    *,
    resource: TensorLike,
    value: TensorLike,
    validate_shape: bool = False,
    name: str | None = None,
) -> Effect:
    """Gives a variable a value. The first assignment makes the variable."""

def Atan(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse tangent, from −π/2 to π/2."""

def Atan2(*, y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The angle of the point (`x`, `y`), from −π to π. The shapes broadcast."""

def Atanh(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent. ±∞ at ±1, NaN beyond."""

def AudioMicrofrontend(
    *,
    audio: TensorLike,
    sample_rate: int = 16000,
    window_size: int = 25,
    window_step: int = 10,
    num_channels: int = 32,
    upper_band_limit: float = 7500.0,
    lower_band_limit: float = 125.0,
    smoothing_bits: int = 10,
    even_smoothing: float = 0.025,
    odd_smoothing: float = 0.06,
    min_signal_remaining: float = 0.05,
    enable_pcan: bool = False,
    pcan_strength: float = 0.95,
    pcan_offset: float = 80.0,
    gain_bits: int = 21,
    enable_log: bool = True,
    scale_shift: int = 6,
    left_context: int = 0,
    right_context: int = 0,
    frame_stride: int = 1,
    zero_padding: bool = False,
    out_scale: int = 1,
    out_type: DTypeLike = _dtypes.uint16,
    name: str | None = None,
) -> Tensor:
    """The loudness of the bands of speech, in whole numbers, as small devices compute it."""

def AudioSpectrogram(
    *,
    input: TensorLike,
    window_size: int,
    stride: int,
    magnitude_squared: bool = False,
    name: str | None = None,
) -> Tensor:
    """The strength of each frequency in windows of audio."""

def AudioSummary(
    *,
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: float,
    max_outputs: int = 3,
    name: str | None = None,
) -> Tensor:
    """A summary with sounds, as WAV; the sample rate is an attr."""

def AudioSummaryV2(
    *,
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    name: str | None = None,
) -> Tensor:
    """A summary with sounds, as WAV; the sample rate is an input."""

def AutoShardDataset(
    *,
    input_dataset: TensorLike,
    num_workers: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    auto_shard_policy: int = 0,
    num_replicas: int = 0,
    name: str | None = None,
) -> Tensor:
    """A worker's share of the elements of a dataset."""

def AvgPool(
    *,
    value: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The mean of each window; what lies outside of `value` does not count."""

def AvgPool3D(
    *,
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The mean of each window of volumes; what lies outside of `input` does not count."""

def AvgPool3DGrad(
    *,
    orig_input_shape: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`AvgPool3D`]."""

def AvgPoolGrad(
    *,
    orig_input_shape: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of `AvgPool`: each element of `grad` is shared evenly by what its window covered."""

def BandedTriangularSolve(
    *,
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions of `matrix x = rhs` for triangular matrices of `k` diagonals."""

def Barrier(
    *,
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects the components of elements by key, and gives elements that are complete in the order of their first components."""

def BarrierClose(*, handle: TensorLike, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
    """Closes a barrier: no new elements are begun."""

def BarrierIncompleteSize(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements in a barrier that lack components."""

def BarrierInsertMany(
    *,
    handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    component_index: int,
    name: str | None = None,
) -> Effect:
    """Gives elements of a barrier one of their components."""

def BarrierReadySize(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of complete elements in a barrier."""

def BarrierTakeMany(
    *,
    handle: TensorLike,
    num_elements: TensorLike,
    component_types: Sequence[DTypeLike],
    allow_small_batch: bool = False,
    wait_for_incomplete: bool = False,
    timeout_ms: int = -1,
    name: str | None = None,
) -> _outputs.BarrierTakeMany:
    """Takes complete elements out of a barrier; waits until there are as many."""

def Batch(
    *,
    in_tensors: Sequence[TensorLike],
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    grad_timeout_micros: int,
    max_enqueued_batches: int = 10,
    allowed_batch_sizes: Sequence[int] = [],
    container: str | bytes = '',
    shared_name: str | bytes = '',
    batching_queue: str | bytes = '',
    name: str | None = None,
) -> _outputs.Batch:
    """Puts the inputs of several runs together along their first dimension: one of them gets all, the others nothing."""

def BatchCholesky(*, input: TensorLike, name: str | None = None) -> Tensor:
    """[`Cholesky`] of old graphs."""

def BatchCholeskyGrad(*, l: TensorLike, grad: TensorLike, name: str | None = None) -> Tensor:
    """[`CholeskyGrad`] of old graphs."""

def BatchDataset(
    *,
    input_dataset: TensorLike,
    batch_size: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements stacked along a new first dimension, `batch_size` at a time."""

def BatchDatasetV2(
    *,
    input_dataset: TensorLike,
    batch_size: TensorLike,
    drop_remainder: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    parallel_copy: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements stacked along a new first dimension, `batch_size` at a time."""

def BatchFunction(
    *,
    in_tensors: Sequence[TensorLike],
    captured_tensors: Sequence[TensorLike],
    f: FunctionLike,
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    Tout: Sequence[DTypeLike],
    max_enqueued_batches: int = 10,
    allowed_batch_sizes: Sequence[int] = [],
    container: str | bytes = '',
    shared_name: str | bytes = '',
    batching_queue: str | bytes = '',
    low_priority_max_batch_size: int = 0,
    low_priority_batch_timeout_micros: int = 0,
    low_priority_allowed_batch_sizes: Sequence[int] = [],
    low_priority_max_enqueued_batches: int = 0,
    mixed_priority_policy: Literal['low_priority_padding_with_max_batch_size', 'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'] = 'low_priority_padding_with_max_batch_size',
    batch_padding_policy: Literal['PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'] = 'PAD_UP',
    enable_large_batch_splitting: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """Calls a function with the inputs of several runs, put together along their first dimension, and gives each run its part of the results."""

def BatchMatMul(
    *,
    x: TensorLike,
    y: TensorLike,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions must be equal."""

def BatchMatMulV2(
    *,
    x: TensorLike,
    y: TensorLike,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions broadcast."""

def BatchMatMulV3(
    *,
    x: TensorLike,
    y: TensorLike,
    Tout: DTypeLike,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of two stacks of matrices, which may differ in dtype, computed and returned as `Tout`; the outer dimensions broadcast."""

def BatchMatrixBandPart(
    *,
    input: TensorLike,
    num_lower: TensorLike,
    num_upper: TensorLike,
    name: str | None = None,
) -> Tensor:
    """[`MatrixBandPart`] of old graphs."""

def BatchMatrixDeterminant(*, input: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixDeterminant`] of old graphs."""

def BatchMatrixDiag(*, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixDiag`] of old graphs."""

def BatchMatrixDiagPart(*, input: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixDiagPart`] of old graphs."""

def BatchMatrixInverse(*, input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """[`MatrixInverse`] of old graphs."""

def BatchMatrixSetDiag(*, input: TensorLike, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixSetDiag`] of old graphs."""

def BatchMatrixSolve(*, matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """[`MatrixSolve`] of old graphs."""

def BatchMatrixSolveLs(
    *,
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """[`MatrixSolveLs`] of old graphs."""

def BatchMatrixTriangularSolve(
    *,
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`MatrixTriangularSolve`] of old graphs."""

def BatchNormWithGlobalNormalization(
    *,
    t: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """Batch normalisation with given mean and variance: `(t - m) / sqrt(v + variance_epsilon) * gamma + beta`."""

def BatchNormWithGlobalNormalizationGrad(
    *,
    t: TensorLike,
    m: TensorLike,
    v: TensorLike,
    gamma: TensorLike,
    backprop: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> _outputs.BatchNormWithGlobalNormalizationGrad:
    """The gradient of [`BatchNormWithGlobalNormalization`]."""

def BatchSelfAdjointEig(*, input: TensorLike, name: str | None = None) -> Tensor:
    """[`SelfAdjointEig`] of old graphs."""

def BatchSelfAdjointEigV2(
    *,
    input: TensorLike,
    compute_v: bool = True,
    name: str | None = None,
) -> _outputs.BatchSelfAdjointEigV2:
    """[`SelfAdjointEigV2`] of old graphs."""

def BatchSvd(
    *,
    input: TensorLike,
    compute_uv: bool = True,
    full_matrices: bool = False,
    name: str | None = None,
) -> _outputs.BatchSvd:
    """[`Svd`] of old graphs."""

def BatchToSpace(*, input: TensorLike, crops: TensorLike, block_size: int, name: str | None = None) -> Tensor:
    """Squares moved from the batch dimension back into the image, which is then cropped: undoes [`SpaceToBatch`]."""

def BatchToSpaceND(*, input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """Blocks moved from the batch dimension back into the spatial ones, which are then cropped: undoes [`SpaceToBatchND`]."""

def BesselI0(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind and order 0."""

def BesselI0e(*, x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselI0`] times `exp(-|x|)`."""

def BesselI1(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind and order 1."""

def BesselI1e(*, x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselI1`] times `exp(-|x|)`."""

def BesselJ0(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind and order 0."""

def BesselJ1(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind and order 1."""

def BesselK0(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind and order 0. Infinite from 0 down."""

def BesselK0e(*, x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselK0`] times `exp(x)`."""

def BesselK1(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind and order 1. Infinite from 0 down."""

def BesselK1e(*, x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselK1`] times `exp(x)`."""

def BesselY0(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind and order 0. −∞ from 0 down."""

def BesselY1(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind and order 1. −∞ from 0 down."""

def Betainc(*, a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function, `I_x(a, b)`."""

def BiasAdd(
    *,
    value: TensorLike,
    bias: TensorLike,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """`bias`, a vector, added to each channel of `value`."""

def BiasAddGrad(
    *,
    out_backprop: TensorLike,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of `BiasAdd` with respect to the bias: for each channel the sum of its elements."""

def BiasAddV1(*, value: TensorLike, bias: TensorLike, name: str | None = None) -> Tensor:
    """`bias`, a vector, added along the last dimension of `value`: `BiasAdd` as it was before it knew data formats."""

def Bincount(*, arr: TensorLike, size: TensorLike, weights: TensorLike, name: str | None = None) -> Tensor:
    """How often each number from 0 to `size` − 1 occurs, or the sum of the weights of its occurrences."""

def Bitcast(*, input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The same bytes as elements of another dtype."""

def BitwiseAnd(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in both. The shapes broadcast."""

def BitwiseOr(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in at least one. The shapes broadcast."""

def BitwiseXor(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in just one. The shapes broadcast."""

def BlockLSTM(
    *,
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    forget_bias: float = 1.0,
    cell_clip: float = 3.0,
    use_peephole: bool = False,
    name: str | None = None,
) -> _outputs.BlockLSTM:
    """The steps of `LSTMBlockCell` over time."""

def BlockLSTMGrad(
    *,
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    i: TensorLike,
    cs: TensorLike,
    f: TensorLike,
    o: TensorLike,
    ci: TensorLike,
    co: TensorLike,
    h: TensorLike,
    cs_grad: TensorLike,
    h_grad: TensorLike,
    use_peephole: bool,
    name: str | None = None,
) -> _outputs.BlockLSTMGrad:
    """The gradient of `BlockLSTM`."""

def BlockLSTMGradV2(
    *,
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    i: TensorLike,
    cs: TensorLike,
    f: TensorLike,
    o: TensorLike,
    ci: TensorLike,
    co: TensorLike,
    h: TensorLike,
    cs_grad: TensorLike,
    h_grad: TensorLike,
    use_peephole: bool,
    name: str | None = None,
) -> _outputs.BlockLSTMGradV2:
    """The gradient of `BlockLSTMV2`, by the order of its weights."""

def BlockLSTMV2(
    *,
    seq_len_max: TensorLike,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    cell_clip: float = 0.0,
    use_peephole: bool = False,
    name: str | None = None,
) -> _outputs.BlockLSTMV2:
    """As `BlockLSTM`, without a bias of the forget gate, and with weights in the order of input gate, forget gate, offer and output gate."""

def BroadcastArgs(*, s0: TensorLike, s1: TensorLike, name: str | None = None) -> Tensor:
    """The shape that two shapes broadcast to; all are vectors."""

def BroadcastGradientArgs(*, s0: TensorLike, s1: TensorLike, name: str | None = None) -> _outputs.BroadcastGradientArgs:
    """For two shapes that broadcast, the dimensions along which each one's gradient is summed."""

def BroadcastTo(*, input: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """`input` repeated to the given shape."""

def Bucketize(*, input: TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """For each value the number of `boundaries` that are not above it."""

def BytesProducedStatsDataset(
    *,
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, of whose bytes `SetStatsAggregatorDataset` is told."""

def CSRSparseMatrixComponents(
    *,
    csr_sparse_matrix: TensorLike,
    index: TensorLike,
    type: DTypeLike,
    name: str | None = None,
) -> _outputs.CSRSparseMatrixComponents:
    """The arrays of one of the matrices in a sparse matrix."""

def CSRSparseMatrixToDense(*, sparse_input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """A sparse matrix as a dense one."""

def CSRSparseMatrixToSparseTensor(
    *,
    sparse_matrix: TensorLike,
    type: DTypeLike,
    name: str | None = None,
) -> _outputs.CSRSparseMatrixToSparseTensor:
    """A sparse matrix as a sparse tensor."""

def CSVDataset(
    *,
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    header: TensorLike,
    field_delim: TensorLike,
    use_quote_delim: TensorLike,
    na_value: TensorLike,
    select_cols: TensorLike,
    record_defaults: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The records of files of comma-separated values, a scalar for each column."""

def CSVDatasetV2(
    *,
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    header: TensorLike,
    field_delim: TensorLike,
    use_quote_delim: TensorLike,
    na_value: TensorLike,
    select_cols: TensorLike,
    record_defaults: Sequence[TensorLike],
    exclude_cols: TensorLike,
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The records of files of comma-separated values, a scalar for each column."""

def CTCBeamSearchDecoder(
    *,
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int,
    top_paths: int,
    merge_repeated: bool = True,
    name: str | None = None,
) -> _outputs.CTCBeamSearchDecoder:
    """The most probable labels of each sequence, found by a search that keeps the best beginnings after each step."""

def CTCGreedyDecoder(
    *,
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = False,
    blank_index: int = -1,
    name: str | None = None,
) -> _outputs.CTCGreedyDecoder:
    """The labels that follow from each step's best class."""

def CTCLoss(
    *,
    inputs: TensorLike,
    labels_indices: TensorLike,
    labels_values: TensorLike,
    sequence_length: TensorLike,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    name: str | None = None,
) -> _outputs.CTCLoss:
    """The negative logarithm of the probability of each sequence's labels, and its gradient by `inputs`."""

def CacheDataset(
    *,
    input_dataset: TensorLike,
    filename: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which are kept from the first time on."""

def CacheDatasetV2(
    *,
    input_dataset: TensorLike,
    filename: TensorLike,
    cache: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which are kept from the first time on."""

def CalibrationStatisticsSaver(
    *,
    args: Sequence[TensorLike],
    ids: Sequence[str | bytes],
    calibration_methods: Sequence[int],
    output_file_path: str | bytes,
    name: str | None = None,
) -> Effect:
    """Puts together what [`CustomAggregator`] says of several batches, and saves it to a file when the session ends."""

def Case(
    *,
    branch_index: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    branches: Sequence[FunctionLike],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls the branch that `branch_index` names with `input`, the last one if there is none."""

def Cast(*, x: TensorLike, DstT: DTypeLike, Truncate: bool = False, name: str | None = None) -> Tensor:
    """Each element as a `DstT`."""

def Ceil(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The least integer that is not below `x`."""

def CheckNumerics(*, tensor: TensorLike, message: str | bytes, name: str | None = None) -> Tensor:
    """`tensor` itself; fails with INVALID_ARGUMENT if an element is infinite or NaN."""

def CheckNumericsV2(*, tensor: TensorLike, message: str | bytes, name: str | None = None) -> Tensor:
    """[`CheckNumerics`] whose error says which infinities there are."""

def Cholesky(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular matrices `L` for which `input = L Lᴴ`."""

def CholeskyGrad(*, l: TensorLike, grad: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of [`Cholesky`]: symmetric matrices."""

def ChooseFastestBranchDataset(
    *,
    input_dataset: TensorLike,
    ratio_numerator: TensorLike,
    ratio_denominator: TensorLike,
    other_arguments: Sequence[TensorLike],
    num_elements_per_branch: int,
    branches: Sequence[FunctionLike],
    other_arguments_lengths: Sequence[int],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of the dataset that a function makes of a dataset: that one of several equal functions which is fastest."""

def ChooseFastestDataset(
    *,
    input_datasets: Sequence[TensorLike],
    num_experiments: int,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of that of several equal datasets which gives them fastest."""

def ClipByValue(
    *,
    t: TensorLike,
    clip_value_min: TensorLike,
    clip_value_max: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`t` limited to the range from `clip_value_min` to `clip_value_max`: `max(min(t, clip_value_max), clip_value_min)`."""

def CloseSummaryWriter(*, writer: TensorLike, name: str | None = None) -> Effect:
    """Writes what waits, and forgets the writer."""

def CombinedNonMaxSuppression(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> _outputs.CombinedNonMaxSuppression:
    """The best boxes of all classes of each image, after those of each class that overlap are left out."""

def Complex(
    *,
    real: TensorLike,
    imag: TensorLike,
    Tout: DTypeLike = _dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The complex number `real + i * imag`. The shapes broadcast."""

def ComplexAbs(*, x: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The absolute value."""

def CompositeTensorVariantFromComponents(
    *,
    components: Sequence[TensorLike],
    metadata: str | bytes,
    name: str | None = None,
) -> Tensor:
    """The tensors of a composite value in a scalar, with what is known of its type."""

def CompositeTensorVariantToComponents(
    *,
    encoded: TensorLike,
    metadata: str | bytes,
    Tcomponents: Sequence[DTypeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The tensors of a composite value; it is an error if it is of another type, or if it has others."""

def CompressElement(*, components: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The components of an element as one variant, compressed by Snappy."""

def ComputeAccidentalHits(
    *,
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.ComputeAccidentalHits:
    """Where candidates are true classes of a row: triples of the row, the candidate's place and a great negative weight."""

def ComputeBatchSize(*, input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """How many elements a dataset batches, as far as the nodes tell that it was made of."""

def Concat(*, concat_dim: TensorLike, values: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Tensors joined along one dimension; all others must be equal."""

def ConcatOffset(*, concat_dim: TensorLike, shape: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Where each of several tensors begins once they are joined along one dimension."""

def ConcatV2(*, values: Sequence[TensorLike], axis: TensorLike, name: str | None = None) -> Tensor:
    """Tensors joined along one dimension; all others must be equal."""

def ConcatenateDataset(
    *,
    input_dataset: TensorLike,
    another_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, then those of another."""

def ConditionalAccumulator(
    *,
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    reduction_type: Literal['MEAN', 'SUM'] = 'MEAN',
    name: str | None = None,
) -> Tensor:
    """Adds gradients up until enough have come; those of earlier steps than the present one are dropped."""

def Conj(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate."""

def ConjugateTranspose(*, x: TensorLike, perm: TensorLike, name: str | None = None) -> Tensor:
    """`x` with its dimensions permuted and its complex numbers conjugated."""

def Const(*, value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """A tensor that stands in the graph itself."""

def ConsumeMutexLock(*, mutex_lock: TensorLike, name: str | None = None) -> Effect:
    """Lets go of a lock."""

def ControlTrigger(*, name: str | None = None) -> Effect:
    """Does nothing, even where its control inputs are dead."""

def Conv(
    *,
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['CHANNELS_FIRST', 'CHANNELS_LAST'] = 'CHANNELS_LAST',
    dilations: Sequence[int] = [],
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """The convolution of `input` with `filter` over two or three dimensions of space (strictly, the cross-correlation)."""

def Conv2D(
    *,
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The 2-D convolution of `input` with `filter` (strictly, the cross-correlation)."""

def Conv2DBackpropFilter(
    *,
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of `Conv2D` with respect to its filter."""

def Conv2DBackpropInput(
    *,
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of `Conv2D` with respect to its input."""

def Conv3D(
    *,
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The 3-D convolution of `input` with `filter` (strictly, the cross-correlation)."""

def Conv3DBackpropFilter(
    *,
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Conv3D`] with respect to its filter, which is given for its shape."""

def Conv3DBackpropFilterV2(
    *,
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Conv3D`] with respect to its filter."""

def Conv3DBackpropInput(
    *,
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Conv3D`] with respect to its input, which is given for its shape."""

def Conv3DBackpropInputV2(
    *,
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Conv3D`] with respect to its input."""

def Cos(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine of `x` in radians."""

def Cosh(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine."""

def CountUpTo(*, ref: TensorLike, limit: int, name: str | None = None) -> Tensor:
    """Adds one to a variable and gives its value from before, until that is `limit`: then the error is OUT_OF_RANGE."""

def CreateSummaryFileWriter(
    *,
    writer: TensorLike,
    logdir: TensorLike,
    max_queue: TensorLike,
    flush_millis: TensorLike,
    filename_suffix: TensorLike,
    name: str | None = None,
) -> Effect:
    """Makes a writer to a file of its own, unless there is one of the handle already."""

def CropAndResize(
    *,
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    crop_size: TensorLike,
    method: Literal['bilinear', 'nearest'] = 'bilinear',
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """What boxes contain of images, each in the same size."""

def CropAndResizeGradBoxes(
    *,
    grads: TensorLike,
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    method: Literal['bilinear'] = 'bilinear',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`CropAndResize`] with respect to the boxes."""

def CropAndResizeGradImage(
    *,
    grads: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    image_size: TensorLike,
    T: DTypeLike,
    method: Literal['bilinear', 'nearest'] = 'bilinear',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`CropAndResize`] with respect to the images."""

def Cross(*, a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross products of the vectors of three elements in the last dimension."""

def Cumprod(
    *,
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Products of all elements up to each one along a dimension."""

def Cumsum(
    *,
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sums of all elements up to each one along a dimension."""

def CumulativeLogsumexp(
    *,
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Logarithms of the sums of the exponentials of all elements up to each one along a dimension."""

def CustomAggregator(
    *,
    input: TensorLike,
    id: str | bytes,
    calibration_method: int = 0,
    num_bins: int = 0,
    min_percentile: float = 0.0,
    max_percentile: float = 0.0,
    name: str | None = None,
) -> _outputs.CustomAggregator:
    """Passes values on, with their range and how many of them lie where in it."""

def DataFormatDimMap(
    *,
    x: TensorLike,
    src_format: str | bytes = 'NHWC',
    dst_format: str | bytes = 'NCHW',
    name: str | None = None,
) -> Tensor:
    """Dimensions of `src_format` as dimensions of `dst_format`. Negative ones are counted from the end."""

def DataFormatVecPermute(
    *,
    x: TensorLike,
    src_format: str | bytes = 'NHWC',
    dst_format: str | bytes = 'NCHW',
    name: str | None = None,
) -> Tensor:
    """A vector with an element for each dimension of `src_format`, or a matrix with a pair, in the order of `dst_format`; or those of the spatial dimensions alone."""

def DatasetCardinality(
    *,
    input_dataset: TensorLike,
    cardinality_options: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """How many elements a dataset has: −1 without end, −2 if it is not known."""

def DatasetFingerprint(*, input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """A number that tells the graphs of datasets apart: equal for those that differ in names and seeds only."""

def DatasetFromGraph(*, graph_def: TensorLike, name: str | None = None) -> Tensor:
    """The dataset that a graph makes."""

def DatasetToGraph(
    *,
    input_dataset: TensorLike,
    stateful_whitelist: Sequence[str | bytes] = [],
    allow_stateful: bool = False,
    strip_device_assignment: bool = False,
    name: str | None = None,
) -> Tensor:
    """The graph of the nodes that a dataset was made of."""

def DatasetToGraphV2(
    *,
    input_dataset: TensorLike,
    external_state_policy: int = 0,
    strip_device_assignment: bool = False,
    name: str | None = None,
) -> Tensor:
    """The graph of the nodes that a dataset was made of."""

def DatasetToSingleElement(
    *,
    dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """The one element of a dataset."""

def DatasetToTFRecord(
    *,
    input_dataset: TensorLike,
    filename: TensorLike,
    compression_type: TensorLike,
    name: str | None = None,
) -> Effect:
    """Writes the elements of a dataset to a file of TFRecords."""

def Dawsn(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral: `exp(-x²)` times the integral of `exp(t²)` from 0 to `x`."""

def DecodeAndCropJpeg(
    *,
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A part of the image of a JPEG file."""

def DecodeBase64(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Each string from base64, in the alphabet that is safe in URLs."""

def DecodeBmp(*, contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """The image of a BMP file that is not compressed."""

def DecodeCSV(
    *,
    records: TensorLike,
    record_defaults: Sequence[TensorLike],
    field_delim: str | bytes = ',',
    use_quote_delim: bool = True,
    na_value: str | bytes = '',
    select_cols: Sequence[int] = [],
    name: str | None = None,
) -> list[Tensor]:
    """The columns of records of comma-separated values, as RFC 4180 has them."""

def DecodeCompressed(*, bytes: TensorLike, compression_type: str | bytes = '', name: str | None = None) -> Tensor:
    """Each string without its compression."""

def DecodeGif(*, contents: TensorLike, name: str | None = None) -> Tensor:
    """The frames of a GIF file."""

def DecodeImage(
    *,
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    expand_animations: bool = True,
    name: str | None = None,
) -> Tensor:
    """The image or the frames of a file of any format that is known."""

def DecodeJSONExample(*, json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Serialized Examples of Examples in JSON."""

def DecodeJpeg(
    *,
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The image of a JPEG file."""

def DecodeJxl(
    *,
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    name: str | None = None,
) -> Tensor:
    """The image of a JPEG XL file, the first of an animation."""

def DecodePaddedRaw(
    *,
    input_bytes: TensorLike,
    fixed_length: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    name: str | None = None,
) -> Tensor:
    """The bytes of each string as numbers, along a new last dimension; strings are cut, or filled with zeros, to one length."""

def DecodePng(
    *,
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    name: str | None = None,
) -> Tensor:
    """The image of a PNG file."""

def DecodeProtoV2(
    *,
    bytes: TensorLike,
    message_type: str | bytes,
    field_names: Sequence[str | bytes],
    output_types: Sequence[DTypeLike],
    descriptor_source: str | bytes = 'local://',
    message_format: str | bytes = 'binary',
    sanitize: bool = False,
    name: str | None = None,
) -> _outputs.DecodeProtoV2:
    """Fields of serialized messages."""

def DecodeRaw(*, bytes: TensorLike, out_type: DTypeLike, little_endian: bool = True, name: str | None = None) -> Tensor:
    """The bytes of each string as numbers, along a new last dimension."""

def DecodeWav(
    *,
    contents: TensorLike,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> _outputs.DecodeWav:
    """The samples of a WAV file of 16 bits."""

def DecodeWebP(
    *,
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    name: str | None = None,
) -> Tensor:
    """The images of a WebP file."""

def DeepCopy(*, x: TensorLike, name: str | None = None) -> Tensor:
    """A copy of `x`, which shares no memory with it."""

def DeleteIterator(*, handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes an iterator."""

def DeleteMemoryCache(*, handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes a cache."""

def DeleteMultiDeviceIterator(
    *,
    multi_device_iterator: TensorLike,
    iterators: Sequence[TensorLike],
    deleter: TensorLike,
    name: str | None = None,
) -> Effect:
    """Deletes an iterator of several devices."""

def DeleteRandomSeedGenerator(*, handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes a generator of seeds."""

def DeleteSeedGenerator(*, handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes a generator of seeds."""

def DeleteSessionTensor(*, handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets the tensor that the session keeps under a name."""

def DenseBincount(
    *,
    input: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> Tensor:
    """How often each number from 0 to `size` − 1 occurs in a vector, or in each row of a matrix; or the sum of the weights of its occurrences."""

def DenseCountSparseOutput(
    *,
    values: TensorLike,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> _outputs.DenseCountSparseOutput:
    """How often each value occurs in a vector, or in each row of a matrix."""

def DenseToCSRSparseMatrix(*, dense_input: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """The elements of a dense matrix, or of several, that indices name, as a sparse matrix."""

def DenseToDenseSetOperation(
    *,
    set1: TensorLike,
    set2: TensorLike,
    set_operation: str | bytes,
    validate_indices: bool = True,
    name: str | None = None,
) -> _outputs.DenseToDenseSetOperation:
    """Difference, intersection or union of the sets along the last dimensions of two dense tensors."""

def DenseToSparseBatchDataset(
    *,
    input_dataset: TensorLike,
    batch_size: TensorLike,
    row_shape: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Tensors of one rank, `batch_size` at a time, as one sparse tensor whose rows they are: a vector of three variants, its indices, values and shape."""

def DenseToSparseSetOperation(
    *,
    set1: TensorLike,
    set2_indices: TensorLike,
    set2_values: TensorLike,
    set2_shape: TensorLike,
    set_operation: str | bytes,
    validate_indices: bool = True,
    name: str | None = None,
) -> _outputs.DenseToSparseSetOperation:
    """As `DenseToDenseSetOperation`, with a sparse second tensor."""

def DepthToSpace(
    *,
    input: TensorLike,
    block_size: int,
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """Depth moved into squares: each `block_size²` channels become a square of `block_size` × `block_size` pixels."""

def DepthwiseConv2dNative(
    *,
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The 2-D convolution of each channel of `input` with filters of its own."""

def DepthwiseConv2dNativeBackpropFilter(
    *,
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of `DepthwiseConv2dNative` with respect to its filter."""

def DepthwiseConv2dNativeBackpropInput(
    *,
    input_sizes: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of `DepthwiseConv2dNative` with respect to its input."""

def Dequantize(
    *,
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: Literal['MIN_COMBINED', 'MIN_FIRST', 'SCALED'] = 'MIN_COMBINED',
    narrow_range: bool = False,
    axis: int = -1,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The values that quantized numbers stand for, the other way round of [`QuantizeV2`]."""

def DeserializeIterator(*, resource_handle: TensorLike, serialized: TensorLike, name: str | None = None) -> Effect:
    """Sets the state of an iterator to one that was serialized."""

def DeserializeManySparse(
    *,
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.DeserializeManySparse:
    """The sparse tensor of rows that `SerializeManySparse` made."""

def DeserializeSparse(
    *,
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.DeserializeSparse:
    """Sparse tensors from what `SerializeSparse` made of them."""

def DestroyResourceOp(*, resource: TensorLike, ignore_lookup_error: bool = True, name: str | None = None) -> Effect:
    """Forgets a resource of any type. Nodes that use it later fail."""

def DestroyTemporaryVariable(*, ref: TensorLike, var_name: str | bytes, name: str | None = None) -> Tensor:
    """The last value of a temporary variable, which ends here."""

def DeviceIndex(*, device_names: Sequence[str | bytes], name: str | None = None) -> Tensor:
    """The place of the device that the node is on among the types named; their number, if it is none of them."""

def Diag(*, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Zeros with `diagonal` on the diagonal: of shape `[i, …, k]` it becomes `[i, …, k, i, …, k]`."""

def DiagPart(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of shape `[i, …, k, i, …, k]`, of shape `[i, …, k]`."""

def Digamma(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of [`Lgamma`]."""

def Dilation2D(
    *,
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The greatest sum of input and filter under each window, channel by channel."""

def Dilation2DBackpropFilter(
    *,
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Dilation2D`] with respect to its filter."""

def Dilation2DBackpropInput(
    *,
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Dilation2D`] with respect to its input."""

def DirectedInterleaveDataset(
    *,
    selector_input_dataset: TensorLike,
    data_input_datasets: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    stop_on_empty_dataset: bool = False,
    name: str | None = None,
) -> Tensor:
    """Elements of several datasets, of that which another dataset says."""

def DisableCopyOnRead(*, resource: TensorLike, name: str | None = None) -> Effect:
    """Without effect but for the error if there is no such variable: reads never copy here."""

def Div(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient, `x / y`. Integers round towards zero, and dividing them by zero is an error. The shapes broadcast."""

def DivNoNan(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient, `x / y`, but 0 wherever `y` is 0. The shapes broadcast."""

def DrawBoundingBoxes(*, images: TensorLike, boxes: TensorLike, name: str | None = None) -> Tensor:
    """Images with the outlines of boxes, in colours that take turns."""

def DrawBoundingBoxesV2(
    *,
    images: TensorLike,
    boxes: TensorLike,
    colors: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Images with the outlines of boxes, in colours that are given."""

def DummyIterationCounter(*, name: str | None = None) -> Tensor:
    """A handle that names no counter of iterations."""

def DummyMemoryCache(*, name: str | None = None) -> Tensor:
    """A handle of no cache."""

def DummySeedGenerator(*, name: str | None = None) -> Tensor:
    """A handle of no generator of seeds."""

def DynamicPartition(
    *,
    data: TensorLike,
    partitions: TensorLike,
    num_partitions: int,
    name: str | None = None,
) -> list[Tensor]:
    """The slices of `data`, sorted into one tensor for each number in `partitions`."""

def DynamicStitch(*, indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Slices of several tensors, each put where its index says; of several for one place the last one stays."""

def EditDistance(
    *,
    hypothesis_indices: TensorLike,
    hypothesis_values: TensorLike,
    hypothesis_shape: TensorLike,
    truth_indices: TensorLike,
    truth_values: TensorLike,
    truth_shape: TensorLike,
    normalize: bool = True,
    name: str | None = None,
) -> Tensor:
    """The Levenshtein distances between the sequences along the last dimension of two sparse tensors."""

def Eig(*, input: TensorLike, Tout: DTypeLike, compute_v: bool = True, name: str | None = None) -> _outputs.Eig:
    """Eigenvalues and eigenvectors: `input v = v diag(e)`. They are complex, and in no particular order."""

def Einsum(*, inputs: Sequence[TensorLike], equation: str | bytes, name: str | None = None) -> Tensor:
    """Sums of products over dimensions that have labels: `"ij,jk->ik"` multiplies matrices."""

def Elu(*, features: TensorLike, name: str | None = None) -> Tensor:
    """`features` where positive, `exp(features) - 1` elsewhere."""

def EluGrad(*, gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Elu`: `gradients * (outputs + 1)` where `outputs` is negative, `gradients` elsewhere."""

def Empty(*, shape: TensorLike, dtype: DTypeLike, init: bool = False, name: str | None = None) -> Tensor:
    """A tensor of the given shape. TensorFlow leaves its elements undefined unless `init` is set; here they are zeros."""

def EmptyTensorList(
    *,
    element_shape: TensorLike,
    max_num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A list of tensors without elements."""

def EmptyTensorMap(*, name: str | None = None) -> Tensor:
    """A map from tensors to tensors without entries."""

def EncodeBase64(*, input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in base64, in the alphabet that is safe in URLs."""

def EncodeJpeg(
    *,
    image: TensorLike,
    format: Literal['', 'grayscale', 'rgb'] = '',
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: Literal['in', 'cm'] = 'in',
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A JPEG file of an image."""

def EncodeJpegVariableQuality(*, images: TensorLike, quality: TensorLike, name: str | None = None) -> Tensor:
    """A JPEG file of an image, in a quality that is computed."""

def EncodePng(*, image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """PNG files of images."""

def EncodeProto(
    *,
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str | bytes],
    message_type: str | bytes,
    descriptor_source: str | bytes = 'local://',
    name: str | None = None,
) -> Tensor:
    """Serialized messages of fields."""

def EncodeWav(*, audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """A WAV file of 16 bits."""

def EnsureShape(*, input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """`input` itself; fails with INVALID_ARGUMENT if its shape is not compatible with `shape`."""

def Enter(
    *,
    data: TensorLike,
    frame_name: str | bytes,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> Tensor:
    """Takes `data` into the loop `frame_name`: into its first iteration or, if it is constant, into each."""

def Equal(*, x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: str | None = None) -> Tensor:
    """Whether `x == y`. NaN equals nothing. The shapes broadcast."""

def Erf(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The error function."""

def Erfc(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The complementary error function, `1 - erf(x)`, precise where `erf(x)` is near 1."""

def Erfinv(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the error function."""

def EuclideanNorm(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The Euclidean norm over some dimensions: the root of the sum of the squares. Of nothing it is 0."""

def Exit(*, data: TensorLike, name: str | None = None) -> Tensor:
    """Takes `data` out of the loop."""

def Exp(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential, `e^x`."""

def ExpandDims(*, input: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """`input` with one more dimension, of size 1."""

def ExperimentalAssertNextDataset(
    *,
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def ExperimentalAutoShardDataset(
    *,
    input_dataset: TensorLike,
    num_workers: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    auto_shard_policy: int = 0,
    name: str | None = None,
) -> Tensor:
    """A worker's share of the elements of a dataset."""

def ExperimentalBytesProducedStatsDataset(
    *,
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, of whose bytes `SetStatsAggregatorDataset` is told."""

def ExperimentalCSVDataset(
    *,
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    header: TensorLike,
    field_delim: TensorLike,
    use_quote_delim: TensorLike,
    na_value: TensorLike,
    select_cols: TensorLike,
    record_defaults: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The records of files of comma-separated values, a scalar for each column."""

def ExperimentalChooseFastestDataset(
    *,
    input_datasets: Sequence[TensorLike],
    num_experiments: int,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of that of several equal datasets which gives them fastest."""

def ExperimentalDatasetCardinality(*, input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """How many elements a dataset has: −1 without end, −2 if it is not known."""

def ExperimentalDatasetToTFRecord(
    *,
    input_dataset: TensorLike,
    filename: TensorLike,
    compression_type: TensorLike,
    name: str | None = None,
) -> Effect:
    """Writes the elements of a dataset to a file of TFRecords."""

def ExperimentalDenseToSparseBatchDataset(
    *,
    input_dataset: TensorLike,
    batch_size: TensorLike,
    row_shape: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Tensors of one rank, `batch_size` at a time, as one sparse tensor whose rows they are: a vector of three variants, its indices, values and shape."""

def ExperimentalDirectedInterleaveDataset(
    *,
    selector_input_dataset: TensorLike,
    data_input_datasets: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Elements of several datasets, of that which another dataset says."""

def ExperimentalGroupByReducerDataset(
    *,
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike],
    init_func_other_arguments: Sequence[TensorLike],
    reduce_func_other_arguments: Sequence[TensorLike],
    finalize_func_other_arguments: Sequence[TensorLike],
    key_func: FunctionLike,
    init_func: FunctionLike,
    reduce_func: FunctionLike,
    finalize_func: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """What is made of all elements of the same key."""

def ExperimentalGroupByWindowDataset(
    *,
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike],
    reduce_func_other_arguments: Sequence[TensorLike],
    window_size_func_other_arguments: Sequence[TensorLike],
    key_func: FunctionLike,
    reduce_func: FunctionLike,
    window_size_func: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Elements of the same key, reduced in windows. Windows that are not full at the end are reduced as they are, by ascending key."""

def ExperimentalIgnoreErrorsDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    log_warning: bool = False,
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset that can be made."""

def ExperimentalIteratorGetDevice(*, resource: TensorLike, name: str | None = None) -> Tensor:
    """The device of an iterator."""

def ExperimentalLatencyStatsDataset(
    *,
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `SetStatsAggregatorDataset` is told how long each takes."""

def ExperimentalMapAndBatchDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    batch_size: TensorLike,
    num_parallel_calls: TensorLike,
    drop_remainder: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool = False,
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element, several at a time, stacked along a new first dimension."""

def ExperimentalMapDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool = True,
    preserve_cardinality: bool = False,
    force_synchronous: bool = False,
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element."""

def ExperimentalMatchingFilesDataset(*, patterns: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match patterns, in order."""

def ExperimentalMaxIntraOpParallelismDataset(
    *,
    input_dataset: TensorLike,
    max_intra_op_parallelism: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def ExperimentalNonSerializableDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def ExperimentalParallelInterleaveDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    cycle_length: TensorLike,
    block_length: TensorLike,
    sloppy: TensorLike,
    buffer_output_elements: TensorLike,
    prefetch_input_elements: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead."""

def ExperimentalParseExampleDataset(
    *,
    input_dataset: TensorLike,
    num_parallel_calls: TensorLike,
    dense_defaults: Sequence[TensorLike],
    sparse_keys: Sequence[str | bytes],
    dense_keys: Sequence[str | bytes],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    sloppy: bool = False,
    name: str | None = None,
) -> Tensor:
    """Examples parsed to tensors, which are in the order of the features' names; sparse ones are variants."""

def ExperimentalPrivateThreadPoolDataset(
    *,
    input_dataset: TensorLike,
    num_threads: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def ExperimentalRandomDataset(
    *,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 to 2³² − 1, without end."""

def ExperimentalRebatchDataset(
    *,
    input_dataset: TensorLike,
    num_replicas: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_fallback: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each batch cut to `num_replicas` batches of equal size, the last of which may be smaller or empty."""

def ExperimentalScanDataset(
    *,
    input_dataset: TensorLike,
    initial_state: Sequence[TensorLike],
    other_arguments: Sequence[TensorLike],
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool = False,
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element and a state, which it hands on."""

def ExperimentalSetStatsAggregatorDataset(
    *,
    input_dataset: TensorLike,
    stats_aggregator: TensorLike,
    tag: TensorLike,
    counter_prefix: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `LatencyStatsDataset` and `BytesProducedStatsDataset` in it tell of them."""

def ExperimentalSleepDataset(
    *,
    input_dataset: TensorLike,
    sleep_microseconds: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, for each of which is waited."""

def ExperimentalSlidingWindowDataset(
    *,
    input_dataset: TensorLike,
    window_size: TensorLike,
    window_shift: TensorLike,
    window_stride: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Elements stacked along a new first dimension, in windows that move over a dataset."""

def ExperimentalStatsAggregatorHandle(
    *,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects what is told of datasets, for `StatsAggregatorSummary`."""

def ExperimentalStatsAggregatorSummary(*, iterator: TensorLike, name: str | None = None) -> Tensor:
    """What was collected; nothing of one that writes it."""

def ExperimentalTakeWhileDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    predicate: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements before the first for which a function is false."""

def ExperimentalThreadPoolDataset(
    *,
    input_dataset: TensorLike,
    thread_pool: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is: its work is done on the threads of the session."""

def ExperimentalThreadPoolHandle(
    *,
    num_threads: int,
    display_name: str | bytes,
    max_intra_op_parallelism: int = 1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A pool of threads for datasets."""

def ExperimentalUnbatchDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The rows of each element, as elements."""

def ExperimentalUniqueDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, each once."""

def Expint(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential integral Ei, of what is not negative."""

def Expm1(*, x: TensorLike, name: str | None = None) -> Tensor:
    """`e^x - 1`, precise where `x` is near zero."""

def ExtractGlimpse(
    *,
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str | bytes = 'uniform',
    name: str | None = None,
) -> Tensor:
    """A window around a place in each image."""

def ExtractGlimpseV2(
    *,
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str | bytes = 'uniform',
    name: str | None = None,
) -> Tensor:
    """A window in each image: around the place if it is centred and normalized, else beginning there."""

def ExtractImagePatches(
    *,
    images: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The patches under a sliding window, each laid out along the depth: `[batch, rows, cols, ksizes[1] * ksizes[2] * depth]`."""

def ExtractJpegShape(
    *,
    contents: TensorLike,
    output_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The shape of the image of a JPEG file."""

def ExtractVolumePatches(
    *,
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The patches under a sliding window, each laid out along the channels: `[batch, depths, rows, columns, ksizes[1] * ksizes[2] * ksizes[3] * channels]`."""

def FFT(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform along the last dimension."""

def FFT2D(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform along the last two dimensions."""

def FFT3D(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform along the last three dimensions."""

def FIFOQueue(
    *,
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in the order in which they came."""

def FIFOQueueV2(
    *,
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in the order in which they came."""

def Fact(*, name: str | None = None) -> Tensor:
    """A fact about factorials."""

def FakeParam(*, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A result that a function must have but that is never used."""

def FakeQuantWithMinMaxArgs(
    *,
    inputs: TensorLike,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Values that are rounded to those that a few bits tell apart, in a range that attrs say."""

def FakeQuantWithMinMaxArgsGradient(
    *,
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`FakeQuantWithMinMaxArgs`]: what flows where the values lie in the range."""

def FakeQuantWithMinMaxVars(
    *,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Values that are rounded to those that a few bits tell apart, in a range that inputs say."""

def FakeQuantWithMinMaxVarsGradient(
    *,
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> _outputs.FakeQuantWithMinMaxVarsGradient:
    """The gradient of [`FakeQuantWithMinMaxVars`]."""

def FakeQuantWithMinMaxVarsPerChannel(
    *,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`FakeQuantWithMinMaxVars`] with a range for each channel, which is the last dimension."""

def FakeQuantWithMinMaxVarsPerChannelGradient(
    *,
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> _outputs.FakeQuantWithMinMaxVarsPerChannelGradient:
    """The gradient of [`FakeQuantWithMinMaxVarsPerChannel`]."""

def FakeQueue(*, resource: TensorLike, name: str | None = None) -> Tensor:
    """The queue behind a resource handle as a reference, for ops that take one."""

def Fill(*, dims: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """A tensor of the given shape with one value in every place."""

def FilterByLastComponentDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements whose last component is true, without it."""

def FilterDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    predicate: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements for which a function is true."""

def FinalizeDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    has_captured_ref: bool = False,
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def Fingerprint(*, data: TensorLike, method: TensorLike, name: str | None = None) -> Tensor:
    """A fingerprint of each row of `data`, eight bytes in little-endian order."""

def FixedLengthRecordDataset(
    *,
    filenames: TensorLike,
    header_bytes: TensorLike,
    record_bytes: TensorLike,
    footer_bytes: TensorLike,
    buffer_size: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The records of files, which all have one length."""

def FixedLengthRecordDatasetV2(
    *,
    filenames: TensorLike,
    header_bytes: TensorLike,
    record_bytes: TensorLike,
    footer_bytes: TensorLike,
    buffer_size: TensorLike,
    compression_type: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The records of files, which all have one length."""

def FixedLengthRecordReader(
    *,
    record_bytes: int,
    header_bytes: int = 0,
    footer_bytes: int = 0,
    hop_bytes: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of records of one length: a record's key is the file's name, a colon, and its number, from 0."""

def FixedLengthRecordReaderV2(
    *,
    record_bytes: int,
    header_bytes: int = 0,
    footer_bytes: int = 0,
    hop_bytes: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    encoding: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of records of one length: a record's key is the file's name, a colon, and its number, from 0."""

def FixedUnigramCandidateSampler(
    *,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str | bytes = '',
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = [],
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.FixedUnigramCandidateSampler:
    """Candidates of given likelihood, from a file or a list."""

def FlatMapDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, one dataset after the other."""

def Floor(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The greatest integer that is not above `x`."""

def FloorDiv(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient rounded down, `floor(x / y)`. Dividing integers by zero is an error. The shapes broadcast."""

def FloorMod(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """What [`FloorDiv`] leaves: `x - floor(x / y) * y`, with the sign of `y`. For integers a zero `y` is an error. The shapes broadcast."""

def FlushSummaryWriter(*, writer: TensorLike, name: str | None = None) -> Effect:
    """Writes what waits."""

def For(
    *,
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    input: Sequence[TensorLike],
    body: FunctionLike,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `body` with each number from `start` to `limit`, without it, in steps of `delta`, and with what it gave before."""

def FractionalAvgPool(
    *,
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.FractionalAvgPool:
    """The mean of each window of random size."""

def FractionalAvgPoolGrad(
    *,
    orig_input_tensor_shape: TensorLike,
    out_backprop: TensorLike,
    row_pooling_sequence: TensorLike,
    col_pooling_sequence: TensorLike,
    overlapping: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `FractionalAvgPool`: each element of `out_backprop` is shared evenly by what its window covered."""

def FractionalMaxPool(
    *,
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.FractionalMaxPool:
    """The greatest element in each window of random size."""

def FractionalMaxPoolGrad(
    *,
    orig_input: TensorLike,
    orig_output: TensorLike,
    out_backprop: TensorLike,
    row_pooling_sequence: TensorLike,
    col_pooling_sequence: TensorLike,
    overlapping: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `FractionalMaxPool`: each element of `out_backprop` goes to where its window's greatest element stood."""

def FresnelCos(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's cosine integral: that of `cos(πt²/2)` from 0 to `x`."""

def FresnelSin(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's sine integral: that of `sin(πt²/2)` from 0 to `x`."""

def FusedBatchNorm(
    *,
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    is_training: bool = True,
    name: str | None = None,
) -> _outputs.FusedBatchNorm:
    """Each channel of `x` brought to mean 0 and variance 1, then to `scale` and `offset`: `y = (x - mean) / sqrt(variance + epsilon) * scale + offset`."""

def FusedBatchNormGrad(
    *,
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    epsilon: float = 0.0001,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    is_training: bool = True,
    name: str | None = None,
) -> _outputs.FusedBatchNormGrad:
    """The gradient of `FusedBatchNorm`."""

def FusedBatchNormGradV2(
    *,
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    epsilon: float = 0.0001,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    is_training: bool = True,
    name: str | None = None,
) -> _outputs.FusedBatchNormGradV2:
    """The gradient of `FusedBatchNormV2`."""

def FusedBatchNormGradV3(
    *,
    y_backprop: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    reserve_space_1: TensorLike,
    reserve_space_2: TensorLike,
    reserve_space_3: TensorLike,
    epsilon: float = 0.0001,
    data_format: Literal['NHWC', 'NCHW', 'NDHWC', 'NCDHW'] = 'NHWC',
    is_training: bool = True,
    name: str | None = None,
) -> _outputs.FusedBatchNormGradV3:
    """The gradient of `FusedBatchNormV3`."""

def FusedBatchNormV2(
    *,
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    is_training: bool = True,
    name: str | None = None,
) -> _outputs.FusedBatchNormV2:
    """[`FusedBatchNorm`] in which `x` may be narrower than the statistics, which are `U`."""

def FusedBatchNormV3(
    *,
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: Literal['NHWC', 'NCHW', 'NDHWC', 'NCDHW'] = 'NHWC',
    is_training: bool = True,
    name: str | None = None,
) -> _outputs.FusedBatchNormV3:
    """[`FusedBatchNormV2`] for four or five dimensions, with one more output for the gradient."""

def FusedPadConv2D(
    *,
    input: TensorLike,
    paddings: TensorLike,
    filter: TensorLike,
    mode: Literal['REFLECT', 'SYMMETRIC'],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """`Conv2D` of mirror-padded images."""

def FusedResizeAndPadConv2D(
    *,
    input: TensorLike,
    size: TensorLike,
    paddings: TensorLike,
    filter: TensorLike,
    mode: Literal['REFLECT', 'SYMMETRIC'],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    resize_align_corners: bool = False,
    name: str | None = None,
) -> Tensor:
    """`Conv2D` of images that are resized by linear interpolation, and then mirror-padded."""

def GRUBlockCell(
    *,
    x: TensorLike,
    h_prev: TensorLike,
    w_ru: TensorLike,
    w_c: TensorLike,
    b_ru: TensorLike,
    b_c: TensorLike,
    name: str | None = None,
) -> _outputs.GRUBlockCell:
    """One step of a gated recurrent unit, for a batch."""

def GRUBlockCellGrad(
    *,
    x: TensorLike,
    h_prev: TensorLike,
    w_ru: TensorLike,
    w_c: TensorLike,
    b_ru: TensorLike,
    b_c: TensorLike,
    r: TensorLike,
    u: TensorLike,
    c: TensorLike,
    d_h: TensorLike,
    name: str | None = None,
) -> _outputs.GRUBlockCellGrad:
    """The gradient of [`GRUBlockCell`]: those of weights and biases are products of `d_c_bar` and `d_r_bar_u_bar`."""

def Gather(
    *,
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Slices of `params` along its first dimension, by index: `output[i…, j…] = params[indices[i…], j…]`."""

def GatherNd(
    *,
    params: TensorLike,
    indices: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Slices of `params` by index vectors: the last dimension of `indices` holds indices for the first dimensions of `params`."""

def GatherV2(
    *,
    params: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """Slices of `params` along `axis`, by index."""

def GenerateVocabRemapping(
    *,
    new_vocab_file: TensorLike,
    old_vocab_file: TensorLike,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int = -1,
    name: str | None = None,
) -> _outputs.GenerateVocabRemapping:
    """Where the words of a new vocabulary stand in an old one."""

def GeneratorDataset(
    *,
    init_func_other_args: Sequence[TensorLike],
    next_func_other_args: Sequence[TensorLike],
    finalize_func_other_args: Sequence[TensorLike],
    init_func: FunctionLike,
    next_func: FunctionLike,
    finalize_func: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What a function gives again and again, until it says OUT_OF_RANGE."""

def GetElementAtIndex(
    *,
    dataset: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The element of a dataset in some place."""

def GetOptions(*, input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """The options of a dataset."""

def GetSessionHandle(*, value: TensorLike, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session and names it."""

def GetSessionHandleV2(*, value: TensorLike, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session and names it."""

def GetSessionTensor(*, handle: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor that the session keeps under a name."""

def GlobalShuffleDataset(
    *,
    input_dataset: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    seed_generator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reshuffle_each_iteration: bool = True,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset in random order, without any of them being held: all that the dataset is made of gives elements by their places."""

def Greater(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x > y`. The shapes broadcast."""

def GreaterEqual(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x >= y`. The shapes broadcast."""

def GroupByReducerDataset(
    *,
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike],
    init_func_other_arguments: Sequence[TensorLike],
    reduce_func_other_arguments: Sequence[TensorLike],
    finalize_func_other_arguments: Sequence[TensorLike],
    key_func: FunctionLike,
    init_func: FunctionLike,
    reduce_func: FunctionLike,
    finalize_func: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """What is made of all elements of the same key."""

def GroupByWindowDataset(
    *,
    input_dataset: TensorLike,
    key_func_other_arguments: Sequence[TensorLike],
    reduce_func_other_arguments: Sequence[TensorLike],
    window_size_func_other_arguments: Sequence[TensorLike],
    key_func: FunctionLike,
    reduce_func: FunctionLike,
    window_size_func: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements of the same key, reduced in windows. Windows that are not full at the end are reduced as they are, by ascending key."""

def GuaranteeConst(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Passes `input` on; the graph's author promises that it is the same in each run."""

def HSVToRGB(*, images: TensorLike, name: str | None = None) -> Tensor:
    """Red, green and blue of colours whose parts are hue, saturation and value."""

def HashTable(
    *,
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that is filled once."""

def HashTableV2(
    *,
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that is filled once."""

def HistogramFixedWidth(
    *,
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike,
    dtype: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values lie in each of `nbins` parts of equal width between two bounds; those beyond a bound count in the part next to it."""

def HistogramSummary(*, tag: TensorLike, values: TensorLike, name: str | None = None) -> Tensor:
    """A summary with a histogram of all values, which must be finite."""

def HostConst(*, value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """[`Const`] in the memory of the host, wherever the node is."""

def IFFT(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform along the last dimension."""

def IFFT2D(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform along the last two dimensions."""

def IFFT3D(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform along the last three dimensions."""

def IRFFT(
    *,
    input: TensorLike,
    fft_length: TensorLike,
    Treal: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The real numbers whose Fourier transform along the last dimension has the half that is given."""

def IRFFT2D(
    *,
    input: TensorLike,
    fft_length: TensorLike,
    Treal: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The real numbers whose Fourier transform along the last two dimensions has the half that is given."""

def IRFFT3D(
    *,
    input: TensorLike,
    fft_length: TensorLike,
    Treal: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The real numbers whose Fourier transform along the last three dimensions has the half that is given."""

def Identity(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Passes `input` on, without copying it."""

def IdentityN(*, input: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Passes a list of tensors on, without copying them."""

def IdentityReader(*, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of what it takes from the queue itself: key and value are both that."""

def IdentityReaderV2(*, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of what it takes from the queue itself: key and value are both that."""

def If(
    *,
    cond: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    then_branch: FunctionLike,
    else_branch: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls `then_branch` with `input` if `cond` holds, and `else_branch` if not."""

def Igamma(*, a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower regularised incomplete gamma function, `P(a, x)`."""

def IgammaGradA(*, a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of [`Igamma`] by `a`."""

def Igammac(*, a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper regularised incomplete gamma function, `Q(a, x) = 1 - P(a, x)`."""

def IgnoreErrorsDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    log_warning: bool = False,
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset that can be made."""

def Imag(*, input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The imaginary part."""

def ImageProjectiveTransformV2(
    *,
    images: TensorLike,
    transforms: TensorLike,
    output_shape: TensorLike,
    interpolation: str | bytes,
    fill_mode: str | bytes = 'CONSTANT',
    name: str | None = None,
) -> Tensor:
    """Images seen through projective transforms; outside of them is 0."""

def ImageProjectiveTransformV3(
    *,
    images: TensorLike,
    transforms: TensorLike,
    output_shape: TensorLike,
    fill_value: TensorLike,
    interpolation: str | bytes,
    fill_mode: str | bytes = 'CONSTANT',
    name: str | None = None,
) -> Tensor:
    """Images seen through projective transforms."""

def ImageSummary(
    *,
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int = 3,
    bad_color: TensorLike = ...,
    name: str | None = None,
) -> Tensor:
    """A summary with images, as PNG. Its kernel comes with the feature `image_codecs`."""

def ImmutableConst(
    *,
    dtype: DTypeLike,
    shape: ShapeLike,
    memory_region_name: str | bytes,
    name: str | None = None,
) -> Tensor:
    """The bytes of a file as a tensor."""

def ImportEvent(*, writer: TensorLike, event: TensorLike, name: str | None = None) -> Effect:
    """Adds an `Event` message, serialized."""

def InTopK(*, predictions: TensorLike, targets: TensorLike, k: int, name: str | None = None) -> Tensor:
    """For each row, whether the target's prediction is among the `k` greatest."""

def InTopKV2(*, predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """[`InTopK`] with `k` as an input."""

def IndexFlatMapDataset(
    *,
    input_dataset: TensorLike,
    map_func_other_args: Sequence[TensorLike],
    index_map_func_other_args: Sequence[TensorLike],
    output_cardinality: TensorLike,
    map_func: FunctionLike,
    index_map_func: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The rows of what a function makes of each element, in the order that another function says."""

def InitializeTable(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Fills a table that is filled once."""

def InitializeTableFromDataset(*, table_handle: TensorLike, dataset: TensorLike, name: str | None = None) -> Effect:
    """Fills a lookup table with the elements of a dataset, pairs of a key and its value, unless it was filled before."""

def InitializeTableFromTextFile(
    *,
    table_handle: TensorLike,
    filename: TensorLike,
    key_index: int,
    value_index: int,
    vocab_size: int = -1,
    delimiter: str | bytes = '\t',
    offset: int = 0,
    name: str | None = None,
) -> Effect:
    """Fills a table that is filled once from the lines of a text file."""

def InitializeTableFromTextFileV2(
    *,
    table_handle: TensorLike,
    filename: TensorLike,
    key_index: int,
    value_index: int,
    vocab_size: int = -1,
    delimiter: str | bytes = '\t',
    offset: int = 0,
    name: str | None = None,
) -> Effect:
    """Fills a table that is filled once from the lines of a text file."""

def InitializeTableV2(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Fills a table that is filled once."""

def InplaceAdd(*, x: TensorLike, i: TensorLike, v: TensorLike, name: str | None = None) -> Tensor:
    """`x` with those of `v` added to the rows `i`. What else holds `x` does not change."""

def InplaceSub(*, x: TensorLike, i: TensorLike, v: TensorLike, name: str | None = None) -> Tensor:
    """`x` with those of `v` subtracted from the rows `i`. What else holds `x` does not change."""

def InplaceUpdate(*, x: TensorLike, i: TensorLike, v: TensorLike, name: str | None = None) -> Tensor:
    """`x` with the rows `i` replaced by those of `v`. What else holds `x` does not change."""

def InterleaveDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    cycle_length: TensorLike,
    block_length: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, of several datasets in turn."""

def Inv(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal, `1 / x`: the older name of [`Reciprocal`]."""

def InvGrad(*, y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Inv`, an older name of `Reciprocal`: `-dy * y²`. Of complex numbers the conjugate of `y` counts."""

def Invert(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Every bit flipped: `!x` in Rust's terms."""

def InvertPermutation(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: `y[x[i]] = i`."""

def IsFinite(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is neither infinite nor NaN."""

def IsInf(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is +∞ or −∞."""

def IsNan(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is NaN."""

def IsVariableInitialized(*, ref: TensorLike, name: str | None = None) -> Tensor:
    """Whether a variable has a value."""

def IsotonicRegression(
    *,
    input: TensorLike,
    output_dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> _outputs.IsotonicRegression:
    """The sequences that do not rise and whose squared distances to those along the last dimension are least."""

def Iterator(
    *,
    shared_name: str | bytes,
    container: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator, which `MakeIterator` sets to a dataset."""

def IteratorFromStringHandle(
    *,
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] = [],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> Tensor:
    """The iterator that a string names."""

def IteratorFromStringHandleV2(
    *,
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] = [],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> Tensor:
    """The iterator that a string names."""

def IteratorGetDevice(*, resource: TensorLike, name: str | None = None) -> Tensor:
    """The device of an iterator."""

def IteratorGetModelProto(*, iterator: TensorLike, name: str | None = None) -> Tensor:
    """The model by which an iterator is tuned: NOT_FOUND, as none is."""

def IteratorGetNext(
    *,
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The next element of an iterator; OUT_OF_RANGE at the end."""

def IteratorGetNextAsOptional(
    *,
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The next element of an iterator as an optional, which is empty at the end."""

def IteratorGetNextSync(
    *,
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The next element of an iterator; OUT_OF_RANGE at the end."""

def IteratorToStringHandle(*, resource_handle: TensorLike, name: str | None = None) -> Tensor:
    """The name of an iterator as a string."""

def IteratorV2(
    *,
    shared_name: str | bytes,
    container: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator, which `MakeIterator` sets to a dataset."""

def KMC2ChainInitialization(*, distances: TensorLike, seed: TensorLike, name: str | None = None) -> Tensor:
    """Picks one of several candidates, with a chance that grows with its distance, by a Markov chain."""

def KmeansPlusPlusInitialization(
    *,
    points: TensorLike,
    num_to_sample: TensorLike,
    seed: TensorLike,
    num_retries_per_sample: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Picks points that are far from one another as first centres of clusters: k-means++."""

def L2Loss(*, t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of all squares, `sum(t²) / 2`: a scalar."""

def LRN(
    *,
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Local response normalisation: each element divided by a power of the sum of squares in its neighbouring channels."""

def LRNGrad(
    *,
    input_grads: TensorLike,
    input_image: TensorLike,
    output_image: TensorLike,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`LRN`]."""

def LSTMBlockCell(
    *,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    forget_bias: float = 1.0,
    cell_clip: float = 3.0,
    use_peephole: bool = False,
    name: str | None = None,
) -> _outputs.LSTMBlockCell:
    """One step of a recurrent cell with long short-term memory, for a batch."""

def LSTMBlockCellGrad(
    *,
    x: TensorLike,
    cs_prev: TensorLike,
    h_prev: TensorLike,
    w: TensorLike,
    wci: TensorLike,
    wcf: TensorLike,
    wco: TensorLike,
    b: TensorLike,
    i: TensorLike,
    cs: TensorLike,
    f: TensorLike,
    o: TensorLike,
    ci: TensorLike,
    co: TensorLike,
    cs_grad: TensorLike,
    h_grad: TensorLike,
    use_peephole: bool,
    name: str | None = None,
) -> _outputs.LSTMBlockCellGrad:
    """The gradient of [`LSTMBlockCell`], as far as it follows element by element: those of `x`, `h_prev`, `w` and `b` are products of `dicfo`."""

def LatencyStatsDataset(
    *,
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `SetStatsAggregatorDataset` is told how long each takes."""

def LeakyRelu(*, features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where positive, `alpha * features` elsewhere."""

def LeakyReluGrad(
    *,
    gradients: TensorLike,
    features: TensorLike,
    alpha: float = 0.2,
    name: str | None = None,
) -> Tensor:
    """The gradient of `LeakyRelu`: `gradients` where `features` is positive, `alpha * gradients` elsewhere."""

def LearnedUnigramCandidateSampler(
    *,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.LearnedUnigramCandidateSampler:
    """Candidates as likely as they were among the true classes of earlier runs, each counted once more than it was there."""

def LeftShift(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits of `x` moved up by `y`, zeros following. `y` is first clamped to 0 … bits − 1. The shapes broadcast."""

def LegacyParallelInterleaveDatasetV2(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    cycle_length: TensorLike,
    block_length: TensorLike,
    buffer_output_elements: TensorLike,
    prefetch_input_elements: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    deterministic: str | bytes = 'default',
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead."""

def Less(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x < y`. The shapes broadcast."""

def LessEqual(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x <= y`. The shapes broadcast."""

def Lgamma(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""

def LinSpace(*, start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None) -> Tensor:
    """`num` numbers at equal distances from `start` to `stop`, both included; all are scalars."""

def ListDataset(
    *,
    tensors: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements that are given one after the other."""

def ListDiff(
    *,
    x: TensorLike,
    y: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.ListDiff:
    """The elements of `x` that do not occur in `y`, in their order and as often as they occur, and where they stood."""

def ListSnapshotChunksDataset(
    *,
    snapshot_path: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The files of a snapshot that several processes write, by their indices, then by their streams."""

def LoadAndRemapMatrix(
    *,
    ckpt_path: TensorLike,
    old_tensor_name: TensorLike,
    row_remapping: TensorLike,
    col_remapping: TensorLike,
    initializing_values: TensorLike,
    num_rows: int,
    num_cols: int,
    max_rows_in_memory: int = -1,
    name: str | None = None,
) -> Tensor:
    """Reads a matrix from a checkpoint, with its rows and columns in another order, and new ones among them."""

def LoadDataset(
    *,
    path: TensorLike,
    reader_func_other_args: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reader_func: FunctionLike,
    compression: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a folder that `SaveDataset` wrote."""

def Log(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm. −∞ at zero, NaN below."""

def Log1p(*, x: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + x)`, precise where `x` is near zero."""

def LogMatrixDeterminant(*, input: TensorLike, name: str | None = None) -> _outputs.LogMatrixDeterminant:
    """The determinants of matrices as signs and logarithms: `det(input) = sign * exp(log_abs_determinant)`."""

def LogSoftmax(*, logits: TensorLike, name: str | None = None) -> Tensor:
    """The logarithms of what [`Softmax`] gives, computed without going through it. The rank is at least 1."""

def LogUniformCandidateSampler(
    *,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.LogUniformCandidateSampler:
    """Candidates of which small numbers are more likely: `P(class) = ln((class + 2) / (class + 1)) / ln(range_max + 1)`."""

def LogicalAnd(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether both are true. The shapes broadcast."""

def LogicalNot(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The opposite of a bool."""

def LogicalOr(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether at least one is true. The shapes broadcast."""

def LookupTableExport(
    *,
    table_handle: TensorLike,
    Tkeys: DTypeLike,
    Tvalues: DTypeLike,
    name: str | None = None,
) -> _outputs.LookupTableExport:
    """All entries of a table, in no particular order."""

def LookupTableExportV2(
    *,
    table_handle: TensorLike,
    Tkeys: DTypeLike,
    Tvalues: DTypeLike,
    name: str | None = None,
) -> _outputs.LookupTableExportV2:
    """All entries of a table, in no particular order."""

def LookupTableFind(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The values to which `keys` lead in a table, and `default_value` for keys that it lacks."""

def LookupTableFindV2(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The values to which `keys` lead in a table, and `default_value` for keys that it lacks."""

def LookupTableImport(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Replaces all entries of a table."""

def LookupTableImportV2(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Replaces all entries of a table."""

def LookupTableInsert(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds entries to a table; keys that it has get new values."""

def LookupTableInsertV2(
    *,
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds entries to a table; keys that it has get new values."""

def LookupTableRemoveV2(*, table_handle: TensorLike, keys: TensorLike, name: str | None = None) -> Effect:
    """Takes the entries of `keys` out of a table, as far as it has them."""

def LookupTableSize(*, table_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of entries of a table."""

def LookupTableSizeV2(*, table_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of entries of a table."""

def LoopCond(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Passes on whether the loop goes on."""

def LowerBound(
    *,
    sorted_inputs: TensorLike,
    values: TensorLike,
    out_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The first place in a sorted row at which a value can be inserted so that the row stays sorted."""

def Lu(*, input: TensorLike, output_idx_type: DTypeLike = _dtypes.int32, name: str | None = None) -> _outputs.Lu:
    """Triangular matrices and permutations of rows for which `input[p] = L U`."""

def MakeIterator(*, dataset: TensorLike, iterator: TensorLike, name: str | None = None) -> Effect:
    """Sets an iterator to the beginning of a dataset."""

def MapAndBatchDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    batch_size: TensorLike,
    num_parallel_calls: TensorLike,
    drop_remainder: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element, several at a time, stacked along a new first dimension."""

def MapClear(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Takes everything out of a staging area with keys."""

def MapDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool = True,
    preserve_cardinality: bool = False,
    force_synchronous: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element."""

def MapDefun(
    *,
    arguments: Sequence[TensorLike],
    captured_inputs: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    f: FunctionLike,
    max_intra_op_parallelism: int = 1,
    name: str | None = None,
) -> list[Tensor]:
    """What a function makes of the rows of tensors, stacked."""

def MapIncompleteSize(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of elements in a staging area with keys that lack components."""

def MapPeek(
    *,
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """The tensors under a key of a staging area with keys, which stay there; waits until they are complete."""

def MapSize(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of complete elements in a staging area with keys."""

def MapStage(
    *,
    key: TensorLike,
    indices: TensorLike,
    values: Sequence[TensorLike],
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Puts tensors into a staging area with keys; waits while it is full."""

def MapUnstage(
    *,
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Takes the tensors under a key out of a staging area with keys; waits until they are complete."""

def MapUnstageNoKey(
    *,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> _outputs.MapUnstageNoKey:
    """Takes the tensors under any key out of a staging area with keys; waits until there are some."""

def MatMul(
    *,
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices: `[m, k] × [k, n] → [m, n]`."""

def MatchingFiles(*, pattern: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that patterns stand for, sorted."""

def MatchingFilesDataset(*, patterns: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match patterns, in order."""

def MatrixBandPart(
    *,
    input: TensorLike,
    num_lower: TensorLike,
    num_upper: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Matrices with everything outside a band around the main diagonal set to zero."""

def MatrixDeterminant(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The determinants of matrices."""

def MatrixDiag(*, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Square matrices of zeros with the rows of `diagonal` on their diagonals."""

def MatrixDiagPart(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonals of matrices."""

def MatrixDiagPartV2(*, input: TensorLike, k: TensorLike, padding_value: TensorLike, name: str | None = None) -> Tensor:
    """Some diagonals of matrices; each stands from the left, padded on the right."""

def MatrixDiagPartV3(
    *,
    input: TensorLike,
    k: TensorLike,
    padding_value: TensorLike,
    align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] = 'RIGHT_LEFT',
    name: str | None = None,
) -> Tensor:
    """Some diagonals of matrices."""

def MatrixDiagV2(
    *,
    diagonal: TensorLike,
    k: TensorLike,
    num_rows: TensorLike,
    num_cols: TensorLike,
    padding_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Matrices of `padding_value` with given diagonals; each is stored from the left, padded on the right."""

def MatrixDiagV3(
    *,
    diagonal: TensorLike,
    k: TensorLike,
    num_rows: TensorLike,
    num_cols: TensorLike,
    padding_value: TensorLike,
    align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] = 'RIGHT_LEFT',
    name: str | None = None,
) -> Tensor:
    """Matrices of `padding_value` with given diagonals."""

def MatrixExponential(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The exponentials of matrices: `I + A + A² / 2 + …`."""

def MatrixInverse(*, input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of matrices."""

def MatrixLogarithm(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithms of matrices, whose exponentials they are."""

def MatrixSetDiag(*, input: TensorLike, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """The matrices of `input` with the rows of `diagonal` on their diagonals."""

def MatrixSetDiagV2(*, input: TensorLike, diagonal: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """The matrices of `input` with some diagonals replaced; each is stored from the left."""

def MatrixSetDiagV3(
    *,
    input: TensorLike,
    diagonal: TensorLike,
    k: TensorLike,
    align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] = 'RIGHT_LEFT',
    name: str | None = None,
) -> Tensor:
    """The matrices of `input` with some diagonals replaced."""

def MatrixSolve(*, matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solutions of `matrix x = rhs`."""

def MatrixSolveLs(
    *,
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The solutions of `matrix x = rhs` by least squares; where there are many, the shortest."""

def MatrixSquareRoot(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square roots of matrices, whose eigenvalues are to the right of zero."""

def MatrixTriangularSolve(
    *,
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions of `matrix x = rhs` for triangular matrices."""

def Max(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The greatest element over some dimensions. Of nothing it is the dtype's least value."""

def MaxIntraOpParallelismDataset(
    *,
    input_dataset: TensorLike,
    max_intra_op_parallelism: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def MaxPool(
    *,
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The greatest element in each window."""

def MaxPool3D(
    *,
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The greatest element in each window of volumes."""

def MaxPool3DGrad(
    *,
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`MaxPool3D`]. Of equal elements each takes the whole of what flows back."""

def MaxPool3DGradGrad(
    *,
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`MaxPool3DGrad`] with respect to `grad`: what flows to the first of the greatest elements."""

def MaxPoolGrad(
    *,
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of `MaxPool`: each element of `grad` goes to where its window's greatest element stood."""

def MaxPoolGradGrad(
    *,
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of `MaxPoolGrad` with respect to `grad`: of each window the element of `grad` where the greatest stood."""

def MaxPoolGradGradV2(
    *,
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """As `MaxPoolGradGrad`, with the window's size and step as inputs."""

def MaxPoolGradV2(
    *,
    orig_input: TensorLike,
    orig_output: TensorLike,
    grad: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of `MaxPoolV2`: as `MaxPoolGrad`, with the window's size and step as inputs."""

def MaxPoolGradWithArgmax(
    *,
    input: TensorLike,
    grad: TensorLike,
    argmax: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `MaxPoolWithArgmax`: each element of `grad` goes to where `argmax` says."""

def MaxPoolV2(
    *,
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The greatest element in each window, whose size and step are inputs."""

def MaxPoolWithArgmax(
    *,
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    Targmax: DTypeLike = _dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> _outputs.MaxPoolWithArgmax:
    """The greatest element in each window, and where it stood."""

def Maximum(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The greater of `x` and `y`; NaN if either is NaN. The shapes broadcast."""

def Mean(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The arithmetic mean over some dimensions. Of nothing it is NaN, or 0. That of integers is rounded towards zero."""

def Merge(*, inputs: Sequence[TensorLike], name: str | None = None) -> _outputs.Merge:
    """Passes on the first of its inputs that arrives alive, and which one that was."""

def MergeSummary(*, inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The values of several summaries in one; no tag may stand twice."""

def MergeV2Checkpoints(
    *,
    checkpoint_prefixes: TensorLike,
    destination_prefix: TensorLike,
    delete_old_dirs: bool = True,
    allow_missing_files: bool = False,
    name: str | None = None,
) -> Effect:
    """Makes one checkpoint of several: their data files are renamed, their indices become one."""

def Mfcc(
    *,
    spectrogram: TensorLike,
    sample_rate: TensorLike,
    upper_frequency_limit: float = 4000.0,
    lower_frequency_limit: float = 20.0,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
    name: str | None = None,
) -> Tensor:
    """The mel-frequency cepstrum of spectrograms."""

def Min(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The least element over some dimensions. Of nothing it is the dtype's greatest value."""

def Minimum(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The lesser of `x` and `y`; NaN if either is NaN. The shapes broadcast."""

def MirrorPad(
    *,
    input: TensorLike,
    paddings: TensorLike,
    mode: Literal['REFLECT', 'SYMMETRIC'],
    name: str | None = None,
) -> Tensor:
    """`input` with its own reflection added around it."""

def MirrorPadGrad(
    *,
    input: TensorLike,
    paddings: TensorLike,
    mode: Literal['REFLECT', 'SYMMETRIC'],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`MirrorPad`](crate::MirrorPad): what was padded is cut off and added to what it mirrored."""

def Mod(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """What [`TruncateDiv`] leaves, with the sign of `x`: C's `%` and `fmod`. For integers a zero `y` is an error. The shapes broadcast."""

def ModelDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    algorithm: int = 0,
    cpu_budget: int = 0,
    ram_budget: int = 0,
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def Mul(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The product, `x * y`. Integers wrap. The shapes broadcast."""

def MulNoNan(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The product, `x * y`, but 0 wherever `y` is 0, even if `x` is infinite or NaN. The shapes broadcast."""

def MultiDeviceIterator(
    *,
    devices: Sequence[str | bytes],
    shared_name: str | bytes,
    container: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator whose elements several devices get in turn."""

def MultiDeviceIteratorFromStringHandle(
    *,
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] = [],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> Tensor:
    """The iterator of several devices that a string names."""

def MultiDeviceIteratorGetNextFromShard(
    *,
    multi_device_iterator: TensorLike,
    shard_num: TensorLike,
    incarnation_id: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The next element of a device; OUT_OF_RANGE at the end."""

def MultiDeviceIteratorInit(
    *,
    dataset: TensorLike,
    multi_device_iterator: TensorLike,
    max_buffer_size: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Sets an iterator of several devices to the beginning of a dataset."""

def MultiDeviceIteratorToStringHandle(*, multi_device_iterator: TensorLike, name: str | None = None) -> Tensor:
    """The name of an iterator of several devices as a string."""

def Multinomial(
    *,
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random classes, each as likely as its logit says."""

def MutableDenseHashTable(
    *,
    empty_key: TensorLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    value_shape: ShapeLike = [],
    initial_num_buckets: int = 131072,
    max_load_factor: float = 0.8,
    name: str | None = None,
) -> Tensor:
    """A table from keys, which may be vectors, to values or vectors, in one block of memory."""

def MutableDenseHashTableV2(
    *,
    empty_key: TensorLike,
    deleted_key: TensorLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    value_shape: ShapeLike = [],
    initial_num_buckets: int = 131072,
    max_load_factor: float = 0.8,
    name: str | None = None,
) -> Tensor:
    """A table from keys, which may be vectors, to values or vectors, in one block of memory."""

def MutableHashTable(
    *,
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that can be changed at any time."""

def MutableHashTableOfTensors(
    *,
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    value_shape: ShapeLike = [],
    name: str | None = None,
) -> Tensor:
    """A table from keys to vectors that can be changed at any time."""

def MutableHashTableOfTensorsV2(
    *,
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    value_shape: ShapeLike = [],
    name: str | None = None,
) -> Tensor:
    """A table from keys to vectors that can be changed at any time."""

def MutableHashTableV2(
    *,
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that can be changed at any time."""

def MutexLock(*, mutex: TensorLike, name: str | None = None) -> Tensor:
    """Waits for a lock and holds it until the output is gone."""

def MutexV2(*, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A lock that one run holds at a time."""

def Ndtri(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The value below which a normally distributed number lies with probability `x`."""

def NearestNeighbors(
    *,
    points: TensorLike,
    centers: TensorLike,
    k: TensorLike,
    name: str | None = None,
) -> _outputs.NearestNeighbors:
    """The nearest centres of each point, the nearest first."""

def Neg(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The negative, `-x`. Integers wrap."""

def NegTrain(
    *,
    w_in: TensorLike,
    w_out: TensorLike,
    examples: TensorLike,
    labels: TensorLike,
    lr: TensorLike,
    vocab_count: Sequence[int],
    num_negative_samples: int,
    name: str | None = None,
) -> Effect:
    """Learns vectors of words from pairs of words, and from words that are drawn at random."""

def NextAfter(*, x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The next number that the dtype has from `x1` towards `x2`. The shapes broadcast."""

def NextIteration(*, data: TensorLike, name: str | None = None) -> Tensor:
    """Takes `data` into the loop's next iteration."""

def NoOp(*, name: str | None = None) -> Effect:
    """Does nothing; control edges to and from it order other nodes."""

def NonDeterministicInts(*, shape: TensorLike, dtype: DTypeLike = _dtypes.int64, name: str | None = None) -> Tensor:
    """Random integers of the whole range of the dtype, different ones each time."""

def NonMaxSuppression(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Which boxes to keep: by falling scores, those that overlap with none that is kept already."""

def NonMaxSuppressionV2(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Which boxes to keep: by falling scores, those that overlap with none that is kept already."""

def NonMaxSuppressionV3(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    name: str | None = None,
) -> Tensor:
    """[`NonMaxSuppressionV2`] of the boxes whose scores are above `score_threshold`."""

def NonMaxSuppressionV4(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> _outputs.NonMaxSuppressionV4:
    """[`NonMaxSuppressionV3`] that says how many boxes were chosen, and may fill up with zeros."""

def NonMaxSuppressionV5(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    soft_nms_sigma: TensorLike,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> _outputs.NonMaxSuppressionV5:
    """Which boxes to keep, where boxes that overlap with kept ones may also lose a part of their scores instead."""

def NonMaxSuppressionWithOverlaps(
    *,
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike,
    score_threshold: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Which boxes to keep, by a matrix of how much they overlap."""

def NonSerializableDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def NotEqual(*, x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: str | None = None) -> Tensor:
    """Whether `x != y`. NaN differs from everything. The shapes broadcast."""

def NthElement(*, input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None) -> Tensor:
    """The element of each row (the last dimension) that would be number `n` if the row were sorted."""

def OneHot(
    *,
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike,
    off_value: TensorLike,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """`indices` with a new dimension that holds `on_value` at the index and `off_value` everywhere else."""

def OneShotIterator(
    *,
    dataset_factory: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """An iterator over the dataset of a function."""

def OnesLike(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Ones in the shape of `x`."""

def OptimizeDataset(
    *,
    input_dataset: TensorLike,
    optimizations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    optimization_configs: Sequence[str | bytes] = [],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is: nothing is rewritten."""

def OptimizeDatasetV2(
    *,
    input_dataset: TensorLike,
    optimizations_enabled: TensorLike,
    optimizations_disabled: TensorLike,
    optimizations_default: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    optimization_configs: Sequence[str | bytes] = [],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is: nothing is rewritten."""

def OptionalFromValue(*, components: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """An optional whose value is a tuple of tensors."""

def OptionalGetValue(
    *,
    optional: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The tensors that an optional holds; without a value it is an error."""

def OptionalHasValue(*, optional: TensorLike, name: str | None = None) -> Tensor:
    """Whether an optional has a value."""

def OptionalNone(*, name: str | None = None) -> Tensor:
    """An optional without a value."""

def OptionsDataset(
    *,
    input_dataset: TensorLike,
    serialized_options: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A dataset with options."""

def OrderedMapClear(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Takes everything out of a staging area ordered by keys."""

def OrderedMapIncompleteSize(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of elements in a staging area ordered by keys that lack components."""

def OrderedMapPeek(
    *,
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """The tensors under a key of a staging area ordered by keys, which stay there; waits until they are complete."""

def OrderedMapSize(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of complete elements in a staging area ordered by keys."""

def OrderedMapStage(
    *,
    key: TensorLike,
    indices: TensorLike,
    values: Sequence[TensorLike],
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Puts tensors into a staging area ordered by keys; waits while it is full."""

def OrderedMapUnstage(
    *,
    key: TensorLike,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Takes the tensors under a key out of a staging area ordered by keys; waits until they are complete."""

def OrderedMapUnstageNoKey(
    *,
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> _outputs.OrderedMapUnstageNoKey:
    """Takes the tensors under the lowest key out of a staging area ordered by keys; waits until there are some."""

def Pack(*, values: Sequence[TensorLike], axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape stacked along a new dimension."""

def Pad(*, input: TensorLike, paddings: TensorLike, name: str | None = None) -> Tensor:
    """`input` with zeros added around it."""

def PadV2(*, input: TensorLike, paddings: TensorLike, constant_values: TensorLike, name: str | None = None) -> Tensor:
    """`input` with `constant_values` added around it."""

def PaddedBatchDataset(
    *,
    input_dataset: TensorLike,
    batch_size: TensorLike,
    padded_shapes: Sequence[TensorLike],
    padding_values: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements padded to one shape and stacked, `batch_size` at a time."""

def PaddedBatchDatasetV2(
    *,
    input_dataset: TensorLike,
    batch_size: TensorLike,
    padded_shapes: Sequence[TensorLike],
    padding_values: Sequence[TensorLike],
    drop_remainder: TensorLike,
    output_shapes: Sequence[ShapeLike],
    parallel_copy: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements padded to one shape and stacked, `batch_size` at a time."""

def PaddingFIFOQueue(
    *,
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in order, those of a batch padded with zeros to one shape."""

def PaddingFIFOQueueV2(
    *,
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in order, those of a batch padded with zeros to one shape."""

def ParallelBatchDataset(
    *,
    input_dataset: TensorLike,
    batch_size: TensorLike,
    num_parallel_calls: TensorLike,
    drop_remainder: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    parallel_copy: bool = False,
    deterministic: str | bytes = 'default',
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements stacked along a new first dimension, `batch_size` at a time."""

def ParallelConcat(*, values: Sequence[TensorLike], shape: ShapeLike, name: str | None = None) -> Tensor:
    """Tensors with one row each, one below the other."""

def ParallelDynamicStitch(
    *,
    indices: Sequence[TensorLike],
    data: Sequence[TensorLike],
    name: str | None = None,
) -> Tensor:
    """Slices of several tensors, each put where its index says; no index should occur twice."""

def ParallelFilterDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    num_parallel_calls: TensorLike,
    predicate: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    deterministic: str | bytes = 'default',
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements for which a function is true; several calls go on at a time."""

def ParallelInterleaveDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    cycle_length: TensorLike,
    block_length: TensorLike,
    sloppy: TensorLike,
    buffer_output_elements: TensorLike,
    prefetch_input_elements: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead."""

def ParallelInterleaveDatasetV2(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    cycle_length: TensorLike,
    block_length: TensorLike,
    num_parallel_calls: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    sloppy: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead."""

def ParallelInterleaveDatasetV3(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    cycle_length: TensorLike,
    block_length: TensorLike,
    num_parallel_calls: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    deterministic: str | bytes = 'default',
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead."""

def ParallelInterleaveDatasetV4(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    cycle_length: TensorLike,
    block_length: TensorLike,
    buffer_output_elements: TensorLike,
    prefetch_input_elements: TensorLike,
    num_parallel_calls: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    deterministic: str | bytes = 'default',
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, of several datasets in turn, which are made ahead."""

def ParallelMapDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    num_parallel_calls: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool = True,
    sloppy: bool = False,
    preserve_cardinality: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element, several at a time."""

def ParallelMapDatasetV2(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    num_parallel_calls: TensorLike,
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool = True,
    deterministic: str | bytes = 'default',
    preserve_cardinality: bool = False,
    use_unbounded_threadpool: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element, several at a time."""

def ParameterizedTruncatedNormal(
    *,
    shape: TensorLike,
    means: TensorLike,
    stdevs: TensorLike,
    minvals: TensorLike,
    maxvals: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of normal distributions that are cut off at both ends."""

def ParseExample(
    *,
    serialized: TensorLike,
    names: TensorLike,
    sparse_keys: Sequence[TensorLike],
    dense_keys: Sequence[TensorLike],
    dense_defaults: Sequence[TensorLike],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> _outputs.ParseExample:
    """The features of serialized Examples as tensors."""

def ParseExampleDataset(
    *,
    input_dataset: TensorLike,
    num_parallel_calls: TensorLike,
    dense_defaults: Sequence[TensorLike],
    sparse_keys: Sequence[str | bytes],
    dense_keys: Sequence[str | bytes],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    sloppy: bool = False,
    ragged_keys: Sequence[str | bytes] = [],
    ragged_value_types: Sequence[DTypeLike] = [],
    ragged_split_types: Sequence[DTypeLike] = [],
    name: str | None = None,
) -> Tensor:
    """Examples parsed to tensors, which are in the order of the features' names; sparse and ragged ones are variants."""

def ParseExampleDatasetV2(
    *,
    input_dataset: TensorLike,
    num_parallel_calls: TensorLike,
    dense_defaults: Sequence[TensorLike],
    sparse_keys: Sequence[str | bytes],
    dense_keys: Sequence[str | bytes],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    deterministic: str | bytes = 'default',
    ragged_keys: Sequence[str | bytes] = [],
    ragged_value_types: Sequence[DTypeLike] = [],
    ragged_split_types: Sequence[DTypeLike] = [],
    name: str | None = None,
) -> Tensor:
    """Examples parsed to tensors, which are in the order of the features' names; sparse and ragged ones are variants."""

def ParseExampleV2(
    *,
    serialized: TensorLike,
    names: TensorLike,
    sparse_keys: TensorLike,
    dense_keys: TensorLike,
    ragged_keys: TensorLike,
    dense_defaults: Sequence[TensorLike],
    num_sparse: int,
    sparse_types: Sequence[DTypeLike],
    ragged_value_types: Sequence[DTypeLike],
    ragged_split_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> _outputs.ParseExampleV2:
    """The features of serialized Examples as tensors, ragged ones too."""

def ParseSequenceExample(
    *,
    serialized: TensorLike,
    debug_name: TensorLike,
    context_dense_defaults: Sequence[TensorLike],
    feature_list_dense_missing_assumed_empty: Sequence[str | bytes],
    context_sparse_keys: Sequence[str | bytes],
    context_dense_keys: Sequence[str | bytes],
    feature_list_sparse_keys: Sequence[str | bytes],
    feature_list_dense_keys: Sequence[str | bytes],
    Ncontext_sparse: int = 0,
    Ncontext_dense: int = 0,
    Nfeature_list_sparse: int = 0,
    Nfeature_list_dense: int = 0,
    context_sparse_types: Sequence[DTypeLike] = [],
    feature_list_dense_types: Sequence[DTypeLike] = [],
    context_dense_shapes: Sequence[ShapeLike] = [],
    feature_list_sparse_types: Sequence[DTypeLike] = [],
    feature_list_dense_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> _outputs.ParseSequenceExample:
    """The features of serialized SequenceExamples as tensors."""

def ParseSequenceExampleV2(
    *,
    serialized: TensorLike,
    debug_name: TensorLike,
    context_sparse_keys: TensorLike,
    context_dense_keys: TensorLike,
    context_ragged_keys: TensorLike,
    feature_list_sparse_keys: TensorLike,
    feature_list_dense_keys: TensorLike,
    feature_list_ragged_keys: TensorLike,
    feature_list_dense_missing_assumed_empty: TensorLike,
    context_dense_defaults: Sequence[TensorLike],
    Ncontext_sparse: int = 0,
    context_sparse_types: Sequence[DTypeLike] = [],
    context_ragged_value_types: Sequence[DTypeLike] = [],
    context_ragged_split_types: Sequence[DTypeLike] = [],
    context_dense_shapes: Sequence[ShapeLike] = [],
    Nfeature_list_sparse: int = 0,
    Nfeature_list_dense: int = 0,
    feature_list_dense_types: Sequence[DTypeLike] = [],
    feature_list_sparse_types: Sequence[DTypeLike] = [],
    feature_list_ragged_value_types: Sequence[DTypeLike] = [],
    feature_list_ragged_split_types: Sequence[DTypeLike] = [],
    feature_list_dense_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> _outputs.ParseSequenceExampleV2:
    """The features of serialized SequenceExamples as tensors, ragged ones too."""

def ParseSingleExample(
    *,
    serialized: TensorLike,
    dense_defaults: Sequence[TensorLike],
    num_sparse: int,
    sparse_keys: Sequence[str | bytes],
    dense_keys: Sequence[str | bytes],
    sparse_types: Sequence[DTypeLike],
    dense_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> _outputs.ParseSingleExample:
    """The features of one serialized Example as tensors."""

def ParseSingleSequenceExample(
    *,
    serialized: TensorLike,
    feature_list_dense_missing_assumed_empty: TensorLike,
    context_sparse_keys: Sequence[TensorLike],
    context_dense_keys: Sequence[TensorLike],
    feature_list_sparse_keys: Sequence[TensorLike],
    feature_list_dense_keys: Sequence[TensorLike],
    context_dense_defaults: Sequence[TensorLike],
    debug_name: TensorLike,
    context_sparse_types: Sequence[DTypeLike] = [],
    feature_list_dense_types: Sequence[DTypeLike] = [],
    context_dense_shapes: Sequence[ShapeLike] = [],
    feature_list_sparse_types: Sequence[DTypeLike] = [],
    feature_list_dense_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> _outputs.ParseSingleSequenceExample:
    """The features of one serialized SequenceExample as tensors."""

def ParseTensor(*, serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor in a serialized TensorProto."""

def PartitionedCall(
    *,
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    config: str | bytes = '',
    config_proto: str | bytes = '',
    executor_type: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Calls `f` with `args`."""

def Placeholder(*, dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """A value that every run has to feed; running it unfed is an error."""

def PlaceholderV2(*, dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The former name of [`Placeholder`], with a shape that must be given."""

def PlaceholderWithDefault(*, input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A value that a run may feed; unfed it is `input`."""

def Polygamma(*, a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of [`Digamma`] of order `a`, a whole number."""

def PopulationCount(*, x: TensorLike, name: str | None = None) -> Tensor:
    """How many bits of `x` are 1."""

def Pow(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x` to the power of `y`. A negative power of an integer is an error. The shapes broadcast."""

def PrefetchDataset(
    *,
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    slack_period: int = 0,
    legacy_autotune: bool = True,
    buffer_size_min: int = 0,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which are made ahead on other threads."""

def PreventGradient(*, input: TensorLike, message: str | bytes = '', name: str | None = None) -> Tensor:
    """Passes `input` on; asking for its gradient is an error with `message`."""

def Print(
    *,
    input: TensorLike,
    data: Sequence[TensorLike],
    message: str | bytes = '',
    first_n: int = -1,
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """`input` itself; the values of `data` go to the standard error."""

def PrintV2(
    *,
    input: TensorLike,
    output_stream: str | bytes = 'stderr',
    end: str | bytes = '\n',
    name: str | None = None,
) -> Effect:
    """Prints a string."""

def PriorityQueue(
    *,
    shapes: Sequence[ShapeLike],
    component_types: Sequence[DTypeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements by their first component, the lowest first, an `int64` that `component_types` leaves out."""

def PriorityQueueV2(
    *,
    shapes: Sequence[ShapeLike],
    component_types: Sequence[DTypeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements by their first component, the lowest first, an `int64` that `component_types` leaves out."""

def PrivateThreadPoolDataset(
    *,
    input_dataset: TensorLike,
    num_threads: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def Prod(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The product over some dimensions. Of nothing it is 1. Integers wrap."""

def Qr(*, input: TensorLike, full_matrices: bool = False, name: str | None = None) -> _outputs.Qr:
    """Unitary matrices `q` and upper triangular matrices `r` for which `input = q r`."""

def QuantizeAndDequantize(
    *,
    input: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    input_min: float = 0.0,
    input_max: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Values that are quantized and turned back, in a range that attrs say or that of the values."""

def QuantizeAndDequantizeV2(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: Literal['HALF_TO_EVEN', 'HALF_UP'] = 'HALF_TO_EVEN',
    narrow_range: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Values that are quantized and turned back, in a range that inputs say or that of the values."""

def QuantizeAndDequantizeV3(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    num_bits: TensorLike,
    signed_input: bool = True,
    range_given: bool = True,
    narrow_range: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """[`QuantizeAndDequantizeV2`] whose number of bits is an input; a half becomes the even number."""

def QuantizeAndDequantizeV4(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: Literal['HALF_TO_EVEN', 'HALF_UP'] = 'HALF_TO_EVEN',
    narrow_range: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """[`QuantizeAndDequantizeV2`] whose gradient stops outside of the range."""

def QuantizeAndDequantizeV4Grad(
    *,
    gradients: TensorLike,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    axis: int = -1,
    name: str | None = None,
) -> _outputs.QuantizeAndDequantizeV4Grad:
    """The gradient of [`QuantizeAndDequantizeV4`]."""

def QuantizeDownAndShrinkRange(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    out_type: DTypeLike,
    name: str | None = None,
) -> _outputs.QuantizeDownAndShrinkRange:
    """Numbers of 32 bits as numbers of 8, in the range that they take."""

def QuantizeV2(
    *,
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: Literal['MIN_COMBINED', 'MIN_FIRST', 'SCALED'] = 'MIN_COMBINED',
    round_mode: Literal['HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'] = 'HALF_AWAY_FROM_ZERO',
    narrow_range: bool = False,
    axis: int = -1,
    ensure_minimum_range: float = 0.01,
    name: str | None = None,
) -> _outputs.QuantizeV2:
    """Values as the numbers of a few bits."""

def QuantizedAdd(
    *,
    x: TensorLike,
    y: TensorLike,
    min_x: TensorLike,
    max_x: TensorLike,
    min_y: TensorLike,
    max_y: TensorLike,
    Toutput: DTypeLike = _dtypes.qint32,
    name: str | None = None,
) -> _outputs.QuantizedAdd:
    """The sum of two tensors of quantized numbers. One may be a scalar, or have the last dimensions of the other."""

def QuantizedAvgPool(
    *,
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> _outputs.QuantizedAvgPool:
    """The means of windows of quantized images."""

def QuantizedBatchNormWithGlobalNormalization(
    *,
    t: TensorLike,
    t_min: TensorLike,
    t_max: TensorLike,
    m: TensorLike,
    m_min: TensorLike,
    m_max: TensorLike,
    v: TensorLike,
    v_min: TensorLike,
    v_max: TensorLike,
    beta: TensorLike,
    beta_min: TensorLike,
    beta_max: TensorLike,
    gamma: TensorLike,
    gamma_min: TensorLike,
    gamma_max: TensorLike,
    out_type: DTypeLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> _outputs.QuantizedBatchNormWithGlobalNormalization:
    """Quantized images that are brought to mean zero and variance one, with statistics that are given."""

def QuantizedBiasAdd(
    *,
    input: TensorLike,
    bias: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    min_bias: TensorLike,
    max_bias: TensorLike,
    out_type: DTypeLike,
    name: str | None = None,
) -> _outputs.QuantizedBiasAdd:
    """Quantized numbers to which a bias is added along the last dimension."""

def QuantizedConcat(
    *,
    concat_dim: TensorLike,
    values: Sequence[TensorLike],
    input_mins: Sequence[TensorLike],
    input_maxes: Sequence[TensorLike],
    name: str | None = None,
) -> _outputs.QuantizedConcat:
    """Tensors of quantized numbers that are joined along a dimension, in the range that holds all."""

def QuantizedConv2D(
    *,
    input: TensorLike,
    filter: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    min_filter: TensorLike,
    max_filter: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    out_type: DTypeLike = _dtypes.qint32,
    dilations: Sequence[int] = [1, 1, 1, 1],
    name: str | None = None,
) -> _outputs.QuantizedConv2D:
    """A convolution of quantized images."""

def QuantizedInstanceNorm(
    *,
    x: TensorLike,
    x_min: TensorLike,
    x_max: TensorLike,
    output_range_given: bool = False,
    given_y_min: float = 0.0,
    given_y_max: float = 0.0,
    variance_epsilon: float = 1e-05,
    min_separation: float = 0.001,
    name: str | None = None,
) -> _outputs.QuantizedInstanceNorm:
    """Quantized images that are brought to mean zero and variance one, each channel of each by itself."""

def QuantizedMatMul(
    *,
    a: TensorLike,
    b: TensorLike,
    min_a: TensorLike,
    max_a: TensorLike,
    min_b: TensorLike,
    max_b: TensorLike,
    Toutput: DTypeLike = _dtypes.qint32,
    transpose_a: bool = False,
    transpose_b: bool = False,
    Tactivation: DTypeLike = _dtypes.quint8,
    name: str | None = None,
) -> _outputs.QuantizedMatMul:
    """The product of two matrices of quantized numbers."""

def QuantizedMaxPool(
    *,
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> _outputs.QuantizedMaxPool:
    """The greatest of windows of quantized images."""

def QuantizedMul(
    *,
    x: TensorLike,
    y: TensorLike,
    min_x: TensorLike,
    max_x: TensorLike,
    min_y: TensorLike,
    max_y: TensorLike,
    Toutput: DTypeLike = _dtypes.qint32,
    name: str | None = None,
) -> _outputs.QuantizedMul:
    """The product of two tensors of quantized numbers. One may be a scalar, or have the last dimensions of the other."""

def QuantizedRelu(
    *,
    features: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike = _dtypes.quint8,
    name: str | None = None,
) -> _outputs.QuantizedRelu:
    """The greater of quantized numbers and zero."""

def QuantizedRelu6(
    *,
    features: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike = _dtypes.quint8,
    name: str | None = None,
) -> _outputs.QuantizedRelu6:
    """Quantized numbers that are cut to those from zero to six."""

def QuantizedReshape(
    *,
    tensor: TensorLike,
    shape: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    name: str | None = None,
) -> _outputs.QuantizedReshape:
    """Quantized numbers in another shape, as `Reshape` has it."""

def QuantizedResizeBilinear(
    *,
    images: TensorLike,
    size: TensorLike,
    min: TensorLike,
    max: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> _outputs.QuantizedResizeBilinear:
    """Quantized images in another size, each pixel a weighted sum of four."""

def QueueClose(*, handle: TensorLike, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
    """Closes a queue: nothing is added any more, and nobody waits for what does not come."""

def QueueCloseV2(*, handle: TensorLike, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
    """Closes a queue: nothing is added any more, and nobody waits for what does not come."""

def QueueDequeue(
    *,
    handle: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes one element out of a queue; waits while there is none."""

def QueueDequeueMany(
    *,
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, stacked along a new first dimension; waits until there are as many."""

def QueueDequeueManyV2(
    *,
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, stacked along a new first dimension; waits until there are as many."""

def QueueDequeueUpTo(
    *,
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, or what is left once it is closed, stacked along a new first dimension."""

def QueueDequeueUpToV2(
    *,
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, or what is left once it is closed, stacked along a new first dimension."""

def QueueDequeueV2(
    *,
    handle: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes one element out of a queue; waits while there is none."""

def QueueEnqueue(
    *,
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds one element to a queue; waits while it is full."""

def QueueEnqueueMany(
    *,
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds several elements to a queue, the slices of `components` along their first dimension; waits while it is full."""

def QueueEnqueueManyV2(
    *,
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds several elements to a queue, the slices of `components` along their first dimension; waits while it is full."""

def QueueEnqueueV2(
    *,
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds one element to a queue; waits while it is full."""

def QueueIsClosed(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """Whether a queue is closed."""

def QueueIsClosedV2(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """Whether a queue is closed."""

def QueueSize(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements in a queue."""

def QueueSizeV2(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements in a queue."""

def RFFT(
    *,
    input: TensorLike,
    fft_length: TensorLike,
    Tcomplex: DTypeLike = _dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along the last dimension, the half that says all."""

def RFFT2D(
    *,
    input: TensorLike,
    fft_length: TensorLike,
    Tcomplex: DTypeLike = _dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along the last two dimensions, the half that says all."""

def RFFT3D(
    *,
    input: TensorLike,
    fft_length: TensorLike,
    Tcomplex: DTypeLike = _dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along the last three dimensions, the half that says all."""

def RGBToHSV(*, images: TensorLike, name: str | None = None) -> Tensor:
    """Hue, saturation and value of colours whose parts are red, green and blue."""

def RaggedBincount(
    *,
    splits: TensorLike,
    values: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> Tensor:
    """How often each of `0..size` occurs in each row of a ragged matrix."""

def RaggedCountSparseOutput(
    *,
    splits: TensorLike,
    values: TensorLike,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> _outputs.RaggedCountSparseOutput:
    """How often each value occurs in each row of a ragged matrix."""

def RaggedCross(
    *,
    ragged_values: Sequence[TensorLike],
    ragged_row_splits: Sequence[TensorLike],
    sparse_indices: Sequence[TensorLike],
    sparse_values: Sequence[TensorLike],
    sparse_shape: Sequence[TensorLike],
    dense_inputs: Sequence[TensorLike],
    input_order: str | bytes,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_values_type: DTypeLike,
    out_row_splits_type: DTypeLike,
    name: str | None = None,
) -> _outputs.RaggedCross:
    """All combinations of the features that stand in one row of several columns, as a ragged matrix."""

def RaggedFillEmptyRows(
    *,
    value_rowids: TensorLike,
    values: TensorLike,
    nrows: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> _outputs.RaggedFillEmptyRows:
    """Puts a default value into each row of a ragged matrix that has none."""

def RaggedFillEmptyRowsGrad(
    *,
    reverse_index_map: TensorLike,
    grad_values: TensorLike,
    name: str | None = None,
) -> _outputs.RaggedFillEmptyRowsGrad:
    """The gradient of `RaggedFillEmptyRows`."""

def RaggedGather(
    *,
    params_nested_splits: Sequence[TensorLike],
    params_dense_values: TensorLike,
    indices: TensorLike,
    OUTPUT_RAGGED_RANK: int,
    name: str | None = None,
) -> _outputs.RaggedGather:
    """The rows of a ragged tensor that `indices` names."""

def RaggedRange(
    *,
    starts: TensorLike,
    limits: TensorLike,
    deltas: TensorLike,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.RaggedRange:
    """A ragged matrix whose rows are ranges."""

def RaggedTensorFromVariant(
    *,
    encoded_ragged: TensorLike,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: DTypeLike,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.RaggedTensorFromVariant:
    """The ragged tensor of the ragged tensors in a tensor of variants, whose dimensions come first."""

def RaggedTensorToSparse(
    *,
    rt_nested_splits: Sequence[TensorLike],
    rt_dense_values: TensorLike,
    name: str | None = None,
) -> _outputs.RaggedTensorToSparse:
    """A ragged tensor as a sparse one."""

def RaggedTensorToTensor(
    *,
    shape: TensorLike,
    values: TensorLike,
    default_value: TensorLike,
    row_partition_tensors: Sequence[TensorLike],
    row_partition_types: Sequence[str | bytes],
    name: str | None = None,
) -> Tensor:
    """A ragged tensor as a dense one, with a default value where rows are short."""

def RaggedTensorToVariant(
    *,
    rt_nested_splits: Sequence[TensorLike],
    rt_dense_values: TensorLike,
    batched_input: bool,
    name: str | None = None,
) -> Tensor:
    """A ragged tensor as a variant, or its rows as a vector of variants."""

def RaggedTensorToVariantGradient(
    *,
    encoded_ragged_grad: TensorLike,
    row_splits: TensorLike,
    dense_values_shape: TensorLike,
    Tvalues: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `RaggedTensorToVariant`."""

def RandomCrop(
    *,
    image: TensorLike,
    size: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """A random part of an image."""

def RandomDataset(
    *,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 to 2³² − 1, without end."""

def RandomDatasetV2(
    *,
    seed: TensorLike,
    seed2: TensorLike,
    seed_generator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    rerandomize_each_iteration: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 to 2³² − 1, without end."""

def RandomGamma(
    *,
    shape: TensorLike,
    alpha: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of gamma distributions."""

def RandomGammaGrad(*, alpha: TensorLike, sample: TensorLike, name: str | None = None) -> Tensor:
    """How a sample of a gamma distribution changes with the distribution's shape parameter, the probability that a sample is smaller left as it is."""

def RandomIndexShuffle(
    *,
    index: TensorLike,
    seed: TensorLike,
    max_index: TensorLike,
    rounds: int = 4,
    name: str | None = None,
) -> Tensor:
    """Where `index` lands when the numbers from 0 to `max_index` are shuffled, without shuffling them."""

def RandomPoisson(
    *,
    shape: TensorLike,
    rate: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of Poisson distributions."""

def RandomPoissonV2(
    *,
    shape: TensorLike,
    rate: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random numbers of Poisson distributions, in a dtype of their own."""

def RandomShuffle(*, value: TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """The rows of `value` in a random order."""

def RandomShuffleQueue(
    *,
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    min_after_dequeue: int = 0,
    seed: int = 0,
    seed2: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in random order."""

def RandomShuffleQueueV2(
    *,
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    min_after_dequeue: int = 0,
    seed: int = 0,
    seed2: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in random order."""

def RandomStandardNormal(
    *,
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1."""

def RandomUniform(
    *,
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely."""

def RandomUniformInt(
    *,
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`."""

def Range(*, start: TensorLike, limit: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The numbers from `start` up to but without `limit`, in steps of `delta`; all are scalars."""

def RangeDataset(
    *,
    start: TensorLike,
    stop: TensorLike,
    step: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    replicate_on_split: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers of equal distance."""

def Rank(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The number of dimensions of `input`, as a scalar."""

def ReadFile(*, filename: TensorLike, name: str | None = None) -> Tensor:
    """The contents of a file."""

def ReadVariableOp(*, resource: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """The value of a variable. It stays as it is when the variable changes later."""

def ReaderNumRecordsProduced(*, reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of records that a reader gave."""

def ReaderNumRecordsProducedV2(*, reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of records that a reader gave."""

def ReaderNumWorkUnitsCompleted(*, reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of files that a reader has come to the end of."""

def ReaderNumWorkUnitsCompletedV2(*, reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of files that a reader has come to the end of."""

def ReaderRead(*, reader_handle: TensorLike, queue_handle: TensorLike, name: str | None = None) -> _outputs.ReaderRead:
    """Takes the next record of a reader; waits for the queue when a file has ended."""

def ReaderReadUpTo(
    *,
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    num_records: TensorLike,
    name: str | None = None,
) -> _outputs.ReaderReadUpTo:
    """Takes the next records of a reader, all of one file: fewer than `num_records` at its end."""

def ReaderReadUpToV2(
    *,
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    num_records: TensorLike,
    name: str | None = None,
) -> _outputs.ReaderReadUpToV2:
    """Takes the next records of a reader, all of one file: fewer than `num_records` at its end."""

def ReaderReadV2(
    *,
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    name: str | None = None,
) -> _outputs.ReaderReadV2:
    """Takes the next record of a reader; waits for the queue when a file has ended."""

def ReaderReset(*, reader_handle: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to how it was when it was made."""

def ReaderResetV2(*, reader_handle: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to how it was when it was made."""

def ReaderRestoreState(*, reader_handle: TensorLike, state: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to a state that was serialized."""

def ReaderRestoreStateV2(*, reader_handle: TensorLike, state: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to a state that was serialized."""

def ReaderSerializeState(*, reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """What a reader has done, as a message; of readers of wholes alone."""

def ReaderSerializeStateV2(*, reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """What a reader has done, as a message; of readers of wholes alone."""

def Real(*, input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The real part."""

def RealDiv(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient of floats or complex numbers, `x / y`. The shapes broadcast."""

def RebatchDataset(
    *,
    input_dataset: TensorLike,
    num_replicas: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_fallback: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each batch cut to `num_replicas` batches of equal size, the last of which may be smaller or empty."""

def RebatchDatasetV2(
    *,
    input_dataset: TensorLike,
    batch_sizes: TensorLike,
    drop_remainder: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Batches of other sizes."""

def Reciprocal(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal, `1 / x`."""

def ReciprocalGrad(*, y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Reciprocal`: `-dy * y²`. Of complex numbers the conjugate of `y` counts."""

def RecordInput(
    *,
    file_pattern: str | bytes,
    file_random_seed: int = 301,
    file_shuffle_shift_ratio: float = 0.0,
    file_buffer_size: int = 10000,
    file_parallelism: int = 16,
    batch_size: int = 32,
    compression_type: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The next records of TFRecord files, in random order. After the last one it begins again."""

def ReduceDataset(
    *,
    input_dataset: TensorLike,
    initial_state: Sequence[TensorLike],
    other_arguments: Sequence[TensorLike],
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_inter_op_parallelism: bool = True,
    metadata: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """What a function makes of a state and all elements, one after the other."""

def ReduceJoin(
    *,
    inputs: TensorLike,
    reduction_indices: TensorLike,
    keep_dims: bool = False,
    separator: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The strings of each slice along some dimensions, joined in row-major order."""

def RefEnter(
    *,
    data: TensorLike,
    frame_name: str | bytes,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> Tensor:
    """As [`Enter`], for a reference."""

def RefExit(*, data: TensorLike, name: str | None = None) -> Tensor:
    """As [`Exit`], for a reference."""

def RefIdentity(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The reference that it is given."""

def RefMerge(*, inputs: Sequence[TensorLike], name: str | None = None) -> _outputs.RefMerge:
    """As [`Merge`], for references."""

def RefNextIteration(*, data: TensorLike, name: str | None = None) -> Tensor:
    """As [`NextIteration`], for a reference."""

def RefSelect(*, index: TensorLike, inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Passes on the reference that `index` names."""

def RefSwitch(*, data: TensorLike, pred: TensorLike, name: str | None = None) -> _outputs.RefSwitch:
    """As [`Switch`], for a reference."""

def RegexFullMatch(*, input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether a regular expression matches the whole of each string; the expression is an input."""

def RegexReplace(
    *,
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each string with matches of a regular expression replaced; the expression is an input."""

def Relu(*, features: TensorLike, name: str | None = None) -> Tensor:
    """The positive part, `max(features, 0)`. NaN stays NaN."""

def Relu6(*, features: TensorLike, name: str | None = None) -> Tensor:
    """The positive part up to 6, `min(max(features, 0), 6)`."""

def Relu6Grad(*, gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Relu6`: `gradients` where `features` lies between 0 and 6, 0 elsewhere."""

def ReluGrad(*, gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Relu`: `gradients` where `features` is positive, 0 elsewhere."""

def RemoteCall(
    *,
    target: TensorLike,
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `f` with `args` on another device."""

def RemoveKernel(*, names: TensorLike, name: str | None = None) -> Tensor:
    """Takes kernels out of use while the program runs."""

def RepeatDataset(
    *,
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset `count` times, or again and again if it is negative."""

def RequantizationRange(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    name: str | None = None,
) -> _outputs.RequantizationRange:
    """The range that numbers of 32 bits take, for [`Requantize`]; zero lies in it."""

def RequantizationRangePerChannel(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    clip_value_max: float,
    name: str | None = None,
) -> _outputs.RequantizationRangePerChannel:
    """The range that numbers of 32 bits take over all channels, each of which has a range of its own."""

def Requantize(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    requested_output_min: TensorLike,
    requested_output_max: TensorLike,
    out_type: DTypeLike,
    name: str | None = None,
) -> _outputs.Requantize:
    """Numbers of 32 bits as numbers of 8, in the range that is asked for."""

def RequantizePerChannel(
    *,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    requested_output_min: TensorLike,
    requested_output_max: TensorLike,
    out_type: DTypeLike = _dtypes.quint8,
    name: str | None = None,
) -> _outputs.RequantizePerChannel:
    """[`Requantize`] of numbers with a range for each channel."""

def Reshape(*, tensor: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """The same elements in the same order under another shape."""

def ResizeArea(*, images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Images in another size, each pixel the mean of the area that it covers."""

def ResizeBicubic(
    *,
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size, each pixel a weighted sum of the sixteen around its place, by cubic functions."""

def ResizeBicubicGrad(
    *,
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ResizeBicubic`]."""

def ResizeBilinear(
    *,
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size, each pixel a weighted mean of the four around its place."""

def ResizeBilinearGrad(
    *,
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ResizeBilinear`]."""

def ResizeNearestNeighbor(
    *,
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size, each pixel a copy of the nearest."""

def ResizeNearestNeighborGrad(
    *,
    grads: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ResizeNearestNeighbor`]."""

def ResourceAccumulatorApplyGradient(
    *,
    handle: TensorLike,
    local_step: TensorLike,
    gradient: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a gradient to an accumulator."""

def ResourceAccumulatorNumAccumulated(*, handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of gradients in an accumulator."""

def ResourceAccumulatorSetGlobalStep(
    *,
    handle: TensorLike,
    new_global_step: TensorLike,
    name: str | None = None,
) -> Effect:
    """Tells an accumulator the present step."""

def ResourceAccumulatorTakeGradient(
    *,
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Takes the mean, or the sum, of the gradients in an accumulator; waits until there are enough."""

def ResourceApplyAdaMax(
    *,
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyAdaMax`] on resource variables."""

def ResourceApplyAdadelta(
    *,
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyAdadelta`] on resource variables."""

def ResourceApplyAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Effect:
    """[`ApplyAdagrad`] on resource variables."""

def ResourceApplyAdagradDA(
    *,
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyAdagradDA`] on resource variables."""

def ResourceApplyAdagradV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Effect:
    """[`ApplyAdagradV2`] on resource variables."""

def ResourceApplyAdam(
    *,
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta1_power: TensorLike,
    beta2_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyAdam`] on resource variables."""

def ResourceApplyAdamWithAmsgrad(
    *,
    var: TensorLike,
    m: TensorLike,
    v: TensorLike,
    vhat: TensorLike,
    beta1_power: TensorLike,
    beta2_power: TensorLike,
    lr: TensorLike,
    beta1: TensorLike,
    beta2: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """A step of Adam that divides by the greatest average so far: [`ResourceApplyAdam`] with `vhat = max(vhat, v)` in the place of `v`."""

def ResourceApplyAddSign(
    *,
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    alpha: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyAddSign`] on resource variables."""

def ResourceApplyCenteredRMSProp(
    *,
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyCenteredRMSProp`] on resource variables."""

def ResourceApplyFtrl(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyFtrl`] on resource variables."""

def ResourceApplyFtrlV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyFtrlV2`] on resource variables."""

def ResourceApplyGradientDescent(
    *,
    var: TensorLike,
    alpha: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyGradientDescent`] on resource variables."""

def ResourceApplyKerasMomentum(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    momentum: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Effect:
    """A step with momentum that holds the learning rate: `accum = accum * momentum - lr * grad`, `var += accum`."""

def ResourceApplyMomentum(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    momentum: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyMomentum`] on resource variables."""

def ResourceApplyPowerSign(
    *,
    var: TensorLike,
    m: TensorLike,
    lr: TensorLike,
    logbase: TensorLike,
    sign_decay: TensorLike,
    beta: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyPowerSign`] on resource variables."""

def ResourceApplyProximalAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyProximalAdagrad`] on resource variables."""

def ResourceApplyProximalGradientDescent(
    *,
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyProximalGradientDescent`] on resource variables."""

def ResourceApplyRMSProp(
    *,
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyRMSProp`] on resource variables."""

def ResourceConditionalAccumulator(
    *,
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    reduction_type: Literal['MEAN', 'SUM'] = 'MEAN',
    name: str | None = None,
) -> Tensor:
    """Adds gradients up until enough have come; those of earlier steps than the present one are dropped."""

def ResourceCountUpTo(*, resource: TensorLike, limit: int, T: DTypeLike, name: str | None = None) -> Tensor:
    """Adds one to a variable and gives its value from before, until that is `limit`: then the error is OUT_OF_RANGE."""

def ResourceGather(
    *,
    resource: TensorLike,
    indices: TensorLike,
    dtype: DTypeLike,
    batch_dims: int = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Slices of a variable along its first dimension, by index; with `batch_dims`, along the dimension after those."""

def ResourceGatherNd(*, resource: TensorLike, indices: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Slices of a variable by index vectors: the last dimension of `indices` holds indices for the variable's first ones."""

def ResourceScatterAdd(
    *,
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterAdd`] on a resource variable."""

def ResourceScatterDiv(
    *,
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterDiv`] on a resource variable."""

def ResourceScatterMax(
    *,
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterMax`] on a resource variable."""

def ResourceScatterMin(
    *,
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterMin`] on a resource variable."""

def ResourceScatterMul(
    *,
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterMul`] on a resource variable."""

def ResourceScatterNdAdd(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdAdd`] on a resource variable."""

def ResourceScatterNdMax(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdMax`] on a resource variable."""

def ResourceScatterNdMin(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdMin`] on a resource variable."""

def ResourceScatterNdSub(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdSub`] on a resource variable."""

def ResourceScatterNdUpdate(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdUpdate`] on a resource variable."""

def ResourceScatterSub(
    *,
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterSub`] on a resource variable."""

def ResourceScatterUpdate(
    *,
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterUpdate`] on a resource variable."""

def ResourceSparseApplyAdadelta(
    *,
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyAdadelta`] on resource variables."""

def ResourceSparseApplyAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyAdagrad`] on resource variables."""

def ResourceSparseApplyAdagradDA(
    *,
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyAdagradDA`] on resource variables."""

def ResourceSparseApplyAdagradV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyAdagradV2`] on resource variables."""

def ResourceSparseApplyCenteredRMSProp(
    *,
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyCenteredRMSProp`] on resource variables."""

def ResourceSparseApplyFtrl(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyFtrl`] on resource variables."""

def ResourceSparseApplyFtrlV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyFtrlV2`] on resource variables."""

def ResourceSparseApplyKerasMomentum(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    momentum: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ResourceApplyKerasMomentum`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def ResourceSparseApplyMomentum(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    momentum: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyMomentum`] on resource variables."""

def ResourceSparseApplyProximalAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyProximalAdagrad`] on resource variables."""

def ResourceSparseApplyProximalGradientDescent(
    *,
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyProximalGradientDescent`] on resource variables."""

def ResourceSparseApplyRMSProp(
    *,
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`SparseApplyRMSProp`] on resource variables."""

def ResourceStridedSliceAssign(
    *,
    ref: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    value: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: str | None = None,
) -> Effect:
    """[`StridedSliceAssign`](super::StridedSliceAssign) on a resource variable."""

def Restore(
    *,
    file_pattern: TensorLike,
    tensor_name: TensorLike,
    dt: DTypeLike,
    preferred_shard: int = -1,
    name: str | None = None,
) -> Tensor:
    """Reads a tensor from files of the first checkpoint format."""

def RestoreSlice(
    *,
    file_pattern: TensorLike,
    tensor_name: TensorLike,
    shape_and_slice: TensorLike,
    dt: DTypeLike,
    preferred_shard: int = -1,
    name: str | None = None,
) -> Tensor:
    """Reads a part of a tensor from files of the first checkpoint format."""

def RestoreV2(
    *,
    prefix: TensorLike,
    tensor_names: TensorLike,
    shape_and_slices: TensorLike,
    dtypes: Sequence[DTypeLike],
    name: str | None = None,
) -> list[Tensor]:
    """Reads tensors from a checkpoint."""

def Reverse(*, tensor: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` with some dimensions reversed. [`ReverseV2`](crate::ReverseV2) names them by number."""

def ReverseSequence(
    *,
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_dim: int,
    batch_dim: int = 0,
    name: str | None = None,
) -> Tensor:
    """`input` with the first elements along `seq_dim` reversed, for each index of `batch_dim` another number of them."""

def ReverseV2(*, tensor: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` with the order of elements reversed along some dimensions."""

def RewriteDataset(
    *,
    input_dataset: TensorLike,
    rewrite_name: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is; its graph is rewritten."""

def RightShift(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits of `x` moved down by `y`; signed integers keep their sign. `y` is first clamped to 0 … bits − 1. The shapes broadcast."""

def Rint(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; halves go to the even one."""

def RngReadAndSkip(*, resource: TensorLike, alg: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The state of a variable's generator, which then moves on, as drawing `delta` numbers would."""

def RngSkip(*, resource: TensorLike, algorithm: TensorLike, delta: TensorLike, name: str | None = None) -> Effect:
    """Moves a variable's generator on, as drawing `delta` numbers would."""

def Roll(*, input: TensorLike, shift: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """`input` rolled along some dimensions: what leaves at one end comes in at the other."""

def Round(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; halves go to the even one. Integers stay."""

def Rsqrt(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal of the square root, `1 / sqrt(x)`. Infinite at zero, NaN below."""

def RsqrtGrad(*, y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Rsqrt`: `dy * -0.5 * y³`. Of complex numbers the conjugate of `y` counts."""

def SampleDistortedBoundingBox(
    *,
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Sequence[float] = [0.75, 1.33],
    area_range: Sequence[float] = [0.05, 1.0],
    max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False,
    name: str | None = None,
) -> _outputs.SampleDistortedBoundingBox:
    """A random box in an image that covers enough of one of the boxes that are given."""

def SampleDistortedBoundingBoxV2(
    *,
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    min_object_covered: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    aspect_ratio_range: Sequence[float] = [0.75, 1.33],
    area_range: Sequence[float] = [0.05, 1.0],
    max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False,
    name: str | None = None,
) -> _outputs.SampleDistortedBoundingBoxV2:
    """A random box in an image that covers enough of one of the boxes that are given."""

def SamplingDataset(
    *,
    input_dataset: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Elements that are picked at random."""

def Save(
    *,
    filename: TensorLike,
    tensor_names: TensorLike,
    data: Sequence[TensorLike],
    name: str | None = None,
) -> Effect:
    """Saves tensors in a file of the first checkpoint format."""

def SaveDataset(
    *,
    input_dataset: TensorLike,
    path: TensorLike,
    shard_func_other_args: Sequence[TensorLike],
    shard_func: FunctionLike,
    compression: str | bytes = '',
    use_shard_func: bool = True,
    name: str | None = None,
) -> Effect:
    """Writes the elements of a dataset to a folder, from which `LoadDataset` reads them."""

def SaveDatasetV2(
    *,
    input_dataset: TensorLike,
    path: TensorLike,
    shard_func_other_args: Sequence[TensorLike],
    shard_func: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    compression: str | bytes = '',
    use_shard_func: bool = True,
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which whoever goes through them writes to a folder, from which `LoadDataset` reads them."""

def SaveSlices(
    *,
    filename: TensorLike,
    tensor_names: TensorLike,
    shapes_and_slices: TensorLike,
    data: Sequence[TensorLike],
    name: str | None = None,
) -> Effect:
    """Saves tensors, or parts of larger ones, in a file of the first checkpoint format."""

def SaveV2(
    *,
    prefix: TensorLike,
    tensor_names: TensorLike,
    shape_and_slices: TensorLike,
    tensors: Sequence[TensorLike],
    name: str | None = None,
) -> Effect:
    """Saves tensors as a checkpoint `prefix.index` with its data file."""

def ScalarSummary(*, tags: TensorLike, values: TensorLike, name: str | None = None) -> Tensor:
    """A summary with one number for each tag."""

def ScaleAndTranslate(
    *,
    images: TensorLike,
    size: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: str | bytes = 'lanczos3',
    antialias: bool = True,
    name: str | None = None,
) -> Tensor:
    """Images that are scaled and moved, each pixel a weighted sum of those around its place."""

def ScaleAndTranslateGrad(
    *,
    grads: TensorLike,
    original_image: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: str | bytes = 'lanczos3',
    antialias: bool = True,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ScaleAndTranslate`]."""

def ScanDataset(
    *,
    input_dataset: TensorLike,
    initial_state: Sequence[TensorLike],
    other_arguments: Sequence[TensorLike],
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    preserve_cardinality: bool = False,
    use_default_device: bool = True,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What a function makes of each element and a state, which it hands on."""

def ScatterAdd(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Adds `updates` to rows of a variable."""

def ScatterDiv(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Divides rows of a variable by `updates`."""

def ScatterMax(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Takes the greater of rows of a variable and `updates`."""

def ScatterMin(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Takes the lesser of rows of a variable and `updates`."""

def ScatterMul(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiplies rows of a variable by `updates`."""

def ScatterNd(
    *,
    indices: TensorLike,
    updates: TensorLike,
    shape: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A tensor of zeros (or empty strings) with `updates` added at `indices`."""

def ScatterNdAdd(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Adds `updates` to slices of a variable, which index vectors name."""

def ScatterNdMax(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Takes the greater of slices of a variable and `updates`, which index vectors name."""

def ScatterNdMin(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Takes the lesser of slices of a variable and `updates`, which index vectors name."""

def ScatterNdNonAliasingAdd(
    *,
    input: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`input` with `updates` added at `indices`; `input` itself may be overwritten if nothing else uses it."""

def ScatterNdSub(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Subtracts `updates` from slices of a variable, which index vectors name."""

def ScatterNdUpdate(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Assigns `updates` to slices of a variable, which index vectors name."""

def ScatterSub(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Subtracts `updates` from rows of a variable."""

def ScatterUpdate(
    *,
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Tensor:
    """Assigns `updates` to rows of a variable: `ref[indices[i…], …] = updates[i…, …]`."""

def SdcaFprint(*, input: TensorLike, name: str | None = None) -> Tensor:
    """A fingerprint of 128 bits of each text."""

def SdcaOptimizer(
    *,
    sparse_example_indices: Sequence[TensorLike],
    sparse_feature_indices: Sequence[TensorLike],
    sparse_feature_values: Sequence[TensorLike],
    dense_features: Sequence[TensorLike],
    example_weights: TensorLike,
    example_labels: TensorLike,
    sparse_indices: Sequence[TensorLike],
    sparse_weights: Sequence[TensorLike],
    dense_weights: Sequence[TensorLike],
    example_state_data: TensorLike,
    loss_type: Literal['logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'],
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptative: bool = True,
    name: str | None = None,
) -> _outputs.SdcaOptimizer:
    """One pass over examples that brings a linear model nearer to the least regularised loss: stochastic dual coordinate ascent."""

def SdcaOptimizerV2(
    *,
    sparse_example_indices: Sequence[TensorLike],
    sparse_feature_indices: Sequence[TensorLike],
    sparse_feature_values: Sequence[TensorLike],
    dense_features: Sequence[TensorLike],
    example_weights: TensorLike,
    example_labels: TensorLike,
    sparse_indices: Sequence[TensorLike],
    sparse_weights: Sequence[TensorLike],
    dense_weights: Sequence[TensorLike],
    example_state_data: TensorLike,
    loss_type: Literal['logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'],
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptive: bool = True,
    name: str | None = None,
) -> _outputs.SdcaOptimizerV2:
    """One pass over examples that brings a linear model nearer to the least regularised loss: stochastic dual coordinate ascent."""

def SdcaShrinkL1(*, weights: Sequence[TensorLike], l1: float, l2: float, name: str | None = None) -> Effect:
    """Brings weights nearer to 0 by `l1 / l2`, those that are nearer to 0 themselves."""

def SegmentMax(*, data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The greatest element of the rows in each segment, a run of rows with one number. Of no rows it is 0."""

def SegmentMean(*, data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The mean of the rows in each segment, a run of rows with one number. Of no rows it is 0; that of integers is rounded towards zero."""

def SegmentMin(*, data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The least element of the rows in each segment, a run of rows with one number. Of no rows it is 0."""

def SegmentProd(*, data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The product of the rows in each segment, a run of rows with one number. Of no rows it is 1."""

def SegmentSum(*, data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the rows in each segment, a run of rows with one number. Of no rows it is 0."""

def Select(*, condition: TensorLike, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Elements of `t` where `condition` is true, of `e` where it is false."""

def SelectV2(*, condition: TensorLike, t: TensorLike, e: TensorLike, name: str | None = None) -> Tensor:
    """Elements of `t` where `condition` is true, of `e` where it is false. All three shapes broadcast."""

def SelfAdjointEig(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues and eigenvectors of symmetric matrices, in one tensor."""

def SelfAdjointEigV2(
    *,
    input: TensorLike,
    compute_v: bool = True,
    name: str | None = None,
) -> _outputs.SelfAdjointEigV2:
    """Eigenvalues and eigenvectors of symmetric and Hermitian matrices: `input v = v diag(e)`."""

def Selu(*, features: TensorLike, name: str | None = None) -> Tensor:
    """`scale * features` where positive, `scale * alpha * (exp(features) - 1)` elsewhere, with the scale 1.0507… and the alpha 1.6733… that keep mean and variance."""

def SeluGrad(*, gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Selu`: `gradients * (outputs + scale * alpha)` where `outputs` is negative, `scale * gradients` elsewhere."""

def SerializeIterator(
    *,
    resource_handle: TensorLike,
    external_state_policy: int = 0,
    name: str | None = None,
) -> Tensor:
    """The state of an iterator."""

def SerializeManySparse(
    *,
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    out_type: DTypeLike = _dtypes.string,
    name: str | None = None,
) -> Tensor:
    """Each row of a sparse tensor as three serialized tensors."""

def SerializeSparse(
    *,
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    out_type: DTypeLike = _dtypes.string,
    name: str | None = None,
) -> Tensor:
    """A sparse tensor as three serialized tensors: indices, values, shape."""

def SerializeTensor(*, tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto."""

def SetSize(
    *,
    set_indices: TensorLike,
    set_values: TensorLike,
    set_shape: TensorLike,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The number of different values along the last dimension of a sparse tensor."""

def SetStatsAggregatorDataset(
    *,
    input_dataset: TensorLike,
    stats_aggregator: TensorLike,
    tag: TensorLike,
    counter_prefix: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `LatencyStatsDataset` and `BytesProducedStatsDataset` in it tell of them."""

def Shape(*, input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: str | None = None) -> Tensor:
    """The shape of `input`, as a vector."""

def ShapeN(
    *,
    input: Sequence[TensorLike],
    out_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> list[Tensor]:
    """The shapes of several tensors, each as a vector."""

def ShardDataset(
    *,
    input_dataset: TensorLike,
    num_shards: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    require_non_empty: bool = False,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Every `num_shards`-th element of a dataset, from `index` on."""

def ShardedFilename(
    *,
    basename: TensorLike,
    shard: TensorLike,
    num_shards: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The name of one of several files that belong together: `basename-00003-of-00016`."""

def ShardedFilespec(*, basename: TensorLike, num_shards: TensorLike, name: str | None = None) -> Tensor:
    """A pattern for the names of all files that belong together: `basename-?????-of-00016`."""

def ShuffleAndRepeatDataset(
    *,
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reshuffle_each_iteration: bool = True,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset in random order, `count` times."""

def ShuffleAndRepeatDatasetV2(
    *,
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    count: TensorLike,
    seed_generator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reshuffle_each_iteration: bool = True,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset in random order, `count` times."""

def ShuffleDataset(
    *,
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reshuffle_each_iteration: bool = True,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset in random order."""

def ShuffleDatasetV2(
    *,
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed_generator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset in random order, by seeds of a generator."""

def ShuffleDatasetV3(
    *,
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    seed_generator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reshuffle_each_iteration: bool = True,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset in random order."""

def Sigmoid(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The logistic function, `1 / (1 + e^-x)`."""

def SigmoidGrad(*, y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Sigmoid`: `dy * y * (1 - y)`."""

def Sign(*, x: TensorLike, name: str | None = None) -> Tensor:
    """−1, 0 or 1 as `x` is negative, zero or positive; NaN stays NaN. For complex numbers `x / |x|`, and 0 for 0."""

def Sin(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The sine of `x` in radians."""

def Sinh(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine."""

def Size(*, input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: str | None = None) -> Tensor:
    """The number of elements of `input`, as a scalar."""

def SkipDataset(
    *,
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What comes after the first `count` elements of a dataset; nothing if it is −1."""

def Skipgram(
    *,
    filename: str | bytes,
    batch_size: int,
    window_size: int = 5,
    min_count: int = 5,
    subsample: float = 0.001,
    name: str | None = None,
) -> _outputs.Skipgram:
    """Pairs of words that stand near each other in a text."""

def SleepDataset(
    *,
    input_dataset: TensorLike,
    sleep_microseconds: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, for each of which is waited."""

def Slice(*, input: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """The block of `input` that begins at `begin` and has the given size."""

def SlidingWindowDataset(
    *,
    input_dataset: TensorLike,
    window_size: TensorLike,
    window_shift: TensorLike,
    window_stride: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    drop_remainder: bool = True,
    name: str | None = None,
) -> Tensor:
    """Elements stacked along a new first dimension, in windows that move over a dataset."""

def Snapshot(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Passes on a copy of `input` that later writes to its buffer do not reach."""

def SnapshotChunkDataset(
    *,
    chunk_file: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    compression: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of one file of a snapshot."""

def SnapshotDataset(
    *,
    input_dataset: TensorLike,
    path: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    compression: str | bytes = '',
    reader_path_prefix: str | bytes = '',
    writer_path_prefix: str | bytes = '',
    shard_size_bytes: int = 10737418240,
    pending_snapshot_expiry_seconds: int = 86400,
    num_reader_threads: int = 1,
    reader_buffer_size: int = 1,
    num_writer_threads: int = 1,
    writer_buffer_size: int = 1,
    shuffle_on_read: bool = False,
    seed: int = 0,
    seed2: int = 0,
    mode: str | bytes = 'auto',
    snapshot_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which whoever goes through them first writes to a folder, and all others read from there."""

def SnapshotDatasetReader(
    *,
    shard_dir: TensorLike,
    start_index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    version: int,
    compression: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of one shard of a snapshot."""

def SnapshotDatasetV2(
    *,
    input_dataset: TensorLike,
    path: TensorLike,
    reader_func_other_args: Sequence[TensorLike],
    shard_func_other_args: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reader_func: FunctionLike,
    shard_func: FunctionLike,
    compression: str | bytes = '',
    reader_prefix: str | bytes = '',
    writer_prefix: str | bytes = '',
    hash_valid: bool = False,
    hash: int = 0,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which whoever goes through them first writes to a folder, and all others read from there."""

def SnapshotNestedDatasetReader(
    *,
    inputs: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Datasets as the elements of one."""

def SobolSample(
    *,
    dim: TensorLike,
    num_results: TensorLike,
    skip: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Points of a Sobol sequence, which fill the unit cube evenly."""

def Softmax(*, logits: TensorLike, name: str | None = None) -> Tensor:
    """Probabilities along the last dimension: `exp(logits)`, scaled to a sum of 1. The rank is at least 1."""

def SoftmaxCrossEntropyWithLogits(
    *,
    features: TensorLike,
    labels: TensorLike,
    name: str | None = None,
) -> _outputs.SoftmaxCrossEntropyWithLogits:
    """The cross entropy of each row of `labels` and the softmax of `features`, and its gradient."""

def Softplus(*, features: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + exp(features))`."""

def SoftplusGrad(*, gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Softplus`: `gradients / (1 + exp(-features))`."""

def Softsign(*, features: TensorLike, name: str | None = None) -> Tensor:
    """`features / (1 + |features|)`."""

def SoftsignGrad(*, gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Softsign`: `gradients / (1 + |features|)²`."""

def SpaceToBatch(*, input: TensorLike, paddings: TensorLike, block_size: int, name: str | None = None) -> Tensor:
    """Squares of an image, zero-padded first, moved into the batch dimension: [`SpaceToBatchND`] of two dimensions."""

def SpaceToBatchND(
    *,
    input: TensorLike,
    block_shape: TensorLike,
    paddings: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Blocks of the spatial dimensions, zero-padded first, moved into the batch dimension."""

def SpaceToDepth(
    *,
    input: TensorLike,
    block_size: int,
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """Squares moved into the depth: each `block_size` × `block_size` pixels become `block_size²` channels of one pixel."""

def SparseAccumulatorApplyGradient(
    *,
    handle: TensorLike,
    local_step: TensorLike,
    gradient_indices: TensorLike,
    gradient_values: TensorLike,
    gradient_shape: TensorLike,
    has_known_shape: bool,
    name: str | None = None,
) -> Effect:
    """Adds a sparse gradient to an accumulator."""

def SparseAccumulatorTakeGradient(
    *,
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.SparseAccumulatorTakeGradient:
    """Takes the mean, or the sum, of the sparse gradients in an accumulator; waits until there are enough."""

def SparseAdd(
    *,
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    thresh: TensorLike,
    name: str | None = None,
) -> _outputs.SparseAdd:
    """The sum of two sparse tensors, whose indices are in row-major order."""

def SparseAddGrad(
    *,
    backprop_val_grad: TensorLike,
    a_indices: TensorLike,
    b_indices: TensorLike,
    sum_indices: TensorLike,
    name: str | None = None,
) -> _outputs.SparseAddGrad:
    """The gradient of `SparseAdd`."""

def SparseApplyAdadelta(
    *,
    var: TensorLike,
    accum: TensorLike,
    accum_update: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyAdadelta`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Tensor:
    """[`ApplyAdagrad`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyAdagradDA(
    *,
    var: TensorLike,
    gradient_accumulator: TensorLike,
    gradient_squared_accumulator: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    global_step: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyAdagradDA`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyAdagradV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Tensor:
    """[`ApplyAdagradV2`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyCenteredRMSProp(
    *,
    var: TensorLike,
    mg: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyCenteredRMSProp`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyFtrl(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyFtrl`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyFtrlV2(
    *,
    var: TensorLike,
    accum: TensorLike,
    linear: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    l2_shrinkage: TensorLike,
    lr_power: TensorLike,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyFtrlV2`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyMomentum(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    momentum: TensorLike,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyMomentum`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyProximalAdagrad(
    *,
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyProximalAdagrad`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyProximalGradientDescent(
    *,
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyProximalGradientDescent`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseApplyRMSProp(
    *,
    var: TensorLike,
    ms: TensorLike,
    mom: TensorLike,
    lr: TensorLike,
    rho: TensorLike,
    momentum: TensorLike,
    epsilon: TensorLike,
    grad: TensorLike,
    indices: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`ApplyRMSProp`] for some rows of the variables: row `indices[i]` takes a step by row `i` of `grad`."""

def SparseBincount(
    *,
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> Tensor:
    """How often each of `0..size` occurs in a sparse vector, or in each row of a sparse matrix."""

def SparseConcat(
    *,
    indices: Sequence[TensorLike],
    values: Sequence[TensorLike],
    shapes: Sequence[TensorLike],
    concat_dim: int,
    name: str | None = None,
) -> _outputs.SparseConcat:
    """Sparse tensors joined along a dimension."""

def SparseConditionalAccumulator(
    *,
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    reduction_type: Literal['MEAN', 'SUM'] = 'MEAN',
    name: str | None = None,
) -> Tensor:
    """Adds sparse gradients up until enough have come; those of earlier steps than the present one are dropped."""

def SparseCountSparseOutput(
    *,
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> _outputs.SparseCountSparseOutput:
    """How often each value occurs in a sparse tensor: in all of it if it has one dimension, or else in each part that a first index names."""

def SparseCross(
    *,
    indices: Sequence[TensorLike],
    values: Sequence[TensorLike],
    shapes: Sequence[TensorLike],
    dense_inputs: Sequence[TensorLike],
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_type: DTypeLike,
    internal_type: DTypeLike,
    name: str | None = None,
) -> _outputs.SparseCross:
    """All combinations of the features that stand in one row of several columns, joined with `_X_` or as fingerprints."""

def SparseCrossHashed(
    *,
    indices: Sequence[TensorLike],
    values: Sequence[TensorLike],
    shapes: Sequence[TensorLike],
    dense_inputs: Sequence[TensorLike],
    num_buckets: TensorLike,
    strong_hash: TensorLike,
    salt: TensorLike,
    name: str | None = None,
) -> _outputs.SparseCrossHashed:
    """The fingerprints of all combinations of the features that stand in one row of several columns."""

def SparseCrossV2(
    *,
    indices: Sequence[TensorLike],
    values: Sequence[TensorLike],
    shapes: Sequence[TensorLike],
    dense_inputs: Sequence[TensorLike],
    sep: TensorLike,
    name: str | None = None,
) -> _outputs.SparseCrossV2:
    """All combinations of the features that stand in one row of several columns, joined with a text."""

def SparseDenseCwiseAdd(
    *,
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a sparse tensor plus those of a dense one in the same places."""

def SparseDenseCwiseDiv(
    *,
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a sparse tensor divided by those of a dense one in the same places."""

def SparseDenseCwiseMul(
    *,
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a sparse tensor times those of a dense one in the same places."""

def SparseFillEmptyRows(
    *,
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> _outputs.SparseFillEmptyRows:
    """Puts an element with a default value into each row of a sparse tensor that has none."""

def SparseFillEmptyRowsGrad(
    *,
    reverse_index_map: TensorLike,
    grad_values: TensorLike,
    name: str | None = None,
) -> _outputs.SparseFillEmptyRowsGrad:
    """The gradient of `SparseFillEmptyRows`."""

def SparseMatMul(
    *,
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices that hold many zeros."""

def SparseMatrixMatMul(
    *,
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    transpose_output: bool = False,
    conjugate_output: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse matrix and a dense one."""

def SparseMatrixNNZ(*, sparse_matrix: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements of a sparse matrix, or of each of several."""

def SparseMatrixOrderingAMD(*, input: TensorLike, name: str | None = None) -> Tensor:
    """An order of the rows and columns of a sparse matrix in which its Cholesky factor has few elements: that of approximate minimum degrees."""

def SparseMatrixSparseCholesky(
    *,
    input: TensorLike,
    permutation: TensorLike,
    type: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The lower triangular Cholesky factor of a sparse matrix whose rows and columns are permuted."""

def SparseMatrixSparseMatMul(
    *,
    a: TensorLike,
    b: TensorLike,
    type: DTypeLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two sparse matrices."""

def SparseMatrixTranspose(
    *,
    input: TensorLike,
    type: DTypeLike,
    conjugate: bool = False,
    name: str | None = None,
) -> Tensor:
    """The transpose of a sparse matrix."""

def SparseReduceMax(
    *,
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The greatest elements of a sparse tensor along some dimensions, as a dense tensor."""

def SparseReduceMaxSparse(
    *,
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> _outputs.SparseReduceMaxSparse:
    """The greatest elements of a sparse tensor along some dimensions, as a sparse tensor."""

def SparseReduceSum(
    *,
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sums of the elements of a sparse tensor along some dimensions, as a dense tensor."""

def SparseReduceSumSparse(
    *,
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> _outputs.SparseReduceSumSparse:
    """The sums of the elements of a sparse tensor along some dimensions, as a sparse tensor."""

def SparseReorder(
    *,
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseReorder:
    """The elements of a sparse tensor in row-major order of their indices."""

def SparseReshape(
    *,
    input_indices: TensorLike,
    input_shape: TensorLike,
    new_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseReshape:
    """Gives the elements of a sparse tensor the indices that they have in another dense shape."""

def SparseSegmentMean(
    *,
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean of the rows `data[indices[i]]` of each segment."""

def SparseSegmentMeanGrad(
    *,
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSegmentMean`, as a dense tensor."""

def SparseSegmentMeanGradV2(
    *,
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    dense_output_dim0: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSegmentMeanGradV2:
    """The gradient of `SparseSegmentMean`, only those rows that were picked."""

def SparseSegmentMeanWithNumSegments(
    *,
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `SparseSegmentMean`, with the number of segments given."""

def SparseSegmentSqrtN(
    *,
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum, divided by the square root of the number of rows, of the rows `data[indices[i]]` of each segment."""

def SparseSegmentSqrtNGrad(
    *,
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSegmentSqrtN`, as a dense tensor."""

def SparseSegmentSqrtNGradV2(
    *,
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    dense_output_dim0: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSegmentSqrtNGradV2:
    """The gradient of `SparseSegmentSqrtN`, only those rows that were picked."""

def SparseSegmentSqrtNWithNumSegments(
    *,
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `SparseSegmentSqrtN`, with the number of segments given."""

def SparseSegmentSum(
    *,
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum of the rows `data[indices[i]]` of each segment."""

def SparseSegmentSumGrad(
    *,
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSegmentSum`, as a dense tensor."""

def SparseSegmentSumGradV2(
    *,
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    dense_output_dim0: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSegmentSumGradV2:
    """The gradient of `SparseSegmentSum`, only those rows that were picked."""

def SparseSegmentSumWithNumSegments(
    *,
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `SparseSegmentSum`, with the number of segments given."""

def SparseSlice(
    *,
    indices: TensorLike,
    values: TensorLike,
    shape: TensorLike,
    start: TensorLike,
    size: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSlice:
    """The block of a sparse tensor that begins at `start` and has the given size."""

def SparseSliceGrad(
    *,
    backprop_val_grad: TensorLike,
    input_indices: TensorLike,
    input_start: TensorLike,
    output_indices: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSlice`."""

def SparseSoftmax(
    *,
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The softmax of the elements in each row of a sparse tensor."""

def SparseSoftmaxCrossEntropyWithLogits(
    *,
    features: TensorLike,
    labels: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSoftmaxCrossEntropyWithLogits:
    """[`SoftmaxCrossEntropyWithLogits`] for labels that are the number of one class in each row."""

def SparseSparseMaximum(
    *,
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSparseMaximum:
    """The greater of two sparse tensors at each place where one has an element."""

def SparseSparseMinimum(
    *,
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSparseMinimum:
    """The smaller of two sparse tensors at each place where one has an element."""

def SparseSplit(
    *,
    split_dim: TensorLike,
    indices: TensorLike,
    values: TensorLike,
    shape: TensorLike,
    num_split: int,
    name: str | None = None,
) -> _outputs.SparseSplit:
    """A sparse tensor cut along a dimension into `num_split` parts."""

def SparseTensorDenseAdd(
    *,
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The sum of a sparse tensor and a dense one of the same shape."""

def SparseTensorDenseMatMul(
    *,
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse matrix and a dense one."""

def SparseTensorSliceDataset(
    *,
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The rows of a sparse tensor, as sparse tensors."""

def SparseTensorToCSRSparseMatrix(
    *,
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A sparse tensor of two dimensions, or three for several matrices, as a sparse matrix."""

def SparseToDense(
    *,
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense tensor with the given elements and a default elsewhere."""

def SparseToSparseSetOperation(
    *,
    set1_indices: TensorLike,
    set1_values: TensorLike,
    set1_shape: TensorLike,
    set2_indices: TensorLike,
    set2_values: TensorLike,
    set2_shape: TensorLike,
    set_operation: str | bytes,
    validate_indices: bool = True,
    name: str | None = None,
) -> _outputs.SparseToSparseSetOperation:
    """As `DenseToDenseSetOperation`, with two sparse tensors."""

def Spence(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Spence's integral: that of `-ln(t) / (t - 1)` from 1 to `x`."""

def Split(*, axis: TensorLike, value: TensorLike, num_split: int, name: str | None = None) -> list[Tensor]:
    """`value` cut into `num_split` equal pieces along one dimension; its size must be a multiple of that."""

def SplitV(
    *,
    value: TensorLike,
    size_splits: TensorLike,
    axis: TensorLike,
    num_split: int,
    name: str | None = None,
) -> list[Tensor]:
    """`value` cut into pieces of the given sizes along one dimension."""

def Sqrt(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The square root. NaN below zero."""

def SqrtGrad(*, y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Sqrt`: `dy * 0.5 / y`. Of complex numbers the conjugate of `y` counts."""

def Square(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The square, `x * x`. Integers wrap."""

def SquaredDifference(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`(x - y)²`; for complex numbers `conj(x - y) * (x - y)`. The shapes broadcast."""

def Squeeze(*, input: TensorLike, axis: Sequence[int] = [], name: str | None = None) -> Tensor:
    """`input` without its dimensions of size 1."""

def Stack(*, elem_type: DTypeLike, stack_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A stack of tensors that lives as long as the run."""

def StackClose(*, handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets a stack."""

def StackCloseV2(*, handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets a stack."""

def StackPop(*, handle: TensorLike, elem_type: DTypeLike, name: str | None = None) -> Tensor:
    """Takes the last tensor from a stack."""

def StackPopV2(*, handle: TensorLike, elem_type: DTypeLike, name: str | None = None) -> Tensor:
    """Takes the last tensor from a stack."""

def StackPush(*, handle: TensorLike, elem: TensorLike, swap_memory: bool = False, name: str | None = None) -> Tensor:
    """Puts a tensor on a stack and hands it on."""

def StackPushV2(*, handle: TensorLike, elem: TensorLike, swap_memory: bool = False, name: str | None = None) -> Tensor:
    """Puts a tensor on a stack and hands it on."""

def StackV2(
    *,
    max_size: TensorLike,
    elem_type: DTypeLike,
    stack_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A stack of tensors that lives as long as the run."""

def Stage(
    *,
    values: Sequence[TensorLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Puts tensors into a staging area, in order; waits while it is full."""

def StageClear(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Takes everything out of a staging area."""

def StagePeek(
    *,
    index: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """The tensors at `index` of a staging area, which stay there; waits until it has as many."""

def StageSize(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of elements in a staging area."""

def StatefulPartitionedCall(
    *,
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    config: str | bytes = '',
    config_proto: str | bytes = '',
    executor_type: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Calls `f`, which has effects, with `args`."""

def StatefulRandomBinomial(
    *,
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random numbers of binomial distributions, from a variable's generator."""

def StatefulStandardNormal(
    *,
    resource: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, from a variable's generator that names its algorithm itself."""

def StatefulStandardNormalV2(
    *,
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, from a variable's generator."""

def StatefulTruncatedNormal(
    *,
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, those beyond 2 drawn again, from a variable's generator."""

def StatefulUniform(
    *,
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely, from a variable's generator."""

def StatefulUniformFullInt(
    *,
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: str | None = None,
) -> Tensor:
    """Random integers of the whole range of the dtype, from a variable's generator."""

def StatefulUniformInt(
    *,
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`, from a variable's generator."""

def StatelessCase(
    *,
    branch_index: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    branches: Sequence[FunctionLike],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls the branch that `branch_index` names with `input`, the last one if there is none; all are free of effects."""

def StatelessIf(
    *,
    cond: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    then_branch: FunctionLike,
    else_branch: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls `then_branch` with `input` if `cond` holds, and `else_branch` if not; both are free of effects."""

def StatelessMultinomial(
    *,
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random classes, each as likely as its logit says, which follow from a seed."""

def StatelessParameterizedTruncatedNormal(
    *,
    shape: TensorLike,
    seed: TensorLike,
    means: TensorLike,
    stddevs: TensorLike,
    minvals: TensorLike,
    maxvals: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of normal distributions that are cut off at both ends, which follow from a seed."""

def StatelessRandomBinomial(
    *,
    shape: TensorLike,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random numbers of binomial distributions, which follow from a seed."""

def StatelessRandomGammaV2(
    *,
    shape: TensorLike,
    seed: TensorLike,
    alpha: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of gamma distributions, which follow from a seed."""

def StatelessRandomGammaV3(
    *,
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    alpha: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of gamma distributions, from a key and a counter."""

def StatelessRandomGetAlg(*, name: str | None = None) -> Tensor:
    """The algorithm that suits the device, a scalar."""

def StatelessRandomGetKeyCounter(*, seed: TensorLike, name: str | None = None) -> _outputs.StatelessRandomGetKeyCounter:
    """The key and the counter that follow from a seed."""

def StatelessRandomGetKeyCounterAlg(
    *,
    seed: TensorLike,
    name: str | None = None,
) -> _outputs.StatelessRandomGetKeyCounterAlg:
    """The key and the counter that follow from a seed, and the algorithm for them."""

def StatelessRandomNormal(
    *,
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, which follow from a seed."""

def StatelessRandomNormalV2(
    *,
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, from a key and a counter."""

def StatelessRandomPoisson(
    *,
    shape: TensorLike,
    seed: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of Poisson distributions, which follow from a seed."""

def StatelessRandomUniform(
    *,
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely, which follow from a seed."""

def StatelessRandomUniformFullInt(
    *,
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: str | None = None,
) -> Tensor:
    """Random integers of the whole range of the dtype, which follow from a seed."""

def StatelessRandomUniformFullIntV2(
    *,
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: str | None = None,
) -> Tensor:
    """Random integers of the whole range of the dtype, from a key and a counter."""

def StatelessRandomUniformInt(
    *,
    shape: TensorLike,
    seed: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`, which follow from a seed."""

def StatelessRandomUniformIntV2(
    *,
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`, from a key and a counter."""

def StatelessRandomUniformV2(
    *,
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely, which follow from a key and a counter."""

def StatelessSampleDistortedBoundingBox(
    *,
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    min_object_covered: TensorLike,
    seed: TensorLike,
    aspect_ratio_range: Sequence[float] = [0.75, 1.33],
    area_range: Sequence[float] = [0.05, 1.0],
    max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False,
    name: str | None = None,
) -> _outputs.StatelessSampleDistortedBoundingBox:
    """A random box in an image that covers enough of one of the boxes that are given, the same for the same seed."""

def StatelessShuffle(
    *,
    value: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The rows of `value` in an order that follows from a key and a counter."""

def StatelessTruncatedNormal(
    *,
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, those beyond 2 drawn again, which follow from a seed."""

def StatelessTruncatedNormalV2(
    *,
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, those beyond 2 drawn again, from a key and a counter."""

def StatelessWhile(
    *,
    input: Sequence[TensorLike],
    cond: FunctionLike,
    body: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    parallel_iterations: int = 10,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `body` with its own results, first with `input`, for as long as `cond` holds of them; both are free of effects."""

def StaticRegexFullMatch(*, input: TensorLike, pattern: str | bytes, name: str | None = None) -> Tensor:
    """Whether a regular expression matches the whole of each string; the expression is an attr."""

def StaticRegexReplace(
    *,
    input: TensorLike,
    pattern: str | bytes,
    rewrite: str | bytes,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each string with matches of a regular expression replaced; the expression is an attr."""

def StatsAggregatorHandle(
    *,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects what is told of datasets, for `StatsAggregatorSummary`."""

def StatsAggregatorHandleV2(
    *,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects what is told of datasets, and writes it as `StatsAggregatorSetSummaryWriter` says."""

def StatsAggregatorSetSummaryWriter(
    *,
    stats_aggregator: TensorLike,
    summary: TensorLike,
    name: str | None = None,
) -> Effect:
    """Has what is collected written as summaries."""

def StatsAggregatorSummary(*, iterator: TensorLike, name: str | None = None) -> Tensor:
    """What was collected; nothing of one that writes it."""

def StochasticCastToInt(
    *,
    input: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    Tout: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Numbers rounded up or down at random, the nearer the likelier, to integers; what is beyond these is cut, NaN becomes 0."""

def StopGradient(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Passes `input` on; to gradients it is a constant."""

def StridedSlice(
    *,
    input: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: str | None = None,
) -> Tensor:
    """What Python's `input[begin:end:strides, …]` takes."""

def StridedSliceAssign(
    *,
    ref: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    value: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: str | None = None,
) -> Tensor:
    """Assigns to a part of a variable: `ref[begin:end:strides, …] = value`, with the masks of `StridedSlice`."""

def StridedSliceGrad(
    *,
    shape: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    dy: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`StridedSlice`](crate::StridedSlice): zeros, with `dy` where the slice was taken."""

def StringFormat(
    *,
    inputs: Sequence[TensorLike],
    template: str | bytes = '%s',
    placeholder: str | bytes = '%s',
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A template with tensors in place of its placeholders, with the first and last elements of each dimension."""

def StringJoin(*, inputs: Sequence[TensorLike], separator: str | bytes = '', name: str | None = None) -> Tensor:
    """Strings of several tensors joined, element by element. Scalars serve all elements."""

def StringLength(*, input: TensorLike, unit: Literal['BYTE', 'UTF8_CHAR'] = 'BYTE', name: str | None = None) -> Tensor:
    """The length of each string."""

def StringLower(*, input: TensorLike, encoding: str | bytes = '', name: str | None = None) -> Tensor:
    """Each string in lower case."""

def StringNGrams(
    *,
    data: TensorLike,
    data_splits: TensorLike,
    separator: str | bytes,
    ngram_widths: Sequence[int],
    left_pad: str | bytes,
    right_pad: str | bytes,
    pad_width: int,
    preserve_short_sequences: bool,
    name: str | None = None,
) -> _outputs.StringNGrams:
    """Runs of neighbouring strings joined, for each row of a ragged matrix and each width."""

def StringSplit(
    *,
    input: TensorLike,
    delimiter: TensorLike,
    skip_empty: bool = True,
    name: str | None = None,
) -> _outputs.StringSplit:
    """Each string cut where one of the bytes of `delimiter` stands, as a sparse matrix with a row a string."""

def StringSplitV2(
    *,
    input: TensorLike,
    sep: TensorLike,
    maxsplit: int = -1,
    name: str | None = None,
) -> _outputs.StringSplitV2:
    """Each string cut where the whole of `sep` stands, as Python does it, as a sparse matrix with a row a string."""

def StringStrip(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Each string without the white space at its ends."""

def StringToHashBucket(*, string_tensor: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string, by a hash that is kept for old graphs; [`StringToHashBucketFast`] is for new ones."""

def StringToHashBucketFast(*, input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string, by FarmHash's 64-bit fingerprint: fast, the same everywhere, not safe from malice."""

def StringToHashBucketStrong(
    *,
    input: TensorLike,
    num_buckets: int,
    key: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """The bucket of each string, by SipHash with a key: who does not know the key cannot choose strings that collide."""

def StringToNumber(
    *,
    string_tensor: TensorLike,
    out_type: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The number that each string holds."""

def StringUpper(*, input: TensorLike, encoding: str | bytes = '', name: str | None = None) -> Tensor:
    """Each string in upper case."""

def Sub(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The difference, `x - y`. Integers wrap. The shapes broadcast."""

def Substr(
    *,
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    unit: Literal['BYTE', 'UTF8_CHAR'] = 'BYTE',
    name: str | None = None,
) -> Tensor:
    """A part of each string."""

def Sum(*, input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The sum over some dimensions. Of nothing it is 0. Integers wrap."""

def SummaryWriter(*, shared_name: str | bytes = '', container: str | bytes = '', name: str | None = None) -> Tensor:
    """The handle of a writer, which `CreateSummaryFileWriter` makes."""

def Svd(
    *,
    input: TensorLike,
    compute_uv: bool = True,
    full_matrices: bool = False,
    name: str | None = None,
) -> _outputs.Svd:
    """Singular values and vectors: `input = u diag(s) vᴴ`."""

def Switch(*, data: TensorLike, pred: TensorLike, name: str | None = None) -> _outputs.Switch:
    """Hands `data` to `output_true` if `pred` holds and to `output_false` if not; the other output is dead."""

def SymbolicGradient(
    *,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    name: str | None = None,
) -> list[Tensor]:
    """The gradient of a function, or of an op of that name, which is derived when the node is first prepared to run."""

def TFRecordDataset(
    *,
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The records of TFRecord files."""

def TFRecordDatasetV2(
    *,
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    byte_offsets: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The records of TFRecord files."""

def TFRecordReader(
    *,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    compression_type: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of TFRecords: a record's key is the file's name, a colon, and where it begins, in bytes."""

def TFRecordReaderV2(
    *,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    compression_type: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of TFRecords: a record's key is the file's name, a colon, and where it begins, in bytes."""

def TakeDataset(
    *,
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The first `count` elements of a dataset; all if it is −1."""

def TakeManySparseFromTensorsMap(
    *,
    sparse_handles: TensorLike,
    dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> _outputs.TakeManySparseFromTensorsMap:
    """Takes sparse tensors out of a map, as the rows of one."""

def TakeWhileDataset(
    *,
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    predicate: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements before the first for which a function is false."""

def Tan(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent of `x` in radians."""

def Tanh(*, x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent."""

def TanhGrad(*, y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Tanh`: `dy * (1 - y²)`."""

def TemporaryVariable(
    *,
    shape: ShapeLike,
    dtype: DTypeLike,
    var_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A variable that lives until [`DestroyTemporaryVariable`] takes it, or the step ends."""

def TensorArray(
    *,
    size: TensorLike,
    dtype: DTypeLike,
    dynamic_size: bool = False,
    clear_after_read: bool = True,
    tensor_array_name: str | bytes = '',
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayV3`](super::TensorArrayV3)."""

def TensorArrayClose(*, handle: TensorLike, name: str | None = None) -> Effect:
    """The first form of [`TensorArrayCloseV3`](super::TensorArrayCloseV3)."""

def TensorArrayCloseV2(*, handle: TensorLike, name: str | None = None) -> Effect:
    """The second form of [`TensorArrayCloseV3`](super::TensorArrayCloseV3)."""

def TensorArrayCloseV3(*, handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets an array before the run ends."""

def TensorArrayConcat(
    *,
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorArrayConcat:
    """The first form of [`TensorArrayConcatV3`](super::TensorArrayConcatV3)."""

def TensorArrayConcatV2(
    *,
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorArrayConcatV2:
    """The second form of [`TensorArrayConcatV3`](super::TensorArrayConcatV3)."""

def TensorArrayConcatV3(
    *,
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorArrayConcatV3:
    """All elements of an array joined along their first dimension."""

def TensorArrayGather(
    *,
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayGatherV3`](super::TensorArrayGatherV3)."""

def TensorArrayGatherV2(
    *,
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayGatherV3`](super::TensorArrayGatherV3)."""

def TensorArrayGatherV3(
    *,
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Elements of an array stacked along a new first dimension."""

def TensorArrayGrad(*, handle: TensorLike, flow_in: TensorLike, source: str | bytes, name: str | None = None) -> Tensor:
    """The first form of [`TensorArrayGradV3`](super::TensorArrayGradV3)."""

def TensorArrayGradV2(
    *,
    handle: TensorLike,
    flow_in: TensorLike,
    source: str | bytes,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayGradV3`](super::TensorArrayGradV3)."""

def TensorArrayGradV3(
    *,
    handle: TensorLike,
    flow_in: TensorLike,
    source: str | bytes,
    name: str | None = None,
) -> _outputs.TensorArrayGradV3:
    """The array of gradients of an array: writes add up."""

def TensorArrayGradWithShape(
    *,
    handle: TensorLike,
    flow_in: TensorLike,
    shape_to_prepend: TensorLike,
    source: str | bytes,
    name: str | None = None,
) -> _outputs.TensorArrayGradWithShape:
    """The array of gradients of an array, whose elements have further dimensions in front."""

def TensorArrayPack(
    *,
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """All elements of an array stacked along a new first dimension."""

def TensorArrayRead(
    *,
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayReadV3`](super::TensorArrayReadV3)."""

def TensorArrayReadV2(
    *,
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayReadV3`](super::TensorArrayReadV3)."""

def TensorArrayReadV3(
    *,
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Reads an element of an array."""

def TensorArrayScatter(
    *,
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayScatterV3`](super::TensorArrayScatterV3)."""

def TensorArrayScatterV2(
    *,
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayScatterV3`](super::TensorArrayScatterV3)."""

def TensorArrayScatterV3(
    *,
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Writes the slices of `value` along its first dimension to elements of an array."""

def TensorArraySize(*, handle: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """The first form of [`TensorArraySizeV3`](super::TensorArraySizeV3)."""

def TensorArraySizeV2(*, handle: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """The second form of [`TensorArraySizeV3`](super::TensorArraySizeV3)."""

def TensorArraySizeV3(*, handle: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements of an array."""

def TensorArraySplit(
    *,
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArraySplitV3`](super::TensorArraySplitV3)."""

def TensorArraySplitV2(
    *,
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArraySplitV3`](super::TensorArraySplitV3)."""

def TensorArraySplitV3(
    *,
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Writes parts of `value`, cut along its first dimension, to the elements of an array."""

def TensorArrayUnpack(*, handle: TensorLike, value: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """Writes the slices of `value` along its first dimension to the elements of an array."""

def TensorArrayV2(
    *,
    size: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    dynamic_size: bool = False,
    clear_after_read: bool = True,
    tensor_array_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayV3`](super::TensorArrayV3)."""

def TensorArrayV3(
    *,
    size: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    dynamic_size: bool = False,
    clear_after_read: bool = True,
    identical_element_shapes: bool = False,
    tensor_array_name: str | bytes = '',
    name: str | None = None,
) -> _outputs.TensorArrayV3:
    """An array of tensors that lives as long as the run; each element is written once."""

def TensorArrayWrite(
    *,
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayWriteV3`](super::TensorArrayWriteV3)."""

def TensorArrayWriteV2(
    *,
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayWriteV3`](super::TensorArrayWriteV3)."""

def TensorArrayWriteV3(
    *,
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Writes an element of an array."""

def TensorDataset(
    *,
    components: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """One element."""

def TensorListConcat(
    *,
    input_handle: TensorLike,
    element_dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorListConcat:
    """The elements of a list joined along their first dimension."""

def TensorListConcatLists(
    *,
    input_a: TensorLike,
    input_b: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Lists with the elements of `input_a` followed by those of `input_b`."""

def TensorListConcatV2(
    *,
    input_handle: TensorLike,
    element_shape: TensorLike,
    leading_dims: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.TensorListConcatV2:
    """The elements of a list joined along their first dimension."""

def TensorListElementShape(*, input_handle: TensorLike, shape_type: DTypeLike, name: str | None = None) -> Tensor:
    """What the shapes of a list's elements are compatible with: a vector, or −1 for any rank."""

def TensorListFromTensor(*, tensor: TensorLike, element_shape: TensorLike, name: str | None = None) -> Tensor:
    """A list of the slices of `tensor` along its first dimension."""

def TensorListGather(
    *,
    input_handle: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a list at `indices`, stacked along a new first dimension."""

def TensorListGetItem(
    *,
    input_handle: TensorLike,
    index: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The element of a list at `index`."""

def TensorListLength(*, input_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements of a list."""

def TensorListPopBack(
    *,
    input_handle: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.TensorListPopBack:
    """The last element of a list, and the list without it."""

def TensorListPushBack(*, input_handle: TensorLike, tensor: TensorLike, name: str | None = None) -> Tensor:
    """A list with one more element at its end."""

def TensorListPushBackBatch(*, input_handles: TensorLike, tensor: TensorLike, name: str | None = None) -> Tensor:
    """Lists with one more element each: the slices of `tensor` along its first dimension."""

def TensorListReserve(
    *,
    element_shape: TensorLike,
    num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A list of `num_elements` elements, none of which is set."""

def TensorListResize(*, input_handle: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """A list cut, or extended by elements that are not set, to `size` elements."""

def TensorListScatter(
    *,
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list whose element at `indices[i]` is slice `i` of `tensor` along its first dimension."""

def TensorListScatterIntoExistingList(
    *,
    input_handle: TensorLike,
    tensor: TensorLike,
    indices: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list with other elements at `indices`: the slices of `tensor` along its first dimension."""

def TensorListScatterV2(
    *,
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    num_elements: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list whose element at `indices[i]` is slice `i` of `tensor` along its first dimension."""

def TensorListSetItem(
    *,
    input_handle: TensorLike,
    index: TensorLike,
    item: TensorLike,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """A list with another element at `index`."""

def TensorListSplit(
    *,
    tensor: TensorLike,
    element_shape: TensorLike,
    lengths: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list of parts of `tensor`, which is cut along its first dimension."""

def TensorListStack(
    *,
    input_handle: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    name: str | None = None,
) -> Tensor:
    """The elements of a list stacked along a new first dimension."""

def TensorMapErase(
    *,
    input_handle: TensorLike,
    key: TensorLike,
    value_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A map without the entry of `key`; a key that the map lacks is an error."""

def TensorMapHasKey(*, input_handle: TensorLike, key: TensorLike, name: str | None = None) -> Tensor:
    """Whether a map has an entry of `key`."""

def TensorMapInsert(*, input_handle: TensorLike, key: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """A map in which `key` leads to `value`, whatever it led to before."""

def TensorMapLookup(
    *,
    input_handle: TensorLike,
    key: TensorLike,
    value_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The tensor to which `key` leads; a key that the map lacks is an error."""

def TensorMapSize(*, input_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of entries of a map."""

def TensorMapStackKeys(*, input_handle: TensorLike, key_dtype: DTypeLike, name: str | None = None) -> Tensor:
    """The keys of a map stacked along a new first dimension."""

def TensorScatterAdd(
    *,
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with `updates` added to the elements or slices at `indices`."""

def TensorScatterMax(
    *,
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with the elements or slices at `indices` replaced by `updates` where those are greater."""

def TensorScatterMin(
    *,
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with the elements or slices at `indices` replaced by `updates` where those are less."""

def TensorScatterSub(
    *,
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with `updates` subtracted from the elements or slices at `indices`."""

def TensorScatterUpdate(
    *,
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with the elements or slices at `indices` replaced by `updates`; of several for one place the last one stays."""

def TensorSliceDataset(
    *,
    components: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    is_files: bool = False,
    metadata: str | bytes = '',
    replicate_on_split: bool = False,
    name: str | None = None,
) -> Tensor:
    """The rows of tensors, as elements."""

def TensorStridedSliceUpdate(
    *,
    input: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike,
    value: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: str | None = None,
) -> Tensor:
    """`input` with the part that [`StridedSlice`](crate::StridedSlice) would take replaced by `value`."""

def TensorSummary(
    *,
    tensor: TensorLike,
    description: str | bytes = '',
    labels: Sequence[str | bytes] = [],
    display_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A summary with a whole tensor and no tag."""

def TensorSummaryV2(
    *,
    tag: TensorLike,
    tensor: TensorLike,
    serialized_summary_metadata: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A summary with a whole tensor, a tag and what a plugin wants to know."""

def TextLineDataset(
    *,
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The lines of text files, without their ends."""

def TextLineReader(
    *,
    skip_header_lines: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of lines: a record's key is the file's name, a colon, and the number of the line, from 1."""

def TextLineReaderV2(
    *,
    skip_header_lines: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of lines: a record's key is the file's name, a colon, and the number of the line, from 1."""

def ThreadPoolDataset(
    *,
    input_dataset: TensorLike,
    thread_pool: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is: its work is done on the threads of the session."""

def ThreadPoolHandle(
    *,
    num_threads: int,
    display_name: str | bytes,
    max_intra_op_parallelism: int = 1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A pool of threads for datasets."""

def ThreadUnsafeUnigramCandidateSampler(
    *,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.ThreadUnsafeUnigramCandidateSampler:
    """[`LearnedUnigramCandidateSampler`], which in TensorFlow is not safe with several threads; here it is."""

def Tile(*, input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each dimension `i`."""

def TileGrad(*, input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Tile`: the sum of all tiles."""

def Timestamp(*, name: str | None = None) -> Tensor:
    """Seconds since 1970 began in Greenwich, at the moment at which it runs."""

def ToBool(*, input: TensorLike, name: str | None = None) -> Tensor:
    """Whether `input` holds: a number that is not zero, a string or any other tensor that is not empty."""

def TopK(*, input: TensorLike, k: int, sorted: bool = True, name: str | None = None) -> _outputs.TopK:
    """The `k` greatest elements of each row, and where they stood; [`TopKV2`] takes `k` as an input."""

def TopKV2(
    *,
    input: TensorLike,
    k: TensorLike,
    sorted: bool = True,
    index_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.TopKV2:
    """The `k` greatest elements of each row (the last dimension), and where they stood. Of equals the first comes first."""

def Transpose(*, x: TensorLike, perm: TensorLike, name: str | None = None) -> Tensor:
    """`x` with its dimensions permuted: `y.shape[i] = x.shape[perm[i]]`."""

def TridiagonalMatMul(
    *,
    superdiag: TensorLike,
    maindiag: TensorLike,
    subdiag: TensorLike,
    rhs: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The products of tridiagonal matrices and others."""

def TridiagonalSolve(
    *,
    diagonals: TensorLike,
    rhs: TensorLike,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions of equations with tridiagonal matrices."""

def TruncateDiv(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient rounded towards zero. Dividing integers by zero is an error. The shapes broadcast."""

def TruncateMod(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """What [`TruncateDiv`] leaves, with the sign of `x`: C's `%` and `fmod`. For integers a zero `y` is an error. The shapes broadcast."""

def TruncatedNormal(
    *,
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, those beyond 2 drawn again."""

def Unbatch(
    *,
    batched_tensor: TensorLike,
    batch_index: TensorLike,
    id: TensorLike,
    timeout_micros: int,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Gives each of the runs that were put together by `Batch` its part of a result."""

def UnbatchDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The rows of each element, as elements."""

def UnbatchGrad(
    *,
    original_input: TensorLike,
    batch_index: TensorLike,
    grad: TensorLike,
    id: TensorLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The gradient of `Unbatch`: puts the gradients of several runs together for the one that got the batch."""

def UncompressElement(
    *,
    compressed: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The components of an element that `CompressElement` compressed."""

def UnicodeDecode(
    *,
    input: TensorLike,
    input_encoding: str | bytes,
    errors: Literal['strict', 'replace', 'ignore'] = 'replace',
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.UnicodeDecode:
    """The characters of each string, as the rows of a ragged matrix."""

def UnicodeDecodeWithOffsets(
    *,
    input: TensorLike,
    input_encoding: str | bytes,
    errors: Literal['strict', 'replace', 'ignore'] = 'replace',
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.UnicodeDecodeWithOffsets:
    """[`UnicodeDecode`] that also says where each character begins."""

def UnicodeEncode(
    *,
    input_values: TensorLike,
    input_splits: TensorLike,
    output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'],
    errors: Literal['ignore', 'replace', 'strict'] = 'replace',
    replacement_char: int = 65533,
    name: str | None = None,
) -> Tensor:
    """The rows of a ragged matrix of characters as strings."""

def UnicodeScript(*, input: TensorLike, name: str | None = None) -> Tensor:
    """The script of each character, by the numbers of ICU; −1 for what is no character."""

def UnicodeTranscode(
    *,
    input: TensorLike,
    input_encoding: str | bytes,
    output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'],
    errors: Literal['strict', 'replace', 'ignore'] = 'replace',
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Each string in another encoding."""

def UniformCandidateSampler(
    *,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.UniformCandidateSampler:
    """Candidates that are all equally likely."""

def UniformDequantize(
    *,
    input: TensorLike,
    scales: TensorLike,
    zero_points: TensorLike,
    Tout: DTypeLike,
    quantization_min_val: int,
    quantization_max_val: int,
    quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """The values that quantized numbers stand for."""

def UniformQuantize(
    *,
    input: TensorLike,
    scales: TensorLike,
    zero_points: TensorLike,
    Tout: DTypeLike,
    quantization_min_val: int,
    quantization_max_val: int,
    quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Values as quantized numbers."""

def UniformQuantizedAdd(
    *,
    lhs: TensorLike,
    rhs: TensorLike,
    lhs_scales: TensorLike,
    lhs_zero_points: TensorLike,
    rhs_scales: TensorLike,
    rhs_zero_points: TensorLike,
    output_scales: TensorLike,
    output_zero_points: TensorLike,
    lhs_quantization_min_val: int,
    lhs_quantization_max_val: int,
    rhs_quantization_min_val: int,
    rhs_quantization_max_val: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
    lhs_quantization_axis: int = -1,
    rhs_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """The sum of quantized numbers, with broadcasting."""

def UniformQuantizedClipByValue(
    *,
    operand: TensorLike,
    min: TensorLike,
    max: TensorLike,
    scales: TensorLike,
    zero_points: TensorLike,
    quantization_min_val: int,
    quantization_max_val: int,
    quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Quantized numbers that are cut to a range."""

def UniformQuantizedConvolution(
    *,
    lhs: TensorLike,
    rhs: TensorLike,
    lhs_scales: TensorLike,
    lhs_zero_points: TensorLike,
    rhs_scales: TensorLike,
    rhs_zero_points: TensorLike,
    output_scales: TensorLike,
    output_zero_points: TensorLike,
    Tout: DTypeLike,
    padding: str | bytes,
    lhs_quantization_min_val: int,
    lhs_quantization_max_val: int,
    rhs_quantization_min_val: int,
    rhs_quantization_max_val: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
    window_strides: Sequence[int] = [],
    explicit_padding: Sequence[int] = [],
    lhs_dilation: Sequence[int] = [],
    rhs_dilation: Sequence[int] = [],
    batch_group_count: int = 1,
    feature_group_count: int = 1,
    dimension_numbers: str | bytes = '',
    lhs_quantization_axis: int = -1,
    rhs_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """A convolution of quantized numbers, over any number of spatial dimensions."""

def UniformQuantizedConvolutionHybrid(
    *,
    lhs: TensorLike,
    rhs: TensorLike,
    rhs_scales: TensorLike,
    rhs_zero_points: TensorLike,
    Tout: DTypeLike,
    padding: str | bytes,
    rhs_quantization_min_val: int,
    rhs_quantization_max_val: int,
    window_strides: Sequence[int] = [],
    explicit_padding: Sequence[int] = [],
    lhs_dilation: Sequence[int] = [],
    rhs_dilation: Sequence[int] = [],
    batch_group_count: int = 1,
    feature_group_count: int = 1,
    dimension_numbers: str | bytes = '',
    rhs_quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """A convolution of values, each batch of which is quantized on the way, with a filter of quantized numbers."""

def UniformQuantizedDot(
    *,
    lhs: TensorLike,
    rhs: TensorLike,
    lhs_scales: TensorLike,
    lhs_zero_points: TensorLike,
    rhs_scales: TensorLike,
    rhs_zero_points: TensorLike,
    output_scales: TensorLike,
    output_zero_points: TensorLike,
    Tout: DTypeLike,
    lhs_quantization_min_val: int,
    lhs_quantization_max_val: int,
    rhs_quantization_min_val: int,
    rhs_quantization_max_val: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
    lhs_quantization_axis: int = -1,
    rhs_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices of quantized numbers."""

def UniformQuantizedDotHybrid(
    *,
    lhs: TensorLike,
    rhs: TensorLike,
    rhs_scales: TensorLike,
    rhs_zero_points: TensorLike,
    Tout: DTypeLike,
    rhs_quantization_min_val: int,
    rhs_quantization_max_val: int,
    rhs_quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix of values, each row of which is quantized on the way, and one of quantized numbers."""

def UniformRequantize(
    *,
    input: TensorLike,
    input_scales: TensorLike,
    input_zero_points: TensorLike,
    output_scales: TensorLike,
    output_zero_points: TensorLike,
    Tout: DTypeLike,
    input_quantization_min_val: int,
    input_quantization_max_val: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
    input_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Quantized numbers by other scales and zero points."""

def Unique(*, x: TensorLike, out_idx: DTypeLike = _dtypes.int32, name: str | None = None) -> _outputs.Unique:
    """The different elements of a vector in the order in which they first occur, and for each element which it is."""

def UniqueDataset(
    *,
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, each once."""

def UniqueV2(
    *,
    x: TensorLike,
    axis: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.UniqueV2:
    """The different slices along one dimension in the order in which they first occur, and for each slice which it is."""

def UniqueWithCounts(
    *,
    x: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.UniqueWithCounts:
    """The different elements of a vector in the order in which they first occur, for each element which it is, and how often each occurs."""

def UniqueWithCountsV2(
    *,
    x: TensorLike,
    axis: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.UniqueWithCountsV2:
    """The different slices along one dimension in the order in which they first occur, for each slice which it is, and how often each occurs."""

def Unpack(*, value: TensorLike, num: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """The slices of `value` along one dimension, without that dimension."""

def UnravelIndex(*, indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """The coordinates of elements that are given by their places in row-major order: a column for each of `indices`, or a vector if that is a scalar."""

def UnsortedSegmentJoin(
    *,
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The strings of each segment joined, in their order in `inputs`."""

def UnsortedSegmentMax(
    *,
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The greatest element of the rows in each of `num_segments` segments, in any order. Of no rows it is the least finite value."""

def UnsortedSegmentMin(
    *,
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The least element of the rows in each of `num_segments` segments, in any order. Of no rows it is the greatest finite value."""

def UnsortedSegmentProd(
    *,
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The product of the rows in each of `num_segments` segments, in any order. Of no rows it is 1."""

def UnsortedSegmentSum(
    *,
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The sum of the rows in each of `num_segments` segments, in any order. Of no rows it is 0."""

def Unstage(
    *,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Takes the tensors that came first out of a staging area; waits while there are none."""

def UnwrapDatasetVariant(*, input_handle: TensorLike, name: str | None = None) -> Tensor:
    """The dataset that `WrapDatasetVariant` was given."""

def UpperBound(
    *,
    sorted_inputs: TensorLike,
    values: TensorLike,
    out_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The last place in a sorted row at which a value can be inserted so that the row stays sorted."""

def VarHandleOp(
    *,
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    debug_name: str | bytes = '',
    allowed_devices: Sequence[str | bytes] = [],
    name: str | None = None,
) -> Tensor:
    """A handle of a variable, which need not exist yet: the first assignment makes it."""

def VarIsInitializedOp(*, resource: TensorLike, name: str | None = None) -> Tensor:
    """Whether a variable exists and has a value."""

def Variable(
    *,
    shape: ShapeLike,
    dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """[`VariableV2`] of older graphs."""

def VariableShape(*, input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: str | None = None) -> Tensor:
    """The shape of a variable's value."""

def VariableV2(
    *,
    shape: ShapeLike,
    dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A variable that other nodes change through references; it lives as long as the session."""

def WeightedFlatMapDataset(
    *,
    input_datasets: Sequence[TensorLike],
    weights: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of several datasets one after the other, of each as many as its weight says, so that one of them is used up."""

def Where(*, condition: TensorLike, name: str | None = None) -> Tensor:
    """The indices of the elements that are not zero or false, in row-major order: a matrix with a row for each of them."""

def While(
    *,
    input: Sequence[TensorLike],
    cond: FunctionLike,
    body: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    parallel_iterations: int = 10,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `body` with its own results, first with `input`, for as long as `cond` holds of them."""

def WholeFileReader(*, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of files as wholes: a record's key is the file's name."""

def WholeFileReaderV2(*, container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of files as wholes: a record's key is the file's name."""

def WindowDataset(
    *,
    input_dataset: TensorLike,
    size: TensorLike,
    shift: TensorLike,
    stride: TensorLike,
    drop_remainder: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Datasets of some elements each: windows that move over a dataset."""

def WindowOp(
    *,
    inputs: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset of elements that are given component by component."""

def WrapDatasetVariant(*, input_handle: TensorLike, name: str | None = None) -> Tensor:
    """A dataset as a value that copies between devices leave alone."""

def WriteAudioSummary(
    *,
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    name: str | None = None,
) -> Effect:
    """Adds sounds, as WAV."""

def WriteFile(*, filename: TensorLike, contents: TensorLike, name: str | None = None) -> Effect:
    """Writes a file, and makes the folders that it needs."""

def WriteGraphSummary(*, writer: TensorLike, step: TensorLike, tensor: TensorLike, name: str | None = None) -> Effect:
    """Adds a `GraphDef` message, serialized."""

def WriteHistogramSummary(
    *,
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a histogram of all values, which must be finite."""

def WriteImageSummary(
    *,
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    tensor: TensorLike,
    bad_color: TensorLike,
    max_images: int = 3,
    name: str | None = None,
) -> Effect:
    """Adds images, as PNG. Its kernel comes with the feature `image_codecs`."""

def WriteRawProtoSummary(
    *,
    writer: TensorLike,
    step: TensorLike,
    tensor: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds `Summary` messages, serialized, as one."""

def WriteScalarSummary(
    *,
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    value: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a number."""

def WriteSummary(
    *,
    writer: TensorLike,
    step: TensorLike,
    tensor: TensorLike,
    tag: TensorLike,
    summary_metadata: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a whole tensor with what a plugin wants to know of it."""

def Xdivy(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast."""

def Xlog1py(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log(1 + y)`, precise where `y` is near zero, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast."""

def Xlogy(*, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log(y)`, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast."""

def ZerosLike(*, x: TensorLike, name: str | None = None) -> Tensor:
    """Zeros in the shape of `x`; for strings empty ones."""

def Zeta(*, x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function, the sum of `(q + n)^-x` over all `n` from 0 on."""

def ZipDataset(
    *,
    input_datasets: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements made of one element of each dataset, as long as all have one."""
