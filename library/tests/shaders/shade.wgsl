fn row(r: u32, lane: u32) {
    y[r] = x[r] * T(params.factor);
}
