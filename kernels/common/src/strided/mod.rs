//! How copies between strided boxes of two tensors are run: what transposing, slicing, joining, tiling, broadcasting,
//! padding and their kin come down to.

mod bytes;
mod objects;

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::rearranged::{Elements, Rearranged};
pub use kernlink_geometry::strided::StridedCopy;
use kernlink_geometry::strided::{Step, Steps};
use smallvec::SmallVec;

use super::element::{bytes_mut, match_objects};

/// How a copy is run on the processor.
pub trait Run {
    /// Copies. The box must not meet an element of the target twice.
    ///
    /// # Errors
    /// INTERNAL if the box does not fit the tensors: a kernel computed it wrongly.
    fn run(&self, ctx: &RawContext<'_>, target: &mut Tensor, source: &Tensor) -> Result<()>;
}

impl Run for StridedCopy {
    fn run(&self, ctx: &RawContext<'_>, target: &mut Tensor, source: &Tensor) -> Result<()> {
        let Some(steps) = self.checked(target, source)? else { return Ok(()) };
        let (dtype, first, from) = (target.dtype(), self.target, self.source);
        match_objects!(dtype, T => {
            objects::copy(&steps, &mut target.as_mut_slice::<T>()?[first..], source.as_slice::<T>()?, from);
        }, _ => {
            let source = source.bytes()?;
            // SAFETY: only bytes of elements of the same dtype are written.
            let target = unsafe { bytes_mut(target)? };
            // SAFETY: `checked` found that the box fits both slices and meets no target element twice.
            unsafe { bytes::copy(ctx, &steps, target, first, source, from, dtype.size()) };
        });
        Ok(())
    }
}

/// Sets all elements of `target` to the one element of `value`.
///
/// # Errors
/// INTERNAL if they have different dtypes.
pub fn fill(ctx: &RawContext<'_>, target: &mut Tensor, value: &Tensor) -> Result<()> {
    StridedCopy::new(0, 0).step(target.num_elements(), 1, 0).run(ctx, target, value)
}

/// The tensor that becomes of `input`, for output `index`.
pub fn arranged(ctx: &RawContext<'_>, index: usize, input: Tensor, to: Rearranged) -> Result<Tensor> {
    arranged_in(ctx, input, to, |shape| ctx.allocate_output_at(index, shape))
}

/// Bytes of neighbouring elements that are worth sharing and not copying.
const WORTH_SHARING: usize = 4096;
/// How many times as large the tensor may be whose elements are shared: as long as some of them are in use, all are kept.
const KEPT: usize = 32;

/// The tensor that becomes of `input`, in memory that `allocate` gives if it needs any.
pub fn arranged_in(
    ctx: &RawContext<'_>,
    input: Tensor,
    to: Rearranged,
    allocate: impl FnOnce(Shape) -> Result<Tensor>,
) -> Result<Tensor> {
    let Rearranged { shape, elements } = to;
    match elements {
        Elements::Same => input.reshaped(shape),
        Elements::Rows(rows) => input.slice_rows(rows.start, rows.end)?.reshaped(shape),
        Elements::Copied(copy) => {
            let (all, count) = (input.num_elements(), shape.num_elements());
            if let Some(first) = copy.run_of(count)
                && input.dtype().is_pod()
                && all / KEPT <= count
                && count.saturating_mul(input.dtype().size()) >= WORTH_SHARING
            {
                return input.reshaped([all])?.slice_rows(first, first + count)?.reshaped(shape);
            }
            let mut output = allocate(shape)?;
            copy.run(ctx, &mut output, &input)?;
            Ok(output)
        }
    }
}

/// Sets output 0 to what becomes of input `index`.
pub fn rearrange(ctx: &mut RawContext<'_>, index: usize, to: Rearranged) -> Result<()> {
    let input = ctx.take_input_at(index)?;
    let output = arranged(ctx, 0, input, to)?;
    ctx.set_output_at(0, output)
}

/// Where the outer loops of a copy stand.
struct Odometer<'a> {
    steps: &'a [Step],
    turns: SmallVec<[usize; 6]>,
    target: usize,
    source: isize,
}

impl<'a> Odometer<'a> {
    /// After `turns` turns of the innermost of `steps`.
    fn at(steps: &'a [Step], mut turns: usize) -> Odometer<'a> {
        let mut odometer = Odometer { steps, turns: SmallVec::from_elem(0, steps.len()), target: 0, source: 0 };
        for (step, turn) in steps.iter().zip(odometer.turns.iter_mut()).rev() {
            *turn = turns % step.count;
            turns /= step.count;
            odometer.target += *turn * step.target;
            odometer.source += *turn as isize * step.source;
        }
        odometer
    }

    fn advance(&mut self) {
        for (step, turn) in self.steps.iter().zip(self.turns.iter_mut()).rev() {
            *turn += 1;
            self.target += step.target;
            self.source += step.source;
            if *turn < step.count {
                return;
            }
            *turn = 0;
            self.target -= step.count * step.target;
            self.source -= step.count as isize * step.source;
        }
    }
}

#[cfg(test)]
mod tests {
    use kernlink::dtype::{DataType, TString};
    use kernlink::op::{OpDef, Signature};
    use kernlink_geometry::rearranged::transposed;

    use super::*;

    /// Elements `0..count` as a tensor of a dtype.
    fn numbered(dtype: DataType, count: usize) -> Tensor {
        match dtype {
            DataType::Bool => Tensor::vector(&(0..count).map(|i| i % 3 == 0).collect::<Vec<_>>()).unwrap(),
            DataType::String => {
                Tensor::vector(&(0..count).map(|i| TString::from(i.to_string())).collect::<Vec<_>>()).unwrap()
            }
            dtype => {
                let mut tensor = Tensor::zeros(dtype, [count]).unwrap();
                let width = dtype.size();
                for (i, element) in tensor.bytes_mut().unwrap().chunks_exact_mut(width).enumerate() {
                    element.fill(0x5a);
                    let number = (i as u32).to_le_bytes();
                    element[..width.min(4)].copy_from_slice(&number[..width.min(4)]);
                }
                tensor
            }
        }
    }

    /// Copies as the steps say, one element after the other.
    fn simple(copy: &StridedCopy, target: usize, source: &Tensor) -> Vec<String> {
        let mut elements = vec![Tensor::zeros(source.dtype(), [1]).unwrap().element_text(0); target];
        for turn in 0..copy.steps.iter().map(|step| step.count).product() {
            let place = Odometer::at(&copy.steps, turn);
            let from = (copy.source as isize + place.source) as usize;
            elements[copy.target + place.target] = source.element_text(from);
        }
        elements
    }

    #[test]
    fn all_ways_to_copy_agree_with_the_simple_one() {
        let copies = [
            // Runs, long and short, with gaps; a fill; a broadcast; a reversal.
            (StridedCopy::new(3, 5).step(7, 40, 30).step(20, 1, 1), 283, 205),
            (StridedCopy::new(0, 0).step(50, 4, 3).step(3, 1, 1), 200, 150),
            (StridedCopy::new(0, 0).step(70_001, 1, 0), 70_001, 1),
            (StridedCopy::new(0, 0).step(30_000, 1, 1), 30_000, 30_000),
            (StridedCopy::new(0, 0).step(9, 12, 1).step(12, 1, 0), 108, 9),
            (StridedCopy::new(0, 0).step(9, 12, 0).step(12, 1, 1), 108, 12),
            (StridedCopy::new(0, 20_000).step(20_001, 1, -1), 20_001, 20_001),
            // Transpositions, of tiles that are whole and cut, and with a third loop in each place.
            (StridedCopy::new(0, 0).step(150, 131, 1).step(131, 1, 150), 19_650, 19_650),
            (StridedCopy::new(0, 0).step(5, 640, 640).step(40, 16, 1).step(16, 1, 40), 3_200, 3_200),
            (StridedCopy::new(0, 0).step(40, 48, 1).step(3, 16, 640).step(16, 1, 40), 1_920, 1_920),
            (StridedCopy::new(0, 0).step(16, 120, 40).step(40, 3, 1).step(3, 1, 640), 1_920, 1_920),
            (StridedCopy::new(0, 9).step(16, 20, 1).step(10, 2, 16), 320, 169),
            // Transpositions whose rows are a power of two apart.
            (StridedCopy::new(0, 0).step(1024, 33, 1).step(33, 1, 1024), 33_792, 33_792),
            (StridedCopy::new(0, 0).step(33, 1024, 1).step(1024, 1, 33), 33_792, 33_792),
        ];
        let pool = kernlink::threads::ThreadPool::new("test", 2);
        let signature = Signature::default();
        for dtype in [
            DataType::Bool,
            DataType::Uint8,
            DataType::Uint16,
            DataType::Uint32,
            DataType::Uint64,
            DataType::Complex128,
            DataType::String,
        ] {
            for (copy, target, source) in &copies {
                let source = numbered(dtype, *source);
                let expected = simple(copy, *target, &source);
                for pool in [None, Some(&pool)] {
                    let ctx = RawContext::new("node", &OpDef::EMPTY, &signature, &mut [], &mut [], pool);
                    let mut output = Tensor::zeros(dtype, [*target]).unwrap();
                    copy.run(&ctx, &mut output, &source).unwrap();
                    for (i, expected) in expected.iter().enumerate() {
                        assert_eq!(output.element_text(i), *expected, "element {i} of {dtype} after {copy:?}");
                    }
                }
            }
        }
    }

    /// The bytes of a tensor of `shape` and elements of `width` bytes after its axes have been put in the order
    /// `order`, element by element.
    fn permuted(bytes: &[u8], width: usize, shape: &[usize], order: &[usize]) -> Vec<u8> {
        let mut strides = vec![width; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        let mut permuted = Vec::with_capacity(bytes.len());
        for element in 0..bytes.len() / width {
            let (mut rest, mut from) = (element, 0);
            for &axis in order.iter().rev() {
                from += rest % shape[axis] * strides[axis];
                rest /= shape[axis];
            }
            permuted.extend_from_slice(&bytes[from..from + width]);
        }
        permuted
    }

    /// All orders of `rank` axes.
    fn orders(rank: usize) -> Vec<Vec<usize>> {
        if rank == 0 {
            return vec![vec![]];
        }
        let smaller = orders(rank - 1);
        smaller
            .iter()
            .flat_map(|order| {
                (0..rank).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, rank - 1);
                    order
                })
            })
            .collect()
    }

    #[test]
    fn transpositions_are_right_at_the_edges_of_tiles() {
        let pool = kernlink::threads::ThreadPool::new("test", 2);
        let signature = Signature::default();
        let check = |dtype: DataType, shape: &[usize], order: &[usize]| {
            let count = shape.iter().product::<usize>();
            let mut source = Tensor::zeros(dtype, Shape::from(shape)).unwrap();
            // No period that a wrong stride could hide in.
            let mut state = 1_u64;
            for byte in source.bytes_mut().unwrap() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (state >> 56) as u8;
            }
            let expected = permuted(source.bytes().unwrap(), dtype.size(), shape, order);
            assert_eq!(expected.len(), count * dtype.size());
            let perm = Tensor::vector(&order.iter().map(|&axis| axis as i32).collect::<Vec<_>>()).unwrap();
            for pool in [None, Some(&pool)] {
                let ctx = RawContext::new("node", &OpDef::EMPTY, &signature, &mut [], &mut [], pool);
                let to = transposed(source.shape(), &perm).unwrap();
                let allocate = |shape| Tensor::zeros(dtype, shape);
                let output = arranged_in(&ctx, source.clone(), to, allocate).unwrap();
                // Not `assert_eq`: a message with all elements would not be read.
                assert!(output.bytes().unwrap() == expected, "{dtype} of {shape:?} in the order {order:?}");
            }
        };
        for dtype in [DataType::Uint8, DataType::Uint16, DataType::Uint32, DataType::Uint64, DataType::Complex128] {
            let (side, short) = (bytes::side(dtype.size()), bytes::SHORT);
            let edges = [1, short - 1, short, short + 1, side - 1, side, side + 1, 2 * side, 2 * side + 1];
            for rows in edges {
                for columns in edges {
                    check(dtype, &[rows, columns], &[1, 0]);
                }
            }
            for order in [orders(3), orders(4)].concat() {
                let last = order.len() - 1;
                for (rows, columns) in [(side - 1, side + 1), (side, side), (side + 1, short - 1)] {
                    // The axes that tiles are made of are the last one of each side; the others are short.
                    let mut shape = [2, 3, 2, 3][..=last].to_vec();
                    shape[last] = columns;
                    shape[order[last]] = rows;
                    check(dtype, &shape, &order);
                }
            }
        }
    }

    #[test]
    fn an_odometer_goes_through_all_positions() {
        let steps = [Step { count: 2, target: 10, source: -5 }, Step { count: 3, target: 1, source: 2 }];
        let mut running = Odometer::at(&steps, 0);
        for turn in 0..6 {
            let direct = Odometer::at(&steps, turn);
            assert_eq!((running.target, running.source), (direct.target, direct.source));
            running.advance();
        }
    }
}
