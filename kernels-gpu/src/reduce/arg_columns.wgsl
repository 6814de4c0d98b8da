//@ import arg_order

fn element(i: u32) {
    let outer = i / params.inner;
    let start = outer * params.size * params.inner + (i - outer * params.inner);
    var best = first();
    var place = 0u;
    for (var k = 0u; k < params.size; k++) {
        let candidate = A(x[start + k * params.inner]);
        if (beyond(candidate, best)) {
            best = candidate;
            place = k;
        }
    }
    y[i] = R(place);
}
