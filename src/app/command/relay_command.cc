#include "app/command/relay_command.h"

#include <algorithm>
#include <iostream>

#include "app/command/console.h"
#include "app/command/relay_echo_command.h"
#include "app/command/relay_words.h"
#include "base/errors.h"
#include "base/text.h"
#include "relay/rules/case_lines.h"

namespace interlock {
namespace {

struct RelayCheck {
    const char* name;
    const char* description;
    const char* example;
    RelayAnswerText answer;
};

// Exactly the text, for programs that compare it, unless it could break the line or steer a
// terminal.
std::string one_line(const std::string& text) {
    const bool has_control =
        std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; });
    return has_control ? print_safe(text) : text;
}

Result<std::string> answer_session_key(const Json& given, bool as_json) {
    TRY_ASSIGN(std::string key, session_key_of_case(given));
    return as_json ? to_text(Json::object({{"key", key}})) : one_line(key);
}

Result<std::string> answer_token(const Json& given, bool as_json) {
    TRY_ASSIGN(const TokenCase token, token_of_case(given));
    const bool accepted = token.verdict == TokenVerdict::accepted;
    if (as_json) {
        Json json = Json::object({
            {"verdict", accepted ? "accept" : "reject"},
            {"payload", accepted ? Json(token.payload) : Json()},
        });
        if (!accepted) {
            json.set("code", to_word(token.verdict));
        }
        return to_text(json);
    }
    return accepted ? "accept " + one_line(token.payload)
                    : "reject " + std::string(to_word(token.verdict));
}

Result<std::string> answer_webhook(const Json& given, bool as_json) {
    TRY_ASSIGN(const WebhookVerdict verdict, webhook_of_case(given));
    if (as_json) {
        return to_text(Json::object({
            {"accept", verdict.accepted},
            {"code", verdict.accepted ? Json() : Json(verdict.code)},
        }));
    }
    return verdict.accepted ? "accept" : "reject " + verdict.code;
}

Result<std::string> answer_permissions(const Json& given, bool) {
    TRY_ASSIGN(const Json permissions, permissions_of_case(given));
    return to_text(permissions);
}

// Reads up to the newline; false at the end of the input. What goes beyond the bound is skipped and
// leaves `line` one byte longer than allowed.
bool read_line(std::istream& in, std::string& line) {
    line.clear();
    std::streambuf* const buffer = in.rdbuf();
    constexpr auto kEnd = std::istream::traits_type::eof();
    int next = buffer->sbumpc();
    if (next == kEnd) {
        return false;
    }
    for (; next != kEnd && next != '\n'; next = buffer->sbumpc()) {
        if (line.size() <= kRelayLineBytesMax) {
            line += static_cast<char>(next);
        }
    }
    return true;
}

Result<std::string> answer_line(
    const std::string& line, bool as_json, const RelayAnswerText& answer) {
    if (line.size() > kRelayLineBytesMax) {
        return fail(
            errors::body_too_large,
            "The line is longer than " + std::to_string(kRelayLineBytesMax) + " bytes.");
    }
    TRY_ASSIGN(const Json given, parse_json(line));
    return answer(given, as_json);
}

std::vector<RelayCheck> checks() {
    return {
        {"session-key",
         "The session key of each source, as the gateway client builds it.",
         R"(Line: {"source":{"platform":"discord","chat_id":"C","chat_type":"dm"},"options":{}})"
         "\nOptions: group_sessions_per_user, thread_sessions_per_user, profile, revision "
         "(2026-06-24, 2026-08-22; newest unless given).",
         answer_session_key},
        {"check-token",
         "Whether each upgrade token is good: accept with its gateway id, or reject with why.",
         R"(Line: {"token":"…","now":1750000000,"secrets":["current","previous"]})",
         answer_token},
        {"verify-webhook",
         "Whether each webhook comes from its platform: accept, or reject with a code.",
         R"(Line: {"scheme":"discord-ed25519","public_key_hex":"…","headers":{…},"body_b64":"…"})"
         "\nSchemes: discord-ed25519, telegram-secret-token, twilio-hmac-sha1, wecom-bizmsgcrypt, "
         "slack-v0.\nWithout \"now\" (seconds) freshness is not judged.",
         answer_webhook},
        {"permissions",
         "What each member may do in a Discord channel, and whether he sees it.",
         R"(Line: {"guild_id":"1","owner_id":"9","user_id":"7","member_roles":[],)"
         R"("roles":[{"id":"1","permissions":"1024"}],"channel_overwrites":[]})",
         answer_permissions},
    };
}

}  // namespace

ExitCode answer_lines(const RelayStreams& streams, bool as_json, const RelayAnswerText& answer) {
    ExitCode code = ExitCode::ok;
    std::string line;
    for (std::size_t number = 1; read_line(streams.in, line); ++number) {
        if (trim(line).empty()) {
            continue;
        }
        const auto said = answer_line(line, as_json, answer);
        if (said) {
            streams.out << *said << '\n';
            continue;
        }
        streams.out << "error\n";
        streams.problems << "line " << number << ": " << print_safe(said.error().message) << '\n';
        code = ExitCode::usage;
    }
    streams.out.flush();
    return code;
}

void add_relay_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "relay",
        "The relay: its instances, gateways, routes and messages; and its checks, which answer "
        "JSON lines.");
    command->require_subcommand(1);
    add_relay_words(line, *command);
    add_relay_echo_command(line, *command);
    for (RelayCheck& check : checks()) {
        CLI::App* sub = command->add_subcommand(check.name, check.description);
        sub->footer(check.example);
        sub->callback([&line, answer = std::move(check.answer)] {
            line.run = [&line, answer] {
                return answer_lines(
                    {.in = std::cin, .out = std::cout, .problems = std::cerr},
                    line.global.json,
                    answer);
            };
        });
    }
}

}  // namespace interlock
