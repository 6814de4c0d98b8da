fn element(i: u32) {
    var sum = vec4<A>(); //@ if vectors
    var sum = A(); //@ if !vectors
    for (var part = 0u; part < params.parts; part++) {
        sum += scratch[part * params.step + i];
    }
    let at = params.base + i;
    sum = fused(at, at % params.channels, sum); //@ if fused
    result[at] = vec4<R>(sum); //@ if vectors
    result[at] = R(sum); //@ if !vectors
}
