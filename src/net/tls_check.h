// Looks at TLS files and libraries without serving anything: for `doctor` and `version`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/http_server.h"

namespace interlock {

// Loads both files as the server would, and says until when the certificate is valid.
Result<Timestamp> read_tls_expiry(const TlsFiles& files);

std::string tls_library_version();      // "OpenSSL 3.0.11 …", of the library that is loaded.
std::string network_library_version();  // "Boost 1.81.0", compiled in.

}  // namespace interlock
