// Leaves the error of the node in the word of the step.
fn refuse() {
    if (params.refusal != 0u) {
        refusals[params.refusal >> 26u] = params.refusal;
    }
}
