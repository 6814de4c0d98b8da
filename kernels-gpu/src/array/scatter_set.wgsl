//@ import indices_nd
fn element(i: u32) {
    let r = i / params.inner;
    let row = row_at(r);
    if (row < ELSEWHERE) {
        y[row * params.inner + i - r * params.inner] = updates[i];
    }
}
