//! Images: detection, crops, sizes, colours, boxes. Images are `[batch, rows, columns, channels]`, and boxes
//! `[y_min, x_min, y_max, x_max]`.

mod boxes;
mod color;
mod crop;
mod detection;
mod glimpse;
mod resize;
mod transform;

pub use boxes::*;
pub use color::*;
pub use crop::*;
pub use detection::*;
pub use glimpse::*;
pub use resize::*;
pub use transform::*;
