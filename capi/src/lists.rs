//! What the program has: its ops, its kernels, its libraries, its version.
