// The scripts of the golden files, read line by line (README.md has their form).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "net/http_message.h"

namespace interlock {

// What earlier answers said, by the names that the script gave it.
using GoldenValues = std::map<std::string, std::string>;

// A value of an answer that the script keeps: `name` of what is found by `pointer`.
struct GoldenKeep {
    std::string name;
    std::string pointer;
};

struct GoldenStep {
    enum class Kind {
        remark,     // "# …", or an empty line.
        directive,  // "! word …": something other than a call happens.
        call,       // "<who> <METHOD> <path> [+Header:value …] [body] [-> name=pointer …]"
        rpc,        // "<who> RPC <method> [params] [-> …]": the same over MCP.
    };
    Kind kind = Kind::remark;
    std::string text;                // As written, without what is kept; every $name filled in.
    std::vector<std::string> words;  // Of a directive.
    std::string as;
    std::string method;  // HTTP's, or the one of JSON-RPC.
    std::string path;
    std::vector<HttpHeader> headers;
    std::string body;
    std::vector<GoldenKeep> keeps;
};

// The lines of a script; one that begins with four spaces goes on with the line before it.
std::vector<std::string> golden_lines(const std::string& script);

// A line that names a value that nobody kept is a failure of the test.
GoldenStep read_golden_step(const std::string& line, const GoldenValues& values);

}  // namespace interlock
