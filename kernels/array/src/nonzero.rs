//! Where: the positions of elements that are not zero.

use std::marker::PhantomData;

use bytemuck::AnyBitPattern;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Dimensions that an input has at most.
const MAX_RANK: usize = 8;

/// Elements that are looked at together.
const BLOCK: usize = 64;

/// Elements as words of a type of integers, several for a complex one.
struct Words<'a, W> {
    bytes: &'a [u8],
    /// The bits that a zero lacks: a floating zero may have a sign.
    mask: u64,
    /// Words of an element.
    parts: usize,
    word: PhantomData<W>,
}

impl<W: AnyBitPattern + Into<u64>> Words<'_, W> {
    /// Calls `found` with each block of elements and a bit for each of them, the lowest for the first: whether it is not
    /// zero.
    #[inline(always)]
    fn blocks(&self, mut found: impl FnMut(usize, u64)) {
        let size = size_of::<W>();
        for (block, bytes) in self.bytes.chunks(BLOCK * self.parts * size).enumerate() {
            let mut flags = [0u8; BLOCK];
            if self.parts == 1 {
                // All at once, by wide instructions.
                for (flag, word) in flags.iter_mut().zip(bytes.chunks_exact(size)) {
                    *flag = u8::from(bytemuck::pod_read_unaligned::<W>(word).into() & self.mask != 0);
                }
            } else {
                for (index, word) in bytes.chunks_exact(size).enumerate() {
                    flags[index / self.parts] |=
                        u8::from(bytemuck::pod_read_unaligned::<W>(word).into() & self.mask != 0);
                }
            }
            let mut bits = 0;
            for (index, &eight) in flags.as_chunks::<8>().0.iter().enumerate() {
                // The product has the flags as its highest bits, the first as the lowest of them.
                let eight = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                bits |= eight << (8 * index);
            }
            found(block * BLOCK, bits);
        }
    }
}

/// What is done with the blocks of elements, whatever they are.
trait Visit {
    fn visit<W: AnyBitPattern + Into<u64>>(self, words: &Words<'_, W>);
}

/// Has `visit` look at all elements.
fn look(tensor: &Tensor, visit: impl Visit) -> Result<()> {
    use DataType::*;
    let bytes = tensor.bytes()?;
    fn words<W>(bytes: &[u8], mask: u64, parts: usize) -> Words<'_, W> {
        Words { bytes, mask, parts, word: PhantomData }
    }
    match tensor.dtype() {
        Bfloat16 => visit.visit(&words::<u16>(bytes, 0x7fff, 1)),
        Float => visit.visit(&words::<u32>(bytes, 0x7fff_ffff, 1)),
        Double => visit.visit(&words::<u64>(bytes, i64::MAX as u64, 1)),
        Complex64 => visit.visit(&words::<u64>(bytes, 0x7fff_ffff_7fff_ffff, 1)),
        Complex128 => visit.visit(&words::<u64>(bytes, i64::MAX as u64, 2)),
        dtype => match dtype.size() {
            1 => visit.visit(&words::<u8>(bytes, u64::MAX, 1)),
            2 => visit.visit(&words::<u16>(bytes, u64::MAX, 1)),
            4 => visit.visit(&words::<u32>(bytes, u64::MAX, 1)),
            8 => visit.visit(&words::<u64>(bytes, u64::MAX, 1)),
            _ => bail!(InvalidArgument, "{dtype} has no zero"),
        },
    }
    Ok(())
}

/// Counts the elements that are not zero.
struct Count<'a>(&'a mut usize);

impl Visit for Count<'_> {
    fn visit<W: AnyBitPattern + Into<u64>>(self, words: &Words<'_, W>) {
        words.blocks(|_, bits| *self.0 += bits.count_ones() as usize);
    }
}

/// Writes where the elements are that are not zero, a row for each.
struct Place<'a> {
    shape: &'a Shape,
    rows: &'a mut [i64],
}

impl Visit for Place<'_> {
    fn visit<W: AnyBitPattern + Into<u64>>(self, words: &Words<'_, W>) {
        let rank = self.shape.rank();
        if rank == 1 {
            let mut rows = self.rows.iter_mut();
            return words.blocks(|first, mut bits| {
                for row in rows.by_ref().take(bits.count_ones() as usize) {
                    *row = first as i64 + i64::from(bits.trailing_zeros());
                    bits &= bits - 1;
                }
            });
        }
        let (&columns, outer) = self.shape.split_last().unwrap_or((&1, &[]));
        let mut rows = self.rows.chunks_exact_mut(rank);
        // Where in the outer dimensions the last one was, and the first element there.
        let (mut prefix, mut start, mut end) = ([0; MAX_RANK], 0, 0);
        words.blocks(|first, mut bits| {
            for row in rows.by_ref().take(bits.count_ones() as usize) {
                let index = first + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if index >= end {
                    let mut rest = index / columns;
                    (start, end) = (rest * columns, (rest + 1) * columns);
                    for (place, &dim) in prefix.iter_mut().zip(outer).rev() {
                        *place = (rest % dim) as i64;
                        rest /= dim;
                    }
                }
                for (place, &outer) in row.iter_mut().zip(&prefix) {
                    *place = outer;
                }
                row[rank - 1] = (index - start) as i64;
            }
        });
    }
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
    ensure!((1..=MAX_RANK).contains(&rank), InvalidArgument, "WhereOp : Unhandled input dimensions: {rank}");
    let mut count = 0;
    look(input, Count(&mut count))?;
    let mut output = ctx.allocate_output(ops::Where::INDEX, [count, rank])?;
    look(input, Place { shape: input.shape(), rows: output.as_mut_slice()? })?;
    ctx.set_output(ops::Where::INDEX, output)
}

#[cfg(test)]
mod tests {
    use kernlink::dtype::{Complex64, Element};

    use super::*;

    fn are_found<T: Element + PartialEq>(elements: &[T], zero: &T, shape: impl Into<Shape>) {
        let tensor = Tensor::from_elements(shape, elements).unwrap();
        let shape = tensor.shape();
        let expected = (0..elements.len()).filter(|&index| elements[index] != *zero).flat_map(|index| {
            let strides = shape.strides();
            (0..shape.rank()).map(move |axis| (index / strides[axis] % shape[axis]) as i64).collect::<Vec<_>>()
        });
        let expected = expected.collect::<Vec<_>>();
        let mut count = 0;
        look(&tensor, Count(&mut count)).unwrap();
        let mut rows = vec![-1; count * shape.rank()];
        look(&tensor, Place { shape, rows: &mut rows }).unwrap();
        assert_eq!(rows, expected, "{shape}");
    }

    #[test]
    fn what_is_not_zero_is_found_in_any_block_and_shape() {
        let is_there = |i: i32| i % 7 < 3 || (100..170).contains(&i);
        for shape in [&[240][..], &[1, 240], &[240, 1], &[3, 80], &[2, 3, 40], &[5, 4, 3, 2, 2]] {
            let shape = || Shape::from(shape);
            are_found(&(0..240).map(is_there).collect::<Vec<_>>(), &false, shape());
            are_found(&(0..240).map(|i| i16::from(is_there(i)) << 9).collect::<Vec<_>>(), &0, shape());
            are_found(&(0..240).map(|i| i64::from(is_there(i)) << 40).collect::<Vec<_>>(), &0, shape());
            let floats = (0..240).map(|i| if is_there(i) { -0.0 } else { f32::NAN }).collect::<Vec<_>>();
            are_found(&floats, &0.0, shape());
            let complex =
                (0..240).map(|i| Complex64::new(f64::from(i % 3), f64::from(i % 2) * -0.0)).collect::<Vec<_>>();
            are_found(&complex, &Complex64::new(0.0, 0.0), shape());
        }
        are_found(&[true; 64], &false, [64]);
        are_found::<u8>(&[], &0, [0]);
        are_found::<u8>(&[], &0, [3, 0]);
    }
}
