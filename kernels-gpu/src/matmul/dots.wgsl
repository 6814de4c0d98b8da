//@ import batch
// The matrix's inner index counts neighbours: LANES threads add up each element of the result.
const LANES: u32 = 32u;
const OUTPUTS: u32 = WORKGROUP / LANES;

//@ if vectors
fn four_of_vector(start: u32, k: u32) -> vec4<A> {
    return vec4<A>(vector[(start + k) >> 2u]);
}
fn four_of_matrix(start: u32, k: u32) -> vec4<A> {
    return vec4<A>(matrix[(start + k) >> 2u]);
}
//@ else
fn four_of_vector(start: u32, k: u32) -> vec4<A> {
    var v = vec4<A>();
    for (var i = 0u; i < 4u; i++) {
        if (k + i < params.inner) {
            v[i] = A(vector[start + k + i]);
        }
    }
    return v;
}
fn four_of_matrix(start: u32, k: u32) -> vec4<A> {
    var v = vec4<A>();
    for (var i = 0u; i < 4u; i++) {
        if (k + i < params.inner) {
            v[i] = A(matrix[start + k + i]);
        }
    }
    return v;
}
//@ end

fn row(r: u32, lane: u32) {
    let tiles = (params.extent + OUTPUTS - 1u) / OUTPUTS;
    let part = r / (tiles * params.batches);
    let begin = part * params.chunk;
    let end = min(params.inner, begin + params.chunk);
    let start = starts(r / tiles % params.batches, part);
    let output = r % tiles * OUTPUTS + lane / LANES;
    let line = start.y + output * params.inner;
    var sum = vec4<A>();
    if (output < params.extent) {
        for (var k = begin + lane % LANES * 4u; k < end; k += LANES * 4u) {
            sum = mad(four_of_vector(start.x, k), four_of_matrix(line, k), sum);
        }
    }
    sums[lane] = sum;
    workgroupBarrier();
    for (var step = LANES / 2u; step > 0u; step >>= 1u) {
        if (lane % LANES < step) {
            sums[lane] += sums[lane + step];
        }
        workgroupBarrier();
    }
    if (lane % LANES == 0u && output < params.extent) {
        let v = sums[lane];
        let at = start.z + output;
        let sum = v.x + v.y + v.z + v.w;
        result[at] = R(sum); //@ if !fused
        result[at] = R(fused(at, output % params.channels, sum)); //@ if fused
    }
}
