# Gathers every kind of error that the sources declare into one C++ list, so that the catalogue of
# errors can miss none:
#   cmake -DOUT=error_kinds.cc -DROOT=src -DFILES="a.h;b.h" -P error_kinds.cmake
#
# A kind is declared as `inline constexpr ErrorKind name{…}` in the namespace interlock::errors;
# app/face/error_catalog.h declares what comes out. The file is touched only when the list changes.
set(includes "")
set(rows "")
foreach(file IN LISTS FILES)
    file(READ ${file} text)
    string(REGEX MATCHALL "inline constexpr ErrorKind[ \n]+[a-z0-9_]+" found "${text}")
    if(NOT found)
        continue()
    endif()
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE name)
    string(APPEND includes "#include \"${name}\"\n")
    foreach(declaration IN LISTS found)
        string(REGEX REPLACE ".*[ \n]" "" kind "${declaration}")
        string(APPEND rows "    &errors::${kind},\n")
    endforeach()
endforeach()
file(WRITE ${OUT}.new "#include \"app/face/error_catalog.h\"

${includes}
namespace interlock {
namespace {
constexpr const ErrorKind* kKinds[] = {
${rows}};
}  // namespace

std::span<const ErrorKind* const> error_kinds() {
    return kKinds;
}

}  // namespace interlock
")
file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
