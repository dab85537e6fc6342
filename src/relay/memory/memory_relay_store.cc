#include "relay/memory/memory_relay_store.h"

#include <algorithm>
#include <span>

#include "base/errors.h"

namespace interlock {

namespace {

using Place = MemoryRelayContents::Place;

std::unexpected<Error> disk_failed() {
    return fail(errors::io_failed, "a commit failed and what it left is not known");
}

std::string name_of(const Place& place) {
    return std::to_string(place.second) + " of " + place.first;
}

// Removes those of `map` whose time ended before `now`, at most so many and the oldest first.
template <class Map, class EndOf>
std::vector<typename Map::key_type> purge_map(
    Map& map, Timestamp now, std::int64_t count_max, EndOf end_of) {
    std::vector<std::pair<Timestamp, typename Map::key_type>> expired;
    for (const auto& [key, value] : map) {
        if (const std::optional<Timestamp> end = end_of(value); end && *end < now) {
            expired.emplace_back(*end, key);
        }
    }
    std::sort(expired.begin(), expired.end());
    std::vector<typename Map::key_type> gone;
    for (auto& [end, key] : expired) {
        if (std::cmp_greater_equal(gone.size(), count_max)) {
            break;
        }
        map.erase(key);
        gone.push_back(std::move(key));
    }
    return gone;
}

}  // namespace

MemoryRelayStore::MemoryRelayStore(MemoryRelayContents contents)
    : contents_(std::move(contents)), ledger_(std::exchange(contents_.ledger, {})) {}

MemoryRelayContents MemoryRelayStore::take_contents() {
    contents_.ledger = ledger_.take_contents();
    return std::exchange(contents_, {});
}

template <class Map>
void MemoryRelayStore::remember(Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    if (found == map.end()) {
        undo_.push_back([&map, key] { map.erase(key); });
    } else {
        undo_.push_back([&map, key, old = found->second] { map.insert_or_assign(key, old); });
    }
}

Result<void> MemoryRelayStore::commit(const RelayCommit& batch) {
    if (failed_) {
        return disk_failed();
    }
    if (failing_) {
        if (*failing_ == FailedBatch::kept) {
            TRY(apply_whole(batch));
        }
        failed_ = true;
        return disk_failed();
    }
    return apply_whole(batch);
}

Result<void> MemoryRelayStore::apply_whole(const RelayCommit& batch) {
    undo_.clear();
    Result<void> applied = apply(batch);
    if (!applied) {
        for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
            (*undo)();
        }
    }
    return applied;
}

Result<void> MemoryRelayStore::apply(const RelayCommit& batch) {
    for (const RelayRowWrite& write : batch.rows) {
        TRY(apply_row(write));
    }
    for (const RelayEventRow& event : batch.events) {
        TRY(apply_event(event));
    }
    TRY(apply_buffer(batch));
    for (const DeadLetter& letter : batch.dead) {
        TRY(apply_letter(letter));
    }
    for (const BufferKey& key : batch.dead_removed) {
        const Place place(key.instance_id, key.seq);
        remember(contents_.dead, place);
        contents_.dead.erase(place);
    }
    // Last, because it undoes itself and nothing after it can fail.
    TurnCommit chains;
    chains.audit = batch.audit;
    chains.checkpoints = batch.checkpoints;
    chains.proofs = batch.proofs;
    return ledger_.commit(std::span(&chains, 1));
}

Result<void> MemoryRelayStore::apply_row(const RelayRowWrite& write) {
    const std::pair key(write.kind, write.key);
    if (write.json && write.must_be_new && contents_.rows.contains(key)) {
        return fail(errors::conflict, "the " + write.kind + " " + write.key + " exists already");
    }
    remember(contents_.rows, key);
    if (write.json) {
        contents_.rows.insert_or_assign(key, RelayRow{write.key, *write.json, write.expires_at});
    } else {
        contents_.rows.erase(key);
    }
    return {};
}

Result<void> MemoryRelayStore::apply_event(const RelayEventRow& event) {
    if (contents_.events.contains(event.event_key)) {
        return fail(errors::conflict, "the event " + event.event_key + " came already");
    }
    const std::int64_t position = contents_.next_event_position++;
    remember(contents_.events, event.event_key);
    remember(contents_.event_order, position);
    contents_.events.emplace(event.event_key, MemoryRelayContents::TakenEvent{position, event});
    contents_.event_order.emplace(position, event.event_key);
    return {};
}

Result<void> MemoryRelayStore::apply_buffer(const RelayCommit& batch) {
    for (const BufferEntry& entry : batch.appended) {
        const Place place(entry.instance_id, entry.seq);
        if (contents_.buffer.contains(place)) {
            return fail(errors::conflict, "the entry " + name_of(place) + " exists already");
        }
        remember(contents_.buffer, place);
        contents_.buffer.emplace(place, entry);
    }
    for (const BufferKey& key : batch.acknowledged) {
        const Place place(key.instance_id, key.seq);
        remember(contents_.buffer, place);
        contents_.buffer.erase(place);
    }
    for (const AttemptsWrite& write : batch.attempts) {
        const Place place(write.key.instance_id, write.key.seq);
        remember(contents_.buffer, place);
        if (const auto found = contents_.buffer.find(place); found != contents_.buffer.end()) {
            found->second.attempts = write.attempts;
        }
    }
    return {};
}

Result<void> MemoryRelayStore::apply_letter(const DeadLetter& letter) {
    const Place place(letter.entry.instance_id, letter.entry.seq);
    const auto waiting = contents_.buffer.find(place);
    const bool is_moved = letter.entry.text.empty();
    if (is_moved && waiting == contents_.buffer.end()) {
        return {};
    }
    if (contents_.dead.contains(place)) {
        return fail(errors::conflict, "the dead letter " + name_of(place) + " exists already");
    }
    DeadLetter kept = letter;
    if (is_moved) {
        kept.entry.text = waiting->second.text;
        kept.entry.event_key = waiting->second.event_key;
    }
    remember(contents_.buffer, place);
    remember(contents_.dead, place);
    contents_.buffer.erase(place);
    contents_.dead.emplace(place, std::move(kept));
    return {};
}

Result<std::optional<RelayRow>> MemoryRelayStore::find_row(
    std::string_view kind, std::string_view key) {
    const auto found = contents_.rows.find({std::string(kind), std::string(key)});
    return found == contents_.rows.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<RelayRow>> MemoryRelayStore::read_rows(
    std::string_view kind,
    std::string_view prefix,
    std::string_view after,
    std::int64_t count_max) {
    std::vector<RelayRow> rows;
    auto row = contents_.rows.lower_bound({std::string(kind), std::string(prefix)});
    if (after >= prefix) {
        row = contents_.rows.upper_bound({std::string(kind), std::string(after)});
    }
    for (; row != contents_.rows.end() && row->first.first == kind; ++row) {
        if (!row->first.second.starts_with(prefix) ||
            std::cmp_greater_equal(rows.size(), count_max)) {
            break;
        }
        rows.push_back(row->second);
    }
    return rows;
}

Result<std::vector<std::string>> MemoryRelayStore::known_events(
    const std::vector<std::string>& event_keys) {
    std::vector<std::string> known;
    for (const std::string& event_key : event_keys) {
        if (contents_.events.contains(event_key)) {
            known.push_back(event_key);
        }
    }
    return known;
}

Result<std::optional<RelayEventRow>> MemoryRelayStore::find_event(const std::string& event_key) {
    const auto found = contents_.events.find(event_key);
    return found == contents_.events.end() ? std::nullopt : std::optional(found->second.row);
}

Result<std::vector<RelayEventRow>> MemoryRelayStore::read_events(std::int64_t count_max) {
    std::vector<RelayEventRow> events;
    for (auto at = contents_.event_order.rbegin(); at != contents_.event_order.rend(); ++at) {
        if (std::cmp_greater_equal(events.size(), count_max)) {
            break;
        }
        events.push_back(contents_.events.at(at->second).row);
    }
    return events;
}

Result<std::vector<BufferEntryHead>> MemoryRelayStore::load_buffer_heads() {
    std::vector<BufferEntryHead> heads;
    for (const auto& [place, entry] : contents_.buffer) {
        heads.push_back(
            {.instance_id = entry.instance_id,
             .seq = entry.seq,
             .kind = entry.kind,
             .at = entry.at,
             .attempts = entry.attempts,
             .bytes = static_cast<std::int64_t>(entry.text.size())});
    }
    return heads;
}

Result<std::vector<BufferEntry>> MemoryRelayStore::read_entries(
    const std::string& instance_id,
    std::int64_t after,
    std::int64_t count_max,
    std::int64_t bytes_max) {
    std::vector<BufferEntry> entries;
    std::int64_t bytes = 0;
    auto entry = contents_.buffer.upper_bound({instance_id, after});
    for (; entry != contents_.buffer.end() && entry->first.first == instance_id; ++entry) {
        bytes += static_cast<std::int64_t>(entry->second.text.size());
        const bool is_too_much = !entries.empty() && bytes > bytes_max;
        if (is_too_much || std::cmp_greater_equal(entries.size(), count_max)) {
            break;
        }
        entries.push_back(entry->second);
    }
    return entries;
}

Result<std::vector<DeadLetter>> MemoryRelayStore::read_dead_letters(
    const std::string& instance_id, const BufferKey& after, std::int64_t count_max) {
    std::vector<DeadLetter> letters;
    auto letter = contents_.dead.upper_bound({after.instance_id, after.seq});
    for (; letter != contents_.dead.end(); ++letter) {
        if (std::cmp_greater_equal(letters.size(), count_max)) {
            break;
        }
        if (instance_id.empty() || letter->first.first == instance_id) {
            letters.push_back(letter->second);
        }
    }
    return letters;
}

Result<std::vector<StoredDeadLetter>> MemoryRelayStore::load_dead_letters() {
    std::vector<StoredDeadLetter> letters;
    for (const auto& [place, letter] : contents_.dead) {
        letters.push_back(
            {.instance_id = place.first,
             .head = {
                 .seq = place.second,
                 .bytes = static_cast<std::int64_t>(letter.entry.text.size()),
                 .dead_at = letter.dead_at}});
    }
    std::ranges::stable_sort(
        letters, {}, [](const StoredDeadLetter& letter) { return letter.head.dead_at; });
    return letters;
}

Result<std::int64_t> MemoryRelayStore::purge(Timestamp now, std::int64_t count_max) {
    if (failed_) {
        return disk_failed();
    }
    const auto rows = purge_map(
        contents_.rows, now, count_max, [](const RelayRow& row) { return row.expires_at; });
    const auto events = purge_map(
        contents_.events, now, count_max, [](const MemoryRelayContents::TakenEvent& event) {
            return std::optional(event.row.expires_at);
        });
    if (!events.empty()) {
        std::erase_if(contents_.event_order, [this](const auto& at) {
            return !contents_.events.contains(at.second);
        });
    }
    return static_cast<std::int64_t>(rows.size() + events.size());
}

Result<std::map<TenantId, LedgerHead>> MemoryRelayStore::load_heads() {
    return ledger_.load_heads();
}

}  // namespace interlock
