// Twelve or more words of BIP 39 in a row: what a wallet is restored from. Prose has such a run
// hardly ever, for its small words ("the", "and", "is", "of") are not in the list.
#pragma once

#include <string_view>

#include "base/secret_shapes.h"

namespace interlock {

// The first phrase that begins at or after `from`; length 0 when there is none.
SecretMatch seed_phrase_from(std::string_view text, std::size_t from);

}  // namespace interlock
