// The files of src/api/pages as the program carries them. The build writes the definition
// (cmake/embed.cmake), so that a page is an ordinary file to whoever works on it.
#pragma once

#include <span>
#include <string_view>

namespace interlock {

struct EmbeddedFile {
    std::string_view name;  // "page.css"
    std::string_view bytes;
};

// Sorted by name.
std::span<const EmbeddedFile> page_files();

}  // namespace interlock
