var<workgroup> lanes: array<f32, WORKGROUP>;

fn logit(r: u32, i: u32) -> f32 {
    return f32(x[r * params.x_row + i * params.x_column]);
}

fn sum_of_lanes(lane: u32) -> f32 {
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half >>= 1u) {
        if (lane < half) {
            lanes[lane] += lanes[lane + half];
        }
        workgroupBarrier();
    }
    let sum = lanes[0];
    workgroupBarrier();
    return sum;
}

// The greatest logit of a row, and the sum of the powers of all others' distances from it.
fn powers(r: u32, lane: u32) -> vec2<f32> {
    var most = -inf();
    for (var i = lane; i < params.classes; i += WORKGROUP) {
        let logit = logit(r, i);
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
        sum += own_exp(logit(r, i) - most);
    }
    lanes[lane] = sum;
    return vec2<f32>(most, sum_of_lanes(lane));
}

