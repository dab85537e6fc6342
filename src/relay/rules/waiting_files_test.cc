#include "relay/rules/waiting_files.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

WaitingFiles message() {
    WaitingFiles made;
    made.platform = "telegram";
    made.bot_id = "7";
    made.event.text = "look";
    made.event.message_id = "m1";
    made.event.source.platform = "telegram";
    made.event.source.chat_id = "42";
    made.files = {
        {.file_id = "secret-name",
         .kind = "image",
         .mime = "image/png",
         .filename = "cat.png",
         .size = 9,
         .public_url = {}},
        {.file_id = "other-name",
         .kind = "voice",
         .mime = {},
         .filename = {},
         .size = std::nullopt,
         .public_url = {}}};
    return made;
}

TEST(WaitingFiles, ComeBackFromTheBufferAsTheyWere) {
    const std::string stored = encode_waiting(message());
    EXPECT_TRUE(has_waiting_files(stored));
    const auto read = decode_waiting(stored);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->platform, "telegram");
    EXPECT_EQ(read->bot_id, "7");
    EXPECT_EQ(read->event, message().event);
    ASSERT_EQ(read->files.size(), 2u);
    EXPECT_EQ(read->files[0].file_id, "secret-name");
    EXPECT_EQ(read->files[0].size, 9);
    EXPECT_FALSE(read->files[1].size.has_value());
    EXPECT_EQ(encode_waiting(*read), stored);
}

TEST(WaitingFiles, AreNotSeenInAnEventWithoutThem) {
    MessageEvent event;
    event.text = R"({"files":[)";
    EXPECT_FALSE(has_waiting_files(to_text(encode(event))));
    EXPECT_FALSE(decode_waiting(R"({"files":[{}],"event":{}})").has_value());
    EXPECT_FALSE(decode_waiting("nothing").has_value());
}

TEST(WaitingFiles, BecomeMediaOfTheEvent) {
    const MessageEvent event = with_fates(
        message(),
        {{.url = "http://we/relay/media/1",
          .mime = "image/png",
          .filename = "ignored.png",
          .bytes = 9,
          .missing = {}},
         {.url = "http://we/relay/media/2",
          .mime = "audio/ogg",
          .filename = "file_2.oga",
          .bytes = 5,
          .missing = {}}});
    EXPECT_EQ(event.text, "look");
    EXPECT_EQ(
        event.media_urls,
        (std::vector<std::string>{"http://we/relay/media/1", "http://we/relay/media/2"}));
    ASSERT_EQ(event.media.size(), 2u);
    EXPECT_EQ(event.media[0].filename, "cat.png");
    EXPECT_EQ(event.media[0].kind, "image");
    EXPECT_EQ(event.media[0].size, 9);
    EXPECT_EQ(event.media[1].filename, "file_2.oga");
    EXPECT_EQ(event.media[1].mime, "audio/ogg");
}

TEST(WaitingFiles, ThatAreMissingAreToldInTheText) {
    const MessageEvent event = with_fates(
        message(),
        {{.url = {},
          .mime = {},
          .filename = {},
          .bytes = 0,
          .missing = "It is larger than may be fetched."}});
    EXPECT_EQ(
        event.text,
        "look\n[Missing: cat.png (image). It is larger than may be fetched.]\n"
        "[Missing: a file (voice). It was not fetched.]");
    EXPECT_TRUE(event.media_urls.empty());
    EXPECT_EQ(to_text(encode(event)).find("secret-name"), std::string::npos);
}

TEST(WaitingFiles, AreLeftToThePlatformWhereItHasThemForEverybody) {
    WaitingFiles open = message();
    open.files.pop_back();
    open.files[0].public_url = "https://pictures.example/1";
    EXPECT_EQ(
        with_fates(open, {}).media_urls, std::vector<std::string>{"https://pictures.example/1"});
    EXPECT_EQ(with_fates(open, {}).text, "look");
    const MessageEvent event = with_fates(
        open,
        {{.url = "http://we/relay/media/1",
          .mime = "image/png",
          .filename = {},
          .bytes = 9,
          .missing = {}}});
    EXPECT_EQ(event.media_urls, std::vector<std::string>{"http://we/relay/media/1"});
}

TEST(WaitingFiles, NeverMakeATextLongerThanItsBound) {
    WaitingFiles full = message();
    full.event.text = std::string(kRelayTextBytesMax - 3, 'x');
    EXPECT_EQ(with_fates(full, {}).text.size(), kRelayTextBytesMax - 3);
}

TEST(WaitingFiles, KeepEveryFactOfAFileInTheBuffer) {
    WaitingFiles full = message();
    full.files[1].public_url = "https://pictures.example/1";
    const auto read = decode_waiting(encode_waiting(full));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->files[0].kind, "image");
    EXPECT_EQ(read->files[0].mime, "image/png");
    EXPECT_EQ(read->files[0].filename, "cat.png");
    EXPECT_EQ(read->files[1].public_url, "https://pictures.example/1");
    EXPECT_EQ(read->files[1].mime, "");
}

TEST(WaitingFiles, OfWhichOneIsUnreadableAreRefusedWithItsReason) {
    Json json = *parse_json(encode_waiting(message()));
    Json files = Json::array();
    files.push(Json::object({{"kind", "image"}}));
    json.set("files", std::move(files));
    const auto read = decode_waiting(to_text(json));
    ASSERT_FALSE(read.has_value());
    EXPECT_NE(read.error().message.find("file_id"), std::string::npos) << read.error().message;
}

TEST(WaitingFiles, ATextMayBeFilledToItsBoundAndNoFurther) {
    const std::string line = "[Missing: a file. It was not fetched.]";
    WaitingFiles one = message();
    one.files.resize(1);
    one.files[0] = PlatformFile();
    one.event.text.clear();
    EXPECT_EQ(with_fates(one, {}).text, line);
    one.event.text = std::string(kRelayTextBytesMax - line.size() - 1, 'x');
    const std::string filled = with_fates(one, {}).text;
    EXPECT_EQ(filled.size(), kRelayTextBytesMax);
    EXPECT_TRUE(filled.ends_with("\n" + line));
    one.event.text += 'x';
    EXPECT_EQ(with_fates(one, {}).text, one.event.text);
}

// What a list held before is none of its business any more.
TEST(WaitingFiles, AreMissingBeyondTheLastFate) {
    std::vector<FileFate> fates(
        2, {.url = "http://we/1", .mime = "image/png", .filename = {}, .bytes = 9, .missing = {}});
    fates.pop_back();
    WaitingFiles two = message();
    two.files.push_back(two.files[0]);
    two.files.pop_back();
    const MessageEvent event = with_fates(std::move(two), fates);
    EXPECT_EQ(event.media_urls, std::vector<std::string>{"http://we/1"});
    EXPECT_EQ(event.text, "look\n[Missing: a file (voice). It was not fetched.]");
}

TEST(WaitingFiles, WithAFateThatSaysNothingAreMissingAllTheSame) {
    std::vector<FileFate> fates(2);
    fates[1].missing = "Gone.";
    const MessageEvent event = with_fates(message(), fates);
    EXPECT_EQ(
        event.text,
        "look\n[Missing: cat.png (image). It was not fetched.]\n"
        "[Missing: a file (voice). Gone.]");
}

TEST(MediaNames, AreExactAtTheEdgesOfWhatIsPrintable) {
    EXPECT_EQ(safe_file_name("\x1f\x20\x21\x7e\x7f\x80\xff"), "_ !~___");
    EXPECT_EQ(safe_file_name("a.b."), "a.b.");
    EXPECT_EQ(safe_file_name("."), "");
}

TEST(MediaTypes, AreExactAtTheEdgesOfTheirLetters) {
    EXPECT_EQ(safe_media_type("az09-+._/a"), "az09-+._/a");
    EXPECT_EQ(safe_media_type("a/b"), "a/b");
    for (const char c : std::string_view("`{:;@[*,")) {
        const std::string type = std::string("a/b") + c + "d";
        EXPECT_NE(safe_media_type(type), type) << type;
    }
    const std::string longest = "a/" + std::string(98, 'b');
    EXPECT_EQ(safe_media_type(longest), longest);
    EXPECT_EQ(safe_media_type(longest + "b"), "application/octet-stream");
}

TEST(MediaNames, KeepOnlyWhatIsSafe) {
    EXPECT_EQ(safe_file_name("cat.png"), "cat.png");
    EXPECT_EQ(safe_file_name("/etc/passwd"), "passwd");
    EXPECT_EQ(safe_file_name("C:\\x\\y.txt"), "y.txt");
    EXPECT_EQ(safe_file_name("a\r\nb\"c"), "a__b_c");
    EXPECT_EQ(safe_file_name(".."), "");
    EXPECT_EQ(safe_file_name(std::string(300, 'x')).size(), kMediaNameBytesMax);
    EXPECT_EQ(safe_media_type("Image/PNG; charset=x"), "image/png");
    for (const std::string type : {"", "png", "a/b/c", "/x", "x/", "te xt/html", "a/b\r\nX: y"}) {
        EXPECT_EQ(safe_media_type(type), "application/octet-stream") << type;
    }
}

}  // namespace
}  // namespace interlock
