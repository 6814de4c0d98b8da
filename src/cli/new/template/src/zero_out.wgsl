fn element(i: u32) {
    zeroed[i] = select(T(), to_zero[i], i == params.preserve_index);
}
