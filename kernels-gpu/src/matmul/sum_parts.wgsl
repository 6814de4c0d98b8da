fn element(i: u32) {
    var sum = vec4<A>(); //@ if vectors
    var sum = A(); //@ if !vectors
    for (var part = 0u; part < params.parts; part++) {
        sum += scratch[part * params.step + i];
    }
    result[params.base + i] = vec4<R>(sum); //@ if vectors
    result[params.base + i] = R(sum); //@ if !vectors
}
