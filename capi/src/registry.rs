//! What is linked: lists of ops and kernels, libraries, the version.
