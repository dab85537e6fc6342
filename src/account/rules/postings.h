// The primitive of all bookings: an amount moves between the venue's book of an asset and one of
// the other three, and the holdings follow. Used by the files beside it only.
#pragma once

#include "account/rules/account.h"

namespace interlock {

// Positive: comes to the venue from `other`. A holding below zero is `books_drift`, an asset beyond
// kAssetsMax `overloaded`; both leave `money` as it was.
Result<void> post(
    AccountMoney& money, const Asset& asset, Decimal AssetBooks::* other, Decimal amount);

Decimal held(const AccountMoney& money, const Asset& asset);

// The bucket of the day of `at`, or the nearest one there is.
DayBucket& day_of(AccountMoney& money, Timestamp at);

// Seconds of a limit as a span of time.
Duration span_of(Decimal seconds);

}  // namespace interlock
