# Turns files into a C++ source, so that the program carries them and needs no folder of its own:
#   cmake -DOUT=page_files.cc -DFILES="a.html;b.css" -P embed.cmake
#
# Every byte becomes an escape of a string literal; app/face/page_files.h declares what comes out.
set(rows "")
foreach(file IN LISTS FILES)
    cmake_path(GET file FILENAME name)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
    string(APPEND rows "    {\"${name}\"sv, \"${bytes}\"sv},\n")
endforeach()
file(WRITE ${OUT} "#include \"app/face/page_files.h\"

namespace interlock {
namespace {
using namespace std::string_view_literals;
constexpr PageFile kFiles[] = {
${rows}};
}  // namespace

std::span<const PageFile> page_files() {
    return kFiles;
}

}  // namespace interlock
")
