// The XML that WeCom sends: one root with children that hold text or CDATA. No document types, no
// entities but the five that XML names, no processing of what is nested deeper.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

inline constexpr std::size_t kXmlElementsMax = 256;
inline constexpr std::size_t kXmlDepthMax = 8;

// Texts of the root's children by name; a child that holds elements counts as "". Nothing when it
// is not such a document, or a child's name is there twice.
std::optional<std::map<std::string, std::string>> read_flat_xml(std::string_view text);

}  // namespace interlock
