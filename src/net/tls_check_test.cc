#include "net/tls_check.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include "net/test_peer.h"

namespace interlock {
namespace {

// A self-signed certificate that is valid until 2031-02-03T04:05:06Z, and its key.
void write_files(const TlsFiles& files) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    ASSERT_EQ(ASN1_TIME_set_string(X509_getm_notAfter(certificate), "20310203040506Z"), 1);
    X509_set_pubkey(certificate, key);
    ASSERT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
    BIO* file = BIO_new_file(files.certificate_chain_path.c_str(), "w");
    PEM_write_bio_X509(file, certificate);
    BIO_free(file);
    file = BIO_new_file(files.private_key_path.c_str(), "w");
    PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    BIO_free(file);
    ASSERT_EQ(::chmod(files.private_key_path.c_str(), 0600), 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

TEST(TlsCheck, ReadsUntilWhenACertificateIsValid) {
    TestFolder folder;
    const TlsFiles files{folder / "cert.pem", folder / "key.pem"};
    write_files(files);
    const auto expiry = read_tls_expiry(files);
    ASSERT_TRUE(expiry.has_value()) << expiry.error().message;
    EXPECT_EQ(to_text(*expiry), "2031-02-03T04:05:06.000Z");
}

TEST(TlsCheck, SaysWhichFileCannotBeRead) {
    TestFolder folder;
    const auto expiry = read_tls_expiry({folder / "cert.pem", folder / "key.pem"});
    ASSERT_FALSE(expiry.has_value());
    EXPECT_TRUE(expiry.error().message.contains("cert.pem"));
}

TEST(TlsCheck, NamesItsLibraries) {
    EXPECT_TRUE(tls_library_version().starts_with("OpenSSL "));
    EXPECT_TRUE(network_library_version().starts_with("Boost 1."));
}

}  // namespace
}  // namespace interlock
