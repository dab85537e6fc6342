#include "app/command/chat_command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <memory>

#include "app/command/console.h"
#include "app/command/relay_view.h"
#include "app/wiring/server_client.h"
#include "base/text.h"

namespace interlock {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr std::chrono::milliseconds kLookEvery{200};
// After an answer, how long more of it is waited for.
constexpr std::chrono::milliseconds kQuiet{600};
constexpr std::string_view kNoButton = "No question has a button of this number.\n";
constexpr std::size_t kInstancesMax = 100;  // Whose owners are asked for.
constexpr std::size_t kLineBytesMax = 64 * 1024;

struct Options {
    std::string tenant;
    std::string user;
    std::string room;
    std::string say;
    double wait_seconds = -1;  // Not given.
};

SteadyTime after(double seconds) {
    return std::chrono::steady_clock::now() +
           std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

const Json::Array& list_at(const Json& json, std::string_view key) {
    static const Json::Array kNone;
    const Json* list = json.find(key);
    return list != nullptr && list->is_array() ? list->items() : kNone;
}

class Chat {
public:
    Chat(const GlobalOptions& global, const Options& options, std::string folder)
        : global_(global),
          options_(options),
          chat_id_(options.room.empty() ? "dm:" + options.user : options.room),
          server_(std::move(folder)) {}

    ExitCode run() {
        if (const ExitCode ready = check(); ready != ExitCode::ok) {
            return ready;
        }
        if (options_.say.empty() && options_.wait_seconds >= 0) {
            return await_answer(options_.wait_seconds);
        }
        if (const ExitCode skipped = skip_old(); skipped != ExitCode::ok) {
            return skipped;
        }
        if (options_.say.empty()) {
            return talk();
        }
        if (const std::size_t number = press_number(options_.say);
            number > 0 && !screen_.button(number)) {
            std::cerr << kNoButton;
            return ExitCode::refused;
        }
        if (const ExitCode said = obey(options_.say); said != ExitCode::ok) {
            return said;
        }
        return options_.wait_seconds < 0 ? ExitCode::ok : await_answer(options_.wait_seconds);
    }

private:
    std::expected<Json, ExitCode> ask(const std::string& path) {
        return expect_ok(global_, server_.get("/api/relay" + path));
    }
    std::expected<Json, ExitCode> post(const std::string& path, const Json& body) {
        return expect_ok(global_, server_.post("/api/relay" + path, body));
    }

    // The console is there, somebody would hear us; else what to do about it.
    ExitCode check() {
        const auto console = server_.get(messages_path());
        if (console && console->status == 404) {
            return report_usage(
                global_,
                "This server has no console platform.",
                "Put [[relay.bot]] with platform = \"local\" and bot_id = \"console\" into its "
                "configuration file and restart it.");
        }
        if (const auto read = expect_ok(global_, console); !read) {
            return read.error();
        }
        const auto bound = is_bound();
        if (!bound) {
            return bound.error();
        }
        // A word to the connector itself is heard of anybody: /link is how one gets in.
        if (!*bound && !options_.say.starts_with('/')) {
            return report_usage(
                global_,
                options_.user + " is linked to no instance of " + options_.tenant +
                    ", so nobody would hear this.",
                "Link: interlock relay bind --platform local --user " + options_.user +
                    " --instance INSTANCE (`interlock relay instances` lists them), or say the "
                    "/link of `interlock relay link create`.");
        }
        return options_.room.empty() ? ExitCode::ok : check_room();
    }

    std::expected<bool, ExitCode> is_bound() {
        const auto instances = ask("/instances?tenant_id=" + percent_encode(options_.tenant));
        if (!instances) {
            return std::unexpected(instances.error());
        }
        std::size_t asked = 0;
        for (const Json& instance : list_at(*instances, "instances")) {
            if (++asked > kInstancesMax) {
                return true;  // Too many to ask; what is said will tell.
            }
            const auto shown =
                ask("/instance?instance_id=" + percent_encode(text_at(instance, "instance_id")));
            if (!shown) {
                return std::unexpected(shown.error());
            }
            const Json::Array& users = list_at(*shown, "users");
            if (std::ranges::any_of(users, [&](const Json& user) {
                    return text_at(user, "platform") == "local" &&
                           text_at(user, "user_id") == options_.user;
                })) {
                return true;
            }
        }
        return false;
    }

    ExitCode check_room() {
        const auto routes = ask("/routes?tenant_id=" + percent_encode(options_.tenant));
        if (!routes) {
            return routes.error();
        }
        const Json::Array& all = list_at(*routes, "routes");
        const bool is_routed = std::ranges::any_of(all, [&](const Json& route) {
            return text_at(route, "platform") == "local" &&
                   text_at(route, "discriminator") == options_.room;
        });
        if (is_routed) {
            return ExitCode::ok;
        }
        return report_usage(
            global_,
            "The room " + options_.room + " is not routed to " + options_.tenant + ".",
            "Route it: interlock relay route add --platform local --bot-id console "
            "--discriminator " +
                options_.room + " --tenant " + options_.tenant);
    }

    std::string messages_path() const {
        return "/api/relay/console/messages?chat_id=" + percent_encode(chat_id_) +
               "&after=" + std::to_string(seen_);
    }

    // Whatever is new; how many messages of the bot were shown.
    std::expected<int, ExitCode> look(bool is_shown = true) {
        int shown = 0;
        while (true) {
            const auto answer = expect_ok(global_, server_.get(messages_path()));
            if (!answer) {
                return std::unexpected(answer.error());
            }
            const Json::Array& messages = list_at(*answer, "messages");
            if (messages.empty()) {
                return shown;
            }
            for (const Json& message : messages) {
                const std::string text = screen_.show(message);
                if (!is_shown || text.empty()) {
                    continue;
                }
                ++shown;
                if (global_.json) {
                    print_json(message);
                } else {
                    std::cout << text << std::flush;
                }
            }
            const Json* next = answer->find("next");
            seen_ = next == nullptr ? seen_ : next->as_int64().value_or(seen_);
        }
    }
    ExitCode skip_old() {
        const auto looked = look(false);
        return looked ? ExitCode::ok : looked.error();
    }

    // Until the bot has said something and is done, or the time is up.
    ExitCode await_answer(double seconds) {
        const SteadyTime end = after(seconds);
        SteadyTime quiet_at = end;
        bool is_answered = false;
        while (true) {
            const auto shown = look();
            if (!shown) {
                return shown.error();
            }
            const SteadyTime now = std::chrono::steady_clock::now();
            if (*shown > 0) {
                is_answered = true;
                quiet_at = std::min(end, now + kQuiet);
            }
            if (now >= end || (is_answered && now >= quiet_at)) {
                break;
            }
            ::poll(nullptr, 0, static_cast<int>(kLookEvery.count()));
        }
        if (!is_answered) {
            std::cerr << "No answer came.\n";
        }
        return is_answered ? ExitCode::ok : ExitCode::refused;
    }

    ExitCode say(const std::string& text) {
        const auto said = post(
            "/console/say",
            Json::object({{"user", options_.user}, {"chat_id", chat_id_}, {"text", text}}));
        if (!said) {
            return said.error();
        }
        return tell_fate(*said);
    }

    ExitCode press(std::size_t number) {
        const auto button = screen_.button(number);
        if (!button) {
            std::cerr << kNoButton;
            return ExitCode::ok;
        }
        const auto pressed = post(
            "/console/press",
            Json::object(
                {{"user", options_.user},
                 {"chat_id", chat_id_},
                 {"message_id", button->message_id},
                 {"option_id", button->option_id}}));
        return pressed ? ExitCode::ok : pressed.error();
    }

    // Silence would leave a person waiting for nobody.
    ExitCode tell_fate(const Json& said) {
        const Json* delivered = said.find("is_delivered");
        if (delivered != nullptr && delivered->is_bool() && delivered->as_bool()) {
            return ExitCode::ok;
        }
        const std::string notice = text_at(said, "notice");
        if (notice != "-") {
            std::cerr << print_safe(notice) << '\n';
            return ExitCode::ok;
        }
        std::cerr << "Nobody gets this. interlock relay why " << print_safe(text_at(said, "event"))
                  << '\n';
        return ExitCode::ok;
    }

    ExitCode obey(const std::string& line) {
        if (trim(line).empty()) {
            return ExitCode::ok;
        }
        const std::size_t number = press_number(line);
        return number > 0 ? press(number) : say(line);
    }

    ExitCode talk() {
        if (!global_.json && ::isatty(STDIN_FILENO) == 1) {
            std::cerr << "You are " << print_safe(options_.user) << " in " << print_safe(chat_id_)
                      << ". `/press N` presses a button; end the input to leave.\n";
        }
        std::string held;
        while (true) {
            pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
            ::poll(&input, 1, static_cast<int>(kLookEvery.count()));
            if (input.revents != 0) {
                char bytes[4096];
                const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
                if (got <= 0) {
                    break;
                }
                held.append(bytes, static_cast<std::size_t>(got));
            }
            for (std::size_t end = held.find('\n'); end != std::string::npos;
                 end = held.find('\n')) {
                const std::string line = held.substr(0, end);
                held.erase(0, end + 1);
                if (const ExitCode done = obey(line); done != ExitCode::ok) {
                    return done;
                }
            }
            if (held.size() > kLineBytesMax) {
                return report_usage(
                    global_, "A line is too long.", "Say it in lines of at most 64 KiB.");
            }
            if (const auto looked = look(); !looked) {
                return looked.error();
            }
        }
        if (const ExitCode done = obey(held); done != ExitCode::ok) {
            return done;
        }
        constexpr double kLastAnswerSeconds = 2;
        await_answer(options_.wait_seconds < 0 ? kLastAnswerSeconds : options_.wait_seconds);
        return ExitCode::ok;
    }

    const GlobalOptions& global_;
    const Options& options_;
    const std::string chat_id_;
    ServerClient server_;
    ChatScreen screen_;
    std::int64_t seen_ = 0;
};

ExitCode run_chat(const GlobalOptions& global, const Options& options) {
    auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    return Chat(global, options, *std::move(folder)).run();
}

}  // namespace

std::string ChatScreen::show(const Json& message) {
    if (text_at(message, "user") != "-") {
        return {};
    }
    const Json* edits = message.find("edits");
    const bool is_edited = edits != nullptr && edits->as_int64().value_or(0) > 0;
    std::string text = is_edited ? "bot (edited): " : "bot: ";
    if (const std::string kind = text_at(message, "media_kind"); kind != "-") {
        text += "[" + print_safe(kind) + " " + print_safe(text_at(message, "media_url")) + "] ";
    }
    const std::string said = text_at(message, "text");
    text += said == "-" ? "" : print_safe(said, true);
    if (const std::string reactions = text_at(message, "reactions"); reactions != "-") {
        text += " (" + print_safe(reactions) + ")";
    }
    text += "\n";
    const Json::Array& options = list_at(message, "options");
    if (!options.empty()) {
        prompt_ = text_at(message, "message_id");
        options_.clear();
    }
    for (const Json& option : options) {
        options_.push_back(text_at(option, "id"));
        text += "  [" + std::to_string(options_.size()) + "] " +
                print_safe(text_at(option, "label")) + "\n";
    }
    return text;
}

std::optional<ChatScreen::Button> ChatScreen::button(std::size_t number) const {
    if (number == 0 || number > options_.size()) {
        return std::nullopt;
    }
    return Button{prompt_, options_[number - 1]};
}

std::size_t press_number(const std::string& line) {
    constexpr std::string_view kPress = "/press ";
    if (!line.starts_with(kPress)) {
        return 0;
    }
    const std::string_view text = trim(std::string_view(line).substr(kPress.size()));
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

void add_chat_command(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* chat = line.app.add_subcommand(
        "chat", "Talk to an agent from the terminal, through the console platform.");
    chat->add_option("--tenant", options->tenant, "Whose agent.")->required()->type_name("TENANT");
    chat->add_option("--as", options->user, "Who you are on the console; must be linked first.")
        ->required()
        ->type_name("USER");
    chat->add_option("--room", options->room, "A room; a direct message unless given.")
        ->type_name("ROOM");
    chat->add_option(
            "--say", options->say, "Say this (or `/press N`) and end, instead of reading lines.")
        ->type_name("TEXT");
    chat->add_option(
            "--wait",
            options->wait_seconds,
            "Wait this many seconds for an answer; exit code 1 when none comes. Without --say: "
            "only read.")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0));
    chat->callback([&line, options] {
        line.run = [&line, options] { return run_chat(line.global, *options); };
    });
}

}  // namespace interlock
