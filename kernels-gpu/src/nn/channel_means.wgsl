fn element(i: u32) {
    var sum = 0.0;
    for (var part = 0u; part < params.parts; part++) {
        sum += scratch[part * params.count + i];
    }
    mean[i] = sum / params.elements;
}
