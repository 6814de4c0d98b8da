var<workgroup> lanes: array<A, WORKGROUP>;

fn row(r: u32, lane: u32) {
    let outer = r / params.inner;
    let start = outer * params.size * params.inner + (r - outer * params.inner);
    var carried = identity();
    for (var first = 0u; first < params.size; first += WORKGROUP) {
        let k = first + lane;
        let place = start + select(k, params.size - 1u - k, params.reverse != 0u) * params.inner;
        var acc = identity();
        if (k < params.size) {
            acc = A(x[place]);
        }
        lanes[lane] = acc;
        workgroupBarrier();
        for (var distance = 1u; distance < WORKGROUP; distance <<= 1u) {
            if (lane >= distance) {
                acc = merge(lanes[lane - distance], acc);
            }
            workgroupBarrier();
            lanes[lane] = acc;
            workgroupBarrier();
        }
        if (params.exclusive != 0u) {
            acc = identity();
            if (lane > 0u) {
                acc = lanes[lane - 1u];
            }
        }
        if (k < params.size) {
            y[place] = T(merge(carried, acc));
        }
        carried = merge(carried, lanes[WORKGROUP - 1u]);
        workgroupBarrier();
    }
}
