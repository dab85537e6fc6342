// Seals what the relay keeps and must be able to read again (gateways' secrets, capabilities of
// platforms): AES-256-GCM under a data key of the relay's own, which the master key seals in turn.
//
// A sealed text is bound to what it belongs to ("gateway\n" and its id, say); moved elsewhere it
// does not open. The data key never changes once it is loaded, so sealing and opening need no lock.
#pragma once

#include <string>
#include <string_view>

#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"
#include "host/ports/master_keys.h"
#include "host/service/vault_seal.h"
#include "relay/service/relay_lane.h"

namespace interlock {

inline constexpr std::string_view kRelayDataKeyKind = "data_key";

class RelaySeal {
public:
    // All of these outlive it.
    struct Parts {
        RelayStore& store;
        MasterKeys& masters;
        IdSource& ids;
        Clock& clock;
    };
    explicit RelaySeal(Parts parts) : parts_(parts) {}

    // Opens the data key, or makes the first one. Before the lane starts. `master_key_missing` and
    // `master_key_wrong` leave everything as it was.
    Result<void> load();

    // Any thread, after load(). What is sealed is Base64 text, fit for a row.
    Result<std::string> seal(std::string_view plain, std::string_view bound) const;
    // `corrupt_data` when it was changed or is bound to something else.
    Result<SecretString> open(std::string_view sealed, std::string_view bound) const;

    // On the lane: seals the data key under the ring's newest master key. Must be committed before
    // the rotation ends, which takes the old master key away. Nothing happens when it is so
    // already.
    Result<void> reseal(RelayTurn& turn);

private:
    Result<std::string> sealed_row(const MasterKeyring& ring, Timestamp now) const;

    Parts parts_;
    DataKey data_key_;
    std::string master_id_;  // Which seals the stored row.
};

}  // namespace interlock
