//@ import indices, refuse
fn element(i: u32) {
    let row = i / params.inner;
    let at = i - row * params.inner;
    let block = row / params.picked;
    let pick = row - block * params.picked;
    let index = index_at(block / params.outer * params.picked + pick);
    if (index >= params.size) {
        refuse();
        y[i] = U();
    } else if (index - params.top < params.height) {
        y[i] = x[(block * params.height + index - params.top) * params.inner + at];
    }
}
