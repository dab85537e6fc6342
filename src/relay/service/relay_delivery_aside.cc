// What is not delivered any more: dead letters, how they come about, how many there may be, and
// what a person does about them. Each of these is one record, however many letters it is about.
#include <algorithm>

#include "base/crypto.h"
#include "base/errors.h"
#include "base/log.h"
#include "relay/service/relay_delivery.h"

namespace interlock {
namespace {

constexpr const char* kRelay = "internal:relay";

// A letter may outlive the row of its instance; its record then goes to the host's chain.
TenantId tenant_or_system(const TenantId& tenant_id) {
    return tenant_id.empty() ? system_tenant() : tenant_id;
}

Json shed_detail(const std::string& instance_id, const ShedRow& row) {
    return Json::object(
        {{"instance_id", instance_id},
         {"laid_aside", row.untold_laid_aside},
         {"dropped", row.untold_dropped},
         {"first_buffer_id", std::to_string(row.first)},
         {"last_buffer_id", std::to_string(row.last)},
         {"digest", row.digest}});
}

}  // namespace

void RelayDelivery::record_letters(
    RelayTurn& turn, const std::string& instance_id, const LettersRecord& record) {
    std::string facts;
    for (const std::int64_t seq : record.seqs) {
        facts += std::to_string(seq) + "\n";
    }
    AuditDraft draft = relay_draft(
        tenant_or_system(row_of(instance_id).tenant_id), record.event, record.principal);
    draft.reason = record.reason;
    draft.detail = Json::object(
        {{"instance_id", instance_id},
         {"count", record.seqs.size()},
         {"first_buffer_id", std::to_string(std::ranges::min(record.seqs))},
         {"last_buffer_id", std::to_string(std::ranges::max(record.seqs))},
         {"digest", sha256_hex(facts)}});
    if (record.event == "RELAY_DEAD_LETTER") {
        draft.severity = AuditSeverity::critical;
        draft.status = AuditStatus::failed;
    }
    turn.audit(std::move(draft));
}

// Texts and events come from the store's own entries.
void RelayDelivery::lay_aside(
    RelayTurn& turn,
    const std::string& instance_id,
    const std::vector<QueuedEntry>& entries,
    std::string_view reason) {
    if (entries.empty()) {
        return;
    }
    Box& box = box_of(instance_id);
    LettersRecord record{"RELAY_DEAD_LETTER", std::string(reason), kRelay, {}};
    for (const QueuedEntry& entry : entries) {
        DeadLetter letter;
        letter.entry.instance_id = instance_id;
        letter.entry.seq = entry.seq;
        letter.entry.kind = entry.kind;
        letter.entry.at = entry.at;
        letter.entry.attempts = entry.attempts;
        letter.tenant_id = row_of(instance_id).tenant_id;
        letter.reason = reason;
        letter.dead_at = turn.now();
        turn.rows().dead.push_back(std::move(letter));
        box.dead.add({.seq = entry.seq, .bytes = entry.bytes, .dead_at = turn.now()});
        forget_text(instance_id, box, entry.seq);
        record.seqs.push_back(entry.seq);
        ++counters_.dead;
    }
    record_letters(turn, instance_id, record);
    remove_letters(turn, instance_id, box.dead.take_surplus(entries.size()));
}

// Removes letters that have to make room, with one record. Those that make room while the instance
// sheds are in its tally instead.
std::size_t RelayDelivery::remove_letters(
    RelayTurn& turn, const std::string& instance_id, const std::vector<DeadLetterHead>& gone) {
    if (gone.empty()) {
        return 0;
    }
    LettersRecord record{"RELAY_DEAD_LETTER_TAKEN", "dropped", kRelay, {}};
    for (const DeadLetterHead& letter : gone) {
        turn.rows().dead_removed.push_back({instance_id, letter.seq});
        record.seqs.push_back(letter.seq);
    }
    counters_.dropped += static_cast<std::int64_t>(gone.size());
    record_letters(turn, instance_id, record);
    return gone.size();
}

// A message that finds no room becomes a dead letter: the newest one, never one that waits. The
// instance whose buffer is full pays, and the platform is told that we have the message.
void RelayDelivery::shed(RelayTurn& turn, Box& box, BufferEntry entry) {
    const std::string instance_id = entry.instance_id;
    const ShedRow* const held = parts_.state.sheds.get(instance_id);
    ShedRow row = held == nullptr ? ShedRow() : *held;
    if (held == nullptr) {
        row.since = row.told_at = turn.now();
        AuditDraft draft = relay_draft(row_of(instance_id).tenant_id, "RELAY_SHEDDING", kRelay);
        draft.severity = AuditSeverity::critical;
        draft.status = AuditStatus::failed;
        draft.reason = "buffer_full";
        draft.detail = Json::object(
            {{"instance_id", instance_id},
             {"waiting", box.queue.size()},
             {"bytes", box.queue.bytes()}});
        turn.audit(std::move(draft));
        log_warn("relay_shedding", {{"instance_id", instance_id}});
    }
    box.dead_seq = entry.seq;
    box.dead.add(
        {.seq = entry.seq,
         .bytes = static_cast<std::int64_t>(entry.text.size()),
         .dead_at = turn.now()});
    const auto surplus = box.dead.take_surplus(kSweepEntriesMax);
    for (const DeadLetterHead& letter : surplus) {
        turn.rows().dead_removed.push_back({instance_id, letter.seq});
    }
    const auto dropped = static_cast<std::int64_t>(surplus.size());
    row.first = row.untold_laid_aside == 0 ? entry.seq : row.first;
    row.last = entry.seq;
    row.digest = sha256_hex(row.digest + "\n" + std::to_string(entry.seq) + "\n" + entry.event_key);
    ++row.laid_aside;
    ++row.untold_laid_aside;
    row.dropped += dropped;
    row.untold_dropped += dropped;
    parts_.state.sheds.put(turn, instance_id, std::move(row));
    turn.rows().dead.push_back(
        {.entry = std::move(entry),
         .tenant_id = row_of(instance_id).tenant_id,
         .reason = "overflow",
         .dead_at = turn.now()});
    ++counters_.dead;
    ++counters_.overflowed;
    counters_.dropped += dropped;
}

void RelayDelivery::tell_shed(RelayTurn& turn, const std::string& instance_id) {
    ShedRow row = *parts_.state.sheds.get(instance_id);
    AuditDraft draft =
        relay_draft(tenant_or_system(row_of(instance_id).tenant_id), "RELAY_SHED", kRelay);
    draft.status = AuditStatus::failed;
    draft.reason = "buffer_full";
    draft.detail = shed_detail(instance_id, row);
    turn.audit(std::move(draft));
    row.told_at = turn.now();
    row.untold_laid_aside = row.untold_dropped = row.first = row.last = 0;
    row.digest.clear();
    parts_.state.sheds.put(turn, instance_id, std::move(row));
}

void RelayDelivery::end_shedding(RelayTurn& turn, const std::string& instance_id) {
    const ShedRow* const held = parts_.state.sheds.get(instance_id);
    if (held == nullptr) {
        return;
    }
    AuditDraft draft = relay_draft(
        tenant_or_system(row_of(instance_id).tenant_id), "RELAY_SHEDDING_ENDED", kRelay);
    draft.severity = AuditSeverity::critical;  // Whoever was told of the beginning is told.
    draft.detail = shed_detail(instance_id, *held);
    draft.detail.set("since", to_text(held->since));
    draft.detail.set("laid_aside_in_all", held->laid_aside);
    draft.detail.set("dropped_in_all", held->dropped);
    turn.audit(std::move(draft));
    log_info(
        "relay_shedding_ended",
        {{"instance_id", instance_id},
         {"laid_aside", held->laid_aside},
         {"dropped", held->dropped}});
    parts_.state.sheds.erase(turn, instance_id);
}

// Runs once a second: closes the tally that is due, removes letters whose time is over and those
// for which a smaller bound leaves no room. Says how many went.
std::size_t RelayDelivery::sweep_letters(
    RelayTurn& turn, const std::string& instance_id, Box& box, std::size_t count_max) {
    if (const ShedRow* const shedding = parts_.state.sheds.get(instance_id);
        shedding != nullptr && shedding->untold_laid_aside > 0 &&
        turn.now() >= shedding->told_at + kShedRecordPeriod) {
        tell_shed(turn, instance_id);
    }
    const auto ended = box.dead.take_expired(turn.now(), count_max);
    if (!ended.empty()) {
        LettersRecord record{"RELAY_DEAD_LETTER_TAKEN", "ended", kRelay, {}};
        for (const DeadLetterHead& letter : ended) {
            turn.rows().dead_removed.push_back({instance_id, letter.seq});
            record.seqs.push_back(letter.seq);
        }
        counters_.ended += static_cast<std::int64_t>(ended.size());
        record_letters(turn, instance_id, record);
    }
    return ended.size() +
           remove_letters(turn, instance_id, box.dead.take_surplus(count_max - ended.size()));
}

// By instance and in the order of their numbers.
RelayDelivery::Meant RelayDelivery::find_letters(const Letters& letters, Timestamp now) const {
    Meant meant;
    const auto look = [&](const std::string& instance_id, const Box& box) {
        if (!letters.tenant_id.empty() && row_of(instance_id).tenant_id != letters.tenant_id) {
            return;
        }
        for (const DeadLetterHead& letter : box.dead.all()) {
            if ((!letters.seq || letter.seq == *letters.seq) &&
                (!letters.older_than || now >= letter.dead_at + *letters.older_than)) {
                meant[instance_id].push_back(letter);
            }
        }
    };
    if (letters.instance_id.empty()) {
        for (const auto& [instance_id, box] : boxes_) {
            look(instance_id, box);
        }
    } else if (const auto box = boxes_.find(letters.instance_id); box != boxes_.end()) {
        look(box->first, box->second);
    }
    for (auto& [instance_id, found] : meant) {
        std::ranges::sort(found, {}, &DeadLetterHead::seq);
    }
    return meant;
}

// False: it is not in the store yet.
Result<bool> RelayDelivery::requeue_one(
    RelayTurn& turn, const std::string& instance_id, std::int64_t seq) {
    TRY_ASSIGN(
        auto found, parts_.state.store().read_dead_letters(instance_id, {instance_id, seq - 1}, 1));
    if (found.empty() || found[0].entry.seq != seq) {
        return false;
    }
    box_of(instance_id).dead.remove(seq);
    turn.rows().dead_removed.push_back({instance_id, seq});
    append(
        turn,
        {.instance_id = instance_id,
         .kind = found[0].entry.kind,
         .event_key = std::move(found[0].entry.event_key),
         .text = std::move(found[0].entry.text)});
    return true;
}

Result<RelayDelivery::LettersDone> RelayDelivery::requeue_dead(
    RelayTurn& turn, const Letters& letters) {
    LettersDone done;
    std::int64_t bytes = 0;
    std::optional<Error> failure;
    for (const auto& [instance_id, meant] : find_letters(letters, turn.now())) {
        LettersRecord record{"RELAY_DEAD_LETTER_TAKEN", "requeued", letters.principal, {}};
        const Box& box = box_of(instance_id);
        bool has_room = !row_of(instance_id).is_overflowing;
        for (const DeadLetterHead& letter : meant) {
            has_room = has_room && box.queue.fits(letter.bytes);
            const bool is_enough = std::cmp_greater_equal(done.done, kLettersPerCallMax) ||
                                   (done.done > 0 && bytes + letter.bytes > kLetterBytesPerCallMax);
            done.no_room += has_room ? 0 : 1;
            if (!has_room || is_enough) {
                ++done.left;
                continue;
            }
            const Result<bool> is_requeued = requeue_one(turn, instance_id, letter.seq);
            if (!is_requeued || !*is_requeued) {
                failure = is_requeued ? failure : std::optional(is_requeued.error());
                ++done.left;
                continue;
            }
            bytes += letter.bytes;
            ++done.done;
            record.seqs.push_back(letter.seq);
        }
        if (!record.seqs.empty()) {
            record_letters(turn, instance_id, record);
        }
    }
    if (failure && done.done == 0) {
        return std::unexpected(*std::move(failure));
    }
    return done;
}

RelayDelivery::LettersDone RelayDelivery::discard_dead(RelayTurn& turn, const Letters& letters) {
    LettersDone done;
    for (const auto& [instance_id, meant] : find_letters(letters, turn.now())) {
        LettersRecord record{"RELAY_DEAD_LETTER_TAKEN", "discarded", letters.principal, {}};
        for (const DeadLetterHead& letter : meant) {
            if (std::cmp_greater_equal(done.done, kLettersPerCallMax)) {
                ++done.left;
                continue;
            }
            box_of(instance_id).dead.remove(letter.seq);
            turn.rows().dead_removed.push_back({instance_id, letter.seq});
            ++done.done;
            record.seqs.push_back(letter.seq);
        }
        if (!record.seqs.empty()) {
            record_letters(turn, instance_id, record);
        }
    }
    return done;
}

}  // namespace interlock
