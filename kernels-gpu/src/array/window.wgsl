// A thread on its way through dimensions: what is left of its number, its place in the input, and how far apart elements
// are there.
struct View {
    rest: u32,
    at: u32,
    scale: u32,
    is_inside: bool,
}

// Through a dimension of size `o`, in which the input of size `n` begins at `b`.
fn along(view: View, o: u32, b: u32, n: u32) -> View {
    let next = view.rest / o;
    var p = view.rest - next * o - b;
    var is_inside = view.is_inside;
    is_inside = is_inside && p < n; //@ if constant
    //@ if mirror
    // Without the edge itself if `first` is 0, else with it.
    p = select(p, 0u - p - params.first, bitcast<i32>(p) < 0);
    p = select(p, 2u * n + params.first - 2u - p, p >= n);
    //@ end
    p = select(p, p + n, bitcast<i32>(p) < 0); //@ if other_end
    return View(next, view.at + p * view.scale, view.scale * n, is_inside);
}

fn element(i: u32) {
    let view = inwards(View(i, 0u, 1u, true));
    //@ if constant
    y[i] = f16(unpack2x16float(params.low).x); //@ if half
    y[i] = params.low; //@ if word
    y[i] = U(params.low, params.high); //@ if pair
    y[i] = U(params.low, params.high, params.low, params.high); //@ if quad
    //@ end
    if (view.is_inside) {
        y[i] = x[view.at];
    }
}
