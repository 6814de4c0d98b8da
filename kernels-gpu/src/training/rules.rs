//! The rules of optimisers: what becomes of one element of the variables in a step. `V` is a vector of elements, `T`
//! one; `var` is the variable to be improved and `g` the gradient. The order of operations is that of the kernels for
//! the processor, which is TensorFlow's.

/// A rule.
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// The variables by the names that `step` has for them, in the order of the inputs.
    pub(super) variables: &'static [&'static str],
    /// The scalars by their names among the inputs.
    pub(super) scalars: &'static [&'static str],
    /// What all elements have in common.
    pub(super) common: &'static str,
    pub(super) step: &'static str,
}

impl Rule {
    /// The rule with this name.
    pub(super) fn named(name: &str) -> Option<&'static Rule> {
        RULES.iter().find(|rule| rule.name == name)
    }
}

/// Functions that rules use: maxima that keep what they have when the other is no number, and signs that are 0 of 0.
pub(super) const FUNCTIONS: &str = "\
fn greater(a: V, b: V) -> V {
    return select(a, b, a < b);
}
fn sign_of(x: V) -> V {
    return select(select(x, V(-1), x < V()), V(1), x > V());
}
fn proximal(old: V, g: V, rate: V, l1: T, l2: T) -> V {
    let stepped = old - g * rate;
    let divisor = V(1) + l2 * rate;
    let shrunk = sign_of(stepped) * greater(abs(stepped) - rate * l1, V()) / divisor;
    return select(stepped / divisor, shrunk, l1 > T());
}
fn root_of(x: V, power: T) -> V {
    return select(pow(x, V(power)), sqrt(x), power == T(0.5));
}
";

pub(super) const RULES: &[Rule] = &[
    Rule { name: "GradientDescent", variables: &["var"], scalars: &["alpha"], common: "", step: "var_ -= g * alpha;" },
    Rule {
        name: "ProximalGradientDescent",
        variables: &["var"],
        scalars: &["alpha", "l1", "l2"],
        common: "",
        step: "var_ = proximal(var_, g, V(alpha), l1, l2);",
    },
    Rule {
        name: "Momentum",
        variables: &["var", "accum"],
        scalars: &["lr", "momentum"],
        common: "",
        step: "accum_ = accum_ * momentum + g;\n    \
               var_ -= select(accum_ * lr, g * lr + accum_ * momentum * lr, USE_NESTEROV);",
    },
    Rule {
        name: "KerasMomentum",
        variables: &["var", "accum"],
        scalars: &["lr", "momentum"],
        common: "",
        step: "accum_ = accum_ * momentum - g * lr;\n    \
               var_ += select(accum_, accum_ * momentum - g * lr, USE_NESTEROV);",
    },
    Rule {
        name: "Adagrad",
        variables: &["var", "accum"],
        scalars: &["lr"],
        common: "",
        step: "accum_ += select(V(), g * g, UPDATE_SLOTS);\n    var_ -= g * lr * (V(1) / sqrt(accum_));",
    },
    Rule {
        name: "AdagradV2",
        variables: &["var", "accum"],
        scalars: &["lr", "epsilon"],
        common: "",
        step: "accum_ += select(V(), g * g, UPDATE_SLOTS);\n    var_ -= g * lr / (sqrt(accum_) + epsilon);",
    },
    Rule {
        name: "ProximalAdagrad",
        variables: &["var", "accum"],
        scalars: &["lr", "l1", "l2"],
        common: "",
        step: "accum_ += g * g;\n    var_ = proximal(var_, g, lr * (V(1) / sqrt(accum_)), l1, l2);",
    },
    Rule {
        name: "Adam",
        variables: &["var", "m", "v"],
        scalars: &["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"],
        common: "let rate = lr * sqrt(T(1) - beta2_power) / (T(1) - beta1_power);",
        step: "m_ += (g - m_) * (T(1) - beta1);\n    v_ += (g * g - v_) * (T(1) - beta2);\n    \
               let ahead = select(m_, g * (T(1) - beta1) + beta1 * m_, USE_NESTEROV);\n    \
               var_ -= ahead * rate / (sqrt(v_) + epsilon);",
    },
    Rule {
        name: "AdamWithAmsgrad",
        variables: &["var", "m", "v", "vhat"],
        scalars: &["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"],
        common: "let rate = lr * sqrt(T(1) - beta2_power) / (T(1) - beta1_power);",
        step: "m_ += (g - m_) * (T(1) - beta1);\n    v_ += (g * g - v_) * (T(1) - beta2);\n    \
               vhat_ = greater(vhat_, v_);\n    var_ -= m_ * rate / (sqrt(vhat_) + epsilon);",
    },
    Rule {
        name: "AdaMax",
        variables: &["var", "m", "v"],
        scalars: &["beta1_power", "lr", "beta1", "beta2", "epsilon"],
        common: "let rate = lr / (T(1) - beta1_power);",
        step: "m_ += (g - m_) * (T(1) - beta1);\n    v_ = greater(beta2 * v_, abs(g));\n    \
               var_ -= rate * (m_ / (v_ + epsilon));",
    },
    Rule {
        name: "Adadelta",
        variables: &["var", "accum", "accum_update"],
        scalars: &["lr", "rho", "epsilon"],
        common: "let rest = T(1) - rho;",
        step: "accum_ = accum_ * rho + g * g * rest;\n    \
               let update = sqrt(accum_update_ + epsilon) * (V(1) / sqrt(accum_ + epsilon)) * g;\n    \
               var_ -= update * lr;\n    accum_update_ = accum_update_ * rho + update * update * rest;",
    },
    Rule {
        name: "RMSProp",
        variables: &["var", "ms", "mom"],
        scalars: &["lr", "rho", "momentum", "epsilon"],
        common: "",
        step: "ms_ += (g * g - ms_) * (T(1) - rho);\n    mom_ = mom_ * momentum + g * lr / sqrt(ms_ + epsilon);\n    \
               var_ -= mom_;",
    },
    Rule {
        name: "CenteredRMSProp",
        variables: &["var", "mg", "ms", "mom"],
        scalars: &["lr", "rho", "momentum", "epsilon"],
        common: "let rest = T(1) - rho;",
        step: "ms_ += (g * g - ms_) * rest;\n    mg_ += (g - mg_) * rest;\n    \
               mom_ = mom_ * momentum + g * lr / sqrt((ms_ - mg_ * mg_) + epsilon);\n    var_ -= mom_;",
    },
    Rule {
        name: "Ftrl",
        variables: &["var", "accum", "linear"],
        scalars: &["lr", "l1", "l2", "lr_power"],
        common: "let shrinkage = T();",
        step: FTRL,
    },
    Rule {
        name: "FtrlV2",
        variables: &["var", "accum", "linear"],
        scalars: &["lr", "l1", "l2", "l2_shrinkage", "lr_power"],
        common: "let shrinkage = l2_shrinkage;",
        step: FTRL,
    },
    Rule {
        name: "AddSign",
        variables: &["var", "m"],
        scalars: &["lr", "alpha", "sign_decay", "beta"],
        common: "",
        step: "m_ = m_ * beta + g * (T(1) - beta);\n    \
               var_ -= lr * (alpha + sign_decay * (sign_of(g) * sign_of(m_))) * g;",
    },
    Rule {
        name: "PowerSign",
        variables: &["var", "m"],
        scalars: &["lr", "logbase", "sign_decay", "beta"],
        common: "let log_scale = logbase * sign_decay;",
        step: "m_ = m_ * beta + g * (T(1) - beta);\n    \
               var_ -= lr * exp(log_scale * (sign_of(g) * sign_of(m_))) * g;",
    },
];

const FTRL: &str = "let shrunk = g + T(2) * shrinkage * var_;
    let now = accum_ + g * g;
    let root = root_of(now, -lr_power);
    let growth = root - root_of(accum_, -lr_power);
    accum_ = now;
    linear_ += select(shrunk - growth / lr * var_, shrunk * lr - growth * var_, MULTIPLY_LINEAR_BY_LR);
    let divisor = select(root / lr + T(2) * l2, root + T(2) * l2 * lr, MULTIPLY_LINEAR_BY_LR);
    let threshold = select(l1, l1 * lr, MULTIPLY_LINEAR_BY_LR);
    var_ = select(V(), (threshold * sign_of(linear_) - linear_) / divisor, abs(linear_) > V(threshold));";
