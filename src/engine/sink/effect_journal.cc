#include "engine/sink/effect_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::size_t kReadBytes = 1 << 16;
// A line holds a request and a few fields of our own, whose text may need escaping once more.
constexpr std::size_t kJournalLineBytesMax = 8 * kSinkLineBytesMax;

enum class Event { performed, duplicate, repeated, late, tombstone };
constexpr std::array<std::string_view, 5> kEvents{
    "performed", "duplicate", "repeated", "late", "tombstone"};

std::unexpected<Error> system_failure(std::string_view what, const std::string& path) {
    return fail(
        errors::io_failed,
        "Cannot " + std::string(what) + " " + path + ": " + std::generic_category().message(errno) +
            ".");
}

Json line_of(Event event, const EffectId& effect_id, const EffectJournal::Arrival& arrival) {
    return Json::object({
        {"event", kEvents[static_cast<std::size_t>(event)]},
        {"effect_id", effect_id.text()},
        {"monotonic_us", arrival.monotonic.microseconds},
        {"at", to_text(arrival.at)},
    });
}

std::string receipt_of(std::int64_t number) {
    return "sink:" + std::to_string(number);
}

void count(SinkCounts& counts, Event event) {
    switch (event) {
        case Event::performed:
            ++counts.performed;
            break;
        case Event::duplicate:
            ++counts.duplicates;
            break;
        case Event::repeated:
            ++counts.repeats;
            break;
        case Event::late:
            ++counts.late;
            break;
        case Event::tombstone:
            ++counts.tombstones;
            break;
    }
}

}  // namespace

EffectJournal::EffectJournal(EffectJournal&& other) noexcept
    : options_(std::move(other.options_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      counts_(other.counts_),
      effects_(std::move(other.effects_)) {}

EffectJournal::~EffectJournal() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

Result<EffectJournal> EffectJournal::open(EffectJournalOptions options) {
    EffectJournal journal(std::move(options));
    const std::string& path = journal.options_.path;
    journal.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal.descriptor_ < 0) {
        return system_failure("open", path);
    }
    if (::flock(journal.descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return fail(
                errors::invalid_config,
                "Another sink writes the journal " + path + ".",
                "Stop that sink, or choose another journal.");
        }
        return system_failure("lock", path);
    }
    TRY(journal.load());
    return journal;
}

Result<void> EffectJournal::load() {
    std::vector<char> bytes(kReadBytes);
    std::string rest;
    std::int64_t line_no = 0;
    while (true) {
        const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
        if (got < 0) {
            return system_failure("read", options_.path);
        }
        if (got == 0) {
            break;
        }
        rest.append(bytes.data(), static_cast<std::size_t>(got));
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos;) {
            TRY(take_line(std::string_view(rest).substr(begin, end - begin), ++line_no));
            begin = end + 1;
        }
        size_ += static_cast<std::int64_t>(begin);
        rest.erase(0, begin);
        if (rest.size() > kJournalLineBytesMax) {
            return fail(
                errors::corrupt_data,
                "Line " + std::to_string(line_no + 1) + " of " + options_.path + " has no end.");
        }
    }
    if (::ftruncate(descriptor_, size_) != 0) {
        return system_failure("cut", options_.path);
    }
    return {};
}

Result<void> EffectJournal::take_line(std::string_view line, std::int64_t line_no) {
    const auto broken = [&](const Error& error) {
        return fail(
            errors::corrupt_data,
            "Line " + std::to_string(line_no) + " of " + options_.path + ": " + error.message,
            "Keep the file for inspection and start the sink on a new journal.");
    };
    const auto json = parse_json(line);
    if (!json) {
        return broken(json.error());
    }
    FieldReader in(*json);
    const auto event = static_cast<Event>(in.required_word_index("event", kEvents));
    const auto effect_id = in.finish(in.required<EffectId>("effect_id"));
    if (!effect_id) {
        return broken(effect_id.error());
    }
    count(counts_, event);
    if (event == Event::performed) {
        effects_.emplace(*effect_id, counts_.performed);
    } else if (event == Event::tombstone) {
        effects_.emplace(*effect_id, 0);
    }
    return {};
}

Result<void> EffectJournal::append(const Json& line) {
    std::string text = to_text(line);
    text += '\n';
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t put = ::pwrite(
            descriptor_,
            text.data() + written,
            text.size() - written,
            size_ + static_cast<std::int64_t>(written));
        if (put < 0 && errno != EINTR) {
            // The next line is written over what is there of this one.
            return system_failure("write", options_.path);
        }
        written += put < 0 ? 0 : static_cast<std::size_t>(put);
    }
    if (options_.sync && ::fdatasync(descriptor_) != 0) {
        return system_failure("sync", options_.path);
    }
    size_ += static_cast<std::int64_t>(text.size());
    return {};
}

Result<SinkAnswer> EffectJournal::perform(const SinkPerform& effect, const Arrival& arrival) {
    const auto seen = effects_.find(effect.effect_id);
    if (seen == effects_.end() && effects_.size() >= options_.effects_max) {
        return SinkAnswer{SinkStatus::refused, {}, "The sink remembers as many ids as it may."};
    }
    Event event = Event::performed;
    if (seen != effects_.end()) {
        event = seen->second == 0                           ? Event::late
                : effect.delivery == Delivery::at_most_once ? Event::duplicate
                                                            : Event::repeated;
    }
    Json line = line_of(event, effect.effect_id, arrival);
    line.set("tenant_id", effect.tenant_id.text());
    line.set("kind", effect.kind);
    line.set("json", effect.json);
    TRY(append(line));
    count(counts_, event);
    switch (event) {
        case Event::performed:
            effects_.emplace(effect.effect_id, counts_.performed);
            return SinkAnswer{SinkStatus::done, receipt_of(counts_.performed), {}};
        case Event::repeated:
            return SinkAnswer{SinkStatus::done, receipt_of(seen->second), {}};
        case Event::duplicate:
            return SinkAnswer{SinkStatus::refused, {}, "This effect was performed before."};
        default:
            return SinkAnswer{
                SinkStatus::refused, {}, "Someone was told before that this never arrived."};
    }
}

Result<SinkAnswer> EffectJournal::find(const EffectId& effect_id, const Arrival& arrival) {
    if (const auto seen = effects_.find(effect_id); seen != effects_.end()) {
        return seen->second == 0 ? SinkAnswer{SinkStatus::never_arrived, {}, {}}
                                 : SinkAnswer{SinkStatus::done, receipt_of(seen->second), {}};
    }
    if (effects_.size() >= options_.effects_max) {
        // Without a tombstone there is no promise that it never will arrive.
        return fail(errors::unavailable, "The sink remembers as many ids as it may.");
    }
    TRY(append(line_of(Event::tombstone, effect_id, arrival)));
    count(counts_, Event::tombstone);
    effects_.emplace(effect_id, 0);
    return SinkAnswer{SinkStatus::never_arrived, {}, {}};
}

}  // namespace interlock
