// What running results are made of.
//@ import math

fn identity() -> A {
    return A(0); //@ if sums
    return A(1); //@ if products
    return -inf(); //@ if log_sums
}

fn merge(a: A, b: A) -> A {
    return a + b; //@ if sums
    return a * b; //@ if products
    //@ if log_sums
    // The difference of two infinities is no number. One NaN makes the result NaN.
    if (is_nan(a) || is_nan(b)) {
        return nan();
    }
    let low = select(b, a, a < b);
    let high = select(a, b, a < b);
    if (is_inf(high)) {
        return high;
    }
    return high + own_log1p(own_exp(low - high));
    //@ end
}
