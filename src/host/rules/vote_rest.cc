#include "host/rules/vote_rest.h"

#include "host/wire/recovery.h"

namespace interlock {

Result<void> check_vote(const VoteRest& rest, Timestamp at) {
    if (rest.until && at < *rest.until) {
        return fail(
            errors::vote_rests,
            "Your login was recovered; your word counts again from " + to_text(*rest.until) +
                (rest.second_factor_due ? " on, once an authenticator app is set up again."
                                        : " on."));
    }
    if (rest.second_factor_due) {
        return fail(
            errors::vote_rests,
            "Your login was recovered without its second factor; your word counts again once an "
            "authenticator app is set up.",
            "Set up an authenticator app in your account, then try again.");
    }
    return {};
}

}  // namespace interlock
