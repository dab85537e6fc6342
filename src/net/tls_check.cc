#include "net/tls_check.h"

#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/x509.h>

#include <boost/version.hpp>
#include <ctime>

#include "base/errors.h"
#include "net/tls_context.h"

namespace interlock {

Result<Timestamp> read_tls_expiry(const TlsFiles& files) {
    TRY_ASSIGN(const TlsContextPtr context, open_tls_context(files));
    const X509* certificate = SSL_CTX_get0_certificate(context.get());
    std::tm parts{};
    if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) {
        return fail(
            errors::invalid_config,
            "The TLS certificate " + files.certificate_chain_path + " names no end of validity.");
    }
    return Timestamp{static_cast<std::int64_t>(timegm(&parts)) * 1'000'000};
}

std::string tls_library_version() {
    return OpenSSL_version(OPENSSL_VERSION);
}

std::string network_library_version() {
    constexpr int kVersion = BOOST_VERSION;
    return "Boost " + std::to_string(kVersion / 100000) + "." +
           std::to_string(kVersion / 100 % 1000) + "." + std::to_string(kVersion % 100);
}

}  // namespace interlock
