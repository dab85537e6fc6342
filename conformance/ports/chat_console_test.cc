// Holds the console to the promises of relay/ports/chat_platform.h.
#include "chat_platform_suite.h"
#include "relay/platforms/console/console_platform.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

class ConsoleHarness final : public ChatPlatformHarness {
public:
    ChatPlatform& platform() override { return console_; }
    Timestamp now() override { return clock_.now(); }
    std::vector<std::string> secrets() const override { return {}; }
    std::string chat_id(int number) const override { return "room" + std::to_string(number); }
    void set_far_side(FarSide behaviour) override {
        console_.set_fault(
            behaviour == FarSide::refuses       ? ConsoleFault::refuses
            : behaviour == FarSide::limits_once ? ConsoleFault::limits_once
            : behaviour == FarSide::fails       ? ConsoleFault::fails
            : behaviour == FarSide::unreachable ? ConsoleFault::unreachable
            : behaviour == FarSide::cuts        ? ConsoleFault::cuts
                                                : ConsoleFault::none);
    }
    std::size_t attempts() override { return console_.attempts(); }
    std::vector<std::string> accepted() override {
        std::vector<std::string> texts;
        for (int number = 1; number <= 8; ++number) {
            for (const ConsoleMessage& message : console_.messages(chat_id(number))) {
                texts.push_back(message.text);
            }
        }
        return texts;
    }
    void write(PlatformInbox&, const std::string& text) override {
        EXPECT_TRUE(console_.say("alice", "dm:alice", text).has_value());
    }
    void send_again(PlatformInbox&) override {
        for (const std::string& id : console_.not_stored()) {
            EXPECT_TRUE(console_.send_again(id).has_value());
        }
    }

private:
    FakeClock clock_;
    ConsolePlatform console_{{.clock = clock_, .wait = [this](Duration span) {
                                  clock_.advance(span);
                                  return true;
                              }}};
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Console,
    ChatPlatformSuite,
    ::testing::Values(ChatPlatformKind{
        "console", [] { return std::make_unique<ConsoleHarness>(); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace interlock
