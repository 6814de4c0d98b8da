//! Products of pairs of `bf16` and of 8-bit integers by AMX, the unit for matrices of Intel's server processors.
//!
//! A tile register holds 16 rows of 64 bytes. Two tiles of the left operand, 16 rows with 16 words each, times two of the right
//! one, 16 rows of two panels, are added to four tiles of results: each tile that is loaded is used twice. As with AVX512-BF16
//! products of `bf16` are added in `f32`, and subnormal numbers count as zero, but in another order: the elements of a tile's
//! rows with even places, those with odd ones, then both to what is there. So the results differ in their last bits.
//!
//! The instructions are written out, as the compiler has no functions for them yet. Source: Intel 64 and IA-32 Architectures
//! Software Developer's Manual, volume 1, chapter 18.

use std::arch::asm;
use std::arch::x86_64::__cpuid_count;
use std::sync::OnceLock;

use crate::tile::{self, COLUMNS, Words};

/// Rows of a tile register.
const TILE_ROWS: usize = 16;
/// Words in a row of a tile register.
const TILE_WORDS: usize = 16;
/// Rows of results that are computed together.
pub(crate) const ROWS: usize = 2 * TILE_ROWS;
/// Rows of the panels that all tiles take at a time: two panels stay in the first cache.
const DEPTH: usize = 16 * TILE_WORDS;

/// Whether the processor has the unit and multiplies pairs of `bf16` by it, and the system lets this process use it.
pub(crate) fn has_pairs() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| has_instructions(OF_BF16) && is_permitted())
}

/// Whether the processor has the unit and multiplies [`Words::Bytes`] by it, and the system lets this process use it. What is
/// packed for it serves AVX512-VNNI, too, which such processors have.
pub(crate) fn has_bytes() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| tile::has_bytes() && has_instructions(OF_BYTES) && is_permitted())
}

/// The bits of `cpuid` for the tile registers, and for the instructions that multiply each kind of words.
const TILES: u32 = 1 << 24;
const OF_BF16: u32 = 1 << 22;
const OF_BYTES: u32 = 1 << 25;

/// Whether the processor has the tile registers, and the instructions that a bit of `cpuid` stands for.
fn has_instructions(bit: u32) -> bool {
    let wanted = TILES | bit;
    __cpuid_count(0, 0).eax >= 7 && __cpuid_count(7, 0).edx & wanted == wanted
}

/// Asks the system for room for the tile registers, which Linux gives to processes that ask.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: isize = 158;
    const REQUEST_PERMISSION: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let result: isize;
    // SAFETY: the call changes nothing but what the processor saves for this process; a system that does not know it says so.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// Rows of a left operand as tiles, some panels of a right operand, and how the products lie.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// What [`pack_rows`] made.
    pub left: &'a [f32],
    /// Rows of the left operand.
    pub rows: usize,
    /// Words of a row, and rows of a panel.
    pub depth: usize,
    /// Packed panels of [`COLUMNS`] columns.
    pub panels: &'a [f32],
    /// How many of them.
    pub count: usize,
    /// Words from panel to panel.
    pub next_panel: usize,
    /// Elements from row to row of the result.
    pub stride: usize,
    /// What the words are: [`Words::Pair`] or [`Words::Bytes`].
    pub words: Words,
}

/// Words of `rows` packed rows with `depth` words each.
pub(crate) fn packed_len(rows: usize, depth: usize) -> usize {
    rows.next_multiple_of(TILE_ROWS) * depth.next_multiple_of(TILE_WORDS)
}

/// Rows of a left operand, `stride` words apart, as tiles: `[16 rows][16 words][row][word]`. Rows at their places would be a
/// power of two apart in most matrices, so that the lines of a tile drive each other from the cache.
///
/// # Panics
/// If an operand is too small.
pub(crate) fn pack_rows((source, stride): (&[f32], usize), rows: usize, depth: usize, target: &mut [f32]) {
    const TILE: usize = TILE_ROWS * TILE_WORDS;
    let tiles_of_row = depth.div_ceil(TILE_WORDS);
    for row in 0..rows {
        let source = &source[row * stride..][..depth];
        let first = row / TILE_ROWS * tiles_of_row * TILE + row % TILE_ROWS * TILE_WORDS;
        let (whole, rest) = source.as_chunks::<TILE_WORDS>();
        for (tile, words) in whole.iter().enumerate() {
            target[first + tile * TILE..][..TILE_WORDS].copy_from_slice(words);
        }
        if !rest.is_empty() {
            target[first + whole.len() * TILE..][..rest.len()].copy_from_slice(rest);
        }
    }
}

/// What the eight tile registers hold, as `ldtilecfg` reads it.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    first_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

impl Shapes {
    /// Results and left operands of so many rows in the first and in the second tile, for so many words of each.
    fn new(rows: [usize; 2], words: usize) -> Shapes {
        let mut shapes = Shapes { palette: 1, first_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
        let mut set = |tile: usize, rows: usize, words: usize| {
            // A tile without rows is not used, but has a shape.
            (shapes.rows[tile], shapes.row_bytes[tile]) = (rows.max(1) as u8, words as u16 * 4);
        };
        for (half, rows) in rows.into_iter().enumerate() {
            set(2 * half, rows, COLUMNS);
            set(2 * half + 1, rows, COLUMNS);
            set(4 + half, rows, words);
            set(6 + half, words, COLUMNS);
        }
        shapes
    }
}

/// `c = a b` for all rows and panels.
///
/// # Panics
/// If the processor has no such unit, or an operand is smaller than the block says.
pub(crate) fn multiply(block: &Block<'_>, c: &mut [f32]) {
    let Block { left, rows, depth, panels, count, next_panel, stride, words: kind } = *block;
    let is_available = match kind {
        Words::Float => false,
        Words::Pair => has_pairs(),
        Words::Bytes => has_bytes(),
    };
    assert!(is_available, "a processor without AMX for {kind:?}");
    if rows == 0 || count == 0 {
        return;
    }
    assert!(stride >= count * COLUMNS && c.len() >= (rows - 1) * stride + count * COLUMNS, "results without room");
    if depth == 0 {
        return c.fill(0.0);
    }
    assert!(left.len() >= packed_len(rows, depth), "a left operand that is too small");
    assert!(panels.len() >= (count - 1) * next_panel + depth * COLUMNS, "panels that are too small");
    let _release = Release;
    let whole = rows / ROWS * ROWS;
    let words_of_row = depth.next_multiple_of(TILE_WORDS);
    for start in (0..depth).step_by(DEPTH) {
        let end = depth.min(start + DEPTH);
        // The last words may be fewer than a tile has, which is a shape of its own.
        let even = start + (end - start) / TILE_WORDS * TILE_WORDS;
        for (range, words) in [(start..even, TILE_WORDS), (even..end, end - even)] {
            for chosen in [0..whole, whole..rows] {
                if range.is_empty() || chosen.is_empty() {
                    continue;
                }
                let in_tiles = [chosen.len().min(TILE_ROWS), chosen.len().min(ROWS).saturating_sub(TILE_ROWS)];
                let shapes = Shapes::new(in_tiles, words);
                // SAFETY: the processor has the unit; what the tiles hold is not needed any more.
                unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack, readonly)) };
                for panel in (0..count).step_by(2) {
                    let of_kind = match (in_tiles[1] > 0, panel + 1 < count) {
                        (true, true) => FOUR,
                        (true, false) => TWO_ROWS,
                        (false, true) => TWO_COLUMNS,
                        (false, false) => ONE,
                    };
                    let add = of_kind[usize::from(kind == Words::Bytes)];
                    let right = panels[panel * next_panel + range.start * COLUMNS..].as_ptr();
                    for row in chosen.clone().step_by(ROWS) {
                        let tiles = Tiles {
                            left: left[row * words_of_row + range.start * TILE_ROWS..].as_ptr(),
                            next_left: words_of_row * TILE_ROWS * 4,
                            right,
                            next_right: next_panel * 4,
                            c: c[row * stride + panel * COLUMNS..].as_mut_ptr(),
                            stride: stride * 4,
                            steps: range.len().div_ceil(TILE_WORDS),
                            accumulate: range.start > 0,
                        };
                        // SAFETY: the tiles have the shapes for so many rows and words, which the operands and `c` have, as
                        // was asserted.
                        unsafe { add(tiles) }
                    }
                }
            }
        }
    }
}

/// Has the tile registers hold nothing when it is dropped, so that the system need not save them.
struct Release;

impl Drop for Release {
    fn drop(&mut self) {
        // SAFETY: whoever has one knows that the processor has the unit.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// Where the tiles of a step are. Strides are in bytes.
#[derive(Clone, Copy)]
struct Tiles {
    left: *const f32,
    /// From the tiles of 16 rows to those of the next.
    next_left: usize,
    right: *const f32,
    next_right: usize,
    c: *mut f32,
    stride: usize,
    steps: usize,
    accumulate: bool,
}

/// A function that adds up the products of some tiles.
///
/// # Safety
/// The processor has its instructions. The tile registers have the shapes of tiles that all operands and results have as often
/// as `steps` says; nothing else accesses the results meanwhile.
type Add = unsafe fn(Tiles);

/// Functions for pairs of `bf16` and for bytes: the results that they have, what each step loads and adds, and how the results
/// are addressed.
macro_rules! tiles {
    ($(#[$meta:meta])* $name:ident: $results:tt, $steps:tt) => {
        $(#[$meta])*
        const $name: [Add; 2] = [
            |tiles| tiles!(@asm "tdpbf16ps ", $results, $steps, tiles),
            |tiles| tiles!(@asm "tdpbusd ", $results, $steps, tiles),
        ];
    };
    (@step $product:literal, load $operands:literal) => { concat!("tileloadd ", $operands) };
    (@step $product:literal, add $operands:literal) => { concat!($product, $operands) };
    (
        @asm $product:literal, [$($result:literal at $place:literal),+], [$($step:ident $operands:literal),+], $tiles:ident
    ) => {{
        let Tiles { left, next_left, right, next_right, c, stride, steps, accumulate } = $tiles;
        // SAFETY: the caller's promise.
        unsafe {
            asm!(
                // Not all have a second tile of rows.
                "/* {second_c} */",
                "test {accumulate}, {accumulate}",
                "jz 2f",
                $(concat!("tileloadd ", $result, ", ", $place),)+
                "jmp 3f",
                "2:",
                $(concat!("tilezero ", $result),)+
                "3:",
                $(tiles!(@step $product, $step $operands),)+
                "add {left}, 1024",
                "add {second_left}, 1024",
                "add {right}, 1024",
                "add {second_right}, 1024",
                "dec {steps}",
                "jnz 3b",
                $(concat!("tilestored ", $place, ", ", $result),)+
                accumulate = in(reg) usize::from(accumulate),
                left = inout(reg) left => _,
                second_left = inout(reg) left.wrapping_byte_add(next_left) => _,
                right = inout(reg) right => _,
                second_right = inout(reg) right.wrapping_byte_add(next_right) => _,
                line = in(reg) 4 * COLUMNS,
                steps = inout(reg) steps => _,
                c = in(reg) c,
                second_c = in(reg) c.wrapping_byte_add(TILE_ROWS * stride),
                stride = in(reg) stride,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack)
            )
        }
    }};
}
tiles! {
    /// Up to 32 rows and two panels.
    FOUR: [
        "tmm0" at "[{c} + {stride}]", "tmm1" at "[{c} + {stride} + 64]",
        "tmm2" at "[{second_c} + {stride}]", "tmm3" at "[{second_c} + {stride} + 64]"
    ], [
        load "tmm4, [{left} + {line}]",
        load "tmm6, [{right} + {line}]",
        add "tmm0, tmm4, tmm6",
        load "tmm7, [{second_right} + {line}]",
        add "tmm1, tmm4, tmm7",
        load "tmm5, [{second_left} + {line}]",
        add "tmm2, tmm5, tmm6",
        add "tmm3, tmm5, tmm7"
    ]
}
tiles! {
    /// Up to 16 rows and two panels.
    TWO_COLUMNS: [
        "tmm0" at "[{c} + {stride}]", "tmm1" at "[{c} + {stride} + 64]"
    ], [
        load "tmm4, [{left} + {line}]",
        load "tmm6, [{right} + {line}]",
        add "tmm0, tmm4, tmm6",
        load "tmm7, [{second_right} + {line}]",
        add "tmm1, tmm4, tmm7"
    ]
}
tiles! {
    /// Up to 32 rows and one panel.
    TWO_ROWS: [
        "tmm0" at "[{c} + {stride}]", "tmm2" at "[{second_c} + {stride}]"
    ], [
        load "tmm4, [{left} + {line}]",
        load "tmm6, [{right} + {line}]",
        add "tmm0, tmm4, tmm6",
        load "tmm5, [{second_left} + {line}]",
        add "tmm2, tmm5, tmm6"
    ]
}
tiles! {
    /// Up to 16 rows and one panel.
    ONE: [
        "tmm0" at "[{c} + {stride}]"
    ], [
        load "tmm4, [{left} + {line}]",
        load "tmm6, [{right} + {line}]",
        add "tmm0, tmm4, tmm6"
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Matrix;
    use crate::panels::Panels;
    use crate::single::Single;
    use kernlink::dtype::bf16;

    const SIZES: [[usize; 3]; 7] =
        [[1, 1, 1], [16, 32, 16], [17, 34, 17], [32, 64, 32], [33, 31, 100], [50, 600, 48], [7, 1090, 33]];

    /// Whether the tests can run; says so if not.
    fn can_run() -> bool {
        if !has_pairs() {
            println!("not tested: this processor has no AMX, or the system does not let it be used");
        }
        has_pairs()
    }

    /// Has `check` compare each element of the products of matrices whose elements `number` gives, with what it is made of: pairs
    /// of factors.
    fn each_product(number: impl Fn(usize) -> f32, check: impl Fn(f32, &[(f32, f32)], &str)) {
        for [m, k, n] in SIZES {
            let element = |i: usize| bf16::from_f32(number(i));
            let a: Vec<bf16> = (0..m * k).map(element).collect();
            let b: Vec<bf16> = (0..k * n).map(|i| element(i + 3)).collect();
            let panels = Panels::new(None, Matrix::rows(&b, n), k, n).unwrap();
            let depth = k.div_ceil(2);
            let mut left = vec![f32::NAN; m * (depth + 1)];
            for (row, target) in a.chunks_exact(k).zip(left.chunks_exact_mut(depth + 1)) {
                bf16::words(row, &mut target[..depth]);
            }
            let mut tiles = vec![f32::NAN; packed_len(m, depth)];
            pack_rows((&left, depth + 1), m, depth, &mut tiles);
            let stride = n.next_multiple_of(COLUMNS) + 3;
            let mut c = vec![f32::NAN; m * stride];
            let block = Block {
                left: &tiles,
                rows: m,
                depth,
                panels: panels.elements().unwrap(),
                count: n.div_ceil(COLUMNS),
                next_panel: depth * COLUMNS,
                stride,
                words: Words::Pair,
            };
            multiply(&block, &mut c);
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let factors = (0..k).map(|p| (a[row * k + p].to_f32(), b[p * n + column].to_f32()));
                let factors: Vec<(f32, f32)> = factors.collect();
                check(c[row * stride + column], &factors, &format!("{m} {k} {n}: {row} {column}"));
            }
        }
    }

    #[test]
    fn products_of_whole_numbers_are_those_of_the_definition() {
        if !can_run() {
            return;
        }
        // Small ones, so that every order of addition gives the same sum.
        each_product(
            |i| ((i * 7 % 11) as f32) - 5.0,
            |found, factors, place| assert_eq!(found, factors.iter().map(|(x, y)| x * y).sum::<f32>(), "{place}"),
        );
    }

    #[test]
    fn products_of_fractions_are_as_near_as_sums_in_single_precision() {
        if !can_run() {
            return;
        }
        each_product(
            |i| ((i * 7919 % 1009) as f32 / 1009.0 - 0.4) * [1.0, 0.03, 17.0][i % 3],
            |found, factors, place| {
                // Products of two numbers with 8 bits are exact in `f32`; each addition may round once.
                let products = || factors.iter().map(|&(x, y)| f64::from(x) * f64::from(y));
                let (sum, magnitude) = (products().sum::<f64>(), products().map(f64::abs).sum::<f64>());
                let bound = magnitude * factors.len() as f64 * f64::from(f32::EPSILON);
                assert!((f64::from(found) - sum).abs() <= bound, "{place}: {found} is not {sum}");
            },
        );
    }
}
