//@ import places

fn at(row: u32, column: u32, depth: u32, channel: u32) -> F {
    return F(input[(row * params.columns + column) * depth + channel]);
}
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let pixel = i / depth;
    let channel = i % depth;
    let line = pixel / params.out_columns;
    let y = between(line % params.out_rows, params.step_y, params.rows - 1u);
    let x = between(pixel % params.out_columns, params.step_x, params.columns - 1u);
    let image = line / params.out_rows * params.rows;
    let top_left = at(image + y.lower, x.lower, depth, channel);
    let top_right = at(image + y.lower, x.upper, depth, channel);
    let bottom_left = at(image + y.upper, x.lower, depth, channel);
    let bottom_right = at(image + y.upper, x.upper, depth, channel);
    let top = top_left + (top_right - top_left) * x.fraction;
    let bottom = bottom_left + (bottom_right - bottom_left) * x.fraction;
    output[i] = top + (bottom - top) * y.fraction;
}
