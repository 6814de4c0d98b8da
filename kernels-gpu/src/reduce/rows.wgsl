// A workgroup for each output. `Y` is what the output holds.
//@ import reducers

fn row(r: u32, lane: u32) {
    let part = r / params.outputs;
    let base = kept_at(r - part * params.outputs).x;
    let start = part * params.chunk;
    let end = min(start + params.chunk, params.folded);
    var acc = identity();
    //@ if vectors
    // The places of rows are counted in vectors, their elements one by one.
    for (var i = start / 4u + lane; i < end / 4u; i += WORKGROUP) {
        let v = vec4<X>(x[base + i]);
        acc = merge(acc, merge(merge(lift(v.x), lift(v.y)), merge(lift(v.z), lift(v.w))));
    }
    if (lane < (end & 3u)) {
        let v = vec4<X>(x[base + end / 4u]);
        acc = merge(acc, lift(v[lane]));
    }
    //@ else
    for (var i = start + lane; i < end; i += WORKGROUP) {
        acc = merge(acc, lift(X(x[base + folded_at(i).x])));
    }
    //@ end
    let all = all_of(acc, lane);
    if (lane == 0u) {
        y[r] = Y(finish(all, params.total));
    }
}
