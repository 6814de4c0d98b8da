// The gradient of a depthwise convolution's filter, of one part of the output's pixels: each workgroup takes QUADS shares
// of one tap's channels, each of them by SLICES threads.
const QUADS: u32 = 16u;
const SLICES: u32 = WORKGROUP / QUADS;
var<workgroup> sums: array<S, WORKGROUP>;

fn row(r: u32, lane: u32) {
    let flows = params.out_depth / WIDTH;
    let depth = params.depth / WIDTH;
    let tiles = (flows + QUADS - 1u) / QUADS;
    let taps = params.window_rows * params.window_columns;
    let channel = r % tiles * QUADS + lane % QUADS;
    let tap = r / tiles % taps;
    let part = r / tiles / taps;
    let source = channel; //@ if vectors
    let source = channel / params.multiplier; //@ if !vectors
    let begin = part * params.chunk;
    let end = min(begin + params.chunk, params.pixels);
    let down = i32(tap / params.window_columns * params.dilation_y) - i32(params.before_y);
    let across = i32(tap % params.window_columns * params.dilation_x) - i32(params.before_x);
    var sum = S();
    if (channel < flows) {
        for (var pixel = begin + lane / QUADS; pixel < end; pixel += SLICES) {
            let line = pixel / params.out_columns;
            let y = u32(i32(line % params.out_rows * params.stride_y) + down);
            let x = u32(i32(pixel % params.out_columns * params.stride_x) + across);
            if (y < params.rows && x < params.columns) {
                let at = ((line / params.out_rows * params.rows + y) * params.columns + x) * depth + source;
                sum += S(input[at]) * S(gradient[pixel * flows + channel]);
            }
        }
    }
    sums[lane] = sum;
    workgroupBarrier();
    for (var step = SLICES / 2u; step > 0u; step >>= 1u) {
        if (lane / QUADS < step) {
            sums[lane] += sums[lane + step * QUADS];
        }
        workgroupBarrier();
    }
    if (lane < QUADS && channel < flows) {
        scratch[(part * taps + tap) * flows + channel] = sums[lane];
    }
}
