//@ import arg_order

struct Found {
    best: A,
    place: u32,
}

fn row(r: u32, lane: u32) {
    let start = r * params.size;
    // Nothing is found yet: behind all places.
    var own = Found(first(), 0xffffffffu);
    for (var k = lane; k < params.size; k += WORKGROUP) {
        let candidate = A(x[start + k]);
        if (beyond(candidate, own.best)) {
            own = Found(candidate, k);
        }
    }
    let all = found_of(own, lane);
    if (lane == 0u) {
        y[r] = R(select(all.place, 0u, all.place == 0xffffffffu));
    }
}
