//@ import scans

fn element(i: u32) {
    let outer = i / params.inner;
    let start = outer * params.size * params.inner + (i - outer * params.inner);
    var acc = identity();
    for (var k = 0u; k < params.size; k++) {
        let place = start + select(k, params.size - 1u - k, params.reverse != 0u) * params.inner;
        let next = merge(acc, A(x[place]));
        y[place] = T(select(next, acc, params.exclusive != 0u));
        acc = next;
    }
}
