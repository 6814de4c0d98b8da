//@ import places

fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let pixel = i / depth;
    let line = pixel / params.out_columns;
    let y = nearest(line % params.out_rows, params.step_y, params.rows - 1u);
    let x = nearest(pixel % params.out_columns, params.step_x, params.columns - 1u);
    let image = line / params.out_rows * params.rows;
    output[i] = input[((image + y) * params.columns + x) * depth + i % depth];
}
