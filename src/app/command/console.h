// How commands speak: aligned text for people, one JSON document for programs, questions on the
// terminal.
//
// Much of what is printed was written by agents (reasons, notes, payloads). print_safe() is why
// none of it can move the cursor, recolour a line or turn the reading direction around a number
// that a human is about to approve.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command/command.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret_string.h"

namespace interlock {

// The text with everything that is not plainly visible spelt out as \u{…}: control characters,
// escape sequences, invisible and direction-changing characters, bytes that are not UTF-8.
// Newlines stay only with `keep_newlines`.
std::string print_safe(std::string_view text, bool keep_newlines = false);

// Whether this descriptor is a terminal that obeys escape sequences.
bool is_screen(int fd);
// Whether text on this descriptor may be coloured: a screen, and no NO_COLOR.
bool wants_colour(int fd);
// Columns of the terminal that standard output is; 0 when it is none, and nothing has to fit.
std::size_t terminal_columns();

// Columns padded to their widest cell; cells are made safe. The last column is not padded. What
// does not fit into `columns` goes on below in the last column or, when even the others do not fit,
// every row becomes lines of its own: nothing is ever cut off.
std::string render_table(
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows,
    std::size_t columns = terminal_columns());
// "name   value" lines.
std::string render_fields(const std::vector<std::pair<std::string, std::string>>& fields);

// "1 record", "2 records".
std::string count_text(std::int64_t count, const std::string& noun);

// The value at `key` as text for people: strings as they are, lists of them with commas, null,
// empty and absent as "-".
std::string text_at(const Json& json, std::string_view key);

// A list of sentences at `key` as one text; none as "-".
std::string sentences_at(const Json& json, std::string_view key);

// What an answer's `blocked` says, as rows of render_fields(): whether it trades, why not, and what
// to do next.
std::vector<std::pair<std::string, std::string>> blocked_fields(const Json& answer);

// What a server tells callers of HTTP or MCP to do, for somebody who types commands:
// "that GET /instances shows" → "that `interlock strategy list` shows".
std::string in_command_words(std::string text);

// One line of JSON on standard output.
void print_json(const Json& json);

// Asks on the controlling terminal, so that answers may come from a person while standard input is
// something else. `invalid_request` when there is no terminal.
Result<std::string> ask_line(const std::string& question);
Result<SecretString> ask_secret(const std::string& question);  // Without echo.
bool has_terminal();

// The first line of standard input, for --password-stdin.
Result<SecretString> read_secret_from_stdin();

// A line that is written over while long work runs; silent unless standard error is a terminal.
class ProgressLine {
public:
    explicit ProgressLine(bool quiet);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const std::string& text);
    void clear();

private:
    bool active_;
    bool written_ = false;
    std::chrono::steady_clock::time_point shown_at_{};
};

}  // namespace interlock
