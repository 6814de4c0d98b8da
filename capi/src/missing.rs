//! Functions that answer UNIMPLEMENTED.
