fn element(i: u32) {
    let part = i / params.outputs;
    let base = kept_at(i - part * params.outputs).x;
    let start = part * params.chunk;
    let end = min(start + params.chunk, params.folded);
    var acc = ACC(identity());
    for (var k = start; k < end; k++) {
        FOLD
    }
    y[i] = STORED(FINISHED);
}
