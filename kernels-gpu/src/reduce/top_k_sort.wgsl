//@ import top_k_order

var<workgroup> keys: array<A, SORTED>;
var<workgroup> places: array<u32, SORTED>;

// Bitonic sorting.
fn sort(lane: u32) {
    for (var size = 2u; size <= SORTED; size <<= 1u) {
        for (var distance = size >> 1u; distance > 0u; distance >>= 1u) {
            workgroupBarrier();
            for (var i = lane; i < SORTED; i += WORKGROUP) {
                let j = i ^ distance;
                if (j > i) {
                    let swaps = before(keys[j], places[j], keys[i], places[i]) == ((i & size) == 0u);
                    if (swaps) {
                        let key = keys[i];
                        let place = places[i];
                        keys[i] = keys[j];
                        places[i] = places[j];
                        keys[j] = key;
                        places[j] = place;
                    }
                }
            }
        }
    }
    workgroupBarrier();
}

fn load(start: u32, at: u32, place: u32) {
    if (place < params.columns) {
        keys[at] = A(x[start + place]);
    } else {
        keys[at] = A(0);
    }
    places[at] = place;
}

fn row(r: u32, lane: u32) {
    let start = r * params.columns;
    for (var i = lane; i < SORTED; i += WORKGROUP) {
        load(start, i, i);
    }
    sort(lane);
    // The greatest so far stay; the rest makes room for what comes next.
    let room = SORTED - min(params.k, SORTED - 1u);
    for (var next = SORTED; next < params.columns; next += room) {
        for (var i = lane; i < room; i += WORKGROUP) {
            load(start, SORTED - room + i, next + i);
        }
        sort(lane);
    }
    for (var i = lane; i < params.k; i += WORKGROUP) {
        values[r * params.k + i] = T(keys[i]);
        indices[r * params.k + i] = I(places[i]);
    }
}
