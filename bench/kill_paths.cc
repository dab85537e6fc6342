#include "bench/kill_paths.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/errors.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

bool is_true(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_bool() && value->as_bool();
}

Result<void> require_active(const Json& answer, std::string_view key) {
    if (!is_true(answer, key)) {
        return fail(
            errors::unavailable, "The kill switch is not on after the call: " + to_text(answer));
    }
    return {};
}

class HttpKillPath final : public KillPath {
public:
    explicit HttpKillPath(ServerProcess& server) : client_(HttpClient::create(server.target())) {}
    std::string name() const override { return "http"; }

    Result<void> prepare(const KillTarget& target) override {
        TRY(call_json(
            *client_,
            {.method = "GET",
             .path = path_of(target),
             .body = {},
             .credential = target.access_key}));
        return {};
    }

    Result<KillTimes> pull(const KillTarget& target) override {
        const JsonCall call{
            .path = path_of(target),
            .body = Json::object({{"active", true}, {"reason", target.reason}}),
            .credential = target.access_key};
        KillTimes times;
        times.called_us = monotonic_now_us();
        TRY_ASSIGN(const Json answer, call_json(*client_, call));
        times.recorded_us = monotonic_now_us();
        TRY(require_active(answer, "active"));
        return times;
    }

private:
    static std::string path_of(const KillTarget& target) {
        return "/api/" + target.tenant_id + "/kill";
    }
    std::unique_ptr<HttpClient> client_;
};

class McpKillPath final : public KillPath {
public:
    explicit McpKillPath(ServerProcess& server) : client_(HttpClient::create(server.target())) {}
    std::string name() const override { return "mcp"; }

    Result<void> prepare(const KillTarget& target) override {
        session_id_.clear();
        TRY(post(
            target,
            Json::object(
                {{"jsonrpc", "2.0"},
                 {"id", 1},
                 {"method", "initialize"},
                 {"params",
                  Json::object(
                      {{"protocolVersion", std::string(kVersion)},
                       {"capabilities", Json::object()},
                       {"clientInfo",
                        Json::object({{"name", "interlock drill"}, {"version", "1"}})}})}})));
        TRY(post(
            target, Json::object({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}})));
        return {};
    }

    Result<KillTimes> pull(const KillTarget& target) override {
        const Json message = Json::object(
            {{"jsonrpc", "2.0"},
             {"id", 2},
             {"method", "tools/call"},
             {"params",
              Json::object(
                  {{"name", "py_set_kill_switch"},
                   {"arguments",
                    Json::object(
                        {{"active", true},
                         {"reason", target.reason},
                         {"decision_id", "dec_drill"},
                         {"tick_id", "tick_drill"},
                         {"idempotency_key", "idem_" + target.tenant_id},
                         {"actor", "codex"}})}})}});
        KillTimes times;
        times.called_us = monotonic_now_us();
        TRY_ASSIGN(const Json answer, post(target, message));
        times.recorded_us = monotonic_now_us();
        const Json* result = answer.find("result");
        const Json* content = result == nullptr ? nullptr : result->find("structuredContent");
        if (content == nullptr) {
            return fail(errors::unavailable, "Not a tool's answer: " + to_text(answer));
        }
        TRY(require_active(*content, "kill_switch_active"));
        return times;
    }

private:
    static constexpr std::string_view kVersion = "2025-11-25";

    // The answer; null for a notification.
    Result<Json> post(const KillTarget& target, const Json& message) {
        HttpRequest request;
        request.method = "POST";
        request.target = "/mcp";
        request.headers = {
            {"Authorization", "Bearer " + target.access_key},
            {"Content-Type", "application/json"},
            {"Accept", "application/json, text/event-stream"},
            {"MCP-Protocol-Version", std::string(kVersion)}};
        if (!session_id_.empty()) {
            request.headers.emplace_back("Mcp-Session-Id", session_id_);
        }
        request.body = to_text(message);
        TRY_ASSIGN(const HttpResponse response, client_->send(request));
        if (response.status / 100 != 2) {
            return fail(
                errors::unavailable,
                "MCP answered " + std::to_string(response.status) + ": " + response.body);
        }
        if (const auto session = response.header("Mcp-Session-Id")) {
            session_id_ = std::string(*session);
        }
        return response.body.empty() ? Result<Json>(Json()) : parse_json(response.body);
    }

    std::unique_ptr<HttpClient> client_;
    std::string session_id_;
};

class CliKillPath final : public KillPath {
public:
    CliKillPath(ServerProcess& server, std::string program)
        : server_(server), program_(std::move(program)) {}
    std::string name() const override { return "cli"; }

    Result<KillTimes> pull(const KillTarget& target) override {
        MeasuredProcess::Options options;
        options.command = {
            program_,
            "kill",
            "on",
            "--data",
            server_.data_folder(),
            "--tenant",
            target.tenant_id,
            "--reason",
            target.reason};
        options.log_path = server_.data_folder() + "/../kill.log";
        KillTimes times;
        times.called_us = monotonic_now_us();
        TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(options));
        const int code = process.wait();
        times.recorded_us = monotonic_now_us();
        if (code != 0) {
            return fail(
                errors::unavailable,
                "`kill on` ended with exit code " + std::to_string(code) + ".");
        }
        return times;
    }

private:
    ServerProcess& server_;
    std::string program_;
};

class FileKillPath final : public KillPath {
public:
    explicit FileKillPath(ServerProcess& server)
        : server_(server),
          path_(server.data_folder() + "/KILL"),
          operator_(HttpClient::create(server.operator_target())),
          human_(HttpClient::create(server.target())) {}
    std::string name() const override { return "file"; }

    Result<void> prepare(const KillTarget&) override {
        if (!token_.empty()) {
            return {};
        }
        TRY_ASSIGN(token_, server_.create_human("_system", "drill@example.org"));
        return {};
    }

    Result<KillTimes> pull(const KillTarget& target) override {
        KillTimes times;
        times.called_us = monotonic_now_us();
        // As a person would: no rename, no sync.
        {
            const FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
            if (!file.is_open() ||
                ::write(file.get(), target.reason.data(), target.reason.size()) < 0) {
                return system_failure("write", path_);
            }
        }
        const auto deadline = std::chrono::steady_clock::now() + kServerPatience;
        while (std::chrono::steady_clock::now() < deadline) {
            TRY_ASSIGN(
                const Json status,
                call_json(
                    *operator_,
                    {.method = "GET", .path = "/api/_system/kill", .body = {}, .credential = {}}));
            times.recorded_us = monotonic_now_us();
            const Json* reason = status.find("reason");
            if (reason != nullptr && *reason == Json(target.reason)) {
                return times;
            }
        }
        return fail(errors::timed_out, "The file's activation was never recorded.");
    }

    Result<void> undo() override {
        if (::unlink(path_.c_str()) != 0) {
            return system_failure("remove", path_);
        }
        TRY_ASSIGN(
            const Json status,
            call_json(
                *operator_,
                {.path = "/api/_system/kill",
                 .body = Json::object({{"active", false}, {"reason", "the drill goes on"}}),
                 .credential = {}}));
        TRY_ASSIGN(const std::string approval_id, text_in(status, "release_approval_id"));
        TRY(call_json(
            *human_,
            {.path = "/account/reauthenticate",
             .body = Json::object({{"password", kHumanPassword}}),
             .credential = token_}));
        TRY(call_json(
            *human_,
            {.path = "/api/_system/approvals/" + approval_id + "/approve",
             .body = Json::object(),
             .credential = token_}));
        return {};
    }

private:
    ServerProcess& server_;
    std::string path_;
    std::unique_ptr<HttpClient> operator_;
    std::unique_ptr<HttpClient> human_;
    std::string token_;
};

}  // namespace

std::int64_t monotonic_now_us() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::unique_ptr<KillPath> make_http_path(ServerProcess& server) {
    return std::make_unique<HttpKillPath>(server);
}

std::unique_ptr<KillPath> make_mcp_path(ServerProcess& server) {
    return std::make_unique<McpKillPath>(server);
}

std::unique_ptr<KillPath> make_cli_path(ServerProcess& server, const std::string& program) {
    return std::make_unique<CliKillPath>(server, program);
}

std::unique_ptr<KillPath> make_file_path(ServerProcess& server) {
    return std::make_unique<FileKillPath>(server);
}

}  // namespace interlock
