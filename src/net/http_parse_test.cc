// Parsing: what is a request, what is refused, and that the arrival of bytes makes no difference.
#include "net/http_parse.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace interlock {
namespace {

constexpr HttpParseLimits kLimits{.header_bytes_max = 1024, .body_bytes_max = 64};

struct Outcome {
    std::vector<ParsedRequest> requests;
    std::optional<HttpFault> fault;
    std::string unread;
};

// Feeds `bytes` cut at the given sizes (cyclic), as a connection would.
Outcome parse(
    std::string_view bytes, std::vector<std::size_t> cuts = {}, HttpParseLimits limits = kLimits) {
    HttpRequestParser parser(limits);
    Outcome outcome;
    std::size_t turn = 0;
    while (!bytes.empty()) {
        const std::size_t count =
            cuts.empty() ? bytes.size() : std::min(bytes.size(), cuts[turn++ % cuts.size()]);
        outcome.unread += bytes.substr(0, count);
        bytes.remove_prefix(count);
        while (true) {
            const ParseStep step = parser.feed(outcome.unread);
            outcome.unread.erase(0, step.consumed);
            if (step.status == ParseStatus::failed) {
                outcome.fault = parser.fault();
                return outcome;
            }
            if (step.status == ParseStatus::need_more) {
                break;
            }
            outcome.requests.push_back(parser.take());
        }
    }
    return outcome;
}

ParsedRequest parse_one(std::string_view bytes) {
    Outcome outcome = parse(bytes);
    EXPECT_EQ(outcome.requests.size(), 1u) << bytes;
    EXPECT_FALSE(outcome.fault) << bytes;
    return outcome.requests.empty() ? ParsedRequest{} : std::move(outcome.requests.front());
}

TEST(HttpParse, ReadsARequestWithABody) {
    const ParsedRequest parsed = parse_one(
        "POST /a/b?c=d HTTP/1.1\r\nHost: h\r\nX-One:  two \r\nContent-Length: 5\r\n\r\nhello");
    EXPECT_EQ(parsed.request.method, "POST");
    EXPECT_EQ(parsed.request.target, "/a/b?c=d");
    EXPECT_EQ(parsed.request.header("x-one"), "two");
    EXPECT_EQ(parsed.request.body, "hello");
    EXPECT_TRUE(parsed.keep_alive);
    EXPECT_FALSE(parsed.http_1_0);
}

TEST(HttpParse, JoinsChunksAndDropsExtensionsAndTrailers) {
    const ParsedRequest parsed = parse_one(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
        "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nHost: other\r\nX-Trailer: t\r\n\r\n");
    EXPECT_EQ(parsed.request.body, "abcde");
    EXPECT_EQ(parsed.request.header("Host"), "h");
    EXPECT_FALSE(parsed.request.header("X-Trailer"));
}

TEST(HttpParse, KnowsWhenTheConnectionStaysOpen) {
    EXPECT_TRUE(parse_one("GET / HTTP/1.1\r\nHost: h\r\n\r\n").keep_alive);
    EXPECT_FALSE(parse_one("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").keep_alive);
    EXPECT_FALSE(parse_one("GET / HTTP/1.0\r\n\r\n").keep_alive);
    EXPECT_TRUE(parse_one("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST(HttpParse, TakesPathAndHostFromAnAbsoluteTarget) {
    const ParsedRequest parsed =
        parse_one("GET http://real:80/a?b HTTP/1.1\r\nHost: pretended\r\n\r\n");
    EXPECT_EQ(parsed.request.target, "/a?b");
    EXPECT_EQ(parsed.request.header("Host"), "real:80");
    EXPECT_EQ(parse_one("GET http://real HTTP/1.1\r\nHost: x\r\n\r\n").request.target, "/");
    EXPECT_EQ(parse_one("GET http://real?q HTTP/1.1\r\nHost: x\r\n\r\n").request.target, "/?q");
}

TEST(HttpParse, SkipsBlankLinesBeforeARequest) {
    EXPECT_EQ(parse_one("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n").request.target, "/");
}

TEST(HttpParse, AsksForTheBodyOnlyWhenItHasNotCome) {
    const std::string head =
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    HttpRequestParser waiting(kLimits);
    EXPECT_EQ(waiting.feed(head).status, ParseStatus::need_more);
    EXPECT_TRUE(waiting.take_continue());
    EXPECT_FALSE(waiting.take_continue());
    HttpRequestParser eager(kLimits);
    EXPECT_EQ(eager.feed(head + "a").status, ParseStatus::need_more);
    EXPECT_FALSE(eager.take_continue());
}

// Beast's own chunk reader aborts the process here.
TEST(HttpParse, ReadsAnEmptyChunkedBodyByteByByte) {
    const Outcome outcome =
        parse("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {1});
    EXPECT_EQ(outcome.requests.size(), 1u);
}

struct BadCase {
    std::string_view name;
    std::string_view bytes;
};

class HttpParseRefuses : public testing::TestWithParam<BadCase> {};

TEST_P(HttpParseRefuses, AsInvalidHttp) {
    const Outcome outcome = parse(GetParam().bytes);
    EXPECT_EQ(outcome.fault, HttpFault::invalid_http);
    EXPECT_TRUE(outcome.requests.empty());
}

std::string name_of(const testing::TestParamInfo<BadCase>& tested) {
    return std::string(tested.param.name);
}

INSTANTIATE_TEST_SUITE_P(
    Framing,
    HttpParseRefuses,
    testing::Values(
        BadCase{
            "LengthAndChunked",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n"
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        BadCase{
            "ChunkedAndLength",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
            "Content-Length: 4\r\n\r\n0\r\n\r\n"},
        BadCase{
            "SameLengthTwice",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"},
        BadCase{
            "TwoLengths",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
        BadCase{"LengthList", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\na"},
        BadCase{"SignedLength", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\na"},
        BadCase{"NegativeLength", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\na"},
        BadCase{"HexLength", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\na"},
        BadCase{"EmptyLength", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n"},
        BadCase{
            "HugeLength",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551617\r\n\r\na"},
        BadCase{
            "ChunkedNotLast",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n"},
        BadCase{"OtherCoding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"},
        BadCase{
            "AlmostChunked",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
        BadCase{
            "ChunkedTwice",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        BadCase{
            "ChunkedInHttp10", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    HeaderLines,
    HttpParseRefuses,
    testing::Values(
        BadCase{"SpaceBeforeColon", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 4\r\n\r\nabcd"},
        BadCase{"FoldedHeader", "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"},
        BadCase{
            "FoldedFraming",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"},
        BadCase{"FirstLineFolded", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"},
        BadCase{"BareLineFeed", "GET / HTTP/1.1\nHost: h\r\n\r\n\r\n"},
        BadCase{"BareLineFeedInHeader", "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n"},
        BadCase{"BareReturnInHeader", "GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n"},
        BadCase{"HeaderWithoutColon", "GET / HTTP/1.1\r\nHost: h\r\nNonsense\r\n\r\n"},
        BadCase{"HeaderWithoutName", "GET / HTTP/1.1\r\nHost: h\r\n: v\r\n\r\n"},
        BadCase{"NulInHeader", std::string_view("GET / HTTP/1.1\r\nHost: h\0\r\n\r\n", 29)},
        BadCase{"NoHost", "GET / HTTP/1.1\r\n\r\n"},
        BadCase{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    StartLines,
    HttpParseRefuses,
    testing::Values(
        BadCase{"Connect", "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"ConnectToPath", "CONNECT / HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"Asterisk", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"RelativeTarget", "GET a HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"OtherScheme", "GET ftp://h/a HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"NoAuthority", "GET http:///a HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"Fragment", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"NonAsciiTarget", "GET /\xc3\xa4 HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"SpaceInTarget", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"NoVersion", "GET /\r\n\r\n"},
        BadCase{"Version2", "GET / HTTP/2.0\r\nHost: h\r\n\r\n"},
        BadCase{"Version09", "GET / HTTP/0.9\r\nHost: h\r\n\r\n"},
        BadCase{"ShortVersion", "GET / H\r\n\r\n"},
        BadCase{"BadMethod", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n"},
        BadCase{"TlsHello", std::string_view("\x16\x03\x01\x02\x00\x01\r\n\r\n", 10)}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Chunks,
    HttpParseRefuses,
    testing::Values(
        BadCase{
            "ChunkWithoutSize",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabc\r\n"},
        BadCase{
            "ChunkSizeNotHex",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n"},
        BadCase{
            "ChunkSizePrefixed",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
            "chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n"},
        BadCase{
            "ChunkSizeNegative",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n"},
        BadCase{
            "ChunkSizeOverflows",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            "10000000000000003\r\nabc\r\n"},
        BadCase{
            "ChunkLongerThanItsSize",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
            "chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n"},
        BadCase{
            "ChunkLineWithBareLineFeed",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n"},
        BadCase{
            "LengthInTrailer",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            "0\r\nContent-Length: 5\r\n\r\n"}),
    name_of);

TEST(HttpParse, RefusesADeclaredBodyOverTheBound) {
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ";
    EXPECT_FALSE(parse(head + "64\r\n\r\n" + std::string(64, 'x')).fault);
    EXPECT_EQ(parse(head + "65\r\n\r\n").fault, HttpFault::body_too_large);
}

TEST(HttpParse, RefusesChunksThatAddUpOverTheBound) {
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string half = "20\r\n" + std::string(32, 'x') + "\r\n";
    EXPECT_FALSE(parse(head + half + half + "0\r\n\r\n").fault);
    EXPECT_EQ(parse(head + half + half + "1\r\n").fault, HttpFault::body_too_large);
}

std::string request_of_size(std::size_t size) {
    const std::string start = "GET / HTTP/1.1\r\nHost: h\r\nX: ";
    return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
}

TEST(HttpParse, RefusesHeadersOverTheBound) {
    EXPECT_FALSE(parse(request_of_size(1024)).fault);
    EXPECT_EQ(parse(request_of_size(1025)).fault, HttpFault::headers_too_large);
}

TEST(HttpParse, RefusesHeadersOverTheBoundBeforeTheyEnd) {
    EXPECT_FALSE(parse(request_of_size(3000).substr(0, 1024)).fault);
    EXPECT_EQ(parse(request_of_size(3000).substr(0, 1025)).fault, HttpFault::headers_too_large);
}

TEST(HttpParse, BlamesTheTargetWhenTheFirstLineNeverEnds) {
    EXPECT_EQ(parse("GET /" + std::string(2000, 'a')).fault, HttpFault::uri_too_long);
}

TEST(HttpParse, RefusesATargetOverTheBound) {
    const HttpParseLimits wide{.header_bytes_max = 32 * 1024, .body_bytes_max = 64};
    const auto with_target = [&](std::size_t size) {
        return parse(
            "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n", {}, wide);
    };
    EXPECT_FALSE(with_target(kTargetBytesMax).fault);
    EXPECT_EQ(with_target(kTargetBytesMax + 1).fault, HttpFault::uri_too_long);
}

TEST(HttpParse, RefusesTooManyHeaders) {
    const HttpParseLimits wide{.header_bytes_max = 32 * 1024, .body_bytes_max = 64};
    const auto with_headers = [&](std::size_t count) {
        std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n";
        for (std::size_t i = 1; i < count; ++i) {
            bytes += "X: y\r\n";
        }
        return parse(bytes + "\r\n", {}, wide);
    };
    EXPECT_FALSE(with_headers(kHeaderCountMax).fault);
    EXPECT_EQ(with_headers(kHeaderCountMax + 1).fault, HttpFault::headers_too_large);
}

TEST(HttpParse, RefusesAChunkLineThatNeverEnds) {
    const Outcome outcome = parse(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;" +
        std::string(1100, 'x'));
    EXPECT_EQ(outcome.fault, HttpFault::headers_too_large);
}

TEST(HttpParse, RefusesTrailersThatNeverEnd) {
    const Outcome outcome = parse(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " +
        std::string(1100, 'x'));
    EXPECT_EQ(outcome.fault, HttpFault::headers_too_large);
}

// A request made of parts, in one of the three framings.
rc::Gen<std::string> any_request() {
    return rc::gen::map(
        rc::gen::tuple(
            rc::gen::element<std::string>("GET", "POST", "PUT", "M-SEARCH"),
            rc::gen::inRange(0, 3),
            rc::gen::resize(40, rc::gen::string<std::string>())),
        [](const std::tuple<std::string, int, std::string>& parts) {
            const auto& [method, framing, body] = parts;
            std::string out = method + " /t HTTP/1.1\r\nHost: h\r\n";
            if (framing == 0) {
                return out + "\r\n";
            }
            if (framing == 1) {
                return out + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
            }
            out += "Transfer-Encoding: chunked\r\n\r\n";
            for (std::size_t at = 0; at < body.size(); at += 7) {
                append_chunk(out, body.substr(at, 7));
            }
            return out + std::string(kLastChunk);
        });
}

bool are_same(const Outcome& a, const Outcome& b) {
    const auto is_equal = [](const ParsedRequest& x, const ParsedRequest& y) {
        return x.request.method == y.request.method && x.request.target == y.request.target &&
               x.request.headers == y.request.headers && x.request.body == y.request.body &&
               x.keep_alive == y.keep_alive;
    };
    return a.fault == b.fault && std::ranges::equal(a.requests, b.requests, is_equal);
}

TEST(HttpParse, GivesTheSameRequestsHoweverTheBytesArrive) {
    EXPECT_TRUE(rc::check([] {
        const auto requests =
            *rc::gen::resize(6, rc::gen::container<std::vector<std::string>>(any_request()));
        const auto cuts = *rc::gen::nonEmpty(
            rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 40)));
        std::string bytes;
        for (const std::string& request : requests) {
            bytes += request;
        }
        const Outcome whole = parse(bytes);
        RC_ASSERT(!whole.fault);
        RC_ASSERT(whole.requests.size() == requests.size());
        RC_ASSERT(are_same(whole, parse(bytes, cuts)));
    }));
}

TEST(HttpParse, GivesTheSameVerdictOnDamagedBytesHoweverTheyArrive) {
    EXPECT_TRUE(rc::check([] {
        std::string bytes = *any_request() + *any_request();
        const std::size_t damages = *rc::gen::inRange<std::size_t>(1, 4);
        for (std::size_t i = 0; i < damages; ++i) {
            const std::size_t at = *rc::gen::inRange<std::size_t>(0, bytes.size());
            bytes[at] = *rc::gen::element('\r', '\n', ' ', ':', ';', ',', '0', 'f', '\0', '\x80');
        }
        const Outcome whole = parse(bytes);
        const Outcome bytewise = parse(bytes, {1});
        RC_ASSERT(whole.requests.size() == bytewise.requests.size());
        RC_ASSERT(are_same(whole, bytewise));
    }));
}

HttpResponse read_response(
    std::string_view bytes, bool to_head = false, ParseStatus expected = ParseStatus::complete) {
    HttpResponseParser parser(HttpParseLimits{1024, 64}, to_head);
    std::string unread;
    ParseStatus status = ParseStatus::need_more;
    for (const char c : bytes) {  // Byte by byte: the hardest arrival.
        unread += c;
        const ParseStep step = parser.feed(unread);
        unread.erase(0, step.consumed);
        status = step.status;
        if (status != ParseStatus::need_more) {
            break;
        }
    }
    if (status == ParseStatus::need_more) {
        status = parser.feed_end();
    }
    EXPECT_EQ(status, expected) << bytes;
    return parser.response();
}

TEST(HttpParse, ReadsResponsesInEveryFraming) {
    EXPECT_EQ(read_response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab").body, "ab");
    EXPECT_EQ(
        read_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
            .body,
        "ab");
    EXPECT_EQ(read_response("HTTP/1.0 200 OK\r\n\r\nuntil the end").body, "until the end");
    EXPECT_EQ(read_response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", true).body, "");
    EXPECT_EQ(read_response("HTTP/1.1 204 No Content\r\n\r\n").status, 204);
}

TEST(HttpParse, PassesOverInterimResponses) {
    EXPECT_EQ(
        read_response(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx")
            .status,
        201);
}

TEST(HttpParse, RefusesResponsesCutShortOrTooLarge) {
    read_response("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false, ParseStatus::failed);
    read_response("HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n", false, ParseStatus::failed);
    read_response("HTTP/1.1 200 OK\r\nX: " + std::string(1100, 'x'), false, ParseStatus::failed);
    read_response("HTTQ/1.1 200 OK\r\n\r\n", false, ParseStatus::failed);
    read_response("HTTP/1.1 200 OK\r\n\r\n" + std::string(65, 'x'), false, ParseStatus::failed);
}

}  // namespace
}  // namespace interlock
