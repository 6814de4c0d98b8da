//! Cast: conversion of elements to another dtype, as C++ on x86 converts them.
//!
//! Not one loop for every pair of dtypes: elements are loaded as one of five wide types that hold them exactly, then
//! stored from there.

mod convert;
mod load;
mod store;

use std::any::Any;
use std::mem::MaybeUninit;

use kernlink::dtype::DataType;
use kernlink::kernel::{
    AnyLoop, ElementFunction, ElementWise, KernelConstruction, KernelContext, Meet, OpKernel, UnaryClosure,
};
use kernlink::{Error, Result};
use kernlink_macros::register_kernel;
use kernlink_ops::Cast;

/// Converts `length` elements from one buffer to another.
///
/// # Safety
/// The first pointer points to `length` elements of the step's source type, the second to room for `length` elements
/// of its target type, both aligned to 8 bytes or to their size; they do not overlap.
type Step = unsafe fn(*const u8, *mut u8, usize);

/// The types from which elements are stored.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Wide {
    F32,
    F64,
    I32,
    I64,
    U64,
}

/// Elements that are converted at a time where more than one step is needed.
const BLOCK: usize = 512;
/// Elements in a unit of work.
const UNIT: usize = 1024;

/// Bytes of `BLOCK` elements of the widest dtype.
#[repr(align(64))]
struct Buffer(MaybeUninit<[u8; 16 * BLOCK]>);

/// The way from one dtype to another.
struct Conversion {
    from: DataType,
    to: DataType,
    /// Zeroes low bits of the source, in place.
    truncate: Option<(convert::Zeroing, u32)>,
    /// Loads the source as the type that `store` takes; `None` if it is that type.
    load: Option<Step>,
    store: Step,
}

impl Conversion {
    /// `None` for dtypes between which TensorFlow does not convert.
    fn new(from: DataType, to: DataType, truncate: bool) -> Option<Conversion> {
        let (plain_from, plain_to) = (unquantized(from), unquantized(to));
        if !is_supported(plain_from, plain_to) {
            return None;
        }
        let (load, store) = match convert::between_complex(plain_from, plain_to) {
            Some(step) => (None, step),
            None => {
                let (load, wide) = load::from(plain_from)?;
                (load, store::to(wide, plain_to)?)
            }
        };
        let truncate = if truncate { convert::truncation(plain_from, plain_to) } else { None };
        Some(Conversion { from, to, truncate, load, store })
    }

    /// Converts `length` elements.
    ///
    /// # Safety
    /// As [`Step`], for the dtypes of this conversion.
    unsafe fn run(&self, source: *const u8, target: *mut u8, length: usize) {
        if self.load.is_none() && self.truncate.is_none() {
            // SAFETY: by the caller's promise.
            return unsafe { (self.store)(source, target, length) };
        }
        let mut copy = Buffer(MaybeUninit::uninit());
        let mut wide = Buffer(MaybeUninit::uninit());
        let (copy, wide): (*mut u8, *mut u8) = (copy.0.as_mut_ptr().cast(), wide.0.as_mut_ptr().cast());
        let mut done = 0;
        while done < length {
            let count = BLOCK.min(length - done);
            // SAFETY: `done + count` is at most `length`; a buffer holds `count` elements of any dtype.
            unsafe {
                let mut source = source.add(done * self.from.size());
                if let Some((truncate, bits)) = self.truncate {
                    std::ptr::copy_nonoverlapping(source, copy, count * self.from.size());
                    truncate(copy, count, bits);
                    source = copy;
                }
                if let Some(load) = self.load {
                    load(source, wide, count);
                    source = wide;
                }
                (self.store)(source, target.add(done * self.to.size()), count);
            }
            done += count;
        }
    }
}

/// The dtype as which a quantized one is converted.
fn unquantized(dtype: DataType) -> DataType {
    match dtype {
        DataType::Qint8 => DataType::Int8,
        DataType::Quint8 => DataType::Uint8,
        DataType::Qint16 => DataType::Int16,
        DataType::Quint16 => DataType::Uint16,
        DataType::Qint32 => DataType::Int32,
        other => other,
    }
}

/// Whether TensorFlow converts between these dtypes, of which none is quantized.
fn is_supported(from: DataType, to: DataType) -> bool {
    use DataType::*;
    let small = |dtype| matches!(dtype, Int4 | Uint4);
    let float8 = |dtype| matches!(dtype, Float8E5m2 | Float8E4m3fn);
    let integer = |dtype: DataType| dtype.is_integer() && !matches!(dtype, Int2 | Uint2);
    if small(from) || small(to) {
        return integer(from) && integer(to);
    }
    !float8(to) || from.is_floating()
}

struct CastKernel {
    /// `None` if the dtypes are the same.
    conversion: Option<Conversion>,
}

/// What the kernel computes of each element, unless it truncates; nothing if the dtypes are the same.
fn function(inputs: &[DataType], output: DataType) -> Option<Box<dyn Any + Send + Sync>> {
    let &[from] = inputs else { return None };
    let conversion = if from == output { None } else { Conversion::new(from, output, false) }?;
    // SAFETY: what calls the loop has elements of these dtypes.
    let run = move |source: *const u8, target: *mut u8, length: usize| unsafe {
        conversion.run(source, target, length);
    };
    // SAFETY: the conversion is between these dtypes.
    let function = unsafe { ElementFunction::new(AnyLoop::Closure(UnaryClosure::new(run)), [from; 3], output) };
    function.for_dtypes(inputs, output)
}

#[register_kernel(device = Cpu)]
impl OpKernel<Cast> for CastKernel {
    const ELEMENT_WISE: Option<ElementWise> = Some(ElementWise { parameter: None, meet: Meet::Equal, function });

    fn new(ctx: &KernelConstruction<'_, Cast>) -> Result<Self> {
        let (from, to) = (ctx.attrs().SrcT, ctx.attrs().DstT);
        if from == to {
            return Ok(CastKernel { conversion: None });
        }
        let conversion = Conversion::new(from, to, ctx.attrs().Truncate)
            .ok_or_else(|| Error::unimplemented(format!("Cast {from} to {to} is not supported")))?;
        Ok(CastKernel { conversion: Some(conversion) })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Cast>) -> Result<()> {
        let Some(conversion) = &self.conversion else {
            let same = ctx.take_input(Cast::X)?;
            return ctx.set_output(Cast::Y, same);
        };
        let input = ctx.input(Cast::X)?;
        if input.dtype() != conversion.from {
            let message = format!("the input must be {}, not {}", conversion.from, input.dtype());
            return Err(Error::invalid_argument(message));
        }
        let mut output = ctx.allocate_output(Cast::Y, input.shape())?;
        let length = output.num_elements();
        let source = Pointer(input.aligned_bytes()?.as_ptr().cast_mut());
        let target = Pointer(match output.dtype() {
            DataType::Bool => output.as_mut_slice::<bool>()?.as_mut_ptr().cast(),
            _ => output.bytes_mut()?.as_mut_ptr(),
        });
        let work = |first: usize, count: usize| {
            // SAFETY: the tensors have the conversion's dtypes and `length` elements each, of which these are some;
            // nothing else writes them.
            unsafe {
                let source = source.at(first * conversion.from.size());
                conversion.run(source, target.at(first * conversion.to.size()), count);
            }
        };
        if length <= UNIT {
            work(0, length);
        } else {
            ctx.parallel_for(length.div_ceil(UNIT), UNIT, |units| {
                let end = (units.end * UNIT).min(length);
                work(units.start * UNIT, end - units.start * UNIT);
            });
        }
        ctx.set_output(Cast::Y, output)
    }
}

/// A pointer into a tensor that threads share.
#[derive(Clone, Copy)]
struct Pointer(*mut u8);

// SAFETY: the threads that share it access elements of their own.
unsafe impl Sync for Pointer {}

impl Pointer {
    /// The address `bytes` further on.
    ///
    /// # Safety
    /// It is inside the tensor, or at its end.
    unsafe fn at(&self, bytes: usize) -> *mut u8 {
        // SAFETY: by the caller's promise.
        unsafe { self.0.add(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::dtype::{Float8E5M2, Pod, bf16, f16};

    fn cast<A: Pod, B: Pod>(values: &[A], truncate: bool) -> Vec<B> {
        let conversion = Conversion::new(A::DTYPE, B::DTYPE, truncate).unwrap();
        let mut out = vec![B::default(); values.len()];
        // SAFETY: the vectors have the conversion's dtypes and one length.
        unsafe { conversion.run(values.as_ptr().cast(), out.as_mut_ptr().cast(), values.len()) };
        out
    }

    #[test]
    fn floats_that_no_integer_holds_become_what_x86_makes_of_them() {
        let odd = [f32::NAN, f32::INFINITY, -3e9, 1e20];
        assert_eq!(cast::<f32, i32>(&odd, false), [i32::MIN; 4]);
        assert_eq!(cast::<f32, i64>(&odd, false), [i64::MIN, i64::MIN, -3_000_000_000, i64::MIN]);
        assert_eq!(cast::<f64, u64>(&[-300.7, 1e19, f64::NAN], false), [300u64.wrapping_neg(), 10u64.pow(19), 1 << 63]);
        assert_eq!(cast::<f64, u8>(&[300.7, -1.5, f64::NAN], false), [44, 255, 0]);
    }

    #[test]
    fn integers_wrap_and_round_once() {
        assert_eq!(cast::<i64, i8>(&[200, -200, i64::MIN], false), [-56, 56, 0]);
        assert_eq!(cast::<u64, f32>(&[(1 << 40) + (1 << 16) + 1], false), [(1u64 << 40) as f32 + (1 << 17) as f32]);
        assert_eq!(cast::<i64, bool>(&[0, 1 << 40], false), [false, true]);
    }

    #[test]
    fn truncation_drops_low_bits() {
        let value = 1.0 + 2f32.powi(-9);
        assert_eq!(cast::<f32, bf16>(&[value, -value, f32::MAX], true), [bf16::ONE, -bf16::ONE, bf16::MAX]);
        assert_eq!(cast::<f32, bf16>(&[f32::MAX], false), [bf16::INFINITY]);
        assert!(cast::<f32, f16>(&[f32::NAN], true)[0].is_nan());
    }

    #[test]
    fn double_to_float8_rounds_once() {
        // Just above a tie that rounds to even downwards: by way of f32 it would become the tie.
        let value = 1.125 + 2f64.powi(-40);
        assert_eq!(cast::<f64, Float8E5M2>(&[value], false)[0].to_f32(), 1.25);
    }
}
