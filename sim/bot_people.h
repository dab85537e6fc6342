// The people around a maker bot: its owner, the host's operator, and agents that look after it.
// They provision keys, build, start, stop and restart it, propose and make changes, open and close
// its session, mostly in a sensible order and now and then in any other.
//
// They see what a caller could see: their own calls, the answers, and what /status shows.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "account/ports/venue.h"
#include "bots/rules/bot_step.h"
#include "bots/wire/bot_config.h"
#include "sim/command.h"
#include "sim/seeded.h"

namespace interlock::sim {

// Two of the world's three markets, so that a symbol can be exchanged; worth little, so that every
// level fits into the limits of an account.
BotConfig default_bot_of(const MarketFeed& feed);

class BotPeople {
public:
    struct View {
        BotState state = BotState::uninitialized;
        bool is_connected = true;
        bool has_keys = false;
    };
    struct Sight {
        const People& people;
        std::function<Timestamp()> now;
        const MarketFeed* feed = nullptr;
        std::function<View(const TenantId&)> look;
    };
    explicit BotPeople(Sight sight) : sight_(std::move(sight)) {}

    Command compose(SeededRandom& random, const TenantId& tenant_id);
    Command stop(const TenantId& tenant_id);
    void on_reply(const Command& command, const Result<Answer>& result);
    // The one that was taken last; empty: none.
    std::string key_of(const TenantId& tenant_id) const;

private:
    Command call(const TenantId& tenant_id, Principal by, std::string tool, Json body);
    Command lead_on(SeededRandom& random, const TenantId& tenant_id);
    Command change(SeededRandom& random, const TenantId& tenant_id);
    Command put_keys(SeededRandom& random, const TenantId& tenant_id);
    Principal owner(SeededRandom& random, const TenantId& tenant_id);

    Sight sight_;
    std::map<TenantId, std::uint64_t> numbers_;
    std::map<TenantId, std::string> keys_;
};

}  // namespace interlock::sim
