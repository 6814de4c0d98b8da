//! Tables of ops with the functions that they are.

/// The [`Scalar`](crate::shader::Scalar) of a result: `T` is that of the arguments.
macro_rules! result {
    (T, $dtype:ident) => {
        $crate::family::scalar!($dtype)
    };
    (bool, $dtype:ident) => {
        $crate::shader::Scalar::Bool
    };
}
pub(super) use result;

/// Kernels of ops with so many arguments of one dtype, in groups of dtypes with the capability that each needs, and `fn
/// programs` for all of them. What is asked of shapes, the op, its dtypes, its result, and the body of the function
/// follow; an error may follow that, for functions that set `refused`.
macro_rules! functions {
    ($operands:literal; $(
        $shapes:ident $op:ident { $([$($dtype:ident),* $(; $requires:literal)?])* } $out:ident $body:expr
        $(, $code:ident $message:expr)?;
    )*) => {
        $($crate::family::gpu_kernels! {
            $op { $([$($dtype),* $(; $requires)?])* } as $crate::element_wise::driver::ElementWise: |ctx| {
                let (from, to) = (ctx.input_dtype_at(0)?, ctx.output_dtype_at(0)?);
                let function = $crate::element_wise::driver::Function::of(stringify!($op), $operands, from, to, $body)?
                    .shapes($crate::element_wise::driver::Shapes::$shapes);
                $crate::element_wise::table::functions!(@kernel ctx function $($code $message)?)
            }
        })*

        pub(super) fn programs() -> Vec<$crate::shader::Program> {
            let mut programs = Vec::new();
            $($($({
                let scalar = $crate::family::scalar!($dtype);
                let result = $crate::element_wise::table::result!($out, $dtype);
                let function =
                    $crate::element_wise::driver::Function::new(stringify!($op), &[scalar; $operands], result, $body)
                        .shapes($crate::element_wise::driver::Shapes::$shapes);
                programs.extend($crate::element_wise::driver::programs(&function));
            })*)*)*
            programs
        }
    };
    (@kernel $ctx:ident $function:ident) => {
        kernlink::error::Result::Ok($crate::element_wise::driver::ElementWise::new($function))
    };
    (@kernel $ctx:ident $function:ident $code:ident $message:expr) => {{
        let refusal = $crate::refusal::Refusal::new($ctx, kernlink::error::Code::$code, $message);
        kernlink::error::Result::Ok($crate::element_wise::driver::ElementWise::refusing($function, refusal))
    }};
}
pub(super) use functions;
