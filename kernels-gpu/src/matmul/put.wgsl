//@ if fused
// The output's channel that a convolution's group begins with.
var<private> group_channel: u32 = 0u;
//@ end

// Writes four neighbours of a line of the product.
fn put(line: u32, column: u32, v: vec4<S>) {
    //@ if vectors
    if (column < params.extent_b) {
        let at = (line + column) >> 2u;
        result[at] = vec4<R>(v); //@ if !fused
        result[at] = vec4<R>(fused(at, (group_channel + column) >> 2u, v)); //@ if fused
    }
    //@ else
    for (var i = 0u; i < 4u; i++) {
        if (column + i < params.extent_b) {
            let at = line + column + i;
            result[at] = R(v[i]); //@ if !fused
            result[at] = R(fused(at, group_channel + column + i, v[i])); //@ if fused
        }
    }
    //@ end
}
