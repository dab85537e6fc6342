#include "bots/service/activation_letter.h"

#include "base/text.h"

namespace interlock {

Mail activation_letter(const LetterFacts& facts) {
    const SignupFacts& signup = facts.signup;
    std::string text;
    text += "Somebody signed up for a trading bot with this address, at " + to_text(signup.at) +
            (signup.peer.empty() ? std::string() : ", from " + signup.peer) + ".\n";
    text += "Account: " + facts.tenant_id.text() + ", plan " + std::string(to_word(signup.plan)) +
            ".\n\n";
    text +=
        "What it is: a bot that places orders on a spot exchange, run by an agent with an access "
        "key.\n"
        "It begins on a simulated exchange without money. The agent can neither withdraw nor "
        "change\n"
        "your limits; what needs a person's word waits for yours.\n\n";
    text += "If it was you, or an agent of yours: choose a password here.\n\n";
    text +=
        "    " + facts.base_url + "/activate?code=" + percent_encode(facts.code.reveal()) + "\n\n";
    text += "The link is good once, until " + to_text(facts.code_expires) +
            ". Of several letters only the\nnewest one's works.\n\n";
    text +=
        "Whoever signed up holds the account's access key. If you are not sure who that was, log "
        "in and\nrevoke it under Access keys on the page, then create another, before you trust "
        "the "
        "account\nwith anything.\n\n";
    text +=
        "If it was not you: do nothing. Without a password nobody can act in your name, and the "
        "trial\n"
        "ends by itself. Do not pass this letter on: whoever has the link can take the account.\n";
    return {
        .to = signup.email, .subject = "Activate your Interlock account", .text = std::move(text)};
}

}  // namespace interlock
