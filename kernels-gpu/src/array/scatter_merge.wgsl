//@ import indices_nd, merge
fn element(i: u32) {
    let r = i / params.inner;
    let row = row_at(r);
    if (row < ELSEWHERE) {
        merge(row * params.inner + i - r * params.inner, updates[i]);
    }
}
