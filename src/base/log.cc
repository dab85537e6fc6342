// Log lines through spdlog. The line is made here, redacted as a whole; spdlog only writes it,
// whole and in order, from whichever thread.
#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>

#include "base/check.h"
#include "base/time.h"

namespace interlock {
namespace {

// Longer texts are cut in log lines: one request must not fill a disk.
constexpr std::size_t kLogTextBytesMax = 4096;
constexpr std::string_view kCutMark = "...";

struct LogState {
    std::atomic<LogLevel> level = LogLevel::info;
    std::atomic<LogFormat> format = LogFormat::human;
    spdlog::logger logger{"interlock", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
};

// Never destroyed, so that what runs at exit can still log.
LogState& state() {
    static LogState& kept = *[] {
        auto* made = new LogState;
        made->logger.set_pattern("%v");
        made->logger.set_level(spdlog::level::trace);
        made->logger.flush_on(spdlog::level::trace);
        return made;
    }();
    return kept;
}

std::string_view word_of(LogLevel level) {
    static constexpr std::array<std::string_view, 4> kWords = {"debug", "info", "warn", "error"};
    CHECK(level <= LogLevel::error);
    return kWords[static_cast<std::size_t>(level)];
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
    static constexpr std::array kLevels = {
        spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
    return kLevels[static_cast<std::size_t>(level)];
}

std::string cut(std::string text) {
    if (text.size() > kLogTextBytesMax) {
        std::size_t end = kLogTextBytesMax;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
            --end;  // Not through the middle of a character.
        }
        text.resize(end);
        text += kCutMark;
    }
    return text;
}

Json loggable(std::string_view name, const Json& value) {
    // One-member object, so that a field obeys the same rules as a member deep inside one.
    Json member = Json::object();
    member.set(std::string(name), value);
    Json redacted = redact(member);
    Json& result = redacted.members().front().second;
    if (result.is_string()) {
        return Json(cut(result.as_string()));
    }
    return std::move(result);
}

// Bare when it is one visible ASCII word, else a JSON literal: a value can never forge a line.
void append_human(std::string& out, std::string_view text) {
    const bool bare = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > 0x20 && c < 0x7f && c != '"' && c != '=' && c != '\\';
    });
    if (bare) {
        out += text;
    } else {
        append_json_string(out, text);
    }
}

std::string human_line(const LogLine& line) {
    constexpr std::size_t kEventColumn = 6;  // "error" and a space.
    std::string out;
    if (!line.at.empty()) {
        out += line.at;
        out += ' ';
    }
    out += word_of(line.level);
    out.append(kEventColumn - word_of(line.level).size(), ' ');
    append_human(out, redact(line.event));
    for (const auto& [name, value] : line.fields) {
        out += ' ';
        append_human(out, redact(name));
        out += '=';
        const Json shown = loggable(name, value);
        if (shown.is_string()) {
            append_human(out, shown.as_string());
        } else {
            out += cut(to_text(shown));
        }
    }
    return out;
}

// Fields stand in an object of their own, where none can pass for the line's time or level.
std::string json_line(const LogLine& line) {
    Json fields = Json::object();
    for (const auto& [name, value] : line.fields) {
        Json shown = loggable(name, value);
        if (!shown.is_string()) {
            std::string text = to_text(shown);
            if (text.size() > kLogTextBytesMax) {
                shown = Json(cut(std::move(text)));  // A cut document is none: it goes out as text.
            }
        }
        fields.set(redact(name), std::move(shown));
    }
    return to_text(Json::object({
        {"at", line.at},
        {"level", word_of(line.level)},
        {"event", redact(line.event)},
        {"fields", std::move(fields)},
    }));
}

}  // namespace

void configure_log(const LogConfig& config) {
    state().level = config.level;
    state().format = config.format;
}

std::string format_log_line(const LogLine& line, LogFormat format) {
    return format == LogFormat::human ? human_line(line) : json_line(line);
}

void log(LogLevel level, std::string_view event, LogFields fields) {
    LogState& kept = state();
    // What lies above `error` can be a threshold but never a line.
    if (level < kept.level.load(std::memory_order_relaxed) || level > LogLevel::error) {
        return;
    }
    const auto since_epoch = std::chrono::duration_cast<std::chrono::microseconds>(
        spdlog::log_clock::now().time_since_epoch());
    const std::string at = to_text(Timestamp{since_epoch.count()});
    const std::string line = format_log_line(
        {.level = level, .event = event, .fields = fields, .at = at}, kept.format.load());
    kept.logger.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace interlock
