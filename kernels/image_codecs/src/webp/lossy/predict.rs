//! Prediction of samples from those above and to the left (RFC 6386, section 12).

use super::modes::Mode;

/// The square of samples that is predicted.
pub(super) struct Place {
    /// Where its first sample is.
    pub(super) at: usize,
    /// Samples from row to row.
    pub(super) stride: usize,
    /// Whether there are samples of the picture above, and to the left.
    pub(super) has_above: bool,
    pub(super) has_left: bool,
}

/// Predicts a square of `N` by `N` samples by one of the first four modes.
pub(super) fn square<const N: usize>(samples: &mut [u8], place: &Place, mode: Mode) {
    let &Place { at, stride, has_above, has_left } = place;
    let (before, here) = samples.split_at_mut(at);
    let above: [u8; N] = std::array::from_fn(|k| before[at - stride + k]);
    let corner = before[at - stride - 1];
    let first_left = before[at - 1];
    let left: [u8; N] = std::array::from_fn(|k| if k == 0 { first_left } else { here[k * stride - 1] });
    let rows = here.chunks_mut(stride).take(N).map(|row| &mut row[..N]);
    match mode {
        Mode::Vertical => rows.for_each(|row| row.copy_from_slice(&above)),
        Mode::Horizontal => rows.zip(left).for_each(|(row, left)| row.fill(left)),
        Mode::TrueMotion => {
            for (row, left) in rows.zip(left) {
                let change = i16::from(left) - i16::from(corner);
                for (to, above) in row.iter_mut().zip(above) {
                    *to = (i16::from(above) + change).clamp(0, 255) as u8;
                }
            }
        }
        _ => {
            let sum = |samples: [u8; N]| samples.iter().map(|&x| usize::from(x)).sum::<usize>();
            let mean = match (has_above, has_left) {
                (true, true) => (sum(above) + sum(left) + N) / (2 * N),
                (true, false) => (sum(above) + N / 2) / N,
                (false, true) => (sum(left) + N / 2) / N,
                (false, false) => 128,
            };
            rows.for_each(|row| row.fill(mean as u8));
        }
    }
}

/// Predicts a block of 4 by 4, of which `right` are the samples above and to the right.
pub(super) fn block(samples: &mut [u8], at: usize, stride: usize, right: [u8; 4], mode: Mode) {
    // The samples around, from below on the left to the right, the last twice; the corner is the fifth.
    let mut around = [0; 14];
    for (k, to) in around[..4].iter_mut().enumerate() {
        *to = samples[at + (3 - k) * stride - 1];
    }
    around[4..9].copy_from_slice(&samples[at - stride - 1..][..5]);
    around[9..13].copy_from_slice(&right);
    around[13] = right[3];
    let around = around.map(u16::from);
    let two = |k: usize| ((around[k] + around[k + 1] + 1) >> 1) as u8;
    let three = |k: usize| ((around[k - 1] + 2 * around[k] + around[k + 1] + 2) >> 2) as u8;
    let four = |k: usize| [three(k), three(k + 1), three(k + 2), three(k + 3)];
    let twos = |k: usize| [two(k), two(k + 1), two(k + 2), two(k + 3)];
    let rows: [[u8; 4]; 4] = match mode {
        Mode::Dc => {
            let sum: u16 = around[..4].iter().chain(&around[5..9]).sum();
            [[((sum + 4) >> 3) as u8; 4]; 4]
        }
        Mode::TrueMotion => [3, 2, 1, 0].map(|left: usize| {
            let change = around[left] as i16 - around[4] as i16;
            [5, 6, 7, 8].map(|above: usize| (around[above] as i16 + change).clamp(0, 255) as u8)
        }),
        Mode::Vertical => [four(5); 4],
        Mode::Horizontal => {
            let last = ((around[1] + 3 * around[0] + 2) >> 2) as u8;
            [[three(3); 4], [three(2); 4], [three(1); 4], [last; 4]]
        }
        Mode::LeftDown => [four(6), four(7), four(8), four(9)],
        Mode::RightDown => [four(4), four(3), four(2), four(1)],
        Mode::VerticalRight => {
            let (first, second) = (twos(4), four(4));
            let below = |left: u8, row: [u8; 4]| [left, row[0], row[1], row[2]];
            [first, second, below(three(3), first), below(three(2), second)]
        }
        Mode::VerticalLeft => {
            let (first, second) = (twos(5), four(6));
            let below = |row: [u8; 4], right: u8| [row[1], row[2], row[3], right];
            [first, second, below(first, three(10)), below(second, three(11))]
        }
        Mode::HorizontalDown => {
            let line = [two(0), three(1), two(1), three(2), two(2), three(3), two(3), three(4), three(5), three(6)];
            [6, 4, 2, 0].map(|k: usize| [line[k], line[k + 1], line[k + 2], line[k + 3]])
        }
        Mode::HorizontalUp => {
            let (last, before) = (around[0] as u8, ((around[1] + 3 * around[0] + 2) >> 2) as u8);
            let line = [two(2), three(2), two(1), three(1), two(0), before, last, last, last, last];
            [0, 2, 4, 6].map(|k: usize| [line[k], line[k + 1], line[k + 2], line[k + 3]])
        }
    };
    for (row, to) in rows.iter().zip(samples[at..].chunks_mut(stride)) {
        to[..4].copy_from_slice(row);
    }
}
