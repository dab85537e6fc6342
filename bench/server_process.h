// The real program as a child: `interlock serve` on a folder of its own and a free port, with the
// operator's way in and the agents that a load needs.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "bench/measured_process.h"
#include "net/http_client.h"

namespace interlock {

inline constexpr std::chrono::milliseconds kServerPatience{20'000};
// Of every person that create_human() makes.
inline constexpr std::string_view kHumanPassword = "a drill is not an emergency";

class ServerProcess {
public:
    struct Options {
        std::string program;  // The `interlock` binary.
        std::string folder;   // Holds the data folder, configuration and log; must exist.
        std::string sink;     // Socket of a running sink; empty: none.
        // A load test is one credential sending as fast as it can, so by default nothing is
        // limited.
        std::string config = "[http]\nrequests_per_second = 0\ntenant_requests_per_second = 0\n";
        std::optional<int> core = std::nullopt;  // The only one it may run on; nothing: all.
    };
    // Returns when the server has said that it is ready.
    static Result<ServerProcess> start(const Options& options);

    std::uint16_t port() const { return port_; }
    pid_t pid() const { return process_.pid(); }
    Duration start_took() const { return start_took_; }
    std::string data_folder() const;
    MeasuredProcess& process() { return process_; }

    // Asks it to stop and waits; its exit code.
    int stop();

    HttpTarget target() const;           // Over TCP.
    HttpTarget operator_target() const;  // Over the operator's socket.
    Result<HttpTarget> stop_target();    // The stop listener.

    Result<void> create_tenant(const std::string& tenant_id);
    // Gives the access key. It has all scopes.
    Result<std::string> create_access_key(const std::string& tenant_id);
    // A person of the tenant with a password; gives the token of the session.
    Result<std::string> create_human(const std::string& tenant_id, const std::string& email);
    // One number of /metrics; 0 when it is not there.
    Result<double> read_metric(const std::string& name);

private:
    ServerProcess(Options options, MeasuredProcess process)
        : options_(std::move(options)), process_(std::move(process)) {}

    Options options_;
    MeasuredProcess process_;
    std::uint16_t port_ = 0;
    std::uint16_t stop_port_ = 0;  // 0: not asked for yet.
    Duration start_took_;
};

// Where a program of the system is; an Error that names the Debian package that brings it.
Result<std::string> find_program(const std::string& name, const std::string& package);

// One call with a JSON body; an Error for anything but a 2xx.
struct JsonCall {
    std::string method = "POST";
    std::string path;
    Json body;               // Null: none.
    std::string credential;  // Empty: none; sent as a bearer.
};
Result<Json> call_json(HttpClient& client, const JsonCall& call);
// A text in its answer.
Result<std::string> text_in(const Json& answer, std::string_view key);

}  // namespace interlock
