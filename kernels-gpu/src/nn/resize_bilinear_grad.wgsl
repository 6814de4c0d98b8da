//@ import places, resized_from
// What flows back into a pixel: the gradients of the pixels that are mixed from it, by its weight. Here `rows` and
// `columns` are the original's, `out_rows` and `out_columns` the gradient's.
fn weight(found: Between, place: u32) -> f32 {
    return select(0.0, 1.0 - found.fraction, found.lower == place) + select(0.0, found.fraction, found.upper == place);
}
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let pixel = i / depth;
    let line = pixel / params.columns;
    let y = line % params.rows;
    let x = pixel % params.columns;
    let down = resized_from(y, params.step_y, params.rows - 1u, params.out_rows);
    let across = resized_from(x, params.step_x, params.columns - 1u, params.out_columns);
    let image = line / params.rows * params.out_rows;
    var sum = F();
    for (var row = down.x; row < down.y; row++) {
        let row_weight = weight(between(row, params.step_y, params.rows - 1u), y);
        if (row_weight == 0.0) {
            continue;
        }
        for (var column = across.x; column < across.y; column++) {
            let share = row_weight * weight(between(column, params.step_x, params.columns - 1u), x);
            sum += input[((image + row) * params.out_columns + column) * depth + i % depth] * share;
        }
    }
    output[i] = V(sum);
}
