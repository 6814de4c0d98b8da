//! Loops compiled twice: for the processor every build may assume, and for the wide vectors that most have.

/// Declares a function whose body is also compiled for AVX2 and FMA, and which picks at run time.
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
                #[target_feature(enable = "avx2,fma")]
                fn wide $(<$($t: $bound),+>)? ($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has the features.
                    return unsafe { wide($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}
pub use widest;
