// Writes four neighbours of a line of the product.
fn put(line: u32, column: u32, v: vec4<S>) {
    //@ if vectors
    if (column < params.extent_b) {
        result[(line + column) >> 2u] = vec4<R>(v);
    }
    //@ else
    for (var i = 0u; i < 4u; i++) {
        if (column + i < params.extent_b) {
            result[line + column + i] = R(v[i]);
        }
    }
    //@ end
}
