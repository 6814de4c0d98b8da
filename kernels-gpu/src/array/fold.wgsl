fn element(i: u32) {
    let row = i / params.inner;
    let at = i - row * params.inner;
    let outer = row / params.size;
    let p = row - outer * params.size;
    let first = outer * (params.before + params.size + params.after);
    var sum = x[(first + params.before + p) * params.inner + at];
    let b = p - params.offset;
    if (b < params.before) {
        sum += x[(first + params.before - 1u - b) * params.inner + at];
    }
    let a = params.size - 1u - params.offset - p;
    if (a < params.after) {
        sum += x[(first + params.before + params.size + a) * params.inner + at];
    }
    y[i] = sum;
}
