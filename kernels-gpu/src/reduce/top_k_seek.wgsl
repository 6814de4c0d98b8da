var<workgroup> keys: array<A, WORKGROUP>;
var<workgroup> places: array<u32, WORKGROUP>;

fn row(r: u32, lane: u32) {
    let start = r * params.columns;
    var last = A(0);
    var last_place = 0u;
    for (var k = 0u; k < params.k; k++) {
        // The first of those that go behind the last one found.
        var best = A(0);
        var best_place = params.columns;
        for (var i = lane; i < params.columns; i += WORKGROUP) {
            let key = A(x[start + i]);
            if ((k == 0u || before(last, last_place, key, i)) && before(key, i, best, best_place)) {
                best = key;
                best_place = i;
            }
        }
        keys[lane] = best;
        places[lane] = best_place;
        workgroupBarrier();
        for (var half = WORKGROUP / 2u; half > 0u; half >>= 1u) {
            if (lane < half) {
                if (before(keys[lane + half], places[lane + half], keys[lane], places[lane])) {
                    keys[lane] = keys[lane + half];
                    places[lane] = places[lane + half];
                }
            }
            workgroupBarrier();
        }
        last = keys[0];
        last_place = places[0];
        workgroupBarrier();
        if (lane == 0u) {
            values[r * params.k + k] = T(last);
            indices[r * params.k + k] = I(last_place);
        }
    }
}
