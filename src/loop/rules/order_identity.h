// The identity of an order (docs/contracts/agent-loop.md#order-ids): derived from what it is, so
// that the same intent can never become two orders.
#pragma once

#include "account/wire/intent.h"

namespace interlock {

// "h" and 31 characters of base32 (a–z, 2–7) over SHA-256 of the unit-separated parts. Fits the
// client-id rules of the venues (36 characters).
OrderClientId derive_order_client_id(const DecisionId& decision_id, const Intent& intent);

}  // namespace interlock
