//! From the number of an output's element to the places of its operands' elements: dimensions that all operands walk
//! alike are merged, and sizes and steps are passed as parameters, so that a shader knows only how many there are.

use kernlink::error::{Error, Result};
use kernlink::shape::Shape;
use kernlink_geometry::broadcast::Broadcast;
use smallvec::SmallVec;

use crate::shader::ProgramBuilder;

/// The numbers of dimensions that shaders are made for; fewer are filled up with dimensions of size 1.
const RANKS: [usize; 4] = [2, 3, 5, 8];

/// One dimension of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim<const N: usize> {
    size: usize,
    /// How far each operand moves, in elements, when the index grows by one; negative steps walk backwards.
    steps: [i64; N],
}

/// How an output's elements are found in `N` operands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Places<const N: usize> {
    /// Outermost first, at least one; none of size 1 if there are more.
    dims: SmallVec<[Dim<N>; 6]>,
}

impl<const N: usize> Places<N> {
    /// Sizes from the outermost to the innermost dimension, each with the operands' steps.
    pub(crate) fn new(dims: impl DoubleEndedIterator<Item = (usize, [i64; N])>) -> Places<N> {
        let mut merged: SmallVec<[Dim<N>; 6]> = SmallVec::new();
        for (size, steps) in dims.rev() {
            if size == 1 {
                continue;
            }
            match merged.last_mut() {
                Some(inner) if (0..N).all(|k| steps[k] == inner.steps[k].saturating_mul(inner.size as i64)) => {
                    inner.size = inner.size.saturating_mul(size);
                }
                _ => merged.push(Dim { size, steps }),
            }
        }
        if merged.is_empty() {
            merged.push(Dim { size: 1, steps: [0; N] });
        }
        merged.reverse();
        Places { dims: merged }
    }

    /// The shape to which shapes broadcast, aligned at their last dimension, and the way to their elements.
    ///
    /// # Errors
    /// Those of [`Broadcast::new`].
    #[track_caller]
    pub(crate) fn broadcast(shapes: [&Shape; N], limit: usize) -> Result<(Shape, Places<N>)> {
        let Broadcast { shape, dims } = Broadcast::new(shapes, limit)?;
        let places = Places::new(dims.iter().map(|dim| (dim.size, dim.steps.map(|step| step as i64))));
        Ok((shape, places))
    }

    /// The number of dimensions that are left, at least 1.
    pub(crate) fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The size of the innermost dimension and the operands' steps there.
    pub(crate) fn inner(&self) -> (usize, [i64; N]) {
        let inner = self.dims[self.dims.len() - 1];
        (inner.size, inner.steps)
    }

    /// The number of the output's elements.
    pub(crate) fn count(&self) -> usize {
        self.dims.iter().map(|dim| dim.size).product()
    }

    /// From the first to the last of each operand's elements; steps lead forwards.
    pub(crate) fn extents(&self) -> [usize; N] {
        let reach = |k: usize| self.dims.iter().map(|dim| (dim.size - 1) * dim.steps[k] as usize).sum::<usize>();
        std::array::from_fn(|k| reach(k) + 1)
    }

    /// Two halves along the outermost dimension, and how far it is in the operands from the first to the second. The
    /// first has a number of rows that makes the second begin at whole vectors, or at least words, where there are
    /// enough. `None` of a single element.
    pub(crate) fn halves(&self) -> Option<(Places<N>, Places<N>, [usize; N])> {
        const WHOLE: usize = 128;
        let Dim { size, steps } = self.dims[0];
        let multiple = [WHOLE, 2, 1].into_iter().find(|multiple| size >= 2 * multiple).unwrap_or(1);
        let low = size / 2 / multiple * multiple;
        let part = |size: usize| {
            let dims = std::iter::once((size, steps)).chain(self.dims[1..].iter().map(|dim| (dim.size, dim.steps)));
            Places::new(dims.collect::<SmallVec<[_; 6]>>().into_iter())
        };
        (low > 0).then(|| (part(low), part(size - low), steps.map(|step| low * step as usize)))
    }

    /// The same in pieces of `width` elements of the innermost dimension. Operands with step 1 there move in pieces,
    /// too; the others in elements, as before. `None` if sizes or steps are no multiples.
    pub(crate) fn in_vectors(&self, width: usize) -> Option<Places<N>> {
        let mut index = self.clone();
        let (size, steps) = self.inner();
        let divides = |number: i64| number % width as i64 == 0;
        if !divides(size as i64) || steps.iter().any(|&step| !matches!(step, 0 | 1)) {
            return None;
        }
        let last = index.dims.len() - 1;
        index.dims[last].size /= width;
        for dim in &mut index.dims[..last] {
            for (step, inner) in dim.steps.iter_mut().zip(steps) {
                if inner == 1 {
                    if !divides(*step) {
                        return None;
                    }
                    *step /= width as i64;
                }
            }
        }
        Some(index)
    }

    /// The same with steps in vectors of `width` elements. `None` if a step is no multiple.
    pub(crate) fn scaled(&self, width: usize) -> Option<Places<N>> {
        let mut index = self.clone();
        for step in index.dims.iter_mut().flat_map(|dim| &mut dim.steps) {
            if *step % width as i64 != 0 {
                return None;
            }
            *step /= width as i64;
        }
        Some(index)
    }

    /// The number of dimensions of the shader for it.
    ///
    /// # Errors
    /// UNIMPLEMENTED if there are more than 8.
    #[track_caller]
    pub(crate) fn shader_rank(&self) -> Result<usize> {
        shader_rank(self.rank()).ok_or_else(|| {
            let message = format!("{} groups of dimensions are more than a shader on the GPU walks", self.rank());
            Error::unimplemented(message)
        })
    }

    /// The parameters that [`declare`] declares for so many dimensions. Arithmetic wraps, so that negative steps work.
    pub(crate) fn params(&self, rank: usize) -> SmallVec<[u32; 32]> {
        let missing = rank - self.dims.len();
        let mut words = SmallVec::new();
        for axis in 1..rank {
            words.push(axis.checked_sub(missing).map_or(1, |axis| self.dims[axis].size as u32));
        }
        for k in 0..N {
            words.extend(
                (0..rank).map(|axis| axis.checked_sub(missing).map_or(0, |axis| self.dims[axis].steps[k] as u32)),
            );
        }
        words
    }
}

/// The least number of dimensions, not below `rank`, that shaders are made for.
pub(crate) fn shader_rank(rank: usize) -> Option<usize> {
    RANKS.into_iter().find(|&own| rank <= own)
}

/// All numbers of dimensions that shaders are made for, up to `limit`.
pub(crate) fn shader_ranks(limit: usize) -> impl Iterator<Item = usize> {
    RANKS.into_iter().filter(move |&rank| rank <= limit)
}

/// The number of parameter words that [`declare`] adds.
#[cfg(test)]
fn words(rank: usize, operands: usize) -> usize {
    rank - 1 + rank * operands
}

/// Declares the parameters of an [`Places`] of `rank` dimensions. They are scalars one by one, as arrays of parameters
/// lie differently in HLSL.
pub(crate) fn declare(builder: ProgramBuilder, rank: usize, operands: &[&str]) -> ProgramBuilder {
    declare_named(builder, "", rank, operands)
}

/// [`declare`] for a shader with several: `set` begins all names.
pub(crate) fn declare_named(builder: ProgramBuilder, set: &str, rank: usize, operands: &[&str]) -> ProgramBuilder {
    let builder = (1..rank).fold(builder, |builder, axis| builder.param(&format!("{set}size_{axis}"), "u32"));
    operands.iter().fold(builder, |builder, operand| {
        (0..rank).fold(builder, |builder, axis| builder.param(&format!("{set}{operand}_{axis}"), "u32"))
    })
}

/// The WGSL of `fn at(i: u32) -> At`: the places in the operands, as the members of `At`, that belong to element `i` of
/// the output.
pub(crate) fn function(rank: usize, operands: &[&str]) -> String {
    function_named("", rank, operands)
}

/// [`function`] with what [`declare_named`] declares: the names of the function and its type begin with `set`, too.
pub(crate) fn function_named(set: &str, rank: usize, operands: &[&str]) -> String {
    let members: String = operands.iter().map(|operand| format!("    {operand}: u32,\n")).collect();
    let zeros = vec!["0u"; operands.len()].join(", ");
    let mut text = format!(
        "struct {set}At {{\n{members}}}\nfn {set}at(i: u32) -> {set}At {{\n    \
         var at = {set}At({zeros});\n    var rest = i;\n"
    );
    for axis in (0..rank).rev() {
        text += &match axis {
            0 => "    let k_0 = rest;\n".to_owned(),
            _ => format!(
                "    let q_{axis} = rest / params.{set}size_{axis};\n    \
                 let k_{axis} = rest - q_{axis} * params.{set}size_{axis};\n    rest = q_{axis};\n"
            ),
        };
        for operand in operands {
            text += &format!("    at.{operand} += k_{axis} * params.{set}{operand}_{axis};\n");
        }
    }
    text + "    return at;\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places that the shader's arithmetic gives.
    fn walk<const N: usize>(index: &Places<N>, count: usize) -> Vec<[u32; N]> {
        let rank = index.shader_rank().unwrap();
        let words = index.params(rank);
        assert_eq!(words.len(), super::words(rank, N));
        (0..count as u32)
            .map(|i| {
                let (mut at, mut rest) = ([0u32; N], i);
                for axis in (0..rank).rev() {
                    let size = if axis == 0 { u32::MAX } else { words[axis - 1] };
                    for (k, at) in at.iter_mut().enumerate() {
                        *at = at.wrapping_add((rest % size).wrapping_mul(words[rank - 1 + k * rank + axis]));
                    }
                    rest /= size;
                }
                at
            })
            .collect()
    }

    fn by_definition(shape: &Shape, operand: &Shape) -> Vec<u32> {
        let (strides, own) = (shape.strides(), operand.strides());
        let missing = shape.rank() - operand.rank();
        let place = |i: usize| {
            let of_axis = |axis: usize| match operand[axis] {
                1 => 0,
                _ => i / strides[axis + missing] % shape[axis + missing] * own[axis],
            };
            (0..operand.rank()).map(of_axis).sum::<usize>() as u32
        };
        (0..shape.num_elements()).map(place).collect()
    }

    #[test]
    fn broadcasts_follow_the_definition() {
        let cases: [(&[usize], &[usize]); 8] = [
            (&[], &[]),
            (&[3], &[]),
            (&[2, 3], &[3]),
            (&[3, 1], &[1, 4]),
            (&[4, 1, 3], &[2, 1]),
            (&[2, 1, 3, 1, 2], &[1, 2, 1, 2, 1]),
            (&[2, 3, 4], &[2, 3, 4]),
            (&[5, 1, 1, 2], &[5, 3, 4, 1]),
        ];
        for (a, b) in cases {
            let (a, b) = (Shape::from(a), Shape::from(b));
            let (shape, index) = Places::broadcast([&a, &b], 5).unwrap();
            let places = walk(&index, shape.num_elements());
            assert_eq!(places.iter().map(|at| at[0]).collect::<Vec<_>>(), by_definition(&shape, &a));
            assert_eq!(places.iter().map(|at| at[1]).collect::<Vec<_>>(), by_definition(&shape, &b));
        }
    }

    #[test]
    fn what_is_walked_alike_merges() {
        let index = |a: &[usize], b: &[usize]| Places::broadcast([&Shape::from(a), &Shape::from(b)], 8).unwrap().1;
        assert_eq!(index(&[2, 3, 4], &[2, 3, 4]).rank(), 1);
        assert_eq!(index(&[2, 3, 4], &[]).inner(), (24, [1, 0]));
        assert_eq!(index(&[2, 3, 4, 5], &[4, 5]).inner(), (20, [1, 1]));
        assert_eq!(index(&[8, 5, 5, 7], &[8, 1, 1, 7]).rank(), 3);
        // A matrix read backwards is one run backwards.
        assert_eq!(Places::new([(3, [-4i64]), (4, [-1])].into_iter()).inner(), (12, [-1]));
        assert_eq!(walk(&Places::new([(3, [-1i64])].into_iter()), 3), [[0], [u32::MAX], [u32::MAX - 1]]);
    }

    #[test]
    fn vectors_need_whole_runs() {
        let index = |a: &[usize], b: &[usize]| Places::broadcast([&Shape::from(a), &Shape::from(b)], 8).unwrap().1;
        let vectors = index(&[3, 8], &[3, 1]).in_vectors(4).unwrap();
        assert_eq!(walk(&vectors, 6), [[0, 0], [1, 0], [2, 1], [3, 1], [4, 2], [5, 2]]);
        assert!(index(&[3, 6], &[3, 1]).in_vectors(4).is_none());
    }

    #[test]
    fn halves_are_the_whole() {
        let index = |a: &[usize], b: &[usize]| Places::broadcast([&Shape::from(a), &Shape::from(b)], 8).unwrap().1;
        for index in [index(&[5, 3, 8], &[3, 1]), index(&[600, 3], &[1, 3]), index(&[2, 3], &[2, 1]), index(&[3], &[])]
        {
            let (low, high, steps) = index.halves().unwrap();
            assert_eq!(low.count() + high.count(), index.count());
            let shifted = |at: &[u32; 2]| std::array::from_fn(|k| at[k] + steps[k] as u32);
            let both = [walk(&low, low.count()), walk(&high, high.count()).iter().map(shifted).collect()].concat();
            let whole = walk(&index, index.count());
            assert_eq!(both, whole);
            for k in 0..2 {
                assert_eq!(index.extents()[k], whole.iter().map(|at| at[k] as usize + 1).max().unwrap());
            }
        }
        assert!(index(&[1, 1], &[]).halves().is_none());
    }
}
