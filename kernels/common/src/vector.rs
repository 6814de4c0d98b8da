//! Loops compiled twice: for the processor every build may assume, and for the wide vectors that most have.

/// Declares a function whose body is also compiled for AVX2, FMA and F16C, and which picks at run time.
#[macro_export]
macro_rules! widest {
    (
        $(#[$meta:meta])*
        $visibility:vis fn $name:ident $(<$($t:ident: $bound:path),+>)? ($($arg:ident: $ty:ty),* $(,)?)
        $(-> $ret:ty)? $body:block
    ) => {
        $(#[$meta])*
        $visibility fn $name $(<$($t: $bound),+>)? ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body $(<$($t: $bound),+>)? ($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,f16c")]
                fn wide $(<$($t: $bound),+>)? ($($arg: $ty),*) $(-> $ret)? {
                    body$(::<$($t),+>)?($($arg),*)
                }
                if std::is_x86_feature_detected!("avx2")
                    && std::is_x86_feature_detected!("fma")
                    && std::is_x86_feature_detected!("f16c")
                {
                    // SAFETY: the processor has the features.
                    return unsafe { wide$(::<$($t),+>)?($($arg),*) };
                }
            }
            body$(::<$($t),+>)?($($arg),*)
        }
    };
}
pub use widest;
