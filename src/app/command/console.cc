#include "app/command/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "app/command/bot_words.h"
#include "base/errors.h"
#include "base/text.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

constexpr std::size_t kAnswerBytesMax = 2048;
constexpr std::chrono::milliseconds kProgressPeriod{100};

struct Range {
    char32_t first;
    char32_t last;
};

// Controls, soft hyphen, Arabic letter mark, zero widths and directions, line separators, bidi
// isolates, invisible operators, variation selectors, byte order mark, interlinear marks, tags.
constexpr std::array<Range, 13> kHidden{{
    {0x00, 0x1F},
    {0x7F, 0x9F},
    {0xAD, 0xAD},
    {0x61C, 0x61C},
    {0x180E, 0x180E},
    {0x200B, 0x200F},
    {0x2028, 0x202E},
    {0x2060, 0x206F},
    {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},
    {0xFFF0, 0xFFFC},
    {0xE0000, 0xE0FFF},
    {0xF0000, 0x10FFFF},
}};

bool is_hidden(char32_t c) {
    return std::any_of(kHidden.begin(), kHidden.end(), [c](Range range) {
        return c >= range.first && c <= range.last;
    });
}

// Agents write emoji of several characters all the time: the selector and the joiner of pictures
// are left alone behind a picture, once, and are spelt out wherever they could hide something.
bool joins_pictures(char32_t c, char32_t before) {
    constexpr char32_t kPictures = 0x203C;  // The first sign that emoji are made of.
    constexpr char32_t kEmojiSelector = 0xFE0F;
    constexpr char32_t kJoiner = 0x200D;
    if (c == kEmojiSelector) {
        return before >= kPictures && !is_hidden(before);
    }
    return c == kJoiner &&
           (before == kEmojiSelector || (before >= kPictures && !is_hidden(before)));
}

char32_t decode_at(std::string_view text, std::size_t at, std::size_t length) {
    const auto byte = [&](std::size_t i) {
        return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
    };
    if (length == 1) {
        return byte(0);
    }
    char32_t c = byte(0) & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        c = (c << 6) | (byte(i) & 0x3F);
    }
    return c;
}

void append_code(std::string& out, char32_t c) {
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "\\u{%x}", static_cast<unsigned>(c));
    out += text.data();
}

// Characters, which is near enough to columns for what we print.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

void pad(std::string& out, std::string_view text, std::size_t width) {
    out += text;
    out.append(width - std::min(width, width_of(text)), ' ');
}

// At least so much is left for what goes on below; with less, rows become lines of their own.
constexpr std::size_t kLastColumnMin = 24;

// The text, broken between words where it would pass the last column; what goes on is indented.
void append_wrapped(
    std::string& out, std::string_view text, std::size_t indent, std::size_t columns) {
    std::size_t at = indent;
    bool begins = true;
    for (const std::string_view word : split(text, ' ')) {
        const std::size_t width = width_of(word);
        if (!begins && columns != 0 && at + 1 + width > columns) {
            out += "\n" + std::string(indent, ' ');
            at = indent;
        } else if (!begins) {
            out += ' ';
            ++at;
        }
        out += word;
        at += width;
        begins = false;
    }
    out += "\n";
}

// Each row as "name  value" lines, for terminals that are too narrow for columns.
std::string render_rows(const std::vector<std::vector<std::string>>& lines, std::size_t columns) {
    std::size_t indent = 0;
    for (const std::string& name : lines.front()) {
        indent = std::max(indent, width_of(name) + 2);
    }
    std::string out;
    for (auto row = lines.begin() + 1; row != lines.end(); ++row) {
        out += row == lines.begin() + 1 ? "" : "\n";
        for (std::size_t i = 0; i < row->size(); ++i) {
            pad(out, lines.front()[i], indent);
            append_wrapped(out, (*row)[i], indent, columns);
        }
    }
    return out;
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// Byte by byte, so that nothing after the newline is taken from whoever reads next.
Result<std::string> read_answer(int fd) {
    std::string line;
    char c = 0;
    while (true) {
        const ssize_t count = read(fd, &c, 1);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 || (count == 0 && line.empty())) {
            wipe(line);
            return fail(errors::invalid_request, "No answer was given.", "Answer the question.");
        }
        if (count == 0 || c == '\n') {
            if (line.ends_with('\r')) {
                line.pop_back();
            }
            return line;
        }
        if (line.size() >= kAnswerBytesMax) {
            wipe(line);
            return fail(errors::invalid_request, "The answer is too long.", "Give a shorter one.");
        }
        line += c;
    }
}

Result<FileDescriptor> open_terminal() {
    FileDescriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
    if (!terminal.is_open()) {
        return fail(
            errors::invalid_request,
            "There is no terminal to ask on.",
            "Run this on a terminal, or answer by the options that --help lists.");
    }
    return terminal;
}

// Nothing typed is shown while this lives. Keys come one by one, Ctrl-C among them as a key, so
// that no signal can end the program and leave a shell without echo behind.
class QuietTerminal {
public:
    explicit QuietTerminal(int fd) : fd_(fd) {
        if (tcgetattr(fd_, &before_) == 0) {
            termios quiet = before_;
            quiet.c_lflag &= static_cast<tcflag_t>(~(ECHO | ECHONL | ICANON | ISIG));
            changed_ = tcsetattr(fd_, TCSAFLUSH, &quiet) == 0;
        }
    }
    ~QuietTerminal() {
        if (changed_) {
            tcsetattr(fd_, TCSAFLUSH, &before_);
        }
    }
    QuietTerminal(const QuietTerminal&) = delete;
    QuietTerminal& operator=(const QuietTerminal&) = delete;

    bool is_quiet() const { return changed_; }

private:
    int fd_;
    bool changed_ = false;
    termios before_{};
};

Result<SecretString> read_keys(int fd) {
    std::string line;
    line.reserve(kAnswerBytesMax);  // Growing would leave copies behind.
    char c = 0;
    while (read(fd, &c, 1) == 1 && c != '\x03' && c != '\x04' && line.size() < kAnswerBytesMax) {
        if (c == '\n' || c == '\r') {
            return SecretString(std::move(line));
        }
        if (c == '\x7f' || c == '\b') {
            line.resize(line.size() - std::min<std::size_t>(line.size(), 1));
        } else if (c == '\x15') {
            line.clear();
        } else {
            line += c;
        }
    }
    wipe(line);
    return fail(errors::invalid_request, "No password was given.", "Nothing was sent.");
}

}  // namespace

std::string print_safe(std::string_view text, bool keep_newlines) {
    std::string out;
    char32_t before = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length_at(text, at);
        if (length == 0) {
            append_code(out, static_cast<unsigned char>(text[at]));
            before = 0;
            ++at;
            continue;
        }
        const char32_t c = decode_at(text, at, length);
        if (is_hidden(c) && !(keep_newlines && c == '\n') && !joins_pictures(c, before)) {
            append_code(out, c);
        } else {
            out += text.substr(at, length);
        }
        before = c;
        at += length;
    }
    return out;
}

bool is_screen(int fd) {
    const char* const terminal = std::getenv("TERM");
    return isatty(fd) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

bool wants_colour(int fd) {
    const char* const refused = std::getenv("NO_COLOR");
    return is_screen(fd) && (refused == nullptr || *refused == '\0');
}

std::size_t terminal_columns() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    std::size_t columns = size.ws_col;
    const char* const named = std::getenv("COLUMNS");
    if (columns == 0 && named != nullptr) {
        const std::string_view text(named);
        std::from_chars(text.data(), text.data() + text.size(), columns);
    }
    return columns;
}

std::string render_table(
    const std::vector<std::string>& header,
    const std::vector<std::vector<std::string>>& rows,
    std::size_t columns) {
    std::vector<std::vector<std::string>> lines{header};
    for (const auto& row : rows) {
        std::vector<std::string> cells;
        for (const std::string& cell : row) {
            cells.push_back(print_safe(cell));
        }
        lines.push_back(std::move(cells));
    }
    std::vector<std::size_t> widths(header.size(), 0);
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(line[i]));
        }
    }
    std::size_t indent = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
        indent += widths[i] + 2;
    }
    const bool fits = columns == 0 || indent + widths.back() <= columns;
    if (!fits && indent + kLastColumnMin > columns) {
        return render_rows(lines, columns);
    }
    std::string out;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i + 1 < line.size(); ++i) {
            pad(out, line[i], widths[i] + 2);
        }
        append_wrapped(out, line.back(), indent, fits ? 0 : columns);
    }
    return out;
}

std::string render_fields(const std::vector<std::pair<std::string, std::string>>& fields) {
    std::size_t width = 0;
    for (const auto& [name, value] : fields) {
        width = std::max(width, width_of(name));
    }
    std::string out;
    for (const auto& [name, value] : fields) {
        pad(out, name, width + 2);
        out += print_safe(value) + "\n";
    }
    return out;
}

std::string count_text(std::int64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<std::pair<std::string, std::string>> blocked_fields(const Json& answer) {
    const Json* const blocked = answer.find("blocked");
    if (blocked == nullptr || !blocked->is_object()) {
        return {{"blocked", "-"}};
    }
    return {
        {"blocked", text_at(*blocked, "code") + ": " + text_at(*blocked, "reason")},
        {"next", in_command_words(text_at(*blocked, "next"))}};
}

std::string sentences_at(const Json& json, std::string_view key) {
    const Json* const list = json.find(key);
    std::string text;
    for (const Json& one : list != nullptr && list->is_array() ? list->items() : Json::Array()) {
        text += (text.empty() ? "" : " ") + (one.is_string() ? one.as_string() : std::string());
    }
    return text.empty() ? "-" : text;
}

std::string text_at(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    if (value == nullptr || value->is_null()) {
        return "-";
    }
    if (value->is_string()) {
        return value->as_string().empty() ? "-" : value->as_string();
    }
    if (!value->is_array()) {
        return to_text(*value);
    }
    std::string text;
    for (const Json& item : value->items()) {
        text += (text.empty() ? "" : ",") + (item.is_string() ? item.as_string() : to_text(item));
    }
    return text.empty() ? "-" : text;
}

std::string in_command_words(std::string text) {
    // Longer ones first where one begins like another.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kCommands{{
        {"list_strategy_types", "`interlock strategy types`"},
        {"GET /strategy_types", "`interlock strategy types`"},
        {"list_strategies", "`interlock strategy list`"},
        {"GET /instances", "`interlock strategy list`"},
        {"list_concerns", "`interlock concern list`"},
        {"GET /concerns", "`interlock concern list`"},
        {"list_accounts", "`interlock account list`"},
        {"GET /accounts", "`interlock account list`"},
        {"botId", "--bot-id"},
    }};
    for (const auto& [call, command] : kCommands) {
        for (std::size_t at = text.find(call); at != text.npos; at = text.find(call, at)) {
            text.replace(at, call.size(), command);
            at += command.size();
        }
    }
    return in_bot_words(text);
}

void print_json(const Json& json) {
    std::cout << to_text(json) << "\n";
}

Result<std::string> ask_line(const std::string& question) {
    TRY_ASSIGN(const FileDescriptor terminal, open_terminal());
    std::cout.flush();
    write_all(terminal.get(), question);
    return read_answer(terminal.get());
}

Result<SecretString> ask_secret(const std::string& question) {
    TRY_ASSIGN(const FileDescriptor terminal, open_terminal());
    std::cout.flush();
    const QuietTerminal quiet(terminal.get());
    if (!quiet.is_quiet()) {
        return fail(
            errors::invalid_request,
            "The terminal cannot hide what is typed.",
            "Give the password through --password-stdin.");
    }
    write_all(terminal.get(), question);
    auto secret = read_keys(terminal.get());
    write_all(terminal.get(), "\n");
    return secret;
}

bool has_terminal() {
    return open_terminal().has_value();
}

Result<SecretString> read_secret_from_stdin() {
    auto line = read_answer(STDIN_FILENO);
    if (!line) {
        return fail(
            errors::invalid_request,
            "Standard input held no password.",
            "Give the password as the first line of standard input.");
    }
    return SecretString(*std::move(line));
}

ProgressLine::ProgressLine(bool quiet) : active_(!quiet && is_screen(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
    clear();
}

void ProgressLine::clear() {
    if (written_) {
        std::cerr << "\r\x1b[K" << std::flush;
        written_ = false;
    }
}

void ProgressLine::show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (active_ && now - shown_at_ >= kProgressPeriod) {
        shown_at_ = now;
        std::cerr << "\r\x1b[K" << print_safe(text) << std::flush;
        written_ = true;
    }
}

}  // namespace interlock
