// A matrix whose outer index counts neighbours in memory.
struct Place_a {
    start: u32,
    outer: u32,
}
fn place_a(outer: u32, base: u32) -> Place_a {
    return Place_a(base + outer, outer);
}
//@ if vectors
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.outer < params.extent_a && k < end) {
        v = data_a[(place.start + k * params.stride_a) >> 2u];
    }
    return v;
}
//@ else
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (k < end) {
        let at = place.start + k * params.stride_a;
        if (place.outer < params.extent_a) {
            v.x = data_a[at];
        }
        if (place.outer + 1u < params.extent_a) {
            v.y = data_a[at + 1u];
        }
        if (place.outer + 2u < params.extent_a) {
            v.z = data_a[at + 2u];
        }
        if (place.outer + 3u < params.extent_a) {
            v.w = data_a[at + 3u];
        }
    }
    return v;
}
//@ end
