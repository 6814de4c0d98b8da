// What ArgMax and ArgMin compare.

fn beyond(a: A, b: A) -> bool {
    return a > b; //@ if greatest
    return a < b; //@ if !greatest
}

// What every sought element is beyond, as TensorFlow starts: the infinities are not.
fn first() -> A {
    //@ if greatest
    return -3.40282347e38; //@ if f32
    return -65504.0; //@ if f16
    return i32(-2147483648); //@ if i32
    return i64(1) << 63u; //@ if i64
    return 0u; //@ if u32
    return 0u; //@ if bool
    //@ else
    return 3.40282347e38; //@ if f32
    return 65504.0; //@ if f16
    return 2147483647; //@ if i32
    return ~(i64(1) << 63u); //@ if i64
    return 0xffffffffu; //@ if u32
    return 1u; //@ if bool
    //@ end
}
