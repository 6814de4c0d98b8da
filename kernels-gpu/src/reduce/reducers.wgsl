// What reductions compute. `X` is the type of an element, which of halves is `f32`, `A` that of a partial result, `R` that of
// the output's element.
//@ import math

// The result of no elements.
fn identity() -> A {
    return A(0); //@ if add
    return A(1); //@ if product
    return lowest(); //@ if greatest
    return highest(); //@ if least
}

fn lowest() -> A {
    return -inf(); //@ if float
    return i32(-2147483648); //@ if i32
    return i64(1) << 63u; //@ if i64
    return 0u; //@ if u32
    return 0u; //@ if bool
}

fn highest() -> A {
    return inf(); //@ if float
    return 2147483647; //@ if i32
    return ~(i64(1) << 63u); //@ if i64
    return 0xffffffffu; //@ if u32
    return 1u; //@ if bool
}

// The result of one element, or of one partial result.
fn lift(x: X) -> A {
    //@ if of_parts
    return x;
    //@ else
    return x * x * 0.5; //@ if half_squares
    return x * x; //@ if norm
    return i64(x); //@ if widened
    //@ if widened_u32
    // By way of 64 bits without a sign: some devices take a `u32` for an `i32` on the way to an `i64`.
    return i64(u64(x));
    //@ end
    return x; //@ if lifted
    //@ end
}

// The result of two parts.
fn merge(a: A, b: A) -> A {
    return a + b; //@ if add
    return a * b; //@ if product
    //@ if greatest
    return greater(a, b); //@ if float
    return select(b, a, a > b); //@ if !float
    //@ end
    //@ if least
    return less(a, b); //@ if float
    return select(b, a, a < b); //@ if !float
    //@ end
}

// The output's element for `count` elements, or a partial result.
fn finish(a: A, count: u32) -> R {
    //@ if to_parts
    return a;
    //@ else
    //@ if mean
    //@ if float
    if (count == 0u) {
        return nan();
    }
    //@ if half
    // TensorFlow rounds the sum and the count before it divides, so that both may overflow.
    return f32(f16(a)) / f32(f16(f32(count)));
    //@ else
    return a / f32(count);
    //@ end
    //@ else
    if (count == 0u) {
        return R(0);
    }
    return R(a / i64(count));
    //@ end
    //@ end
    //@ if norm
    return sqrt(a); //@ if float
    return whole_root(a); //@ if !float
    //@ end
    return a; //@ if finished
    //@ end
}

// The root without its fraction; of what is negative, the least number, which is what TensorFlow makes of a NaN.
fn whole_root(a: A) -> A {
    //@ if signed
    if (a < A(0)) {
        return lowest();
    }
    //@ end
    var rest = a;
    var root = A(0);
    var bit = i64(1) << 62u; //@ if i64
    var bit = A(1) << 30u; //@ if !i64
    while (bit > rest) {
        bit = bit >> 2u;
    }
    while (bit != A(0)) {
        if (rest >= root + bit) {
            rest = rest - (root + bit);
            root = (root >> 1u) + bit;
        } else {
            root = root >> 1u;
        }
        bit = bit >> 2u;
    }
    return root;
}
