# Turns files into a C++ source, so that the program carries them and needs no folder of its own:
#   cmake -DOUT=page_files.cc -DHEADER=app/face/page_files.h -DFUNCTION=page_files
#         -DFILES="a.html;b.css" -P embed.cmake
#
# Every byte becomes an escape of a string literal; the header declares the function that gives them.
set(rows "")
foreach(file IN LISTS FILES)
    cmake_path(GET file FILENAME name)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
    string(APPEND rows "    {\"${name}\"sv, \"${bytes}\"sv},\n")
endforeach()
file(WRITE ${OUT} "#include \"${HEADER}\"

namespace interlock {
namespace {
using namespace std::string_view_literals;
constexpr EmbeddedFile kFiles[] = {
${rows}};
}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() {
    return kFiles;
}

}  // namespace interlock
")
