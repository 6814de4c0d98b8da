//! What kind of node an op makes. This file alone in the framework tells ops apart by their names: a node gets its class
//! when it joins a graph, and all that treats some ops in a way of their own looks at the class.

/// The kind of a node, as far as the runtime, shape inference or the formats treat it in a way of its own. Ops that
/// differ only in taking references (`Switch` and `RefSwitch`), in their version (`Variable` and `VariableV2`) or in
/// their state (`If` and `StatelessIf`) are of one class: the node's [signature](super::Node::signature) and
/// [`OpDef::is_stateful`](crate::op::OpDef::is_stateful) tell these apart.
///
/// The class is that of the op's name. An op of a user's own registry that takes the name of one of TensorFlow's need
/// not have its inputs: who indexes them checks first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NodeClass {
    /// Stands for a node whose op the registry lacks. It is refused when a run needs it.
    Missing,
    /// Forwards its data to one of two outputs, chosen by a bool.
    Switch,
    /// Forwards its data to one of several outputs, chosen by an index.
    SwitchN,
    /// Forwards the first of its inputs that is alive.
    Merge,
    /// Leads into a loop.
    Enter,
    /// Leads out of a loop.
    Exit,
    /// Leads to the next iteration of a loop.
    NextIteration,
    /// Forwards the bool that says whether a loop goes on.
    LoopCond,
    /// Runs even if what it waits for is dead.
    ControlTrigger,
    /// Does nothing but order others.
    NoOp,
    /// Has the value of its attr `value`.
    Constant,
    /// Stands for a value that a run must feed.
    Placeholder,
    /// Stands for a value that a run may feed.
    PlaceholderWithDefault,
    /// An argument of a function.
    Arg,
    /// A result of a function.
    Retval,
    /// Sends a tensor to another device.
    Send,
    /// Receives a tensor from another device.
    Recv,
    /// Forwards its input, or all of them; ops that do so for the sake of gradients are among them.
    Identity,
    /// Calls a function.
    Call,
    /// Calls one of two functions.
    If,
    /// Calls one of several functions.
    Case,
    /// Calls functions for as long as one of them says so.
    While,
    /// Calls a function for each number of a range.
    For,
    /// Calls the gradient of a function.
    SymbolicGradient,
    /// Gives a reference to a variable of its own (TensorFlow 1).
    Variable,
    /// Gives a handle of a variable.
    VarHandle,
    /// Gives the value of the variable that a handle names.
    ReadVariable,
    /// Sets the variable that a handle names.
    AssignVariable,
    /// Gives the shape of a tensor.
    Shape,
    /// Gives the shapes of several tensors.
    ShapeN,
    /// Gives the number of elements of a tensor.
    Size,
    /// Gives the number of dimensions of a tensor.
    Rank,
    /// Gives the shape of the variable that a handle names.
    VariableShape,
    /// Puts a value on a stack.
    StackPush,
    /// Takes a value off a stack.
    StackPop,
    /// Changes the dtype.
    Cast,
    /// Lays tensors side by side in a new dimension.
    Pack,
    /// Takes a tensor apart in one dimension.
    Unpack,
    /// Joins tensors, with the axis as the first input.
    Concat,
    /// Joins tensors, with the axis as the last input.
    ConcatV2,
    /// Takes a slice of a tensor.
    StridedSlice,
    /// Computes each element of its result of the elements in the same place of its inputs, or of inputs with a single
    /// element, and takes any elements.
    Elementwise,
    /// Reads files without being called stateful: what it gives may differ from run to run.
    ReadsFiles,
    /// Any other.
    Other,
}

/// The names of the ops of which the framework makes nodes itself.
pub(crate) mod created {
    pub(crate) const ADD_N: &str = "AddN";
    pub(crate) const ARG: &str = "_Arg";
    pub(crate) const CALL: &str = "PartitionedCall";
    pub(crate) const CAST: &str = "Cast";
    pub(crate) const CONCAT_V2: &str = "ConcatV2";
    pub(crate) const CONSTANT: &str = "Const";
    pub(crate) const EMPTY_TENSOR_LIST: &str = "EmptyTensorList";
    pub(crate) const EQUAL: &str = "Equal";
    pub(crate) const FILL: &str = "Fill";
    pub(crate) const FUSED_ELEMENT_WISE: &str = "_FusedElementWise";
    /// Only in memory: written, a node has its own op.
    pub(crate) const MISSING: &str = crate::op::MISSING_OP;
    pub(crate) const LESS: &str = "Less";
    pub(crate) const ADD_V2: &str = "AddV2";
    pub(crate) const IDENTITY: &str = "Identity";
    pub(crate) const OPTIONAL_FROM_VALUE: &str = "OptionalFromValue";
    pub(crate) const OPTIONAL_GET_VALUE: &str = "OptionalGetValue";
    pub(crate) const OPTIONAL_NONE: &str = "OptionalNone";
    pub(crate) const POP_BACK: &str = "TensorListPopBack";
    pub(crate) const PUSH_BACK: &str = "TensorListPushBack";
    pub(crate) const STATELESS_WHILE: &str = "StatelessWhile";
    pub(crate) const VARIABLE_SHAPE: &str = "VariableShape";
    pub(crate) const WHILE: &str = "While";
    pub(crate) const RANGE: &str = "Range";
    pub(crate) const RECV: &str = "_Recv";
    pub(crate) const RETVAL: &str = "_Retval";
    pub(crate) const SELECT_V2: &str = "SelectV2";
    pub(crate) const SEND: &str = "_Send";
    pub(crate) const SHAPE: &str = "Shape";
    pub(crate) const SIZE: &str = "Size";
    pub(crate) const STATEFUL_CALL: &str = "StatefulPartitionedCall";
    pub(crate) const STRIDED_SLICE: &str = "StridedSlice";
    pub(crate) const UNSORTED_SEGMENT_SUM: &str = "UnsortedSegmentSum";
    pub(crate) const ZEROS_LIKE: &str = "ZerosLike";
}

impl NodeClass {
    /// The class of the nodes of an op, by the op's name.
    pub fn of(op: &str) -> NodeClass {
        match op {
            created::MISSING => NodeClass::Missing,
            "Switch" | "RefSwitch" => NodeClass::Switch,
            "_SwitchN" => NodeClass::SwitchN,
            "Merge" | "RefMerge" => NodeClass::Merge,
            "Enter" | "RefEnter" => NodeClass::Enter,
            "Exit" | "RefExit" => NodeClass::Exit,
            "NextIteration" | "RefNextIteration" => NodeClass::NextIteration,
            "LoopCond" => NodeClass::LoopCond,
            "ControlTrigger" => NodeClass::ControlTrigger,
            "NoOp" => NodeClass::NoOp,
            created::CONSTANT => NodeClass::Constant,
            "Placeholder" | "PlaceholderV2" => NodeClass::Placeholder,
            "PlaceholderWithDefault" => NodeClass::PlaceholderWithDefault,
            created::ARG => NodeClass::Arg,
            created::RETVAL => NodeClass::Retval,
            created::SEND | "_HostSend" => NodeClass::Send,
            created::RECV | "_HostRecv" => NodeClass::Recv,
            "Identity" | "IdentityN" | "StopGradient" | "PreventGradient" | "Snapshot" => NodeClass::Identity,
            created::CALL | created::STATEFUL_CALL => NodeClass::Call,
            "If" | "StatelessIf" => NodeClass::If,
            "Case" | "StatelessCase" => NodeClass::Case,
            "While" | "StatelessWhile" => NodeClass::While,
            "For" => NodeClass::For,
            "SymbolicGradient" => NodeClass::SymbolicGradient,
            "Variable" | "VariableV2" => NodeClass::Variable,
            "VarHandleOp" => NodeClass::VarHandle,
            "ReadVariableOp" => NodeClass::ReadVariable,
            "AssignVariableOp" => NodeClass::AssignVariable,
            "Shape" => NodeClass::Shape,
            "ShapeN" => NodeClass::ShapeN,
            "Size" => NodeClass::Size,
            "Rank" => NodeClass::Rank,
            "VariableShape" => NodeClass::VariableShape,
            "StackPush" | "StackPushV2" => NodeClass::StackPush,
            "StackPop" | "StackPopV2" => NodeClass::StackPop,
            created::CAST => NodeClass::Cast,
            "Pack" => NodeClass::Pack,
            "Unpack" => NodeClass::Unpack,
            "Concat" => NodeClass::Concat,
            "ConcatV2" => NodeClass::ConcatV2,
            "StridedSlice" => NodeClass::StridedSlice,
            "MatchingFiles" | "ReadFile" => NodeClass::ReadsFiles,
            "Abs" | "Acos" | "Acosh" | "Asin" | "Asinh" | "Atan" | "Atanh" | "Ceil" | "Cos" | "Cosh" | "Digamma"
            | "Elu" | "Erf" | "Erfc" | "Exp" | "Expm1" | "Floor" | "Invert" | "IsFinite" | "IsInf" | "IsNan"
            | "LeakyRelu" | "Lgamma" | "Log" | "Log1p" | "LogicalNot" | "Neg" | "OnesLike" | "Relu" | "Relu6"
            | "Rint" | "Round" | "Rsqrt" | "Selu" | "Sigmoid" | "Sign" | "Sin" | "Sinh" | "Softplus" | "Softsign"
            | "Sqrt" | "Square" | "Tan" | "Tanh" | "ZerosLike" => NodeClass::Elementwise,
            "Add" | "AddV2" | "Atan2" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "DivNoNan" | "Equal"
            | "Greater" | "GreaterEqual" | "Less" | "LessEqual" | "LogicalAnd" | "LogicalOr" | "Maximum"
            | "Minimum" | "Mul" | "MulNoNan" | "NotEqual" | "RealDiv" | "SquaredDifference" | "Sub" | "Xdivy"
            | "Xlogy" => NodeClass::Elementwise,
            _ => NodeClass::Other,
        }
    }

    /// Whether nodes of the class choose what is alive, or make loops: TensorFlow 1's control flow.
    pub fn is_control_flow(self) -> bool {
        self.is_switch()
            || matches!(
                self,
                NodeClass::Merge
                    | NodeClass::Enter
                    | NodeClass::Exit
                    | NodeClass::NextIteration
                    | NodeClass::ControlTrigger
            )
    }

    /// Whether nodes of the class forward their data to one of their outputs.
    pub fn is_switch(self) -> bool {
        matches!(self, NodeClass::Switch | NodeClass::SwitchN)
    }

    /// Whether nodes of the class call functions.
    pub fn is_call(self) -> bool {
        matches!(self, NodeClass::Call | NodeClass::If | NodeClass::Case | NodeClass::While)
    }

    /// Whether nodes of the class look at the shapes of their inputs only.
    pub fn looks_at_shapes(self) -> bool {
        matches!(self, NodeClass::Shape | NodeClass::ShapeN | NodeClass::Size | NodeClass::Rank)
    }

    /// Whether nodes of the class forward what they are given, unchanged.
    pub fn hands_on(self) -> bool {
        matches!(
            self,
            NodeClass::Identity
                | NodeClass::PlaceholderWithDefault
                | NodeClass::Switch
                | NodeClass::SwitchN
                | NodeClass::Merge
                | NodeClass::Enter
                | NodeClass::Exit
                | NodeClass::NextIteration
        )
    }

    /// Whether nodes of the class stand for a value that a run must give them.
    pub fn is_placeholder(self) -> bool {
        matches!(self, NodeClass::Placeholder | NodeClass::Arg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_that_differ_in_references_versions_or_state_are_of_one_class() {
        for (a, b) in [
            ("Switch", "RefSwitch"),
            ("Merge", "RefMerge"),
            ("Enter", "RefEnter"),
            ("Exit", "RefExit"),
            ("NextIteration", "RefNextIteration"),
            ("If", "StatelessIf"),
            ("While", "StatelessWhile"),
            ("Case", "StatelessCase"),
            ("Variable", "VariableV2"),
            ("Placeholder", "PlaceholderV2"),
        ] {
            assert_eq!(NodeClass::of(a), NodeClass::of(b), "{a} {b}");
            assert_ne!(NodeClass::of(a), NodeClass::Other, "{a}");
        }
        assert_eq!(NodeClass::of("MatMul"), NodeClass::Other);
        assert_eq!(NodeClass::of("switch"), NodeClass::Other);
        // What divides integers fails for zeros, and powers of integers for negative exponents.
        for op in ["FloorDiv", "Div", "Mod", "Pow", "Reciprocal", "CheckNumerics"] {
            assert_ne!(NodeClass::of(op), NodeClass::Elementwise, "{op}");
        }
    }

    #[test]
    fn what_chooses_what_is_alive_is_control_flow() {
        for op in ["Switch", "_SwitchN", "Merge", "Enter", "Exit", "NextIteration", "ControlTrigger"] {
            assert!(NodeClass::of(op).is_control_flow(), "{op}");
        }
        for op in ["LoopCond", "NoOp", "Identity", "If", "MatMul"] {
            assert!(!NodeClass::of(op).is_control_flow(), "{op}");
        }
    }
}
