// The letter by which an owner takes over the account that was signed up for with their address.
//
// Nothing in it is chosen by whoever signed up but the address itself: this host must not carry a
// stranger's words to people.
#pragma once

#include <string>

#include "base/secret_string.h"
#include "bots/wire/onboarding_row.h"
#include "host/wire/mail.h"

namespace interlock {

struct LetterFacts {
    TenantId tenant_id;
    const SignupFacts& signup;
    const SecretString& code;
    Timestamp code_expires;
    std::string base_url;  // "https://host", without a slash at its end.
};
// Holds the code: for the mailer, and nowhere else.
Mail activation_letter(const LetterFacts& facts);

}  // namespace interlock
