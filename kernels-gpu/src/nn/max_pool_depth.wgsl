// The greatest of neighbouring channels; a NaN counts only in the first place.
fn element(i: u32) {
    var best = input[i * params.channels];
    for (var channel = 1u; channel < params.channels; channel++) {
        let v = input[i * params.channels + channel];
        best = select(best, v, best < v);
    }
    output[i] = best;
}
