// A thread on its way through loops: what is left of its number, and where it has come to in the target and the source.
struct Walk {
    rest: u32,
    to: u32,
    at: u32,
}

// Through a loop of `n` rounds that are `t` elements apart in the target and `s` in the source.
fn along(walk: Walk, n: u32, t: u32, s: u32) -> Walk {
    let next = walk.rest / n;
    let round = walk.rest - next * n;
    return Walk(next, walk.to + round * t, walk.at + round * s);
}

fn element(i: u32) {
    let walk = inwards(Walk(i, params.to, params.start));
    y[walk.to + walk.rest * params.t0] = x[walk.at + walk.rest * params.s0];
}
