var<workgroup> lanes: array<f32, WORKGROUP>;

fn row(r: u32, lane: u32) {
    let start = r * params.classes;
    var most = -inf();
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let logit = f32(x[start + i]);
        most = select(most, logit, logit > most);
    }
    lanes[lane] = most;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half >>= 1u) {
        if (lane < half) {
            let other = lanes[lane + half];
            lanes[lane] = select(lanes[lane], other, other > lanes[lane]);
        }
        workgroupBarrier();
    }
    most = lanes[0];
    workgroupBarrier();
    var sum = 0.0;
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        sum += own_exp(f32(x[start + i]) - most);
    }
    lanes[lane] = sum;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half >>= 1u) {
        if (lane < half) {
            lanes[lane] += lanes[lane + half];
        }
        workgroupBarrier();
    }
    let total = lanes[0];
    let scale = SCALE;
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let shifted = f32(x[start + i]) - most;
        y[start + i] = T(RESULT);
    }
}
