fn tile(batch: u32, row: u32, column: u32, lane: u32) {
    for (var i = lane; i < TILE_ROWS * TILE_COLUMNS; i += WORKGROUP) {
        let y_at = row + i / TILE_COLUMNS;
        let x_at = column + i % TILE_COLUMNS;
        if (y_at < params.rows && x_at < params.columns) {
            let first = (batch * params.rows + y_at) * params.x_shape_2;
            y[first + x_at] = x[first + params.columns - 1u - x_at];
        }
    }
}
