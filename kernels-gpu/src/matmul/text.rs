//! The shader of a product by tiles: its factors are read through functions, of which there are some kinds.

use std::fmt::Write as _;

use super::config::{TABLE, Tiles};
use super::matrices::Matrices;
use crate::composition;
use crate::epilogue::Epilogue;
use crate::shader::{Entry, Program, Scalar};

/// How the elements of a factor are found. Each factor has an outer index, the row or column of the product, and an inner
/// index, over which products are added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    /// A matrix whose inner index counts neighbours.
    Rows,
    /// A matrix whose outer index counts neighbours.
    Columns,
    /// What a convolution's windows see, by output pixels.
    Patches,
    /// What a convolution's windows see, by elements of the window.
    PatchesAcross,
    /// What flows back into a convolution's input.
    Flows,
    /// A convolution's filter by input channels.
    Filters,
}

impl Source {
    fn text(self) -> &'static str {
        match self {
            Source::Rows => include_str!("rows.wgsl"),
            Source::Columns => include_str!("columns.wgsl"),
            Source::Patches => concat!(include_str!("patches.wgsl"), include_str!("found.wgsl")),
            Source::PatchesAcross => include_str!("patches_across.wgsl"),
            Source::Flows => concat!(include_str!("flows.wgsl"), include_str!("found.wgsl")),
            Source::Filters => concat!(include_str!("filters.wgsl"), include_str!("found.wgsl")),
        }
    }

    /// Whether four neighbours differ in the inner index, not in the outer one.
    fn is_along_inner(self) -> bool {
        !matches!(self, Source::Columns | Source::PatchesAcross)
    }

    /// Whether it needs the sizes of a convolution.
    pub(super) fn is_convolved(self) -> bool {
        !matches!(self, Source::Rows | Source::Columns)
    }
}

/// A factor in a shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Side {
    pub(crate) source: Source,
    /// Whether four neighbours are read at once, which need to begin at multiples of four and end there.
    pub(crate) vectors: bool,
}

/// What tells a shader from others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) scalar: Scalar,
    /// The line of [`TABLE`].
    pub(crate) line: usize,
    pub(crate) a: Side,
    pub(crate) b: Side,
    /// Whether four neighbours are written at once.
    pub(crate) vectors: bool,
    /// Whether what is written are parts of sums, of the type in which they are added.
    pub(crate) parts: bool,
    /// The device's cooperative matrices, if the line is for such.
    pub(crate) matrices: Option<Matrices>,
    /// What becomes of the products.
    pub(crate) epilogue: Epilogue,
}

/// The type in which products are added.
pub(crate) fn sum_of(scalar: Scalar) -> Scalar {
    if scalar == Scalar::F16 { Scalar::F32 } else { scalar }
}

/// `x * y + z` of vectors, in the type in which products are added.
pub(crate) fn declare_multiply_add(scalar: Scalar) -> String {
    let result = if sum_of(scalar) == Scalar::F32 { "fma(x, y, z)" } else { "x * y + z" };
    format!("fn mad(x: vec4<A>, y: vec4<A>, z: vec4<A>) -> vec4<A> {{\n    return {result};\n}}\n")
}

/// The parameters that all products take.
const COMMON: &str = "extent_a extent_b inner chunk batches stride_out step_out step_part";
/// Those of products of matrices: three batch dimensions; the last is where the product begins in the output.
pub(super) const BATCHED: &str =
    "stride_a stride_b size1 size2 step_a0 step_a1 step_a2 step_b0 step_b1 step_b2 base_a base_b base_out";
/// Those of convolutions, which have groups for batches.
const CONVOLVED: &str = "stride_a stride_b step_a step_b rows columns depth out_rows out_columns out_depth window_columns \
                         patch_depth stride_y stride_x dilation_y dilation_x before_y before_x";

/// The shader for a key.
pub(crate) fn program(key: Key) -> Program {
    let tiles = &TABLE[key.line];
    let sum = sum_of(key.scalar);
    let result = if key.parts { sum } else { key.scalar };
    let is_convolved = key.a.source.is_convolved() || key.b.source.is_convolved();
    let label = format!("product of {:?} and {:?} by {}x{}", key.a.source, key.b.source, tiles.rows, tiles.columns);
    let mut builder = Program::trusted(label)
        .alias("T", key.scalar)
        .alias("R", result)
        .alias("S", sum)
        .constant("NOWHERE", u32::MAX)
        .constant("INNER", tiles.inner)
        .workgroup(tiles.threads(key.matrices))
        .read_vectors("data_a", key.scalar, if key.a.vectors { 4 } else { 1 })
        .read_vectors("data_b", key.scalar, if key.b.vectors { 4 } else { 1 })
        .write_vectors("result", result, if key.vectors { 4 } else { 1 });
    builder = builder.words(COMMON).words(if is_convolved { CONVOLVED } else { BATCHED });
    builder = key.epilogue.declare(builder, key.scalar, if key.vectors { 4 } else { 1 });
    let mut body = String::new();
    let names = |vectors: bool| if vectors { &["vectors"][..] } else { &[] };
    for (side, letter) in [(key.a, 'a'), (key.b, 'b')] {
        body += &composition::with_letter(&composition::compose(side.source.text(), names(side.vectors)), letter);
    }
    let ends = if key.epilogue.is_none() { &[][..] } else { &["fused"] };
    body += &composition::compose(include_str!("put.wgsl"), &[names(key.vectors), ends].concat());
    let (text_a, text_b) =
        (Staging::new(key.a, "a", tiles, key.matrices), Staging::new(key.b, "b", tiles, key.matrices));
    let _ = write!(body, "{}{}", text_a.declaration(), text_b.declaration());
    match key.matrices {
        Some(matrices) => {
            builder = builder.subgroups().matrices();
            body += &matrices.declare_sums(tiles);
        }
        // With matrices, `A` is the part of a factor.
        None => builder = builder.alias("A", sum).declare(&declare_multiply_add(key.scalar)),
    }
    let begins_group = is_convolved && !key.epilogue.is_none();
    let group = if begins_group { "    group_channel = batch * params.step_out;\n" } else { "" };
    body += &main(tiles, (is_convolved, group), key.matrices, &text_a, &text_b);
    builder.build(Entry::Rows, &body)
}

/// How a factor comes into the workgroup's memory: as vectors of four outer neighbours, line after line of the inner index.
pub(super) struct Staging {
    side: Side,
    name: &'static str,
    /// Outer indices of a tile.
    outer: u32,
    inner: u32,
    threads: u32,
    for_matrices: bool,
}

impl Staging {
    fn new(side: Side, name: &'static str, tiles: &Tiles, matrices: Option<Matrices>) -> Staging {
        let outer = if name == "a" { tiles.rows } else { tiles.columns };
        Staging {
            side,
            name,
            outer,
            inner: tiles.inner,
            threads: tiles.threads(matrices),
            for_matrices: matrices.is_some(),
        }
    }

    /// Vectors from one inner index to the next: one more where threads write several lines at once, so that they do not
    /// wait for each other; two for matrices, whose lines begin at multiples of 16 bytes.
    pub(super) fn stride(&self) -> u32 {
        self.outer / 4 + if self.for_matrices { 2 } else { u32::from(self.side.source.is_along_inner()) }
    }

    fn declaration(&self) -> String {
        format!("var<workgroup> tile_{}: array<vec4<T>, {}>;\n", self.name, self.stride() * self.inner)
    }

    /// The pieces that threads bring: blocks of four times four, or single vectors.
    fn pieces(&self) -> u32 {
        if self.side.source.is_along_inner() { self.outer / 4 * (self.inner / 4) } else { self.outer / 4 * self.inner }
    }

    /// Runs `each` with the number of each piece of a thread and whether all threads have it.
    fn for_each(&self, mut each: impl FnMut(u32, bool)) {
        for round in 0..self.pieces().div_ceil(self.threads) {
            each(round, (round + 1) * self.threads <= self.pieces());
        }
    }

    /// What is found out before the loop.
    fn prepare(&self) -> String {
        let (mut text, name) = (String::new(), self.name);
        self.for_each(|round, _| {
            let piece = format!("(lane + {}u)", round * self.threads);
            if self.side.source.is_along_inner() {
                let blocks = self.inner / 4;
                for i in 0..4 {
                    let outer = format!("{name}_first + {piece} / {blocks}u * 4u + {i}u");
                    let _ = writeln!(text, "    let {name}{round}_{i} = place_{name}({outer}, base_{name});");
                }
            } else {
                let outer = format!("{name}_first + {piece} % {}u * 4u", self.outer / 4);
                let _ = writeln!(text, "    let {name}{round} = place_{name}({outer}, base_{name});");
            }
        });
        text
    }

    /// What is brought in each round of the loop.
    fn bring(&self) -> String {
        let (mut text, name, stride) = (String::new(), self.name, self.stride());
        self.for_each(|round, whole| {
            let piece = format!("lane + {}u", round * self.threads);
            let open = if whole { "{".to_owned() } else { format!("if ({piece} < {}u) {{", self.pieces()) };
            let _ = writeln!(text, "        {open}");
            if self.side.source.is_along_inner() {
                let blocks = self.inner / 4;
                let _ = writeln!(text, "            let k = ({piece}) % {blocks}u * 4u;");
                let _ = writeln!(text, "            let at = k * {stride}u + ({piece}) / {blocks}u;");
                for i in 0..4 {
                    let _ = writeln!(text, "            let v{i} = read_{name}({name}{round}_{i}, first + k, end);");
                }
                for (i, part) in ["x", "y", "z", "w"].into_iter().enumerate() {
                    let at = format!("at + {}u", i as u32 * stride);
                    let _ = writeln!(
                        text,
                        "            tile_{name}[{at}] = vec4<T>(v0.{part}, v1.{part}, v2.{part}, v3.{part});"
                    );
                }
            } else {
                let line = self.outer / 4;
                let _ = writeln!(text, "            let k = ({piece}) / {line}u;");
                let at = format!("k * {stride}u + ({piece}) % {line}u");
                let _ = writeln!(text, "            tile_{name}[{at}] = read_{name}({name}{round}, first + k, end);");
            }
            text += "        }\n";
        });
        text
    }
}

/// Which tile of which product of which part is the workgroup's, and the product.
fn main(
    tiles: &Tiles,
    (is_convolved, group): (bool, &str),
    matrices: Option<Matrices>,
    a: &Staging,
    b: &Staging,
) -> String {
    let mut text = format!(
        "fn row(r: u32, lane: u32) {{
    let across = (params.extent_b + {columns_less}u) / {columns}u;
    let down = (params.extent_a + {rows_less}u) / {rows}u;
    let a_first = r / across % down * {rows}u;
    let b_first = r % across * {columns}u;
    let batch = r / (across * down) % params.batches;
    let part = r / (across * down * params.batches);
",
        rows = tiles.rows,
        rows_less = tiles.rows - 1,
        columns = tiles.columns,
        columns_less = tiles.columns - 1,
    );
    text += if is_convolved {
        "    let base_a = batch * params.step_a;
    let base_b = batch * params.step_b;
    let base_out = batch * params.step_out + part * params.step_part;
"
    } else {
        "    let i2 = batch % params.size2;
    let i1 = batch / params.size2 % params.size1;
    let i0 = batch / params.size2 / params.size1;
    let base_a = params.base_a + i0 * params.step_a0 + i1 * params.step_a1 + i2 * params.step_a2;
    let base_b = params.base_b + i0 * params.step_b0 + i1 * params.step_b1 + i2 * params.step_b2;
    let base_out = params.base_out + batch * params.step_out + part * params.step_part;
"
    };
    let _ = write!(
        text,
        "{group}    let begin = part * params.chunk;\n    let end = min(params.inner, begin + params.chunk);\n{}{}",
        a.prepare(),
        b.prepare()
    );
    let [before, within, after] = match matrices {
        Some(matrices) => [matrices.begin(tiles), matrices.multiply(tiles, a, b), matrices.end(tiles)],
        None => by_threads(tiles, a, b),
    };
    let _ = write!(
        text,
        "{before}    for (var first = begin; first < end; first += INNER) {{\n{}{}        workgroupBarrier();\n{within}        \
         workgroupBarrier();\n    }}\n{after}}}\n",
        a.bring(),
        b.bring()
    );
    text
}

/// What threads do with vectors: what stands before the loop, between the barriers in it, and behind it.
fn by_threads(tiles: &Tiles, a: &Staging, b: &Staging) -> [String; 3] {
    let (vectors_down, vectors_across) = (tiles.thread_rows / 4, tiles.thread_columns / 4);
    let (threads_down, threads_across) = (tiles.rows / tiles.thread_rows, tiles.columns / tiles.thread_columns);
    let mut before = format!("    let ty = lane / {threads_across}u;\n    let tx = lane % {threads_across}u;\n");
    for i in 0..tiles.thread_rows {
        for j in 0..vectors_across {
            let _ = writeln!(before, "    var c{i}_{j} = vec4<A>();");
        }
    }
    let mut text = "        for (var k = 0u; k < INNER; k++) {\n".to_owned();
    for (vectors, threads, staging, lane) in
        [(vectors_down, threads_down, a, "ty"), (vectors_across, threads_across, b, "tx")]
    {
        for i in 0..vectors {
            let (name, stride) = (staging.name, staging.stride());
            let at = format!("k * {stride}u + {}u + {lane}", i * threads);
            let _ = writeln!(text, "            let {name}v{i} = vec4<A>(tile_{name}[{at}]);");
        }
    }
    for i in 0..tiles.thread_rows {
        for j in 0..vectors_across {
            let part = ["x", "y", "z", "w"][i as usize % 4];
            let _ = writeln!(text, "            c{i}_{j} = mad(vec4<A>(av{}.{part}), bv{j}, c{i}_{j});", i / 4);
        }
    }
    text += "        }\n";
    let mut after = String::new();
    for i in 0..tiles.thread_rows {
        let row = format!("a_first + ({}u + ty) * 4u + {}u", i / 4 * threads_down, i % 4);
        let _ = writeln!(after, "    if ({row} < params.extent_a) {{");
        let _ = writeln!(after, "        let line = base_out + ({row}) * params.stride_out;");
        for j in 0..vectors_across {
            let _ = writeln!(after, "        put(line, b_first + ({}u + tx) * 4u, c{i}_{j});", j * threads_across);
        }
        after += "    }\n";
    }
    [before, text, after]
}
