#include "app/demo/demo_command.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/command/child_process.h"
#include "app/command/serve_command.h"
#include "app/demo/demo_folder.h"
#include "app/demo/demo_scenes.h"
#include "app/demo/demo_strategies.h"
#include "app/wiring/config.h"
#include "app/wiring/data_path.h"
#include "app/wiring/server.h"
#include "base/errors.h"
#include "base/log.h"
#include "engine/system/durable_file.h"
#include "engine/system/random_id_source.h"
#include "engine/wire/principal.h"
#include "net/http_client.h"

namespace interlock {
namespace {

constexpr const char* kTenant = kDemoTenant.data();  // Of a literal, so it ends with a zero.
constexpr const char* kOwner = "owner@demo.example";

// Speaks to the server that runs in this process the way `interlock` on a terminal would.
class Operator {
public:
    explicit Operator(const std::string& data_folder)
        : client_(HttpClient::create({data_folder + "/operator.sock", "localhost", 0})) {}

    Result<Json> call(const std::string& method, const std::string& path, const Json& body = {}) {
        HttpRequest request;
        request.method = method;
        request.target = path;
        if (!body.is_null()) {
            request.headers.emplace_back("Content-Type", "application/json");
            request.body = to_text(body);
        }
        TRY_ASSIGN(const HttpResponse response, client_->send(request));
        TRY_ASSIGN(Json json, parse_json(response.body));
        if (response.status >= 300) {
            const Json* error = json.find("error");
            const Json* message = error == nullptr ? nullptr : error->find("message");
            return fail(
                errors::internal,
                path + " answered " + std::to_string(response.status) + ": " +
                    (message == nullptr ? response.body : message->as_string()));
        }
        return json;
    }

private:
    std::unique_ptr<HttpClient> client_;
};

struct DemoLogin {
    std::string activation_path;  // Empty: the owner has set a password already.
    std::string access_key;
};

std::string answer_text(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

Result<void> ensure_tenant(Operator& host) {
    TRY_ASSIGN(const Json page, host.call("GET", "/tenants"));
    for (const Json& tenant : page.find("tenants")->items()) {
        if (answer_text(tenant, "tenant_id") == kTenant) {
            return {};
        }
    }
    TRY(host.call("POST", "/tenants", Json::object({{"tenant_id", kTenant}, {"name", "Demo"}})));
    return {};
}

// A code for the owner as long as no password is set; afterwards there is nothing to print.
Result<std::string> ensure_owner(Operator& host) {
    const std::string humans = "/api/" + std::string(kTenant) + "/humans";
    TRY_ASSIGN(const Json list, host.call("GET", humans));
    for (const Json& human : list.find("humans")->items()) {
        if (answer_text(human, "state") == "active") {
            return std::string();
        }
    }
    TRY_ASSIGN(
        const Json invitation,
        host.call("POST", humans, Json::object({{"email", kOwner}, {"system_member", true}})));
    return answer_text(invitation, "activation_path");
}

// The demo key is kept beside the data so that the block below can be printed again; real keys are
// shown once and kept nowhere.
Result<std::string> ensure_key(Operator& host, const std::string& data_folder) {
    const std::string path = data_folder + "/demo.key";
    if (auto kept = read_small_file(path, 256)) {
        return std::string(*kept);
    }
    Json scopes = Json::array();
    for (const Scope scope : all_scopes()) {
        scopes.push(std::string(to_word(scope)));
    }
    TRY_ASSIGN(
        const Json made,
        host.call(
            "POST",
            "/api/" + std::string(kTenant) + "/keys",
            Json::object({{"label", "demo agent"}, {"scopes", std::move(scopes)}})));
    const std::string key = answer_text(made, "access_key");
    TRY(create_file_durably({.path = path, .bytes = key, .mode = 0600}));
    return key;
}

Result<DemoLogin> prepare(const std::string& data_folder) {
    Operator host(data_folder);
    TRY(ensure_tenant(host));
    DemoLogin login;
    TRY_ASSIGN(login.activation_path, ensure_owner(host));
    TRY_ASSIGN(login.access_key, ensure_key(host, data_folder));
    return login;
}

void print_welcome(const Server& server, const std::string& data, const DemoLogin& login) {
    const std::string address = server.address();
    std::cout << "\nInterlock is running at " << address << "\n";
    std::cout << "  data in " << data
              << ", emptied at the next start unless it says --keep; stop with Ctrl-C\n"
              << "  for commands in another terminal: export INTERLOCK_DATA=" << data << "\n\n";
    if (login.activation_path.empty()) {
        std::cout << "You are " << kOwner << "; your password was set in an earlier run.\n\n";
    } else {
        std::cout << "You are " << kOwner << ". Your one-time login (valid 24 hours, works once):\n"
                  << "  " << address << login.activation_path << "\n\n";
    }
    const Json server_block = Json::object({
        {"mcpServers",
         Json::object(
             {{"interlock",
               Json::object(
                   {{"command", own_path()},
                    {"args", Json::array({"mcp", "--data", data})},
                    {"env", Json::object({{"INTERLOCK_ACCESS_KEY", login.access_key}})}})}})},
    });
    std::cout << "Give this to your agent (Claude, Codex, Cursor, any MCP client):\n"
              << to_pretty_text(server_block) << "\n\n"
              << "or over HTTP: " << address << "/mcp with the header\n"
              << "  Authorization: Bearer " << login.access_key << "\n\n"
              << "Try, in another terminal:\n"
              << "  curl -s -H 'X-Access-Key: " << login.access_key
              << "' -d '{\"decision_id\":\"d1\","
              << "\"tick_id\":\"t1\",\"idempotency_key\":\"k1\",\"effect\":true,\"wait\":true}' "
              << address << "/api/" << kTenant << "/probes\n"
              << "  (again: the same bytes come back, and nothing happens twice)\n"
              << "  " << own_path() << " kill on --data " << data << "\n"
              << "  " << own_path() << " replay --all --data " << data << "\n"
              << "  " << own_path() << " audit verify --data " << data << std::endl;
}

// The strategies, and how to look at them and move them; without them, why there are none.
void print_strategies(
    const std::string& data,
    const DemoLogin& login,
    const Result<void>& traded,
    const DemoStrategies& strategies) {
    if (!traded) {
        std::cout << "\n" << traded.error().message << std::endl;
        return;
    }
    const std::string program = own_path();
    std::cout << "\nA grid trades " << DemoStrategies::concern()
              << " on paper, an idle strategy stands beside it:\n"
              << "  " << program << " strategy list --data " << data << "\n"
              << "  " << program << " strategy show " << strategies.grid() << " --data " << data
              << "\n"
              << "  INTERLOCK_ACCESS_KEY=" << login.access_key << " " << program
              << " decide --concern " << DemoStrategies::concern() << " --action switch --target "
              << strategies.idle() << " --expect " << strategies.grid()
              << " --reason 'a calm hour' --dry-run --data " << data << "\n"
              << "  (without --dry-run the grid's orders are cancelled, then the idle one takes "
                 "over)"
              << std::endl;
}

struct DemoOptions {
    GlobalOptions global;
    ServeOptions serve;
    bool no_scenes = false;
    bool scenes_only = false;
    bool keep = false;
};

// The scenes and then, unless only they were wanted, a server that stays up.
ExitCode perform(Server& server, const std::string& data, const DemoOptions& options) {
    const auto login = prepare(data);
    if (!login) {
        return report(options.global, login.error());
    }
    bool held = true;
    DemoStrategies strategies(server.plane(), kTenant);
    if (!options.no_scenes && !options.keep) {
        if (const auto resting = strategies.rest(); !resting) {
            return report(options.global, resting.error());
        }
        DemoStage stage;
        RandomIdSource ids;
        DemoScenes scenes(
            stage,
            server,
            {.data_folder = data,
             .tenant = kTenant,
             .access_key = login->access_key,
             .run = ids.new_id("demo").substr(0, 13)});
        held = scenes.play();
    }
    if (!options.scenes_only) {
        const auto traded = strategies.trade();
        print_welcome(server, data, *login);
        print_strategies(data, *login, traded, strategies);
        wait_for_stop_signal();
    }
    return held ? ExitCode::ok : ExitCode::refused;
}

bool is_default(const LoadedConfig& loaded, std::string_view key) {
    return std::any_of(loaded.entries.begin(), loaded.entries.end(), [&](const ConfigEntry& entry) {
        return entry.key == key && entry.origin == "default";
    });
}

ExitCode demo(const DemoOptions& options) {
    const GlobalOptions& global = options.global;
    std::vector<ConfigFlag> flags = config_flags(options.serve);
    auto loaded = load_config(global, flags);
    if (!loaded) {
        return report(global, loaded.error());
    }
    Config& config = loaded->config;
    if (is_default(*loaded, "data")) {
        config.data_folder = default_demo_folder();
    }
    const auto prepared = prepare_demo_folder(
        config.data_folder, options.keep ? DemoBefore::keep : DemoBefore::empty);
    if (!prepared) {
        return report(global, prepared.error());
    }
    if (config.relay.bots.empty()) {  // So that `interlock chat` reaches an agent here.
        RelayBotConfig& console = config.relay.bots.emplace_back();
        console.platform = "local";
        console.bot_id = "console";
    }
    configure_log(config.log);
    block_stop_signals();
    std::optional<Result<ChildProcess>> sink;
    const bool own_sink = config.effects_sink.empty();
    if (own_sink) {
        config.effects_sink = config.data_folder + "/sink.sock";
    }
    auto server = Server::open(config);
    if (!server) {
        return report(global, server.error());
    }
    if (own_sink) {
        // After the server holds the folder's lock, so that two demos cannot share one sink.
        sink.emplace(ChildProcess::start_self(
            {"sink",
             "--socket",
             config.effects_sink,
             "--journal",
             config.data_folder + "/sink.journal"},
            config.data_folder + "/sink.log"));
        if (!*sink) {
            return report(global, sink->error());
        }
    }
    (*server)->start();
    const ExitCode code = perform(**server, config.data_folder, options);
    (*server)->stop();
    return code;
}

}  // namespace

void add_demo_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "demo", "Play five scenes, then run a server with a tenant, an owner and an access key.");
    const auto options = std::make_shared<DemoOptions>();
    add_serve_options(*command, options->serve);
    CLI::Option* none = command->add_flag(
        "--no-scenes", options->no_scenes, "Start the server at once, without the scenes.");
    CLI::Option* only =
        command->add_flag("--scenes-only", options->scenes_only, "Play the scenes and end.")
            ->excludes(none);
    command
        ->add_flag(
            "--keep",
            options->keep,
            "Go on with what the last run left in the demo's folder, without the scenes; otherwise "
            "each run begins with an empty one.")
        ->excludes(only);
    command->callback([&line, options] {
        line.run = [&line, options] {
            options->global = line.global;
            return demo(*options);
        };
    });
}

}  // namespace interlock
