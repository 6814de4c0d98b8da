//@ import indices
fn element(i: u32) {
    let row = i / params.suffix;
    let outer = row / params.depth;
    let index = index_at(outer * params.suffix + i - row * params.suffix);
    if (index == row - outer * params.depth) {
        y[i] = on[0];
    } else {
        y[i] = off[0];
    }
}
