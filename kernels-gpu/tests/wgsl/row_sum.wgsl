var<workgroup> sums: array<f32, WORKGROUP>;

fn row(r: u32, lane: u32) {
    var sum = 0.0;
    for (var i = lane; i < params.row_length; i += WORKGROUP) {
        sum += x[r * params.row_length + i];
    }
    sums[lane] = sum;
    workgroupBarrier();
    if (lane == 0u) {
        for (var i = 1u; i < WORKGROUP; i++) {
            sum += sums[i];
        }
        y[r] = sum;
    }
}
