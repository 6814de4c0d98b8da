// What flows back into the input of a convolution: the outer index is that of an input pixel, the inner that of a
// window's element, of which the output's channels are last. Of these a group has `patch_depth`.
struct Place_a {
    image: u32,
    y: i32,
    x: i32,
    inside: bool,
}
fn place_a(outer: u32, base: u32) -> Place_a {
    let line = outer / params.columns;
    let image = line / params.rows;
    let y = i32(line % params.rows + params.before_y);
    let x = i32(outer % params.columns + params.before_x);
    let start = image * params.out_rows * params.out_columns * params.out_depth + base;
    return Place_a(start, y, x, outer < params.extent_a);
}
// Where element k lies, or NOWHERE.
fn find_a(place: Place_a, k: u32) -> u32 {
    let tap = k / params.patch_depth;
    let y = place.y - i32((tap / params.window_columns) * params.dilation_y);
    let x = place.x - i32((tap % params.window_columns) * params.dilation_x);
    if (y < 0 || x < 0) {
        return NOWHERE;
    }
    let row = u32(y) / params.stride_y;
    let column = u32(x) / params.stride_x;
    let met = row * params.stride_y == u32(y) && column * params.stride_x == u32(x);
    if (met && row < params.out_rows && column < params.out_columns) {
        return place.image + (row * params.out_columns + column) * params.out_depth + k % params.patch_depth;
    }
    return NOWHERE;
}
