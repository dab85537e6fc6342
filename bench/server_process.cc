#include "bench/server_process.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::string_view kReady = "ready http://";

// The port in a line of the kind "ready http://127.0.0.1:8420".
Result<std::uint16_t> port_in(const std::string& line, std::string_view begin = kReady) {
    const std::size_t colon = line.rfind(':');
    std::uint16_t port = 0;
    if (!line.starts_with(begin) || colon == std::string::npos ||
        std::from_chars(line.data() + colon + 1, line.data() + line.size(), port).ec !=
            std::errc()) {
        return fail(
            errors::unavailable,
            "Expected \"" + std::string(begin) + "...\", found \"" + line + "\".");
    }
    return port;
}

std::string last_lines_of(const std::string& path) {
    constexpr std::size_t kShown = 600;
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const std::string all = text.str();
    return all.substr(all.size() - std::min(all.size(), kShown));
}

}  // namespace

Result<ServerProcess> ServerProcess::start(const Options& options) {
    const std::string config = options.folder + "/config.toml";
    // It is measured from outside, which a server that lets nobody look into it would forbid.
    std::ofstream(config) << options.config << "\n[debug]\ncore_dumps = true\n";
    MeasuredProcess::Options child;
    child.command = {
        options.program,
        "serve",
        "--config",
        config,
        "--data",
        options.folder + "/data",
        "--port",
        "0"};
    if (!options.sink.empty()) {
        child.command.insert(child.command.end(), {"--sink", options.sink});
    }
    if (options.core) {
        TRY_ASSIGN(const std::string taskset, find_program("taskset", "util-linux"));
        // What starts us there is not this program: a link to oneself would be another one.
        std::error_code unresolved;
        child.command.front() = std::filesystem::canonical(options.program, unresolved).string();
        child.command.insert(
            child.command.begin(), {taskset, "--cpu-list", std::to_string(*options.core)});
    }
    child.log_path = options.folder + "/server.log";
    const auto begin = std::chrono::steady_clock::now();
    TRY_ASSIGN(MeasuredProcess process, MeasuredProcess::start(child));
    const auto line = process.read_line(kServerPatience);
    if (!line) {
        return fail(
            errors::unavailable,
            "The server did not start: " + line.error().message +
                " Its log ends with: " + last_lines_of(child.log_path));
    }
    ServerProcess server(options, std::move(process));
    server.start_took_ = {std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::steady_clock::now() - begin)
                              .count()};
    TRY_ASSIGN(server.port_, port_in(*line));
    return server;
}

std::string ServerProcess::data_folder() const {
    return options_.folder + "/data";
}

int ServerProcess::stop() {
    process_.send_signal(SIGTERM);
    return process_.wait();
}

HttpTarget ServerProcess::target() const {
    return {.unix_socket_path = {}, .host = "127.0.0.1", .port = port_};
}

HttpTarget ServerProcess::operator_target() const {
    return {
        .unix_socket_path = data_folder() + "/operator.sock", .host = "localhost", .port = port_};
}

Result<HttpTarget> ServerProcess::stop_target() {
    if (stop_port_ == 0) {
        TRY_ASSIGN(const std::string line, process_.read_line(kServerPatience));
        TRY_ASSIGN(stop_port_, port_in(line, "stop http://"));
    }
    return HttpTarget{.unix_socket_path = {}, .host = "127.0.0.1", .port = stop_port_};
}

Result<void> ServerProcess::create_tenant(const std::string& tenant_id) {
    const auto client = HttpClient::create(operator_target());
    TRY(call_json(
        *client,
        {.path = "/tenants",
         .body = Json::object({{"tenant_id", tenant_id}, {"name", tenant_id}}),
         .credential = {}}));
    return {};
}

Result<std::string> ServerProcess::create_access_key(const std::string& tenant_id) {
    const auto client = HttpClient::create(operator_target());
    TRY_ASSIGN(
        const Json answer,
        call_json(
            *client,
            {.path = "/api/" + tenant_id + "/keys",
             .body = Json::object(
                 {{"label", "load"},
                  {"scopes", Json::array({"planner", "supervisor", "bot", "read", "probe"})}}),
             .credential = {}}));
    return text_in(answer, "access_key");
}

Result<std::string> ServerProcess::create_human(
    const std::string& tenant_id, const std::string& email) {
    const auto desk = HttpClient::create(operator_target());
    TRY_ASSIGN(
        const Json invitation,
        call_json(
            *desk,
            {.path = "/api/" + tenant_id + "/humans",
             .body = Json::object({{"email", email}}),
             .credential = {}}));
    TRY_ASSIGN(const std::string code, text_in(invitation, "one_time_code"));
    const auto client = HttpClient::create(target());
    TRY_ASSIGN(
        const Json session,
        call_json(
            *client,
            {.path = "/account/activate",
             .body =
                 Json::object({{"code", code}, {"password", kHumanPassword}, {"want_token", true}}),
             .credential = {}}));
    return text_in(session, "token");
}

Result<double> ServerProcess::read_metric(const std::string& name) {
    const auto client = HttpClient::create(operator_target());
    HttpRequest request;
    request.method = "GET";
    request.target = "/metrics";
    TRY_ASSIGN(const HttpResponse response, client->send(request));
    for (const std::string_view line : split(response.body, '\n')) {
        if (line.starts_with(name + " ")) {
            return std::strtod(std::string(line.substr(name.size() + 1)).c_str(), nullptr);
        }
    }
    return 0.0;
}

Result<std::string> find_program(const std::string& name, const std::string& package) {
    for (const std::string_view folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
        std::string file = std::string(folder) + name;
        if (::access(file.c_str(), X_OK) == 0) {
            return file;
        }
    }
    return fail(
        errors::unavailable,
        "There is no program `" + name + "` here.",
        "Install the Debian package " + package + " and run this again.");
}

Result<Json> call_json(HttpClient& client, const JsonCall& call) {
    HttpRequest request;
    request.method = call.method;
    request.target = call.path;
    if (!call.credential.empty()) {
        request.headers.emplace_back("Authorization", "Bearer " + call.credential);
    }
    if (!call.body.is_null()) {
        request.headers.emplace_back("Content-Type", "application/json");
        request.body = to_text(call.body);
    }
    TRY_ASSIGN(const HttpResponse response, client.send(request));
    if (response.status / 100 != 2) {
        return fail(
            errors::unavailable,
            call.method + " " + call.path + " was answered " + std::to_string(response.status) +
                ": " + response.body);
    }
    return parse_json(response.body.empty() ? "null" : response.body);
}

Result<std::string> text_in(const Json& answer, std::string_view key) {
    const Json* value = answer.find(key);
    if (value == nullptr || !value->is_string()) {
        return fail(
            errors::unavailable,
            "The answer holds no text " + std::string(key) + ": " + to_text(answer));
    }
    return value->as_string();
}

}  // namespace interlock
