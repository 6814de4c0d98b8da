// What the windows of a convolution see, turned: the outer index is that of a window's element, channels last, the inner
// that of an output pixel.
struct Tap_a {
    y: i32,
    x: i32,
    channel: u32,
    inside: bool,
}
fn tap_a(outer: u32, base: u32) -> Tap_a {
    let tap = outer / params.patch_depth;
    let y = i32((tap / params.window_columns) * params.dilation_y) - i32(params.before_y);
    let x = i32((tap % params.window_columns) * params.dilation_x) - i32(params.before_x);
    return Tap_a(y, x, base + outer % params.patch_depth, outer < params.extent_a);
}
// Where the element lies at output pixel k, or NOWHERE.
fn find_a(tap: Tap_a, k: u32) -> u32 {
    let line = k / params.out_columns;
    let image = line / params.out_rows;
    let y = u32(tap.y + i32((line % params.out_rows) * params.stride_y));
    let x = u32(tap.x + i32((k % params.out_columns) * params.stride_x));
    if (tap.inside && y < params.rows && x < params.columns) {
        return ((image * params.rows + y) * params.columns + x) * params.depth + tap.channel;
    }
    return NOWHERE;
}
//@ if vectors
struct Place_a {
    tap: Tap_a,
}
fn place_a(outer: u32, base: u32) -> Place_a {
    return Place_a(tap_a(outer, base));
}
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (k < end) {
        let at = find_a(place.tap, k);
        if (at != NOWHERE) {
            v = data_a[at >> 2u];
        }
    }
    return v;
}
//@ else
struct Place_a {
    outer: u32,
    base: u32,
}
fn place_a(outer: u32, base: u32) -> Place_a {
    return Place_a(outer, base);
}
fn read_a(place: Place_a, k: u32, end: u32) -> vec4<T> {
    var v = vec4<T>();
    if (k < end) {
        for (var i = 0u; i < 4u; i++) {
            let at = find_a(tap_a(place.outer + i, place.base), k);
            if (at != NOWHERE) {
                v[i] = data_a[at];
            }
        }
    }
    return v;
}
//@ end
