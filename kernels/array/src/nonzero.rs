//! Where: the positions of elements that are not zero.

use bytemuck::AnyBitPattern;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Calls `found` with the index of every element that is not zero. `mask` has the bits that a zero lacks: a floating
/// zero may have a sign.
fn scan<W: AnyBitPattern + Into<u64>>(bytes: &[u8], mask: u64, mut found: impl FnMut(usize)) {
    for (index, word) in bytes.chunks_exact(size_of::<W>()).enumerate() {
        if bytemuck::pod_read_unaligned::<W>(word).into() & mask != 0 {
            found(index);
        }
    }
}

/// Calls `found` with the index of every element that is not zero.
fn for_each_nonzero(tensor: &Tensor, mut found: impl FnMut(usize)) -> Result<()> {
    use DataType::*;
    let bytes = tensor.bytes()?;
    match tensor.dtype() {
        Bfloat16 => scan::<u16>(bytes, 0x7fff, found),
        Float => scan::<u32>(bytes, 0x7fff_ffff, found),
        Double => scan::<u64>(bytes, i64::MAX as u64, found),
        Complex64 => scan::<u64>(bytes, 0x7fff_ffff_7fff_ffff, found),
        Complex128 => {
            let mut last = None;
            scan::<u64>(bytes, i64::MAX as u64, |part| {
                if last.replace(part / 2) != Some(part / 2) {
                    found(part / 2);
                }
            });
        }
        dtype => match dtype.size() {
            1 => scan::<u8>(bytes, u64::MAX, found),
            2 => scan::<u16>(bytes, u64::MAX, found),
            4 => scan::<u32>(bytes, u64::MAX, found),
            8 => scan::<u64>(bytes, u64::MAX, found),
            _ => bail!(InvalidArgument, "{dtype} has no zero"),
        },
    }
    Ok(())
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64])]
fn where_kernel(ctx: &mut KernelContext<'_, ops::Where>) -> Result<()> {
    let input = ctx.input(ops::Where::INPUT)?;
    let rank = input.rank();
    ensure!(
        input.dtype() != DataType::Half,
        Unimplemented,
        "Where on half is not available on CPU: TensorFlow refuses it too"
    );
    ensure!((1..=8).contains(&rank), InvalidArgument, "WhereOp : Unhandled input dimensions: {rank}");
    let mut count = 0;
    for_each_nonzero(input, |_| count += 1)?;
    let mut output = ctx.allocate_output(ops::Where::INDEX, [count, rank])?;
    let mut rows = output.as_mut_slice::<i64>()?.chunks_exact_mut(rank);
    for_each_nonzero(input, |mut index| {
        if let Some(row) = rows.next() {
            for (place, &dim) in row.iter_mut().zip(input.shape().iter()).rev() {
                *place = (index % dim) as i64;
                index /= dim;
            }
        }
    })?;
    ctx.set_output(ops::Where::INDEX, output)
}
