//! RandomIndexShuffle: a permutation of numbers of some bits, by the Simon cipher, walked until the number is in range.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::RandomIndexShuffle as Op;

/// A cipher of blocks of two words.
struct Cipher {
    bits: u32,
    keys: Vec<u64>,
}

impl Cipher {
    /// A cipher for numbers up to `greatest`.
    fn new(greatest: u64, seed: [u64; 3], rounds: usize) -> Cipher {
        // As TensorFlow has it: beyond 2^52 not exact.
        let block = (greatest as f64).log2().ceil() as u32;
        let bits = block.next_multiple_of(2).max(16) / 2;
        let mask = (1 << bits) - 1;
        let mut cipher = Cipher { bits, keys: seed.iter().map(|key| key & 0xffff_ffff & mask).collect() };
        let mut constants = 0x7369_f885_192c_0ef5 & mask;
        for round in 3..rounds {
            let last = cipher.keys[round - 1];
            let key = 0xffff_fffc
                ^ constants & 1
                ^ cipher.keys[round - 3]
                ^ cipher.left(last, bits - 3)
                ^ cipher.left(last, bits - 4);
            cipher.keys.push(key & mask);
            constants >>= 1;
        }
        cipher
    }

    /// A word turned to the left.
    fn left(&self, word: u64, by: u32) -> u64 {
        (word << by | word >> (self.bits - by)) & ((1 << self.bits) - 1)
    }

    fn mix(&self, word: u64) -> u64 {
        self.left(word, 1) & self.left(word, 8) ^ self.left(word, 2)
    }

    fn encrypt(&self, block: u64) -> u64 {
        let mask = (1 << self.bits) - 1;
        let (mut left, mut right) = (block >> self.bits & mask, block & mask);
        for keys in self.keys.chunks_exact(2) {
            left ^= self.mix(right) ^ keys[0];
            right ^= self.mix(left) ^ keys[1];
        }
        left << self.bits | right
    }
}

/// The elements of a tensor of integers, as 64 bits.
fn elements(tensor: &Tensor) -> Result<Vec<u64>> {
    Ok(match tensor.dtype() {
        DataType::Uint32 => scratch::collected(tensor.as_slice::<u32>()?.iter().map(|&value| value.into()))?,
        DataType::Uint64 => scratch::copied(tensor.as_slice::<u64>()?)?,
        _ => scratch::collected(tensor.to_i64_vec()?.into_iter().map(|value| value as u64))?,
    })
}

struct IndexShuffle {
    rounds: usize,
}

#[register_kernel(device = Cpu, dtype = [int32, int64, uint32, uint64])]
impl OpKernel<Op> for IndexShuffle {
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
            shuffled.push(match greatest {
                0 => 0,
                _ => {
                    let cipher = Cipher::new(greatest, [seed[0], seed[1], seed[2]], self.rounds);
                    let mut place = cipher.encrypt(index);
                    while place > greatest {
                        place = cipher.encrypt(place);
                    }
                    place
                }
            });
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
