var<workgroup> sums: array<vec4<A>, WORKGROUP>;

// Where the vector, the matrix and the result of a part of a product begin.
fn starts(batch: u32, part: u32) -> vec3<u32> {
    let i2 = batch % params.size2;
    let i1 = batch / params.size2 % params.size1;
    let i0 = batch / params.size2 / params.size1;
    let v = params.base_v + i0 * params.step_v0 + i1 * params.step_v1 + i2 * params.step_v2;
    let m = params.base_m + i0 * params.step_m0 + i1 * params.step_m1 + i2 * params.step_m2;
    return vec3<u32>(v, m, params.base_out + (part * params.batches + batch) * params.extent);
}
