fn element(i: u32) {
    var sum = 0.0;
    for (var part = 0u; part < params.parts; part++) {
        sum += scratch[part * params.count + i];
    }
    let found = sum / params.elements;
    variance[i] = found;
    if (params.running != 0u) {
        let keep = 1.0 - params.factor;
        new_mean[i] = keep * old_mean[i] + params.factor * mean[i];
        new_variance[i] = keep * old_variance[i] + (params.factor * params.adjust) * found;
    } else {
        new_mean[i] = mean[i];
        new_variance[i] = found * params.adjust;
    }
}
