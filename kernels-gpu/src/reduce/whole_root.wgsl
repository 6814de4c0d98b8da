fn whole_root(a: A) -> A {
    GUARD
    var rest = a;
    var root = A(0);
    var bit = TOP;
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
