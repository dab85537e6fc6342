// The relay beside an ApiWorld: a plane over a store in memory with one console bot, whose lane
// runs on the caller's thread when settle() is called.
#pragma once

#include <functional>
#include <memory>

#include "base/check.h"
#include "relay/memory/local_relay_bus.h"
#include "relay/memory/memory_media_folder.h"
#include "relay/memory/memory_relay_store.h"
#include "relay/platforms/console/console_platform.h"
#include "relay/service/relay_plane.h"
#include "testing/relay_world.h"
#include "testing/vault_desk.h"

namespace interlock {

class RelayHost {
public:
    struct Parts {
        Clock& clock;
        IdSource& ids;
        std::function<bool(const TenantId&)> tenant_exists;
    };
    ~RelayHost() { close(); }

    // Anew over the same store.
    void open(Parts parts) {
        close();
        bus_ = std::make_unique<LocalRelayBus>();
        console_ = std::make_unique<ConsolePlatform>(ConsolePlatform::Parts{
            .clock = parts.clock, .id_prefix = std::to_string(++opened_) + "-"});
        plane_ = std::make_unique<RelayPlane>(RelayPlane::Parts{
            .store = store_,
            .bus = *bus_,
            .waker = waker_,
            .masters = masters_,
            .media = media_,
            .clock = parts.clock,
            .ids = parts.ids,
            .bots = {console_.get()},
            .tenant_exists = std::move(parts.tenant_exists),
            .workers = {.threads = 0},
            .egress = {.threads = 1},
            .delivery = {.entries_max = 8, .dead_entries_max = 6}});
        CHECK(plane_->open().has_value());
        console_->start(plane_->inbound, "");
        settle();
    }
    void close() {
        if (plane_) {
            plane_->stop();
        }
        plane_.reset();
        console_.reset();
        bus_.reset();
    }
    void settle() {
        do {
            plane_->lane.run_round(std::chrono::microseconds(0));
        } while (plane_->lane.waiting() > 0 && !plane_->lane.is_lost());
    }
    // Until something that other threads do has come about.
    void settle_until(const std::function<bool()>& is_done) {
        constexpr int kRoundsMax = 5000;
        for (int rounds = 0; !is_done(); ++rounds) {
            CHECK(rounds < kRoundsMax);
            plane_->lane.run_round(std::chrono::milliseconds(1));
        }
    }

    RelayPlane& plane() { return *plane_; }
    ConsolePlatform& console() { return *console_; }
    MemoryRelayStore& store() { return store_; }

private:
    MemoryRelayStore store_;
    RecordingWaker waker_;
    FakeMasterKeys masters_;
    MemoryMediaFolder media_;
    int opened_ = 0;
    std::unique_ptr<LocalRelayBus> bus_;
    std::unique_ptr<ConsolePlatform> console_;
    std::unique_ptr<RelayPlane> plane_;
};

}  // namespace interlock
