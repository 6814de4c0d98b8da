//@ import top_k_order

struct Found {
    key: A,
    place: u32,
}

fn row(r: u32, lane: u32) {
    let start = r * params.columns;
    var last = Found();
    for (var k = 0u; k < params.k; k++) {
        // The first of those that go behind the last one found.
        var own = Found(A(0), params.columns);
        for (var i = lane; i < params.columns; i += WORKGROUP) {
            let key = A(x[start + i]);
            if ((k == 0u || before(last.key, last.place, key, i)) && before(key, i, own.key, own.place)) {
                own = Found(key, i);
            }
        }
        last = found_of(own, lane);
        if (lane == 0u) {
            values[r * params.k + k] = T(last.key);
            indices[r * params.k + k] = I(last.place);
        }
    }
}
