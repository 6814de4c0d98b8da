// How places in one image become places in the other, as TensorFlow computes it. `half_pixels` is 1 if places are those of
// pixels' centers; `rounded` is 1 if the nearest is rounded to, not down to.

// Nothing beyond an image's end, which is its size less one.
fn nearest(index: u32, step: f32, last: u32) -> u32 {
    let place = select(f32(index), f32(index) + 0.5, params.half_pixels != 0u) * step;
    let whole = select(floor(place), away(place), params.rounded != 0u);
    return u32(clamp(whole, 0.0, f32(last)));
}
// Rounds halves away from zero; nothing is negative here.
fn away(place: f32) -> f32 {
    let whole = floor(place);
    return select(whole, whole + 1.0, place - whole >= 0.5);
}

// Two neighbours, and the weight of the second.
struct Between {
    lower: u32,
    upper: u32,
    fraction: f32,
}
fn between(index: u32, step: f32, last: u32) -> Between {
    var place = f32(index) * step;
    if (params.half_pixels != 0u) {
        place = (f32(index) + 0.5) * step - 0.5;
    }
    let whole = floor(place);
    let upper = u32(clamp(ceil(place), 0.0, f32(last)));
    let lower = min(u32(max(whole, 0.0)), upper);
    return Between(lower, upper, place - whole);
}
