// What reductions compute. `X` is the type of an element, which of halves is `f32`, `A` that of a partial result, `R` that of
// the output's element.
//@ import math

// The result of no elements.
fn identity() -> A {
    //@ if add
    return A(0);
    //@ end
    //@ if product
    return A(1);
    //@ end
    //@ if greatest
    return lowest();
    //@ end
    //@ if least
    return highest();
    //@ end
}

fn lowest() -> A {
    //@ if float
    return -inf();
    //@ end
    //@ if i32
    return i32(-2147483648);
    //@ end
    //@ if i64
    return i64(1) << 63u;
    //@ end
    //@ if u32
    return 0u;
    //@ end
    //@ if bool
    return 0u;
    //@ end
}

fn highest() -> A {
    //@ if float
    return inf();
    //@ end
    //@ if i32
    return 2147483647;
    //@ end
    //@ if i64
    return ~(i64(1) << 63u);
    //@ end
    //@ if u32
    return 0xffffffffu;
    //@ end
    //@ if bool
    return 1u;
    //@ end
}

// The result of one element, or of one partial result.
fn lift(x: X) -> A {
    //@ if of_parts
    return x;
    //@ else
    //@ if half_squares
    return x * x * 0.5;
    //@ end
    //@ if norm
    return x * x;
    //@ end
    //@ if widened
    return i64(x);
    //@ end
    //@ if widened_u32
    // By way of 64 bits without a sign: some devices take a `u32` for an `i32` on the way to an `i64`.
    return i64(u64(x));
    //@ end
    //@ if lifted
    return x;
    //@ end
    //@ end
}

// The result of two parts.
fn merge(a: A, b: A) -> A {
    //@ if add
    return a + b;
    //@ end
    //@ if product
    return a * b;
    //@ end
    //@ if greatest
    //@ if float
    return greater(a, b);
    //@ else
    return select(b, a, a > b);
    //@ end
    //@ end
    //@ if least
    //@ if float
    return less(a, b);
    //@ else
    return select(b, a, a < b);
    //@ end
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
    //@ if float
    return sqrt(a);
    //@ else
    return whole_root(a);
    //@ end
    //@ end
    //@ if finished
    return a;
    //@ end
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
    //@ if i64
    var bit = i64(1) << 62u;
    //@ else
    var bit = A(1) << 30u;
    //@ end
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
