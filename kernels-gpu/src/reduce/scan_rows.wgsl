//@ import scans

var<workgroup> lanes: array<A, WORKGROUP>;

// A workgroup walks along `across` neighbouring lines: so many threads are side by side, and the others ahead of them.
fn row(r: u32, lane: u32) {
    let teams = (params.inner + params.across - 1u) / params.across;
    let outer = r / teams;
    let column = (r - outer * teams) * params.across + lane % params.across;
    let start = outer * params.size * params.inner + column;
    let steps = WORKGROUP / params.across;
    let ahead = lane / params.across;
    var carried = identity();
    for (var first = 0u; first < params.size; first += steps) {
        let k = first + ahead;
        let is_there = k < params.size && column < params.inner;
        let place = start + select(k, params.size - 1u - k, params.reverse != 0u) * params.inner;
        var acc = identity();
        if (is_there) {
            acc = A(x[place]);
        }
        lanes[lane] = acc;
        workgroupBarrier();
        for (var distance = params.across; distance < WORKGROUP; distance <<= 1u) {
            if (lane >= distance) {
                acc = merge(lanes[lane - distance], acc);
            }
            workgroupBarrier();
            lanes[lane] = acc;
            workgroupBarrier();
        }
        if (params.exclusive != 0u) {
            acc = identity();
            if (ahead > 0u) {
                acc = lanes[lane - params.across];
            }
        }
        if (is_there) {
            y[place] = T(merge(carried, acc));
        }
        carried = merge(carried, lanes[WORKGROUP - params.across + lane % params.across]);
        workgroupBarrier();
    }
}
