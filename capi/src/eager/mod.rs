//! Ops that run at once.
