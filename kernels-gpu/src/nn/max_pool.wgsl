//@ import window
// The greatest of a window's elements, from the lowest finite value: NaN and negative infinity never win.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let seen = window_of(i / depth);
    var best = V(lowest());
    for (var y = seen.first.x; y < seen.end.x; y++) {
        for (var x = seen.first.y; x < seen.end.y; x++) {
            let v = input[(seen.image + y * params.columns + x) * depth + i % depth];
            best = select(best, v, best < v);
        }
    }
    output[i] = best;
}
