// What the configuration says about the ordinary port, as net and api take it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/wiring/config.h"
#include "host/face/http_face.h"
#include "host/service/metrics.h"
#include "net/http_server.h"

namespace interlock {

std::optional<TlsFiles> tls_files(const Config& config);
// Address, bounds, proxies and TLS; the judge of heads is the server's to add.
HttpServerConfig http_server_config(const Config& config, std::string operator_socket);
HttpFaceConfig http_face_config(const Config& config);

void add_http_gauges(Metrics& metrics, std::function<HttpServer::Counters()> counters);

// After a flood of bodies their memory is free and still ours: gives it back when they are gone.
// Takes and gives whether one is going on.
bool give_memory_back(std::uint64_t body_bytes, bool were_many);

}  // namespace interlock
