// A workgroup for all outputs, which are few. `Y` is what the output holds.
//@ import reducers

var<workgroup> lanes: array<A, WORKGROUP>;

fn row(part: u32, lane: u32) {
    // The outputs side by side, with room for a power of two.
    var across = 1u;
    for (; across < params.outputs; across <<= 1u) {
    }
    let output = lane % across;
    let base = kept_at(min(output, params.outputs - 1u)).x;
    let start = part * params.chunk;
    let end = min(start + params.chunk, params.folded);
    let slices = WORKGROUP / across;
    var acc = identity();
    for (var k = start + lane / across; k < end; k += slices) {
        acc = merge(acc, lift(X(x[base + folded_at(k).x])));
    }
    lanes[lane] = acc;
    workgroupBarrier();
    for (var step = WORKGROUP >> 1u; step >= across; step >>= 1u) {
        if (lane < step) {
            lanes[lane] = merge(lanes[lane], lanes[lane + step]);
        }
        workgroupBarrier();
    }
    if (lane < params.outputs) {
        y[part * params.outputs + lane] = Y(finish(lanes[lane], params.total));
    }
}
