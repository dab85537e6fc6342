// The promises of relay/ports/chat_platform.h as tests; chat_platform_suite.cc has them. Every
// platform must pass them against a far side that its harness plays.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "chat_platform_harness.h"

namespace interlock {

class ChatPlatformSuite : public ::testing::TestWithParam<ChatPlatformKind> {
protected:
    ChatPlatformSuite() : harness_(GetParam().make()) {}
    // Threads of the platform use the inbox.
    ~ChatPlatformSuite() override { platform().stop(); }

    ChatPlatform& platform() { return harness_->platform(); }
    ChatPlatformHarness& harness() { return *harness_; }
    SuiteInbox& inbox() { return inbox_; }

    // A call that may take `patience`.
    PlatformCall call_of(RelayAction action, Duration patience = Duration::of_seconds(30));
    PlatformReply send(const std::string& text, Duration patience = Duration::of_seconds(30));
    void expect_no_secrets(const std::string& text);
    void expect_no_secrets(const PlatformReply& reply);

private:
    std::unique_ptr<ChatPlatformHarness> harness_;
    SuiteInbox inbox_;
    int calls_ = 0;
};

}  // namespace interlock
