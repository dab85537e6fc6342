// The relay, wired: its services on their lane, between the store, the bots and the faces. The
// server runs it with threads; tests may leave the lane to themselves.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/service/worker_pool.h"
#include "relay/ports/chat_platform.h"
#include "relay/ports/media_folder.h"
#include "relay/ports/relay_bus.h"
#include "relay/ports/wake_caller.h"
#include "relay/service/relay_alerts.h"
#include "relay/service/relay_credentials.h"
#include "relay/service/relay_delivery.h"
#include "relay/service/relay_desk.h"
#include "relay/service/relay_files.h"
#include "relay/service/relay_hearing.h"
#include "relay/service/relay_inbound.h"
#include "relay/service/relay_management.h"
#include "relay/service/relay_outbound.h"
#include "relay/service/relay_people.h"
#include "relay/service/relay_views.h"
#include "relay/service/relay_wake.h"

namespace interlock {

// What a hello as an identity that nobody configured is answered with.
CapabilityDescriptor generic_descriptor(const BotKey& bot);

class RelayPlane {
public:
    struct Parts {
        RelayStore& store;
        RelayBus& bus;
        WakeCaller& waker;
        MasterKeys& masters;
        MediaFolder& media;
        Clock& clock;
        IdSource& ids;
        std::vector<ChatPlatform*> bots;  // Each once; they outlive the plane.
        std::vector<RelayIssuer> issuers = {};
        std::function<Result<Json>(const RelayIssuer&)> fetch_keys = {};
        std::function<bool(const TenantId&)> tenant_exists = {};
        std::set<std::string> require_address = {};  // See RelayInbound.
        std::set<BotKey> silent_to_strangers = {};   // See RelayPeople.
        WorkerPool::Bounds workers = {.threads = 4, .waiting_max = 256};
        // Fetch files of messages: slow, and in nobody's way.
        WorkerPool::Bounds fetchers = {.threads = 4, .waiting_max = 64};
        RelayEgress::Bounds egress = {};
        RelayLane::Bounds lane = {};
        DeliveryBounds delivery = {};
    };
    explicit RelayPlane(Parts parts);
    ~RelayPlane();

    // Everything is read from the store; nothing runs before start().
    Result<void> open();
    void start();
    // The bots first, then what they began, then the lane.
    void stop();

    // Null: no such bot here. Any thread.
    ChatPlatform* bot(const BotKey& key) const;
    bool is_ready() const { return is_open_.load() && !lane.is_lost(); }
    // Any thread: numbers by platform and instance, a few seconds old.
    std::string metrics_text() const;

private:
    Parts parts_;
    std::map<BotKey, ChatPlatform*> bots_;
    std::atomic<bool> is_open_{false};
    std::atomic<std::shared_ptr<const std::string>> metrics_;
    Timestamp next_metrics_{};
    Timestamp next_purge_{};
    bool has_stopped_ = false;

    CapabilityDescriptor descriptor_of(const BotKey& bot) const;
    bool is_own_bot(const std::string& platform, const std::string& user_id) const;
    Result<std::optional<PressOutcome>> press(RelayTurn& turn, const PressTry& press);

public:
    // In the order of construction.
    WorkerPool workers;
    WorkerPool fetchers;
    RelayLane lane;
    RelayState state;
    RelaySeal seal;
    RelayHoldings holdings;
    RelayStrangers strangers;
    RelayIssuers issuers;
    RelayCredentials credentials;
    RelayManagement management;
    RelayPeople people;
    RelayVault vault;
    RelayPrompts prompts;
    RelayMedia media;
    RelayEgress egress;
    RelayFiles files;
    RelayDelivery delivery;
    RelayInbound inbound;
    RelayOutbound outbound;
    RelayWake wake;
    RelayDesk desk;
    RelayHearing hearing;
    RelayViews views;
    RelayAlerts alerts;
};

}  // namespace interlock
