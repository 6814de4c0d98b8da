// `start + i * delta` for each `i` from `first` on.
//@ if i64
// Halves are joined without a sign: naga extends that of a `u32` which becomes an `i64`.
fn whole(low: u32, high: u32) -> i64 { return i64((u64(high) << 32u) | u64(low)); }

fn element(i: u32) {
    let delta = whole(params.delta, params.delta_high);
    y[i] = whole(params.start, params.start_high) + i64(params.first + i) * delta;
}
//@ else
fn element(i: u32) {
    y[i] = T(params.start) + T(f32(params.first + i)) * T(params.delta);
}
//@ end
