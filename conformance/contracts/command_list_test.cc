// The commands of `interlock` are made from a list that the program carries (ADR 0031). It says
// what the operation table says, or this fails.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "api_world.h"
#include "app/face/call_list.h"

namespace interlock {
namespace {

TEST(CommandList, IsWhatTheOperationTableSays) {
    const std::string path = std::string(INTERLOCK_SOURCE_DIR) + "/src/app/command/operations.json";
    ApiWorld world;
    const std::string now = call_list(world.table());
    const char* const wish = std::getenv("INTERLOCK_GOLDEN_WRITE");
    if (wish != nullptr && std::string_view(wish) == "1") {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << now;
    }
    std::ifstream in(path, std::ios::binary);
    const std::string held{std::istreambuf_iterator<char>(in), {}};
    EXPECT_TRUE(held == now)
        << "src/app/command/operations.json is not what the operations say any more. Write it anew "
           "with INTERLOCK_GOLDEN_WRITE=1 build/release/bin/contract_conformance_test "
           "--gtest_filter='CommandList.*', and read its diff: it is the change of the commands.";
}

}  // namespace
}  // namespace interlock
