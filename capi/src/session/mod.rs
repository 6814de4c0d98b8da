//! `TF_Session`: running graphs that may grow between runs.
