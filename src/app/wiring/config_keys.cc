#include "app/wiring/config_keys.h"

#include <algorithm>

#include "account/wire/risk_limits.h"
#include "app/wiring/config_values.h"
#include "app/wiring/witness_setup.h"
#include "base/ip_address.h"
#include "base/text.h"
#include "host/rules/recovery_policy.h"

namespace interlock {
namespace {

std::string set_bool(bool& into, const std::string& text) {
    if (text != "true" && text != "false") {
        return "must be true or false";
    }
    into = text == "true";
    return {};
}

template <class Enum>
std::string set_word(
    Enum& into, const std::string& text, const std::vector<std::pair<std::string, Enum>>& words) {
    std::string known;
    for (const auto& [word, value] : words) {
        if (word == text) {
            into = value;
            return {};
        }
        known += (known.empty() ? "" : ", ") + word;
    }
    return "must be one of " + known;
}

const std::vector<std::pair<std::string, LogLevel>> kLevels{
    {"debug", LogLevel::debug},
    {"info", LogLevel::info},
    {"warn", LogLevel::warn},
    {"error", LogLevel::error}};
const std::vector<std::pair<std::string, LogFormat>> kFormats{
    {"human", LogFormat::human}, {"json", LogFormat::json}};

template <class Enum>
std::string word_of(Enum value, const std::vector<std::pair<std::string, Enum>>& words) {
    for (const auto& [word, known] : words) {
        if (known == value) {
            return word;
        }
    }
    return {};
}

ConfigKey text_key(std::string name, std::string help, std::string Config::* member) {
    return {
        std::move(name),
        std::move(help),
        [member](const Config& config) { return config.*member; },
        [member](Config& config, const std::string& text) {
            config.*member = text;
            return std::string();
        }};
}

std::vector<ConfigKey> http_keys() {
    return {
        text_key("http.address", "Address to listen on.", &Config::http_address),
        {"http.port",
         "Port to listen on; 0 takes any free one.",
         [](const Config& c) { return std::to_string(c.http_port); },
         [](Config& c, const std::string& text) {
             return set_integer<std::uint16_t>(c.http_port, text, 0, 65535);
         }},
        {"http.threads",
         "Network threads.",
         [](const Config& c) { return std::to_string(c.http_threads); },
         [](Config& c, const std::string& text) {
             return set_integer(c.http_threads, text, 1, 64);
         }},
        {"http.allowed_hosts",
         "Names besides localhost by which the server may be called, separated by commas.",
         [](const Config& c) { return join_list(c.http_allowed_hosts); },
         [](Config& c, const std::string& text) {
             c.http_allowed_hosts = split_list(text);
             return std::string();
         }},
    };
}

// How much callers may take of it.
std::vector<ConfigKey> http_bound_keys() {
    return {
        {"http.connections_max",
         "Connections at once, sockets of gateways included.",
         [](const Config& c) { return std::to_string(c.http_connections_max); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(c.http_connections_max, text, 16, 1'000'000);
         }},
        {"http.connections_per_peer",
         "Connections of one address (IPv6: of one /64) that have shown no good credential.",
         [](const Config& c) { return std::to_string(c.http_connections_per_peer); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(c.http_connections_per_peer, text, 1, 1'000'000);
         }},
        {"http.anonymous_requests_per_second",
         "Requests per second without a credential, of one address (IPv6: of one /64).",
         [](const Config& c) { return std::to_string(c.http_anonymous_requests_per_second); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(
                 c.http_anonymous_requests_per_second, text, 1, 1'000'000);
         }},
        {"http.body_megabytes",
         "Bodies of requests that the server holds at once, in MiB; a fourth for strangers.",
         [](const Config& c) { return std::to_string(c.http_body_megabytes); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(c.http_body_megabytes, text, 128, 65'536);
         }},
        {"http.requests_per_second",
         "Requests per second and credential; 0 sets no limit.",
         [](const Config& c) { return std::to_string(c.http_requests_per_second); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(c.http_requests_per_second, text, 0, 1'000'000);
         }},
        {"http.tenant_requests_per_second",
         "Requests per second of all access keys of a tenant together; 0 sets no limit.",
         [](const Config& c) { return std::to_string(c.http_tenant_requests_per_second); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(
                 c.http_tenant_requests_per_second, text, 0, 1'000'000);
         }},
    };
}

std::vector<ConfigKey> http_public_keys() {
    return {
        {"http.public_url",
         "Where callers reach the server, as pages, cookies, letters and documents go by; empty: "
         "address and port.",
         [](const Config& c) { return c.http_public_url; },
         [](Config& c, const std::string& text) { return set_url(c.http_public_url, text); }},
        {"http.trusted_proxies",
         "Addresses or ranges of proxies whose X-Forwarded-For and -Proto are believed.",
         [](const Config& c) { return join_list(c.http_trusted_proxies); },
         [](Config& c, const std::string& text) {
             return set_proxies(c.http_trusted_proxies, text);
         }},
        {"http.allow_plaintext",
         "Whether to listen beyond this machine without TLS.",
         [](const Config& c) { return std::string(c.http_allow_plaintext ? "true" : "false"); },
         [](Config& c, const std::string& text) { return set_bool(c.http_allow_plaintext, text); }},
        text_key(
            "http.tls_certificate",
            "PEM file; with http.tls_key turns on TLS. SIGHUP reads both again.",
            &Config::http_tls_certificate),
        text_key(
            "http.tls_key",
            "PEM file of the private key, readable by its owner alone.",
            &Config::http_tls_key),
    };
}

std::vector<ConfigKey> stop_keys() {
    return {
        text_key(
            "stop.address",
            "Address of the listener that answers only the kill switch, whatever happens on the "
            "other; empty: none.",
            &Config::stop_address),
        {"stop.port",
         "Its port; empty: one above http.port; 0 takes any free one.",
         [](const Config& c) { return c.stop_port ? std::to_string(*c.stop_port) : std::string(); },
         [](Config& c, const std::string& text) -> std::string {
             std::uint16_t port = 0;
             const std::string problem =
                 text.empty() ? "" : set_integer<std::uint16_t>(port, text, 0, 65535);
             if (problem.empty()) {
                 c.stop_port = text.empty() ? std::nullopt : std::optional(port);
             }
             return problem;
         }},
    };
}

// One key for each limit of the table, so that a name nobody knows cannot be set.
ConfigKey limit_key(const LimitSpec& spec) {
    const std::string name(spec.name);
    return {
        "limits." + name,
        std::string(spec.meaning) +
            (spec.per_deposit ? " Default: this share of the deposits: " : " Default: ") +
            std::string(spec.fallback) + ".",
        [name](const Config& c) {
            const auto found = c.limits.find(name);
            return found == c.limits.end() ? std::string() : found->second;
        },
        [name](Config& c, const std::string& text) -> std::string {
            const auto changes = decode_limit_changes(Json::object({{name, text}}));
            if (!changes) {
                return "is no value for this limit: " + (changes.error().problems.empty()
                                                             ? changes.error().message
                                                             : changes.error().problems[0].problem);
            }
            c.limits[name] = text;
            return {};
        }};
}

std::vector<ConfigKey> paper_keys() {
    return {
        {"paper.deposit",
         "What a paper account opens with, in USDT.",
         [](const Config& c) { return to_text(c.paper_deposit); },
         [](Config& c, const std::string& text) -> std::string {
             const auto amount = Decimal::parse(text);
             if (!amount || !amount->is_positive() || *amount > Decimal(1'000'000'000'000)) {
                 return "must be an amount greater than zero";
             }
             c.paper_deposit = *amount;
             return {};
         }},
        {"paper.seed",
         "Seed of the synthetic market.",
         [](const Config& c) { return std::to_string(c.paper_seed); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(c.paper_seed, text, 0, 1'000'000'000);
         }},
        {"paper.sync",
         "Whether the paper venue syncs its journal before it answers.",
         [](const Config& c) { return std::string(c.paper_sync ? "true" : "false"); },
         [](Config& c, const std::string& text) { return set_bool(c.paper_sync, text); }},
    };
}

ConfigKey word_key(
    std::string name,
    std::string help,
    std::string Config::* member,
    const std::vector<std::string>& words) {
    ConfigKey key = text_key(std::move(name), std::move(help), member);
    key.set = [member, words](Config& config, const std::string& text) {
        std::vector<std::pair<std::string, std::string>> known;
        for (const std::string& word : words) {
            known.emplace_back(word, word);
        }
        return set_word(config.*member, text, known);
    };
    return key;
}

std::vector<ConfigKey> mail_keys() {
    return {
        {"notices.allow_cidrs",
         "Private ranges that tenants' webhooks for notices may point into.",
         [](const Config& c) { return join_list(c.notices_allow_cidrs); },
         [](Config& c, const std::string& text) {
             c.notices_allow_cidrs = split_list(text);
             const bool are_ranges = std::ranges::all_of(
                 c.notices_allow_cidrs,
                 [](const std::string& range) { return parse_cidr(range).has_value(); });
             return std::string(are_ranges ? "" : "must be ranges such as 10.0.0.0/8");
         }},
        word_key(
            "mail.delivery",
            "file leaves letters in a folder, smtp hands them to a mail server.",
            &Config::mail_delivery,
            {"file", "smtp"}),
        text_key(
            "mail.folder",
            "Where file leaves them; empty: outbox in the data folder.",
            &Config::mail_folder),
        text_key("mail.from", "Address that letters come from.", &Config::mail_from),
        text_key("mail.smtp_host", "Mail server.", &Config::mail_smtp_host),
        {"mail.smtp_port",
         "Its port: 587 for starttls, 465 for implicit as a rule.",
         [](const Config& c) { return std::to_string(c.mail_smtp_port); },
         [](Config& c, const std::string& text) {
             return set_integer<std::uint16_t>(c.mail_smtp_port, text, 1, 65535);
         }},
        word_key(
            "mail.smtp_tls",
            "starttls or implicit, each required; none for a server on this machine.",
            &Config::mail_smtp_tls,
            {"none", "starttls", "implicit"}),
        text_key("mail.smtp_user", "Login; empty: none.", &Config::mail_smtp_user),
        text_key(
            "mail.smtp_password_file",
            "File of the login's password, readable by its owner alone.",
            &Config::mail_smtp_password_file),
        text_key(
            "mail.smtp_ca_file",
            "PEM file of who vouches for the server; empty: the system's authorities.",
            &Config::mail_smtp_ca_file),
        {"mail.smtp_timeout_seconds",
         "Seconds for a whole letter; a third of it for the connection.",
         [](const Config& c) { return std::to_string(c.mail_smtp_timeout_seconds); },
         [](Config& c, const std::string& text) {
             return set_integer(c.mail_smtp_timeout_seconds, text, 1, 300);
         }},
    };
}

std::string bool_text(bool value) {
    return value ? "true" : "false";
}

std::vector<ConfigKey> supervisor_keys() {
    return {
        {"supervisor.enabled",
         "Whether the built-in supervisor looks at the concerns and records what it would do.",
         [](const Config& c) { return bool_text(c.supervisor.enabled); },
         [](Config& c, const std::string& text) { return set_bool(c.supervisor.enabled, text); }},
        {"supervisor.allow_actions",
         "Whether its decisions are applied; false: recorded only, dispatch blocked.",
         [](const Config& c) { return bool_text(c.supervisor.allow_actions); },
         [](Config& c, const std::string& text) {
             return set_bool(c.supervisor.allow_actions, text);
         }},
        {"supervisor.every_seconds",
         "Seconds between two looks at a concern.",
         [](const Config& c) {
             return std::to_string(c.supervisor.every.microseconds / 1'000'000);
         },
         [](Config& c, const std::string& text) {
             return set_duration(c.supervisor.every, text, Duration::of_seconds(1), {5, 3600});
         }},
        {"supervisor.min_confidence",
         "The least confidence of a decision that changes something, 0 to 1.",
         [](const Config& c) { return to_text(c.supervisor.policy.min_confidence); },
         [](Config& c, const std::string& text) {
             return set_confidence(c.supervisor.policy.min_confidence, text);
         }},
        {"supervisor.minimum_hold_minutes",
         "Minutes between two switches, and before what was tightened is loosened.",
         [](const Config& c) {
             return std::to_string(
                 c.supervisor.policy.minimum_hold.microseconds /
                 Duration::of_minutes(1).microseconds);
         },
         [](Config& c, const std::string& text) {
             return set_duration(
                 c.supervisor.policy.minimum_hold, text, Duration::of_minutes(1), {1, 1440});
         }},
        {"supervisor.tenants",
         "Whose concerns, separated by commas; empty: every tenant's.",
         [](const Config& c) {
             std::vector<std::string> names;
             for (const TenantId& tenant_id : c.supervisor.tenants) {
                 names.push_back(tenant_id.text());
             }
             return join_list(names);
         },
         [](Config& c, const std::string& text) {
             return set_tenants(c.supervisor.tenants, text);
         }},
    };
}

ConfigKey refused_key(const std::string& whose, std::int64_t Config::* member) {
    return {
        "audit." + whose + "_refused_kib",
        "KiB of records that refused calls of a " + whose +
            (whose == "tenant" ? " without a plan" : " account") +
            " may leave in an hour; 0 sets no limit.",
        [member](const Config& c) { return std::to_string(c.*member); },
        [member](Config& c, const std::string& text) {
            return set_integer<std::int64_t>(c.*member, text, 0, 1024 * 1024);
        }};
}

std::vector<ConfigKey> audit_keys() {
    return {
        {"audit.fold",
         "Count idle ticks and refusals that equal the one before; false records each of them.",
         [](const Config& c) { return std::string(c.audit_fold ? "true" : "false"); },
         [](Config& c, const std::string& text) { return set_bool(c.audit_fold, text); }},
        refused_key("trial", &Config::audit_trial_refused_kib),
        refused_key("standard", &Config::audit_standard_refused_kib),
        refused_key("pro", &Config::audit_pro_refused_kib),
        refused_key("tenant", &Config::audit_tenant_refused_kib),
    };
}

std::vector<ConfigKey> bot_keys() {
    return {
        word_key(
            "bots.signup",
            "open: anyone may sign up for a bot; closed: the operator alone.",
            &Config::bots_signup,
            {"open", "closed"}),
        {"bots.venue_weight_per_minute",
         "Request weight of the venue that all bots share, by the minute; pulses wait for it.",
         [](const Config& c) { return std::to_string(c.bots_venue_weight_per_minute); },
         [](Config& c, const std::string& text) {
             return set_integer<std::int64_t>(
                 c.bots_venue_weight_per_minute, text, 600, 10'000'000);
         }},
    };
}

// A word for each value of an enum.
template <class Enum>
ConfigKey enum_key(
    std::string name,
    std::string help,
    std::function<Enum&(Config&)> member,
    const std::vector<std::pair<std::string, Enum>>& words) {
    return {
        std::move(name),
        std::move(help),
        [member, words](const Config& c) {
            Config copy = c;
            return word_of(member(copy), words);
        },
        [member, words](
            Config& c, const std::string& text) { return set_word(member(c), text, words); }};
}

std::vector<ConfigKey> control_keys() {
    return {
        enum_key<OnPause>(
            "control.on_pause",
            "What happens to a strategy's orders when it is paused.",
            [](Config& c) -> OnPause& { return c.control.on_pause; },
            {{"cancel_entries", OnPause::cancel_entries},
             {"keep", OnPause::keep},
             {"cancel_all", OnPause::cancel_all}}),
        enum_key<InstanceMode>(
            "control.after_switch",
            "What the strategy that was switched from does afterwards.",
            [](Config& c) -> InstanceMode& { return c.control.after_switch; },
            {{"observe", InstanceMode::observe}, {"off", InstanceMode::off}}),
        {"control.cancel_timeout_seconds",
         "Seconds within which a switch must see the old strategy's orders gone.",
         [](const Config& c) {
             return std::to_string(c.control.cancel_timeout.microseconds / 1'000'000);
         },
         [](Config& c, const std::string& text) {
             return set_duration(c.control.cancel_timeout, text, Duration::of_seconds(1), {1, 300});
         }},
        {"control.min_confidence",
         "The least confidence of a decision to switch or resume, 0 to 1; empty: any will do.",
         [](const Config& c) {
             const auto& least = c.control.guards.min_confidence;
             return least ? to_text(*least) : std::string();
         },
         [](Config& c, const std::string& text) -> std::string {
             Decimal least;
             const std::string problem = text.empty() ? "" : set_confidence(least, text);
             if (problem.empty()) {
                 c.control.guards.min_confidence =
                     text.empty() ? std::nullopt : std::optional(least);
             }
             return problem;
         }},
        {"control.minimum_hold_minutes",
         "Minutes that a strategy stays active before a switch without override; 0: none.",
         [](const Config& c) {
             const Duration hold = c.control.guards.minimum_hold.value_or(Duration{});
             return std::to_string(hold.microseconds / Duration::of_minutes(1).microseconds);
         },
         [](Config& c, const std::string& text) -> std::string {
             Duration hold;
             const std::string problem =
                 set_duration(hold, text, Duration::of_minutes(1), {0, 10'080});
             if (problem.empty()) {
                 c.control.guards.minimum_hold =
                     hold.microseconds == 0 ? std::nullopt : std::optional(hold);
             }
             return problem;
         }},
    };
}

ConfigKey recovery_key() {
    return {
        "recovery.operator_delay_hours",
        "How long a recovery that the operator starts waits for objections; 24 at least.",
        [](const Config& c) { return std::to_string(c.recovery_operator_delay_hours); },
        [](Config& c, const std::string& text) {
            constexpr std::int64_t kHour = Duration::of_hours(1).microseconds;
            return set_integer<std::int64_t>(
                c.recovery_operator_delay_hours,
                text,
                kOperatorDelayMin.microseconds / kHour,
                kOperatorDelayMax.microseconds / kHour);
        }};
}

}  // namespace

std::vector<ConfigKey> all_config_keys() {
    std::vector<ConfigKey> keys{
        text_key("data", "Folder of database, keys and sockets.", &Config::data_folder),
        {"mode",
         "What a server is started for; only paper. A tenant switches to shadow with set_mode.",
         [](const Config& c) { return c.mode; },
         [](Config& c, const std::string& text) {
             return set_word<std::string>(c.mode, text, {{"paper", "paper"}});
         }},
    };
    for (const auto& group : {http_keys(), http_bound_keys(), http_public_keys(), stop_keys()}) {
        keys.insert(keys.end(), group.begin(), group.end());
    }
    keys.push_back(
        {"metrics.listen",
         "Address and port of a listener for numbers without a credential; empty: none.",
         [](const Config& c) { return c.metrics_listen; },
         [](Config& c, const std::string& text) { return set_listen(c.metrics_listen, text); }});
    keys.push_back(
        {"approvals.two_person",
         "Two distinct humans for live enable, looser limits and kill release.",
         [](const Config& c) { return std::string(c.approvals_two_person ? "true" : "false"); },
         [](Config& c, const std::string& text) {
             return set_bool(c.approvals_two_person, text);
         }});
    keys.push_back(recovery_key());
    keys.push_back(text_key(
        "effects.sink",
        "Unix socket of `interlock sink`; empty: no effects.",
        &Config::effects_sink));
    keys.push_back(text_key(
        "vault.master_key_file",
        "File of the key that seals exchange keys; empty: master.key in the data folder.",
        &Config::vault_master_key_file));
    for (const auto& group :
         {witness_config_keys(),
          mail_keys(),
          paper_keys(),
          supervisor_keys(),
          control_keys(),
          bot_keys(),
          audit_keys(),
          relay_config_keys()}) {
        keys.insert(keys.end(), group.begin(), group.end());
    }
    for (const LimitSpec& spec : limit_specs()) {
        keys.push_back(limit_key(spec));
    }
    keys.push_back(
        {"log.level",
         "debug, info, warn or error.",
         [](const Config& c) { return word_of(c.log.level, kLevels); },
         [](Config& c, const std::string& text) { return set_word(c.log.level, text, kLevels); }});
    keys.push_back(
        {"log.format",
         "human or json.",
         [](const Config& c) { return word_of(c.log.format, kFormats); },
         [](Config& c, const std::string& text) {
             return set_word(c.log.format, text, kFormats);
         }});
    keys.push_back(
        {"debug.core_dumps",
         "true: a crash of `serve` may leave a core file, which holds tokens and keys.",
         [](const Config& c) { return std::string(c.debug_core_dumps ? "true" : "false"); },
         [](Config& c, const std::string& text) { return set_bool(c.debug_core_dumps, text); }});
    return keys;
}

}  // namespace interlock
