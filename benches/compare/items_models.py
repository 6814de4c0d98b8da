"""Networks' less common layers, sparse and ragged data and classical learning, as items of the comparison."""

from operands import item, sizes, tensor, value


def number(content):
    return value(content, "float32")


def recurrent():
    time, batch, inputs, units = 20, 32, 64, 128
    weights = {"w": tensor([inputs + units, 4 * units], "float32", -0.1, 0.1),
               **{name: tensor(units, "float32", -0.1, 0.1) for name in ("wci", "wcf", "wco")}, "b": tensor(4 * units)}
    before = {name: tensor([batch, units]) for name in ("cs_prev", "h_prev")}
    whole = {"seq_len_max": value(time, "int64"), "x": tensor([time, batch, inputs]), **before, **weights}
    states = {name: tensor([time, batch, units], "float32", 0, 1)
              for name in ("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad")}
    size = sizes([time, batch, units])
    yield item("BlockLSTM", size, whole)
    yield item("BlockLSTMV2", size, whole)
    yield item("BlockLSTMGrad", size, {**whole, **states}, use_peephole=False)
    yield item("BlockLSTMGradV2", size, {**whole, **states}, use_peephole=True)
    step = {name: tensor([batch, units], "float32", 0, 1)
            for name in ("i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad")}
    yield item("LSTMBlockCellGrad", "32x128", {"x": tensor([batch, inputs]), **before, **weights, **step}, use_peephole=True)
    gates = {name: tensor([batch, units], "float32", 0, 1) for name in ("r", "u", "c", "d_h")}
    yield item("GRUBlockCellGrad", "32x128", {"x": tensor([batch, inputs]), "h_prev": tensor([batch, units]), "w_ru":
               tensor([inputs + units, 2 * units]), "w_c": tensor([inputs + units, units]), "b_ru": tensor(2 * units),
               "b_c": tensor(units), **gates})
    where = [[row, column] for row in range(16) for column in range(10)]
    yield item("CTCLoss", "100x16x30", {"inputs": tensor([100, 16, 30]), "labels_indices": value(where, "int64"),
               "labels_values": tensor(160, "int32", 0, 29), "sequence_length": tensor(16, "int32", 60, 100)})
    yield item("CTCBeamSearchDecoder", "50x4x30", {"inputs": tensor([50, 4, 30]), "sequence_length":
               tensor(4, "int32", 30, 50)}, beam_width=20, top_paths=1)


def sampling():
    for op in ("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler"):
        yield item(op, "256 of 10,000", {"true_classes": tensor([128, 1], "int64", 0, 10_000)}, "int64", num_true=1,
                   num_sampled=256, unique=True, range_max=10_000, seed=1, seed2=2)
    yield item("ComputeAccidentalHits", "512 and 256", {"true_classes": tensor([512, 1], "int64", 0, 1000),
               "sampled_candidates": tensor(256, "int64", 0, 1000)}, "int64", num_true=1)
    yield item("SobolSample", "10 x 10,000", {"dim": value(10), "num_results": value(10_000), "skip": value(0)})


def volumes():
    image, steps = [2, 16, 32, 32, 16], {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
    weights, windows = [3, 3, 3, 16, 32], {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
    yield item("Conv3D", sizes(image), {"input": tensor(image), "filter": tensor(weights)}, **steps)
    yield item("Conv3DBackpropInputV2", sizes(image), {"input_sizes": value(image), "filter": tensor(weights), "out_backprop":
               tensor([2, 16, 32, 32, 32])}, **steps)
    yield item("Conv3DBackpropFilterV2", sizes(image), {"input": tensor(image), "filter_sizes": value(weights), "out_backprop":
               tensor([2, 16, 32, 32, 32])}, **steps)
    half = [2, 8, 16, 16, 16]
    for op in ("MaxPool3D", "AvgPool3D"):
        yield item(op, sizes(image), {"input": tensor(image)}, **windows)
    yield item("AvgPool3DGrad", sizes(image), {"orig_input_shape": value(image), "grad": tensor(half)}, **windows)
    yield item("MaxPool3DGrad", sizes(image), {"orig_input": tensor(image), "orig_output": tensor(half), "grad": tensor(half)},
               **windows)
    rows = value([0, 3, 5, 8, 10, 13, 15, 18, 20, 23, 25, 28, 30, 32], "int64")
    for op in ("FractionalMaxPool", "FractionalAvgPool"):
        yield item(op, "8x128x128x16", {"value": tensor([8, 128, 128, 16])}, pooling_ratio=[1.0, 1.5, 1.5, 1.0],
                   deterministic=True, seed=1, seed2=2)
    yield item("FractionalAvgPoolGrad", "8x32x32x16", {"orig_input_tensor_shape": value([8, 32, 32, 16], "int64"), "out_backprop":
               tensor([8, 13, 13, 16]), "row_pooling_sequence": rows, "col_pooling_sequence": rows})
    padded = {"paddings": value([[0, 0], [3, 3], [3, 3], [0, 0]]), "filter": tensor([7, 7, 3, 16])}
    how = {"mode": "REFLECT", "strides": [1, 2, 2, 1], "padding": "VALID"}
    yield item("FusedPadConv2D", "2x112x112x3", {"input": tensor([2, 112, 112, 3]), **padded}, **how)
    yield item("FusedResizeAndPadConv2D", "2x112x112x3", {"input": tensor([2, 112, 112, 3]), "size": value([128, 128]), **padded},
               **how)


def sparse_and_ragged():
    rows = [[row, column] for row in range(2000) for column in range(3)]
    column = {"indices": value(rows, "int64"), "values": tensor(6000, "string", words=1000), "shape": value([2000, 3], "int64")}
    crossed = {"indices": [column["indices"]] * 2, "values": [column["values"]] * 2, "shapes": [column["shape"]] * 2,
               "dense_inputs": []}
    yield item("SparseCross", "2 of 2000x3", crossed, "string", hashed_output=True, num_buckets=1000, hash_key=1,
               out_type={"dtype": "int64"}, internal_type={"dtype": "string"})
    yield item("SparseCrossV2", "2 of 2000x3", {**crossed, "sep": value("_", "string")}, "string")
    yield item("SparseCrossHashed", "2 of 2000x3", {**crossed, "num_buckets": value(1000, "int64"), "strong_hash":
               value(False, "bool"), "salt": value([1, 2], "int64")}, "string")
    splits = value(list(range(0, 6001, 3)), "int64")
    yield item("RaggedCross", "2 of 2000x3", {"ragged_values": [column["values"]] * 2, "ragged_row_splits": [splits] * 2,
               "sparse_indices": [], "sparse_values": [], "sparse_shape": [], "dense_inputs": []}, "string", input_order="RR",
               hashed_output=True, num_buckets=1000, hash_key=1, out_values_type={"dtype": "int64"},
               out_row_splits_type={"dtype": "int64"})
    weights = tensor(0)
    yield item("DenseCountSparseOutput", "1000x100", {"values": tensor([1000, 100], "int32", 0, 50), "weights": weights}, "int32",
               binary_output=False)
    yield item("RaggedCountSparseOutput", "2000x3", {"splits": splits, "values": tensor(6000, "int32", 0, 50), "weights": weights},
               "int32", binary_output=False)
    yield item("SparseCountSparseOutput", "2000x3", {"indices": column["indices"], "values": tensor(6000, "int32", 0, 50),
               "dense_shape": column["shape"], "weights": weights}, "int32", binary_output=False)
    words = [[row, letter] for row in range(1000) for letter in range(12)]
    letters = {"indices": value(words, "int64"), "values": tensor(12_000, "int64", 0, 26), "shape": value([1000, 12], "int64")}
    yield item("EditDistance", "1000x12", {f"{side}_{what}": content for side in ("hypothesis", "truth")
               for what, content in letters.items()}, "int64")


def matrices():
    """Compressed rows, whose handles an op of the same graph makes: what is timed is both."""
    for op in ("made", "to dense", "product with dense", "product", "transpose"):
        yield {"name": f"CSR matrix 2000x2000, 1 %: {op}", "kind": "csr", "op": op, "n": 2000, "density": 0.01, "fetch": ["y"]}


def learning():
    yield item("KmeansPlusPlusInitialization", "2000x32", {"points": tensor([2000, 32]), "num_to_sample": value(16, "int64"),
               "seed": value(1, "int64"), "num_retries_per_sample": value(2, "int64")})
    yield item("NearestNeighbors", "2000x32 and 100", {"points": tensor([2000, 32]), "centers": tensor([100, 32]), "k":
               value(5, "int64")})
    yield item("KMC2ChainInitialization", "100,000", {"distances": tensor(100_000, "float32", 0, 1), "seed": value(1, "int64")})
    yield item("SdcaFprint", "100,000", {"input": tensor(100_000, "string", words=50_000)}, "string")
    yield item("IsotonicRegression", "100x1000", {"input": tensor([100, 1000])})
    yield item("ApproxTopK", "16x100,000", {"input": tensor([16, 100_000])}, k=10)
    rows = [row for row in range(2000) for _ in range(5)]
    yield item("SdcaOptimizerV2", "2000 examples", {"sparse_example_indices": [value(rows, "int64")], "sparse_feature_indices":
               [value([(7 * row + 90 * place) % 500 for row in range(2000) for place in range(5)], "int64")], "sparse_feature_values": [tensor(10_000)], "dense_features":
               [tensor([2000, 8])], "example_weights": tensor(2000, "float32", 0.5, 1), "example_labels":
               tensor(2000, "float32", 0, 1), "sparse_indices": [value(list(range(500)), "int64")], "sparse_weights":
               [tensor([1, 500], "float32", 0, 0)], "dense_weights": [tensor([1, 8], "float32", 0, 0)],
               "example_state_data": tensor([2000, 4], "float32", 0, 0)}, loss_type="squared_loss", l1=0.0, l2=1.0,
               num_loss_partitions=1, num_inner_iterations=2)


FAMILIES = (recurrent, sampling, volumes, sparse_and_ragged, matrices, learning)
