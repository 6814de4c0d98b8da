// What running results are made of.
//@ import math

fn identity() -> A {
    //@ if sums
    return A(0);
    //@ end
    //@ if products
    return A(1);
    //@ end
    //@ if log_sums
    return -inf();
    //@ end
}

fn merge(a: A, b: A) -> A {
    //@ if sums
    return a + b;
    //@ end
    //@ if products
    return a * b;
    //@ end
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
