#include "app/wiring/server_client.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "app/command/console.h"
#include "app/wiring/config.h"
#include "app/wiring/data_path.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr int kTenantPagesMax = 100;  // Of a thousand each: more than a server may hold.

// A word for the body of an answer that is not the JSON we speak, such as another server's.
Json foreign_error(int status) {
    return Json::object(
        {{"error",
          Json::object(
              {{"code", "unexpected_answer"},
               {"message", "The server answered " + std::to_string(status) + " without an error."},
               {"retryable", false},
               {"next_step", "Check that the socket in the data folder belongs to interlock."}})}});
}

const Json& error_of(const ServerAnswer& answer, const Json& otherwise) {
    const Json* error = answer.body.find("error");
    return error != nullptr && error->is_object() ? *error : *otherwise.find("error");
}

}  // namespace

std::string ServerAnswer::error_code() const {
    const Json* error = body.find("error");
    const Json* code = error == nullptr ? nullptr : error->find("code");
    return code != nullptr && code->is_string() ? code->as_string() : "";
}

ServerClient::ServerClient(std::string data_folder, std::chrono::milliseconds wait)
    : data_folder_(std::move(data_folder)),
      client_(HttpClient::create(
          {.unix_socket_path = operator_socket_path(data_folder_), .host = "localhost"}, wait)) {}

Result<ServerAnswer> ServerClient::send(HttpRequest request) {
    if (!token_.empty()) {
        request.headers.emplace_back("Authorization", "Bearer " + std::string(token_.reveal()));
    }
    auto response = client_->send(request);
    for (auto& [name, value] : request.headers) {
        wipe(value);
    }
    wipe(request.body);
    if (!response) {
        return fail(
            errors::server_unreachable,
            "No server answers on " + operator_socket_path(data_folder_) + " (" +
                response.error().message + ")",
            "Start one with `interlock serve --data " + data_folder_ +
                "`, or name the folder of "
                "the running one with --data.");
    }
    ServerAnswer answer{response->status, Json()};
    if (!response->body.empty()) {
        if (auto body = parse_json(response->body)) {
            answer.body = *std::move(body);
        }
    }
    wipe(response->body);
    return answer;
}

Result<ServerAnswer> ServerClient::get(const std::string& target) {
    HttpRequest request;
    request.method = "GET";
    request.target = target;
    return send(std::move(request));
}

Result<ServerAnswer> ServerClient::post(const std::string& target, const Json& body) {
    return send_body("POST", target, body);
}

Result<ServerAnswer> ServerClient::put(const std::string& target, const Json& body) {
    return send_body("PUT", target, body);
}

Result<ServerAnswer> ServerClient::send_body(
    std::string method, const std::string& target, const Json& body) {
    HttpRequest request;
    request.method = std::move(method);
    request.target = target;
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = to_text(body);
    return send(std::move(request));
}

Result<ServerAnswer> ServerClient::remove(const std::string& target) {
    HttpRequest request;
    request.method = "DELETE";
    request.target = target;
    return send(std::move(request));
}

Result<ServerAnswer> fetch_tenants(ServerClient& server) {
    Json tenants = Json::array();
    std::string after;
    for (int pages = 0; pages < kTenantPagesMax; ++pages) {
        TRY_ASSIGN(
            ServerAnswer page,
            server.get(
                "/tenants?limit=1000" + (after.empty() ? "" : "&after=" + percent_encode(after))));
        const Json* list = page.body.find("tenants");
        if (!page.ok() || list == nullptr || !list->is_array()) {
            return page;
        }
        for (const Json& tenant : list->items()) {
            tenants.push(tenant);
        }
        const Json* next = page.body.find("next_after");
        if (next == nullptr || !next->is_string()) {
            break;
        }
        after = next->as_string();
    }
    return ServerAnswer{200, Json::object({{"tenants", std::move(tenants)}})};
}

Result<std::vector<TenantId>> list_tenants(ServerClient& server) {
    TRY_ASSIGN(const ServerAnswer answer, fetch_tenants(server));
    const Json* list = answer.body.find("tenants");
    if (!answer.ok() || list == nullptr || !list->is_array()) {
        return fail(
            errors::internal, "The server does not list its tenants: " + answer.error_code() + ".");
    }
    std::vector<TenantId> tenants;
    for (const Json& tenant : list->items()) {
        tenants.push_back(TenantId::trusted(text_at(tenant, "tenant_id")));
    }
    return tenants;
}

Result<std::string> chosen_tenant(ServerClient& server, const std::string& named) {
    if (!named.empty()) {
        TRY_ASSIGN(const TenantId tenant, TenantId::parse(named));
        return tenant.text();
    }
    TRY_ASSIGN(const std::vector<TenantId> tenants, list_tenants(server));
    // On the demo, who signed up beside it does not make its commands ambiguous.
    if (is_demo_folder(server.data_folder()) &&
        std::ranges::count(tenants, kDemoTenant, &TenantId::text) == 1) {
        return std::string(kDemoTenant);
    }
    if (tenants.size() != 1) {
        std::string names;
        for (const TenantId& one : tenants) {
            names += (names.empty() ? "" : ", ") + one.text();
        }
        return fail(
            errors::bad_usage,
            "This server has " + count_text(std::ssize(tenants), "tenant") + ": " + names + ".",
            "Name one with --tenant.");
    }
    return tenants.front().text();
}

ExitCode report_refusal(const GlobalOptions& global, const ServerAnswer& answer) {
    const Json otherwise = foreign_error(answer.status);
    const Json& error = error_of(answer, otherwise);
    if (global.json) {
        std::cerr << to_text(Json::object({{"error", error}})) << "\n";
        return ExitCode::refused;
    }
    std::cerr << "interlock: " << print_safe(text_at(error, "message")) << " ["
              << print_safe(text_at(error, "code")) << "]\n";
    if (const Json* problems = error.find("problems"); problems && problems->is_array()) {
        for (const Json& problem : problems->items()) {
            std::cerr << "  " << print_safe(text_at(problem, "path")) << ": "
                      << print_safe(text_at(problem, "problem")) << "\n";
        }
    }
    std::cerr << "  " << print_safe(in_command_words(text_at(error, "next_step"))) << "\n";
    if (text_at(error, "retryable") == "true") {
        std::cerr << "  The same command may be run again.\n";
    }
    return ExitCode::refused;
}

ExitCode report_failure(const GlobalOptions& global, const Error& error) {
    const ExitCode code = report(global, error);
    if (error == errors::server_unreachable) {
        return ExitCode::unreachable;
    }
    return error == errors::bad_usage ? ExitCode::usage : code;
}

ExitCode report_usage(const GlobalOptions& global, std::string message, std::string next_step) {
    return report_failure(
        global, fail(errors::bad_usage, std::move(message), std::move(next_step)).error());
}

std::expected<Json, ExitCode> expect_ok(
    const GlobalOptions& global, const Result<ServerAnswer>& answer) {
    if (!answer) {
        return std::unexpected(report_failure(global, answer.error()));
    }
    if (!answer->ok()) {
        return std::unexpected(report_refusal(global, *answer));
    }
    return answer->body;
}

std::expected<std::string, ExitCode> chosen_data_folder(const GlobalOptions& global) {
    const auto loaded = load_config(global);
    if (!loaded) {
        return std::unexpected(report(global, loaded.error()));
    }
    return loaded->config.data_folder;
}

}  // namespace interlock
