#include "sim/relay_models.h"

#include <algorithm>

#include "base/check.h"
#include "base/errors.h"

namespace interlock::sim {
namespace {

std::string view_key(const ViewQuestion& question) {
    return row_key({question.guild_id, question.channel_id, question.user_id});
}

}  // namespace

// The mistakes between the lane and its store.
RelayCommit RelayStoreModel::planted(const RelayCommit& batch) const {
    RelayCommit changed = batch;
    if (parts_.plant == RelayPlant::forget_ack) {
        changed.acknowledged.clear();
    }
    if (parts_.plant == RelayPlant::drop_dead_letter) {
        for (const DeadLetter& letter : batch.dead) {
            changed.acknowledged.push_back({letter.entry.instance_id, letter.entry.seq});
        }
        changed.dead.clear();
    }
    if (parts_.plant == RelayPlant::overtake_mail) {
        for (std::size_t i = 1; i < changed.appended.size(); ++i) {
            BufferEntry& older = changed.appended[i - 1];
            BufferEntry& newer = changed.appended[i];
            if (older.instance_id == newer.instance_id && older.kind == newer.kind) {
                std::swap(older.text, newer.text);
                std::swap(older.event_key, newer.event_key);
            }
        }
    }
    return changed;
}

Result<void> RelayStoreModel::commit(const RelayCommit& batch) {
    const auto fault = std::exchange(fault_, std::nullopt);
    if (parts_.before_commit) {
        parts_.before_commit(batch);
    }
    if (fault == RelayStoreFault::crash_before) {
        parts_.power.on = false;
        return fail(errors::io_failed, "the machine is off");
    }
    if (fault == RelayStoreFault::fail_lost || fault == RelayStoreFault::fail_kept) {
        inner_.fail_next_commit(
            fault == RelayStoreFault::fail_lost ? MemoryRelayStore::FailedBatch::lost
                                                : MemoryRelayStore::FailedBatch::kept);
    }
    auto done = inner_.commit(planted(batch));
    if (done || fault == RelayStoreFault::fail_kept) {
        parts_.watch.on_commit(batch);
    }
    if (fault == RelayStoreFault::crash_after) {
        parts_.power.on = false;
        return fail(errors::io_failed, "the machine is off");
    }
    return done;
}

// A message has one line or several, and is taken whole or not at all.
bool RelaySocketModel::take(std::string_view message, bool is_urgent) {
    if (!parts_.power.on || close_code != 0 || is_gone) {
        return false;
    }
    if (lines.size() >= parts_.lines_max) {
        close(kCloseTryLater, "too slow");
        return false;
    }
    while (!message.empty()) {
        const std::size_t end = message.find('\n');
        CHECK(end != std::string_view::npos);  // A client would wait for the rest for ever.
        take_line(std::string(message.substr(0, end + 1)), is_urgent);
        message.remove_prefix(end + 1);
    }
    return true;
}

void RelaySocketModel::take_line(std::string line, bool is_urgent) {
    parts_.watch.on_line(facts_(), line);
    if (parts_.plant == RelayPlant::answer_twice && line.contains("outbound_result") &&
        ++answers_ % 3 == 0) {
        parts_.watch.on_line(facts_(), line);
    }
    if (loses) {
        return;
    }
    const auto before = is_urgent ? std::ranges::find(lines, false, &Line::is_urgent) : lines.end();
    if (line.contains("going_idle_ack")) {
        for (auto behind = before; behind != lines.end(); ++behind) {
            parts_.watch.on_overtaken(facts_(), behind->text);
        }
    }
    lines.insert(before, {std::move(line), is_urgent});
}

CapabilityDescriptor RelayBotModel::descriptor() const {
    CapabilityDescriptor descriptor;
    descriptor.platform = parts_.bot.platform;
    descriptor.label = parts_.bot.platform;
    return descriptor;
}

PlatformReply RelayBotModel::answer(const PlatformCall& call) {
    PlatformReply reply;
    const std::uint64_t luck = is_well ? 1000 : random.below(1000);
    if (luck < 80) {
        reply.code = "forbidden";
        reply.error = "the platform refused it";
    } else if (luck < 140) {
        reply.code = "rate_limited";
        reply.error = "too many messages";
        reply.retry_after =
            Duration::of_milliseconds(static_cast<std::int64_t>(100 + random.below(4000)));
    } else if (luck < 260) {
        reply.outcome = CallOutcome::unknown;
        reply.error = "no answer came";
    } else {
        reply.outcome = CallOutcome::sent;
        reply.message_id = parts_.bot.platform + std::to_string(++messages_);
        if (std::holds_alternative<GetChatInfoAction>(call.action)) {
            reply.chat_info = ChatInfo{"a room", "group"};
        }
    }
    return reply;
}

PlatformReply RelayBotModel::call(const PlatformCall& call) {
    if (!parts_.power.on) {
        return {};
    }
    parts_.watch.on_call(parts_.bot, call);
    if (!is_well && random.chance(150)) {
        parts_.pass_time(
            Duration::of_milliseconds(static_cast<std::int64_t>(500 + random.below(40'000))));
        if (!parts_.power.on) {
            return {};  // The process that called is no more.
        }
    }
    PlatformReply reply = answer(call);
    parts_.watch.on_outcome(parts_.bot, call, reply);
    if (parts_.plant == RelayPlant::send_unanswered_again &&
        reply.outcome == CallOutcome::unknown) {
        parts_.watch.on_call(parts_.bot, call);
    }
    return reply;
}

std::optional<bool> RelayBotModel::cached_view(const ViewQuestion& question) const {
    const auto found = cache_.find(view_key(question));
    const std::optional<bool> said =
        found == cache_.end() ? std::nullopt : std::optional(found->second);
    parts_.watch.oracle.note_view(parts_.bot, question, said);
    return said;
}

std::optional<bool> RelayBotModel::find_view(const ViewQuestion& question) {
    std::optional<bool> said;
    if (!views_fail) {
        said = !blind.contains(view_key(question));
        cache_[view_key(question)] = *said;
    }
    parts_.watch.oracle.note_view(parts_.bot, question, said);
    return said;
}

Result<DownloadedFile> RelayBotModel::download(const FileQuestion& question) {
    const std::uint64_t luck = is_well ? 1000 : random.below(1000);
    if (luck < 200) {
        return fail(luck < 100 ? errors::unavailable : errors::not_found, "no file came");
    }
    return DownloadedFile{question.file.file_id, "image/png", "a.png"};
}

bool RelayWakerModel::poke(WakeCall call, std::function<void(WakeOutcome)> done) {
    if (!parts_.power.on || parts_.plant == RelayPlant::never_poke) {
        return true;
    }
    parts_.watch.on_poke(call.instance_id);
    if (parts_.plant == RelayPlant::poke_again) {
        parts_.watch.on_poke(call.instance_id);
    }
    woken.insert(call.instance_id);
    done({.is_reached = true, .detail = "204"});
    return true;
}

}  // namespace interlock::sim
