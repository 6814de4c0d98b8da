// The places in the resized image that can come from place `index`: from the first to before the second. Some more than
// these are looked at, so that how a quotient is rounded does not matter.
fn resized_from(index: u32, step: f32, last: u32, places: u32) -> vec2<u32> {
    var first = 0u;
    var end = places;
    if (step > 0.0) {
        if (index > 0u) {
            first = u32(clamp(floor((f32(index) - 1.0) / step) - 2.0, 0.0, f32(places)));
        }
        if (index < last) {
            end = min(places, u32(clamp(ceil((f32(index) + 1.5) / step) + 2.0, 0.0, f32(places))));
        }
    }
    return vec2<u32>(first, end);
}
