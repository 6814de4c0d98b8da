//@ import math

//@ if !scaled
var<private> logits_start: u32 = 0u;
fn begin(r: u32) { logits_start = r * params.classes; }
fn logit(i: u32) -> f32 { return f32(x[logits_start + i]); }
//@ end

fn row(r: u32, lane: u32) {
    let start = r * params.classes;
    begin(r);
    var own = -inf();
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let value = logit(i);
        own = select(own, value, value > own);
    }
    let most = greatest(own, lane);
    var sum = 0.0;
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        sum += own_exp(logit(i) - most);
    }
    let total = sum_of(sum, lane);
    let scale = own_log(total); //@ if log
    let scale = 1.0 / total; //@ if !log
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let shifted = logit(i) - most;
        y[start + i] = T(shifted - scale); //@ if log
        y[start + i] = T(own_exp(shifted) * scale); //@ if !log
    }
}
