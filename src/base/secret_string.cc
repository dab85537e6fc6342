// Wiping of secrets. The whole capacity is overwritten, because the part past size() may still hold
// what a longer or a moved-away value left there.
#include "base/secret_string.h"

#include <string.h>

namespace interlock {

void wipe(std::string& text) {
    text.resize(text.capacity());
    explicit_bzero(text.data(), text.size());
    text.clear();
}

}  // namespace interlock
