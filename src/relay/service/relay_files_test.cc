// Messages whose files the bot has to fetch: stored at once, delivered in order, with our own
// addresses or a plain line, and never with a name or a token of the platform.
#include "relay/service/relay_files.h"

#include <gtest/gtest.h>

#include "testing/relay_world.h"
#include "testing/silent_platform.h"

namespace interlock {
namespace {

constexpr std::string_view kCanary = "123:canary-token";
constexpr std::string_view kFileCanary = "file-canary";

// Has the files that a test puts there; its words quote the token, as a careless library would.
class FilePlatform final : public SilentPlatform {
public:
    FilePlatform() : SilentPlatform({"local", "bot"}) {}

    Result<DownloadedFile> download(const FileQuestion& question) override {
        asked.push_back(question.file.file_id);
        EXPECT_LE(question.bytes_max, kMediaBytesMax);
        if (const auto found = failures.find(question.file.file_id); found != failures.end()) {
            return fail(found->second, "https://api.example/file/bot" + std::string(kCanary));
        }
        return DownloadedFile{
            .bytes = "bytes of " + question.file.file_id,
            .content_type = "image/jpeg",
            .filename = "photo.jpg"};
    }

    std::vector<std::string> asked;
    std::map<std::string, ErrorKind> failures;
};

struct FilesTest : testing::Test {
    FilesTest() {
        world.add_instance("i1");
        world.add_instance("x1", "t2");
        world.bind("ann", "i1");
        world.bind("eve", "x1");
        world.platforms[{"local", "bot"}] = &platform;
    }
    static PlatformArrival photo(const std::string& user, const std::string& id, int count = 1) {
        PlatformArrival arrival = RelayWorld::message(user, id);
        arrival.event.event.type = MessageType::photo;
        for (int i = 0; i < count; ++i) {
            PlatformFile file;
            file.file_id = std::string(kFileCanary) + "-" + id + "-" + std::to_string(i);
            file.kind = "image";
            arrival.event.files.push_back(std::move(file));
        }
        return arrival;
    }
    static std::string file_id(const std::string& id, int i = 0) {
        return std::string(kFileCanary) + "-" + id + "-" + std::to_string(i);
    }
    RelayWorld::Gateway connect(const std::string& instance = "i1") {
        RelayWorld::Gateway gateway = world.dial(instance);
        gateway.session->media_base = "https://relay.example";
        world.say(gateway, HelloFrame{"local", "bot", {}});
        gateway.socket->take_frames();
        return gateway;
    }
    // The messages that came, each acknowledged; nothing of the platform is in any of them.
    std::vector<MessageEvent> take(const RelayWorld::Gateway& gateway) {
        std::vector<MessageEvent> events;
        for (const std::string& line : gateway.socket->lines) {
            EXPECT_EQ(line.find(kCanary), std::string::npos);
            EXPECT_EQ(line.find(kFileCanary), std::string::npos);
        }
        for (const ConnectorFrame& frame : gateway.socket->take_frames()) {
            if (const auto* inbound = std::get_if<InboundFrame>(&frame)) {
                events.push_back(inbound->event);
                world.ack(gateway, inbound->buffer_id);
            }
        }
        return events;
    }
    Result<MediaUpload> fetch(const std::string& url, const std::string& instance) {
        Result<MediaUpload> got = fail(errors::unavailable, "no answer came");
        const InstanceRow* row = world.state.instances.get(instance);
        world.media.fetch(
            {row->tenant_id, instance, "gw"},
            url.substr(url.rfind('/') + 1),
            [&got](Result<MediaUpload> file) { got = std::move(file); });
        world.settle();
        return got;
    }
    FilePlatform platform;
    RelayWorld world;
};

// relay-connector.md#files-of-messages
TEST_F(FilesTest, AFileReachesTheGatewayByAnAddressOfOurOwn) {
    const auto gateway = connect();
    world.submit(photo("ann", "m1"));
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].text, "text m1");
    ASSERT_EQ(events[0].media.size(), 1u);
    EXPECT_EQ(events[0].media_urls, std::vector<std::string>{events[0].media[0].url});
    EXPECT_TRUE(events[0].media[0].url.starts_with("https://relay.example/relay/media/med_"));
    EXPECT_EQ(events[0].media[0].mime, "image/jpeg");
    EXPECT_EQ(events[0].media[0].filename, "photo.jpg");
    const std::string bytes = "bytes of " + file_id("m1");
    EXPECT_EQ(events[0].media[0].size, static_cast<std::int64_t>(bytes.size()));
    const auto file = fetch(events[0].media[0].url, "i1");
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->bytes, bytes);
    EXPECT_EQ(fetch(events[0].media[0].url, "x1").error(), errors::not_found);  // I7
    EXPECT_EQ(world.files.counters().fetched, 1);
}

TEST_F(FilesTest, ThePlatformIsAnsweredBeforeAnythingIsFetched) {
    const auto gateway = connect();
    const auto answer = world.submit(photo("ann", "m1"));
    ASSERT_TRUE(answer->has_value());
    EXPECT_TRUE((*answer)->is_stored);
    EXPECT_TRUE((*answer)->is_delivered);
    EXPECT_TRUE(platform.asked.empty());
    EXPECT_EQ(world.files.running(), 1u);
    EXPECT_TRUE(take(gateway).empty());
    world.run_fetches();
    EXPECT_EQ(take(gateway).size(), 1u);
    EXPECT_EQ(world.files.running(), 0u);
}

TEST_F(FilesTest, WhatCameLaterWaitsBehindAFile) {
    const auto gateway = connect();
    world.submit(RelayWorld::message("ann", "m0"));
    world.submit(photo("ann", "m1"));
    world.submit(RelayWorld::message("ann", "m2"));
    auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].text, "text m0");
    world.run_fetches();
    events = take(gateway);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].text, "text m1");
    EXPECT_EQ(events[1].text, "text m2");
}

TEST_F(FilesTest, AnotherInstanceDoesNotWaitForIt) {
    const auto gateway = connect("x1");
    connect("i1");
    world.submit(photo("ann", "m1"));
    world.submit(RelayWorld::message("eve", "m2"));
    EXPECT_EQ(take(gateway).size(), 1u);
}

TEST_F(FilesTest, AFileThatCannotBeHadIsToldInAPlainLine) {
    const auto gateway = connect();
    platform.failures.emplace(file_id("m1", 0), errors::body_too_large);
    platform.failures.emplace(file_id("m1", 1), errors::not_found);
    platform.failures.emplace(file_id("m1", 2), errors::unavailable);
    world.submit(photo("ann", "m1", 4));
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(
        events[0].text,
        "text m1\n[Missing: a file (image). It is larger than may be fetched.]\n"
        "[Missing: a file (image). The platform has it no more.]\n"
        "[Missing: a file (image). It could not be fetched.]");
    EXPECT_EQ(events[0].media.size(), 1u);
    EXPECT_EQ(world.files.counters().missing, 3);
}

TEST_F(FilesTest, AFileWhoseSizeIsToldToBeTooLargeIsNotAskedFor) {
    const auto gateway = connect();
    PlatformArrival arrival = photo("ann", "m1");
    arrival.event.files[0].size = static_cast<std::int64_t>(kMediaBytesMax) + 1;
    world.submit(std::move(arrival));
    world.run_fetches();
    EXPECT_TRUE(platform.asked.empty());
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_NE(events[0].text.find("larger"), std::string::npos);
}

TEST_F(FilesTest, OnlySoManyFilesOfOneMessageAreFetched) {
    const auto gateway = connect();
    world.submit(photo("ann", "m1", static_cast<int>(kFilesPerMessageMax) + 1));
    world.run_fetches();
    EXPECT_EQ(platform.asked.size(), kFilesPerMessageMax);
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].media.size(), kFilesPerMessageMax);
    EXPECT_NE(events[0].text.find("too many files"), std::string::npos);
}

TEST_F(FilesTest, ASlowPlatformHoldsAMessageOnlySoLong) {
    const auto gateway = connect();
    world.submit(photo("ann", "m1"));
    world.submit(RelayWorld::message("ann", "m2"));
    world.pass(Duration{kFilesPatience.microseconds - 1'000'000});
    EXPECT_TRUE(take(gateway).empty());
    world.pass(Duration::of_seconds(1));
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].text, "text m1\n[Missing: a file (image). It did not arrive in time.]");
    EXPECT_EQ(events[1].text, "text m2");
    EXPECT_EQ(world.files.counters().late, 1);
    // Nobody waits any more: the bot is not bothered.
    world.run_fetches();
    EXPECT_TRUE(platform.asked.empty());
    EXPECT_EQ(world.files.running(), 0u);
}

TEST_F(FilesTest, BusyFetchersAreAskedAgain) {
    const auto gateway = connect();
    world.is_fetcher_busy = true;
    world.submit(photo("ann", "m1"));
    EXPECT_EQ(world.files.running(), 0u);
    world.is_fetcher_busy = false;
    world.pass(Duration::of_seconds(1));
    EXPECT_EQ(world.files.running(), 1u);
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].media.size(), 1u);
}

TEST_F(FilesTest, AnInstanceHasOnlySoManyMessagesFetchedAtATime) {
    const auto gateway = connect();
    for (const char* id : {"m1", "m2", "m3", "m4"}) {
        world.submit(photo("ann", id));
    }
    EXPECT_EQ(world.files.running(), kFilesRunningPerInstanceMax);
    std::vector<std::string> texts;
    for (int round = 0; round < 4; ++round) {
        world.run_fetches();
        for (const MessageEvent& event : take(gateway)) {
            EXPECT_EQ(event.media.size(), 1u);
            texts.push_back(event.text);
        }
    }
    EXPECT_EQ(texts, (std::vector<std::string>{"text m1", "text m2", "text m3", "text m4"}));
}

TEST_F(FilesTest, FilesOfASleeperAreFetchedWhenItComes) {
    world.submit(photo("ann", "m1"));
    EXPECT_TRUE(world.fetches.empty());
    world.pass(Duration::of_hours(30));
    const auto gateway = connect();
    EXPECT_EQ(world.fetches.size(), 1u);
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    ASSERT_EQ(events[0].media.size(), 1u);
    EXPECT_TRUE(fetch(events[0].media[0].url, "i1").has_value());
}

TEST_F(FilesTest, ARestartFetchesAgainWhatWasUnderWay) {
    connect();
    world.submit(photo("ann", "m1"));
    RelayWorld after(world.store.take_contents());
    after.platforms[{"local", "bot"}] = &platform;
    const auto gateway = after.connect("i1");
    after.run_fetches();
    int messages = 0;
    for (const ConnectorFrame& frame : gateway.socket->take_frames()) {
        if (const auto* inbound = std::get_if<InboundFrame>(&frame)) {
            ++messages;
            EXPECT_EQ(inbound->event.media.size(), 1u);
        }
    }
    EXPECT_EQ(messages, 1);
}

TEST_F(FilesTest, WhoComesBackLaterGetsAddressesThatStillWork) {
    auto gateway = connect();
    world.submit(photo("ann", "m1"));
    world.run_fetches();
    EXPECT_EQ(gateway.socket->take_inbound().size(), 1u);
    world.hang_up(gateway);
    world.pass(kMediaLife);
    gateway = connect();
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    ASSERT_EQ(events[0].media.size(), 1u);
    EXPECT_TRUE(fetch(events[0].media[0].url, "i1").has_value());
    EXPECT_EQ(platform.asked.size(), 2u);
}

TEST_F(FilesTest, WhatWasLateIsFetchedForTheNextSocket) {
    auto gateway = connect();
    world.submit(photo("ann", "m1"));
    world.pass(kFilesPatience);
    EXPECT_EQ(gateway.socket->take_inbound().size(), 1u);
    world.run_fetches();
    world.hang_up(gateway);
    gateway = connect();
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].text, "text m1");
    EXPECT_EQ(events[0].media.size(), 1u);
}

TEST_F(FilesTest, WhatNobodyHadTimeForIsFetchedForTheNextSocket) {
    auto gateway = connect();
    world.is_fetcher_busy = true;
    world.submit(photo("ann", "m1"));
    world.pass(kFilesPatience);
    EXPECT_EQ(gateway.socket->take_inbound().size(), 1u);
    world.hang_up(gateway);
    world.is_fetcher_busy = false;
    gateway = connect();
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].media.size(), 1u);
}

TEST_F(FilesTest, NoRoomForMoreMediaIsToldAndLosesNothing) {
    const auto gateway = connect();
    for (std::size_t i = 0; i < kMediaInstanceFilesMax; ++i) {
        world.media.store(
            {TenantId::trusted("t1"), "i1", "gw"},
            {"image/png", "x.png", "x"},
            [](const Result<StoredMedia>& stored) { EXPECT_TRUE(stored.has_value()); });
    }
    world.settle();
    world.submit(photo("ann", "m1"));
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_NE(events[0].text.find("no room"), std::string::npos);
}

TEST_F(FilesTest, ABotThatIsGoneIsToldAsAMissingFile) {
    const auto gateway = connect();
    world.platforms.clear();
    world.submit(photo("ann", "m1"));
    world.run_fetches();
    const auto events = take(gateway);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_NE(events[0].text.find("could not be fetched"), std::string::npos);
}

TEST_F(FilesTest, NothingIsFetchedForWhoMayNotHearIt) {
    connect();
    connect("x1");
    world.submit(photo("nobody", "m1"));
    EXPECT_TRUE(world.fetches.empty());
}

TEST_F(FilesTest, WhatIsDroppedIsForgotten) {
    connect();
    world.submit(photo("ann", "m1"));
    world.change([&](RelayTurn& turn) { world.delivery.drop_instance(turn, "i1"); });
    world.run_fetches();
    EXPECT_TRUE(platform.asked.empty());
}

TEST(FilesText, WithoutAFetcherTheMessageStillGoesOut) {
    WaitingFiles waiting;
    waiting.platform = "local";
    waiting.bot_id = "bot";
    waiting.event.text = "look";
    waiting.files.push_back({});
    waiting.files[0].file_id = "f";
    const auto event =
        decode_message_event(*parse_json(RelayFiles::text_without_files(encode_waiting(waiting))));
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->text, "look\n[Missing: a file. It was not fetched.]");
    EXPECT_EQ(RelayFiles::text_without_files(R"({"files":[7)").find('7'), std::string::npos);
}

}  // namespace
}  // namespace interlock
