fn element(i: u32) {
    var offset = 0.0;
    var product = 0.0;
    for (var part = 0u; part < params.parts; part++) {
        offset += scratch[2u * part * params.count + i];
        product += scratch[(2u * part + 1u) * params.count + i];
    }
    let inverse = 1.0 / sqrt(variance[i] + params.epsilon);
    scale_gradient[i] = product * inverse;
    offset_gradient[i] = offset;
    coefficients[i] = scale[i] * inverse;
    coefficients[params.count + i] = offset / params.elements;
    coefficients[2u * params.count + i] = product / params.elements * inverse * inverse;
}
