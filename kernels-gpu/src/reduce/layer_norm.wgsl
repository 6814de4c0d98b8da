fn row(r: u32, lane: u32) {
    let start = r * params.length;
    let count = f32(params.length);
    var own = 0.0;
    for (var i = lane; i < params.length; i += WORKGROUP) {
        own += f32(x[start + i]);
    }
    let mean = sum_of(own, lane) / count;
    own = 0.0;
    for (var i = lane; i < params.length; i += WORKGROUP) {
        let distance = f32(x[start + i]) - mean;
        own += distance * distance;
    }
    let factor = 1.0 / sqrt(sum_of(own, lane) / count + params.epsilon);
    for (var i = lane; i < params.length; i += WORKGROUP) {
        y[start + i] = T((f32(x[start + i]) - mean) * (factor * f32(scale[i])) + f32(offset[i]));
    }
}
