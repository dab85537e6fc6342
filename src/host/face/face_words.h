// A refusal names the call that comes first. Whoever came over MCP knows tools and no routes,
// whoever came over HTTP knows routes, and only who sits at the host has its commands: each face
// says it in the words of its callers.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "host/face/operation.h"

namespace interlock {

// "POST /initialize_bot comes before /start" → "bot_initialize comes before bot_start".
std::string in_tool_words(const OperationTable& table, std::string_view text);
// "that list_strategies shows" → "that GET /instances shows". The planner's tools keep their
// names, which their routes end with.
std::string in_route_words(const OperationTable& table, std::string_view text);

// "`interlock account` shows it" → "GET /account shows it", for who has no shell on the host. What
// is the host's own business stays a command.
std::string in_call_words(std::string text);
// The route words of somebody who is not at the host.
std::string in_remote_words(const OperationTable& table, std::string_view text);

using FaceWords = std::string (*)(const OperationTable&, std::string_view);
Error spoken(Error error, const OperationTable& table, FaceWords words);
// The same of an answer that is made already: its errors, and what it says to do next.
std::string spoken_answer(const std::string& body, const OperationTable& table, FaceWords words);
// Whether an answer names any command.
bool names_a_command(std::string_view body);

}  // namespace interlock
