fn element(i: u32) {
    y[i] = x[i];
}
