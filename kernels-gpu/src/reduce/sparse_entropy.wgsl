//@ import math, powers, refuse

fn row(r: u32, lane: u32) {
    let parts = powers(r, lane);
    let scale = 1.0 / parts.y;
    let given = labels[r];
    let valid = given >= L(0) && given < L(params.classes);
    let label = select(0xffffffffu, u32(given), valid);
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let power = own_exp(logit(r, i) - parts.x) * scale;
        gradient[r * params.classes + i] = T(power - select(0.0, 1.0, i == label));
    }
    if (lane == 0u) {
        if (valid) {
            loss[r] = T(own_log(parts.y) - (logit(r, label) - parts.x));
        } else {
            loss[r] = T(nan());
            refuse();
        }
    }
}
