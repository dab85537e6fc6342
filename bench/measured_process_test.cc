// Tests of the processes that drills and benchmarks start, and of reading the sink's journal.
#include "bench/measured_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "base/errors.h"
#include "bench/sink_process.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

using namespace std::chrono_literals;

Result<MeasuredProcess> start_shell(const TempFolder& folder, const std::string& script) {
    return MeasuredProcess::start(
        {.command = {"/bin/sh", "-c", script},
         .log_path = folder / "log",
         .environment = {{"INTERLOCK_TEST_WORD", "hello"}}});
}

TEST(MeasuredProcess, GivesLinesAndTheExitCode) {
    const TempFolder folder;
    auto process = start_shell(folder, "echo one; echo two; exit 3");
    ASSERT_TRUE(process.has_value());
    EXPECT_EQ(process->read_line(10s).value_or(""), "one");
    EXPECT_EQ(process->read_line(10s).value_or(""), "two");
    EXPECT_EQ(process->wait(), 3);
}

TEST(MeasuredProcess, PassesTheEnvironmentOn) {
    const TempFolder folder;
    auto process = start_shell(folder, "echo $INTERLOCK_TEST_WORD");
    ASSERT_TRUE(process.has_value());
    EXPECT_EQ(process->read_line(10s).value_or(""), "hello");
}

TEST(MeasuredProcess, SaysWhenTheProcessEndsSilently) {
    const TempFolder folder;
    auto process = start_shell(folder, "exit 0");
    ASSERT_TRUE(process.has_value());
    const auto line = process->read_line(10s);
    ASSERT_FALSE(line.has_value());
    EXPECT_EQ(line.error().kind->code, errors::unavailable.code);
}

TEST(MeasuredProcess, AProgramThatDoesNotExistEndsWith127) {
    const TempFolder folder;
    auto process = MeasuredProcess::start(
        {.command = {folder / "nothing"}, .log_path = folder / "log", .environment = {}});
    ASSERT_TRUE(process.has_value());
    EXPECT_EQ(process->wait(), 127);
}

TEST(MeasuredProcess, ASignalShowsInTheExitCode) {
    const TempFolder folder;
    auto process = start_shell(folder, "echo up; exec cat /dev/zero > /dev/null");
    ASSERT_TRUE(process.has_value());
    ASSERT_TRUE(process->read_line(10s).has_value());
    process->send_signal(SIGKILL);
    EXPECT_EQ(process->wait(), 128 + SIGKILL);
}

TEST(MeasuredProcess, NeverOutlivesItsOwner) {
    const TempFolder folder;
    pid_t pid = 0;
    {
        auto process = start_shell(folder, "echo up; exec cat /dev/zero > /dev/null");
        ASSERT_TRUE(process.has_value());
        ASSERT_TRUE(process->read_line(10s).has_value());
        pid = process->pid();
    }
    EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(ProcessCpu, TellsTheBusiestThreadBetweenTwoReadings) {
    const ProcessCpu before{.total = {30}, .threads = {{1, {10}}, {2, {20}}}};
    const ProcessCpu after{.total = {100}, .threads = {{1, {15}}, {2, {30}}, {3, {8}}}};
    EXPECT_EQ(busiest_thread(before, after).microseconds, 10);
}

TEST(ProcessCpu, ReadsTimeAndMemoryOfARunningProcess) {
    const auto cpu = read_process_cpu(::getpid());
    ASSERT_TRUE(cpu.has_value());
    EXPECT_TRUE(cpu->threads.contains(::getpid()));
    EXPECT_GT(read_resident_bytes(::getpid()).value_or(0), 0);
}

TEST(SinkJournalReader, ReadsEachWholeLineOnce) {
    const TempFolder folder;
    const std::string path = folder / "journal";
    std::ofstream file(path);
    SinkJournalReader reader(path);
    file << R"({"event":"performed","effect_id":"eff_1","monotonic_us":5,"at":"x",)"
         << R"("tenant_id":"demo","kind":"probe","json":"{}"})" << "\n"
         << R"({"event":"tomb)" << std::flush;
    auto news = reader.read_new();
    ASSERT_TRUE(news.has_value());
    ASSERT_EQ(news->size(), 1u);
    EXPECT_EQ(news->front().tenant_id, "demo");
    EXPECT_EQ(news->front().monotonic_us, 5);
    file << R"(stone","effect_id":"eff_2","monotonic_us":6,"at":"x"})" << "\n" << std::flush;
    news = reader.read_new();
    ASSERT_TRUE(news.has_value());
    ASSERT_EQ(news->size(), 1u);
    EXPECT_EQ(news->front().event, "tombstone");
    EXPECT_TRUE(reader.read_new().value_or(std::vector<SinkArrival>(1)).empty());
}

}  // namespace
}  // namespace interlock
