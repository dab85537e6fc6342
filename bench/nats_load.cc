// NATS JetStream under the load of `bench relay --only inbound`.
#include <charconv>
#include <fstream>

#include "base/errors.h"
#include "base/json.h"
#include "base/text.h"
#include "bench/stream_peers.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kTurn{100};
constexpr std::chrono::seconds kSetUpPatience{120};
constexpr std::string_view kConnect =
    "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":false}\r\n";

std::string publish(std::string_view subject, std::string_view reply, std::string_view payload) {
    std::string out = "PUB ";
    out += subject;
    out += ' ';
    out += reply;
    out += ' ';
    out += std::to_string(payload.size());
    out += "\r\n";
    out += payload;
    out += "\r\n";
    return out;
}

class NatsLoad {
public:
    NatsLoad(SocketSwarm swarm, const StreamLoad& load)
        : swarm_(std::move(swarm)), load_(load), loop_(load) {
        payload_.assign(static_cast<std::size_t>(load.event_bytes), 'x');
    }

    Result<StreamFigures> run(std::uint16_t port);

private:
    static constexpr std::size_t kProducer = 0;

    Result<void> set_up(std::uint16_t port);
    Result<void> ask(const std::string& subject, const Json& request);
    void add(std::int64_t instance);
    Result<std::size_t> take(std::size_t number, std::string_view bytes);
    Result<void> take_message(std::size_t number, const NatsMessage& message);

    SocketSwarm swarm_;
    const StreamLoad load_;
    ClosedLoop loop_;
    std::string payload_;
    bool is_asking_ = false;
};

void NatsLoad::add(std::int64_t instance) {
    loop_.begin(instance);
    swarm_.send(kProducer, publish("relay." + std::to_string(instance), "stored", payload_));
}

Result<void> NatsLoad::take_message(std::size_t number, const NatsMessage& message) {
    if (message.verb == "PING") {
        swarm_.send(number, "PONG\r\n");
        return {};
    }
    if (message.verb == "-ERR") {
        return fail(errors::unavailable, "NATS answered " + std::string(message.payload) + ".");
    }
    if (message.verb != "MSG") {
        return {};
    }
    if (number == kProducer) {
        if (message.payload.find("\"error\"") != std::string_view::npos) {
            return fail(errors::unavailable, "JetStream said " + std::string(message.payload));
        }
        is_asking_ = is_asking_ && message.subject != "asked";
        return {};
    }
    const auto instance = static_cast<std::int64_t>(number - 1);
    if (message.subject.starts_with("acked.")) {
        loop_.end(instance);
        add(instance);
    } else {
        swarm_.send(number, publish(message.reply, "acked." + std::to_string(instance), "+ACK"));
    }
    return {};
}

Result<std::size_t> NatsLoad::take(std::size_t number, std::string_view bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const NatsMessage message = read_nats_message(bytes.substr(done));
        if (message.end == 0) {
            break;
        }
        TRY(take_message(number, message));
        done += message.end;
    }
    return done;
}

Result<void> NatsLoad::ask(const std::string& subject, const Json& request) {
    swarm_.send(kProducer, publish(subject, "asked", to_text(request)));
    is_asking_ = true;
    const auto deadline = std::chrono::steady_clock::now() + kSetUpPatience;
    while (is_asking_) {
        TRY(swarm_.turn(kTurn, [this](auto number, auto bytes) { return take(number, bytes); }));
        if (std::chrono::steady_clock::now() > deadline) {
            return fail(errors::timed_out, "JetStream did not answer " + subject + ".");
        }
    }
    return {};
}

Result<void> NatsLoad::set_up(std::uint16_t port) {
    TRY(swarm_.connect(port));
    swarm_.send(kProducer, kConnect);
    swarm_.send(kProducer, "SUB stored 1\r\nSUB asked 2\r\n");
    TRY(
        ask("$JS.API.STREAM.CREATE.RELAY",
            Json::object(
                {{"name", "RELAY"},
                 {"subjects", Json::array({"relay.*"})},
                 {"retention", "workqueue"},
                 {"storage", "file"},
                 {"num_replicas", std::int64_t{1}}})));
    for (std::int64_t i = 0; i < load_.instances; ++i) {
        const std::string name = std::to_string(i);
        TRY_ASSIGN(const std::size_t number, swarm_.connect(port));
        swarm_.send(number, kConnect);
        swarm_.send(number, "SUB deliver." + name + " 1\r\nSUB acked." + name + " 2\r\nPING\r\n");
        TRY(
            ask("$JS.API.CONSUMER.DURABLE.CREATE.RELAY.c" + name,
                Json::object(
                    {{"stream_name", "RELAY"},
                     {"config",
                      Json::object(
                          {{"durable_name", "c" + name},
                           {"deliver_subject", "deliver." + name},
                           {"filter_subject", "relay." + name},
                           {"deliver_policy", "all"},
                           {"ack_policy", "explicit"},
                           {"max_ack_pending", load_.in_flight}})}})));
    }
    return {};
}

Result<StreamFigures> NatsLoad::run(std::uint16_t port) {
    TRY(set_up(port));
    loop_ = ClosedLoop(load_);
    for (std::int64_t i = 0; i < load_.in_flight; ++i) {
        for (std::int64_t instance = 0; instance < load_.instances; ++instance) {
            add(instance);
        }
    }
    while (!loop_.is_over()) {
        TRY(swarm_.turn(kTurn, [this](auto number, auto bytes) { return take(number, bytes); }));
    }
    return loop_.figures();
}

}  // namespace

NatsMessage read_nats_message(std::string_view bytes) {
    const std::size_t line_end = bytes.find("\r\n");
    if (line_end == std::string_view::npos) {
        return {};
    }
    const std::string_view line = bytes.substr(0, line_end);
    NatsMessage message;
    message.end = line_end + 2;
    message.verb = line.substr(0, line.find(' '));
    if (message.verb != "MSG") {
        message.payload = line.substr(std::min(line.size(), message.verb.size() + 1));
        return message;
    }
    // MSG subject sid [reply] size
    const auto words = split(line, ' ');
    std::size_t size = 0;
    if (words.size() >= 4) {
        message.subject = words[1];
        message.reply = words.size() > 4 ? words[3] : std::string_view();
        std::from_chars(words.back().data(), words.back().data() + words.back().size(), size);
    }
    if (bytes.size() < message.end + size + 2) {
        return {};
    }
    message.payload = bytes.substr(message.end, size);
    message.end += size + 2;
    return message;
}

Result<PeerServer> start_nats(const std::string& program, const std::string& folder) {
    TRY_ASSIGN(const std::uint16_t port, find_free_port());
    const std::string config = folder + "/nats.conf";
    std::ofstream(config) << "host: 127.0.0.1\nport: " << port << "\njetstream {\n  store_dir: \""
                          << folder << "\"\n  sync_interval: always\n}\n";
    MeasuredProcess::Options child;
    child.command = {program, "--config", config};
    child.log_path = folder + "/nats.log";
    return start_peer(child, port);
}

Result<StreamFigures> load_nats(std::uint16_t port, const StreamLoad& load) {
    TRY_ASSIGN(SocketSwarm swarm, SocketSwarm::create());
    return NatsLoad(std::move(swarm), load).run(port);
}

}  // namespace interlock
