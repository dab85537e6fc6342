#include "sim/relay_watch.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace interlock::sim {
namespace {

constexpr std::size_t kWindowMax = 8;  // docs/contracts/relay-connector.md#buffers
constexpr std::size_t kSocketsMax = 3;
constexpr Duration kForwardSettles = Duration::of_seconds(60);
constexpr Duration kEntryLife = Duration::of_days(7);
constexpr Duration kCooldown = Duration::of_seconds(60);
constexpr Duration kPokedWithin = Duration::of_seconds(61);
constexpr Duration kIdleAnswered = Duration::of_seconds(6);  // Hints get lost.
constexpr Duration kGivesUp = Duration::of_hours(24);
constexpr Duration kWrittenWithin = Duration::of_seconds(5);  // Hints get lost.

std::int64_t number_of(const std::string& buffer_id) {
    std::int64_t number = 0;
    std::from_chars(buffer_id.data(), buffer_id.data() + buffer_id.size(), number);
    return number;
}

std::string name_of(const std::pair<std::string, std::int64_t>& place) {
    return place.first + "/" + std::to_string(place.second);
}

std::string names(const std::set<std::string>& list) {
    std::string text;
    for (const std::string& name : list) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "nobody" : text;
}

}  // namespace

void RelayWatch::on_commit(const RelayCommit& batch) {
    check_room(batch);
    for (const RelayRowWrite& write : batch.rows) {
        on_dm_default(write);
        oracle.apply(write);
        if (write.kind == InstanceRow::kKind && write.json) {
            instances_[write.key] = decode_row<InstanceRow>(*write.json).value();
        }
    }
    on_events(batch);
    for (const BufferKey& key : batch.acknowledged) {
        on_acknowledged({key.instance_id, key.seq});
    }
    for (const DeadLetter& letter : batch.dead) {
        on_dead(letter);
    }
    for (const BufferKey& key : batch.dead_removed) {
        on_letter_gone({key.instance_id, key.seq});
    }
    for (const RelayRowWrite& write : batch.rows) {
        on_outbound_row(write);
    }
}

// What is laid aside for want of room belongs to an instance that has none.
void RelayWatch::check_room(const RelayCommit& batch) {
    const auto is_of = [](const auto& id, const auto& entry) { return entry.instance_id == id; };
    for (const DeadLetter& letter : batch.dead) {
        const std::string& id = letter.entry.instance_id;
        const auto waiting = std::ranges::count_if(
            buffer_, [&](const auto& item) { return item.first.first == id; });
        const auto added = std::ranges::count_if(
            batch.appended, [&](const BufferEntry& entry) { return is_of(id, entry); });
        if (letter.reason == "overflow" && !instances_[id].is_overflowing &&
            std::cmp_less(waiting + added, kSimDeliveryBounds.entries_max)) {
            report(
                "alone", letter.entry.event_key + " was laid aside although " + id + " has room");
        }
    }
}

// A person took it, its time is over, or its instance has too many: then the oldest goes.
void RelayWatch::on_letter_gone(const Place& place) {
    const auto found = dead_.find(place);
    const bool is_taken = taken_.erase(place) > 0;
    if (found == dead_.end()) {
        report("I8", "the dead letter " + name_of(place) + " went away and was not there");
        return;
    }
    const Timestamp died = found->second.dead_at;
    const bool has_ended = parts_.clock.now() >= died + kSimDeliveryBounds.dead_life;
    const auto is_same = [&](const auto& item) { return item.first.first == place.first; };
    const auto count = std::ranges::count_if(dead_, is_same);
    const bool is_oldest = std::ranges::none_of(
        dead_, [&](const auto& item) { return is_same(item) && item.second.dead_at < died; });
    const bool is_surplus =
        std::cmp_greater(count, kSimDeliveryBounds.dead_entries_max) && is_oldest;
    if (!is_taken && !has_ended && !is_surplus) {
        report("alone", "the dead letter " + name_of(place) + " went away without its own fault");
    }
    counts.dropped += !is_taken && !has_ended ? 1 : 0;
    dead_.erase(found);
}

// Every event of the batch against the oracle: who got it is who should.
void RelayWatch::on_events(const RelayCommit& batch) {
    std::set<std::string> new_events;
    for (const RelayEventRow& event : batch.events) {
        const auto mail = parts_.mails.find(event.event_key);
        CHECK(mail != parts_.mails.end());
        if (!tenants_.emplace(event.event_key, oracle.tenant_of(mail->second)).second) {
            report("I8", event.event_key + " was taken for a new message twice");
        }
        ++counts.stored;
        new_events.insert(event.event_key);
        const std::set<std::string> wanted = oracle.receivers(mail->second);
        std::set<std::string> got;
        for (const BufferEntry& entry : batch.appended) {
            if (entry.event_key == event.event_key) {
                got.insert(entry.instance_id);
            }
        }
        for (const DeadLetter& letter : batch.dead) {
            if (letter.entry.event_key == event.event_key) {
                got.insert(letter.entry.instance_id);
            }
        }
        for (const std::string& instance_id : got) {
            check_bot(mail->second, instance_id);
            if (parts_.cast.member(instance_id).tenant_id != tenants_[event.event_key]) {
                report("I7", event.event_key + " of another tenant is for " + instance_id);
            }
        }
        if (got != wanted && got != oracle.receivers(mail->second, RelayOracle::Sight::before)) {
            report(
                "gate",
                event.event_key + " goes to " + names(got) + " and should to " + names(wanted));
        }
        for (const std::string& instance_id : got) {
            oracle.note_delivered(mail->second, instance_id);
        }
    }
    for (const BufferEntry& entry : batch.appended) {
        take_entry(entry, new_events);
    }
}

void RelayWatch::take_entry(const BufferEntry& entry, const std::set<std::string>& new_events) {
    const Place place{entry.instance_id, entry.seq};
    if (entry.seq <= last_seq_[entry.instance_id]) {
        report("I8", name_of(place) + " is not behind what came before it");
    }
    last_seq_[entry.instance_id] = entry.seq;
    const auto is_requeued = [&](const Place& dead) {
        const auto found = dead_.find(dead);
        return found != dead_.end() && dead.first == entry.instance_id &&
               found->second.event_key == entry.event_key;
    };
    if (!new_events.contains(entry.event_key) && !std::ranges::any_of(taken_, is_requeued)) {
        const auto tenant = tenants_.find(entry.event_key);
        check_bot(parts_.mails.at(entry.event_key), entry.instance_id);
        const bool is_foreign = tenant == tenants_.end() ||
                                parts_.cast.member(entry.instance_id).tenant_id != tenant->second;
        report(is_foreign ? "I7" : "gate", entry.event_key + " reached " + entry.instance_id);
    }
    // By our own clock: a number may be a minute ahead of it after a restart, and what the entry
    // says of its age is for the relay to get wrong.
    buffer_[place] = Entry{entry.kind, entry.event_key, parts_.clock.now()};
}

// What is said to one bot is not for whom its author is linked to at another.
void RelayWatch::check_bot(const RelayMail& mail, const std::string& instance_id) {
    const RelayChat& chat = parts_.cast.chats[mail.chat];
    if (chat.is_dm() && oracle.is_bound_elsewhere(chat.bot, mail.user, instance_id)) {
        report("bot", mail.event_key + " of bot " + chat.bot.bot_id + " is for " + instance_id);
    }
}

// Whoever gets a person's direct messages now keeps them until the person has said otherwise.
void RelayWatch::on_dm_default(const RelayRowWrite& write) {
    if (write.kind != DmDefaultRow::kKind || !write.json) {
        return;
    }
    const auto row = decode_row<DmDefaultRow>(*write.json);
    CHECK(row.has_value());
    const BotKey bot{row->platform, row->bot_id};
    const std::string word = row_key({bot.platform, bot.bot_id, row->user_id, row->instance_id});
    const bool is_said = dm_words_.erase(word) > 0;
    if (!is_said && !row->instance_id.empty() &&
        row->instance_id != oracle.dm_target(bot, row->user_id)) {
        report("dm", row->instance_id + " gets what " + row->user_id + " did not give it");
    }
}

bool RelayWatch::has_later_ack(const Place& place) const {
    return std::ranges::any_of(believed_, [&](const Place& other) {
        return other.first == place.first && other.second > place.second;
    });
}

// Nobody acknowledges a forward. It is settled when later mail was acknowledged, when its gateway
// was told behind it that it may go idle, or after a minute. A gateway that only asked to go may
// have read nothing. docs/contracts/relay-connector.md#forwards
bool RelayWatch::is_settled_forward(const Place& place, const Entry& entry) const {
    if (entry.kind != EntryKind::passthrough || entry.sockets.empty()) {
        return false;
    }
    const bool has_left = std::ranges::any_of(entry.sockets, [&](std::uint64_t socket) {
        return told_idle_.contains(socket) && !entry.overtaken.contains(socket);
    });
    return has_later_ack(place) || has_left ||
           parts_.clock.now() >= entry.written_at + kForwardSettles;
}

void RelayWatch::on_acknowledged(const Place& place) {
    const auto found = buffer_.find(place);
    if (found == buffer_.end()) {
        return;
    }
    if (!believed_.contains(place) && !is_settled_forward(place, found->second)) {
        report(
            doubted_.contains(place) ? "fence" : "I8",
            name_of(place) + " was removed although its newest socket has not acknowledged it");
    }
    acknowledged_.insert(place);
    buffer_.erase(found);
    ++counts.acknowledged;
}

void RelayWatch::on_dead(const DeadLetter& letter) {
    const Place place{letter.entry.instance_id, letter.entry.seq};
    ++counts.dead;
    const auto found = buffer_.find(place);
    if (found == buffer_.end()) {
        if (letter.entry.text.empty() || place.second <= last_seq_[place.first]) {
            report("I8", name_of(place) + " was laid aside and had never come");
        }
        last_seq_[place.first] = place.second;
        dead_[place] = {letter.entry.event_key, letter.dead_at};
        return;
    }
    if (letter.reason == "not_acknowledged" && found->second.sockets.size() < kSocketsMax) {
        report("I8", name_of(place) + " was laid aside before three sockets had it");
    }
    const Duration apart{2 * kSimDeliveryBounds.attempt_spacing.microseconds};
    if (letter.reason == "not_acknowledged" && !has_later_ack(place) &&
        parts_.clock.now() < found->second.first_written_at + apart) {
        report("I8", name_of(place) + " was laid aside because its network flapped");
    }
    if (letter.reason == "expired" && parts_.clock.now() < found->second.came_at + kEntryLife) {
        report("I8", name_of(place) + " was laid aside before its time");
    }
    dead_[place] = {found->second.event_key, letter.dead_at};
    buffer_.erase(found);
}

// After a restart and at the end: what is there is what was committed.
void RelayWatch::compare(RelayStore& store) {
    std::set<Place> waiting;
    const auto heads = store.load_buffer_heads();
    for (const BufferEntryHead& head : *heads) {
        waiting.insert({head.instance_id, head.seq});
    }
    std::set<Place> laid_aside;
    const auto letters = store.read_dead_letters("", {"", 0}, 1'000'000);
    for (const DeadLetter& letter : *letters) {
        laid_aside.insert({letter.entry.instance_id, letter.entry.seq});
    }
    for (const auto& [place, entry] : buffer_) {
        if (waiting.erase(place) == 0) {
            report("durability", name_of(place) + " waited and is not in the store");
        }
    }
    for (const auto& [place, letter] : dead_) {
        if (laid_aside.erase(place) == 0) {
            report("durability", "the dead letter " + name_of(place) + " is not in the store");
        }
    }
    for (const Place& place : waiting) {
        report("durability", name_of(place) + " is in the store and should not be");
    }
    for (const Place& place : laid_aside) {
        report("durability", "the dead letter " + name_of(place) + " should not be there");
    }
}

std::vector<BufferKey> RelayWatch::dead_letters() const {
    std::vector<BufferKey> keys;
    for (const auto& [place, letter] : dead_) {
        keys.push_back({place.first, place.second});
    }
    return keys;
}

void RelayWatch::on_line(const RelaySocketFacts& socket, std::string_view line) {
    if (line.contains(kRelayCapability)) {
        report("I7", "a gateway got a capability of the bot");
    }
    const auto frame = decode_connector_frame(line.substr(0, line.size() - 1));
    CHECK(frame.has_value());
    if (const auto* const inbound = std::get_if<InboundFrame>(&*frame)) {
        on_mail(socket, inbound->buffer_id, *frame);
    } else if (const auto* const forward = std::get_if<PassthroughForwardFrame>(&*frame)) {
        on_mail(socket, forward->buffer_id, *frame);
    } else if (const auto* const result = std::get_if<OutboundResultFrame>(&*frame)) {
        on_result(socket, *result);
    } else if (std::holds_alternative<GoingIdleAckFrame>(*frame)) {
        if (idle_asked_.erase(socket.number) == 0) {
            report("idle", socket.instance_id + " was told to go idle and has not asked to");
        }
        told_idle_.insert(socket.number);
    }
}

void RelayWatch::on_overtaken(const RelaySocketFacts& socket, std::string_view line) {
    const auto frame = decode_connector_frame(line.substr(0, line.size() - 1));
    CHECK(frame.has_value());
    if (const auto* const forward = std::get_if<PassthroughForwardFrame>(&*frame)) {
        const auto found = buffer_.find({socket.instance_id, number_of(forward->buffer_id)});
        if (found != buffer_.end()) {
            found->second.overtaken.insert(socket.number);
        }
    }
}

// Messages that are out get a second, then the answer comes; the lane looks once a second.
void RelayWatch::on_going_idle(std::uint64_t socket) {
    if (idle_.insert(socket).second) {
        idle_asked_.emplace(socket, parts_.clock.now());
    }
}

void RelayWatch::check_idle() {
    for (const auto& [socket, asked_at] : idle_asked_) {
        if (parts_.clock.now() > asked_at + kIdleAnswered) {
            report("idle", "socket " + std::to_string(socket) + " waits for going_idle_ack");
        }
    }
}

void RelayWatch::on_mail(
    const RelaySocketFacts& socket, const std::string& buffer_id, const ConnectorFrame& frame) {
    const Place place{socket.instance_id, number_of(buffer_id)};
    const auto found = buffer_.find(place);
    if (found == buffer_.end()) {
        report(
            "I8",
            name_of(place) + (acknowledged_.contains(place)
                                  ? " was written again after its acknowledgement"
                                  : " was written and does not wait in the store"));
        return;
    }
    Entry& entry = found->second;
    check_text(socket, entry, frame);
    if (socket.epoch != instances_[socket.instance_id].epoch) {
        report("fence", name_of(place) + " was written to an older socket");
    }
    if (socket.is_idle) {
        report("idle", name_of(place) + " was written after going_idle");
    }
    std::int64_t& newest = on_socket_[socket.number];
    if (place.second <= newest) {
        report("I8", name_of(place) + " was written out of order, or twice to one socket");
    }
    newest = place.second;
    if (entry.sockets.empty()) {
        entry.first_written_at = parts_.clock.now();
        std::int64_t& first = first_written_[socket.instance_id];
        if (place.second <= first) {
            report("I8", name_of(place) + " went out first after its successor");
        }
        first = place.second;
    } else {
        ++counts.duplicates;
    }
    entry.sockets.insert(socket.number);
    entry.written_at = parts_.clock.now();
    ++counts.written;
    const auto is_out = [&](const auto& item) {
        return item.first.first == socket.instance_id && item.second.kind == EntryKind::inbound &&
               item.second.sockets.contains(socket.number);
    };
    if (std::ranges::count_if(buffer_, is_out) > static_cast<std::ptrdiff_t>(kWindowMax)) {
        report("I8", "more than eight messages are out to " + socket.instance_id);
    }
}

// The text, the chat and the author are those of the event, and the event is the tenant's.
void RelayWatch::check_text(
    const RelaySocketFacts& socket, const Entry& entry, const ConnectorFrame& frame) {
    const RelayMail& mail = parts_.mails.at(entry.event_key);
    if (tenants_[entry.event_key] != parts_.cast.member(socket.instance_id).tenant_id) {
        report("I7", socket.instance_id + " got " + entry.event_key + " of another tenant");
    }
    bool is_same = false;
    if (const auto* const inbound = std::get_if<InboundFrame>(&frame)) {
        const SessionSource& source = inbound->event.source;
        // A file is there, or a line tells that it is not.
        const std::string_view more =
            std::string_view(inbound->event.text)
                .substr(std::min(mail.text.size(), inbound->event.text.size()));
        const bool has_file = !inbound->event.media_urls.empty();
        is_same = inbound->event.text.starts_with(mail.text) &&
                  inbound->event.bot_id == parts_.cast.chats[mail.chat].bot.bot_id &&
                  more.starts_with("\n[Missing: ") == (mail.has_file && !has_file) &&
                  more.empty() == (!mail.has_file || has_file) && source.user_id == mail.user &&
                  source.chat_id == parts_.cast.chats[mail.chat].chat_id;
    } else {
        is_same = std::get<PassthroughForwardFrame>(frame).forward.body == mail.text;
    }
    if (!is_same) {
        report("I8", socket.instance_id + " got something else than " + entry.event_key);
    }
}

void RelayWatch::on_ack(const BufferKey& key, bool is_believed) {
    (is_believed ? believed_ : doubted_).insert({key.instance_id, key.seq});
}

void RelayWatch::told(const RelayMail& mail) {
    if (!is_stored(mail.event_key)) {
        report("stored", "the platform was told of " + mail.event_key + " which is not stored");
    }
}

bool RelayWatch::is_full(const std::string& instance_id) const {
    const auto found = instances_.find(instance_id);
    return found != instances_.end() && found->second.is_overflowing;
}

bool RelayWatch::is_any_full() const {
    return std::ranges::any_of(
        instances_, [](const auto& item) { return item.second.is_overflowing; });
}

void RelayWatch::refused(const RelayMail& mail) {
    report("alone", "the platform is to send " + mail.event_key + " again although nothing failed");
}

// Whatever others do. Files that are being fetched are its own affair (ADR 0012).
void RelayWatch::check_head(const std::string& instance_id, std::uint64_t socket) {
    const auto first = buffer_.lower_bound({instance_id, 0});
    if (first == buffer_.end() || first->first.first != instance_id ||
        first->second.sockets.contains(socket) ||
        parts_.mails.at(first->second.event_key).has_file) {
        heads_.erase(instance_id);
        return;
    }
    Head& head = heads_[instance_id];
    if (head.place != first->first || head.socket != socket) {
        head = {first->first, socket, parts_.clock.now()};
    } else if (parts_.clock.now() > head.since + kWrittenWithin) {
        report("alone", name_of(head.place) + " waits although its gateway is there and has room");
    }
}

void RelayWatch::set_connected(const std::string& instance_id, bool is_connected) {
    if (is_connected) {
        connected_.insert(instance_id);
    } else {
        connected_.erase(instance_id);
    }
}

bool RelayWatch::has_flipped_on_mail(const std::string& instance_id) {
    return instances_[instance_id].is_flipped &&
           std::ranges::any_of(
               buffer_, [&](const auto& item) { return item.first.first == instance_id; });
}

bool RelayWatch::sleeps(const std::string& instance_id) {
    return has_flipped_on_mail(instance_id) && !connected_.contains(instance_id);
}

// A dial whose hello was never committed does not end a sleep.
void RelayWatch::round_begins() {
    oracle.round_begins();
    sleepers_.clear();
    for (const RelayMember& member : parts_.cast.members) {
        const std::int64_t epoch = instances_[member.instance_id].epoch;
        const auto held = asleep_since_.find(member.instance_id);
        if (held != asleep_since_.end() &&
            (held->second.epoch != epoch || !has_flipped_on_mail(member.instance_id))) {
            asleep_since_.erase(held);
        }
        if (sleeps(member.instance_id)) {
            sleepers_.insert(member.instance_id);
            const Timestamp now = parts_.clock.now();
            asleep_since_.try_emplace(member.instance_id, Sleep{now, epoch, now, kPokedWithin});
        }
    }
}

void RelayWatch::on_poke(const std::string& instance_id) {
    ++counts.pokes;
    const Timestamp now = parts_.clock.now();
    if (!sleepers_.contains(instance_id)) {
        report("wake", instance_id + " was poked and does not sleep on mail");
    }
    const auto last = poked_at_.find(instance_id);
    if (last != poked_at_.end() && now < last->second + kCooldown) {
        report("wake", instance_id + " was poked twice within the cooldown");
    }
    poked_at_[instance_id] = now;
}

void RelayWatch::check_sleepers() {
    for (const auto& [instance_id, sleep] : asleep_since_) {
        const auto poked = poked_at_.find(instance_id);
        const bool was_poked = poked != poked_at_.end() && poked->second >= sleep.since;
        const bool is_given_up = parts_.clock.now() - sleep.since >= kGivesUp;
        const bool is_due = parts_.clock.now() > sleep.counts_from + sleep.patience;
        if (!was_poked && sleeps(instance_id) && is_due && !is_given_up) {
            report("wake", instance_id + " sleeps on mail and was not poked");
        }
    }
}

void RelayWatch::new_life() {
    connected_.clear();
    // Who was poked when outlives a crash: nobody is poked early for it. A crash between the commit
    // of a poke and the poke itself costs one, and the next comes after twice the pause.
    for (auto& [instance_id, sleep] : asleep_since_) {
        sleep.counts_from = parts_.clock.now();
        sleep.patience.microseconds *= 2;
    }
    idle_asked_.clear();
    requests_.clear();
    answers_.clear();
    answered_ = 0;
    taken_.clear();
    heads_.clear();
}

}  // namespace interlock::sim
