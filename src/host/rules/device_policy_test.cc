#include "host/rules/device_policy.h"

#include <gtest/gtest.h>

#include "host/rules/login_policy.h"

namespace interlock {
namespace {

constexpr Timestamp kNow{1'800'000'000'000'000};

std::string hash(int n) {
    return std::string(63, 'h') + std::to_string(n);
}

TEST(DevicePolicy, CountsFailuresOfAKnownDeviceApartFromThoseOfStrangers) {
    Human human = remember_device({}, hash(1), kNow);
    for (int i = 0; i < 5; ++i) {
        LoginCounter& strangers = login_counter(human, "");
        strangers = after_failure(strangers, kNow);
    }
    EXPECT_FALSE(check_not_locked(login_counter(human, hash(2)), kNow));
    EXPECT_TRUE(check_not_locked(login_counter(human, hash(1)), kNow));
}

TEST(DevicePolicy, ShutsAKnownDeviceLikeAStranger) {
    Human human = remember_device({}, hash(1), kNow);
    for (int i = 0; i < 5; ++i) {
        LoginCounter& own = login_counter(human, hash(1));
        own = after_failure(own, kNow);
    }
    EXPECT_FALSE(check_not_locked(login_counter(human, hash(1)), kNow));
    EXPECT_TRUE(check_not_locked(login_counter(human, ""), kNow));
}

TEST(DevicePolicy, StartsTheCountAnewWithALogin) {
    Human human = remember_device({}, hash(1), kNow);
    login_counter(human, hash(1)).failed = 4;
    human = remember_device(std::move(human), hash(1), kNow);
    EXPECT_EQ(human.devices.size(), 1u);
    EXPECT_EQ(login_counter(human, hash(1)).failed, 0);
}

TEST(DevicePolicy, ForgetsTheDeviceThatWasUnusedLongestAtTheBound) {
    Human human;
    for (int i = 0; i < static_cast<int>(kDevicesMax); ++i) {
        human = remember_device(std::move(human), hash(i), kNow);
    }
    human = remember_device(std::move(human), hash(0), kNow);  // Used again.
    human = remember_device(std::move(human), "another", kNow);
    EXPECT_EQ(human.devices.size(), kDevicesMax);
    EXPECT_TRUE(is_known_device(human, hash(0)));
    EXPECT_FALSE(is_known_device(human, hash(1)));
    EXPECT_FALSE(is_known_device(human, ""));
}

}  // namespace
}  // namespace interlock
