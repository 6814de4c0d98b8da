@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    if (at.x >= params.size) {
        return;
    }
    var count = 0;
    for (var i = 0u; i < params.length; i++) {
        count += select(0, 1, values[i] == i32(at.x));
    }
    counts[at.x] = count;
}
