//@ import batch
// The matrix's outer index counts neighbours: threads take four of them each, and SLICES of them share the inner index.
const QUADS: u32 = 16u;
const SLICES: u32 = WORKGROUP / QUADS;

//@ if vectors
fn four(start: u32, k: u32, column: u32) -> vec4<A> {
    return vec4<A>(matrix[(start + k * params.extent + column) >> 2u]);
}
//@ else
fn one(start: u32, column: u32) -> A {
    if (column < params.extent) {
        return A(matrix[start + column]);
    }
    return A();
}

fn four(start: u32, k: u32, column: u32) -> vec4<A> {
    let line = start + k * params.extent;
    return vec4<A>(one(line, column), one(line, column + 1u), one(line, column + 2u), one(line, column + 3u));
}
//@ end

fn row(r: u32, lane: u32) {
    let tiles = (params.extent + 4u * QUADS - 1u) / (4u * QUADS);
    let part = r / (tiles * params.batches);
    let begin = part * params.chunk;
    let end = min(params.inner, begin + params.chunk);
    let start = starts(r / tiles % params.batches, part);
    let column = (r % tiles * QUADS + lane % QUADS) * 4u;
    var sum = vec4<A>();
    if (column < params.extent) {
        for (var k = begin + lane / QUADS; k < end; k += SLICES) {
            sum = mad(vec4<A>(A(vector[start.x + k])), four(start.y, k, column), sum);
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
    if (lane < QUADS) {
        let v = sums[lane];
        for (var i = 0u; i < 4u; i++) {
            if (column + i < params.extent) {
                let at = start.z + column + i;
                result[at] = R(v[i]); //@ if !fused
                result[at] = R(fused(at, (column + i) % params.channels, v[i])); //@ if fused
            }
        }
    }
}
