#include "app/wiring/witness_setup.h"

#include <sys/stat.h>

#include <cerrno>

#include "app/command/console.h"
#include "app/wiring/config_values.h"
#include "app/wiring/data_path.h"
#include "app/wiring/server_client.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "base/outbound_url.h"
#include "engine/system/durable_file.h"
#include "engine/system/private_file.h"
#include "host/witness/file_witness.h"
#include "host/witness/http_witness.h"
#include "host/witness/tsa_witness.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kServerWait{2'000};

ConfigKey text_key(std::string name, std::string help, std::string WitnessConfig::* member) {
    return {
        "audit.witness." + std::move(name),
        std::move(help),
        [member](const Config& config) { return config.witness.*member; },
        [member](Config& config, const std::string& text) {
            config.witness.*member = text;
            return std::string();
        }};
}

ConfigKey url_key(std::string name, std::string help, std::string WitnessConfig::* member) {
    ConfigKey key = text_key(std::move(name), std::move(help), member);
    key.set = [member](Config& config, const std::string& text) -> std::string {
        if (!text.empty() && !parse_outbound_url(text)) {
            return "must be an http or https URL without a user in it";
        }
        config.witness.*member = text;
        return {};
    };
    return key;
}

// Tokens of a time-stamp server prove themselves; everything else needs TLS off this machine.
bool is_safe(const std::string& url) {
    const auto parts = parse_outbound_url(url);
    return url.empty() || (parts && (parts->is_tls || parts->host == "localhost" ||
                                     parts->host == "::1" || parts->host.starts_with("127.")));
}

Result<SecretString> read_secret(const std::string& path) {
    if (path.empty()) {
        return SecretString("");
    }
    TRY_ASSIGN(auto secret, read_private_file(path));
    if (!secret) {
        return fail(errors::invalid_config, "There is no file " + path + ".");
    }
    return *std::move(secret);
}

Result<std::string> own_folder(const std::string& data_folder) {
    const std::string folder = data_folder + "/witness";
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_failure("make", folder);
    }
    return folder;
}

}  // namespace

std::vector<ConfigKey> witness_config_keys() {
    return {
        {"audit.witness.files",
         "Files outside the data folder that get each seal of the host's chain; separated by "
         "commas.",
         [](const Config& c) { return join_list(c.witness.files); },
         [](Config& c, const std::string& text) -> std::string {
             std::vector<std::string> files = split_list(text);
             if (files.size() > kWitnessFilesMax) {
                 return "must name 8 files at most";
             }
             c.witness.files = std::move(files);
             return {};
         }},
        url_key("webhook", "URL that gets each seal by POST.", &WitnessConfig::webhook),
        text_key(
            "webhook_token_file",
            "File of a bearer token for it; empty: none.",
            &WitnessConfig::webhook_token_file),
        url_key(
            "interlock",
            "The /api/TENANT/witness/heads of another Interlock, which keeps each seal in its "
            "ledger.",
            &WitnessConfig::interlock),
        text_key(
            "interlock_key_file",
            "File of an access key there, of scope probe.",
            &WitnessConfig::interlock_key_file),
        url_key("tsa", "URL of an RFC 3161 time-stamp server.", &WitnessConfig::tsa),
        text_key(
            "tsa_folder",
            "Where seals and their time stamps are kept; empty: witness/tsa in the data folder.",
            &WitnessConfig::tsa_folder),
        text_key(
            "tsa_ca_file",
            "PEM file of who vouches for time stamps; empty: the system's authorities.",
            &WitnessConfig::tsa_ca_file),
        text_key(
            "ca_file",
            "PEM file of who vouches for these servers' TLS; empty: the system's authorities.",
            &WitnessConfig::ca_file),
    };
}

Result<void> check_witness_config(const WitnessConfig& config) {
    if (!is_safe(config.webhook) || !is_safe(config.interlock)) {
        return fail(
            errors::invalid_config,
            "audit.witness.webhook and audit.witness.interlock must be https beyond this machine.");
    }
    if (config.interlock.empty() != config.interlock_key_file.empty()) {
        return fail(
            errors::invalid_config,
            "audit.witness.interlock and audit.witness.interlock_key_file go together.");
    }
    if (!config.webhook_token_file.empty() && config.webhook.empty()) {
        return fail(
            errors::invalid_config,
            "audit.witness.webhook_token_file needs audit.witness.webhook.");
    }
    return {};
}

Result<std::vector<std::unique_ptr<Witness>>> make_witnesses(const WitnessSetup& setup) {
    const WitnessConfig& config = setup.config;
    std::vector<std::unique_ptr<Witness>> witnesses;
    for (const std::string& path : config.files) {
        witnesses.push_back(std::make_unique<FileWitness>(path));
    }
    if (!config.webhook.empty()) {
        TRY_ASSIGN(SecretString token, read_secret(config.webhook_token_file));
        TRY_ASSIGN(const std::string folder, own_folder(setup.data_folder));
        witnesses.push_back(std::make_unique<WebhookWitness>(
            HttpWitnessOptions{config.webhook, std::move(token), config.ca_file},
            std::make_unique<FileWitness>(folder + "/webhook.log")));
    }
    if (!config.interlock.empty()) {
        TRY_ASSIGN(SecretString key, read_secret(config.interlock_key_file));
        witnesses.push_back(std::make_unique<InterlockWitness>(
            HttpWitnessOptions{config.interlock, std::move(key), config.ca_file},
            to_hex(setup.first_public_key)));
    }
    if (!config.tsa.empty()) {
        std::string folder = config.tsa_folder;
        if (folder.empty()) {
            TRY_ASSIGN(folder, own_folder(setup.data_folder));
            folder += "/tsa";
            if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
                return system_failure("make", folder);
            }
        }
        witnesses.push_back(std::make_unique<TsaWitness>(TsaWitnessOptions{
            {config.tsa, SecretString(""), config.ca_file}, folder, config.tsa_ca_file}));
    }
    return witnesses;
}

std::vector<DoctorFinding> judge_witnesses(const Json& status) {
    const std::string name = "witness";
    const Json* list = status.find("witnesses");
    if (list == nullptr || !list->is_array() || list->items().empty()) {
        return {
            {name,
             Health::note,
             "nobody outside the data folder is told its seals: putting all of it back to an "
             "earlier moment would leave no trace",
             "Set [audit.witness]; a file on another machine's disk is a beginning."}};
    }
    std::vector<DoctorFinding> findings;
    for (const Json& one : list->items()) {
        const std::string who = text_at(one, "name");
        const std::string waiting = text_at(one, "pending");
        if (const std::string found = text_at(one, "disagreement"); found != "-") {
            findings.push_back(
                {name,
                 Health::bad,
                 who + ": " + found,
                 "Run `interlock audit verify --witness`, keep a copy of the data folder, and find "
                 "out who put it back."});
        } else if (const std::string problem = text_at(one, "problem"); problem != "-") {
            findings.push_back(
                {name,
                 Health::bad,
                 who + " takes no seals, " + waiting + " wait: " + problem,
                 "Mend the way to it; what waits is given by itself."});
        } else {
            findings.push_back(
                {name,
                 Health::good,
                 who + " has the seals up to " + text_at(one, "newest_seq") + ", " + waiting +
                     " wait",
                 {}});
        }
    }
    return findings;
}

std::vector<DoctorFinding> check_witnesses(const Config& config) {
    ServerClient server(config.data_folder, kServerWait);
    const auto status = server.get("/witness");
    if (status && status->ok()) {
        return judge_witnesses(status->body);
    }
    const WitnessConfig& witness = config.witness;
    const std::size_t count = witness.files.size() + (witness.webhook.empty() ? 0 : 1) +
                              (witness.interlock.empty() ? 0 : 1) + (witness.tsa.empty() ? 0 : 1);
    if (count == 0) {
        return judge_witnesses(Json::object());
    }
    return {
        {"witness",
         Health::good,
         std::to_string(count) + " configured; a running server would say how they are",
         {}}};
}

}  // namespace interlock
