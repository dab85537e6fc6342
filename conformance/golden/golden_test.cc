// What the program says today, compared byte for byte with the golden files (README.md): the
// answers of every operation over HTTP and of every tool over MCP, the documents that it serves,
// the audit chains and receipts that come of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "golden_files.h"
#include "golden_player.h"
#include "trader/service/decision_receipt.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

constexpr std::size_t kFileBytesMax = 600'000;

fs::path golden_root() {
    return fs::path(INTERLOCK_SOURCE_DIR) / "conformance/golden";
}

bool is_writing() {
    const char* const wish = std::getenv("INTERLOCK_GOLDEN_WRITE");
    return wish != nullptr && std::string_view(wish) == "1";
}

// The scripts' names; each has a folder of files.
std::vector<std::string> part_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(golden_root() / "script")) {
        names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    return names;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IsWhatTheProgramSays) {
    const std::string script = read_golden(golden_root() / "script").at(GetParam() + ".txt");
    GoldenPlayer over_http(GoldenPlayer::Face::http);
    Files now = over_http.play(script);
    ASSERT_FALSE(HasFailure());
    const Files chains = over_http.chains();
    GoldenPlayer over_mcp(GoldenPlayer::Face::mcp);
    now["mcp.txt"] = over_mcp.play(script).at("mcp.txt");
    ASSERT_FALSE(HasFailure());
    const std::string over_faces = golden_difference(chains, over_mcp.chains());
    EXPECT_TRUE(over_faces.empty()) << "over MCP the record is another:\n" << over_faces;
    now.insert(chains.begin(), chains.end());
    std::erase_if(now, [](const auto& file) { return file.second.empty(); });
    for (const auto& [name, text] : now) {
        EXPECT_LT(text.size(), kFileBytesMax) << name << " is too long to read; split it";
    }
    const fs::path folder = golden_root() / "files" / GetParam();
    if (is_writing()) {
        write_golden(folder, now);
    }
    const std::string told = golden_difference(read_golden(folder), now);
    EXPECT_TRUE(told.empty())
        << "conformance/golden/files/" << GetParam() << " is another now. The first difference of "
        << "each file:\n"
        << told
        << "If that is meant, write them anew with INTERLOCK_GOLDEN_WRITE=1 "
           "build/release/bin/golden_conformance_test, in a commit that says why "
           "(conformance/golden/README.md).";
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(part_names()), [](const auto& given) {
    return given.param;
});

// What the golden files hold of one operation.
struct Seen {
    bool has_success = false;
    bool has_problem = false;
};

// A transcript tells an answer as "    <operation> <status> <type>", its body below.
std::map<std::string, Seen> seen_in(const std::string& file, bool over_mcp) {
    std::map<std::string, Seen> seen;
    for (const std::string& part : part_names()) {
        const Files files = read_golden(golden_root() / "files" / part);
        const auto found = files.find(file);
        std::istringstream in(found == files.end() ? "" : found->second);
        std::string operation;
        for (std::string line; std::getline(in, line);) {
            std::istringstream words(line);
            std::string first;
            int number = 0;
            const bool is_head = line.starts_with("    ") && words >> first >> number;
            if (is_head) {
                operation = first;
            }
            const bool is_problem = over_mcp ? line.contains("\"isError\":true") : number >= 400;
            const bool is_told = over_mcp ? line.contains("\"result\":{\"content\"") : is_head;
            if (is_told) {
                (is_problem ? seen[operation].has_problem : seen[operation].has_success) = true;
            }
        }
    }
    return seen;
}

TEST(GoldenCoverage, EveryOperationIsAnsweredWellAndWithAProblem) {
    const auto seen = seen_in("answers.txt", false);
    ApiWorld world;
    for (const Operation& operation : world.table().all()) {
        const auto found = seen.find(operation.id);
        const Seen here = found == seen.end() ? Seen{} : found->second;
        EXPECT_TRUE(here.has_success)
            << operation.id << " is never answered well; add a call to conformance/golden/script";
        EXPECT_TRUE(here.has_problem)
            << operation.id << " is never refused; add a call to conformance/golden/script";
    }
}

TEST(GoldenCoverage, EveryToolIsAnsweredWellAndWithAProblemOverMcp) {
    const auto seen = seen_in("mcp.txt", true);
    ApiWorld world;
    for (const Operation& operation : world.table().all()) {
        if (!operation.tool) {
            continue;
        }
        const auto found = seen.find(operation.id);
        const Seen here = found == seen.end() ? Seen{} : found->second;
        EXPECT_TRUE(here.has_success) << operation.id << " is never answered well to an access key";
        EXPECT_TRUE(here.has_problem) << operation.id << " is never refused to an access key";
    }
}

TEST(GoldenCoverage, EveryFolderOfFilesHasItsScript) {
    const auto parts = part_names();
    const std::set<std::string> known(parts.begin(), parts.end());
    for (const auto& entry : fs::directory_iterator(golden_root() / "files")) {
        EXPECT_TRUE(known.contains(entry.path().filename().string())) << entry.path();
    }
}

// Not only the same when made anew: those that lie here are good as they are.
TEST(GoldenReceipts, Verify) {
    int receipts = 0;
    for (const auto& [name, text] : read_golden(golden_root() / "files/loop")) {
        if (!name.starts_with("receipt.")) {
            continue;
        }
        ++receipts;
        const ReceiptReport report = verify_receipt(text);
        EXPECT_EQ(report.problem, "") << name;
        EXPECT_GT(report.replay.steps, 0) << name << ": " << report.replay.detail;
    }
    EXPECT_GE(receipts, 2);
}

}  // namespace
}  // namespace interlock
