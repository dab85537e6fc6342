// I7 on the wired relay: two tenants share one bot, each with a guild, one of the guilds has two
// owners, and one person is linked with both tenants. Thousands of messages and hostile requests
// later nobody has seen or touched what is not his (seed 003 §3, §4, §7.1; R4, R5, R9).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/log.h"
#include "relay/memory/local_relay_bus.h"
#include "relay/memory/memory_media_folder.h"
#include "relay/memory/memory_relay_store.h"
#include "relay/service/relay_plane.h"
#include "testing/fake_id_source.h"
#include "testing/relay_world.h"
#include "testing/scripted_platform.h"
#include "testing/vault_desk.h"

namespace interlock {
namespace {

constexpr int kEvents = 10'000;
const std::string kDeclined =
    "discord egress declined: target is not an approved destination for this connection";

// The same numbers on every machine.
class Dice {
public:
    std::size_t below(std::size_t bound) {
        state_ = state_ * 6'364'136'223'846'793'005ull + 1'442'695'040'888'963'407ull;
        return static_cast<std::size_t>(state_ >> 33) % bound;
    }
    template <class T>
    const T& pick(const std::vector<T>& items) {
        return items[below(items.size())];
    }

private:
    std::uint64_t state_ = 2026;
};

struct Instance {
    std::string id;
    std::string tenant;
    std::set<std::string> owners;
    RelaySessionPtr session;
    std::shared_ptr<RecordingSocket> socket;
    std::size_t received = 0;
    std::map<std::string, OutboundResult> results;
};

class RelayIsolation : public testing::Test {
protected:
    static void SetUpTestSuite() { configure_log({.level = LogLevel::off}); }
    static void TearDownTestSuite() { configure_log({}); }

    RelayIsolation() {
        EXPECT_TRUE(plane_.open());
        instances_ = {
            {"a1", "acme", {"ann", "cyd"}, {}, {}, 0, {}},
            {"a2", "acme", {"bob"}, {}, {}, 0, {}},
            {"r1", "rival", {"eve", "cyd"}, {}, {}, 0, {}}};
        plane_.lane.submit([this](RelayTurn& turn) { set_up(turn); });
        settle();
        for (Instance& instance : instances_) {
            instance.session = std::make_shared<RelaySession>();
            instance.socket = std::make_shared<RecordingSocket>();
            instance.session->caller = {
                TenantId::trusted(instance.tenant), instance.id, "gw-" + instance.id};
            instance.session->socket = instance.socket;
            EXPECT_TRUE(plane_.desk.open(instance.session));
            EXPECT_TRUE(plane_.desk.take(instance.session, HelloFrame{"discord", "b1", {}}, [] {}));
        }
        settle();
    }

    void set_up(RelayTurn& turn) {
        for (const auto& [guild, tenant] : guilds_) {
            plane_.state.routes.put(
                turn,
                row_key({"discord", "b1", guild}),
                {"discord", "b1", guild, TenantId::trusted(tenant), turn.now()});
        }
        for (const Instance& instance : instances_) {
            InstanceRow row;
            row.instance_id = instance.id;
            row.tenant_id = TenantId::trusted(instance.tenant);
            row.principals = {{.platform = {}, .audience = PrincipalAudience::any, .allow = {}}};
            plane_.state.instances.put(turn, instance.id, row);
            for (const std::string& user : instance.owners) {
                plane_.state.bind(
                    turn,
                    {.platform = "discord",
                     .bot_id = "b1",
                     .user_id = user,
                     .instance_id = instance.id,
                     .tenant_id = row.tenant_id,
                     .user_name = {},
                     .made_by = "operator",
                     .made_at = turn.now()});
            }
        }
        plane_.state.scopes.put(
            turn,
            row_key({"discord", "GA", "GA-open"}),
            {"discord", "GA", "GA-open", "a1", TenantId::trusted("acme"), turn.now()});
    }

    void settle() {
        do {
            plane_.lane.run_round(std::chrono::microseconds(0));
        } while (plane_.lane.waiting() > 0 || plane_.egress.run_one());
    }

    Instance& instance(const std::string& id) {
        return *std::ranges::find(instances_, id, &Instance::id);
    }

    // Who should have a message: its owner in the guild's tenant, and whoever holds the channel.
    std::set<std::string> receivers(const std::string& guild, const MessageEvent& event) const {
        const std::string& user = event.source.user_id;
        std::set<std::string> names;
        if (guild.empty()) {
            return user == "bob"                    ? std::set<std::string>{"a2"}
                   : user == "eve"                  ? std::set<std::string>{"r1"}
                   : user == "ann" || user == "cyd" ? std::set<std::string>{"a1"}
                                                    : names;
        }
        bool is_linked = false;
        for (const Instance& one : instances_) {
            if (one.tenant == guilds_.at(guild) && one.owners.contains(user)) {
                is_linked = true;
                names.insert(one.id);
            }
        }
        if (is_linked && event.source.chat_id == "GA-open") {
            names.insert("a1");
        }
        return names;
    }

    // Something that somebody writes somewhere.
    void write(int number) {
        PlatformArrival arrival;
        arrival.bot = {"discord", "b1"};
        const std::string user = dice_.pick(users_);
        const std::string guild = std::vector<std::string>{"GA", "GR", ""}[dice_.below(3)];
        PlatformEvent& event = arrival.event;
        event.event_id = "e" + std::to_string(number);
        event.discriminator = guild;
        event.is_dm = guild.empty();
        event.event.message_id = event.event_id;
        event.event.text = "secret " + std::to_string(number);
        SessionSource& source = event.event.source;
        source.platform = "discord";
        source.scope_id = guild;
        source.user_id = user;
        source.chat_type = guild.empty() ? "dm" : "group";
        source.chat_id =
            guild.empty() ? "dm-" + user : guild + (dice_.below(2) == 0 ? "-open" : "-room");
        for (const std::string& id : receivers(guild, event.event)) {
            expected_[id].insert(event.event.text);
            chats_[id].insert(source.chat_id);
        }
        plane_.inbound.submit(std::move(arrival), [this](const InboxAnswer& answer) {
            stored_ += answer.is_stored ? 1 : 0;
        });
    }

    // Every gateway reads all that is there and acknowledges it.
    void read_all() {
        for (bool is_over = false; !is_over;) {
            is_over = true;
            settle();
            for (Instance& one : instances_) {
                for (const ConnectorFrame& frame : one.socket->take_frames()) {
                    is_over = false;
                    read(one, frame);
                }
            }
        }
    }
    void read(Instance& one, const ConnectorFrame& frame) {
        if (const auto* const inbound = std::get_if<InboundFrame>(&frame)) {
            ++one.received;
            crossed_ += expected_[one.id].erase(inbound->event.text) == 1 ? 0 : 1;
            EXPECT_TRUE(chats_[one.id].contains(inbound->event.source.chat_id));
            EXPECT_TRUE(plane_.desk.take(one.session, InboundAckFrame{inbound->buffer_id}, [] {}));
        } else if (const auto* const result = std::get_if<OutboundResultFrame>(&frame)) {
            EXPECT_TRUE(one.results.emplace(result->request_id, result->result).second);
        }
    }

    OutboundResult ask(Instance& one, RelayAction action, const BotKey& tag = {"discord", "b1"}) {
        const std::string id = "q" + std::to_string(++asked_);
        OutboundFrame frame{id, std::move(action), tag.platform, tag.bot_id};
        EXPECT_TRUE(plane_.desk.take(one.session, std::move(frame), [] {}));
        read_all();
        EXPECT_TRUE(one.results.contains(id));
        return one.results[id];
    }
    OutboundResult send(Instance& one, const std::string& chat, Json metadata = Json::object()) {
        return ask(one, SendAction{chat, "by " + one.id, {}, std::move(metadata)});
    }
    void expect_declined(const OutboundResult& result) {
        EXPECT_FALSE(result.success);
        EXPECT_EQ(result.code, "egress_declined");
        EXPECT_EQ(result.error, kDeclined);
        ++declined_;
    }

    const std::map<std::string, std::string> guilds_{{"GA", "acme"}, {"GR", "rival"}};
    const std::vector<std::string> users_{"ann", "bob", "cyd", "eve", "stranger"};
    FakeClock clock_;
    FakeIdSource ids_;
    MemoryRelayStore store_;
    LocalRelayBus bus_;
    RecordingWaker waker_;
    FakeMasterKeys masters_;
    MemoryMediaFolder media_;
    ScriptedPlatform bot_{{"discord", "b1"}};
    ScriptedPlatform other_bot_{{"telegram", "b2"}};
    RelayPlane plane_{RelayPlane::Parts{
        .store = store_,
        .bus = bus_,
        .waker = waker_,
        .masters = masters_,
        .media = media_,
        .clock = clock_,
        .ids = ids_,
        .bots = {&bot_, &other_bot_},
        .workers = {.threads = 0},
        .egress = {.threads = 0}}};
    Dice dice_;
    std::vector<Instance> instances_;
    std::map<std::string, std::set<std::string>> expected_;  // By instance: texts to come.
    std::map<std::string, std::set<std::string>> chats_;     // It may hear of and speak in.
    std::size_t crossed_ = 0;
    std::size_t declined_ = 0;
    int stored_ = 0;
    int asked_ = 0;
};

TEST_F(RelayIsolation, TenThousandMessagesAndNoneReachesAStranger) {  // 003 §7.1
    for (int number = 0; number < kEvents; ++number) {
        write(number);
        if (number % 40 == 39) {
            read_all();
        }
    }
    read_all();
    EXPECT_EQ(stored_, kEvents);
    EXPECT_EQ(crossed_, 0u);
    for (Instance& one : instances_) {
        EXPECT_TRUE(expected_[one.id].empty()) << one.id << " has not got everything";
        EXPECT_GT(one.received, 1000u);
    }
}

TEST_F(RelayIsolation, NoRequestReachesAChatThatIsNotItsInstances) {  // R5
    const std::vector<std::string> targets{
        "GA-open", "GA-room", "GR-open", "GR-room", "dm-ann", "dm-bob", "dm-eve", "dm-stranger"};
    std::size_t sent = 0;
    for (int number = 0; number < 1000; ++number) {
        write(number);
        read_all();
        Instance& one = instances_[dice_.below(instances_.size())];
        const std::string& chat = dice_.pick(targets);
        Json metadata = Json::object();
        metadata.set("guild_id", dice_.below(2) == 0 ? "GA" : "GR");
        metadata.set("scope_id", *metadata.find("guild_id"));
        metadata.set("user_id", dice_.pick(users_));
        const bool is_claimed = one.id == "a1" && chat == "GA-open";
        const OutboundResult result = send(one, chat, std::move(metadata));
        if (chats_[one.id].contains(chat)) {
            EXPECT_TRUE(result.success) << one.id << " in " << chat << ": " << result.error;
            ++sent;
        } else if (!is_claimed) {
            expect_declined(result);
        }
    }
    EXPECT_GT(sent, 100u);
    EXPECT_GT(declined_, 300u);
    for (const auto& call : bot_.calls()) {
        if (call.content.contains("/link CODE")) {
            EXPECT_EQ(call.chat_id, "dm-stranger");  // Our own word to him, of nobody's.
            continue;
        }
        const std::string id = call.content.substr(3);
        EXPECT_TRUE(chats_[id].contains(call.chat_id) || call.chat_id == "GA-open")
            << id << " reached " << call.chat_id;
    }
}

class RelayIsolationAttack : public RelayIsolation {
protected:
    RelayIsolationAttack() {
        for (int number = 0; number < 200; ++number) {
            write(number);
        }
        read_all();
    }
};

TEST_F(RelayIsolationAttack, ForeignChatsAndAssertedGuildsAreDeclined) {  // R5
    Instance& rival = instance("r1");
    const std::size_t before = bot_.calls().size();
    Json asserted = Json::object();
    asserted.set("guild_id", "GR");
    asserted.set("scope_id", "GR");
    for (const std::string chat : {"GA-open", "GA-room", "dm-ann", "dm-bob"}) {
        expect_declined(send(rival, chat));
        expect_declined(send(rival, chat, asserted));
        expect_declined(ask(rival, GetChatInfoAction{chat}));
        expect_declined(ask(rival, TypingAction{chat, false, Json::object()}));
        expect_declined(ask(rival, ThreadCreateAction{chat, "mine", Json::object()}));
    }
    // A thread that is another chat, and a tenant's word for its own.
    asserted.set("thread_id", "GA-room");
    expect_declined(send(rival, "GR-room", asserted));
    EXPECT_EQ(bot_.calls().size(), before);
}

TEST_F(RelayIsolationAttack, MessagesOfOthersCannotBeChanged) {  // R5
    const OutboundResult mine = send(instance("a1"), "GA-open");
    ASSERT_TRUE(mine.success);
    const std::size_t before = bot_.calls().size();
    for (const char* id : {"r1", "a2"}) {
        for (const std::string chat : {"GA-open", "GR-open"}) {
            expect_declined(
                ask(instance(id), EditAction{chat, mine.message_id, "x", Json::object()}));
            expect_declined(
                ask(instance(id), ReactAction{chat, mine.message_id, "+1", true, Json::object()}));
        }
    }
    EXPECT_EQ(bot_.calls().size(), before);
    EXPECT_TRUE(
        ask(instance("a1"), EditAction{"GA-open", mine.message_id, "y", Json::object()}).success);
}

TEST_F(RelayIsolationAttack, RoutesOfOthersAreOfNoUse) {  // R4, R14
    // Another bot than the one it said hello as, or one that nobody has.
    for (const BotKey& tag : {BotKey{"telegram", "b2"}, BotKey{"discord", "b9"}}) {
        const OutboundResult result =
            ask(instance("r1"), SendAction{"GR-room", "x", {}, Json::object()}, tag);
        EXPECT_EQ(result.code, "egress_declined");
    }
    EXPECT_TRUE(other_bot_.calls().empty());
    // The route is taken away: what was delivered under it opens nothing any more.
    ASSERT_TRUE(send(instance("r1"), "GR-room").success);
    plane_.lane.submit([this](RelayTurn& turn) {
        plane_.state.routes.put(
            turn,
            row_key({"discord", "b1", "GR"}),
            {"discord", "b1", "GR", TenantId::trusted("acme"), turn.now()});
    });
    read_all();
    const std::size_t before = bot_.calls().size();
    expect_declined(send(instance("r1"), "GR-room"));
    expect_declined(send(instance("a1"), "GR-room"));  // Routed to it, and nothing came yet.
    EXPECT_EQ(bot_.calls().size(), before);
}

}  // namespace
}  // namespace interlock
