// The part of the input that a window sees: rows and columns from `first` to before `end`, of an image whose pixels begin
// at `image`.
struct Window {
    image: u32,
    first: vec2<u32>,
    end: vec2<u32>,
}
// The window of output pixel `pixel`.
fn window_of(pixel: u32) -> Window {
    let line = pixel / params.out_columns;
    let image = line / params.out_rows * params.rows * params.columns;
    let y = i32(line % params.out_rows * params.stride_y) - i32(params.before_y);
    let x = i32(pixel % params.out_columns * params.stride_x) - i32(params.before_x);
    let end_y = clamp(y + i32(params.window_rows), 0, i32(params.rows));
    let end_x = clamp(x + i32(params.window_columns), 0, i32(params.columns));
    let first = vec2<u32>(u32(max(y, 0)), u32(max(x, 0)));
    return Window(image, first, vec2<u32>(u32(end_y), u32(end_x)));
}
// The output pixels whose windows see input pixel `pixel`, as part of the output.
fn windows_over(pixel: u32) -> Window {
    let line = pixel / params.columns;
    let image = line / params.rows * params.out_rows * params.out_columns;
    let y = line % params.rows + params.before_y;
    let x = pixel % params.columns + params.before_x;
    var first = vec2<u32>(0u, 0u);
    if (y >= params.window_rows) {
        first.x = (y - params.window_rows) / params.stride_y + 1u;
    }
    if (x >= params.window_columns) {
        first.y = (x - params.window_columns) / params.stride_x + 1u;
    }
    let end_y = min(y / params.stride_y + 1u, params.out_rows);
    let end_x = min(x / params.stride_x + 1u, params.out_columns);
    return Window(image, first, vec2<u32>(end_y, end_x));
}
