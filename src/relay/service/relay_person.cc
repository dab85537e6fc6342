#include "relay/service/relay_person.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace interlock {
namespace {

struct Spelling {
    std::string_view word;
    PersonWordKind kind;
};
constexpr std::array<Spelling, 4> kSpellings = {{
    {"/link", PersonWordKind::link},
    {"/unlink", PersonWordKind::unlink},
    {"/whoami", PersonWordKind::whoami},
    {"/default", PersonWordKind::dm_default},
}};

}  // namespace

std::optional<PersonWord> read_person_word(std::string_view text) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
    const std::string_view word = text.substr(0, std::min(text.find('@'), end));
    const auto* const found = std::ranges::find(kSpellings, word, &Spelling::word);
    if (found == kSpellings.end()) {
        return std::nullopt;
    }
    const std::string_view argument = trim(text.substr(end));
    return PersonWord{found->kind, std::string(argument.substr(0, kPersonArgumentBytesMax))};
}

std::string way_in(const Encounter& met) {
    if (met.is_dm) {
        return "This account is not linked to an agent here, so nobody will answer: ask your agent "
               "for a code and send it here as /link CODE, or tell its operator your id, " +
               met.user_id + ".";
    }
    if (met.tenant_id.empty()) {
        return "This chat is not connected to an agent here; its operator can connect it by its "
               "id, " +
               met.discriminator + ".";
    }
    return "This account is not linked to an agent here; send me a direct message to link it.";
}

}  // namespace interlock
