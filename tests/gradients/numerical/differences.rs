//! The slopes of a function, by the registered gradients and by central differences.

use kernlink::dtype::{Complex32, Complex64};
use kernlink::gradient::OutputGradient;
use kernlink::prelude::*;

/// A function as a graph, at one point.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) graph: Graph,
    /// What is fed, and moved for the differences.
    pub(super) fed: Vec<(Output, Tensor)>,
    /// What each of these is for gradients: itself, or the handle of the variable that it is assigned to.
    pub(super) xs: Vec<Output>,
    pub(super) ys: Vec<Output>,
}

/// The derivatives of the sum of all results, each times what flows back to it, by each element of an input.
pub(super) struct Slopes {
    pub(super) analytical: Vec<f64>,
    pub(super) numerical: Vec<f64>,
}

/// The step of differences, and how close they come to the slope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Precision {
    /// Everything on the way is `double` or `complex128`.
    Double,
    /// Something on the way is `float` or `complex64`.
    Float,
}

impl Precision {
    fn step(self) -> f64 {
        match self {
            Precision::Double => 1e-5,
            Precision::Float => 1.0 / 1024.0,
        }
    }

    fn tolerance(self) -> f64 {
        match self {
            Precision::Double => 1e-7,
            Precision::Float => 2e-3,
        }
    }
}

impl Slopes {
    /// Where the two differ most, if they do.
    pub(super) fn difference(&self, precision: Precision) -> Option<String> {
        let pairs = self.analytical.iter().zip(&self.numerical).enumerate();
        // What is no number differs.
        let is_near = |found: f64, wanted: f64| (found - wanted).abs() <= precision.tolerance() * (1.0 + wanted.abs());
        let wrong: Vec<_> = pairs.filter(|(_, (found, wanted))| !is_near(**found, **wanted)).collect();
        let distance = |found: f64, wanted: f64| if found.is_nan() { f64::INFINITY } else { (found - wanted).abs() };
        let &(at, (found, wanted)) =
            wrong.iter().max_by(|(_, a), (_, b)| distance(*a.0, *a.1).total_cmp(&distance(*b.0, *b.1)))?;
        Some(format!(
            "{} of {} derivatives differ, most that by element {at}: the gradient says {found}, differences say {wanted}",
            wrong.len(),
            self.numerical.len()
        ))
    }
}

/// The slopes by each input, analytical ones of zero where nothing flows back.
pub(super) fn slopes(function: &Function, precision: Precision) -> Result<Vec<Slopes>> {
    let Function { graph, fed, xs, ys, .. } = function;
    let feeds: Vec<String> = fed.iter().map(|(output, _)| graph.output_name(*output)).collect();
    let feeds: Vec<&str> = feeds.iter().map(String::as_str).collect();
    let values: Vec<Tensor> = fed.iter().map(|(_, value)| value.clone()).collect();
    let callable = |session: &Session, fetches: &[Output]| {
        let fetches: Vec<String> = fetches.iter().map(|fetch| session.graph().output_name(*fetch)).collect();
        session.make_callable(&feeds, &fetches.iter().map(String::as_str).collect::<Vec<_>>(), &[])
    };
    let forward = callable(&Session::new(graph.clone())?, ys)?;
    let results = forward.run(&values)?;
    // What flows back to each element differs, and is never near zero.
    let flows: Vec<Vec<f64>> = results.iter().enumerate().map(|(y, result)| weights(result, y)).collect();

    let mut numerical = Vec::with_capacity(fed.len());
    for (x, value) in values.iter().enumerate() {
        let own = numbers(value)?;
        let mut slopes = Vec::with_capacity(own.len());
        for element in 0..own.len() {
            let at = |by: f64| -> Result<(f64, Vec<Vec<f64>>)> {
                let mut moved = own.clone();
                moved[element] += by;
                let moved = tensor_of(value.dtype(), value.shape(), &moved)?;
                // What the step came to once it was rounded.
                let place = numbers(&moved)?[element];
                let mut values = values.clone();
                values[x] = moved;
                Ok((place, forward.run(&values)?.iter().map(numbers).collect::<Result<_>>()?))
            };
            let ((before, low), (after, high)) = (at(-precision.step())?, at(precision.step())?);
            // What is infinite and stays so does not move.
            let moved = high
                .iter()
                .flatten()
                .zip(low.iter().flatten())
                .map(|(&high, &low)| if high == low { 0.0 } else { high - low });
            let moved: f64 = moved.zip(flows.iter().flatten()).map(|(moved, flow)| moved * flow).sum();
            slopes.push(moved / (after - before));
        }
        numerical.push(slopes);
    }

    let mut graph = graph.clone();
    let mut grad_ys = Vec::with_capacity(ys.len());
    for (result, flow) in results.iter().zip(&flows) {
        let flow = tensor_of(result.dtype(), result.shape(), flow)?;
        grad_ys.push(Some(ops::constant(&mut graph, flow)?));
    }
    let found = Gradients::of(ys.iter().copied()).with_respect_to(xs.iter().copied()).grad_ys(grad_ys);
    let found = found.add_to(&mut graph)?;
    let dense =
        found.into_iter().map(|found: Option<OutputGradient>| found.map(|found| found.dense(&mut graph)).transpose());
    let dense: Vec<Option<Output>> = dense.collect::<Result<_>>()?;
    let fetches: Vec<Output> = dense.iter().flatten().copied().collect();
    let session = Session::new(graph)?;
    // This assigns to variables of whose shapes gradients may be made.
    callable(&session, ys)?.run(&values)?;
    let answers = if fetches.is_empty() { Vec::new() } else { callable(&session, &fetches)?.run(&values)? };
    let mut answers = answers.into_iter();
    let mut all = Vec::with_capacity(fed.len());
    for ((dense, numerical), value) in dense.into_iter().zip(numerical).zip(&values) {
        let analytical = match dense.and_then(|_| answers.next()) {
            Some(answer) => {
                ensure!(
                    answer.shape() == value.shape() && answer.dtype() == value.dtype(),
                    Internal,
                    "the gradient is {} {}, its input {} {}",
                    answer.dtype(),
                    answer.shape(),
                    value.dtype(),
                    value.shape()
                );
                numbers(&answer)?
            }
            None => vec![0.0; numerical.len()],
        };
        all.push(Slopes { analytical, numerical });
    }
    Ok(all)
}

/// What flows back to a result: numbers between 0.5 and 1.5, of either sign.
fn weights(result: &Tensor, seed: usize) -> Vec<f64> {
    let parts = if result.dtype().is_complex() { 2 } else { 1 };
    (0..result.num_elements() * parts).map(|k| weight(k, seed)).collect()
}

/// A number between 0.5 and 1.5, or its negative.
pub(super) fn weight(element: usize, seed: usize) -> f64 {
    let angle = (element as f64).mul_add(1.7, seed as f64 * 0.9) + 0.3;
    angle.sin().signum() * ((angle * 2.3).cos() / 2.0 + 1.0)
}

/// The numbers of a tensor, the parts of complex ones one after the other.
pub(super) fn numbers(tensor: &Tensor) -> Result<Vec<f64>> {
    Ok(match tensor.dtype() {
        DataType::Float => tensor.as_slice::<f32>()?.iter().map(|&number| number.into()).collect(),
        DataType::Double => tensor.as_slice::<f64>()?.to_vec(),
        DataType::Complex64 => {
            tensor.as_slice::<Complex32>()?.iter().flat_map(|number| [number.re.into(), number.im.into()]).collect()
        }
        DataType::Complex128 => {
            tensor.as_slice::<Complex64>()?.iter().flat_map(|number| [number.re, number.im]).collect()
        }
        dtype => bail!(InvalidArgument, "{dtype} has no slopes that differences tell"),
    })
}

/// A tensor of these numbers.
pub(super) fn tensor_of(dtype: DataType, shape: &Shape, numbers: &[f64]) -> Result<Tensor> {
    let complex = || numbers.chunks_exact(2).map(|pair| Complex64::new(pair[0], pair[1]));
    match dtype {
        DataType::Float => {
            Tensor::from_elements(shape, &numbers.iter().map(|&number| number as f32).collect::<Vec<_>>())
        }
        DataType::Double => Tensor::from_elements(shape, numbers),
        DataType::Complex64 => {
            let narrow = complex().map(|number| Complex32::new(number.re as f32, number.im as f32));
            Tensor::from_elements(shape, &narrow.collect::<Vec<_>>())
        }
        _ => Tensor::from_elements(shape, &complex().collect::<Vec<_>>()),
    }
}
