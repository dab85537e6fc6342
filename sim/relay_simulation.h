// One run of the relay's world: people who write, platforms that repeat themselves, gateways of
// three ages on bad networks, owners who change their minds, and a connector that crashes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/relay_gateway.h"
#include "sim/relay_server.h"

namespace interlock::sim {

enum class RelayStepKind {
    write,      // Somebody writes something; exactly so many of them as turns were asked for.
    redeliver,  // A platform delivers what it holds back, or something again.
    round,      // The connector's lane.
    facts,      // The platform says who sees a channel.
    egress,     // A send goes to its platform.
    network,    // Lines reach a gateway.
    acks,       // A gateway finishes what it had begun.
    gateway,    // One dials, hangs up, goes idle, or is cut off.
    request,    // A gateway asks something of a chat.
    policy,     // Routes, bindings, scopes and policies change.
    advance,    // Time passes.
    letter,     // A person has dead letters delivered after all, or thrown away.
    trouble,    // Store, platforms or bus begin or cease to fail.
    crash,
};
std::string_view to_word(RelayStepKind kind);

struct RelayStep {
    RelayStepKind kind = RelayStepKind::write;
    std::uint64_t seed = 0;
};
// Steps with exactly `turns` writes among them.
std::vector<RelayStep> make_relay_steps(std::uint64_t seed, std::uint64_t turns);

struct RelayRunConfig {
    std::uint64_t seed = 0;
    RelayPlant plant = RelayPlant::none;
    std::function<void(std::string)> trace;  // Empty: nobody listens.
};

struct RelayRunResult {
    std::optional<Violation> violation;
    std::size_t steps_done = 0;
    RelayWatch::Counts counts;
    std::uint64_t mails = 0;
    std::uint64_t crashes = 0;
    std::uint64_t fenced = 0;
};

// Runs the steps, then lets everything come to rest and checks that it does.
RelayRunResult run_relay_simulation(const RelayRunConfig& config, std::span<const RelayStep> steps);

class RelaySimulation {
public:
    explicit RelaySimulation(const RelayRunConfig& config);
    RelayRunResult run(std::span<const RelayStep> steps);

private:
    void take(const RelayStep& step);
    // People and platforms: relay_simulation_people.cc.
    void set_up();
    void write(SeededRandom& random);
    void redeliver(SeededRandom& random);
    bool may_come(RelayMail& mail);  // The platform has not given it up.
    void submit(RelayMail& mail);
    void plant_delivery(const RelayMail& mail);
    void change_policy(SeededRandom& random);
    RelayWork some_change(SeededRandom& random);
    RelayWork change_instance(SeededRandom& random);
    RelayWork change_link(const RelayMember& member, const BotKey& bot, const std::string& user);
    RelayWork change_dm(
        const RelayMember& member, const BotKey& bot, const std::string& user, bool is_asked);
    void take_letters(SeededRandom& random);
    // Gateways: relay_gateway.cc.
    void deliver_lines(SeededRandom& random);
    void read_line(RelayGateway& gateway, const RelayLinkPtr& link, SeededRandom& random);
    void read_mail(
        RelayGateway& gateway,
        const RelayLinkPtr& link,
        const ConnectorFrame& frame,
        SeededRandom& random);
    void send_acks(RelayGateway& gateway, std::size_t count);
    void move_gateway(SeededRandom& random);
    void end_links(RelayGateway& gateway, SeededRandom* random);
    void dial(RelayGateway& gateway);
    void say(const RelayLinkPtr& link, GatewayFrame frame);
    void said(const RelayLinkPtr& link, const GatewayFrame& frame);
    void ask(SeededRandom& random);
    OutboundFrame some_request(RelayGateway& gateway, SeededRandom& random);
    RelayAction some_action(RelayGateway& gateway, const RelayChat& chat, SeededRandom& random);
    // The connector.
    void start_server();
    void stop_server();
    void run_round();
    void flush();  // Until the lane has nothing to do.
    void pass_time(Duration span);
    void advance(SeededRandom& random);
    void make_trouble(SeededRandom& random);
    void before_commit(const RelayCommit& batch);
    void check_now();
    void finish();
    bool is_at_rest();
    void rest_a_second();
    void verify_chains();
    void note(const std::string& line) const;

    RelayRunConfig config_;
    ViolationLog log_;
    SimClock clock_;
    SeededIds ids_;
    Power power_;
    const RelayCast cast_;
    std::map<std::string, RelayMail> mails_;
    std::vector<std::string> mail_keys_;
    RelayWatch watch_;
    HeldMasterKeys masters_;
    MemoryMediaFolder folder_;
    RelayBusModel bus_;
    RelayWakerModel waker_;
    std::vector<std::unique_ptr<RelayBotModel>> bots_;
    std::unique_ptr<RelayStoreModel> store_;
    std::unique_ptr<RelayServer> server_;
    std::vector<RelayGateway> gateways_;
    std::map<std::string, RelaySessionPtr> current_;  // Whose hello counted last, by instance.
    std::uint64_t life_ = 0;
    std::uint64_t sockets_ = 0;
    std::uint64_t requests_ = 0;
    std::uint64_t crashes_ = 0;
    std::uint64_t fenced_ = 0;
    bool is_calm_ = false;  // The end: nothing fails any more.
    Timestamp round_at_{};
};

}  // namespace interlock::sim
