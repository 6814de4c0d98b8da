//! Variables, as references and as resources.
//!
//! What is read from a variable is a snapshot: reading shares the elements, and whoever changes a variable changes them
//! in place if nothing shares them and copies them first otherwise. [`place`] is the one way to change a variable, of
//! either kind; everything else here says what is changed.

mod arithmetic;
mod combine;
mod gather;
pub(crate) mod place;
mod reference;
mod resource;
mod scatter;
mod scatter_nd;
mod slice_assign;
