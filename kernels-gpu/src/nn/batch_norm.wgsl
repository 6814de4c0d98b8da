fn element(i: u32) {
//@ if vectors
    let channel = i % (params.channels / 4u);
//@ else
    let channel = i / params.inner % params.channels;
//@ end
    let factor = scale[channel] / sqrt(variance[channel] + S(params.epsilon));
    y[i] = V((S(x[i]) - mean[channel]) * factor + offset[channel]);
}
