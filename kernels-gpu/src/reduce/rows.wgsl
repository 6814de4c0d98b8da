fn row(r: u32, lane: u32) {
    let part = r / params.outputs;
    let base = kept_at(r - part * params.outputs).x;
    let start = part * params.chunk;
    let end = min(start + params.chunk, params.folded);
    var acc = identity();
FOLD
    let all = all_of(acc, lane);
    if (lane == 0u) {
        y[r] = STORED(finish(all, params.total));
    }
}
