//@ import math

fn is_last(a: A) -> bool {
    return is_nan(a); //@ if float
    return false; //@ if !float
}

// Whether element a at place i goes before b at j; places beyond the row's end go last.
fn before(a: A, i: u32, b: A, j: u32) -> bool {
    if (i >= params.columns || j >= params.columns) {
        return i < j;
    }
    let a_last = is_last(a);
    if (a_last || is_last(b)) {
        return select(!a_last, i < j, a_last && is_last(b));
    }
    return a > b || (!(b > a) && i < j);
}

