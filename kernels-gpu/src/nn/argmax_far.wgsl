//@ import indices, merge, refuse, window
// The gradient of a window that names an element which it does not see, of whatever channel, goes there.
fn element(i: u32) {
    let image = params.rows * params.columns * params.depth;
    let start = i / (params.out_rows * params.out_columns * params.flow_depth) * image;
    let index = index_at(i);
    let first = select(0u, start, params.across != 0u);
    if (index < first || index - first >= image) {
        refuse();
        return;
    }
    let place = index - first;
    let seen = window_of(i / params.flow_depth);
    let pixel = place / params.depth;
    let y_ = pixel / params.columns;
    let x_ = pixel % params.columns;
    let is_inside = y_ >= seen.first.x && y_ < seen.end.x && x_ >= seen.first.y && x_ < seen.end.y;
    if (params.flow_depth == params.depth && is_inside && place % params.depth == i % params.depth) {
        return;
    }
    merge(start + place, updates[i]);
}
