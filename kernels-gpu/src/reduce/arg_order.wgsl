// What ArgMax and ArgMin compare.

fn beyond(a: A, b: A) -> bool {
    //@ if greatest
    return a > b;
    //@ else
    return a < b;
    //@ end
}

// What every sought element is beyond, as TensorFlow starts: the infinities are not.
fn first() -> A {
    //@ if greatest
    //@ if f32
    return -3.40282347e38;
    //@ end
    //@ if f16
    return -65504.0;
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
    //@ else
    //@ if f32
    return 3.40282347e38;
    //@ end
    //@ if f16
    return 65504.0;
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
    //@ end
}
