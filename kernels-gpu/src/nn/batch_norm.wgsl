fn element(i: u32) {
    let channel = i % (params.channels / 4u); //@ if vectors
    let channel = i / params.inner % params.channels; //@ if !vectors
    let factor = scale[channel] / sqrt(variance[channel] + S(params.epsilon));
    y[i] = V((S(x[i]) - mean[channel]) * factor + offset[channel]);
}
