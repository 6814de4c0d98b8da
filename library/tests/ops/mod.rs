//! Ops of every kind that a library can have, and some that it cannot: for the tests of libraries, and as a library itself.

#![allow(
    unreachable_pub,
    reason = "the example of a library has them as its own; in a test nothing is reached from outside"
)]

use std::marker::PhantomData;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use kernlink::dtype::{Number, Pod, TString};
use kernlink::kernel::{
    AsyncOpKernel, Attrs, KernelConstruction, KernelContext, KernelState, OpKernel, RawConstruction, ResourceHandleOp,
};
use kernlink::resource::Resource;
use kernlink::shape_inference::InferenceContext;
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result, ensure};
use kernlink_macros::{register_kernel, register_op};

/// Says which attrs a node has.
#[register_op(
    attr("text: string = 'it\\'s'"),
    attr("count: int >= -3 = 7"),
    attr("factor: float = 0.25"),
    attr("flag: bool = true"),
    attr("dtype: {float, int32, string} = DT_INT32"),
    attr("shape: shape = { unknown_rank: true }"),
    attr("value: tensor"),
    attr("texts: list(string) = ['a', 'b']"),
    attr("counts: list(int) >= 1 = [1, -2]"),
    attr("factors: list(float) = [0.5]"),
    attr("flags: list(bool) = []"),
    attr("dtypes: list({float, double}) = [DT_FLOAT]"),
    attr("shapes: list(shape) = []"),
    attr("mode: {'fast', 'exact'} = 'exact'"),
    output("attrs: string"),
    shape_fn = |c| {
        c.set_output(0, c.scalar());
        Ok(())
    }
)]
pub struct EveryAttr;

#[register_kernel(device = Cpu)]
fn every_attr_kernel(attrs: &EveryAttrText, ctx: &mut KernelContext<'_, EveryAttr>) -> Result<()> {
    ctx.set_output(EveryAttr::ATTRS, Tensor::scalar(TString::from(&*attrs.0)))
}

struct EveryAttrText(String);

impl KernelState for EveryAttrText {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let named = ctx.attrs.iter().filter(|(name, _)| !name.starts_with('_'));
        Ok(EveryAttrText(named.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")))
    }
}

/// Texts one after the other.
#[register_op(
    attr("N: int >= 1"),
    attr("separator: string = ''"),
    input("texts: N * string"),
    output("joined: string", "Of the shape of the first."),
    shape_fn = |c| {
        c.set_output(0, c.input(0));
        Ok(())
    }
)]
pub struct JoinTexts;

#[register_kernel(device = Cpu)]
fn join(attrs: &Attrs<JoinTexts>, ctx: &mut KernelContext<'_, JoinTexts>) -> Result<()> {
    let texts = ctx.input_list(JoinTexts::TEXTS);
    let mut joined = ctx.allocate_output(JoinTexts::JOINED, texts[0].shape())?;
    for (index, joined) in joined.as_mut_slice::<TString>()?.iter_mut().enumerate() {
        let parts = texts.iter().map(|text| Ok(text.as_slice::<TString>()?[index].as_bytes()));
        *joined = parts.collect::<Result<Vec<_>>>()?.join(attrs.separator.as_bytes()).into();
    }
    ctx.set_output(JoinTexts::JOINED, joined)
}

/// The sum of some tensors.
#[register_op(
    attr("N: int >= 1"),
    attr("T: numbertype"),
    input("terms: N * T"),
    output("sum: T"),
    output("count: int32"),
    commutative,
    shape_fn = |c| {
        let mut shape = c.input(0);
        for index in 1..c.num_inputs() {
            shape = c.merge(shape, c.input(index))?;
        }
        c.set_output(0, shape);
        c.set_output(1, c.vector(c.attr::<i64>("N")?));
        Ok(())
    }
)]
pub struct SumOf;

#[register_kernel(device = Cpu, T = [f32, i32])]
fn sum_of<T: Number>(ctx: &mut KernelContext<'_, SumOf>) -> Result<()> {
    let terms = ctx.input_list(SumOf::TERMS);
    let mut sum = ctx.allocate_output(SumOf::SUM, terms[0].shape())?;
    sum.as_mut_slice::<T>()?.fill(T::ZERO);
    for term in terms.iter() {
        ensure!(term.shape() == terms[0].shape(), InvalidArgument, "the shapes differ");
        for (sum, &term) in sum.as_mut_slice::<T>()?.iter_mut().zip(term.as_slice::<T>()?) {
            *sum = sum.wrapping_add(term);
        }
    }
    let count = vec![terms.len() as i32; terms.len()];
    ctx.set_output(SumOf::SUM, sum)?;
    ctx.set_output(SumOf::COUNT, Tensor::from_vec([count.len()], count)?)
}

/// What it is given, whatever that is.
#[register_op(attr("T: list(type) >= 1"), input("values: T"), output("same: T"), shape_fn = |c| {
    for index in 0..c.num_outputs() {
        c.set_output(index, c.input(index));
    }
    Ok(())
})]
pub struct PassAll;

#[register_kernel(device = Cpu, T = [f32, i32, bool, TString])]
fn pass_all(ctx: &mut KernelContext<'_, PassAll>) -> Result<()> {
    let values: Vec<Tensor> = ctx.input_list(PassAll::VALUES).iter().cloned().collect();
    ctx.set_output_list(PassAll::SAME, values)
}

/// Parts of a vector, whose number no input tells.
#[register_op(attr("parts: int >= 1"), input("x: float"), output("pieces: parts * float"), shape_fn = |c| {
    for index in 0..c.num_outputs() {
        c.set_output(index, c.vector(-1));
    }
    Ok(())
})]
pub struct Cut;

#[register_kernel(device = Cpu)]
fn cut(ctx: &mut KernelContext<'_, Cut>) -> Result<()> {
    let (x, parts) = (ctx.input(Cut::X)?, ctx.output_range(Cut::PIECES).len());
    let length = x.num_elements() / parts;
    let pieces = (0..parts).map(|part| x.slice_rows(part * length, (part + 1) * length)).collect::<Result<Vec<_>>>()?;
    ctx.set_output_list(Cut::PIECES, pieces)
}

/// Asks for an attr when its shape is inferred, which a shape function in C cannot have.
#[register_op(attr("size: int"), input("x: float"), output("y: float"), shape_fn = |c| {
    c.set_output(0, c.vector(c.attr::<i64>("size").unwrap_or(1)));
    Ok(())
})]
pub struct AskForAttr;

/// A copy, of any plain dtype.
#[register_op(attr("T: type"), input("x: T"), output("copy: T"), shape_fn = |c| {
    c.set_output(0, c.input(0));
    Ok(())
})]
pub struct CopyOf;

struct Copy<T>(PhantomData<T>);

#[register_kernel(device = Cpu, T = [numbertype, bool])]
impl<T: Pod> OpKernel<CopyOf> for Copy<T> {
    fn new(_: &KernelConstruction<'_, CopyOf>) -> Result<Self> {
        Ok(Copy(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, CopyOf>) -> Result<()> {
        let copy = Tensor::from_elements(ctx.input(CopyOf::X)?.shape(), ctx.input(CopyOf::X)?.as_slice::<T>()?)?;
        ctx.set_output(CopyOf::COPY, copy)
    }
}

/// The sums of the rows, with or without the dimension that they lose.
#[register_op(input("x: float"), input("weights: float"), output("sums: float"), output("outer: float"), shape_fn = |c| {
    let x = c.with_rank(c.input(0), 2)?;
    let weights = c.with_rank(c.input(1), 1)?;
    c.merge_dim(c.dim(x, 1), c.dim(weights, 0))?;
    c.set_output(0, c.make_shape([c.dim(x, 0)]));
    c.set_output(1, c.make_shape([c.dim(x, 0), c.make_dim(1), c.dim(weights, 0)]));
    Ok(())
})]
pub struct RowSums;

#[register_kernel(device = Cpu)]
fn row_sums(ctx: &mut KernelContext<'_, RowSums>) -> Result<()> {
    let (x, weights) = (ctx.input(RowSums::X)?, ctx.input(RowSums::WEIGHTS)?);
    let &[rows, columns] = x.shape().dims() else { return Err(Error::invalid_argument("x must be a matrix")) };
    ensure!(weights.shape().dims() == [columns], InvalidArgument, "weights must be a vector of {columns}");
    let (x, weights) = (x.as_slice::<f32>()?, weights.as_slice::<f32>()?);
    let outer: Vec<f32> = (0..rows * columns).map(|at| x[at] * weights[at % columns]).collect();
    let sums = outer.chunks(columns.max(1)).map(|row| row.iter().sum()).collect();
    let sums = Tensor::from_vec::<f32>([rows], sums)?;
    ctx.set_output(RowSums::SUMS, sums)?;
    ctx.set_output(RowSums::OUTER, Tensor::from_vec([rows, 1, columns], outer)?)
}

/// Doubles, after a while, on another thread.
#[register_op(attr("milliseconds: int = 20"), input("x: float"), output("y: float"), shape_fn = same_shape)]
pub struct DoubleLater;

fn same_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.input(0));
    Ok(())
}

struct DoubleLaterKernel(Duration);

#[register_kernel(device = Cpu)]
impl AsyncOpKernel<DoubleLater> for DoubleLaterKernel {
    fn new(ctx: &KernelConstruction<'_, DoubleLater>) -> Result<Self> {
        Ok(DoubleLaterKernel(Duration::from_millis(ctx.attrs().milliseconds.unsigned_abs())))
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, DoubleLater>) -> Result<()> {
        sleep(self.0).await;
        let x = ctx.input(DoubleLater::X)?.as_slice::<f32>()?;
        ensure!(x.iter().all(|x| *x >= 0.0), OutOfRange, "it is too late for numbers below zero");
        let y: Vec<f32> = x.iter().map(|x| 2.0 * x).collect();
        let y = Tensor::from_vec(ctx.input(DoubleLater::X)?.shape().clone(), y)?;
        ctx.set_output(DoubleLater::Y, y)
    }
}

/// Ends after some time, and holds no thread of those who wait.
async fn sleep(time: Duration) {
    let state = Arc::new(Mutex::new((false, None::<Waker>)));
    let shared = state.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        let mut state = shared.lock().unwrap();
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    });
    std::future::poll_fn(|context| {
        let mut state = state.lock().unwrap();
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    })
    .await;
}

/// Fails.
#[register_op(attr("how: string"), attr("code: int = 3"), output("nothing: float"), stateful, shape_fn = |c| {
    c.set_output(0, c.scalar());
    Ok(())
})]
pub struct Fail;

struct FailKernel(String, Code);

#[register_kernel(device = Cpu)]
impl OpKernel<Fail> for FailKernel {
    fn new(ctx: &KernelConstruction<'_, Fail>) -> Result<Self> {
        let code = Code::ALL.into_iter().find(|code| *code as i64 == ctx.attrs().code).unwrap_or(Code::Unknown);
        match &*ctx.attrs().how {
            "in new" => Err(Error::new(code, "the kernel cannot be made")),
            "panic in new" => panic!("a panic in new"),
            how => Ok(FailKernel(how.to_owned(), code)),
        }
    }

    fn compute(&self, _: &mut KernelContext<'_, Fail>) -> Result<()> {
        match &*self.0 {
            "panic" => panic!("a panic in compute"),
            "without output" => Ok(()),
            _ => Err(Error::new(self.1, "so it is asked: 100%s")),
        }
    }
}

/// How often it was called.
#[register_op(output("calls: int64"), stateful, shape_fn = |c| {
    c.set_output(0, c.scalar());
    Ok(())
})]
pub struct CountCalls;

struct Counter(AtomicI64);

#[register_kernel(device = Cpu)]
impl OpKernel<CountCalls> for Counter {
    fn new(_: &KernelConstruction<'_, CountCalls>) -> Result<Self> {
        Ok(Counter(AtomicI64::new(0)))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, CountCalls>) -> Result<()> {
        let calls = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        ctx.set_output(CountCalls::CALLS, Tensor::scalar(calls))
    }
}

/// Which of its kernels runs.
#[register_op(
    attr("T: {float, int32, int64}"),
    attr("mode: string = ''"),
    input("x: T"),
    output("kernel: string"),
    shape_fn = |c| {
        c.set_output(0, c.scalar());
        Ok(())
    }
)]
pub struct WhichKernel;

macro_rules! which {
    ($($name:ident($($args:tt)*) = $text:literal;)*) => {
        $(
            #[register_kernel(device = Cpu, $($args)*)]
            fn $name(ctx: &mut KernelContext<'_, WhichKernel>) -> Result<()> {
                ctx.set_output(WhichKernel::KERNEL, Tensor::scalar(TString::from($text)))
            }
        )*
    };
}

which! {
    any(T = [f32, i32]) = "any";
    urgent(T = [i32], priority = 1) = "urgent";
    slow(T = [i64], mode = ["slow"]) = "slow";
    quick(T = [i64], mode = ["quick"]) = "quick";
    labelled(T = [f32], label = "special") = "labelled";
}

/// A reference, which libraries do not have.
#[register_op(input("variable: Ref(float)"), output("value: float"), shape_fn = same_shape)]
pub struct ReadReference;

/// A variant, which no other program reads.
#[register_op(output("list: variant"), shape_fn = |_| Ok(()))]
pub struct MakeVariant;

/// A function, which libraries do not call.
#[register_op(attr("f: func"), input("x: float"), output("y: float"), shape_fn = |_| Ok(()))]
pub struct CallFunction;

#[register_kernel(device = Cpu)]
fn call_function(_: &mut KernelContext<'_, CallFunction>) -> Result<()> {
    Err(Error::unimplemented("no function is called here"))
}

#[register_kernel(device = Gpu)]
fn double_on_gpu(_: &mut KernelContext<'_, DoubleLater>) -> Result<()> {
    Err(Error::unimplemented("there is no GPU here"))
}

/// Of a shape that nothing tells.
#[register_op(output("x: float"), shape_fn = |_| Ok(()))]
pub struct Source;

/// A resource.
#[derive(Default)]
pub struct Total(AtomicI64);

impl Resource for Total {
    fn type_name() -> &'static str {
        "every_kind::Total"
    }
}

/// A handle of a total, which is zero at first.
#[register_op(
    attr("container: string = ''"),
    attr("shared_name: string = ''"),
    output("total: resource"),
    stateful,
    shape_fn = |c| {
        c.set_output(0, c.scalar());
        Ok(())
    }
)]
pub struct TotalHandle;

#[register_kernel(device = Cpu, op = TotalHandle)]
type TotalHandleKernel = ResourceHandleOp<Total>;

/// Adds to a total.
#[register_op(input("total: resource"), input("amount: int64"), output("now: int64"), shape_fn = |c| {
    c.set_output(0, c.scalar());
    Ok(())
})]
pub struct AddToTotal;

#[register_kernel(device = Cpu)]
fn add_to_total(ctx: &mut KernelContext<'_, AddToTotal>) -> Result<()> {
    let handle = ctx.handle(AddToTotal::TOTAL)?;
    let total = ctx.resources()?.lookup_or_create_handle(handle, || Ok(Total::default()))?;
    let amount: i64 = ctx.input(AddToTotal::AMOUNT)?.to_scalar()?;
    let now = total.0.fetch_add(amount, Ordering::Relaxed) + amount;
    ctx.set_output(AddToTotal::NOW, Tensor::scalar(now))
}
