// A matrix whose inner index counts neighbours in memory.
struct Place_a {
    start: u32,
    inside: bool,
}
fn place_a(outer: u32, base: u32) -> Place_a {
    return Place_a(base + outer * params.stride_a, outer < params.extent_a);
}
//@ if vectors
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside && k < end) {
        v = data_a[(place.start + k) >> 2u];
    }
    return v;
}
//@ else
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside) {
        let at = place.start + k;
        if (k < end) {
            v.x = data_a[at];
        }
        if (k + 1u < end) {
            v.y = data_a[at + 1u];
        }
        if (k + 2u < end) {
            v.z = data_a[at + 2u];
        }
        if (k + 3u < end) {
            v.w = data_a[at + 3u];
        }
    }
    return v;
}
//@ end
