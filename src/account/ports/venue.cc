#include "account/ports/venue.h"

namespace interlock {

std::string_view reject_code_of(const Error& error) {
    const std::string_view message = error.message;
    return message.substr(0, message.find(':'));
}

}  // namespace interlock
