fn SoftShrink(x: T) -> T {
    return sign(x) * max(abs(x) - params.threshold, 0.0);
}
