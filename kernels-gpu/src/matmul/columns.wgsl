// A matrix whose outer index counts neighbours in memory.
struct Place_$ {
    start: u32,
    outer: u32,
}
fn place_$(outer: u32, base: u32) -> Place_$ {
    return Place_$(base + outer, outer);
}
//@ if vectors
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.outer < params.extent_$ && k < end) {
        v = data_$[(place.start + k * params.stride_$) >> 2u];
    }
    return v;
}
//@ else
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (k < end) {
        let at = place.start + k * params.stride_$;
        if (place.outer < params.extent_$) {
            v.x = data_$[at];
        }
        if (place.outer + 1u < params.extent_$) {
            v.y = data_$[at + 1u];
        }
        if (place.outer + 2u < params.extent_$) {
            v.z = data_$[at + 2u];
        }
        if (place.outer + 3u < params.extent_$) {
            v.w = data_$[at + 3u];
        }
    }
    return v;
}
//@ end
