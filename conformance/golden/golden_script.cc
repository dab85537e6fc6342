#include "golden_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace interlock {
namespace {

constexpr std::string_view kGoesOn = "    ";
constexpr std::string_view kKeeps = " -> ";

bool is_name_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// "$name" becomes what was kept under the name.
std::string filled(const std::string& line, const GoldenValues& values) {
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] != '$') {
            out += line[at++];
            continue;
        }
        const auto begin = line.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        const std::string name(begin, std::find_if_not(begin, line.end(), is_name_letter));
        const auto found = values.find(name);
        EXPECT_NE(found, values.end()) << "nothing was kept as $" << name << ": " << line;
        out += found == values.end() ? "" : found->second;
        at += 1 + name.size();
    }
    return out;
}

std::vector<GoldenKeep> keeps_of(const std::string& text) {
    std::vector<GoldenKeep> keeps;
    std::istringstream in(text);
    for (std::string word; in >> word;) {
        const std::size_t equals = word.find('=');
        EXPECT_NE(equals, std::string::npos) << word;
        keeps.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
    return keeps;
}

void read_call(GoldenStep& step) {
    std::istringstream in(step.text);
    in >> step.as >> step.method;
    step.kind = step.method == "RPC" ? GoldenStep::Kind::rpc : GoldenStep::Kind::call;
    in >> (step.kind == GoldenStep::Kind::rpc ? step.method : step.path);
    for (in >> std::ws; in.peek() == '+'; in >> std::ws) {
        std::string header;
        in >> header;
        const std::size_t colon = header.find(':');
        EXPECT_NE(colon, std::string::npos) << step.text;
        step.headers.emplace_back(header.substr(1, colon - 1), header.substr(colon + 1));
    }
    std::getline(in, step.body, '\0');
    EXPECT_TRUE(step.kind == GoldenStep::Kind::rpc || step.path.starts_with("/")) << step.text;
}

}  // namespace

std::vector<std::string> golden_lines(const std::string& script) {
    std::vector<std::string> lines;
    std::istringstream in(script);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(kGoesOn) && !lines.empty()) {
            lines.back() += " " + line.substr(line.find_first_not_of(' '));
        } else {
            lines.push_back(line);
        }
    }
    return lines;
}

GoldenStep read_golden_step(const std::string& line, const GoldenValues& values) {
    GoldenStep step;
    if (line.empty() || line.starts_with('#')) {
        step.text = line;
        return step;
    }
    const std::size_t keeps = line.rfind(kKeeps);
    if (keeps != std::string::npos) {
        step.keeps = keeps_of(line.substr(keeps + kKeeps.size()));
    }
    step.text = filled(line.substr(0, keeps), values);
    if (!line.starts_with("! ")) {
        read_call(step);
        return step;
    }
    step.kind = GoldenStep::Kind::directive;
    std::istringstream in(step.text.substr(2));
    for (std::string word; in >> word;) {
        step.words.push_back(word);
    }
    return step;
}

}  // namespace interlock
