//@ import window
// What flows back into an element: the gradients of the windows in which it is the greatest.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let over = windows_over(i / depth);
    let own = U(i / depth % (params.rows * params.columns));
    var sum = S();
    for (var y = over.first.x; y < over.end.x; y++) {
        for (var x = over.first.y; x < over.end.y; x++) {
            let at = (over.image + y * params.out_columns + x) * depth + i % depth;
            sum += select(S(), S(gradient[at]), places[at] == own);
        }
    }
    output[i] = V(sum);
}
