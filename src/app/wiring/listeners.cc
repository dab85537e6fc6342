#include "app/wiring/listeners.h"

#include "app/face/metrics_face.h"
#include "app/wiring/config_values.h"
#include "app/wiring/http_setup.h"
#include "base/log.h"
#include "net/tls_check.h"

namespace interlock {

Result<std::unique_ptr<Listeners>> Listeners::open(Parts parts) {
    TRY(check_plaintext(parts.config));
    std::unique_ptr<Listeners> listeners(new Listeners(parts.config));
    TRY(listeners->open_numbers(parts.metrics));
    TRY(listeners->open_http(std::move(parts)));
    return listeners;
}

Result<void> Listeners::open_http(Parts parts) {
    HttpServerConfig http = http_server_config(config_, std::move(parts.operator_socket));
    http.judge = std::move(parts.judge);
    TRY_ASSIGN(http_, HttpServer::open(std::move(http), std::move(parts.handler)));
    note_certificate();
    return {};
}

Result<void> Listeners::open_numbers(Metrics& metrics) {
    const auto listen = parse_listen(config_.metrics_listen);
    if (!listen) {
        return {};
    }
    HttpServerConfig numbers;
    numbers.address = listen->host;
    numbers.port = listen->port;
    numbers.limits.connections_max = kMetricsConnectionsMax;
    std::vector<std::string> hosts = config_.http_allowed_hosts;
    hosts.push_back(config_.metrics_listen);
    TRY_ASSIGN(
        numbers_, HttpServer::open(std::move(numbers), metrics_handler(metrics, std::move(hosts))));
    return {};
}

void Listeners::start() {
    http_->start();
    if (numbers_) {
        numbers_->start();
    }
}

void Listeners::stop(std::chrono::milliseconds grace) {
    if (numbers_) {
        numbers_->stop(std::chrono::milliseconds(0));
    }
    http_->stop(grace);
}

std::string Listeners::address() const {
    const std::string& host = config_.http_address;
    return std::string(config_.http_tls_certificate.empty() ? "http://" : "https://") +
           (host.contains(':') ? "[" + host + "]" : host) + ":" + std::to_string(http_->port());
}

// Right after the files were taken.
void Listeners::note_certificate() {
    if (const auto files = tls_files(config_)) {
        const auto until = read_tls_expiry(*files);
        certificate_until_ = until ? until->microseconds : 0;
    }
}

Exposure Listeners::exposure() const {
    Exposure now = exposure_of(config_);
    now.address = address();
    if (const std::int64_t until = certificate_until_; until != 0) {
        now.certificate_until = Timestamp{until};
    }
    if (const auto problem = reload_problem_.load()) {
        now.reload_problem = *problem;
    }
    return now;
}

Result<void> Listeners::reload() {
    if (!tls_files(config_)) {
        log_info("reload_nothing", {{"reason", "there is no TLS"}});
        return {};
    }
    if (const auto reloaded = http_->reload_tls(); !reloaded) {
        const Error& error = reloaded.error();
        log_error("tls_reload_failed", {{"message", error.message}, {"next", error.next()}});
        reload_problem_.store(std::make_shared<const std::string>(error.message));
        return reloaded;
    }
    note_certificate();
    reload_problem_.store(nullptr);
    log_info("tls_reloaded", {{"valid_until", to_text(Timestamp{certificate_until_.load()})}});
    return {};
}

TurnRequest reload_failure_turn(const std::string& message) {
    TurnRequest request;
    request.tenant_id = system_tenant();
    request.principal = internal_principal("tls_reload");
    request.function = "tls_reload";
    request.decide = [message](Turn& turn) -> Result<TurnReply> {
        AuditDraft draft = turn.draft("TLS_RELOAD_FAILED");
        draft.status = AuditStatus::failed;
        draft.severity = AuditSeverity::critical;
        draft.reason = message;
        TRY(turn.audit(std::move(draft)));
        return Answer{};
    };
    request.reply = [](const Result<Answer>&) {};
    return request;
}

}  // namespace interlock
