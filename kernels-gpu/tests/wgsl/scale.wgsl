// Four elements at a time, whatever the dtype.
fn element(i: u32) {
    y[i] = x[i] * T(params.factor) + T4(T(params.offset));
}
