//! Loops compiled several times: for the processor every build may assume, and for the wide vectors that most have.

/// Declares a function whose body is also compiled for AVX2, FMA and F16C, and which picks at run time; behind `avx512:` also
/// for AVX-512, which is for the few loops that compute much for each element.
#[macro_export]
macro_rules! widest {
    (
        avx512:
        $(#[$meta:meta])*
        $visibility:vis fn $name:ident $(<$($t:ident: $bound:path),+>)? ($($arg:ident: $ty:ty),* $(,)?) $body:block
    ) => {
        $(#[$meta])*
        $visibility fn $name $(<$($t: $bound),+>)? ($($arg: $ty),*) {
            #[inline(always)]
            fn whole $(<$($t: $bound),+>)? ($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")]
                fn wide $(<$($t: $bound),+>)? ($($arg: $ty),*) {
                    whole$(::<$($t),+>)?($($arg),*)
                }
                if std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512bw")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512vl")
                    && std::is_x86_feature_detected!("fma")
                    && std::is_x86_feature_detected!("f16c")
                {
                    // SAFETY: the processor has the features.
                    return unsafe { wide$(::<$($t),+>)?($($arg),*) };
                }
            }
            $crate::widest! {
                fn narrower $(<$($t: $bound),+>)? ($($arg: $ty),*) {
                    whole$(::<$($t),+>)?($($arg),*);
                }
            }
            narrower$(::<$($t),+>)?($($arg),*)
        }
    };
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

/// Brings the line of memory in which element `index` is into the first cache; nothing if there is no such element. For memory
/// that is accessed here and there, so that the processor cannot foresee it.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = elements.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, of an address within the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, index);
}
