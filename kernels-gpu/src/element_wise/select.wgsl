// Choice between elements, by the names of the ops.

fn Select(x: u32, y: T, z: T) -> T { return select(z, y, x != 0u); }
fn SelectV2(x: u32, y: T, z: T) -> T { return select(z, y, x != 0u); }

// The lower bound wins where the bounds cross; NaN stays.
fn ClipByValue(x: T, low: T, high: T) -> T {
    let below = select(x, high, high < x);
    return select(below, low, below < low);
}
