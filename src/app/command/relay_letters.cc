#include "app/command/relay_letters.h"

#include <charconv>
#include <expected>
#include <iostream>
#include <string_view>

#include "app/command/console.h"
#include "app/wiring/server_client.h"
#include "relay/service/relay_views.h"

namespace interlock {
namespace {

// A million letters; whoever has more calls again.
constexpr int kCallsMax = 2000;

std::int64_t count_at(const Json& answer, std::string_view key) {
    const Json* const value = answer.find(key);
    return value == nullptr ? 0 : value->as_int64().value_or(0);
}

Result<Json> body_of(const LettersWish& wish) {
    const auto span =
        wish.older_than.empty() ? std::optional<std::int64_t>(0) : read_span(wish.older_than);
    if (!span) {
        return fail(
            errors::bad_usage,
            "--older-than takes a number with s, m, h or d",
            "Say --older-than 3d for three days.");
    }
    const bool is_one = !wish.buffer_id.empty();
    if (is_one ? wish.instance.empty() || wish.all || !wish.older_than.empty()
               : !wish.all && wish.older_than.empty()) {
        return fail(
            errors::bad_usage,
            "which letters is not clear",
            "Give --instance and --buffer-id for one, or --all, with --instance, --tenant or "
            "--older-than for some.");
    }
    if (!is_one && !wish.all && wish.instance.empty() && wish.tenant.empty()) {
        return fail(
            errors::bad_usage,
            "whose letters is not clear",
            "Give --instance or --tenant, or --all for those of everybody.");
    }
    Json body = Json::object();
    for (const auto& [name, value] :
         {std::pair("instance_id", &wish.instance),
          std::pair("tenant_id", &wish.tenant),
          std::pair("buffer_id", &wish.buffer_id)}) {
        if (!value->empty()) {
            body.set(name, *value);
        }
    }
    if (!is_one) {
        body.set("all", wish.all);
        body.set("older_than_seconds", *span);
    }
    return body;
}

void print(
    const GlobalOptions& global, const std::string& word, std::int64_t done, const Json& last) {
    const std::int64_t left = count_at(last, "left");
    const std::int64_t no_room = count_at(last, "no_room");
    if (global.json) {
        print_json(Json::object({{"done", done}, {"left", left}, {"no_room", no_room}}));
        return;
    }
    const bool requeues = word == "requeue";
    std::cout << count_text(done, "dead letter")
              << (requeues ? " put back behind what waits.\n" : " thrown away.\n");
    if (left > 0) {
        std::cout << left << " left"
                  << (no_room > 0 ? ": the buffer is full. Wait until it has drained.\n" : ".\n");
    }
}

}  // namespace

std::optional<std::int64_t> read_span(const std::string& text) {
    constexpr std::string_view kUnits = "smhd";
    constexpr std::int64_t kSeconds[] = {1, 60, 60 * 60, 24 * 60 * 60};
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, count);
    const std::size_t unit = stop + 1 == end ? kUnits.find(*stop) : std::string_view::npos;
    if (code != std::errc() || unit == std::string_view::npos || count < 0 ||
        count > kOlderThanSecondsMax / kSeconds[unit]) {
        return std::nullopt;
    }
    return count * kSeconds[unit];
}

ExitCode settle_letters(
    const GlobalOptions& global, const LettersWish& wish, const std::string& word) {
    const auto body = body_of(wish);
    if (!body) {
        return report_failure(global, body.error());
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const bool is_one = !wish.buffer_id.empty();
    const std::string path = "/api/relay/dead_letters/" + word + (is_one ? "" : "_many");
    std::int64_t done = 0;
    Json last = Json::object();
    for (int calls = 0; calls < kCallsMax; ++calls) {
        const auto answer = expect_ok(global, server.post(path, *body));
        if (!answer) {
            return answer.error();
        }
        if (is_one) {
            if (global.json) {
                print_json(*answer);
            } else {
                std::cout
                    << (word == "requeue" ? "It waits for the instance again, as the last.\n"
                                          : "Gone.\n");
            }
            return ExitCode::ok;
        }
        last = *answer;
        done += count_at(last, "done");
        if (count_at(last, "left") == 0 || count_at(last, "done") == 0) {
            break;
        }
    }
    print(global, word, done, last);
    return ExitCode::ok;
}

}  // namespace interlock
