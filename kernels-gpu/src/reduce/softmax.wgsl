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
    let scale = SCALE;
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let shifted = f32(x[start + i]) - most;
        y[start + i] = T(RESULT);
    }
}
