// What the headers of a platform's answer tell of a file in it.
#pragma once

#include <string>
#include <string_view>

#include "relay/platforms/common/platform_http.h"

namespace interlock {

// The first header of that name, in whatever case; empty when there is none.
std::string header_of(const PlatformHttpAnswer& answer, std::string_view name);

// The name in a Content-Disposition: filename="cat.png". Names in other encodings are left out.
std::string disposition_name(std::string_view header);

}  // namespace interlock
