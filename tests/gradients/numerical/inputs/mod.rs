//! Functions of ops that no case of TensorFlow's has, or has at a point without slopes.

mod arrays;
mod networks;
mod state;

use kernlink::dtype::Complex64;
use kernlink::graph::GRAPH_DEF_VERSION;
use kernlink::prelude::*;
use kernlink::proto::VersionDef;

use super::differences::Function;
use super::widened::empty;

/// All of them.
pub(super) fn functions() -> Vec<Function> {
    let mut all = Functions::default();
    moves(&mut all);
    element_wise(&mut all);
    normalisation(&mut all);
    pools_and_images(&mut all);
    sparse(&mut all);
    transforms(&mut all);
    arrays::functions(&mut all);
    networks::functions(&mut all);
    state::functions(&mut all);
    all.0
}

/// Those that were made so far.
#[derive(Default)]
struct Functions(Vec<Function>);

impl Functions {
    /// Adds a function of placeholders.
    fn add(&mut self, name: &str, values: &[Tensor], build: impl FnOnce(&mut Graph, &[Output]) -> Result<Vec<Output>>) {
        self.add_of(GRAPH_DEF_VERSION, name, values, build);
    }

    /// [`Functions::add`] for a graph of a version, which some ops are too old for.
    fn add_of(
        &mut self,
        version: i32,
        name: &str,
        values: &[Tensor],
        build: impl FnOnce(&mut Graph, &[Output]) -> Result<Vec<Output>>,
    ) {
        let make = || -> Result<Function> {
            let versions = VersionDef { producer: version, ..VersionDef::default() };
            let mut graph = empty(&versions, &kernlink::registry()?)?;
            let mut xs = Vec::with_capacity(values.len());
            for value in values {
                xs.push(ops::placeholder(&mut graph, value.dtype()).shape(value.shape()).build()?);
            }
            let ys = build(&mut graph, &xs)?;
            let fed = xs.iter().copied().zip(values.iter().cloned()).collect();
            Ok(Function { name: name.to_owned(), graph, fed, xs, ys })
        };
        self.0.push(make().unwrap_or_else(|error| panic!("{name}: {error:?}")));
    }
}

/// Doubles that are far from each other, and from whole numbers.
fn doubles(dims: &[usize], seed: usize) -> Tensor {
    let count = dims.iter().product();
    let elements: Vec<f64> = (0..count).map(|k| ((k * 37 + seed * 11 + 5) % 97) as f64 / 24.3 - 1.97).collect();
    Tensor::from_elements(dims, &elements).unwrap()
}

/// [`doubles`] from 0.3 on.
fn positive(dims: &[usize], seed: usize) -> Tensor {
    let elements: Vec<f64> = doubles(dims, seed).as_slice::<f64>().unwrap().iter().map(|x| x.abs() + 0.3).collect();
    Tensor::from_elements(dims, &elements).unwrap()
}

fn floats(doubles: &Tensor) -> Tensor {
    let elements: Vec<f32> = doubles.as_slice::<f64>().unwrap().iter().map(|&x| x as f32).collect();
    Tensor::from_elements(doubles.shape(), &elements).unwrap()
}

fn complexes(dims: &[usize], seed: usize) -> Tensor {
    let (re, im) = (doubles(dims, seed), doubles(dims, seed + 4));
    let parts = re.as_slice::<f64>().unwrap().iter().zip(im.as_slice::<f64>().unwrap());
    Tensor::from_elements(dims, &parts.map(|(&re, &im)| Complex64::new(re, im)).collect::<Vec<_>>()).unwrap()
}

/// What hands its input on.
fn moves(all: &mut Functions) {
    let x = [doubles(&[2, 3], 1)];
    all.add("ConjugateTranspose", &[complexes(&[2, 3], 1)], |graph, xs| {
        Ok(vec![ops::conjugate_transpose(graph, xs[0], [1, 0]).build()?])
    });
    all.add("ConjugateTranspose", &x, |graph, xs| Ok(vec![ops::conjugate_transpose(graph, xs[0], [1, 0]).build()?]));
    all.add("EnsureShape", &x, |graph, xs| Ok(vec![ops::ensure_shape(graph, xs[0], [2, 3]).build()?]));
    all.add("Snapshot", &x, |graph, xs| Ok(vec![ops::snapshot(graph, xs[0]).build()?]));
    all.add("PlaceholderWithDefault", &x, |graph, xs| {
        Ok(vec![ops::placeholder_with_default(graph, xs[0], [2, 3]).build()?])
    });
    all.add("Print", &x, |graph, xs| Ok(vec![ops::print(graph, xs[0], [xs[0]]).first_n(0).build()?]));
    all.add("PreventGradient", &x, |graph, xs| Ok(vec![ops::prevent_gradient(graph, xs[0]).build()?]));
    let padding = Tensor::scalar(0.7f64);
    all.add("MatrixDiag", &[doubles(&[2], 1), padding.clone()], |graph, xs| {
        let second = ops::matrix_diag_v2(graph, xs[0], 1, -1, -1, xs[1]).build()?;
        Ok(vec![second, ops::matrix_diag_v3(graph, xs[0], 1, -1, -1, xs[1]).build()?])
    });
    all.add("MatrixDiagPart", &[doubles(&[3, 3], 1), padding], |graph, xs| {
        let second = ops::matrix_diag_part_v2(graph, xs[0], [-1, 1], xs[1]).build()?;
        Ok(vec![second, ops::matrix_diag_part_v3(graph, xs[0], [-1, 1], xs[1]).build()?])
    });
    all.add("Branch", &x, |graph, xs| {
        let cut = ops::switch(graph, xs[0], true).build()?;
        let taken = ops::exp(graph, cut.output_true).build()?;
        let other = ops::neg(graph, cut.output_false).build()?;
        Ok(vec![ops::merge(graph, [other, taken]).build()?.output])
    });
    #[expect(deprecated, reason = "it has a gradient still")]
    all.add_of(21, "QuantizeAndDequantize", &[doubles(&[2, 4], 1)], |graph, xs| {
        Ok(vec![ops::quantize_and_dequantize(graph, xs[0]).build()?])
    });
    #[expect(deprecated, reason = "it has a gradient still")]
    all.add_of(6, "TopK", &[doubles(&[2, 4], 1)], |graph, xs| Ok(vec![ops::top_k(graph, xs[0], 2).build()?.values]));
}

/// Transforms in three dimensions, of all elements and of the first ones; a weight of least squares.
fn transforms(all: &mut Functions) {
    let values = [doubles(&[4, 2], 1), doubles(&[4, 3], 2), Tensor::scalar(0.7f64)];
    all.add("MatrixSolveLs", &values, |graph, xs| Ok(vec![ops::matrix_solve_ls(graph, xs[0], xs[1], xs[2]).build()?]));
    for last in [3, 4] {
        for more in [0, 2] {
            let real = doubles(&[2, 2, 3 + more, last + more], 1);
            all.add("RFFT3D", &[real], |graph, xs| {
                let transform = ops::rfft3d(graph, xs[0], [2, 3, last as i32]);
                Ok(vec![transform.tcomplex(DataType::Complex128).build()?])
            });
            let half = complexes(&[2, 2, 3 + more, last / 2 + 1 + more], 2);
            all.add("IRFFT3D", &[half], |graph, xs| {
                let transform = ops::irfft3d(graph, xs[0], [2, 3, last as i32]);
                Ok(vec![transform.treal(DataType::Double).build()?])
            });
        }
    }
}

/// Functions of each element, and losses.
fn element_wise(all: &mut Functions) {
    let t = Tensor::vector(&[-3.1, -0.4, 0.3, 0.9, 2.2]).unwrap();
    all.add("ClipByValue", &[t, Tensor::scalar(-1.0f64), Tensor::scalar(1.5f64)], |graph, xs| {
        Ok(vec![ops::clip_by_value(graph, xs[0], xs[1], xs[2]).build()?])
    });
    let pair = [doubles(&[2, 3], 1), positive(&[2, 3], 2)];
    all.add("TruncateDiv", &pair, |graph, xs| Ok(vec![ops::truncate_div(graph, xs[0], xs[1]).build()?]));
    all.add("SoftsignGrad", &pair, |graph, xs| Ok(vec![ops::softsign_grad(graph, xs[0], xs[1]).build()?]));
    all.add("RandomGamma", &[positive(&[3], 1)], |graph, xs| {
        Ok(vec![ops::random_gamma(graph, [2], xs[0]).seed(1).seed2(2).build()?])
    });
    // Each row's labels are a distribution, as the loss expects.
    let labels = Tensor::new([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]).unwrap();
    all.add("SoftmaxCrossEntropyWithLogits", &[doubles(&[2, 3], 1), labels], |graph, xs| {
        let found = ops::softmax_cross_entropy_with_logits(graph, xs[0], xs[1]).build()?;
        Ok(vec![found.loss, found.backprop])
    });
    all.add("SparseSoftmaxCrossEntropyWithLogits", &[doubles(&[2, 3], 1)], |graph, xs| {
        let found = ops::sparse_softmax_cross_entropy_with_logits(graph, xs[0], [2, 0]).build()?;
        Ok(vec![found.loss, found.backprop])
    });
}

/// Normalisation by channels; of the second order with the statistics that the op itself finds.
fn normalisation(all: &mut Functions) {
    let channels = |seed: usize| positive(&[2], seed);
    let values = [doubles(&[2, 2, 3, 2], 1), channels(2), channels(3), channels(4), channels(5)];
    for scaled in [false, true] {
        all.add_of(8, "BatchNormWithGlobalNormalization", &values, |graph, xs| {
            #[expect(deprecated, reason = "it has a gradient still")]
            let result =
                ops::batch_norm_with_global_normalization(graph, xs[0], xs[1], xs[2], xs[3], xs[4], 0.01, scaled);
            Ok(vec![result.build()?])
        });
    }
    let values = [doubles(&[2, 2, 3, 2], 1), channels(2), doubles(&[2, 2, 3, 2], 6)].map(|x| floats(&x));
    let others = [channels(4), channels(5), doubles(&[0], 1)].map(|x| floats(&x));
    let others = [&values[..], &others].concat();
    all.add("FusedBatchNormGrad by statistics", &others[..5], |graph, xs| {
        let found = ops::fused_batch_norm_grad(graph, xs[2], xs[0], xs[1], xs[3], xs[4]).is_training(false).build()?;
        Ok(vec![found.x_backprop, found.scale_backprop])
    });
    all.add("FusedBatchNormGradV2 by statistics", &others[..5], |graph, xs| {
        let found =
            ops::fused_batch_norm_grad_v2(graph, xs[2], xs[0], xs[1], xs[3], xs[4]).is_training(false).build()?;
        Ok(vec![found.x_backprop, found.scale_backprop])
    });
    all.add("FusedBatchNormGradV3 by statistics", &others, |graph, xs| {
        let found = ops::fused_batch_norm_grad_v3(graph, xs[2], xs[0], xs[1], xs[3], xs[4], xs[5]);
        let found = found.is_training(false).build()?;
        Ok(vec![found.x_backprop, found.scale_backprop])
    });
    all.add("FusedBatchNormGrad", &values, |graph, xs| {
        let (zeros, none) = (ops::constant(graph, [0.0f32; 2])?, Tensor::zeros(DataType::Float, [0])?);
        let none = ops::constant(graph, none)?;
        let found = ops::fused_batch_norm(graph, xs[0], xs[1], zeros, none, none).epsilon(0.01).build()?;
        let (mean, variance) = (found.reserve_space_1, found.reserve_space_2);
        let found = ops::fused_batch_norm_grad(graph, xs[2], xs[0], xs[1], mean, variance).epsilon(0.01).build()?;
        Ok(vec![found.x_backprop, found.scale_backprop, found.offset_backprop])
    });
    all.add("FusedBatchNormGradV2", &values, |graph, xs| {
        let (zeros, none) = (ops::constant(graph, [0.0f32; 2])?, Tensor::zeros(DataType::Float, [0])?);
        let none = ops::constant(graph, none)?;
        let found = ops::fused_batch_norm_v2(graph, xs[0], xs[1], zeros, none, none).epsilon(0.01).build()?;
        let (mean, variance) = (found.reserve_space_1, found.reserve_space_2);
        let found = ops::fused_batch_norm_grad_v2(graph, xs[2], xs[0], xs[1], mean, variance).epsilon(0.01).build()?;
        Ok(vec![found.x_backprop, found.scale_backprop, found.offset_backprop])
    });
    all.add("FusedBatchNormGradV3", &values, |graph, xs| {
        let (zeros, none) = (ops::constant(graph, [0.0f32; 2])?, Tensor::zeros(DataType::Float, [0])?);
        let none = ops::constant(graph, none)?;
        let found = ops::fused_batch_norm_v3(graph, xs[0], xs[1], zeros, none, none).epsilon(0.01).build()?;
        let (mean, variance, rest) = (found.reserve_space_1, found.reserve_space_2, found.reserve_space_3);
        let found = ops::fused_batch_norm_grad_v3(graph, xs[2], xs[0], xs[1], mean, variance, rest);
        let found = found.epsilon(0.01).build()?;
        Ok(vec![found.x_backprop, found.scale_backprop, found.offset_backprop])
    });
}

fn pools_and_images(all: &mut Functions) {
    let (ksize, strides) = ([1i64, 2, 2, 1], [1i64, 1, 2, 1]);
    all.add("MaxPoolGradWithArgmax", &[doubles(&[2, 3, 4, 2], 1), doubles(&[2, 3, 2, 2], 2)], |graph, xs| {
        let required = ops::MaxPoolWithArgmaxRequired { ksize: &ksize, strides: &strides, padding: "SAME" };
        let pooled = ops::max_pool_with_argmax(graph, xs[0], required).build()?;
        let required = ops::MaxPoolGradWithArgmaxRequired { ksize: &ksize, strides: &strides, padding: "SAME" };
        Ok(vec![ops::max_pool_grad_with_argmax(graph, xs[0], xs[1], pooled.argmax, required).build()?])
    });
    all.add("MaxPoolGradGradV2", &[doubles(&[2, 3, 4, 2], 1), doubles(&[2, 3, 4, 2], 2)], |graph, xs| {
        let (ksize, strides) = (&[1, 2, 2, 1][..], &[1, 1, 2, 1][..]);
        let pooled = ops::max_pool_v2(graph, xs[0], ksize, strides, "SAME").build()?;
        Ok(vec![ops::max_pool_grad_grad_v2(graph, xs[0], pooled, xs[1], ksize, strides, "SAME").build()?])
    });
    all.add("ResizeNearestNeighborGrad", &[doubles(&[1, 3, 5, 2], 1)], |graph, xs| {
        Ok(vec![ops::resize_nearest_neighbor_grad(graph, xs[0], &[2, 3][..]).build()?])
    });
    let boxes =
        Tensor::from_elements([2, 4], &[0.11f32, 0.23, 0.87, 0.91, 0.83, 0.12, 0.29, 0.61]).expect("8 elements");
    for crop in [[3i32, 2], [1, 3]] {
        all.add("CropAndResize", &[floats(&doubles(&[2, 4, 5, 2], 1)), boxes.clone()], |graph, xs| {
            Ok(vec![ops::crop_and_resize(graph, xs[0], xs[1], &[1, 0][..], &crop[..]).build()?])
        });
    }
    let [scale, translation] = [[0.7f32, 1.2], [0.2, -0.3]].map(|pair| Tensor::vector(&pair).expect("two elements"));
    all.add("ScaleAndTranslate", &[doubles(&[1, 4, 5, 2], 1), scale, translation], |graph, xs| {
        Ok(vec![ops::scale_and_translate(graph, xs[0], &[3i32, 4][..], xs[1], xs[2]).build()?])
    });
    let values = [floats(&doubles(&[1, 3, 5, 2], 1)), floats(&doubles(&[1, 2, 3, 2], 2))];
    for (align, half) in [(false, false), (true, false), (false, true)] {
        all.add("ResizeBilinearGrad", &values, |graph, xs| {
            let found = ops::resize_bilinear_grad(graph, xs[0], xs[1]).align_corners(align).half_pixel_centers(half);
            Ok(vec![found.build()?])
        });
    }
}

fn sparse(all: &mut Functions) {
    const AT: [[i64; 2]; 3] = [[0, 1], [1, 0], [1, 2]];
    const OTHERS: [[i64; 2]; 3] = [[0, 1], [0, 2], [1, 0]];
    const SHAPE: [i64; 2] = [2, 3];
    let pair = [doubles(&[3], 1), doubles(&[3], 2)];
    all.add("SparseSparseMaximum", &pair, |graph, xs| {
        Ok(vec![ops::sparse_sparse_maximum(graph, AT, xs[0], SHAPE, OTHERS, xs[1], SHAPE).build()?.output_values])
    });
    // At the limit a sum of two is left out.
    let (values, limit) = ([3.0, -2.0, 0.5], Tensor::scalar(1.5f64));
    all.add("SparseAdd", &[limit], |graph, xs| {
        let sum = ops::sparse_add(graph, AT, values, SHAPE, OTHERS, values, SHAPE, xs[0]).build()?.sum_values;
        Ok(vec![ops::sum(graph, sum, 0).build()?])
    });
    all.add("SparseSparseMinimum", &pair, |graph, xs| {
        Ok(vec![ops::sparse_sparse_minimum(graph, AT, xs[0], SHAPE, OTHERS, xs[1], SHAPE).build()?.output_values])
    });
    all.add("SparseDenseCwiseAdd", &pair, |graph, xs| {
        Ok(vec![ops::sparse_dense_cwise_add(graph, AT, xs[0], SHAPE, xs[1]).build()?])
    });
    let rows = [doubles(&[3, 2], 1)];
    let (indices, ids) = ([2, 0, 2, 1], [0, 0, 2, 2]);
    all.add("SparseSegmentSumGrad", &rows, |graph, xs| {
        Ok(vec![ops::sparse_segment_sum_grad(graph, xs[0], indices, ids, 4).build()?])
    });
    all.add("SparseSegmentMeanGrad", &rows, |graph, xs| {
        Ok(vec![ops::sparse_segment_mean_grad(graph, xs[0], indices, ids, 4).build()?])
    });
    all.add("SparseSegmentSqrtNGrad", &rows, |graph, xs| {
        Ok(vec![ops::sparse_segment_sqrt_n_grad(graph, xs[0], indices, ids, 4).build()?])
    });
    all.add("SparseFillEmptyRowsGrad", &[doubles(&[4], 1)], |graph, xs| {
        let found = ops::sparse_fill_empty_rows_grad(graph, [0i64, 2], xs[0]).build()?;
        Ok(vec![found.d_values, found.d_default_value])
    });
    all.add("RaggedFillEmptyRowsGrad", &[doubles(&[4], 1)], |graph, xs| {
        let found = ops::ragged_fill_empty_rows_grad(graph, [0i64, 2], xs[0]).build()?;
        Ok(vec![found.d_values, found.d_default_value])
    });
    all.add("RaggedFillEmptyRows", &[doubles(&[3], 1), doubles(&[], 2)], |graph, xs| {
        Ok(vec![ops::ragged_fill_empty_rows(graph, [0i64, 2, 2], xs[0], 4i64, xs[1]).build()?.output_values])
    });
}
