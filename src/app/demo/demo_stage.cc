#include "app/demo/demo_stage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "app/command/console.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

constexpr std::string_view kBold = "1";
constexpr std::string_view kDim = "2";
constexpr std::string_view kGood = "32";
constexpr std::string_view kBad = "31;1";

// The time of day to the millisecond, as the records have it (UTC).
std::string time_of_day() {
    SystemClock clock;
    const std::string text = to_text(clock.now());
    return text.substr(11, 12);
}

}  // namespace

std::string duration_text(std::chrono::nanoseconds time) {
    const double ms = static_cast<double>(time.count()) / 1e6;
    return ms < 1000 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.2f} s", ms / 1000);
}

DemoStage::DemoStage() : colours_(wants_colour(STDOUT_FILENO)) {}

std::string DemoStage::painted(std::string_view code, const std::string& text) const {
    return colours_ ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

void DemoStage::end_scene() {
    if (times_.size() < scenes_.size()) {
        times_.push_back(std::chrono::steady_clock::now() - scenes_.back().begun);
    }
}

void DemoStage::open_scene(const std::string& title) {
    end_scene();
    scenes_.push_back({title, std::chrono::steady_clock::now(), true});
    std::cout << "\n"
              << painted(kBold, fmt::format("Scene {}: {}", scenes_.size(), title)) << std::endl;
}

void DemoStage::show(const Step& step) {
    const std::string time = painted(kDim, time_of_day());
    std::cout << fmt::format(
        "  {}  {:<24} {:>9}  {}",
        time,
        step.what,
        duration_text(step.took),
        print_safe(step.result));
    if (!step.audit_ref.empty()) {
        std::cout << painted(kDim, "  audit_ref " + step.audit_ref);
    }
    std::cout << std::endl;
}

void DemoStage::say(const std::string& text) {
    std::cout << fmt::format("                {}", print_safe(text)) << std::endl;
}

void DemoStage::promise(bool held, const std::string& text) {
    const std::string word = held ? painted(kGood, "  holds") : painted(kBad, "  BROKEN");
    std::cout << word << "  " << print_safe(text) << std::endl;
    if (!held) {
        all_held_ = false;
        scenes_.back().held = false;
    }
}

void DemoStage::fail_scene(const std::string& why) {
    promise(false, "the scene could not be played: " + why);
}

void DemoStage::close() {
    end_scene();
    std::cout << "\n" << painted(kBold, "The scenes took") << "\n";
    for (std::size_t i = 0; i < times_.size(); ++i) {
        const std::string mark = scenes_[i].held ? painted(kGood, "held") : painted(kBad, "broken");
        std::cout << fmt::format(
            "  {} {:<58} {:>9}  {}\n", i + 1, scenes_[i].title, duration_text(times_[i]), mark);
    }
    std::cout << std::flush;
}

bool DemoStage::is_stop_asked_for() {
    sigset_t waiting;
    sigemptyset(&waiting);
    return sigpending(&waiting) == 0 &&
           (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1);
}

}  // namespace interlock
