// The filter of a convolution, turned: the outer index is that of an input channel, the inner that of a window's element,
// of which the output's channels are last. Of these a group has `patch_depth`.
struct Place_a {
    start: u32,
    inside: bool,
}
fn place_a(outer: u32, base: u32) -> Place_a {
    return Place_a(base + outer * params.out_depth, outer < params.extent_a);
}
fn find_a(place: Place_a, k: u32) -> u32 {
    return (k / params.patch_depth) * params.extent_a * params.out_depth + place.start + k % params.patch_depth;
}
