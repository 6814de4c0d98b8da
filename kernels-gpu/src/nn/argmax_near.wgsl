//@ import indices, window
// What flows back into an element: the gradients of those windows that see it and name it, of its own channel.
fn element(i: u32) {
    let over = windows_over(i / params.depth);
    let image = params.rows * params.columns * params.depth;
    let own = select(i % image, i, params.across != 0u);
    var sum = A();
    if (params.flow_depth != params.depth) {
        output[i] = T(sum);
        return;
    }
    for (var y = over.first.x; y < over.end.x; y++) {
        for (var x = over.first.y; x < over.end.y; x++) {
            let at = (over.image + y * params.out_columns + x) * params.depth + i % params.depth;
            if (index_at(at) == own) {
                sum += A(gradient[at]);
            }
        }
    }
    output[i] = T(sum);
}
