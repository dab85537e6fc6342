// What stands around the relay in its world: a store that fails on command, sockets, a bot's
// platform, sleepers and a bus that loses hints. Each tells the watch what it sees.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "relay/memory/memory_relay_store.h"
#include "relay/ports/relay_bus.h"
#include "relay/ports/wake_caller.h"
#include "relay/service/relay_socket.h"
#include "sim/power.h"
#include "sim/relay_plants.h"
#include "sim/relay_watch.h"

namespace interlock::sim {

enum class RelayStoreFault { crash_before, crash_after, fail_lost, fail_kept };

class RelayStoreModel final : public RelayStore {
public:
    struct Parts {
        RelayWatch& watch;
        Power& power;
        RelayPlant plant = RelayPlant::none;
        // The plants that act before the commit.
        std::function<void(const RelayCommit&)> before_commit;
    };
    RelayStoreModel(MemoryRelayContents contents, Parts parts)
        : inner_(std::move(contents)), parts_(std::move(parts)) {}

    // At the next commit.
    void arm(RelayStoreFault fault) { fault_ = fault; }
    void disarm() { fault_.reset(); }
    MemoryRelayStore& inner() { return inner_; }

    Result<void> commit(const RelayCommit& batch) override;
    Result<std::optional<RelayRow>> find_row(std::string_view kind, std::string_view key) override {
        return inner_.find_row(kind, key);
    }
    Result<std::vector<RelayRow>> read_rows(
        std::string_view kind,
        std::string_view prefix,
        std::string_view after,
        std::int64_t count_max) override {
        return inner_.read_rows(kind, prefix, after, count_max);
    }
    Result<std::vector<std::string>> known_events(
        const std::vector<std::string>& event_keys) override {
        return inner_.known_events(event_keys);
    }
    Result<std::optional<RelayEventRow>> find_event(const std::string& event_key) override {
        return inner_.find_event(event_key);
    }
    Result<std::vector<RelayEventRow>> read_events(std::int64_t count_max) override {
        return inner_.read_events(count_max);
    }
    Result<std::vector<BufferEntryHead>> load_buffer_heads() override {
        return inner_.load_buffer_heads();
    }
    Result<std::vector<BufferEntry>> read_entries(
        const std::string& instance_id,
        std::int64_t after,
        std::int64_t count_max,
        std::int64_t bytes_max) override {
        return inner_.read_entries(instance_id, after, count_max, bytes_max);
    }
    Result<std::vector<DeadLetter>> read_dead_letters(
        const std::string& instance_id, const BufferKey& after, std::int64_t count_max) override {
        return inner_.read_dead_letters(instance_id, after, count_max);
    }
    Result<std::vector<StoredDeadLetter>> load_dead_letters() override {
        return inner_.load_dead_letters();
    }
    Result<std::int64_t> purge(Timestamp now, std::int64_t count_max) override {
        return inner_.purge(now, count_max);
    }
    Result<std::map<TenantId, LedgerHead>> load_heads() override { return inner_.load_heads(); }

private:
    RelayCommit planted(const RelayCommit& batch) const;

    MemoryRelayStore inner_;
    Parts parts_;
    std::optional<RelayStoreFault> fault_;
};

// The connector's end of a gateway's socket, and the wire to the other end.
class RelaySocketModel final : public RelaySocket {
public:
    struct Parts {
        RelayWatch& watch;
        const Power& power;
        RelayPlant plant = RelayPlant::none;
        std::size_t lines_max = 64;  // Beyond them the peer is too slow.
    };
    RelaySocketModel(Parts parts, std::function<RelaySocketFacts()> facts)
        : parts_(parts), facts_(std::move(facts)) {}

    bool send(std::string message) override { return take(message, false); }
    bool send_urgent(std::string message) override { return take(message, true); }
    void close(std::uint16_t code, std::string_view) override {
        if (parts_.power.on) {
            close_code = close_code == 0 ? code : close_code;
        }
    }

    struct Line {
        std::string text;
        bool is_urgent = false;
    };
    // The connector may write, and it arrives or is lost on the way.
    bool takes() const {
        return close_code == 0 && !is_gone && lines.size() < parts_.lines_max / 2;
    }
    std::deque<Line> lines;        // On their way to the gateway.
    std::uint16_t close_code = 0;  // 0: the connector holds it for open.
    bool is_gone = false;          // The peer is unreachable, and we know it.
    bool loses = false;            // It is unreachable, and we do not know it yet.

private:
    bool take(std::string_view message, bool is_urgent);
    void take_line(std::string line, bool is_urgent);

    Parts parts_;
    std::function<RelaySocketFacts()> facts_;
    std::uint64_t answers_ = 0;
};

class RelayBotModel final : public ChatPlatform {
public:
    struct Parts {
        BotKey bot;
        RelayWatch& watch;
        const Power& power;
        RelayPlant plant = RelayPlant::none;
        // While a call takes its time the world goes on.
        std::function<void(Duration)> pass_time;
    };
    explicit RelayBotModel(Parts parts) : parts_(std::move(parts)) {}

    // What the next calls do follows from this.
    SeededRandom random{0};
    bool is_well = true;
    // Who may not see a channel: "guild/channel/user".
    std::set<std::string> blind;
    bool views_fail = false;
    void forget_views() { cache_.clear(); }

    const BotKey& bot() const override { return parts_.bot; }
    BotIdentity identity() const override { return {std::string(kRelayOwnBotUser), "bot"}; }
    CapabilityDescriptor descriptor() const override;
    LengthUnit length_unit() const override { return LengthUnit::code_points; }
    PlatformHealth health() const override { return {true, false, {}}; }
    void start(PlatformInbox&, std::string) override {}
    void stop() override {}
    PlatformReply call(const PlatformCall& call) override;
    WebhookAnswer receive(const WebhookRequest&) override { return {}; }
    std::optional<bool> cached_view(const ViewQuestion& question) const override;
    std::optional<bool> find_view(const ViewQuestion& question) override;
    Result<DownloadedFile> download(const FileQuestion& question) override;

private:
    PlatformReply answer(const PlatformCall& call);

    Parts parts_;
    std::map<std::string, bool> cache_;
    std::uint64_t messages_ = 0;
};

class RelayWakerModel final : public WakeCaller {
public:
    struct Parts {
        RelayWatch& watch;
        const Power& power;
        RelayPlant plant = RelayPlant::none;
    };
    explicit RelayWakerModel(Parts parts) : parts_(parts) {}
    bool poke(WakeCall call, std::function<void(WakeOutcome)> done) override;
    Result<void> judge(const std::string&) const override { return {}; }

    std::set<std::string> woken;  // Poked since somebody looked.

private:
    Parts parts_;
};

class RelayBusModel final : public RelayBus {
public:
    struct Parts {
        RelayWatch& watch;
        RelayPlant plant = RelayPlant::none;
    };
    explicit RelayBusModel(Parts parts) : parts_(parts) {}

    void publish(const RelayHint& hint) override {
        if (parts_.plant == RelayPlant::wait_for_full && parts_.watch.is_any_full() &&
            !parts_.watch.is_full(hint.instance_id)) {
            return;
        }
        if (lose_next > 0) {
            --lose_next;
        } else if (take_) {
            take_(hint);
        }
    }
    void subscribe(std::function<void(const RelayHint&)> take) override { take_ = std::move(take); }
    int lose_next = 0;

private:
    Parts parts_;
    std::function<void(const RelayHint&)> take_;
};

}  // namespace interlock::sim
