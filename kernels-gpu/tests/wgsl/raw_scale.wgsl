struct Params {
    count: u32,
    factor: f32,
}

@group(0) @binding(0) var<storage, read> from_: array<f32>;
@group(0) @binding(1) var<storage, read_write> to: array<f32>;
var<immediate> params: Params;

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * groups.x + group.x) * 32 + lane;
    if (i < params.count) {
        to[i] = from_[i] * params.factor;
    }
}
