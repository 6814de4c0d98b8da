//@ import merge, refuse
// Rows with negative numbers are left out.
fn element(i: u32) {
    let r = i / params.inner;
    let n = numbers[r];
    //@ if wide
    let number = n.x;
    let is_negative = n.y >= 0x80000000u;
    let is_beyond = n.y != 0u || n.x >= params.segments;
    //@ else
    let number = n;
    let is_negative = n >= 0x80000000u;
    let is_beyond = n >= params.segments;
    //@ end
    if (is_negative) {
        return;
    }
    if (is_beyond) {
        refuse();
        return;
    }
    merge(number * params.inner + i - r * params.inner, updates[i]);
}
