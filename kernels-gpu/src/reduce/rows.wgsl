var<workgroup> lanes: array<A, WORKGROUP>;

fn row(r: u32, lane: u32) {
    let part = r / params.outputs;
    let base = kept_at(r - part * params.outputs).x;
    let start = part * params.chunk;
    let end = min(start + params.chunk, params.folded);
    var acc = identity();
FOLD
    lanes[lane] = acc;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half >>= 1u) {
        if (lane < half) {
            lanes[lane] = merge(lanes[lane], lanes[lane + half]);
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        y[r] = STORED(finish(lanes[0], params.total));
    }
}
