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
    let scale = SCALE;
    for (var i = start; i < end; i++) {
        let shifted = f32(x[i]) - most;
        y[i] = T(RESULT);
    }
}
