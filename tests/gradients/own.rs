//! Gradients that TensorFlow lacks, or has wrong, held against differences of what the function gives for neighbours.

use kernlink::dtype::Complex64;
use kernlink::gradient::OutputGradient;
use kernlink::prelude::*;

/// A step whose square is about the precision of doubles.
const STEP: f64 = 1e-6;

/// Checks the gradient of a function of doubles or complex numbers, for shapes that are known and for ones that are not.
#[track_caller]
fn check(values: &[Tensor], function: impl Fn(&mut Graph, &[Output]) -> Result<Output>) {
    for is_known in [true, false] {
        let (found, expected) = both(values, &function, is_known).unwrap();
        for (x, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found.len(), expected.len(), "x {x}");
            for (element, (found, expected)) in found.iter().zip(expected).enumerate() {
                let near = (found - expected).norm() <= 1e-6 * (1.0 + expected.norm());
                assert!(near, "x {x}, element {element}: {found} instead of {expected}");
            }
        }
    }
}

/// Elements, as complex numbers whatever they are.
type Elements = Vec<Complex64>;

/// What gradients give, and what differences do.
fn both(
    values: &[Tensor],
    function: &impl Fn(&mut Graph, &[Output]) -> Result<Output>,
    is_known: bool,
) -> Result<(Vec<Elements>, Vec<Elements>)> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let mut xs = Vec::new();
    for value in values {
        let placeholder = ops::placeholder(&mut graph, value.dtype());
        xs.push(if is_known { placeholder.shape(value.shape()).build()? } else { placeholder.build()? });
    }
    let y = function(&mut graph, &xs)?;
    let feeds: Vec<String> = xs.iter().map(|&x| graph.output_name(x)).collect();
    let feed = |values: &[Tensor]| -> Vec<(String, Tensor)> { feeds.iter().cloned().zip(values.to_vec()).collect() };
    let run = |session: &Session, values: &[Tensor], fetches: &[String]| {
        let feeds = feed(values);
        let feeds: Vec<_> = feeds.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        session.run(&feeds, &fetches.iter().map(String::as_str).collect::<Vec<_>>(), &[])
    };
    let of_y = [graph.output_name(y)];
    let session = Session::new(graph.clone())?;
    let y_value = run(&session, values, &of_y)?.remove(0);
    // What flows back to each element differs.
    let flow: Elements = (0..y_value.num_elements()).map(|k| weight(y_value.dtype(), k)).collect();
    let flow_tensor = like(&y_value, &flow)?;
    let loss = |values: &[Tensor]| -> Result<f64> {
        let y = elements(&run(&session, values, &of_y)?[0])?;
        Ok(y.iter().zip(&flow).map(|(y, flow)| (flow.conj() * y).re).sum())
    };
    let mut expected = Vec::new();
    for (x, value) in values.iter().enumerate() {
        let (own, directions) = (elements(value)?, if value.dtype().is_complex() { 2 } else { 1 });
        let mut slopes = Vec::with_capacity(own.len());
        for element in 0..own.len() {
            let mut slope = [0.0; 2];
            for (slope, unit) in
                slope.iter_mut().zip([Complex64::new(1.0, 0.0), Complex64::new(0.0, 1.0)]).take(directions)
            {
                let moved = |step: f64| {
                    let (mut values, mut own) = (values.to_vec(), own.clone());
                    own[element] += unit * step;
                    values[x] = like(value, &own)?;
                    loss(&values)
                };
                *slope = (moved(STEP)? - moved(-STEP)?) / (2.0 * STEP);
            }
            slopes.push(Complex64::new(slope[0], slope[1]));
        }
        expected.push(slopes);
    }
    let flow = ops::constant(&mut graph, flow_tensor)?;
    let found = Gradients::of([y]).with_respect_to(xs.iter().copied()).grad_ys([Some(flow)]).add_to(&mut graph)?;
    let mut fetches = Vec::new();
    for (found, &x) in found.into_iter().zip(&xs) {
        let dense = dense_or_zeros(&mut graph, found, x)?;
        fetches.push(graph.output_name(dense));
    }
    let found = run(&Session::new(graph)?, values, &fetches)?;
    Ok((found.iter().map(elements).collect::<Result<_>>()?, expected))
}

/// A gradient as a tensor: zeros where there is none.
fn dense_or_zeros(graph: &mut Graph, found: Option<OutputGradient>, x: Output) -> Result<Output> {
    match found {
        Some(OutputGradient::Dense(output)) => Ok(output),
        Some(OutputGradient::Slices { values, indices, dense_shape }) => {
            super::cases::dense(graph, values, indices, dense_shape)
        }
        None => ops::zeros_like(graph, x).build(),
    }
}

/// [`check`] of a function, and of its gradient by each input.
#[track_caller]
fn check_twice(values: &[Tensor], function: impl Fn(&mut Graph, &[Output]) -> Result<Output>) {
    check(values, &function);
    for by in 0..values.len() {
        check(values, |graph, xs| {
            let y = function(graph, xs)?;
            let found = Gradients::of([y]).with_respect_to([xs[by]]).add_to(graph)?;
            dense_or_zeros(graph, found[0], xs[by])
        });
    }
}

fn weight(dtype: DataType, element: usize) -> Complex64 {
    let angle = element as f64 * 1.7 + 0.3;
    Complex64::new(angle.sin(), if dtype.is_complex() { angle.cos() } else { 0.0 })
}

fn elements(tensor: &Tensor) -> Result<Elements> {
    Ok(match tensor.dtype() {
        DataType::Complex128 => tensor.as_slice::<Complex64>()?.to_vec(),
        _ => tensor.as_slice::<f64>()?.iter().map(|&x| Complex64::new(x, 0.0)).collect(),
    })
}

fn like(tensor: &Tensor, elements: &[Complex64]) -> Result<Tensor> {
    let mut made = Tensor::zeros(tensor.dtype(), tensor.shape())?;
    match tensor.dtype() {
        DataType::Complex128 => made.as_mut_slice::<Complex64>()?.copy_from_slice(elements),
        _ => made.as_mut_slice::<f64>()?.iter_mut().zip(elements).for_each(|(made, element)| *made = element.re),
    }
    Ok(made)
}

/// Doubles that are far from each other and from zero.
fn doubles(dims: &[usize], seed: usize) -> Tensor {
    let mut made = Tensor::zeros(DataType::Double, dims).unwrap();
    for (k, made) in made.as_mut_slice::<f64>().unwrap().iter_mut().enumerate() {
        *made = ((k * 37 + seed * 11 + 5) % 23) as f64 / 7.0 - 1.5;
    }
    made
}

fn complexes(dims: &[usize], seed: usize) -> Tensor {
    let mut made = Tensor::zeros(DataType::Complex128, dims).unwrap();
    for (k, made) in made.as_mut_slice::<Complex64>().unwrap().iter_mut().enumerate() {
        let part = |k: usize| ((k * 37 + seed * 11 + 5) % 23) as f64 / 7.0 - 1.5;
        *made = Complex64::new(part(k), part(k + 40));
    }
    made
}

/// TensorFlow's is NaN-free but zero after a zero, and lacks the conjugate.
#[test]
fn products_step_by_step_that_meet_zeros() {
    let zeros = Tensor::vector(&[2.0, 0.0, 3.0, 0.0, -1.0, 4.0]).unwrap();
    for exclusive in [false, true] {
        for reverse in [false, true] {
            for x in [zeros.clone(), doubles(&[4], 1), complexes(&[4], 1)] {
                check(&[x], |graph, xs| ops::cumprod(graph, xs[0], 0).exclusive(exclusive).reverse(reverse).build());
            }
        }
    }
}

/// TensorFlow's gives to the rows that are not left, too.
#[test]
fn rows_that_are_stitched_to_one_place() {
    let data = [doubles(&[2, 2], 1), doubles(&[2, 2], 2)];
    check(&data, |graph, xs| {
        let (first, second) = (ops::constant(graph, [0, 2])?, ops::constant(graph, [2, 1])?);
        ops::dynamic_stitch(graph, [first, second], xs.iter().copied()).build()
    });
    check(&data, |graph, xs| {
        let (first, second) = (ops::constant(graph, [0, 0])?, ops::constant(graph, [2, 1])?);
        ops::parallel_dynamic_stitch(graph, [first, second], xs.iter().copied()).build()
    });
}

/// TensorFlow's aligns bands as V3 does.
#[test]
fn bands_of_the_second_version() {
    check(&[doubles(&[3, 3], 1)], |graph, xs| ops::matrix_diag_v2(graph, xs[0], &[-1, 1][..], -1, -1, 0.0).build());
    check(&[doubles(&[3, 4], 1)], |graph, xs| ops::matrix_diag_part_v2(graph, xs[0], &[-1, 2][..], 0.0).build());
    check(&[doubles(&[3, 3], 1), doubles(&[3, 3], 2)], |graph, xs| {
        ops::matrix_set_diag_v2(graph, xs[0], xs[1], &[-1, 1][..]).build()
    });
}

/// TensorFlow has none, or fails.
#[test]
fn sparse_tensors() {
    const AT: [[i64; 2]; 3] = [[0, 1], [1, 0], [1, 2]];
    const OTHERS: [[i64; 2]; 3] = [[0, 1], [0, 2], [1, 0]];
    const SHAPE: [i64; 2] = [2, 3];
    for is_greatest in [false, true] {
        check(&[doubles(&[3], 1), doubles(&[3], 2)], |graph, xs| {
            Ok(match is_greatest {
                true => {
                    ops::sparse_sparse_maximum(graph, AT, xs[0], SHAPE, OTHERS, xs[1], SHAPE).build()?.output_values
                }
                false => {
                    ops::sparse_sparse_minimum(graph, AT, xs[0], SHAPE, OTHERS, xs[1], SHAPE).build()?.output_values
                }
            })
        });
    }
    for dims in [&[2, 3][..], &[2, 1], &[3], &[1], &[]] {
        let dense = doubles(dims, 3);
        check(&[doubles(&[3], 1), dense.clone()], |graph, xs| {
            ops::sparse_dense_cwise_add(graph, AT, xs[0], SHAPE, xs[1]).build()
        });
        check(&[doubles(&[3], 1), dense.clone()], |graph, xs| {
            ops::sparse_dense_cwise_mul(graph, AT, xs[0], SHAPE, xs[1]).build()
        });
        check(&[doubles(&[3], 1), dense], |graph, xs| {
            ops::sparse_dense_cwise_div(graph, AT, xs[0], SHAPE, xs[1]).build()
        });
    }
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let inner = if a { 2 } else { 3 };
        let dense = if b { [4, inner] } else { [inner, 4] };
        check(&[complexes(&[3], 1), complexes(&dense, 2)], |graph, xs| {
            ops::sparse_tensor_dense_mat_mul(graph, AT, xs[0], SHAPE, xs[1]).adjoint_a(a).adjoint_b(b).build()
        });
    }
    // One value for all indices of a vector.
    check(&[doubles(&[], 1), doubles(&[], 2)], |graph, xs| {
        ops::sparse_to_dense(graph, [0i64, 3], [5i64], xs[0], xs[1]).build()
    });
    check(&[doubles(&[3], 1), doubles(&[], 2)], |graph, xs| {
        Ok(ops::ragged_fill_empty_rows(graph, [0i64, 2, 2], xs[0], 4i64, xs[1]).build()?.output_values)
    });
}

/// TensorFlow's TopK has one gradient too many, and that of TopKV2 only takes indices of 32 bits.
#[test]
fn what_is_chosen_by_rank() {
    check(&[doubles(&[2, 2, 4], 1)], |graph, xs| {
        Ok(ops::top_kv2(graph, xs[0], 2).index_type(DataType::Int64).build()?.values)
    });
    check(&[doubles(&[5], 1)], |graph, xs| Ok(ops::top_kv2(graph, xs[0], 3).build()?.values));
    check(&[doubles(&[2, 3], 1)], |graph, xs| Ok(ops::top_kv2(graph, xs[0], 0).build()?.values));
}

/// Gradients of gradients that TensorFlow lacks.
#[test]
fn of_gradients() {
    check(&[doubles(&[6], 1), doubles(&[6], 2)], |graph, xs| ops::softsign_grad(graph, xs[0], xs[1]).build());
    let (ksize, strides) = ([1i64, 2, 2, 1], [1i64, 1, 2, 1]);
    check(&[doubles(&[2, 3, 4, 2], 1), doubles(&[2, 3, 2, 2], 2)], |graph, xs| {
        let required = ops::MaxPoolWithArgmaxRequired { ksize: &ksize, strides: &strides, padding: "SAME" };
        let pooled = ops::max_pool_with_argmax(graph, xs[0], required).build()?;
        let required = ops::MaxPoolGradWithArgmaxRequired { ksize: &ksize, strides: &strides, padding: "SAME" };
        ops::max_pool_grad_with_argmax(graph, xs[0], xs[1], pooled.argmax, required).build()
    });
    check(&[doubles(&[2, 3, 4, 2], 1), doubles(&[2, 3, 4, 2], 2)], |graph, xs| {
        let (ksize, strides) = (&[1, 2, 2, 1][..], &[1, 1, 2, 1][..]);
        let pooled = ops::max_pool_v2(graph, xs[0], ksize, strides, "SAME").build()?;
        ops::max_pool_grad_grad_v2(graph, xs[0], pooled, xs[1], ksize, strides, "SAME").build()
    });
    check(&[doubles(&[1, 3, 5, 2], 1)], |graph, xs| {
        ops::resize_nearest_neighbor_grad(graph, xs[0], &[2, 3][..]).build()
    });
    let (indices, ids) = ([2, 0, 2, 1], [0, 0, 2, 2]);
    let rows = [doubles(&[3, 2], 1)];
    check(&rows, |graph, xs| ops::sparse_segment_sum_grad(graph, xs[0], indices, ids, 4).build());
    check(&rows, |graph, xs| ops::sparse_segment_mean_grad(graph, xs[0], indices, ids, 4).build());
    check(&rows, |graph, xs| ops::sparse_segment_sqrt_n_grad(graph, xs[0], indices, ids, 4).build());
    check(&[doubles(&[4], 1)], |graph, xs| {
        let found = ops::sparse_fill_empty_rows_grad(graph, [0i64, 2], xs[0]).build()?;
        ops::mul(graph, found.d_values, found.d_default_value).build()
    });
    // The slope of the loss by the logits depends on the labels.
    check(&[doubles(&[2, 3], 1), doubles(&[2, 3], 2)], |graph, xs| {
        Ok(ops::softmax_cross_entropy_with_logits(graph, xs[0], xs[1]).build()?.backprop)
    });
    let labels = Tensor::from_elements([1, 3], &[0.2, 0.3, 0.5]).unwrap();
    check(&[doubles(&[2, 3], 1), labels], |graph, xs| {
        Ok(ops::softmax_cross_entropy_with_logits(graph, xs[0], xs[1]).build()?.loss)
    });
}

/// TensorFlow's kernels refuse windows with gaps.
#[test]
fn convolutions_with_gaps() {
    let (images, filter) = (doubles(&[1, 5, 6, 2], 1), doubles(&[2, 3, 2, 2], 2));
    check(&[images.clone(), filter.clone()], |graph, xs| {
        ops::conv2d(graph, xs[0], xs[1], &[1, 1, 1, 1][..], "VALID").dilations(&[1, 2, 2, 1][..]).build()
    });
    check(&[images, filter], |graph, xs| {
        let convolved = ops::depthwise_conv2d_native(graph, xs[0], xs[1], &[1, 1, 1, 1][..], "SAME");
        convolved.dilations(&[1, 2, 2, 1][..]).build()
    });
}

/// Sums that an ellipsis, repeated labels and summed ones take part in together.
#[test]
fn equations() {
    for (equation, a, b) in [
        ("aab...,b...->...a", &[2, 2, 3, 2][..], &[3, 2][..]),
        ("ab...c,...b->a...", &[2, 3, 1, 2], &[4, 3]),
        ("...ab,cb...->c...", &[3, 2, 2], &[2, 2, 1]),
    ] {
        let values = [complexes(a, 1), complexes(b, 2)];
        check(&values, |graph, xs| ops::einsum(graph, [xs[0], xs[1]], equation).build());
    }
}

/// Where channels stand second the gradients are those of the same images with channels last, of the second order, too.
#[test]
fn channels_stand_second() {
    let image = |seed: usize| floats(&[2, 3, 2, 2], seed);
    let channels = |seed: usize| {
        let made = floats(&[2], seed);
        Tensor::vector(&made.as_slice::<f32>().unwrap().iter().map(|x| x * x + 0.5).collect::<Vec<_>>()).unwrap()
    };
    for is_training in [false, true] {
        let answers = [false, true].map(|stand_second| {
            let mut graph = Graph::new(&kernlink::registry().unwrap());
            let scope = &mut graph;
            let x = ops::constant(scope, image(1)).unwrap();
            let scale = ops::constant(scope, channels(2)).unwrap();
            let others = match is_training {
                false => [ops::constant(scope, channels(3)).unwrap(), ops::constant(scope, channels(4)).unwrap()],
                true => [ops::constant(scope, Tensor::zeros(DataType::Float, [0]).unwrap()).unwrap(); 2],
            };
            let turned = |scope: &mut Graph, x: Output, perm: [i32; 4]| match stand_second {
                true => ops::transpose(scope, x, &perm[..]).build().unwrap(),
                false => x,
            };
            let images = turned(scope, x, [0, 3, 1, 2]);
            let y =
                ops::fused_batch_norm_v3(scope, images, scale, scale, others[0], others[1]).is_training(is_training);
            let y = y.data_format(if stand_second { "NCHW" } else { "NHWC" }).build().unwrap().y;
            let y = turned(scope, y, [0, 2, 3, 1]);
            let flow = ops::constant(scope, image(5)).unwrap();
            let dense = |found: &Option<OutputGradient>| match found {
                Some(OutputGradient::Dense(output)) => *output,
                found => panic!("{found:?}"),
            };
            let first =
                Gradients::of([y]).with_respect_to([x, scale]).grad_ys([Some(flow)]).add_to(&mut graph).unwrap();
            let first = [dense(&first[0]), dense(&first[1])];
            let outer = [ops::constant(&mut graph, image(6)).unwrap(), ops::constant(&mut graph, channels(7)).unwrap()];
            let second = Gradients::of(first).with_respect_to([x, scale, flow]).grad_ys(outer.map(Some));
            let second = second.add_to(&mut graph).unwrap();
            let fetches: Vec<Output> = first.into_iter().chain(second.iter().map(dense)).collect();
            super::cases::run(graph, &[], &fetches).unwrap()
        });
        let [last, second] = answers;
        let expected: Vec<Option<Tensor>> = last.into_iter().map(Some).collect();
        super::cases::agree(&second.into_iter().map(Some).collect::<Vec<_>>(), &expected).unwrap();
    }
}

/// [`doubles`] as floats.
fn floats(dims: &[usize], seed: usize) -> Tensor {
    let wide = doubles(dims, seed);
    let narrow: Vec<f32> = wide.as_slice::<f64>().unwrap().iter().map(|&x| x as f32).collect();
    Tensor::from_elements(dims, &narrow).unwrap()
}

/// Both sides of where a series and a fraction compute it.
#[test]
fn incomplete_gamma_functions() {
    let a = Tensor::vector(&[0.3, 1.0, 2.5, 10.0, 10.0, 40.0, 5.0]).unwrap();
    let x = Tensor::vector(&[0.1, 3.0, 2.5, 6.0, 15.0, 41.0, 0.7]).unwrap();
    check(&[a.clone(), x.clone()], |graph, xs| ops::igamma(graph, xs[0], xs[1]).build());
    check(&[a, x], |graph, xs| ops::igammac(graph, xs[0], xs[1]).build());
}

/// A sample moves so that the probability of smaller ones stays as it is.
#[test]
fn samples_of_gamma_distributions() {
    let alphas = Tensor::vector(&[0.4, 1.0, 3.0, 20.0]).unwrap();
    let probability = |graph: &mut Graph, xs: &[Output], sample: Output| ops::igamma(graph, xs[0], sample).build();
    let values = [alphas];
    check_samples(
        &values,
        &[0],
        |graph, xs| ops::random_gamma(graph, &[5][..], xs[0]).seed(1).seed2(2).build(),
        probability,
    );
    check_samples(
        &values,
        &[0],
        |graph, xs| ops::stateless_random_gamma_v2(graph, &[5, 4][..], &[1, 2][..], xs[0]).build(),
        probability,
    );
    check_samples(
        &values,
        &[0],
        |graph, xs| {
            let (key, counter) = (&[7u64][..], &[1u64, 2][..]);
            ops::stateless_random_gamma_v3(graph, &[5, 4][..], key, counter, 1, xs[0]).build()
        },
        probability,
    );
}

/// By their limits. Where the mean and the standard deviation change, TensorFlow's limits change with them.
#[test]
fn samples_of_truncated_normal_distributions() {
    let values = [[0.3, -0.5], [0.8, 1.6], [-2.0, -1.1], [0.9, 2.5]].map(|values| Tensor::vector(&values).unwrap());
    check_samples(
        &values,
        &[2, 3],
        |graph, xs| {
            let (shape, seed) = (&[4, 2][..], &[1, 2][..]);
            ops::stateless_parameterized_truncated_normal(graph, shape, seed, xs[0], xs[1], xs[2], xs[3]).build()
        },
        |graph, xs, sample| {
            let mut below = |x: Output| {
                let centred = ops::sub(graph, x, xs[0]).build()?;
                let wide = ops::mul(graph, xs[1], std::f64::consts::SQRT_2).build()?;
                let scaled = ops::real_div(graph, centred, wide).build()?;
                ops::erf(graph, scaled).build()
            };
            let (sample, low, high) = (below(sample)?, below(xs[2])?, below(xs[3])?);
            let (part, whole) = (ops::sub(graph, sample, low).build()?, ops::sub(graph, high, low).build()?);
            ops::real_div(graph, part, whole).build()
        },
    );
}

/// Checks how samples, rows with one for each element of the parameters, move with some of these. The probability of less is
/// differentiated by differences.
#[track_caller]
fn check_samples(
    values: &[Tensor],
    by: &[usize],
    draw: impl Fn(&mut Graph, &[Output]) -> Result<Output>,
    probability: impl Fn(&mut Graph, &[Output], Output) -> Result<Output>,
) {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let xs: Vec<Output> = values.iter().map(|value| ops::constant(&mut graph, value.clone()).unwrap()).collect();
    let sample = draw(&mut graph, &xs).unwrap();
    let rows = graph.shape(sample).to_shape().unwrap()[0];
    // The sum over all samples, each by itself.
    let samples = ops::unpack(&mut graph, sample, rows as i64).build().unwrap();
    let mut fetches = vec![sample];
    for &row in &samples {
        for found in Gradients::of([row]).with_respect_to(xs.iter().copied()).add_to(&mut graph).unwrap() {
            let Some(OutputGradient::Dense(slopes)) = found else { panic!("{found:?}") };
            fetches.push(slopes);
        }
    }
    let found = super::cases::run(graph, &[], &fetches).unwrap();
    let numbers = |tensor: &Tensor| tensor.as_slice::<f64>().unwrap().to_vec();
    let columns = values[0].num_elements();
    let probabilities = |values: &[Tensor], step: f64| -> Vec<f64> {
        let mut graph = Graph::new(&kernlink::registry().unwrap());
        let xs: Vec<Output> = values.iter().map(|value| ops::constant(&mut graph, value.clone()).unwrap()).collect();
        let moved: Vec<f64> = numbers(&found[0]).iter().map(|x| x + step * x.abs()).collect();
        let moved = ops::constant(&mut graph, Tensor::from_elements([rows, columns], &moved).unwrap()).unwrap();
        let of_less = probability(&mut graph, &xs, moved).unwrap();
        numbers(&super::cases::run(graph, &[], &[of_less]).unwrap()[0])
    };
    let slopes =
        |up: Vec<f64>, down: Vec<f64>| -> Vec<f64> { up.iter().zip(down).map(|(up, down)| up - down).collect() };
    let by_sample = slopes(probabilities(values, STEP), probabilities(values, -STEP));
    for &x in by {
        let moved = |step: f64| {
            let mut values = values.to_vec();
            let parameter: Vec<f64> = numbers(&values[x]).iter().map(|x| x + step).collect();
            values[x] = Tensor::vector(&parameter).unwrap();
            probabilities(&values, 0.0)
        };
        let by_parameter = slopes(moved(STEP), moved(-STEP));
        for (place, (by_parameter, by_sample)) in by_parameter.iter().zip(&by_sample).enumerate() {
            let expected = -by_parameter / by_sample * numbers(&found[0])[place].abs();
            let found = numbers(&found[1 + place / columns * values.len() + x])[place % columns];
            let near = (found - expected).abs() <= 1e-5 * expected.abs().max(1e-3);
            assert!(near, "x {x}, sample {place}: {found} instead of {expected}");
        }
    }
}

#[test]
fn a_gradient_that_is_prevented_says_why() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::constant(&mut graph, 1.0f32).unwrap();
    let y = ops::prevent_gradient(&mut graph, x).message("Not of this.").build().unwrap();
    let error = Gradients::of([y]).with_respect_to([x]).add_to(&mut graph).unwrap_err();
    assert!(error.message().contains("Gradient explicitly disabled. Reason: Not of this."), "{error}");
}

/// Gradients are made of ops that have gradients.
#[test]
fn of_the_second_order() {
    let matrix = [doubles(&[3, 4], 1)];
    for exclusive in [false, true] {
        check_twice(&matrix, |graph, xs| ops::cumprod(graph, xs[0], 1).exclusive(exclusive).build());
        check_twice(&matrix, |graph, xs| {
            // The sum of none has no logarithm: it is the lowest number.
            let sums = ops::cumulative_logsumexp(graph, xs[0], 1).exclusive(exclusive).build()?;
            ops::slice(graph, sums, [0, 1], [-1, -1]).build()
        });
    }
    check_twice(&matrix, |graph, xs| ops::prod(graph, xs[0], &[0][..]).build());
    check_twice(&matrix, |graph, xs| ops::segment_prod(graph, xs[0], [0, 0, 2]).build());
    check_twice(&matrix, |graph, xs| ops::unsorted_segment_prod(graph, xs[0], [1, -1, 1], 2).build());
    check_twice(&[matrix[0].clone(), doubles(&[4, 2], 2)], |graph, xs| {
        ops::einsum(graph, [xs[0], xs[1]], "ab,bc->ca").build()
    });
    check_twice(&[doubles(&[2, 3], 1), doubles(&[2, 3], 2)], |graph, xs| ops::cross(graph, xs[0], xs[1]).build());
    let positive = [Tensor::vector(&[1.5, 2.0, 3.5]).unwrap()];
    check_twice(&positive, |graph, xs| ops::zeta(graph, 2.0, xs[0]).build());
    check_twice(&positive, |graph, xs| ops::polygamma(graph, 1.0, xs[0]).build());
    // What is linear, of what is not, and has no ties.
    type Linear = fn(&mut Graph, Output) -> Result<Output>;
    let linear: [(&[usize], Linear); 14] = [
        (&[3, 4], |graph, x| ops::gather_v2(graph, x, [2, 0, 2], 0).build()),
        (&[3, 4], |graph, x| ops::gather_v2(graph, x, [2, 0, 2], 1).build()),
        (&[3, 4], |graph, x| ops::gather_nd(graph, x, [[2, 0], [2, 0]]).build()),
        (&[3, 4], |graph, x| ops::scatter_nd(graph, [[2], [0], [2]], x, [4, 4]).build()),
        (&[3, 4], |graph, x| ops::tensor_scatter_update(graph, x, [[2]], [[1.0, 2.0, 3.0, 4.0]]).build()),
        (&[3, 4], |graph, x| ops::segment_mean(graph, x, [0, 0, 2]).build()),
        (&[3, 4], |graph, x| ops::segment_max(graph, x, [0, 0, 2]).build()),
        (&[3, 4], |graph, x| ops::unsorted_segment_min(graph, x, [0, -1, 0], 1).build()),
        (&[3, 4], |graph, x| ops::sparse_segment_mean(graph, x, [2, 0, 2], [0, 0, 1]).build()),
        (&[3, 4], |graph, x| Ok(ops::top_kv2(graph, x, 2).build()?.values)),
        (&[3, 4], |graph, x| ops::matrix_set_diag_v3(graph, x, [1.0, 2.0, 3.0], 1).build()),
        (&[3, 4], |graph, x| ops::dynamic_stitch(graph, [[2, 0, 2]], [x]).build()),
        (&[1, 4, 4, 1], |graph, x| {
            let required = ops::ExtractImagePatchesRequired {
                ksizes: &[1, 2, 2, 1],
                strides: &[1, 1, 2, 1],
                rates: &[1, 2, 1, 1],
                padding: "SAME",
            };
            ops::extract_image_patches(graph, x, required).build()
        }),
        (&[1, 4, 4, 1], |graph, x| {
            let required = ops::MaxPoolRequired { ksize: &[1, 2, 2, 1], strides: &[1, 1, 2, 1], padding: "SAME" };
            ops::max_pool(graph, x, required).build()
        }),
    ];
    for (dims, function) in linear {
        check_twice(&[doubles(dims, 1)], |graph, xs| {
            let curved = ops::exp(graph, xs[0]).build()?;
            function(graph, curved)
        });
    }
    let (images, filter) = (doubles(&[1, 4, 3, 2], 1), doubles(&[2, 2, 2, 2], 2));
    check_twice(&[images.clone(), filter.clone()], |graph, xs| {
        ops::conv2d(graph, xs[0], xs[1], &[1, 2, 1, 1][..], "SAME").build()
    });
    check_twice(&[images, filter], |graph, xs| {
        ops::depthwise_conv2d_native(graph, xs[0], xs[1], &[1, 1, 1, 1][..], "VALID").build()
    });
    const AT: [[i64; 2]; 3] = [[0, 1], [1, 0], [1, 2]];
    check_twice(&[doubles(&[3], 1)], |graph, xs| ops::sparse_softmax(graph, AT, xs[0], [2i64, 3]).build());
    check_twice(&[doubles(&[3], 1), doubles(&[3], 2)], |graph, xs| {
        ops::sparse_dense_cwise_div(graph, AT, xs[0], [2i64, 3], xs[1]).build()
    });
    check_twice(&[doubles(&[3], 1), doubles(&[3, 2], 2)], |graph, xs| {
        ops::sparse_tensor_dense_mat_mul(graph, AT, xs[0], [2i64, 3], xs[1]).build()
    });
}

/// Linear functions: what flows back, times what was given, is what flows, times what came out.
#[test]
fn of_the_gradient_of_a_bilinear_resize() {
    for (align, half) in [(false, false), (true, false), (false, true)] {
        let mut graph = Graph::new(&kernlink::registry().unwrap());
        let grads = ops::constant(&mut graph, floats(&[1, 3, 5, 2], 1)).unwrap();
        let images = ops::constant(&mut graph, floats(&[1, 2, 3, 2], 2)).unwrap();
        let y = ops::resize_bilinear_grad(&mut graph, grads, images).align_corners(align).half_pixel_centers(half);
        let (y, flow) = (y.build().unwrap(), ops::constant(&mut graph, floats(&[1, 2, 3, 2], 3)).unwrap());
        let found = Gradients::of([y]).with_respect_to([grads]).grad_ys([Some(flow)]).add_to(&mut graph).unwrap();
        let Some(OutputGradient::Dense(found)) = found[0] else { panic!("{found:?}") };
        let answers = super::cases::run(graph, &[], &[found, grads, flow, y]).unwrap();
        let product = |a: &Tensor, b: &Tensor| -> f32 {
            let (a, b) = (a.as_slice::<f32>().unwrap(), b.as_slice::<f32>().unwrap());
            a.iter().zip(b).map(|(a, b)| a * b).sum()
        };
        let (back, forth) = (product(&answers[0], &answers[1]), product(&answers[2], &answers[3]));
        assert!((back - forth).abs() <= 1e-4 * forth.abs().max(1.0), "{back} instead of {forth}");
    }
}

/// TensorFlow has no gradient, or a part of one.
#[test]
fn what_goes_through_a_stack_is_refused() {
    use kernlink::error::Code;
    use kernlink::graph::FunctionBuilder;

    let pushed_and_popped = |graph: &mut Graph, x: Output| {
        let stack = ops::stack_v2(graph, -1, DataType::Float).build()?;
        let pushed = ops::stack_push_v2(graph, stack, x).build()?;
        let popped = ops::stack_pop_v2(graph, stack, DataType::Float).control_input(pushed.node).build()?;
        Ok(popped)
    };
    let gradient = |graph: &mut Graph, y: Output, x: Output| Gradients::of([y]).with_respect_to([x]).add_to(graph);
    let registry = kernlink::registry().unwrap();
    let mut graph = Graph::new(&registry);
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let popped = pushed_and_popped(&mut graph, x).unwrap();
    let y = ops::mul(&mut graph, popped, x).build().unwrap();
    let error = gradient(&mut graph, y, x).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
    for part in ["`StackPopV2` (StackPopV2) pops", "`StackPushV2` (StackPushV2) pushes", "begin with the graph"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    // Where nothing is popped, and where what was pushed does not depend on it.
    let square = ops::square(&mut graph, x).build().unwrap();
    assert!(gradient(&mut graph, square, x).unwrap()[0].is_some());
    let z = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let product = ops::mul(&mut graph, popped, z).build().unwrap();
    assert!(gradient(&mut graph, product, z).unwrap()[0].is_some());

    let mut graph = Graph::new(&registry);
    let function = FunctionBuilder::new("pops", [DataType::Float])
        .build(&mut graph, |graph, [a]| Ok([pushed_and_popped(graph, a)?]))
        .unwrap();
    let x = ops::placeholder(&mut graph, DataType::Float).build().unwrap();
    let y = kernlink::ops::builders::call(&mut graph, &function, [x]).build().unwrap()[0];
    let error = gradient(&mut graph, y, x).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
}
