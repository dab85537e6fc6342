#include "app/wiring/config.h"

#include <toml++/toml.h>
#include <cstdlib>
#include <iostream>
#include <map>

#include "app/wiring/config_keys.h"
#include "app/wiring/config_values.h"
#include "app/wiring/data_path.h"
#include "app/wiring/witness_setup.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

std::string environment_name(const std::string& key) {
    std::string name = "INTERLOCK_";
    for (const char c : key) {
        name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return name;
}

// The scalar or list at a TOML node as the text that set() takes.
Result<std::string> text_of(const std::string& key, const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) {
        return *text;
    }
    if (const auto number = node.value_exact<std::int64_t>()) {
        return std::to_string(*number);
    }
    if (const auto flag = node.value_exact<bool>()) {
        return std::string(*flag ? "true" : "false");
    }
    if (const toml::array* list = node.as_array()) {
        std::vector<std::string> parts;
        for (const toml::node& item : *list) {
            const auto text = item.value_exact<std::string>();
            if (!text) {
                return fail(errors::invalid_config, key + " must be a list of strings.");
            }
            parts.push_back(*text);
        }
        return join_list(parts);
    }
    return fail(errors::invalid_config, key + " has a type that no key takes.");
}

Result<void> flatten(
    const toml::table& table, const std::string& prefix, std::map<std::string, std::string>& out) {
    for (const auto& [name, node] : table) {
        const std::string key = prefix + std::string(name.str());
        if (const toml::table* inner = node.as_table()) {
            TRY(flatten(*inner, key + ".", out));
        } else {
            TRY_ASSIGN(out[key], text_of(key, node));
        }
    }
    return {};
}

Result<std::map<std::string, std::string>> read_file(const std::string& path, RelayConfig& relay) {
    std::map<std::string, std::string> values;
    TRY(require_readable(errors::invalid_config, "The configuration file", path));
    try {
        toml::table document = toml::parse_file(path);
        TRY(take_relay_config(document, path, relay));
        TRY(flatten(document, "", values));
    } catch (const toml::parse_error& error) {
        return fail(
            errors::invalid_config,
            "The configuration file " + path +
                " is not valid TOML: " + std::string(error.description()) + " (line " +
                std::to_string(error.source().begin.line) + ").");
    }
    return values;
}

class Loader {
public:
    Loader() : keys_(all_config_keys()) {
        for (const ConfigKey& key : keys_) {
            origins_[key.name] = "default";
        }
    }

    Result<void> set(const std::string& name, const std::string& value, const std::string& origin) {
        for (const ConfigKey& key : keys_) {
            if (key.name != name) {
                continue;
            }
            if (const std::string problem = key.set(config_, value); !problem.empty()) {
                return fail(
                    errors::invalid_config,
                    name + " = \"" + value + "\" (" + origin + ") " + problem + ".");
            }
            origins_[name] = origin;
            return {};
        }
        return fail(
            errors::invalid_config, "Unknown configuration key " + name + " (" + origin + ").");
    }

    Result<void> set_from_environment() {
        for (const ConfigKey& key : keys_) {
            const std::string name = environment_name(key.name);
            if (const char* value = std::getenv(name.c_str())) {
                TRY(set(key.name, value, "environment " + name));
            }
        }
        // The short name that the root command documents.
        if (const char* port = std::getenv("INTERLOCK_PORT")) {
            TRY(set("http.port", port, "environment INTERLOCK_PORT"));
        }
        return {};
    }

    LoadedConfig finish() {
        LoadedConfig loaded{config_, {}};
        for (const ConfigKey& key : keys_) {
            loaded.entries.push_back({key.name, key.show(config_), origins_[key.name], key.help});
        }
        for (const RelayBotConfig& bot : config_.relay.bots) {
            loaded.entries.push_back(
                {"relay.bot", shown(bot), "file", "A bot that the relay owns."});
        }
        for (const RelayIssuer& issuer : config_.relay.issuers) {
            loaded.entries.push_back(
                {"relay.issuer", issuer.issuer, "file", "Whose tokens gateways may enrol with."});
        }
        return loaded;
    }

    Config& config() { return config_; }

private:
    std::vector<ConfigKey> keys_;
    Config config_;
    std::map<std::string, std::string> origins_;
};

ExitCode show(const GlobalOptions& global) {
    const auto loaded = load_config(global);
    if (!loaded) {
        return report(global, loaded.error());
    }
    if (global.json) {
        Json keys = Json::array();
        for (const ConfigEntry& entry : loaded->entries) {
            keys.push(Json::object(
                {{"key", entry.key},
                 {"value", entry.value},
                 {"origin", entry.origin},
                 {"help", entry.help}}));
        }
        std::cout << to_text(Json::object({{"config", std::move(keys)}})) << "\n";
        return ExitCode::ok;
    }
    for (const ConfigEntry& entry : loaded->entries) {
        std::cout << entry.key << " = " << (entry.value.empty() ? "\"\"" : entry.value) << "\n    "
                  << entry.help << " [" << entry.origin << "]\n";
    }
    return ExitCode::ok;
}

}  // namespace

Result<LoadedConfig> load_config(
    const GlobalOptions& global, const std::vector<ConfigFlag>& flags) {
    Loader loader;
    TRY(loader.set("data", data_folder_of(GlobalOptions{}), "default"));
    std::string path = global.config_path;
    if (path.empty()) {
        const char* named = std::getenv("INTERLOCK_CONFIG");
        path = named == nullptr ? "" : named;
    }
    if (!path.empty()) {
        TRY_ASSIGN(const auto values, read_file(path, loader.config().relay));
        for (const auto& [key, value] : values) {
            TRY(loader.set(key, value, "file " + path));
        }
    }
    TRY(loader.set_from_environment());
    if (!global.data.empty()) {
        TRY(loader.set("data", global.data, "flag --data"));
    }
    for (const ConfigFlag& flag : flags) {
        TRY(loader.set(flag.key, flag.value, "flag " + flag.flag));
    }
    const Config& config = loader.config();
    if (config.http_tls_certificate.empty() != config.http_tls_key.empty()) {
        return fail(errors::invalid_config, "http.tls_certificate and http.tls_key go together.");
    }
    TRY(check_witness_config(config.witness));
    return loader.finish();
}

void add_config_command(CommandLine& line) {
    CLI::App* config = line.app.add_subcommand("config", "Look at the configuration.");
    config->require_subcommand(1);
    CLI::App* command =
        config->add_subcommand("show", "Print the effective values and where each came from.");
    command->callback([&line] { line.run = [&line] { return show(line.global); }; });
}

}  // namespace interlock
