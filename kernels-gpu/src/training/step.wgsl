//@ import refuse, rules
// A step of whole variables, four elements a thread; or of the rows that `order` names with their places in the gradient, as
// far as they are bound, `height` from row `top` on. A row that is named several times is changed in the order of its places,
// by the threads of the first.
fn element(i: u32) {
    load_scalars();
    //@ if sparse
    let first = i / params.size;
    let column = i - first * params.size;
    let row = order[first].x;
    if (row >= params.rows) {
        refuse();
        return;
    }
    if (row - params.top >= params.height) {
        return;
    }
    if (first > 0u) {
        if (order[first - 1u].x == row) {
            return;
        }
    }
    let at = (row - params.top) * params.size + column;
    load(at);
    for (var k = first; k < params.steps; k++) {
        let next = order[k];
        if (next.x != row) {
            break;
        }
        take_step(gradient[next.y * params.size + column]);
    }
    store(at);
    //@ else
    load(i);
    take_step(gradient[i]);
    store(i);
    //@ end
}
