#include "golden_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFoldColumns = 120;
constexpr std::size_t kShownBefore = 60;  // Characters around the first difference.
constexpr std::size_t kShownAfter = 200;

void fold(const Json& json, std::size_t depth, std::size_t used, std::string& out) {
    const std::string flat = to_text(json);
    const bool is_long = (depth + 1) * 2 + used + flat.size() > kFoldColumns;
    const bool is_nest =
        (json.is_array() && !json.items().empty()) || (json.is_object() && !json.members().empty());
    if (!is_long || !is_nest) {
        out += flat;
        return;
    }
    const std::string indent((depth + 1) * 2, ' ');
    std::string_view between = "\n";
    out += json.is_array() ? '[' : '{';
    if (json.is_array()) {
        for (const Json& item : json.items()) {
            out += std::string(between) + indent;
            fold(item, depth + 1, 0, out);
            between = ",\n";
        }
    } else {
        for (const auto& [name, value] : json.members()) {
            const std::string key = to_text(Json(name)) + ": ";
            out += std::string(between) + indent + key;
            fold(value, depth + 1, key.size(), out);
            between = ",\n";
        }
    }
    out += "\n" + std::string(depth * 2, ' ') + (json.is_array() ? ']' : '}');
}

// The first word of a path behind its tenant, and the part of the program that it belongs to.
const std::map<std::string_view, std::string_view> kParts{
    {"instances", "trader"},
    {"concerns", "trader"},
    {"control_decisions", "trader"},
    {"strategy_types", "trader"},
    {"supervisor", "trader"},
    {"tools", "loop"},
    {"decisions", "loop"},
    {"limits", "loop"},
    {"mode", "loop"},
    {"trading", "loop"},
    {"strategies", "loop"},
    {"universe", "loop"},
    {"treasury", "loop"},
    {"recovery", "loop"},
    {"alerts", "loop"},
    {"accounts", "loop"},
    {"markets", "market"},
    {"orders", "market"},
    {"fills", "market"},
    {"keys", "host"},
    {"humans", "host"},
    {"notices", "host"},
    {"kill", "host"},
    {"approvals", "host"},
    {"audit", "host"},
    {"artifacts", "host"},
    {"witness", "host"},
    {"probes", "host"},
};

std::string part_of(std::string_view path) {
    if (!path.starts_with("/api/")) {
        return "app";
    }
    if (path.starts_with("/api/relay/")) {
        return "relay";
    }
    const auto words = split(path, '/');
    const auto found = words.size() > 3 ? kParts.find(words[3]) : kParts.end();
    if (found != kParts.end()) {
        return std::string(found->second);
    }
    return words.size() == 4 && words[3] == "account" ? "loop" : "bots";
}

std::map<std::string, std::string> cut_openapi(const Json& document) {
    Json rest = Json::object();
    std::map<std::string, Json> parts;
    for (const auto& [name, value] : document.members()) {
        if (name != "paths") {
            rest.set(name, value);
            continue;
        }
        rest.set(name, "in the files beside this one, each path in the order of the document");
        for (const auto& [path, methods] : value.members()) {
            parts.try_emplace(part_of(path), Json::object()).first->second.set(path, methods);
        }
    }
    std::map<std::string, std::string> files{{"openapi.json", fold_json(rest) + "\n"}};
    for (const auto& [part, paths] : parts) {
        files["openapi." + part + ".json"] = fold_json(paths) + "\n";
    }
    return files;
}

std::string around(std::string_view line, std::size_t at) {
    const std::size_t from = at < kShownBefore ? 0 : at - kShownBefore;
    const std::string_view shown = line.substr(std::min(from, line.size()));
    return (from > 0 ? "…" : "") + std::string(shown.substr(0, kShownBefore + kShownAfter));
}

std::string difference_of(
    const std::string& name, const std::string& golden, const std::string& now) {
    const auto before = split(golden, '\n');
    const auto after = split(now, '\n');
    std::size_t line = 0;
    while (line < before.size() && line < after.size() && before[line] == after[line]) {
        ++line;
    }
    const std::string_view was = line < before.size() ? before[line] : std::string_view();
    const std::string_view is = line < after.size() ? after[line] : std::string_view();
    const auto [left, right] = std::ranges::mismatch(was, is);
    const auto at = static_cast<std::size_t>(left - was.begin());
    return name + ", line " + std::to_string(line + 1) + "\n  was " + around(was, at) + "\n  is  " +
           around(is, at) + "\n";
}

}  // namespace

std::string fold_json(const Json& json) {
    std::string out;
    fold(json, 0, 0, out);
    return out;
}

std::map<std::string, std::string> golden_documents(
    const std::string& name, const std::string& text) {
    if (!name.ends_with(".json")) {
        return {{name, text + (text.ends_with('\n') ? "" : "\n")}};
    }
    const auto json = parse_json(text);
    EXPECT_TRUE(json) << name;
    if (!json) {
        return {};
    }
    EXPECT_TRUE(to_text(*json) == text) << name << " is not told by its members alone";
    if (name == "openapi.json") {
        return cut_openapi(*json);
    }
    return {{name, fold_json(*json) + "\n"}};
}

std::map<std::string, std::string> read_golden(const fs::path& folder) {
    std::map<std::string, std::string> files;
    if (!fs::exists(folder)) {
        return files;
    }
    for (const auto& entry : fs::directory_iterator(folder)) {
        std::ifstream in(entry.path(), std::ios::binary);
        files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return files;
}

void write_golden(const fs::path& folder, const std::map<std::string, std::string>& files) {
    fs::create_directories(folder);
    for (const auto& [name, text] : read_golden(folder)) {
        if (!files.contains(name)) {
            fs::remove(folder / name);
        }
    }
    for (const auto& [name, text] : files) {
        std::ofstream out(folder / name, std::ios::binary | std::ios::trunc);
        out << text;
        EXPECT_TRUE(out.good()) << name;
    }
}

std::string golden_difference(
    const std::map<std::string, std::string>& golden,
    const std::map<std::string, std::string>& now) {
    std::string told;
    for (const auto& [name, text] : golden) {
        const auto found = now.find(name);
        if (found == now.end()) {
            told += name + " is written by nothing any more\n";
        } else if (found->second != text) {
            told += difference_of(name, text, found->second);
        }
    }
    for (const auto& [name, text] : now) {
        if (!golden.contains(name)) {
            told += name + " is new\n";
        }
    }
    return told;
}

}  // namespace interlock
