// What the windows of a convolution see: the outer index is that of an output pixel, the inner that of a window's
// element, channels last.
struct Place_a {
    image: u32,
    y: i32,
    x: i32,
    inside: bool,
}
fn place_a(outer: u32, base: u32) -> Place_a {
    let line = outer / params.out_columns;
    let image = line / params.out_rows;
    let y = i32((line % params.out_rows) * params.stride_y) - i32(params.before_y);
    let x = i32((outer % params.out_columns) * params.stride_x) - i32(params.before_x);
    let start = image * params.rows * params.columns * params.depth + base;
    return Place_a(start, y, x, outer < params.extent_a);
}
// Where element k lies, or NOWHERE.
fn find_a(place: Place_a, k: u32) -> u32 {
    let tap = k / params.patch_depth;
    let y = u32(place.y + i32((tap / params.window_columns) * params.dilation_y));
    let x = u32(place.x + i32((tap % params.window_columns) * params.dilation_x));
    if (y < params.rows && x < params.columns) {
        return place.image + (y * params.columns + x) * params.depth + k % params.patch_depth;
    }
    return NOWHERE;
}
