#include "engine/system/random_id_source.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace interlock {

namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";

}  // namespace

TEST(RandomIdSource, AnIdIsItsPrefixAndTwentySixCharacters) {
    RandomIdSource ids;
    const std::string id = ids.new_id("apr");
    ASSERT_EQ(id.size(), 4u + 26u);
    EXPECT_EQ(id.substr(0, 4), "apr_");
    EXPECT_EQ(id.find_first_not_of(kAlphabet, 4), std::string::npos);
}

TEST(RandomIdSource, ASecretIsItsPrefixAndFiftyTwoCharacters) {
    RandomIdSource ids;
    const SecretString secret = ids.new_secret("ilk");
    ASSERT_EQ(secret.reveal().size(), 4u + 52u);
    EXPECT_TRUE(secret.reveal().starts_with("ilk_"));
    EXPECT_EQ(secret.reveal().find_first_not_of(kAlphabet, 4), std::string::npos);
}

TEST(RandomIdSource, EveryCharacterOccurs) {
    RandomIdSource ids;
    std::set<char> seen;
    for (int n = 0; n < 200; ++n) {  // 5200 draws; missing one of 32 has odds of about 1e-70.
        for (const char c : ids.new_id("x").substr(2)) {
            seen.insert(c);
        }
    }
    EXPECT_EQ(seen.size(), 32u);
}

TEST(RandomIdSource, ThreadsNeverDrawTheSameId) {
    RandomIdSource ids;
    constexpr int kThreads = 4;
    constexpr int kEach = 2000;  // More than one buffer holds.
    std::mutex mutex;
    std::set<std::string> all;
    std::vector<std::thread> threads;
    for (int n = 0; n < kThreads; ++n) {
        threads.emplace_back([&] {
            std::vector<std::string> drawn;
            for (int i = 0; i < kEach; ++i) {
                drawn.push_back(ids.new_id("x"));
            }
            const std::lock_guard lock(mutex);
            all.insert(drawn.begin(), drawn.end());
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(all.size(), static_cast<std::size_t>(kThreads * kEach));
}

}  // namespace interlock
