//! Graphs that come from elsewhere and go there: import with all options, functions, loops, gradients.
