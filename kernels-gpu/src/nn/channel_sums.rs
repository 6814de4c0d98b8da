//! Sums over the elements of each channel, in parts.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;
use kernlink_geometry::channels::Layout;
use smallvec::SmallVec;

use super::element::Key as Elements;
use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::matmul::gemm::word;
use crate::shader::{Entry, Program, Scalar};
use crate::team::Team;
use crate::windows::{Part, Piece, read_if};

/// How threads take elements of a type: by fours if these are neighbouring channels.
pub(super) fn key_of(layout: &Layout, scalar: Scalar) -> Elements {
    Elements::new(scalar, layout.inner == 1 && layout.channels.is_multiple_of(4))
}

/// What is added up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Terms {
    /// The elements of `x`.
    Elements,
    /// The squares of their distances from `mean`.
    Squares,
    /// The elements of `gradient`, and these times the distances of those of `x` from `mean`.
    Products,
}

impl Terms {
    fn is_two(self) -> bool {
        self == Terms::Products
    }

    fn text(self) -> &'static str {
        match self {
            Terms::Elements => "Terms(S(x[at]))",
            Terms::Squares => "Terms((S(x[at]) - mean[channel]) * (S(x[at]) - mean[channel]))",
            Terms::Products => "Terms(S(gradient[at]), S(gradient[at]) * (S(x[at]) - mean[channel]))",
        }
    }
}

/// What tells a shader from others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    elements: Elements,
    terms: Terms,
    /// How the threads of a workgroup add up one channel where neighbours are of one; else they take several channels.
    planes: Option<Team>,
}

const THREADS: u32 = 256;
/// How many shares of neighbouring channels a workgroup takes where they are neighbours.
const ACROSS: u32 = 16;

impl Key {
    fn across(&self) -> u32 {
        if self.planes.is_some() { 1 } else { ACROSS }
    }
}

fn program(key: Key) -> Program {
    let Key { elements, terms, .. } = key;
    let mut builder = elements.builder("sums of channels").workgroup(THREADS).constant("ACROSS", key.across());
    if terms.is_two() {
        builder = builder.read_vectors("gradient", elements.scalar, elements.width());
    }
    builder = builder.read_vectors("x", elements.scalar, elements.width());
    if terms != Terms::Elements {
        builder = builder.read_vectors("mean", Scalar::F32, elements.width());
    }
    builder = builder.write_vectors("scratch", Scalar::F32, elements.width());
    builder = builder.words("channels inner count_of_channel chunk");
    let (second, members, merge) = match terms.is_two() {
        true => ("    second: S,\n", &["first", "second"][..], "return Terms(a.first + b.first, a.second + b.second);"),
        false => ("", &["first"][..], "return Terms(a.first + b.first);"),
    };
    let names = if terms.is_two() { &["two"][..] } else { &[] };
    let sum = match key.planes {
        Some(team) => {
            builder = team.declare(builder);
            team.functions("Terms", members, &[("sum", merge)])
        }
        None => composition::compose(include_str!("channel_sums_across.wgsl"), names),
    };
    let body = format!(
        "struct Terms {{\n    first: S,\n{second}}}\nfn terms(at: u32, channel: u32) -> Terms {{\n    return {};\n}}\n{sum}{}",
        terms.text(),
        composition::compose(include_str!("channel_sums.wgsl"), names)
    );
    builder.build(Entry::Rows, &body)
}

/// The sums of parts of each channel, `[parts, sums, channels]`. There are elements.
pub(super) fn run(
    gpu: &GpuDevice,
    scalar: Scalar,
    layout: &Layout,
    terms: Terms,
    tensors: &[&Tensor],
) -> Result<Tensor> {
    /// Elements of a part at least, and how many workgroups keep a device busy.
    const ELEMENTS: usize = 2048;
    const BUSY: usize = 1024;
    let planes = (layout.inner > 1).then(|| Team::on(gpu, Scalar::F32));
    let key = Key { elements: key_of(layout, scalar), terms, planes };
    let tiles = layout.channels.div_ceil(key.elements.width() as usize).div_ceil(key.across() as usize);
    // How many parts so many elements of a channel are cut into, and how long each is.
    let share = |count: usize| {
        let chunk = count.div_ceil((count / ELEMENTS).min(BUSY.div_ceil(tiles)).max(1));
        (count.div_ceil(chunk), chunk)
    };
    let sums = if terms.is_two() { 2 } else { 1 };
    // The mean is that of all elements.
    let moving: SmallVec<[Part<'_>; 4]> =
        tensors.iter().enumerate().map(|(place, tensor)| read_if(place < sums, tensor)).collect();
    let window = if gpu.fit(tensors) { None } else { gpu.window(layout.outer, &moving)? };
    let window = window.unwrap_or(layout.outer);
    let windows = (0..layout.outer).step_by(window);
    let parts: usize = windows.map(|start| share(window.min(layout.outer - start) * layout.inner).0).sum();
    let scratch = gpu.allocate(DataType::Float, [parts, sums, layout.channels])?;
    let (shader, mut part) = (gpu.shader(program, key), 0);
    gpu.in_windows(layout.outer, &moving, |outer, tensors| {
        let count = outer.len() * layout.inner;
        let (parts, chunk) = share(count);
        let params = [word(layout.channels)?, word(layout.inner)?, word(count)?, word(chunk)?];
        let row = sums * layout.channels;
        let piece = Piece { tensor: &scratch, first: part * row, count: parts * row, written: true };
        part += parts;
        gpu.with_pieces(&[piece], |scratch| {
            let tensors: SmallVec<[&Tensor; 4]> = tensors.iter().chain(scratch).copied().collect();
            gpu.dispatch(&shader, &tensors, &params, Groups::Rows(tiles.saturating_mul(parts)))
        })
    })?;
    Ok(scratch)
}

/// The shaders for elements of a type.
pub(super) fn programs(scalar: Scalar, terms: &[Terms]) -> Vec<Program> {
    let planes = Team::ALL.map(|team| (false, Some(team)));
    let ways = [(false, None), (true, None)].into_iter().chain(planes);
    let keys = ways.flat_map(|(vectors, planes)| {
        terms.iter().map(move |&terms| Key { elements: Elements::new(scalar, vectors), terms, planes })
    });
    keys.map(program).collect()
}
