//@ import sort_order

var<workgroup> sorted: array<E, SORTED>;

// A block of a line through all sizes from `first` to `last`, over the distances that lie within the block.
fn row(r: u32, lane: u32) {
    let start = r * SORTED;
    let place = start & (params.padded - 1u);
    for (var i = lane; i < SORTED; i += WORKGROUP) {
        sorted[i] = entries[start + i];
    }
    for (var size = params.first; size <= params.last; size <<= 1u) {
        for (var distance = min(size, SORTED) >> 1u; distance > 0u; distance >>= 1u) {
            workgroupBarrier();
            for (var t = lane; t < SORTED / 2u; t += WORKGROUP) {
                let i = t / distance * distance * 2u + t % distance;
                let a = sorted[i];
                let b = sorted[i + distance];
                if (before(b, a) == (((place + i) & size) == 0u)) {
                    sorted[i] = b;
                    sorted[i + distance] = a;
                }
            }
        }
    }
    workgroupBarrier();
    for (var i = lane; i < SORTED; i += WORKGROUP) {
        entries[start + i] = sorted[i];
    }
}
