// The life of a human's sessions, as pure functions on the human's state.
//
//     opened (password, code) --proof--> opened      five wrong proofs, logout, 12 hours: gone
//
// A session has an absolute life: using it does not prolong it. Whoever holds a session token can
// try the password only five times, apart from the account's own lockout, which a stranger can
// cause and which must not keep a logged-in human from approving.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "host/wire/human.h"

namespace interlock {

inline constexpr Duration kSessionLife = Duration::of_hours(12);
inline constexpr std::int64_t kFailedProofsMax = 5;

// Adds a session; expired ones go, and at the bound the oldest.
Human open_session(Human human, HumanSession session);

// Null when there is none of that id, or it has expired.
const HumanSession* find_session(const Human& human, const SessionId& session_id, Timestamp at);

Human end_session(Human human, const SessionId& session_id);
Human end_other_sessions(Human human, const SessionId& kept);

// A right password or code inside a session.
Human note_proof(Human human, const SessionId& session_id, Timestamp at);
// A wrong one; the last allowed one ends the session.
Human note_failed_proof(Human human, const SessionId& session_id);

}  // namespace interlock
