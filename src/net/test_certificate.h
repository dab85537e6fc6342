// For tests: keys and certificates made on the spot.
#pragma once

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <string>

#include "net/http_server.h"
#include "net/test_peer.h"

namespace interlock {

using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

inline void write_key(EVP_PKEY* key, const std::string& path, const char* passphrase = nullptr) {
    BIO* file = BIO_new_file(path.c_str(), "w");
    const EVP_CIPHER* cipher = passphrase == nullptr ? nullptr : EVP_aes_128_cbc();
    const auto* bytes = reinterpret_cast<const unsigned char*>(passphrase);
    const int size = passphrase == nullptr ? 0 : static_cast<int>(strlen(passphrase));
    ASSERT_EQ(PEM_write_bio_PrivateKey(file, key, cipher, bytes, size, nullptr, nullptr), 1);
    BIO_free(file);
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
}

inline KeyPtr make_key() {
    return {EVP_EC_gen("P-256"), &EVP_PKEY_free};
}

// Signed by itself, for "localhost".
inline void write_certificate(EVP_PKEY* key, const std::string& path) {
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    ASSERT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
    BIO* file = BIO_new_file(path.c_str(), "w");
    ASSERT_EQ(PEM_write_bio_X509(file, certificate), 1);
    BIO_free(file);
    X509_free(certificate);
}

// A certificate for "localhost" that trusts itself, in a folder of its own.
class TestCertificate {
public:
    TestCertificate() {
        std::signal(SIGPIPE, SIG_IGN);  // As the program does: TLS clients write without a flag.
        const KeyPtr key = make_key();
        write_key(key.get(), files.private_key_path);
        write_certificate(key.get(), files.certificate_chain_path);
    }

private:
    TestFolder folder_;

public:
    const TlsFiles files{
        .certificate_chain_path = folder_ / "cert.pem", .private_key_path = folder_ / "key.pem"};
};

}  // namespace interlock
