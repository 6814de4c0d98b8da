//@ import math, powers

fn row(r: u32, lane: u32) {
    let parts = powers(r, lane);
    let log = own_log(parts.y);
    let scale = 1.0 / parts.y;
    var sum = 0.0;
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let shifted = logit(r, i) - parts.x;
        let label = f32(labels[r * params.label_row + i * params.label_column]);
        sum += label * (log - shifted);
        gradient[r * params.classes + i] = T(own_exp(shifted) * scale - label);
    }
    let total = sum_of(sum, lane);
    if (lane == 0u) {
        loss[r] = T(total);
    }
}
