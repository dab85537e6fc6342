#include "sim/relay_plants.h"

#include <algorithm>
#include <array>

namespace interlock::sim {
namespace {

constexpr std::array<RelayPlantInfo, 19> kPlants = {{
    {RelayPlant::forget_ack,
     "relay_forget_ack",
     "Acknowledgements do not reach the store.",
     "I8 durability"},
    {RelayPlant::delete_unread,
     "relay_delete_unread",
     "A message leaves the store when it is written, not when it is acknowledged.",
     "I8 durability"},
    {RelayPlant::trust_old_socket,
     "relay_trust_old_socket",
     "What an older socket acknowledges counts.",
     "fence"},
    {RelayPlant::gate_without_tenant,
     "relay_gate_without_tenant",
     "An instance of another tenant gets a message as well.",
     "I7 bot"},
    {RelayPlant::gate_without_policy,
     "relay_gate_without_policy",
     "Another instance of the tenant gets a message that its policies keep from it.",
     "gate bot"},
    {RelayPlant::egress_by_metadata,
     "relay_egress_by_metadata",
     "The guild that a frame asserts is believed.",
     "egress"},
    {RelayPlant::drop_dead_letter,
     "relay_drop_dead_letter",
     "What is laid aside is gone.",
     "durability"},
    {RelayPlant::pump_before_commit,
     "relay_pump_before_commit",
     "A message is written to the socket while its batch is being committed.",
     "I8"},
    {RelayPlant::send_before_commit,
     "relay_send_before_commit",
     "A platform is called while the record of the send is being committed.",
     "I1"},
    {RelayPlant::send_unanswered_again,
     "relay_send_unanswered_again",
     "A send that the platform has not answered is tried again.",
     "I4"},
    {RelayPlant::overtake_mail,
     "relay_overtake_mail",
     "Now and then a message is stored behind its successor.",
     "I8 durability"},
    {RelayPlant::poke_again, "relay_poke_again", "A sleeper is poked twice at a time.", "wake"},
    {RelayPlant::never_poke, "relay_never_poke", "Nobody is poked.", "wake"},
    {RelayPlant::answer_twice,
     "relay_answer_twice",
     "Now and then a request is answered twice.",
     "reply"},
    {RelayPlant::tell_before_commit,
     "relay_tell_before_commit",
     "A platform is told that its message was taken before it is stored.",
     "stored"},
    {RelayPlant::refuse_for_one,
     "relay_refuse_for_one",
     "While one instance is full, platforms are told to send again.",
     "alone"},
    {RelayPlant::wait_for_full,
     "relay_wait_for_full",
     "While one instance is full, nobody else is looked after.",
     "alone idle"},
    {RelayPlant::link_at_every_bot,
     "relay_link_at_every_bot",
     "A link to an instance counts at every bot of the platform.",
     "bot"},
    {RelayPlant::dm_without_word,
     "relay_dm_without_word",
     "An instance that asks for somebody's direct messages has them at once.",
     "dm"},
}};

}  // namespace

std::span<const RelayPlantInfo> all_relay_plants() {
    return kPlants;
}

std::optional<RelayPlant> find_relay_plant(std::string_view name) {
    const auto* const found = std::ranges::find(kPlants, name, &RelayPlantInfo::name);
    return found == kPlants.end() ? std::nullopt : std::optional(found->plant);
}

}  // namespace interlock::sim
