// The venue's word on what an exchange key may do. Each venue adapter that takes keys implements
// it; host/rules/exchange_key_policy.h judges the answer.
#pragma once

#include "base/result.h"
#include "host/wire/exchange_keys.h"

namespace interlock {

class KeyCheck {
public:
    virtual ~KeyCheck() = default;
    // From any thread; may take as long as the venue does. An error means "not known" and never
    // that the key is good or bad; its text holds nothing of the keys.
    virtual Result<KeyPermissions> permissions(const ExchangeKeys& keys) = 0;
};

}  // namespace interlock
