#include "sim/relay_simulation.h"

#include <algorithm>
#include <array>

#include "engine/rules/chain_verifier.h"

namespace interlock::sim {
namespace {

constexpr int kRestSecondsMax = 900;
constexpr std::int64_t kChainPage = 100'000;

struct Weight {
    RelayStepKind kind;
    std::uint64_t weight;
};
// How often something happens beside a write of weight 100.
constexpr std::array<Weight, 13> kWeights = {{
    {RelayStepKind::redeliver, 60},
    {RelayStepKind::round, 180},
    {RelayStepKind::facts, 70},
    {RelayStepKind::egress, 60},
    {RelayStepKind::network, 200},
    {RelayStepKind::acks, 60},
    {RelayStepKind::gateway, 50},
    {RelayStepKind::request, 60},
    {RelayStepKind::policy, 25},
    {RelayStepKind::advance, 70},
    {RelayStepKind::letter, 8},
    {RelayStepKind::trouble, 25},
    {RelayStepKind::crash, 4},
}};

std::string masters_text() {
    return std::string(kMasterKeyBytes, 'm');
}

}  // namespace

std::string_view to_word(RelayStepKind kind) {
    static constexpr std::array<std::string_view, 14> kWords = {
        "write",
        "redeliver",
        "round",
        "facts",
        "egress",
        "network",
        "acks",
        "gateway",
        "request",
        "policy",
        "advance",
        "letter",
        "trouble",
        "crash"};
    return kWords[static_cast<std::size_t>(kind)];
}

std::vector<RelayStep> make_relay_steps(std::uint64_t seed, std::uint64_t turns) {
    SeededRandom random(mix_seeds(seed, 0x7374657073ull));
    std::uint64_t total = 0;
    for (const Weight& item : kWeights) {
        total += item.weight;
    }
    std::vector<RelayStep> steps;
    for (std::uint64_t i = 0; i < turns; ++i) {
        steps.push_back({RelayStepKind::write, random.next()});
        // As many others as their weights say, on average.
        for (std::uint64_t left = total; left > 0; left -= std::min<std::uint64_t>(left, 100)) {
            std::uint64_t at = random.below(total);
            for (const Weight& item : kWeights) {
                if (at < item.weight) {
                    steps.push_back({item.kind, random.next()});
                    break;
                }
                at -= item.weight;
            }
        }
    }
    return steps;
}

RelayRunResult run_relay_simulation(
    const RelayRunConfig& config, std::span<const RelayStep> steps) {
    return RelaySimulation(config).run(steps);
}

RelaySimulation::RelaySimulation(const RelayRunConfig& config)
    : config_(config),
      ids_(mix_seeds(config.seed, 3)),
      cast_(make_relay_cast(config.seed)),
      watch_({cast_, mails_, clock_, log_}),
      masters_(MasterRing{SecretString(masters_text()), std::nullopt}),
      bus_({watch_, config.plant}),
      waker_({watch_, power_, config.plant}) {
    for (const BotKey& bot : cast_.bots) {
        bots_.push_back(std::make_unique<RelayBotModel>(RelayBotModel::Parts{
            bot, watch_, power_, config.plant, [this](Duration span) { pass_time(span); }}));
    }
    for (const RelayMember& member : cast_.members) {
        gateways_.emplace_back().member = &member;
    }
}

void RelaySimulation::note(const std::string& line) const {
    if (config_.trace) {
        config_.trace(line);
    }
}

void RelaySimulation::start_server() {
    auto contents = store_ ? store_->inner().take_contents() : MemoryRelayContents{};
    store_ = std::make_unique<RelayStoreModel>(
        std::move(contents),
        RelayStoreModel::Parts{watch_, power_, config_.plant, [this](const RelayCommit& batch) {
                                   before_commit(batch);
                               }});
    ++life_;
    power_.on = true;
    watch_.new_life();
    watch_.compare(store_->inner());
    std::map<BotKey, ChatPlatform*> bots;
    for (const auto& bot : bots_) {
        bots[bot->bot()] = bot.get();
        bot->forget_views();
    }
    server_ = std::make_unique<RelayServer>(RelayServer::Parts{
        .store = *store_,
        .clock = clock_,
        .ids = ids_,
        .masters = masters_,
        .folder = folder_,
        .bus = bus_,
        .waker = waker_,
        .bots = std::move(bots),
        .pass_time = [this](Duration span) { pass_time(span); }});
    run_round();
}

// Whatever the process still does while it goes must not count.
void RelaySimulation::stop_server() {
    power_.on = false;
    server_.reset();
    current_.clear();
    for (RelayGateway& gateway : gateways_) {
        gateway.links.clear();
        gateway.owed.clear();
    }
    for (auto& [key, mail] : mails_) {
        mail.under_way = 0;
    }
    ++crashes_;
    clock_.advance(Duration::of_milliseconds(250));
    note("  the connector starts anew");
}

void RelaySimulation::run_round() {
    watch_.round_begins();
    server_->run_round();
    round_at_ = clock_.now();
}

void RelaySimulation::flush() {
    do {
        run_round();
    } while (power_.on && !server_->lane.is_lost() && server_->lane.waiting() > 0);
}

// A platform takes its time, or a send waits: the connector goes on meanwhile.
void RelaySimulation::pass_time(Duration span) {
    constexpr Duration kSlice = Duration::of_seconds(2);
    while (span.microseconds > 0 && power_.on) {
        const Duration slice = std::min(span, kSlice);
        clock_.advance(slice);
        span = {span.microseconds - slice.microseconds};
        flush();
        check_now();
    }
}

void RelaySimulation::advance(SeededRandom& random) {
    const std::uint64_t luck = random.below(1000);
    Duration span = Duration::of_milliseconds(static_cast<std::int64_t>(1 + random.below(1500)));
    if (luck < 150) {
        span = Duration::of_seconds(static_cast<std::int64_t>(5 + random.below(90)));
    } else if (luck < 170) {
        span = Duration::of_minutes(static_cast<std::int64_t>(2 + random.below(10)));
    } else if (luck < 172) {
        span = Duration::of_hours(static_cast<std::int64_t>(20 + random.below(160)));
    }
    flush();  // The lane's thread does not sleep over its work.
    clock_.advance(span);
    // Twice: what a lost hint kept back, the lane finds when it looks again.
    for (int look = 0; look < 2 && power_.on; ++look) {
        flush();
        clock_.advance(look == 0 ? Duration::of_seconds(1) : Duration{});
    }
}

void RelaySimulation::make_trouble(SeededRandom& random) {
    switch (random.below(6)) {
        case 0:
            store_->arm(static_cast<RelayStoreFault>(random.below(4)));
            note("  the next commit fails");
            break;
        case 1:
            bus_.lose_next = 1;
            break;
        case 2:
            bots_[0]->views_fail = !bots_[0]->views_fail;
            break;
        case 3:
            bots_[0]->forget_views();
            break;
        default: {
            RelayBotModel& bot = *bots_[random.below(bots_.size())];
            bot.is_well = !bot.is_well;
            note("  " + bot.bot().platform + (bot.is_well ? " is well" : " has trouble"));
        }
    }
}

// The plants that act on what is not durable yet.
void RelaySimulation::before_commit(const RelayCommit& batch) {
    if (config_.plant == RelayPlant::pump_before_commit) {
        for (const BufferEntry& entry : batch.appended) {
            const auto newest = current_.find(entry.instance_id);
            if (newest != current_.end() && newest->second && entry.kind == EntryKind::inbound &&
                !has_waiting_files(entry.text)) {
                newest->second->socket->send(inbound_line(entry.text, std::to_string(entry.seq)));
            }
        }
    }
    if (config_.plant == RelayPlant::delete_unread && !batch.appended.empty() && server_) {
        const BufferEntry& entry = batch.appended.front();
        if (current_.contains(entry.instance_id)) {
            server_->lane.submit_internal(
                [key = BufferKey{entry.instance_id, entry.seq}](RelayTurn& turn) {
                    turn.rows().acknowledged.push_back(key);
                });
        }
    }
    if (config_.plant == RelayPlant::send_before_commit) {
        for (const RelayRowWrite& write : batch.rows) {
            if (write.kind == OutboundRow::kKind && write.json && write.json->contains("pending")) {
                PlatformCall call;
                call.action = SendAction{"?", "something ", {}, Json::object()};
                watch_.on_call(bots_[0]->bot(), call);
            }
        }
    }
}

void RelaySimulation::take(const RelayStep& step) {
    SeededRandom random(step.seed);
    if (!server_ || !power_.on || (server_->lane.is_lost() && random.chance(300))) {
        stop_server();
        start_server();
    }
    for (const auto& bot : bots_) {
        bot->random = SeededRandom(mix_seeds(step.seed, 11));
    }
    note(std::string(to_word(step.kind)));
    switch (step.kind) {
        case RelayStepKind::write:
            return write(random);
        case RelayStepKind::redeliver:
            return redeliver(random);
        case RelayStepKind::round:
            return run_round();
        case RelayStepKind::facts:
            (void)server_->run_job();
            return;
        case RelayStepKind::egress:
            (void)server_->egress.run_one();
            return;
        case RelayStepKind::network:
            return deliver_lines(random);
        case RelayStepKind::acks:
            return send_acks(gateways_[random.below(gateways_.size())], 1 + random.below(4));
        case RelayStepKind::gateway:
            return move_gateway(random);
        case RelayStepKind::request:
            return ask(random);
        case RelayStepKind::policy:
            return change_policy(random);
        case RelayStepKind::advance:
            return advance(random);
        case RelayStepKind::letter:
            return take_letters(random);
        case RelayStepKind::trouble:
            return make_trouble(random);
        case RelayStepKind::crash:
            power_.on = false;
            return;
    }
}

void RelaySimulation::check_now() {
    if (!server_ || !power_.on || server_->lane.is_lost() || server_->lane.waiting() > 0 ||
        round_at_ != clock_.now()) {
        return;
    }
    // Nobody can be answered on a socket that is over.
    for (const RelayGateway& gateway : gateways_) {
        for (const RelayLinkPtr& link : gateway.links) {
            if (link->socket->is_gone || link->socket->close_code != 0) {
                watch_.socket_over(link->facts->number);
            }
        }
    }
    for (const RelayGateway& gateway : gateways_) {
        const RelayLinkPtr link = gateway.live();
        const auto newest = current_.find(gateway.member->instance_id);
        if (link && newest != current_.end() && newest->second == link->session &&
            link->socket->takes() && !link->facts->is_idle) {
            watch_.check_head(gateway.member->instance_id, link->facts->number);
        }
    }
    watch_.check_sleepers();
    watch_.check_answers();
    watch_.check_idle();
}

bool RelaySimulation::is_at_rest() {
    const bool is_told = std::ranges::all_of(
        mails_, [](const auto& item) { return item.second.is_told || item.second.is_forgotten; });
    return is_told && !watch_.has_mail() && watch_.unanswered() == 0 &&
           server_->outbound.pending() == 0;
}

// Everybody does what he should, and a second passes.
void RelaySimulation::rest_a_second() {
    SeededRandom random(1);
    for (auto& [key, mail] : mails_) {
        if (may_come(mail) && !mail.is_told && mail.under_way == 0) {
            submit(mail);
        }
    }
    flush();
    while (server_->run_job()) {
        flush();
    }
    while (server_->egress.run_one()) {
        flush();
    }
    for (RelayGateway& gateway : gateways_) {
        end_links(gateway, nullptr);
        if (!gateway.live()) {
            dial(gateway);
        }
        flush();
        // A gateway that lost its wire finds out.
        for (const RelayLinkPtr& link : gateway.links) {
            link->socket->is_gone = link->socket->is_gone || link->socket->loses ||
                                    link->facts->is_idle || link->is_left;
            while (!link->socket->lines.empty() && !link->socket->is_gone) {
                read_line(gateway, link, random);
                send_acks(gateway, gateway.owed.size());
                flush();
            }
        }
    }
    clock_.advance(Duration::of_seconds(1));
    flush();
}

void RelaySimulation::verify_chains() {
    for (const TenantId& tenant : cast_.tenants) {
        ChainVerifier verifier(tenant);
        const auto entries = store_->inner().ledger().read_ledger(tenant, 0, kChainPage);
        CHECK(entries.has_value());
        for (const LedgerEntry& entry : *entries) {
            verifier.add(entry.seq, entry.canonical_json, entry.hash);
        }
        if (verifier.fault()) {
            log_.report("chain", "the relay's chain of " + tenant.text() + " is broken");
        }
    }
}

void RelaySimulation::finish() {
    note("everything comes to rest");
    is_calm_ = true;
    bus_.lose_next = 0;
    for (const auto& bot : bots_) {
        bot->is_well = true;
        bot->views_fail = false;
    }
    if (!server_ || !power_.on || server_->lane.is_lost()) {
        stop_server();
        start_server();
    }
    store_->disarm();
    for (int second = 0; second < kRestSecondsMax && !log_.first(); ++second) {
        rest_a_second();
        check_now();
        if (!power_.on || server_->lane.is_lost()) {
            log_.report("progress", "the lane was lost although nothing failed");
        }
        if (is_at_rest()) {
            watch_.compare(store_->inner());
            verify_chains();
            return;
        }
    }
    log_.report("progress", "mail, requests or platforms still wait after fifteen calm minutes");
}

RelayRunResult RelaySimulation::run(std::span<const RelayStep> steps) {
    RelayRunResult result;
    start_server();
    set_up();
    for (const RelayStep& step : steps) {
        if (log_.first()) {
            break;
        }
        take(step);
        check_now();
        ++result.steps_done;
    }
    if (!log_.first()) {
        finish();
    }
    if (log_.first()) {
        note("VIOLATION of " + log_.first()->invariant + ": " + log_.first()->what);
    }
    result.violation = log_.first();
    result.counts = watch_.counts;
    result.mails = mails_.size();
    result.crashes = crashes_;
    result.fenced = fenced_;
    power_.on = false;
    server_.reset();
    return result;
}

}  // namespace interlock::sim
