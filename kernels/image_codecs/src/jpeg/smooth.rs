//! Coefficients that a progressive file has not told yet, guessed from the means of the blocks around: what libjpeg shows of files
//! that end early.

use super::header::Quantizers;
use super::idct::Block;

/// How many coefficients, in the order of a file, can be guessed or say whether guesses are useful.
pub(crate) const SAVED: usize = 10;

/// How many low bits of each coefficient are still unknown, or -1 if nothing of it is known.
pub(crate) type Unknown = [i32; SAVED];

/// Where the guessed coefficients are, in natural order: those of [`SAVED`].
const PLACES: [usize; SAVED] = [0, 1, 8, 16, 9, 2, 3, 10, 17, 24];

/// What the means of 5 x 5 blocks, row by row, weigh in a coefficient, with eight bits of fraction.
type Weights = [[i32; 5]; 5];

/// The weights where nothing but means is known.
const OF_MEANS: [Weights; SAVED - 1] = [
    [[-1, -1, 0, 1, 1], [-3, 13, 0, -13, 3], [-3, 38, 0, -38, 3], [-3, 13, 0, -13, 3], [-1, -1, 0, 1, 1]],
    [[-1, -3, -3, -3, -1], [-1, 13, 38, 13, -1], [0; 5], [1, -13, -38, -13, 1], [1, 3, 3, 3, 1]],
    [[0, 0, 1, 0, 0], [0, 2, 7, 2, 0], [0, -5, -14, -5, 0], [0, 2, 7, 2, 0], [0, 0, 1, 0, 0]],
    [[-1, 0, 0, 0, 1], [0, 9, 0, -9, 0], [0; 5], [0, -9, 0, 9, 0], [1, 0, 0, 0, -1]],
    [[0; 5], [0, 2, -5, 2, 0], [1, 7, -14, 7, 1], [0, 2, -5, 2, 0], [0; 5]],
    [[0; 5], [0, 1, 0, -1, 0], [0, 2, 0, -2, 0], [0, 1, 0, -1, 0], [0; 5]],
    [[0; 5], [0, 1, -3, 1, 0], [0; 5], [0, -1, 3, -1, 0], [0; 5]],
    [[0; 5], [0, 1, 0, -1, 0], [0, -3, 0, 3, 0], [0, 1, 0, -1, 0], [0; 5]],
    [[0; 5], [0, 1, 2, 1, 0], [0; 5], [0, -1, -2, -1, 0], [0; 5]],
];

/// The weights where something of other coefficients is known.
const OF_MORE: [Weights; 5] = [
    [[0; 5], [0; 5], [-7, 50, 0, -50, 7], [0; 5], [0; 5]],
    [[0, 0, -7, 0, 0], [0, 0, 50, 0, 0], [0; 5], [0, 0, -50, 0, 0], [0, 0, 7, 0, 0]],
    [[0, 0, -1, 0, 0], [0, 0, 13, 0, 0], [0, 0, -24, 0, 0], [0, 0, 13, 0, 0], [0, 0, -1, 0, 0]],
    [[0, -1, 0, 1, 0], [-1, 10, 0, -10, 1], [0; 5], [1, -10, 0, 10, -1], [0, 1, 0, -1, 0]],
    [[0; 5], [0; 5], [-1, 13, -24, 13, -1], [0; 5], [0; 5]],
];

/// The mean of a block itself, of the means around it.
const MEAN: Weights =
    [[-2, -6, -8, -6, -2], [-6, 6, 42, 6, -6], [-8, 42, 152, 42, -8], [-6, 6, 42, 6, -6], [-2, -6, -8, -6, -2]];

/// Whether guesses can be made: all divisors are there.
pub(crate) fn can_smooth(quantizers: &Quantizers) -> bool {
    PLACES.iter().all(|&place| quantizers[place] != 0)
}

/// Sets what is not known of a block's coefficients to what the means around it let expect.
pub(crate) fn smooth(block: &mut Block, means: &[[i32; 5]; 5], unknown: &Unknown, quantizers: &Quantizers) {
    let sum = |weights: &Weights| -> i64 {
        let terms = weights.iter().flatten().zip(means.iter().flatten()).map(|(a, b)| i64::from(a.wrapping_mul(*b)));
        terms.sum::<i64>() as i32 as i64
    };
    let only_means = unknown[1..].iter().all(|&bits| bits == -1);
    let weights: &[Weights] = if only_means { &OF_MEANS } else { &OF_MORE };
    for (k, weights) in (1..).zip(weights) {
        let place = PLACES[k];
        if unknown[k] == 0 || block[place] != 0 {
            continue;
        }
        let sum = i64::from(quantizers[0]) * sum(weights);
        let divisor = i64::from(quantizers[place]);
        let mut guess = ((divisor << 7) + sum.abs()) / (divisor << 8);
        if unknown[k] > 0 {
            guess = guess.min((1 << unknown[k]) - 1);
        }
        block[place] = (if sum < 0 { -guess } else { guess }) as i16;
    }
    if only_means {
        let divisor = i64::from(quantizers[0]);
        let sum = divisor * sum(&MEAN);
        let guess = ((divisor << 7) + sum.abs()) / (divisor << 8);
        block[0] = (if sum < 0 { -guess } else { guess }) as i16;
    }
}
