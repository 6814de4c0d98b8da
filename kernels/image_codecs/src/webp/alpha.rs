//! The plane of alpha beside a lossy picture, as libwebp's `src/dec/alpha_dec.c` reads it.

use kernlink::Result as Done;
use kernlink::tensor::scratch;

use super::container::Result;
use super::lossless;

/// How a plane is written.
#[derive(Clone, Copy)]
pub(super) struct Alpha<'a> {
    is_compressed: bool,
    filter: Filter,
    data: &'a [u8],
}

/// What was left out of each sample.
#[derive(Clone, Copy, PartialEq)]
enum Filter {
    Nothing,
    /// The sample to the left, or at the beginning of a row the one above.
    Left,
    /// The sample above.
    Above,
    /// The sample to the left and the one above, less the one at the corner, as far as samples go.
    Gradient,
}

impl<'a> Alpha<'a> {
    /// Reads how the plane of a chunk is written.
    ///
    /// # Errors
    /// That it is not written so.
    pub(super) fn new(chunk: &'a [u8]) -> Result<Alpha<'a>> {
        let (&first, data) = chunk.split_first().ok_or("Its plane of alpha is cut off.")?;
        let [method, filter, levels, reserved] = [0, 2, 4, 6].map(|bits| first >> bits & 3);
        if method > 1 || levels > 1 || reserved > 0 || data.is_empty() {
            return Err("Its plane of alpha begins as none does.");
        }
        let filter = [Filter::Nothing, Filter::Left, Filter::Above, Filter::Gradient][usize::from(filter)];
        Ok(Alpha { is_compressed: method == 1, filter, data })
    }

    /// The samples of the plane.
    ///
    /// # Errors
    /// The inner one says what is wrong with the plane; RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn plane(&self, columns: usize, rows: usize) -> Done<Result<Vec<u8>>> {
        let count = columns * rows;
        let mut plane = scratch::zeros::<u8>(count)?;
        if self.is_compressed {
            if let Err(reason) = lossless::decode_alpha(self.data, columns, rows, &mut plane)? {
                return Ok(Err(reason));
            }
        } else {
            let Some(samples) = self.data.get(..count) else { return Ok(Err("Its plane of alpha is cut off.")) };
            plane.copy_from_slice(samples);
        }
        self.filter.undo(&mut plane, columns);
        Ok(Ok(plane))
    }
}

impl Filter {
    /// Adds what was left out.
    fn undo(self, plane: &mut [u8], columns: usize) {
        if self == Filter::Nothing {
            return;
        }
        let (first, others) = plane.split_at_mut(columns);
        add_left(first, 0);
        let mut above = &*first;
        for row in others.chunks_exact_mut(columns) {
            match self {
                Filter::Above => row.iter_mut().zip(above).for_each(|(x, &above)| *x = x.wrapping_add(above)),
                Filter::Gradient => {
                    let (mut left, mut corner) = (above[0], above[0]);
                    for (x, &above) in row.iter_mut().zip(above) {
                        let expected = i16::from(left) + i16::from(above) - i16::from(corner);
                        left = x.wrapping_add(expected.clamp(0, 255) as u8);
                        (*x, corner) = (left, above);
                    }
                }
                _ => add_left(row, above[0]),
            }
            above = row;
        }
    }
}

fn add_left(row: &mut [u8], mut left: u8) {
    for x in row {
        *x = x.wrapping_add(left);
        left = *x;
    }
}
