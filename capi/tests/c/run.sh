#!/usr/bin/env bash
# Tests a library that capi/install.sh installed, by programs in C: that they compile and link by pkg-config, all functions of the
# headers among them, and that the examples answer as they should, under valgrind where there is one.
#
#   bash capi/tests/c/run.sh PREFIX
#
# CC is the compiler (cc). SECONDS_OF_THREADS is how long eight threads share a session (2).
set -euo pipefail
prefix=$(cd "${1:?usage: bash capi/tests/c/run.sh PREFIX}" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"
CC=${CC:-cc}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
export LD_LIBRARY_PATH=$prefix/lib

if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs tensorflow)
else
    flags="-I$prefix/include -L$prefix/lib -ltensorflow"
fi
checked=()
if command -v valgrind >/dev/null; then
    checked=(valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite)
else
    echo "run.sh: without valgrind" >&2
fi

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

compile() {
    # shellcheck disable=SC2086
    "$CC" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Wpedantic -g "$1" $flags -lpthread -o "$scratch/program"
}

expect() {
    local program=$1 expected=$2 answered
    shift 2
    compile "$program"
    answered=$("${checked[@]}" "$scratch/program" "$@") || fail "$program failed: $answered"
    [ "$answered" = "$expected" ] || fail "$program answered
$answered
and should
$expected"
    echo "$program: ok"
}

# Each header alone, in C and in C++.
find "$prefix/include/tensorflow" -name '*.h' | while read -r header; do
    echo 'int main(void) { return 0; }' |
        "$CC" -std=c99 -Wall -Wextra -Werror -I"$prefix/include" -include "$header" -fsyntax-only -x c -
    if command -v c++ >/dev/null; then
        echo 'int main() { return 0; }' |
            c++ -std=c++11 -Wall -Wextra -Werror -I"$prefix/include" -include "$header" -fsyntax-only -x c++ -
    fi
done
echo "headers: ok"

# Every function that a header declares is in the library. TF_InitKernel is a plugin's.
{
    for header in c/c_api.h c/c_api_experimental.h c/kernels.h c/ops.h c/eager/c_api.h; do
        echo "#include \"tensorflow/$header\""
    done
    echo 'typedef void (*function)(void);'
    echo 'const function functions[] = {'
    sed -n 's/^TF_CAPI_EXPORT [^(]*[ *]\(TFE\?_[A-Za-z0-9_]*\)(.*/(function)\1,/p' $(find "$prefix/include/tensorflow/c" -name '*.h')
    echo '};'
    echo 'int main(void) { return functions[0] == 0; }'
} >"$scratch/functions.c"
compile "$scratch/functions.c"
LD_BIND_NOW=1 "$scratch/program"
echo "$(grep -c '^(function)' "$scratch/functions.c") functions: ok"

examples=../../examples
expect $examples/graph.c "y [2]: 16 25
dy/dx [2]: 24 -30"
expect $examples/eager.c "product [2,2]: 2 1 4 3
joined: one string and another string"
expect strings.c "strings ok"
expect references.c "references ok"
expect $examples/saved_model.c "output [1,3]: 1.5 -4 12" \
    ../../../tests/saved_model/data/tf2 serving_default_x:0 StatefulPartitionedCall:1 1 2 3

# The static library.
"$CC" $examples/graph.c -I"$prefix/include" "$prefix/lib/libtensorflow.a" -lgcc_s -lpthread -lm -ldl -o "$scratch/program"
"$scratch/program" >/dev/null || fail "a program with the static library failed"
echo "libtensorflow.a: ok"

compile threads.c
"$scratch/program" "${SECONDS_OF_THREADS:-2}"
