#include "relay/service/relay_media.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/outbound_desk.h"

namespace interlock {
namespace {

class RelayMediaTest : public testing::Test {
protected:
    Result<StoredMedia> store(const std::string& bytes, const std::string& instance = "i1") {
        std::vector<Result<StoredMedia>> done;
        media().store(
            OutboundDesk::caller(instance),
            {"image/png", "cat.png", bytes},
            [&done](Result<StoredMedia> stored) { done.push_back(std::move(stored)); });
        desk_.run();
        EXPECT_EQ(done.size(), 1u);
        return done.front();
    }
    Result<MediaUpload> fetch(const std::string& id, const std::string& instance = "i1") {
        std::vector<Result<MediaUpload>> done;
        media().fetch(OutboundDesk::caller(instance), id, [&done](Result<MediaUpload> fetched) {
            done.push_back(std::move(fetched));
        });
        desk_.run();
        EXPECT_EQ(done.size(), 1u);
        return done.front();
    }
    auto resolve(const std::string& url, const std::string& instance = "i1") {
        return media().resolve(OutboundDesk::caller(instance), url, desk_.clock.now());
    }
    RelayMedia& media() { return desk_.process->media; }

    OutboundDesk desk_;
};

TEST_F(RelayMediaTest, GivesBackWhatWasUploaded) {
    const auto stored = store("bytes");
    ASSERT_TRUE(stored);
    EXPECT_TRUE(is_media_id(stored->id));
    EXPECT_EQ(stored->bytes, 5);
    const auto fetched = fetch(stored->id, "i2");  // The same tenant's.
    ASSERT_TRUE(fetched);
    EXPECT_EQ(fetched->bytes, "bytes");
    EXPECT_EQ(fetched->content_type, "image/png");
    EXPECT_EQ(fetched->filename, "cat.png");
}

TEST_F(RelayMediaTest, OtherTenantsFindNothing) {
    const auto stored = store("bytes");
    EXPECT_EQ(fetch(stored->id, "x1").error().code(), errors::not_found.code);
    EXPECT_EQ(
        fetch("med_aaaaaaaaaaaaaaaaaaaaaaaaaa").error().message,
        fetch(stored->id, "x1").error().message);
}

TEST_F(RelayMediaTest, EndsAfterAnHourAndLeavesNoFile) {
    const auto stored = store("bytes");
    desk_.clock.advance(kMediaLife);
    EXPECT_EQ(fetch(stored->id).error().code(), errors::not_found.code);
    desk_.run();
    EXPECT_TRUE(desk_.folder.list().value().empty());
    EXPECT_EQ(media().held(), 0u);
}

TEST_F(RelayMediaTest, KnowsItsFilesAfterARestartAndClearsThoseWithoutARow) {
    const auto stored = store("bytes");
    ASSERT_TRUE(desk_.folder.write("med_zzzzzzzzzzzzzzzzzzzzzzzzzz", "left behind"));
    desk_.restart();
    EXPECT_EQ(fetch(stored->id)->bytes, "bytes");
    EXPECT_EQ(desk_.folder.list().value(), std::vector<std::string>{stored->id});
}

TEST_F(RelayMediaTest, RefusesFilesBeyondTheirBoundAndEmptyOnes) {
    EXPECT_EQ(
        store(std::string(kMediaBytesMax + 1, 'x')).error().code(), errors::body_too_large.code);
    EXPECT_EQ(store("").error().code(), errors::invalid_request.code);
}

TEST_F(RelayMediaTest, RefusesAnInstanceBeyondItsQuotaAndOnlyThatOne) {
    const std::string large(kMediaBytesMax, 'x');
    for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(store(large));
    }
    EXPECT_EQ(store("x").error().code(), errors::rate_limited.code);
    EXPECT_TRUE(store("x", "i2"));
    desk_.clock.advance(kMediaLife);
    desk_.run();
    EXPECT_TRUE(store("x"));
}

TEST_F(RelayMediaTest, RefusesMoreFilesThanAnInstanceMayHave) {
    for (std::size_t i = 0; i < kMediaInstanceFilesMax; ++i) {
        ASSERT_TRUE(store("x"));
    }
    EXPECT_EQ(store("x").error().code(), errors::rate_limited.code);
}

TEST_F(RelayMediaTest, RefusesUploadsBeyondWhatMayWaitInMemory) {
    std::vector<Result<StoredMedia>> done;
    const auto note = [&done](Result<StoredMedia> stored) { done.push_back(std::move(stored)); };
    const std::size_t count = kMediaInFlightBytesMax / kMediaBytesMax;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string instance = "i" + std::to_string(i);
        media().store(
            OutboundDesk::caller(instance), {"a/b", "", std::string(kMediaBytesMax, 'x')}, note);
    }
    EXPECT_TRUE(done.empty());
    media().store(OutboundDesk::caller("i99"), {"a/b", "", std::string(kMediaBytesMax, 'x')}, note);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].error().code(), errors::overloaded.code);
    desk_.run();
    EXPECT_EQ(done.size(), count + 1);
    EXPECT_TRUE(store("x", "i99"));
}

TEST_F(RelayMediaTest, AFailedWriteGivesItsRoomBack) {
    desk_.folder.fail_next_write();
    EXPECT_EQ(store("x").error().code(), errors::io_failed.code);
    EXPECT_EQ(media().held(), 0u);
    EXPECT_TRUE(store("x"));
}

TEST_F(RelayMediaTest, ResolvesOwnMediaForItsInstanceOnly) {
    const std::string id = store("bytes")->id;
    for (const std::string prefix :
         {"/relay/media/",
          "http://127.0.0.1:8080/relay/media/",
          "https://r.example/relay/media/"}) {
        const auto source = resolve(prefix + id);
        ASSERT_TRUE(source) << prefix;
        EXPECT_EQ(source->media_id, id);
        EXPECT_EQ(resolve(prefix + id, "i2").error().code, "not_found");
        EXPECT_EQ(resolve(prefix + id, "x1").error().code, "not_found");
    }
}

// relay-connector.md#urls-that-others-give
TEST_F(RelayMediaTest, HandsOnlyPublicUrlsToThePlatform) {
    const auto source = resolve("https://example.com/cat.png");
    ASSERT_TRUE(source);
    EXPECT_EQ(source->media_id, "");
    for (const std::string url :
         {"http://127.0.0.1/x",
          "http://169.254.169.254/latest",
          "http://[::1]/x",
          "http://10.0.0.1/x",
          "http://localhost/x",
          "http://a.localhost/x",
          "file:///etc/passwd",
          "ftp://example.com/x",
          "/etc/passwd",
          ""}) {
        EXPECT_EQ(resolve(url).error().code, "invalid_request") << url;
    }
}

TEST_F(RelayMediaTest, SendMediaUploadsOwnBytesAndPassesUrlsOn) {
    const std::string id = store("bytes")->id;
    SendMediaAction action;
    action.chat_id = "c1";
    action.media_kind = "image";
    action.source_url = "/relay/media/" + id;
    EXPECT_TRUE(desk_.ask(action).success);
    action.source_url = "https://example.com/cat.png";
    EXPECT_TRUE(desk_.ask(action).success);
    action.source_url = "http://10.0.0.1/cat.png";
    EXPECT_EQ(desk_.ask(action).code, "invalid_request");
    const auto calls = desk_.discord.calls();
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].media_bytes, "bytes");
    EXPECT_EQ(calls[0].media_type, "image/png");
    EXPECT_EQ(calls[1].media_bytes, "");
}

TEST_F(RelayMediaTest, AFileThatIsGoneWhenItsTurnComesIsNotSent) {
    const std::string id = store("bytes")->id;
    SendMediaAction action;
    action.chat_id = "c1";
    action.media_kind = "image";
    action.source_url = "/relay/media/" + id;
    const auto answer = desk_.begin(action);
    desk_.step();
    ASSERT_TRUE(desk_.folder.remove(id));
    desk_.run();
    EXPECT_EQ(answer->value().code, "not_found");
    EXPECT_FALSE(answer->value().ambiguous);
}

}  // namespace
}  // namespace interlock
