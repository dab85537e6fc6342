#include "bench/relay_bench.h"

#include <gtest/gtest.h>

#include "bench/gateway_swarm.h"
#include "bench/relay_load.h"
#include "bench/stream_peers.h"
#include "engine/system/system_clock.h"
#include "net/web_socket_codec.h"
#include "relay/memory/memory_relay_store.h"

namespace interlock {
namespace {

TEST(RelayBench, MeasuresEveryPartOfAnEvent) {
    RelayBenchOptions options;
    options.samples = 3;
    options.rounds = 1;
    const auto rows = run_relay_keys(options);
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    ASSERT_EQ(rows->size(), 3U);
    for (const RelayKeysRow& row : *rows) {
        EXPECT_GT(row.bytes, 400) << row.platform;
        EXPECT_GT(row.normalise_ns, 0) << row.platform;
        EXPECT_GT(row.sum_ns(), row.normalise_ns) << row.platform;
    }
}

TEST(RelayBench, TellsWhatItMeasuredInBothForms) {
    RelayBenchReport report;
    report.sockets = {
        {.server = "interlock",
         .sockets = 10,
         .resident_before = 1000,
         .resident_after = 51'000,
         .proportional_before = 0,
         .proportional_after = 40'000}};
    report.inbound = {
        {.store = "interlock", .instances = 100, .in_flight = 2, .per_second = 5000, .ratio = 1.5}};
    report.missing = {"node ws: not here"};
    EXPECT_DOUBLE_EQ(report.sockets[0].bytes_per_socket(), 5000);
    EXPECT_DOUBLE_EQ(report.sockets[0].proportional_per_socket(), 4000);
    const std::string text = to_text(report);
    EXPECT_NE(text.find("5.00 kB"), std::string::npos) << text;
    EXPECT_NE(text.find("1.50"), std::string::npos) << text;
    EXPECT_NE(text.find("not compared: node ws"), std::string::npos) << text;
    EXPECT_EQ(encode(report).find("inbound")->items().size(), 1U);
}

TEST(GatewaySwarm, FindsFramesOnlyWhenTheyAreWhole) {
    for (const std::size_t size : {std::size_t{5}, std::size_t{300}, std::size_t{70'000}}) {
        std::string bytes;
        append_frame(
            bytes,
            {.opcode = WebSocketOpcode::text,
             .payload = std::string(size, 'p'),
             .is_final = true,
             .mask = std::nullopt});
        const FrameSpan frame = find_frame(bytes);
        EXPECT_EQ(frame.end, bytes.size());
        EXPECT_EQ(frame.end - frame.payload, size);
        bytes.pop_back();
        EXPECT_EQ(find_frame(bytes).end, 0U);
        EXPECT_EQ(find_frame(bytes.substr(0, 1)).end, 0U);
    }
}

TEST(GatewaySwarm, FindsTheNumberOfAMessage) {
    EXPECT_EQ(buffer_id_in(R"({"type":"inbound","event":{},"bufferId":"17"})"), "17");
    EXPECT_EQ(buffer_id_in(R"({"type":"descriptor"})"), "");
}

TEST(RedisPeer, ReadsWhatAGroupIsGiven) {
    const std::string reply =
        "*1\r\n*2\r\n$7\r\nrelay:0\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\ne\r\n$2\r\nab\r\n"
        "*2\r\n$3\r\n2-0\r\n*2\r\n$1\r\ne\r\n$2\r\ncd\r\n";
    const std::string bytes = reply + ":1\r\n";  // The ids of a reply are views into it.
    const RedisReply whole = read_redis_reply(bytes);
    EXPECT_EQ(whole.end, reply.size());
    EXPECT_EQ(whole.entry_ids, (std::vector<std::string_view>{"1-0", "2-0"}));
    for (std::size_t cut = 0; cut < reply.size(); ++cut) {
        EXPECT_EQ(read_redis_reply(reply.substr(0, cut)).end, 0U) << cut;
    }
}

TEST(RedisPeer, ReadsPlainReplies) {
    EXPECT_EQ(read_redis_reply("+OK\r\n:2\r\n").end, 5U);
    EXPECT_EQ(read_redis_reply(":12\r\n").end, 5U);
    EXPECT_EQ(read_redis_reply("$3\r\n1-0\r\n").end, 9U);
    EXPECT_FALSE(read_redis_reply("+OK\r\n").is_error);
    EXPECT_TRUE(read_redis_reply("-ERR no\r\n").is_error);
}

TEST(NatsPeer, ReadsMessagesWithAndWithoutAReply) {
    const std::string bytes = "MSG deliver.3 1 $JS.ACK.x 5\r\nhello\r\nPING\r\n";
    const NatsMessage message = read_nats_message(bytes);
    EXPECT_EQ(message.verb, "MSG");
    EXPECT_EQ(message.subject, "deliver.3");
    EXPECT_EQ(message.reply, "$JS.ACK.x");
    EXPECT_EQ(message.payload, "hello");
    EXPECT_EQ(read_nats_message(bytes.substr(message.end)).verb, "PING");
    for (std::size_t cut = 0; cut < message.end; ++cut) {
        EXPECT_EQ(read_nats_message(bytes.substr(0, cut)).end, 0U) << cut;
    }
    const std::string empty = "MSG acked.3 2 0\r\n\r\n";
    EXPECT_EQ(read_nats_message(empty).end, empty.size());
    EXPECT_EQ(read_nats_message(empty).reply, "");
}

TEST(TimedRelayStore, MeasuresFromTheTimeInTheTextToTheStoredAcknowledgement) {
    MemoryRelayStore memory;
    SystemClock clock;
    TimedRelayStore store(memory, clock, 3);
    std::vector<std::int64_t> done;
    store.on_done([&](std::int64_t instance) { done.push_back(instance); });
    store.begin_measuring();
    RelayCommit batch;
    BufferEntry entry;
    entry.instance_id = bench_instance_id(2);
    entry.seq = 5;
    entry.text = R"({"text":"000000000000000001xxxx"})";
    batch.appended.push_back(entry);
    ASSERT_TRUE(store.commit(batch).has_value());
    RelayCommit acknowledged;
    acknowledged.acknowledged.push_back({bench_instance_id(2), 5});
    ASSERT_TRUE(store.commit(acknowledged).has_value());
    EXPECT_EQ(done, std::vector<std::int64_t>{2});
    const LoadFigures figures = store.end_measuring();
    EXPECT_EQ(figures.messages, 1);
    ASSERT_EQ(figures.latencies_us.size(), 1U);
    EXPECT_GT(figures.latencies_us[0], 1'000'000'000);  // Since the beginning of time, nearly.
}

}  // namespace
}  // namespace interlock
