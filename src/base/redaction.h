// The one judge of secrets in text: what it finds never reaches a record, an artifact or a log.
//
//  - A *known shape* is a credential that tells itself: a vendor's prefix, a JWT, a private key's
//    header, the length and alphabet of an exchange's key. An id with one is refused at the door.
//  - The *full* judgement adds what only looks like a secret: bearer headers, "password: x" pairs,
//    passwords in addresses, tokens too random for a word. Free text is masked by it.
//
// UUIDs, hex digests, our own public ids and times are never taken for secrets. A mask is
// "[masked:<kind>]". Both judgements are pure, and masking what is masked changes nothing, so a
// replay of recorded text gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace interlock {

enum class SecretDepth { known_shapes, full };

// Nothing when there is nothing to mask, which is nearly always: then no copy is made.
std::optional<std::string> masked(std::string_view text, SecretDepth depth);
// The kind of the first known shape in `text`, as it would stand in its mask.
std::optional<std::string_view> known_secret(std::string_view text);
// Masks every string of a document, and what stands under a name that speaks of a secret. Under the
// name of an id, and everywhere with `known_shapes`, only known shapes are masked. True when
// something was.
bool mask_secrets(Json& json, SecretDepth depth);

// True for names of what callers and we choose as identifiers: "tick_id", "idempotency_key",
// "subject_hash", "wake_url", "email".
bool is_identifier_name(std::string_view name);

}  // namespace interlock
