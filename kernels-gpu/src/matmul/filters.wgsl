// The filter of a convolution, turned: the outer index is that of an input channel, the inner that of a window's element,
// of which the output's channels are last.
struct Place_$ {
    start: u32,
    inside: bool,
}
fn place_$(outer: u32, base: u32) -> Place_$ {
    return Place_$(base + outer * params.out_depth, outer < params.extent_$);
}
fn find_$(place: Place_$, k: u32) -> u32 {
    return (k / params.out_depth) * params.extent_$ * params.out_depth + place.start + k % params.out_depth;
}
//@ if vectors
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside && k < end) {
        v = data_$[find_$(place, k) >> 2u];
    }
    return v;
}
//@ else
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside) {
        for (var i = 0u; i < 4u; i++) {
            if (k + i < end) {
                v[i] = data_$[find_$(place, k + i)];
            }
        }
    }
    return v;
}
//@ end
