//@ import window
// In which pixel of its image the greatest element of a window stands: the first of them, NOWHERE if the window sees
// nothing. A NaN counts only in the first place.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let seen = window_of(i / depth);
    var best = V();
    var place = U(NOWHERE);
    for (var y = seen.first.x; y < seen.end.x; y++) {
        for (var x = seen.first.y; x < seen.end.y; x++) {
            let v = input[(seen.image + y * params.columns + x) * depth + i % depth];
            let greater = (best < v) | (place == U(NOWHERE));
            best = select(best, v, greater);
            place = select(place, U(y * params.columns + x), greater);
        }
    }
    places[i] = place;
}
