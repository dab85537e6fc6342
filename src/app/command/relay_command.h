// `interlock relay`: what the operator does with the relay (relay_words.h), a gateway
// that echoes (relay_echo_command.h), and the checks, asked with JSON lines on standard input.
#pragma once

#include <iosfwd>

#include "app/command/command.h"

namespace interlock {

void add_relay_command(CommandLine& line);

// Longer lines are refused unread.
inline constexpr std::size_t kRelayLineBytesMax = std::size_t{16} << 20;

// What is printed for one case; nothing is printed for a blank line.
using RelayAnswerText = std::function<Result<std::string>(const Json& given, bool as_json)>;

struct RelayStreams {
    std::istream& in;
    std::ostream& out;
    std::ostream& problems;
};
// Answers each line with a line. A line that cannot be read is answered with "error" and explained
// on `problems` with its number; the others are answered all the same, and the exit code says so.
ExitCode answer_lines(const RelayStreams& streams, bool as_json, const RelayAnswerText& answer);

}  // namespace interlock
