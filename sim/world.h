// What stands around the server and outlives it: the effect sink, the KILL file and the head file.
//
// All of them ignore a server whose power is off. What happens at the sink is reported to whoever
// watches, before the sink does it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/ports/effect_sink.h"
#include "engine/ports/head_mirror.h"
#include "engine/ports/kill_flag.h"
#include "sim/power.h"
#include "sim/seeded.h"

namespace interlock::sim {

enum class SinkMood {
    works,
    refuses,        // Says no before doing anything.
    loses_answer,   // Does it, and the answer is lost: unknown.
    loses_request,  // Never gets it, and the caller cannot tell: unknown.
};

class SinkModel final : public EffectSink {
public:
    explicit SinkModel(const Power& power) : power_(power) {}

    // Every effect that reaches the sink, also one that it refuses.
    std::function<void(const OutboxItem&)> on_arrival;

    // The next `calls` performs go so; then it works again.
    void set_mood(SinkMood mood, std::uint64_t calls);
    // The next `calls` questions after an effect stay unanswered.
    void go_silent(std::uint64_t calls) { silent_calls_ = calls; }

    Result<EffectReceipt> perform(const OutboxItem& effect) override;
    Result<std::optional<EffectReceipt>> find(const EffectId& effect_id) override;

    bool has_performed(const EffectId& effect_id) const { return performed_.contains(effect_id); }
    std::size_t performed_count() const { return performed_.size(); }

private:
    SinkMood next_mood();

    const Power& power_;
    SinkMood mood_ = SinkMood::works;
    std::uint64_t mood_calls_ = 0;
    std::uint64_t silent_calls_ = 0;
    std::map<EffectId, EffectReceipt> performed_;
    std::set<EffectId> never_;  // Asked about before they came: refused for ever.
};

class FlagModel final : public KillFlag {
public:
    explicit FlagModel(const Power& power) : power_(power) {}

    // The server tries to write the file, whether it can or not.
    std::function<void()> on_raise;

    bool is_raised() override { return raised_ || unreadable_; }
    std::string reason() override { return raised_ ? reason_ : std::string(); }
    Result<void> raise(std::string_view reason) override;
    Result<void> lower() override;

    // By a person at the machine, whatever the server does.
    void put_file(std::string reason);
    void remove_file();
    bool file_is_there() const { return raised_; }

    void set_unreadable(bool unreadable) { unreadable_ = unreadable; }
    bool is_unreadable() const { return unreadable_; }
    void set_unwritable(bool unwritable) { unwritable_ = unwritable; }
    bool is_unwritable() const { return unwritable_; }

private:
    const Power& power_;
    bool raised_ = false;
    bool unreadable_ = false;
    bool unwritable_ = false;
    std::string reason_;
};

// Written without a sync: after a crash each head may be an older one, never a newer one.
class MirrorModel final : public HeadMirror {
public:
    explicit MirrorModel(const Power& power) : power_(power) {}

    void publish(const std::map<TenantId, LedgerHead>& changed) override;
    Result<std::map<TenantId, LedgerHead>> load() override;

    void settle_after_crash(SeededRandom& random);
    void fail_next_load() { load_fails_ = true; }
    // For the plant reuse_seq, which covers its traces.
    void roll_back(const TenantId& tenant_id, const LedgerHead& head);

private:
    const Power& power_;
    std::map<TenantId, LedgerHead> now_;
    std::map<TenantId, LedgerHead> older_;  // One publication back.
    bool load_fails_ = false;
};

}  // namespace interlock::sim
