//@ import window
// The greatest of a window's elements, and where it stands: the first of them. A NaN counts only in the first place.
fn element(i: u32) {
    let channel = i % params.depth;
    let seen = window_of(i / params.depth);
    let start = select(params.rows * params.columns * (i / params.depth / (params.out_rows * params.out_columns)), 0u,
        params.across != 0u);
    var best = lowest();
    var place = NOWHERE;
    for (var y = seen.first.x; y < seen.end.x; y++) {
        for (var x = seen.first.y; x < seen.end.y; x++) {
            let pixel = seen.image + y * params.columns + x;
            let v = input[pixel * params.depth + channel];
            if (best < v || place == NOWHERE) {
                best = v;
                place = (pixel - start) * params.depth + channel;
            }
        }
    }
    output[i] = best;
    // Where nothing is seen the index is -1.
    argmax[i] = vec2<u32>(place, select(0u, NOWHERE, place == NOWHERE)); //@ if wide
    argmax[i] = place; //@ if !wide
}
