"""Compares Kernlink's headers with TensorFlow's: types of functions, values of enums, layouts, and what the inline functions of
strings do.

    python3 capi/tests/compare/headers.py TENSORFLOW_INCLUDE

TENSORFLOW_INCLUDE is the folder `include` of the package tensorflow-cpu 2.21.0. One C++ program, made of what the headers
declare, is compiled with each set of headers; what the two say must be the same. Needs g++.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

OURS = pathlib.Path(__file__).parents[2] / "include"
HEADERS = sorted(str(path.relative_to(OURS)) for path in OURS.rglob("*.h"))

STRINGS = r"""
// A string of each kind, by each function, as a client would see it: its type, its capacity, and its text.
static void show_string(const char* what, const TF_TString* s) {
  std::printf("string %s %d %zu %.*s\n", what, int(TF_TString_GetType(s)), TF_TString_GetCapacity(s), int(TF_TString_GetSize(s)),
              TF_TString_GetDataPointer(s));
}
static int holders = 0;
static void ref(TStringOwnerCApi*) { ++holders; }
static bool unref(TStringOwnerCApi*) { return --holders == 0; }
static void strings() {
  static const std::string text(200, 'x');
  for (size_t first : {0, 1, 22, 23, 31, 32, 100}) {
    for (size_t second : {0, 5, 22, 23, 40, 150}) {
      for (int kind = 0; kind < 4; ++kind) {
        TStringOwnerCApi owner = {ref, unref, nullptr};
        TF_TString made[2];
        auto make = [&](TF_TString* s) {
          TF_TString_Init(s);
          if (kind == 0) TF_TString_Copy(s, text.data(), first);
          if (kind == 1) TF_TString_AssignView(s, text.data(), first);
          if (kind == 2) TF_TString_AssignViewWithOwner(s, text.data(), first, &owner);
          if (kind == 3) TF_TString_Resize(s, first, 'y');
        };
        std::printf("strings %zu %zu %d\n", first, second, kind);
        TF_TString &a = made[0], &b = made[1];
#define ON(...) make(&a); make(&b); __VA_ARGS__; show_string(#__VA_ARGS__, &a); show_string("other", &b); \
        TF_TString_Dealloc(&a); TF_TString_Dealloc(&b); std::printf("holders %d\n", holders);
        ON(TF_TString_Resize(&a, second, 'z'))
        ON(std::memset(TF_TString_ResizeUninitialized(&a, second), 'w', second))
        ON(TF_TString_Reserve(&a, second))
        ON(TF_TString_ReserveAmortized(&a, second))
        ON(TF_TString_AppendN(&a, text.data(), second))
        ON(TF_TString_Resize(&b, second, 'v'); TF_TString_Append(&a, &b))
        ON(TF_TString_GetMutableDataPointer(&a))
        ON(TF_TString_Resize(&b, second, 'u'); TF_TString_Assign(&a, &b))
        ON(TF_TString_Assign(&a, &b))
        ON(TF_TString_Resize(&b, second, 't'); TF_TString_Move(&a, &b))
        ON(TF_TString_Copy(&a, text.data(), second))
      }
    }
  }
}
"""


def declared():
    """The names that the headers declare: functions, enumerators, structs with their members, other types and macros."""
    functions, values, structs, types = [], [], {}, []
    for header in HEADERS:
        text = re.sub(r"//[^\n]*", "", (OURS / header).read_text())
        functions += re.findall(r"\b(TFE?_\w+)\([^;{}]*\);", "\n".join(re.findall(r"TF_CAPI_EXPORT[^;]*;", text)))
        for body in re.findall(r"enum(?: \w+)? \{(.*?)\}", text, re.S):
            values += re.findall(r"(\w+) =", body)
        for body, name in re.findall(r"typedef struct (?:\w+ )?\{((?:[^{}]|\{[^{}]*\})*)\} (\w+);", text):
            structs[name] = [a or b for a, b in re.findall(r"(\w+)(?:\[[^\]]*\])?;|\(\*(\w+)\)", body.replace("} u;", ""))]
        types += re.findall(r"typedef [^;{}]*?\(\*(\w+)\)", text) + re.findall(r"typedef [^;{}()]*?(\w+);", text)
    return functions, values, structs, types


def program():
    functions, values, structs, types = declared()
    lines = [f"#include <{header}>" for header in HEADERS]
    lines += [f"#include <{header}>" for header in ("cstddef", "cstdio", "cstring", "string", "typeinfo", "cxxabi.h")]
    lines += ["template <class T> struct Named {};", STRINGS, "int main() {"]
    show = 'std::printf("%s %s\\n", "{}", abi::__cxa_demangle(typeid(Named<{}>).name(), nullptr, nullptr, nullptr));'
    # TensorFlow has this one a second time, with a C++ argument.
    pointer = "TFE_TensorHandle* (*)(const TF_Tensor*, TF_Status*)"
    one_of_two = {"TFE_NewTensorHandle": f"decltype(static_cast<{pointer}>(TFE_NewTensorHandle))"}
    lines += [show.format("function " + name, one_of_two.get(name, f"decltype({name})")) for name in functions]
    lines += [show.format("type " + name, name) for name in types]
    lines += [f'std::printf("value {name} %d\\n", int({name}));' for name in values]
    for name, members in structs.items():
        lines.append(f'std::printf("struct {name} %zu %zu\\n", sizeof({name}), alignof({name}));')
        for member in members:
            place = "u." + member if name == "TF_TString" else member
            lines.append(f'std::printf("member {name}.{member} %zu\\n", offsetof({name}, {place}));')
            lines.append(show.format(f"member {name}.{member}", f"decltype((({name}*)nullptr)->{place})"))
    for name in ("TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE", "TF_InputRange_Args_STRUCT_SIZE", "TF_TString_SmallCapacity"):
        lines.append(f'std::printf("value {name} %zu\\n", size_t({name}));')
    return "\n".join([*lines, "strings();", "}"])


def answers(scratch, source, *folders):
    binary = scratch / "program"
    includes = [f"-I{folder}" for folder in folders]
    # The library itself is not needed: nothing is called.
    subprocess.run(["g++", "-std=c++17", "-w", *includes, str(source), "-o", str(binary)], check=True)
    return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    theirs = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        source = scratch / "program.cc"
        source.write_text(program())
        ours, others = answers(scratch, source, OURS), answers(scratch, source, theirs)
    differing = [(a, b) for a, b in zip(ours, others) if a != b]
    for a, b in differing:
        print("K", a)
        print("T", b)
    kinds = {}
    for line in ours:
        kind = line.split(" ", 1)[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    print(", ".join(f"{count} of {kind}" for kind, count in kinds.items()))

    # What TensorFlow declares, and these headers do not.
    names = set()
    for header in HEADERS:
        if "experimental" in header:
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (theirs / header).read_text(), flags=re.S)
        names |= set(re.findall(r"\b(TFE?_\w+)\(", " ".join(re.findall(r"TF_CAPI_EXPORT[^;]*;", text))))
    missing = sorted(names - set(declared()[0]) - {"TF_CAPI_EXPORT"})
    print(f"{len(names)} functions in TensorFlow's headers, {len(missing)} not here {' '.join(missing)}")
    sys.exit(1 if differing or missing or len(ours) != len(others) else 0)


main()
