// The golden files themselves: how a document is laid out so that a change of it can be read, and
// how what a program says today is compared with what is written down.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/json.h"

namespace interlock {

// Some JSON over several lines, in its own order; what fits into a line stays on one. Parsed and
// written compactly it is the same bytes again.
std::string fold_json(const Json& json);

// A document as the files that hold it. "openapi.json" is cut by the part of the program that its
// paths belong to; any other one is a file.
std::map<std::string, std::string> golden_documents(
    const std::string& name, const std::string& text);

// Every file of the folder, by name.
std::map<std::string, std::string> read_golden(const std::filesystem::path& folder);
// In place of what was there.
void write_golden(
    const std::filesystem::path& folder, const std::map<std::string, std::string>& files);
// One paragraph for each file that is another one now: the first line that differs, as it was and
// as it is, from just before the difference on. Empty: all are the same.
std::string golden_difference(
    const std::map<std::string, std::string>& golden,
    const std::map<std::string, std::string>& now);

}  // namespace interlock
