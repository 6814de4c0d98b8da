fn element(i: u32) {
    let channel = i % (params.channels / 4u); //@ if vectors
    let channel = i / params.inner % params.channels; //@ if !vectors
    let factor = scale[channel] / sqrt(variance[channel] + S(params.epsilon));
    let normal = (S(x[i]) - mean[channel]) * factor + offset[channel];
    y[i] = V(normal); //@ if !fused
    y[i] = V(fused(i, channel, normal)); //@ if fused
}
