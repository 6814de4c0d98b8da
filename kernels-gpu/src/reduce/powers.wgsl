// Logits of a row and the sum of their powers, for cross entropies.
//@ import math

fn logit(r: u32, i: u32) -> f32 { return f32(x[r * params.x_row + i * params.x_column]); }

// The greatest logit of a row, and the sum of the powers of all others' distances from it.
fn powers(r: u32, lane: u32) -> vec2<f32> {
    var own = -inf();
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let logit = logit(r, i);
        own = select(own, logit, logit > own);
    }
    let most = greatest(own, lane);
    var sum = 0.0;
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        sum += own_exp(logit(r, i) - most);
    }
    return vec2<f32>(most, sum_of(sum, lane));
}
