#include "app/mcp/sse_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

namespace interlock {
namespace {

std::vector<std::string> data_of(SseReader& reader, std::string_view text) {
    std::vector<std::string> data;
    EXPECT_TRUE(reader.feed(text, [&](const SseEvent& event) { data.push_back(event.data); }));
    return data;
}

TEST(SseReader, ReadsDataAndIds) {
    SseReader reader;
    EXPECT_EQ(
        data_of(reader, "event: message\nid: 1-1\ndata: one\n\ndata:two\ndata: three\n\n"),
        (std::vector<std::string>{"one", "two\nthree"}));
    EXPECT_EQ(reader.last_event_id(), "1-1");
}

TEST(SseReader, SkipsCommentsAndUnknownFields) {
    SseReader reader;
    EXPECT_EQ(
        data_of(reader, ": ping\n\nretry: 500\nfoo: bar\nbaz\ndata: x\n\n"),
        (std::vector<std::string>{"x"}));
}

TEST(SseReader, AnEmptyEventStillCarriesItsId) {
    SseReader reader;
    EXPECT_EQ(data_of(reader, "id: 9\ndata: \n\n"), (std::vector<std::string>{""}));
    EXPECT_EQ(reader.last_event_id(), "9");
}

TEST(SseReader, AnEventThatHasNotEndedIsNotYetThere) {
    SseReader reader;
    EXPECT_TRUE(data_of(reader, "id: 9\ndata: x\n").empty());
    EXPECT_EQ(reader.last_event_id(), "");
}

TEST(SseReader, TakesEveryKindOfLineEnd) {
    SseReader reader;
    EXPECT_EQ(
        data_of(reader, "data: a\r\n\r\ndata: b\r\rdata: c\n\n"),
        (std::vector<std::string>{"a", "b", "c"}));
}

TEST(SseReader, RefusesAnEventBeyondItsBound) {
    SseReader reader;
    const std::string line = "data: " + std::string(kSseEventBytesMax / 2, 'x') + "\n";
    EXPECT_TRUE(reader.feed(line, [](const SseEvent&) {}));
    EXPECT_FALSE(reader.feed(line, [](const SseEvent&) {}));
}

TEST(SseReader, HowTheBytesAreCutMakesNoDifference) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& cuts) {
        const std::string text =
            "id: 1\r\ndata: a\r\n\r\n: c\ndata: b\ndata: c\n\nid: 2\ndata:\r\r";
        SseReader whole;
        const std::vector<std::string> expected = data_of(whole, text);
        SseReader pieces;
        std::vector<std::string> seen;
        std::string_view rest = text;
        for (const std::uint8_t cut : cuts) {
            const std::string_view piece = rest.substr(0, cut % 8);
            for (std::string& data : data_of(pieces, piece)) {
                seen.push_back(std::move(data));
            }
            rest.remove_prefix(piece.size());
        }
        for (std::string& data : data_of(pieces, rest)) {
            seen.push_back(std::move(data));
        }
        RC_ASSERT(seen == expected);
        RC_ASSERT(pieces.last_event_id() == whole.last_event_id());
    }));
}

}  // namespace
}  // namespace interlock
