//! What follows a product in the same kernel: [`Fusion`] on the processor.

use kernlink::Result;
use kernlink::dtype::{Element, Number};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink_geometry::fusion::{Activation, Channels, Fusion};
use smallvec::SmallVec;

use crate::epilogue::{End, Epilogue, hard_swish};
use crate::fast::{self, Real};
use crate::number::{Computed, Float};
use crate::vector::widest;

/// A float whose activations are those of the element-wise kernels, to the bit.
pub trait Activated: Number + Float + Computed<Wide = Self> + Real {
    /// The third power, rounded once if there is a wider dtype.
    fn cube(self) -> Self;

    /// [`Activation::Sigmoid`] of each element.
    fn sigmoids(elements: &mut [Self]);

    /// [`Activation::Swish`] of each element.
    fn swishes(elements: &mut [Self]);
}

impl Activated for f32 {
    #[inline(always)]
    fn cube(self) -> f32 {
        let x = f64::from(self);
        (x * x * x) as f32
    }

    fn sigmoids(elements: &mut [f32]) {
        fast::sigmoids_in_place(elements);
    }

    fn swishes(elements: &mut [f32]) {
        fast::swishes_in_place(elements);
    }
}

impl Activated for f64 {
    #[inline(always)]
    fn cube(self) -> f64 {
        self * self * self
    }

    fn sigmoids(elements: &mut [f64]) {
        elements.iter_mut().for_each(|x| *x = fast::sigmoid(*x));
    }

    fn swishes(elements: &mut [f64]) {
        elements.iter_mut().for_each(|x| *x = fast::swish(*x));
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

    /// Does what remains to be done to the elements from place `first` on: those of whole rows, or some of one row.
    fn finish_rest(&self, first: usize, elements: &mut [T]);
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

    fn finish_rest(&self, _: usize, _: &mut [T]) {
        match *self {}
    }
}

/// As many steps for each channel as an [`Epilogue`] takes.
struct Stage<T> {
    biases: [Option<Vec<T>>; 2],
    scale: Option<Vec<T>>,
    shift: Option<Vec<T>>,
}

impl<T> Stage<T> {
    /// Where a factor or a summand goes after the steps that the stage has.
    fn place(&mut self, is_factor: bool) -> Option<&mut Option<Vec<T>>> {
        let place = match (is_factor, &self.scale) {
            (true, _) => &mut self.scale,
            (false, Some(_)) => &mut self.shift,
            (false, None) => return self.biases.iter_mut().find(|bias| bias.is_none()),
        };
        Some(place).filter(|place| place.is_none())
    }
}

/// Adds a step to the stages: factors or summands.
fn push<T>(stages: &mut SmallVec<[Stage<T>; 1]>, is_factor: bool, values: Vec<T>) {
    if let Some(place) = stages.last_mut().and_then(|stage| stage.place(is_factor)) {
        *place = Some(values);
        return;
    }
    let (bias, scale) = if is_factor { (None, Some(values)) } else { (Some(values), None) };
    stages.push(Stage { biases: [bias, None], scale, shift: None });
}

/// A [`Fusion`] with its arguments, in the dtype that the product is computed in.
pub struct Fused<T> {
    /// Nearly always one.
    stages: SmallVec<[Stage<T>; 1]>,
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
        let tensors = fusion.arguments_of(ctx, E::DTYPE, output, last)?;
        let vector = |index: usize| -> Result<Vec<T>> {
            scratch::collected(tensors[index].as_slice::<E>()?.iter().map(|element| element.widen()))
        };
        let (mut stages, mut at) = (SmallVec::new(), 0);
        for step in &fusion.channels {
            match *step {
                Channels::Bias => push(&mut stages, false, vector(at)?),
                Channels::Scale => push(&mut stages, true, vector(at)?),
                Channels::Norm { epsilon } => {
                    let mut means = vector(at + 2)?;
                    means.iter_mut().for_each(|mean| *mean = -*mean);
                    push(&mut stages, false, means);
                    let mut factors = vector(at)?;
                    // As the kernels of FusedBatchNorm compute it.
                    for (factor, variance) in factors.iter_mut().zip(vector(at + 3)?) {
                        *factor = *factor / Real::sqrt(variance + T::of(epsilon.into()));
                    }
                    push(&mut stages, true, factors);
                    push(&mut stages, false, vector(at + 1)?);
                }
            }
            at += step.vectors();
        }
        let channels = output.last().copied().unwrap_or(1);
        let summand = if fusion.summand { Some(widened::<E>(ctx, &tensors[fusion.vectors()])?) } else { None };
        Ok(Fused { stages, channels, summand, activation: fusion.activation })
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
                E::on_wide(piece, |piece| self.finish(first, piece))?;
            }
            Ok(())
        })
    }

    /// The activation, if it is simple enough for an [`Epilogue`].
    fn end(&self) -> Option<End<T>> {
        match self.activation {
            Activation::Identity => Some(End::Nothing),
            Activation::Relu => Some(End::Relu(<T as Real>::INFINITY)),
            Activation::Relu6 => Some(End::Relu(T::of(6.0))),
            Activation::HardSwish => Some(End::HardSwish),
            _ => None,
        }
    }

    /// Elements that stay in the first cache from the first step to the last: whole rows.
    fn block(&self) -> usize {
        const BLOCK: usize = 2048;
        (BLOCK / self.channels).max(1) * self.channels
    }

    /// A stage for the elements from place `first` on, the last one with what follows it.
    fn stage(&self, index: usize, first: usize) -> Epilogue<'_, T> {
        let channel = first % self.channels;
        fn from<T>(values: &Option<Vec<T>>, channel: usize) -> Option<&[T]> {
            values.as_ref().map(|values| &values[channel..])
        }
        let Stage { biases: [bias, other], scale, shift } = &self.stages[index];
        let mut epilogue = Epilogue {
            biases: [from(bias, channel), from(other, channel)],
            scale: from(scale, channel),
            shift: from(shift, channel),
            ..Epilogue::default()
        };
        if index + 1 == self.stages.len() {
            // It has this dtype, which `new` has seen to.
            let summand = self.summand.as_ref().and_then(|summand| summand.as_slice::<T>().ok());
            epilogue.summand = summand.map(|summand| &summand[first..]);
            epilogue.end = self.end().unwrap_or(End::Nothing);
        }
        epilogue
    }

    /// The stages from `stage` on and the activation, for whole rows or a part of one.
    fn finish_from(&self, stage: usize, first: usize, elements: &mut [T]) {
        for (index, elements) in elements.chunks_mut(self.block()).enumerate() {
            let first = first + index * self.block();
            let columns = elements.len().min(self.channels - first % self.channels);
            for index in stage..self.stages.len() {
                finish_rows(elements, self.stage(index, first), columns);
            }
            if self.end().is_none() {
                activate(elements, self.activation);
            }
        }
    }
}

impl<T: Activated> Finish<T> for Fused<T> {
    fn finish(&self, first: usize, elements: &mut [T]) {
        self.finish_from(0, first, elements);
    }

    fn epilogue(&self, first: usize) -> Epilogue<'_, T> {
        self.stage(0, first)
    }

    fn has_rest(&self) -> bool {
        self.stages.len() > 1 || self.end().is_none()
    }

    fn finish_rest(&self, first: usize, elements: &mut [T]) {
        self.finish_from(1, first, elements);
    }
}

fn widened<E: Computed>(ctx: &RawContext<'_>, tensor: &Tensor) -> Result<Tensor> {
    if E::DTYPE == E::Wide::DTYPE {
        return Ok(tensor.clone());
    }
    let mut wide = Tensor::alloc(E::Wide::DTYPE, tensor.shape().clone())?;
    let source = tensor.as_slice::<E>()?;
    ctx.parallel_chunks(wide.as_mut_slice::<E::Wide>()?, 64, 1, |first, piece| {
        E::widen_all(&source[first..], piece);
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

widest! {
    avx512:
    /// What becomes of each element, as the element-wise kernels compute it. NaN stays NaN.
    pub fn activate<T: Activated>(elements: &mut [T], activation: Activation) {
        let zero = <T as Real>::ZERO;
        // A loop and no closure: one that is not inlined would be compiled without the wide vectors.
        macro_rules! each {
            (|$x:ident| $value:expr) => {
                for element in elements {
                    let $x = *element;
                    *element = $value;
                }
            };
        }
        match activation {
            Activation::Identity => {}
            Activation::Relu => each!(|x| relu(x)),
            Activation::Relu6 => each!(|x| relu6(x)),
            Activation::Elu => each!(|x| {
                // Both are computed: without a branch, so that this becomes vector code.
                let below = fast::exp_m1(x);
                if x < zero { below } else { x }
            }),
            Activation::LeakyRelu(slope) => {
                let slope = T::of(slope.into());
                each!(|x| if x > zero { x } else { x * slope });
            }
            Activation::Sigmoid => T::sigmoids(elements),
            Activation::Tanh => each!(|x| fast::tanh(x)),
            Activation::GeluExact => each!(|x| gelu_exact(x)),
            Activation::GeluApproximate => each!(|x| gelu_approximate(x)),
            Activation::Swish => T::swishes(elements),
            Activation::HardSwish => each!(|x| hard_swish(x)),
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
        let mut stages = SmallVec::new();
        for step in 0..9 {
            push(&mut stages, [2, 3, 6].contains(&step), numbers(step, channels));
        }
        // Two summands and a factor; a factor and a summand; one and a factor and one; the rest.
        assert_eq!(stages.len(), 4);
        let fused =
            Fused { stages, channels, summand: Some(Tensor::vector(&summand).unwrap()), activation: Activation::Swish };
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
