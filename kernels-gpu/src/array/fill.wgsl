// Eight bytes again and again, which are parameters or the one element of a tensor.
fn element(i: u32) {
    //@ if spread
    var low = x[0];
    if (params.bytes == 2u) {
        low = (low & 0xffffu) * 0x10001u;
    }
    let high = select(low, x[1], params.bytes == 8u);
    //@ else
    let low = params.low;
    let high = params.high;
    //@ end
    y[i] = vec4<u32>(low, high, low, high);
}
