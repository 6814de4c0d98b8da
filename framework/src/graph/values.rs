//! Outputs that go together: what closures take and return.

use super::{NodeId, Output};

/// Stands for outputs that are still to come.
pub(super) const NOWHERE: Output = Output { node: NodeId { position: u32::MAX, epoch: u32::MAX }, index: 0 };

/// Outputs that go together, in a fixed order: one [`Output`], an array, a `Vec` or a tuple of such, or `()`.
///
/// Functions, branches and loops take and return them. Two values of one type have the same structure, but for the
/// lengths of their `Vec`s, which are compared when a graph is built.
pub trait Values: Clone {
    /// The same structure with each output replaced, in order.
    fn map(self, replace: &mut impl FnMut(Output) -> Output) -> Self;

    /// The outputs, in order.
    fn to_outputs(&self) -> Vec<Output> {
        let mut outputs = Vec::new();
        self.clone().map(&mut |output| {
            outputs.push(output);
            output
        });
        outputs
    }

    /// The same structure with these outputs, in order; where there are too few, its own stay.
    fn with_outputs(self, outputs: impl IntoIterator<Item = Output>) -> Self {
        let mut outputs = outputs.into_iter();
        self.map(&mut |output| outputs.next().unwrap_or(output))
    }
}

impl Values for Output {
    fn map(self, replace: &mut impl FnMut(Output) -> Output) -> Output {
        replace(self)
    }
}

impl<V: Values, const N: usize> Values for [V; N] {
    fn map(self, replace: &mut impl FnMut(Output) -> Output) -> [V; N] {
        self.map(|value| value.map(replace))
    }
}

impl<V: Values> Values for Vec<V> {
    fn map(self, replace: &mut impl FnMut(Output) -> Output) -> Vec<V> {
        self.into_iter().map(|value| value.map(replace)).collect()
    }
}

impl Values for () {
    fn map(self, _: &mut impl FnMut(Output) -> Output) {}
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: Values),+> Values for ($($name,)+) {
            #[allow(non_snake_case, reason = "each element is called as its type")]
            fn map(self, replace: &mut impl FnMut(Output) -> Output) -> Self {
                let ($($name,)+) = self;
                ($($name.map(replace),)+)
            }
        }
    )*};
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_keep_their_order() {
        let output = |index| Output { index, ..NOWHERE };
        let values = (output(0), [output(1), output(2)], vec![(output(3), output(4))]);
        assert_eq!(values.to_outputs(), (0..5).map(output).collect::<Vec<_>>());
        let (a, [b, c], d) = values.with_outputs((5..8).map(output));
        assert_eq!([a.index, b.index, c.index, d[0].0.index, d[0].1.index], [5, 6, 7, 3, 4]);
    }
}
