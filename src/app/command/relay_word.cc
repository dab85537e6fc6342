#include "app/command/relay_word.h"

#include <iostream>

#include "app/command/console.h"
#include "base/text.h"

namespace interlock {

std::string relay_query(
    std::string path, const std::vector<std::pair<std::string, std::string>>& values) {
    char separator = '?';
    for (const auto& [name, value] : values) {
        if (!value.empty()) {
            path += separator;
            path += name + "=" + percent_encode(value);
            separator = '&';
        }
    }
    return path;
}

Json relay_body(const std::vector<std::pair<std::string, std::string>>& values) {
    Json body = Json::object();
    for (const auto& [name, value] : values) {
        if (!value.empty()) {
            body.set(name, value);
        }
    }
    return body;
}

std::string relay_url(ServerClient& server) {
    const auto schema = server.get("/ai/agent-schema.json");
    if (!schema || !schema->ok()) {
        return {};
    }
    std::string url = text_at(schema->body, "base_url");
    if (!url.starts_with("http")) {
        return {};
    }
    return "ws" + url.substr(std::string_view("http").size()) + "/relay";
}

ExitCode call_relay(
    const GlobalOptions& global, const RelayRequest& request, const DescribeAnswer& describe) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const std::string target = "/api/relay" + request.path;
    const auto answer =
        expect_ok(global, request.body ? server.post(target, *request.body) : server.get(target));
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << describe(*answer, server);
    }
    return ExitCode::ok;
}

DescribeAnswer shown_by(std::string (*describe)(const Json&)) {
    return [describe](const Json& answer, ServerClient&) { return describe(answer); };
}

DescribeAnswer saying(std::string sentence) {
    return [sentence = std::move(sentence)](
               const Json&, ServerClient&) { return print_safe(sentence) + "\n"; };
}

CLI::App& relay_group(CLI::App& relay, const char* name, const char* help) {
    CLI::App* const app = relay.add_subcommand(name, help);
    app->require_subcommand(1);
    return *app;
}

}  // namespace interlock
