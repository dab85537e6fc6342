#include "app/wiring/stop_listener.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "app/wiring/data_path.h"
#include "app/wiring/http_setup.h"
#include "base/errors.h"
#include "base/ip_address.h"
#include "host/face/kill_operations.h"

namespace interlock {
namespace {

// A reason and a few ids, and what a browser adds.
constexpr std::size_t kStopHeaderBytesMax = 8 * 1024;
constexpr std::size_t kStopBodyBytesMax = 16 * 1024;
constexpr std::size_t kStopBodyBytesTotalMax = 4 * 1024 * 1024;
constexpr std::chrono::milliseconds kStopFirstByte{2'000};
constexpr std::chrono::milliseconds kStopRequest{5'000};
// Of one credential, and of one address without any. Stopping itself is never limited.
constexpr std::int64_t kStopRequestsPerSecond = 50;

bool is_loopback(const std::string& address) {
    return address == "localhost" || address == "::1" || address.starts_with("127.");
}

OperationTable stop_table(KillSwitchService& kill) {
    OperationTable table;
    register_stop_operations(table, kill);
    return table;
}

HttpLimits stop_limits() {
    HttpLimits limits;
    limits.header_bytes_max = kStopHeaderBytesMax;
    limits.body_bytes_max = kStopBodyBytesMax;
    limits.body_bytes_total_max = kStopBodyBytesTotalMax;
    limits.connections_max = kStopConnectionsMax;
    limits.connections_per_peer_max = kStopConnectionsPerPeer;
    limits.handshakes_per_second = kStopHandshakesPerSecond;
    limits.handshakes_at_once = kStopHandshakesAtOnce;
    limits.first_byte_timeout = kStopFirstByte;
    limits.request_read_timeout = kStopRequest;
    return limits;
}

HttpFaceConfig stop_face(HttpFaceConfig config) {
    config.requests_per_second = kStopRequestsPerSecond;
    config.anonymous_requests_per_second = kStopRequestsPerSecond;
    return config;
}

}  // namespace

bool has_stop_listener(const Config& config) {
    return !config.stop_address.empty();
}

std::uint16_t stop_port_of(const Config& config) {
    if (config.stop_port) {
        return *config.stop_port;
    }
    return config.http_port == 0 ? 0 : static_cast<std::uint16_t>(config.http_port + 1);
}

Result<void> check_stop_listener(const Config& config) {
    if (has_stop_listener(config) && config.http_tls_certificate.empty() &&
        !is_loopback(config.stop_address)) {
        return fail(
            errors::invalid_config,
            "The stop listener would take keys in plain text on " + config.stop_address + ".",
            "Set http.tls_certificate and http.tls_key, or stop.address to 127.0.0.1.");
    }
    return {};
}

StopListener::StopListener(Parts parts, const OperationTable& table)
    : config_(parts.config),
      table_(table),
      face_(
          {.table = table_,
           .directory = parts.directory,
           .clock = parts.clock,
           .metrics = parts.metrics,
           .mcp = {}},
          stop_face(std::move(parts.face))) {}

Result<std::unique_ptr<StopListener>> StopListener::open(Parts parts) {
    if (!has_stop_listener(parts.config)) {
        return nullptr;
    }
    TRY(check_stop_listener(parts.config));
    const OperationTable table = stop_table(parts.kill);
    std::unique_ptr<StopListener> listener(new StopListener(std::move(parts), table));
    StopListener* const self = listener.get();
    HttpServerConfig http;
    http.address = self->config_.stop_address;
    http.port = stop_port_of(self->config_);
    http.limits = stop_limits();
    http.judge = [self](const HttpRequest& head) { return self->face_.judge(head); };
    http.tls = tls_files(self->config_);
    for (const std::string& range : self->config_.http_trusted_proxies) {
        http.trusted_proxies.push_back(*parse_cidr(range));  // Checked when it was read.
    }
    auto opened =
        HttpServer::open(std::move(http), [self](HttpRequest request, HttpResponderPtr responder) {
            self->face_.handle(std::move(request), std::move(responder));
        });
    if (!opened) {
        return fail(
            errors::invalid_config,
            "The stop listener: " + opened.error().message,
            "Set stop.port to a free port, or stop.address to nothing to go without it.");
    }
    self->http_ = *std::move(opened);
    return listener;
}

void StopListener::start() {
    http_->start();
    // For `doctor` and scripts. Not worth a failed start: the address is also said aloud.
    std::ofstream(stop_url_path(config_.data_folder)) << address() << "\n";
}

void StopListener::stop(std::chrono::milliseconds grace) {
    http_->stop(grace);
    ::unlink(stop_url_path(config_.data_folder).c_str());
}

Result<void> StopListener::reload() {
    return tls_files(config_) ? http_->reload_tls() : Result<void>();
}

std::string StopListener::address() const {
    const std::string& host = config_.stop_address;
    return std::string(config_.http_tls_certificate.empty() ? "http://" : "https://") +
           (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
           std::to_string(http_->port());
}

}  // namespace interlock
