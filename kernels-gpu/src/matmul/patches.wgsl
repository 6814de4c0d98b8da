// What the windows of a convolution see: the outer index is that of an output pixel, the inner that of a window's
// element, channels last.
struct Place_$ {
    image: u32,
    y: i32,
    x: i32,
    inside: bool,
}
fn place_$(outer: u32, base: u32) -> Place_$ {
    let line = outer / params.out_columns;
    let image = line / params.out_rows;
    let y = i32((line % params.out_rows) * params.stride_y) - i32(params.before_y);
    let x = i32((outer % params.out_columns) * params.stride_x) - i32(params.before_x);
    let start = image * params.rows * params.columns * params.depth + base;
    return Place_$(start, y, x, outer < params.extent_$);
}
// Where element k lies, or NOWHERE.
fn find_$(place: Place_$, k: u32) -> u32 {
    let tap = k / params.patch_depth;
    let y = u32(place.y + i32((tap / params.window_columns) * params.dilation_y));
    let x = u32(place.x + i32((tap % params.window_columns) * params.dilation_x));
    if (y < params.rows && x < params.columns) {
        return place.image + (y * params.columns + x) * params.depth + k % params.patch_depth;
    }
    return NOWHERE;
}
//@ if vectors
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside && k < end) {
        let at = find_$(place, k);
        if (at != NOWHERE) {
            v = data_$[at >> 2u];
        }
    }
    return v;
}
//@ else
fn read_$(place: Place_$, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (place.inside) {
        for (var i = 0u; i < 4u; i++) {
            if (k + i < end) {
                let at = find_$(place, k + i);
                if (at != NOWHERE) {
                    v[i] = data_$[at];
                }
            }
        }
    }
    return v;
}
//@ end
