//@ import math

fn element(r: u32) {
    let start = r * params.classes;
    let end = start + params.classes;
    var most = -inf();
    for (var i = start; i < end; i++) {
        let logit = f32(x[i]);
        most = select(most, logit, logit > most);
    }
    var total = 0.0;
    for (var i = start; i < end; i++) {
        total += own_exp(f32(x[i]) - most);
    }
    let scale = own_log(total); //@ if log
    let scale = 1.0 / total; //@ if !log
    for (var i = start; i < end; i++) {
        let shifted = f32(x[i]) - most;
        y[i] = T(shifted - scale); //@ if log
        y[i] = T(own_exp(shifted) * scale); //@ if !log
    }
}
