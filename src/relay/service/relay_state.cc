#include "relay/service/relay_state.h"

#include <algorithm>
#include <iterator>

#include "relay/rules/delivery_gate.h"

namespace interlock {
namespace {

template <class Row>
constexpr auto kAll = RelayTable<Row>::Hold::all;
template <class Row>
constexpr auto kRecent = RelayTable<Row>::Hold::recent;

std::string key_of(const BindingRow& row) {
    return row.bot_id.empty() ? row_key({row.platform, row.user_id, row.instance_id})
                              : row_key({row.platform, row.bot_id, row.user_id, row.instance_id});
}

std::pair<BotKey, std::string> person_of(const BindingRow& row) {
    return {{row.platform, row.bot_id}, row.user_id};
}

bool is_same(const BindingRow& a, const BindingRow& b) {
    return person_of(a) == person_of(b) && a.instance_id == b.instance_id;
}

// By time, then by instance, so that the order does not depend on how rows were read.
bool is_before(const BindingRow& a, const BindingRow& b) {
    return std::tie(a.made_at, a.instance_id, a.user_id, a.bot_id) <
           std::tie(b.made_at, b.instance_id, b.user_id, b.bot_id);
}

void insert_sorted(std::vector<BindingRow>& rows, const BindingRow& row) {
    std::erase_if(rows, [&](const BindingRow& held) { return is_same(held, row); });
    rows.insert(std::ranges::upper_bound(rows, row, is_before), row);
}

}  // namespace

RelayState::RelayState(RelayStore& store)
    : gateways(store, kAll<GatewayRow>),
      instances(store, kAll<InstanceRow>),
      routes(store, kAll<RouteRow>),
      scopes(store, kAll<ScopeRow>),
      dm_defaults(store, kAll<DmDefaultRow>),
      cursors(store, kAll<CursorRow>),
      naps(store, kAll<NapRow>),
      sheds(store, kAll<ShedRow>),
      alerts(store, kAll<AlertRow>),
      numbers(store, kAll<NumberRow>),
      strangers(store, kAll<StrangerRow>),
      chats(store, kRecent<ChatRow>, 65'536),
      sent(store, kRecent<SentRow>),
      enrollments(store, kRecent<EnrollmentRow>),
      tenant_tokens(store, kRecent<TenantTokenRow>),
      delivery_keys(store, kRecent<DeliveryKeyRow>),
      link_codes(store, kRecent<LinkCodeRow>),
      capabilities(store, kRecent<CapabilityRow>),
      outbounds(store, kRecent<OutboundRow>),
      outbound_keys(store, kRecent<OutboundKeyRow>),
      prompts(store, kRecent<PromptRow>),
      media(store, kRecent<MediaRow>),
      sessions(store, kRecent<SessionRow>, 65'536),
      attempts(store, kRecent<AttemptRow>),
      store_(store),
      bindings_(store, kAll<BindingRow>) {}

Result<void> RelayState::load() {
    TRY(gateways.load());
    TRY(instances.load());
    TRY(routes.load());
    TRY(scopes.load());
    TRY(dm_defaults.load());
    TRY(cursors.load());
    TRY(naps.load());
    TRY(sheds.load());
    TRY(alerts.load());
    TRY(numbers.load());
    TRY(strangers.load());
    TRY(bindings_.load());
    bindings_.for_each([this](const std::string&, const BindingRow& row) { index(row); });
    return {};
}

void RelayState::index(const BindingRow& row) {
    insert_sorted(by_user_[person_of(row)], row);
    insert_sorted(by_instance_[row.instance_id], row);
}

void RelayState::unindex(const BindingRow& row) {
    const auto drop = [&row](auto& map, const auto& key) {
        const auto found = map.find(key);
        if (found == map.end()) {
            return;
        }
        std::erase_if(found->second, [&](const BindingRow& held) { return is_same(held, row); });
        if (found->second.empty()) {
            map.erase(found);
        }
    };
    drop(by_user_, person_of(row));
    drop(by_instance_, row.instance_id);
}

void RelayState::bind(RelayTurn& turn, BindingRow row) {
    index(row);
    const std::string key = key_of(row);
    bindings_.put(turn, key, std::move(row));
}

void RelayState::unbind(RelayTurn& turn, const BindingRow& row) {
    const BindingRow gone = row;  // `row` may live in an index.
    unindex(gone);
    bindings_.erase(turn, key_of(gone));
}

const std::vector<BindingRow>& RelayState::bindings_of(
    const BotKey& bot, const std::string& user) const {
    static const std::vector<BindingRow> kNone;
    const auto found = by_user_.find({bot, user});
    return found == by_user_.end() ? kNone : found->second;
}

const std::vector<BindingRow>& RelayState::bindings_of_instance(
    const std::string& instance_id) const {
    static const std::vector<BindingRow> kNone;
    const auto found = by_instance_.find(instance_id);
    return found == by_instance_.end() ? kNone : found->second;
}

std::vector<BindingRow> RelayState::owners_of(
    const std::string& instance_id, const BotKey& bot) const {
    std::vector<BindingRow> owners;
    std::ranges::copy_if(
        bindings_of_instance(instance_id), std::back_inserter(owners), [&](const BindingRow& row) {
            return BotKey{row.platform, row.bot_id} == bot;
        });
    return owners;
}

bool RelayState::speaks_as(const InstanceRow& row, const BotKey& bot) const {
    bool has_other = false;
    const auto is_this = [&](const auto& held) {
        has_other = has_other || held.platform == bot.platform;
        return held.platform == bot.platform && held.bot_id == bot.bot_id;
    };
    return std::ranges::any_of(row.identities, is_this) ||
           std::ranges::any_of(bindings_of_instance(row.instance_id), is_this) || !has_other;
}

std::string RelayState::dm_choice_of(const BotKey& bot, const std::string& user) const {
    std::vector<std::string> bound;
    for (const BindingRow& row : bindings_of(bot, user)) {
        bound.push_back(row.instance_id);
    }
    const DmDefaultRow* const chosen = dm_defaults.get(person_key(bot, user));
    return dm_choice(bound, chosen == nullptr ? "" : chosen->instance_id);
}

TenantId RelayState::route_of(const BotKey& bot, const std::string& discriminator) const {
    const RouteRow* row = routes.get(row_key({bot.platform, bot.bot_id, discriminator}));
    return row == nullptr ? TenantId() : row->tenant_id;
}

const ScopeRow* RelayState::scope_of(
    const std::string& platform, const std::string& guild, const std::string& channel) const {
    return scopes.get(row_key({platform, guild, channel}));
}

PrincipalPolicy RelayState::principal_of(const InstanceRow& row, const std::string& platform) {
    PrincipalPolicy policy;
    for (const PrincipalPolicy& held : row.principals) {
        if (held.platform == platform) {
            return held;
        }
        if (held.platform.empty()) {
            policy = held;
        }
    }
    return policy;
}

RelevancePolicy RelayState::relevance_of(const InstanceRow& row, const std::string& platform) {
    for (const RelevancePolicy& held : row.relevance) {
        if (held.platform == platform) {
            return held;
        }
    }
    RelevancePolicy policy;
    policy.platform = platform;
    return policy;
}

}  // namespace interlock
