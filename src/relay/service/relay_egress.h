// The threads that call chat platforms, and one order's way through a platform.
//
// Jobs of one chat run one after another in the order they came; chats and bots run side by side.
// Bots take turns, on a bot its tenants, of a tenant its instances, of an instance its chats:
// whoever has a thousand jobs waits for himself. A platform that hangs can hold only its own share
// of the threads, a tenant whose chats hang only his share of a bot's, an instance only its share
// of those. Who may have how many waiting is the caller's to say; each bot has a bound for all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/ports/clock.h"
#include "engine/wire/ids.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

class RelayEgress {
public:
    struct Bounds {
        // None: jobs run in run_one(), for tests and the simulator.
        std::size_t threads = 16;
        std::size_t running_per_bot_max = 6;
        std::size_t running_per_tenant_max = 3;    // Of a bot's.
        std::size_t running_per_instance_max = 2;  // Of a tenant's.
        std::size_t waiting_per_bot_max = 8192;
    };
    // Whose a job is, and where it goes.
    struct Place {
        BotKey bot;
        TenantId tenant_id;
        std::string instance_id;
        std::string chat_id;
    };
    // Waits so long, or until stop(): then it says false. Given in by tests that turn the clock.
    using Pause = std::function<bool(Duration)>;

    RelayEgress() : RelayEgress(Bounds{}) {}
    explicit RelayEgress(Bounds bounds, Pause pause = {});
    ~RelayEgress();

    // Any thread. False when the bot's queue is full or it stopped; `job` will not run.
    bool submit(const Place& place, std::function<void()> job);

    // Takes no new jobs. Those that wait are still run, and can ask is_stopping().
    void stop();
    bool is_stopping() const { return is_stopping_.load(); }
    bool pause(Duration span);

    // The next job on the caller's thread; false when there is none that may run.
    bool run_one();
    std::size_t waiting() const;

private:
    struct Job {
        Place place;
        std::function<void()> run;
    };
    struct Chat {
        std::deque<Job> jobs;
        bool is_running = false;
    };
    // One instance's part of a bot, while it has jobs there.
    struct Instance {
        std::deque<std::string> ready;  // Chats whose next job is its own and may run.
        std::size_t running = 0;
    };
    struct Tenant {
        std::map<std::string, Instance> instances;
        std::string last;  // The instance whose job was taken last: the others go first.
        std::size_t running = 0;
    };
    struct Bot {
        std::map<std::string, Chat> chats;  // With something running or waiting.
        std::map<TenantId, Tenant> tenants;
        TenantId last;
        std::size_t running = 0;
        std::size_t waiting = 0;
    };

    bool may_run(const Instance& instance) const;
    bool may_run(const Tenant& tenant) const;
    bool may_run(const Bot& bot) const;
    // Called under the lock.
    static void make_ready(Bot& bot, const std::string& chat_id);
    bool take(Job& taken);
    void give_back(const Place& place);
    void run();

    const Bounds bounds_;
    const Pause pause_;
    mutable std::mutex mutex_;  // Guards the two below.
    std::map<BotKey, Bot> bots_;
    BotKey last_;  // The bot whose job was taken last.
    std::condition_variable changed_;
    std::condition_variable stopped_;  // For those who pause; they must not take a job's waking.
    std::atomic<bool> is_stopping_{false};
    std::vector<std::thread> threads_;
};

// Between the thread that sends and the lane that answers: once the lane has closed it no further
// call begins, and the lane knows whether one was under way or anything had been sent before.
class EgressGate {
public:
    bool begin();                  // False: closed; nothing may be sent.
    void end(bool may_have_sent);  // After a call that begin() allowed.
    struct Closed {
        bool was_calling = false;
        bool may_have_sent = false;
    };
    Closed close();

private:
    static constexpr unsigned kCalling = 1, kSent = 2, kClosed = 4;
    std::atomic<unsigned> state_{0};
};

// Pieces of one action in their order.
struct EgressOrder {
    ChatPlatform* platform = nullptr;
    std::vector<PlatformCall> calls;
    // Empty, or reads the bytes that the first call uploads.
    std::function<Result<std::string>()> load_media;
    // A capability that turns out to be dead is left aside and the bot's own credential used.
    bool falls_back = false;
    Timestamp not_after;
    EgressGate gate;
};

struct EgressReport {
    CallOutcome outcome = CallOutcome::not_sent;  // `unknown` too when only a part was sent.
    std::vector<std::string> message_ids;         // Of the pieces that were sent for certain.
    PlatformReply last;
};

inline constexpr int kEgressTriesMax = 4;

// On an egress thread. Calls again only what was certainly not sent and may be tried again.
EgressReport run_order(EgressOrder& order, Clock& clock, const RelayEgress::Pause& pause);

}  // namespace interlock
