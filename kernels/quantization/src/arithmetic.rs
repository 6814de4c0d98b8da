//! QuantizedAdd, QuantizedMul, QuantizedBiasAdd, QuantizedRelu, QuantizedRelu6, QuantizedReshape and QuantizedConcat.

use kernlink::dtype::{Element, QInt8, QInt32, QUInt8};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::op::Op;
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_geometry::broadcast::Broadcast;
use kernlink_geometry::concat::concatenated;
use kernlink_geometry::integers::ensure_scalar;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    QuantizedAdd, QuantizedBiasAdd, QuantizedConcat, QuantizedMul, QuantizedRelu, QuantizedRelu6, QuantizedReshape,
};

use crate::number::{Quantized, ToNumbers, ToValues, max, min, number_of, range_of_products, unclamped, value_of};
use crate::slices::{Slices, each, range, scalar, set_range};

/// Fails unless the range of `name` has a length.
pub(crate) fn ensure_length(range: [f32; 2], name: &str) -> Result<()> {
    ensure!(
        range[1] > range[0],
        InvalidArgument,
        "max_{name} must be larger than min_{name}: {} and {}",
        range[1],
        range[0]
    );
    Ok(())
}

/// The first number of a table and the steps to the others, modulo 2^32, if all steps are equal.
fn steps_of(table: &[i32; 256]) -> Option<[i32; 2]> {
    let step = table[1].wrapping_sub(table[0]);
    table.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step).then_some([table[0], step])
}

/// What steps lead to: as a table, but vectors are looked up in none.
#[inline(always)]
fn at([first, step]: [i32; 2], number: QUInt8) -> i32 {
    first.wrapping_add(i32::from(number.0).wrapping_mul(step))
}

/// `f` of all pairs of elements of inputs 0 and 1, of which one may be a scalar or have the last dimensions of the other, by
/// tables of what becomes of each number.
fn pairs(ctx: &mut RawContext<'_>, tables: [[i32; 256]; 2], f: impl Fn(i32, i32) -> i32 + Sync + Copy) -> Result<()> {
    let (x, y) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let broadcast = Broadcast::new([x.shape(), y.shape()], usize::MAX)?;
    let mut output = ctx.allocate_output_at(0, broadcast.shape.clone())?;
    let (xs, ys) = (x.as_slice::<QUInt8>()?, y.as_slice::<QUInt8>()?);
    let dims = &broadcast.dims;
    // The larger stands in rows, in each of which the smaller stands once.
    let (large, small, is_turned) = if xs.len() >= ys.len() { (xs, ys, false) } else { (ys, xs, true) };
    let is_supported = dims.len() == 1 || dims.len() == 2 && dims[0].steps.contains(&0) && !dims[1].steps.contains(&0);
    if !is_supported && output.num_elements() > 0 {
        bail!(Unimplemented, "Broadcast between {} and {} is not supported yet.", x.shape(), y.shape());
    }
    let target = output.as_mut_slice::<QInt32>()?;
    let (of_large, of_small) = if is_turned { (tables[1], tables[0]) } else { (tables[0], tables[1]) };
    let both = move |a: i32, b: i32| QInt32(if is_turned { f(b, a) } else { f(a, b) });
    let slices = Slices { count: small.len(), inner: 1 };
    let collected = || scratch::collected(small.iter().map(|number| of_small[usize::from(number.0)]));
    match (steps_of(&of_large), steps_of(&of_small)) {
        _ if target.is_empty() => {}
        (Some(a), Some(b)) if dims.len() == 1 && xs.len() == ys.len() => {
            let slices = Slices { count: 1, inner: target.len() };
            slices.map(ctx, &[[a, b]], (large, small), target, |steps, (a, b)| both(at(steps[0], a), at(steps[1], b)));
        }
        (Some(steps), _) => slices.map(ctx, &collected()?, large, target, |&b, a| both(at(steps, a), b)),
        (None, _) => slices.map(ctx, &collected()?, large, target, |&b, a| both(of_large[usize::from(a.0)], b)),
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T1 = [QUInt8], T2 = [QUInt8], Toutput = [QInt32])]
fn add(ctx: &mut KernelContext<'_, QuantizedAdd>) -> Result<()> {
    let (x, y) = (range(ctx, 2, "x")?, range(ctx, 4, "y")?);
    ensure_length(x, "x")?;
    ensure_length(y, "y")?;
    let most = max(min(x[0], y[0]).abs(), max(x[1], y[1]).abs());
    let end = most * 16384.0;
    // A scalar is computed by itself, to the last bit; of other numbers the first step says how long all are.
    let alone = |[least, greatest]: [f32; 2]| {
        std::array::from_fn(|index| number_of::<QInt32>(value_of::<QUInt8>(index as i32, least, greatest), -end, end))
    };
    let table = |[least, greatest]: [f32; 2]| {
        let number = |number: i32| unclamped::<QInt32>(value_of::<QUInt8>(number, least, greatest), -end, end);
        let step = i64::from(number(1).wrapping_sub(number(0)) as i32);
        let zero = number(0);
        std::array::from_fn(|index| {
            let sum = zero.wrapping_add((index as i64).wrapping_mul(step));
            sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32
        })
    };
    let tables = match [ctx.input_at(0)?.num_elements(), ctx.input_at(1)?.num_elements()] {
        [1, _] => [alone(x), table(y)],
        [_, 1] => [table(x), alone(y)],
        _ => [table(x), table(y)],
    };
    pairs(ctx, tables, i32::wrapping_add)?;
    set_range(ctx, 1, [-end, end])
}

#[register_kernel(device = Cpu, T1 = [QUInt8], T2 = [QUInt8], Toutput = [QInt32])]
fn multiply(ctx: &mut KernelContext<'_, QuantizedMul>) -> Result<()> {
    let (x, y) = (range(ctx, 2, "x")?, range(ctx, 4, "y")?);
    ensure_length(x, "x")?;
    ensure_length(y, "y")?;
    let table = |[least, greatest]: [f32; 2]| {
        let zero = unclamped::<QUInt8>(0.0, least, greatest) as i32;
        std::array::from_fn(|index| (index as i32).wrapping_sub(zero))
    };
    pairs(ctx, [table(x), table(y)], i32::wrapping_mul)?;
    set_range(ctx, 1, range_of_products::<QUInt8, QUInt8>(x, y))
}

#[register_kernel(device = Cpu, T1 = [QUInt8], T2 = [QUInt8], out_type = [QInt32])]
fn add_bias(ctx: &mut KernelContext<'_, QuantizedBiasAdd>) -> Result<()> {
    biased::<QUInt8>(ctx)
}

#[register_kernel(device = Cpu, T1 = [QInt8], T2 = [QInt8], out_type = [QInt32])]
fn add_signed_bias(ctx: &mut KernelContext<'_, QuantizedBiasAdd>) -> Result<()> {
    biased::<QInt8>(ctx)
}

fn biased<T: Element + Quantized>(ctx: &mut RawContext<'_>) -> Result<()> {
    let (input, bias) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let (of_input, of_bias) = (range(ctx, 2, "the input")?, range(ctx, 4, "the bias")?);
    let rank = input.rank();
    ensure!(rank >= 2, InvalidArgument, "Input tensor must be at least 2D: {}", input.shape());
    ensure!(bias.rank() == 1, InvalidArgument, "Biases must be 1D: {}", bias.shape());
    ensure!(
        bias.num_elements() == input.shape()[rank - 1],
        InvalidArgument,
        "Must provide as many biases as the last dimension of the input tensor: {} vs. {}",
        bias.shape(),
        input.shape()
    );
    let most = max(of_input[1], max(-of_input[0], max(of_bias[1], -of_bias[0])));
    let end = most * 131_072.0;
    let zero = number_of::<QInt32>(0.0, -end, end);
    let to = ToNumbers::new::<QInt32>(-end, end);
    let from_input = ToValues::new::<T>(of_input[0], of_input[1]);
    let from_bias = ToValues::new::<T>(of_bias[0], of_bias[1]);
    let moved = |number: &T| to.number(from_bias.value(number.get())).wrapping_add(zero);
    let biases = scratch::collected(bias.as_slice::<T>()?.iter().map(moved))?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let slices = Slices::new(input.shape(), Some(rank - 1));
    slices.map(ctx, &biases, input.as_slice::<T>()?, output.as_mut_slice::<QInt32>()?, |&bias, x| {
        QInt32(to.number(from_input.value(x.get())).wrapping_add(bias))
    });
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, [-end, end])
}

/// Input 0 with its numbers cut to those of values from zero to `most`.
fn cut<T: Element + Quantized>(ctx: &mut RawContext<'_>, most: Option<f32>) -> Result<()> {
    let [least, greatest] = range(ctx, 1, "the input")?;
    let lowest = T::from_low_bits(number_of::<T>(0.0, least, greatest));
    let highest = T::from_low_bits(most.map_or(T::HIGHEST as i32, |most| number_of::<T>(most, least, greatest)));
    let input = ctx.input_at(0)?.clone();
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let slices = Slices::new(input.shape(), None);
    slices.map(ctx, &[(lowest, highest)], input.as_slice::<T>()?, output.as_mut_slice()?, |ends, x: T| {
        x.max(ends.0).min(ends.1)
    });
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, [least, greatest])
}

#[register_kernel(device = Cpu, op = [QuantizedRelu, QuantizedRelu6], Tinput = [QUInt8], out_type = [QUInt8])]
fn relu_bytes<O: Op>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    cut::<QUInt8>(ctx, (O::DEF.name == "QuantizedRelu6").then_some(6.0))
}

#[register_kernel(device = Cpu, op = [QuantizedRelu, QuantizedRelu6], Tinput = [QInt32], out_type = [QInt32])]
fn relu_wide<O: Op>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    cut::<QInt32>(ctx, (O::DEF.name == "QuantizedRelu6").then_some(6.0))
}

/// The same numbers under the shape that input 1 holds.
#[register_kernel(device = Cpu, T = [quint8, qint32])]
fn reshape(ctx: &mut KernelContext<'_, QuantizedReshape>) -> Result<()> {
    let ends = [scalar(ctx, 2, "input_min")?, scalar(ctx, 3, "input_max")?];
    let input = ctx.take_input_at(0)?;
    let shape = kernlink_geometry::reshape::reshaped(input.shape(), ctx.input_at(1)?)?;
    ctx.set_output_at(0, input.reshaped(shape)?)?;
    set_range(ctx, 1, ends)
}

#[register_kernel(device = Cpu, T = [QUInt8, QInt32])]
fn concat<T: Element + Quantized>(ctx: &mut KernelContext<'_, QuantizedConcat>) -> Result<()> {
    let count = (ctx.num_inputs() - 1) / 3;
    let dim = ctx.input_at(0)?;
    ensure_scalar(dim, "concat_dim")?;
    let dim = dim.to_scalar::<i32>()?;
    ensure!(dim >= 0, InvalidArgument, "concat_dim must be at least 0, not {dim}: it may not be counted from the end");
    let joined = concatenated(ctx, 1..1 + count, 0, "concat_dim")?;
    let end = |index: usize, name: &str| scalar(ctx, index, name);
    let least = scratch::collected_ok((0..count).map(|index| end(1 + count + index, "input_mins")))?;
    let greatest = scratch::collected_ok((0..count).map(|index| end(1 + 2 * count + index, "input_maxes")))?;
    // Zero is not below the range.
    let mut whole = [least.iter().copied().fold(0.0, min), greatest.iter().copied().fold(f32::MIN, max)];
    if T::LOWEST < 0 {
        let most = max(whole[0].abs(), whole[1].abs());
        whole = [-most, most];
    }
    let to = ToNumbers::new::<T>(whole[0], whole[1]);
    let mut output = ctx.allocate_output_at(0, joined.shape.clone())?;
    let target = output.as_mut_slice::<T>()?;
    let width = target.len() / joined.rows.max(1);
    let mut parts = scratch::room(joined.filled.len())?;
    let mut start = 0;
    for &index in &joined.filled {
        let numbers = ctx.input_at(index)?.as_slice::<T>()?;
        let range = [least[index - 1], greatest[index - 1]];
        let own = numbers.len() / joined.rows;
        let way = (range != whole).then(|| ToValues::new::<T>(range[0], range[1]));
        parts.push((numbers, own, start, way));
        start += own;
    }
    ctx.parallel_chunks(target, width.max(1), 1, |first, target| {
        for (row, target) in target.chunks_mut(width.max(1)).enumerate() {
            let row = first / width + row;
            for &(numbers, own, start, way) in &parts {
                let (from, to_part) = (&numbers[row * own..][..own], &mut target[start..][..own]);
                match way {
                    None => to_part.copy_from_slice(from),
                    Some(way) => each(from, to_part, &(way, to), |way: &(ToValues, ToNumbers), x: T| {
                        T::from_low_bits(way.1.number(way.0.value(x.get())))
                    }),
                }
            }
        }
    });
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, whole)
}
