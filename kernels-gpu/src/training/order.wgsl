//@ import indices
// The rows that indices name, with their places. Those behind the last go last.
fn element(i: u32) {
    var row = 0xffffffffu;
    if (i < params.steps) {
        row = index_at(i);
    }
    order[i] = E(row, i);
}
