// Getting back in, as pure functions on the human's row (docs/contracts/principals.md 8, ADR 0019).
//
//     codes --own code--------------------------------> recovered
//     start --colleague: good at once----> ready -----> recovered     the login, a new password
//     start --operator: good after a delay-> waiting -> ready         and new codes; nothing else
//                                  waiting, ready --objection, a login, time--> gone
//
// Invariants:
//   a code is used once, and every recovery makes a new set of codes and voids the old one;
//   a recovery ends every session and drops the second factor;
//   a recovered human's vote rests for kVoteRest, and until a dropped second factor is there again;
//   two humans whose accounts may be in one hand count as one person, for good.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/wire/principal.h"
#include "host/rules/vote_rest.h"
#include "host/wire/human.h"

namespace interlock {

inline constexpr Duration kVoteRest = Duration::of_hours(72);
// How long the code that somebody else had made is good, from the moment it is.
inline constexpr Duration kRecoveryCodeLife = Duration::of_hours(24);
// What the operator starts is good no sooner than this; configuration may only lengthen it.
inline constexpr Duration kOperatorDelayMin = Duration::of_hours(24);
inline constexpr Duration kOperatorDelayMax = Duration::of_days(30);
// Between two recoveries that are started for one human: each of them writes to everybody.
inline constexpr Duration kRecoveryStartGap = Duration::of_minutes(15);

// Whose hands may be on this account: the human's own and those of everybody who helped.
std::set<std::string> hands_on(const Human& human);
// Can the votes of these two come from one and the same person?
bool count_as_one(const Human& a, const Human& b);

VoteRest vote_rest_of(const Human& human);

struct RecoveryStart {
    Timestamp at;
    Principal principal;
    StartRecovery request;
    Duration operator_delay = kOperatorDelayMin;
    // The row of whoever starts it, when that is a human.
    const Human* helper = nullptr;
};
// The human with the case that this opens; its code is set later. Fails with why it may not.
Result<Human> start_recovery(Human human, const RecoveryStart& start);

// Who may end what is open: everybody who shares a tenant, the human too; the operator only what
// the operator started.
Result<Human> object_to_recovery(Human human, const Principal& by, Timestamp at);

// Nothing is open any more: a login proved that nothing is needed.
Human drop_recovery(Human human);

struct RecoveryProof {
    std::string code_hash;
    Timestamp at;
};
// By whose help the code lets the human in: empty for one of their own. `unauthenticated` for a
// wrong or expired one, `recovery_waits` for a right one that is not good yet.
Result<std::string> check_recovery_code(const Human& human, const RecoveryProof& proof);

struct Recovered {
    std::string helper;                   // As check_recovery_code() gave it.
    std::set<std::string> helpers_hands;  // Of a helping human: hands_on() them now.
    std::string password_hash;
    std::vector<std::string> code_hashes;  // Of the new set.
};
// The login is restored. `limit_reached` when as many as may be have helped already.
Result<Human> recover(Human human, Recovered by, Timestamp at);

// A wrong code. Gives true when this one is to be recorded: of a row of failures few are.
struct CountedTry {
    Human human;
    bool is_recorded = false;
};
CountedTry note_wrong_code(Human human, Timestamp at);

// What people of the tenant are told; nothing when there is nothing.
std::optional<RecoveryNotice> notice_of(const Human& human, Timestamp at);

}  // namespace interlock
