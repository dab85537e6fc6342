#include "app/command/relay_echo_command.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include "app/command/console.h"
#include "base/errors.h"
#include "base/match.h"
#include "base/text.h"
#include "engine/system/durable_file.h"
#include "engine/system/system_clock.h"
#include "net/web_socket_client.h"
#include "relay/rules/upgrade_token.h"
#include "relay/wire/relay_frame.h"

namespace interlock {
namespace {

constexpr std::uint16_t kCloseUnauthorised = 4401;
constexpr std::uint16_t kCloseNormal = 1000;
constexpr std::chrono::seconds kIdleAckWait{2};
constexpr std::chrono::seconds kLookEvery{1};

struct Options {
    std::string url;
    std::string gateway_id;
    std::string secret_file;
    std::string secret;  // Never from an argument: those are in `ps` and in the shell's history.
    std::string platform = "local";
    std::string bot_id = "console";
    std::string prefix = "echo: ";
};

// Lines from messages: a frame may span messages, and a message may hold several.
class FrameLines {
public:
    void add(std::string_view payload) { held_ += payload; }
    std::optional<std::string> next() {
        const std::size_t end = held_.find('\n');
        if (end == std::string::npos) {
            return std::nullopt;
        }
        std::string line = held_.substr(0, end);
        held_.erase(0, end + 1);
        return line;
    }
    bool is_too_long() const { return held_.size() > kFrameBytesMax; }

private:
    std::string held_;
};

class EchoGateway {
public:
    EchoGateway(const GlobalOptions& global, const Options& options, int stop)
        : global_(global), options_(options), stop_(stop) {}

    ExitCode run() {
        RedialPause pause;
        while (!is_stopping_) {
            if (const auto over = dial(pause)) {
                return *over;
            }
            if (is_stopping_) {
                break;
            }
            const std::int64_t seconds = pause.next_seconds();
            print("dial", "again in " + std::to_string(seconds) + " s");
            wait_for_stop(std::chrono::seconds(seconds));
        }
        return ExitCode::ok;
    }

private:
    // One connection, from the dial to its end. An exit code when there is no use in another.
    std::optional<ExitCode> dial(RedialPause& pause) {
        WebSocketTarget target;
        target.url = options_.url;
        const std::int64_t now = clock_.now().microseconds / 1'000'000;
        target.headers.emplace_back(
            "Authorization",
            "Bearer " + mint_upgrade_token(
                            options_.gateway_id, options_.secret, now + kUpgradeTokenSeconds));
        auto connected = WebSocketClient::connect(target);
        if (!connected) {
            print("refused", connected.error().message);
            if (connected.error() == errors::invalid_request ||
                connected.error() == errors::invalid_config) {
                return ExitCode::usage;
            }
            return std::nullopt;
        }
        socket_ = *std::move(connected);
        lines_ = {};
        print("open", options_.url);
        HelloFrame hello;
        hello.platform = options_.platform;
        hello.bot_id = options_.bot_id;
        send(hello);
        serve(pause);
        const auto closed = socket_->closed();
        socket_.reset();
        if (closed) {
            print("closed", std::to_string(closed->code) + " " + closed->reason);
            if (closed->code == kCloseUnauthorised) {
                return ExitCode::refused;  // A real client never comes back from it either.
            }
        }
        return std::nullopt;
    }

    void serve(RedialPause& pause) {
        while (!socket_->closed()) {
            if (!is_stopping_ && wait_for_stop(std::chrono::seconds(0))) {
                go_idle();
                return;
            }
            const auto message = socket_->receive(std::chrono::steady_clock::now() + kLookEvery);
            if (!message) {
                return;
            }
            if (*message) {
                pause.reset();
                take((*message)->payload);
            }
        }
    }

    void take(const std::string& payload) {
        lines_.add(payload);
        while (const auto line = lines_.next()) {
            const auto frame = decode_connector_frame(*line);
            if (!frame) {
                print("unreadable", frame.error().message);
                continue;
            }
            match(*frame, [this](const auto& one) { hear(one); });
        }
        if (lines_.is_too_long()) {
            socket_->close(kCloseNormal, "a line is too long");
        }
    }

    void hear(const DescriptorFrame& frame) {
        print("descriptor", frame.descriptor.platform + " " + frame.descriptor.label);
    }
    void hear(const InboundFrame& frame) {
        print(
            "inbound",
            frame.buffer_id + " " + frame.event.source.chat_id + ": " + frame.event.text);
        InboundAckFrame ack;
        ack.buffer_id = frame.buffer_id;
        send(ack);
        SendAction action;
        action.chat_id = frame.event.source.chat_id;
        action.content = options_.prefix + frame.event.text;
        action.reply_to = frame.event.message_id;
        action.metadata = Json::object();
        if (!frame.event.source.thread_id.empty()) {
            action.metadata.set("thread_id", frame.event.source.thread_id);
        }
        OutboundFrame outbound;
        outbound.request_id = "echo-" + std::to_string(++requests_);
        outbound.action = std::move(action);
        outbound.platform = options_.platform;
        outbound.bot_id = options_.bot_id;
        send(outbound);
    }
    void hear(const OutboundResultFrame& frame) {
        print(
            "result",
            frame.request_id + (frame.result.success ? " sent " + frame.result.message_id
                                                     : " failed: " + frame.result.error));
    }
    void hear(const InterruptInboundFrame& frame) { print("interrupt", frame.session_key); }
    void hear(const GoingIdleAckFrame&) {
        is_idle_ = true;
        print("idle", "new messages are kept");
    }
    void hear(const PassthroughForwardFrame& frame) {
        print("forward", frame.forward.platform + " " + frame.forward.path);
    }
    void hear(const IgnoredFrame& frame) { print("ignored", frame.type); }

    // A gateway that is about to sleep says so, and hears what was under way.
    void go_idle() {
        is_stopping_ = true;
        send(GoingIdleFrame{});
        const auto deadline = std::chrono::steady_clock::now() + kIdleAckWait;
        while (!is_idle_ && std::chrono::steady_clock::now() < deadline) {
            const auto message = socket_->receive(deadline);
            if (!message || !*message) {
                break;
            }
            take((*message)->payload);
        }
        socket_->close(kCloseNormal, "going to sleep");
    }

    void send(const GatewayFrame& frame) {
        if (socket_->closed()) {
            return;
        }
        if (const auto sent = socket_->send(encode_line(frame)); !sent) {
            print("lost", sent.error().message);
        }
    }

    // True when a signal has come.
    bool wait_for_stop(std::chrono::milliseconds span) {
        pollfd signal{.fd = stop_, .events = POLLIN, .revents = 0};
        if (::poll(&signal, 1, static_cast<int>(span.count())) == 1) {
            is_stopping_ = is_stopping_ || socket_ == nullptr;
            return true;
        }
        return false;
    }

    void print(std::string_view what, const std::string& text) const {
        if (global_.json) {
            print_json(Json::object({{"what", std::string(what)}, {"text", text}}));
        } else {
            std::cout << what << ' ' << print_safe(text) << '\n';
        }
        std::cout.flush();  // Scripts wait for lines.
    }

    const GlobalOptions& global_;
    const Options& options_;
    const int stop_;
    SystemClock clock_;
    std::unique_ptr<WebSocketClient> socket_;
    FrameLines lines_;
    std::int64_t requests_ = 0;
    bool is_idle_ = false;
    bool is_stopping_ = false;
};

Result<std::string> secret_of(const Options& options) {
    constexpr std::size_t kSecretBytesMax = 4096;
    if (!options.secret_file.empty()) {
        TRY_ASSIGN(const std::string bytes, read_small_file(options.secret_file, kSecretBytesMax));
        return std::string(trim(bytes));
    }
    if (const char* given = std::getenv("GATEWAY_RELAY_SECRET"); given != nullptr) {
        return std::string(given);
    }
    return fail(
        errors::invalid_config,
        "The gateway's secret is missing.",
        "Put it into a file and name that with --secret-file, or set GATEWAY_RELAY_SECRET.");
}

ExitCode run_echo(const GlobalOptions& global, Options& options) {
    Result<std::string> secret = secret_of(options);
    if (!secret) {
        report(global, secret.error());
        return ExitCode::usage;
    }
    options.secret = *std::move(secret);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    const FileDescriptor stop(::signalfd(-1, &signals, SFD_CLOEXEC));
    if (!stop.is_open()) {
        return report(global, system_failure("wait for", "signals").error());
    }
    return EchoGateway(global, options, stop.get()).run();
}

}  // namespace

void add_relay_echo_command(CommandLine& line, CLI::App& relay) {
    const auto options = std::make_shared<Options>();
    CLI::App* echo = relay.add_subcommand(
        "echo", "A small gateway that answers every message with its text. Ctrl-C: it goes idle.");
    echo->add_option("--url", options->url, "The connector, ws://HOST:PORT/relay.")
        ->required()
        ->envname("GATEWAY_RELAY_URL")
        ->type_name("URL");
    echo->add_option("--gateway-id", options->gateway_id, "Its name.")
        ->required()
        ->envname("GATEWAY_RELAY_ID")
        ->type_name("GATEWAY");
    echo->add_option(
            "--secret-file",
            options->secret_file,
            "File that holds its secret. Without it: the variable GATEWAY_RELAY_SECRET.")
        ->type_name("FILE");
    echo->add_option("--platform", options->platform, "Says hello as this; local unless given.")
        ->type_name("PLATFORM");
    echo->add_option("--bot-id", options->bot_id, "And this bot; console unless given.")
        ->type_name("BOT");
    echo->add_option(
            "--prefix", options->prefix, "What answers begin with; \"echo: \" unless given.")
        ->type_name("TEXT");
    echo->callback([&line, options] {
        line.run = [&line, options] { return run_echo(line.global, *options); };
    });
}

}  // namespace interlock
