// Frames: what is a message, what is refused with which code, and that the arrival of bytes makes
// no difference. The tables follow the sections of the well-known Autobahn suite.
#include "net/web_socket_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "net/web_socket.h"

namespace interlock {
namespace {

using Event = WebSocketReader::Event;
constexpr WebSocketMask kMask{'\x37', '\xfa', '\x21', '\x3d'};
constexpr std::size_t kMessageMax = 70'000;

struct Heard {
    Event event = Event::need_more;
    std::string payload;
    bool is_text = false;
    std::uint16_t code = 0;  // Of a close or a fault.

    bool operator==(const Heard&) const = default;
};

struct Reading {
    std::vector<Heard> heard;
    std::size_t unread = 0;
};

Heard heard_from(WebSocketReader& reader, Event event) {
    switch (event) {
        case Event::message:
            return {event, reader.payload(), reader.is_text(), 0};
        case Event::close:
            return {event, reader.close().reason, false, reader.close().code};
        case Event::failed:
            return {event, {}, false, reader.fault().code};
        default:
            return {event, reader.payload(), false, 0};
    }
}

// Feeds `bytes` cut at the given sizes (cyclic), as a connection would.
Reading read(
    WebSocketRole role,
    std::string_view bytes,
    const std::vector<std::size_t>& cuts = {},
    std::size_t message_max = kMessageMax) {
    WebSocketReader reader(role, message_max);
    Reading reading;
    std::size_t turn = 0;
    while (!bytes.empty()) {
        const std::size_t count =
            cuts.empty() ? bytes.size() : std::min(bytes.size(), cuts[turn++ % cuts.size()]);
        std::string_view piece = bytes.substr(0, count);
        bytes.remove_prefix(count);
        while (true) {
            const WebSocketReader::Step step = reader.feed(piece);
            piece.remove_prefix(step.consumed);
            if (step.event == Event::need_more) {
                EXPECT_TRUE(piece.empty());
                break;
            }
            reading.heard.push_back(heard_from(reader, step.event));
            if (step.event == Event::failed || step.event == Event::close) {
                reading.unread = piece.size() + bytes.size();
                return reading;
            }
        }
    }
    return reading;
}

std::vector<Heard> heard(std::string_view bytes) {
    const std::vector<Heard> whole = read(WebSocketRole::server, bytes).heard;
    EXPECT_EQ(read(WebSocketRole::server, bytes, {1}).heard, whole);  // However it arrives.
    return whole;
}

std::string frame(WebSocketOpcode opcode, std::string_view payload, bool is_final = true) {
    std::string out;
    append_frame(out, {.opcode = opcode, .payload = payload, .is_final = is_final, .mask = kMask});
    return out;
}

std::string text(std::string_view payload, bool is_final = true) {
    return frame(WebSocketOpcode::text, payload, is_final);
}

std::string more(std::string_view payload, bool is_final = true) {
    return frame(WebSocketOpcode::continuation, payload, is_final);
}

std::string bytes_of(std::initializer_list<int> values) {
    std::string out;
    for (const int value : values) {
        out += static_cast<char>(value);
    }
    return out;
}

Heard message(std::string_view payload) {
    return {Event::message, std::string(payload), true, 0};
}

Heard failure(std::uint16_t code) {
    return {Event::failed, {}, false, code};
}

// Examples of RFC 6455 section 5.7.
TEST(WebSocketCodec, ReadsTheMaskedExampleOfTheStandard) {
    const std::string bytes =
        bytes_of({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58});
    EXPECT_EQ(heard(bytes), (std::vector{message("Hello")}));
    EXPECT_EQ(text("Hello"), bytes);
}

TEST(WebSocketCodec, ReadsTheUnmaskedExampleOfTheStandardAsAClient) {
    const std::string bytes = bytes_of({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f});
    EXPECT_EQ(read(WebSocketRole::client, bytes).heard, (std::vector{message("Hello")}));
    std::string written;
    append_frame(written, {.opcode = WebSocketOpcode::text, .payload = "Hello"});
    EXPECT_EQ(written, bytes);
}

class Sizes : public testing::TestWithParam<std::size_t> {};

TEST_P(Sizes, RoundTripInTextAndBinary) {
    const std::string payload(GetParam(), '*');
    for (const WebSocketOpcode opcode : {WebSocketOpcode::text, WebSocketOpcode::binary}) {
        const Reading reading =
            read(WebSocketRole::server, frame(opcode, payload), {1, 2, 997, 4096});
        ASSERT_EQ(reading.heard.size(), 1U);
        EXPECT_EQ(reading.heard[0].event, Event::message);
        EXPECT_EQ(reading.heard[0].payload, payload);
        EXPECT_EQ(reading.heard[0].is_text, opcode == WebSocketOpcode::text);
    }
    std::string unmasked;
    append_frame(unmasked, {.opcode = WebSocketOpcode::text, .payload = payload});
    EXPECT_EQ(unmasked.size(), frame_size(payload.size()));
}

TEST_P(Sizes, RoundTripInFragments) {
    const std::string payload(GetParam(), '*');
    for (const std::size_t cut : {payload.size(), payload.size() / 2, std::size_t{0}}) {
        const std::string_view all = payload;
        const std::string bytes = text(all.substr(0, cut), false) + more("", false) +
                                  frame(WebSocketOpcode::ping, "p") + more(all.substr(cut));
        const Reading reading = read(WebSocketRole::server, bytes);
        ASSERT_EQ(reading.heard.size(), 2U);
        EXPECT_EQ(reading.heard[0], (Heard{Event::ping, "p", false, 0}));
        EXPECT_EQ(reading.heard[1], message(payload));
    }
}

INSTANTIATE_TEST_SUITE_P(
    WebSocketCodec,
    Sizes,
    testing::Values(0U, 1U, 125U, 126U, 127U, 128U, 65'535U, 65'536U, 65'537U));

struct Case {
    std::string name;
    std::string bytes;
    std::vector<Heard> expected;
};

class Cases : public testing::TestWithParam<Case> {};

TEST_P(Cases, AreHeardAsTheyShould) {
    EXPECT_EQ(heard(GetParam().bytes), GetParam().expected);
}

// In front of a fault stands a good message, which must have been heard.
Case broken(std::string name, const std::string& bytes, std::uint16_t code) {
    return {std::move(name), text("good") + bytes, {message("good"), failure(code)}};
}

Case protocol(std::string name, const std::string& bytes) {
    return broken(std::move(name), bytes, 1002);
}

std::string masked_head(std::initializer_list<int> values) {
    return bytes_of(values) + std::string(4, '\0');
}

std::vector<Case> frame_cases() {
    std::vector<Case> cases{
        {"PingWithoutPayload", frame(WebSocketOpcode::ping, ""), {{Event::ping, "", false, 0}}},
        {"PingWithBytesThatAreNoText",
         frame(WebSocketOpcode::ping, "\xff\xfe"),
         {{Event::ping, "\xff\xfe", false, 0}}},
        {"PingOfTheLargestSize",
         frame(WebSocketOpcode::ping, std::string(125, 'x')),
         {{Event::ping, std::string(125, 'x'), false, 0}}},
        {"UnaskedPong", frame(WebSocketOpcode::pong, "?"), {{Event::pong, "?", false, 0}}},
        {"TwoMessagesAndAPing",
         text("a") + frame(WebSocketOpcode::ping, "") + text("b"),
         {message("a"), {Event::ping, "", false, 0}, message("b")}},
        protocol("OversizedPing", masked_head({0x89, 0xfe, 0, 126})),
        protocol("OversizedPingBy64Bits", masked_head({0x89, 0xff, 0, 0, 0, 0, 0, 1, 0, 0})),
        protocol("OversizedClose", masked_head({0x88, 0xfe, 0, 126})),
        protocol("FragmentedPing", masked_head({0x09, 0x80})),
        protocol("FragmentedClose", masked_head({0x08, 0x80})),
        protocol("Rsv1", masked_head({0xc1, 0x80})),
        protocol("Rsv2", masked_head({0xa1, 0x80})),
        protocol("Rsv3", masked_head({0x91, 0x80})),
        protocol("RsvOnPing", masked_head({0xc9, 0x80})),
        protocol("ContinuationOfNothing", more("x")),
        protocol("Unmasked", bytes_of({0x81, 0x01, 'x'})),
        protocol("Length16NotMinimal", masked_head({0x81, 0xfe, 0, 125})),
        protocol("Length64NotMinimal", masked_head({0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff})),
        protocol("Length64WithTopBit", masked_head({0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0})),
        broken("TooLarge", masked_head({0x82, 0xff, 0, 0, 0, 0, 0, 1, 0x11, 0x71}), 1009),
        broken("TooLargeByFar", masked_head({0x82, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0}), 1009),
    };
    for (const int opcode : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
        cases.push_back(
            protocol("Opcode" + std::to_string(opcode), masked_head({0x80 | opcode, 0x80})));
    }
    cases.push_back({"NewTextInsideAMessage", text("a", false) + text("b"), {failure(1002)}});
    cases.push_back(
        {"NewBinaryInsideAMessage",
         text("a", false) + frame(WebSocketOpcode::binary, "b"),
         {failure(1002)}});
    cases.push_back(
        {"CloseInsideAMessage",
         text("a", false) + frame(WebSocketOpcode::close, ""),
         {{Event::close, "", false, 1005}}});
    return cases;
}

std::vector<Case> close_cases() {
    std::vector<Case> cases{
        {"NoCode", frame(WebSocketOpcode::close, ""), {{Event::close, "", false, 1005}}},
        protocol("HalfACode", frame(WebSocketOpcode::close, "\x03")),
        broken("ReasonIsNoText", frame(WebSocketOpcode::close, "\x03\xe8\xce\xba\xe1"), 1007),
    };
    const std::string longest(123, 'r');
    cases.push_back(
        {"LongestReason",
         frame(WebSocketOpcode::close, close_payload(1000, longest)),
         {{Event::close, longest, false, 1000}}});
    for (const int code :
         {1000,
          1001,
          1002,
          1003,
          1007,
          1008,
          1009,
          1010,
          1011,
          1012,
          1013,
          1014,
          3000,
          3999,
          4000,
          4401,
          4999}) {
        cases.push_back(
            {"Good" + std::to_string(code),
             frame(WebSocketOpcode::close, bytes_of({code >> 8, code & 0xff}) + "why"),
             {{Event::close, "why", false, static_cast<std::uint16_t>(code)}}});
    }
    for (const int code :
         {0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65'535}) {
        cases.push_back(protocol(
            "Bad" + std::to_string(code),
            frame(WebSocketOpcode::close, bytes_of({code >> 8, code & 0xff}))));
    }
    return cases;
}

std::vector<Case> utf8_cases() {
    std::vector<Case> cases;
    const std::vector<std::string> good = {
        "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        std::string(1, '\0'),
        "ascii \x7f and \xf0\x9f\x98\x80 after eight bytes"};
    for (std::size_t i = 0; i < good.size(); ++i) {
        cases.push_back({"Good" + std::to_string(i), text(good[i]), {message(good[i])}});
        // Cut in the middle of a code point, which is no reason to refuse.
        const std::string cut = text(good[i].substr(0, 1), false) +
                                frame(WebSocketOpcode::ping, "") + more(good[i].substr(1));
        cases.push_back(
            {"GoodCut" + std::to_string(i), cut, {{Event::ping, "", false, 0}, message(good[i])}});
    }
    const std::vector<std::string> bad = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\x41",
        "\xe0\x9f\xbf",
        "\xe1\x80",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xfe",
        "\xff",
        "long enough ascii\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80 edited"};
    for (std::size_t i = 0; i < bad.size(); ++i) {
        cases.push_back(broken("Bad" + std::to_string(i), text(bad[i]), 1007));
        cases.push_back(broken(
            "BadCut" + std::to_string(i),
            text(bad[i].substr(0, 1), false) + more(bad[i].substr(1)),
            1007));
    }
    return cases;
}

const auto kName = [](const testing::TestParamInfo<Case>& entry) { return entry.param.name; };
INSTANTIATE_TEST_SUITE_P(Frames, Cases, testing::ValuesIn(frame_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Closes, Cases, testing::ValuesIn(close_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Texts, Cases, testing::ValuesIn(utf8_cases()), kName);

TEST(WebSocketCodec, BrokenTextIsNoticedBeforeTheFrameEnds) {
    WebSocketReader reader(WebSocketRole::server, kMessageMax);
    const std::string bytes = text("\xf4\x90" + std::string(1000, 'x'));
    EXPECT_EQ(reader.feed(bytes.substr(0, 10)).event, Event::failed);
    EXPECT_EQ(reader.fault().code, 1007);
}

TEST(WebSocketCodec, ABadOpcodeIsNoticedWithTheFirstByte) {
    WebSocketReader reader(WebSocketRole::server, kMessageMax);
    EXPECT_EQ(reader.feed("\x83").event, Event::failed);
}

TEST(WebSocketCodec, FragmentsTogetherAreBounded) {
    const std::string half(40, 'x');
    const std::string bytes = text(half, false) + more(half, false) + more(half);
    EXPECT_EQ(
        read(WebSocketRole::server, bytes, {}, 120).heard,
        (std::vector{message(half + half + half)}));
    EXPECT_EQ(read(WebSocketRole::server, bytes, {}, 119).heard, (std::vector{failure(1009)}));
}

TEST(WebSocketCodec, AnAnnouncedLengthTakesNoMemory) {
    WebSocketReader reader(WebSocketRole::server, std::size_t{1} << 40);
    EXPECT_EQ(
        reader.feed(masked_head({0x82, 0xff, 0, 0, 0, 0x10, 0, 0, 0, 0})).event, Event::need_more);
    EXPECT_TRUE(reader.is_in_message());
    EXPECT_LT(reader.payload().capacity(), 1024U);
}

TEST(WebSocketCodec, AClientRefusesMaskedFrames) {
    EXPECT_EQ(read(WebSocketRole::client, text("x")).heard, (std::vector{failure(1002)}));
}

TEST(WebSocketCodec, KnowsWhenItIsBetweenMessages) {
    WebSocketReader reader(WebSocketRole::server, kMessageMax);
    EXPECT_FALSE(reader.is_in_message());
    EXPECT_EQ(reader.feed("\x81").event, Event::need_more);
    EXPECT_TRUE(reader.is_in_message());
    EXPECT_EQ(reader.feed(text("abc").substr(1)).event, Event::message);
    EXPECT_FALSE(reader.is_in_message());
    EXPECT_EQ(reader.feed(text("abc", false)).event, Event::need_more);
    EXPECT_TRUE(reader.is_in_message());
}

TEST(WebSocketCodec, CutsACloseReasonBetweenCharacters) {
    const std::string reason = std::string(122, 'r') + "\xc3\xa9";
    EXPECT_EQ(close_payload(1000, reason).size(), 2 + 122U);
    EXPECT_EQ(close_payload(1000, std::string(200, 'r')).size(), 125U);
    EXPECT_EQ(close_payload(1000, "\xff"), close_payload(1000, ""));
    EXPECT_EQ(close_payload(close_codes::none, "ignored"), "");
}

// --- Properties

struct Sent {
    std::string bytes;
    std::vector<Heard> expected;
};

std::string any_text() {
    std::string out;
    for (const auto point : *rc::gen::container<std::vector<std::uint32_t>>(
             rc::gen::inRange<std::uint32_t>(0, 0x500))) {
        if (point < 0x80) {
            out += static_cast<char>(point);
        } else {
            out += static_cast<char>(0xc0 | point >> 6);
            out += static_cast<char>(0x80 | (point & 0x3f));
        }
    }
    return out;
}

void append_any_frame(std::string& out, const WebSocketFrame& plain, bool is_masked) {
    WebSocketFrame one = plain;
    if (is_masked) {
        one.mask = *rc::gen::arbitrary<WebSocketMask>();
    }
    append_frame(out, one);
}

// Messages in random fragments with random control frames between them.
Sent any_conversation(bool is_masked) {
    Sent sent;
    const int messages = *rc::gen::inRange(1, 6);
    for (int i = 0; i < messages; ++i) {
        const bool is_text = *rc::gen::arbitrary<bool>();
        const std::string payload = is_text ? any_text() : *rc::gen::arbitrary<std::string>();
        std::string_view left = payload;
        WebSocketOpcode opcode = is_text ? WebSocketOpcode::text : WebSocketOpcode::binary;
        for (auto fragments = *rc::gen::inRange(0, 4); fragments >= 0; --fragments) {
            const bool is_final = fragments == 0;
            const std::size_t count =
                is_final ? left.size() : *rc::gen::inRange<std::size_t>(0, left.size() + 1);
            append_any_frame(
                sent.bytes,
                {.opcode = opcode, .payload = left.substr(0, count), .is_final = is_final},
                is_masked);
            left.remove_prefix(count);
            opcode = WebSocketOpcode::continuation;
            if (!is_final && *rc::gen::arbitrary<bool>()) {
                append_any_frame(
                    sent.bytes, {.opcode = WebSocketOpcode::ping, .payload = "beat"}, is_masked);
                sent.expected.push_back({Event::ping, "beat", false, 0});
            }
        }
        sent.expected.push_back({Event::message, payload, is_text, 0});
    }
    return sent;
}

std::vector<std::size_t> any_cuts() {
    return *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 20));
}

TEST(WebSocketCodecProperty, AnyConversationIsHeardUnderAnyCuts) {
    EXPECT_TRUE(rc::check([] {
        const bool is_to_server = *rc::gen::arbitrary<bool>();
        const Sent sent = any_conversation(is_to_server);
        const auto role = is_to_server ? WebSocketRole::server : WebSocketRole::client;
        RC_ASSERT(read(role, sent.bytes, any_cuts()).heard == sent.expected);
    }));
}

TEST(WebSocketCodecProperty, ChangedBytesAreHeardTheSameUnderAnyCuts) {
    EXPECT_TRUE(rc::check([] {
        Sent sent = any_conversation(true);
        const int changes = *rc::gen::inRange(1, 4);
        for (int i = 0; i < changes && !sent.bytes.empty(); ++i) {
            const auto at = *rc::gen::inRange<std::size_t>(0, sent.bytes.size());
            sent.bytes[at] = *rc::gen::arbitrary<char>();
        }
        const Reading whole = read(WebSocketRole::server, sent.bytes);
        RC_ASSERT(read(WebSocketRole::server, sent.bytes, any_cuts()).heard == whole.heard);
        for (const Heard& one : whole.heard) {
            RC_ASSERT((one.event != Event::failed || is_close_code(one.code)));
        }
    }));
}

TEST(WebSocketCodecProperty, Utf8IsCheckedTheSameInPieces) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        Utf8Checker whole;
        const bool is_text = whole.feed(bytes) && whole.is_whole();
        Utf8Checker pieces;
        bool is_good = true;
        for (const char c : bytes) {
            is_good = is_good && pieces.feed(std::string_view(&c, 1));
        }
        RC_ASSERT((is_good && pieces.is_whole()) == is_text);
    }));
}

}  // namespace
}  // namespace interlock
