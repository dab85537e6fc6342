#include "app/wiring/http_setup.h"

#include <malloc.h>

#include "base/ip_address.h"
#include "relay/ports/media_folder.h"

namespace interlock {

std::optional<TlsFiles> tls_files(const Config& config) {
    if (config.http_tls_certificate.empty()) {
        return std::nullopt;
    }
    return TlsFiles{config.http_tls_certificate, config.http_tls_key};
}

HttpServerConfig http_server_config(const Config& config, std::string operator_socket) {
    HttpServerConfig http;
    http.address = config.http_address;
    http.port = config.http_port;
    http.threads = config.http_threads;
    http.limits.connections_max = static_cast<std::size_t>(config.http_connections_max);
    http.limits.connections_per_peer_max =
        static_cast<std::size_t>(config.http_connections_per_peer);
    http.limits.body_bytes_total_max =
        static_cast<std::size_t>(config.http_body_megabytes) * 1024 * 1024;
    http.limits.large_bodies.bytes_max = kMediaBytesMax;
    http.unix_socket_path = std::move(operator_socket);
    http.tls = tls_files(config);
    for (const std::string& range : config.http_trusted_proxies) {
        http.trusted_proxies.push_back(*parse_cidr(range));  // Checked when it was read.
    }
    return http;
}

HttpFaceConfig http_face_config(const Config& config) {
    return {
        .allowed_hosts = config.http_allowed_hosts,
        .origin = OwnOrigin(config.http_public_url),
        .requests_per_second = config.http_requests_per_second,
        .tenant_requests_per_second = config.http_tenant_requests_per_second,
        .anonymous_requests_per_second = config.http_anonymous_requests_per_second};
}

void add_http_gauges(Metrics& metrics, std::function<HttpServer::Counters()> counters) {
    const auto add =
        [&](std::string name, std::string help, std::uint64_t HttpServer::Counters::* what) {
            metrics.add_gauge(std::move(name), std::move(help), [counters, what] {
                return static_cast<double>(counters().*what);
            });
        };
    using Counters = HttpServer::Counters;
    add("interlock_connections", "Open HTTP connections.", &Counters::open);
    add("interlock_connections_known", "Of those, of callers who said who.", &Counters::known);
    add("interlock_strangers_closed", "Silent ones closed for newcomers.", &Counters::made_room);
    add("interlock_body_bytes", "Of requests that are not answered yet.", &Counters::body_bytes);
}

bool give_memory_back(std::uint64_t body_bytes, bool were_many) {
    constexpr std::uint64_t kMany = 16 * 1024 * 1024;
    if (body_bytes >= kMany) {
        return true;
    }
    if (were_many && body_bytes < kMany / 4) {
        malloc_trim(0);
        return false;
    }
    return were_many;
}

}  // namespace interlock
