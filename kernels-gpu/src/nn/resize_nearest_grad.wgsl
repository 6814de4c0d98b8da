//@ import places, resized_from
// What flows back into a pixel: the gradients of the pixels to which it is the nearest. Here `rows` and `columns` are the
// original's, `out_rows` and `out_columns` the gradient's.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let pixel = i / depth;
    let line = pixel / params.columns;
    let y = line % params.rows;
    let x = pixel % params.columns;
    let down = resized_from(y, params.step_y, params.rows - 1u, params.out_rows);
    let across = resized_from(x, params.step_x, params.columns - 1u, params.out_columns);
    let image = line / params.rows * params.out_rows;
    var sum = S();
    for (var row = down.x; row < down.y; row++) {
        if (nearest(row, params.step_y, params.rows - 1u) != y) {
            continue;
        }
        for (var column = across.x; column < across.y; column++) {
            if (nearest(column, params.step_x, params.columns - 1u) == x) {
                sum += S(input[((image + row) * params.out_columns + column) * depth + i % depth]);
            }
        }
    }
    output[i] = V(sum);
}
