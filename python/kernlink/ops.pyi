"""All ops as functions in snake case. Written by `generate_stubs.py`."""

from . import _dtypes, _outputs
from ._types import DTypeLike, Effect, FunctionLike, Literal, Sequence, ShapeLike, Tensor, TensorLike

def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value, `|x|`. The least integer has none and stays itself."""

def accumulate_nv2(inputs: Sequence[TensorLike], shape: ShapeLike, name: str | None = None) -> Tensor:
    """The sum of all inputs, as [`AddN`]. TensorFlow adds them up as they become known."""

def accumulator_apply_gradient(
    handle: TensorLike,
    local_step: TensorLike,
    gradient: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a gradient to an accumulator."""

def accumulator_num_accumulated(handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of gradients in an accumulator."""

def accumulator_set_global_step(handle: TensorLike, new_global_step: TensorLike, name: str | None = None) -> Effect:
    """Tells an accumulator the present step."""

def accumulator_take_gradient(
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Takes the mean, or the sum, of the gradients in an accumulator; waits until there are enough."""

def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse cosine, from 0 to π. NaN outside of −1 to 1."""

def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine. NaN below 1."""

def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The sum, `x + y`; strings are joined. Integers wrap. The shapes broadcast."""

def add_many_sparse_to_tensors_map(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Puts each row of a sparse tensor into a map; returns the numbers under which they are there."""

def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The sum of all inputs, which have one shape. Nothing broadcasts."""

def add_sparse_to_tensors_map(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Puts a sparse tensor into a map; returns the number under which it is there."""

def add_v2(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The sum, `x + y`. Integers wrap. The shapes broadcast."""

def adjust_contrast(
    images: TensorLike,
    contrast_factor: TensorLike,
    min_value: TensorLike,
    max_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """[`AdjustContrastv2`] with results clipped to a range."""

def adjust_contrastv2(images: TensorLike, contrast_factor: TensorLike, name: str | None = None) -> Tensor:
    """Images whose pixels are as many times as far from the mean of their channel as `contrast_factor` says."""

def adjust_hue(images: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Images of red, green and blue whose hues are turned by `delta`."""

def adjust_saturation(images: TensorLike, scale: TensorLike, name: str | None = None) -> Tensor:
    """Images of red, green and blue whose saturations are multiplied by `scale`."""

def all(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Whether all elements over some dimensions are true. Of nothing, yes."""

def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.AllCandidateSampler:
    """All classes, of which there are `num_sampled`, each once."""

def angle(input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The argument in radians, from −π to π."""

def anonymous_hash_table(key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Tensor:
    """A table from keys to values that is filled once and goes with the last copy of its handle."""

def anonymous_iterator(
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator that goes with its handle."""

def anonymous_iterator_v2(
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> _outputs.AnonymousIteratorV2:
    """An iterator that goes with its handle."""

def anonymous_iterator_v3(
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator that goes with its handle."""

def anonymous_memory_cache(name: str | None = None) -> _outputs.AnonymousMemoryCache:
    """A cache that goes with its handle."""

def anonymous_multi_device_iterator(
    devices: Sequence[str | bytes],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> _outputs.AnonymousMultiDeviceIterator:
    """An iterator whose elements several devices get in turn, and that goes with its handle."""

def anonymous_multi_device_iterator_v3(
    devices: Sequence[str | bytes],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator whose elements several devices get in turn, and that goes with its handle."""

def anonymous_mutable_dense_hash_table(
    empty_key: TensorLike,
    deleted_key: TensorLike,
    value_dtype: DTypeLike,
    value_shape: ShapeLike = [],
    initial_num_buckets: int = 131072,
    max_load_factor: float = 0.8,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values in one block of memory, which goes with the last copy of its handle."""

def anonymous_mutable_hash_table(key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None = None) -> Tensor:
    """A table from keys to values that can be changed at any time and goes with the last copy of its handle."""

def anonymous_mutable_hash_table_of_tensors(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    value_shape: ShapeLike = [],
    name: str | None = None,
) -> Tensor:
    """A table from keys to vectors that can be changed at any time and goes with the last copy of its handle."""

def anonymous_random_seed_generator(
    seed: TensorLike,
    seed2: TensorLike,
    name: str | None = None,
) -> _outputs.AnonymousRandomSeedGenerator:
    """A generator of seeds that goes with its handle."""

def anonymous_seed_generator(
    seed: TensorLike,
    seed2: TensorLike,
    reshuffle: TensorLike,
    name: str | None = None,
) -> _outputs.AnonymousSeedGenerator:
    """A generator of seeds that goes with its handle."""

def any(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Whether any element over some dimensions is true. Of nothing, no."""

def apply_ada_max(
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

def apply_adadelta(
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

def apply_adagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Tensor:
    """A step of Adagrad: `accum += grad²`, `var -= lr * grad / sqrt(accum)`."""

def apply_adagrad_da(
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

def apply_adagrad_v2(
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

def apply_adam(
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

def apply_add_sign(
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

def apply_centered_rms_prop(
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

def apply_ftrl(
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

def apply_ftrl_v2(
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

def apply_gradient_descent(
    var: TensorLike,
    alpha: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step against the gradient: `var -= alpha * delta`."""

def apply_momentum(
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

def apply_power_sign(
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

def apply_proximal_adagrad(
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

def apply_proximal_gradient_descent(
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """A step against the gradient, then towards zero (FOBOS)."""

def apply_rms_prop(
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

def approx_top_k(
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

def approximate_equal(x: TensorLike, y: TensorLike, tolerance: float = 1e-05, name: str | None = None) -> Tensor:
    """Whether `abs(x - y) < tolerance`."""

def arg_max(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the greatest element along one dimension, which falls away. Of equals it is the first."""

def arg_min(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the least element along one dimension, which falls away. Of equals it is the first."""

def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Each element as text."""

def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse sine, from −π/2 to π/2. NaN outside of −1 to 1."""

def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine."""

def assert_(condition: TensorLike, data: Sequence[TensorLike], summarize: int = 3, name: str | None = None) -> Effect:
    """Fails with INVALID_ARGUMENT and the values of `data` unless the condition holds."""

def assert_cardinality_dataset(
    input_dataset: TensorLike,
    cardinality: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which must be as many as is said."""

def assert_next_dataset(
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def assert_prev_dataset(
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def assign(
    ref: TensorLike,
    value: TensorLike,
    validate_shape: bool = True,
    use_locking: bool = True,
    name: str | None = None,
) -> Tensor:
    """Gives a variable a value."""

def assign_add(ref: TensorLike, value: TensorLike, use_locking: bool = False, name: str | None = None) -> Tensor:
    """Adds to a variable."""

def assign_add_variable_op(resource: TensorLike, value: TensorLike, name: str | None = None) -> Effect:
    """Adds to a variable."""

def assign_sub(ref: TensorLike, value: TensorLike, use_locking: bool = False, name: str | None = None) -> Tensor:
    """Subtracts from a variable."""

def assign_sub_variable_op(resource: TensorLike, value: TensorLike, name: str | None = None) -> Effect:
    """Subtracts from a variable."""

def assign_variable_op(
    resource: TensorLike,
    value: TensorLike,
    validate_shape: bool = False,
    name: str | None = None,
) -> Effect:
    """Gives a variable a value. The first assignment makes the variable."""

def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse tangent, from −π/2 to π/2."""

def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The angle of the point (`x`, `y`), from −π to π. The shapes broadcast."""

def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent. ±∞ at ±1, NaN beyond."""

def audio_microfrontend(
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

def audio_spectrogram(
    input: TensorLike,
    window_size: int,
    stride: int,
    magnitude_squared: bool = False,
    name: str | None = None,
) -> Tensor:
    """The strength of each frequency in windows of audio."""

def audio_summary(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: float,
    max_outputs: int = 3,
    name: str | None = None,
) -> Tensor:
    """A summary with sounds, as WAV; the sample rate is an attr."""

def audio_summary_v2(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    name: str | None = None,
) -> Tensor:
    """A summary with sounds, as WAV; the sample rate is an input."""

def auto_shard_dataset(
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

def avg_pool(
    value: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The mean of each window; what lies outside of `value` does not count."""

def avg_pool3d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The mean of each window of volumes; what lies outside of `input` does not count."""

def avg_pool3d_grad(
    orig_input_shape: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`AvgPool3D`]."""

def avg_pool_grad(
    orig_input_shape: TensorLike,
    grad: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of `AvgPool`: each element of `grad` is shared evenly by what its window covered."""

def banded_triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions of `matrix x = rhs` for triangular matrices of `k` diagonals."""

def barrier(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects the components of elements by key, and gives elements that are complete in the order of their first components."""

def barrier_close(handle: TensorLike, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
    """Closes a barrier: no new elements are begun."""

def barrier_incomplete_size(handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements in a barrier that lack components."""

def barrier_insert_many(
    handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    component_index: int,
    name: str | None = None,
) -> Effect:
    """Gives elements of a barrier one of their components."""

def barrier_ready_size(handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of complete elements in a barrier."""

def barrier_take_many(
    handle: TensorLike,
    num_elements: TensorLike,
    component_types: Sequence[DTypeLike],
    allow_small_batch: bool = False,
    wait_for_incomplete: bool = False,
    timeout_ms: int = -1,
    name: str | None = None,
) -> _outputs.BarrierTakeMany:
    """Takes complete elements out of a barrier; waits until there are as many."""

def batch(
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

def batch_cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """[`Cholesky`] of old graphs."""

def batch_cholesky_grad(l: TensorLike, grad: TensorLike, name: str | None = None) -> Tensor:
    """[`CholeskyGrad`] of old graphs."""

def batch_dataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements stacked along a new first dimension, `batch_size` at a time."""

def batch_dataset_v2(
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

def batch_function(
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

def batch_mat_mul(
    x: TensorLike,
    y: TensorLike,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions must be equal."""

def batch_mat_mul_v2(
    x: TensorLike,
    y: TensorLike,
    adj_x: bool = False,
    adj_y: bool = False,
    grad_x: bool = False,
    grad_y: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of two stacks of matrices, `[…, m, k] × […, k, n] → […, m, n]`; the outer dimensions broadcast."""

def batch_mat_mul_v3(
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

def batch_matrix_band_part(
    input: TensorLike,
    num_lower: TensorLike,
    num_upper: TensorLike,
    name: str | None = None,
) -> Tensor:
    """[`MatrixBandPart`] of old graphs."""

def batch_matrix_determinant(input: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixDeterminant`] of old graphs."""

def batch_matrix_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixDiag`] of old graphs."""

def batch_matrix_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixDiagPart`] of old graphs."""

def batch_matrix_inverse(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """[`MatrixInverse`] of old graphs."""

def batch_matrix_set_diag(input: TensorLike, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """[`MatrixSetDiag`] of old graphs."""

def batch_matrix_solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """[`MatrixSolve`] of old graphs."""

def batch_matrix_solve_ls(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """[`MatrixSolveLs`] of old graphs."""

def batch_matrix_triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`MatrixTriangularSolve`] of old graphs."""

def batch_norm_with_global_normalization(
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

def batch_norm_with_global_normalization_grad(
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

def batch_self_adjoint_eig(input: TensorLike, name: str | None = None) -> Tensor:
    """[`SelfAdjointEig`] of old graphs."""

def batch_self_adjoint_eig_v2(
    input: TensorLike,
    compute_v: bool = True,
    name: str | None = None,
) -> _outputs.BatchSelfAdjointEigV2:
    """[`SelfAdjointEigV2`] of old graphs."""

def batch_svd(
    input: TensorLike,
    compute_uv: bool = True,
    full_matrices: bool = False,
    name: str | None = None,
) -> _outputs.BatchSvd:
    """[`Svd`] of old graphs."""

def batch_to_space(input: TensorLike, crops: TensorLike, block_size: int, name: str | None = None) -> Tensor:
    """Squares moved from the batch dimension back into the image, which is then cropped: undoes [`SpaceToBatch`]."""

def batch_to_space_nd(input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """Blocks moved from the batch dimension back into the spatial ones, which are then cropped: undoes [`SpaceToBatchND`]."""

def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind and order 0."""

def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselI0`] times `exp(-|x|)`."""

def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind and order 1."""

def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselI1`] times `exp(-|x|)`."""

def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind and order 0."""

def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind and order 1."""

def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind and order 0. Infinite from 0 down."""

def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselK0`] times `exp(x)`."""

def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind and order 1. Infinite from 0 down."""

def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """[`BesselK1`] times `exp(x)`."""

def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind and order 0. −∞ from 0 down."""

def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind and order 1. −∞ from 0 down."""

def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function, `I_x(a, b)`."""

def bias_add(
    value: TensorLike,
    bias: TensorLike,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """`bias`, a vector, added to each channel of `value`."""

def bias_add_grad(
    out_backprop: TensorLike,
    data_format: Literal['NHWC', 'NCHW'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The gradient of `BiasAdd` with respect to the bias: for each channel the sum of its elements."""

def bias_add_v1(value: TensorLike, bias: TensorLike, name: str | None = None) -> Tensor:
    """`bias`, a vector, added along the last dimension of `value`: `BiasAdd` as it was before it knew data formats."""

def bincount(arr: TensorLike, size: TensorLike, weights: TensorLike, name: str | None = None) -> Tensor:
    """How often each number from 0 to `size` − 1 occurs, or the sum of the weights of its occurrences."""

def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The same bytes as elements of another dtype."""

def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in both. The shapes broadcast."""

def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in at least one. The shapes broadcast."""

def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that are set in just one. The shapes broadcast."""

def block_lstm(
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

def block_lstm_grad(
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

def block_lstm_grad_v2(
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

def block_lstmv2(
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

def broadcast_args(s0: TensorLike, s1: TensorLike, name: str | None = None) -> Tensor:
    """The shape that two shapes broadcast to; all are vectors."""

def broadcast_gradient_args(s0: TensorLike, s1: TensorLike, name: str | None = None) -> _outputs.BroadcastGradientArgs:
    """For two shapes that broadcast, the dimensions along which each one's gradient is summed."""

def broadcast_to(input: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """`input` repeated to the given shape."""

def bucketize(input: TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """For each value the number of `boundaries` that are not above it."""

def bytes_produced_stats_dataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, of whose bytes `SetStatsAggregatorDataset` is told."""

def csr_sparse_matrix_components(
    csr_sparse_matrix: TensorLike,
    index: TensorLike,
    type: DTypeLike,
    name: str | None = None,
) -> _outputs.CSRSparseMatrixComponents:
    """The arrays of one of the matrices in a sparse matrix."""

def csr_sparse_matrix_to_dense(sparse_input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """A sparse matrix as a dense one."""

def csr_sparse_matrix_to_sparse_tensor(
    sparse_matrix: TensorLike,
    type: DTypeLike,
    name: str | None = None,
) -> _outputs.CSRSparseMatrixToSparseTensor:
    """A sparse matrix as a sparse tensor."""

def csv_dataset(
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

def csv_dataset_v2(
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

def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int,
    top_paths: int,
    merge_repeated: bool = True,
    name: str | None = None,
) -> _outputs.CTCBeamSearchDecoder:
    """The most probable labels of each sequence, found by a search that keeps the best beginnings after each step."""

def ctc_greedy_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = False,
    blank_index: int = -1,
    name: str | None = None,
) -> _outputs.CTCGreedyDecoder:
    """The labels that follow from each step's best class."""

def ctc_loss(
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

def cache_dataset(
    input_dataset: TensorLike,
    filename: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which are kept from the first time on."""

def cache_dataset_v2(
    input_dataset: TensorLike,
    filename: TensorLike,
    cache: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, which are kept from the first time on."""

def calibration_statistics_saver(
    args: Sequence[TensorLike],
    ids: Sequence[str | bytes],
    calibration_methods: Sequence[int],
    output_file_path: str | bytes,
    name: str | None = None,
) -> Effect:
    """Puts together what [`CustomAggregator`] says of several batches, and saves it to a file when the session ends."""

def case(
    branch_index: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    branches: Sequence[FunctionLike],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls the branch that `branch_index` names with `input`, the last one if there is none."""

def cast(x: TensorLike, DstT: DTypeLike, Truncate: bool = False, name: str | None = None) -> Tensor:
    """Each element as a `DstT`."""

def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The least integer that is not below `x`."""

def check_numerics(tensor: TensorLike, message: str | bytes, name: str | None = None) -> Tensor:
    """`tensor` itself; fails with INVALID_ARGUMENT if an element is infinite or NaN."""

def check_numerics_v2(tensor: TensorLike, message: str | bytes, name: str | None = None) -> Tensor:
    """[`CheckNumerics`] whose error says which infinities there are."""

def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular matrices `L` for which `input = L Lᴴ`."""

def cholesky_grad(l: TensorLike, grad: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of [`Cholesky`]: symmetric matrices."""

def choose_fastest_branch_dataset(
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

def choose_fastest_dataset(
    input_datasets: Sequence[TensorLike],
    num_experiments: int,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of that of several equal datasets which gives them fastest."""

def clip_by_value(
    t: TensorLike,
    clip_value_min: TensorLike,
    clip_value_max: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`t` limited to the range from `clip_value_min` to `clip_value_max`: `max(min(t, clip_value_max), clip_value_min)`."""

def close_summary_writer(writer: TensorLike, name: str | None = None) -> Effect:
    """Writes what waits, and forgets the writer."""

def combined_non_max_suppression(
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

def complex(real: TensorLike, imag: TensorLike, Tout: DTypeLike = _dtypes.complex64, name: str | None = None) -> Tensor:
    """The complex number `real + i * imag`. The shapes broadcast."""

def complex_abs(x: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The absolute value."""

def composite_tensor_variant_from_components(
    components: Sequence[TensorLike],
    metadata: str | bytes,
    name: str | None = None,
) -> Tensor:
    """The tensors of a composite value in a scalar, with what is known of its type."""

def composite_tensor_variant_to_components(
    encoded: TensorLike,
    metadata: str | bytes,
    Tcomponents: Sequence[DTypeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The tensors of a composite value; it is an error if it is of another type, or if it has others."""

def compress_element(components: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The components of an element as one variant, compressed by Snappy."""

def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> _outputs.ComputeAccidentalHits:
    """Where candidates are true classes of a row: triples of the row, the candidate's place and a great negative weight."""

def compute_batch_size(input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """How many elements a dataset batches, as far as the nodes tell that it was made of."""

def concat(concat_dim: TensorLike, values: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Tensors joined along one dimension; all others must be equal."""

def concat_offset(concat_dim: TensorLike, shape: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Where each of several tensors begins once they are joined along one dimension."""

def concat_v2(values: Sequence[TensorLike], axis: TensorLike, name: str | None = None) -> Tensor:
    """Tensors joined along one dimension; all others must be equal."""

def concatenate_dataset(
    input_dataset: TensorLike,
    another_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, then those of another."""

def conditional_accumulator(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    reduction_type: Literal['MEAN', 'SUM'] = 'MEAN',
    name: str | None = None,
) -> Tensor:
    """Adds gradients up until enough have come; those of earlier steps than the present one are dropped."""

def conj(input: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate."""

def conjugate_transpose(x: TensorLike, perm: TensorLike, name: str | None = None) -> Tensor:
    """`x` with its dimensions permuted and its complex numbers conjugated."""

def const(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """A tensor that stands in the graph itself."""

def consume_mutex_lock(mutex_lock: TensorLike, name: str | None = None) -> Effect:
    """Lets go of a lock."""

def control_trigger(name: str | None = None) -> Effect:
    """Does nothing, even where its control inputs are dead."""

def conv(
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

def conv2d(
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

def conv2d_backprop_filter(
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

def conv2d_backprop_input(
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

def conv3d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The 3-D convolution of `input` with `filter` (strictly, the cross-correlation)."""

def conv3d_backprop_filter(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Conv3D`] with respect to its filter, which is given for its shape."""

def conv3d_backprop_filter_v2(
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

def conv3d_backprop_input(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    dilations: Sequence[int] = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Conv3D`] with respect to its input, which is given for its shape."""

def conv3d_backprop_input_v2(
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

def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine of `x` in radians."""

def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine."""

def count_up_to(ref: TensorLike, limit: int, name: str | None = None) -> Tensor:
    """Adds one to a variable and gives its value from before, until that is `limit`: then the error is OUT_OF_RANGE."""

def create_summary_file_writer(
    writer: TensorLike,
    logdir: TensorLike,
    max_queue: TensorLike,
    flush_millis: TensorLike,
    filename_suffix: TensorLike,
    name: str | None = None,
) -> Effect:
    """Makes a writer to a file of its own, unless there is one of the handle already."""

def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    crop_size: TensorLike,
    method: Literal['bilinear', 'nearest'] = 'bilinear',
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """What boxes contain of images, each in the same size."""

def crop_and_resize_grad_boxes(
    grads: TensorLike,
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    method: Literal['bilinear'] = 'bilinear',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`CropAndResize`] with respect to the boxes."""

def crop_and_resize_grad_image(
    grads: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike,
    image_size: TensorLike,
    T: DTypeLike,
    method: Literal['bilinear', 'nearest'] = 'bilinear',
    name: str | None = None,
) -> Tensor:
    """The gradient of [`CropAndResize`] with respect to the images."""

def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross products of the vectors of three elements in the last dimension."""

def cumprod(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Products of all elements up to each one along a dimension."""

def cumsum(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sums of all elements up to each one along a dimension."""

def cumulative_logsumexp(
    x: TensorLike,
    axis: TensorLike,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Logarithms of the sums of the exponentials of all elements up to each one along a dimension."""

def custom_aggregator(
    input: TensorLike,
    id: str | bytes,
    calibration_method: int = 0,
    num_bins: int = 0,
    min_percentile: float = 0.0,
    max_percentile: float = 0.0,
    name: str | None = None,
) -> _outputs.CustomAggregator:
    """Passes values on, with their range and how many of them lie where in it."""

def data_format_dim_map(
    x: TensorLike,
    src_format: str | bytes = 'NHWC',
    dst_format: str | bytes = 'NCHW',
    name: str | None = None,
) -> Tensor:
    """Dimensions of `src_format` as dimensions of `dst_format`. Negative ones are counted from the end."""

def data_format_vec_permute(
    x: TensorLike,
    src_format: str | bytes = 'NHWC',
    dst_format: str | bytes = 'NCHW',
    name: str | None = None,
) -> Tensor:
    """A vector with an element for each dimension of `src_format`, or a matrix with a pair, in the order of `dst_format`; or those of the spatial dimensions alone."""

def dataset_cardinality(
    input_dataset: TensorLike,
    cardinality_options: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """How many elements a dataset has: −1 without end, −2 if it is not known."""

def dataset_fingerprint(input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """A number that tells the graphs of datasets apart: equal for those that differ in names and seeds only."""

def dataset_from_graph(graph_def: TensorLike, name: str | None = None) -> Tensor:
    """The dataset that a graph makes."""

def dataset_to_graph(
    input_dataset: TensorLike,
    stateful_whitelist: Sequence[str | bytes] = [],
    allow_stateful: bool = False,
    strip_device_assignment: bool = False,
    name: str | None = None,
) -> Tensor:
    """The graph of the nodes that a dataset was made of."""

def dataset_to_graph_v2(
    input_dataset: TensorLike,
    external_state_policy: int = 0,
    strip_device_assignment: bool = False,
    name: str | None = None,
) -> Tensor:
    """The graph of the nodes that a dataset was made of."""

def dataset_to_single_element(
    dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """The one element of a dataset."""

def dataset_to_tf_record(
    input_dataset: TensorLike,
    filename: TensorLike,
    compression_type: TensorLike,
    name: str | None = None,
) -> Effect:
    """Writes the elements of a dataset to a file of TFRecords."""

def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral: `exp(-x²)` times the integral of `exp(t²)` from 0 to `x`."""

def decode_and_crop_jpeg(
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

def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Each string from base64, in the alphabet that is safe in URLs."""

def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """The image of a BMP file that is not compressed."""

def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[TensorLike],
    field_delim: str | bytes = ',',
    use_quote_delim: bool = True,
    na_value: str | bytes = '',
    select_cols: Sequence[int] = [],
    name: str | None = None,
) -> list[Tensor]:
    """The columns of records of comma-separated values, as RFC 4180 has them."""

def decode_compressed(bytes: TensorLike, compression_type: str | bytes = '', name: str | None = None) -> Tensor:
    """Each string without its compression."""

def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """The frames of a GIF file."""

def decode_image(
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    expand_animations: bool = True,
    name: str | None = None,
) -> Tensor:
    """The image or the frames of a file of any format that is known."""

def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Serialized Examples of Examples in JSON."""

def decode_jpeg(
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

def decode_jxl(
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    name: str | None = None,
) -> Tensor:
    """The image of a JPEG XL file, the first of an animation."""

def decode_padded_raw(
    input_bytes: TensorLike,
    fixed_length: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    name: str | None = None,
) -> Tensor:
    """The bytes of each string as numbers, along a new last dimension; strings are cut, or filled with zeros, to one length."""

def decode_png(
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    name: str | None = None,
) -> Tensor:
    """The image of a PNG file."""

def decode_proto_v2(
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

def decode_raw(bytes: TensorLike, out_type: DTypeLike, little_endian: bool = True, name: str | None = None) -> Tensor:
    """The bytes of each string as numbers, along a new last dimension."""

def decode_wav(
    contents: TensorLike,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> _outputs.DecodeWav:
    """The samples of a WAV file of 16 bits."""

def decode_web_p(
    contents: TensorLike,
    channels: int = 0,
    dtype: DTypeLike = _dtypes.uint8,
    name: str | None = None,
) -> Tensor:
    """The images of a WebP file."""

def deep_copy(x: TensorLike, name: str | None = None) -> Tensor:
    """A copy of `x`, which shares no memory with it."""

def delete_iterator(handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes an iterator."""

def delete_memory_cache(handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes a cache."""

def delete_multi_device_iterator(
    multi_device_iterator: TensorLike,
    iterators: Sequence[TensorLike],
    deleter: TensorLike,
    name: str | None = None,
) -> Effect:
    """Deletes an iterator of several devices."""

def delete_random_seed_generator(handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes a generator of seeds."""

def delete_seed_generator(handle: TensorLike, deleter: TensorLike, name: str | None = None) -> Effect:
    """Deletes a generator of seeds."""

def delete_session_tensor(handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets the tensor that the session keeps under a name."""

def dense_bincount(
    input: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> Tensor:
    """How often each number from 0 to `size` − 1 occurs in a vector, or in each row of a matrix; or the sum of the weights of its occurrences."""

def dense_count_sparse_output(
    values: TensorLike,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> _outputs.DenseCountSparseOutput:
    """How often each value occurs in a vector, or in each row of a matrix."""

def dense_to_csr_sparse_matrix(dense_input: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """The elements of a dense matrix, or of several, that indices name, as a sparse matrix."""

def dense_to_dense_set_operation(
    set1: TensorLike,
    set2: TensorLike,
    set_operation: str | bytes,
    validate_indices: bool = True,
    name: str | None = None,
) -> _outputs.DenseToDenseSetOperation:
    """Difference, intersection or union of the sets along the last dimensions of two dense tensors."""

def dense_to_sparse_batch_dataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    row_shape: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Tensors of one rank, `batch_size` at a time, as one sparse tensor whose rows they are: a vector of three variants, its indices, values and shape."""

def dense_to_sparse_set_operation(
    set1: TensorLike,
    set2_indices: TensorLike,
    set2_values: TensorLike,
    set2_shape: TensorLike,
    set_operation: str | bytes,
    validate_indices: bool = True,
    name: str | None = None,
) -> _outputs.DenseToSparseSetOperation:
    """As `DenseToDenseSetOperation`, with a sparse second tensor."""

def depth_to_space(
    input: TensorLike,
    block_size: int,
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """Depth moved into squares: each `block_size²` channels become a square of `block_size` × `block_size` pixels."""

def depthwise_conv2d_native(
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

def depthwise_conv2d_native_backprop_filter(
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

def depthwise_conv2d_native_backprop_input(
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

def dequantize(
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

def deserialize_iterator(resource_handle: TensorLike, serialized: TensorLike, name: str | None = None) -> Effect:
    """Sets the state of an iterator to one that was serialized."""

def deserialize_many_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.DeserializeManySparse:
    """The sparse tensor of rows that `SerializeManySparse` made."""

def deserialize_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.DeserializeSparse:
    """Sparse tensors from what `SerializeSparse` made of them."""

def destroy_resource_op(resource: TensorLike, ignore_lookup_error: bool = True, name: str | None = None) -> Effect:
    """Forgets a resource of any type. Nodes that use it later fail."""

def destroy_temporary_variable(ref: TensorLike, var_name: str | bytes, name: str | None = None) -> Tensor:
    """The last value of a temporary variable, which ends here."""

def device_index(device_names: Sequence[str | bytes], name: str | None = None) -> Tensor:
    """The place of the device that the node is on among the types named; their number, if it is none of them."""

def diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Zeros with `diagonal` on the diagonal: of shape `[i, …, k]` it becomes `[i, …, k, i, …, k]`."""

def diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of shape `[i, …, k, i, …, k]`, of shape `[i, …, k]`."""

def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of [`Lgamma`]."""

def dilation2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The greatest sum of input and filter under each window, channel by channel."""

def dilation2d_backprop_filter(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Dilation2D`] with respect to its filter."""

def dilation2d_backprop_input(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`Dilation2D`] with respect to its input."""

def directed_interleave_dataset(
    selector_input_dataset: TensorLike,
    data_input_datasets: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    stop_on_empty_dataset: bool = False,
    name: str | None = None,
) -> Tensor:
    """Elements of several datasets, of that which another dataset says."""

def disable_copy_on_read(resource: TensorLike, name: str | None = None) -> Effect:
    """Without effect but for the error if there is no such variable: reads never copy here."""

def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient, `x / y`. Integers round towards zero, and dividing them by zero is an error. The shapes broadcast."""

def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient, `x / y`, but 0 wherever `y` is 0. The shapes broadcast."""

def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, name: str | None = None) -> Tensor:
    """Images with the outlines of boxes, in colours that take turns."""

def draw_bounding_boxes_v2(
    images: TensorLike,
    boxes: TensorLike,
    colors: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Images with the outlines of boxes, in colours that are given."""

def dummy_iteration_counter(name: str | None = None) -> Tensor:
    """A handle that names no counter of iterations."""

def dummy_memory_cache(name: str | None = None) -> Tensor:
    """A handle of no cache."""

def dummy_seed_generator(name: str | None = None) -> Tensor:
    """A handle of no generator of seeds."""

def dynamic_partition(
    data: TensorLike,
    partitions: TensorLike,
    num_partitions: int,
    name: str | None = None,
) -> list[Tensor]:
    """The slices of `data`, sorted into one tensor for each number in `partitions`."""

def dynamic_stitch(indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Slices of several tensors, each put where its index says; of several for one place the last one stays."""

def edit_distance(
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

def eig(input: TensorLike, Tout: DTypeLike, compute_v: bool = True, name: str | None = None) -> _outputs.Eig:
    """Eigenvalues and eigenvectors: `input v = v diag(e)`. They are complex, and in no particular order."""

def einsum(inputs: Sequence[TensorLike], equation: str | bytes, name: str | None = None) -> Tensor:
    """Sums of products over dimensions that have labels: `"ij,jk->ik"` multiplies matrices."""

def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """`features` where positive, `exp(features) - 1` elsewhere."""

def elu_grad(gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Elu`: `gradients * (outputs + 1)` where `outputs` is negative, `gradients` elsewhere."""

def empty(shape: TensorLike, dtype: DTypeLike, init: bool = False, name: str | None = None) -> Tensor:
    """A tensor of the given shape. TensorFlow leaves its elements undefined unless `init` is set; here they are zeros."""

def empty_tensor_list(
    element_shape: TensorLike,
    max_num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A list of tensors without elements."""

def empty_tensor_map(name: str | None = None) -> Tensor:
    """A map from tensors to tensors without entries."""

def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in base64, in the alphabet that is safe in URLs."""

def encode_jpeg(
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

def encode_jpeg_variable_quality(images: TensorLike, quality: TensorLike, name: str | None = None) -> Tensor:
    """A JPEG file of an image, in a quality that is computed."""

def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """PNG files of images."""

def encode_proto(
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str | bytes],
    message_type: str | bytes,
    descriptor_source: str | bytes = 'local://',
    name: str | None = None,
) -> Tensor:
    """Serialized messages of fields."""

def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """A WAV file of 16 bits."""

def ensure_shape(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """`input` itself; fails with INVALID_ARGUMENT if its shape is not compatible with `shape`."""

def enter(
    data: TensorLike,
    frame_name: str | bytes,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> Tensor:
    """Takes `data` into the loop `frame_name`: into its first iteration or, if it is constant, into each."""

def equal(x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: str | None = None) -> Tensor:
    """Whether `x == y`. NaN equals nothing. The shapes broadcast."""

def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """The error function."""

def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """The complementary error function, `1 - erf(x)`, precise where `erf(x)` is near 1."""

def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the error function."""

def euclidean_norm(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The Euclidean norm over some dimensions: the root of the sum of the squares. Of nothing it is 0."""

def exit(data: TensorLike, name: str | None = None) -> Tensor:
    """Takes `data` out of the loop."""

def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential, `e^x`."""

def expand_dims(input: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """`input` with one more dimension, of size 1."""

def experimental_assert_next_dataset(
    input_dataset: TensorLike,
    transformations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def experimental_auto_shard_dataset(
    input_dataset: TensorLike,
    num_workers: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    auto_shard_policy: int = 0,
    name: str | None = None,
) -> Tensor:
    """A worker's share of the elements of a dataset."""

def experimental_bytes_produced_stats_dataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, of whose bytes `SetStatsAggregatorDataset` is told."""

def experimental_csv_dataset(
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

def experimental_choose_fastest_dataset(
    input_datasets: Sequence[TensorLike],
    num_experiments: int,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of that of several equal datasets which gives them fastest."""

def experimental_dataset_cardinality(input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """How many elements a dataset has: −1 without end, −2 if it is not known."""

def experimental_dataset_to_tf_record(
    input_dataset: TensorLike,
    filename: TensorLike,
    compression_type: TensorLike,
    name: str | None = None,
) -> Effect:
    """Writes the elements of a dataset to a file of TFRecords."""

def experimental_dense_to_sparse_batch_dataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    row_shape: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Tensors of one rank, `batch_size` at a time, as one sparse tensor whose rows they are: a vector of three variants, its indices, values and shape."""

def experimental_directed_interleave_dataset(
    selector_input_dataset: TensorLike,
    data_input_datasets: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Elements of several datasets, of that which another dataset says."""

def experimental_group_by_reducer_dataset(
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

def experimental_group_by_window_dataset(
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

def experimental_ignore_errors_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    log_warning: bool = False,
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset that can be made."""

def experimental_iterator_get_device(resource: TensorLike, name: str | None = None) -> Tensor:
    """The device of an iterator."""

def experimental_latency_stats_dataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `SetStatsAggregatorDataset` is told how long each takes."""

def experimental_map_and_batch_dataset(
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

def experimental_map_dataset(
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

def experimental_matching_files_dataset(patterns: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match patterns, in order."""

def experimental_max_intra_op_parallelism_dataset(
    input_dataset: TensorLike,
    max_intra_op_parallelism: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def experimental_non_serializable_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def experimental_parallel_interleave_dataset(
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

def experimental_parse_example_dataset(
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

def experimental_private_thread_pool_dataset(
    input_dataset: TensorLike,
    num_threads: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def experimental_random_dataset(
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 to 2³² − 1, without end."""

def experimental_rebatch_dataset(
    input_dataset: TensorLike,
    num_replicas: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_fallback: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each batch cut to `num_replicas` batches of equal size, the last of which may be smaller or empty."""

def experimental_scan_dataset(
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

def experimental_set_stats_aggregator_dataset(
    input_dataset: TensorLike,
    stats_aggregator: TensorLike,
    tag: TensorLike,
    counter_prefix: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `LatencyStatsDataset` and `BytesProducedStatsDataset` in it tell of them."""

def experimental_sleep_dataset(
    input_dataset: TensorLike,
    sleep_microseconds: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, for each of which is waited."""

def experimental_sliding_window_dataset(
    input_dataset: TensorLike,
    window_size: TensorLike,
    window_shift: TensorLike,
    window_stride: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Elements stacked along a new first dimension, in windows that move over a dataset."""

def experimental_stats_aggregator_handle(
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects what is told of datasets, for `StatsAggregatorSummary`."""

def experimental_stats_aggregator_summary(iterator: TensorLike, name: str | None = None) -> Tensor:
    """What was collected; nothing of one that writes it."""

def experimental_take_while_dataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    predicate: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements before the first for which a function is false."""

def experimental_thread_pool_dataset(
    input_dataset: TensorLike,
    thread_pool: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is: its work is done on the threads of the session."""

def experimental_thread_pool_handle(
    num_threads: int,
    display_name: str | bytes,
    max_intra_op_parallelism: int = 1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A pool of threads for datasets."""

def experimental_unbatch_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The rows of each element, as elements."""

def experimental_unique_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, each once."""

def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential integral Ei, of what is not negative."""

def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """`e^x - 1`, precise where `x` is near zero."""

def extract_glimpse(
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

def extract_glimpse_v2(
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

def extract_image_patches(
    images: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The patches under a sliding window, each laid out along the depth: `[batch, rows, cols, ksizes[1] * ksizes[2] * depth]`."""

def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = _dtypes.int32, name: str | None = None) -> Tensor:
    """The shape of the image of a JPEG file."""

def extract_volume_patches(
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """The patches under a sliding window, each laid out along the channels: `[batch, depths, rows, columns, ksizes[1] * ksizes[2] * ksizes[3] * channels]`."""

def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform along the last dimension."""

def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform along the last two dimensions."""

def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The Fourier transform along the last three dimensions."""

def fifo_queue(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in the order in which they came."""

def fifo_queue_v2(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in the order in which they came."""

def fact(name: str | None = None) -> Tensor:
    """A fact about factorials."""

def fake_param(dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A result that a function must have but that is never used."""

def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Values that are rounded to those that a few bits tell apart, in a range that attrs say."""

def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6.0,
    max: float = 6.0,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`FakeQuantWithMinMaxArgs`]: what flows where the values lie in the range."""

def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Values that are rounded to those that a few bits tell apart, in a range that inputs say."""

def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> _outputs.FakeQuantWithMinMaxVarsGradient:
    """The gradient of [`FakeQuantWithMinMaxVars`]."""

def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """[`FakeQuantWithMinMaxVars`] with a range for each channel, which is the last dimension."""

def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> _outputs.FakeQuantWithMinMaxVarsPerChannelGradient:
    """The gradient of [`FakeQuantWithMinMaxVarsPerChannel`]."""

def fake_queue(resource: TensorLike, name: str | None = None) -> Tensor:
    """The queue behind a resource handle as a reference, for ops that take one."""

def fill(dims: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """A tensor of the given shape with one value in every place."""

def filter_by_last_component_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements whose last component is true, without it."""

def filter_dataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    predicate: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements for which a function is true."""

def finalize_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    has_captured_ref: bool = False,
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def fingerprint(data: TensorLike, method: TensorLike, name: str | None = None) -> Tensor:
    """A fingerprint of each row of `data`, eight bytes in little-endian order."""

def fixed_length_record_dataset(
    filenames: TensorLike,
    header_bytes: TensorLike,
    record_bytes: TensorLike,
    footer_bytes: TensorLike,
    buffer_size: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The records of files, which all have one length."""

def fixed_length_record_dataset_v2(
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

def fixed_length_record_reader(
    record_bytes: int,
    header_bytes: int = 0,
    footer_bytes: int = 0,
    hop_bytes: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of records of one length: a record's key is the file's name, a colon, and its number, from 0."""

def fixed_length_record_reader_v2(
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

def fixed_unigram_candidate_sampler(
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

def flat_map_dataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    f: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of the datasets that a function makes of the elements, one dataset after the other."""

def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The greatest integer that is not above `x`."""

def floor_div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient rounded down, `floor(x / y)`. Dividing integers by zero is an error. The shapes broadcast."""

def floor_mod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """What [`FloorDiv`] leaves: `x - floor(x / y) * y`, with the sign of `y`. For integers a zero `y` is an error. The shapes broadcast."""

def flush_summary_writer(writer: TensorLike, name: str | None = None) -> Effect:
    """Writes what waits."""

def for_(
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    input: Sequence[TensorLike],
    body: FunctionLike,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `body` with each number from `start` to `limit`, without it, in steps of `delta`, and with what it gave before."""

def fractional_avg_pool(
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

def fractional_avg_pool_grad(
    orig_input_tensor_shape: TensorLike,
    out_backprop: TensorLike,
    row_pooling_sequence: TensorLike,
    col_pooling_sequence: TensorLike,
    overlapping: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `FractionalAvgPool`: each element of `out_backprop` is shared evenly by what its window covered."""

def fractional_max_pool(
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

def fractional_max_pool_grad(
    orig_input: TensorLike,
    orig_output: TensorLike,
    out_backprop: TensorLike,
    row_pooling_sequence: TensorLike,
    col_pooling_sequence: TensorLike,
    overlapping: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `FractionalMaxPool`: each element of `out_backprop` goes to where its window's greatest element stood."""

def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's cosine integral: that of `cos(πt²/2)` from 0 to `x`."""

def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's sine integral: that of `sin(πt²/2)` from 0 to `x`."""

def fused_batch_norm(
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

def fused_batch_norm_grad(
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

def fused_batch_norm_grad_v2(
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

def fused_batch_norm_grad_v3(
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

def fused_batch_norm_v2(
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

def fused_batch_norm_v3(
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

def fused_pad_conv2d(
    input: TensorLike,
    paddings: TensorLike,
    filter: TensorLike,
    mode: Literal['REFLECT', 'SYMMETRIC'],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> Tensor:
    """`Conv2D` of mirror-padded images."""

def fused_resize_and_pad_conv2d(
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

def gru_block_cell(
    x: TensorLike,
    h_prev: TensorLike,
    w_ru: TensorLike,
    w_c: TensorLike,
    b_ru: TensorLike,
    b_c: TensorLike,
    name: str | None = None,
) -> _outputs.GRUBlockCell:
    """One step of a gated recurrent unit, for a batch."""

def gru_block_cell_grad(
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

def gather(params: TensorLike, indices: TensorLike, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """Slices of `params` along its first dimension, by index: `output[i…, j…] = params[indices[i…], j…]`."""

def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Slices of `params` by index vectors: the last dimension of `indices` holds indices for the first dimensions of `params`."""

def gather_v2(
    params: TensorLike,
    indices: TensorLike,
    axis: TensorLike,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """Slices of `params` along `axis`, by index."""

def generate_vocab_remapping(
    new_vocab_file: TensorLike,
    old_vocab_file: TensorLike,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int = -1,
    name: str | None = None,
) -> _outputs.GenerateVocabRemapping:
    """Where the words of a new vocabulary stand in an old one."""

def generator_dataset(
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

def get_element_at_index(
    dataset: TensorLike,
    index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The element of a dataset in some place."""

def get_options(input_dataset: TensorLike, name: str | None = None) -> Tensor:
    """The options of a dataset."""

def get_session_handle(value: TensorLike, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session and names it."""

def get_session_handle_v2(value: TensorLike, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session and names it."""

def get_session_tensor(handle: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor that the session keeps under a name."""

def global_shuffle_dataset(
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

def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x > y`. The shapes broadcast."""

def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x >= y`. The shapes broadcast."""

def group_by_reducer_dataset(
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

def group_by_window_dataset(
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

def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """Passes `input` on; the graph's author promises that it is the same in each run."""

def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Red, green and blue of colours whose parts are hue, saturation and value."""

def hash_table(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that is filled once."""

def hash_table_v2(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that is filled once."""

def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike,
    dtype: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values lie in each of `nbins` parts of equal width between two bounds; those beyond a bound count in the part next to it."""

def histogram_summary(tag: TensorLike, values: TensorLike, name: str | None = None) -> Tensor:
    """A summary with a histogram of all values, which must be finite."""

def host_const(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """[`Const`] in the memory of the host, wherever the node is."""

def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform along the last dimension."""

def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform along the last two dimensions."""

def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse Fourier transform along the last three dimensions."""

def irfft(
    input: TensorLike,
    fft_length: TensorLike,
    Treal: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The real numbers whose Fourier transform along the last dimension has the half that is given."""

def irfft2d(
    input: TensorLike,
    fft_length: TensorLike,
    Treal: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The real numbers whose Fourier transform along the last two dimensions has the half that is given."""

def irfft3d(
    input: TensorLike,
    fft_length: TensorLike,
    Treal: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The real numbers whose Fourier transform along the last three dimensions has the half that is given."""

def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """Passes `input` on, without copying it."""

def identity_n(input: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Passes a list of tensors on, without copying them."""

def identity_reader(container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of what it takes from the queue itself: key and value are both that."""

def identity_reader_v2(container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of what it takes from the queue itself: key and value are both that."""

def if_(
    cond: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    then_branch: FunctionLike,
    else_branch: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls `then_branch` with `input` if `cond` holds, and `else_branch` if not."""

def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower regularised incomplete gamma function, `P(a, x)`."""

def igamma_grad_a(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of [`Igamma`] by `a`."""

def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper regularised incomplete gamma function, `Q(a, x) = 1 - P(a, x)`."""

def ignore_errors_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    log_warning: bool = False,
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset that can be made."""

def imag(input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The imaginary part."""

def image_projective_transform_v2(
    images: TensorLike,
    transforms: TensorLike,
    output_shape: TensorLike,
    interpolation: str | bytes,
    fill_mode: str | bytes = 'CONSTANT',
    name: str | None = None,
) -> Tensor:
    """Images seen through projective transforms; outside of them is 0."""

def image_projective_transform_v3(
    images: TensorLike,
    transforms: TensorLike,
    output_shape: TensorLike,
    fill_value: TensorLike,
    interpolation: str | bytes,
    fill_mode: str | bytes = 'CONSTANT',
    name: str | None = None,
) -> Tensor:
    """Images seen through projective transforms."""

def image_summary(
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int = 3,
    bad_color: TensorLike = ...,
    name: str | None = None,
) -> Tensor:
    """A summary with images, as PNG. Its kernel comes with the feature `image_codecs`."""

def immutable_const(
    dtype: DTypeLike,
    shape: ShapeLike,
    memory_region_name: str | bytes,
    name: str | None = None,
) -> Tensor:
    """The bytes of a file as a tensor."""

def import_event(writer: TensorLike, event: TensorLike, name: str | None = None) -> Effect:
    """Adds an `Event` message, serialized."""

def in_top_k(predictions: TensorLike, targets: TensorLike, k: int, name: str | None = None) -> Tensor:
    """For each row, whether the target's prediction is among the `k` greatest."""

def in_top_kv2(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """[`InTopK`] with `k` as an input."""

def index_flat_map_dataset(
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

def initialize_table(table_handle: TensorLike, keys: TensorLike, values: TensorLike, name: str | None = None) -> Effect:
    """Fills a table that is filled once."""

def initialize_table_from_dataset(table_handle: TensorLike, dataset: TensorLike, name: str | None = None) -> Effect:
    """Fills a lookup table with the elements of a dataset, pairs of a key and its value, unless it was filled before."""

def initialize_table_from_text_file(
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

def initialize_table_from_text_file_v2(
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

def initialize_table_v2(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Fills a table that is filled once."""

def inplace_add(x: TensorLike, i: TensorLike, v: TensorLike, name: str | None = None) -> Tensor:
    """`x` with those of `v` added to the rows `i`. What else holds `x` does not change."""

def inplace_sub(x: TensorLike, i: TensorLike, v: TensorLike, name: str | None = None) -> Tensor:
    """`x` with those of `v` subtracted from the rows `i`. What else holds `x` does not change."""

def inplace_update(x: TensorLike, i: TensorLike, v: TensorLike, name: str | None = None) -> Tensor:
    """`x` with the rows `i` replaced by those of `v`. What else holds `x` does not change."""

def interleave_dataset(
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

def inv(x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal, `1 / x`: the older name of [`Reciprocal`]."""

def inv_grad(y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Inv`, an older name of `Reciprocal`: `-dy * y²`. Of complex numbers the conjugate of `y` counts."""

def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """Every bit flipped: `!x` in Rust's terms."""

def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: `y[x[i]] = i`."""

def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is neither infinite nor NaN."""

def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is +∞ or −∞."""

def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is NaN."""

def is_variable_initialized(ref: TensorLike, name: str | None = None) -> Tensor:
    """Whether a variable has a value."""

def isotonic_regression(
    input: TensorLike,
    output_dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> _outputs.IsotonicRegression:
    """The sequences that do not rise and whose squared distances to those along the last dimension are least."""

def iterator(
    shared_name: str | bytes,
    container: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator, which `MakeIterator` sets to a dataset."""

def iterator_from_string_handle(
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] = [],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> Tensor:
    """The iterator that a string names."""

def iterator_from_string_handle_v2(
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] = [],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> Tensor:
    """The iterator that a string names."""

def iterator_get_device(resource: TensorLike, name: str | None = None) -> Tensor:
    """The device of an iterator."""

def iterator_get_model_proto(iterator: TensorLike, name: str | None = None) -> Tensor:
    """The model by which an iterator is tuned: NOT_FOUND, as none is."""

def iterator_get_next(
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The next element of an iterator; OUT_OF_RANGE at the end."""

def iterator_get_next_as_optional(
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The next element of an iterator as an optional, which is empty at the end."""

def iterator_get_next_sync(
    iterator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The next element of an iterator; OUT_OF_RANGE at the end."""

def iterator_to_string_handle(resource_handle: TensorLike, name: str | None = None) -> Tensor:
    """The name of an iterator as a string."""

def iterator_v2(
    shared_name: str | bytes,
    container: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator, which `MakeIterator` sets to a dataset."""

def kmc2_chain_initialization(distances: TensorLike, seed: TensorLike, name: str | None = None) -> Tensor:
    """Picks one of several candidates, with a chance that grows with its distance, by a Markov chain."""

def kmeans_plus_plus_initialization(
    points: TensorLike,
    num_to_sample: TensorLike,
    seed: TensorLike,
    num_retries_per_sample: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Picks points that are far from one another as first centres of clusters: k-means++."""

def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of all squares, `sum(t²) / 2`: a scalar."""

def lrn(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Local response normalisation: each element divided by a power of the sum of squares in its neighbouring channels."""

def lrn_grad(
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

def lstm_block_cell(
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

def lstm_block_cell_grad(
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

def latency_stats_dataset(
    input_dataset: TensorLike,
    tag: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `SetStatsAggregatorDataset` is told how long each takes."""

def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where positive, `alpha * features` elsewhere."""

def leaky_relu_grad(gradients: TensorLike, features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """The gradient of `LeakyRelu`: `gradients` where `features` is positive, `alpha * gradients` elsewhere."""

def learned_unigram_candidate_sampler(
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

def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits of `x` moved up by `y`, zeros following. `y` is first clamped to 0 … bits − 1. The shapes broadcast."""

def legacy_parallel_interleave_dataset_v2(
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

def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x < y`. The shapes broadcast."""

def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether `x <= y`. The shapes broadcast."""

def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""

def lin_space(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None) -> Tensor:
    """`num` numbers at equal distances from `start` to `stop`, both included; all are scalars."""

def list_dataset(
    tensors: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements that are given one after the other."""

def list_diff(
    x: TensorLike,
    y: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.ListDiff:
    """The elements of `x` that do not occur in `y`, in their order and as often as they occur, and where they stood."""

def list_snapshot_chunks_dataset(
    snapshot_path: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The files of a snapshot that several processes write, by their indices, then by their streams."""

def load_and_remap_matrix(
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

def load_dataset(
    path: TensorLike,
    reader_func_other_args: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    reader_func: FunctionLike,
    compression: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a folder that `SaveDataset` wrote."""

def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm. −∞ at zero, NaN below."""

def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + x)`, precise where `x` is near zero."""

def log_matrix_determinant(input: TensorLike, name: str | None = None) -> _outputs.LogMatrixDeterminant:
    """The determinants of matrices as signs and logarithms: `det(input) = sign * exp(log_abs_determinant)`."""

def log_softmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """The logarithms of what [`Softmax`] gives, computed without going through it. The rank is at least 1."""

def log_uniform_candidate_sampler(
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

def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether both are true. The shapes broadcast."""

def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """The opposite of a bool."""

def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether at least one is true. The shapes broadcast."""

def lookup_table_export(
    table_handle: TensorLike,
    Tkeys: DTypeLike,
    Tvalues: DTypeLike,
    name: str | None = None,
) -> _outputs.LookupTableExport:
    """All entries of a table, in no particular order."""

def lookup_table_export_v2(
    table_handle: TensorLike,
    Tkeys: DTypeLike,
    Tvalues: DTypeLike,
    name: str | None = None,
) -> _outputs.LookupTableExportV2:
    """All entries of a table, in no particular order."""

def lookup_table_find(
    table_handle: TensorLike,
    keys: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The values to which `keys` lead in a table, and `default_value` for keys that it lacks."""

def lookup_table_find_v2(
    table_handle: TensorLike,
    keys: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The values to which `keys` lead in a table, and `default_value` for keys that it lacks."""

def lookup_table_import(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Replaces all entries of a table."""

def lookup_table_import_v2(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Replaces all entries of a table."""

def lookup_table_insert(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds entries to a table; keys that it has get new values."""

def lookup_table_insert_v2(
    table_handle: TensorLike,
    keys: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds entries to a table; keys that it has get new values."""

def lookup_table_remove_v2(table_handle: TensorLike, keys: TensorLike, name: str | None = None) -> Effect:
    """Takes the entries of `keys` out of a table, as far as it has them."""

def lookup_table_size(table_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of entries of a table."""

def lookup_table_size_v2(table_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of entries of a table."""

def loop_cond(input: TensorLike, name: str | None = None) -> Tensor:
    """Passes on whether the loop goes on."""

def lower_bound(
    sorted_inputs: TensorLike,
    values: TensorLike,
    out_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The first place in a sorted row at which a value can be inserted so that the row stays sorted."""

def lu(input: TensorLike, output_idx_type: DTypeLike = _dtypes.int32, name: str | None = None) -> _outputs.Lu:
    """Triangular matrices and permutations of rows for which `input[p] = L U`."""

def make_iterator(dataset: TensorLike, iterator: TensorLike, name: str | None = None) -> Effect:
    """Sets an iterator to the beginning of a dataset."""

def map_and_batch_dataset(
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

def map_clear(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Takes everything out of a staging area with keys."""

def map_dataset(
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

def map_defun(
    arguments: Sequence[TensorLike],
    captured_inputs: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    f: FunctionLike,
    max_intra_op_parallelism: int = 1,
    name: str | None = None,
) -> list[Tensor]:
    """What a function makes of the rows of tensors, stacked."""

def map_incomplete_size(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of elements in a staging area with keys that lack components."""

def map_peek(
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

def map_size(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of complete elements in a staging area with keys."""

def map_stage(
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

def map_unstage(
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

def map_unstage_no_key(
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> _outputs.MapUnstageNoKey:
    """Takes the tensors under any key out of a staging area with keys; waits until there are some."""

def mat_mul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices: `[m, k] × [k, n] → [m, n]`."""

def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that patterns stand for, sorted."""

def matching_files_dataset(patterns: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match patterns, in order."""

def matrix_band_part(
    input: TensorLike,
    num_lower: TensorLike,
    num_upper: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Matrices with everything outside a band around the main diagonal set to zero."""

def matrix_determinant(input: TensorLike, name: str | None = None) -> Tensor:
    """The determinants of matrices."""

def matrix_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Square matrices of zeros with the rows of `diagonal` on their diagonals."""

def matrix_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The diagonals of matrices."""

def matrix_diag_part_v2(input: TensorLike, k: TensorLike, padding_value: TensorLike, name: str | None = None) -> Tensor:
    """Some diagonals of matrices; each stands from the left, padded on the right."""

def matrix_diag_part_v3(
    input: TensorLike,
    k: TensorLike,
    padding_value: TensorLike,
    align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] = 'RIGHT_LEFT',
    name: str | None = None,
) -> Tensor:
    """Some diagonals of matrices."""

def matrix_diag_v2(
    diagonal: TensorLike,
    k: TensorLike,
    num_rows: TensorLike,
    num_cols: TensorLike,
    padding_value: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Matrices of `padding_value` with given diagonals; each is stored from the left, padded on the right."""

def matrix_diag_v3(
    diagonal: TensorLike,
    k: TensorLike,
    num_rows: TensorLike,
    num_cols: TensorLike,
    padding_value: TensorLike,
    align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] = 'RIGHT_LEFT',
    name: str | None = None,
) -> Tensor:
    """Matrices of `padding_value` with given diagonals."""

def matrix_exponential(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponentials of matrices: `I + A + A² / 2 + …`."""

def matrix_inverse(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of matrices."""

def matrix_logarithm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithms of matrices, whose exponentials they are."""

def matrix_set_diag(input: TensorLike, diagonal: TensorLike, name: str | None = None) -> Tensor:
    """The matrices of `input` with the rows of `diagonal` on their diagonals."""

def matrix_set_diag_v2(input: TensorLike, diagonal: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """The matrices of `input` with some diagonals replaced; each is stored from the left."""

def matrix_set_diag_v3(
    input: TensorLike,
    diagonal: TensorLike,
    k: TensorLike,
    align: Literal['LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'] = 'RIGHT_LEFT',
    name: str | None = None,
) -> Tensor:
    """The matrices of `input` with some diagonals replaced."""

def matrix_solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solutions of `matrix x = rhs`."""

def matrix_solve_ls(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The solutions of `matrix x = rhs` by least squares; where there are many, the shortest."""

def matrix_square_root(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square roots of matrices, whose eigenvalues are to the right of zero."""

def matrix_triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions of `matrix x = rhs` for triangular matrices."""

def max(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The greatest element over some dimensions. Of nothing it is the dtype's least value."""

def max_intra_op_parallelism_dataset(
    input_dataset: TensorLike,
    max_intra_op_parallelism: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def max_pool(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID', 'EXPLICIT'],
    explicit_paddings: Sequence[int] = [],
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The greatest element in each window."""

def max_pool3d(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NDHWC', 'NCDHW'] = 'NDHWC',
    name: str | None = None,
) -> Tensor:
    """The greatest element in each window of volumes."""

def max_pool3d_grad(
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

def max_pool3d_grad_grad(
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

def max_pool_grad(
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

def max_pool_grad_grad(
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

def max_pool_grad_grad_v2(
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

def max_pool_grad_v2(
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

def max_pool_grad_with_argmax(
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

def max_pool_v2(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: Literal['SAME', 'VALID'],
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """The greatest element in each window, whose size and step are inputs."""

def max_pool_with_argmax(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    Targmax: DTypeLike = _dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> _outputs.MaxPoolWithArgmax:
    """The greatest element in each window, and where it stood."""

def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The greater of `x` and `y`; NaN if either is NaN. The shapes broadcast."""

def mean(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The arithmetic mean over some dimensions. Of nothing it is NaN, or 0. That of integers is rounded towards zero."""

def merge(inputs: Sequence[TensorLike], name: str | None = None) -> _outputs.Merge:
    """Passes on the first of its inputs that arrives alive, and which one that was."""

def merge_summary(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The values of several summaries in one; no tag may stand twice."""

def merge_v2_checkpoints(
    checkpoint_prefixes: TensorLike,
    destination_prefix: TensorLike,
    delete_old_dirs: bool = True,
    allow_missing_files: bool = False,
    name: str | None = None,
) -> Effect:
    """Makes one checkpoint of several: their data files are renamed, their indices become one."""

def mfcc(
    spectrogram: TensorLike,
    sample_rate: TensorLike,
    upper_frequency_limit: float = 4000.0,
    lower_frequency_limit: float = 20.0,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
    name: str | None = None,
) -> Tensor:
    """The mel-frequency cepstrum of spectrograms."""

def min(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The least element over some dimensions. Of nothing it is the dtype's greatest value."""

def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The lesser of `x` and `y`; NaN if either is NaN. The shapes broadcast."""

def mirror_pad(
    input: TensorLike,
    paddings: TensorLike,
    mode: Literal['REFLECT', 'SYMMETRIC'],
    name: str | None = None,
) -> Tensor:
    """`input` with its own reflection added around it."""

def mirror_pad_grad(
    input: TensorLike,
    paddings: TensorLike,
    mode: Literal['REFLECT', 'SYMMETRIC'],
    name: str | None = None,
) -> Tensor:
    """The gradient of [`MirrorPad`](crate::MirrorPad): what was padded is cut off and added to what it mirrored."""

def mod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """What [`TruncateDiv`] leaves, with the sign of `x`: C's `%` and `fmod`. For integers a zero `y` is an error. The shapes broadcast."""

def model_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    algorithm: int = 0,
    cpu_budget: int = 0,
    ram_budget: int = 0,
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def mul(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The product, `x * y`. Integers wrap. The shapes broadcast."""

def mul_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The product, `x * y`, but 0 wherever `y` is 0, even if `x` is infinite or NaN. The shapes broadcast."""

def multi_device_iterator(
    devices: Sequence[str | bytes],
    shared_name: str | bytes,
    container: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """An iterator whose elements several devices get in turn."""

def multi_device_iterator_from_string_handle(
    string_handle: TensorLike,
    output_types: Sequence[DTypeLike] = [],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> Tensor:
    """The iterator of several devices that a string names."""

def multi_device_iterator_get_next_from_shard(
    multi_device_iterator: TensorLike,
    shard_num: TensorLike,
    incarnation_id: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The next element of a device; OUT_OF_RANGE at the end."""

def multi_device_iterator_init(
    dataset: TensorLike,
    multi_device_iterator: TensorLike,
    max_buffer_size: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Sets an iterator of several devices to the beginning of a dataset."""

def multi_device_iterator_to_string_handle(multi_device_iterator: TensorLike, name: str | None = None) -> Tensor:
    """The name of an iterator of several devices as a string."""

def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random classes, each as likely as its logit says."""

def mutable_dense_hash_table(
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

def mutable_dense_hash_table_v2(
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

def mutable_hash_table(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that can be changed at any time."""

def mutable_hash_table_of_tensors(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    value_shape: ShapeLike = [],
    name: str | None = None,
) -> Tensor:
    """A table from keys to vectors that can be changed at any time."""

def mutable_hash_table_of_tensors_v2(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    value_shape: ShapeLike = [],
    name: str | None = None,
) -> Tensor:
    """A table from keys to vectors that can be changed at any time."""

def mutable_hash_table_v2(
    key_dtype: DTypeLike,
    value_dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Tensor:
    """A table from keys to values that can be changed at any time."""

def mutex_lock(mutex: TensorLike, name: str | None = None) -> Tensor:
    """Waits for a lock and holds it until the output is gone."""

def mutex_v2(container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A lock that one run holds at a time."""

def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """The value below which a normally distributed number lies with probability `x`."""

def nearest_neighbors(
    points: TensorLike,
    centers: TensorLike,
    k: TensorLike,
    name: str | None = None,
) -> _outputs.NearestNeighbors:
    """The nearest centres of each point, the nearest first."""

def neg(x: TensorLike, name: str | None = None) -> Tensor:
    """The negative, `-x`. Integers wrap."""

def neg_train(
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

def next_after(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The next number that the dtype has from `x1` towards `x2`. The shapes broadcast."""

def next_iteration(data: TensorLike, name: str | None = None) -> Tensor:
    """Takes `data` into the loop's next iteration."""

def no_op(name: str | None = None) -> Effect:
    """Does nothing; control edges to and from it order other nodes."""

def non_deterministic_ints(shape: TensorLike, dtype: DTypeLike = _dtypes.int64, name: str | None = None) -> Tensor:
    """Random integers of the whole range of the dtype, different ones each time."""

def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Which boxes to keep: by falling scores, those that overlap with none that is kept already."""

def non_max_suppression_v2(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Which boxes to keep: by falling scores, those that overlap with none that is kept already."""

def non_max_suppression_v3(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    name: str | None = None,
) -> Tensor:
    """[`NonMaxSuppressionV2`] of the boxes whose scores are above `score_threshold`."""

def non_max_suppression_v4(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> _outputs.NonMaxSuppressionV4:
    """[`NonMaxSuppressionV3`] that says how many boxes were chosen, and may fill up with zeros."""

def non_max_suppression_v5(
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

def non_max_suppression_with_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike,
    score_threshold: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Which boxes to keep, by a matrix of how much they overlap."""

def non_serializable_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def not_equal(x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: str | None = None) -> Tensor:
    """Whether `x != y`. NaN differs from everything. The shapes broadcast."""

def nth_element(input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None) -> Tensor:
    """The element of each row (the last dimension) that would be number `n` if the row were sorted."""

def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike,
    off_value: TensorLike,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """`indices` with a new dimension that holds `on_value` at the index and `off_value` everywhere else."""

def one_shot_iterator(
    dataset_factory: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """An iterator over the dataset of a function."""

def ones_like(x: TensorLike, name: str | None = None) -> Tensor:
    """Ones in the shape of `x`."""

def optimize_dataset(
    input_dataset: TensorLike,
    optimizations: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    optimization_configs: Sequence[str | bytes] = [],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is: nothing is rewritten."""

def optimize_dataset_v2(
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

def optional_from_value(components: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """An optional whose value is a tuple of tensors."""

def optional_get_value(
    optional: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The tensors that an optional holds; without a value it is an error."""

def optional_has_value(optional: TensorLike, name: str | None = None) -> Tensor:
    """Whether an optional has a value."""

def optional_none(name: str | None = None) -> Tensor:
    """An optional without a value."""

def options_dataset(
    input_dataset: TensorLike,
    serialized_options: str | bytes,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A dataset with options."""

def ordered_map_clear(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Takes everything out of a staging area ordered by keys."""

def ordered_map_incomplete_size(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of elements in a staging area ordered by keys that lack components."""

def ordered_map_peek(
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

def ordered_map_size(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of complete elements in a staging area ordered by keys."""

def ordered_map_stage(
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

def ordered_map_unstage(
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

def ordered_map_unstage_no_key(
    indices: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> _outputs.OrderedMapUnstageNoKey:
    """Takes the tensors under the lowest key out of a staging area ordered by keys; waits until there are some."""

def pack(values: Sequence[TensorLike], axis: int = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape stacked along a new dimension."""

def pad(input: TensorLike, paddings: TensorLike, name: str | None = None) -> Tensor:
    """`input` with zeros added around it."""

def pad_v2(input: TensorLike, paddings: TensorLike, constant_values: TensorLike, name: str | None = None) -> Tensor:
    """`input` with `constant_values` added around it."""

def padded_batch_dataset(
    input_dataset: TensorLike,
    batch_size: TensorLike,
    padded_shapes: Sequence[TensorLike],
    padding_values: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements padded to one shape and stacked, `batch_size` at a time."""

def padded_batch_dataset_v2(
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

def padding_fifo_queue(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in order, those of a batch padded with zeros to one shape."""

def padding_fifo_queue_v2(
    component_types: Sequence[DTypeLike],
    shapes: Sequence[ShapeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements in order, those of a batch padded with zeros to one shape."""

def parallel_batch_dataset(
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

def parallel_concat(values: Sequence[TensorLike], shape: ShapeLike, name: str | None = None) -> Tensor:
    """Tensors with one row each, one below the other."""

def parallel_dynamic_stitch(
    indices: Sequence[TensorLike],
    data: Sequence[TensorLike],
    name: str | None = None,
) -> Tensor:
    """Slices of several tensors, each put where its index says; no index should occur twice."""

def parallel_filter_dataset(
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

def parallel_interleave_dataset(
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

def parallel_interleave_dataset_v2(
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

def parallel_interleave_dataset_v3(
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

def parallel_interleave_dataset_v4(
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

def parallel_map_dataset(
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

def parallel_map_dataset_v2(
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

def parameterized_truncated_normal(
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

def parse_example(
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

def parse_example_dataset(
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

def parse_example_dataset_v2(
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

def parse_example_v2(
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

def parse_sequence_example(
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

def parse_sequence_example_v2(
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

def parse_single_example(
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

def parse_single_sequence_example(
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

def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor in a serialized TensorProto."""

def partitioned_call(
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    config: str | bytes = '',
    config_proto: str | bytes = '',
    executor_type: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Calls `f` with `args`."""

def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """A value that every run has to feed; running it unfed is an error."""

def placeholder_v2(dtype: DTypeLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The former name of [`Placeholder`], with a shape that must be given."""

def placeholder_with_default(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A value that a run may feed; unfed it is `input`."""

def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of [`Digamma`] of order `a`, a whole number."""

def population_count(x: TensorLike, name: str | None = None) -> Tensor:
    """How many bits of `x` are 1."""

def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x` to the power of `y`. A negative power of an integer is an error. The shapes broadcast."""

def prefetch_dataset(
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

def prevent_gradient(input: TensorLike, message: str | bytes = '', name: str | None = None) -> Tensor:
    """Passes `input` on; asking for its gradient is an error with `message`."""

def print_(
    input: TensorLike,
    data: Sequence[TensorLike],
    message: str | bytes = '',
    first_n: int = -1,
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """`input` itself; the values of `data` go to the standard error."""

def print_v2(
    input: TensorLike,
    output_stream: str | bytes = 'stderr',
    end: str | bytes = '\n',
    name: str | None = None,
) -> Effect:
    """Prints a string."""

def priority_queue(
    shapes: Sequence[ShapeLike],
    component_types: Sequence[DTypeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements by their first component, the lowest first, an `int64` that `component_types` leaves out."""

def priority_queue_v2(
    shapes: Sequence[ShapeLike],
    component_types: Sequence[DTypeLike] = [],
    capacity: int = -1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A queue that gives elements by their first component, the lowest first, an `int64` that `component_types` leaves out."""

def private_thread_pool_dataset(
    input_dataset: TensorLike,
    num_threads: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is."""

def prod(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The product over some dimensions. Of nothing it is 1. Integers wrap."""

def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> _outputs.Qr:
    """Unitary matrices `q` and upper triangular matrices `r` for which `input = q r`."""

def quantize_and_dequantize(
    input: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    input_min: float = 0.0,
    input_max: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Values that are quantized and turned back, in a range that attrs say or that of the values."""

def quantize_and_dequantize_v2(
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

def quantize_and_dequantize_v3(
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

def quantize_and_dequantize_v4(
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

def quantize_and_dequantize_v4_grad(
    gradients: TensorLike,
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    axis: int = -1,
    name: str | None = None,
) -> _outputs.QuantizeAndDequantizeV4Grad:
    """The gradient of [`QuantizeAndDequantizeV4`]."""

def quantize_down_and_shrink_range(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    out_type: DTypeLike,
    name: str | None = None,
) -> _outputs.QuantizeDownAndShrinkRange:
    """Numbers of 32 bits as numbers of 8, in the range that they take."""

def quantize_v2(
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

def quantized_add(
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

def quantized_avg_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> _outputs.QuantizedAvgPool:
    """The means of windows of quantized images."""

def quantized_batch_norm_with_global_normalization(
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

def quantized_bias_add(
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

def quantized_concat(
    concat_dim: TensorLike,
    values: Sequence[TensorLike],
    input_mins: Sequence[TensorLike],
    input_maxes: Sequence[TensorLike],
    name: str | None = None,
) -> _outputs.QuantizedConcat:
    """Tensors of quantized numbers that are joined along a dimension, in the range that holds all."""

def quantized_conv2d(
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

def quantized_instance_norm(
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

def quantized_mat_mul(
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

def quantized_max_pool(
    input: TensorLike,
    min_input: TensorLike,
    max_input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Literal['SAME', 'VALID'],
    name: str | None = None,
) -> _outputs.QuantizedMaxPool:
    """The greatest of windows of quantized images."""

def quantized_mul(
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

def quantized_relu(
    features: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike = _dtypes.quint8,
    name: str | None = None,
) -> _outputs.QuantizedRelu:
    """The greater of quantized numbers and zero."""

def quantized_relu6(
    features: TensorLike,
    min_features: TensorLike,
    max_features: TensorLike,
    out_type: DTypeLike = _dtypes.quint8,
    name: str | None = None,
) -> _outputs.QuantizedRelu6:
    """Quantized numbers that are cut to those from zero to six."""

def quantized_reshape(
    tensor: TensorLike,
    shape: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    name: str | None = None,
) -> _outputs.QuantizedReshape:
    """Quantized numbers in another shape, as `Reshape` has it."""

def quantized_resize_bilinear(
    images: TensorLike,
    size: TensorLike,
    min: TensorLike,
    max: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> _outputs.QuantizedResizeBilinear:
    """Quantized images in another size, each pixel a weighted sum of four."""

def queue_close(handle: TensorLike, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
    """Closes a queue: nothing is added any more, and nobody waits for what does not come."""

def queue_close_v2(handle: TensorLike, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
    """Closes a queue: nothing is added any more, and nobody waits for what does not come."""

def queue_dequeue(
    handle: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes one element out of a queue; waits while there is none."""

def queue_dequeue_many(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, stacked along a new first dimension; waits until there are as many."""

def queue_dequeue_many_v2(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, stacked along a new first dimension; waits until there are as many."""

def queue_dequeue_up_to(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, or what is left once it is closed, stacked along a new first dimension."""

def queue_dequeue_up_to_v2(
    handle: TensorLike,
    n: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes `n` elements out of a queue, or what is left once it is closed, stacked along a new first dimension."""

def queue_dequeue_v2(
    handle: TensorLike,
    component_types: Sequence[DTypeLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> list[Tensor]:
    """Takes one element out of a queue; waits while there is none."""

def queue_enqueue(
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds one element to a queue; waits while it is full."""

def queue_enqueue_many(
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds several elements to a queue, the slices of `components` along their first dimension; waits while it is full."""

def queue_enqueue_many_v2(
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds several elements to a queue, the slices of `components` along their first dimension; waits while it is full."""

def queue_enqueue_v2(
    handle: TensorLike,
    components: Sequence[TensorLike],
    timeout_ms: int = -1,
    name: str | None = None,
) -> Effect:
    """Adds one element to a queue; waits while it is full."""

def queue_is_closed(handle: TensorLike, name: str | None = None) -> Tensor:
    """Whether a queue is closed."""

def queue_is_closed_v2(handle: TensorLike, name: str | None = None) -> Tensor:
    """Whether a queue is closed."""

def queue_size(handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements in a queue."""

def queue_size_v2(handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements in a queue."""

def rfft(
    input: TensorLike,
    fft_length: TensorLike,
    Tcomplex: DTypeLike = _dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along the last dimension, the half that says all."""

def rfft2d(
    input: TensorLike,
    fft_length: TensorLike,
    Tcomplex: DTypeLike = _dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along the last two dimensions, the half that says all."""

def rfft3d(
    input: TensorLike,
    fft_length: TensorLike,
    Tcomplex: DTypeLike = _dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers along the last three dimensions, the half that says all."""

def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Hue, saturation and value of colours whose parts are red, green and blue."""

def ragged_bincount(
    splits: TensorLike,
    values: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> Tensor:
    """How often each of `0..size` occurs in each row of a ragged matrix."""

def ragged_count_sparse_output(
    splits: TensorLike,
    values: TensorLike,
    weights: TensorLike,
    binary_output: bool,
    minlength: int = -1,
    maxlength: int = -1,
    name: str | None = None,
) -> _outputs.RaggedCountSparseOutput:
    """How often each value occurs in each row of a ragged matrix."""

def ragged_cross(
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

def ragged_fill_empty_rows(
    value_rowids: TensorLike,
    values: TensorLike,
    nrows: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> _outputs.RaggedFillEmptyRows:
    """Puts a default value into each row of a ragged matrix that has none."""

def ragged_fill_empty_rows_grad(
    reverse_index_map: TensorLike,
    grad_values: TensorLike,
    name: str | None = None,
) -> _outputs.RaggedFillEmptyRowsGrad:
    """The gradient of `RaggedFillEmptyRows`."""

def ragged_gather(
    params_nested_splits: Sequence[TensorLike],
    params_dense_values: TensorLike,
    indices: TensorLike,
    OUTPUT_RAGGED_RANK: int,
    name: str | None = None,
) -> _outputs.RaggedGather:
    """The rows of a ragged tensor that `indices` names."""

def ragged_range(
    starts: TensorLike,
    limits: TensorLike,
    deltas: TensorLike,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.RaggedRange:
    """A ragged matrix whose rows are ranges."""

def ragged_tensor_from_variant(
    encoded_ragged: TensorLike,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: DTypeLike,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.RaggedTensorFromVariant:
    """The ragged tensor of the ragged tensors in a tensor of variants, whose dimensions come first."""

def ragged_tensor_to_sparse(
    rt_nested_splits: Sequence[TensorLike],
    rt_dense_values: TensorLike,
    name: str | None = None,
) -> _outputs.RaggedTensorToSparse:
    """A ragged tensor as a sparse one."""

def ragged_tensor_to_tensor(
    shape: TensorLike,
    values: TensorLike,
    default_value: TensorLike,
    row_partition_tensors: Sequence[TensorLike],
    row_partition_types: Sequence[str | bytes],
    name: str | None = None,
) -> Tensor:
    """A ragged tensor as a dense one, with a default value where rows are short."""

def ragged_tensor_to_variant(
    rt_nested_splits: Sequence[TensorLike],
    rt_dense_values: TensorLike,
    batched_input: bool,
    name: str | None = None,
) -> Tensor:
    """A ragged tensor as a variant, or its rows as a vector of variants."""

def ragged_tensor_to_variant_gradient(
    encoded_ragged_grad: TensorLike,
    row_splits: TensorLike,
    dense_values_shape: TensorLike,
    Tvalues: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `RaggedTensorToVariant`."""

def random_crop(image: TensorLike, size: TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """A random part of an image."""

def random_dataset(
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 to 2³² − 1, without end."""

def random_dataset_v2(
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

def random_gamma(
    shape: TensorLike,
    alpha: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of gamma distributions."""

def random_gamma_grad(alpha: TensorLike, sample: TensorLike, name: str | None = None) -> Tensor:
    """How a sample of a gamma distribution changes with the distribution's shape parameter, the probability that a sample is smaller left as it is."""

def random_index_shuffle(
    index: TensorLike,
    seed: TensorLike,
    max_index: TensorLike,
    rounds: int = 4,
    name: str | None = None,
) -> Tensor:
    """Where `index` lands when the numbers from 0 to `max_index` are shuffled, without shuffling them."""

def random_poisson(
    shape: TensorLike,
    rate: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of Poisson distributions."""

def random_poisson_v2(
    shape: TensorLike,
    rate: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random numbers of Poisson distributions, in a dtype of their own."""

def random_shuffle(value: TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """The rows of `value` in a random order."""

def random_shuffle_queue(
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

def random_shuffle_queue_v2(
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

def random_standard_normal(
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1."""

def random_uniform(
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely."""

def random_uniform_int(
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`."""

def range(start: TensorLike, limit: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The numbers from `start` up to but without `limit`, in steps of `delta`; all are scalars."""

def range_dataset(
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

def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of dimensions of `input`, as a scalar."""

def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The contents of a file."""

def read_variable_op(resource: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """The value of a variable. It stays as it is when the variable changes later."""

def reader_num_records_produced(reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of records that a reader gave."""

def reader_num_records_produced_v2(reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of records that a reader gave."""

def reader_num_work_units_completed(reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of files that a reader has come to the end of."""

def reader_num_work_units_completed_v2(reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of files that a reader has come to the end of."""

def reader_read(reader_handle: TensorLike, queue_handle: TensorLike, name: str | None = None) -> _outputs.ReaderRead:
    """Takes the next record of a reader; waits for the queue when a file has ended."""

def reader_read_up_to(
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    num_records: TensorLike,
    name: str | None = None,
) -> _outputs.ReaderReadUpTo:
    """Takes the next records of a reader, all of one file: fewer than `num_records` at its end."""

def reader_read_up_to_v2(
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    num_records: TensorLike,
    name: str | None = None,
) -> _outputs.ReaderReadUpToV2:
    """Takes the next records of a reader, all of one file: fewer than `num_records` at its end."""

def reader_read_v2(
    reader_handle: TensorLike,
    queue_handle: TensorLike,
    name: str | None = None,
) -> _outputs.ReaderReadV2:
    """Takes the next record of a reader; waits for the queue when a file has ended."""

def reader_reset(reader_handle: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to how it was when it was made."""

def reader_reset_v2(reader_handle: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to how it was when it was made."""

def reader_restore_state(reader_handle: TensorLike, state: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to a state that was serialized."""

def reader_restore_state_v2(reader_handle: TensorLike, state: TensorLike, name: str | None = None) -> Effect:
    """Sets a reader to a state that was serialized."""

def reader_serialize_state(reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """What a reader has done, as a message; of readers of wholes alone."""

def reader_serialize_state_v2(reader_handle: TensorLike, name: str | None = None) -> Tensor:
    """What a reader has done, as a message; of readers of wholes alone."""

def real(input: TensorLike, Tout: DTypeLike = _dtypes.float32, name: str | None = None) -> Tensor:
    """The real part."""

def real_div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient of floats or complex numbers, `x / y`. The shapes broadcast."""

def rebatch_dataset(
    input_dataset: TensorLike,
    num_replicas: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    use_fallback: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each batch cut to `num_replicas` batches of equal size, the last of which may be smaller or empty."""

def rebatch_dataset_v2(
    input_dataset: TensorLike,
    batch_sizes: TensorLike,
    drop_remainder: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Batches of other sizes."""

def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal, `1 / x`."""

def reciprocal_grad(y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Reciprocal`: `-dy * y²`. Of complex numbers the conjugate of `y` counts."""

def record_input(
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

def reduce_dataset(
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

def reduce_join(
    inputs: TensorLike,
    reduction_indices: TensorLike,
    keep_dims: bool = False,
    separator: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The strings of each slice along some dimensions, joined in row-major order."""

def ref_enter(
    data: TensorLike,
    frame_name: str | bytes,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> Tensor:
    """As [`Enter`], for a reference."""

def ref_exit(data: TensorLike, name: str | None = None) -> Tensor:
    """As [`Exit`], for a reference."""

def ref_identity(input: TensorLike, name: str | None = None) -> Tensor:
    """The reference that it is given."""

def ref_merge(inputs: Sequence[TensorLike], name: str | None = None) -> _outputs.RefMerge:
    """As [`Merge`], for references."""

def ref_next_iteration(data: TensorLike, name: str | None = None) -> Tensor:
    """As [`NextIteration`], for a reference."""

def ref_select(index: TensorLike, inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Passes on the reference that `index` names."""

def ref_switch(data: TensorLike, pred: TensorLike, name: str | None = None) -> _outputs.RefSwitch:
    """As [`Switch`], for a reference."""

def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether a regular expression matches the whole of each string; the expression is an input."""

def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each string with matches of a regular expression replaced; the expression is an input."""

def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """The positive part, `max(features, 0)`. NaN stays NaN."""

def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """The positive part up to 6, `min(max(features, 0), 6)`."""

def relu6_grad(gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Relu6`: `gradients` where `features` lies between 0 and 6, 0 elsewhere."""

def relu_grad(gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Relu`: `gradients` where `features` is positive, 0 elsewhere."""

def remote_call(
    target: TensorLike,
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `f` with `args` on another device."""

def remove_kernel(names: TensorLike, name: str | None = None) -> Tensor:
    """Takes kernels out of use while the program runs."""

def repeat_dataset(
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset `count` times, or again and again if it is negative."""

def requantization_range(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    name: str | None = None,
) -> _outputs.RequantizationRange:
    """The range that numbers of 32 bits take, for [`Requantize`]; zero lies in it."""

def requantization_range_per_channel(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    clip_value_max: float,
    name: str | None = None,
) -> _outputs.RequantizationRangePerChannel:
    """The range that numbers of 32 bits take over all channels, each of which has a range of its own."""

def requantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    requested_output_min: TensorLike,
    requested_output_max: TensorLike,
    out_type: DTypeLike,
    name: str | None = None,
) -> _outputs.Requantize:
    """Numbers of 32 bits as numbers of 8, in the range that is asked for."""

def requantize_per_channel(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    requested_output_min: TensorLike,
    requested_output_max: TensorLike,
    out_type: DTypeLike = _dtypes.quint8,
    name: str | None = None,
) -> _outputs.RequantizePerChannel:
    """[`Requantize`] of numbers with a range for each channel."""

def reshape(tensor: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """The same elements in the same order under another shape."""

def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Images in another size, each pixel the mean of the area that it covers."""

def resize_bicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size, each pixel a weighted sum of the sixteen around its place, by cubic functions."""

def resize_bicubic_grad(
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ResizeBicubic`]."""

def resize_bilinear(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size, each pixel a weighted mean of the four around its place."""

def resize_bilinear_grad(
    grads: TensorLike,
    original_image: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ResizeBilinear`]."""

def resize_nearest_neighbor(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size, each pixel a copy of the nearest."""

def resize_nearest_neighbor_grad(
    grads: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ResizeNearestNeighbor`]."""

def resource_accumulator_apply_gradient(
    handle: TensorLike,
    local_step: TensorLike,
    gradient: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a gradient to an accumulator."""

def resource_accumulator_num_accumulated(handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of gradients in an accumulator."""

def resource_accumulator_set_global_step(
    handle: TensorLike,
    new_global_step: TensorLike,
    name: str | None = None,
) -> Effect:
    """Tells an accumulator the present step."""

def resource_accumulator_take_gradient(
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Takes the mean, or the sum, of the gradients in an accumulator; waits until there are enough."""

def resource_apply_ada_max(
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

def resource_apply_adadelta(
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

def resource_apply_adagrad(
    var: TensorLike,
    accum: TensorLike,
    lr: TensorLike,
    grad: TensorLike,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Effect:
    """[`ApplyAdagrad`] on resource variables."""

def resource_apply_adagrad_da(
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

def resource_apply_adagrad_v2(
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

def resource_apply_adam(
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

def resource_apply_adam_with_amsgrad(
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

def resource_apply_add_sign(
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

def resource_apply_centered_rms_prop(
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

def resource_apply_ftrl(
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

def resource_apply_ftrl_v2(
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

def resource_apply_gradient_descent(
    var: TensorLike,
    alpha: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyGradientDescent`] on resource variables."""

def resource_apply_keras_momentum(
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

def resource_apply_momentum(
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

def resource_apply_power_sign(
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

def resource_apply_proximal_adagrad(
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

def resource_apply_proximal_gradient_descent(
    var: TensorLike,
    alpha: TensorLike,
    l1: TensorLike,
    l2: TensorLike,
    delta: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Effect:
    """[`ApplyProximalGradientDescent`] on resource variables."""

def resource_apply_rms_prop(
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

def resource_conditional_accumulator(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    reduction_type: Literal['MEAN', 'SUM'] = 'MEAN',
    name: str | None = None,
) -> Tensor:
    """Adds gradients up until enough have come; those of earlier steps than the present one are dropped."""

def resource_count_up_to(resource: TensorLike, limit: int, T: DTypeLike, name: str | None = None) -> Tensor:
    """Adds one to a variable and gives its value from before, until that is `limit`: then the error is OUT_OF_RANGE."""

def resource_gather(
    resource: TensorLike,
    indices: TensorLike,
    dtype: DTypeLike,
    batch_dims: int = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Slices of a variable along its first dimension, by index; with `batch_dims`, along the dimension after those."""

def resource_gather_nd(resource: TensorLike, indices: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Slices of a variable by index vectors: the last dimension of `indices` holds indices for the variable's first ones."""

def resource_scatter_add(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterAdd`] on a resource variable."""

def resource_scatter_div(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterDiv`] on a resource variable."""

def resource_scatter_max(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterMax`] on a resource variable."""

def resource_scatter_min(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterMin`] on a resource variable."""

def resource_scatter_mul(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterMul`] on a resource variable."""

def resource_scatter_nd_add(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdAdd`] on a resource variable."""

def resource_scatter_nd_max(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdMax`] on a resource variable."""

def resource_scatter_nd_min(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdMin`] on a resource variable."""

def resource_scatter_nd_sub(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdSub`] on a resource variable."""

def resource_scatter_nd_update(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """[`ScatterNdUpdate`] on a resource variable."""

def resource_scatter_sub(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterSub`] on a resource variable."""

def resource_scatter_update(
    resource: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    name: str | None = None,
) -> Effect:
    """[`ScatterUpdate`] on a resource variable."""

def resource_sparse_apply_adadelta(
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

def resource_sparse_apply_adagrad(
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

def resource_sparse_apply_adagrad_da(
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

def resource_sparse_apply_adagrad_v2(
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

def resource_sparse_apply_centered_rms_prop(
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

def resource_sparse_apply_ftrl(
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

def resource_sparse_apply_ftrl_v2(
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

def resource_sparse_apply_keras_momentum(
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

def resource_sparse_apply_momentum(
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

def resource_sparse_apply_proximal_adagrad(
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

def resource_sparse_apply_proximal_gradient_descent(
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

def resource_sparse_apply_rms_prop(
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

def resource_strided_slice_assign(
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

def restore(
    file_pattern: TensorLike,
    tensor_name: TensorLike,
    dt: DTypeLike,
    preferred_shard: int = -1,
    name: str | None = None,
) -> Tensor:
    """Reads a tensor from files of the first checkpoint format."""

def restore_slice(
    file_pattern: TensorLike,
    tensor_name: TensorLike,
    shape_and_slice: TensorLike,
    dt: DTypeLike,
    preferred_shard: int = -1,
    name: str | None = None,
) -> Tensor:
    """Reads a part of a tensor from files of the first checkpoint format."""

def restore_v2(
    prefix: TensorLike,
    tensor_names: TensorLike,
    shape_and_slices: TensorLike,
    dtypes: Sequence[DTypeLike],
    name: str | None = None,
) -> list[Tensor]:
    """Reads tensors from a checkpoint."""

def reverse(tensor: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` with some dimensions reversed. [`ReverseV2`](crate::ReverseV2) names them by number."""

def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_dim: int,
    batch_dim: int = 0,
    name: str | None = None,
) -> Tensor:
    """`input` with the first elements along `seq_dim` reversed, for each index of `batch_dim` another number of them."""

def reverse_v2(tensor: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` with the order of elements reversed along some dimensions."""

def rewrite_dataset(
    input_dataset: TensorLike,
    rewrite_name: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is; its graph is rewritten."""

def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits of `x` moved down by `y`; signed integers keep their sign. `y` is first clamped to 0 … bits − 1. The shapes broadcast."""

def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; halves go to the even one."""

def rng_read_and_skip(resource: TensorLike, alg: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The state of a variable's generator, which then moves on, as drawing `delta` numbers would."""

def rng_skip(resource: TensorLike, algorithm: TensorLike, delta: TensorLike, name: str | None = None) -> Effect:
    """Moves a variable's generator on, as drawing `delta` numbers would."""

def roll(input: TensorLike, shift: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    """`input` rolled along some dimensions: what leaves at one end comes in at the other."""

def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; halves go to the even one. Integers stay."""

def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal of the square root, `1 / sqrt(x)`. Infinite at zero, NaN below."""

def rsqrt_grad(y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Rsqrt`: `dy * -0.5 * y³`. Of complex numbers the conjugate of `y` counts."""

def sample_distorted_bounding_box(
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

def sample_distorted_bounding_box_v2(
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

def sampling_dataset(
    input_dataset: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    seed2: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Elements that are picked at random."""

def save(filename: TensorLike, tensor_names: TensorLike, data: Sequence[TensorLike], name: str | None = None) -> Effect:
    """Saves tensors in a file of the first checkpoint format."""

def save_dataset(
    input_dataset: TensorLike,
    path: TensorLike,
    shard_func_other_args: Sequence[TensorLike],
    shard_func: FunctionLike,
    compression: str | bytes = '',
    use_shard_func: bool = True,
    name: str | None = None,
) -> Effect:
    """Writes the elements of a dataset to a folder, from which `LoadDataset` reads them."""

def save_dataset_v2(
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

def save_slices(
    filename: TensorLike,
    tensor_names: TensorLike,
    shapes_and_slices: TensorLike,
    data: Sequence[TensorLike],
    name: str | None = None,
) -> Effect:
    """Saves tensors, or parts of larger ones, in a file of the first checkpoint format."""

def save_v2(
    prefix: TensorLike,
    tensor_names: TensorLike,
    shape_and_slices: TensorLike,
    tensors: Sequence[TensorLike],
    name: str | None = None,
) -> Effect:
    """Saves tensors as a checkpoint `prefix.index` with its data file."""

def scalar_summary(tags: TensorLike, values: TensorLike, name: str | None = None) -> Tensor:
    """A summary with one number for each tag."""

def scale_and_translate(
    images: TensorLike,
    size: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: str | bytes = 'lanczos3',
    antialias: bool = True,
    name: str | None = None,
) -> Tensor:
    """Images that are scaled and moved, each pixel a weighted sum of those around its place."""

def scale_and_translate_grad(
    grads: TensorLike,
    original_image: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: str | bytes = 'lanczos3',
    antialias: bool = True,
    name: str | None = None,
) -> Tensor:
    """The gradient of [`ScaleAndTranslate`]."""

def scan_dataset(
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

def scatter_add(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Adds `updates` to rows of a variable."""

def scatter_div(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Divides rows of a variable by `updates`."""

def scatter_max(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Takes the greater of rows of a variable and `updates`."""

def scatter_min(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Takes the lesser of rows of a variable and `updates`."""

def scatter_mul(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiplies rows of a variable by `updates`."""

def scatter_nd(
    indices: TensorLike,
    updates: TensorLike,
    shape: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A tensor of zeros (or empty strings) with `updates` added at `indices`."""

def scatter_nd_add(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Adds `updates` to slices of a variable, which index vectors name."""

def scatter_nd_max(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Takes the greater of slices of a variable and `updates`, which index vectors name."""

def scatter_nd_min(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Takes the lesser of slices of a variable and `updates`, which index vectors name."""

def scatter_nd_non_aliasing_add(
    input: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`input` with `updates` added at `indices`; `input` itself may be overwritten if nothing else uses it."""

def scatter_nd_sub(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Subtracts `updates` from slices of a variable, which index vectors name."""

def scatter_nd_update(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Assigns `updates` to slices of a variable, which index vectors name."""

def scatter_sub(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = False,
    name: str | None = None,
) -> Tensor:
    """Subtracts `updates` from rows of a variable."""

def scatter_update(
    ref: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Tensor:
    """Assigns `updates` to rows of a variable: `ref[indices[i…], …] = updates[i…, …]`."""

def sdca_fprint(input: TensorLike, name: str | None = None) -> Tensor:
    """A fingerprint of 128 bits of each text."""

def sdca_optimizer(
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

def sdca_optimizer_v2(
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

def sdca_shrink_l1(weights: Sequence[TensorLike], l1: float, l2: float, name: str | None = None) -> Effect:
    """Brings weights nearer to 0 by `l1 / l2`, those that are nearer to 0 themselves."""

def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The greatest element of the rows in each segment, a run of rows with one number. Of no rows it is 0."""

def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The mean of the rows in each segment, a run of rows with one number. Of no rows it is 0; that of integers is rounded towards zero."""

def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The least element of the rows in each segment, a run of rows with one number. Of no rows it is 0."""

def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The product of the rows in each segment, a run of rows with one number. Of no rows it is 1."""

def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the rows in each segment, a run of rows with one number. Of no rows it is 0."""

def select(condition: TensorLike, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Elements of `t` where `condition` is true, of `e` where it is false."""

def select_v2(condition: TensorLike, t: TensorLike, e: TensorLike, name: str | None = None) -> Tensor:
    """Elements of `t` where `condition` is true, of `e` where it is false. All three shapes broadcast."""

def self_adjoint_eig(input: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues and eigenvectors of symmetric matrices, in one tensor."""

def self_adjoint_eig_v2(
    input: TensorLike,
    compute_v: bool = True,
    name: str | None = None,
) -> _outputs.SelfAdjointEigV2:
    """Eigenvalues and eigenvectors of symmetric and Hermitian matrices: `input v = v diag(e)`."""

def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """`scale * features` where positive, `scale * alpha * (exp(features) - 1)` elsewhere, with the scale 1.0507… and the alpha 1.6733… that keep mean and variance."""

def selu_grad(gradients: TensorLike, outputs: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Selu`: `gradients * (outputs + scale * alpha)` where `outputs` is negative, `scale * gradients` elsewhere."""

def serialize_iterator(resource_handle: TensorLike, external_state_policy: int = 0, name: str | None = None) -> Tensor:
    """The state of an iterator."""

def serialize_many_sparse(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    out_type: DTypeLike = _dtypes.string,
    name: str | None = None,
) -> Tensor:
    """Each row of a sparse tensor as three serialized tensors."""

def serialize_sparse(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    sparse_shape: TensorLike,
    out_type: DTypeLike = _dtypes.string,
    name: str | None = None,
) -> Tensor:
    """A sparse tensor as three serialized tensors: indices, values, shape."""

def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto."""

def set_size(
    set_indices: TensorLike,
    set_values: TensorLike,
    set_shape: TensorLike,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The number of different values along the last dimension of a sparse tensor."""

def set_stats_aggregator_dataset(
    input_dataset: TensorLike,
    stats_aggregator: TensorLike,
    tag: TensorLike,
    counter_prefix: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, and `LatencyStatsDataset` and `BytesProducedStatsDataset` in it tell of them."""

def shape(input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: str | None = None) -> Tensor:
    """The shape of `input`, as a vector."""

def shape_n(input: Sequence[TensorLike], out_type: DTypeLike = _dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors, each as a vector."""

def shard_dataset(
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

def sharded_filename(
    basename: TensorLike,
    shard: TensorLike,
    num_shards: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The name of one of several files that belong together: `basename-00003-of-00016`."""

def sharded_filespec(basename: TensorLike, num_shards: TensorLike, name: str | None = None) -> Tensor:
    """A pattern for the names of all files that belong together: `basename-?????-of-00016`."""

def shuffle_and_repeat_dataset(
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

def shuffle_and_repeat_dataset_v2(
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

def shuffle_dataset(
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

def shuffle_dataset_v2(
    input_dataset: TensorLike,
    buffer_size: TensorLike,
    seed_generator: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset in random order, by seeds of a generator."""

def shuffle_dataset_v3(
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

def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """The logistic function, `1 / (1 + e^-x)`."""

def sigmoid_grad(y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Sigmoid`: `dy * y * (1 - y)`."""

def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """−1, 0 or 1 as `x` is negative, zero or positive; NaN stays NaN. For complex numbers `x / |x|`, and 0 for 0."""

def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine of `x` in radians."""

def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine."""

def size(input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: str | None = None) -> Tensor:
    """The number of elements of `input`, as a scalar."""

def skip_dataset(
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """What comes after the first `count` elements of a dataset; nothing if it is −1."""

def skipgram(
    filename: str | bytes,
    batch_size: int,
    window_size: int = 5,
    min_count: int = 5,
    subsample: float = 0.001,
    name: str | None = None,
) -> _outputs.Skipgram:
    """Pairs of words that stand near each other in a text."""

def sleep_dataset(
    input_dataset: TensorLike,
    sleep_microseconds: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, for each of which is waited."""

def slice(input: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """The block of `input` that begins at `begin` and has the given size."""

def sliding_window_dataset(
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

def snapshot(input: TensorLike, name: str | None = None) -> Tensor:
    """Passes on a copy of `input` that later writes to its buffer do not reach."""

def snapshot_chunk_dataset(
    chunk_file: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    compression: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of one file of a snapshot."""

def snapshot_dataset(
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

def snapshot_dataset_reader(
    shard_dir: TensorLike,
    start_index: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    version: int,
    compression: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of one shard of a snapshot."""

def snapshot_dataset_v2(
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

def snapshot_nested_dataset_reader(
    inputs: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """Datasets as the elements of one."""

def sobol_sample(
    dim: TensorLike,
    num_results: TensorLike,
    skip: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Points of a Sobol sequence, which fill the unit cube evenly."""

def softmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """Probabilities along the last dimension: `exp(logits)`, scaled to a sum of 1. The rank is at least 1."""

def softmax_cross_entropy_with_logits(
    features: TensorLike,
    labels: TensorLike,
    name: str | None = None,
) -> _outputs.SoftmaxCrossEntropyWithLogits:
    """The cross entropy of each row of `labels` and the softmax of `features`, and its gradient."""

def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + exp(features))`."""

def softplus_grad(gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Softplus`: `gradients / (1 + exp(-features))`."""

def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """`features / (1 + |features|)`."""

def softsign_grad(gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Softsign`: `gradients / (1 + |features|)²`."""

def space_to_batch(input: TensorLike, paddings: TensorLike, block_size: int, name: str | None = None) -> Tensor:
    """Squares of an image, zero-padded first, moved into the batch dimension: [`SpaceToBatchND`] of two dimensions."""

def space_to_batch_nd(
    input: TensorLike,
    block_shape: TensorLike,
    paddings: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Blocks of the spatial dimensions, zero-padded first, moved into the batch dimension."""

def space_to_depth(
    input: TensorLike,
    block_size: int,
    data_format: Literal['NHWC', 'NCHW', 'NCHW_VECT_C'] = 'NHWC',
    name: str | None = None,
) -> Tensor:
    """Squares moved into the depth: each `block_size` × `block_size` pixels become `block_size²` channels of one pixel."""

def sparse_accumulator_apply_gradient(
    handle: TensorLike,
    local_step: TensorLike,
    gradient_indices: TensorLike,
    gradient_values: TensorLike,
    gradient_shape: TensorLike,
    has_known_shape: bool,
    name: str | None = None,
) -> Effect:
    """Adds a sparse gradient to an accumulator."""

def sparse_accumulator_take_gradient(
    handle: TensorLike,
    num_required: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.SparseAccumulatorTakeGradient:
    """Takes the mean, or the sum, of the sparse gradients in an accumulator; waits until there are enough."""

def sparse_add(
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

def sparse_add_grad(
    backprop_val_grad: TensorLike,
    a_indices: TensorLike,
    b_indices: TensorLike,
    sum_indices: TensorLike,
    name: str | None = None,
) -> _outputs.SparseAddGrad:
    """The gradient of `SparseAdd`."""

def sparse_apply_adadelta(
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

def sparse_apply_adagrad(
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

def sparse_apply_adagrad_da(
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

def sparse_apply_adagrad_v2(
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

def sparse_apply_centered_rms_prop(
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

def sparse_apply_ftrl(
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

def sparse_apply_ftrl_v2(
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

def sparse_apply_momentum(
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

def sparse_apply_proximal_adagrad(
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

def sparse_apply_proximal_gradient_descent(
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

def sparse_apply_rms_prop(
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

def sparse_bincount(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    size: TensorLike,
    weights: TensorLike,
    binary_output: bool = False,
    name: str | None = None,
) -> Tensor:
    """How often each of `0..size` occurs in a sparse vector, or in each row of a sparse matrix."""

def sparse_concat(
    indices: Sequence[TensorLike],
    values: Sequence[TensorLike],
    shapes: Sequence[TensorLike],
    concat_dim: int,
    name: str | None = None,
) -> _outputs.SparseConcat:
    """Sparse tensors joined along a dimension."""

def sparse_conditional_accumulator(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    reduction_type: Literal['MEAN', 'SUM'] = 'MEAN',
    name: str | None = None,
) -> Tensor:
    """Adds sparse gradients up until enough have come; those of earlier steps than the present one are dropped."""

def sparse_count_sparse_output(
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

def sparse_cross(
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

def sparse_cross_hashed(
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

def sparse_cross_v2(
    indices: Sequence[TensorLike],
    values: Sequence[TensorLike],
    shapes: Sequence[TensorLike],
    dense_inputs: Sequence[TensorLike],
    sep: TensorLike,
    name: str | None = None,
) -> _outputs.SparseCrossV2:
    """All combinations of the features that stand in one row of several columns, joined with a text."""

def sparse_dense_cwise_add(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a sparse tensor plus those of a dense one in the same places."""

def sparse_dense_cwise_div(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a sparse tensor divided by those of a dense one in the same places."""

def sparse_dense_cwise_mul(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    dense: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a sparse tensor times those of a dense one in the same places."""

def sparse_fill_empty_rows(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    default_value: TensorLike,
    name: str | None = None,
) -> _outputs.SparseFillEmptyRows:
    """Puts an element with a default value into each row of a sparse tensor that has none."""

def sparse_fill_empty_rows_grad(
    reverse_index_map: TensorLike,
    grad_values: TensorLike,
    name: str | None = None,
) -> _outputs.SparseFillEmptyRowsGrad:
    """The gradient of `SparseFillEmptyRows`."""

def sparse_mat_mul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices that hold many zeros."""

def sparse_matrix_mat_mul(
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

def sparse_matrix_nnz(sparse_matrix: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements of a sparse matrix, or of each of several."""

def sparse_matrix_ordering_amd(input: TensorLike, name: str | None = None) -> Tensor:
    """An order of the rows and columns of a sparse matrix in which its Cholesky factor has few elements: that of approximate minimum degrees."""

def sparse_matrix_sparse_cholesky(
    input: TensorLike,
    permutation: TensorLike,
    type: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The lower triangular Cholesky factor of a sparse matrix whose rows and columns are permuted."""

def sparse_matrix_sparse_mat_mul(
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

def sparse_matrix_transpose(
    input: TensorLike,
    type: DTypeLike,
    conjugate: bool = False,
    name: str | None = None,
) -> Tensor:
    """The transpose of a sparse matrix."""

def sparse_reduce_max(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The greatest elements of a sparse tensor along some dimensions, as a dense tensor."""

def sparse_reduce_max_sparse(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> _outputs.SparseReduceMaxSparse:
    """The greatest elements of a sparse tensor along some dimensions, as a sparse tensor."""

def sparse_reduce_sum(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sums of the elements of a sparse tensor along some dimensions, as a dense tensor."""

def sparse_reduce_sum_sparse(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    reduction_axes: TensorLike,
    keep_dims: bool = False,
    name: str | None = None,
) -> _outputs.SparseReduceSumSparse:
    """The sums of the elements of a sparse tensor along some dimensions, as a sparse tensor."""

def sparse_reorder(
    input_indices: TensorLike,
    input_values: TensorLike,
    input_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseReorder:
    """The elements of a sparse tensor in row-major order of their indices."""

def sparse_reshape(
    input_indices: TensorLike,
    input_shape: TensorLike,
    new_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseReshape:
    """Gives the elements of a sparse tensor the indices that they have in another dense shape."""

def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean of the rows `data[indices[i]]` of each segment."""

def sparse_segment_mean_grad(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSegmentMean`, as a dense tensor."""

def sparse_segment_mean_grad_v2(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    dense_output_dim0: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSegmentMeanGradV2:
    """The gradient of `SparseSegmentMean`, only those rows that were picked."""

def sparse_segment_mean_with_num_segments(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `SparseSegmentMean`, with the number of segments given."""

def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum, divided by the square root of the number of rows, of the rows `data[indices[i]]` of each segment."""

def sparse_segment_sqrt_n_grad(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSegmentSqrtN`, as a dense tensor."""

def sparse_segment_sqrt_n_grad_v2(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    dense_output_dim0: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSegmentSqrtNGradV2:
    """The gradient of `SparseSegmentSqrtN`, only those rows that were picked."""

def sparse_segment_sqrt_n_with_num_segments(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `SparseSegmentSqrtN`, with the number of segments given."""

def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum of the rows `data[indices[i]]` of each segment."""

def sparse_segment_sum_grad(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    output_dim0: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSegmentSum`, as a dense tensor."""

def sparse_segment_sum_grad_v2(
    grad: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    dense_output_dim0: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSegmentSumGradV2:
    """The gradient of `SparseSegmentSum`, only those rows that were picked."""

def sparse_segment_sum_with_num_segments(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    sparse_gradient: bool = False,
    name: str | None = None,
) -> Tensor:
    """As `SparseSegmentSum`, with the number of segments given."""

def sparse_slice(
    indices: TensorLike,
    values: TensorLike,
    shape: TensorLike,
    start: TensorLike,
    size: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSlice:
    """The block of a sparse tensor that begins at `start` and has the given size."""

def sparse_slice_grad(
    backprop_val_grad: TensorLike,
    input_indices: TensorLike,
    input_start: TensorLike,
    output_indices: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The gradient of `SparseSlice`."""

def sparse_softmax(
    sp_indices: TensorLike,
    sp_values: TensorLike,
    sp_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The softmax of the elements in each row of a sparse tensor."""

def sparse_softmax_cross_entropy_with_logits(
    features: TensorLike,
    labels: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSoftmaxCrossEntropyWithLogits:
    """[`SoftmaxCrossEntropyWithLogits`] for labels that are the number of one class in each row."""

def sparse_sparse_maximum(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSparseMaximum:
    """The greater of two sparse tensors at each place where one has an element."""

def sparse_sparse_minimum(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b_indices: TensorLike,
    b_values: TensorLike,
    b_shape: TensorLike,
    name: str | None = None,
) -> _outputs.SparseSparseMinimum:
    """The smaller of two sparse tensors at each place where one has an element."""

def sparse_split(
    split_dim: TensorLike,
    indices: TensorLike,
    values: TensorLike,
    shape: TensorLike,
    num_split: int,
    name: str | None = None,
) -> _outputs.SparseSplit:
    """A sparse tensor cut along a dimension into `num_split` parts."""

def sparse_tensor_dense_add(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The sum of a sparse tensor and a dense one of the same shape."""

def sparse_tensor_dense_mat_mul(
    a_indices: TensorLike,
    a_values: TensorLike,
    a_shape: TensorLike,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse matrix and a dense one."""

def sparse_tensor_slice_dataset(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The rows of a sparse tensor, as sparse tensors."""

def sparse_tensor_to_csr_sparse_matrix(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A sparse tensor of two dimensions, or three for several matrices, as a sparse matrix."""

def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense tensor with the given elements and a default elsewhere."""

def sparse_to_sparse_set_operation(
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

def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """Spence's integral: that of `-ln(t) / (t - 1)` from 1 to `x`."""

def split(axis: TensorLike, value: TensorLike, num_split: int, name: str | None = None) -> list[Tensor]:
    """`value` cut into `num_split` equal pieces along one dimension; its size must be a multiple of that."""

def split_v(
    value: TensorLike,
    size_splits: TensorLike,
    axis: TensorLike,
    num_split: int,
    name: str | None = None,
) -> list[Tensor]:
    """`value` cut into pieces of the given sizes along one dimension."""

def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root. NaN below zero."""

def sqrt_grad(y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Sqrt`: `dy * 0.5 / y`. Of complex numbers the conjugate of `y` counts."""

def square(x: TensorLike, name: str | None = None) -> Tensor:
    """The square, `x * x`. Integers wrap."""

def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`(x - y)²`; for complex numbers `conj(x - y) * (x - y)`. The shapes broadcast."""

def squeeze(input: TensorLike, axis: Sequence[int] = [], name: str | None = None) -> Tensor:
    """`input` without its dimensions of size 1."""

def stack(elem_type: DTypeLike, stack_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A stack of tensors that lives as long as the run."""

def stack_close(handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets a stack."""

def stack_close_v2(handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets a stack."""

def stack_pop(handle: TensorLike, elem_type: DTypeLike, name: str | None = None) -> Tensor:
    """Takes the last tensor from a stack."""

def stack_pop_v2(handle: TensorLike, elem_type: DTypeLike, name: str | None = None) -> Tensor:
    """Takes the last tensor from a stack."""

def stack_push(handle: TensorLike, elem: TensorLike, swap_memory: bool = False, name: str | None = None) -> Tensor:
    """Puts a tensor on a stack and hands it on."""

def stack_push_v2(handle: TensorLike, elem: TensorLike, swap_memory: bool = False, name: str | None = None) -> Tensor:
    """Puts a tensor on a stack and hands it on."""

def stack_v2(
    max_size: TensorLike,
    elem_type: DTypeLike,
    stack_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A stack of tensors that lives as long as the run."""

def stage(
    values: Sequence[TensorLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Puts tensors into a staging area, in order; waits while it is full."""

def stage_clear(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Effect:
    """Takes everything out of a staging area."""

def stage_peek(
    index: TensorLike,
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """The tensors at `index` of a staging area, which stay there; waits until it has as many."""

def stage_size(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The number of elements in a staging area."""

def stateful_partitioned_call(
    args: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    config: str | bytes = '',
    config_proto: str | bytes = '',
    executor_type: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Calls `f`, which has effects, with `args`."""

def stateful_random_binomial(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random numbers of binomial distributions, from a variable's generator."""

def stateful_standard_normal(
    resource: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, from a variable's generator that names its algorithm itself."""

def stateful_standard_normal_v2(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, from a variable's generator."""

def stateful_truncated_normal(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, those beyond 2 drawn again, from a variable's generator."""

def stateful_uniform(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely, from a variable's generator."""

def stateful_uniform_full_int(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: str | None = None,
) -> Tensor:
    """Random integers of the whole range of the dtype, from a variable's generator."""

def stateful_uniform_int(
    resource: TensorLike,
    algorithm: TensorLike,
    shape: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`, from a variable's generator."""

def stateless_case(
    branch_index: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    branches: Sequence[FunctionLike],
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls the branch that `branch_index` names with `input`, the last one if there is none; all are free of effects."""

def stateless_if(
    cond: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    then_branch: FunctionLike,
    else_branch: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    name: str | None = None,
) -> list[Tensor]:
    """Calls `then_branch` with `input` if `cond` holds, and `else_branch` if not; both are free of effects."""

def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random classes, each as likely as its logit says, which follow from a seed."""

def stateless_parameterized_truncated_normal(
    shape: TensorLike,
    seed: TensorLike,
    means: TensorLike,
    stddevs: TensorLike,
    minvals: TensorLike,
    maxvals: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of normal distributions that are cut off at both ends, which follow from a seed."""

def stateless_random_binomial(
    shape: TensorLike,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    dtype: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random numbers of binomial distributions, which follow from a seed."""

def stateless_random_gamma_v2(
    shape: TensorLike,
    seed: TensorLike,
    alpha: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of gamma distributions, which follow from a seed."""

def stateless_random_gamma_v3(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    alpha: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of gamma distributions, from a key and a counter."""

def stateless_random_get_alg(name: str | None = None) -> Tensor:
    """The algorithm that suits the device, a scalar."""

def stateless_random_get_key_counter(
    seed: TensorLike,
    name: str | None = None,
) -> _outputs.StatelessRandomGetKeyCounter:
    """The key and the counter that follow from a seed."""

def stateless_random_get_key_counter_alg(
    seed: TensorLike,
    name: str | None = None,
) -> _outputs.StatelessRandomGetKeyCounterAlg:
    """The key and the counter that follow from a seed, and the algorithm for them."""

def stateless_random_normal(
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, which follow from a seed."""

def stateless_random_normal_v2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, from a key and a counter."""

def stateless_random_poisson(
    shape: TensorLike,
    seed: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Random numbers of Poisson distributions, which follow from a seed."""

def stateless_random_uniform(
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely, which follow from a seed."""

def stateless_random_uniform_full_int(
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: str | None = None,
) -> Tensor:
    """Random integers of the whole range of the dtype, which follow from a seed."""

def stateless_random_uniform_full_int_v2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.uint64,
    name: str | None = None,
) -> Tensor:
    """Random integers of the whole range of the dtype, from a key and a counter."""

def stateless_random_uniform_int(
    shape: TensorLike,
    seed: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`, which follow from a seed."""

def stateless_random_uniform_int_v2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Random integers from `minval` up to but without `maxval`, from a key and a counter."""

def stateless_random_uniform_v2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers from 0 up to but without 1, all equally likely, which follow from a key and a counter."""

def stateless_sample_distorted_bounding_box(
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

def stateless_shuffle(
    value: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The rows of `value` in an order that follows from a key and a counter."""

def stateless_truncated_normal(
    shape: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, those beyond 2 drawn again, which follow from a seed."""

def stateless_truncated_normal_v2(
    shape: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    dtype: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution, those beyond 2 drawn again, from a key and a counter."""

def stateless_while(
    input: Sequence[TensorLike],
    cond: FunctionLike,
    body: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    parallel_iterations: int = 10,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `body` with its own results, first with `input`, for as long as `cond` holds of them; both are free of effects."""

def static_regex_full_match(input: TensorLike, pattern: str | bytes, name: str | None = None) -> Tensor:
    """Whether a regular expression matches the whole of each string; the expression is an attr."""

def static_regex_replace(
    input: TensorLike,
    pattern: str | bytes,
    rewrite: str | bytes,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each string with matches of a regular expression replaced; the expression is an attr."""

def stats_aggregator_handle(
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects what is told of datasets, for `StatsAggregatorSummary`."""

def stats_aggregator_handle_v2(
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Collects what is told of datasets, and writes it as `StatsAggregatorSetSummaryWriter` says."""

def stats_aggregator_set_summary_writer(
    stats_aggregator: TensorLike,
    summary: TensorLike,
    name: str | None = None,
) -> Effect:
    """Has what is collected written as summaries."""

def stats_aggregator_summary(iterator: TensorLike, name: str | None = None) -> Tensor:
    """What was collected; nothing of one that writes it."""

def stochastic_cast_to_int(
    input: TensorLike,
    key: TensorLike,
    counter: TensorLike,
    alg: TensorLike,
    Tout: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Numbers rounded up or down at random, the nearer the likelier, to integers; what is beyond these is cut, NaN becomes 0."""

def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """Passes `input` on; to gradients it is a constant."""

def strided_slice(
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

def strided_slice_assign(
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

def strided_slice_grad(
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

def string_format(
    inputs: Sequence[TensorLike],
    template: str | bytes = '%s',
    placeholder: str | bytes = '%s',
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A template with tensors in place of its placeholders, with the first and last elements of each dimension."""

def string_join(inputs: Sequence[TensorLike], separator: str | bytes = '', name: str | None = None) -> Tensor:
    """Strings of several tensors joined, element by element. Scalars serve all elements."""

def string_length(input: TensorLike, unit: Literal['BYTE', 'UTF8_CHAR'] = 'BYTE', name: str | None = None) -> Tensor:
    """The length of each string."""

def string_lower(input: TensorLike, encoding: str | bytes = '', name: str | None = None) -> Tensor:
    """Each string in lower case."""

def string_n_grams(
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

def string_split(
    input: TensorLike,
    delimiter: TensorLike,
    skip_empty: bool = True,
    name: str | None = None,
) -> _outputs.StringSplit:
    """Each string cut where one of the bytes of `delimiter` stands, as a sparse matrix with a row a string."""

def string_split_v2(
    input: TensorLike,
    sep: TensorLike,
    maxsplit: int = -1,
    name: str | None = None,
) -> _outputs.StringSplitV2:
    """Each string cut where the whole of `sep` stands, as Python does it, as a sparse matrix with a row a string."""

def string_strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Each string without the white space at its ends."""

def string_to_hash_bucket(string_tensor: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string, by a hash that is kept for old graphs; [`StringToHashBucketFast`] is for new ones."""

def string_to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string, by FarmHash's 64-bit fingerprint: fast, the same everywhere, not safe from malice."""

def string_to_hash_bucket_strong(
    input: TensorLike,
    num_buckets: int,
    key: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """The bucket of each string, by SipHash with a key: who does not know the key cannot choose strings that collide."""

def string_to_number(
    string_tensor: TensorLike,
    out_type: DTypeLike = _dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The number that each string holds."""

def string_upper(input: TensorLike, encoding: str | bytes = '', name: str | None = None) -> Tensor:
    """Each string in upper case."""

def sub(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The difference, `x - y`. Integers wrap. The shapes broadcast."""

def substr(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    unit: Literal['BYTE', 'UTF8_CHAR'] = 'BYTE',
    name: str | None = None,
) -> Tensor:
    """A part of each string."""

def sum(input: TensorLike, axis: TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The sum over some dimensions. Of nothing it is 0. Integers wrap."""

def summary_writer(shared_name: str | bytes = '', container: str | bytes = '', name: str | None = None) -> Tensor:
    """The handle of a writer, which `CreateSummaryFileWriter` makes."""

def svd(
    input: TensorLike,
    compute_uv: bool = True,
    full_matrices: bool = False,
    name: str | None = None,
) -> _outputs.Svd:
    """Singular values and vectors: `input = u diag(s) vᴴ`."""

def switch(data: TensorLike, pred: TensorLike, name: str | None = None) -> _outputs.Switch:
    """Hands `data` to `output_true` if `pred` holds and to `output_false` if not; the other output is dead."""

def symbolic_gradient(
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    f: FunctionLike,
    name: str | None = None,
) -> list[Tensor]:
    """The gradient of a function, or of an op of that name, which is derived when the node is first prepared to run."""

def tf_record_dataset(
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The records of TFRecord files."""

def tf_record_dataset_v2(
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    byte_offsets: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The records of TFRecord files."""

def tf_record_reader(
    container: str | bytes = '',
    shared_name: str | bytes = '',
    compression_type: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of TFRecords: a record's key is the file's name, a colon, and where it begins, in bytes."""

def tf_record_reader_v2(
    container: str | bytes = '',
    shared_name: str | bytes = '',
    compression_type: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of TFRecords: a record's key is the file's name, a colon, and where it begins, in bytes."""

def take_dataset(
    input_dataset: TensorLike,
    count: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The first `count` elements of a dataset; all if it is −1."""

def take_many_sparse_from_tensors_map(
    sparse_handles: TensorLike,
    dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> _outputs.TakeManySparseFromTensorsMap:
    """Takes sparse tensors out of a map, as the rows of one."""

def take_while_dataset(
    input_dataset: TensorLike,
    other_arguments: Sequence[TensorLike],
    predicate: FunctionLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements before the first for which a function is false."""

def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent of `x` in radians."""

def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent."""

def tanh_grad(y: TensorLike, dy: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Tanh`: `dy * (1 - y²)`."""

def temporary_variable(
    shape: ShapeLike,
    dtype: DTypeLike,
    var_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A variable that lives until [`DestroyTemporaryVariable`] takes it, or the step ends."""

def tensor_array(
    size: TensorLike,
    dtype: DTypeLike,
    dynamic_size: bool = False,
    clear_after_read: bool = True,
    tensor_array_name: str | bytes = '',
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayV3`](super::TensorArrayV3)."""

def tensor_array_close(handle: TensorLike, name: str | None = None) -> Effect:
    """The first form of [`TensorArrayCloseV3`](super::TensorArrayCloseV3)."""

def tensor_array_close_v2(handle: TensorLike, name: str | None = None) -> Effect:
    """The second form of [`TensorArrayCloseV3`](super::TensorArrayCloseV3)."""

def tensor_array_close_v3(handle: TensorLike, name: str | None = None) -> Effect:
    """Forgets an array before the run ends."""

def tensor_array_concat(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorArrayConcat:
    """The first form of [`TensorArrayConcatV3`](super::TensorArrayConcatV3)."""

def tensor_array_concat_v2(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorArrayConcatV2:
    """The second form of [`TensorArrayConcatV3`](super::TensorArrayConcatV3)."""

def tensor_array_concat_v3(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape_except0: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorArrayConcatV3:
    """All elements of an array joined along their first dimension."""

def tensor_array_gather(
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayGatherV3`](super::TensorArrayGatherV3)."""

def tensor_array_gather_v2(
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayGatherV3`](super::TensorArrayGatherV3)."""

def tensor_array_gather_v3(
    handle: TensorLike,
    indices: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Elements of an array stacked along a new first dimension."""

def tensor_array_grad(handle: TensorLike, flow_in: TensorLike, source: str | bytes, name: str | None = None) -> Tensor:
    """The first form of [`TensorArrayGradV3`](super::TensorArrayGradV3)."""

def tensor_array_grad_v2(
    handle: TensorLike,
    flow_in: TensorLike,
    source: str | bytes,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayGradV3`](super::TensorArrayGradV3)."""

def tensor_array_grad_v3(
    handle: TensorLike,
    flow_in: TensorLike,
    source: str | bytes,
    name: str | None = None,
) -> _outputs.TensorArrayGradV3:
    """The array of gradients of an array: writes add up."""

def tensor_array_grad_with_shape(
    handle: TensorLike,
    flow_in: TensorLike,
    shape_to_prepend: TensorLike,
    source: str | bytes,
    name: str | None = None,
) -> _outputs.TensorArrayGradWithShape:
    """The array of gradients of an array, whose elements have further dimensions in front."""

def tensor_array_pack(
    handle: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """All elements of an array stacked along a new first dimension."""

def tensor_array_read(
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayReadV3`](super::TensorArrayReadV3)."""

def tensor_array_read_v2(
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayReadV3`](super::TensorArrayReadV3)."""

def tensor_array_read_v3(
    handle: TensorLike,
    index: TensorLike,
    flow_in: TensorLike,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Reads an element of an array."""

def tensor_array_scatter(
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayScatterV3`](super::TensorArrayScatterV3)."""

def tensor_array_scatter_v2(
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayScatterV3`](super::TensorArrayScatterV3)."""

def tensor_array_scatter_v3(
    handle: TensorLike,
    indices: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Writes the slices of `value` along its first dimension to elements of an array."""

def tensor_array_size(handle: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """The first form of [`TensorArraySizeV3`](super::TensorArraySizeV3)."""

def tensor_array_size_v2(handle: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """The second form of [`TensorArraySizeV3`](super::TensorArraySizeV3)."""

def tensor_array_size_v3(handle: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements of an array."""

def tensor_array_split(
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArraySplitV3`](super::TensorArraySplitV3)."""

def tensor_array_split_v2(
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArraySplitV3`](super::TensorArraySplitV3)."""

def tensor_array_split_v3(
    handle: TensorLike,
    value: TensorLike,
    lengths: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Writes parts of `value`, cut along its first dimension, to the elements of an array."""

def tensor_array_unpack(handle: TensorLike, value: TensorLike, flow_in: TensorLike, name: str | None = None) -> Tensor:
    """Writes the slices of `value` along its first dimension to the elements of an array."""

def tensor_array_v2(
    size: TensorLike,
    dtype: DTypeLike,
    element_shape: ShapeLike = None,
    dynamic_size: bool = False,
    clear_after_read: bool = True,
    tensor_array_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayV3`](super::TensorArrayV3)."""

def tensor_array_v3(
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

def tensor_array_write(
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The first form of [`TensorArrayWriteV3`](super::TensorArrayWriteV3)."""

def tensor_array_write_v2(
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The second form of [`TensorArrayWriteV3`](super::TensorArrayWriteV3)."""

def tensor_array_write_v3(
    handle: TensorLike,
    index: TensorLike,
    value: TensorLike,
    flow_in: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Writes an element of an array."""

def tensor_dataset(
    components: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """One element."""

def tensor_list_concat(
    input_handle: TensorLike,
    element_dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> _outputs.TensorListConcat:
    """The elements of a list joined along their first dimension."""

def tensor_list_concat_lists(
    input_a: TensorLike,
    input_b: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Lists with the elements of `input_a` followed by those of `input_b`."""

def tensor_list_concat_v2(
    input_handle: TensorLike,
    element_shape: TensorLike,
    leading_dims: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.TensorListConcatV2:
    """The elements of a list joined along their first dimension."""

def tensor_list_element_shape(input_handle: TensorLike, shape_type: DTypeLike, name: str | None = None) -> Tensor:
    """What the shapes of a list's elements are compatible with: a vector, or −1 for any rank."""

def tensor_list_from_tensor(tensor: TensorLike, element_shape: TensorLike, name: str | None = None) -> Tensor:
    """A list of the slices of `tensor` along its first dimension."""

def tensor_list_gather(
    input_handle: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The elements of a list at `indices`, stacked along a new first dimension."""

def tensor_list_get_item(
    input_handle: TensorLike,
    index: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The element of a list at `index`."""

def tensor_list_length(input_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements of a list."""

def tensor_list_pop_back(
    input_handle: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> _outputs.TensorListPopBack:
    """The last element of a list, and the list without it."""

def tensor_list_push_back(input_handle: TensorLike, tensor: TensorLike, name: str | None = None) -> Tensor:
    """A list with one more element at its end."""

def tensor_list_push_back_batch(input_handles: TensorLike, tensor: TensorLike, name: str | None = None) -> Tensor:
    """Lists with one more element each: the slices of `tensor` along its first dimension."""

def tensor_list_reserve(
    element_shape: TensorLike,
    num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A list of `num_elements` elements, none of which is set."""

def tensor_list_resize(input_handle: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """A list cut, or extended by elements that are not set, to `size` elements."""

def tensor_list_scatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list whose element at `indices[i]` is slice `i` of `tensor` along its first dimension."""

def tensor_list_scatter_into_existing_list(
    input_handle: TensorLike,
    tensor: TensorLike,
    indices: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list with other elements at `indices`: the slices of `tensor` along its first dimension."""

def tensor_list_scatter_v2(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: TensorLike,
    num_elements: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list whose element at `indices[i]` is slice `i` of `tensor` along its first dimension."""

def tensor_list_set_item(
    input_handle: TensorLike,
    index: TensorLike,
    item: TensorLike,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """A list with another element at `index`."""

def tensor_list_split(
    tensor: TensorLike,
    element_shape: TensorLike,
    lengths: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A list of parts of `tensor`, which is cut along its first dimension."""

def tensor_list_stack(
    input_handle: TensorLike,
    element_shape: TensorLike,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    name: str | None = None,
) -> Tensor:
    """The elements of a list stacked along a new first dimension."""

def tensor_map_erase(
    input_handle: TensorLike,
    key: TensorLike,
    value_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A map without the entry of `key`; a key that the map lacks is an error."""

def tensor_map_has_key(input_handle: TensorLike, key: TensorLike, name: str | None = None) -> Tensor:
    """Whether a map has an entry of `key`."""

def tensor_map_insert(input_handle: TensorLike, key: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """A map in which `key` leads to `value`, whatever it led to before."""

def tensor_map_lookup(
    input_handle: TensorLike,
    key: TensorLike,
    value_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """The tensor to which `key` leads; a key that the map lacks is an error."""

def tensor_map_size(input_handle: TensorLike, name: str | None = None) -> Tensor:
    """The number of entries of a map."""

def tensor_map_stack_keys(input_handle: TensorLike, key_dtype: DTypeLike, name: str | None = None) -> Tensor:
    """The keys of a map stacked along a new first dimension."""

def tensor_scatter_add(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with `updates` added to the elements or slices at `indices`."""

def tensor_scatter_max(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with the elements or slices at `indices` replaced by `updates` where those are greater."""

def tensor_scatter_min(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with the elements or slices at `indices` replaced by `updates` where those are less."""

def tensor_scatter_sub(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with `updates` subtracted from the elements or slices at `indices`."""

def tensor_scatter_update(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """`tensor` with the elements or slices at `indices` replaced by `updates`; of several for one place the last one stays."""

def tensor_slice_dataset(
    components: Sequence[TensorLike],
    output_shapes: Sequence[ShapeLike],
    is_files: bool = False,
    metadata: str | bytes = '',
    replicate_on_split: bool = False,
    name: str | None = None,
) -> Tensor:
    """The rows of tensors, as elements."""

def tensor_strided_slice_update(
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

def tensor_summary(
    tensor: TensorLike,
    description: str | bytes = '',
    labels: Sequence[str | bytes] = [],
    display_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A summary with a whole tensor and no tag."""

def tensor_summary_v2(
    tag: TensorLike,
    tensor: TensorLike,
    serialized_summary_metadata: TensorLike,
    name: str | None = None,
) -> Tensor:
    """A summary with a whole tensor, a tag and what a plugin wants to know."""

def text_line_dataset(
    filenames: TensorLike,
    compression_type: TensorLike,
    buffer_size: TensorLike,
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The lines of text files, without their ends."""

def text_line_reader(
    skip_header_lines: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of lines: a record's key is the file's name, a colon, and the number of the line, from 1."""

def text_line_reader_v2(
    skip_header_lines: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A reader of lines: a record's key is the file's name, a colon, and the number of the line, from 1."""

def thread_pool_dataset(
    input_dataset: TensorLike,
    thread_pool: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset as it is: its work is done on the threads of the session."""

def thread_pool_handle(
    num_threads: int,
    display_name: str | bytes,
    max_intra_op_parallelism: int = 1,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A pool of threads for datasets."""

def thread_unsafe_unigram_candidate_sampler(
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

def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each dimension `i`."""

def tile_grad(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `Tile`: the sum of all tiles."""

def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970 began in Greenwich, at the moment at which it runs."""

def to_bool(input: TensorLike, name: str | None = None) -> Tensor:
    """Whether `input` holds: a number that is not zero, a string or any other tensor that is not empty."""

def top_k(input: TensorLike, k: int, sorted: bool = True, name: str | None = None) -> _outputs.TopK:
    """The `k` greatest elements of each row, and where they stood; [`TopKV2`] takes `k` as an input."""

def top_kv2(
    input: TensorLike,
    k: TensorLike,
    sorted: bool = True,
    index_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.TopKV2:
    """The `k` greatest elements of each row (the last dimension), and where they stood. Of equals the first comes first."""

def transpose(x: TensorLike, perm: TensorLike, name: str | None = None) -> Tensor:
    """`x` with its dimensions permuted: `y.shape[i] = x.shape[perm[i]]`."""

def tridiagonal_mat_mul(
    superdiag: TensorLike,
    maindiag: TensorLike,
    subdiag: TensorLike,
    rhs: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The products of tridiagonal matrices and others."""

def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions of equations with tridiagonal matrices."""

def truncate_div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient rounded towards zero. Dividing integers by zero is an error. The shapes broadcast."""

def truncate_mod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """What [`TruncateDiv`] leaves, with the sign of `x`: C's `%` and `fmod`. For integers a zero `y` is an error. The shapes broadcast."""

def truncated_normal(
    shape: TensorLike,
    dtype: DTypeLike,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and standard deviation 1, those beyond 2 drawn again."""

def unbatch(
    batched_tensor: TensorLike,
    batch_index: TensorLike,
    id: TensorLike,
    timeout_micros: int,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Gives each of the runs that were put together by `Batch` its part of a result."""

def unbatch_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The rows of each element, as elements."""

def unbatch_grad(
    original_input: TensorLike,
    batch_index: TensorLike,
    grad: TensorLike,
    id: TensorLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The gradient of `Unbatch`: puts the gradients of several runs together for the one that got the batch."""

def uncompress_element(
    compressed: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> list[Tensor]:
    """The components of an element that `CompressElement` compressed."""

def unicode_decode(
    input: TensorLike,
    input_encoding: str | bytes,
    errors: Literal['strict', 'replace', 'ignore'] = 'replace',
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.UnicodeDecode:
    """The characters of each string, as the rows of a ragged matrix."""

def unicode_decode_with_offsets(
    input: TensorLike,
    input_encoding: str | bytes,
    errors: Literal['strict', 'replace', 'ignore'] = 'replace',
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    Tsplits: DTypeLike = _dtypes.int64,
    name: str | None = None,
) -> _outputs.UnicodeDecodeWithOffsets:
    """[`UnicodeDecode`] that also says where each character begins."""

def unicode_encode(
    input_values: TensorLike,
    input_splits: TensorLike,
    output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'],
    errors: Literal['ignore', 'replace', 'strict'] = 'replace',
    replacement_char: int = 65533,
    name: str | None = None,
) -> Tensor:
    """The rows of a ragged matrix of characters as strings."""

def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The script of each character, by the numbers of ICU; −1 for what is no character."""

def unicode_transcode(
    input: TensorLike,
    input_encoding: str | bytes,
    output_encoding: Literal['UTF-8', 'UTF-16-BE', 'UTF-32-BE'],
    errors: Literal['strict', 'replace', 'ignore'] = 'replace',
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Each string in another encoding."""

def uniform_candidate_sampler(
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

def uniform_dequantize(
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

def uniform_quantize(
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

def uniform_quantized_add(
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

def uniform_quantized_clip_by_value(
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

def uniform_quantized_convolution(
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

def uniform_quantized_convolution_hybrid(
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

def uniform_quantized_dot(
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

def uniform_quantized_dot_hybrid(
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

def uniform_requantize(
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

def unique(x: TensorLike, out_idx: DTypeLike = _dtypes.int32, name: str | None = None) -> _outputs.Unique:
    """The different elements of a vector in the order in which they first occur, and for each element which it is."""

def unique_dataset(
    input_dataset: TensorLike,
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of a dataset, each once."""

def unique_v2(
    x: TensorLike,
    axis: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.UniqueV2:
    """The different slices along one dimension in the order in which they first occur, and for each slice which it is."""

def unique_with_counts(
    x: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.UniqueWithCounts:
    """The different elements of a vector in the order in which they first occur, for each element which it is, and how often each occurs."""

def unique_with_counts_v2(
    x: TensorLike,
    axis: TensorLike,
    out_idx: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> _outputs.UniqueWithCountsV2:
    """The different slices along one dimension in the order in which they first occur, for each slice which it is, and how often each occurs."""

def unpack(value: TensorLike, num: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """The slices of `value` along one dimension, without that dimension."""

def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """The coordinates of elements that are given by their places in row-major order: a column for each of `indices`, or a vector if that is a scalar."""

def unsorted_segment_join(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The strings of each segment joined, in their order in `inputs`."""

def unsorted_segment_max(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The greatest element of the rows in each of `num_segments` segments, in any order. Of no rows it is the least finite value."""

def unsorted_segment_min(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The least element of the rows in each of `num_segments` segments, in any order. Of no rows it is the greatest finite value."""

def unsorted_segment_prod(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The product of the rows in each of `num_segments` segments, in any order. Of no rows it is 1."""

def unsorted_segment_sum(
    data: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    name: str | None = None,
) -> Tensor:
    """The sum of the rows in each of `num_segments` segments, in any order. Of no rows it is 0."""

def unstage(
    dtypes: Sequence[DTypeLike],
    capacity: int = 0,
    memory_limit: int = 0,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> list[Tensor]:
    """Takes the tensors that came first out of a staging area; waits while there are none."""

def unwrap_dataset_variant(input_handle: TensorLike, name: str | None = None) -> Tensor:
    """The dataset that `WrapDatasetVariant` was given."""

def upper_bound(
    sorted_inputs: TensorLike,
    values: TensorLike,
    out_type: DTypeLike = _dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The last place in a sorted row at which a value can be inserted so that the row stays sorted."""

def var_handle_op(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    debug_name: str | bytes = '',
    allowed_devices: Sequence[str | bytes] = [],
    name: str | None = None,
) -> Tensor:
    """A handle of a variable, which need not exist yet: the first assignment makes it."""

def var_is_initialized_op(resource: TensorLike, name: str | None = None) -> Tensor:
    """Whether a variable exists and has a value."""

def variable(
    shape: ShapeLike,
    dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """[`VariableV2`] of older graphs."""

def variable_shape(input: TensorLike, out_type: DTypeLike = _dtypes.int32, name: str | None = None) -> Tensor:
    """The shape of a variable's value."""

def variable_v2(
    shape: ShapeLike,
    dtype: DTypeLike,
    container: str | bytes = '',
    shared_name: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """A variable that other nodes change through references; it lives as long as the session."""

def weighted_flat_map_dataset(
    input_datasets: Sequence[TensorLike],
    weights: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """The elements of several datasets one after the other, of each as many as its weight says, so that one of them is used up."""

def where(condition: TensorLike, name: str | None = None) -> Tensor:
    """The indices of the elements that are not zero or false, in row-major order: a matrix with a row for each of them."""

def while_(
    input: Sequence[TensorLike],
    cond: FunctionLike,
    body: FunctionLike,
    output_shapes: Sequence[ShapeLike] = [],
    parallel_iterations: int = 10,
    name: str | None = None,
) -> list[Tensor]:
    """Calls `body` with its own results, first with `input`, for as long as `cond` holds of them."""

def whole_file_reader(container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of files as wholes: a record's key is the file's name."""

def whole_file_reader_v2(container: str | bytes = '', shared_name: str | bytes = '', name: str | None = None) -> Tensor:
    """A reader of files as wholes: a record's key is the file's name."""

def window_dataset(
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

def window_op(
    inputs: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    name: str | None = None,
) -> Tensor:
    """A dataset of elements that are given component by component."""

def wrap_dataset_variant(input_handle: TensorLike, name: str | None = None) -> Tensor:
    """A dataset as a value that copies between devices leave alone."""

def write_audio_summary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    name: str | None = None,
) -> Effect:
    """Adds sounds, as WAV."""

def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> Effect:
    """Writes a file, and makes the folders that it needs."""

def write_graph_summary(writer: TensorLike, step: TensorLike, tensor: TensorLike, name: str | None = None) -> Effect:
    """Adds a `GraphDef` message, serialized."""

def write_histogram_summary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    values: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a histogram of all values, which must be finite."""

def write_image_summary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    tensor: TensorLike,
    bad_color: TensorLike,
    max_images: int = 3,
    name: str | None = None,
) -> Effect:
    """Adds images, as PNG. Its kernel comes with the feature `image_codecs`."""

def write_raw_proto_summary(
    writer: TensorLike,
    step: TensorLike,
    tensor: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds `Summary` messages, serialized, as one."""

def write_scalar_summary(
    writer: TensorLike,
    step: TensorLike,
    tag: TensorLike,
    value: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a number."""

def write_summary(
    writer: TensorLike,
    step: TensorLike,
    tensor: TensorLike,
    tag: TensorLike,
    summary_metadata: TensorLike,
    name: str | None = None,
) -> Effect:
    """Adds a whole tensor with what a plugin wants to know of it."""

def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast."""

def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log(1 + y)`, precise where `y` is near zero, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast."""

def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log(y)`, but 0 wherever `x` is 0, whatever `y` is. The shapes broadcast."""

def zeros_like(x: TensorLike, name: str | None = None) -> Tensor:
    """Zeros in the shape of `x`; for strings empty ones."""

def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function, the sum of `(q + n)^-x` over all `n` from 0 on."""

def zip_dataset(
    input_datasets: Sequence[TensorLike],
    output_types: Sequence[DTypeLike],
    output_shapes: Sequence[ShapeLike],
    metadata: str | bytes = '',
    name: str | None = None,
) -> Tensor:
    """Elements made of one element of each dataset, as long as all have one."""
