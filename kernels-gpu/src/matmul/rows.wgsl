// A matrix whose inner index counts neighbours in memory.
struct Place_$ {
    start: u32,
    inside: bool,
}
fn place_$(outer: u32, base: u32) -> Place_$ {
    return Place_$(base + outer * params.stride_$, outer < params.extent_$);
}
//@ if vectors
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside && k < end) {
        v = data_$[(place.start + k) >> 2u];
    }
    return v;
}
//@ else
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside) {
        let at = place.start + k;
        if (k < end) {
            v.x = data_$[at];
        }
        if (k + 1u < end) {
            v.y = data_$[at + 1u];
        }
        if (k + 2u < end) {
            v.z = data_$[at + 2u];
        }
        if (k + 3u < end) {
            v.w = data_$[at + 3u];
        }
    }
    return v;
}
//@ end
