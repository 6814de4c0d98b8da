#!/usr/bin/env bash
# Builds a libtensorflow of Kernlink's and installs it under PREFIX, on Linux:
#
#   bash capi/install.sh PREFIX
#
#   PREFIX/lib/libtensorflow.so.2.21.0      and the names under which programs look for it
#   PREFIX/lib/libtensorflow.a
#   PREFIX/lib/pkgconfig/tensorflow.pc
#   PREFIX/include/tensorflow/...
#
# CC is the C compiler that links (cc). KERNLINK_PROFILE is cargo's profile (release). KERNLINK_FEATURES are the features of
# kernlink-capi, instead of the ops and kernels of all families. KERNLINK_STATIC_LIBRARY is a libkernlink_capi.a that cargo has made
# already, instead of building one: what `cargo build` makes beside other types is not optimised at link time. KERNLINK_PACKED=0
# makes a library that systems with a glibc before 2.36 can load, too, where this one has a newer.
set -euo pipefail

VERSION=2.21.0
CC=${CC:-cc}
PROFILE=${KERNLINK_PROFILE:-release}
# What Rust's standard library needs.
SYSTEM_LIBRARIES="-lgcc_s -lpthread -lm -ldl"

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

[ $# = 1 ] && [ -n "$1" ] || fail "usage: bash capi/install.sh PREFIX"
[ "$(uname -s)" = Linux ] || fail "only Linux has libraries with versions of symbols, which this one needs"
built=${KERNLINK_STATIC_LIBRARY:-}
for program in $([ -n "$built" ] || echo cargo) "$CC" nm strip sed awk install; do
    command -v "$program" >/dev/null || fail "$program is not installed"
done
mkdir -p "$1" 2>/dev/null || fail "cannot make the folder $1"
prefix=$(cd "$1" && pwd)
[ -w "$prefix" ] || fail "cannot write into $prefix"

if [ -n "$built" ]; then
    [ -f "$built" ] || fail "KERNLINK_STATIC_LIBRARY is no file: $built"
    [ -z "${KERNLINK_FEATURES+set}${KERNLINK_PROFILE+set}" ] ||
        fail "KERNLINK_FEATURES and KERNLINK_PROFILE say how a library is built, and KERNLINK_STATIC_LIBRARY that none is"
    built=$(realpath "$built")
fi

source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$source"

if [ -z "$built" ]; then
    features=()
    [ -z "${KERNLINK_FEATURES+set}" ] || features=(--no-default-features --features "$KERNLINK_FEATURES")
    cargo rustc -p kernlink-capi --profile "$PROFILE" --lib --crate-type staticlib "${features[@]}"
    target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    built=$target/$([ "$PROFILE" = dev ] && echo debug || echo "$PROFILE")/libkernlink_capi.a
    [ -f "$built" ] || fail "cargo has not made $built"
fi

scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# Programs are linked to TensorFlow's library under either of two versions of each symbol, or under none: here are both.
nm --defined-only --extern-only "$built" 2>/dev/null | awk '$2 == "T" && $3 ~ /^TFE?_/ { print $3 }' | sort -u >"$scratch/exports"
[ -s "$scratch/exports" ] || fail "$built has no functions of TensorFlow's"
{
    echo "VERS_1.0 { global:"
    sed 's/$/;/' "$scratch/exports"
    echo "local: *; };"
    echo "tensorflow { };"
} >"$scratch/versions"
sed 's/.*/"&@tensorflow" = &;/' "$scratch/exports" >"$scratch/aliases.ld"

# Addresses that the loader fills in take 1.9 MB less when packed, which glibc reads from 2.36 on, and linkers write that know it.
packed=()
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=
options=$("$CC" -Wl,--help 2>/dev/null) || options=
if [ "${KERNLINK_PACKED:-1}" = 1 ] && [[ $glibc =~ ^glibc\ 2\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 36 ] &&
    [[ $options == *pack-relative-relocs* ]]; then
    packed=(-Wl,-z,pack-relative-relocs)
fi

mkdir -p "$prefix/lib/pkgconfig"
library=libtensorflow.so.$VERSION
# shellcheck disable=SC2086
"$CC" -shared -o "$scratch/$library" -Wl,--whole-archive "$built" -Wl,--no-whole-archive "$scratch/aliases.ld" \
    -Wl,--version-script="$scratch/versions" -Wl,-soname,libtensorflow.so.2 -Wl,--gc-sections -Wl,-z,relro,-z,now "${packed[@]}" \
    $SYSTEM_LIBRARIES || fail "$CC could not link the library; GNU ld is the linker that is known to"
strip --strip-unneeded "$scratch/$library"
nm -D --defined-only "$scratch/$library" | awk '$2 == "T" { print $3 }' | sort >"$scratch/exported"
sed 's/$/@tensorflow/p;s/@tensorflow$/@@VERS_1.0/' "$scratch/exports" | sort | cmp -s - "$scratch/exported" ||
    fail "the linker has not given each symbol its two versions; GNU ld is the linker that is known to"
install -m 755 "$scratch/$library" "$prefix/lib/$library"
ln -sf "$library" "$prefix/lib/libtensorflow.so.2"
for name in libtensorflow.so libtensorflow_framework.so libtensorflow_framework.so.2; do
    ln -sf libtensorflow.so.2 "$prefix/lib/$name"
done

strip --strip-debug -o "$scratch/libtensorflow.a" "$built"
install -m 644 "$scratch/libtensorflow.a" "$prefix/lib/libtensorflow.a"

(cd include && find . -name '*.h') | while read -r header; do
    install -D -m 644 "include/$header" "$prefix/include/$header"
done

cat >"$prefix/lib/pkgconfig/tensorflow.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: TensorFlow
Description: TensorFlow's C API over Kernlink
Version: $VERSION
Libs: -L\${libdir} -ltensorflow
Libs.private: $SYSTEM_LIBRARIES
Cflags: -I\${includedir}
END

echo "installed $(wc -l <"$scratch/exports") functions in $prefix/lib/$library, $(stat -c %s "$prefix/lib/$library") bytes"
