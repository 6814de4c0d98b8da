// A share of the output of a depthwise convolution.
fn element(i: u32) {
    let channels = params.out_depth / WIDTH;
    let channel = i % channels;
    let pixel = i / channels;
    let line = pixel / params.out_columns;
    let image = line / params.out_rows * params.rows;
    let top = i32(line % params.out_rows * params.stride_y) - i32(params.before_y);
    let left = i32(pixel % params.out_columns * params.stride_x) - i32(params.before_x);
    let depth = params.depth / WIDTH;
    let source = channel; //@ if vectors
    let source = channel / params.multiplier; //@ if !vectors
    var sum = S();
    for (var ky = 0u; ky < params.window_rows; ky++) {
        let y = u32(top + i32(ky * params.dilation_y));
        if (y >= params.rows) {
            continue;
        }
        for (var kx = 0u; kx < params.window_columns; kx++) {
            let x = u32(left + i32(kx * params.dilation_x));
            if (x < params.columns) {
                let factor = weights[(ky * params.window_columns + kx) * channels + channel];
                sum += S(input[((image + y) * params.columns + x) * depth + source]) * S(factor);
            }
        }
    }
    output[i] = V(sum); //@ if !fused
    output[i] = V(fused(i, channel, sum)); //@ if fused
}
