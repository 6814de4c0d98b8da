//! Products by tiles, of matrices and of what convolutions see.

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::tensor::Tensor;
use smallvec::{SmallVec, smallvec};

use super::config::{Choice, Extents, Machine, TABLE, candidates, choose};
use super::matrices::{KNOWN, Matrices};
use super::sum_parts;
use super::text::{self, Key, Side, Source, sum_of};
use super::tune::Kind;
use crate::device::{GpuDevice, Groups};
use crate::epilogue::{self, End, Epilogue};
use crate::reduce::{self, Fold, Run};
use crate::shader::{Program, Scalar, Shader, scalar_of};
use crate::timing::{Dispatch, elapsed};
use crate::transfer::device_bytes;

/// A product of two factors of certain kinds.
pub(crate) struct Gemm {
    dtype: DataType,
    scalar: Scalar,
    sources: [Source; 2],
    /// The choice that a test makes for all products.
    #[cfg(test)]
    pub(super) forced: Option<Choice>,
}

/// What is multiplied.
pub(crate) struct Factors<'a> {
    pub(crate) a: &'a Tensor,
    pub(crate) b: &'a Tensor,
    pub(crate) out: &'a Tensor,
    pub(crate) extents: Extents,
    /// Whether four neighbours of `a`, of `b` and of the output can be taken at once.
    pub(crate) vectors: [bool; 3],
    /// From row to row of the output.
    pub(crate) stride: usize,
    /// From batch to batch of the output.
    pub(crate) step: usize,
    pub(crate) target: Target,
    /// What is done to all of the output, whose channels are its columns.
    pub(crate) end: End<'a>,
    /// The parameters that depend on the kinds of the factors.
    pub(crate) special: SmallVec<[u32; 18]>,
}

/// What is made of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// All of it.
    Whole,
    /// Some of its elements; the others stay.
    Some,
    /// All of it, which is of [`Gemm::sum_dtype`]: a part of a sum that [`Gemm::add`] makes.
    Term,
}

/// A size as a shader takes it.
///
/// # Errors
/// RESOURCE_EXHAUSTED if shaders, which count up to 2^31, cannot.
pub(crate) fn word(size: usize) -> Result<u32> {
    match u32::try_from(size) {
        Ok(size) if size < 1 << 31 => Ok(size),
        _ => Err(Error::resource_exhausted(format!("a size of {size} is more than a shader counts"))),
    }
}

/// The special parameters of one product of matrices whose lines have these lengths.
///
/// # Errors
/// See [`word`].
pub(crate) fn of_matrices(strides: [usize; 2]) -> Result<SmallVec<[u32; 18]>> {
    let mut special: SmallVec<[u32; 18]> = smallvec![0; text::BATCHED.split_whitespace().count()];
    special[..4].copy_from_slice(&[word(strides[0])?, word(strides[1])?, 1, 1]);
    Ok(special)
}

impl Gemm {
    pub(crate) fn new(dtype: DataType, a: Source, b: Source) -> Result<Gemm> {
        let scalar = scalar_of(dtype)?;
        Ok(Gemm {
            dtype,
            scalar,
            sources: [a, b],
            #[cfg(test)]
            forced: None,
        })
    }

    /// The kinds of the factors.
    pub(crate) fn sources(&self) -> [Source; 2] {
        self.sources
    }

    /// The dtype in which products are added.
    pub(crate) fn sum_dtype(&self) -> DataType {
        sum_parts::sum_dtype(self.dtype)
    }

    /// Sets the output to the sum of terms, each a row of `terms`.
    pub(crate) fn add(&self, gpu: &GpuDevice, terms: &Tensor, out: &Tensor) -> Result<()> {
        if gpu.fits(terms) {
            return sum_parts::run(gpu, self.scalar, terms, out);
        }
        let sum = Fold::new(reduce::Kind::Sum.of(self.scalar).of_parts());
        let [rows, row] = [terms.shape()[0], out.num_elements()];
        let dims = [Run { size: rows, is_folded: true }, Run { size: row, is_folded: false }];
        sum.by_windows(gpu, terms, out, &dims, rows)
    }

    /// Records the product. The output is not empty.
    pub(crate) fn run(&self, gpu: &GpuDevice, factors: &Factors<'_>) -> Result<()> {
        #[cfg(test)]
        if let Some(choice) = self.forced {
            return self.run_as(gpu, factors, choice);
        }
        let shared = gpu.limits().max_compute_workgroup_storage_size;
        let machine = Machine::new(shared, gpu.adapter().is_software, Matrices::on(gpu));
        let extents = &factors.extents;
        let tuner = &gpu.gpu.tuner;
        if tuner.is_on {
            let kind = Kind::new(self.scalar, self.sources, factors.vectors, extents);
            let candidates = || candidates(&machine, extents, self.scalar);
            let found = tuner.choose(&kind, candidates, |choice| self.time(gpu, factors, choice))?;
            // What was found when the device could do more is not for now.
            if let Some(choice) = found.filter(|choice| TABLE[choice.line].is_of(self.scalar, machine.matrices)) {
                return self.run_as(gpu, factors, choice);
            }
        }
        self.run_as(gpu, factors, choose(&machine, extents, self.scalar))
    }

    /// The nanoseconds of the product.
    fn time(&self, gpu: &GpuDevice, factors: &Factors<'_>, choice: Choice) -> Result<f64> {
        elapsed(gpu, |dispatch| self.by(gpu, factors, choice, dispatch))
    }

    /// [`Gemm::run`], with the choice made.
    pub(crate) fn run_as(&self, gpu: &GpuDevice, factors: &Factors<'_>, choice: Choice) -> Result<()> {
        let mut dispatch = |shader: &Shader, tensors: &[&Tensor], params: &[u32], groups| {
            gpu.dispatch(shader, tensors, params, groups)
        };
        self.by(gpu, factors, choice, &mut dispatch)
    }

    /// The dispatches of the product.
    fn by(&self, gpu: &GpuDevice, factors: &Factors<'_>, choice: Choice, dispatch: &mut Dispatch<'_>) -> Result<()> {
        let tiles = &TABLE[choice.line];
        let Extents { rows, columns, inner, batches } = factors.extents;
        // Convolutions write all of the output, products of matrices what lies from the last of their parameters on.
        let is_convolved = self.sources.iter().any(|source| source.is_convolved());
        let elements = if is_convolved { factors.out.num_elements() } else { batches * rows * columns };
        // What is in the workgroup's memory is brought and multiplied.
        let needed = gpu.parts_of_rounds(2 * inner);
        // Parts are bound all at once.
        let most = gpu.gpu.limits.binding / device_bytes(self.sum_dtype(), elements);
        let wanted = if factors.target == Target::Some { 1 } else { choice.parts.max(needed).min(most).max(1) };
        let chunk = inner.div_ceil(wanted).next_multiple_of(tiles.inner as usize);
        let parts = if inner == 0 { 1 } else { inner.div_ceil(chunk) };
        gpu.ensure_rounds(2 * chunk.min(inner))?;
        let is_term = factors.target == Target::Term;
        let end = factors.end;
        debug_assert!(end.epilogue.is_none() || factors.target == Target::Whole, "{:?}", factors.target);
        let (mut special, mut base) = (factors.special.clone(), 0);
        if !is_convolved && parts > 1 {
            base = special.last_mut().map_or(0, std::mem::take);
        }
        let [vectors_a, vectors_b, vectors_out] = factors.vectors;
        debug_assert!(is_pattern(self.sources, factors.vectors), "{:?} {:?}", self.sources, factors.vectors);
        let key = Key {
            scalar: self.scalar,
            line: choice.line,
            a: Side { source: self.sources[0], vectors: vectors_a },
            b: Side { source: self.sources[1], vectors: vectors_b },
            vectors: vectors_out,
            parts: parts > 1 || is_term,
            matrices: Matrices::on(gpu).filter(|_| tiles.by_matrices),
            // Parts have their end when they are added up.
            epilogue: if parts > 1 { Epilogue::default() } else { end.epilogue },
        };
        let scratch = match parts {
            1 => None,
            parts => Some(sum_parts::scratch(gpu, self.dtype, parts, elements)?),
        };
        let common = [rows, columns, inner, chunk, batches, factors.stride, factors.step, elements];
        let mut params: SmallVec<[u32; 32]> = common.iter().map(|&size| word(size)).collect::<Result<_>>()?;
        params.extend_from_slice(&special);
        let mut tensors: SmallVec<[&Tensor; 8]> =
            smallvec![factors.a, factors.b, scratch.as_ref().unwrap_or(factors.out)];
        if parts == 1 {
            params.extend_from_slice(end.params);
            tensors.extend_from_slice(end.tensors);
        }
        let groups = rows
            .div_ceil(tiles.rows as usize)
            .saturating_mul(columns.div_ceil(tiles.columns as usize))
            .saturating_mul(batches)
            .saturating_mul(parts);
        dispatch(&gpu.shader(text::program, key), &tensors, &params, Groups::Rows(groups))?;
        match &scratch {
            Some(scratch) => {
                let scalar = if is_term { sum_of(self.scalar) } else { self.scalar };
                // The groups of a convolution are side by side.
                let channels = if is_convolved { columns * batches } else { columns };
                sum_parts::run_at(gpu, dispatch, scalar, scratch, (factors.out, base), (end, channels))
            }
            None => Ok(()),
        }
    }
}

/// The shaders of products whose factors are of these kinds, of elements of a dtype.
pub(crate) fn programs(dtype: DataType, kinds: impl IntoIterator<Item = [Source; 2]>) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    let products = kinds.into_iter().flat_map(|[a, b]| products(scalar, [a, b], Epilogue::default()));
    Ok(products.chain(sum_parts::programs(scalar)).collect())
}

/// The shaders of products that have an epilogue; those of products that are cut into parts before they have it are
/// [`programs`].
pub(crate) fn fused_programs(dtype: DataType, kinds: impl IntoIterator<Item = [Source; 2]>) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    let mut all = [epilogue::programs(dtype)?, sum_parts::fused_programs(scalar)].concat();
    for kind in kinds {
        for epilogue in Epilogue::examples() {
            all.extend(products(scalar, kind, epilogue));
        }
    }
    Ok(all)
}

/// The shaders of products whose factors are of these kinds. How elements are found and written does
/// not depend on the tiles, so that all patterns are seen with one size of these, and two patterns with all sizes. An
/// epilogue sees whether elements are written by fours and what has multiplied: two patterns, one size.
fn products(scalar: Scalar, [a, b]: [Source; 2], epilogue: Epilogue) -> Vec<Program> {
    /// The line of which there are shaders for all types.
    const LINE: usize = 3;
    let mut programs = Vec::new();
    for (line, tiles) in TABLE.iter().enumerate() {
        if !epilogue.is_none() && line != LINE && !tiles.by_matrices {
            continue;
        }
        let known = if tiles.by_matrices { KNOWN.map(Some).to_vec() } else { vec![None] };
        for matrices in known.into_iter().filter(|&matrices| tiles.is_of(scalar, matrices)) {
            for pattern in 0..8 {
                let vectors = [0, 1, 2].map(|bit| pattern >> bit & 1 == 1);
                let is_seen = line == LINE && epilogue.is_none() || pattern == 0 || pattern == 7;
                if !is_seen || !is_pattern([a, b], vectors) {
                    continue;
                }
                let (a, b) = (Side { source: a, vectors: vectors[0] }, Side { source: b, vectors: vectors[1] });
                let key = Key { scalar, line, a, b, vectors: vectors[2], parts: false, matrices, epilogue };
                programs.push(text::program(key));
                if line == LINE && epilogue.is_none() {
                    programs.push(text::program(Key { parts: true, ..key }));
                }
            }
        }
    }
    programs
}

/// Whether such factors and their product can be taken by fours like this: some sizes decide on two of them.
fn is_pattern(sources: [Source; 2], [a, b, out]: [bool; 3]) -> bool {
    match sources {
        [Source::Columns, Source::Rows] => true,
        [Source::Rows, Source::Rows] | [Source::Flows, Source::Filters] => a == b,
        _ => b == out,
    }
}

#[cfg(test)]
mod tests {
    use kernlink::device::Device as _;
    use kernlink::dtype::f16;
    use kernlink::step::block_on;

    use super::*;
    use crate::testing::device;

    /// Small whole numbers, whose products `f32` adds without loss.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 31 + seed * 17) % 13) as f32 - 6.0).collect()
    }

    /// Two products by a line of the table, of two matrices with the same one, in one part or several.
    fn multiplies(gpu: &GpuDevice, dtype: DataType, line: usize) {
        let tiles = &TABLE[line];
        let there = |values: &[f32]| {
            let values = match dtype {
                DataType::Half => Tensor::vector(&values.iter().map(|&value| f16::from_f32(value)).collect::<Vec<_>>()),
                _ => Tensor::vector(values),
            };
            gpu.to_device(&values.unwrap()).unwrap()
        };
        // Beyond a tile in each dimension, by fours and not.
        for (more, parts) in [(4, 1), (3, 1), (4, 3), (1, 2)] {
            let (rows, columns) = (tiles.rows as usize + more, tiles.columns as usize + more);
            let inner = 3 * tiles.inner as usize + more;
            let (a, b) = (numbers(2 * rows * inner, 1), numbers(inner * columns, 2));
            for turned in [[false, false], [false, true], [true, false], [true, true]] {
                let at_a = |batch: usize, row: usize, k: usize| {
                    let place = if turned[0] { k * rows + row } else { row * inner + k };
                    a[batch * rows * inner + place]
                };
                let at_b =
                    |k: usize, column: usize| b[if turned[1] { column * inner + k } else { k * columns + column }];
                let sources = [
                    if turned[0] { Source::Columns } else { Source::Rows },
                    if turned[1] { Source::Rows } else { Source::Columns },
                ];
                let gemm = Gemm::new(dtype, sources[0], sources[1]).unwrap();
                let strides = [if turned[0] { rows } else { inner }, if turned[1] { inner } else { columns }];
                let mut special = of_matrices(strides).unwrap();
                (special[3], special[6]) = (2, (rows * inner) as u32);
                let out = gpu.allocate(dtype, [2, rows, columns]).unwrap();
                let factors = Factors {
                    a: &there(&a),
                    b: &there(&b),
                    out: &out,
                    extents: Extents { rows, columns, inner, batches: 2 },
                    vectors: [strides[0], strides[1], columns].map(|size| size.is_multiple_of(4)),
                    stride: columns,
                    step: rows * columns,
                    target: Target::Whole,
                    end: End::default(),
                    special,
                };
                gemm.run_as(gpu, &factors, Choice { line, parts }).unwrap();
                let host = block_on(gpu.to_host(&out)).unwrap();
                let found: Vec<f32> = match dtype {
                    DataType::Half => host.as_slice::<f16>().unwrap().iter().map(|value| value.to_f32()).collect(),
                    _ => host.as_slice::<f32>().unwrap().to_vec(),
                };
                for (i, &found) in found.iter().enumerate() {
                    let (batch, row, column) = (i / columns / rows, i / columns % rows, i % columns);
                    let expected: f32 = (0..inner).map(|k| at_a(batch, row, k) * at_b(k, column)).sum();
                    // Halves hold whole numbers up to 2048, and others rounded.
                    let expected = if dtype == DataType::Half { f16::from_f32(expected).to_f32() } else { expected };
                    assert_eq!(found, expected, "{tiles:?} {more} {parts} {turned:?} [{batch}, {row}, {column}]");
                }
            }
        }
    }

    #[test]
    fn every_line_of_the_table_multiplies() {
        let gpu = device();
        let lines = (0..TABLE.len()).filter(|&line| TABLE[line].is_of(Scalar::F32, None));
        lines.for_each(|line| multiplies(&gpu, DataType::Float, line));
    }

    /// On devices that have them: Mesa's software driver from version 26 on.
    #[test]
    fn every_line_multiplies_by_cooperative_matrices() {
        let gpu = device();
        let matrices = Matrices::on(&gpu);
        for line in (0..TABLE.len()).rev() {
            if TABLE[line].by_matrices && TABLE[line].is_of(Scalar::F16, matrices) {
                println!("{:?} by {matrices:?}", TABLE[line]);
                multiplies(&gpu, DataType::Half, line);
            }
        }
    }

    #[test]
    fn products_are_timed() {
        let gpu = device();
        let (rows, columns, inner) = (64, 64, 256);
        let zeros = |shape: [usize; 2]| gpu.to_device(&Tensor::zeros(DataType::Float, shape).unwrap()).unwrap();
        let out = gpu.allocate(DataType::Float, [rows, columns]).unwrap();
        let factors = Factors {
            a: &zeros([rows, inner]),
            b: &zeros([inner, columns]),
            out: &out,
            extents: Extents { rows, columns, inner, batches: 1 },
            vectors: [true; 3],
            stride: columns,
            step: 0,
            target: Target::Whole,
            end: End::default(),
            special: of_matrices([inner, columns]).unwrap(),
        };
        let gemm = Gemm::new(DataType::Float, Source::Rows, Source::Columns).unwrap();
        let time = gemm.time(&gpu, &factors, Choice { line: 2, parts: 2 }).unwrap();
        // A million products: no device does that in a tenth of a microsecond, and none takes ten seconds.
        assert!((1e2..1e10).contains(&time), "{time}");
    }

    #[test]
    fn what_others_record_is_not_measured() {
        let gpu = device();
        let gemm = Gemm::new(DataType::Float, Source::Rows, Source::Columns).unwrap();
        let square = |size: usize| {
            let zeros = || gpu.to_device(&Tensor::zeros(DataType::Float, [size, size]).unwrap()).unwrap();
            [zeros(), zeros(), gpu.allocate(DataType::Float, [size, size]).unwrap()]
        };
        let choice = Choice { line: 3, parts: 1 };
        let with = |size: usize, each: &dyn Fn(&Factors<'_>) -> f64| {
            let [a, b, out] = square(size);
            each(&Factors {
                a: &a,
                b: &b,
                out: &out,
                extents: Extents { rows: size, columns: size, inner: size, batches: 1 },
                vectors: [true; 3],
                stride: size,
                step: 0,
                target: Target::Whole,
                end: End::default(),
                special: of_matrices([size, size]).unwrap(),
            })
        };
        let large = with(512, &|factors| gemm.time(&gpu, factors, choice).unwrap());
        let small = with(32, &|factors| {
            let time = elapsed(&gpu, |dispatch| {
                with(512, &|factors| gemm.run_as(&gpu, factors, choice).map_or(f64::NAN, |()| 0.0));
                gemm.by(&gpu, factors, choice, dispatch)
            });
            time.unwrap()
        });
        assert!(small < large / 4.0, "{small} {large}");
    }
}
