// The paper venue's exchange keys with their permissions, so that every refusal of a key can be
// seen without a real exchange.
//
// A key nobody registered is a good spot key. The texts "paper_key_<fault>" (can_withdraw,
// cannot_read, expired, …) are registered from the start with just that fault,
// "paper_key_<warning>" (no_ip_restriction, expires_soon) with just that warning, and
// "paper_key_unreachable" is one that the venue never answers about. Keys are remembered by their
// hash only.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/ports/clock.h"
#include "host/ports/key_check.h"

namespace interlock {

class PaperKeys final : public KeyCheck {
public:
    static constexpr std::size_t kKeysMax = 10'000;

    // The clock outlives this.
    explicit PaperKeys(Clock& clock);

    Result<KeyPermissions> permissions(const ExchangeKeys& keys) override;

    // From now on this key has these permissions; `out_of_range` at kKeysMax.
    Result<void> set(const SecretString& api_key, const KeyPermissions& permissions);
    // False: nobody gets an answer until it is true again.
    void set_reachable(bool reachable);

private:
    struct Registered {
        KeyPermissions permissions = {};
        bool expires_soon = false;  // Always an hour from now.
        bool answers = true;
    };
    void add_example(const std::string& word, Registered registered);

    Clock& clock_;
    std::mutex mutex_;  // Workers ask while a test or a drill changes.
    bool reachable_ = true;
    std::map<std::string, Registered> keys_;  // By the hex of the key's SHA-256.
};

}  // namespace interlock
