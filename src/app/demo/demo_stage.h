// Where the demo's scenes are shown: headings, timed steps with their references, and a summary at
// the end. Colours only on a terminal that wants them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace interlock {

class DemoStage {
public:
    DemoStage();

    // Begins the next scene.
    void open_scene(const std::string& title);
    // One thing that was done: what, how long it took, what came of it, where it is on the record.
    struct Step {
        std::string what;
        std::chrono::nanoseconds took{};
        std::string result = {};
        std::string audit_ref = {};
    };
    void show(const Step& step);
    // A line that belongs to the step above.
    void say(const std::string& text);
    // What the scene promised and whether it held; a promise that did not hold fails the demo.
    void promise(bool held, const std::string& text);
    // What kept a scene from its end.
    void fail_scene(const std::string& why);

    // The time each scene took.
    void close();
    bool all_held() const { return all_held_; }

    // A person pressed Ctrl-C: the rest is not wanted.
    static bool is_stop_asked_for();

private:
    struct Scene {
        std::string title;
        std::chrono::steady_clock::time_point begun;
        bool held = true;
    };
    std::string painted(std::string_view code, const std::string& text) const;
    void end_scene();

    bool colours_;
    bool all_held_ = true;
    std::vector<Scene> scenes_;
    std::vector<std::chrono::nanoseconds> times_;  // Of the scenes that are over.
};

// "3.4 ms", "1.25 s".
std::string duration_text(std::chrono::nanoseconds time);

// Runs `act` and says how long it took.
template <class Act>
std::chrono::nanoseconds timed(Act act) {
    const auto begun = std::chrono::steady_clock::now();
    act();
    return std::chrono::steady_clock::now() - begun;
}

}  // namespace interlock
