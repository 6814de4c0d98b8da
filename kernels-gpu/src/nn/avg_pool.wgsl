//@ import window
// The average of a window's elements that are not padding.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let seen = window_of(i / depth);
    var sum = S();
    var count = A(0);
    for (var y = seen.first.x; y < seen.end.x; y++) {
        for (var x = seen.first.y; x < seen.end.y; x++) {
            sum += S(input[(seen.image + y * params.columns + x) * depth + i % depth]);
            count += A(1);
        }
    }
    output[i] = V(sum / count);
}
