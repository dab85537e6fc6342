#include "app/wiring/exposure.h"

#include <algorithm>

#include "app/wiring/config_values.h"
#include "app/wiring/server_client.h"
#include "base/errors.h"
#include "base/ip_address.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kServerWait{2'000};
constexpr Duration kExpirySoon = Duration::of_days(14);

bool is_loopback(std::string_view host) {
    if (host == "localhost") {
        return true;
    }
    const auto address = parse_ip(host);
    return address && classify(*address) == AddressClass::loopback;
}

// The host of "http://host:port", without brackets.
std::string_view host_in(std::string_view address) {
    address.remove_prefix(std::min(address.size(), address.find("://") + 3));
    address = address.substr(0, address.rfind(':'));
    return address.starts_with('[') ? address.substr(1, address.size() - 2) : address;
}

DoctorFinding judge_reach(const Exposure& exposure) {
    const std::string name = "reach";
    if (is_loopback(host_in(exposure.address))) {
        return {name, Health::good, exposure.address + ", this machine only", {}};
    }
    if (exposure.address.starts_with("https://")) {
        return {name, Health::good, exposure.address + ", over TLS", {}};
    }
    return {
        name,
        Health::note,
        exposure.address + " takes keys and passwords in clear from the network",
        "Set http.tls_certificate and http.tls_key, or listen on 127.0.0.1 behind a proxy."};
}

DoctorFinding judge_proxy(const Exposure& exposure) {
    const std::string name = "proxy";
    std::string proxies;
    for (const std::string& one : exposure.trusted_proxies) {
        proxies += (proxies.empty() ? "" : ", ") + one;
    }
    if (proxies.empty() && exposure.public_url.empty()) {
        return {name, Health::good, "none is told of", {}};
    }
    if (exposure.public_url.empty()) {
        return {
            name,
            Health::note,
            "trusted: " + proxies + ", but http.public_url is not set",
            "Set it to what callers dial: pages, cookies and links go by it."};
    }
    const bool is_own_tls = exposure.address.starts_with("https://");
    if (proxies.empty() && exposure.public_url.starts_with("https://") && !is_own_tls) {
        return {
            name,
            Health::note,
            "callers dial " + exposure.public_url +
                ", but no proxy is trusted: all behind it count as one caller",
            "Name its address in http.trusted_proxies."};
    }
    return {
        name,
        Health::good,
        "callers dial " + exposure.public_url +
            (proxies.empty() ? std::string() : "; trusted: " + proxies),
        {}};
}

DoctorFinding judge_metrics(const Exposure& exposure) {
    const std::string name = "metrics";
    if (exposure.metrics_listen.empty()) {
        return {name, Health::good, "for the operator alone", {}};
    }
    const std::string url = "http://" + exposure.metrics_listen + "/metrics";
    if (is_loopback(host_in("http://" + exposure.metrics_listen))) {
        return {name, Health::good, url + ", for this machine", {}};
    }
    return {
        name,
        Health::note,
        url + " tells the network about all tenants, without a credential",
        "Keep the address inside a network of your own, or listen on 127.0.0.1."};
}

DoctorFinding judge_certificate(const Exposure& exposure, Timestamp now) {
    const std::string name = "served TLS";
    const Timestamp until = *exposure.certificate_until;
    const std::string text = "the certificate is valid until " + to_text(until);
    if (!exposure.reload_problem.empty()) {
        return {
            name,
            Health::bad,
            "the last reload kept the old certificate, valid until " + to_text(until) + ": " +
                exposure.reload_problem,
            "Correct the files, then send the server SIGHUP."};
    }
    if (until <= now) {
        return {
            name,
            Health::bad,
            "the certificate expired " + to_text(until),
            "Renew it, then send the server SIGHUP."};
    }
    return until - now < kExpirySoon
               ? DoctorFinding{name, Health::note, text, "Renew it, then send the server SIGHUP."}
               : DoctorFinding{name, Health::good, text, {}};
}

}  // namespace

Json encode(const Exposure& exposure) {
    Json proxies = Json::array();
    for (const std::string& one : exposure.trusted_proxies) {
        proxies.push(one);
    }
    return Json::object(
        {{"address", exposure.address},
         {"public_url", exposure.public_url},
         {"trusted_proxies", std::move(proxies)},
         {"metrics_listen", exposure.metrics_listen},
         {"certificate_until",
          exposure.certificate_until ? Json(to_text(*exposure.certificate_until)) : Json()},
         {"reload_problem", exposure.reload_problem}});
}

Result<Exposure> decode_exposure(const Json& json) {
    FieldReader in(json);
    Exposure exposure;
    exposure.address = in.required<std::string>("address");
    exposure.public_url = in.required<std::string>("public_url");
    for (const Json& one : in.required_array("trusted_proxies", kTrustedProxiesMax)) {
        exposure.trusted_proxies.push_back(one.is_string() ? one.as_string() : std::string());
    }
    exposure.metrics_listen = in.required<std::string>("metrics_listen");
    exposure.certificate_until = in.optional<Timestamp>("certificate_until");
    exposure.reload_problem = in.required<std::string>("reload_problem");
    return in.finish(std::move(exposure));
}

Exposure exposure_of(const Config& config) {
    const std::string& host = config.http_address;
    Exposure exposure;
    exposure.address = std::string(config.http_tls_certificate.empty() ? "http://" : "https://") +
                       (host.contains(':') ? "[" + host + "]" : host) + ":" +
                       std::to_string(config.http_port);
    exposure.public_url = config.http_public_url;
    exposure.trusted_proxies = config.http_trusted_proxies;
    exposure.metrics_listen = config.metrics_listen;
    return exposure;
}

Result<void> check_plaintext(const Config& config) {
    if (config.http_allow_plaintext) {
        return {};
    }
    if (config.http_tls_certificate.empty() && !is_loopback(config.http_address)) {
        return fail(
            errors::invalid_config,
            "http.address " + config.http_address +
                " is open to the network and there is no TLS: keys and passwords would travel in "
                "clear.",
            "Set http.tls_certificate and http.tls_key, or listen on 127.0.0.1 behind a proxy; "
            "where the network itself is safe, say http.allow_plaintext = true.");
    }
    if (!config.metrics_listen.empty() &&
        !is_loopback(host_in("http://" + config.metrics_listen))) {
        return fail(
            errors::invalid_config,
            "metrics.listen " + config.metrics_listen +
                " is open to the network, and the numbers have neither TLS nor a credential.",
            "Listen on 127.0.0.1; where the network itself is safe, say http.allow_plaintext = "
            "true.");
    }
    return {};
}

std::vector<DoctorFinding> judge_exposure(const Exposure& exposure, Timestamp now) {
    std::vector<DoctorFinding> findings{
        judge_reach(exposure), judge_proxy(exposure), judge_metrics(exposure)};
    if (exposure.certificate_until) {
        findings.push_back(judge_certificate(exposure, now));
    }
    return findings;
}

std::vector<DoctorFinding> check_exposure(const Config& config, Clock& clock) {
    ServerClient server(config.data_folder, kServerWait);
    if (const auto told = server.get("/exposure"); told && told->ok()) {
        if (const auto exposure = decode_exposure(told->body)) {
            return judge_exposure(*exposure, clock.now());
        }
    }
    if (const auto allowed = check_plaintext(config); !allowed) {
        return {
            {"reach", Health::bad, allowed.error().message, std::string(allowed.error().next())}};
    }
    return judge_exposure(exposure_of(config), clock.now());
}

}  // namespace interlock
