// What the recording sink remembers: every effect by its id, in memory and in a journal of one JSON
// line per arrival, so that a restarted sink knows what it had seen.
//
// An effect exists once its line is written. A second arrival of an at-most-once effect is refused
// and leaves a line that says `duplicate`: that is what crash tests look for. Asking about an id
// that never arrived leaves a `tombstone`; what arrives under it later is refused as `late`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"
#include "engine/sink/sink_wire.h"

namespace interlock {

// More ids than this are refused: about half a gigabyte of memory.
inline constexpr std::size_t kSinkEffectsMax = 5'000'000;

struct EffectJournalOptions {
    std::string path;
    bool sync = false;  // One fdatasync per line; without it a power failure may cut lines off.
    std::size_t effects_max = kSinkEffectsMax;
};

class EffectJournal {
public:
    // When something reached the sink. The monotonic time compares with other processes' readings.
    struct Arrival {
        Timestamp at;
        Duration monotonic;
    };

    // Reads what the journal holds and locks it against a second sink. A last line without its end
    // was never answered and is cut off.
    static Result<EffectJournal> open(EffectJournalOptions options);
    EffectJournal(EffectJournal&& other) noexcept;
    EffectJournal& operator=(EffectJournal&&) = delete;
    ~EffectJournal();

    // Fails only when the journal cannot be written; the effect is then not recorded.
    Result<SinkAnswer> perform(const SinkPerform& effect, const Arrival& arrival);
    Result<SinkAnswer> find(const EffectId& effect_id, const Arrival& arrival);
    const SinkCounts& counts() const { return counts_; }

private:
    explicit EffectJournal(EffectJournalOptions options) : options_(std::move(options)) {}
    Result<void> load();
    Result<void> take_line(std::string_view line, std::int64_t line_no);
    Result<void> append(const Json& line);

    EffectJournalOptions options_;
    int descriptor_ = -1;
    std::int64_t size_ = 0;  // Bytes of whole lines.
    SinkCounts counts_;
    // The effect's number, from 1; 0 is a tombstone.
    std::unordered_map<EffectId, std::int64_t> effects_;
};

}  // namespace interlock
