//! Audio: WAV files, spectrograms, cepstra.

mod feature;
mod wav;

pub use feature::*;
pub use wav::*;
