//! RandomIndexShuffle: a permutation of numbers of some bits, by the Simon cipher, walked until the number is in range.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_geometry::random::index_shuffle::IndexShuffle;
use kernlink_macros::register_kernel;
use kernlink_ops::RandomIndexShuffle as Op;

/// The elements of a tensor of integers, as 64 bits.
fn elements(tensor: &Tensor) -> Result<Vec<u64>> {
    Ok(match tensor.dtype() {
        DataType::Uint32 => scratch::collected(tensor.as_slice::<u32>()?.iter().map(|&value| value.into()))?,
        DataType::Uint64 => scratch::copied(tensor.as_slice::<u64>()?)?,
        _ => scratch::collected(tensor.to_i64_vec()?.into_iter().map(|value| value as u64))?,
    })
}

struct IndexShuffleKernel {
    rounds: usize,
}

#[register_kernel(device = Cpu, dtype = [int32, int64, uint32, uint64])]
impl OpKernel<Op> for IndexShuffleKernel {
    fn new(ctx: &KernelConstruction<'_, Op>) -> Result<Self> {
        let rounds = ctx.attrs().rounds;
        // TensorFlow computes something for other numbers, from memory that is not the cipher's.
        ensure!(
            (4..=1 << 16).contains(&rounds) && rounds % 2 == 0,
            InvalidArgument,
            "rounds must be even and at least 4, not {rounds}"
        );
        Ok(Self { rounds: rounds as usize })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Op>) -> Result<()> {
        let tensors = [ctx.input(Op::INDEX)?, ctx.input(Op::SEED)?, ctx.input(Op::MAX_INDEX)?];
        let [index, seed, greatest] = tensors.map(Tensor::shape);
        let scalar = index.rank() == 0 && seed.rank() == 1 && greatest.rank() == 0;
        let count = index.num_elements().max(greatest.num_elements()).max(seed.num_elements() / 3);
        for (shape, name) in [(index, "index"), (greatest, "max_index")] {
            let fits = shape.rank() == 0 || shape.dims() == [count];
            ensure!(fits, InvalidArgument, "{name} must be a scalar or have shape [{count}], not {shape}");
        }
        let fits = seed.dims() == [3] || seed.dims() == [count, 3];
        ensure!(fits, InvalidArgument, "seed must have shape [3] or [{count}, 3], not {seed}");
        let dtype = tensors[0].dtype();
        let signed = matches!(dtype, DataType::Int32 | DataType::Int64);
        let [index, seed, greatest] = [elements(tensors[0])?, elements(tensors[1])?, elements(tensors[2])?];
        let mut shuffled = scratch::room(count)?;
        for i in 0..count {
            let at = |values: &[u64]| values[if values.len() == 1 { 0 } else { i }];
            let (index, greatest) = (at(&index), at(&greatest));
            if signed {
                ensure!(index as i64 >= 0, InvalidArgument, "index must be >= 0 but was {}", index as i64);
                ensure!(greatest as i64 >= 0, InvalidArgument, "max_index must be >= 0 but was {}", greatest as i64);
            }
            ensure!(greatest >= index, InvalidArgument, "max_index must be >= index, but {greatest} < {index}");
            let seed = if seed.len() == 3 { &seed[..] } else { &seed[3 * i..3 * i + 3] };
            shuffled.push(IndexShuffle::new(greatest, [seed[0], seed[1], seed[2]], self.rounds).place(index));
        }
        let output = match dtype {
            DataType::Int32 => Tensor::vector(&scratch::collected(shuffled.iter().map(|&place| place as i32))?)?,
            DataType::Uint32 => Tensor::vector(&scratch::collected(shuffled.iter().map(|&place| place as u32))?)?,
            DataType::Int64 => Tensor::vector(&scratch::collected(shuffled.iter().map(|&place| place as i64))?)?,
            DataType::Uint64 => Tensor::vector(&shuffled)?,
            other => bail!(Unimplemented, "dtype {other} is not supported"),
        };
        ctx.set_output(Op::OUTPUT, if scalar { output.reshaped([])? } else { output })
    }
}
