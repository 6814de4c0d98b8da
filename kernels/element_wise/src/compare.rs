//! Comparisons.

use std::any::Any;

use kernlink::dtype::{Complex32, Complex64, DataType, TString, bf16, f16};
use kernlink::kernel::{ElementWise, KernelContext, Meet, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail};
use kernlink_macros::register_kernel;
use kernlink_ops::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};

use super::binary::{Binary, BinaryFn, LIMIT, binary};
use super::driver::{Spec, element_wise};
use super::objects;

/// Gives ops Rust's comparisons.
macro_rules! comparison {
    ($($op:ident => |$x:ident, $y:ident| $body:expr;)+) => {$(
        binary!($op -> bool: f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 => |$x, $y| $body; half);
    )+};
}

comparison! {
    Equal => |x, y| x == y;
    NotEqual => |x, y| x != y;
    Less => |x, y| x < y;
    LessEqual => |x, y| x <= y;
    Greater => |x, y| x > y;
    GreaterEqual => |x, y| x >= y;
}
binary!(Equal -> bool: Complex32, Complex64 => |x, y| x == y);
binary!(NotEqual -> bool: Complex32, Complex64 => |x, y| x != y);

#[register_kernel(device = Cpu, op = [Less, LessEqual, Greater, GreaterEqual], T = [realnumbertype])]
type Comparisons<O, T> = Binary<O, T>;

/// `NotEqual` of `qint32`, which TensorFlow compares as floats; not so `Equal`.
struct NotEqualAsFloats;

impl BinaryFn<i32> for NotEqualAsFloats {
    type Out = bool;
    fn call(x: i32, y: i32) -> bool {
        x as f32 != y as f32
    }
}

/// `Equal` and `NotEqual` of every dtype; integers of one width share a loop.
struct Equality {
    /// What the answer is for equal elements.
    equal: bool,
    /// `None` for strings.
    spec: Option<Spec<2>>,
    /// Whether shapes that do not fit are an error; otherwise the tensors are unequal as a whole.
    strict: bool,
}

impl Equality {
    fn new<F>(equal: bool, dtype: DataType, strict: bool) -> Result<Equality>
    where
        F: BinaryFn<f32, Out = bool> + BinaryFn<f64, Out = bool> + BinaryFn<f16, Out = bool>,
        F: BinaryFn<bf16, Out = bool> + BinaryFn<Complex32, Out = bool> + BinaryFn<Complex64, Out = bool>,
        F: BinaryFn<u8, Out = bool> + BinaryFn<u16, Out = bool> + BinaryFn<u32, Out = bool>,
        F: BinaryFn<u64, Out = bool>,
    {
        let mut spec = match dtype {
            DataType::String => None,
            DataType::Float => Some(Binary::<F, f32>::SPEC),
            DataType::Double => Some(Binary::<F, f64>::SPEC),
            DataType::Half => Some(Binary::<F, f16>::SPEC),
            DataType::Bfloat16 => Some(Binary::<F, bf16>::SPEC),
            DataType::Complex64 => Some(Binary::<F, Complex32>::SPEC),
            DataType::Complex128 => Some(Binary::<F, Complex64>::SPEC),
            DataType::Qint32 if !equal => Some(Binary::<NotEqualAsFloats, i32>::SPEC),
            _ => match dtype.size() {
                1 => Some(Binary::<F, u8>::SPEC),
                2 => Some(Binary::<F, u16>::SPEC),
                4 => Some(Binary::<F, u32>::SPEC),
                8 => Some(Binary::<F, u64>::SPEC),
                _ => bail!(InvalidArgument, "{dtype} elements cannot be compared"),
            },
        };
        if let Some(spec) = &mut spec {
            spec.inputs = [dtype; 2];
        }
        Ok(Equality { equal, spec, strict })
    }

    fn function(&self, inputs: &[DataType], output: DataType) -> Option<Box<dyn Any + Send + Sync>> {
        self.spec?.for_dtypes(false, inputs, output)
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        if !self.strict {
            let (x, y) = (ctx.input_at(0)?.shape(), ctx.input_at(1)?.shape());
            if x.broadcast(y).is_err() {
                return ctx.set_output_at(0, Tensor::scalar(!self.equal));
            }
        }
        match &self.spec {
            Some(spec) => element_wise(ctx, spec, &[]),
            None => objects::zip(ctx, LIMIT, |x: &TString, y: &TString| (x == y) == self.equal),
        }
    }
}

#[register_kernel(
    device = Cpu,
    T = [numbertype, bool, string],
    state = |ctx| Equality::new::<Equal>(true, ctx.attrs().T, ctx.attrs().incompatible_shape_error),
    element_wise = Some(ElementWise {
        parameter: None,
        meet: Meet::Broadcast,
        function: |inputs, output| Equality::new::<Equal>(true, inputs[0], true).ok()?.function(inputs, output),
    }),
)]
fn equal_kernel(equality: &Equality, ctx: &mut KernelContext<'_, Equal>) -> Result<()> {
    equality.compute(ctx)
}

#[register_kernel(
    device = Cpu,
    T = [numbertype, bool, string],
    state = |ctx| Equality::new::<NotEqual>(false, ctx.attrs().T, ctx.attrs().incompatible_shape_error),
    element_wise = Some(ElementWise {
        parameter: None,
        meet: Meet::Broadcast,
        function: |inputs, output| Equality::new::<NotEqual>(false, inputs[0], true).ok()?.function(inputs, output),
    }),
)]
fn not_equal(equality: &Equality, ctx: &mut KernelContext<'_, NotEqual>) -> Result<()> {
    equality.compute(ctx)
}
