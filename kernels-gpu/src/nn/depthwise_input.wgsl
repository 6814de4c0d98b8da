// A share of the gradient of a depthwise convolution's input.
fn element(i: u32) {
    let depth = params.depth / WIDTH;
    let channel = i % depth;
    let pixel = i / depth;
    let line = pixel / params.columns;
    let image = line / params.rows * params.out_rows;
    let bottom = i32(line % params.rows + params.before_y);
    let right = i32(pixel % params.columns + params.before_x);
    let flows = params.out_depth / WIDTH;
    var sum = S();
    for (var ky = 0u; ky < params.window_rows; ky++) {
        let y = bottom - i32(ky * params.dilation_y);
        let row = u32(y) / params.stride_y;
        if (y < 0 || row * params.stride_y != u32(y) || row >= params.out_rows) {
            continue;
        }
        for (var kx = 0u; kx < params.window_columns; kx++) {
            let x = right - i32(kx * params.dilation_x);
            let column = u32(x) / params.stride_x;
            if (x < 0 || column * params.stride_x != u32(x) || column >= params.out_columns) {
                continue;
            }
            let flow = ((image + row) * params.out_columns + column) * flows;
            let factor = (ky * params.window_columns + kx) * flows;
//@ if vectors
            sum += S(gradient[flow + channel]) * S(weights[factor + channel]);
//@ else
            for (var q = channel * params.multiplier; q < (channel + 1u) * params.multiplier; q++) {
                sum += S(gradient[flow + q]) * S(weights[factor + q]);
            }
//@ end
        }
    }
    output[i] = V(sum);
}
