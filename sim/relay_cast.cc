#include "sim/relay_cast.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace interlock::sim {
namespace {

constexpr std::array<std::string_view, 3> kTenants = {"t-ash", "t-birch", "t-cedar"};
constexpr std::size_t kUsers = 7;

void add_guild(RelayCast& cast, const BotKey& bot, int number) {
    const std::string guild = "G" + std::to_string(number);
    for (const char* const name : {"c1", "c2"}) {
        cast.chats.push_back({bot, guild + name, guild, {}, guild, {}});
    }
    cast.chats.push_back({bot, guild + "c1t", guild, guild + "c1", guild, {}});
}

}  // namespace

const RelayMember& RelayCast::member(const std::string& instance_id) const {
    const auto found = std::ranges::find(members, instance_id, &RelayMember::instance_id);
    CHECK(found != members.end());
    return *found;
}

const RelayChat* RelayCast::chat(const BotKey& bot, const std::string& chat_id) const {
    const auto found = std::ranges::find_if(
        chats, [&](const RelayChat& chat) { return chat.bot == bot && chat.chat_id == chat_id; });
    return found == chats.end() ? nullptr : &*found;
}

RelayCast make_relay_cast(std::uint64_t seed) {
    SeededRandom random(mix_seeds(seed, 0x72656c6179ull));
    RelayCast cast;
    const std::size_t tenants = 2 + random.below(2);
    for (std::size_t i = 0; i < tenants; ++i) {
        cast.tenants.push_back(TenantId::trusted(std::string(kTenants[i])));
        const std::size_t instances = 1 + random.below(3);
        for (std::size_t j = 0; j < instances; ++j) {
            cast.members.push_back(
                {"i-" + std::string(kTenants[i].substr(2)) + std::to_string(j),
                 cast.tenants.back(),
                 static_cast<GatewayKind>(random.below(3))});
        }
    }
    cast.bots = {{"discord", "100"}, {"telegram", "200"}, {"telegram", "201"}};
    for (std::size_t i = 0; i < kUsers; ++i) {
        cast.users.push_back("u" + std::to_string(i));
    }
    for (int guild = 1; guild <= static_cast<int>(tenants) + 1; ++guild) {
        add_guild(cast, cast.bots[0], guild);
    }
    for (std::size_t group = 1; group <= tenants; ++group) {
        const std::string id = "-10" + std::to_string(group);
        cast.chats.push_back({cast.bots[1], id, {}, {}, id, {}});
    }
    // Both bots of the platform are in this one.
    cast.chats.push_back({cast.bots[2], "-101", {}, {}, "-101", {}});
    for (const BotKey& bot : cast.bots) {
        for (const std::string& user : cast.users) {
            cast.chats.push_back({bot, "dm-" + user, {}, {}, {}, user});
        }
    }
    if (cast.members.size() > 2 && random.chance(750)) {
        cast.away = cast.members.back().instance_id;
    }
    return cast;
}

}  // namespace interlock::sim
