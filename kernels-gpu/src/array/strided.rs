//! How copies between strided boxes of two tensors are run: what transposing, slicing, tiling, broadcasting and their kin
//! come down to.

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;
pub(super) use kernlink_geometry::strided::StridedCopy;
use kernlink_geometry::strided::{Step, Steps};
use smallvec::SmallVec;

use super::unit::{Unit, word};
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program};
use crate::windows::Piece;

/// The numbers of loops for which there is a shader each.
const RANKS: [usize; 6] = [1, 2, 3, 4, 6, 9];
const MOST_STEPS: usize = RANKS[RANKS.len() - 1];

/// The side of the tiles by which boxes are transposed, and the threads that share one.
const TILE: usize = 32;
const TILE_THREADS: u32 = 256;
/// The loops around a transposition, and the shortest sides for which it goes by tiles.
const TURN_STEPS: usize = 3;
const SHORTEST_SIDE: usize = 8;

/// How a copy is run on a device.
pub(super) trait Run {
    /// Records the copy. The box must not meet an element of the target twice.
    ///
    /// # Errors
    /// INTERNAL if the box does not fit the tensors: a kernel computed it wrongly. The shaders check nothing.
    fn run(&self, gpu: &GpuDevice, target: &Tensor, source: &Tensor) -> Result<()>;
}

impl Run for StridedCopy {
    fn run(&self, gpu: &GpuDevice, target: &Tensor, source: &Tensor) -> Result<()> {
        let Some(mut steps) = self.checked(target, source)? else { return Ok(()) };
        if steps.is_empty() {
            steps.push(Step { count: 1, target: 1, source: 1 });
        }
        let copy = Checked { gpu, target, source, unit: Unit::of(target.dtype())?, is_part: false };
        copy.run(&steps, self.target, self.source as isize)
    }
}

/// Records a copy, for kernels elsewhere.
///
/// # Errors
/// As [`Run::run`].
pub(crate) fn copy(gpu: &GpuDevice, copy: &StridedCopy, target: &Tensor, source: &Tensor) -> Result<()> {
    copy.run(gpu, target, source)
}

/// A copy that fits its tensors.
struct Checked<'a> {
    gpu: &'a GpuDevice,
    target: &'a Tensor,
    source: &'a Tensor,
    unit: Unit,
    /// Whether these are windows of larger tensors, so that memory beyond their elements is somebody's.
    is_part: bool,
}

impl Checked<'_> {
    fn run(&self, steps: &[Step], target: usize, source: isize) -> Result<()> {
        let is_bound = self.is_part || self.gpu.fit(&[self.target, self.source]);
        if is_bound { self.record(steps, target, source) } else { self.by_halves(steps, target, source) }
    }

    /// Cuts the loop that reaches furthest in a tensor in halves, until what the box meets of each can be bound.
    #[cold]
    fn by_halves(&self, steps: &[Step], target: usize, source: isize) -> Result<()> {
        let in_target = |step: &Step| (step.count - 1) * step.target;
        let in_source = |step: &Step| (step.count - 1) * step.source.unsigned_abs();
        let limits = self.gpu.gpu.limits;
        let per_bound = limits.alignment / self.unit.bytes();
        // From where both can bind to the last elements.
        let back: usize = steps.iter().filter(|step| step.source < 0).map(in_source).sum();
        let first = [target, source as usize - back].map(|first| first / per_bound * per_bound);
        let end = [
            target + steps.iter().map(in_target).sum::<usize>() + 1,
            source as usize - back + steps.iter().map(in_source).sum::<usize>() + 1,
        ];
        let count = [end[0] - first[0], end[1] - first[1]];
        let is_too_large = count.map(|count| count * self.unit.bytes() > limits.binding);
        if !is_too_large.contains(&true) {
            let piece = |k: usize, tensor, written| Piece { tensor, first: first[k], count: count[k], written };
            return self.gpu.with_pieces(&[piece(0, self.target, true), piece(1, self.source, false)], |tensors| {
                let part = Checked { target: tensors[0], source: tensors[1], is_part: true, ..*self };
                let mut steps: Steps = steps.iter().copied().filter(|step| step.count > 1).collect();
                if steps.is_empty() {
                    steps.push(Step { count: 1, target: 1, source: 1 });
                }
                part.record(&steps, target - first[0], source - first[1] as isize)
            });
        }
        let reach = |step: &Step| if is_too_large[0] { in_target(step) } else { in_source(step) };
        let Some(place) = (0..steps.len()).max_by_key(|&place| reach(&steps[place])) else {
            bail!(Internal, "a copy of one element is too large");
        };
        let step = steps[place];
        // Halves that begin at whole vectors, where there are enough of them.
        let low = if step.count >= 128 { step.count / 128 * 64 } else { step.count / 2 };
        let mut half: Steps = steps.into();
        half[place].count = low;
        self.by_halves(&half, target, source)?;
        half[place].count = step.count - low;
        self.by_halves(&half, target + low * step.target, source + low as isize * step.source)
    }

    fn record(&self, steps: &[Step], target: usize, source: isize) -> Result<()> {
        if let Some(turn) = Turn::of(steps, self.unit) {
            return turn.run(self, target, source);
        }
        if steps.len() > MOST_STEPS {
            let (outer, inner) = (steps[0], &steps[1..]);
            return (0..outer.count).try_for_each(|turn| {
                self.run(inner, target + turn * outer.target, source + turn as isize * outer.source)
            });
        }
        let inner = steps[steps.len() - 1];
        let mut scaled: Steps = steps.into();
        let (mut unit, mut times) = (self.unit, 1);
        if inner.target == 1 && inner.source == 1 {
            // Memory goes on to a whole vector, and what is there beyond the elements is nobody's.
            let is_whole =
                !self.is_part && steps.len() == 1 && target == 0 && inner.count == self.target.num_elements();
            (unit, times) = self.unit.widest(|times| {
                let strides = steps[..steps.len() - 1]
                    .iter()
                    .all(|step| step.target.is_multiple_of(times) && step.source.unsigned_abs().is_multiple_of(times));
                let ends = target.is_multiple_of(times) && source.unsigned_abs().is_multiple_of(times);
                strides && ends && (is_whole || inner.count.is_multiple_of(times))
            });
            for step in &mut scaled[..steps.len() - 1] {
                step.target /= times;
                step.source /= times as isize;
            }
            scaled[steps.len() - 1].count = inner.count.div_ceil(times);
        }
        let rank = RANKS.into_iter().find(|&rank| rank >= steps.len()).unwrap_or(MOST_STEPS);
        let mut params: SmallVec<[u32; 32]> = SmallVec::new();
        params.extend([word(target / times), (source / times as isize) as u32]);
        let padding = std::iter::repeat_n(Step { count: 1, target: 0, source: 0 }, rank - steps.len());
        for (at, step) in padding.chain(scaled.iter().copied()).enumerate() {
            params.extend((at > 0).then_some(word(step.count)));
            params.extend([word(step.target), step.source as u32]);
        }
        let count = scaled.iter().map(|step| step.count).product();
        self.gpu.run(program, (unit, rank), &[self.source, self.target], &params, Groups::Elements(count))
    }
}

/// The program of a copy with this number of loops. Parameters are one by one: arrays of them lie differently in HLSL.
fn program((unit, rank): (Unit, usize)) -> Program {
    let program = unit.program(format!("copy of {rank} loops of {unit:?}"));
    let program = unit.write(unit.read(program, "x"), "y").words("to start t0 s0");
    let program = (1..rank).fold(program, |program, k| program.words(&format!("n{k} t{k} s{k}")));
    let loops = (1..rank).rev().map(|k| format!("    walk = along(walk, params.n{k}, params.t{k}, params.s{k});\n"));
    let loops: String = loops.collect();
    let inwards = format!("fn inwards(first: Walk) -> Walk {{\n    var walk = first;\n{loops}    return walk;\n}}\n");
    program.declare(&inwards).compose(Entry::Elements, include_str!("strided.wgsl"), &[])
}

/// The programs that copy elements of a dtype.
pub(crate) fn copies(dtype: DataType) -> Result<Vec<Program>> {
    let loops = Unit::all_of(dtype)?.flat_map(|unit| RANKS.map(|rank| program((unit, rank))));
    Ok(loops.chain([turn_program(Unit::of(dtype)?)]).collect())
}

/// A copy whose rows in the target are columns in the source: by tiles, so that both sides are read and written in
/// runs.
struct Turn {
    /// The loop along the target's rows and that along the source's.
    row: Step,
    column: Step,
    outer: SmallVec<[Step; TURN_STEPS]>,
}

impl Turn {
    fn of(steps: &[Step], unit: Unit) -> Option<Turn> {
        let (&row, others) = steps.split_last()?;
        let place = others.iter().position(|step| step.source == 1)?;
        let column = others[place];
        let is_worth_it = row.target == 1 && row.source.unsigned_abs() > 1 && unit != Unit::Quad;
        if !is_worth_it || row.count.min(column.count) < SHORTEST_SIDE || others.len() > TURN_STEPS + 1 {
            return None;
        }
        let mut outer: SmallVec<[Step; TURN_STEPS]> = others.into();
        outer.remove(place);
        Some(Turn { row, column, outer })
    }

    fn run(self, copy: &Checked<'_>, target: usize, source: isize) -> Result<()> {
        let Turn { row, column, mut outer } = self;
        let (across, down) = (row.count.div_ceil(TILE), column.count.div_ceil(TILE));
        let tiles = outer.iter().map(|step| step.count).product::<usize>() * across * down;
        outer.resize(TURN_STEPS, Step { count: 1, target: 0, source: 0 });
        let mut params: SmallVec<[u32; 32]> = SmallVec::new();
        params.extend([word(target), source as u32, word(across), word(down), word(row.count), word(column.count)]);
        params.extend([row.source as u32, word(column.target)]);
        for step in outer {
            params.extend([word(step.count), word(step.target), step.source as u32]);
        }
        copy.gpu.run(turn_program, copy.unit, &[copy.source, copy.target], &params, Groups::Rows(tiles))
    }
}

/// The program of transpositions.
fn turn_program(unit: Unit) -> Program {
    let program = unit.write(unit.read(unit.program(format!("transposition of {unit:?}")), "x"), "y");
    let program = program.words("to start across down rows columns row_stride column_stride");
    let program = (0..TURN_STEPS).fold(program, |program, k| program.words(&format!("n{k} t{k} s{k}")));
    program.workgroup(TILE_THREADS).build(Entry::Rows, include_str!("turn.wgsl"))
}

#[cfg(test)]
mod tests {
    use kernlink::device::Device as _;
    use kernlink::step::block_on;

    use super::super::fill::fill;
    use super::*;

    /// Elements `0..count` of a dtype, as their numbers' lowest bytes; no half is no number.
    fn numbered(dtype: DataType, count: usize) -> Tensor {
        let numbers = (0..count as u64).map(|number| if dtype == DataType::Half { number % 0x7c00 } else { number });
        let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()[..dtype.size()].to_vec()).collect();
        Tensor::from_bytes(dtype, [count], &bytes).unwrap()
    }

    /// Copies as the steps say, one element after the other, to zeros.
    fn simple(copy: &StridedCopy, dtype: DataType, target: usize, source: &Tensor) -> Vec<u8> {
        let (size, from) = (dtype.size(), source.bytes().unwrap());
        let mut bytes = vec![0; target * size];
        for mut turn in 0..copy.steps.iter().map(|step| step.count).product::<usize>() {
            let (mut to, mut at) = (copy.target, copy.source as isize);
            for step in &copy.steps {
                to += turn % step.count * step.target;
                at += (turn % step.count) as isize * step.source;
                turn /= step.count;
            }
            bytes[to * size..][..size].copy_from_slice(&from[at as usize * size..][..size]);
        }
        bytes
    }

    #[test]
    fn all_ways_to_copy_agree_with_the_simple_one() {
        let copies = [
            // Runs, long and short, with gaps; a fill; a broadcast; a reversal; one that is whole but for its end.
            (StridedCopy::new(3, 5).step(7, 40, 30).step(20, 1, 1), 283, 205),
            (StridedCopy::new(4, 8).step(7, 40, 32).step(20, 1, 1), 284, 220),
            (StridedCopy::new(0, 0).step(50, 4, 3).step(3, 1, 1), 200, 150),
            (StridedCopy::new(0, 0).step(7001, 1, 0), 7001, 1),
            (StridedCopy::new(0, 0).step(9, 12, 1).step(12, 1, 0), 108, 9),
            (StridedCopy::new(0, 0).step(9, 12, 0).step(12, 1, 1), 108, 12),
            (StridedCopy::new(0, 2000).step(2001, 1, -1), 2001, 2001),
            (StridedCopy::new(0, 4).step(2001, 1, 1), 2001, 2005),
            // Transpositions, of tiles that are whole and cut, and with other loops in each place.
            (StridedCopy::new(0, 0).step(150, 131, 1).step(131, 1, 150), 19_650, 19_650),
            (StridedCopy::new(0, 0).step(64, 96, 1).step(96, 1, 64), 6_144, 6_144),
            (StridedCopy::new(0, 0).step(5, 640, 640).step(40, 16, 1).step(16, 1, 40), 3_200, 3_200),
            (StridedCopy::new(0, 0).step(40, 48, 1).step(3, 16, 640).step(16, 1, 40), 1_920, 1_920),
            (StridedCopy::new(0, 9).step(16, 20, 1).step(10, 2, 16), 320, 169),
            (
                StridedCopy::new(7, 3)
                    .step(2, 2520, 9)
                    .step(3, 840, 720)
                    .step(4, 210, 180)
                    .step(18, 11, 1)
                    .step(10, 1, 18),
                5100,
                2400,
            ),
            // More loops than a shader has.
            ((0..11).fold(StridedCopy::new(0, 0), |copy, axis| copy.step(2, 1 << (10 - axis), 1 << axis)), 2048, 2048),
        ];
        let gpu = crate::testing::device();
        for dtype in [DataType::Half, DataType::Float, DataType::Int64] {
            for (copy, target, source) in &copies {
                let source = numbered(dtype, *source);
                let expected = simple(copy, dtype, *target, &source);
                let output = gpu.allocate(dtype, [*target]).unwrap();
                fill(&gpu, &output, [0; 2]).unwrap();
                copy.run(&gpu, &output, &gpu.to_device(&source).unwrap()).unwrap();
                let output = block_on(gpu.to_host(&output)).unwrap();
                assert!(output.bytes().unwrap() == expected, "{dtype} after {copy:?}");
            }
        }
    }

    #[test]
    fn transpositions_of_long_sides_go_by_tiles() {
        let tensor = Tensor::zeros(DataType::Uint8, [1 << 20]).unwrap();
        let steps = |copy: StridedCopy| copy.checked(&tensor, &tensor).unwrap().unwrap();
        let swapped = steps(StridedCopy::new(0, 0).step(4, 960, 960).step(30, 1, 32).step(32, 30, 1));
        assert!(Turn::of(&swapped, Unit::Word).is_some());
        let narrow = steps(StridedCopy::new(0, 0).step(3, 1, 32).step(32, 3, 1));
        assert!(Turn::of(&narrow, Unit::Word).is_none());
        let rows = steps(StridedCopy::new(0, 0).step(30, 32, 64).step(40, 960, 1920).step(32, 1, 1));
        assert!(Turn::of(&rows, Unit::Word).is_none());
    }
}
