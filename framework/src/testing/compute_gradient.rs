//! Gradients of ops, held against differences of what the ops compute: TensorFlow's `tf.test.compute_gradient`.

use super::compare::Tolerance;
use super::op_test::OpTest;
use crate::dtype::{Complex64, DataType};
use crate::error::Result;
use crate::gradient::{GradientTape, Traced, TracedGradient};
use crate::graph::{Applied, NodeRequest, OpScope};
use crate::runtime::EagerContext;
use crate::shape::Shape;
use crate::tensor::Tensor;
use crate::{bail, ensure};

/// The derivatives of all elements of a function's result by all elements of one of its inputs. Of complex numbers the two parts
/// count as elements of their own, one after the other.
#[derive(Clone, Debug)]
pub struct Jacobian {
    /// As the registered gradients have it: a matrix of `double`, a row for each element of the result, a column for each one of
    /// the input.
    pub theoretical: Tensor,
    /// As central differences have it.
    pub numerical: Tensor,
    input: (DataType, Shape),
    output: (DataType, Shape),
}

/// What [`OpTest::compute_gradient`] found. Its methods panic if it is not what they expect.
pub struct ComputedGradient {
    result: Result<Vec<Jacobian>>,
    ops: Vec<String>,
}

/// Where the function runs whose gradient is tested: a scope of ops, on a tape.
pub struct TestedFunction<'t, 'p> {
    tape: &'t mut GradientTape<'p>,
    ops: &'t mut Vec<String>,
}

impl OpScope for TestedFunction<'_, '_> {
    type Output = Traced;
    type Node = ();

    #[track_caller]
    fn apply(&mut self, request: NodeRequest<'_, Traced>) -> Result<Applied<Self>> {
        if !self.ops.iter().any(|op| *op == *request.op.name) {
            self.ops.push(request.op.name.to_string());
        }
        let Applied { node, outputs } = self.tape.apply(request)?;
        Ok(Applied { node, outputs })
    }
}

impl OpTest {
    /// The derivatives of a function by each of its inputs: as the gradients of its ops have them, and by differences. The
    /// function runs twice for each element of the inputs.
    ///
    /// ```ignore
    /// let x = Tensor::new([[1.0f64, -2.0], [3.0, 0.5]])?;
    /// testing::cpu().compute_gradient([x], |op, [x]| twice(op, x).build()).expect_close(1e-6);
    /// ```
    ///
    /// Inputs and the result are `float`, `double` or complex. In `float`, differences are right to three digits, in `double` to
    /// eight: test there if the op has it. Where a function has a kink, there are no differences to compare with: choose inputs
    /// that are further from it than a thousandth, the default step of `float`, or 0.00001, that of `double`.
    pub fn compute_gradient<const N: usize>(
        &mut self,
        xs: [Tensor; N],
        function: impl Fn(&mut TestedFunction<'_, '_>, [&Traced; N]) -> Result<Traced>,
    ) -> ComputedGradient {
        let mut ops = Vec::new();
        let result = jacobians(self.context(), &xs, None, &mut ops, &function);
        ComputedGradient { result, ops }
    }

    /// As [`OpTest::compute_gradient`], by differences of another step than the default one.
    pub fn compute_gradient_by<const N: usize>(
        &mut self,
        delta: f64,
        xs: [Tensor; N],
        function: impl Fn(&mut TestedFunction<'_, '_>, [&Traced; N]) -> Result<Traced>,
    ) -> ComputedGradient {
        let mut ops = Vec::new();
        let result = jacobians(self.context(), &xs, Some(delta), &mut ops, &function);
        ComputedGradient { result, ops }
    }
}

impl ComputedGradient {
    /// The derivatives by each input.
    ///
    /// # Panics
    /// If the function or a gradient failed.
    #[track_caller]
    pub fn unwrap(self) -> Vec<Jacobian> {
        match self.result {
            Ok(found) => found,
            Err(error) => panic!("the gradient of {} failed: {error:?}", self.ops.join(", ")),
        }
    }

    /// Expects the gradients to agree with the differences: a number that is both the relative and the absolute tolerance, or a
    /// [`Tolerance`].
    ///
    /// # Panics
    /// If the function or a gradient failed, or a derivative is another one.
    #[track_caller]
    pub fn expect_close(self, tolerance: impl Into<Tolerance>) -> Self {
        let tolerance = tolerance.into();
        match &self.result {
            Ok(found) => {
                let wrong =
                    found.iter().enumerate().find_map(|(k, one)| one.difference(tolerance).map(|what| (k, what)));
                if let Some((k, what)) = wrong {
                    panic!("the gradient of {} with respect to input {k} is wrong: {what}", self.ops.join(", "));
                }
            }
            Err(error) => panic!("the gradient of {} failed: {error:?}", self.ops.join(", ")),
        }
        self
    }

    /// Expects that there is no gradient, for this reason.
    ///
    /// # Panics
    /// If there is one, or the error's message does not have these words.
    #[track_caller]
    pub fn expect_error(self, code: crate::Code, words: &str) {
        match self.result {
            Ok(_) => panic!("{} should have no gradient", self.ops.join(", ")),
            Err(error) => assert!(
                error.code() == code && error.message().contains(words),
                "{code:?} with `{words}` is expected, but the error is {error:?}"
            ),
        }
    }
}

impl Jacobian {
    /// By how much they differ at most.
    pub fn max_error(&self) -> f64 {
        self.pairs().map(|(_, found, wanted)| (found - wanted).abs()).fold(0.0, f64::max)
    }

    /// Where they differ most, and in how many places.
    fn difference(&self, tolerance: Tolerance) -> Option<String> {
        let is_wrong = |&(_, found, wanted): &(usize, f64, f64)| {
            let near = (found - wanted).abs() <= tolerance.absolute + tolerance.relative * wanted.abs();
            !(near || found == wanted || (found.is_nan() && wanted.is_nan()))
        };
        // What is no number is further off than all else.
        let distance = |&(_, found, wanted): &(usize, f64, f64)| {
            let distance: f64 = found - wanted;
            if distance.is_nan() { f64::INFINITY } else { distance.abs() }
        };
        let wrong: Vec<_> = self.pairs().filter(is_wrong).collect();
        let &(at, found, wanted) = wrong.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let (rows, columns) = (self.theoretical.shape()[0], self.theoretical.shape()[1]);
        let (row, column) = (at / columns, at % columns);
        Some(format!(
            "{} of {} derivatives differ, most that of element {} of the result by element {} of the input: the gradient says \
             {found}, differences say {wanted}",
            wrong.len(),
            rows * columns,
            place(&self.output, row),
            place(&self.input, column),
        ))
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, f64, f64)> {
        let elements = |tensor: &Tensor| tensor.as_slice::<f64>().map(<[f64]>::to_vec).unwrap_or_default();
        let pairs = elements(&self.theoretical).into_iter().zip(elements(&self.numerical));
        pairs.enumerate().map(|(at, (found, wanted))| (at, found, wanted))
    }
}

/// Where an element is, by its number among parts.
fn place((dtype, shape): &(DataType, Shape), number: usize) -> String {
    let parts = parts_of(*dtype);
    let (mut rest, part) = (number / parts, number % parts);
    let mut index = vec![0; shape.rank()];
    for (index, &dim) in index.iter_mut().zip(shape.dims()).rev() {
        (*index, rest) = (rest % dim.max(1), rest / dim.max(1));
    }
    let name = match (parts, part) {
        (1, _) => "",
        (_, 0) => " (real part)",
        _ => " (imaginary part)",
    };
    format!("{index:?}{name}")
}

fn parts_of(dtype: DataType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}

/// The numbers of a tensor, the parts of complex ones one after the other.
fn numbers(tensor: &Tensor) -> Result<Vec<f64>> {
    let pairs = |numbers: &[Complex64]| numbers.iter().flat_map(|number| [number.re, number.im]).collect();
    Ok(match tensor.dtype() {
        DataType::Float => tensor.as_slice::<f32>()?.iter().map(|&number| number.into()).collect(),
        DataType::Double => tensor.as_slice::<f64>()?.to_vec(),
        DataType::Complex64 => {
            let numbers = tensor.as_slice::<crate::dtype::Complex32>()?.iter();
            pairs(&numbers.map(|number| Complex64::new(number.re.into(), number.im.into())).collect::<Vec<_>>())
        }
        DataType::Complex128 => pairs(tensor.as_slice::<Complex64>()?),
        dtype => bail!(
            InvalidArgument,
            "gradients of {dtype} cannot be tested: they are of float, double and complex numbers; cast to one of them"
        ),
    })
}

/// A tensor of these numbers.
fn tensor_of(dtype: DataType, shape: &Shape, numbers: &[f64]) -> Result<Tensor> {
    let complex = || numbers.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    match dtype {
        DataType::Float => {
            Tensor::from_elements(shape, &numbers.iter().map(|&number| number as f32).collect::<Vec<_>>())
        }
        DataType::Double => Tensor::from_elements(shape, numbers),
        DataType::Complex64 => {
            let numbers = complex().map(|(re, im)| crate::dtype::Complex32::new(re as f32, im as f32));
            Tensor::from_elements(shape, &numbers.collect::<Vec<_>>())
        }
        _ => Tensor::from_elements(shape, &complex().map(|(re, im)| Complex64::new(re, im)).collect::<Vec<_>>()),
    }
}

/// The step of differences: where what the slope changes in it is about what rounding makes of it.
fn default_delta(dtype: DataType) -> f64 {
    match dtype {
        DataType::Double | DataType::Complex128 => 1e-5,
        _ => 1.0 / 1024.0,
    }
}

fn jacobians<const N: usize>(
    context: &EagerContext,
    xs: &[Tensor; N],
    delta: Option<f64>,
    ops: &mut Vec<String>,
    function: &impl Fn(&mut TestedFunction<'_, '_>, [&Traced; N]) -> Result<Traced>,
) -> Result<Vec<Jacobian>> {
    let values = xs.iter().map(numbers).collect::<Result<Vec<_>>>()?;
    let mut tape = GradientTape::new(context).persistent();
    let watched = xs.iter().map(|x| tape.watch(x.clone())).collect::<Result<Vec<_>>>()?;
    let y = function(&mut TestedFunction { tape: &mut tape, ops }, std::array::from_fn(|k| &watched[k]))?;
    let output = (y.dtype(), y.shape().clone());
    let rows = numbers(&y)?.len();
    let theoretical = theoretical(&mut tape, &y, &watched, rows)?;

    let mut found = Vec::with_capacity(N);
    for (k, theoretical) in theoretical.into_iter().enumerate() {
        let (dtype, shape) = (xs[k].dtype(), xs[k].shape().clone());
        let delta = delta.unwrap_or(default_delta(dtype));
        let columns = values[k].len();
        let mut numerical = vec![0.0; rows * columns];
        for column in 0..columns {
            let at = |by: f64| -> Result<(f64, Vec<f64>)> {
                let mut moved = values[k].clone();
                moved[column] += by;
                let moved = tensor_of(dtype, &shape, &moved)?;
                // What the step came to once it was rounded.
                let place = numbers(&moved)?[column];
                let mut tape = GradientTape::new(context);
                let mut inputs = Vec::with_capacity(N);
                for (index, x) in xs.iter().enumerate() {
                    inputs.push(tape.watch(if index == k { moved.clone() } else { x.clone() })?);
                }
                let mut others = Vec::new();
                let mut tested = TestedFunction { tape: &mut tape, ops: &mut others };
                let y = function(&mut tested, std::array::from_fn(|k| &inputs[k]))?;
                let given = (y.dtype(), y.shape().clone());
                ensure!(
                    given == output,
                    InvalidArgument,
                    "the result is {} {} where it was {} {}: a function whose result depends on its inputs for its shape has no \
                     derivatives",
                    given.0,
                    given.1,
                    output.0,
                    output.1
                );
                Ok((place, numbers(&y)?))
            };
            let ((before, low), (after, high)) = (at(-delta)?, at(delta)?);
            for row in 0..rows {
                numerical[row * columns + column] = (high[row] - low[row]) / (after - before);
            }
        }
        let theoretical = Tensor::from_elements([rows, columns], &theoretical)?;
        let numerical = Tensor::from_elements([rows, columns], &numerical)?;
        found.push(Jacobian { theoretical, numerical, input: (dtype, shape), output: output.clone() });
    }
    Ok(found)
}

/// What the registered gradients make of each element of the result by itself: for each input a matrix.
fn theoretical(tape: &mut GradientTape<'_>, y: &Traced, xs: &[Traced], rows: usize) -> Result<Vec<Vec<f64>>> {
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); xs.len()];
    for row in 0..rows {
        // The gradient of a real number is the derivative by the real part, and that by the imaginary part times i.
        let mut flow = vec![0.0; rows];
        flow[row] = 1.0;
        let flow = tensor_of(y.dtype(), y.shape(), &flow)?;
        let flow = crate::gradient::IntoTraced::into_traced(flow)?;
        let gradients = tape.gradients(std::slice::from_ref(y), xs, std::slice::from_ref(&flow))?;
        for (k, (gradient, x)) in gradients.into_iter().zip(xs).enumerate() {
            found[k].extend(whole(gradient, x).map_err(|error| error.context(format!("with respect to input {k}")))?);
        }
    }
    Ok(found)
}

/// The numbers of a gradient with respect to an input; zeros if there is none.
fn whole(gradient: Option<TracedGradient>, x: &Traced) -> Result<Vec<f64>> {
    let check = |dtype: DataType, shape: &[usize], wanted: &[usize]| {
        ensure!(
            dtype == x.dtype() && shape == wanted,
            InvalidArgument,
            "the gradient is {dtype} {shape:?}, and not {} {wanted:?} as its input",
            x.dtype()
        );
        Ok(())
    };
    let dims = x.shape().dims();
    let count: usize = dims.iter().product::<usize>() * parts_of(x.dtype());
    match gradient {
        None => Ok(vec![0.0; count]),
        Some(TracedGradient::Dense(gradient)) => {
            check(gradient.dtype(), gradient.shape().dims(), dims)?;
            numbers(&gradient)
        }
        Some(TracedGradient::Slices { values, indices, .. }) => {
            let indices = indices.to_i64_vec()?;
            ensure!(!dims.is_empty(), InvalidArgument, "the gradient has rows, and its input is a scalar");
            let wanted: Vec<usize> = std::iter::once(indices.len()).chain(dims[1..].iter().copied()).collect();
            check(values.dtype(), values.shape().dims(), &wanted)?;
            let (mut all, values) = (vec![0.0; count], numbers(&values)?);
            let length = count / dims[0].max(1);
            for (row, index) in indices.into_iter().enumerate() {
                let place = usize::try_from(index).ok().filter(|&place| place < dims[0]);
                let Some(place) = place else {
                    bail!(InvalidArgument, "the gradient has a row {index}, and its input {} rows", dims[0])
                };
                let own = &mut all[place * length..][..length];
                own.iter_mut().zip(&values[row * length..]).for_each(|(sum, value)| *sum += value);
            }
            Ok(all)
        }
    }
}
