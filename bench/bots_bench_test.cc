#include "bench/bots_bench.h"

#include <gtest/gtest.h>

#include "bench/server_process.h"
#include "bench/wrk_load.h"

namespace interlock {
namespace {

TEST(WrkLoad, ReadsTheLineOfItsScript) {
    const auto report = parse_wrk_line("interlock 2000000 5000 12 3 410 950");
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->answers, 5000);
    EXPECT_EQ(report->refused, 12);
    EXPECT_EQ(report->broken, 3);
    EXPECT_DOUBLE_EQ(report->per_second, 2500);
    EXPECT_EQ(report->p50_us, 410);
    EXPECT_EQ(report->p99_us, 950);
}

TEST(WrkLoad, TakesNothingElseForAResult) {
    for (const char* line :
         {"", "Requests/sec: 100", "interlock 1 2 3", "interlock 0 1 0 0 1 1", "interlock x"}) {
        EXPECT_FALSE(parse_wrk_line(line).has_value()) << line;
    }
}

TEST(FindProgram, SaysWhichPackageBringsAMissingOne) {
    const auto found = find_program("no-such-program-anywhere", "some-package");
    ASSERT_FALSE(found.has_value());
    EXPECT_NE(found.error().message.find("no-such-program-anywhere"), std::string::npos);
    EXPECT_NE(found.error().next().find("some-package"), std::string::npos);
    EXPECT_TRUE(find_program("sh", "dash").has_value());
}

TEST(BotsBench, TellsWhatItMeasuredInBothForms) {
    BotsBenchReport report;
    report.reads = {{.endpoint = "/status", .answer_bytes = 175, .header_ratio = 0.75}};
    report.pulses = BotPulseReport{
        .bots = 10,
        .pulses = 60,
        .acting = 4,
        .missed = 2,
        .resident_empty = 20'000'000,
        .resident_full = 21'500'000};
    report.growth = {
        {.is_folding = true,
         .bots = 10,
         .seconds = 60,
         .running_bytes = 0,
         .closing_bytes = 10'000},
        {.is_folding = false,
         .bots = 10,
         .seconds = 60,
         .running_bytes = 60'000,
         .closing_bytes = 0}};
    EXPECT_DOUBLE_EQ(report.growth[0].bytes_per_day(), 480'000);
    EXPECT_DOUBLE_EQ(report.growth[1].bytes_per_day(), 86'400'000);
    report.isolation = {
        {.flood = "reads", .call = "GET status", .alone_p99_us = 200, .flooded_p99_us = 300}};
    EXPECT_DOUBLE_EQ(report.pulses->bytes_per_bot(), 150'000);
    EXPECT_DOUBLE_EQ(report.isolation[0].p99_ratio(), 1.5);
    const std::string text = to_text(report);
    for (const char* word :
         {"/status",
          "75%",
          "60 done",
          "2 missed",
          "4 changed orders",
          "150 kB",
          "86.4 MB",
          "1.50x"}) {
        EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
    }
    const std::string json = to_text(encode(report));
    for (const char* word :
         {R"("header_ratio":0.750)", R"("bytes_per_bot":150000)", R"("p99_ratio":1.50)"}) {
        EXPECT_NE(json.find(word), std::string::npos) << word << " in\n" << json;
    }
}

}  // namespace
}  // namespace interlock
