#include "relay/service/relay_vault.h"

#include <algorithm>

#include "base/crypto.h"
#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

std::string session_of(const CapabilityRow& row) {
    return row_key({row.instance_id, row.platform, row.bot_id, row.session_key, row.kind});
}

// What tells one binding of a session from another.
std::string key_of(const CapabilityRow& row) {
    constexpr std::size_t kDigits = 16;
    return session_of(row) + "/" + sha256_hex(row.sealed).substr(0, kDigits);
}

// The session's key is not in it: one sealed text stands under all keys of a session.
std::string bound_of(const CapabilityRow& row) {
    return "capability\n" + row_key(
                                {row.tenant_id.text(),
                                 row.instance_id,
                                 row.platform,
                                 row.bot_id,
                                 row.chat_id,
                                 row.kind});
}

DeferredChat chat_of(const CapabilityRow& row) {
    return {row.instance_id, {row.platform, row.bot_id}, row.chat_id};
}

}  // namespace

Result<void> RelayVault::load(Timestamp now) {
    std::string after;
    while (true) {
        TRY_ASSIGN(
            const auto page,
            state_.store().read_rows(CapabilityRow::kKind, "", after, kRelayRowsPage));
        for (const RelayRow& stored : page) {
            TRY_ASSIGN(const CapabilityRow row, decode_row<CapabilityRow>(stored.json));
            after = stored.key;
            if (now < row.expires_at) {
                sessions_[session_of(row)].push_back({row.expires_at, stored.key});
                if (row.is_open) {
                    note_deferred(row, stored.key, now);
                }
            }
        }
        if (page.size() < static_cast<std::size_t>(kRelayRowsPage)) {
            break;
        }
    }
    // Rows come by key; the newest is the one that ends last.
    for (auto& [chat, held] : deferred_) {
        std::ranges::stable_sort(held, {}, &Deferred::expires_at);
    }
    for (auto& [session, held] : sessions_) {
        std::ranges::stable_sort(held, {}, &Held::expires_at);
    }
    return {};
}

void RelayVault::note_deferred(const CapabilityRow& row, const std::string& key, Timestamp now) {
    const DeferredChat chat = chat_of(row);
    if (deferred_.size() >= kDeferredChatsMax && !deferred_.contains(chat)) {
        sweep(now);
        if (deferred_.size() >= kDeferredChatsMax) {
            return;
        }
    }
    std::vector<Deferred>& held = deferred_[chat];
    const auto same = std::ranges::find(held, row.sealed, &Deferred::group);
    if (same != held.end()) {
        same->row_keys.push_back(key);
        return;
    }
    if (held.size() >= kDeferredPerChatMax) {
        held.erase(held.begin());
    }
    held.push_back({row.sealed, {key}, row.expires_at});
}

Result<void> RelayVault::bind(RelayTurn& turn, const CapabilityBinding& binding) {
    if (binding.session_keys.empty() || binding.session_keys.size() > kCapabilityKeysMax ||
        binding.value.empty() || binding.expires_at <= turn.now()) {
        return fail(
            errors::invalid_request,
            "a capability needs a value, a session and a time at which it ends");
    }
    CapabilityRow row{
        .tenant_id = binding.tenant_id,
        .instance_id = binding.instance_id,
        .platform = binding.bot.platform,
        .bot_id = binding.bot.bot_id,
        .session_key = {},
        .kind = binding.kind,
        .chat_id = binding.chat_id,
        .sealed = {},
        .is_open = true,
        .expires_at = end_of(binding)};
    TRY_ASSIGN(row.sealed, seal_.seal(binding.value.reveal(), bound_of(row)));
    std::vector<CapabilityRow> rows;
    for (const std::string& session_key : binding.session_keys) {
        row.session_key = session_key;
        rows.push_back(row);
    }
    TRY(check_room(rows.size(), turn.now()));
    for (const CapabilityRow& one : rows) {
        const std::string key = key_of(one);
        std::vector<Held>& held = sessions_[session_of(one)];
        if (held.size() >= kCapabilitiesPerSessionMax) {
            state_.capabilities.erase(turn, held.front().row_key);
            held.erase(held.begin());
        }
        held.push_back({one.expires_at, key});
        state_.capabilities.put(turn, key, one, one.expires_at);
        note_deferred(one, key, turn.now());
    }
    return {};
}

// A binding never ends before the one that was bound last in the chat, because after a restart
// their order is read from their ends.
Timestamp RelayVault::end_of(const CapabilityBinding& binding) const {
    const auto held = deferred_.find({binding.instance_id, binding.bot, binding.chat_id});
    if (held == deferred_.end() || held->second.back().expires_at < binding.expires_at) {
        return binding.expires_at;
    }
    return held->second.back().expires_at + Duration{1};
}

Result<void> RelayVault::check_room(std::size_t sessions, Timestamp now) {
    if (sessions_.size() + sessions <= kCapabilitySessionsMax) {
        return {};
    }
    sweep(now);
    if (sessions_.size() + sessions <= kCapabilitySessionsMax) {
        return {};
    }
    return fail(errors::overloaded, "too many sessions have a capability");
}

std::optional<HeldCapability> RelayVault::open(const CapabilityRow& row) const {
    Result<SecretString> value = seal_.open(row.sealed, bound_of(row));
    if (!value) {
        log_warn(
            "relay_capability_unreadable",
            {{"instance", row.instance_id}, {"kind", row.kind}, {"code", value.error().code()}});
        return std::nullopt;
    }
    return HeldCapability{
        .kind = row.kind,
        .value = *std::move(value),
        .chat_id = row.chat_id,
        .is_open = row.is_open,
        .group = row.sealed};
}

std::optional<HeldCapability> RelayVault::find(const CapabilityQuestion& question, Timestamp now) {
    const auto held = sessions_.find(row_key(
        {question.instance_id,
         question.bot.platform,
         question.bot.bot_id,
         question.session_key,
         question.kind}));
    if (held == sessions_.end()) {
        return std::nullopt;
    }
    const EgressCaller caller{
        .tenant = question.tenant_id,
        .instance_id = question.instance_id,
        .platform = question.bot.platform,
        .has_identity = true};
    std::optional<CapabilityRow> newest;
    for (const Held& one : held->second) {
        const auto found = state_.capabilities.find(one.row_key, now);
        if (!found || *found == nullptr) {
            continue;  // A store that cannot be read is a no as well (I5).
        }
        const CapabilityRow& row = **found;
        const CapabilityFacts facts{row.tenant_id, row.instance_id, row.platform, row.expires_at};
        if (may_follow_up(facts, caller, now)) {
            if (row.is_open) {
                return open(row);
            }
            newest = row;
        }
    }
    return newest ? open(*newest) : std::nullopt;
}

std::optional<HeldCapability> RelayVault::open_deferred(const DeferredChat& chat, Timestamp now) {
    const auto found = deferred_.find(chat);
    if (found == deferred_.end()) {
        return std::nullopt;
    }
    for (const Deferred& deferred : found->second) {
        for (const std::string& key : deferred.row_keys) {
            const auto row = state_.capabilities.find(key, now);
            if (row && *row != nullptr && (*row)->is_open && (*row)->sealed == deferred.group &&
                now < (*row)->expires_at) {
                return open(**row);
            }
        }
    }
    return std::nullopt;
}

void RelayVault::close_deferred(
    RelayTurn& turn, const DeferredChat& chat, const std::string& group) {
    const auto found = deferred_.find(chat);
    if (found == deferred_.end()) {
        return;
    }
    const auto at = std::ranges::find(found->second, group, &Deferred::group);
    if (at == found->second.end()) {
        return;
    }
    for (const std::string& key : at->row_keys) {
        const auto row = state_.capabilities.find(key, turn.now());
        if (row && *row != nullptr && (*row)->sealed == group) {
            CapabilityRow closed = **row;
            closed.is_open = false;
            const Timestamp expires_at = closed.expires_at;
            state_.capabilities.put(turn, key, std::move(closed), expires_at);
        }
    }
    found->second.erase(at);
    if (found->second.empty()) {
        deferred_.erase(found);
    }
}

void RelayVault::sweep(Timestamp now) {
    for (auto at = deferred_.begin(); at != deferred_.end();) {
        std::erase_if(
            at->second, [now](const Deferred& deferred) { return deferred.expires_at <= now; });
        at = at->second.empty() ? deferred_.erase(at) : std::next(at);
    }
    for (auto at = sessions_.begin(); at != sessions_.end();) {
        std::erase_if(at->second, [now](const Held& held) { return held.expires_at <= now; });
        at = at->second.empty() ? sessions_.erase(at) : std::next(at);
    }
}

}  // namespace interlock
