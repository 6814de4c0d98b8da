// The rules of optimisers: what becomes of one element of the variables in a step. `V` is a vector of elements, `T` one.
// Variables, with `_` at the end, and scalars are called as the op's inputs; `g` is the gradient. The order of operations is
// that of the kernels for the processor, which is TensorFlow's.

fn take_step(g: V) {
    //@ if GradientDescent
    var_ -= g * alpha;
    //@ end
    //@ if ProximalGradientDescent
    var_ = proximal(var_, g, V(alpha), l1, l2);
    //@ end
    //@ if Momentum
    accum_ = accum_ * momentum + g;
    var_ -= select(accum_ * lr, g * lr + accum_ * momentum * lr, USE_NESTEROV);
    //@ end
    //@ if KerasMomentum
    accum_ = accum_ * momentum - g * lr;
    var_ += select(accum_, accum_ * momentum - g * lr, USE_NESTEROV);
    //@ end
    //@ if Adagrad
    accum_ += select(V(), g * g, UPDATE_SLOTS);
    var_ -= g * lr * (V(1) / sqrt(accum_));
    //@ end
    //@ if AdagradV2
    accum_ += select(V(), g * g, UPDATE_SLOTS);
    var_ -= g * lr / (sqrt(accum_) + epsilon);
    //@ end
    //@ if ProximalAdagrad
    accum_ += g * g;
    var_ = proximal(var_, g, lr * (V(1) / sqrt(accum_)), l1, l2);
    //@ end
    //@ if Adam, AdamWithAmsgrad
    let rate = lr * sqrt(T(1) - beta2_power) / (T(1) - beta1_power);
    m_ += (g - m_) * (T(1) - beta1);
    v_ += (g * g - v_) * (T(1) - beta2);
    //@ end
    //@ if Adam
    let ahead = select(m_, g * (T(1) - beta1) + beta1 * m_, USE_NESTEROV);
    var_ -= ahead * rate / (sqrt(v_) + epsilon);
    //@ end
    //@ if AdamWithAmsgrad
    vhat_ = greater(vhat_, v_);
    var_ -= m_ * rate / (sqrt(vhat_) + epsilon);
    //@ end
    //@ if AdaMax
    let rate = lr / (T(1) - beta1_power);
    m_ += (g - m_) * (T(1) - beta1);
    v_ = greater(beta2 * v_, abs(g));
    var_ -= rate * (m_ / (v_ + epsilon));
    //@ end
    //@ if Adadelta
    let rest = T(1) - rho;
    accum_ = accum_ * rho + g * g * rest;
    let update = sqrt(accum_update_ + epsilon) * (V(1) / sqrt(accum_ + epsilon)) * g;
    var_ -= update * lr;
    accum_update_ = accum_update_ * rho + update * update * rest;
    //@ end
    //@ if RMSProp
    ms_ += (g * g - ms_) * (T(1) - rho);
    mom_ = mom_ * momentum + g * lr / sqrt(ms_ + epsilon);
    var_ -= mom_;
    //@ end
    //@ if CenteredRMSProp
    let rest = T(1) - rho;
    ms_ += (g * g - ms_) * rest;
    mg_ += (g - mg_) * rest;
    mom_ = mom_ * momentum + g * lr / sqrt((ms_ - mg_ * mg_) + epsilon);
    var_ -= mom_;
    //@ end
    //@ if Ftrl, FtrlV2
    let shrinkage = T(); //@ if Ftrl
    let shrinkage = l2_shrinkage; //@ if FtrlV2
    let shrunk = g + T(2) * shrinkage * var_;
    let now = accum_ + g * g;
    let root = root_of(now, -lr_power);
    let growth = root - root_of(accum_, -lr_power);
    accum_ = now;
    linear_ += select(shrunk - growth / lr * var_, shrunk * lr - growth * var_, MULTIPLY_LINEAR_BY_LR);
    let divisor = select(root / lr + T(2) * l2, root + T(2) * l2 * lr, MULTIPLY_LINEAR_BY_LR);
    let threshold = select(l1, l1 * lr, MULTIPLY_LINEAR_BY_LR);
    var_ = select(V(), (threshold * sign_of(linear_) - linear_) / divisor, abs(linear_) > V(threshold));
    //@ end
    //@ if AddSign
    m_ = m_ * beta + g * (T(1) - beta);
    var_ -= lr * (alpha + sign_decay * (sign_of(g) * sign_of(m_))) * g;
    //@ end
    //@ if PowerSign
    m_ = m_ * beta + g * (T(1) - beta);
    var_ -= lr * exp(logbase * sign_decay * (sign_of(g) * sign_of(m_))) * g;
    //@ end
}

// The first unless the second is greater, so that it stays where the second is no number.
fn greater(a: V, b: V) -> V { return select(a, b, a < b); }

// 0 of 0.
fn sign_of(x: V) -> V { return select(select(x, V(-1), x < V()), V(1), x > V()); }

fn root_of(x: V, power: T) -> V { return select(pow(x, V(power)), sqrt(x), power == T(0.5)); }

fn proximal(old: V, g: V, rate: V, l1: T, l2: T) -> V {
    let stepped = old - g * rate;
    let divisor = V(1) + l2 * rate;
    let shrunk = sign_of(stepped) * greater(abs(stepped) - rate * l1, V()) / divisor;
    return select(stepped / divisor, shrunk, l1 > T());
}
