//! Lists, maps and optionals that are values.

mod access;
mod composite;
mod concat;
mod make;
mod optional;
mod rows;
mod tensor_list;
mod tensor_map;
