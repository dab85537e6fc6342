// The server's TLS settings: version 1.2 or newer, the certificate and key from PEM files, and
// failures said in sentences that name the file.
#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "base/result.h"
#include "net/http_server.h"

namespace interlock {

struct FreeTlsContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContextPtr = std::unique_ptr<SSL_CTX, FreeTlsContext>;

Result<TlsContextPtr> open_tls_context(const TlsFiles& files);

}  // namespace interlock
