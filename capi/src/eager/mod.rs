//! `tensorflow/c/eager/c_api.h`: ops that run at once.
