// The trader's people and agents: humans who create and move strategies, and supervising agents who
// send control decisions. They mostly mean well and mostly look first; they also decide on stale
// views, race each other, repeat, alter and contradict themselves, and send what means nothing.
//
// They see what a caller could see: their own calls, the answers, and what list_concerns shows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "account/ports/venue.h"
#include "sim/command.h"
#include "sim/seeded.h"
#include "trader/wire/strategy_instance.h"

namespace interlock::sim {

class Supervisors {
public:
    // What a look at a concern shows.
    struct View {
        std::string active;  // Empty: none.
        bool is_paused = false;
        RiskMode risk_mode = RiskMode::normal;
        ConcernStatus status = ConcernStatus::active;
    };
    struct Sight {
        const People& people;
        std::function<Timestamp()> now;
        const MarketFeed* feed = nullptr;  // Null: there is nothing to trade.
        std::function<View(const TenantId&, const std::string& symbol)> look;
    };
    explicit Supervisors(Sight sight) : sight_(std::move(sight)) {}

    static constexpr std::size_t kInstancesMax = 6;  // A tenant.
    static constexpr std::size_t kMarkets = 2;       // With concerns.
    static constexpr std::size_t kHistoryMax = 120;

    Command compose(SeededRandom& random);
    // Two agents of one tenant decide against each other on the same view.
    std::vector<Command> compose_race(SeededRandom& random);
    void on_reply(const Command& command, const Result<Answer>& result);
    // One for every strategy they know of: a person stops it.
    std::vector<Command> stop_all(SeededRandom& random);

private:
    struct Known {
        TenantId tenant_id;
        std::string symbol;
        std::string id;
        std::string type;
    };

    Command create(SeededRandom& random, const TenantId& tenant_id);
    Command decide(SeededRandom& random, const TenantId& tenant_id);
    Command helper(SeededRandom& random, const TenantId& tenant_id);
    Command move(SeededRandom& random, const Known& about);
    Command nonsense(SeededRandom& random, const TenantId& tenant_id);
    Command repeat(SeededRandom& random);
    Command control(SeededRandom& random, const TenantId& tenant_id, Json payload);
    Command call(SeededRandom& random, const Known& about, std::string tool, Json body);
    Json payload_for(const TenantId& tenant_id, const std::string& symbol, std::string_view action);
    std::string target_on(
        SeededRandom& random, const TenantId& tenant_id, const std::string& symbol);
    std::vector<const Known*> known_of(const TenantId& tenant_id) const;
    std::string some_symbol(SeededRandom& random) const;
    void remember(const Command& command);

    Sight sight_;
    std::vector<Known> known_;
    std::vector<Command> history_;
    std::map<TenantId, std::uint64_t> numbers_;  // Tenants use the same texts, on purpose.
};

}  // namespace interlock::sim
