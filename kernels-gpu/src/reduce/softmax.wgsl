//@ import math

fn row(r: u32, lane: u32) {
    let start = r * params.classes;
    var own = -inf();
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let logit = f32(x[start + i]);
        own = select(own, logit, logit > own);
    }
    let most = greatest(own, lane);
    var sum = 0.0;
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        sum += own_exp(f32(x[start + i]) - most);
    }
    let total = sum_of(sum, lane);
    let scale = own_log(total); //@ if log
    let scale = 1.0 / total; //@ if !log
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let shifted = f32(x[start + i]) - most;
        y[start + i] = T(shifted - scale); //@ if log
        y[start + i] = T(own_exp(shifted) * scale); //@ if !log
    }
}
