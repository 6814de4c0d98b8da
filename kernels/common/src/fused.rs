//! What follows a product in the same kernel: [`Fusion`] on the processor.

use kernlink::dtype::{Element, Number};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::fusion::{Activation, Channels, Fusion};
use smallvec::SmallVec;

use crate::epilogue::Epilogue;
use crate::fast::{self, Real};
use crate::number::{Computed, Float};
use crate::vector::widest;

/// A float whose activations are those of the element-wise kernels, to the bit.
pub trait Activated: Number + Float + Computed<Wide = Self> + Real {
    /// The third power, rounded once if there is a wider dtype.
    fn cube(self) -> Self;
}

impl Activated for f32 {
    #[inline(always)]
    fn cube(self) -> f32 {
        let x = f64::from(self);
        (x * x * x) as f32
    }
}

impl Activated for f64 {
    #[inline(always)]
    fn cube(self) -> f64 {
        self * self * self
    }
}

/// What becomes of the elements of a product with channels last, as soon as they are computed.
pub trait Finish<T>: Sync {
    /// Brings elements to what the node has for output: those of whole rows of channels, or some of one row. `first` is
    /// the place of the first one in the product.
    fn finish(&self, first: usize, elements: &mut [T]);

    /// The first steps for the elements from place `first` on, which are taken before elements are written.
    fn epilogue(&self, first: usize) -> Epilogue<'_, T>;

    /// Whether there is more to do than [`Finish::epilogue`].
    fn has_rest(&self) -> bool;

    /// Does what remains to be done.
    fn finish_rest(&self, elements: &mut [T]);
}

/// What follows a product that is not fused with anything.
pub enum Nothing {}

impl<T> Finish<T> for Nothing {
    fn finish(&self, _: usize, _: &mut [T]) {
        match *self {}
    }

    fn epilogue(&self, _: usize) -> Epilogue<'_, T> {
        match *self {}
    }

    fn has_rest(&self) -> bool {
        match *self {}
    }

    fn finish_rest(&self, _: &mut [T]) {
        match *self {}
    }
}

/// A [`Fusion`] with its arguments, in the dtype that the product is computed in.
pub struct Fused<T> {
    /// What each channel is multiplied by.
    scale: Option<Vec<T>>,
    /// What is added to each channel then.
    shift: Option<Vec<T>>,
    channels: usize,
    summand: Option<Tensor>,
    activation: Activation,
}

impl<T: Activated> Fused<T> {
    /// With the node's arguments, which follow two inputs and have the dtype `E`. `output` is the product's shape with
    /// channels last, to where `last` brings a summand.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the arguments do not fit, RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn new<E: Computed<Wide = T>>(
        ctx: &RawContext<'_>,
        fusion: &Fusion,
        output: &Shape,
        last: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<Fused<T>> {
        let mut tensors = SmallVec::<[Tensor; 5]>::new();
        for index in 0..fusion.arguments() {
            let argument = ctx.input_at(2 + index)?;
            ensure!(
                argument.dtype() == E::DTYPE,
                InvalidArgument,
                "arguments must be {}, not {}",
                E::DTYPE,
                argument.dtype()
            );
            tensors.push(argument.clone());
        }
        if fusion.summand
            && let Some(summand) = tensors.last_mut()
        {
            *summand = last(summand)?;
        }
        fusion.ensure_arguments(tensors.iter().map(Tensor::shape), output)?;
        let vector = |index: usize| -> Result<Vec<T>> {
            scratch::collected(tensors[index].as_slice::<E>()?.iter().map(|element| element.widen()))
        };
        let (mut scale, mut shift, mut at) = (None::<Vec<T>>, None::<Vec<T>>, 0);
        for step in &fusion.channels {
            match *step {
                Channels::Bias => add_to(&mut shift, vector(at)?),
                Channels::Scale => multiply_by(&mut scale, &mut shift, vector(at)?),
                Channels::Norm { epsilon } => {
                    let mut means = vector(at + 2)?;
                    means.iter_mut().for_each(|mean| *mean = -*mean);
                    add_to(&mut shift, means);
                    let mut factors = vector(at)?;
                    for (factor, variance) in factors.iter_mut().zip(vector(at + 3)?) {
                        *factor = *factor / Real::sqrt(variance + T::of(epsilon.into()));
                    }
                    multiply_by(&mut scale, &mut shift, factors);
                    add_to(&mut shift, vector(at + 1)?);
                }
            }
            at += step.vectors();
        }
        let channels = output.last().copied().unwrap_or(1);
        let summand = if fusion.summand { Some(widened::<E>(ctx, &tensors[fusion.vectors()])?) } else { None };
        Ok(Fused { scale, shift, channels, summand, activation: fusion.activation })
    }

    /// [`Finish::finish`] of a whole product that was rounded to the node's dtype, on all threads.
    ///
    /// # Errors
    /// INTERNAL if it has another dtype, RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn finish_narrow<E: Computed<Wide = T>>(&self, ctx: &RawContext<'_>, product: &mut Tensor) -> Result<()> {
        let channels = self.channels;
        if product.num_elements() == 0 {
            return Ok(());
        }
        let cost =
            if matches!(self.activation, Activation::Identity | Activation::Relu | Activation::Relu6) { 1 } else { 4 };
        ctx.try_parallel_chunks(product.as_mut_slice::<E>()?, channels, cost, |first, piece| {
            for (index, piece) in piece.chunks_mut(self.block()).enumerate() {
                let first = first + index * self.block();
                E::on_wide(piece, |piece| self.finish_block(first, piece))?;
            }
            Ok(())
        })
    }

    /// The activation, if it only bounds elements.
    fn bounds(&self) -> Option<[T; 2]> {
        let zero = <T as Real>::ZERO;
        match self.activation {
            Activation::Relu => Some([zero, T::of(f64::INFINITY)]),
            Activation::Relu6 => Some([zero, T::of(6.0)]),
            _ => None,
        }
    }

    /// Elements that stay in the first cache from the first step to the last: whole rows.
    fn block(&self) -> usize {
        const BLOCK: usize = 2048;
        (BLOCK / self.channels).max(1) * self.channels
    }

    /// All steps for whole rows, or for a part of one.
    fn finish_block(&self, first: usize, elements: &mut [T]) {
        let columns = elements.len().min(self.channels - first % self.channels);
        finish_rows(elements, self.epilogue(first), columns);
        self.finish_rest(elements);
    }
}

impl<T: Activated> Finish<T> for Fused<T> {
    fn finish(&self, first: usize, elements: &mut [T]) {
        for (index, block) in elements.chunks_mut(self.block()).enumerate() {
            self.finish_block(first + index * self.block(), block);
        }
    }

    fn epilogue(&self, first: usize) -> Epilogue<'_, T> {
        let channel = first % self.channels;
        // It has this dtype, which `new` has seen to.
        let summand = self.summand.as_ref().and_then(|summand| summand.as_slice::<T>().ok());
        Epilogue {
            scale: self.scale.as_ref().map(|scale| &scale[channel..]),
            shift: self.shift.as_ref().map(|shift| &shift[channel..]),
            summand: summand.map(|summand| &summand[first..]),
            bounds: self.bounds(),
        }
    }

    fn has_rest(&self) -> bool {
        self.activation != Activation::Identity && self.bounds().is_none()
    }

    fn finish_rest(&self, elements: &mut [T]) {
        if self.has_rest() {
            activate(elements, self.activation);
        }
    }
}

/// Adds to what is added to each channel.
fn add_to<T: Activated>(shift: &mut Option<Vec<T>>, summands: Vec<T>) {
    match shift {
        Some(shift) => shift.iter_mut().zip(summands).for_each(|(shift, summand)| *shift += summand),
        None => *shift = Some(summands),
    }
}

/// Multiplies what each channel has become so far.
fn multiply_by<T: Activated>(scale: &mut Option<Vec<T>>, shift: &mut Option<Vec<T>>, factors: Vec<T>) {
    let multiply = |channels: &mut Vec<T>| channels.iter_mut().zip(&factors).for_each(|(x, &factor)| *x *= factor);
    shift.iter_mut().for_each(multiply);
    scale.iter_mut().for_each(multiply);
    scale.get_or_insert(factors);
}

fn widened<E: Computed>(ctx: &RawContext<'_>, tensor: &Tensor) -> Result<Tensor> {
    if E::DTYPE == E::Wide::DTYPE {
        return Ok(tensor.clone());
    }
    let mut wide = Tensor::alloc(E::Wide::DTYPE, tensor.shape().clone())?;
    let source = tensor.as_slice::<E>()?;
    ctx.parallel_chunks(wide.as_mut_slice::<E::Wide>()?, 64, 1, |first, piece| {
        piece.iter_mut().zip(&source[first..]).for_each(|(wide, element)| *wide = element.widen());
    });
    Ok(wide)
}

widest! {
    fn finish_rows<T: Activated>(elements: &mut [T], epilogue: Epilogue<'_, T>, columns: usize) {
        for (row, elements) in elements.chunks_exact_mut(columns).enumerate() {
            epilogue.from_row(row * columns).finish_row(elements);
        }
    }
}

/// `max(x, 0)`.
#[inline(always)]
fn relu<T: Activated>(x: T) -> T {
    if x > <T as Real>::ZERO || x.is_nan() { x } else { <T as Real>::ZERO }
}

/// `min(max(x, 0), 6)`.
#[inline(always)]
fn relu6<T: Activated>(x: T) -> T {
    let six = T::of(6.0);
    if x > six { six } else { relu(x) }
}

/// `0.5 * x * erfc(-x / sqrt(2))`.
#[inline(always)]
pub fn gelu_exact<T: Activated>(x: T) -> T {
    T::of(0.5) * x * fast::erfc(-x * T::of(std::f64::consts::FRAC_1_SQRT_2))
}

/// `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.
#[inline(always)]
pub fn gelu_approximate<T: Activated>(x: T) -> T {
    let inner = T::of(0.797_884_560_802_865_4) * (x + T::of(0.044_715) * x.cube());
    T::of(0.5) * x * (T::of(1.0) + fast::tanh(inner))
}

/// `x * relu6(x + 3) / 6`.
#[inline(always)]
pub fn hard_swish<T: Activated>(x: T) -> T {
    x * (relu6(x + T::of(3.0)) / T::of(6.0))
}

widest! {
    avx512:
    /// What becomes of each element, as the element-wise kernels compute it. NaN stays NaN.
    pub fn activate<T: Activated>(elements: &mut [T], activation: Activation) {
        let zero = <T as Real>::ZERO;
        let each = elements.iter_mut();
        match activation {
            Activation::Identity => {}
            Activation::Relu => each.for_each(|x| *x = relu(*x)),
            Activation::Relu6 => each.for_each(|x| *x = relu6(*x)),
            Activation::Elu => each.for_each(|x| {
                // Both are computed: without a branch, so that this becomes vector code.
                let below = fast::exp_m1(*x);
                *x = if *x < zero { below } else { *x };
            }),
            Activation::LeakyRelu(slope) => {
                let slope = T::of(slope.into());
                each.for_each(|x| *x = if *x > zero { *x } else { *x * slope });
            }
            Activation::Sigmoid => each.for_each(|x| *x = fast::sigmoid(*x)),
            Activation::Tanh => each.for_each(|x| *x = fast::tanh(*x)),
            Activation::GeluExact => each.for_each(|x| *x = gelu_exact(*x)),
            Activation::GeluApproximate => each.for_each(|x| *x = gelu_approximate(*x)),
            Activation::Swish => each.for_each(|x| *x *= fast::sigmoid(*x)),
            Activation::HardSwish => each.for_each(|x| *x = hard_swish(*x)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_are_those_of_their_definitions() {
        let values = [-40.0, -6.5, -3.0, -1.0, -0.25, -0.0, 0.0, 0.5, 1.0, 2.9, 6.0, 7.5, 40.0];
        for (name, activation) in Activation::all(0.25) {
            let defined = |x: f64| match name {
                "Relu" => x.max(0.0),
                "Relu6" => x.clamp(0.0, 6.0),
                "Elu" => {
                    if x < 0.0 {
                        x.exp() - 1.0
                    } else {
                        x
                    }
                }
                "LeakyRelu" => {
                    if x < 0.0 {
                        0.25 * x
                    } else {
                        x
                    }
                }
                "Sigmoid" => 1.0 / (1.0 + (-x).exp()),
                "Tanh" => x.tanh(),
                "GeluExact" => x / 2.0 * libm::erfc(-x / 2f64.sqrt()),
                "GeluApproximate" => {
                    let root = (2.0 / std::f64::consts::PI).sqrt();
                    0.5 * x * (1.0 + (root * (x + 0.044_715 * x.powi(3))).tanh())
                }
                "_MklSwish" => x / (1.0 + (-x).exp()),
                "_FusedHardSwish" => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
                _ => panic!("{name} has no definition here"),
            };
            let mut wide = values;
            activate(&mut wide, activation);
            let mut narrow = values.map(|x| x as f32);
            activate(&mut narrow, activation);
            for ((x, wide), narrow) in values.into_iter().zip(wide).zip(narrow) {
                let expected = defined(x);
                assert!((wide - expected).abs() <= 1e-14 * (1.0 + expected.abs()), "{name}({x}) gives {wide}");
                let error = (f64::from(narrow) - expected).abs();
                assert!(error <= 1e-6 * (1.0 + expected.abs()), "{name}({x}) gives {narrow}");
            }
            let mut nothing = [f32::NAN; 9];
            activate(&mut nothing, activation);
            assert!(nothing.iter().all(|x| x.is_nan()), "{name} of NaN gives {nothing:?}");
        }
    }

    #[test]
    fn parts_of_rows_are_finished_like_whole_rows() {
        let (rows, channels) = (7, 600);
        let numbers = |from: i32, count: usize| -> Vec<f32> {
            (0..count).map(|i| ((i as i32 * 37 + from) % 41) as f32 / 8.0 - 2.5).collect()
        };
        // Of no other kind than the rest, so that no element stays what it was.
        let summand: Vec<f32> = numbers(6, rows * channels).into_iter().map(|x| x + 0.037).collect();
        let fused = Fused {
            scale: Some(numbers(4, channels)),
            shift: Some(numbers(5, channels)),
            channels,
            summand: Some(Tensor::vector(&summand).unwrap()),
            activation: Activation::Swish,
        };
        let product = numbers(7, rows * channels);
        let mut whole = product.clone();
        fused.finish(0, &mut whole);
        let mut parts = product.clone();
        for (row, elements) in parts.chunks_exact_mut(channels).enumerate() {
            let mut first = row * channels;
            for part in elements.chunks_mut(16 + 100 * row) {
                fused.finish(first, part);
                first += part.len();
            }
        }
        assert_eq!(parts, whole);
        let mut last = product[3 * channels..].to_vec();
        fused.finish(3 * channels, &mut last);
        assert_eq!(last, whole[3 * channels..]);
        assert!(product.iter().zip(&whole).all(|(before, after)| before != after));
    }
}
