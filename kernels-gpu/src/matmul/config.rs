//! Which tiles a product is computed by: a table, and what is expected of each of its lines.

use super::matrices::Matrices;
use crate::shader::Scalar;

/// How a workgroup computes a tile of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Tiles {
    /// The rows of a tile.
    pub(crate) rows: u32,
    /// The columns of a tile.
    pub(crate) columns: u32,
    /// How much of the inner dimension is in the workgroup's memory at a time.
    pub(crate) inner: u32,
    /// The rows of a thread, a multiple of four, or of a subgroup, a multiple of sixteen.
    pub(crate) thread_rows: u32,
    /// The columns of a thread, a multiple of four, or of a subgroup, a multiple of sixteen.
    pub(crate) thread_columns: u32,
    /// Whether cooperative matrices are multiplied, which subgroups do.
    pub(crate) by_matrices: bool,
    /// The share of the device's speed that full tiles are expected to reach, in percent of the best.
    merit: u32,
}

const fn tiles(rows: u32, columns: u32, inner: u32, thread_rows: u32, thread_columns: u32, merit: u32) -> Tiles {
    Tiles { rows, columns, inner, thread_rows, thread_columns, by_matrices: false, merit }
}

const fn matrices(rows: u32, columns: u32, share_rows: u32, share_columns: u32, merit: u32) -> Tiles {
    Tiles { by_matrices: true, ..tiles(rows, columns, 32, share_rows, share_columns, merit) }
}

/// All that there are.
pub(crate) const TABLE: [Tiles; 9] = [
    tiles(128, 128, 16, 8, 8, 100),
    tiles(128, 64, 16, 8, 4, 85),
    tiles(64, 64, 16, 4, 4, 65),
    tiles(32, 32, 16, 4, 4, 50),
    tiles(16, 64, 32, 4, 4, 40),
    tiles(64, 16, 32, 4, 4, 40),
    matrices(128, 128, 64, 32, 600),
    matrices(64, 64, 32, 32, 400),
    matrices(32, 32, 16, 16, 250),
];

impl Tiles {
    /// How many threads or subgroups share the tile.
    pub(crate) fn shares(&self) -> u32 {
        self.rows / self.thread_rows * (self.columns / self.thread_columns)
    }

    /// The threads of a workgroup.
    pub(crate) fn threads(&self, matrices: Option<Matrices>) -> u32 {
        self.shares() * matrices.filter(|_| self.by_matrices).map_or(1, |matrices| matrices.subgroup)
    }

    /// Whether there is a shader of it for elements of a type, on a device with such matrices.
    pub(crate) fn is_of(&self, scalar: Scalar, matrices: Option<Matrices>) -> bool {
        match scalar {
            Scalar::F16 if self.by_matrices => {
                matrices.is_some_and(|matrices| self.shares() * matrices.subgroup <= 256)
            }
            Scalar::F32 | Scalar::F16 => !self.by_matrices,
            // Of others there are few.
            _ => [TABLE[2], TABLE[3]].contains(self),
        }
    }
}

/// What is to be computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Extents {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) inner: usize,
    /// How many such products there are.
    pub(crate) batches: usize,
}

/// How it is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Choice {
    /// The line of [`TABLE`].
    pub(crate) line: usize,
    /// In how many parts the inner dimension is cut, whose products are added at the end.
    pub(crate) parts: usize,
}

/// What is known of the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// The bytes that a workgroup can share.
    pub(crate) shared: u32,
    /// The threads that run at once.
    pub(crate) threads: u32,
    /// Its cooperative matrices.
    pub(crate) matrices: Option<Matrices>,
}

impl Machine {
    /// The threads of a large device, of which nothing else is known.
    const THREADS: u32 = 1 << 16;

    pub(crate) fn new(shared: u32, is_software: bool, matrices: Option<Matrices>) -> Machine {
        Machine { shared, threads: if is_software { 512 } else { Machine::THREADS }, matrices }
    }
}

/// The most parts.
const MOST_PARTS: usize = 64;

/// Runs `each` with all choices and the time that each is expected to take, for elements of a type.
fn for_each(machine: &Machine, extents: &Extents, scalar: Scalar, mut each: impl FnMut(f64, Choice)) {
    let bytes = match scalar {
        Scalar::F16 => 2,
        Scalar::I64 => 8,
        _ => 4,
    };
    for (line, tiles) in TABLE.iter().enumerate().filter(|(_, tiles)| tiles.is_of(scalar, machine.matrices)) {
        // The paddings are below one part in eight, but for small tiles of matrices, which have room for sums.
        let shared = (tiles.rows + tiles.columns) * tiles.inner * bytes;
        let sums = if tiles.by_matrices { tiles.shares() * 16 * 16 * 4 + 2048 } else { 0 };
        if shared + shared / 8 + sums > machine.shared {
            continue;
        }
        let count = extents.rows.div_ceil(tiles.rows as usize) as f64
            * extents.columns.div_ceil(tiles.columns as usize) as f64
            * extents.batches as f64;
        let most = extents.inner / (4 * tiles.inner as usize);
        let mut parts = 1;
        while parts == 1 || (parts <= MOST_PARTS && parts <= most) {
            each(time(machine, tiles, extents, count, parts), Choice { line, parts });
            parts *= 2;
        }
    }
}

/// The choice that is expected to take the least time.
pub(crate) fn choose(machine: &Machine, extents: &Extents, scalar: Scalar) -> Choice {
    let mut best = (f64::INFINITY, Choice { line: 3, parts: 1 });
    for_each(machine, extents, scalar, |time, choice| {
        if time < best.0 {
            best = (time, choice);
        }
    });
    best.1
}

/// The choices that may take the least time, the most promising first: those to be measured.
pub(crate) fn candidates(machine: &Machine, extents: &Extents, scalar: Scalar) -> Vec<Choice> {
    /// How many are measured, and how much worse than the best they may look.
    const MOST: usize = 8;
    const WORSE: f64 = 4.0;
    let mut all = Vec::new();
    for_each(machine, extents, scalar, |time, choice| all.push((time, choice)));
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let least = all.first().map_or(0.0, |(time, _)| *time);
    all.into_iter().take(MOST).take_while(|(time, _)| *time <= WORSE * least).map(|(_, choice)| choice).collect()
}

/// Microseconds on a device that has 4 cycles for each product of a thread, or so.
fn time(machine: &Machine, tiles: &Tiles, extents: &Extents, count: f64, parts: usize) -> f64 {
    const PRODUCTS: f64 = 400.0;
    const BYTES: f64 = 2_000_000.0;
    const DISPATCH: f64 = 5.0;
    let threads = tiles.threads(machine.matrices);
    let at_once = f64::from((machine.threads / threads).max(1));
    let rounds = (count * parts as f64 / at_once).max(1.0).ceil();
    let inner = extents.inner.div_ceil(parts) as f64;
    let each = f64::from(tiles.rows * tiles.columns / threads) * inner;
    let time = rounds * each / (PRODUCTS * f64::from(tiles.merit) / 100.0);
    if parts == 1 {
        return time;
    }
    let elements = extents.rows as f64 * extents.columns as f64 * extents.batches as f64;
    time + DISPATCH + 8.0 * elements * parts as f64 / BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(rows: usize, columns: usize, inner: usize) -> (Tiles, usize) {
        let extents = Extents { rows, columns, inner, batches: 1 };
        let Choice { line, parts } = choose(&Machine::new(48 << 10, false, None), &extents, Scalar::F32);
        (TABLE[line], parts)
    }

    #[test]
    fn large_products_have_large_tiles() {
        let (tiles, parts) = chosen(4096, 4096, 4096);
        assert_eq!((tiles.rows, tiles.columns, parts), (128, 128, 1));
    }

    #[test]
    fn matrices_are_for_halves_on_devices_that_have_them() {
        let extents = Extents { rows: 4096, columns: 4096, inner: 4096, batches: 1 };
        let matrices = Some(Matrices { size: 16, subgroup: 32 });
        let by_matrices = |scalar, matrices| {
            let machine = Machine::new(48 << 10, false, matrices);
            let all = candidates(&machine, &extents, scalar);
            assert_eq!(all[0], choose(&machine, &extents, scalar));
            [TABLE[all[0].line].by_matrices, all.iter().any(|choice| TABLE[choice.line].by_matrices)]
        };
        assert_eq!(by_matrices(Scalar::F16, matrices), [true; 2]);
        assert_eq!(by_matrices(Scalar::F16, None), [false; 2]);
        assert_eq!(by_matrices(Scalar::F32, matrices), [false; 2]);
    }

    #[test]
    fn few_tiles_with_much_to_add_are_cut() {
        let (_, parts) = chosen(64, 64, 100_000);
        assert!(parts >= 8, "{parts}");
        let (_, parts) = chosen(64, 64, 64);
        assert_eq!(parts, 1);
    }

    #[test]
    fn low_and_narrow_products_waste_little() {
        let (tiles, _) = chosen(16, 100_000, 256);
        assert_eq!(tiles.rows, 16);
        let (tiles, _) = chosen(100_000, 16, 96);
        assert_eq!(tiles.columns, 16);
    }

    #[test]
    fn what_is_measured_begins_with_what_is_expected() {
        let extents = Extents { rows: 500, columns: 300, inner: 2000, batches: 1 };
        let machine = Machine::new(48 << 10, false, None);
        let candidates = candidates(&machine, &extents, Scalar::F32);
        assert_eq!(candidates[0], choose(&machine, &extents, Scalar::F32));
        assert!((2..=8).contains(&candidates.len()), "{candidates:?}");
    }

    #[test]
    fn tiles_fit_into_what_a_workgroup_shares() {
        let extents = Extents { rows: 4096, columns: 4096, inner: 4096, batches: 1 };
        let Choice { line, .. } = choose(&Machine::new(16 << 10, false, None), &extents, Scalar::F32);
        assert!((TABLE[line].rows + TABLE[line].columns) * TABLE[line].inner * 4 < 16 << 10);
    }

    #[test]
    fn tables_lines_can_be_shared_out() {
        for tiles in TABLE {
            let matrices = Some(Matrices { size: 16, subgroup: 32 });
            assert!((16..=256).contains(&tiles.threads(matrices)), "{tiles:?}");
            let share = [tiles.thread_rows, tiles.thread_columns, tiles.inner];
            assert!(!tiles.by_matrices || share.iter().all(|size| size.is_multiple_of(16)), "{tiles:?}");
            assert!(tiles.thread_rows.is_multiple_of(4) && tiles.thread_columns.is_multiple_of(4), "{tiles:?}");
            assert!(tiles.inner.is_multiple_of(4), "{tiles:?}");
        }
    }
}
