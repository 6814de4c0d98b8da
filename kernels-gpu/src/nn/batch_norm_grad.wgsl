fn element(i: u32) {
//@ if vectors
    let channels = params.channels / 4u;
    let channel = i % channels;
//@ else
    let channels = params.channels;
    let channel = i / params.inner % channels;
//@ end
    let factor = coefficients[channel];
    let dy = S(gradient[i]);
    if (params.training != 0u) {
        let center = coefficients[channels + channel];
        let slope = coefficients[2u * channels + channel];
        result[i] = V(factor * (dy - center - (S(x[i]) - mean[channel]) * slope));
    } else {
        result[i] = V(dy * factor);
    }
}
