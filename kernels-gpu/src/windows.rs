//! Tensors that are larger than what a shader can be bound to: kernels run once for each window of them.
//!
//! The elements of such a tensor lie in one buffer, of which a dispatch binds an aligned part. Most kernels go through
//! their tensors from front to back, so that the same recording serves a window, which counts from 0; they say which of
//! their tensors they go through ([`GpuDevice::in_windows`]). A kernel that reads here and there takes pieces of its own
//! ([`GpuDevice::with_pieces`]). What binds a large tensor as a whole is refused by the dispatch.

use std::ops::Range;

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar};
use crate::transfer::device_bytes;

/// May only lower what is bound at once, in bytes: for tests.
pub(crate) const VARIABLE: &str = "KERNLINK_GPU_BINDING_LIMIT";

/// The least that is bound at once: a whole number of the largest alignment that devices ask for.
const LEAST: u64 = 256;

/// What a shader is bound to at most, in bytes, and where in a buffer that may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) binding: usize,
    pub(crate) alignment: usize,
    /// The bytes of the largest buffer.
    pub(crate) buffer: usize,
}

impl Limits {
    /// Shaders count elements in 32 bits, some with a sign: beyond 2^31 bytes no device is asked for more.
    pub(crate) fn new(limits: &wgpu::Limits) -> Limits {
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(i32::MAX as u64);
        let own = Limits {
            binding: (most / LEAST * LEAST) as usize,
            // Whole vectors, whatever the device says.
            alignment: limits.min_storage_buffer_offset_alignment.max(32) as usize,
            buffer: usize::try_from(limits.max_buffer_size & !3).unwrap_or(usize::MAX),
        };
        let wanted = std::env::var(VARIABLE).ok().and_then(|bytes| bytes.parse().ok());
        wanted.map_or(own, |bytes| own.lowered(bytes))
    }

    /// The same with another limit, if that is lower.
    pub(crate) fn lowered(self, binding: usize) -> Limits {
        let least = LEAST as usize;
        Limits { binding: self.binding.min((binding / least * least).max(least)), ..self }
    }

    /// The bytes that go from or to the host at once.
    pub(crate) fn piece(&self) -> usize {
        self.binding.min(16 << 20)
    }
}

/// What is recorded for a window: which things they are, and the tensors with these alone.
type Each<'e> = &'e mut dyn FnMut(Range<usize>, &[&Tensor]) -> Result<()>;

/// A tensor of a kernel, and what becomes of it from window to window.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    tensor: &'a Tensor,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Whole,
    Read,
    Written,
}

/// A tensor that every window needs.
pub(crate) fn whole(tensor: &Tensor) -> Part<'_> {
    Part { tensor, role: Role::Whole }
}

/// A tensor that is read from front to back.
pub(crate) fn read(tensor: &Tensor) -> Part<'_> {
    Part { tensor, role: Role::Read }
}

/// A tensor that is written from front to back.
pub(crate) fn written(tensor: &Tensor) -> Part<'_> {
    Part { tensor, role: Role::Written }
}

/// A tensor that is read from front to back if it moves, or else is needed by every window.
pub(crate) fn read_if(moves: bool, tensor: &Tensor) -> Part<'_> {
    Part { tensor, role: if moves { Role::Read } else { Role::Whole } }
}

/// Some elements of a tensor that follow each other.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) tensor: &'a Tensor,
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) written: bool,
}

impl<'a> Piece<'a> {
    /// All of a tensor.
    pub(crate) fn all(tensor: &'a Tensor) -> Piece<'a> {
        Piece { tensor, first: 0, count: tensor.num_elements(), written: false }
    }
}

/// The program that copies elements of two bytes, wherever they begin.
fn halves((): ()) -> Program {
    const BODY: &str = "fn element(i: u32) { y[i + params.target_place] = x[i + params.source_place]; }";
    let program = Program::trusted("copy of halves").read("x", Scalar::F16).write("y", Scalar::F16);
    program.words("source_place target_place").build(Entry::Elements, BODY)
}

fn bytes_of(tensor: &Tensor) -> usize {
    device_bytes(tensor.dtype(), tensor.num_elements())
}

/// The least number of things of `bytes` bytes that are a multiple of `alignment`, a power of two.
fn multiple(alignment: usize, bytes: usize) -> usize {
    alignment >> bytes.trailing_zeros().min(alignment.trailing_zeros())
}

impl GpuDevice {
    /// Whether a shader can be bound to all of a tensor.
    pub(crate) fn fits(&self, tensor: &Tensor) -> bool {
        bytes_of(tensor) <= self.gpu.limits.binding
    }

    /// Whether a shader can be bound to all of each.
    pub(crate) fn fit(&self, tensors: &[&Tensor]) -> bool {
        tensors.iter().all(|tensor| self.fits(tensor))
    }

    /// Records with `each` what is to be done for `units` things that lie one after the other in the tensors that are
    /// read or written from front to back: for all at once where that can be bound, or else for one window after the
    /// other. `each` is told which things they are and gets the tensors with these alone, as vectors.
    ///
    /// # Errors
    /// Those of `each`, which are those of a tensor that is too large, too, if a single thing is.
    #[track_caller]
    pub(crate) fn in_windows(
        &self,
        units: usize,
        parts: &[Part<'_>],
        mut each: impl FnMut(Range<usize>, &[&Tensor]) -> Result<()>,
    ) -> Result<()> {
        let tensors: SmallVec<[&Tensor; 8]> = parts.iter().map(|part| part.tensor).collect();
        if self.fit(&tensors) { each(0..units, &tensors) } else { self.one_by_one(units, parts, &tensors, &mut each) }
    }

    #[cold]
    #[track_caller]
    fn one_by_one(&self, units: usize, parts: &[Part<'_>], tensors: &[&Tensor], each: Each<'_>) -> Result<()> {
        // Nothing lies in tensors of which there is nothing; what else is bound has to fit.
        let chunk = if units == 0 { None } else { self.window(units, parts)? };
        let Some(chunk) = chunk else { return each(0..units, tensors) };
        for first in (0..units).step_by(chunk) {
            let range = first..units.min(first + chunk);
            let pieces: SmallVec<[Piece<'_>; 8]> = parts
                .iter()
                .map(|&Part { tensor, role }| match role {
                    Role::Whole => Piece::all(tensor),
                    role => {
                        let unit = tensor.num_elements() / units;
                        Piece { tensor, first: first * unit, count: range.len() * unit, written: role == Role::Written }
                    }
                })
                .collect();
            self.with_pieces(&pieces, |tensors| each(range.clone(), tensors))?;
        }
        Ok(())
    }

    /// How many things a window has, if one fits: so many that the next window begins where the device can bind, or,
    /// if these are too many, can copy.
    #[track_caller]
    pub(crate) fn window(&self, units: usize, parts: &[Part<'_>]) -> Result<Option<usize>> {
        let (mut largest, mut aligned, mut words) = (1, 1, 1);
        for part in parts.iter().filter(|part| part.role != Role::Whole) {
            let elements = part.tensor.num_elements();
            ensure!(
                units > 0 && elements.is_multiple_of(units),
                Internal,
                "{elements} elements are gone through as {units} things"
            );
            let bytes = device_bytes(part.tensor.dtype(), elements / units);
            if bytes > 0 {
                largest = largest.max(bytes);
                aligned = aligned.max(multiple(self.gpu.limits.alignment, bytes));
                words = words.max(multiple(4, bytes));
            }
        }
        let most = self.gpu.limits.binding / largest;
        let step = if aligned <= most { aligned } else { words };
        Ok((most >= step).then(|| most / step * step))
    }

    /// Records a copy of elements of two bytes each from and to where the device cannot copy: by way of where it can bind.
    #[cold]
    #[track_caller]
    pub(crate) fn copy_halves(&self, tensors: [&Tensor; 2], firsts: [usize; 2], count: usize) -> Result<()> {
        let Limits { binding, alignment, .. } = self.gpu.limits;
        let most = binding / 4;
        for done in (0..count).step_by(most) {
            let count = most.min(count - done);
            let firsts = firsts.map(|first| first + done);
            let bound = firsts.map(|first| first / alignment * alignment);
            let piece = |k: usize| {
                let (tensor, first, skipped) = (tensors[k], bound[k], firsts[k] - bound[k]);
                Piece { tensor, first, count: skipped + count, written: k == 1 }
            };
            let params = [0, 1].map(|k| (firsts[k] - bound[k]) as u32);
            self.with_pieces(&[piece(0), piece(1)], |tensors| {
                self.run(halves, (), tensors, &params, Groups::Elements(count))
            })?;
        }
        Ok(())
    }

    /// Records with `each` what is to be done for pieces of tensors, which it gets as vectors. A piece that does not begin
    /// where the device can bind is copied, and back if it is written.
    ///
    /// # Errors
    /// Those of `each`; RESOURCE_EXHAUSTED if there is no memory for copies.
    #[track_caller]
    pub(crate) fn with_pieces(&self, pieces: &[Piece<'_>], each: impl FnOnce(&[&Tensor]) -> Result<()>) -> Result<()> {
        let mut parts: SmallVec<[Tensor; 8]> = SmallVec::new();
        let mut copied: SmallVec<[(usize, &Piece<'_>); 8]> = SmallVec::new();
        for (place, piece) in pieces.iter().enumerate() {
            let &Piece { tensor, first, count, written } = piece;
            if first == 0 && count == tensor.num_elements() {
                parts.push(tensor.clone());
            } else if let Some(view) = self.view(tensor, first, count)? {
                parts.push(view);
            } else {
                let copy = self.allocate(tensor.dtype(), [count])?;
                self.copy_part(tensor, first, &copy, 0, count)?;
                parts.push(copy);
                if written {
                    copied.push((place, piece));
                }
            }
        }
        each(&parts.iter().collect::<SmallVec<[&Tensor; 8]>>())?;
        for (place, piece) in copied {
            self.copy_part(&parts[place], 0, piece.tensor, piece.first, piece.count)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kernlink::device::Device as _;
    use kernlink::dtype::DataType;
    use kernlink::step::block_on;

    use super::*;
    use crate::shader::Shader;
    use crate::testing::limited;

    #[test]
    fn the_shader_of_halves_is_valid() {
        crate::wgsl::check_programs(&[], &["f16"], Ok(vec![halves(())]));
    }

    #[test]
    fn limits_are_only_lowered() {
        let limits = Limits { binding: 1 << 20, alignment: 32, buffer: 1 << 30 };
        assert_eq!(
            [0, 700, 1 << 19, usize::MAX].map(|bytes| limits.lowered(bytes).binding),
            [256, 512, 1 << 19, 1 << 20]
        );
    }

    #[test]
    fn multiples_are_the_least() {
        assert_eq!([1, 2, 4, 12, 24, 256, 512, 768].map(|bytes| multiple(256, bytes)), [256, 128, 64, 64, 32, 1, 1, 1]);
    }

    /// `y[r] = x[r] + addend[0]` for each row, and the number of dispatches.
    fn add(rows: usize, row: usize, limit: usize) -> (Vec<i32>, u64) {
        let gpu = limited(limit);
        let add = Shader::new(
            Program::trusted("add")
                .read("x", Scalar::I32)
                .read("addend", Scalar::I32)
                .write("y", Scalar::I32)
                .param("row", "u32")
                .build(
                    Entry::Rows,
                    "fn row(r: u32, lane: u32) {\n    for (var i = lane; i < params.row; i += WORKGROUP) {\n        \
                     y[r * params.row + i] = x[r * params.row + i] + addend[0];\n    }\n}\n",
                ),
        );
        let numbers: Vec<i32> = (0..(rows * row) as i32).collect();
        let x = gpu.to_device(&Tensor::vector(&numbers).unwrap()).unwrap();
        let addend = gpu.to_device(&Tensor::scalar(7i32)).unwrap();
        let y = gpu.allocate(DataType::Int32, [rows, row]).unwrap();
        let dispatches =
            |gpu: &GpuDevice| gpu.counters().into_iter().find(|(name, _)| *name == "dispatches").unwrap().1;
        let before = dispatches(&gpu);
        gpu.in_windows(rows, &[read(&x), whole(&addend), written(&y)], |range, tensors| {
            gpu.dispatch(&add, tensors, &[row as u32], Groups::Rows(range.len()))
        })
        .unwrap();
        let made = dispatches(&gpu) - before;
        (block_on(gpu.to_host(&y)).unwrap().as_slice::<i32>().unwrap().to_vec(), made)
    }

    #[test]
    fn windows_together_are_the_whole() {
        // Rows that are aligned by themselves, some at a time, and never but for the first, which are copied.
        for (rows, row, windows) in [(100, 64, 25), (1000, 3, 12), (9, 250, 9), (3, 256, 3), (4, 16, 1)] {
            let (sums, made) = add(rows, row, 1024);
            let expected: Vec<i32> = (7..(rows * row) as i32 + 7).collect();
            assert_eq!(sums, expected, "{rows} rows of {row}");
            assert!(made >= windows && (made == 1) == (windows == 1), "{rows} rows of {row}: {made} windows");
        }
    }

    #[test]
    fn what_is_taken_whole_is_refused_with_its_size() {
        let gpu = limited(1024);
        let program = Program::trusted("look").read("x", Scalar::F32).write("y", Scalar::F32);
        let look = Shader::new(program.build(Entry::Elements, "fn element(i: u32) { y[i] = x[i]; }"));
        let (x, y) = (gpu.allocate(DataType::Float, [257]).unwrap(), gpu.allocate(DataType::Float, [257]).unwrap());
        let error = gpu.dispatch(&look, &[&x, &y], &[], Groups::Elements(257)).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::ResourceExhausted);
        for part in ["`look`", "[257]", "1028", "1024"] {
            assert!(error.message().contains(part), "{error}");
        }
        // A row that is larger than a window cannot be cut.
        let whole = gpu.in_windows(1, &[read(&x), written(&y)], |_, tensors| {
            gpu.dispatch(&look, tensors, &[], Groups::Elements(257))
        });
        assert_eq!(whole.unwrap_err().code(), kernlink::Code::ResourceExhausted);
    }

    #[test]
    fn tensors_of_any_size_go_there_and_come_back() {
        let gpu = limited(1024);
        for count in [1, 255, 256, 257, 1024, 5003] {
            let numbers: Vec<i64> = (0..count).collect();
            let tensor = gpu.to_device(&Tensor::vector(&numbers).unwrap()).unwrap();
            assert_eq!(block_on(gpu.to_host(&tensor)).unwrap().as_slice::<i64>().unwrap(), numbers);
            let copy = gpu.copy(&tensor).unwrap();
            assert_eq!(block_on(gpu.to_host(&copy)).unwrap().as_slice::<i64>().unwrap(), numbers);
            let bools: Vec<bool> = (0..count).map(|i| i % 3 == 0).collect();
            let tensor = gpu.to_device(&Tensor::vector(&bools).unwrap()).unwrap();
            assert_eq!(block_on(gpu.to_host(&tensor)).unwrap().as_slice::<bool>().unwrap(), bools);
            let bytes: Vec<u8> = (0..count).map(|i| i as u8).collect();
            let tensor = gpu.to_device(&Tensor::vector(&bytes).unwrap()).unwrap();
            assert_eq!(block_on(gpu.to_host(&tensor)).unwrap().as_slice::<u8>().unwrap(), bytes);
        }
    }
}
