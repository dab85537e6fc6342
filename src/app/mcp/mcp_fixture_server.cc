#include "app/mcp/mcp_fixture_server.h"

#include <utility>

#include "app/mcp/delay_queue.h"
#include "app/mcp/mcp_fixtures.h"
#include "app/mcp/mcp_http.h"
#include "base/log.h"
#include "host/face/host_check.h"
#include "host/face/problem.h"
#include "net/http_server.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kStopGrace{1'000};

bool is_loopback_address(const std::string& address) {
    return address == "127.0.0.1" || address == "::1";
}

class RunningFixtures final : public McpFixtureServer {
public:
    RunningFixtures(const McpFixtureConfig& config, Clock& clock, IdSource& ids)
        : fixtures_([this](std::chrono::milliseconds delay, std::function<void()> call) {
              if (!delays_.run_after(delay, std::move(call))) {
                  log_warn("fixture_step_dropped");
              }
          }),
          server_(fixtures_, config.server_version),
          endpoint_({server_, clock, ids}) {}

    ~RunningFixtures() override {
        if (http_) {
            endpoint_.end_all();
            http_->stop(kStopGrace);
        }
    }

    Result<void> listen(const McpFixtureConfig& config) {
        HttpServerConfig http;
        http.address = config.address;
        http.port = config.port;
        TRY_ASSIGN(
            http_,
            HttpServer::open(
                std::move(http), [this](HttpRequest request, HttpResponderPtr responder) {
                    handle(std::move(request), std::move(responder));
                }));
        http_->start();
        return {};
    }

    std::uint16_t port() const override { return http_->port(); }

private:
    void handle(HttpRequest request, HttpResponderPtr responder) {
        const auto origin = request.header("Origin");
        if (!is_allowed_host(request.header("Host").value_or("")) ||
            (origin && !is_allowed_origin(*origin))) {
            responder->send(problem(fail(
                                        errors::host_not_allowed,
                                        "The Host or Origin header names no host of this server.")
                                        .error()));
            return;
        }
        if (request.path() != "/mcp") {
            responder->send(
                problem(fail(errors::no_such_route, "There is nothing at this path.").error()));
            return;
        }
        endpoint_.handle(
            std::move(request), internal_principal("conformance"), std::move(responder));
    }

    // Declared in the order in which they may use each other; the last is destroyed first.
    McpFixtures fixtures_;
    McpServer server_;
    McpHttp endpoint_;
    DelayQueue delays_;
    std::unique_ptr<HttpServer> http_;
};

}  // namespace

Result<void> check_fixtures_allowed(const FixtureRefusalFacts& facts) {
    if (facts.live_mode) {
        return fail(errors::fixtures_refused, "The conformance fixtures do not run in live mode.");
    }
    if (facts.tenants > 0) {
        return fail(
            errors::fixtures_refused,
            "The conformance fixtures do not run on a data folder that holds tenants (found " +
                std::to_string(facts.tenants) + ").");
    }
    return {};
}

Result<std::unique_ptr<McpFixtureServer>> start_conformance_fixtures(
    const McpFixtureConfig& config, Clock& clock, IdSource& ids) {
    TRY(check_fixtures_allowed(config.facts));
    if (!is_loopback_address(config.address)) {
        return fail(
            errors::fixtures_refused,
            "The conformance fixtures listen on 127.0.0.1 or ::1 only, not on " + config.address +
                ".");
    }
    auto running = std::make_unique<RunningFixtures>(config, clock, ids);
    TRY(running->listen(config));
    return running;
}

}  // namespace interlock
