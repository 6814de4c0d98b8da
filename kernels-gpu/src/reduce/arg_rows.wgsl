var<workgroup> bests: array<A, WORKGROUP>;
var<workgroup> places: array<u32, WORKGROUP>;

fn row(r: u32, lane: u32) {
    let start = r * params.size;
    var best = first();
    // Nothing is found yet: behind all places.
    var place = 0xffffffffu;
    for (var k = lane; k < params.size; k += WORKGROUP) {
        let candidate = A(x[start + k]);
        if (beyond(candidate, best)) {
            best = candidate;
            place = k;
        }
    }
    bests[lane] = best;
    places[lane] = place;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half >>= 1u) {
        if (lane < half) {
            let other = bests[lane + half];
            let there = places[lane + half];
            if (beyond(other, bests[lane]) || (!beyond(bests[lane], other) && there < places[lane])) {
                bests[lane] = other;
                places[lane] = there;
            }
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        y[r] = R(select(places[0], 0u, places[0] == 0xffffffffu));
    }
}
