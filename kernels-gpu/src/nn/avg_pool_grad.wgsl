//@ import window
// What flows back into an element: its share of the average of each window that sees it.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let over = windows_over(i / depth);
    var sum = S();
    for (var y = over.first.x; y < over.end.x; y++) {
        for (var x = over.first.y; x < over.end.y; x++) {
            let pixel = over.image + y * params.out_columns + x;
            let seen = window_of(pixel);
            let extent = seen.end - seen.first;
            sum += S(gradient[pixel * depth + i % depth]) / A(extent.x * extent.y);
        }
    }
    output[i] = V(sum);
}
