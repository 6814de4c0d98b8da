fn element(i: u32) {
    //@ if vectors
    var sum = vec4<A>();
    //@ else
    var sum = A();
    //@ end
    for (var part = 0u; part < params.parts; part++) {
        sum += scratch[part * params.step + i];
    }
    //@ if vectors
    result[params.base + i] = vec4<R>(sum);
    //@ else
    result[params.base + i] = R(sum);
    //@ end
}
