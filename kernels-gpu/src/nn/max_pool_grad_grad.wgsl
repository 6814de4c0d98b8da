//@ import window
// The gradient's element where the first element of the window that is the pooled one stands.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let seen = window_of(i / depth);
    let wanted = pooled[i];
    var found = V();
    var place = U(NOWHERE);
    for (var y = seen.first.x; y < seen.end.x; y++) {
        for (var x = seen.first.y; x < seen.end.y; x++) {
            let at = (seen.image + y * params.columns + x) * depth + i % depth;
            let is_it = (place == U(NOWHERE)) & (input[at] == wanted);
            found = select(found, gradient[at], is_it);
            place = select(place, U(at), is_it);
        }
    }
    output[i] = found;
}
