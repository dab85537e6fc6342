// How commands talk to the running server: HTTP over the operator socket in the data folder, as the
// operator or, with a session token, as a human.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "app/command/command.h"
#include "base/json.h"
#include "base/secret_string.h"
#include "engine/wire/ids.h"
#include "net/http_client.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind server_unreachable{
    "server_unreachable", 503, true, "Start the server with `interlock serve`."};
inline constexpr ErrorKind bad_usage{
    "bad_usage", 422, false, "Run the command with --help to see what it takes."};
}  // namespace errors

// What the server said. A refusal is an answer, too; only silence is an Error.
struct ServerAnswer {
    int status = 0;
    Json body;

    bool ok() const { return status >= 200 && status < 300; }
    std::string error_code() const;  // Of a refusal; "" when there is none.
};

class ServerClient {
public:
    // A command waits longer than any turn takes, but not for ever.
    static constexpr std::chrono::milliseconds kWait{30'000};

    explicit ServerClient(std::string data_folder, std::chrono::milliseconds wait = kWait);

    Result<ServerAnswer> get(const std::string& target);
    Result<ServerAnswer> post(const std::string& target, const Json& body);
    Result<ServerAnswer> put(const std::string& target, const Json& body);
    Result<ServerAnswer> remove(const std::string& target);

    // From now on calls are made by the human of this session instead of the operator.
    void act_as(SecretString token) { token_ = std::move(token); }
    const std::string& data_folder() const { return data_folder_; }

private:
    Result<ServerAnswer> send(HttpRequest request);
    Result<ServerAnswer> send_body(std::string method, const std::string& target, const Json& body);

    std::string data_folder_;
    std::unique_ptr<HttpClient> client_;
    SecretString token_;
};

// All pages of tenants as one answer: {"tenants": […]}.
Result<ServerAnswer> fetch_tenants(ServerClient& server);
// Every tenant of the server, in order; `_system` is not among them.
Result<std::vector<TenantId>> list_tenants(ServerClient& server);

// The named tenant, or the only one, or the demo's own; a usage error that lists them otherwise.
Result<std::string> chosen_tenant(ServerClient& server, const std::string& named);

// Prints a refusal (code, sentence, what to do next, whether a retry makes sense).
ExitCode report_refusal(const GlobalOptions& global, const ServerAnswer& answer);
// report(), with the exit codes of this file's errors.
ExitCode report_failure(const GlobalOptions& global, const Error& error);
ExitCode report_usage(const GlobalOptions& global, std::string message, std::string next_step);

// The body when all went well; otherwise what went wrong has been printed and the exit code says
// it.
std::expected<Json, ExitCode> expect_ok(
    const GlobalOptions& global, const Result<ServerAnswer>& answer);

// The configured data folder; what is wrong has been printed.
std::expected<std::string, ExitCode> chosen_data_folder(const GlobalOptions& global);

}  // namespace interlock
