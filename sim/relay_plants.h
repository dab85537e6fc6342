// Mistakes put into the relay's world on purpose: each lies in the wiring around the production
// code and breaks one promise that sim/relay_watch.h holds.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace interlock::sim {

enum class RelayPlant {
    none,
    forget_ack,
    delete_unread,
    trust_old_socket,
    gate_without_tenant,
    gate_without_policy,
    egress_by_metadata,
    drop_dead_letter,
    pump_before_commit,
    send_before_commit,
    send_unanswered_again,
    overtake_mail,
    poke_again,
    never_poke,
    answer_twice,
    tell_before_commit,
    refuse_for_one,
    wait_for_full,
    link_at_every_bot,
    dm_without_word,
};

struct RelayPlantInfo {
    RelayPlant plant;
    std::string_view name;
    std::string_view does;        // One sentence.
    std::string_view invariants;  // Those that may be the first to notice, separated by spaces.
};
std::span<const RelayPlantInfo> all_relay_plants();
std::optional<RelayPlant> find_relay_plant(std::string_view name);

}  // namespace interlock::sim
