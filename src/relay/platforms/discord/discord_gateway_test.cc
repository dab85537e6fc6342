#include "relay/platforms/discord/discord_gateway.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "base/text.h"

namespace interlock {
namespace {

constexpr Duration kStart = Duration::of_seconds(1000);

// A machine with its clock, and what it asked for.
struct Bench {
    explicit Bench(std::optional<ResumePoint> resume = {}, std::uint32_t draw = 0)
        : drawn(draw),
          machine(
              {.token = SecretString("tok-secret"),
               .intents = 4096,
               .shard = 0,
               .shard_count = 1,
               .url = "wss://gateway.test",
               .random = [this] { return drawn; }},
              gate,
              std::move(resume)) {}

    void pass(Duration span) {
        now.microseconds += span.microseconds;
        machine.on_tick(now);
    }
    void text(const std::string& json) { machine.on_text(json, now); }
    void hello(int milliseconds = 40'000) {
        text(R"({"op":10,"d":{"heartbeat_interval":)" + std::to_string(milliseconds) + "}}");
    }
    void event(std::int64_t sequence, const std::string& type, const std::string& data = "{}") {
        text(
            R"({"op":0,"s":)" + std::to_string(sequence) + R"(,"t":")" + type + R"(","d":)" + data +
            "}");
    }
    void ready(std::int64_t sequence = 1) {
        event(sequence, "READY", R"({"session_id":"s1","resume_gateway_url":"wss://resume.test"})");
    }
    // Up to the greeting.
    void open() {
        machine.on_tick(now);
        machine.on_opened(now);
        hello();
    }
    void go_live() {
        open();
        ready();
        machine.settle(machine.epoch(), 1);
        machine.take_steps();
    }
    template <class T>
    std::vector<T> taken() {
        std::vector<T> found;
        for (GatewayStep& step : machine.take_steps()) {
            if (T* const wanted = std::get_if<T>(&step)) {
                found.push_back(std::move(*wanted));
            }
        }
        return found;
    }

    std::uint32_t drawn;
    Duration now = kStart;
    IdentifyGate gate;
    DiscordGateway machine;
};

Json sent(const std::vector<SendText>& texts) {
    EXPECT_EQ(texts.size(), 1u);
    return texts.size() == 1 ? *parse_json(texts.front().text) : Json();
}

TEST(DiscordGateway, IdentifiesAfterTheGreeting) {
    Bench bench;
    bench.machine.on_tick(bench.now);
    EXPECT_EQ(bench.taken<OpenSocket>().at(0).url, "wss://gateway.test/?v=10&encoding=json");
    bench.machine.on_opened(bench.now);
    EXPECT_TRUE(bench.taken<SendText>().empty());
    bench.hello();
    EXPECT_EQ(
        to_text(sent(bench.taken<SendText>())),
        R"({"op":2,"d":{"token":"tok-secret","intents":4096,"properties":{"os":"linux",)"
        R"("browser":"interlock","device":"interlock"},"shard":[0,1]}})");
}

TEST(DiscordGateway, IsLiveWithReady) {
    Bench bench;
    bench.open();
    EXPECT_FALSE(bench.machine.is_live());
    bench.ready();
    EXPECT_TRUE(bench.machine.is_live());
    EXPECT_TRUE(bench.taken<WentLive>().at(0).is_new_session);
}

TEST(DiscordGateway, BeatsFirstAfterARandomPartOfTheInterval) {
    Bench bench({}, 500'000);
    bench.open();
    bench.machine.take_steps();
    bench.pass(Duration::of_milliseconds(19'999));
    EXPECT_TRUE(bench.taken<SendText>().empty());
    bench.pass(Duration::of_milliseconds(1));
    EXPECT_EQ(to_text(sent(bench.taken<SendText>())), R"({"op":1,"d":null})");
}

TEST(DiscordGateway, BeatsWithTheLastStoredSequence) {
    Bench bench({}, 500'000);
    bench.go_live();
    bench.event(2, "MESSAGE_CREATE");
    bench.event(3, "MESSAGE_CREATE");
    bench.machine.settle(bench.machine.epoch(), 3);
    bench.machine.take_steps();
    bench.pass(Duration::of_seconds(20));
    EXPECT_EQ(to_text(sent(bench.taken<SendText>())), R"({"op":1,"d":1})");
    bench.text(R"({"op":11})");
    bench.machine.settle(bench.machine.epoch(), 2);
    bench.pass(Duration::of_seconds(40));
    EXPECT_EQ(to_text(sent(bench.taken<SendText>())), R"({"op":1,"d":3})");
}

TEST(DiscordGateway, AnswersAHeartbeatThatWasAskedFor) {
    Bench bench;
    bench.go_live();
    bench.text(R"({"op":1,"d":null})");
    EXPECT_EQ(to_text(sent(bench.taken<SendText>())), R"({"op":1,"d":1})");
}

TEST(DiscordGateway, LeavesAndResumesWhenAHeartbeatIsNotAcknowledged) {
    Bench bench;
    bench.go_live();
    bench.pass({});
    EXPECT_EQ(bench.taken<SendText>().size(), 1u);
    bench.pass(Duration::of_seconds(40));
    EXPECT_EQ(bench.taken<CloseSocket>().at(0).code, kGatewayCloseToResume);
    bench.pass({});
    EXPECT_EQ(bench.taken<OpenSocket>().at(0).url, "wss://resume.test/?v=10&encoding=json");
    bench.machine.on_opened(bench.now);
    bench.hello();
    EXPECT_EQ(
        to_text(sent(bench.taken<SendText>())),
        R"({"op":6,"d":{"token":"tok-secret","session_id":"s1","seq":1}})");
    bench.event(2, "MESSAGE_CREATE");
    bench.event(3, "RESUMED");
    EXPECT_TRUE(bench.machine.is_live());
    const auto events = bench.taken<Dispatched>();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_TRUE(events[0].is_replayed);
}

TEST(DiscordGateway, ResumesBehindAnEventThatWasNotStored) {
    Bench bench;
    bench.go_live();
    bench.event(2, "MESSAGE_CREATE");
    bench.event(3, "MESSAGE_CREATE");
    bench.machine.refuse(bench.machine.epoch(), bench.now);
    bench.machine.settle(bench.machine.epoch(), 3);
    EXPECT_EQ(bench.taken<CloseSocket>().size(), 1u);
    bench.pass(kGatewayRefusedPause);
    bench.machine.on_opened(bench.now);
    bench.hello();
    EXPECT_EQ(sent(bench.taken<SendText>()).find("d")->find("seq")->number_text(), "1");
    bench.event(2, "MESSAGE_CREATE");
    EXPECT_EQ(bench.taken<Dispatched>().at(0).sequence, 2);
}

TEST(DiscordGateway, CountsWhatIsStoredAfterTheConnectionWasLost) {
    Bench bench;
    bench.go_live();
    bench.event(2, "MESSAGE_CREATE");
    const std::uint64_t epoch = bench.machine.epoch();
    bench.machine.on_closed(1006, bench.now);
    bench.machine.settle(epoch, 2);
    EXPECT_EQ(bench.machine.resume_point()->sequence, 2);
}

TEST(DiscordGateway, LetsWhatWasSettledBeforeAResumeBe) {
    Bench bench;
    bench.go_live();
    bench.event(2, "MESSAGE_CREATE");
    const std::uint64_t epoch = bench.machine.epoch();
    bench.machine.on_closed(1006, bench.now);
    bench.pass({});
    bench.machine.on_opened(bench.now);
    bench.hello();
    bench.event(2, "MESSAGE_CREATE");
    bench.machine.settle(epoch, 2);
    EXPECT_EQ(bench.machine.resume_point()->sequence, 1);
}

TEST(DiscordGateway, ResumesWhereTheLastProcessStood) {
    Bench bench(ResumePoint{.session_id = "old", .resume_url = "wss://there.test", .sequence = 41});
    bench.machine.on_tick(bench.now);
    EXPECT_EQ(bench.taken<OpenSocket>().at(0).url, "wss://there.test/?v=10&encoding=json");
    bench.machine.on_opened(bench.now);
    bench.hello();
    EXPECT_EQ(sent(bench.taken<SendText>()).find("d")->find("seq")->number_text(), "41");
    bench.event(41, "MESSAGE_CREATE");
    EXPECT_TRUE(bench.taken<Dispatched>().empty());
    bench.event(42, "RESUMED");
    EXPECT_FALSE(bench.taken<WentLive>().at(0).is_new_session);
}

TEST(DiscordGateway, DoesNotSendItsTokenToALessProtectedAddress) {
    Bench bench(ResumePoint{.session_id = "old", .resume_url = "ws://there.test", .sequence = 41});
    bench.machine.on_tick(bench.now);
    EXPECT_EQ(bench.taken<OpenSocket>().at(0).url, "wss://gateway.test/?v=10&encoding=json");
}

TEST(DiscordGateway, GivesUpAnAddressThatDoesNotAnswer) {
    Bench bench(ResumePoint{.session_id = "old", .resume_url = "wss://there.test", .sequence = 41});
    for (int attempt = 0; attempt < kResumeUrlTriesMax; ++attempt) {
        bench.pass(kGatewayBackoffMax);
        EXPECT_EQ(bench.taken<OpenSocket>().at(0).url, "wss://there.test/?v=10&encoding=json");
        bench.machine.on_closed(kGatewayBrokenCode, bench.now);
    }
    bench.pass(kGatewayBackoffMax);
    EXPECT_EQ(bench.taken<OpenSocket>().at(0).url, "wss://gateway.test/?v=10&encoding=json");
}

TEST(DiscordGateway, ReconnectsWhenAskedTo) {
    Bench bench;
    bench.go_live();
    bench.text(R"({"op":7,"d":null})");
    EXPECT_EQ(bench.taken<CloseSocket>().at(0).code, kGatewayCloseToResume);
    EXPECT_TRUE(bench.machine.resume_point());
}

TEST(DiscordGateway, KeepsAnInvalidSessionOnlyIfItIsResumable) {
    for (const bool resumable : {true, false}) {
        Bench bench;
        bench.go_live();
        bench.text(resumable ? R"({"op":9,"d":true})" : R"({"op":9,"d":false})");
        EXPECT_EQ(bench.taken<CloseSocket>().size(), 1u);
        EXPECT_EQ(bench.machine.resume_point().has_value(), resumable);
        bench.pass(Duration::of_milliseconds(999));
        EXPECT_TRUE(bench.taken<OpenSocket>().empty());
        bench.pass(Duration::of_milliseconds(1));
        EXPECT_EQ(bench.taken<OpenSocket>().size(), 1u);
    }
}

TEST(DiscordGateway, NeverComesBackFromAFatalClose) {
    for (const std::uint16_t code :
         std::vector<std::uint16_t>{4004, 4010, 4011, 4012, 4013, 4014}) {
        Bench bench;
        bench.go_live();
        bench.machine.on_closed(code, bench.now);
        bench.pass(Duration::of_days(1));
        EXPECT_TRUE(bench.taken<OpenSocket>().empty()) << code;
        EXPECT_TRUE(bench.machine.is_broken()) << code;
        EXPECT_NE(bench.machine.broken_because().find(std::to_string(code)), std::string::npos);
    }
}

TEST(DiscordGateway, ComesBackFromEveryOtherClose) {
    for (const std::uint16_t code :
         std::vector<std::uint16_t>{1000, 1001, 1006, 4000, 4001, 4002, 4003, 4005, 4008}) {
        Bench bench;
        bench.go_live();
        bench.machine.on_closed(code, bench.now);
        EXPECT_TRUE(bench.machine.resume_point()) << code;
        bench.pass(kGatewayBackoffMax);
        EXPECT_EQ(bench.taken<OpenSocket>().size(), 1u) << code;
    }
    for (const std::uint16_t code : std::vector<std::uint16_t>{4007, 4009}) {
        Bench bench;
        bench.go_live();
        bench.machine.on_closed(code, bench.now);
        EXPECT_FALSE(bench.machine.resume_point()) << code;
        bench.pass(kGatewayBackoffMax);
        EXPECT_EQ(bench.taken<OpenSocket>().size(), 1u) << code;
    }
}

TEST(DiscordGateway, WaitsLongerAfterEachFailureUpToABound) {
    Bench bench({}, 999'999);
    Duration longest;
    for (int attempt = 0; attempt < 12; ++attempt) {
        bench.machine.on_tick(bench.now);
        ASSERT_EQ(bench.taken<OpenSocket>().size(), 1u);
        bench.machine.on_closed(kGatewayBrokenCode, bench.now);
        const Duration wait{bench.machine.next_wake().microseconds - bench.now.microseconds};
        EXPECT_GE(wait, longest);
        EXPECT_LE(wait, kGatewayBackoffMax);
        longest = wait;
        bench.now = bench.machine.next_wake();
    }
    EXPECT_GT(longest, Duration::of_seconds(55));
}

TEST(DiscordGateway, DoesNotWaitForAGreetingForEver) {
    Bench bench;
    bench.machine.on_tick(bench.now);
    bench.machine.on_opened(bench.now);
    bench.pass(kGatewayHelloWait);
    EXPECT_EQ(bench.taken<CloseSocket>().size(), 1u);
}

TEST(DiscordGateway, DoesNotWaitForReadyForEver) {
    Bench bench;
    bench.open();
    bench.machine.take_steps();
    bench.text(R"({"op":11})");
    bench.pass({});  // The first beat.
    bench.text(R"({"op":11})");
    bench.pass(kGatewayReadyWait);
    EXPECT_EQ(bench.taken<CloseSocket>().size(), 1u);
}

TEST(DiscordGateway, WaitsForItsTurnToIdentify) {
    Bench bench;
    EXPECT_EQ(bench.gate.try_take(0, bench.now), Duration{});
    bench.open();
    EXPECT_TRUE(bench.taken<SendText>().empty());
    bench.drawn = 0;
    bench.pass(Duration::of_milliseconds(4999));
    for (const SendText& text : bench.taken<SendText>()) {
        EXPECT_EQ(text.text, R"({"op":1,"d":null})");
    }
    bench.pass(Duration::of_milliseconds(1));
    EXPECT_EQ(sent(bench.taken<SendText>()).find("op")->number_text(), "2");
}

TEST(DiscordGateway, StaysBelowTheLimitOfSends) {
    Bench bench;
    bench.go_live();
    for (int asked = 0; asked < 500; ++asked) {
        bench.text(R"({"op":1,"d":null})");
    }
    EXPECT_EQ(bench.taken<SendText>().size(), std::size_t{kGatewayAnswersPerMinute} - 1);
    bench.pass({});  // Its own beat still has room.
    EXPECT_EQ(bench.taken<SendText>().size(), 1u);
}

TEST(DiscordGateway, LeavesWhenTooMuchWaitsToBeStored) {
    Bench bench;
    bench.go_live();
    for (std::size_t count = 0; count < kGatewayUnsettledMax; ++count) {
        bench.event(2 + static_cast<std::int64_t>(count), "MESSAGE_CREATE");
    }
    EXPECT_EQ(bench.taken<Dispatched>().size(), kGatewayUnsettledMax);
    bench.event(2 + static_cast<std::int64_t>(kGatewayUnsettledMax), "MESSAGE_CREATE");
    EXPECT_EQ(bench.taken<CloseSocket>().size(), 1u);
    EXPECT_EQ(bench.machine.resume_point()->sequence, 1);
}

TEST(DiscordGateway, KeepsAnEventWithHalfASurrogatePair) {
    Bench bench;
    bench.go_live();
    bench.event(2, "MESSAGE_CREATE", R"({"content":"\ud83d"})");
    EXPECT_EQ(bench.taken<Dispatched>().at(0).data.find("content")->as_string(), "\xEF\xBF\xBD");
}

TEST(DiscordGateway, ToldAboutAPointOnlyWhenAllBeforeItIsStored) {
    Bench bench;
    bench.go_live();
    bench.event(2, "MESSAGE_CREATE");
    bench.event(3, "MESSAGE_CREATE");
    EXPECT_EQ(bench.machine.point_after(bench.machine.epoch(), 2)->sequence, 2);
    EXPECT_FALSE(bench.machine.point_after(bench.machine.epoch(), 3));
}

// What Discord is told: heartbeats and resumes.
std::optional<std::int64_t> told_sequence(const SendText& step) {
    const auto json = parse_json(step.text);
    const Json* const data = json->find("d");
    const std::string op = json->find("op")->number_text();
    if (op == "1" && data->is_number()) {
        return data->as_int64();
    }
    return op == "6" ? data->find("seq")->as_int64() : std::nullopt;
}

TEST(DiscordGateway, NeverTellsASequenceThatIsNotStored) {
    EXPECT_TRUE(rc::check("in any order of events", [](const std::vector<std::uint8_t>& script) {
        Bench bench({}, 300'000);
        bench.open();
        bench.ready();
        std::int64_t next = 2;
        std::int64_t received = 1;
        std::set<std::int64_t> stored;
        std::vector<std::pair<std::uint64_t, std::int64_t>> waiting;
        const auto look = [&] {
            for (const GatewayStep& step : bench.machine.take_steps()) {
                if (const auto* const event = std::get_if<Dispatched>(&step)) {
                    waiting.emplace_back(event->epoch, event->sequence);
                    received = std::max(received, event->sequence);
                } else if (const auto* const text = std::get_if<SendText>(&step)) {
                    const auto told = told_sequence(*text);
                    for (std::int64_t number = 1; told && number <= *told; ++number) {
                        RC_ASSERT(stored.contains(number));
                    }
                }
            }
        };
        look();
        for (const std::uint8_t byte : script) {
            const std::size_t pick = waiting.empty() ? 0 : byte / 8 % waiting.size();
            switch (byte % 8) {
                case 0:
                case 1:
                    bench.event(next++, "MESSAGE_CREATE");
                    break;
                case 2:
                case 3:
                    if (!waiting.empty()) {
                        stored.insert(waiting[pick].second);
                        bench.machine.settle(waiting[pick].first, waiting[pick].second);
                        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(pick));
                    }
                    break;
                case 4:
                    bench.text(R"({"op":11})");
                    bench.pass(Duration::of_seconds(byte));
                    break;
                case 5:
                    if (!waiting.empty()) {
                        bench.machine.refuse(waiting[pick].first, bench.now);
                    }
                    break;
                case 6:
                    bench.machine.on_closed(byte % 16 == 6 ? 1006 : 4000, bench.now);
                    break;
                default:
                    bench.pass(kGatewayBackoffMax);
                    bench.machine.on_opened(bench.now);
                    bench.hello();
                    look();
                    // What Discord sends again after a resume: all behind the stored one.
                    if (const auto point = bench.machine.resume_point()) {
                        for (auto again = point->sequence + 1; again < next; ++again) {
                            bench.event(again, "MESSAGE_CREATE");
                        }
                        bench.event(next++, "RESUMED");
                    }
                    break;
            }
            look();
        }
    }));
}

TEST(IdentifyGate, LetsOneThroughInFiveSeconds) {
    IdentifyGate gate;
    EXPECT_EQ(gate.try_take(0, kStart), Duration{});
    EXPECT_EQ(gate.try_take(1, kStart), kIdentifyPause);
    EXPECT_EQ(gate.try_take(1, {kStart.microseconds + kIdentifyPause.microseconds}), Duration{});
}

TEST(IdentifyGate, LetsAsManyThroughAtOnceAsItWasTold) {
    IdentifyGate gate;
    gate.set({.total = 1000, .remaining = 10, .reset_after = {}, .max_concurrency = 2}, kStart);
    EXPECT_EQ(gate.try_take(0, kStart), Duration{});
    EXPECT_EQ(gate.try_take(1, kStart), Duration{});
    EXPECT_EQ(gate.try_take(2, kStart), kIdentifyPause);
}

TEST(IdentifyGate, WaitsForTheNextDayWhenTheNumberIsUsedUp) {
    IdentifyGate gate;
    gate.set(
        {.total = 2, .remaining = 1, .reset_after = Duration::of_hours(1), .max_concurrency = 1},
        kStart);
    EXPECT_EQ(gate.try_take(0, kStart), Duration{});
    const Duration later{kStart.microseconds + Duration::of_minutes(10).microseconds};
    EXPECT_EQ(gate.try_take(0, later), Duration::of_minutes(50));
    const Duration reset{kStart.microseconds + Duration::of_hours(1).microseconds};
    EXPECT_EQ(gate.try_take(0, reset), Duration{});
}

TEST(DiscordCursor, ComesBackFromItsText) {
    EXPECT_TRUE(rc::check([](std::uint64_t session, std::uint16_t sequence) {
        DiscordCursor cursor{.shard_count = 3, .shards = {}};
        cursor.shards[0] = {"\"" + std::to_string(session), "", 1};
        cursor.shards[2] = {std::to_string(session), "wss://x.test", sequence + 1};
        RC_ASSERT(read_discord_cursor(to_text(cursor)) == cursor);
    }));
}

TEST(DiscordCursor, IsEmptyWhenTheTextIsNotOneOfOurs) {
    for (const std::string text :
         {"",
          "7",
          "{}",
          R"({"shard_count":1,"shards":[{"shard":1,"session_id":"a","seq":1}]})",
          R"({"shard_count":1,"shards":[{"shard":0,"session_id":"a","seq":0}]})",
          R"({"shard_count":1,"shards":[{"shard":0,"seq":5}]})"}) {
        EXPECT_EQ(read_discord_cursor(text), DiscordCursor{}) << text;
    }
}

}  // namespace
}  // namespace interlock
