// Structured log lines, for people or as JSON, with redaction built in.
//
// A line is an event word and fields: log_info("server_ready", {{"address", address}}). Values of
// fields whose name speaks of a secret are replaced; every line passes the judge of secrets in
// base/redaction.h, so that no credential, of ours or of a vendor, stands in one.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace interlock {

// `off` is a threshold only: nothing is written (the simulator's services fail on purpose).
enum class LogLevel { debug, info, warn, error, off };
enum class LogFormat { human, json };

struct LogConfig {
    LogLevel level = LogLevel::info;
    LogFormat format = LogFormat::human;
};

// Once, before threads start. Lines go to standard error.
void configure_log(const LogConfig& config);

using LogField = std::pair<std::string_view, Json>;
using LogFields = std::initializer_list<LogField>;

void log(LogLevel level, std::string_view event, LogFields fields = {});
inline void log_debug(std::string_view event, LogFields fields = {}) {
    log(LogLevel::debug, event, fields);
}
inline void log_info(std::string_view event, LogFields fields = {}) {
    log(LogLevel::info, event, fields);
}
inline void log_warn(std::string_view event, LogFields fields = {}) {
    log(LogLevel::warn, event, fields);
}
inline void log_error(std::string_view event, LogFields fields = {}) {
    log(LogLevel::error, event, fields);
}

// The full judgement of base/redaction.h, as a copy.
std::string redact(std::string_view text);
inline std::string redact(const std::string& text) {
    return redact(std::string_view(text));
}
inline std::string redact(const char* text) {
    return redact(std::string_view(text));
}
// True for names such as "password", "access_key", "Authorization".
bool is_secret_name(std::string_view name);
// Redacts a document deeply: values of secret names, and credentials inside strings.
Json redact(const Json& json);

// The line as it would be written, without a trailing newline; for tests.
struct LogLine {
    LogLevel level;
    std::string_view event;
    LogFields fields;
    std::string_view at;  // RFC 3339
};
std::string format_log_line(const LogLine& line, LogFormat format);

}  // namespace interlock
