//@ import math

fn AtLeast(x: T, y: T) -> T {
    let bound = stepped(y);
    return select(bound, x, x > bound);
}

fn AtMost(x: T, y: T) -> T {
    let bound = stepped(y);
    return select(bound, x, x < bound);
}

//@ if float
fn stepped(y: f32) -> f32 {
    return own_fmod(y, inf()) / f32(params.step);
}
//@ else
fn stepped(y: i32) -> i32 {
    if (params.step == 0) {
        refused = true;
        return 0;
    }
    return y / params.step;
}
//@ end
