#include "bench/relay_load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <condition_variable>
#include <iostream>
#include <latch>
#include <thread>

#include "base/errors.h"
#include "bench/gateway_swarm.h"
#include "bench/latency.h"
#include "engine/system/random_id_source.h"
#include "engine/system/system_clock.h"
#include "host/memory/held_master_keys.h"
#include "net/http_server.h"
#include "relay/face/relay_face.h"
#include "relay/memory/local_relay_bus.h"
#include "relay/memory/memory_media_folder.h"
#include "relay/platforms/console/console_platform.h"
#include "relay/service/relay_plane.h"
#include "relay/sqlite/sqlite_relay_store.h"

namespace interlock {
namespace {

constexpr std::string_view kTextKey = R"("text":")";
constexpr std::size_t kTimeDigits = 18;  // Of microseconds, with zeros before them.
constexpr std::size_t kHttpConnectionsMax = 4096;

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

// "instance-17" is 17.
std::size_t place_of(std::string_view instance_id) {
    return static_cast<std::size_t>(
        number_in(instance_id.substr(instance_id.rfind('-') + 1)).value_or(0));
}

std::string user_of(std::int64_t instance) {
    return "user-" + std::to_string(instance);
}

// What the console makes of a message without text, so that events have the size that was asked
// for.
std::size_t bytes_around_text() {
    MessageEvent event;
    event.message_id = "bench-m100000";
    event.source.platform = "local";
    event.source.chat_id = "dm:user-100";
    event.source.chat_name = event.source.chat_id;
    event.source.chat_type = "dm";
    event.source.user_id = "user-100";
    event.source.user_name = "user-100";
    event.source.message_id = event.message_id;
    return to_text(encode(event)).size();
}

class NoWaker final : public WakeCaller {
public:
    bool poke(WakeCall, std::function<void(WakeOutcome)>) override { return false; }
    Result<void> judge(const std::string&) const override { return {}; }
};

MasterRing bench_ring() {
    return {.current = SecretString(std::string(kMasterKeyBytes, 'b')), .next = std::nullopt};
}

class LoadServer {
public:
    explicit LoadServer(const RelayLoadOptions& options) : options_(options) {}
    ~LoadServer();

    Result<void> open();
    std::uint16_t port() const { return http_->port(); }

private:
    Result<void> add_instances();
    void handle(const HttpRequest& request, const HttpResponderPtr& responder);
    Result<Json> run();
    Result<void> say(std::int64_t instance);
    Result<void> wait_for(std::chrono::milliseconds time);
    void refuse();

    const RelayLoadOptions options_;
    SystemClock clock_;
    RandomIdSource ids_;
    std::unique_ptr<SqliteRelayStore> store_;
    std::optional<TimedRelayStore> timed_;
    LocalRelayBus bus_;
    NoWaker waker_;
    HeldMasterKeys masters_{bench_ring()};
    MemoryMediaFolder media_;
    std::optional<ConsolePlatform> console_;
    std::unique_ptr<RelayPlane> plane_;
    std::unique_ptr<RelayFace> face_;
    std::unique_ptr<HttpServer> http_;
    std::string filling_;
    std::atomic<std::int64_t> refused_{0};
    std::mutex stop_mutex_;
    std::condition_variable has_stopped_;
    std::thread source_;
};

LoadServer::~LoadServer() {
    if (source_.joinable()) {
        source_.join();
    }
    if (http_) {
        http_->stop(std::chrono::milliseconds(100));
    }
    if (plane_) {
        plane_->stop();
    }
}

Result<void> LoadServer::open() {
    const std::size_t around = bytes_around_text() + kTimeDigits;
    filling_.assign(
        static_cast<std::size_t>(options_.event_bytes) -
            std::min(around, static_cast<std::size_t>(options_.event_bytes)),
        'x');
    TRY_ASSIGN(store_, SqliteRelayStore::open({.path = options_.folder + "/relay.db"}));
    timed_.emplace(*store_, clock_, options_.instances);
    timed_->on_done([this](std::int64_t instance) {
        if (!say(instance)) {
            refuse();
        }
    });
    console_.emplace(ConsolePlatform::Parts{
        .clock = clock_, .wait = {}, .messages_max = 4, .id_prefix = "bench-"});
    plane_ = std::make_unique<RelayPlane>(RelayPlane::Parts{
        .store = *timed_,
        .bus = bus_,
        .waker = waker_,
        .masters = masters_,
        .media = media_,
        .clock = clock_,
        .ids = ids_,
        .bots = {&*console_}});
    TRY(plane_->open());
    plane_->start();
    TRY(add_instances());
    face_ = std::make_unique<RelayFace>(RelayFace::Parts{
        .desk = plane_->desk,
        .authenticate =
            [this](std::string_view bearer) {
                const AuthVerdict said = plane_->credentials.authenticate(bearer, clock_.now());
                return RelayDial{
                    .verdict = said.kind == AuthVerdict::Kind::accepted
                                   ? RelayDial::Verdict::accepted
                                   : RelayDial::Verdict::wrong,
                    .caller = said.caller};
            },
        .is_ready = [this] { return plane_->is_ready(); }});
    HttpServerConfig config;
    config.limits.connections_max = kHttpConnectionsMax;
    config.limits.connections_per_peer_max = kHttpConnectionsMax;  // No judge: all are strangers.
    TRY_ASSIGN(
        http_, HttpServer::open(config, [this](const HttpRequest& request, const auto& responder) {
            handle(request, responder);
        }));
    http_->start();
    return {};
}

// A gateway, its instance and the person whose direct messages it gets.
Result<void> LoadServer::add_instances() {
    std::latch left(options_.instances * 2);
    std::mutex mutex;
    std::optional<Error> problem;
    const RelayReply reply = [&](Result<Json> answer) {
        if (!answer) {
            const std::lock_guard lock(mutex);
            problem = answer.error();
        }
        left.count_down();
    };
    for (std::int64_t i = 0; i < options_.instances; ++i) {
        plane_->credentials.add_gateway(
            "operator",
            {.tenant_id = TenantId::trusted("tenant-" + std::to_string(i % options_.tenants)),
             .gateway_id = bench_gateway_id(i),
             .instance_id = bench_instance_id(i),
             .secret = SecretString(std::string(kBenchGatewaySecret)),
             .wake_url = {},
             .display_name = {}},
            reply);
        plane_->management.bind(
            "operator",
            {.platform = "local",
             .bot_id = {},
             .user_id = user_of(i),
             .user_name = user_of(i),
             .instance_id = bench_instance_id(i)},
            reply);
    }
    left.wait();
    if (problem) {
        return std::unexpected(*problem);
    }
    return {};
}

void LoadServer::handle(const HttpRequest& request, const HttpResponderPtr& responder) {
    if (RelayFace::takes(request)) {
        face_->handle(request, responder);
        return;
    }
    if (request.path() != "/bench/run" || source_.joinable()) {
        responder->send(text_response(404, "text/plain", "There is nothing to run here.\n"));
        return;
    }
    source_ = std::thread([this, responder] {
        const auto ran = run();
        responder->send(text_response(
            200,
            "application/json",
            to_text(ran ? *ran : Json::object({{"error", ran.error().message}}))));
    });
}

Result<void> LoadServer::say(std::int64_t instance) {
    std::string user = user_of(instance);
    TRY(console_->say(
        {.user = user,
         .chat_id = "dm:" + user,
         .text = fmt::format("{:0{}}", clock_.now().microseconds, kTimeDigits) + filling_,
         .thread_id = {},
         .reply_to = {}},
        [this](const std::string&, const InboxAnswer& answer) {
            if (!answer.is_stored || !answer.is_delivered) {
                refuse();
            }
        }));
    return {};
}

Result<void> LoadServer::wait_for(std::chrono::milliseconds time) {
    const std::int64_t before = timed_->done();
    std::unique_lock lock(stop_mutex_);
    has_stopped_.wait_for(lock, time, [this] { return refused_.load() > 0; });
    if (refused_.load() > 0 || timed_->done() == before) {
        return fail(errors::unavailable, "The relay stopped taking messages.");
    }
    return {};
}

void LoadServer::refuse() {
    const std::lock_guard lock(stop_mutex_);
    refused_.fetch_add(1);
    has_stopped_.notify_all();
}

// Every instance has its number of messages on the way; an acknowledgement on disk lets the next
// one be said.
Result<Json> LoadServer::run() {
    // On the lane, as all that follow: they begin together, as the peers' do.
    plane_->lane.submit([this](RelayTurn&) {
        for (std::int64_t i = 0; i < options_.in_flight; ++i) {
            for (std::int64_t instance = 0; instance < options_.instances; ++instance) {
                if (!say(instance)) {
                    refuse();
                }
            }
        }
    });
    TRY(wait_for(std::chrono::milliseconds(options_.warm_up_ms)));
    const RelayLane::Counters before = plane_->lane.counters();
    timed_->begin_measuring();
    TRY(wait_for(std::chrono::seconds(options_.seconds)));
    LoadFigures figures = timed_->end_measuring();
    const RelayLane::Counters after = plane_->lane.counters();
    const LatencySummary summary = summarize(std::move(figures.latencies_us));
    return Json::object({
        {"messages", figures.messages},
        {"microseconds", static_cast<std::int64_t>(figures.seconds * 1e6)},
        {"p50_us", summary.p50_us},
        {"p99_us", summary.p99_us},
        {"commits", static_cast<std::int64_t>(after.commits - before.commits)},
    });
}

}  // namespace

TimedRelayStore::TimedRelayStore(RelayStore& store, Clock& clock, std::int64_t instances)
    : store_(store), clock_(clock), begun_(static_cast<std::size_t>(instances)) {}

Result<void> TimedRelayStore::commit(const RelayCommit& batch) {
    TRY(store_.commit(batch));
    for (const BufferEntry& entry : batch.appended) {
        const std::size_t text = entry.text.find(kTextKey);
        const auto said_at =
            text == std::string::npos
                ? std::nullopt
                : number_in(
                      std::string_view(entry.text).substr(text + kTextKey.size(), kTimeDigits));
        begun_.at(place_of(entry.instance_id)).push_back({entry.seq, said_at.value_or(0)});
    }
    if (batch.acknowledged.empty()) {
        return {};
    }
    const std::int64_t now_us = clock_.now().microseconds;
    std::vector<std::int64_t> latencies_us;
    std::vector<std::size_t> places;
    for (const BufferKey& key : batch.acknowledged) {
        const std::size_t place = place_of(key.instance_id);
        std::vector<Begun>& begun = begun_.at(place);
        const auto found = std::ranges::find(begun, key.seq, &Begun::seq);
        if (found != begun.end()) {
            latencies_us.push_back(now_us - found->at_us);
            places.push_back(place);
            begun.erase(found);
        }
    }
    note(latencies_us);
    for (const std::size_t place : places) {
        if (on_done_) {
            on_done_(static_cast<std::int64_t>(place));
        }
    }
    return {};
}

void TimedRelayStore::note(const std::vector<std::int64_t>& latencies_us) {
    done_.fetch_add(static_cast<std::int64_t>(latencies_us.size()));
    const std::lock_guard lock(mutex_);
    if (measured_from_us_ > 0) {
        figures_.messages += static_cast<std::int64_t>(latencies_us.size());
        figures_.latencies_us.insert(
            figures_.latencies_us.end(), latencies_us.begin(), latencies_us.end());
    }
}

void TimedRelayStore::begin_measuring() {
    const std::lock_guard lock(mutex_);
    figures_ = {};
    measured_from_us_ = clock_.now().microseconds;
}

LoadFigures TimedRelayStore::end_measuring() {
    const std::lock_guard lock(mutex_);
    figures_.seconds =
        static_cast<double>(clock_.now().microseconds - std::exchange(measured_from_us_, 0)) / 1e6;
    return std::exchange(figures_, {});
}

Result<void> serve_relay_load(const RelayLoadOptions& options) {
    if (options.instances < 1 || options.instances > kLoadInstancesMax || options.tenants < 1) {
        return fail(errors::invalid_request, "There are 1 to 1,000 instances.");
    }
    LoadServer server(options);
    TRY(server.open());
    std::cout << "ready http://127.0.0.1:" << server.port() << std::endl;
    while (true) {
        ::pause();
    }
}

}  // namespace interlock
