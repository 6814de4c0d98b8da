"""The named tuples that ops with several outputs give. Written by `generate_stubs.py`."""

from typing import Any, NamedTuple

from ._kernlink import Tensor

def of(op: dict[str, Any]) -> Any: ...

class AllCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class AnonymousIteratorV2(NamedTuple):
    handle: Tensor
    deleter: Tensor

class AnonymousMemoryCache(NamedTuple):
    handle: Tensor
    deleter: Tensor

class AnonymousMultiDeviceIterator(NamedTuple):
    handle: Tensor
    deleter: Tensor

class AnonymousRandomSeedGenerator(NamedTuple):
    handle: Tensor
    deleter: Tensor

class AnonymousSeedGenerator(NamedTuple):
    handle: Tensor
    deleter: Tensor

class ApproxTopK(NamedTuple):
    values: Tensor
    indices: Tensor

class BarrierTakeMany(NamedTuple):
    indices: Tensor
    keys: Tensor
    values: list[Tensor]

class Batch(NamedTuple):
    batched_tensors: list[Tensor]
    batch_index: Tensor
    id: Tensor

class BatchNormWithGlobalNormalizationGrad(NamedTuple):
    dx: Tensor
    dm: Tensor
    dv: Tensor
    db: Tensor
    dg: Tensor

class BatchSelfAdjointEigV2(NamedTuple):
    e: Tensor
    v: Tensor

class BatchSvd(NamedTuple):
    s: Tensor
    u: Tensor
    v: Tensor

class BlockLSTM(NamedTuple):
    i: Tensor
    cs: Tensor
    f: Tensor
    o: Tensor
    ci: Tensor
    co: Tensor
    h: Tensor

class BlockLSTMGrad(NamedTuple):
    x_grad: Tensor
    cs_prev_grad: Tensor
    h_prev_grad: Tensor
    w_grad: Tensor
    wci_grad: Tensor
    wcf_grad: Tensor
    wco_grad: Tensor
    b_grad: Tensor

class BlockLSTMGradV2(NamedTuple):
    x_grad: Tensor
    cs_prev_grad: Tensor
    h_prev_grad: Tensor
    w_grad: Tensor
    wci_grad: Tensor
    wcf_grad: Tensor
    wco_grad: Tensor
    b_grad: Tensor

class BlockLSTMV2(NamedTuple):
    i: Tensor
    cs: Tensor
    f: Tensor
    o: Tensor
    ci: Tensor
    co: Tensor
    h: Tensor

class BroadcastGradientArgs(NamedTuple):
    r0: Tensor
    r1: Tensor

class CSRSparseMatrixComponents(NamedTuple):
    row_ptrs: Tensor
    col_inds: Tensor
    values: Tensor

class CSRSparseMatrixToSparseTensor(NamedTuple):
    indices: Tensor
    values: Tensor
    dense_shape: Tensor

class CTCBeamSearchDecoder(NamedTuple):
    decoded_indices: list[Tensor]
    decoded_values: list[Tensor]
    decoded_shape: list[Tensor]
    log_probability: Tensor

class CTCGreedyDecoder(NamedTuple):
    decoded_indices: Tensor
    decoded_values: Tensor
    decoded_shape: Tensor
    log_probability: Tensor

class CTCLoss(NamedTuple):
    loss: Tensor
    gradient: Tensor

class CombinedNonMaxSuppression(NamedTuple):
    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor

class ComputeAccidentalHits(NamedTuple):
    indices: Tensor
    ids: Tensor
    weights: Tensor

class CustomAggregator(NamedTuple):
    output: Tensor
    min: Tensor
    max: Tensor
    histogram: Tensor

class DecodeProtoV2(NamedTuple):
    sizes: Tensor
    values: list[Tensor]

class DecodeWav(NamedTuple):
    audio: Tensor
    sample_rate: Tensor

class DenseCountSparseOutput(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_dense_shape: Tensor

class DenseToDenseSetOperation(NamedTuple):
    result_indices: Tensor
    result_values: Tensor
    result_shape: Tensor

class DenseToSparseSetOperation(NamedTuple):
    result_indices: Tensor
    result_values: Tensor
    result_shape: Tensor

class DeserializeManySparse(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_shape: Tensor

class DeserializeSparse(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_shape: Tensor

class Eig(NamedTuple):
    e: Tensor
    v: Tensor

class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor

class FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor

class FixedUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class FractionalAvgPool(NamedTuple):
    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor

class FractionalMaxPool(NamedTuple):
    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor

class FusedBatchNorm(NamedTuple):
    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor

class FusedBatchNormGrad(NamedTuple):
    x_backprop: Tensor
    scale_backprop: Tensor
    offset_backprop: Tensor
    reserve_space_3: Tensor
    reserve_space_4: Tensor

class FusedBatchNormGradV2(NamedTuple):
    x_backprop: Tensor
    scale_backprop: Tensor
    offset_backprop: Tensor
    reserve_space_3: Tensor
    reserve_space_4: Tensor

class FusedBatchNormGradV3(NamedTuple):
    x_backprop: Tensor
    scale_backprop: Tensor
    offset_backprop: Tensor
    reserve_space_4: Tensor
    reserve_space_5: Tensor

class FusedBatchNormV2(NamedTuple):
    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor

class FusedBatchNormV3(NamedTuple):
    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor
    reserve_space_3: Tensor

class GRUBlockCell(NamedTuple):
    r: Tensor
    u: Tensor
    c: Tensor
    h: Tensor

class GRUBlockCellGrad(NamedTuple):
    d_x: Tensor
    d_h_prev: Tensor
    d_c_bar: Tensor
    d_r_bar_u_bar: Tensor

class GenerateVocabRemapping(NamedTuple):
    remapping: Tensor
    num_present: Tensor

class IsotonicRegression(NamedTuple):
    output: Tensor
    segments: Tensor

class LSTMBlockCell(NamedTuple):
    i: Tensor
    cs: Tensor
    f: Tensor
    o: Tensor
    ci: Tensor
    co: Tensor
    h: Tensor

class LSTMBlockCellGrad(NamedTuple):
    cs_prev_grad: Tensor
    dicfo: Tensor
    wci_grad: Tensor
    wcf_grad: Tensor
    wco_grad: Tensor

class LearnedUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class ListDiff(NamedTuple):
    out: Tensor
    idx: Tensor

class LogMatrixDeterminant(NamedTuple):
    sign: Tensor
    log_abs_determinant: Tensor

class LogUniformCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class LookupTableExport(NamedTuple):
    keys: Tensor
    values: Tensor

class LookupTableExportV2(NamedTuple):
    keys: Tensor
    values: Tensor

class Lu(NamedTuple):
    lu: Tensor
    p: Tensor

class MapUnstageNoKey(NamedTuple):
    key: Tensor
    values: list[Tensor]

class MaxPoolWithArgmax(NamedTuple):
    output: Tensor
    argmax: Tensor

class Merge(NamedTuple):
    output: Tensor
    value_index: Tensor

class NearestNeighbors(NamedTuple):
    nearest_center_indices: Tensor
    nearest_center_distances: Tensor

class NonMaxSuppressionV4(NamedTuple):
    selected_indices: Tensor
    valid_outputs: Tensor

class NonMaxSuppressionV5(NamedTuple):
    selected_indices: Tensor
    selected_scores: Tensor
    valid_outputs: Tensor

class OrderedMapUnstageNoKey(NamedTuple):
    key: Tensor
    values: list[Tensor]

class ParseExample(NamedTuple):
    sparse_indices: list[Tensor]
    sparse_values: list[Tensor]
    sparse_shapes: list[Tensor]
    dense_values: list[Tensor]

class ParseExampleV2(NamedTuple):
    sparse_indices: list[Tensor]
    sparse_values: list[Tensor]
    sparse_shapes: list[Tensor]
    dense_values: list[Tensor]
    ragged_values: list[Tensor]
    ragged_row_splits: list[Tensor]

class ParseSequenceExample(NamedTuple):
    context_sparse_indices: list[Tensor]
    context_sparse_values: list[Tensor]
    context_sparse_shapes: list[Tensor]
    context_dense_values: list[Tensor]
    feature_list_sparse_indices: list[Tensor]
    feature_list_sparse_values: list[Tensor]
    feature_list_sparse_shapes: list[Tensor]
    feature_list_dense_values: list[Tensor]
    feature_list_dense_lengths: list[Tensor]

class ParseSequenceExampleV2(NamedTuple):
    context_sparse_indices: list[Tensor]
    context_sparse_values: list[Tensor]
    context_sparse_shapes: list[Tensor]
    context_dense_values: list[Tensor]
    context_ragged_values: list[Tensor]
    context_ragged_row_splits: list[Tensor]
    feature_list_sparse_indices: list[Tensor]
    feature_list_sparse_values: list[Tensor]
    feature_list_sparse_shapes: list[Tensor]
    feature_list_dense_values: list[Tensor]
    feature_list_dense_lengths: list[Tensor]
    feature_list_ragged_values: list[Tensor]
    feature_list_ragged_outer_splits: list[Tensor]
    feature_list_ragged_inner_splits: list[Tensor]

class ParseSingleExample(NamedTuple):
    sparse_indices: list[Tensor]
    sparse_values: list[Tensor]
    sparse_shapes: list[Tensor]
    dense_values: list[Tensor]

class ParseSingleSequenceExample(NamedTuple):
    context_sparse_indices: list[Tensor]
    context_sparse_values: list[Tensor]
    context_sparse_shapes: list[Tensor]
    context_dense_values: list[Tensor]
    feature_list_sparse_indices: list[Tensor]
    feature_list_sparse_values: list[Tensor]
    feature_list_sparse_shapes: list[Tensor]
    feature_list_dense_values: list[Tensor]

class Qr(NamedTuple):
    q: Tensor
    r: Tensor

class QuantizeAndDequantizeV4Grad(NamedTuple):
    input_backprop: Tensor
    input_min_backprop: Tensor
    input_max_backprop: Tensor

class QuantizeDownAndShrinkRange(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class QuantizeV2(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class QuantizedAdd(NamedTuple):
    z: Tensor
    min_z: Tensor
    max_z: Tensor

class QuantizedAvgPool(NamedTuple):
    output: Tensor
    min_output: Tensor
    max_output: Tensor

class QuantizedBatchNormWithGlobalNormalization(NamedTuple):
    result: Tensor
    result_min: Tensor
    result_max: Tensor

class QuantizedBiasAdd(NamedTuple):
    output: Tensor
    min_out: Tensor
    max_out: Tensor

class QuantizedConcat(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class QuantizedConv2D(NamedTuple):
    output: Tensor
    min_output: Tensor
    max_output: Tensor

class QuantizedInstanceNorm(NamedTuple):
    y: Tensor
    y_min: Tensor
    y_max: Tensor

class QuantizedMatMul(NamedTuple):
    out: Tensor
    min_out: Tensor
    max_out: Tensor

class QuantizedMaxPool(NamedTuple):
    output: Tensor
    min_output: Tensor
    max_output: Tensor

class QuantizedMul(NamedTuple):
    z: Tensor
    min_z: Tensor
    max_z: Tensor

class QuantizedRelu(NamedTuple):
    activations: Tensor
    min_activations: Tensor
    max_activations: Tensor

class QuantizedRelu6(NamedTuple):
    activations: Tensor
    min_activations: Tensor
    max_activations: Tensor

class QuantizedReshape(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class QuantizedResizeBilinear(NamedTuple):
    resized_images: Tensor
    out_min: Tensor
    out_max: Tensor

class RaggedCountSparseOutput(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_dense_shape: Tensor

class RaggedCross(NamedTuple):
    output_values: Tensor
    output_row_splits: Tensor

class RaggedFillEmptyRows(NamedTuple):
    output_value_rowids: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor

class RaggedFillEmptyRowsGrad(NamedTuple):
    d_values: Tensor
    d_default_value: Tensor

class RaggedGather(NamedTuple):
    output_nested_splits: list[Tensor]
    output_dense_values: Tensor

class RaggedRange(NamedTuple):
    rt_nested_splits: Tensor
    rt_dense_values: Tensor

class RaggedTensorFromVariant(NamedTuple):
    output_nested_splits: list[Tensor]
    output_dense_values: Tensor

class RaggedTensorToSparse(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_dense_shape: Tensor

class ReaderRead(NamedTuple):
    key: Tensor
    value: Tensor

class ReaderReadUpTo(NamedTuple):
    keys: Tensor
    values: Tensor

class ReaderReadUpToV2(NamedTuple):
    keys: Tensor
    values: Tensor

class ReaderReadV2(NamedTuple):
    key: Tensor
    value: Tensor

class RefMerge(NamedTuple):
    output: Tensor
    value_index: Tensor

class RefSwitch(NamedTuple):
    output_false: Tensor
    output_true: Tensor

class RequantizationRange(NamedTuple):
    output_min: Tensor
    output_max: Tensor

class RequantizationRangePerChannel(NamedTuple):
    output_min: Tensor
    output_max: Tensor

class Requantize(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class RequantizePerChannel(NamedTuple):
    output: Tensor
    output_min: Tensor
    output_max: Tensor

class SampleDistortedBoundingBox(NamedTuple):
    begin: Tensor
    size: Tensor
    bboxes: Tensor

class SampleDistortedBoundingBoxV2(NamedTuple):
    begin: Tensor
    size: Tensor
    bboxes: Tensor

class SdcaOptimizer(NamedTuple):
    out_example_state_data: Tensor
    out_delta_sparse_weights: list[Tensor]
    out_delta_dense_weights: list[Tensor]

class SdcaOptimizerV2(NamedTuple):
    out_example_state_data: Tensor
    out_delta_sparse_weights: list[Tensor]
    out_delta_dense_weights: list[Tensor]

class SelfAdjointEigV2(NamedTuple):
    e: Tensor
    v: Tensor

class Skipgram(NamedTuple):
    vocab_word: Tensor
    vocab_freq: Tensor
    words_per_epoch: Tensor
    current_epoch: Tensor
    total_words_processed: Tensor
    examples: Tensor
    labels: Tensor

class SoftmaxCrossEntropyWithLogits(NamedTuple):
    loss: Tensor
    backprop: Tensor

class SparseAccumulatorTakeGradient(NamedTuple):
    indices: Tensor
    values: Tensor
    shape: Tensor

class SparseAdd(NamedTuple):
    sum_indices: Tensor
    sum_values: Tensor
    sum_shape: Tensor

class SparseAddGrad(NamedTuple):
    a_val_grad: Tensor
    b_val_grad: Tensor

class SparseConcat(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

class SparseCountSparseOutput(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_dense_shape: Tensor

class SparseCross(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

class SparseCrossHashed(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

class SparseCrossV2(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

class SparseFillEmptyRows(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor

class SparseFillEmptyRowsGrad(NamedTuple):
    d_values: Tensor
    d_default_value: Tensor

class SparseReduceMaxSparse(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

class SparseReduceSumSparse(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

class SparseReorder(NamedTuple):
    output_indices: Tensor
    output_values: Tensor

class SparseReshape(NamedTuple):
    output_indices: Tensor
    output_shape: Tensor

class SparseSegmentMeanGradV2(NamedTuple):
    output: Tensor
    sorted_unique_indices: Tensor

class SparseSegmentSqrtNGradV2(NamedTuple):
    output: Tensor
    sorted_unique_indices: Tensor

class SparseSegmentSumGradV2(NamedTuple):
    output: Tensor
    sorted_unique_indices: Tensor

class SparseSlice(NamedTuple):
    output_indices: Tensor
    output_values: Tensor
    output_shape: Tensor

class SparseSoftmaxCrossEntropyWithLogits(NamedTuple):
    loss: Tensor
    backprop: Tensor

class SparseSparseMaximum(NamedTuple):
    output_indices: Tensor
    output_values: Tensor

class SparseSparseMinimum(NamedTuple):
    output_indices: Tensor
    output_values: Tensor

class SparseSplit(NamedTuple):
    output_indices: list[Tensor]
    output_values: list[Tensor]
    output_shape: list[Tensor]

class SparseToSparseSetOperation(NamedTuple):
    result_indices: Tensor
    result_values: Tensor
    result_shape: Tensor

class StatelessRandomGetKeyCounter(NamedTuple):
    key: Tensor
    counter: Tensor

class StatelessRandomGetKeyCounterAlg(NamedTuple):
    key: Tensor
    counter: Tensor
    alg: Tensor

class StatelessSampleDistortedBoundingBox(NamedTuple):
    begin: Tensor
    size: Tensor
    bboxes: Tensor

class StringNGrams(NamedTuple):
    ngrams: Tensor
    ngrams_splits: Tensor

class StringSplit(NamedTuple):
    indices: Tensor
    values: Tensor
    shape: Tensor

class StringSplitV2(NamedTuple):
    indices: Tensor
    values: Tensor
    shape: Tensor

class Svd(NamedTuple):
    s: Tensor
    u: Tensor
    v: Tensor

class Switch(NamedTuple):
    output_false: Tensor
    output_true: Tensor

class TakeManySparseFromTensorsMap(NamedTuple):
    sparse_indices: Tensor
    sparse_values: Tensor
    sparse_shape: Tensor

class TensorArrayConcat(NamedTuple):
    value: Tensor
    lengths: Tensor

class TensorArrayConcatV2(NamedTuple):
    value: Tensor
    lengths: Tensor

class TensorArrayConcatV3(NamedTuple):
    value: Tensor
    lengths: Tensor

class TensorArrayGradV3(NamedTuple):
    grad_handle: Tensor
    flow_out: Tensor

class TensorArrayGradWithShape(NamedTuple):
    grad_handle: Tensor
    flow_out: Tensor

class TensorArrayV3(NamedTuple):
    handle: Tensor
    flow: Tensor

class TensorListConcat(NamedTuple):
    tensor: Tensor
    lengths: Tensor

class TensorListConcatV2(NamedTuple):
    tensor: Tensor
    lengths: Tensor

class TensorListPopBack(NamedTuple):
    output_handle: Tensor
    tensor: Tensor

class ThreadUnsafeUnigramCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class TopK(NamedTuple):
    values: Tensor
    indices: Tensor

class TopKV2(NamedTuple):
    values: Tensor
    indices: Tensor

class UnicodeDecode(NamedTuple):
    row_splits: Tensor
    char_values: Tensor

class UnicodeDecodeWithOffsets(NamedTuple):
    row_splits: Tensor
    char_values: Tensor
    char_to_byte_starts: Tensor

class UniformCandidateSampler(NamedTuple):
    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor

class Unique(NamedTuple):
    y: Tensor
    idx: Tensor

class UniqueV2(NamedTuple):
    y: Tensor
    idx: Tensor

class UniqueWithCounts(NamedTuple):
    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]

class UniqueWithCountsV2(NamedTuple):
    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]
