//! Strided copies of strings, resource handles and variants.

use super::{Odometer, Step};

/// Copies the box of `steps` from element `from` of `source` to the beginning of `target`; the box fits both.
pub(super) fn copy<T: Clone>(steps: &[Step], target: &mut [T], source: &[T], from: usize) {
    let mut position = Odometer::at(steps, 0);
    for _ in 0..steps.iter().map(|step| step.count).product() {
        target[position.target] = source[(from as isize + position.source) as usize].clone();
        position.advance();
    }
}
