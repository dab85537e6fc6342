// Browsers in which a human has logged in, as pure functions on the human's state. What a device
// buys is a count of failed logins of its own: as strict as that of strangers, and out of their
// reach.
#pragma once

#include <string_view>

#include "base/time.h"
#include "host/wire/human.h"

namespace interlock {

// Whether the hash is that of a device of this human; never for an empty one.
bool is_known_device(const Human& human, std::string_view token_hash);

// Where a login that brings this device counts: with the device, or with all strangers.
const LoginCounter& login_counter(const Human& human, std::string_view token_hash);
LoginCounter& login_counter(Human& human, std::string_view token_hash);

// After a login: the device is known, its count starts anew; at the bound the one that was unused
// longest is forgotten.
Human remember_device(Human human, std::string_view token_hash, Timestamp at);

}  // namespace interlock
