//! AddN: sums of many tensors of one shape, a few in one go.

use kernlink::error::Result;
use kernlink::kernel::{ElementWise, KernelContext, Meet};
use kernlink::tensor::Tensor;
use kernlink_geometry::element_wise::{GROUP, ensure_term, first_group};
use kernlink_macros::register_kernel;
use kernlink_ops::{AccumulateNV2, AddN};

use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{Part, read, written};

/// The most tensors that one shader adds: eight buffers, of which one is the sum's, are what every device binds.
const MOST: usize = 7;

/// How the tensors of a shader are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    /// So many one after the other.
    InTurn(usize),
    /// The sum of the second and the third to the first.
    LastFirst,
}

/// Every step is rounded to the dtype.
fn program((scalar, order): (Scalar, Order)) -> Program {
    let (count, terms) = match order {
        Order::InTurn(count) => (count, (0..count).map(|k| format!("x_{k}[i]")).collect::<Vec<_>>().join(" + ")),
        Order::LastFirst => (3, "x_0[i] + (x_1[i] + x_2[i])".to_owned()),
    };
    let mut builder = Program::trusted(format!("AddN{count}"));
    for k in 0..count {
        builder = builder.read_vectors(&format!("x_{k}"), scalar, 4);
    }
    let body = format!("fn element(i: u32) {{\n    sum[i] = {terms};\n}}\n");
    builder.write_vectors("sum", scalar, 4).build(Entry::Elements, &body)
}

fn add(gpu: &GpuDevice, order: Order, terms: &[&Tensor]) -> Result<Tensor> {
    let shader = gpu.shader(program, (scalar_of(terms[0].dtype())?, order));
    let sum = gpu.allocate(terms[0].dtype(), terms[0].shape().clone())?;
    let parts: Vec<Part<'_>> = terms.iter().map(|term| read(term)).chain([written(&sum)]).collect();
    gpu.in_windows(sum.num_elements(), &parts, |range, tensors| {
        gpu.dispatch(&shader, tensors, &[], Groups::Elements(range.len().div_ceil(4)))
    })?;
    Ok(sum)
}

/// The sum of two or more tensors, one after the other.
fn add_in_turn(gpu: &GpuDevice, terms: &[&Tensor]) -> Result<Tensor> {
    let (some, rest) = terms.split_at(terms.len().min(MOST));
    let sum = add(gpu, Order::InTurn(some.len()), some)?;
    match rest {
        [] => Ok(sum),
        [x] => add(gpu, Order::InTurn(2), &[&sum, x]),
        [x, y, ..] => add(gpu, Order::InTurn(3), &[&sum, x, y]),
    }
}

fn sum(gpu: &GpuDevice, terms: &[&Tensor]) -> Result<Tensor> {
    let first = terms[0];
    for (i, other) in terms.iter().enumerate() {
        ensure_term(first.shape(), i, other.shape())?;
    }
    if terms.len() == 1 {
        return Ok(first.clone());
    }
    let (near, far) = terms.split_at(first_group(terms.len()));
    let mut sum = add_in_turn(gpu, near)?;
    for group in far.chunks_exact(GROUP) {
        let partial = add(gpu, Order::InTurn(MOST), &group[..MOST])?;
        sum = add(gpu, Order::LastFirst, &[&sum, &partial, group[MOST]])?;
    }
    Ok(sum)
}

#[register_kernel(
    device = Gpu, op = [AddN, AccumulateNV2], T = [f32, i32, u32, f16 if "f16", i64 if "i64"], programs = |T| {
        let scalar = scalar_of(T)?;
        Ok((2..=MOST).map(Order::InTurn).chain([Order::LastFirst]).map(|order| program((scalar, order))).collect())
    },
    element_wise = Some(ElementWise {
        parameter: None,
        meet: Meet::Equal,
        function: |inputs, output| match inputs {
            [_, _] => super::bias::sum(output).ok()?.joins(),
            _ => None,
        }
    })
)]
fn add_n(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let terms: Vec<&Tensor> = ctx.input_list(O::INPUTS).iter().collect();
    let sum = sum(GpuDevice::of(ctx)?, &terms)?;
    ctx.set_output(O::SUM, sum)
}
