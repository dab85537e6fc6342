// The effective configuration: built-in defaults, then one TOML file, then environment variables,
// then flags. Every value remembers where it came from; an unknown key is an error, because a
// misspelt guard must not silently disarm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/command/command.h"
#include "app/wiring/relay_config.h"
#include "base/decimal.h"
#include "base/log.h"
#include "base/result.h"
#include "trader/service/control_service.h"
#include "trader/service/supervisor_config.h"

namespace interlock {

// [audit.witness]: who gets the seals of `_system` besides the data folder. The operator's alone.
struct WitnessConfig {
    std::vector<std::string> files = {};  // kWitnessFilesMax at most.
    std::string webhook = {};             // Gets each line by POST.
    std::string webhook_token_file = {};  // Of a bearer token; empty: none.
    std::string interlock = {};  // The operation /api/{tenant}/witness/heads of another server.
    std::string interlock_key_file = {};
    std::string tsa = {};         // RFC 3161.
    std::string tsa_folder = {};  // Where lines and tokens are kept.
    std::string tsa_ca_file = {};
    std::string ca_file =
        {};  // Who vouches for these servers' TLS; empty: the system's authorities.
};
inline constexpr std::size_t kWitnessFilesMax = 8;

struct Config {
    std::string data_folder;
    std::string mode = "paper";  // Live trading has no adapter yet, so it is the only word.
    std::string http_address = "127.0.0.1";
    std::uint16_t http_port = 8420;
    int http_threads = 1;
    std::vector<std::string> http_allowed_hosts;
    std::int64_t http_requests_per_second = 500;
    std::int64_t http_tenant_requests_per_second = 2000;
    std::string http_public_url;  // Empty: by the address that the server listens on.
    std::vector<std::string> http_trusted_proxies;  // Ranges; kTrustedProxiesMax at most.
    bool http_allow_plaintext = false;              // Beyond this machine, without TLS.
    std::string http_tls_certificate;
    std::string http_tls_key;
    std::int64_t http_connections_max = 4096;
    std::int64_t http_connections_per_peer = 512;
    std::int64_t http_anonymous_requests_per_second = 100;
    std::int64_t http_body_megabytes = 256;
    std::string stop_address = "127.0.0.1";  // Empty: no stop listener.
    std::optional<std::uint16_t> stop_port;  // Nothing: one above http_port.
    std::string metrics_listen;              // "127.0.0.1:9420"; empty: no listener for numbers.
    bool approvals_two_person = false;
    std::int64_t recovery_operator_delay_hours = 24;
    std::string effects_sink;           // Path of the sink's Unix socket; empty: none.
    std::string vault_master_key_file;  // Empty: master.key in the data folder.
    std::string mail_delivery = "file";
    std::string mail_folder;  // Empty: outbox in the data folder.
    std::string mail_from = "interlock@localhost";
    std::string mail_smtp_host;
    std::uint16_t mail_smtp_port = 587;
    std::string mail_smtp_tls = "starttls";
    std::string mail_smtp_user;
    std::string mail_smtp_password_file;  // Not the password: configuration is shown to people.
    std::string mail_smtp_ca_file;
    int mail_smtp_timeout_seconds = 30;
    // Private ranges that tenants' webhooks may point into.
    std::vector<std::string> notices_allow_cidrs;
    bool audit_fold = true;  // Equal repeats are counted, not recorded.
    // KiB of records that a tenant's refused calls may leave in an hour; 0: no limit.
    std::int64_t audit_trial_refused_kib = 256;
    std::int64_t audit_standard_refused_kib = 1024;
    std::int64_t audit_pro_refused_kib = 4096;
    std::int64_t audit_tenant_refused_kib = 16'384;  // Without a plan.
    std::string bots_signup = "open";
    std::int64_t bots_venue_weight_per_minute = 1'200'000;
    Decimal paper_deposit = Decimal(100'000);
    std::int64_t paper_seed = 1;
    bool paper_sync = true;
    std::map<std::string, std::string> limits;  // By name; what is not here has its default.
    ControlConfig control;
    SupervisorConfig supervisor;
    RelayConfig relay;
    WitnessConfig witness;
    LogConfig log;
    bool debug_core_dumps = false;
};

// One value as `config show` prints it.
struct ConfigEntry {
    std::string key;     // "http.port"
    std::string value;   // As text.
    std::string origin;  // "default", "file", "environment INTERLOCK_PORT", "flag --port".
    std::string help;
};

struct LoadedConfig {
    Config config;
    std::vector<ConfigEntry> entries;
};

// Flags a command took itself; key → value, e.g. {"http.port", "8421"}.
struct ConfigFlag {
    std::string key;
    std::string value;
    std::string flag;
};

Result<LoadedConfig> load_config(
    const GlobalOptions& global, const std::vector<ConfigFlag>& flags = {});

void add_config_command(CommandLine& line);

}  // namespace interlock
